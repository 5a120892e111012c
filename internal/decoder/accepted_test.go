package decoder_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
)

var uuid = [16]byte{0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}

// Compact bytes and the values that all reference decoders read from them. Strings come back as binary: the wire does not
// tell them apart.
func TestCompact(t *testing.T) {
	text := func(id int16, s string) *thriftpackv1.Field { return thriftpackv1.BinaryField(id, []byte(s)) }
	tests := []struct {
		name, hex string
		want      []*thriftpackv1.Field
	}{
		{"no fields", "00", nil},
		{"bool fields live in their headers", "11 12 00", fields(thriftpackv1.BoolField(1, true), thriftpackv1.BoolField(2, false))},
		{"i8 is one raw byte", "13 ff 00", fields(thriftpackv1.I8Field(1, -1))},
		{"smallest i8", "73 80 00", fields(thriftpackv1.I8Field(7, -128))},
		{"i8 with a one-byte zigzag", "13 c0 00", fields(thriftpackv1.I8Field(1, -64))},
		{"i8 with a two-byte zigzag", "13 bf 00", fields(thriftpackv1.I8Field(1, -65))},
		{"smallest i16", "14 ff ff 03 00", fields(thriftpackv1.I16Field(1, math.MinInt16))},
		{"largest i16", "14 fe ff 03 00", fields(thriftpackv1.I16Field(1, math.MaxInt16))},
		{"smallest i32", "15 ff ff ff ff 0f 00", fields(thriftpackv1.I32Field(1, math.MinInt32))},
		{"largest i32", "15 fe ff ff ff 0f 00", fields(thriftpackv1.I32Field(1, math.MaxInt32))},
		{"smallest i64", "16 ff ff ff ff ff ff ff ff ff 01 00", fields(thriftpackv1.I64Field(1, math.MinInt64))},
		{"largest i64", "16 fe ff ff ff ff ff ff ff ff 01 00", fields(thriftpackv1.I64Field(1, math.MaxInt64))},
		{"a time in milliseconds", "16 d0 f7 c3 bf 89 55 00", fields(thriftpackv1.I64Field(1, 1461563457000))},
		{"2^53 + 1", "16 82 80 80 80 80 80 80 20 00", fields(thriftpackv1.I64Field(1, 1<<53+1))},
		{"doubles are little-endian", "17 00 00 00 00 00 00 f0 3f 00", fields(thriftpackv1.DoubleField(1, 1))},
		{"negative zero", "17 00 00 00 00 00 00 00 80 00", fields(thriftpackv1.DoubleField(1, math.Copysign(0, -1)))},
		{"minus infinity", "17 00 00 00 00 00 00 f0 ff 00", fields(thriftpackv1.DoubleField(1, math.Inf(-1)))},
		{"NaN", "17 00 00 00 00 00 00 f8 7f 00", fields(thriftpackv1.DoubleField(1, math.Float64frombits(0x7ff8000000000000)))},
		{"NaN with other bits", "17 01 00 00 00 00 00 f0 ff 00", fields(thriftpackv1.DoubleField(1, math.Float64frombits(0xfff0000000000001)))},
		{"text", "18 06 c3 a9 f0 9f 98 80 00", fields(text(1, "é😀"))},
		{"empty text", "18 00 00", fields(text(1, ""))},
		{"bytes that are not text", "18 02 c3 28 00", fields(text(1, "\xc3\x28"))},
		{"uuid", "1d 00 11 22 33 44 55 66 77 88 99 aa bb cc dd ee ff 00", fields(thriftpackv1.UUIDField(1, uuid))},

		{"bool far from the last id", "01 22 00", fields(thriftpackv1.BoolField(17, true))},
		{"bool with id 0", "01 00 00", fields(thriftpackv1.BoolField(0, true))},
		{"false, then true 19 ids on", "12 01 28 00", fields(thriftpackv1.BoolField(1, false), thriftpackv1.BoolField(20, true))},
		{"largest step", "f5 02 00", fields(thriftpackv1.I32Field(15, 1))},
		{"one more than the largest step", "05 20 02 00", fields(thriftpackv1.I32Field(16, 1))},
		{"ids going back", "55 02 05 02 04 00", fields(thriftpackv1.I32Field(5, 1), thriftpackv1.I32Field(1, 2))},
		{"id -1", "05 01 02 00", fields(thriftpackv1.I32Field(-1, 1))},
		{"a step between negative ids", "05 03 02 15 02 00", fields(thriftpackv1.I32Field(-2, 1), thriftpackv1.I32Field(-1, 1))},
		{"a step across 0", "05 01 02 f5 02 00", fields(thriftpackv1.I32Field(-1, 1), thriftpackv1.I32Field(14, 1))},
		{"a step onto 0", "05 01 02 15 02 00", fields(thriftpackv1.I32Field(-1, 1), thriftpackv1.I32Field(0, 1))},
		{"smallest and largest id", "05 ff ff 03 02 05 fe ff 03 02 00", fields(thriftpackv1.I32Field(math.MinInt16, 1), thriftpackv1.I32Field(math.MaxInt16, 1))},
		{"step to the largest id", "05 fc ff 03 02 15 02 00", fields(thriftpackv1.I32Field(32766, 1), thriftpackv1.I32Field(32767, 1))},
		{"the same id twice stays twice", "15 02 05 02 04 00", fields(thriftpackv1.I32Field(1, 1), thriftpackv1.I32Field(1, 2))},
		{"ids of 63 and 64", "01 7e 11 00", fields(thriftpackv1.BoolField(63, true), thriftpackv1.BoolField(64, true))},
		{"ids of -65 and -64", "01 81 01 11 00", fields(thriftpackv1.BoolField(-65, true), thriftpackv1.BoolField(-64, true))},
		{"ids of 8191 and 8192", "01 fe 7f 11 00", fields(thriftpackv1.BoolField(8191, true), thriftpackv1.BoolField(8192, true))},
		{"ids of -8193 and -8192", "01 81 80 01 11 00", fields(thriftpackv1.BoolField(-8193, true), thriftpackv1.BoolField(-8192, true))},

		{
			"a nested struct has ids of its own", "35 02 1c 15 0e 00 15 04 00",
			fields(thriftpackv1.I32Field(3, 1), thriftpackv1.StructField(4, thriftpackv1.StructOf(thriftpackv1.I32Field(1, 7))), thriftpackv1.I32Field(5, 2)),
		},
		{
			"so has a struct in a list", "18 01 61 28 01 62 29 1c 15 02 15 04 00 18 01 63 00",
			fields(text(1, "a"), text(3, "b"), thriftpackv1.ListField(5, thriftpackv1.StructList(thriftpackv1.StructOf(thriftpackv1.I32Field(1, 1), thriftpackv1.I32Field(2, 2)))), text(6, "c")),
		},
		{
			"and bools around one", "11 1c 12 00 11 00",
			fields(thriftpackv1.BoolField(1, true), thriftpackv1.StructField(2, thriftpackv1.StructOf(thriftpackv1.BoolField(1, false))), thriftpackv1.BoolField(3, true)),
		},

		{"empty map is one byte", "1b 00 15 02 00", fields(thriftpackv1.MapField(1, &thriftpackv1.Map{}), thriftpackv1.I32Field(2, 1))},
		{"empty list keeps its type", "d9 05 00", fields(thriftpackv1.ListField(13, thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_I32)))},
		{"empty set keeps its type", "9a 08 00", fields(thriftpackv1.SetField(9, thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_BINARY)))},
		{"list of bools, kind 1", "19 31 01 02 01 00", fields(thriftpackv1.ListField(1, thriftpackv1.BoolList(true, false, true)))},
		{"list of bools, kind 2", "19 32 01 02 01 00", fields(thriftpackv1.ListField(1, thriftpackv1.BoolList(true, false, true)))},
		{"false as 0, kind 2", "19 32 01 00 02 00", fields(thriftpackv1.ListField(1, thriftpackv1.BoolList(true, false, false)))},
		{"false as 0, kind 1", "19 31 01 02 00 00", fields(thriftpackv1.ListField(1, thriftpackv1.BoolList(true, false, false)))},
		{"empty list of bools", "19 01 00", fields(thriftpackv1.ListField(1, thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_BOOL)))},
		{"map of bools", "1b 01 11 01 02 00", fields(thriftpackv1.MapField(1, thriftpackv1.MapOf(thriftpackv1.BoolList(true), thriftpackv1.BoolList(false))))},
		{"map of bools, kinds 2, false as 0", "1b 01 22 00 01 00", fields(thriftpackv1.MapField(1, thriftpackv1.MapOf(thriftpackv1.BoolList(false), thriftpackv1.BoolList(true))))},
		{"list of i8", "19 23 01 ff 00", fields(thriftpackv1.ListField(1, thriftpackv1.I8List(1, -1)))},
		{"list of i16", "19 24 01 fe ff 03 00", fields(thriftpackv1.ListField(1, thriftpackv1.I16List(-1, math.MaxInt16)))},
		{"list of doubles", "19 17 00 00 00 00 00 00 f0 3f 00", fields(thriftpackv1.ListField(1, thriftpackv1.DoubleList(1)))},
		{"list of uuids", "19 1d 00 11 22 33 44 55 66 77 88 99 aa bb cc dd ee ff 00", fields(thriftpackv1.ListField(1, thriftpackv1.UUIDList(uuid)))},
		{"lists in a list", "19 39 11 01 21 02 02 01 00", fields(thriftpackv1.ListField(1, thriftpackv1.ListList(
			thriftpackv1.BoolList(true), thriftpackv1.BoolList(false, false), thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_BOOL))))},
		{"one list in one list in one list", "19 19 19 15 02 00", fields(thriftpackv1.ListField(1, thriftpackv1.ListList(thriftpackv1.ListList(thriftpackv1.I32List(1)))))},
		{"one empty list in one list", "19 19 05 00", fields(thriftpackv1.ListField(1, thriftpackv1.ListList(thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_I32))))},
		{"structs in a list", "19 2c 11 00 12 00 00", fields(thriftpackv1.ListField(1, thriftpackv1.StructList(
			thriftpackv1.StructOf(thriftpackv1.BoolField(1, true)), thriftpackv1.StructOf(thriftpackv1.BoolField(1, false)))))},
		{"empty structs in a list", "19 2c 00 00 00", fields(thriftpackv1.ListField(1, thriftpackv1.StructList(thriftpackv1.StructOf(), thriftpackv1.StructOf())))},
		{"one empty struct in a list", "19 1c 00 00", fields(thriftpackv1.ListField(1, thriftpackv1.StructList(thriftpackv1.StructOf())))},
		{"set of one set", "1a 1a 25 02 04 00", fields(thriftpackv1.SetField(1, thriftpackv1.SetList(thriftpackv1.I32List(1, 2))))},
		{"map from text to i32", "1b 01 85 01 61 02 00", fields(thriftpackv1.MapField(1, thriftpackv1.MapOf(thriftpackv1.BinaryList([]byte("a")), thriftpackv1.I32List(1))))},
		{"map from text to bool", "1b 02 81 01 61 01 01 62 02 00", fields(thriftpackv1.MapField(1, thriftpackv1.MapOf(
			thriftpackv1.BinaryList([]byte("a"), []byte("b")), thriftpackv1.BoolList(true, false))))},
		{"map from maps to lists", "1b 02 b9 01 33 01 02 15 02 00 05 00", fields(thriftpackv1.MapField(1, thriftpackv1.MapOf(
			thriftpackv1.MapList(thriftpackv1.MapOf(thriftpackv1.I8List(1), thriftpackv1.I8List(2)), &thriftpackv1.Map{}), thriftpackv1.ListList(thriftpackv1.I32List(1), thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_I32)))))},
		{"map from one list to one struct", "1b 01 9c 15 02 15 04 00 00", fields(thriftpackv1.MapField(1, thriftpackv1.MapOf(
			thriftpackv1.ListList(thriftpackv1.I32List(1)), thriftpackv1.StructList(thriftpackv1.StructOf(thriftpackv1.I32Field(1, 2))))))},
		{"map of uuids to doubles", "1b 01 d7 00112233445566778899aabbccddeeff 000000000000f03f 00", fields(thriftpackv1.MapField(1, thriftpackv1.MapOf(
			thriftpackv1.UUIDList(uuid), thriftpackv1.DoubleList(1))))},

		{"padded i16", "14 82 00 00", fields(thriftpackv1.I16Field(1, 1))},
		{"padded i32", "15 80 00 00", fields(thriftpackv1.I32Field(1, 0))},
		{"i32 padded to ten bytes", "15 82 80 80 80 80 80 80 80 80 00 00", fields(thriftpackv1.I32Field(1, 1))},
		{"i64 padded to ten bytes", "16 82 80 80 80 80 80 80 80 80 00 00", fields(thriftpackv1.I64Field(1, 1))},
		{"padded i32 among many", "19 f5 0a 02 02 02 02 82 00 02 02 02 02 02 00", fields(thriftpackv1.ListField(1, thriftpackv1.I32List(1, 1, 1, 1, 1, 1, 1, 1, 1, 1)))},
		{"padded length", "18 81 00 61 00", fields(text(1, "a"))},
		{"padded map size", "1b 81 00 55 02 04 00", fields(thriftpackv1.MapField(1, thriftpackv1.MapOf(thriftpackv1.I32List(1), thriftpackv1.I32List(2))))},
		{"padded size of an empty map", "1b 80 00 00", fields(thriftpackv1.MapField(1, &thriftpackv1.Map{}))},
		{"padded map values", "1b 01 55 82 00 84 80 00 00", fields(thriftpackv1.MapField(1, thriftpackv1.MapOf(thriftpackv1.I32List(1), thriftpackv1.I32List(2))))},
		{"padded field id", "05 82 00 0a 00", fields(thriftpackv1.I32Field(1, 5))},
		{"long header for a near id", "05 02 0a 00", fields(thriftpackv1.I32Field(1, 5))},
		{"long header for a near bool", "02 04 00", fields(thriftpackv1.BoolField(2, false))},
		{"long list header for a short list", "19 f5 03 02 04 06 00", fields(thriftpackv1.ListField(1, thriftpackv1.I32List(1, 2, 3)))},
		{"long list header of size 0", "19 f5 00 00", fields(thriftpackv1.ListField(1, thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_I32)))},
		{"long list header of padded size 0", "19 fc 80 00 00", fields(thriftpackv1.ListField(1, thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_STRUCT)))},
		{
			"long list header of size 14", "19 f3 0e 01 01 01 01 01 01 01 01 01 01 01 01 01 01 00",
			fields(thriftpackv1.ListField(1, thriftpackv1.I8List(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1))),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			data := unhex(t, test.hex)
			info := expect(t, data, &decoder.Options{Limits: usual}, thriftpackv1.StructValue(test.want...))
			if info.BytesRead != int64(len(data)) || info.HasMessage {
				t.Errorf("%x: read %d bytes, message %v", data, info.BytesRead, info.HasMessage)
			}
			// What comes after does not change what comes before: bytes behind the value let the loops see eight at once.
			behind := slices.Concat(data, bytes.Repeat([]byte{0xff}, 16))
			expect(t, behind, &decoder.Options{Limits: usual, AllowTrailing: true}, thriftpackv1.StructValue(test.want...))
		})
	}
}

