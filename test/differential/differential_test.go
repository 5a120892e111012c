// Package differential compares the encoder and the decoder with Apache Thrift's Go library on random values and random bytes.
// The fuzz targets run fixed seeds in `go test`, and go on from there with -fuzz.
package differential

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/test/oracle"
)

// rounds is how many fixed seeds go test runs for each target.
const rounds = 400

const depth = 64 // as in Apache's readers, and in package oracle

func encoderOptions(p oracle.Protocol) *encoder.Options {
	o := &encoder.Options{Limits: encoder.Limits{Depth: depth, Elements: 1 << 20, StringBytes: 1 << 20, SlowNodes: 1 << 16}}
	if p == oracle.Binary {
		o.Protocol = encoder.Binary
	}
	return o
}

func decoderOptions(p oracle.Protocol) *decoder.Options {
	o := &decoder.Options{Limits: decoder.Limits{Depth: depth, Elements: 1 << 20, StringBytes: 1 << 20, Nodes: 1 << 20}}
	if p == oracle.Binary {
		o.Protocol = decoder.Binary
	}
	return o
}

func seeds(f *testing.F) {
	f.Helper()
	for seed := range uint64(rounds) {
		f.Add(seed)
	}
}

func value(seed uint64) *thriftpackv1.Value {
	return oracle.Random(rand.New(rand.NewPCG(seed, 6153)))
}

// FuzzEncode compares the wire encoder with Apache's writer, on bytes from generated code and, with members in random order, from
// a dynamic message.
func FuzzEncode(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64) {
		v := value(seed)
		generated, err := proto.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		message := dynamicpb.NewMessage(v.ProtoReflect().Descriptor())
		if err := proto.Unmarshal(generated, message); err != nil {
			t.Fatal(err)
		}
		dynamic, err := proto.Marshal(message)
		if err != nil {
			t.Fatal(err)
		}
		var e encoder.Encoder
		for _, protocol := range oracle.Protocols {
			want, err := oracle.Encode(v, protocol, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, wire := range [][]byte{generated, dynamic} {
				got, err := e.Append(nil, wire, encoderOptions(protocol))
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("seed %d: %s: Append(%x) = %x, %v; Apache writes %x", seed, protocol, wire, got, err, want)
				}
				if e.SlowPath() {
					t.Errorf("seed %d: %s: took the slow path", seed, protocol)
				}
			}
		}
	})
}

// FuzzDecodeValues compares what we read of Apache's bytes with what Apache reads of them.
func FuzzDecodeValues(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64) {
		v := value(seed)
		for _, protocol := range oracle.Protocols {
			data, err := oracle.Encode(v, protocol, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, read, err := decode(t, data, decoderOptions(protocol))
			if err != nil || read != int64(len(data)) {
				t.Fatalf("seed %d: %s: %v, read %d of %x", seed, protocol, err, read, data)
			}
			if diff := oracle.Diff(oracle.Canonical(v), oracle.Canonical(got)); diff != "" {
				t.Errorf("seed %d: %s: decoded another value: %s", seed, protocol, diff)
			}
		}
	})
}

// decode returns the Value that we read, and how many bytes; the decoder's bytes must be canonical.
func decode(t *testing.T, data []byte, o *decoder.Options) (*thriftpackv1.Value, int64, error) {
	t.Helper()
	var d decoder.Decoder
	info, err := d.Prepare(data, o)
	if err != nil {
		return nil, 0, err
	}
	wire := d.Append(nil)
	v := new(thriftpackv1.Value)
	if err := proto.Unmarshal(wire, v); err != nil {
		t.Fatalf("decode(%x) is not a Value: %v", data, err)
	}
	if again, err := (proto.MarshalOptions{Deterministic: true}).Marshal(v); err != nil || !bytes.Equal(again, wire) {
		t.Errorf("decode(%x) = %x, which protobuf writes as %x", data, wire, again)
	}
	return v, info.BytesRead, nil
}

