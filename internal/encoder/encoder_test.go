package encoder

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

func TestFixtures(t *testing.T) {
	t.Parallel()
	compact, binary := &Options{Limits: testLimits}, &Options{Limits: testLimits, Protocol: Binary}
	if got := hex.EncodeToString(mustEncode(t, fixture.Wire(fixture.OneOfEach()), compact)); got != fixture.OneOfEachCompact {
		t.Errorf("OneOfEach = %s, want %s", got, fixture.OneOfEachCompact)
	}
	if got := mustEncode(t, fixture.Wire(fixture.OneOfEach()), binary); len(got) != fixture.OneOfEachBinarySize {
		t.Errorf("OneOfEach in binary = %d bytes, want %d", len(got), fixture.OneOfEachBinarySize)
	}
	if got := mustEncode(t, fixture.Wire(fixture.Nested4()), compact); len(got) != fixture.Nested4CompactSize {
		t.Errorf("Nested4 = %d bytes, want %d", len(got), fixture.Nested4CompactSize)
	}
}

// TestBytes pins the bytes of both protocols, as three implementations of Apache agree on them or as the specification says.
func TestBytes(t *testing.T) {
	t.Parallel()
	field := func(f *thriftpackv1.Field) *thriftpackv1.Value { return thriftpackv1.StructValue(f) }
	uuid := [16]byte{0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}
	tests := []struct {
		name            string
		value           *thriftpackv1.Value
		compact, binary string
	}{
		{"empty struct", thriftpackv1.StructValue(), "00", "00"},
		{"bool fields: 1 is true, 2 is false", thriftpackv1.StructValue(thriftpackv1.BoolField(1, true), thriftpackv1.BoolField(2, false)), "11 12 00", "02 0001 01  02 0002 00  00"},

		{"i8 -1 is raw, not zigzag", field(thriftpackv1.I8Field(1, -1)), "13 ff 00", "03 0001 ff 00"},
		{"i8 smallest", field(thriftpackv1.I8Field(7, -128)), "73 80 00", "03 0007 80 00"},
		{"i8 largest", field(thriftpackv1.I8Field(7, 127)), "73 7f 00", "03 0007 7f 00"},
		{"i8 63: largest of one zigzag byte", field(thriftpackv1.I8Field(1, 63)), "13 3f 00", "03 0001 3f 00"},
		{"i8 64: smallest of two", field(thriftpackv1.I8Field(1, 64)), "13 40 00", "03 0001 40 00"},
		{"i16 smallest", field(thriftpackv1.I16Field(1, math.MinInt16)), "14 ffff03 00", "06 0001 8000 00"},
		{"i16 largest", field(thriftpackv1.I16Field(1, math.MaxInt16)), "14 feff03 00", "06 0001 7fff 00"},
		{"i32 smallest", field(thriftpackv1.I32Field(1, math.MinInt32)), "15 ffffffff0f 00", "08 0001 80000000 00"},
		{"i32 largest", field(thriftpackv1.I32Field(1, math.MaxInt32)), "15 feffffff0f 00", "08 0001 7fffffff 00"},
		{"i32 zero", field(thriftpackv1.I32Field(1, 0)), "15 00 00", "08 0001 00000000 00"},
		{"i64 smallest", field(thriftpackv1.I64Field(1, math.MinInt64)), "16 ffffffffffffffffff01 00", "0a 0001 8000000000000000 00"},
		{"i64 largest", field(thriftpackv1.I64Field(1, math.MaxInt64)), "16 feffffffffffffffff01 00", "0a 0001 7fffffffffffffff 00"},
		{"i64 1461563457000", field(thriftpackv1.I64Field(1, 1461563457000)), "16 d0f7c3bf8955 00", "0a 0001 000001544bf87de8 00"},
		{"i64 2^53+1", field(thriftpackv1.I64Field(1, 1<<53+1)), "16 8280808080808020 00", "0a 0001 0020000000000001 00"},

		{"double 1.0 is little-endian in compact", field(thriftpackv1.DoubleField(1, 1)), "17 000000000000f03f 00", "04 0001 3ff0000000000000 00"},
		{"double -0.0", field(thriftpackv1.DoubleField(1, math.Copysign(0, -1))), "17 0000000000000080 00", "04 0001 8000000000000000 00"},
		{"double -Inf", field(thriftpackv1.DoubleField(1, math.Inf(-1))), "17 000000000000f0ff 00", "04 0001 fff0000000000000 00"},
		{"double NaN keeps its bits", field(thriftpackv1.DoubleField(1, math.Float64frombits(0x7ff8000000000123))), "17 230100000000f87f 00", "04 0001 7ff8000000000123 00"},

		{"string", field(thriftpackv1.StringField(1, "é😀")), "18 06 c3a9f09f9880 00", "0b 0001 00000006 c3a9f09f9880 00"},
		{"empty string", field(thriftpackv1.StringField(1, "")), "18 00 00", "0b 0001 00000000 00"},
		{"binary may be anything", field(thriftpackv1.BinaryField(1, []byte{0xc3, 0x28})), "18 02 c328 00", "0b 0001 00000002 c328 00"},
		{
			"uuid", field(thriftpackv1.UUIDField(1, uuid)),
			"1d 00112233445566778899aabbccddeeff 00", "10 0001 00112233445566778899aabbccddeeff 00",
		},

		{"long header: id 17 alone", field(thriftpackv1.BoolField(17, true)), "01 22 00", "02 0011 01 00"},
		{"long header for a bool: 1, then 20", thriftpackv1.StructValue(thriftpackv1.BoolField(1, false), thriftpackv1.BoolField(20, true)), "12 01 28 00", "02 0001 00  02 0014 01  00"},
		{"id 0", field(thriftpackv1.BoolField(0, true)), "01 00 00", "02 0000 01 00"},
		{"largest step of a short header", field(thriftpackv1.I32Field(15, 1)), "f5 02 00", "08 000f 00000001 00"},
		{"smallest step of a long one", field(thriftpackv1.I32Field(16, 1)), "05 20 02 00", "08 0010 00000001 00"},
		{"backwards", thriftpackv1.StructValue(thriftpackv1.I32Field(5, 1), thriftpackv1.I32Field(1, 2)), "55 02 05 02 04 00", "08 0005 00000001  08 0001 00000002 00"},
		{"repeated id", thriftpackv1.StructValue(thriftpackv1.I32Field(1, 1), thriftpackv1.I32Field(1, 2)), "15 02 05 02 04 00", "08 0001 00000001  08 0001 00000002 00"},
		{"id -1", field(thriftpackv1.I32Field(-1, 1)), "05 01 02 00", "08 ffff 00000001 00"},
		{"ids -2, -1: a short step", thriftpackv1.StructValue(thriftpackv1.I32Field(-2, 1), thriftpackv1.I32Field(-1, 1)), "05 03 02 15 02 00", "08 fffe 00000001  08 ffff 00000001 00"},
		{"ids -1, 14: step 15 across zero", thriftpackv1.StructValue(thriftpackv1.I32Field(-1, 1), thriftpackv1.I32Field(14, 1)), "05 01 02 f5 02 00", "08 ffff 00000001  08 000e 00000001 00"},
		{
			"smallest and largest id", thriftpackv1.StructValue(thriftpackv1.I32Field(-32768, 1), thriftpackv1.I32Field(32767, 1)),
			"05 ffff03 02 05 feff03 02 00", "08 8000 00000001  08 7fff 00000001 00",
		},
		{
			"ids 50, 63: the last of one byte in protobuf", thriftpackv1.StructValue(thriftpackv1.I8Field(50, 0), thriftpackv1.I8Field(63, 1)),
			"03 64 00 d3 01 00", "03 0032 00  03 003f 01 00",
		},
		{
			"ids 63, 64: the first of two bytes", thriftpackv1.StructValue(thriftpackv1.I8Field(63, 0), thriftpackv1.I8Field(64, 1)),
			"03 7e 00 13 01 00", "03 003f 00  03 0040 01 00",
		},
		{
			"ids -65, -64", thriftpackv1.StructValue(thriftpackv1.I8Field(-65, 0), thriftpackv1.I8Field(-64, 1)),
			"03 8101 00 13 01 00", "03 ffbf 00  03 ffc0 01 00",
		},

		{"list<bool>: element type 1, 1 is true, 2 is false", thriftpackv1.ListValue(thriftpackv1.BoolList(true, false, true)), "31 01 02 01", "02 00000003 01 00 01"},
		{"empty list<bool>", thriftpackv1.ListValue(thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_BOOL)), "01", "02 00000000"},
		{"empty list<i32>", thriftpackv1.ListValue(thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_I32)), "05", "08 00000000"},
		{"empty set<string>", thriftpackv1.SetValue(thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_STRING)), "08", "0b 00000000"},
		{"list<i8>", thriftpackv1.ListValue(thriftpackv1.I8List(1, -1)), "23 01 ff", "03 00000002 01 ff"},
		{"list<i16>", thriftpackv1.ListValue(thriftpackv1.I16List(-32768, 1)), "24 ffff03 02", "06 00000002 8000 0001"},
		{"list<i32>", thriftpackv1.ListValue(thriftpackv1.I32List(-1, math.MaxInt32)), "25 01 feffffff0f", "08 00000002 ffffffff 7fffffff"},
		{"list<i64>", thriftpackv1.ListValue(thriftpackv1.I64List(0, math.MinInt64)), "26 00 ffffffffffffffffff01", "0a 00000002 0000000000000000 8000000000000000"},
		{"list<double>", thriftpackv1.ListValue(thriftpackv1.DoubleList(1)), "17 000000000000f03f", "04 00000001 3ff0000000000000"},
		{"list<binary>", thriftpackv1.ListValue(thriftpackv1.BinaryList([]byte{0xff}, nil)), "28 01 ff 00", "0b 00000002 00000001 ff 00000000"},
		{"set<uuid>", thriftpackv1.SetValue(thriftpackv1.UUIDList(uuid)), "1d 00112233445566778899aabbccddeeff", "10 00000001 00112233445566778899aabbccddeeff"},
		{"list<string>", thriftpackv1.ListValue(thriftpackv1.StringList("a", "é")), "28 01 61 02 c3a9", "0b 00000002 00000001 61 00000002 c3a9"},
		{
			"list<list<bool>>", thriftpackv1.ListValue(thriftpackv1.ListList(thriftpackv1.BoolList(true), thriftpackv1.BoolList(false, false), thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_BOOL))),
			"39 11 01 21 02 02 01", "0f 00000003 02 00000001 01  02 00000002 00 00  02 00000000",
		},
		{"list<set<i8>>", thriftpackv1.ListValue(thriftpackv1.SetList(thriftpackv1.I8List(5))), "1a 13 05", "0e 00000001 03 00000001 05"},
		{
			"list<map>", thriftpackv1.ListValue(thriftpackv1.MapList(thriftpackv1.MapOf(nil, nil), thriftpackv1.MapOf(thriftpackv1.I8List(1), thriftpackv1.I8List(2)))),
			"2b 00 01 33 01 02", "0d 00000002  00 00 00000000  03 03 00000001 01 02",
		},
		{
			"list<struct>", thriftpackv1.ListValue(thriftpackv1.StructList(thriftpackv1.StructOf(thriftpackv1.BoolField(1, true)), thriftpackv1.StructOf())),
			"2c 11 00 00", "0c 00000002 02 0001 01 00 00",
		},

		{"empty map is one byte", thriftpackv1.MapValue(thriftpackv1.MapOf(nil, nil)), "00", "00 00 00000000"},
		{
			"empty map with types", thriftpackv1.MapValue(thriftpackv1.MapOf(thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_I32), thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_SET))),
			"00", "08 0e 00000000",
		},
		{"map<string,i32>", thriftpackv1.MapValue(thriftpackv1.MapOf(thriftpackv1.StringList("a"), thriftpackv1.I32List(1))), "01 85 01 61 02", "0b 08 00000001 00000001 61 00000001"},
		{"map<bool,bool>", thriftpackv1.MapValue(thriftpackv1.MapOf(thriftpackv1.BoolList(true), thriftpackv1.BoolList(false))), "01 11 01 02", "02 02 00000001 01 00"},
		{
			"map<string,bool>", thriftpackv1.MapValue(thriftpackv1.MapOf(thriftpackv1.StringList("a", "b"), thriftpackv1.BoolList(true, false))),
			"02 81 01 61 01 01 62 02", "0b 02 00000002 00000001 61 01 00000001 62 00",
		},
		{
			"map<i64,struct>", thriftpackv1.MapValue(thriftpackv1.MapOf(thriftpackv1.I64List(-1<<63), thriftpackv1.StructList(thriftpackv1.StructOf()))),
			"01 6c ffffffffffffffffff01 00", "0a 0c 00000001 8000000000000000 00",
		},
		{
			"map<double,i16>", thriftpackv1.MapValue(thriftpackv1.MapOf(thriftpackv1.DoubleList(1), thriftpackv1.I16List(-2))),
			"01 74 000000000000f03f 03", "04 06 00000001 3ff0000000000000 fffe",
		},

		{
			"the base of ids comes back after a struct",
			thriftpackv1.StructValue(thriftpackv1.StringField(1, "a"), thriftpackv1.StringField(3, "b"), thriftpackv1.ListField(5, thriftpackv1.StructList(thriftpackv1.StructOf(thriftpackv1.I32Field(1, 1), thriftpackv1.I32Field(2, 2)))), thriftpackv1.StringField(6, "c")),
			"18 01 61 28 01 62 29 1c 15 02 15 04 00 18 01 63 00",
			"0b 0001 00000001 61  0b 0003 00000001 62  0f 0005 0c 00000001 08 0001 00000001 08 0002 00000002 00  0b 0006 00000001 63 00",
		},
		{
			"struct between bools", thriftpackv1.StructValue(thriftpackv1.BoolField(1, true), thriftpackv1.StructField(2, thriftpackv1.StructOf(thriftpackv1.BoolField(1, false))), thriftpackv1.BoolField(3, true)),
			"11 1c 12 00 11 00", "02 0001 01  0c 0002 02 0001 00 00  02 0003 01 00",
		},
		{
			"empty map field, then i32", thriftpackv1.StructValue(thriftpackv1.MapField(1, thriftpackv1.MapOf(nil, nil)), thriftpackv1.I32Field(2, 1)),
			"1b 00 15 02 00", "0d 0001 00 00 00000000  08 0002 00000001 00",
		},
		{"set field", field(thriftpackv1.SetField(9, thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_STRING))), "9a 08 00", "0e 0009 0b 00000000 00"},

		{"bool root", thriftpackv1.BoolValue(true), "01", "01"},
		{"bool root, false", thriftpackv1.BoolValue(false), "02", "00"},
		{"i8 root", thriftpackv1.I8Value(-1), "ff", "ff"},
		{"i16 root", thriftpackv1.I16Value(-1), "01", "ffff"},
		{"i32 root", thriftpackv1.I32Value(300), "d804", "0000012c"},
		{"i64 root", thriftpackv1.I64Value(math.MinInt64), "ffffffffffffffffff01", "8000000000000000"},
		{"double root", thriftpackv1.DoubleValue(1), "000000000000f03f", "3ff0000000000000"},
		{"string root", thriftpackv1.StringValue("a"), "01 61", "00000001 61"},
		{"binary root", thriftpackv1.BinaryValue([]byte{0}), "01 00", "00000001 00"},
		{"uuid root", thriftpackv1.UUIDValue(uuid), "00112233445566778899aabbccddeeff", "00112233445566778899aabbccddeeff"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			wire := marshal(t, test.value)
			isFast(t, wire)
			if got, want := mustEncode(t, wire, &Options{Limits: testLimits}), unhex(t, test.compact); !bytes.Equal(got, want) {
				t.Errorf("compact = %x, want %x", got, want)
			}
			if got, want := mustEncode(t, wire, &Options{Limits: testLimits, Protocol: Binary}), unhex(t, test.binary); !bytes.Equal(got, want) {
				t.Errorf("binary = %x, want %x", got, want)
			}
		})
	}
}

