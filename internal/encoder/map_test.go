package encoder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// Maps of many entries of every short scalar in the binary protocol, which are written in one loop: each is what encoding/binary makes of the
// numbers, at all lengths of varints and of texts, up to the end of the input and of the room.
func TestBinaryMapsOfScalars(t *testing.T) {
	var i64s []int64
	var want64 []byte
	for shift := range 64 {
		for _, v := range []int64{1 << shift, -1 << shift, 1<<shift - 1, math.MinInt64 >> shift} {
			i64s = append(i64s, v)
			want64 = binary.BigEndian.AppendUint64(want64, uint64(v))
		}
	}
	n := len(i64s)
	var i32s []int32
	var i16s []int16
	var want32, want16, want8, wantBools, wantDoubles []byte
	var i8s []int8
	var flags []bool
	var doubles []float64
	var texts []string
	var wantTexts [][]byte
	for i, v := range i64s {
		i32s, i16s, i8s = append(i32s, int32(v>>(i%33))), append(i16s, int16(v>>(i%49))), append(i8s, int8(v))
		want32 = binary.BigEndian.AppendUint32(want32, uint32(i32s[i]))
		want16 = binary.BigEndian.AppendUint16(want16, uint16(i16s[i]))
		want8 = append(want8, byte(i8s[i]))
		flags, wantBools = append(flags, i%3 == 0), append(wantBools, byte(1-min(i%3, 1)))
		doubles = append(doubles, float64(v)/3)
		wantDoubles = binary.BigEndian.AppendUint64(wantDoubles, math.Float64bits(doubles[i]))
		text := strings.Repeat("é", i%4) + strings.Repeat("x", i%41)
		texts = append(texts, text)
		wantTexts = append(wantTexts, append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...))
	}
	for name, test := range map[string]struct {
		list  *thriftpackv1.List
		code  byte
		bytes []byte // of all elements, of one size each
	}{
		"i64": {thriftpackv1.I64List(i64s...), 10, want64}, "i32": {thriftpackv1.I32List(i32s...), 8, want32}, "i16": {thriftpackv1.I16List(i16s...), 6, want16},
		"i8": {thriftpackv1.I8List(i8s...), 3, want8}, "bool": {thriftpackv1.BoolList(flags...), 2, wantBools},
		"double": {thriftpackv1.DoubleList(doubles...), 4, wantDoubles},
	} {
		value := thriftpackv1.MapValue(thriftpackv1.MapOf(thriftpackv1.StringList(texts...), test.list))
		want := binary.BigEndian.AppendUint32([]byte{11, test.code}, uint32(n))
		size := len(test.bytes) / n
		for i, text := range wantTexts {
			want = append(append(want, text...), test.bytes[i*size:(i+1)*size]...)
		}
		var e Encoder
		for _, room := range []int{0, len(want), len(want) + 300} {
			got, err := e.Append(make([]byte, 0, room), fixture.Wire(value), &Options{Protocol: Binary, Limits: testLimits})
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("map<string,%s> with room for %d: %v\n got %x\nwant %x", name, room, err, got, want)
			}
		}
	}
}

// Maps from texts to integers in the compact protocol, which are written in one loop: each is what encoding/binary makes of the numbers, at all
// lengths of varints and of texts, into one buffer and into chunks.
func TestCompactMapsOfIntegers(t *testing.T) {
	t.Parallel()
	var texts []string
	var binaries [][]byte
	var i64s []int64
	var i32s []int32
	var i16s []int16
	for shift := range 64 {
		for i, v := range []int64{1 << shift, -1 << shift, 1<<shift - 1, math.MinInt64 >> shift} {
			i64s, i32s, i16s = append(i64s, v), append(i32s, int32(v>>(shift%33))), append(i16s, int16(v>>(shift%49)))
			texts = append(texts, strings.Repeat("é", i)+strings.Repeat("x", (5*shift+i)%41))
			binaries = append(binaries, bytes.Repeat([]byte{0xff}, (7*shift+i)%38))
		}
	}
	want := map[string][]byte{}
	for i, text := range texts {
		for name, v := range map[string]int64{"i64": i64s[i], "i32": int64(i32s[i]), "i16": int64(i16s[i])} {
			want["text "+name] = binary.AppendVarint(append(binary.AppendUvarint(want["text "+name], uint64(len(text))), text...), v)
			want["binary "+name] = binary.AppendVarint(append(binary.AppendUvarint(want["binary "+name], uint64(len(binaries[i]))), binaries[i]...), v)
		}
	}
	header := binary.AppendUvarint(nil, uint64(len(texts)))
	for keys, keyList := range map[string]*thriftpackv1.List{"text": thriftpackv1.StringList(texts...), "binary": thriftpackv1.BinaryList(binaries...)} {
		for name, values := range map[string]*thriftpackv1.List{
			"i64": thriftpackv1.I64List(i64s...), "i32": thriftpackv1.I32List(i32s...), "i16": thriftpackv1.I16List(i16s...),
		} {
			code := map[string]byte{"i64": 0x86, "i32": 0x85, "i16": 0x84}[name]
			want := append(append(bytes.Clone(header), code), want[keys+" "+name]...)
			wire := fixture.Wire(thriftpackv1.MapValue(thriftpackv1.MapOf(keyList, values)))
			var e Encoder
			for _, room := range []int{0, len(want), len(want) + 300} {
				for _, wire := range [][]byte{slices.Clip(wire), valuesFirst(wire)} { // either is read to its end and not beyond
					got, err := e.Append(make([]byte, 0, room), wire, &Options{Limits: testLimits})
					if err != nil || !bytes.Equal(got, want) {
						t.Errorf("map<%s,%s> with room for %d: %v\n got %x\nwant %x", keys, name, room, err, got, want)
					}
				}
			}
			sink := randomSink{random: rand.New(rand.NewPCG(6153, 2))} // repeatable on purpose
			if _, err := e.Prepare(wire, &Options{Limits: testLimits}); err != nil {
				t.Fatal(err)
			}
			buf, filled, err := e.WriteTo(&sink, nil, 0)
			if sink.all = append(sink.all, buf[:filled]...); err != nil || !bytes.Equal(sink.all, want) {
				t.Errorf("map<%s,%s> in chunks: %v\n got %x\nwant %x", keys, name, err, sink.all, want)
			}
		}
	}
}

