package schema_test

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/schema/schematest"
)

// Declarations that the rows refer to.
const declarations = `
	enum E {A = 1, B = -2}
	struct P {1: i32 x = 1, 2: optional i32 y = 2, 3: required i32 z = 3, 4: i32 w}
	struct Pin {1: optional i32 x, 2: optional i32 y}
	struct Below {0: i32 i = 1, -1: bool b = true}
	struct Outer {1: P p = {}}
	union U {1: i32 a, 2: string b}
	const i32 FIVE = 5
	const list<i32> SOME = [FIVE, 6]
	const map<E, string> NAMES = {E.A: "x"}
`

func TestDefaultsHaveTheirBytes(t *testing.T) {
	completed := thriftpackv1.StructOf(thriftpackv1.I32Field(1, 1), thriftpackv1.I32Field(3, 3))
	for _, c := range []struct {
		typ, value      string
		compact, binary string
		want            *thriftpackv1.Value
	}{
		{"bool", "true", "01", "01", thriftpackv1.BoolValue(true)},
		{"bool", "false", "02", "00", thriftpackv1.BoolValue(false)},
		{"bool", "0", "02", "00", thriftpackv1.BoolValue(false)},
		{"i8", "-1", "ff", "ff", thriftpackv1.I8Value(-1)},
		{"i16", "300", "d804", "012c", thriftpackv1.I16Value(300)},
		{"i32", "42", "54", "0000002a", thriftpackv1.I32Value(42)},
		{"i32", "FIVE", "0a", "00000005", thriftpackv1.I32Value(5)},
		{"i64", "FIVE", "0a", "0000000000000005", thriftpackv1.I64Value(5)},
		{"i64", "0xff", "fe03", "00000000000000ff", thriftpackv1.I64Value(255)},
		{"i64", "-9223372036854775808", "ffffffffffffffffff01", "8000000000000000", thriftpackv1.I64Value(-1 << 63)},
		{"double", "0.5", "000000000000e03f", "3fe0000000000000", thriftpackv1.DoubleValue(0.5)},
		{"double", "3", "0000000000000840", "4008000000000000", thriftpackv1.DoubleValue(3)},
		{"string", "'hive'", "0468697665", "0000000468697665", thriftpackv1.StringValue("hive")},
		{"string", "''", "00", "00000000", thriftpackv1.StringValue("")},
		{"binary", "'a'", "0161", "0000000161", thriftpackv1.BinaryValue([]byte("a"))},
		{"E", "E.B", "03", "fffffffe", thriftpackv1.I32Value(-2)},
		{"E", "1", "02", "00000001", thriftpackv1.I32Value(1)},
		{"list<i32>", "[1, 2, 3]", "35020406", "0800000003000000010000000200000003", thriftpackv1.ListValue(thriftpackv1.I32List(1, 2, 3))},
		{"list<i32>", "SOME", "250a0c", "08000000020000000500000006", thriftpackv1.ListValue(thriftpackv1.I32List(5, 6))},
		{"list<bool>", "[true, false]", "210102", "02000000020100", thriftpackv1.ListValue(thriftpackv1.BoolList(true, false))},
		{"list<i8>", "[1, -1]", "2301ff", "030000000201ff", thriftpackv1.ListValue(thriftpackv1.I8List(1, -1))},
		{"list<i64>", "[-1]", "1601", "0a00000001ffffffffffffffff", thriftpackv1.ListValue(thriftpackv1.I64List(-1))},
		{"list<double>", "[0.5]", "17000000000000e03f", "04000000013fe0000000000000", thriftpackv1.ListValue(thriftpackv1.DoubleList(0.5))},
		{"list<string>", "[]", "08", "0b00000000", thriftpackv1.ListValue(thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_STRING))},
		{"set<string>", "['a']", "180161", "0b000000010000000161", thriftpackv1.SetValue(thriftpackv1.StringList("a"))},
		{
			"list<list<bool>>", "[[], [true]]", "29011101", "0f00000002" + "0200000000" + "020000000101",
			thriftpackv1.ListValue(thriftpackv1.ListList(thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_BOOL), thriftpackv1.BoolList(true))),
		},
		{
			"map<string, i32>", "{'jar': 5}", "0185036a61720a", "0b0800000001000000036a617200000005",
			thriftpackv1.MapValue(thriftpackv1.MapOf(thriftpackv1.StringList("jar"), thriftpackv1.I32List(5))),
		},
		{
			"map<i32, string>", "{}", "00", "080b00000000",
			thriftpackv1.MapValue(thriftpackv1.MapOf(thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_I32), thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_STRING))),
		},
		{
			"map<bool, list<i8>>", "{true: [7]}", "0119011307", "020f00000001010300000001" + "07",
			thriftpackv1.MapValue(thriftpackv1.MapOf(thriftpackv1.BoolList(true), thriftpackv1.ListList(thriftpackv1.I8List(7)))),
		},
		{
			"map<E, string>", "NAMES", "0158020178", "080b00000001000000010000000178",
			thriftpackv1.MapValue(thriftpackv1.MapOf(thriftpackv1.I32List(1), thriftpackv1.StringList("x"))),
		},
		{
			"Pin", "{'y': -4, 'x': 3}", "1506150700", "08000100000003080002fffffffc00",
			thriftpackv1.StructValue(thriftpackv1.I32Field(1, 3), thriftpackv1.I32Field(2, -4)),
		},
		{"Pin", "{}", "00", "00", thriftpackv1.StructValue()},
		{"P", "{}", "1502250600", "080001000000010800030000000300", thriftpackv1.StructValue(completed.GetFields()...)},
		{
			"P", "{'w': 4, 'x': 9}", "15122506150800", "08000100000009080003000000030800040000000400",
			thriftpackv1.StructValue(thriftpackv1.I32Field(1, 9), thriftpackv1.I32Field(3, 3), thriftpackv1.I32Field(4, 4)),
		},
		{"Below", "{}", "0101150200", "02ffff010800000000000100", thriftpackv1.StructValue(thriftpackv1.BoolField(-1, true), thriftpackv1.I32Field(0, 1))},
		{
			"Outer", "{}", "1c150225060000", "0c0001" + "080001000000010800030000000300" + "00",
			thriftpackv1.StructValue(thriftpackv1.StructField(1, completed)),
		},
		{"U", "{'b': 'x'}", "2801780" + "0", "0b0002000000017800", thriftpackv1.StructValue(thriftpackv1.StringField(2, "x"))},
		{"set<P>", "[{}]", "1c1502250600", "0c00000001" + "080001000000010800030000000300", thriftpackv1.SetValue(thriftpackv1.StructList(completed))},
		{
			"uuid", "'00112233-4455-6677-8899-aabbccddeeff'", "00112233445566778899aabbccddeeff", "00112233445566778899aabbccddeeff",
			thriftpackv1.UUIDValue([16]byte{0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}),
		},
	} {
		t.Run(c.typ+" "+c.value, func(t *testing.T) {
			plan := schematest.Type(t, declarations+"struct Row {1: "+c.typ+" v = "+c.value+"}", "Row")
			got := plan.Struct.FieldByID(1).Default
			if got == nil {
				t.Fatal("no default")
			}
			if h := hex.EncodeToString(got.Compact); h != c.compact {
				t.Errorf("compact %s, want %s", h, c.compact)
			}
			if h := hex.EncodeToString(got.Binary); h != c.binary {
				t.Errorf("binary %s, want %s", h, c.binary)
			}
			var value thriftpackv1.Value
			if err := proto.Unmarshal(got.Value, &value); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, &value, protocmp.Transform()); diff != "" {
				t.Errorf("value (-want +got)\n%s", diff)
			}
			// What is not minimal or out of order would be normalised.
			var e encoder.Encoder
			if _, err := e.Append(nil, got.Value, &encoder.Options{Limits: encoder.Limits{Depth: 9, Elements: 9, StringBytes: 99}}); err != nil ||
				e.SlowPath() {
				t.Errorf("not canonical: %x (%v)", got.Value, err)
			}
		})
	}
}

