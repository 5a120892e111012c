package encoder

import (
	"encoding/binary"
	"math"
	"math/bits"
)

const (
	// Of the first word of a field: tag of fields, length, tag of id, id, tag of the kind. Lengths of 128 and more, ids of 64
	// and more and negative ids have a bit that headMask keeps.
	headMask  = 0x81ff80ff
	headWant  = tagID<<16 | tagFields
	headBytes = 5

	// window is how many bytes of input the short path of a field looks at. Where fewer are left, it is not taken.
	window = 32

	continuation = 0x8080808080808080 // the continuation bit of eight bytes
)

// fields writes the Struct in.in[at:end] with its stop.
func (e *Encoder) fields(at, end, depth int) bool {
	if depth > e.maxDepth {
		return e.fail(causeDepth, at, end, int64(depth), 0)
	}
	if !e.tick() {
		return false
	}
	lastID := 0
	if !e.binary {
		at, lastID = e.shortFields(at, end, 0) // for most structs, this is all
	}
	if at < end {
		if _, ok := e.fieldRun(at, end, lastID, depth); !ok {
			return false
		}
	}
	if !e.room() {
		return false
	}
	e.putByte(0)
	return true
}

// fieldRun writes the fields of the Struct in.in[at:end] after the field lastID, and returns the id of the last one.
func (e *Encoder) fieldRun(at, end, lastID, depth int) (last int, ok bool) {
	for at < end {
		if e.binary {
			if at, lastID = e.shortBinaryFields(at, end, lastID); at == end {
				break
			}
		} else {
			if at, lastID = e.shortFields(at, end, lastID); at == end {
				break
			}
			if next, id := e.shortContainer(at, end, lastID); next > 0 {
				if !e.payload(e.in[at+headBytes-1]>>3, at+headBytes+1, next, depth) {
					return 0, false
				}
				at, lastID = next, id
				continue
			}
		}
		if at, lastID, ok = e.field(at, end, lastID, depth); !ok {
			return 0, false
		}
	}
	return lastID, true
}

// shortFields writes the fields of the Struct in.in[at:end] from the first on, as long as they are short scalars in the usual
// order, and returns the position of the first that is not, or end, and the id before it. Most fields look like this:
//
//	protobuf  0A len 08 id tag payload
//	compact   header payload          header: dddd tttt
//
// The payloads of the two formats differ for bool (none in compact) and i8 (zigzag in protobuf) only, so the others are
// copied, by loads and stores of whole words. It calls nothing, so that all of its variables stay in registers, which
// makes it twice as fast.
func (e *Encoder) shortFields(at, end, lastID int) (next, id int) {
	in, out, written, maxString := e.in, e.out, e.written, e.maxString
	for at < end && at+window <= len(in) && len(out)-written >= itemRoom {
		// Naming the capacity spares three instructions each; a load of its own for the length, the latency of a shift.
		from, to := (*[window]byte)(in[at:at+window:at+window]), (*[itemRoom]byte)(out[written:written+itemRoom:written+itemRoom])
		head := binary.LittleEndian.Uint64(from[:])
		size := int(from[1]) - (headBytes - 2) // of the payload
		id := int(head >> 25 & 0x3f)           // zigzag
		step := id - lastID
		if head&headMask != headWant || size <= 0 || at+headBytes+size > end || uint(step-1) >= 15 { // wraps for steps below 1, on purpose
			break
		}
		header := byte(step) << 4
		payload := binary.LittleEndian.Uint64(from[headBytes:])
		used := 1 + size
		switch kindOfTag[byte(head>>32)] {
		case kindBool:
			// One byte, 0 or 1; the type is 2 for false and 1 for true.
			value := byte(payload)
			if size != 1 || value > 1 {
				goto done
			}
			header |= 2 - value
			used = 1
		case kindI8:
			// Zigzag 0..255: one byte, or two of which the second is 1. Its bit is worth 128, and so stands where the
			// first byte has its continuation bit.
			value := byte(payload)
			if !(size == 1 && value < 0x80 || size == 2 && value >= 0x80 && byte(payload>>8) == 1) {
				goto done
			}
			header |= kindI8
			payload = uint64(value>>1 ^ -(value & 1))
			used = 2
		case kindI16:
			if !isVarint64(payload, size) || size > 3 || size == 3 && byte(payload>>16) > 0x03 {
				goto done
			}
			header |= kindI16
		case kindI32:
			if !isVarint64(payload, size) || size > 5 || size == 5 && byte(payload>>32) > 0x0f {
				goto done
			}
			header |= kindI32
		case kindI64:
			if !isVarint64(payload, size) {
				goto done
			}
			header |= kindI64
		case kindDouble:
			if size != 8 {
				goto done
			}
			header |= kindDouble
		case kindString:
			// The length and the text, up to 24 bytes.
			second, third := binary.LittleEndian.Uint64(from[headBytes+8:]), binary.LittleEndian.Uint64(from[headBytes+16:])
			if int(byte(payload)) != size-1 || size-1 > maxString || size > 24 ||
				!isASCII(payload, second, third, size) && !isShortText(from[headBytes+1:headBytes+size]) {
				goto done
			}
			header |= kindBinary
			binary.LittleEndian.PutUint64(to[9:], second)
			binary.LittleEndian.PutUint64(to[17:], third)
		default:
			goto done
		}
		to[0] = header
		binary.LittleEndian.PutUint64(to[1:], payload)
		written += used
		at += headBytes + size
		lastID = id
	}
done:
	e.written = written
	return at, lastID
}

