package inspect

import (
	"encoding/binary"
	"fmt"
	"math"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
)

// header is a field header.
type header struct {
	start  int
	typ    thriftpackv1.Type
	id     int32
	code   byte   // the type as the bytes have it
	delta  int    // short form: how far the id is from the one before
	raw    uint64 // long form: the id's varint
	padded bool   // the varint has more bytes than it needs
	form   string // short, long, or "" in the binary protocol
	inline bool   // a bool field of the compact protocol: the header is the value
	truth  bool
	stop   bool // a stop byte with a delta
}

// note says how the header's bytes say it.
func (h header) note() string {
	switch h.form {
	case "short":
		return fmt.Sprintf("id %d+%d, type %d%s", h.id-int32(h.delta), h.delta, h.code, h.codeNote()) //nolint:gosec // a delta is at most 15
	case "long":
		return fmt.Sprintf("long form: type %d%s, id as zigzag varint %d%s", h.code, h.codeNote(), h.raw, paddedNote(h.padded))
	default:
		return fmt.Sprintf("type %02x, id %04x", h.code, uint16(h.id)) //nolint:gosec // shows the bytes
	}
}

func (h header) codeNote() string {
	if !h.inline {
		return ""
	}
	return fmt.Sprintf(" is %t", h.truth)
}

func paddedNote(padded bool) string {
	if padded {
		return ", padded"
	}
	return ""
}

// compactTypes has the type of each code that elements may have; 1 and 2 are both bool.
var compactTypes = [16]thriftpackv1.Type{
	1: thriftpackv1.Type_TYPE_BOOL, 2: thriftpackv1.Type_TYPE_BOOL, 3: thriftpackv1.Type_TYPE_I8,
	4: thriftpackv1.Type_TYPE_I16, 5: thriftpackv1.Type_TYPE_I32, 6: thriftpackv1.Type_TYPE_I64,
	7: thriftpackv1.Type_TYPE_DOUBLE, 8: thriftpackv1.Type_TYPE_BINARY, 9: thriftpackv1.Type_TYPE_LIST,
	10: thriftpackv1.Type_TYPE_SET, 11: thriftpackv1.Type_TYPE_MAP, 12: thriftpackv1.Type_TYPE_STRUCT,
	13: thriftpackv1.Type_TYPE_UUID,
}

// binaryTypes has the type of each code of the binary protocol.
var binaryTypes = [17]thriftpackv1.Type{
	2: thriftpackv1.Type_TYPE_BOOL, 3: thriftpackv1.Type_TYPE_I8, 4: thriftpackv1.Type_TYPE_DOUBLE,
	6: thriftpackv1.Type_TYPE_I16, 8: thriftpackv1.Type_TYPE_I32, 10: thriftpackv1.Type_TYPE_I64,
	11: thriftpackv1.Type_TYPE_BINARY, 12: thriftpackv1.Type_TYPE_STRUCT, 13: thriftpackv1.Type_TYPE_MAP,
	14: thriftpackv1.Type_TYPE_SET, 15: thriftpackv1.Type_TYPE_LIST, 16: thriftpackv1.Type_TYPE_UUID,
}

func binaryType(code byte) thriftpackv1.Type {
	if int(code) < len(binaryTypes) {
		return binaryTypes[code]
	}
	return thriftpackv1.Type_TYPE_UNSPECIFIED
}

// fieldHeader reads a field header; last is the id of the field before.
func (r *reader) fieldHeader(last int32) (header, bool) {
	h := header{start: r.pos}
	b, ok := r.take(1, "a struct, before its stop")
	if !ok {
		return h, false
	}
	if r.plan.protocol == Binary {
		return r.binaryField(h, b[0])
	}
	h.code = b[0] & 0x0f
	if h.code == 0 {
		r.fault(h.start, 1, fault.BadHeader, "a stop byte with a delta: %02x, want 00", b[0])
		h.stop = true
		return h, !r.dead
	}
	// short form: dddd tttt when 1 <= id-last <= 15; long form: 0000 tttt, zigzag id
	if h.delta = int(b[0] >> 4); h.delta > 0 {
		h.form, h.id = "short", last+int32(h.delta) //nolint:gosec // at most 15
	}
	if h.id > math.MaxInt16 {
		return h, r.refuse(h.start, 1, fault.IntRange, "field id %d, want -32768..32767", h.id)
	}
	if h.typ = compactTypes[h.code]; h.typ == 0 {
		return h, r.refuse(h.start, 1, fault.BadType, "field type %d is not one of the compact protocol", h.code)
	}
	h.inline, h.truth = h.code <= 2, h.code == 1
	if h.delta > 0 {
		return h, true
	}
	h.form = "long"
	v, ok := r.varint(32, "a field id")
	if !ok {
		return h, false
	}
	h.raw, h.padded, h.id = v.value, v.padded, int32(unzigzag(v.value)) //nolint:gosec // 32 bits, checked
	if h.id != int32(int16(h.id)) {                                     //nolint:gosec // the range check itself
		return h, r.refuse(h.start+1, r.pos-h.start-1, fault.IntRange, "field id %d, want -32768..32767", h.id)
	}
	return h, true
}

