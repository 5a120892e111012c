package encoder

import (
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// BenchmarkAppend encodes fixtures from wire bytes into memory. The two structs of Apache's benchmark stand for real
// requests, the bulk containers for columns of data; copy beside them is the least that moving their output costs.
func BenchmarkAppend(b *testing.B) {
	const million = 1_000_000
	values := []struct {
		name  string
		value func() *thriftpackv1.Value
	}{
		{"OneOfEach", fixture.OneOfEach},
		{"Nested4", fixture.Nested4},
		{"bool", func() *thriftpackv1.Value { return fixture.ListBool(million) }},
		{"i16", func() *thriftpackv1.Value { return fixture.ListI16(million) }},
		{"i32", func() *thriftpackv1.Value { return fixture.ListI32(million) }},
		{"i64", func() *thriftpackv1.Value { return fixture.ListI64(million) }},
		{"double", func() *thriftpackv1.Value { return fixture.ListDouble(million) }},
		{"string", func() *thriftpackv1.Value { return fixture.ListString(million, 20) }},
		{"struct", func() *thriftpackv1.Value { return fixture.ListStruct(million / 10) }},
		{"map", func() *thriftpackv1.Value { return fixture.MapStringI64(million / 10) }},
		{"binary", func() *thriftpackv1.Value { return fixture.Binary(64 << 20) }},
	}
	for _, v := range values {
		wire := fixture.Wire(v.value())
		for _, p := range []struct {
			name     string
			protocol Protocol
		}{{"compact", Compact}, {"binary", Binary}} {
			b.Run(v.name+"/"+p.name, func(b *testing.B) {
				var e Encoder
				o := &Options{Protocol: p.protocol, Limits: testLimits}
				out, err := e.Append(nil, wire, o)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(out)))
				b.ReportAllocs()
				for b.Loop() {
					if out, err = e.Append(out[:0], wire, o); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(v.name+"/copy", func(b *testing.B) {
			var e Encoder
			from, err := e.Append(nil, wire, &Options{Limits: testLimits})
			if err != nil {
				b.Fatal(err)
			}
			to := make([]byte, len(from))
			b.SetBytes(int64(len(from)))
			for b.Loop() {
				copy(to, from)
			}
		})
	}
}
