package conform_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/schema/conform"
)

func TestEncode(t *testing.T) {
	s, c := newTypes(t), conform.Checker{}
	for _, row := range []struct {
		name, typ string
		value     *thriftpackv1.Value
		want      *thriftpackv1.Value // nil where it is value
		fault     string
	}{
		{"a struct", "Pair", thriftpackv1.StructValue(thriftpackv1.I32Field(1, 1), thriftpackv1.StringField(2, "a")), nil, ""},
		{"fields in any order", "Pair", thriftpackv1.StructValue(thriftpackv1.StringField(2, "a"), thriftpackv1.I32Field(1, 1)), nil, ""},
		{"any number of an enum", "All", thriftpackv1.StructValue(thriftpackv1.I32Field(9, 42)), nil, ""},
		{"a root enum", "Temper", thriftpackv1.I32Value(2), nil, ""},
		{"a root of text", "Text", thriftpackv1.StringValue("a"), nil, ""},

		{"an empty list", "All", thriftpackv1.StructValue(thriftpackv1.ListField(12, thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_I32))), nil, ""},
		{
			"an empty list without its type", "All", thriftpackv1.StructValue(thriftpackv1.I32Field(3, 1), thriftpackv1.ListField(12, &thriftpackv1.List{}), thriftpackv1.I32Field(300, 2)),
			thriftpackv1.StructValue(thriftpackv1.I32Field(3, 1), thriftpackv1.ListField(12, thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_I32)), thriftpackv1.I32Field(300, 2)), "",
		},
		{
			"an empty list of text", "All", thriftpackv1.StructValue(thriftpackv1.ListField(10, &thriftpackv1.List{})),
			thriftpackv1.StructValue(thriftpackv1.ListField(10, thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_STRING))), "",
		},
		{
			"empty lists in a list", "All", thriftpackv1.StructValue(thriftpackv1.ListField(20, thriftpackv1.ListList(&thriftpackv1.List{}, thriftpackv1.I32List(1), &thriftpackv1.List{}))),
			thriftpackv1.StructValue(thriftpackv1.ListField(20, thriftpackv1.ListList(thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_I32), thriftpackv1.I32List(1), thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_I32)))), "",
		},
		{
			"an empty map", "All", thriftpackv1.StructValue(thriftpackv1.MapField(16, &thriftpackv1.Map{})),
			thriftpackv1.StructValue(thriftpackv1.MapField(16, thriftpackv1.MapOf(thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_STRING), thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_I32)))), "",
		},
		{
			"an empty map with one type", "All", thriftpackv1.StructValue(thriftpackv1.MapField(16, &thriftpackv1.Map{Values: thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_I32)})),
			thriftpackv1.StructValue(thriftpackv1.MapField(16, thriftpackv1.MapOf(thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_STRING), thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_I32)))), "",
		},
		{
			"an empty map, deep inside", "All",
			thriftpackv1.StructValue(thriftpackv1.MapField(25, thriftpackv1.MapOf(thriftpackv1.StringList("k"), thriftpackv1.ListList(thriftpackv1.MapList(&thriftpackv1.Map{}))))),
			thriftpackv1.StructValue(thriftpackv1.MapField(25, thriftpackv1.MapOf(thriftpackv1.StringList("k"), thriftpackv1.ListList(thriftpackv1.MapList(
				thriftpackv1.MapOf(thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_I32), thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_STRING))))))), "",
		},
		{
			"an empty root list", "Pairs", thriftpackv1.ListValue(&thriftpackv1.List{}), thriftpackv1.ListValue(thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_STRUCT)), "",
		},

		{
			"a number for text", "Pair", thriftpackv1.StructValue(thriftpackv1.I32Field(1, 1), thriftpackv1.I32Field(2, 1)), nil,
			"TYPE_MISMATCH value.struct.fields[1].i32: Pair.b: kind is I32, but string is declared",
		},
		{
			"binary for text", "Pair", thriftpackv1.StructValue(thriftpackv1.BinaryField(2, []byte("a"))), nil,
			"TYPE_MISMATCH value.struct.fields[0].binary: Pair.b: kind is BINARY, but string is declared",
		},
		{
			"text for binary", "All", thriftpackv1.StructValue(thriftpackv1.StringField(7, "a")), nil,
			"TYPE_MISMATCH value.struct.fields[0].string: All.raw: kind is STRING, but binary is declared",
		},
		{
			"a narrower number", "All", thriftpackv1.StructValue(thriftpackv1.I32Field(4, 1)), nil,
			"TYPE_MISMATCH value.struct.fields[0].i32: All.large: kind is I32, but i64 is declared",
		},
		{
			"a set for a list", "All", thriftpackv1.StructValue(thriftpackv1.SetField(12, thriftpackv1.I32List(1))), nil,
			"TYPE_MISMATCH value.struct.fields[0].set: All.numbers: kind is SET, but list<i32> is declared",
		},
		{
			"other elements", "All", thriftpackv1.StructValue(thriftpackv1.ListField(12, thriftpackv1.I64List(1))), nil,
			"TYPE_MISMATCH value.struct.fields[0].list: All.numbers: kind is I64, but i32 is declared",
		},
		{
			"binaries in a list of text", "All", thriftpackv1.StructValue(thriftpackv1.ListField(10, thriftpackv1.BinaryList([]byte("a")))), nil,
			"TYPE_MISMATCH value.struct.fields[0].list: All.texts: kind is BINARY, but string is declared",
		},
		{
			"an empty list of other elements", "All", thriftpackv1.StructValue(thriftpackv1.ListField(12, thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_I64))), nil,
			"TYPE_MISMATCH value.struct.fields[0].list.element_type: All.numbers: kind is I64, but i32 is declared",
		},
		{
			"other keys", "All", thriftpackv1.StructValue(thriftpackv1.MapField(16, thriftpackv1.MapOf(thriftpackv1.I32List(1), thriftpackv1.I32List(1)))), nil,
			"TYPE_MISMATCH value.struct.fields[0].map.keys: All.byText: kind is I32, but string is declared",
		},
		{
			"other values", "All", thriftpackv1.StructValue(thriftpackv1.MapField(16, thriftpackv1.MapOf(thriftpackv1.StringList("a"), thriftpackv1.StringList("b")))), nil,
			"TYPE_MISMATCH value.struct.fields[0].map.values: All.byText: kind is STRING, but i32 is declared",
		},
		{
			"inside of elements", "All", thriftpackv1.StructValue(thriftpackv1.ListField(15, thriftpackv1.StructList(thriftpackv1.StructOf(), thriftpackv1.StructOf(thriftpackv1.BoolField(1, true))))), nil,
			"TYPE_MISMATCH value.struct.fields[0].list.structs[1].fields[0].bool: All.pairs[1].a: kind is BOOL, but i32 is declared",
		},
		{
			"another root", "Pairs", thriftpackv1.StructValue(), nil,
			"TYPE_MISMATCH value.struct: list<Pair>: kind is STRUCT, but list<Pair> is declared",
		},
		{
			"an unknown field", "Pair", thriftpackv1.StructValue(thriftpackv1.I32Field(3, 1)), nil,
			"UNKNOWN_NAME value.struct.fields[0].i32: Pair.3: Pair has no field 3",
		},
		{
			"a repeated field", "Pair", thriftpackv1.StructValue(thriftpackv1.I32Field(1, 1), thriftpackv1.StringField(2, "a"), thriftpackv1.I32Field(1, 1)), nil,
			"DUPLICATE_FIELD value.struct.fields[2].i32: Pair.a: field 1 is set twice",
		},
		{
			"no required field", "Must", thriftpackv1.StructValue(thriftpackv1.StringField(2, "a")), nil,
			"MISSING_FIELD value.struct: Must.number: required field is missing",
		},
		{
			"no required field in an element", "All", thriftpackv1.StructValue(thriftpackv1.ListField(19, thriftpackv1.StructList(thriftpackv1.StructOf()))), nil,
			"MISSING_FIELD value.struct.fields[0].list.structs[0]: All.musts[0].number: required field is missing",
		},
		{"no member of a union", "Either", thriftpackv1.StructValue(), nil, "UNION_ARITY value.struct: Either: 0 members of a union are set, want 1"},
		{
			"two members of a union", "All", thriftpackv1.StructValue(thriftpackv1.StructField(18, thriftpackv1.StructOf(thriftpackv1.I32Field(1, 1), thriftpackv1.StringField(2, "a")))), nil,
			"UNION_ARITY value.struct.fields[0].struct: All.either: 2 members of a union are set, want 1",
		},
		{
			"an element again", "All", thriftpackv1.StructValue(thriftpackv1.SetField(13, thriftpackv1.I32List(3, 1, 3))), nil,
			"DUPLICATE_ELEMENT value.struct.fields[0].set.i32s[2]: All.set[2]: element 0 again",
		},
		{
			"a key again", "All", thriftpackv1.StructValue(thriftpackv1.MapField(16, thriftpackv1.MapOf(thriftpackv1.StringList("b", "a", "a"), thriftpackv1.I32List(1, 2, 3)))), nil,
			"DUPLICATE_KEY value.struct.fields[0].map.keys.strings[2]: All.byText[2].key: the key of entry 1 again",
		},

		// What only package encoder has words for.
		{"no kind", "Pair", thriftpackv1.StructValue(&thriftpackv1.Field{Id: 1}), nil, "MISSING_KIND value.struct.fields[0]: no kind is set"},
		{
			"two columns", "All", thriftpackv1.StructValue(thriftpackv1.ListField(12, &thriftpackv1.List{I32S: []int32{1}, I64S: []int64{1}})), nil,
			"TYPE_MISMATCH value.struct.fields[0].list: elements in two columns: i32s and i64s",
		},
		{
			"more keys than values", "All", thriftpackv1.StructValue(thriftpackv1.MapField(16, thriftpackv1.MapOf(thriftpackv1.StringList("a"), thriftpackv1.I32List()))), nil,
			"COUNT_MISMATCH value.struct.fields[0].map: 1 keys, but 0 values",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			value := wire(t, row.value)
			before := slices.Clone(value)
			got, err := c.Encode(value, s.of(t, row.typ), &conform.EncodeOptions{Limits: limits})
			if !bytes.Equal(value, before) {
				t.Error("the value was written to")
			}
			if row.fault != "" {
				wantFault(t, err, row.fault)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if row.want == nil {
				if &got[0] != &value[0] {
					t.Error("the value was copied, though nothing is to change")
				}
				return
			}
			if want := wire(t, row.want); !bytes.Equal(got, want) {
				t.Errorf("got  %v\nwant %v", treeOf(t, got), treeOf(t, want))
			}
		})
	}
}