// The bytes of OneOfEach are those of peers; each item is named.
const oneOfEach = `
	11                                  // 1: true
	12                                  // 2: false
	13 d6                               // 3: i8 -42
	14 f0 a5 03                         // 4: i16 27000
	15 80 80 80 10                      // 5: i32 2^24
	16 80 f0 85 da 2c                   // 6: i64 6000000000
	17 18 2d 44 54 fb 21 09 40          // 7: double pi
	18 0b 44 65 62 75 67 20 54 48 49 53 21 // 8: "Debug THIS!"
	18 05 c3 97 0a 07 09                // 9: "×\n\a\t"
	00`

func TestOneOfEach(t *testing.T) {
	want := thriftpackv1.StructValue(
		thriftpackv1.BoolField(1, true), thriftpackv1.BoolField(2, false), thriftpackv1.I8Field(3, -42), thriftpackv1.I16Field(4, 27000), thriftpackv1.I32Field(5, 1<<24),
		thriftpackv1.I64Field(6, 6000000000), thriftpackv1.DoubleField(7, math.Pi), thriftpackv1.StringField(8, "Debug THIS!"), thriftpackv1.StringField(9, "×\n\a\t"),
	)
	expect(t, unhex(t, oneOfEach), &decoder.Options{Limits: usual, DetectText: true}, want)
}

