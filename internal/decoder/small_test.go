package decoder_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// Which structs are read in one pass, at both sides of each boundary. decode compares the two ways.
func TestSmallStructsAreReadInOnePass(t *testing.T) {
	text := func(n int) string { return "18" + varintHex(n) + strings.Repeat("61", n) } // a field that takes up to four bytes more
	tests := []struct {
		name, hex string
		change    func(o *decoder.Options)
		want      bool
	}{
		{"no fields", "00", nil, true},
		{"one of each scalar", oneOfEach, nil, true},
		{"a body of 127 bytes", "11" + text(115) + "00", nil, true},
		{"a body of 128 bytes", "11" + text(116) + "00", nil, true},
		{"strings of 6 and 7, far from the end", text(6) + text(7) + strings.Repeat("11", 20) + "00", nil, true},
		{"a string of 6 that ends the input", text(6) + "00", nil, true},
		{"a string of 7 that ends the input", text(7) + "00", nil, true},
		{"strings of 16 and 17, far from the end", text(16) + text(17) + strings.Repeat("11", 20) + "00", nil, true},
		{"a string of 17 that needs all of 28 bytes", text(17) + strings.Repeat("11", 8) + "00", nil, true},
		{"a string of 17 in 27 bytes", text(17) + strings.Repeat("11", 7) + "00", nil, true},
		{"a string of 16 that needs all of 20 bytes", text(16) + "11" + "00", nil, true},
		{"a string of 16 in 19 bytes", text(16) + "00", nil, true},
		{"strings of 24 and 25", text(24) + text(25) + strings.Repeat("11", 20) + "00", nil, true},
		{"strings of 123 and 124", text(123) + text(124) + strings.Repeat("11", 20) + "00", nil, true},
		{"i8 of one and two bytes", "13 3f 13 40 13 c0 13 bf 13 80 13 7f 13 00 00", nil, true},
		{"i16 at its bounds, and minimal or not", "14 ff ff 03 14 feff03 14 00 14 8000 14 01 14 818000 00", nil, true},
		{"i32 at its bounds", "15 ff ff ff ff 0f 15 fe ff ff ff 0f 15 00 00 11 11 11 11 00", nil, false}, // 00 ends it early
		{"i64 of seven, eight and ten bytes", "16 ffffffffffff01 16 ffffffffffffff01 16 ffffffffffffffffff01 11 11 11 11 11 11 00", nil, true},
		{"ids 63 and 64", "f1 f1 f1 f1 31 11 11 11 11 11 11 11 11 11 00", nil, true},
		{"long and negative ids", "02 7e 01 01 11 02 00 11 15 04 11 11 11 11 11 11 11 00", nil, true},
		{"a long header of a short id", "01 02 11 11 11 11 11 11 11 11 00", nil, true},
		{"a list, a map and a struct", "19 35 02 04 06 1b 01 55 02 04 1c 15 02 00 1a 05 1b 00 00", nil, true},
		{"a map of maps", "1b 02 5b 02 01 55 02 04 04 00 00", nil, true},
		{"a uuid", "1d 00112233445566778899aabbccddeeff 00", nil, true},
		{"as much as may be", text(decoder.SmallMost-4) + "00", nil, true},
		{"one byte more", text(decoder.SmallMost-3) + "00", nil, false},
		{"more Value than there is room for", "01 d0 8c 01" + strings.Repeat("11", 1019) + "00", nil, false}, // bools of 8 bytes, with ids from 9,000 on
		{"a struct before that", "1c 11 00 01 d0 8c 01" + strings.Repeat("11", 1016) + "00", nil, false},
		{"bytes behind it", "11 00 11 11", func(o *decoder.Options) { o.AllowTrailing = true }, true},
		{"a frame", "00000002 11 00", func(o *decoder.Options) { o.Framed = true }, true},
		{"a message", "82 21 01 04 70 69 6e 67 15 02 00", func(o *decoder.Options) { o.Message = true }, true},
		{"text in place of binary", text(2) + text(5) + "19 28 01 61 02 62 63" + text(20) + strings.Repeat("11", 30) + "00", func(o *decoder.Options) { o.DetectText = true }, true},
		{"a lenient stop", "11 10", func(o *decoder.Options) { o.Lenient = true }, true},
		{"the binary protocol", "02 0001 01 00", func(o *decoder.Options) { o.Protocol = decoder.Binary }, false},
		{"as many values as there are bytes", "11 11 00", func(o *decoder.Options) { o.Limits.Nodes = 4 }, true},
		{"a lower limit, which holds", "11 11 00", func(o *decoder.Options) { o.Limits.Nodes = 3 }, false},
		{"a lower limit, which does not", "11 11 00", func(o *decoder.Options) { o.Limits.Nodes = 2 }, false},
		{"no depth at all", "11 00", func(o *decoder.Options) { o.Limits.Depth = 0 }, false},
		{"a struct too deep", "1c 00 00", func(o *decoder.Options) { o.Limits.Depth = 1 }, false},
		{"strings at their limit", text(5) + strings.Repeat("11", 30) + "00", func(o *decoder.Options) { o.Limits.StringBytes = 5 }, true},
		{"strings beyond it", text(5) + strings.Repeat("11", 30) + "00", func(o *decoder.Options) { o.Limits.StringBytes = 4 }, false},
		{"an i16 out of range", "14 80 80 04 11 11 11 11 00", nil, false},
		{"an i32 out of range", "15 80 80 80 80 10 11 11 11 11 00", nil, false},
		{"an i64 too wide", "16 80808080808080808002 00", nil, false},
		{"a type without meaning", "11 1e 11 11 11 11 11 11 11 00", nil, false},
		{"a stop with a step", "11 10 11 11 11 11 11 11 11 00", nil, false},
		{"cut in an i32", "11 15 80", nil, false},
		{"cut in a double", "11 17 00000000000000", nil, false},
		{"cut in a string", "11 18 07 61 61 61 61 61 61", nil, false},
		{"no stop", strings.Repeat("11", 20), nil, false},
		{"nothing", "", nil, false},
	}
	var d decoder.Decoder
	for _, test := range tests {
		o := &decoder.Options{Limits: usual}
		if test.change != nil {
			test.change(o)
		}
		data := unhex(t, test.hex)
		if _, _, err := decode(t, &d, data, o); err != nil && test.want {
			t.Errorf("%s: %v", test.name, err)
		}
		_, _ = d.Prepare(data, o) // looked at above
		if got := d.ReadAtOnce(); got != test.want {
			t.Errorf("%s: read in one pass: %v, want %v", test.name, got, test.want)
		}
		d.Release()
	}
}

