package decoder

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// The writing pass. The sizing pass has seen every byte to be right, so nothing is checked again. Each function takes where a
// value begins and returns where it ends, or failed when the sink has.

// writeMember writes a value as a member of Value, or as a Field where id is a field's.
func (d *Decoder) writeMember(kind uint8, pos, id int) (end int) {
	o, data := &d.out, d.data
	switch kind {
	case kindBool:
		o.byteField(id, tagOf(kindBool), oneIfTrue(data[pos]))
		return pos + 1
	case kindI8:
		o.varintField(id, tagOf(kindI8), zigzag(int64(int8(data[pos])))) // two's complement
		return pos + 1
	case kindI16, kindI32, kindI64:
		u, end := d.integer(kind, pos)
		o.varintField(id, tagOf(kind), u)
		return end
	case kindDouble:
		o.doubleField(id, d.double(pos))
		return pos + doubleLen
	default:
		return d.writeRecord(kind, pos, id, unknown, 0)
	}
}

// oneIfTrue returns protobuf's byte for a bool's: 1 is true, anything else is false.
func oneIfTrue(b byte) byte {
	if b == 1 {
		return 1
	}
	return 0
}

// double returns the bits of the double at pos.
func (d *Decoder) double(pos int) uint64 {
	if d.binary {
		return binary.BigEndian.Uint64(d.data[pos:])
	}
	return binary.LittleEndian.Uint64(d.data[pos:])
}

// writeRecord writes a value that is length-delimited in protobuf: a member of Value, a Field, or an element of a column
// that is not packed. size is its body's, or unknown to take it from the entries; flag is the one that came with it.
func (d *Decoder) writeRecord(kind uint8, pos, id, size int, flag uint32) (end int) {
	switch kind {
	case kindBinary, kindString:
		n, start := d.readSize(pos, "")
		payload := d.data[start : start+n]
		tag := tagOf(kind)
		if id != noField || flag != 0 { // an element's flag is its column's
			if flag != 0 || d.detectText && utf8.Valid(payload) {
				tag = tagOf(kindString)
			}
		}
		d.out.bytesField(id, tag, payload)
		return start + n
	case kindUUID:
		d.out.bytesField(id, tagOf(kindUUID), d.data[pos:pos+uuidSize])
		return pos + uuidSize
	case kindMap:
		return d.writeMap(pos, id)
	case kindStruct:
		return d.writeStruct(pos, id, size)
	default:
		return d.writeList(kind, pos, id, size, flag)
	}
}

// writeStruct writes a struct.
func (d *Decoder) writeStruct(pos, id, size int) (end int) {
	o := &d.out
	if o.err != nil {
		return failed
	}
	if size == unknown {
		size = 0
		if header := d.data[pos]; header != 0 && (d.binary || header&15 != 0) {
			size, _ = d.sizes.next()
		}
	}
	o.head(id, tagOf(kindStruct), size)
	if d.binary {
		return d.writeBinaryFields(pos)
	}
	return d.writeFields(pos)
}

// writeFields writes the fields of a compact struct.
func (d *Decoder) writeFields(pos int) (end int) {
	for id := 0; ; {
		pos, id = d.copyShortFields(pos, id)
		header := d.data[pos]
		kind := header & 15
		pos++
		if kind == 0 {
			return pos
		}
		if header >= 16 {
			id += int(header >> 4)
		} else {
			id, pos = d.longID(pos)
		}
		if pos = d.writeField(kind, pos, id); pos < 0 {
			return failed
		}
	}
}

// writeField writes any Field of a compact struct.
func (d *Decoder) writeField(kind uint8, pos, id int) (end int) {
	switch kind {
	case 1, 2:
		d.out.byteField(id, tagOf(kindBool), oneIfTrue(kind))
		return pos
	case kindI16, kindI32, kindI64:
		return d.writeVarintField(kind, pos, id)
	default:
		return d.writeMember(kind, pos, id)
	}
}

// writeVarintField writes the integer at pos as a Field. A minimal varint is copied.
func (d *Decoder) writeVarintField(kind uint8, pos, id int) (end int) {
	o, data := &d.out, d.data
	if len(data)-pos >= 8 {
		x := binary.LittleEndian.Uint64(data[pos:])
		if ends := ^x & highBits; ends != 0 {
			n := bits.TrailingZeros64(ends)>>3 + 1
			if last := byte(x >> (8*n - 8)); last != 0 || n == 1 {
				o.room()
				o.fieldHead(id, tagOf(kind), n)
				if b := o.buf[o.n:]; len(b) >= 8 {
					binary.LittleEndian.PutUint64(b, x)
				} else {
					copy(b, data[pos:pos+n])
				}
				o.n += n
				return pos + n
			}
		}
	}
	u, end := d.integer(kind, pos)
	o.varintField(id, tagOf(kind), u)
	return end
}

