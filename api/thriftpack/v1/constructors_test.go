package thriftpackv1_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

var uuid = [16]byte{0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}

// kinds has one row for each member of Value.kind: the same content as a value, as a field and as protobuf JSON. The
// JSON is the reference, written by hand.
var kinds = map[protoreflect.Name]struct {
	value *thriftpackv1.Value
	field *thriftpackv1.Field
	json  string
}{
	"bool":   {thriftpackv1.BoolValue(true), thriftpackv1.BoolField(7, true), `"bool": true`},
	"i8":     {thriftpackv1.I8Value(math.MinInt8), thriftpackv1.I8Field(7, math.MinInt8), `"i8": -128`},
	"i16":    {thriftpackv1.I16Value(math.MinInt16), thriftpackv1.I16Field(7, math.MinInt16), `"i16": -32768`},
	"i32":    {thriftpackv1.I32Value(math.MinInt32), thriftpackv1.I32Field(7, math.MinInt32), `"i32": -2147483648`},
	"i64":    {thriftpackv1.I64Value(math.MaxInt64), thriftpackv1.I64Field(7, math.MaxInt64), `"i64": "9223372036854775807"`},
	"double": {thriftpackv1.DoubleValue(-0.5), thriftpackv1.DoubleField(7, -0.5), `"double": -0.5`},
	"binary": {thriftpackv1.BinaryValue([]byte{0xff}), thriftpackv1.BinaryField(7, []byte{0xff}), `"binary": "/w=="`},
	"string": {thriftpackv1.StringValue("é"), thriftpackv1.StringField(7, "é"), `"string": "é"`},
	"uuid":   {thriftpackv1.UUIDValue(uuid), thriftpackv1.UUIDField(7, uuid), `"uuid": "ABEiM0RVZneImaq7zN3u/w=="`},
	"list": {
		thriftpackv1.ListValue(thriftpackv1.I32List(1)), thriftpackv1.ListField(7, thriftpackv1.I32List(1)),
		`"list": {"i32s": [1]}`,
	},
	"set": {
		thriftpackv1.SetValue(thriftpackv1.I32List(1)), thriftpackv1.SetField(7, thriftpackv1.I32List(1)),
		`"set": {"i32s": [1]}`,
	},
	"map": {
		thriftpackv1.MapValue(thriftpackv1.MapOf(thriftpackv1.I32List(1), thriftpackv1.BoolList(true))),
		thriftpackv1.MapField(7, thriftpackv1.MapOf(thriftpackv1.I32List(1), thriftpackv1.BoolList(true))),
		`"map": {"keys": {"i32s": [1]}, "values": {"bools": [true]}}`,
	},
	"struct": {
		thriftpackv1.StructValue(thriftpackv1.I32Field(1, 42)),
		thriftpackv1.StructField(7, thriftpackv1.StructOf(thriftpackv1.I32Field(1, 42))),
		`"struct": {"fields": [{"id": 1, "i32": 42}]}`,
	},
}

// columns has one row for each column of List: a list of two elements, one of none, and the element type.
var columns = map[protoreflect.Name]struct {
	list, empty *thriftpackv1.List
	element     thriftpackv1.Type
	json        string
}{
	"bools":    {thriftpackv1.BoolList(true, false), thriftpackv1.BoolList(), thriftpackv1.Type_TYPE_BOOL, `[true, false]`},
	"i8s":      {thriftpackv1.I8List(-1, 127), thriftpackv1.I8List(), thriftpackv1.Type_TYPE_I8, `"/38="`},
	"i16s":     {thriftpackv1.I16List(-32768, 32767), thriftpackv1.I16List(), thriftpackv1.Type_TYPE_I16, `[-32768, 32767]`},
	"i32s":     {thriftpackv1.I32List(1, -2), thriftpackv1.I32List(), thriftpackv1.Type_TYPE_I32, `[1, -2]`},
	"i64s":     {thriftpackv1.I64List(1, -2), thriftpackv1.I64List(), thriftpackv1.Type_TYPE_I64, `["1", "-2"]`},
	"doubles":  {thriftpackv1.DoubleList(0.5, -2), thriftpackv1.DoubleList(), thriftpackv1.Type_TYPE_DOUBLE, `[0.5, -2]`},
	"binaries": {thriftpackv1.BinaryList([]byte{0}, nil), thriftpackv1.BinaryList(), thriftpackv1.Type_TYPE_BINARY, `["AA==", ""]`},
	"strings":  {thriftpackv1.StringList("a", ""), thriftpackv1.StringList(), thriftpackv1.Type_TYPE_STRING, `["a", ""]`},
	"uuids": {
		thriftpackv1.UUIDList(uuid, [16]byte{}), thriftpackv1.UUIDList(), thriftpackv1.Type_TYPE_UUID,
		`["ABEiM0RVZneImaq7zN3u/w==", "AAAAAAAAAAAAAAAAAAAAAA=="]`,
	},
	"lists": {
		thriftpackv1.ListList(thriftpackv1.I32List(1), thriftpackv1.BoolList()), thriftpackv1.ListList(),
		thriftpackv1.Type_TYPE_LIST, `[{"i32s": [1]}, {"elementType": "TYPE_BOOL"}]`,
	},
	"sets": {
		thriftpackv1.SetList(thriftpackv1.I32List(1), thriftpackv1.BoolList()), thriftpackv1.SetList(),
		thriftpackv1.Type_TYPE_SET, `[{"i32s": [1]}, {"elementType": "TYPE_BOOL"}]`,
	},
	"maps": {
		thriftpackv1.MapList(thriftpackv1.MapOf(thriftpackv1.I32List(1), thriftpackv1.I32List(2)), thriftpackv1.MapOf(nil, nil)),
		thriftpackv1.MapList(),
		thriftpackv1.Type_TYPE_MAP, `[{"keys": {"i32s": [1]}, "values": {"i32s": [2]}}, {}]`,
	},
	"structs": {
		thriftpackv1.StructList(thriftpackv1.StructOf(thriftpackv1.BoolField(1, false)), thriftpackv1.StructOf()),
		thriftpackv1.StructList(),
		thriftpackv1.Type_TYPE_STRUCT, `[{"fields": [{"id": 1, "bool": false}]}, {}]`,
	},
}

