package encoder

import (
	"encoding/binary"
	"math"
	"math/bits"
)

const (
	// Of the first word of a Struct's element: tag of fields, length, tag of id, id, tag of the kind. Lengths and ids of
	// 128 and more have the bit that headMask keeps.
	headMask  = 0x80ff80ff
	headWant  = tagID<<16 | tagFields
	headBytes = 5

	continuation = 0x8080808080808080 // the continuation bit of eight bytes
)

// fields writes the Struct in.in[at:end] with its stop.
//
// Most fields look like this, and are written without a call:
//
//	protobuf  0A len 08 id tag payload
//	compact   header payload          header: dddd tttt
//
// A payload of the two formats differs for bool (none in compact) and i8 (zigzag in protobuf) only, so that the rest is
// copied. Whatever does not fit goes through field, which takes members in any order.
func (e *Encoder) fields(at, end, depth int) bool {
	if depth > e.maxDepth {
		return e.fail(causeDepth, at, end, int64(depth), 0)
	}
	in, out, written := e.in, e.out, e.written
	lastID := 0
	for at < end {
		if len(out)-written < itemRoom {
			e.written = written
			if !e.more(itemRoom) {
				return false
			}
			out, written = e.out, e.written
		}
		var head uint64
		if at+8 <= len(in) {
			head = load64(in, at)
		} else {
			head = loadTail(in, at)
		}
		start := at + headBytes
		next := at + 2 + int(head>>8&0xff)
		if head&headMask == headWant && start < next && next <= end && !e.binary {
			kind := kindOfTag[head>>32&0xff]
			id := int(head >> 24 & 0x7f)
			size := next - start
			// The header; a store that turns out to be wrong is overwritten, because written has not moved.
			to := written + 1
			if step := id - lastID; uint(step-1) < 15 { //nolint:gosec // wraps for steps below 1, on purpose
				out[written] = byte(step)<<4 | compactType[kind]
			} else {
				out[written] = compactType[kind]
				to = putVarint(out, to, uint64(id)<<1)
			}
			switch kind {
			case kindBool:
				// One byte, 0 or 1. Its type is 2 for false and 1 for true.
				if value := in[start]; size == 1 && value <= 1 {
					out[written] -= value
					written, at, lastID = to, next, id
					continue
				}
			case kindI8:
				// Zigzag 0..255: one byte, or two of which the second is 1.
				if value := in[start]; size == 1 && value < 0x80 {
					out[to] = value>>1 ^ -(value & 1)
					written, at, lastID = to+1, next, id
					continue
				} else if size == 2 && value >= 0x80 && in[start+1] == 1 {
					out[to] = (value>>1 | 0x40) ^ -(value & 1)
					written, at, lastID = to+1, next, id
					continue
				}
			case kindI16, kindI32, kindI64:
				if size <= 8 && start+8 <= len(in) {
					word := load64(in, start)
					last := in[next-1]
					// The first byte without a continuation bit must be the last one, and not 0 unless it is the only one.
					if bits.TrailingZeros64(^word&continuation)>>3 == size-1 && (last != 0 || size == 1) &&
						(size < maxVarintSize[kind] || size == maxVarintSize[kind] && last <= maxVarintLast[kind]) {
						binary.LittleEndian.PutUint64(out[to:], word)
						written, at, lastID = to+size, next, id
						continue
					}
				}
			case kindDouble:
				if size == 8 {
					binary.LittleEndian.PutUint64(out[to:], load64(in, start))
					written, at, lastID = to+8, next, id
					continue
				}
			case kindString, kindBinary:
				// The length takes one byte, because next-at does.
				if int(in[start]) == size-1 && size-1 <= e.maxString && size+spill <= len(out)-to {
					if kind == kindString && !isText(in, start+1, next) {
						break
					}
					copyShort(out, to, in, start, next)
					written, at, lastID = to+size, next, id
					continue
				}
			}
		}
		e.written = written
		var ok bool
		if at, lastID, ok = e.field(at, end, lastID, depth); !ok {
			return false
		}
		out, written = e.out, e.written
	}
	if len(out)-written < itemRoom {
		e.written = written
		if !e.more(itemRoom) {
			return false
		}
		out, written = e.out, e.written
	}
	out[written] = 0
	e.written = written + 1
	return true
}