// Fields of every requirement, with and without a default, in a struct that is a default itself.
func TestDefaultsAreCompleted(t *testing.T) {
	const source = `
		struct Inner {
			1: required i32 given, 2: required i32 preset = 2, 3: i32 plain, 4: i32 plainPreset = 4, 5: optional i32 maybe,
			6: optional i32 maybePreset = 6
		}
		struct S {1: Inner all = {"given": 1}, 2: optional list<Inner> some = [{"given": 1, "maybe": 5, "maybePreset": 7}]}
	`
	s := schematest.Type(t, source, "S").Struct
	for id, want := range map[int16]string{1: "15021504250800", 2: "1c150215042508150a150e00"} {
		if got := hex.EncodeToString(s.FieldByID(id).Default.Compact); got != want {
			t.Errorf("field %d: %s, want %s", id, got, want)
		}
	}
	if s.Written != 1 || s.Required != 0 || len(s.Expected) != 1 {
		t.Errorf("Written %d, Required %d, Expected %v, want 1, 0 and that of the first", s.Written, s.Required, s.Expected)
	}
}

func TestDefaultsThatReadersRefuseAreLeftOut(t *testing.T) {
	const source = "struct R {1: required i32 a}\n" +
		"struct Holds {1: required R r = {}, 2: i32 n = 1}\n" +
		"struct Plain {1: R r = {}, 2: i32 n = 1}\n" +
		"struct S {1: Holds h = {}, 2: Plain p = {}, 3: list<R> l = [{'a': 1}, {}], 4: Holds good = {'r': {'a': 1}}}"
	s := schematest.Compile(t, source)
	of := schematest.TypeOf(t, s, "S").Struct
	for id, want := range map[int16]string{1: "none", 2: "250200", 3: "none", 4: "1c150200150200"} {
		got := "none"
		if d := of.FieldByID(id).Default; d != nil {
			got = hex.EncodeToString(d.Compact)
		}
		if got != want {
			t.Errorf("field %d: %s, want %s", id, got, want)
		}
	}
	want := []string{
		"test.thrift:2:33: the default of Holds.r has no value for the required R.a, and is left out",
		"test.thrift:3:24: the default of Plain.r has no value for the required R.a, and is left out",
		"test.thrift:4:24: the default of S.h has no value for the required Holds.r, and is left out",
		"test.thrift:4:60: the default of S.l has no value for the required R.a, and is left out",
	}
	if diff := cmp.Diff(want, s.Warnings); diff != "" {
		t.Errorf("warnings (-want +got)\n%s", diff)
	}
}

