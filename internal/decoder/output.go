package decoder

import "encoding/binary"

// output is where the writing pass writes. Without a sink, buf is exactly the room for what is still to come; every store
// stays inside of it. With one, items are written into the lent buffer while at least itemRoom bytes of it are left, then
// into spill, which is moved to the end of the buffer and on into the next. So buffers are always full when handed over.
type output struct {
	buf   []byte // aliases the caller's buffer, or is spill
	n     int    // how much of it is filled
	sink  Sink
	err   error  // the sink's; nothing is written after it
	lent  []byte // while spilling: the lent buffer, filled up to lentN
	lentN int

	spilling bool
	spill    [4 * itemRoom]byte
}

// itemRoom is enough for the head of a record inside of a field (23 bytes) or for a scalar field (24).
const itemRoom = 32

// overrun is how many bytes after an item its stores may change, where there is room: eight or sixteen are stored at a time.
const overrun = 16

// room makes sure that an item can be written.
func (o *output) room() {
	if len(o.buf)-o.n < itemRoom && o.sink != nil {
		o.makeRoom()
	}
}

func (o *output) makeRoom() {
	o.settle()
	if o.err == nil && len(o.buf)-o.n >= itemRoom {
		return
	}
	o.lent, o.lentN = o.buf, o.n
	o.buf, o.n, o.spilling = o.spill[:], 0, true
}

// settle moves what was spilled to where it belongs.
func (o *output) settle() {
	if !o.spilling {
		return
	}
	spilled := o.spill[:o.n]
	o.buf, o.n, o.spilling = o.lent, o.lentN, false
	o.lent = nil
	o.bytes(spilled)
}

// bytes writes b, which may be of any length.
func (o *output) bytes(b []byte) {
	n := copy(o.buf[o.n:], b)
	o.n += n
	if n < len(b) {
		o.overflow(b[n:])
	}
}

// overflow writes what did not fit.
func (o *output) overflow(b []byte) {
	if o.spilling {
		o.settle()
		o.bytes(b)
		return
	}
	for len(b) > 0 && o.err == nil && o.sink != nil {
		next, err := o.sink.Next(o.n)
		if err != nil {
			o.err = err
			return
		}
		o.buf = next
		o.n = copy(next, b)
		b = b[o.n:]
	}
}

// head writes what stands before a length-delimited payload of size bytes: the tag and the length, and before them, where
// id is a field's, the head of the Field record.
func (o *output) head(id int, tag byte, size int) {
	o.room()
	if id != noField {
		o.fieldHead(id, tag, lengthSize(size)+size)
	} else {
		o.buf[o.n] = tag
		o.n++
	}
	if size < 128 {
		o.buf[o.n] = byte(size)
		o.n++
	} else {
		o.varint(uint64(size)) // sizes are not negative
	}
}

// fieldHead writes the head of a Field record whose kind's payload takes size bytes after its tag.
//
//	0a, length, 08, id (absent when 0), tag of the kind
func (o *output) fieldHead(id int, tag byte, size int) {
	if uint(id-1) < twoByteID-1 && size < 128-3 { // wraps below 1 on purpose
		b := o.buf[o.n : o.n+5]
		binary.LittleEndian.PutUint32(b, 0x0008000a|uint32(size+3)<<8|uint32(id)<<25) // both varints of one byte
		b[4] = tag
		o.n += 5
		return
	}
	o.buf[o.n] = 0x0a
	o.n++
	o.varint(uint64(idSize(id) + 1 + size)) // not negative
	if id != 0 {
		o.buf[o.n] = 0x08
		o.n++
		o.varint(idVarint(id))
	}
	o.buf[o.n] = tag
	o.n++
}

// varint writes v, minimal.
func (o *output) varint(v uint64) {
	b, n := o.buf, o.n
	for v >= 0x80 {
		b[n] = byte(v) | 0x80
		v >>= 7
		n++
	}
	b[n] = byte(v)
	o.n = n + 1
}

// byteField writes a Field, or a member of Value, whose payload is one byte.
func (o *output) byteField(id int, tag, payload byte) {
	o.room()
	o.memberHead(id, tag, 1)
	o.buf[o.n] = payload
	o.n++
}

// varintField writes a Field, or a member of Value, whose payload is the varint v.
func (o *output) varintField(id int, tag byte, v uint64) {
	o.room()
	o.memberHead(id, tag, varintSize(v))
	o.varint(v)
}

// doubleField writes a Field, or a member of Value, whose payload is the eight bytes of bits, little-endian.
func (o *output) doubleField(id int, bits uint64) {
	o.room()
	o.memberHead(id, tagOf(kindDouble), doubleLen)
	binary.LittleEndian.PutUint64(o.buf[o.n:], bits)
	o.n += doubleLen
}

// bytesField writes a Field, a member of Value or an element, whose payload is length-delimited.
func (o *output) bytesField(id int, tag byte, payload []byte) {
	o.head(id, tag, len(payload))
	o.bytes(payload)
}

// memberHead writes what stands before a scalar payload.
func (o *output) memberHead(id int, tag byte, size int) {
	if id != noField {
		o.fieldHead(id, tag, size)
		return
	}
	o.buf[o.n] = tag
	o.n++
}