// What is in the decoder's buffer goes with Release, and with the next input.
func TestSmallValuesAreForgotten(t *testing.T) {
	var d decoder.Decoder
	small, large := unhex(t, oneOfEach), thriftOf(t, fixture.ListStruct(100), 0)
	o := &decoder.Options{Limits: usual}
	if _, err := d.Prepare(small, o); err != nil || !d.ReadAtOnce() || bytes.Count(d.Buffer(), []byte{0}) == len(d.Buffer()) {
		t.Errorf("OneOfEach is not in the buffer: %v", err)
	}
	if _, err := d.Prepare(large, &decoder.Options{Root: 9, Limits: usual}); err != nil || d.ReadAtOnce() {
		t.Errorf("the next input: %v, read in one pass: %v", err, d.ReadAtOnce())
	}
	if _, err := d.Prepare(small[:40], o); err == nil {
		t.Error("a cut struct is accepted")
	}
	before := d.Buffer()
	if _, err := d.Prepare(thriftOf(t, fixture.MapStringI64(300), 0), &decoder.Options{Root: 11, Limits: usual}); err != nil {
		t.Error(err)
	}
	if _, _, err := d.WriteTo(&chunks{tb: t, sizes: []int{512}}, nil, 0); err != nil || len(d.Buffer()) == len(before) {
		t.Errorf("a map in pieces: %v, with a buffer of %d bytes", err, len(d.Buffer()))
	}
	if bytes.Count(before, []byte{0}) != len(before) {
		t.Error("a buffer that became too small is left as it was")
	}
	d.Release()
	if n := len(d.Buffer()); n == 0 || bytes.Count(d.Buffer(), []byte{0}) != n {
		t.Errorf("Release leaves something in the buffer of %d bytes", n)
	}
	if _, err := d.Prepare(unhex(t, "15 02 00 61 62 63 64 65 66 67"), &decoder.Options{AllowTrailing: true, Limits: usual}); err != nil {
		t.Error(err)
	}
	d.Release()
	if n := len(d.Buffer()); bytes.Count(d.Buffer(), []byte{0}) != n {
		t.Error("Release leaves what was stored behind the end")
	}
}