// writeBinaryFields writes the fields of a struct of the binary protocol.
func (d *Decoder) writeBinaryFields(pos int) (end int) {
	for {
		kind := binaryKind(d.data[pos])
		pos++
		if kind == kindNone {
			return pos
		}
		id := int(int16(binary.BigEndian.Uint16(d.data[pos:]))) // two's complement
		if pos = d.writeMember(kind, pos+2, id); pos < 0 {
			return failed
		}
	}
}

// writeList writes a list or set.
func (d *Decoder) writeList(kind uint8, pos, id, size int, flag uint32) (end int) {
	o := &d.out
	if o.err != nil {
		return failed
	}
	elem, count, pos := d.listHeader(pos)
	if count == 0 {
		o.head(id, tagOf(kind), 2*boolToInt(elem != kindNone))
		d.writeElementType(elem)
		return pos
	}
	if size == unknown {
		size, flag = d.sizes.next()
	}
	o.head(id, tagOf(kind), size)
	if isPacked(elem) {
		return d.writePacked(elem, pos, count, recordBody(size), flag)
	}
	only := unknown // the body of an only element
	if count == 1 {
		only = recordBody(size)
	} else if elem != kindBinary {
		flag = 0
	}
	for left := count; left > 0; left-- {
		if o.err != nil {
			return failed
		}
		if elem == kindBinary {
			if pos, left = d.copyShortTexts(pos, left, flag); left == 0 {
				break
			}
		}
		if pos = d.writeRecord(elem, pos, noField, only, flag); pos < 0 {
			return failed
		}
	}
	return pos
}

// writeElementType writes the only member of an empty List, where it is known.
func (d *Decoder) writeElementType(elem uint8) {
	if elem == kindNone {
		return
	}
	if elem == kindBinary && d.detectText {
		elem = kindString // all of its no elements are text
	}
	d.out.room()
	d.out.buf[d.out.n] = 0x08
	d.out.buf[d.out.n+1] = elem
	d.out.n += 2
}

// writePacked writes the column of a list whose elements are packed. size is that of the packed run.
func (d *Decoder) writePacked(elem uint8, pos, count, size int, flag uint32) (end int) {
	o := &d.out
	o.head(noField, columnTag(elem), size)
	switch {
	case elem == kindI8, elem == kindDouble && !d.binary, elem != kindBool && !d.binary && flag == 0:
		o.bytes(d.data[pos : pos+size])
		return pos + size
	case elem == kindBool:
		return d.writeBools(pos, count)
	case elem != kindDouble && d.binary:
		return d.writeFixed(elem, pos, count)
	}
	for i := range count {
		if i%1024 == 0 && o.err != nil {
			return failed
		}
		pos = d.writeScalar(elem, pos)
	}
	return pos
}

// writeBools writes the packed run of count bools.
func (d *Decoder) writeBools(pos, count int) (end int) {
	var piece [256]byte
	for end = pos + count; pos < end; {
		n := copy(piece[:], d.data[pos:end])
		for i := 0; i < n; i += 8 {
			// A byte of 1 becomes 0, the only one whose top bit neither it nor the sum has.
			x := binary.LittleEndian.Uint64(piece[i:]) ^ units
			binary.LittleEndian.PutUint64(piece[i:], ^(x&lowerBits+lowerBits|x)>>7&units)
		}
		d.out.bytes(piece[:n])
		if d.out.err != nil {
			return failed
		}
		pos += n
	}
	return end
}

// writeScalar writes one element of a packed column.
func (d *Decoder) writeScalar(kind uint8, pos int) (end int) {
	o := &d.out
	o.room()
	switch kind {
	case kindBool:
		o.buf[o.n] = oneIfTrue(d.data[pos])
		o.n++
		return pos + 1
	case kindI8:
		o.buf[o.n] = d.data[pos]
		o.n++
		return pos + 1
	case kindDouble:
		binary.LittleEndian.PutUint64(o.buf[o.n:], d.double(pos))
		o.n += doubleLen
		return pos + doubleLen
	default:
		if n := d.copyShortVarint(pos); n > 0 {
			return pos + n
		}
		u, end := d.integer(kind, pos)
		o.varint(u)
		return end
	}
}
