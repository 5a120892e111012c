// Package oracle says what the right bytes are, independently of the code under test: it drives Apache Thrift's own Go
// library with the values of the project's API, reads Apache's answers back, and loads the golden vectors.
//
// Everything in it leans on one property of the API: the number of a member of Value, Field and List is the Type that it holds.
package oracle

import (
	"bytes"
	"fmt"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

const (
	typeBool   = thriftpackv1.Type_TYPE_BOOL
	typeI8     = thriftpackv1.Type_TYPE_I8
	typeI16    = thriftpackv1.Type_TYPE_I16
	typeI32    = thriftpackv1.Type_TYPE_I32
	typeI64    = thriftpackv1.Type_TYPE_I64
	typeDouble = thriftpackv1.Type_TYPE_DOUBLE
	typeBinary = thriftpackv1.Type_TYPE_BINARY
	typeList   = thriftpackv1.Type_TYPE_LIST
	typeSet    = thriftpackv1.Type_TYPE_SET
	typeMap    = thriftpackv1.Type_TYPE_MAP
	typeStruct = thriftpackv1.Type_TYPE_STRUCT
	typeUUID   = thriftpackv1.Type_TYPE_UUID
	typeString = thriftpackv1.Type_TYPE_STRING
)

// Types are all types that a value can have, in the order of their numbers.
var Types = []thriftpackv1.Type{
	typeBool, typeI8, typeI16, typeI32, typeI64, typeDouble, typeBinary, typeList, typeSet, typeMap, typeStruct, typeUUID, typeString,
}

// Kind returns the type and the value of a Value or a Field; 0 where no member is set.
func Kind(m protoreflect.Message) (thriftpackv1.Type, protoreflect.Value) {
	member := m.WhichOneof(m.Descriptor().Oneofs().Get(0))
	if member == nil {
		return 0, protoreflect.Value{}
	}
	return thriftpackv1.Type(member.Number()), m.Get(member)
}

// setKind sets the member of a Value or a Field that holds the type.
func setKind(m protoreflect.Message, t thriftpackv1.Type, v protoreflect.Value) {
	m.Set(m.Descriptor().Fields().ByNumber(protoreflect.FieldNumber(t)), v)
}

// Elements returns the element type of a list and its elements: of the column that has any, or none of the named type.
func Elements(list *thriftpackv1.List) (thriftpackv1.Type, []protoreflect.Value) {
	m := list.ProtoReflect()
	for _, t := range Types {
		column := m.Descriptor().Fields().ByNumber(protoreflect.FieldNumber(t))
		if !m.Has(column) {
			continue
		}
		var values []protoreflect.Value
		if t == typeI8 {
			for _, b := range list.GetI8S() {
				values = append(values, protoreflect.ValueOfInt32(int32(int8(b)))) //nolint:gosec // two's complement
			}
			return t, values
		}
		for i := range m.Get(column).List().Len() {
			values = append(values, m.Get(column).List().Get(i))
		}
		return t, values
	}
	return list.GetElementType(), nil
}

// newList returns a list of elements of one type; the type is named only where there are none.
func newList(t thriftpackv1.Type, values []protoreflect.Value) *thriftpackv1.List {
	list := new(thriftpackv1.List)
	switch {
	case len(values) == 0:
		list.ElementType = t
	case t == typeI8:
		for _, v := range values {
			list.I8S = append(list.I8S, byte(v.Int())) //nolint:gosec // two's complement
		}
	default:
		column := list.ProtoReflect().Mutable(list.ProtoReflect().Descriptor().Fields().ByNumber(protoreflect.FieldNumber(t))).List()
		for _, v := range values {
			column.Append(v)
		}
	}
	return list
}

func listOf(v protoreflect.Value) *thriftpackv1.List {
	return v.Message().Interface().(*thriftpackv1.List) //nolint:errcheck // the type of the member says so
}

func mapOf(v protoreflect.Value) *thriftpackv1.Map {
	return v.Message().Interface().(*thriftpackv1.Map) //nolint:errcheck // the type of the member says so
}

func structOf(v protoreflect.Value) *thriftpackv1.Struct {
	return v.Message().Interface().(*thriftpackv1.Struct) //nolint:errcheck // the type of the member says so
}

// Canonical returns the value as a reader of the wire knows it: strings are binaries, empty maps have no types, and a list names
// its element type only where it is empty. The result shares nothing with v.
func Canonical(v *thriftpackv1.Value) *thriftpackv1.Value {
	t, payload := Kind(v.ProtoReflect())
	out := new(thriftpackv1.Value)
	if t == 0 {
		return out
	}
	t, payload = canonical(t, payload)
	setKind(out.ProtoReflect(), t, payload)
	return out
}

// Diff returns "" where two values are the same, all bits of their doubles included, and otherwise the difference for people to read.
func Diff(want, got *thriftpackv1.Value) string {
	deterministic := proto.MarshalOptions{Deterministic: true}
	wantBytes, wantErr := deterministic.Marshal(want)
	gotBytes, gotErr := deterministic.Marshal(got)
	switch {
	case wantErr != nil || gotErr != nil:
		return fmt.Sprintf("cannot be compared: %v, %v", wantErr, gotErr)
	case bytes.Equal(wantBytes, gotBytes):
		return ""
	case len(wantBytes)+len(gotBytes) > 4<<10: // cmp takes minutes for large ones
		return fmt.Sprintf("%d and %d bytes when serialized, which differ", len(wantBytes), len(gotBytes))
	}
	return fmt.Sprintf("(-want +got) %x, %x:\n%s", wantBytes, gotBytes, cmp.Diff(want, got, protocmp.Transform()))
}

func canonical(t thriftpackv1.Type, v protoreflect.Value) (thriftpackv1.Type, protoreflect.Value) {
	switch t {
	case typeString:
		return typeBinary, protoreflect.ValueOfBytes([]byte(v.String()))
	case typeBinary, typeUUID:
		return t, protoreflect.ValueOfBytes(append([]byte{}, v.Bytes()...))
	case typeList, typeSet:
		return t, protoreflect.ValueOfMessage(canonicalList(listOf(v)).ProtoReflect())
	case typeMap:
		out := new(thriftpackv1.Map)
		if _, keys := Elements(mapOf(v).GetKeys()); len(keys) > 0 {
			out.Keys, out.Values = canonicalList(mapOf(v).GetKeys()), canonicalList(mapOf(v).GetValues())
		}
		return t, protoreflect.ValueOfMessage(out.ProtoReflect())
	case typeStruct:
		out := new(thriftpackv1.Struct)
		for _, field := range structOf(v).GetFields() {
			clean := &thriftpackv1.Field{Id: field.GetId()}
			fieldType, payload := Kind(field.ProtoReflect())
			fieldType, payload = canonical(fieldType, payload)
			setKind(clean.ProtoReflect(), fieldType, payload)
			out.Fields = append(out.Fields, clean)
		}
		return t, protoreflect.ValueOfMessage(out.ProtoReflect())
	case typeBool, typeI8, typeI16, typeI32, typeI64, typeDouble, thriftpackv1.Type_TYPE_UNSPECIFIED:
	}
	return t, v
}

func canonicalList(list *thriftpackv1.List) *thriftpackv1.List {
	t, values := Elements(list)
	clean := make([]protoreflect.Value, len(values))
	for i, v := range values {
		_, clean[i] = canonical(t, v)
	}
	if t == typeString {
		t = typeBinary
	}
	return newList(t, clean)
}

func unknownType(t thriftpackv1.Type) error { return fmt.Errorf("oracle: unknown type %d", int32(t)) }