func fields(f ...*thriftpackv1.Field) []*thriftpackv1.Field { return f }

// Thrift's binary protocol: fixed widths, big-endian.
func TestBinary(t *testing.T) {
	tests := []struct {
		name, hex string
		want      []*thriftpackv1.Field
	}{
		{"no fields", "00", nil},
		{"bools", "02 0001 01  02 0002 00  00", fields(thriftpackv1.BoolField(1, true), thriftpackv1.BoolField(2, false))},
		{"i8", "03 0001 d6 00", fields(thriftpackv1.I8Field(1, -42))},
		{"i16", "06 0001 8000 06 0002 7fff 00", fields(thriftpackv1.I16Field(1, math.MinInt16), thriftpackv1.I16Field(2, math.MaxInt16))},
		{"i32", "08 0001 80000000 08 0002 00000001 00", fields(thriftpackv1.I32Field(1, math.MinInt32), thriftpackv1.I32Field(2, 1))},
		{"i64", "0a 0001 8000000000000000 00", fields(thriftpackv1.I64Field(1, math.MinInt64))},
		{"double", "04 0001 3ff0000000000000 00", fields(thriftpackv1.DoubleField(1, 1))},
		{"NaN with other bits", "04 0001 fff0000000000001 00", fields(thriftpackv1.DoubleField(1, math.Float64frombits(0xfff0000000000001)))},
		{"binary", "0b 0001 00000002 c328 00", fields(thriftpackv1.BinaryField(1, []byte("\xc3\x28")))},
		{"uuid", "10 0001 00112233445566778899aabbccddeeff 00", fields(thriftpackv1.UUIDField(1, uuid))},
		{"negative and zero ids", "02 8000 01 02 0000 01 00", fields(thriftpackv1.BoolField(math.MinInt16, true), thriftpackv1.BoolField(0, true))},
		{"struct", "0c 0001 02 0001 01 00 0c 0002 00 00", fields(thriftpackv1.StructField(1, thriftpackv1.StructOf(thriftpackv1.BoolField(1, true))), thriftpackv1.StructField(2, thriftpackv1.StructOf()))},
		{"struct that starts with a uuid", "0c 0001 10 0001 00112233445566778899aabbccddeeff 00 00", fields(thriftpackv1.StructField(1, thriftpackv1.StructOf(thriftpackv1.UUIDField(1, uuid))))},
		{"list of i32", "0f 0001 08 00000002 00000001 ffffffff 00", fields(thriftpackv1.ListField(1, thriftpackv1.I32List(1, -1)))},
		{"list of doubles", "0f 0001 04 00000001 3ff0000000000000 00", fields(thriftpackv1.ListField(1, thriftpackv1.DoubleList(1)))},
		{"list of bools", "0f 0001 02 00000002 01 00 00", fields(thriftpackv1.ListField(1, thriftpackv1.BoolList(true, false)))},
		{"empty set", "0e 0001 0b 00000000 00", fields(thriftpackv1.SetField(1, thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_BINARY)))},
		{"empty list of no type", "0f 0001 00 00000000 00", fields(thriftpackv1.ListField(1, &thriftpackv1.List{}))},
		{"map", "0d 0001 0b 06 00000001 00000001 61 0001 00", fields(thriftpackv1.MapField(1, thriftpackv1.MapOf(thriftpackv1.BinaryList([]byte("a")), thriftpackv1.I16List(1))))},
		{
			"empty map keeps its types", "0d 0001 0b 06 00000000 00",
			fields(thriftpackv1.MapField(1, thriftpackv1.MapOf(thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_BINARY), thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_I16)))),
		},
		{"empty map of no types", "0d 0001 00 00 00000000 00", fields(thriftpackv1.MapField(1, &thriftpackv1.Map{}))},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			expect(t, unhex(t, test.hex), &decoder.Options{Protocol: decoder.Binary, Limits: usual}, thriftpackv1.StructValue(test.want...))
		})
	}
}

