package encoder

import "encoding/binary"

// record is one member as it stands on the wire.
type record struct {
	tag        uint64
	value      uint64 // of a varint
	start, end int    // the payload
	next       int    // the position behind it
	cause      cause  // what is wrong, where readMember returns false
}

// readMember reads the member at in[at:end], minimal or not.
func readMember(in []byte, at, end int) (r record, ok bool) {
	tag, n := binary.Uvarint(in[at:end])
	if n <= 0 {
		r.cause = causeEnds
		if n < 0 {
			r.cause = causeBadVarint
		}
		return r, false
	}
	r.tag, r.start = tag, at+n
	switch tag & 7 {
	case wireVarint:
		if r.value, n = binary.Uvarint(in[r.start:end]); n < 0 {
			r.cause, r.end = causeOverflow, r.start-n
			return r, false
		}
		r.end = r.start + n
	case wireFixed64:
		n = 8
		if r.end = r.start + 8; r.end > end {
			n = 0
		}
	case wireBytes:
		var size uint64
		if size, n = binary.Uvarint(in[r.start:end]); n < 0 {
			r.cause = causeBadVarint
			return r, false
		}
		r.start += n
		if size > uint64(end-r.start) { // not negative
			n = 0
		} else {
			r.end = r.start + int(size) // at most end
		}
	default:
		r.cause = causeWireType
		return r, false
	}
	r.next, r.cause = r.end, causeEnds
	return r, n > 0
}