// maxVarintSize and maxVarintLast give the longest varint of each integer kind, and the largest last byte of one so long.
var (
	maxVarintSize = [16]int{kindI8: 2, kindI16: 3, kindI32: 5, kindI64: 10}
	maxVarintLast = [16]byte{kindI8: 1, kindI16: 3, kindI32: 15, kindI64: 1}
)

// copyShort copies in[at:end] to out[to:], which has room for that and spill bytes more. Up to 32 bytes go as words, which
// takes a third of the time of a call to copy.
func copyShort(out []byte, to int, in []byte, at, end int) {
	if size := end - at; size <= 32 && at+32 <= len(in) {
		from, room := in[at:at+32], out[to:to+32]
		binary.LittleEndian.PutUint64(room, binary.LittleEndian.Uint64(from))
		binary.LittleEndian.PutUint64(room[8:], binary.LittleEndian.Uint64(from[8:]))
		if size > 16 {
			binary.LittleEndian.PutUint64(room[16:], binary.LittleEndian.Uint64(from[16:]))
			binary.LittleEndian.PutUint64(room[24:], binary.LittleEndian.Uint64(from[24:]))
		}
		return
	}
	copy(out[to:], in[at:end])
}

// field writes the field of the Struct's member at in[at:end], whatever its form, and returns the position behind it and its id.
func (e *Encoder) field(at, end, lastID, depth int) (next, id int, ok bool) {
	if in := e.in; in[at] != tagFields {
		return 0, 0, e.unexpected(at, at, end, structMembers)
	}
	at, next, ok = e.span(at+1, end)
	if !ok {
		return 0, 0, false
	}
	m, ok := e.oneof(at, next, true)
	if !ok {
		return 0, 0, false
	}
	id = m.id
	if !e.room() {
		return 0, 0, false
	}
	switch {
	case e.binary:
		e.putByte(binaryType[m.kind])
		binary.BigEndian.PutUint16(e.out[e.written:], uint16(int16(id))) //nolint:gosec // within range, as oneof checked
		e.written += 2
	default:
		code := compactType[m.kind]
		if m.kind == kindBool {
			code -= e.in[m.start]
		}
		if step := id - lastID; uint(step-1) < 15 { //nolint:gosec // wraps for steps below 1, on purpose
			e.putByte(byte(step)<<4 | code)
		} else {
			e.putByte(code)
			e.putVarint(Zigzag64(int64(id)))
		}
		if m.kind == kindBool {
			return next, id, true
		}
	}
	return next, id, e.payload(m.kind, m.start, m.end, depth)
}

// member is what a Value or Field holds: in[start:end] is the payload, without the length of strings and messages.
type member struct {
	id         int
	kind       uint8
	start, end int
}

