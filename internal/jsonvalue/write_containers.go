package jsonvalue

import (
	"encoding/binary"

	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/valuewire"
)

// list writes the list or set of type t whose List is in[start:end] as an array.
func (w *Writer) list(t *schema.Type, start, end, depth int) {
	column, ok := w.column(start, end, depth)
	if !ok {
		return
	}
	if column.Kind == valuewire.None {
		w.literal("[]")
		return
	}
	if !writeAllows(t.Elem, column.Kind) {
		w.malformed()
		return
	}
	w.byte('[')
	w.elements(t.Elem, &column, depth)
	w.byte(']')
}

// column finds the elements of the List in[start:end] of a list at this depth.
func (w *Writer) column(start, end, depth int) (column valuewire.Column, ok bool) {
	if depth > w.maxDepth {
		w.tooDeep(depth)
		return column, false
	}
	if column, ok = valuewire.Elements(w.in, start, end); !ok {
		w.malformed()
	}
	return column, ok
}

// elements writes the elements of a column, of type t or of any where t is nil, with commas between them.
func (w *Writer) elements(t *schema.Type, column *valuewire.Column, depth int) {
	if !w.element(t, column, depth) {
		return
	}
	switch column.Kind {
	case valuewire.I16, valuewire.I32, valuewire.I64:
		if t == nil || t.Enum == nil {
			w.integers(column)
			return
		}
	case valuewire.Double:
		w.doubles(column)
		return
	case valuewire.Struct:
		if t != nil {
			w.structs(t.Struct, column, depth)
			return
		}
	}
	for w.tick() && column.At < column.End {
		if column.Kind == valuewire.String && w.shortTexts(',', column, writeStopEvery) > 0 {
			continue
		}
		w.byte(',')
		if !w.element(t, column, depth) {
			w.malformed()
		}
	}
}

// element writes the next element of a column, and returns false behind the last one.
func (w *Writer) element(t *schema.Type, column *valuewire.Column, depth int) bool {
	switch column.Kind {
	case valuewire.I16, valuewire.I32, valuewire.I64:
		if t == nil || t.Enum == nil {
			return w.integer(column)
		}
	}
	start, end, ok := w.take(column)
	if !ok {
		return false
	}
	if column.Kind == valuewire.I8 {
		w.out.room()
		w.out.n = writeInteger(w.out.buf, w.out.n, int64(int8(w.in[start])))
	} else {
		w.payload(t, column.Kind, start, end, depth)
	}
	return true
}

// integer writes the next element of a packed run of varints, and returns false behind the last one.
func (w *Writer) integer(column *valuewire.Column) bool {
	if column.At >= column.End {
		return false
	}
	u, next := valuewire.Quick(w.in[:column.End], column.At)
	if next < 0 {
		w.malformed()
		return false
	}
	column.At = next
	o := &w.out
	o.room()
	if v := valuewire.Unzigzag(u); column.Kind == valuewire.I64 {
		o.n = w.long(o.buf, o.n, v)
	} else {
		o.n = writeInteger(o.buf, o.n, v)
	}
	return true
}

// take takes the next element of a column, and returns false behind the last one.
func (w *Writer) take(column *valuewire.Column) (start, end int, ok bool) {
	if !valuewire.IsPacked(column.Kind) {
		e, more, ok := column.Next(w.in)
		if !ok {
			w.malformed()
		}
		return e.Start, e.End, more
	}
	if column.At >= column.End {
		return 0, 0, false
	}
	if start, end, ok = column.NextScalar(w.in); !ok {
		w.malformed()
	}
	return start, end, ok
}

// integers writes the elements of a packed run of varints, each after a comma, many between two steps.
func (w *Writer) integers(column *valuewire.Column) {
	o, in, at := &w.out, w.in[:column.End], column.At
	head, before, behind := uint32(','|'-'<<8), 1, 0 // the comma, the quotes, and a minus for numbers that have one
	if column.Kind == valuewire.I64 && !w.i64AsNumber {
		head, before, behind = ','|'"'<<8|'-'<<16, 2, 1
	}
	for at < len(in) && w.tick() {
		o.room()
		buf, n := o.buf, o.n
		first, stop := at, min(len(in), at+writeStopEvery)
		for at < stop && len(buf)-n >= writeRoom {
			u, next := valuewire.Quick(in, at)
			if next < 0 {
				w.malformed()
				return
			}
			at = next
			binary.LittleEndian.PutUint32(buf[n:n+4], head)
			n = writeWhole(buf, n+before+int(u&1), u>>1+u&1) // zigzag: an odd one is negative
			buf[n] = '"'
			n += behind
		}
		o.n = n
		w.ticks -= (at - first) / 4
	}
}

