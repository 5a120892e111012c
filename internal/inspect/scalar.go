package inspect

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
)

// number is a varint as it was read.
type number struct {
	value  uint64
	padded bool // more bytes than it needs
}

// varint reads a varint of at most bits bits, 32 or 64, or refuses.
func (r *reader) varint(bits int, what string) (number, bool) {
	start := r.pos
	var v uint64
	for i := 0; ; i++ {
		if r.pos >= r.end {
			return number{}, r.truncated(what)
		}
		b := r.data[r.pos]
		r.pos++
		if i == binary.MaxVarintLen64-1 && b > 1 {
			return number{}, r.refuse(start, i+1, fault.VarintOverflow, "%s: a varint of more than 64 bits or 10 bytes", what)
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b >= 0x80 {
			continue
		}
		if bits == 32 && v > math.MaxUint32 {
			return number{}, r.refuse(start, i+1, fault.VarintOverflow, "%s: a varint of %d, which has more than 32 bits", what, v)
		}
		n := number{v, i > 0 && b == 0}
		if n.padded {
			r.tally.padded++
		}
		return n, true
	}
}

func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// integer reads an i8, i16, i32 or i64.
func (r *reader) integer(t thriftpackv1.Type) bool {
	start, name := r.pos, typeNames[t]
	var v int64
	var note string
	shown := r.showing()
	if r.plan.protocol == Compact && t != thriftpackv1.Type_TYPE_I8 {
		bits := 32
		if t == thriftpackv1.Type_TYPE_I64 {
			bits = 64
		}
		n, ok := r.varint(bits, name)
		if !ok {
			return false
		}
		if v = unzigzag(n.value); shown {
			note = fmt.Sprintf("%s, zigzag varint %d%s", name, n.value, paddedNote(n.padded))
		}
	} else {
		size := widths[t]
		b, ok := r.take(size, name)
		if !ok {
			return false
		}
		if size >= 4 {
			r.tally.number(b)
		}
		for _, c := range b {
			v = v<<8 | int64(c)
		}
		v = v << (64 - 8*size) >> (64 - 8*size)
		if note = name + ", big-endian"; size == 1 {
			note = name + ", one byte as it is"
		}
	}
	if w := r.startHere(kindValue, start); w != nil {
		w.typ, w.value, w.note = name, strconv.FormatInt(v, 10), note
		if r.declared != nil && r.declared.Enum != nil {
			r.nameNumber(w, r.declared.Enum, v)
		}
		if t == thriftpackv1.Type_TYPE_I64 {
			w.note += asTime(v)
		}
		r.put(w)
	}
	if t == thriftpackv1.Type_TYPE_I16 && v != int64(int16(v)) { //nolint:gosec // the range check itself
		r.fault(start, r.pos-start, fault.IntRange, "i16 %d, want -32768..32767", v)
	}
	return !r.dead
}

// widths has the bytes of each integer of the binary protocol.
var widths = map[thriftpackv1.Type]int{
	thriftpackv1.Type_TYPE_I8: 1, thriftpackv1.Type_TYPE_I16: 2, thriftpackv1.Type_TYPE_I32: 4, thriftpackv1.Type_TYPE_I64: 8,
}

// asTime says which moment between 2001 and 2100 an i64 would be, or "".
func asTime(v int64) string {
	const first, last = 1_000_000_000, 4_102_444_800
	for _, unit := range []struct {
		name  string
		perS  int64
		digit string
	}{{"seconds", 1, "2006-01-02T15:04:05Z"}, {"milliseconds", 1e3, "2006-01-02T15:04:05.000Z"}, {"microseconds", 1e6, "2006-01-02T15:04:05.000000Z"}, {"nanoseconds", 1e9, "2006-01-02T15:04:05.000000000Z"}} {
		if s := v / unit.perS; s >= first && s < last {
			return fmt.Sprintf("; as %s %s", unit.name, time.Unix(s, v%unit.perS*(1e9/unit.perS)).UTC().Format(unit.digit))
		}
	}
	return ""
}

// mostBool is the largest bool byte. compact: 1 is true, 2 and 0 are false; binary: 1 is true, 0 is false.
func (r *reader) mostBool() byte {
	if r.plan.protocol == Binary {
		return 1
	}
	return 2
}

// boolByte reads a bool that is an element, a root, or any in the binary protocol.
func (r *reader) boolByte() bool {
	start := r.pos
	b, ok := r.take(1, "a bool")
	if !ok {
		return false
	}
	most := r.mostBool()
	if w := r.startHere(kindValue, start); w != nil {
		w.typ, w.value, w.note = "bool", strconv.FormatBool(b[0] == 1), fmt.Sprintf("bool, %d is %t", b[0], b[0] == 1)
		r.put(w)
	}
	if b[0] > most {
		r.fault(start, 1, fault.BadHeader, "bool byte %d, want 0..%d", b[0], most)
	}
	return !r.dead
}

func (r *reader) double() bool {
	start := r.pos
	b, ok := r.take(8, "a double")
	if !ok {
		return false
	}
	r.tally.number(b)
	bits, note := binary.LittleEndian.Uint64(b), "double, little-endian"
	if r.plan.protocol == Binary {
		bits, note = binary.BigEndian.Uint64(b), "double, big-endian"
	}
	if w := r.startHere(kindValue, start); w != nil {
		f := math.Float64frombits(bits)
		w.typ, w.value, w.note = "double", strconv.FormatFloat(f, 'g', -1, 64), note
		switch {
		case math.IsNaN(f):
			w.note += fmt.Sprintf(", bits %016x", bits)
		case math.IsInf(f, 0):
			w.value = map[bool]string{true: "Infinity", false: "-Infinity"}[f > 0]
		}
		r.put(w)
	}
	return true
}

func (r *reader) uuid() bool {
	start := r.pos
	b, ok := r.take(16, "a uuid")
	if !ok {
		return false
	}
	if w := r.startHere(kindValue, start); w != nil {
		h := hex.EncodeToString(b)
		w.typ, w.note = "uuid", "uuid, 16 bytes in order"
		w.value = h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
		r.put(w)
	}
	return true
}

// length reads the length of a string, binary or name.
func (r *reader) length(what string) (n int, note string, ok bool) {
	start := r.pos
	if r.plan.protocol == Binary {
		b, ok := r.take(4, what)
		if !ok {
			return 0, "", false
		}
		n, ok = r.size(binary.BigEndian.Uint32(b), start, "a length of")
		return n, "i32, big-endian", ok
	}
	v, ok := r.varint(32, what)
	if !ok {
		return 0, "", false
	}
	n, ok = r.size(uint32(v.value), start, "a length of") //nolint:gosec // 32 bits, checked
	return n, "varint" + paddedNote(v.padded), ok
}

// blob reads a string, binary or, where name says so, an envelope's name: length and bytes.
func (r *reader) blob(k kind, name string) bool {
	start := r.pos
	what := "a length"
	if name != "" {
		what = "a " + name + "'s length"
	}
	n, note, ok := r.length(what)
	if !ok {
		return false
	}
	if w := r.startHere(k, start); w != nil {
		w.count, w.note = int64(n), note
		r.put(w)
	}
	if left := r.end - r.pos; n > left {
		r.fault(start, r.pos-start, fault.Truncated, "a length of %d, but %s", n, remain(left))
		r.content(r.data[r.pos:r.end], k)
		r.dead = true
		return false
	}
	b := r.data[r.pos : r.pos+n]
	r.content(b, k)
	if k == kindNameLength || (r.o.Root == thriftpackv1.Type_TYPE_STRING && r.depth == 0) {
		if !utf8.Valid(b) {
			r.fault(r.pos-n, n, fault.BadUTF8, "text that is not UTF-8")
		}
	}
	return !r.dead
}

// content reads the bytes of a string, binary or name.
func (r *reader) content(b []byte, k kind) {
	start := r.pos
	r.pos += len(b)
	if k == kindNameLength {
		r.envelope.name = string(b[:min(len(b), 256)])
		r.tally.name(b)
	} else {
		r.tally.blob(b)
	}
	r.indent++
	defer func() { r.indent-- }()
	if len(b) == 0 {
		return
	}
	w := r.start(kindBytes, start, r.pos)
	if w == nil {
		return
	}
	w.typ = "binary"
	if k == kindNameLength && utf8.Valid(b) || (r.o.DetectText && isText(b)) {
		w.kind, w.typ, w.value = kindText, "string", string(b)
		if k == kindNameLength {
			w.kind = kindName
		}
	}
	r.put(w)
}

// isText says whether a person would want to read the bytes: UTF-8 without control characters but white space.
func isText(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f {
			return false
		}
	}
	return utf8.Valid(b)
}

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