// oneof finds the members of the Value or (withID) Field in.in[at:end], in any order. Nothing of the payload is checked but
// that it is there and minimal, so that no fault hides that the value has to be normalised.
func (e *Encoder) oneof(at, end int, withID bool) (m member, ok bool) {
	in, whole, hasID := e.in, at, false
	members := uint16(valueMembers)
	if withID {
		members = fieldMembers
	}
	var idStart, idEnd int
	for at < end {
		tag := in[at]
		if tag == tagID && withID {
			if hasID {
				return m, e.slow()
			}
			hasID, idStart = true, at+1
			v, next, ok := e.varint(at+1, end)
			if !ok {
				return m, false
			}
			if int64(v) != int64(int32(v)) { //nolint:gosec // the bits are meant
				return m, e.fail(causeOverflow, at+1, next, 0, 32)
			}
			m.id, at, idEnd = int(int32(v)), next, next //nolint:gosec // as above
			continue
		}
		kind := kindOfTag[tag]
		if kind == 0 {
			return m, e.unexpected(at, whole, end, members)
		}
		if m.kind != 0 {
			return m, e.slow()
		}
		m.kind, m.start = kind, at+1
		switch kindWire[kind] {
		case wireVarint:
			if _, at, ok = e.varint(at+1, end); !ok {
				return m, false
			}
			m.end = at
			if kind == kindBool && in[m.start] > 1 {
				return m, e.slow()
			}
		case wireFixed64:
			if at += 9; at > end {
				return m, e.fail(causeEnds, whole, end, 0, 0)
			}
			m.end = at
		default:
			if m.start, m.end, ok = e.span(at+1, end); !ok {
				return m, false
			}
			at = m.end
		}
	}
	if m.kind == 0 {
		return m, e.fail(causeMissingKind, whole, end, 0, 0)
	}
	if m.id < math.MinInt16 || m.id > math.MaxInt16 {
		return m, e.fail(causeRange, idStart, idEnd, int64(m.id), memberFirst)
	}
	return m, true
}

// unexpected takes the tag at in[at], which is none that the message in[start:end] should have. In a longer form than
// needed it may be one; otherwise it is a fault. members has a bit for each number that the message has.
func (e *Encoder) unexpected(at, start, end int, members uint16) bool {
	tag := e.in[at]
	if tag >= 0x80 {
		return e.slow() // normalising names the fault, if it is one
	}
	return e.badTag(uint64(tag), start, end, members)
}

// badTag fails with a tag that the message in[start:end] does not have.
func (e *Encoder) badTag(tag uint64, start, end int, members uint16) bool {
	e.failure = tagFailure(tag, start, end, members)
	return false
}

// tagFailure is the failure of badTag.
func tagFailure(tag uint64, start, end int, members uint16) failure {
	number := tag >> 3
	f := failure{cause: causeMember, start: start, end: end, got: int64(number)} //nolint:gosec // at most 61 bits
	if number <= kindString && members>>number&1 == 1 {
		f.cause, f.got = causeWireType, int64(tag) //nolint:gosec // at most 7 bits
	}
	return f
}

// varint reads the varint at in[at:end] and returns the position behind it. Non-minimal varints need normalising.
func (e *Encoder) varint(at, end int) (v uint64, next int, ok bool) {
	in := e.in
	if at < end && in[at] < 0x80 {
		return uint64(in[at]), at + 1, true
	}
	v, n := binary.Uvarint(in[at:end])
	switch {
	case n == 0:
		return 0, 0, e.fail(causeEnds, at, end, 0, 0)
	case n < 0:
		return 0, 0, e.fail(causeOverflow, at, min(at-n, end), 0, 64)
	case in[at+n-1] == 0:
		return 0, 0, e.slow()
	}
	return v, at + n, true
}

// span reads the length at in[at:end] and returns the span of what it announces.
func (e *Encoder) span(at, end int) (start, stop int, ok bool) {
	in := e.in
	if at < end && in[at] < 0x80 {
		start, stop = at+1, at+1+int(in[at])
		if stop <= end {
			return start, stop, true
		}
		return 0, 0, e.fail(causeEnds, at, end, 0, 0)
	}
	size, n := binary.Uvarint(in[at:end])
	switch {
	case n < 0:
		return 0, 0, e.fail(causeBadVarint, at, end, 0, 0)
	case n == 0 || size > uint64(end-at-n): //nolint:gosec // not negative
		return 0, 0, e.fail(causeEnds, at, end, 0, 0)
	case in[at+n-1] == 0:
		return 0, 0, e.slow()
	}
	start = at + n
	return start, start + int(size), true //nolint:gosec // at most end-start
}