// FuzzOnePass reads anything small in one pass and in two.
func FuzzOnePass(f *testing.F) {
	for _, code := range []string{
		oneOfEach, "13 3f 13 40 13 bf 14 ff ff 03 15 ff ff ff ff 0f 16 ff ff ff ff ff ff 01 00 00 00 00", "02 7e 01 01 f1 f1 f1 f1 31 11 11 11 11 11 11 11 11 00",
		"18 06 616161616161 18 07 61616161616161 18 10 61616161616161616161616161616161 18 11 6161616161616161616161616161616161 11 11 11 11 11 11 11 11 00",
		"19 35 02 04 06 1b 01 55 02 04 1c 15 02 00 1a 05 1b 00 00", "1b 02 8c 01 61 11 00 01 62 00 00", "14 80 00 15 80 80 00 11 11 11 11 11 11 11 00",
	} {
		for _, flags := range []uint8{0, 1, 2, 4} {
			f.Add(unhex(f, code), flags, uint8(30), uint16(1000))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, flags, stringBytes uint8, nodes uint16) {
		o := &decoder.Options{
			AllowTrailing: flags&1 != 0, Lenient: flags&2 != 0, DetectText: flags&4 != 0,
			Limits: decoder.Limits{Depth: int(flags >> 4), Elements: 100, StringBytes: int(stringBytes), Nodes: int(nodes)},
		}
		var one, two decoder.Decoder
		two.TwoPasses(true)
		info, err := one.Prepare(data, o)
		wantInfo, wantErr := two.Prepare(data, o)
		if info != wantInfo || !cmp.Equal(err, wantErr) {
			t.Fatalf("prepare %x: %+v, %v, in two passes %+v, %v", data, info, err, wantInfo, wantErr)
		}
		got, want := one.Append(nil), two.Append(nil)
		if !bytes.Equal(got, want) {
			t.Errorf("decode %x: %x, in two passes %x", data, got, want)
		}
		for _, d := range []*decoder.Decoder{&one, &two} { // where there is no room for whole words, other code writes
			sink := &chunks{tb: t, sizes: []int{512}}
			last, filled, err := d.WriteTo(sink, nil, 0)
			if joined := slices.Concat(sink.taken, last[:filled]); err != nil || !bytes.Equal(joined, want) {
				t.Errorf("decode %x by pieces: %v, %x, want %x", data, err, joined, want)
			}
		}
	})
}

// BenchmarkSmall reads structs of one size, in one pass and in two, as the service does.
func BenchmarkSmall(b *testing.B) {
	number, text := "15 80 80 80 10", "18 14 6162636465666768696a6b6c6d6e6f7071727374"
	structs := repeat("15 80 80 80 10 18 05 6162636465 17 0000000000000000 00", 10)
	entries := repeat("03 616263 80 80 80 10", 10)
	payloads := []struct{ name, hex string }{
		{"OneOfEach", oneOfEach},
		{"numbers and texts, 50 B", repeat(number, 5) + text + "00"},
		{"numbers and texts, 200 B", repeat(number+text, 7) + "00"},
		{"numbers and texts, 900 B", repeat(repeat(number+text, 10)+"0c 02 00", 3) + "00"},
		{"one list<i32>, 900 B", "19 f5" + varintHex(225) + repeat("80 80 80 10", 225) + "00"},
		{"one list<struct>, 200 B", "19 ac" + structs + "00"},
		{"one map<string,i32>, 80 B", "1b 0a 85" + entries + "00"},
		{"a binary of 900 B", "18" + varintHex(900) + strings.Repeat("61", 900) + "00"},
	}
	for _, p := range payloads {
		for _, two := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/two=%v", p.name, two), func(b *testing.B) {
				data, o := unhex(b, p.hex), &decoder.Options{Limits: usual}
				var d decoder.Decoder
				d.TwoPasses(two)
				var out []byte
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := d.Prepare(data, o); err != nil {
						b.Fatal(err)
					}
					out = d.Append(out[:0])
					d.Release()
				}
			})
		}
	}
}
