package thriftpackv1

// The lists, one constructor for each element type; they serve for sets and for the two sides of a map as well. A
// list without elements names its element type, which Thrift writes even then.

// EmptyList returns a list without elements of the given type.
func EmptyList(element Type) *List { return &List{ElementType: element} }

// BoolList returns a list<bool>. The list aliases v.
func BoolList(v ...bool) *List {
	if len(v) == 0 {
		return EmptyList(Type_TYPE_BOOL)
	}
	return &List{Bools: v}
}

// I8List returns a list<i8>. The list copies v.
func I8List(v ...int8) *List {
	if len(v) == 0 {
		return EmptyList(Type_TYPE_I8)
	}
	column := make([]byte, len(v))
	for i, n := range v {
		column[i] = byte(n) //nolint:gosec // two's complement is what the column holds
	}
	return &List{I8S: column}
}

// I16List returns a list<i16>. The list copies v.
func I16List(v ...int16) *List {
	if len(v) == 0 {
		return EmptyList(Type_TYPE_I16)
	}
	column := make([]int32, len(v))
	for i, n := range v {
		column[i] = int32(n)
	}
	return &List{I16S: column}
}

// I32List returns a list<i32>. The list aliases v.
func I32List(v ...int32) *List {
	if len(v) == 0 {
		return EmptyList(Type_TYPE_I32)
	}
	return &List{I32S: v}
}

// I64List returns a list<i64>. The list aliases v.
func I64List(v ...int64) *List {
	if len(v) == 0 {
		return EmptyList(Type_TYPE_I64)
	}
	return &List{I64S: v}
}

// DoubleList returns a list<double>. The list aliases v.
func DoubleList(v ...float64) *List {
	if len(v) == 0 {
		return EmptyList(Type_TYPE_DOUBLE)
	}
	return &List{Doubles: v}
}

// BinaryList returns a list<binary>. The list aliases v and its elements.
func BinaryList(v ...[]byte) *List {
	if len(v) == 0 {
		return EmptyList(Type_TYPE_BINARY)
	}
	return &List{Binaries: v}
}

// StringList returns a list<string>, each of which must be valid UTF-8. The list aliases v.
func StringList(v ...string) *List {
	if len(v) == 0 {
		return EmptyList(Type_TYPE_STRING)
	}
	return &List{Strings: v}
}

// UUIDList returns a list<uuid>. The list copies v.
func UUIDList(v ...[16]byte) *List {
	if len(v) == 0 {
		return EmptyList(Type_TYPE_UUID)
	}
	data := make([]byte, 0, 16*len(v))
	column := make([][]byte, len(v))
	for i := range v {
		data = append(data, v[i][:]...)
		column[i] = data[16*i : 16*i+16 : 16*i+16]
	}
	return &List{Uuids: column}
}

// ListList returns a list<list<…>>; the inner lists may have different element types, which Thrift allows on the wire. The
// list aliases v.
func ListList(v ...*List) *List {
	if len(v) == 0 {
		return EmptyList(Type_TYPE_LIST)
	}
	return &List{Lists: v}
}

// SetList returns a list<set<…>>. The list aliases v.
func SetList(v ...*List) *List {
	if len(v) == 0 {
		return EmptyList(Type_TYPE_SET)
	}
	return &List{Sets: v}
}

// MapList returns a list<map<…>>. The list aliases v.
func MapList(v ...*Map) *List {
	if len(v) == 0 {
		return EmptyList(Type_TYPE_MAP)
	}
	return &List{Maps: v}
}

// StructList returns a list<struct>. The list aliases v.
func StructList(v ...*Struct) *List {
	if len(v) == 0 {
		return EmptyList(Type_TYPE_STRUCT)
	}
	return &List{Structs: v}
}
