package jsonvalue

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
)

var benchOne = structOf("OneOfEach", field(1, "truth", tBool), field(2, "lie", tBool), field(3, "octet", tI8), field(4, "short_integer", tI16),
	field(5, "integer", tI32), field(6, "long_integer", tI64), field(7, "fraction", tDouble), field(8, "text", tString), field(9, "unicode_text", tString))

var benchRecord = structOf("Record", field(1, "number", tI32), field(2, "time", tI64), field(3, "measure", tDouble), field(4, "name", tString), field(5, "good", tBool))

const benchOneText = `{"truth":true,"lie":false,"octet":-42,"short_integer":27000,"integer":16777216,"long_integer":6000000000,"fraction":3.141592653589793,"text":"Debug THIS!","unicode_text":"×\n\u0007\t"}`

func benchRecords(n int) string {
	r := rand.New(rand.NewPCG(5, 0))
	var b bytes.Buffer
	b.WriteString("[")
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		name := make([]byte, 12)
		for i := range name {
			name[i] = 'a' + byte(r.UintN(26))
		}
		fmt.Fprintf(&b, `{"number":%d,"time":%d,"measure":%s,"name":"%s","good":%v}`, int32(r.Uint32()), int64(r.Uint64()>>r.UintN(64)), strconv.FormatFloat(r.Float64(), 'g', -1, 64), name, r.Uint64()&1 == 1)
	}
	b.WriteString("]")
	return b.String()
}

func benchI64s(n int) string {
	r := rand.New(rand.NewPCG(64, 0))
	b := []byte("[")
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(r.Uint64()>>r.UintN(64)), 10)
	}
	return string(append(b, ']'))
}

func BenchmarkEncode(b *testing.B) {
	for _, c := range []struct {
		name string
		text string
		run  func(e *Encoder, dst, in []byte) ([]byte, error)
	}{
		{"one", benchOneText, func(e *Encoder, dst, in []byte) ([]byte, error) { return e.Append(dst, in, benchOne, compactOptions()) }},
		{"records", benchRecords(10000), func(e *Encoder, dst, in []byte) ([]byte, error) {
			return e.Append(dst, in, listOf(benchRecord), compactOptions())
		}},
		{"i64", benchI64s(100000), func(e *Encoder, dst, in []byte) ([]byte, error) {
			return e.Append(dst, in, listOf(tI64), compactOptions())
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var e Encoder
			in := []byte(c.text)
			dst, err := c.run(&e, nil, in)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				dst, _ = c.run(&e, dst[:0], in)
			}
		})
	}
}
