package test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/inspect"
)

// oddVector is what of a malformed or unusual vector is needed.
type oddVector struct {
	Compact         string
	Message         bool
	MessageEnvelope bool `json:"message_envelope"`
}

// agree reads the same bytes with packages inspect and decoder, and says where they differ in what is wrong with them.
// It reports whether they found a fault in the same place.
func agree(tb testing.TB, d *decoder.Decoder, data []byte, protocol inspect.Protocol, framed, message bool) bool {
	tb.Helper()
	listed := inspect.Defaults()
	listed.Protocol, listed.Framing, listed.Message = protocol, inspect.Unframed, inspect.WithoutMessage
	o := decoder.Options{
		Protocol: decoder.Compact, Framed: framed, Message: message,
		Limits: decoder.Limits{Depth: listed.MaxDepth, Elements: 1<<31 - 1, StringBytes: 1<<31 - 1, Nodes: 1<<31 - 1},
	}
	if protocol == inspect.Binary {
		o.Protocol = decoder.Binary
	}
	if framed {
		listed.Framing = inspect.Framed
	}
	if message {
		listed.Message = inspect.WithMessage
	}
	l, err := inspect.Inspect(data, listed)
	if err != nil {
		tb.Fatal(err)
	}
	_, err = d.Prepare(data, &o)
	d.Release()
	got := l.Fault()
	if err == nil && got == nil {
		return false
	}
	var want *fault.Error
	if errors.As(err, &want) && want.Reason == fault.BadVersion && got != nil {
		return false // the decoder has recognised another format, and speaks of the bytes as a whole
	}
	if !errors.As(err, &want) || got == nil || got.Reason != want.Reason || got.Offset != want.Offset || got.Path != want.Path {
		tb.Errorf("%s, framed %t, message %t: % .100x:\n inspect: %v\n decoder: %v", protocol, framed, message, data, got, err)
		if got != nil && want != nil {
			tb.Errorf(" %s at %q, and %s at %q", got.Reason, got.Path, want.Reason, want.Path)
		}
		return false
	}
	return true
}

// What inspect marks is what the decoder refuses: the same place and reason, for everything that is known to be wrong.
func TestInspectAgreesWithDecoder(t *testing.T) {
	var d decoder.Decoder
	same := 0
	for _, file := range []string{"invalid.jsonl", "noncanonical.jsonl"} {
		for _, v := range readVectors[oddVector](t, "testdata/vectors/"+file) {
			data := unhex(t, v.Compact)
			if agree(t, &d, data, inspect.Compact, false, v.Message || v.MessageEnvelope) {
				same++
			}
			agree(t, &d, data, inspect.Binary, false, false)
			agree(t, &d, frame(data), inspect.Compact, true, false)
		}
	}
	if same < 80 {
		t.Errorf("%d faults were compared, want over 80", same)
	}
}

// The same, for vectors that were cut or changed in one place, in every form.
func TestInspectAgreesWithDecoderOnDamage(t *testing.T) {
	var d decoder.Decoder
	random := rand.New(rand.NewPCG(3, 4))
	same := 0
	for _, v := range goldenVectors(t) {
		for protocol, text := range map[inspect.Protocol]string{inspect.Compact: v.Compact, inspect.Binary: v.Binary} {
			whole := unhex(t, text)
			if len(whole) > 4096 {
				continue
			}
			for range 8 {
				for _, framed := range []bool{false, true} {
					b := append([]byte(nil), whole...)
					if framed {
						b = frame(b)
					}
					cut := b[:random.IntN(len(b))]
					if agree(t, &d, cut, protocol, framed, v.Message != nil) {
						same++
					}
					b[random.IntN(len(b))] ^= byte(1 + random.IntN(255))
					if agree(t, &d, b, protocol, framed, v.Message != nil) {
						same++
					}
				}
			}
		}
	}
	if t.Logf("%d faults compared", same); same < 10_000 {
		t.Errorf("%d faults were compared, want over 10,000", same)
	}
}
