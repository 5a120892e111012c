package conform_test

import (
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fixture"
	"github.com/thriftpack/thriftpack/internal/schema/conform"
	"github.com/thriftpack/thriftpack/internal/schema/schematest"
)

// BenchmarkEncode checks values before they are encoded, beside their encoding.
func BenchmarkEncode(b *testing.B) {
	s := schematest.Compile(b, `
struct OneOfEach { 1: bool a, 2: bool b, 3: i8 c, 4: i16 d, 5: i32 e, 6: i64 f, 7: double g, 8: string h, 9: string i }
struct Row { 1: i32 a, 2: i64 b, 3: double c, 4: string d, 5: bool e }
typedef list<Row> Rows
typedef list<string> Texts
typedef map<string, i64> Numbers
`)
	for _, c := range []struct {
		name  string
		value *thriftpackv1.Value
	}{
		{"OneOfEach", fixture.OneOfEach()},
		{"Rows", fixture.ListStruct(10_000)},
		{"Texts", fixture.ListString(10_000, 12)},
		{"Numbers", fixture.MapStringI64(10_000)},
	} {
		value, typ := fixture.Wire(c.value), schematest.TypeOf(b, s, c.name)
		b.Run(c.name+"/check", func(b *testing.B) {
			var checker conform.Checker
			b.ReportAllocs()
			for b.Loop() {
				if _, err := checker.Encode(value, typ, &conform.EncodeOptions{Limits: limits}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/encode", func(b *testing.B) {
			var e encoder.Encoder
			o := encoder.Options{Limits: limits}
			out := make([]byte, 0, encoder.Bound(len(value), &o))
			for b.Loop() {
				if _, err := e.Append(out, value, &o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
