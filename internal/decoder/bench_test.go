package decoder_test

import (
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// roomy are limits that no fixture meets.
var roomy = decoder.Limits{Depth: 64, Elements: 16 << 20, StringBytes: 64 << 20, Nodes: 16 << 20}

// thriftOf returns the Thrift bytes of a value.
func thriftOf(tb testing.TB, v *thriftpackv1.Value, p encoder.Protocol) []byte {
	tb.Helper()
	var e encoder.Encoder
	data, err := e.Append(nil, fixture.Wire(v), &encoder.Options{
		Protocol: p,
		Limits:   encoder.Limits{Depth: 64, Elements: 16 << 20, StringBytes: 64 << 20, SlowNodes: 1},
	})
	if err != nil {
		tb.Fatalf("encode the fixture: %v", err)
	}
	return data
}

// BenchmarkDecode reads Thrift bytes into the wire bytes of a Value: both passes, into a buffer that is used again. The peers
// that read the same bytes into structs are in bench/.
func BenchmarkDecode(b *testing.B) {
	const list, structure = thriftpackv1.Type_TYPE_LIST, thriftpackv1.Type_TYPE_STRUCT
	values := []struct {
		name  string
		root  thriftpackv1.Type
		value *thriftpackv1.Value
	}{
		{"OneOfEach", structure, fixture.OneOfEach()},
		{"Nested4", structure, fixture.Nested4()},
		{"list<bool>", list, fixture.ListBool(1_000_000)},
		{"list<i16>", list, fixture.ListI16(1_000_000)},
		{"list<i32>", list, fixture.ListI32(1_000_000)},
		{"list<i64>", list, fixture.ListI64(1_000_000)},
		{"list<double>", list, fixture.ListDouble(1_000_000)},
		{"list<string>", list, fixture.ListString(100_000, 20)},
		{"list<struct>", list, fixture.ListStruct(100_000)},
		{"map<string,i64>", thriftpackv1.Type_TYPE_MAP, fixture.MapStringI64(100_000)},
		{"binary", thriftpackv1.Type_TYPE_BINARY, fixture.Binary(16 << 20)},
	}
	for _, v := range values {
		for name, protocol := range map[string]decoder.Protocol{"compact": decoder.Compact, "binary": decoder.Binary} {
			b.Run(v.name+"/"+name, func(b *testing.B) {
				data := thriftOf(b, v.value, encoder.Protocol(protocol))
				o := &decoder.Options{Protocol: protocol, Root: v.root, Limits: roomy}
				var d decoder.Decoder
				var out []byte
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := d.Prepare(data, o); err != nil {
						b.Fatal(err)
					}
					out = d.Append(out[:0])
				}
			})
		}
	}
}
