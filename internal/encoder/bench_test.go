package encoder

import (
	"bytes"
	"math"
	"strconv"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

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

// BenchmarkWriteTo encodes lists of growing size through one reused buffer of 32 KiB: the time per byte must not grow with the
// payload. Run it with -timeout and 4 GiB of memory for the largest.
func BenchmarkWriteTo(b *testing.B) {
	for _, v := range []struct {
		name    string
		value   *thriftpackv1.Value
		element int // what is repeated: 0 the packed run, else the member of List
	}{
		{"i64", fixture.ListI64(10_000), 0},
		{"struct", fixture.ListStruct(1_000), kindStruct},
	} {
		content := repeatable(b, v.value)
		for _, size := range []int{64 << 10, 1 << 20, 16 << 20, 256 << 20, 1 << 30} {
			b.Run(v.name+"/"+strconv.Itoa(size>>10)+"KiB", func(b *testing.B) {
				repeated := bytes.Repeat(content, size/len(content))
				if v.element == 0 {
					repeated = submessage(kindI64, repeated)
				}
				wire := submessage(kindList, repeated)
				var e Encoder
				n, err := e.Prepare(wire, &Options{Limits: Limits{Depth: 64, Elements: math.MaxInt32, StringBytes: math.MaxInt32}})
				if err != nil {
					b.Fatal(err)
				}
				sink := &reused{make([]byte, 32<<10)}
				b.SetBytes(n)
				b.ReportAllocs()
				for b.Loop() {
					if _, _, err := e.WriteTo(sink, sink.buf, 0); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// repeatable returns the members of the list, or the content of its packed run, which can be repeated to make a longer one.
func repeatable(b *testing.B, v *thriftpackv1.Value) []byte {
	b.Helper()
	list, n := protowire.ConsumeBytes(fixture.Wire(v)[1:])
	if n < 0 {
		b.Fatal(protowire.ParseError(n))
	}
	if list[0] != kindI64<<3|wireBytes {
		return list
	}
	run, n := protowire.ConsumeBytes(list[1:])
	if n < 0 {
		b.Fatal(protowire.ParseError(n))
	}
	return run
}
