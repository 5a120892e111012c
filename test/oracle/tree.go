package oracle

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

var (
	errDepth = errors.New("oracle: nested too deep")
	errTree  = errors.New("oracle: malformed tree")
)

// notation says how scalars are written in a tree; testdata/README.md describes both.
type notation struct {
	// raw: i64 as decimal text, doubles as 16 hex digits of their bits, string and binary as hex.
	raw bool
}

// Tree returns the Value of a vector's tree, {"struct": [{"id": 1, "i32": 5}, …]}.
func Tree(text json.RawMessage) (*thriftpackv1.Value, error) {
	t, v, err := notation{}.kind(text)
	if err != nil {
		return nil, err
	}
	out := new(thriftpackv1.Value)
	setKind(out.ProtoReflect(), t, v)
	return out, nil
}

// RawTree returns the Value of a tree_raw: the fields of a struct.
func RawTree(text json.RawMessage) (*thriftpackv1.Value, error) {
	v, err := notation{raw: true}.payload(typeStruct, text)
	if err != nil {
		return nil, err
	}
	return thriftpackv1.StructValue(structOf(v).GetFields()...), nil
}

// typeNames are the kinds of a tree.
var typeNames = map[string]thriftpackv1.Type{
	"bool": typeBool, "i8": typeI8, "i16": typeI16, "i32": typeI32, "i64": typeI64, "double": typeDouble, "binary": typeBinary,
	"list": typeList, "set": typeSet, "map": typeMap, "struct": typeStruct, "uuid": typeUUID, "string": typeString,
	"?0": 0, "": 0, // element type 0 of an empty list; types of an empty map that its reader does not know
}

func typeNamed(name string) (thriftpackv1.Type, error) {
	t, ok := typeNames[name]
	if !ok {
		return 0, fmt.Errorf("%w: kind %q", errTree, name)
	}
	return t, nil
}

// kind reads the one member of an object beside "id".
func (n notation) kind(text json.RawMessage) (thriftpackv1.Type, protoreflect.Value, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return 0, protoreflect.Value{}, err
	}
	for name, payload := range members {
		if name == "id" {
			continue
		}
		t, err := typeNamed(name)
		if err != nil {
			return 0, protoreflect.Value{}, err
		}
		v, err := n.payload(t, payload)
		return t, v, err
	}
	return 0, protoreflect.Value{}, fmt.Errorf("%w: no kind", errTree)
}

func (n notation) payload(t thriftpackv1.Type, text json.RawMessage) (protoreflect.Value, error) {
	switch t {
	case typeBool:
		var v bool
		err := json.Unmarshal(text, &v)
		return protoreflect.ValueOfBool(v), err
	case typeI8, typeI16, typeI32:
		v, err := strconv.ParseInt(string(text), 10, 32)
		return protoreflect.ValueOfInt32(int32(v)), err
	case typeI64:
		v, err := strconv.ParseInt(strings.Trim(string(text), `"`), 10, 64)
		return protoreflect.ValueOfInt64(v), err
	case typeDouble:
		v, err := n.double(text)
		return protoreflect.ValueOfFloat64(v), err
	case typeString, typeBinary, typeUUID:
		return n.text(t, text)
	case typeList, typeSet:
		return n.list(text)
	case typeMap:
		return n.entries(text)
	case typeStruct:
		return n.fields(text)
	case thriftpackv1.Type_TYPE_UNSPECIFIED:
	}
	return protoreflect.Value{}, unknownType(t)
}

func (n notation) double(text json.RawMessage) (float64, error) {
	word := strings.Trim(string(text), `"`)
	switch {
	case n.raw:
		bits, err := strconv.ParseUint(word, 16, 64)
		return math.Float64frombits(bits), err
	case word == "NaN":
		return math.Float64frombits(0x7ff8000000000000), nil // what the reference writers make of it; Go's NaN is another one
	default:
		return strconv.ParseFloat(word, 64)
	}
}

func (n notation) text(t thriftpackv1.Type, text json.RawMessage) (protoreflect.Value, error) {
	var word string
	if err := json.Unmarshal(text, &word); err != nil {
		return protoreflect.Value{}, err
	}
	var data []byte
	var err error
	switch {
	case t == typeUUID:
		data, err = hex.DecodeString(strings.ReplaceAll(word, "-", ""))
	case n.raw:
		data, err = hex.DecodeString(word)
	case t == typeBinary:
		data, err = base64.StdEncoding.DecodeString(word)
	default:
		data = []byte(word)
	}
	if t == typeString {
		return protoreflect.ValueOfString(string(data)), err
	}
	return protoreflect.ValueOfBytes(data), err
}

func (n notation) list(text json.RawMessage) (protoreflect.Value, error) {
	var list struct {
		Elem   string
		Values []json.RawMessage
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return protoreflect.Value{}, err
	}
	t, err := typeNamed(list.Elem)
	if err != nil {
		return protoreflect.Value{}, err
	}
	values := make([]protoreflect.Value, len(list.Values))
	for i, element := range list.Values {
		if values[i], err = n.payload(t, element); err != nil {
			return protoreflect.Value{}, err
		}
	}
	return protoreflect.ValueOfMessage(newList(t, values).ProtoReflect()), nil
}

func (n notation) entries(text json.RawMessage) (protoreflect.Value, error) {
	var m struct {
		Key, Value string
		Entries    [][2]json.RawMessage
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return protoreflect.Value{}, err
	}
	keyType, err := typeNamed(m.Key)
	if err != nil {
		return protoreflect.Value{}, err
	}
	valueType, err := typeNamed(m.Value)
	if err != nil {
		return protoreflect.Value{}, err
	}
	keys, values := make([]protoreflect.Value, len(m.Entries)), make([]protoreflect.Value, len(m.Entries))
	for i, entry := range m.Entries {
		if keys[i], err = n.payload(keyType, entry[0]); err != nil {
			return protoreflect.Value{}, err
		}
		if values[i], err = n.payload(valueType, entry[1]); err != nil {
			return protoreflect.Value{}, err
		}
	}
	out := &thriftpackv1.Map{Keys: newList(keyType, keys), Values: newList(valueType, values)}
	return protoreflect.ValueOfMessage(out.ProtoReflect()), nil
}

func (n notation) fields(text json.RawMessage) (protoreflect.Value, error) {
	var fields []json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return protoreflect.Value{}, err
	}
	out := new(thriftpackv1.Struct)
	for _, f := range fields {
		var header struct{ ID int32 }
		if err := json.Unmarshal(f, &header); err != nil {
			return protoreflect.Value{}, err
		}
		t, v, err := n.kind(f)
		if err != nil {
			return protoreflect.Value{}, fmt.Errorf("field %d: %w", header.ID, err)
		}
		field := &thriftpackv1.Field{Id: header.ID}
		setKind(field.ProtoReflect(), t, v)
		out.Fields = append(out.Fields, field)
	}
	return protoreflect.ValueOfMessage(out.ProtoReflect()), nil
}
