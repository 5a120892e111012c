package decoder

// A small struct is checked and written in one pass, into the decoder's buffer: the length that protobuf wants before it is put there
// afterwards. In two passes, half of the time of a struct of nine fields was for measuring it. Whatever is unusual in it, and every
// fault, is left to the two passes, which begin again: what they say does not depend on the size of the input.

const (
	smallMost = 1 << 10 // the longest input that is read so
	smallRoom = 8 << 10 // and the room for its Value; a byte of a bool field takes six
	smallHead = 3       // the tag and the length of a Struct that fits
)

// buffered returns n bytes of the decoder's buffer.
func (d *Decoder) buffered(n int) []byte {
	if len(d.buffer) < n {
		clear(d.buffer[:d.dirty])
		d.buffer, d.dirty = make([]byte, n), 0
	}
	return d.buffer[:n]
}

// measureSmall is measureStruct for a root that is small, and writes it at once. It returns failed where it does not see to it.
func (d *Decoder) measureSmall(pos int) (end, size int) {
	// Every value takes a byte, so that there are not too many of them, nor so many that Stop is asked.
	if left := len(d.data) - pos; d.binary || d.twoPasses || left > smallMost || left > d.nodes || d.limits.Depth < 1 {
		return failed, 0
	}
	o := &d.out
	o.buf, o.n, o.sink, o.err, o.spilling = d.buffered(smallRoom), smallHead, nil, nil, false
	nodes := d.nodes
	end = d.copyFields(pos)
	d.dirty = max(d.dirty, min(o.n+itemRoom, smallRoom))
	if end < 0 {
		d.nodes, d.fault, d.steps, d.sizes.used = nodes, nil, d.steps[:0], 0
		return failed, 0
	}
	body, start := o.n-smallHead, smallHead-2
	if body < 128 {
		o.buf[start+1] = byte(body)
	} else {
		start--
		o.buf[start+1], o.buf[start+2] = byte(body)|0x80, byte(body>>7) // smallRoom is less than 1<<14
	}
	o.buf[start] = tagOf(kindStruct)
	d.ready, d.readyEnd = start, o.n
	return end, o.n - start
}

// copyFields checks and writes the fields of the root, as far as there is room.
func (d *Decoder) copyFields(pos int) (end int) {
	o := &d.out
	for id := 0; ; {
		pos, id = d.copyShortFields(pos, id) // for most structs, this is all
		if uint(pos) < uint(len(d.data)) && d.data[pos] == 0 {
			return pos + 1
		}
		kind, next, value := d.fieldHeader(pos, id)
		if value < 0 || len(o.buf)-o.n < 2*itemRoom {
			return failed
		}
		switch kind {
		case kindNone:
			return value
		case kindBool:
			o.byteField(next, tagOf(kindBool), oneIfTrue(d.data[pos]&15))
			pos = value
		default:
			d.sizes.used = 0
			after, size := d.measureMember(kind, value, 1)
			if after < 0 || size > len(o.buf)-o.n-2*itemRoom {
				return failed
			}
			d.sizes.used = 0
			d.writeMember(kind, value, next)
			pos = after
		}
		id = next
	}
}
