package encoder

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
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