// TestSizes pins the headers of containers and strings on both sides of every boundary of their size.
func TestSizes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		size              int
		list, pairs, text string // headers
	}{
		{1, "15", "01 55", "01"},
		{14, "e5", "0e 55", "0e"},
		{15, "f5 0f", "0f 55", "0f"},
		{24, "f5 18", "18 55", "18"}, // texts of up to 23 bytes are copied as words
		{127, "f5 7f", "7f 55", "7f"},
		{128, "f5 8001", "8001 55", "8001"},
		{16383, "f5 ff7f", "ff7f 55", "ff7f"},
		{16384, "f5 808001", "808001 55", "808001"},
		{2097152, "f5 80808001", "80808001 55", "80808001"},
	}
	for _, test := range tests {
		t.Run(strconv.Itoa(test.size), func(t *testing.T) {
			t.Parallel()
			numbers := thriftpackv1.I32List(make([]int32, test.size)...)
			zeros := make([]byte, test.size)
			o := &Options{Limits: testLimits}
			if got, want := mustEncode(t, marshal(t, thriftpackv1.ListValue(numbers)), o), append(unhex(t, test.list), zeros...); !bytes.Equal(got, want) {
				t.Errorf("list starts with %x and has %d bytes, want %s and %d", got[:6], len(got), test.list, len(want))
			}
			want := append(append(unhex(t, test.pairs), zeros...), zeros...)
			if got := mustEncode(t, marshal(t, thriftpackv1.MapValue(thriftpackv1.MapOf(numbers, numbers))), o); !bytes.Equal(got, want) {
				t.Errorf("map starts with %x and has %d bytes, want %s and %d", got[:6], len(got), test.pairs, len(want))
			}
			want = append(unhex(t, test.text), zeros...)
			if got := mustEncode(t, marshal(t, thriftpackv1.StringValue(string(zeros))), o); !bytes.Equal(got, want) {
				t.Errorf("string starts with %x and has %d bytes, want %s and %d", got[:6], len(got), test.text, len(want))
			}
			if got := mustEncode(t, marshal(t, thriftpackv1.StructValue(thriftpackv1.BinaryField(1, zeros))), o); !bytes.Equal(got[1:len(got)-1], want) {
				t.Errorf("binary field starts with %x and has %d bytes, want %s and %d", got[:6], len(got), test.text, len(want)+2)
			}
		})
	}
}

