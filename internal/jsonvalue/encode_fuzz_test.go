package jsonvalue

import (
	"bytes"
	"errors"
	"testing"

	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
)

// fuzzType has everything that a type can have.
var fuzzType = orderType()

// FuzzEncode encodes any text, in both protocols and in all ways, which must agree. What is taken must be well-formed Thrift for a decoder
// that knows nothing of it; what is not must have a place in the text.
func FuzzEncode(f *testing.F) {
	for seed := range uint64(20) {
		ordered, shuffled := orderText(random(seed), int(seed%3))
		f.Add([]byte(ordered), uint8(seed))
		f.Add([]byte(shuffled), uint8(seed))
	}
	for _, text := range []string{
		`{"7":{"map":{"key":"i8","value":"list","entries":[{"key":1,"value":{"elem":"i8","values":[2]}}]}},"uuid":"00112233-4455-6677-8899-aabbccddeeff"}`,
		`{"uuid":"00112233-4455-6677-8899-aabbccddeeff","entries":[{"value":{"self":{},"uuid":""},"key":{}}],"string":"\ud83d\ude00\n","double":"-Infinity","i64":"1e3"}`,
		`{"x":[1,{"y":null}],"uuid":null}`, `{"set":[1,1.0]}`, "{\"string\":\"\xff\"}", `[`, ``,
	} {
		f.Add([]byte(text), uint8(0))
	}
	f.Fuzz(func(t *testing.T, text []byte, flags uint8) {
		o := &Options{
			Limits:        Limits{Depth: 20, Elements: 1000, StringBytes: 1000, EncodedBytes: 1 << 20},
			IgnoreUnknown: flags&1 != 0, OmitDefaults: flags&2 != 0, Framed: flags&4 != 0,
		}
		if flags&8 != 0 {
			o.Message = &encoder.Message{Name: "m", Type: 1, SeqID: -1}
		}
		for _, o.Protocol = range []encoder.Protocol{encoder.Compact, encoder.Binary} {
			got, err := encode(t, string(text), fuzzType, o)
			if err != nil {
				if place := new(fault.Error); !errors.As(err, &place) || place.Offset < 0 || place.Offset > int64(len(text)) || place.Reason == fault.Internal {
					t.Fatalf("no place in the text: %v", err)
				}
				continue
			}
			decode(t, got, o)
		}
	})
}

// decode fails unless the bytes are what a decoder takes.
func decode(t *testing.T, data []byte, o *Options) {
	t.Helper()
	options := &decoder.Options{
		Framed: o.Framed, Message: o.Message != nil,
		Limits: decoder.Limits{Depth: 64, Elements: 1 << 20, StringBytes: 1 << 20, Nodes: 1 << 30},
	}
	if o.Protocol == encoder.Binary {
		options.Protocol = decoder.Binary
	}
	var d decoder.Decoder
	if _, err := d.Prepare(bytes.Clone(data), options); err != nil {
		t.Fatalf("%x: %v", data, err)
	}
	d.Release()
}

// TestMutated does what FuzzEncode does, on text that is nearly right: pieces of it changed, left out, or taken from elsewhere.
func TestMutated(t *testing.T) {
	t.Parallel()
	r := random(13)
	taken := 0
	var e Encoder
	rounds := 1000
	if raceEnabled {
		rounds = 300 // ten times as slow
	}
	for range rounds {
		ordered, shuffled := orderText(r, r.IntN(2))
		text := []byte(shuffled)
		for range 1 + r.IntN(2) {
			at := r.IntN(len(text))
			end := min(at+1+r.IntN(8), len(text))
			from := r.IntN(len(ordered))
			piece := ordered[from:min(from+r.IntN(8), len(ordered))]
			text = bytes.Join([][]byte{text[:at], []byte(piece), text[end:]}, nil)
		}
		for _, o := range []*Options{compactOptions(), binaryOptions()} {
			o.IgnoreUnknown = true
			got, err := encodeWith(t, &e, string(text), fuzzType, o)
			if err == nil {
				taken++
				decode(t, got, o)
			} else if place := new(fault.Error); !errors.As(err, &place) || place.Offset < 0 || place.Offset > int64(len(text)) || place.Reason == fault.Internal {
				t.Fatalf("%s: no place in the text: %v", text, err)
			}
		}
	}
	if taken < rounds/20 {
		t.Errorf("%d texts were taken: too few", taken)
	}
}
