package decoder_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
)

// deep are limits of which Parts needs only these.
var deep = decoder.Limits{Depth: 64, StringBytes: 1 << 20}

// taken is what came out of a Parts.
type taken struct {
	parts [][]byte
	read  int64
	err   error
}

// push gives data to p in the pieces that cut returns, which gets what is left, and collects the parts.
func push(tb testing.TB, p *decoder.Parts, data []byte, o *decoder.Options, records bool, window int, cut func(left int) int) taken {
	tb.Helper()
	var got taken
	if got.err = p.Start(o, records, window); got.err != nil {
		return got
	}
	asked := 0
	p.Lend(func(size int) []byte {
		asked++
		switch asked % 3 {
		case 0:
			return nil
		case 1:
			return bytes.Repeat([]byte{0xa5}, size)
		default:
			return bytes.Repeat([]byte{0x5a}, size+100)
		}
	})
	emit := func(part []byte) error {
		if len(part) > window+decoder.PartsHeadMost {
			tb.Errorf("a part of %d bytes for a window of %d", len(part), window)
		}
		if _, has := p.Message(); has != o.Message {
			tb.Errorf("a part came out before the envelope")
		}
		got.parts = append(got.parts, bytes.Clone(part))
		return nil
	}
	for left := data; len(left) > 0 && got.err == nil; {
		n := min(max(cut(len(left)), 1), len(left))
		piece := bytes.Clone(left[:n]) // so that aliasing it shows
		got.err = p.Write(piece, emit)
		clear(piece)
		left = left[n:]
	}
	if err := p.Finish(emit); got.err == nil {
		got.err = err
	} else if err != got.err { //nolint:errorlint // it must be the very same
		tb.Errorf("after %v, Finish returns %v", got.err, err)
	}
	got.read = p.BytesRead()
	return got
}

func whole(left int) int { return left }

// every returns cuts of n bytes.
func every(n int) func(int) int { return func(int) int { return n } }

// at returns one cut, after n bytes.
func at(n int) func(int) int {
	first := true
	return func(left int) int {
		if !first {
			return left
		}
		first = false
		return n
	}
}

// randomly returns cuts of any size, small ones most often.
func randomly(r *rand.Rand) func(int) int {
	return func(left int) int { return 1 + r.IntN(1<<r.IntN(min(20, 2+left))) }
}

// same compares what two runs gave: the parts, and the fault if any.
func same(a, b taken) bool {
	if len(a.parts) != len(b.parts) || a.read != b.read {
		return false
	}
	for i := range a.parts {
		if !bytes.Equal(a.parts[i], b.parts[i]) {
			return false
		}
	}
	return sameFault(a.err, b.err)
}

func sameFault(a, b error) bool {
	var f, g *fault.Error
	if errors.As(a, &f) && errors.As(b, &g) {
		return f.Reason == g.Reason && f.Offset == g.Offset && f.Path == g.Path && f.Detail == g.Detail
	}
	return a == nil && b == nil
}

// text spells parts out, one a line.
func (k taken) text() string {
	var b bytes.Buffer
	for _, wire := range k.parts {
		part := new(thriftpackv1.Part)
		if err := proto.Unmarshal(wire, part); err != nil {
			b.WriteString(err.Error())
		}
		b.WriteString(prototext.MarshalOptions{}.Format(part) + "\n")
		if b.Len() > 2000 {
			return b.String() + "…"
		}
	}
	return b.String()
}

// back encodes parts again. They must be canonical protobuf.
func back(tb testing.TB, k taken, protocol decoder.Protocol, m *decoder.Message) ([]byte, error) {
	tb.Helper()
	for _, wire := range k.parts {
		part := new(thriftpackv1.Part)
		if err := proto.Unmarshal(wire, part); err != nil {
			tb.Fatalf("not a Part: %v: %x", err, cut(wire))
		}
		again, err := proto.MarshalOptions{Deterministic: true}.Marshal(part)
		if err != nil || !bytes.Equal(again, wire) {
			tb.Errorf("not canonical: %x\nprotobuf writes %x, %v", cut(wire), cut(again), err)
		}
	}
	sink := &joiner{buf: make([]byte, 4096)}
	o := &encoder.Options{Protocol: encoder.Protocol(protocol), Limits: encoder.Limits{Depth: 64, SlowNodes: 1}}
	if m != nil {
		o.Message = &encoder.Message{Name: m.Name, Type: m.Type, SeqID: m.SeqID}
	}
	var e encoder.Parts
	if err := e.Start(o, sink); err != nil {
		return nil, err
	}
	for _, wire := range k.parts {
		if err := e.Write(wire); err != nil {
			return nil, err
		}
	}
	_, filled, err := e.Finish()
	return append(sink.all, sink.buf[:filled]...), err
}

// joiner is a sink that keeps everything.
type joiner struct {
	all []byte
	buf []byte
}

func (j *joiner) Next(filled int) ([]byte, error) {
	j.all = append(j.all, j.buf[:filled]...)
	clear(j.buf)
	return j.buf, nil
}
