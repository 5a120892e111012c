package jsonvalue

import (
	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// The codes of the kinds in headers. In the compact protocol the field header of a bool has its value; the code of bool elements
// is that of true.
var (
	compactCodes = [16]uint8{
		thriftpackv1.Type_TYPE_BOOL: compactTrue, thriftpackv1.Type_TYPE_I8: 3, thriftpackv1.Type_TYPE_I16: 4, thriftpackv1.Type_TYPE_I32: 5,
		thriftpackv1.Type_TYPE_I64: 6, thriftpackv1.Type_TYPE_DOUBLE: 7, thriftpackv1.Type_TYPE_BINARY: 8, thriftpackv1.Type_TYPE_LIST: 9,
		thriftpackv1.Type_TYPE_SET: 10, thriftpackv1.Type_TYPE_MAP: 11, thriftpackv1.Type_TYPE_STRUCT: 12, thriftpackv1.Type_TYPE_UUID: 13,
		thriftpackv1.Type_TYPE_STRING: 8,
	}
	binaryCodes = [16]uint8{
		thriftpackv1.Type_TYPE_BOOL: 2, thriftpackv1.Type_TYPE_I8: 3, thriftpackv1.Type_TYPE_I16: 6, thriftpackv1.Type_TYPE_I32: 8,
		thriftpackv1.Type_TYPE_I64: 10, thriftpackv1.Type_TYPE_DOUBLE: 4, thriftpackv1.Type_TYPE_BINARY: 11, thriftpackv1.Type_TYPE_LIST: 15,
		thriftpackv1.Type_TYPE_SET: 14, thriftpackv1.Type_TYPE_MAP: 13, thriftpackv1.Type_TYPE_STRUCT: 12, thriftpackv1.Type_TYPE_UUID: 16,
		thriftpackv1.Type_TYPE_STRING: 11,
	}
)

// The two values of a bool in the compact protocol.
const (
	compactTrue  = 1
	compactFalse = 2
)

// value reads a value at the depth, and writes it into the room made before; a bool as an element.
func (e *Encoder) value(t *schema.Type, depth int) bool {
	switch t.Kind {
	case thriftpackv1.Type_TYPE_BOOL:
		value, ok := e.boolean(t)
		if !ok {
			return false
		}
		e.putBool(value)
		return true
	case thriftpackv1.Type_TYPE_I8, thriftpackv1.Type_TYPE_I16, thriftpackv1.Type_TYPE_I32, thriftpackv1.Type_TYPE_I64:
		return e.integer(t)
	case thriftpackv1.Type_TYPE_DOUBLE:
		return e.double(t)
	case thriftpackv1.Type_TYPE_STRING:
		return e.text(t)
	case thriftpackv1.Type_TYPE_BINARY:
		return e.blob(t)
	case thriftpackv1.Type_TYPE_UUID:
		return e.uuid(t, false)
	case thriftpackv1.Type_TYPE_STRUCT:
		return e.structure(t, depth)
	case thriftpackv1.Type_TYPE_LIST, thriftpackv1.Type_TYPE_SET:
		return e.list(t, depth)
	case thriftpackv1.Type_TYPE_MAP:
		return e.dictionary(t, depth)
	case thriftpackv1.Type_TYPE_UNSPECIFIED:
	}
	return e.fail(e.at, fault.Internal, "type %s has no kind", t.Name)
}

// putBool writes a bool that is an element into the room made before.
func (e *Encoder) putBool(value bool) {
	switch {
	case value:
		e.putByte(1)
	case e.binary:
		e.putByte(0)
	default:
		e.putByte(compactFalse)
	}
}

// list reads an array as a list or set.
func (e *Encoder) list(t *schema.Type, depth int) bool {
	if e.at >= len(e.in) || e.in[e.at] != '[' {
		return e.failType(t, "an array")
	}
	if depth > e.maxDepth {
		return e.failDepth(depth)
	}
	if !e.tick() {
		return false
	}
	header, before := e.written, e.last
	if e.written++; e.binary {
		e.written += 4
	}
	if e.opening(']') {
		return e.listHeader(header, before, t.Elem.Kind, 0)
	}
	var count int
	var ok bool
	switch {
	case t.Kind == thriftpackv1.Type_TYPE_SET:
		count, ok = e.distinctElements(t.Elem, depth)
	case t.Elem.Kind >= thriftpackv1.Type_TYPE_I8 && t.Elem.Kind <= thriftpackv1.Type_TYPE_DOUBLE:
		count, ok = e.numbers(t.Elem)
	default:
		count, ok = e.elements(t.Elem, depth)
	}
	return ok && e.listHeader(header, before, t.Elem.Kind, count)
}

// listHeader fills the header of a list or set, before its elements, where one byte is left for it, or in the binary protocol five.
//
//	compact  nnnn tttt                when the size n is at most 14
//	         1111 tttt, varint size   otherwise: the varint is put in later
//	binary   type, 4 bytes size
func (e *Encoder) listHeader(at int, before uint32, kind thriftpackv1.Type, count int) bool {
	code := e.codes[kind&15]
	switch {
	case e.binary:
		end := e.written
		e.written = at
		e.putByte(code)
		e.putUint32(uint32(count)) // maxElements is at most 2^31-1
		e.written = end
	case count < 15:
		e.out[at] = byte(count)<<4 | code
	default:
		e.out[at] = 0xf0 | code
		return e.insertVarint(before, at+1, uint64(count)) // not negative
	}
	return true
}

// elements reads the elements of a list from the first on, to the end of the array.
func (e *Encoder) elements(t *schema.Type, depth int) (count int, ok bool) {
	for {
		if !e.startElement(count) {
			return count, false
		}
		if !e.value(t, depth+1) {
			return count, e.under(count)
		}
		count++
		if end, ok := e.closing(']'); end || !ok {
			return count, ok
		}
	}
}

// startElement makes room for the element or entry that the index counts, and sees that there may be one and that it is no null.
func (e *Encoder) startElement(index int) bool {
	if !e.tick() || !e.room(0) {
		return false
	}
	if index >= e.maxElements {
		return e.failElements()
	}
	if e.at < len(e.in) && e.in[e.at] == 'n' {
		return e.failNull(index)
	}
	return true
}

// failNull fails with a null where there has to be a value.
func (e *Encoder) failNull(index int) bool {
	at := e.at
	if e.word("null") {
		e.fail(at, fault.NullElement, "null inside of a container")
	}
	return e.under(index)
}

// distinctElement fails where the element that was written from start on has been seen.
func (e *Encoder) distinctElement(set *openSet, at, start int) bool {
	if e.distinct(set, start, e.written) {
		return true
	}
	if e.err == nil {
		e.fail(at, fault.DuplicateElement, "the set has this element already")
	}
	return false
}

// distinctElements is elements for a set.
func (e *Encoder) distinctElements(t *schema.Type, depth int) (count int, ok bool) {
	set := e.seen.open()
	for {
		if !e.startElement(count) {
			return count, false
		}
		at, spot := e.at, e.spot()
		if !e.value(t, depth+1) || !e.flatten(spot) {
			return count, e.under(count)
		}
		if !e.distinctElement(&set, at, spot.written) {
			return count, e.under(count)
		}
		count++
		if end, ok := e.closing(']'); end || !ok {
			e.seen.close(&set)
			return count, ok
		}
	}
}