func TestMessageAndFrame(t *testing.T) {
	t.Parallel()
	value := thriftpackv1.StructValue(thriftpackv1.I32Field(1, 1)) // 15 02 00; 08 0001 00000001 00
	const body, binaryBody = " 15 02 00", " 08 0001 00000001 00"
	tests := []struct {
		name            string
		message         *Message
		framed          bool
		compact, binary string
	}{
		{"call, sequence 0", &Message{"ping", 1, 0}, false, "82 21 00 04 70696e67" + body, "80010001 00000004 70696e67 00000000" + binaryBody},
		{"sequence 300 is a plain varint", &Message{"ping", 1, 300}, false, "82 21 ac02 04 70696e67" + body, "80010001 00000004 70696e67 0000012c" + binaryBody},
		{"sequence -1", &Message{"ping", 1, -1}, false, "82 21 ffffffff0f 04 70696e67" + body, "80010001 00000004 70696e67 ffffffff" + binaryBody},
		{"smallest sequence", &Message{"ping", 1, math.MinInt32}, false, "82 21 8080808008 04 70696e67" + body, "80010001 00000004 70696e67 80000000" + binaryBody},
		{"reply", &Message{"", 2, 1}, false, "82 41 01 00" + body, "80010002 00000000 00000001" + binaryBody},
		{"exception", &Message{"é", 3, 1}, false, "82 61 01 02 c3a9" + body, "80010003 00000002 c3a9 00000001" + binaryBody},
		{"oneway", &Message{"e", 4, 1}, false, "82 81 01 01 65" + body, "80010004 00000001 65 00000001" + binaryBody},
		{"frame", nil, true, "00000003" + body, "00000008" + binaryBody},
		{"framed message", &Message{"e", 4, 1}, true, "00000008 82 81 01 01 65" + body, "00000015 80010004 00000001 65 00000001" + binaryBody},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := &Options{Limits: testLimits, Message: test.message, Framed: test.framed}
			if got, want := mustEncode(t, marshal(t, value), o), unhex(t, test.compact); !bytes.Equal(got, want) {
				t.Errorf("compact = %x, want %x", got, want)
			}
			o.Protocol = Binary
			if got, want := mustEncode(t, marshal(t, value), o), unhex(t, test.binary); !bytes.Equal(got, want) {
				t.Errorf("binary = %x, want %x", got, want)
			}
		})
	}
}