// compare holds one input to the promise: whatever Apache reads without wrapping a number, we read the same with lenient and
// allow_trailing; whatever we read, Apache reads the same. One thing we refuse all the same: the name of a type that does not exist, where a binary
// container is empty.
func compare(t *testing.T, data []byte, protocol oracle.Protocol) {
	t.Helper()
	o := decoderOptions(protocol)
	o.AllowTrailing, o.Lenient = true, true
	ours, read, err := decode(t, data, o)
	apache, apacheErr := oracle.Decode(data, protocol, false)
	switch {
	case err == nil && apacheErr != nil:
		t.Errorf("%s: %x: we read %v, Apache: %v", protocol, data, ours, apacheErr)
	case err == nil:
		if int(read) != apache.BytesRead || apache.Wrapped {
			t.Errorf("%s: %x: we read %d bytes, Apache %d, wrapped: %v", protocol, data, read, apache.BytesRead, apache.Wrapped)
		}
		if diff := oracle.Diff(apache.Value, oracle.Canonical(ours)); diff != "" {
			t.Errorf("%s: %x: we read another value than Apache: %s", protocol, data, diff)
		}
	case apacheErr == nil && !apache.Wrapped && !(apache.Unnamed && errors.Is(err, fault.New(fault.BadType, ""))):
		t.Errorf("%s: we: %v, Apache reads %d bytes of %x", protocol, err, apache.BytesRead, data)
	}
	strict, _, strictErr := decode(t, data, decoderOptions(protocol))
	if strictErr == nil && (err != nil || oracle.Diff(ours, strict) != "") {
		t.Errorf("%s: %x: strict reads it, lenient otherwise: %v", protocol, data, err)
	}
	if strictErr == nil {
		stable(t, strict, protocol)
	}
}

// stable encodes what was decoded, and decodes it again to the same value.
func stable(t *testing.T, v *thriftpackv1.Value, protocol oracle.Protocol) {
	t.Helper()
	wire, err := proto.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var e encoder.Encoder
	data, err := e.Append(nil, wire, encoderOptions(protocol))
	if protocol == oracle.Binary && errors.Is(err, fault.New(fault.MissingKind, "")) {
		return // an empty list of element type 0, which the binary reader takes and no writer makes
	}
	if err != nil {
		t.Errorf("%s: what was decoded cannot be encoded: %v: %v", protocol, err, v)
		return
	}
	again, _, err := decode(t, data, decoderOptions(protocol))
	if err != nil || oracle.Diff(v, again) != "" {
		t.Errorf("%s: decode, encode, decode: %v: %s", protocol, err, oracle.Diff(v, again))
	}
}

// FuzzDecode compares the readers on bytes as they come: mutations of the golden inputs.
func FuzzDecode(f *testing.F) {
	for i, data := range golden(f) {
		if i%4 < 2 && len(data) < 400 { // TestMutations takes all; so many seeds would use up a short run of -fuzz
			f.Add(data, i%2 == 1)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, binary bool) {
		if len(data) > 64<<10 {
			return
		}
		protocol := oracle.Compact
		if binary {
			protocol = oracle.Binary
		}
		compare(t, data, protocol)
	})
}

// golden returns the bytes of all golden files, of both protocols.
func golden(tb testing.TB) [][]byte {
	tb.Helper()
	const folder = "../testdata/vectors"
	var all [][]byte
	vectors, err := oracle.Load[oracle.Vector](filepath.Join(folder, "vectors.jsonl.gz"))
	if err != nil {
		tb.Fatal(err)
	}
	for _, row := range vectors {
		all = append(all, row.Compact, row.Binary)
	}
	invalid, err := oracle.Load[oracle.Invalid](filepath.Join(folder, "invalid.jsonl.gz"))
	if err != nil {
		tb.Fatal(err)
	}
	for _, row := range invalid {
		all = append(all, row.Compact)
	}
	unusual, err := oracle.Load[oracle.Noncanonical](filepath.Join(folder, "noncanonical.jsonl"))
	if err != nil {
		tb.Fatal(err)
	}
	for _, row := range unusual {
		all = append(all, row.Compact)
	}
	return all
}

// TestMutations compares the readers on golden bytes with a few bytes changed, cut or repeated: what a short fuzz run would find, each time.
func TestMutations(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 6153))
	all := golden(t)
	for range 20_000 {
		data := slices.Clone(all[random.IntN(len(all))])
		if len(data) == 0 || len(data) > 2<<10 {
			continue
		}
		for range 1 + random.IntN(3) {
			at := random.IntN(len(data))
			switch random.IntN(4) {
			case 0:
				data[at] = byte(random.Uint32())
			case 1:
				data[at] ^= 1 << random.IntN(8)
			case 2:
				data = slices.Insert(data, at, data[at], byte(random.Uint32()))
			default:
				data = data[:at+1]
			}
		}
		compare(t, data, oracle.Protocols[random.IntN(2)])
	}
}