// doubles writes the elements of a packed run of doubles, each after a comma.
func (w *Writer) doubles(column *valuewire.Column) {
	o, in, at := &w.out, w.in, column.At
	for ; column.End-at >= 8 && w.tick(); at += 8 {
		o.room()
		o.buf[o.n] = ','
		o.n = writeDouble(o.buf, o.n+1, writeWord(in, at))
	}
	if at < column.End && o.err == nil {
		w.malformed()
	}
}

// structs writes the elements of a list of structs, each after a comma.
func (w *Writer) structs(s *schema.Struct, column *valuewire.Column, depth int) {
	for w.tick() && column.At < column.End {
		e, more, _ := column.Next(w.in)
		if !more {
			w.malformed()
			return
		}
		w.byte(',')
		w.fields(s, e.Start, e.End, depth+1)
	}
}

// pairs writes the map of type t whose Map is in[start:end]: as an object, or where keys are not such as can be names, as an array
// of {"key":…,"value":…}.
func (w *Writer) pairs(t *schema.Type, start, end, depth int) {
	keys, values, ok := w.sides(start, end, depth)
	if !ok {
		return
	}
	isEmpty := keys.Kind == valuewire.None
	if !isEmpty && (!writeAllows(t.Key, keys.Kind) || !writeAllows(t.Elem, values.Kind)) {
		w.malformed()
		return
	}
	switch {
	case !t.Key.ObjectKey():
		w.entries(t.Key, t.Elem, &keys.Column, &values.Column, depth)
	case isEmpty:
		w.literal("{}")
	case keys.Kind == valuewire.Binary: // not all of them are UTF-8
		w.entries(t.Key, t.Elem, &keys.Column, &values.Column, depth)
	default:
		w.object(t, &keys.Column, &values.Column, depth)
	}
}

// sides finds the keys and values of the Map in[start:end] of a map at this depth.
func (w *Writer) sides(start, end, depth int) (keys, values valuewire.Side, ok bool) {
	if depth > w.maxDepth {
		w.tooDeep(depth)
		return keys, values, false
	}
	keys, values, ok = valuewire.Sides(w.in, start, end)
	if ok = ok && (keys.Kind == valuewire.None) == (values.Kind == valuewire.None); !ok {
		w.malformed()
	}
	return keys, values, ok
}

// object writes the entries of a map as an object.
func (w *Writer) object(t *schema.Type, keys, values *valuewire.Column, depth int) {
	for separator := byte('{'); w.tick() && keys.At < keys.End; separator = ',' {
		if keys.Kind != valuewire.String || w.shortTexts(separator, keys, 1) == 0 {
			w.byte(separator)
			w.key(t.Key, keys)
		}
		w.byte(':')
		if !w.element(t.Elem, values, depth) {
			w.malformed()
			return
		}
	}
	w.byte('}')
}

// key writes the next of the keys of an object.
func (w *Writer) key(t *schema.Type, keys *valuewire.Column) {
	start, end, ok := w.take(keys)
	if !ok {
		return
	}
	o := &w.out
	o.room()
	switch keys.Kind {
	case valuewire.String:
		if !w.text(w.in[start:end]) {
			w.malformed()
		}
		return
	case valuewire.UUID:
		w.scalar(nil, valuewire.UUID, start, end)
		return
	case valuewire.Bool:
		o.buf[o.n] = '"'
		o.n = writeBool(o.buf, o.n+1, w.in[start])
	default:
		number := int64(int8(w.in[start]))
		if keys.Kind != valuewire.I8 {
			number = writeVarint(w.in, start, end)
		}
		if t.Enum != nil {
			if name, ok := t.Enum.NameOf(int32(number)); ok {
				w.name(name)
				return
			}
		}
		o.buf[o.n] = '"'
		o.n = writeInteger(o.buf, o.n+1, number)
	}
	o.buf[o.n] = '"'
	o.n++
}

// entries writes the entries of a map, of any types where key and elem are nil, as an array.
func (w *Writer) entries(key, elem *schema.Type, keys, values *valuewire.Column, depth int) {
	w.byte('[')
	for first := true; w.tick() && keys.At < keys.End; first = false {
		if !first {
			w.byte(',')
		}
		w.literal(`{"key":`)
		ok := w.element(key, keys, depth)
		w.literal(`,"value":`)
		if !ok || !w.element(elem, values, depth) {
			w.malformed()
			return
		}
		w.byte('}')
	}
	w.byte(']')
}