func TestMessageFaults(t *testing.T) {
	t.Parallel()
	limits := testLimits
	limits.StringBytes = 4
	tests := []struct {
		name    string
		value   *thriftpackv1.Value
		message Message
		reason  fault.Reason
		text    string
	}{
		{"not a struct", thriftpackv1.I32Value(1), Message{"e", 1, 0}, fault.TypeMismatch, "value: a message needs a STRUCT, not I32"},
		{"no type", thriftpackv1.StructValue(), Message{"e", 0, 0}, fault.BadHeader, "options.message.type: message type 0, want 1..4"},
		{"type 5", thriftpackv1.StructValue(), Message{"e", 5, 0}, fault.BadHeader, "options.message.type: message type 5, want 1..4"},
		{"type -1", thriftpackv1.StructValue(), Message{"e", -1, 0}, fault.BadHeader, "options.message.type: message type -1, want 1..4"},
		{"name not text", thriftpackv1.StructValue(), Message{"\xff", 1, 0}, fault.BadUTF8, "options.message.name: not valid UTF-8"},
		{"name above the limit", thriftpackv1.StructValue(), Message{"12345", 1, 0}, fault.SizeLimit, "options.message.name: number of bytes 5 exceeds the limit of 4 (--max-string-bytes)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := encode(t, marshal(t, test.value), &Options{Limits: limits, Message: &test.message})
			if reason(t, err) != test.reason || err.Error() != test.text {
				t.Errorf("error = %s %q, want %s %q", reason(t, err), err, test.reason, test.text)
			}
		})
	}
	if _, err := encode(t, marshal(t, thriftpackv1.StructValue()), &Options{Limits: limits, Message: &Message{"1234", 1, 0}}); err != nil {
		t.Errorf("a name at the limit: %v", err)
	}
}

