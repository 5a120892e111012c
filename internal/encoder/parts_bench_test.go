package encoder

import (
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// BenchmarkParts writes parts of one size into buffers of the size of a default chunk, over and over. copy beside them moves
// the same bytes, which is the least that it costs.
func BenchmarkParts(b *testing.B) {
	const size, chunk = 64 << 10, 32 << 10
	ascii := make([]byte, size)
	for i := range ascii {
		ascii[i] = 'a' + byte(i%26)
	}
	umlauts := make([]byte, 0, size)
	for len(umlauts) < size {
		umlauts = append(umlauts, "ä"...)
	}
	numbers := fixture.ListI64(size / 5).GetList()
	tests := []struct {
		name string
		open *thriftpackv1.Part
		part *thriftpackv1.Part
	}{
		{"binary", openText(tBinary, 1<<31-1), dataPart(ascii)},
		{"ascii", openText(tString, 1<<31-1), dataPart(ascii)},
		{"umlauts", openText(tString, 1<<31-2), dataPart(umlauts)},
		{"i64", openList(tI64, 1<<31-1), elementsPart(numbers)},
		{"i32", openList(tI32, 1<<31-1), elementsPart(fixture.ListI32(size / 3).GetList())},
		{"double", openList(tDouble, 1<<31-1), elementsPart(fixture.ListDouble(size / 8).GetList())},
		{"string", openList(tString, 1<<31-1), elementsPart(fixture.ListString(size/21, 20).GetList())},
		{"struct", openList(tStruct, 1<<31-1), elementsPart(fixture.ListStruct(size / 40).GetList())},
		{"begin and end", openStruct(), nil},
	}
	sink := &reused{make([]byte, chunk)}
	for _, test := range tests {
		parts := partsWire(b, test.part)
		if test.part == nil {
			parts = partsWire(b, beginPart(&thriftpackv1.Begin{Type: tStruct, FieldId: 1}), endPart())
		}
		for _, protocol := range []Protocol{Compact, Binary} {
			name := test.name + "/" + [2]string{"compact", "binary"}[protocol]
			b.Run(name, func(b *testing.B) {
				var p Parts
				open := func() {
					if err := p.Start(&Options{Protocol: protocol, Limits: testLimits}, sink); err != nil {
						b.Fatal(err)
					}
					if err := p.Write(marshal(b, test.open)); err != nil {
						b.Fatal(err)
					}
				}
				write := func() {
					for _, part := range parts {
						if err := p.Write(part); err != nil {
							b.Fatal(err)
						}
					}
				}
				open()
				write()
				per := p.Written()
				b.SetBytes(per)
				b.ReportAllocs()
				for b.Loop() {
					if len(p.open) > 0 && p.open[0].left < size && p.open[0].kind != kindStruct {
						open()
					}
					write()
				}
			})
		}
	}
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			for at := 0; at < size; at += chunk {
				copy(sink.buf, ascii[at:at+chunk])
			}
		}
	})
}
