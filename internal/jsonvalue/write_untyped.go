package jsonvalue

import "github.com/thriftpack/thriftpack/internal/schema/valuewire"

// Values without a type name their kinds: docs/json.md, "Fields without a name".

// writeKinds has the names of kinds.
var writeKinds = [16]string{
	valuewire.Bool: "bool", valuewire.I8: "i8", valuewire.I16: "i16", valuewire.I32: "i32", valuewire.I64: "i64",
	valuewire.Double: "double", valuewire.Binary: "binary", valuewire.List: "list", valuewire.Set: "set", valuewire.Map: "map",
	valuewire.Struct: "struct", valuewire.UUID: "uuid", valuewire.String: "string",
}

// untypedField writes a field as a member: its id, and its value in an object with its kind. depth is that of its struct.
//
//	"7":{"i32":5}
func (w *Writer) untypedField(m *valuewire.Member, depth int) {
	o := &w.out
	o.room()
	o.buf[o.n] = '"'
	o.n = writeInteger(o.buf, o.n+1, int64(m.ID))
	w.literal(`":{"`)
	w.literal(writeKinds[m.Kind])
	w.literal(`":`)
	w.payload(nil, m.Kind, m.Start, m.End, depth)
	w.byte('}')
}

// untypedFields writes the Struct in[start:end], with its fields in the order in which they stand.
//
//	{"1":{"i32":5},"2":{"string":"x"}}
func (w *Writer) untypedFields(start, end, depth int) {
	if depth > w.maxDepth {
		w.tooDeep(depth)
		return
	}
	separator := byte('{')
	for at := start; at < end && w.tick(); separator = ',' {
		m, ok := valuewire.Field(w.in, at, end)
		if !ok {
			w.malformed()
			return
		}
		w.byte(separator)
		w.untypedField(&m, depth)
		at = m.Next
	}
	if separator == '{' {
		w.byte(separator)
	}
	w.byte('}')
}

// untypedList writes the List in[start:end].
//
//	{"elem":"i32","values":[1,2]}
func (w *Writer) untypedList(start, end, depth int) {
	column, ok := w.column(start, end, depth)
	if !ok {
		return
	}
	w.byte('{')
	w.kindOf("elem", &column)
	w.literal(`"values":[`)
	w.elements(nil, &column, depth)
	w.literal("]}")
}

// untypedMap writes the Map in[start:end].
//
//	{"key":"string","value":"i32","entries":[{"key":"a","value":1}]}
func (w *Writer) untypedMap(start, end, depth int) {
	keys, values, ok := w.sides(start, end, depth)
	if !ok {
		return
	}
	w.byte('{')
	w.kindOf("key", &keys.Column)
	w.kindOf("value", &values.Column)
	w.literal(`"entries":`)
	w.entries(nil, nil, &keys.Column, &values.Column, depth)
	w.byte('}')
}

// kindOf writes a member with the kind of a column's elements, where Thrift says it.
func (w *Writer) kindOf(member string, column *valuewire.Column) {
	kind := column.Kind
	if kind == valuewire.None {
		if column.ElementType > uint64(valuewire.String) || writeKinds[column.ElementType] == "" {
			return
		}
		kind = uint8(column.ElementType)
	}
	w.literal(`"`)
	w.literal(member)
	w.literal(`":"`)
	w.literal(writeKinds[kind])
	w.literal(`",`)
}