// shortContainer writes the header of the field in.in[at:end] if it is a container in the form of shortFields, and
// returns the position behind it and its id, or 0. The payload is left to the caller.
func (e *Encoder) shortContainer(at, end, lastID int) (next, id int) {
	start := at + headBytes + 1
	if start > end || len(e.out)-e.written < itemRoom {
		return 0, 0
	}
	from := (*[headBytes + 1]byte)(e.in[at:start:start])
	next, id = at+2+int(from[1]), int(from[3]>>1)
	kind := kindOfTag[from[4]]
	step := id - lastID
	if from[0] != tagFields || from[2] != tagID || (from[1]|from[3]|from[5]|from[3]<<7) >= 0x80 || next != start+int(from[5]) || next > end ||
		kind < kindList || kind > kindStruct || uint(step-1) >= 15 { // wraps for steps below 1, on purpose
		return 0, 0
	}
	e.putByte(byte(step)<<4 | kind)
	return next, id
}

// isVarint64 reports whether the first size bytes of the word are one minimal varint: the first byte without a
// continuation bit is the last of them, and not 0 unless it is the only one. It is false for more than eight bytes.
func isVarint64(word uint64, size int) bool {
	last := word >> (8 * uint(size-1)) // 0 and more
	return bits.TrailingZeros64(^word&continuation)>>3 == size-1 && (last&0xff != 0 || size == 1)
}

// isASCII reports whether all of the first size bytes, 1..24, of the three words are ASCII.
func isASCII(first, second, third uint64, size int) bool {
	switch {
	case size <= 8:
		first <<= uint(64 - 8*size) // 0..56
	case size <= 16:
		first |= second << uint(128-8*size) // 0..56
	default:
		first |= second | third<<uint(192-8*size) // 0 and more
	}
	return first&continuation == 0
}

// field writes the field of the Struct's member at in[at:end], whatever its form, and returns the position behind it and its id.
func (e *Encoder) field(at, end, lastID, depth int) (next, id int, ok bool) {
	if in := e.in; in[at] != tagFields {
		return 0, 0, e.unexpected(at, at, end, structMembers)
	}
	at, next, ok = e.span(at+1, end)
	if !ok || !e.tick() {
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
		binary.BigEndian.PutUint16(e.out[e.written:], uint16(int16(id))) // within range, as oneof checked
		e.written += 2
	default:
		code := compactType[m.kind]
		if m.kind == kindBool {
			code -= e.in[m.start]
		}
		if step := id - lastID; uint(step-1) < 15 { // wraps for steps below 1, on purpose
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
			if v > math.MaxUint32 {
				return m, e.fail(causeOverflow, at+1, next, 0, 32)
			}
			m.id, at, idEnd = int(unzigzag(v)), next, next
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
	f := failure{cause: causeMember, start: start, end: end, got: int64(number)} // at most 61 bits
	if number <= kindString && members>>number&1 == 1 {
		f.cause, f.got = causeWireType, int64(tag) // at most 7 bits
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
	case n == 0 || size > uint64(end-at-n): // not negative
		return 0, 0, e.fail(causeEnds, at, end, 0, 0)
	case in[at+n-1] == 0:
		return 0, 0, e.slow()
	}
	start = at + n
	return start, start + int(size), true // at most end-start
}