// TestReuse shows that nothing of one call is seen by the next, whatever became of it.
func TestReuse(t *testing.T) {
	t.Parallel()
	want := unhex(t, fixture.OneOfEachCompact)
	good := fixture.Wire(fixture.OneOfEach())
	o := &Options{Limits: testLimits}
	var e Encoder
	for _, bad := range [][]byte{nil, {0x62}, structOf(number(kindI8, 600)), structOf(join(number(kindBool, 7), number(kindI8, 600))), marshal(t, rich())[:1000]} {
		if _, err := e.Append(nil, bad, &Options{Limits: testLimits, Protocol: Binary, Framed: true}); err == nil {
			t.Errorf("Append(%x) succeeded", bad)
		}
		if got, err := e.Append(nil, good, o); !bytes.Equal(got, want) || err != nil || e.SlowPath() {
			t.Errorf("Append after an error = %x, %v, slow path %t, want %x", got, err, e.SlowPath(), want)
		}
		if _, err := e.Prepare(bad, o); err == nil {
			t.Errorf("Prepare(%x) succeeded", bad)
		}
		if buf, filled, err := e.WriteTo(&collector{size: 512}, nil, 0); reason(t, err) != fault.Internal || buf != nil || filled != 0 {
			t.Errorf("WriteTo after an error = %x, %d, %v", buf, filled, err)
		}
		if _, err := e.Prepare(good, o); err != nil {
			t.Errorf("Prepare after an error: %v", err)
		}
		if got, err := collect(&e, 512); !bytes.Equal(got, want) || err != nil {
			t.Errorf("WriteTo after an error = %x, %v, want %x", got, err, want)
		}
	}
	e.Release()
	if _, _, err := e.WriteTo(&collector{size: 512}, nil, 0); reason(t, err) != fault.Internal {
		t.Errorf("WriteTo after Release: %v", err)
	}
}