// A value of any type can be the root.
func TestRoots(t *testing.T) {
	tests := []struct {
		root            thriftpackv1.Type
		compact, binary string
		want            *thriftpackv1.Value
	}{
		{thriftpackv1.Type_TYPE_UNSPECIFIED, "00", "00", thriftpackv1.StructValue()},
		{thriftpackv1.Type_TYPE_BOOL, "01", "01", thriftpackv1.BoolValue(true)},
		{thriftpackv1.Type_TYPE_BOOL, "02", "00", thriftpackv1.BoolValue(false)},
		{thriftpackv1.Type_TYPE_BOOL, "00", "00", thriftpackv1.BoolValue(false)},
		{thriftpackv1.Type_TYPE_I8, "80", "80", thriftpackv1.I8Value(-128)},
		{thriftpackv1.Type_TYPE_I16, "01", "ffff", thriftpackv1.I16Value(-1)},
		{thriftpackv1.Type_TYPE_I32, "80 00", "00000000", thriftpackv1.I32Value(0)},
		{thriftpackv1.Type_TYPE_I64, "fe ff ff ff ff ff ff ff ff 01", "7fffffffffffffff", thriftpackv1.I64Value(math.MaxInt64)},
		{thriftpackv1.Type_TYPE_DOUBLE, "000000000000f03f", "3ff0000000000000", thriftpackv1.DoubleValue(1)},
		{thriftpackv1.Type_TYPE_BINARY, "01 61", "00000001 61", thriftpackv1.BinaryValue([]byte("a"))},
		{thriftpackv1.Type_TYPE_STRING, "01 61", "00000001 61", thriftpackv1.StringValue("a")},
		{thriftpackv1.Type_TYPE_LIST, "15 02", "08 00000001 00000001", thriftpackv1.ListValue(thriftpackv1.I32List(1))},
		{thriftpackv1.Type_TYPE_SET, "05", "08 00000000", thriftpackv1.SetValue(thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_I32))},
		{thriftpackv1.Type_TYPE_MAP, "01 33 01 02", "03 03 00000001 01 02", thriftpackv1.MapValue(thriftpackv1.MapOf(thriftpackv1.I8List(1), thriftpackv1.I8List(2)))},
		{thriftpackv1.Type_TYPE_STRUCT, "11 00", "02 0001 01 00", thriftpackv1.StructValue(thriftpackv1.BoolField(1, true))},
		{thriftpackv1.Type_TYPE_UUID, "00112233445566778899aabbccddeeff", "00112233445566778899aabbccddeeff", thriftpackv1.UUIDValue(uuid)},
	}
	seen := map[thriftpackv1.Type]bool{}
	for _, test := range tests {
		seen[test.root] = true
		expect(t, unhex(t, test.compact), &decoder.Options{Root: test.root, Limits: usual}, test.want)
		expect(t, unhex(t, test.binary), &decoder.Options{Root: test.root, Protocol: decoder.Binary, Limits: usual}, test.want)
	}
	for number := range thriftpackv1.Type_name {
		if !seen[thriftpackv1.Type(number)] {
			t.Errorf("no root of type %s is tested", thriftpackv1.Type(number))
		}
	}
}
