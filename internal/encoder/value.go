package encoder

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// payload writes a value without a field header: in[at:end] is its payload, without the length of strings and
// messages. depth is that of the enclosing container, 0 around the root.
func (e *Encoder) payload(kind uint8, at, end, depth int) bool {
	switch kind {
	case kindStruct:
		return e.fields(at, end, depth+1)
	case kindList, kindSet:
		return e.list(at, end, depth+1)
	case kindMap:
		return e.pairs(at, end, depth+1)
	case kindBinary, kindString:
		return e.text(kind, at, end)
	case kindUUID:
		return e.uuid(at, end)
	}
	if !e.room() {
		return false
	}
	switch kind {
	case kindBool:
		value := e.in[at]
		if !e.binary {
			value = 2 - value
		}
		e.putByte(value)
	case kindDouble:
		e.double(at)
	default:
		return e.integer(kind, at, end)
	}
	return true
}

// double writes the eight bytes at in[at:] into the room made before.
func (e *Encoder) double(at int) {
	word := load64(e.in, at)
	if e.binary {
		e.putUint64(word)
		return
	}
	binary.LittleEndian.PutUint64(e.out[e.written:], word)
	e.written += 8
}

// integer writes the minimal varint in[at:end] into the room made before, after checking its range.
func (e *Encoder) integer(kind uint8, at, end int) bool {
	v, _ := binary.Uvarint(e.in[at:end])
	value := unzigzag(v)
	switch {
	case kind != kindI64 && v > math.MaxUint32:
		return e.fail(causeOverflow, at, end, 0, 32)
	case kind == kindI8 && v > math.MaxUint8, kind == kindI16 && v > math.MaxUint16:
		return e.fail(causeRange, at, end, value, int64(kind))
	}
	switch {
	case kind == kindI8:
		e.putByte(byte(value))
	case !e.binary:
		e.putVarint(v)
	case kind == kindI16:
		binary.BigEndian.PutUint16(e.out[e.written:], uint16(value)) // two's complement of a value within range
		e.written += 2
	case kind == kindI32:
		e.putUint32(uint32(value)) // two's complement of a value within range
	default:
		e.putUint64(uint64(value)) // two's complement
	}
	return true
}

// text writes the string or binary in[at:end] with its length.
func (e *Encoder) text(kind uint8, at, end int) bool {
	if end-at > e.maxString {
		return e.fail(causeString, at, end, int64(end-at), 0)
	}
	if kind == kindString && !isText(e.in, at, end) {
		return e.fail(causeUTF8, at, end, 0, 0)
	}
	if !e.room() {
		return false
	}
	if e.binary {
		e.putUint32(uint32(end - at)) // maxString is at most 2^31-1
	} else {
		e.putVarint(uint64(end - at)) // not negative
	}
	return e.copyInput(at, end)
}

// uuid writes the sixteen bytes of in[at:end].
func (e *Encoder) uuid(at, end int) bool {
	if end-at != uuidSize {
		return e.fail(causeUUID, at, end, int64(end-at), 0)
	}
	if !e.room() {
		return false
	}
	e.written += copy(e.out[e.written:], e.in[at:end])
	return true
}

// The states of the automaton that isShortText runs, times 6: a shift of the row that a byte has.
const (
	utf8Accept = 6 * iota
	utf8Reject
	utf8More1 // one continuation byte is to come
	utf8More2 // two
	utf8More3 // three
	utf8AfterE0
	utf8AfterED
	utf8AfterF0
	utf8AfterF4
)

// utf8Rows gives, for each byte, the next state of every state: bits 6*s to 6*s+5 hold that of state s.
var utf8Rows = func() (rows [256]uint64) {
	for b := range rows {
		next := [9]uint64{}
		for state := range next {
			next[state] = utf8Reject
		}
		set := func(state, to uint64) { next[state/6] = to }
		switch {
		case b < 0x80:
			set(utf8Accept, utf8Accept)
		case b < 0xc0:
			set(utf8More1, utf8Accept)
			set(utf8More2, utf8More1)
			set(utf8More3, utf8More2)
			if b >= 0xa0 {
				set(utf8AfterE0, utf8More1) // E0 80..9F would be longer than needed
			} else {
				set(utf8AfterED, utf8More1) // ED A0..BF would be a surrogate
			}
			if b >= 0x90 {
				set(utf8AfterF0, utf8More2) // F0 80..8F would be longer than needed
			} else {
				set(utf8AfterF4, utf8More2) // F4 90..BF would be above U+10FFFF
			}
		case b < 0xc2: // C0 and C1 would be longer than needed
		case b < 0xe0:
			set(utf8Accept, utf8More1)
		case b == 0xe0:
			set(utf8Accept, utf8AfterE0)
		case b == 0xed:
			set(utf8Accept, utf8AfterED)
		case b < 0xf0:
			set(utf8Accept, utf8More2)
		case b == 0xf0:
			set(utf8Accept, utf8AfterF0)
		case b < 0xf4:
			set(utf8Accept, utf8More3)
		case b == 0xf4:
			set(utf8Accept, utf8AfterF4)
		}
		for state, to := range next {
			rows[b] |= to << (6 * state)
		}
	}
	return rows
}()

// isShortText reports whether text is valid UTF-8, like utf8.Valid. It is small enough to be part of its caller, which
// matters more than speed per byte where there are few.
func isShortText(text []byte) bool {
	state := uint64(utf8Accept)
	for _, b := range text {
		state = utf8Rows[b] >> (state & 63)
	}
	return state&63 == utf8Accept
}

// isText reports whether in[at:end] is valid UTF-8. It looks at eight bytes at a time as long as they are ASCII; a short
// text is one load, where calling utf8.Valid would cost more than all else of its field.
func isText(in []byte, at, end int) bool {
	if end-at < 8 {
		if at+8 > len(in) {
			return utf8.Valid(in[at:end])
		}
		word := load64(in, at) << uint(64-8*(end-at)) // 8..64; shifting by 64 gives 0, the empty text
		return word&continuation == 0 || utf8.Valid(in[at:end])
	}
	text := in[at:end]
	for len(text) >= 32 {
		if (load64(text, 0)|load64(text, 8)|load64(text, 16)|load64(text, 24))&continuation != 0 {
			return utf8.Valid(text)
		}
		text = text[32:]
	}
	for len(text) >= 8 {
		if load64(text, 0)&continuation != 0 {
			return utf8.Valid(text)
		}
		text = text[8:]
	}
	// The last word, which overlaps what was seen; the part before it is ASCII, so that no character is cut.
	return load64(in, end-8)&continuation == 0 || utf8.Valid(text)
}
