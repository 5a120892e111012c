// Package thriftpackv1 is the API: the messages and services of value.proto and serializer.proto as protoc-gen-go
// writes them, and constructors for values, because nested oneofs are long to write by hand:
//
//	thriftpackv1.StructOf(
//		thriftpackv1.I32Field(1, 42),
//		thriftpackv1.ListField(2, thriftpackv1.StringList("a", "b")),
//	)
//
// For each of the thirteen kinds there is a field (I32Field), a value (I32Value) and a list (I32List), whose parameters
// have the range of the kind: what compiles is in range. Where a constructor takes a slice or a message, the result aliases
// it, unless the constructor says that it copies. All results are plain messages, and may be changed.
//
// The package checks nothing and speaks to no server; the server checks what it is sent. The meaning of every
// message is documented in the .proto files beside this one.
package thriftpackv1

// StructOf returns a struct of the given fields, in the order given. The struct aliases fields.
func StructOf(fields ...*Field) *Struct { return &Struct{Fields: fields} }

// MapOf returns a map whose entry i is keys[i] -> values[i]. Both lists must have the same number of elements, or the
// server refuses the map (COUNT_MISMATCH). The map aliases both.
func MapOf(keys, values *List) *Map { return &Map{Keys: keys, Values: values} }

// EncodeRequestOf returns a request to encode v with the default options: compact, no frame, no envelope. Set its Options
// for others. The request aliases v.
func EncodeRequestOf(v *Value) *EncodeRequest {
	return &EncodeRequest{Input: &EncodeRequest_Value{Value: v}}
}

// BoolField returns a field with a bool.
func BoolField(id int16, v bool) *Field {
	return &Field{Id: int32(id), Kind: &Field_Bool{Bool: v}}
}

// I8Field returns a field with an i8.
func I8Field(id int16, v int8) *Field {
	return &Field{Id: int32(id), Kind: &Field_I8{I8: int32(v)}}
}

// I16Field returns a field with an i16.
func I16Field(id, v int16) *Field {
	return &Field{Id: int32(id), Kind: &Field_I16{I16: int32(v)}}
}

// I32Field returns a field with an i32.
func I32Field(id int16, v int32) *Field {
	return &Field{Id: int32(id), Kind: &Field_I32{I32: v}}
}

// I64Field returns a field with an i64.
func I64Field(id int16, v int64) *Field {
	return &Field{Id: int32(id), Kind: &Field_I64{I64: v}}
}

// DoubleField returns a field with a double.
func DoubleField(id int16, v float64) *Field {
	return &Field{Id: int32(id), Kind: &Field_Double{Double: v}}
}

// BinaryField returns a field with bytes of any content. The field aliases v.
func BinaryField(id int16, v []byte) *Field {
	return &Field{Id: int32(id), Kind: &Field_Binary{Binary: v}}
}

// StringField returns a field with text, which must be valid UTF-8.
func StringField(id int16, v string) *Field {
	return &Field{Id: int32(id), Kind: &Field_String_{String_: v}}
}

// UUIDField returns a field with a uuid, its bytes in the order of the canonical text. The field copies v.
func UUIDField(id int16, v [16]byte) *Field {
	return &Field{Id: int32(id), Kind: &Field_Uuid{Uuid: v[:]}}
}

// ListField returns a field with a list. The field aliases v.
func ListField(id int16, v *List) *Field {
	return &Field{Id: int32(id), Kind: &Field_List{List: v}}
}

// SetField returns a field with a set, whose elements are written in the order given. The field aliases v.
func SetField(id int16, v *List) *Field {
	return &Field{Id: int32(id), Kind: &Field_Set{Set: v}}
}

// MapField returns a field with a map. The field aliases v.
func MapField(id int16, v *Map) *Field {
	return &Field{Id: int32(id), Kind: &Field_Map{Map: v}}
}

// StructField returns a field with a struct. The field aliases v.
func StructField(id int16, v *Struct) *Field {
	return &Field{Id: int32(id), Kind: &Field_Struct{Struct: v}}
}

// BoolValue returns a bool.
func BoolValue(v bool) *Value { return &Value{Kind: &Value_Bool{Bool: v}} }

// I8Value returns an i8.
func I8Value(v int8) *Value { return &Value{Kind: &Value_I8{I8: int32(v)}} }

// I16Value returns an i16.
func I16Value(v int16) *Value { return &Value{Kind: &Value_I16{I16: int32(v)}} }

// I32Value returns an i32.
func I32Value(v int32) *Value { return &Value{Kind: &Value_I32{I32: v}} }

// I64Value returns an i64.
func I64Value(v int64) *Value { return &Value{Kind: &Value_I64{I64: v}} }

// DoubleValue returns a double.
func DoubleValue(v float64) *Value { return &Value{Kind: &Value_Double{Double: v}} }

// BinaryValue returns bytes of any content. The value aliases v.
func BinaryValue(v []byte) *Value { return &Value{Kind: &Value_Binary{Binary: v}} }

// StringValue returns text, which must be valid UTF-8.
func StringValue(v string) *Value { return &Value{Kind: &Value_String_{String_: v}} }

// UUIDValue returns a uuid, its bytes in the order of the canonical text. The value copies v.
func UUIDValue(v [16]byte) *Value { return &Value{Kind: &Value_Uuid{Uuid: v[:]}} }

// ListValue returns a list. The value aliases v.
func ListValue(v *List) *Value { return &Value{Kind: &Value_List{List: v}} }

// SetValue returns a set, whose elements are written in the order given. The value aliases v.
func SetValue(v *List) *Value { return &Value{Kind: &Value_Set{Set: v}} }

// MapValue returns a map. The value aliases v.
func MapValue(v *Map) *Value { return &Value{Kind: &Value_Map{Map: v}} }

// StructValue returns a struct of the given fields, in the order given; for a struct that is there already, write
// StructValue(s.Fields...). The value aliases fields.
func StructValue(fields ...*Field) *Value {
	return &Value{Kind: &Value_Struct{Struct: StructOf(fields...)}}
}