// valuesFirst returns a Value that is a map with its keys behind its values.
func valuesFirst(wire []byte) []byte {
	_, n := binary.Uvarint(wire[1:])
	m := wire[1+n:]
	size, n := binary.Uvarint(m[1:])
	keysEnd := 1 + n + int(size)
	return slices.Clip(slices.Concat(wire[:len(wire)-len(m)], m[keysEnd:], m[:keysEnd]))
}

// A key that is not UTF-8 is refused wherever the loop meets it, and its place is named.
func TestMapsOfIntegersRefuseKeys(t *testing.T) {
	t.Parallel()
	for place := range 20 * 5 {
		at := place / 5
		keys := bytes.Repeat([]byte("\x7a\x05abcde"), 20)
		keys[7*at+2+place%5] = 0xff
		values := append([]byte{0x32, 20}, bytes.Repeat([]byte{2}, 20)...)
		m := append(append([]byte{0x0a}, binary.AppendUvarint(nil, uint64(len(keys)))...), keys...)
		m = append(append(append(m, 0x12), byte(len(values))), values...)
		wire := append(append([]byte{0x5a}, binary.AppendUvarint(nil, uint64(len(m)))...), m...)
		_, err := new(Encoder).Append(nil, wire, &Options{Limits: testLimits})
		var f *fault.Error
		if want := fmt.Sprintf("value.map.keys.strings[%d]", at); !errors.As(err, &f) || f.Reason != fault.BadUTF8 || f.Path != want {
			t.Errorf("key %d: %v, want BAD_UTF8 at %s", at, err, want)
		}
	}
}

// A text is held to its limit in the loop, too.
func TestMapsOfIntegersHoldLimits(t *testing.T) {
	t.Parallel()
	for most := range 40 {
		for length := range 40 {
			key, values := strings.Repeat("k", length), thriftpackv1.I32List(1, 2)
			limits := testLimits
			limits.StringBytes = most
			wire := fixture.Wire(thriftpackv1.MapValue(thriftpackv1.MapOf(thriftpackv1.StringList(key, ""), values)))
			_, err := new(Encoder).Append(nil, wire, &Options{Limits: limits})
			if want := length > most; errors.Is(err, fault.New(fault.SizeLimit, "")) != want || err != nil != want {
				t.Errorf("a key of %d bytes with a limit of %d: %v", length, most, err)
			}
		}
	}
}

// An entry that is not short is begun by the loops and written anew by the walk. Where that ends in an error, what was begun is cleared,
// too: the caller's room has nothing in it but zeros and what was there.
func TestMapsClearWhatTheyBegan(t *testing.T) {
	t.Parallel()
	errStopped := errors.New("stopped")
	for length := range 40 {
		text, long := strings.Repeat("x", length), strings.Repeat("x", 40)
		for name, m := range map[string]*thriftpackv1.Map{
			"a long key":   thriftpackv1.MapOf(thriftpackv1.StringList("a", long), thriftpackv1.StringList("a", text)),
			"a long value": thriftpackv1.MapOf(thriftpackv1.StringList("a", text), thriftpackv1.StringList("a", long)),
		} {
			for steps := range 6 {
				var e Encoder
				room := bytes.Repeat([]byte{0xa5}, 400)
				e.start(fixture.Wire(thriftpackv1.MapValue(m)), &Options{Protocol: Binary, Limits: testLimits, Stop: func() error { return errStopped }})
				e.out, e.ticks = room, steps // it stops after as many
				if ok := e.encodeFrame(0); ok && steps == 0 || !ok && steps == 5 {
					t.Errorf("%s, %d steps: %t", name, steps, ok)
				}
				e.clearSpill()
				for at, b := range room[e.written:] {
					if b != 0 && b != 0xa5 {
						t.Fatalf("%s, %d steps, the other of %d bytes: %x is left %d behind the end", name, steps, length, b, at)
					}
				}
			}
		}
	}
}