func TestEveryKindHasItsConstructors(t *testing.T) {
	members := (&thriftpackv1.Value{}).ProtoReflect().Descriptor().Oneofs().ByName("kind").Fields()
	for i := range members.Len() {
		name := members.Get(i).Name()
		t.Run(string(name), func(t *testing.T) {
			row, ok := kinds[name]
			if !ok {
				t.Fatalf("no constructors for %s: write one for the value and one for the field, and a row in kinds", name)
			}
			expect(t, row.value, "{"+row.json+"}", &thriftpackv1.Value{})
			expect(t, row.field, `{"id": 7, `+row.json+"}", &thriftpackv1.Field{})
		})
	}
	if len(kinds) != members.Len() {
		t.Errorf("kinds has %d rows for the %d kinds of Value", len(kinds), members.Len())
	}
}

func TestEveryColumnHasItsConstructor(t *testing.T) {
	members := (&thriftpackv1.List{}).ProtoReflect().Descriptor().Fields()
	for i := range members.Len() {
		column := members.Get(i)
		if column.Name() == "element_type" {
			continue
		}
		t.Run(string(column.Name()), func(t *testing.T) {
			row, ok := columns[column.Name()]
			if !ok {
				t.Fatalf("no constructor for %s: write one, and a row in columns", column.Name())
			}
			// Columns carry the number of their element type.
			if got := int32(column.Number()); got != int32(row.element) {
				t.Errorf("column %s has number %d, its element type is %d", column.Name(), got, row.element)
			}
			expect(t, row.list, `{"`+string(column.Name())+`": `+row.json+"}", &thriftpackv1.List{})
			expect(t, row.empty, `{"elementType": "`+row.element.String()+`"}`, &thriftpackv1.List{})
		})
	}
	if want := members.Len() - 1; len(columns) != want {
		t.Errorf("columns has %d rows for the %d columns of List", len(columns), want)
	}
}

// The kinds of Field are those of Value: same names, numbers and types. The encoder relies on it.
func TestFieldHasTheKindsOfValue(t *testing.T) {
	value := (&thriftpackv1.Value{}).ProtoReflect().Descriptor().Oneofs().ByName("kind").Fields()
	field := (&thriftpackv1.Field{}).ProtoReflect().Descriptor().Oneofs().ByName("kind").Fields()
	if value.Len() != field.Len() {
		t.Fatalf("Value has %d kinds, Field has %d", value.Len(), field.Len())
	}
	for i := range value.Len() {
		v, f := value.Get(i), field.ByName(value.Get(i).Name())
		if f == nil || f.Number() != v.Number() || f.Kind() != v.Kind() {
			t.Errorf("Value has %v, Field has %v", v, f)
		}
	}
}

func TestUUIDListDoesNotAlias(t *testing.T) {
	ids := [][16]byte{uuid, uuid}
	list := thriftpackv1.UUIDList(ids...)
	ids[0][0], ids[1][0] = 0xee, 0xee
	list.Uuids[0] = append(list.Uuids[0], 0xee) // must not run into the next element
	if got := list.GetUuids()[1][0]; got != uuid[0] {
		t.Errorf("first byte of element 1 = %#x, want %#x", got, uuid[0])
	}
}

func TestEncodeRequestOf(t *testing.T) {
	expect(t, thriftpackv1.EncodeRequestOf(thriftpackv1.I32Value(1)), `{"value": {"i32": 1}}`, &thriftpackv1.EncodeRequest{})
}

// expect compares got with protobuf JSON, which it parses into empty.
func expect(t *testing.T, got proto.Message, json string, empty proto.Message) {
	t.Helper()
	if err := protojson.Unmarshal([]byte(json), empty); err != nil {
		t.Fatalf("reference %s: %v", json, err)
	}
	if diff := cmp.Diff(empty, got, protocmp.Transform()); diff != "" {
		t.Errorf("differs from %s (-want +got):\n%s", json, diff)
	}
}