func (r *reader) binaryField(h header, code byte) (header, bool) {
	h.code = code
	if h.typ = binaryType(code); h.typ == 0 {
		return h, r.refuse(h.start, 1, fault.BadType, "field type %d is not one of the binary protocol", code)
	}
	b, ok := r.take(2, "a field id")
	if !ok {
		return h, false
	}
	h.id = int32(int16(binary.BigEndian.Uint16(b))) //nolint:gosec // ids are signed
	return h, true
}

// containerHeader is the header of a list, set or map.
type containerHeader struct {
	key, element    thriftpackv1.Type // key: of a map; both 0 for an empty compact map
	size            int
	sizeAt, sizeEnd int // where the size stands
	form            string
	note            string
	badType         bool // an element type of 0, where there are no elements
}

// listHeader reads the header of a list or set.
func (r *reader) listHeader() (containerHeader, bool) {
	if r.plan.protocol == Binary {
		return r.binaryContainer(false)
	}
	h := containerHeader{sizeAt: r.pos}
	start := r.pos
	b, ok := r.take(1, "a list header")
	if !ok {
		return h, false
	}
	code := b[0] & 0x0f
	h.element = compactTypes[code]
	h.size, h.form = int(b[0]>>4), "short"
	if h.badType = b[0] == 0; h.element == 0 && !h.badType {
		return h, r.refuse(start, 1, fault.BadType, "element type %d is not one of the compact protocol", code)
	}
	// short form: ssss tttt for 0 to 14 elements; long form: 1111 tttt, varint size
	if r.showing() {
		h.note = fmt.Sprintf("size %d, type %d", h.size, code)
	}
	if h.size == 15 {
		h.form, h.sizeAt = "long", r.pos
		v, ok := r.varint(32, "a list's size")
		if !ok {
			return h, false
		}
		if h.size, ok = r.size(uint32(v.value), h.sizeAt, "a size of"); !ok { //nolint:gosec // 32 bits, checked
			return h, false
		}
		if r.showing() {
			h.note = fmt.Sprintf("long form: type %d, size as varint %d%s", code, h.size, paddedNote(v.padded))
		}
	}
	h.sizeEnd = r.pos
	return h, true
}

// mapHeader reads the header of a map.
func (r *reader) mapHeader() (containerHeader, bool) {
	if r.plan.protocol == Binary {
		return r.binaryContainer(true)
	}
	h := containerHeader{sizeAt: r.pos}
	v, ok := r.varint(32, "a map's size")
	if !ok {
		return h, false
	}
	h.sizeEnd = r.pos
	if h.size, ok = r.size(uint32(v.value), h.sizeAt, "a size of"); !ok { //nolint:gosec // 32 bits, checked
		return h, false
	}
	if h.size == 0 {
		h.note = "an empty map has no types byte" + paddedNote(v.padded)
		return h, true
	}
	at := r.pos
	b, ok := r.take(1, "a map's types")
	if !ok {
		return h, false
	}
	h.key, h.element = compactTypes[b[0]>>4], compactTypes[b[0]&0x0f]
	if h.key == 0 || h.element == 0 {
		return h, r.refuse(at, 1, fault.BadType, "key type %d and value type %d, want 1..13", b[0]>>4, b[0]&0x0f)
	}
	if r.showing() {
		h.note = fmt.Sprintf("size as varint %d%s, types %d and %d", h.size, paddedNote(v.padded), b[0]>>4, b[0]&0x0f)
	}
	return h, true
}

// binaryContainer reads tt ssssssss, or kk tt ssssssss for a map.
func (r *reader) binaryContainer(isMap bool) (containerHeader, bool) {
	h := containerHeader{}
	start, types := r.pos, 1
	if isMap {
		types = 2
	}
	codes, ok := r.take(types, "a container's types")
	if !ok {
		return h, false
	}
	for i, code := range codes {
		if binaryType(code) == 0 && code != 0 {
			return h, r.refuse(start+i, 1, fault.BadType, "type %d is not one of the binary protocol", code)
		}
	}
	h.sizeAt = r.pos
	b, ok := r.take(4, "a container's size")
	if !ok {
		return h, false
	}
	h.sizeEnd = r.pos
	if h.size, ok = r.size(binary.BigEndian.Uint32(b), h.sizeAt, "a size of"); !ok {
		return h, false
	}
	h.element = binaryType(codes[types-1])
	if isMap {
		h.key = binaryType(codes[0])
	}
	for i, code := range codes {
		if code == 0 && h.size > 0 {
			return h, r.refuse(start+i, 1, fault.BadType, "type 0, which only an empty container may have")
		}
	}
	switch {
	case !r.showing():
	case !isMap:
		h.note = fmt.Sprintf("type %02x, size %d", codes[0], h.size)
	default:
		h.note = fmt.Sprintf("types %02x and %02x, size %d", codes[0], codes[1], h.size)
	}
	return h, true
}