func TestIgnoreUnknown(t *testing.T) {
	s, c := newTypes(t), conform.Checker{}
	value := wire(t, thriftpackv1.StructValue(thriftpackv1.I32Field(1, 1), thriftpackv1.ListField(7, thriftpackv1.StringList("a")), thriftpackv1.I32Field(7, 2), thriftpackv1.StringField(2, "b")))
	got, err := c.Encode(value, s.of(t, "Pair"), &conform.EncodeOptions{IgnoreUnknown: true, Limits: limits})
	if err != nil || !bytes.Equal(got, value) {
		t.Errorf("%v, %x, want no change", err, got)
	}
}

// TestEncodeAnyForm checks a value whose members have an order, and a form, that others write.
func TestEncodeAnyForm(t *testing.T) {
	s, c := newTypes(t), conform.Checker{}
	for _, row := range []struct {
		name, typ, value, want, fault string
	}{
		{"the kind before the id", "Pair", "62 06 0a 04 28 02 08 02", "", ""},
		{
			"the kind before the id, of an empty list", "All", "62 06 0a 04 4a 00 08 18", "62 08 0a 06 4a 02 08 05 08 18", "",
		},
		{"an empty run before the elements", "All", "62 0b 0a 09 08 18 4a 05 12 00 2a 01 02", "", ""},
		{"element_type behind the elements", "All", "62 0b 0a 09 08 18 4a 05 2a 01 02 08 05", "", ""},
		{"element_type among the elements", "All", "62 0c 0a 0a 08 14 4a 06 7a 00 08 0f 7a 00", "", ""},
		{"an empty run in an empty list", "All", "62 08 0a 06 08 18 4a 02 32 00", "62 08 0a 06 08 18 4a 02 08 05", ""},
		{"values before keys", "All", "62 0f 0a 0d 08 20 5a 09 12 03 2a 01 02 0a 02 7a 00", "", ""},
		{
			"a run in two parts", "All", "62 0d 0a 0b 08 18 4a 07 2a 01 02 2a 02 04 06", "62 0b 0a 09 08 18 4a 05 2a 03 02 04 06", "",
		},
		{
			"a kind and another one", "Pair", "62 08 0a 06 08 02 30 02 28 04", "62 06 0a 04 08 02 28 04", "",
		},
		{
			"merged into another kind", "Pair", "62 08 0a 06 08 02 28 04 30 02", "",
			"TYPE_MISMATCH value.struct.fields[0].i64: Pair.a: kind is I64, but i32 is declared",
		},
		{
			"merged into a missing type", "All", "62 08 0a 06 08 18 4a 00 4a 00", "62 08 0a 06 08 18 4a 02 08 05", "",
		},
		{
			"a member that does not exist", "Pair", "62 06 0a 04 08 02 70 02", "",
			"BAD_PROTO value.struct.fields[0]: malformed protobuf: no member has the number 14",
		},
		{"cut off", "Pair", "62 06 0a 04 08 02", "", "BAD_PROTO value: malformed protobuf: ends inside of a member"},
		{"nothing", "Pair", "", "", "MISSING_KIND value: no kind is set"},
	} {
		t.Run(row.name, func(t *testing.T) {
			value := unhex(t, row.value)
			if row.want == "" {
				row.want = row.value
			}
			got, err := c.Encode(value, s.of(t, row.typ), &conform.EncodeOptions{Limits: limits})
			if row.fault != "" {
				wantFault(t, err, row.fault)
				return
			}
			if want := unhex(t, row.want); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%v, %x, want %x", err, got, want)
			}
			var e encoder.Encoder
			if _, err := e.Append(nil, got, &encoder.Options{Limits: limits}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestEncodeDepth(t *testing.T) {
	s, c := newTypes(t), conform.Checker{}
	value := thriftpackv1.StructOf()
	for range 63 / 2 {
		value = thriftpackv1.StructOf(thriftpackv1.ListField(2, thriftpackv1.StructList(value)))
	}
	root := wire(t, &thriftpackv1.Value{Kind: &thriftpackv1.Value_Struct{Struct: value}})
	few := limits
	for _, few.Depth = range []int{64, 63} {
		if _, err := c.Encode(root, s.of(t, "Node"), &conform.EncodeOptions{Limits: few}); err != nil {
			t.Errorf("depth %d: %v", few.Depth, err)
		}
	}
	few.Depth = 62
	_, err := c.Encode(root, s.of(t, "Node"), &conform.EncodeOptions{Limits: few})
	wantFault(t, err, "DEPTH_LIMIT value.struct"+strings.Repeat(".fields[0].list.structs[0]", 31)+
		": depth 63 exceeds the limit of 62 (--max-depth)")
}