// TestAppendRoom shows that Append writes into room that is large enough, and leaves nothing behind its result.
func TestAppendRoom(t *testing.T) {
	t.Parallel()
	o := &Options{Limits: testLimits, Framed: true, Message: &Message{Name: strings.Repeat("n", 300), Type: 1}}
	for _, v := range []*thriftpackv1.Value{fixture.OneOfEach(), thriftpackv1.StructValue(thriftpackv1.ListField(1, fixture.ListI32(1000).GetList())), rich()} {
		wire := marshal(t, v)
		want := mustEncode(t, wire, o)
		var e Encoder
		room := make([]byte, 3+Bound(len(wire), o))
		got, err := e.Append(room[:3], wire, o)
		if err != nil || !bytes.Equal(got[3:], want) || &got[0] != &room[0] {
			t.Errorf("Append with room: error %v, equal %t, in place %t", err, bytes.Equal(got[3:], want), &got[0] == &room[0])
		}
		if rest := room[len(got):]; len(bytes.Trim(rest, "\x00")) != 0 {
			t.Errorf("bytes behind the result: %x", rest)
		}
		clear(room)
		limited := *o
		limited.Limits.StringBytes = 300
		broken := append(bytes.Clone(wire), number(1, 1)...) // no such member: noticed at the start
		late := structOf(join(id(1), text(kindString, "secret text")), join(id(2), text(kindString, "\xff")))
		for _, bad := range [][]byte{broken, late} {
			got, err := e.Append(room[:3], bad, &limited)
			if err == nil || len(got) != 3 || len(bytes.Trim(room, "\x00")) != 0 {
				t.Errorf("Append of a bad value: error %v, %d bytes, room %q", err, len(got), bytes.Trim(room, "\x00"))
			}
		}
	}
}

