package decoder

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// The sizing pass. Each function takes where a value begins and returns where it ends (or failed) and how many bytes it
// takes in the Value. It is also what the writing pass steps over small values with: then it fills the same entries again.

// measureStruct measures the fields of the struct at pos: the body of a Struct message. derived says that the size needs no
// entry, because the writing pass will know it.
//
//	compact field header: dddd tttt for an id 1..15 above the last one; 0000 tttt, zigzag id otherwise; 00 is the stop
func (d *Decoder) measureStruct(pos, depth int, derived bool) (end, size int) {
	if depth > d.limits.Depth {
		return d.tooDeep(pos, depth), 0
	}
	if d.binary {
		return d.measureBinaryStruct(pos, depth, derived)
	}
	data := d.data
	slot := unknown
	if !derived && pos < len(data) && data[pos]&15 != 0 {
		slot = d.sizes.reserve()
	}
	fields := 0 // not yet taken off d.nodes
	for id := 0; ; {
		var short, body int
		pos, id, short, body = d.shortFields(pos, id) // for most structs, this is all
		fields += short
		size += body
		if uint(pos) >= uint(len(data)) { // never negative
			return d.short("a struct"), 0
		}
		at := pos
		header := data[pos]
		pos++
		kind := header & 15
		switch {
		case kind == 0:
			if header != 0 && !d.lenient {
				return d.fail(fault.BadHeader, at, "field header 0x%02x: a stop has no id step", header), 0
			}
			if d.nodes -= fields; d.nodes < 0 && !d.goOn(at) {
				return failed, 0
			}
			if slot >= 0 {
				d.sizes.set(slot, size, 0)
			}
			return pos, size
		case header >= 16:
			if id += int(header >> 4); id > 1<<15-1 {
				return d.fail(fault.IntRange, at, "field id out of range: %d, want -32768..32767", id), 0
			}
		case kind < 14:
			if id, pos = d.longID(pos); pos < 0 {
				return failed, 0
			}
		}
		if fields++; fields >= stopEvery {
			if d.nodes -= fields; d.nodes < 0 && !d.goOn(at) {
				return failed, 0
			}
			fields = 0
		}
		idPart := 2
		if uint(id-1) >= twoByteID-1 { // wraps below 1 on purpose
			idPart = idSize(id)
		}
		switch kind {
		case 1, 2:
			size += idPart + 4
			continue
		case kindI32, kindI64, kindI16:
			if pos, body = d.measureVarint(kind, pos); pos < 0 {
				return d.within(stepField, id), 0
			}
			size += idPart + 3 + body
			continue
		case kindI8:
			if pos >= len(data) {
				return d.inField(id, "an i8"), 0
			}
			size += idPart + 3 + i8Size(data[pos])
			pos++
			continue
		case kindDouble:
			if len(data)-pos < doubleLen {
				return d.inField(id, "a double"), 0
			}
			pos += doubleLen
			size += idPart + 3 + doubleLen
			continue
		case kindUUID:
			if len(data)-pos < uuidSize {
				return d.inField(id, "a uuid"), 0
			}
			pos += uuidSize
			size += idPart + 4 + uuidSize
			continue
		case kindBinary:
			var start int
			if start, body = d.length(pos); start < 0 {
				return d.within(stepField, id), 0
			}
			pos = start + body
		case kindList, kindSet, kindMap, kindStruct:
			if d.nodes -= fields; d.nodes < 0 && !d.goOn(at) {
				return failed, 0
			}
			fields = 0
			switch kind {
			case kindMap:
				pos, body = d.measureMap(pos, depth+1)
			case kindStruct:
				pos, body = d.measureStruct(pos, depth+1, false)
			default:
				pos, body, _ = d.measureList(pos, depth+1, false)
			}
		default:
			return d.badType(at, "field type", kind), 0
		}
		if pos < 0 {
			return d.within(stepField, id), 0
		}
		size += recordSize(idPart + recordSize(body))
	}
}

// inField records that the input ends in a field's value, and returns failed.
func (d *Decoder) inField(id int, what string) int {
	d.short(what)
	return d.within(stepField, id)
}

// i8Size returns the size of Field.i8, a zigzag varint, for the byte that stands on the Thrift wire as it is.
func i8Size(b byte) int {
	if b+64 < 128 {
		return 1
	}
	return 2
}

// longID reads the zigzag field id of a long header.
func (d *Decoder) longID(pos int) (id, end int) {
	u, end := consumeVarint(d.data, pos)
	switch {
	case end < 0:
		return 0, d.badVarint(pos, end, "a field id")
	case u > 1<<32-1:
		return 0, d.fail(fault.VarintOverflow, pos, "varint of a field id is wider than 32 bits")
	case u > 1<<16-1:
		return 0, d.fail(fault.IntRange, pos, "field id out of range: %d, want -32768..32767", unzigzag(u))
	}
	return int(unzigzag(u)), end
}

// measureVarint returns where the integer at pos ends and how many bytes it takes as a minimal varint.
func (d *Decoder) measureVarint(kind uint8, pos int) (end, size int) {
	if len(d.data)-pos >= 8 {
		x := binary.LittleEndian.Uint64(d.data[pos:])
		if ends := ^x & highBits; ends != 0 {
			n := bits.TrailingZeros64(ends)>>3 + 1
			last := byte(x >> (8*n - 8))
			longest := longestVarint[kind&15]
			if (last != 0 || n == 1) && (n < longest || n == longest && last <= largestLast[kind&15]) {
				return pos + n, n
			}
		}
	}
	u, end := d.integer(kind, pos)
	return end, varintSize(u)
}

