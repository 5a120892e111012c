package inspect

import (
	"encoding/binary"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// peekText says whether a string or binary that starts at at is text that will be shown as such.
func (r *reader) peekText(at int) bool {
	from, to, ok := r.peekBlob(at)
	return ok && r.o.DetectText && isText(r.data[from:to])
}

// peekBlob finds the bytes of a string or binary that starts at at, as far as there are any.
func (r *reader) peekBlob(at int) (from, to int, ok bool) {
	var n uint64
	if r.plan.protocol == Binary {
		if r.end-at < 4 {
			return 0, 0, false
		}
		n, from = uint64(binary.BigEndian.Uint32(r.data[at:])), at+4
	} else {
		var size int
		if n, size = binary.Uvarint(r.data[at:r.end]); size <= 0 {
			return 0, 0, false
		}
		from = at + size
	}
	return from, from + int(min(n, uint64(r.end-from))), true //nolint:gosec // at most the input's length
}

// elementName is the name of what n elements of type t, the first of which comes next, are called: string where it is text.
func (r *reader) elementName(t thriftpackv1.Type, n int) string {
	if t == thriftpackv1.Type_TYPE_BINARY && n > 0 && r.peekText(r.pos) {
		return "string"
	}
	if t == 0 {
		return "?"
	}
	return typeNames[t]
}

// valueName is elementName for the values of a map whose first key comes next. It looks past keys of a simple type only.
func (r *reader) valueName(h containerHeader) string {
	if h.element != thriftpackv1.Type_TYPE_BINARY || h.size == 0 {
		return r.elementName(h.element, 0)
	}
	at := r.pos
	switch h.key {
	case thriftpackv1.Type_TYPE_BINARY:
		_, to, ok := r.peekBlob(at)
		if !ok {
			return "binary"
		}
		at = to
	case thriftpackv1.Type_TYPE_I16, thriftpackv1.Type_TYPE_I32, thriftpackv1.Type_TYPE_I64:
		if r.plan.protocol == Binary {
			at += widths[h.key]
			break
		}
		_, n := binary.Uvarint(r.data[at:r.end])
		at += max(n, 1)
	case thriftpackv1.Type_TYPE_BOOL, thriftpackv1.Type_TYPE_I8, thriftpackv1.Type_TYPE_DOUBLE, thriftpackv1.Type_TYPE_UUID:
		at += r.least(h.key)
	default:
		return "binary"
	}
	if at < r.end && r.peekText(at) {
		return "string"
	}
	return "binary"
}
