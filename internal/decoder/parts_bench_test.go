package decoder_test

import (
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// BenchmarkParts reads Thrift bytes in messages of 32 KiB, as a stream brings them, into parts of the size that fit the
// default chunk, and copies each part as the server does to send it. "copy" moves the same messages once in and once out without
// a look at them: no push decoder can be faster.
func BenchmarkParts(b *testing.B) {
	const message, window = 32 << 10, 32000
	out := make([]byte, 2*message)
	b.Run("copy", func(b *testing.B) {
		data, in := make([]byte, 16<<20), make([]byte, message)
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			for at := 0; at < len(data); at += message {
				copy(in, data[at:at+message])
				copy(out, in)
			}
		}
	})
	const list = thriftpackv1.Type_TYPE_LIST
	values := []struct {
		name  string
		root  thriftpackv1.Type
		value *thriftpackv1.Value
	}{
		{"binary", thriftpackv1.Type_TYPE_BINARY, fixture.Binary(16 << 20)},
		{"list<i64>", list, fixture.ListI64(3_000_000)},
		{"list<i32>", list, fixture.ListI32(3_000_000)},
		{"list<bool>", list, fixture.ListBool(8_000_000)},
		{"list<double>", list, fixture.ListDouble(1_000_000)},
		{"list<string>", list, fixture.ListString(300_000, 20)},
		{"list<struct>", list, fixture.ListStruct(100_000)},
		{"map<string,i64>", thriftpackv1.Type_TYPE_MAP, fixture.MapStringI64(300_000)},
		{"Nested4", thriftpackv1.Type_TYPE_STRUCT, fixture.Nested4()},
	}
	for _, v := range values {
		for _, protocol := range protocols {
			b.Run(v.name+"/"+[]string{"compact", "binary"}[protocol], func(b *testing.B) {
				data := thriftOf(b, v.value, encoder.Protocol(protocol))
				o := &decoder.Options{Protocol: protocol, Root: v.root, Limits: deep}
				var p decoder.Parts
				emit := func(part []byte) error {
					copy(out, part)
					return nil
				}
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					if err := p.Start(o, false, window); err != nil {
						b.Fatal(err)
					}
					for at := 0; at < len(data); at += message {
						if err := p.Write(data[at:min(at+message, len(data))], emit); err != nil {
							b.Fatal(err)
						}
					}
					if err := p.Finish(emit); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