// TestChunks shows that the joined chunks are the same whatever their size, that records follow each other in a chunk, and
// what becomes of a sink's errors.
func TestChunks(t *testing.T) {
	t.Parallel()
	wire := marshal(t, rich())
	for _, o := range []*Options{
		{Limits: testLimits},
		{Limits: testLimits, Protocol: Binary, Framed: true, Message: &Message{Name: strings.Repeat("name", 500), Type: 1}},
	} {
		want := mustEncode(t, wire, o)
		var e Encoder
		if size, err := e.Prepare(wire, o); size != int64(len(want)) || err != nil {
			t.Fatalf("Prepare = %d, %v, want %d", size, err, len(want))
		}
		for size := minBuffer; size <= len(want)+itemRoom; size += 1 + (size-minBuffer)/100 {
			c := collector{size: size}
			buf, filled, err := e.WriteTo(&c, nil, 0)
			for range 2 {
				if err == nil {
					buf, filled, err = e.WriteTo(&c, buf, filled)
				}
			}
			if err != nil {
				t.Fatalf("WriteTo with chunks of %d: %v", size, err)
			}
			c.take(filled)
			if !bytes.Equal(c.all, bytes.Repeat(want, 3)) {
				t.Fatalf("chunks of %d joined = %x, want three times %x", size, c.all, want)
			}
		}
	}
	var e Encoder
	if _, err := e.Prepare(wire, &Options{Limits: testLimits}); err != nil {
		t.Fatal(err)
	}
	errSink := errors.New("peer is gone")
	if buf, filled, err := e.WriteTo(&collector{fail: errSink}, nil, 0); !errors.Is(err, errSink) || buf != nil || filled != 0 {
		t.Errorf("WriteTo to a failing sink = %x, %d, %v", buf, filled, err)
	}
	if _, _, err := e.WriteTo(&collector{fail: errSink}, make([]byte, 600), 0); !errors.Is(err, errSink) {
		t.Errorf("WriteTo to a sink that fails half-way: %v", err)
	}
	if _, _, err := e.WriteTo(&collector{size: 511}, nil, 0); reason(t, err) != fault.Internal {
		t.Errorf("WriteTo to a sink of small buffers: %v", err)
	}
	if got, err := collect(&e, 600); err != nil || len(got) == 0 {
		t.Errorf("WriteTo after errors = %d bytes, %v", len(got), err)
	}
}
