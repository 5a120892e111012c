package jsonvalue

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/thriftpack/thriftpack/internal/schema"
)

// oneOfEach is the struct of Apache Thrift's Ruby protocol benchmark.
var oneOfEach = structOf("OneOfEach", field(1, "truth", tBool), field(2, "lie", tBool), field(3, "octet", tI8), field(4, "short_integer", tI16),
	field(5, "integer", tI32), field(6, "long_integer", tI64), field(7, "fraction", tDouble), field(8, "text", tString), field(9, "unicode_text", tString))

// record is what lists of structs hold.
var record = structOf("Record", field(1, "number", tI32), field(2, "time", tI64), field(3, "measure", tDouble), field(4, "name", tString), field(5, "good", tBool))

const oneOfEachText = `{"truth":true,"lie":false,"octet":-42,"short_integer":27000,"integer":16777216,"long_integer":6000000000,"fraction":3.141592653589793,"text":"Debug THIS!","unicode_text":"×\n\u0007\t"}`

// records returns a list of n records.
func records(n int) string {
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

// integers returns a list of n integers whose sizes no branch predictor learns.
func integers(n int) string {
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

// listText returns an array of 10,000 elements.
func listText(element func(i int) string) string {
	elements := make([]string, 10_000)
	for i := range elements {
		elements[i] = element(i)
	}
	return "[" + strings.Join(elements, ",") + "]"
}

// BenchmarkEncode encodes into a buffer that is used again.
func BenchmarkEncode(b *testing.B) {
	for _, test := range benchmarks() {
		b.Run(test.name, func(b *testing.B) {
			var e Encoder
			o, text := compactOptions(), []byte(test.text)
			dst, err := e.Append(nil, text, test.typ, o)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				dst, err = e.Append(dst[:0], text, test.typ, o)
			}
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

type benchmark struct {
	name string
	typ  *schema.Type
	text string
}

// benchmarks returns what is encoded.
func benchmarks() []benchmark {
	r := random(9)
	shuffledRecords := strings.ReplaceAll(records(10_000), `{"number":`, `{"good":true,"number":`)
	shuffledRecords = regexp.MustCompile(`,"good":(true|false)}`).ReplaceAllString(shuffledRecords, "}")
	mapText := "{" + strings.Trim(listText(func(i int) string { return fmt.Sprintf(`"key %d":%d`, i, r.Uint64()>>r.UintN(63)>>1) }), "[]") + "}"
	return []benchmark{
		{"one", oneOfEach, oneOfEachText},
		{"records", listOf(record), records(10_000)},
		{"records out of order", listOf(record), shuffledRecords},
		{"records, indented", listOf(record), strings.ReplaceAll(strings.ReplaceAll(records(10_000), ",", ",\n        "), ":", ": ")},
		{"integers", listOf(tI64), integers(100_000)},
		{"small integers", listOf(tI32), "[" + strings.Repeat("1,22,333,", 10_000) + "1]"},
		{"doubles", listOf(tDouble), listText(func(int) string { return strconv.FormatFloat(r.NormFloat64(), 'g', -1, 64) })},
		{"strings", listOf(tString), listText(func(int) string { return `"` + strings.Repeat("x", 20) + `"` })},
		{"wide strings", listOf(tString), listText(func(i int) string { return `"日本語のテキスト` + strconv.Itoa(i) + `"` })},
		{"base64", tBinary, `"` + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("\x00\x10\x83\xff"), 1<<16)) + `"`},
		{"a map", mapOf(tString, tI64), mapText},
		{"a set", setOf(tI64), "[" + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(r.Perm(10_000))), ","), "[]") + "]"},
	}
}