// integer reads the integer at pos and returns its zigzag form and where it ends.
func (d *Decoder) integer(kind uint8, pos int) (u uint64, end int) {
	if d.binary {
		return d.fixed(kind, pos)
	}
	u, end = consumeVarint(d.data, pos)
	switch {
	case end < 0:
		return 0, d.badVarint(pos, end, kindName(kind))
	case kind == kindI64:
	case u > 1<<32-1:
		return 0, d.fail(fault.VarintOverflow, pos, "varint of %s is wider than 32 bits", kindName(kind))
	case kind == kindI16 && u > 1<<16-1:
		return 0, d.fail(fault.IntRange, pos, "i16 out of range: %d, want -32768..32767", unzigzag(u))
	}
	return u, end
}

// kindName names an integer kind with its article.
func kindName(kind uint8) string {
	switch kind {
	case kindI16:
		return "an i16"
	case kindI32:
		return "an i32"
	default:
		return "an i64"
	}
}

// length reads the length of a string or binary at pos, checks it against the bytes that are left and against its
// limit, and returns where the bytes start.
func (d *Decoder) length(pos int) (start, n int) {
	n, start = d.readSize(pos, "a string or binary")
	switch {
	case start < 0:
		return failed, 0
	case n > len(d.data)-start+d.beyond:
		return d.claims(pos, "string or binary of %d bytes", n, n, len(d.data)-start), 0
	case n > d.limits.StringBytes:
		return d.overLimit(fault.SizeLimit, pos, "length of a string or binary", "--max-string-bytes", d.limits.StringBytes, n), 0
	}
	return start, n
}

// readSize reads a size at pos, 0..2^31-1, and returns where it ends.
func (d *Decoder) readSize(pos int, what string) (n, end int) {
	if d.binary {
		if len(d.data)-pos < 4 {
			return 0, d.short("the size of " + what)
		}
		n, end = int(binary.BigEndian.Uint32(d.data[pos:])), pos+4
	} else {
		if pos < len(d.data) && d.data[pos] < 0x80 {
			return int(d.data[pos]), pos + 1
		}
		var v uint64
		if v, end = consumeVarint(d.data, pos); end < 0 {
			return 0, d.badVarint(pos, end, "the size of "+what)
		}
		if v > 1<<32-1 {
			return 0, d.fail(fault.VarintOverflow, pos, "varint of the size of %s is wider than 32 bits", what)
		}
		n = int(v) // at most 32 bits
	}
	if n > maxSize {
		return 0, d.fail(fault.NegativeSize, pos, "size of %s is negative: %d", what, n-1<<32)
	}
	return n, end
}

// claims records that a declared size exceeds the input, and returns failed.
func (d *Decoder) claims(at int, what string, n, need, left int) int {
	if d.cut {
		return d.isCut(at)
	}
	return d.fail(fault.Truncated, at, "truncated: "+what+" needs %d bytes, %d are left", n, need, left)
}

// measureElement measures a value of any kind as an element of a list, or of a map's column: without its tag where the
// column is packed, with tag and length otherwise. flag is that of the container's entry.
func (d *Decoder) measureElement(kind uint8, pos, depth int, derived bool) (end, size int, flag uint32) {
	data := d.data
	switch kind {
	case kindBool:
		if pos >= len(data) {
			return d.short("a bool"), 0, 0
		}
		if data[pos] > 1 && !d.goodBool(data[pos]) {
			return d.badBool(pos), 0, 0
		}
		return pos + 1, 1, 0
	case kindI8:
		if pos >= len(data) {
			return d.short("an i8"), 0, 0
		}
		return pos + 1, 1, 0
	case kindI16, kindI32, kindI64:
		if d.binary {
			u, end := d.fixed(kind, pos)
			return end, varintSize(u), 0
		}
		end, size = d.measureVarint(kind, pos)
		return end, size, 0
	case kindDouble:
		if len(data)-pos < doubleLen {
			return d.short("a double"), 0, 0
		}
		return pos + doubleLen, doubleLen, 0
	case kindUUID:
		if len(data)-pos < uuidSize {
			return d.short("a uuid"), 0, 0
		}
		return pos + uuidSize, recordSize(uuidSize), 0
	case kindBinary, kindString:
		start, n := d.length(pos)
		if start < 0 {
			return failed, 0, 0
		}
		if d.detectText && utf8.Valid(data[start:start+n]) {
			flag = 1
		}
		return start + n, recordSize(n), flag
	case kindList, kindSet:
		end, size, flag = d.measureList(pos, depth+1, derived)
	case kindMap:
		end, size = d.measureMap(pos, depth+1)
	default:
		end, size = d.measureStruct(pos, depth+1, derived)
	}
	return end, recordSize(size), flag
}

// goodBool says whether a bool's byte above 1 may pass.
func (d *Decoder) goodBool(b byte) bool { return d.lenient || b == 2 && !d.binary }

// badBool records a bool byte without meaning, and returns failed.
func (d *Decoder) badBool(at int) int {
	if d.binary {
		return d.fail(fault.BadHeader, at, "bool byte 0x%02x, want 1 (true) or 0 (false)", d.data[at])
	}
	return d.fail(fault.BadHeader, at, "bool byte 0x%02x, want 1 (true), 2 or 0 (false)", d.data[at])
}