// The IDL of the vectors, with constants of constants and of other files. The bytes of MustWithDefault are those of the vector
// defaults/must-default/at-default.
func TestDefaultsOfTheVectors(t *testing.T) {
	s := schematest.Vectors(t, "defaults.thrift")
	for name, want := range map[string]string{
		"WithDefaults": "struct WithDefaults {1: i32 number = 54, 2: string text = 0468697665, 3: bool flag = 01, " +
			"4: double ratio = 000000000000e03f, 5: list<i32> items = 35020406, " +
			"6: map<string, i32> prices = 0285036a61720a04636f6d6218, 7: base.Mood mood = 02, 8: i64 hex = fe03, " +
			"9: i8 negative = ff, 10: base.Pin pin = 1506150700}",
		"OptionalDefaults": "struct OptionalDefaults {1: optional i32 number = 54, 2: optional string text = 0468697665, " +
			"3: optional bool flag = 01, 4: optional list<i32> items = 35020406, 5: optional base.Mood mood = 02}",
		"MustWithDefault": "struct MustWithDefault {1: required i32 frames = 14, " +
			"2: required list<string> sides = 28056e6f72746805736f757468}",
		"Mixed": "struct Mixed {1: required string key, 2: i32 plain, 3: optional i32 maybe, 4: optional i32 preset = 0e, " +
			"5: i32 plainPreset = 12}",
	} {
		if got := outline(schematest.TypeOf(t, s, name)); got != want {
			t.Errorf("%s\n got %s\nwant %s", name, got, want)
		}
	}
	for name, want := range map[string][]int{
		"Plain": {0, 0}, "WithDefaults": {10, 0}, "OptionalDefaults": {0, 0}, "Must": {0, 2}, "MustWithDefault": {2, 2}, "Mixed": {1, 1},
	} {
		of := schematest.TypeOf(t, s, name).Struct
		if got := []int{of.Written, of.Required}; !slices.Equal(got, want) {
			t.Errorf("%s: %v fields are written by default, and are required, want %v", name, got, want)
		}
	}
}

// Schemas are kept for long: no default keeps the room that it was made in.
func TestLargeDefaults(t *testing.T) {
	source := "struct S {1: list<string> l = [" + strings.Repeat("'abcdefghij', ", 20_000) + "], 2: i32 n = 1}"
	got := schematest.Type(t, source, "S").Struct.FieldByID(1).Default
	if want := "f8a09c01" + strings.Repeat("0a6162636465666768696a", 20_000); hex.EncodeToString(got.Compact) != want {
		t.Errorf("compact has %d bytes, want %d", len(got.Compact), len(want)/2)
	}
	if cap(got.Compact) > len(got.Compact) || cap(got.Value) > len(got.Value) || cap(got.Binary) > len(got.Binary) {
		t.Error("room was kept that nothing will use")
	}
}
