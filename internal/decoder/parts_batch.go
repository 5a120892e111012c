package decoder

import (
	"encoding/binary"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// The functions of this file measure as many fields, elements or entries as fit the window, write them as one part, and
// see to what follows: a fault, the end of the container, or something to open.

// fields emits the next fields of the open struct.
func (p *Parts) fields(top *opened) {
	d := p.look()
	var (
		n, end, size int
		id           = top.id
		kind         uint8 // of the field that did not fit
		pos          int   // where its value begins
		next         int   // its id
		stop         bool
	)
	for {
		var after, body int
		if kind, next, pos = d.fieldHeader(end, id); pos < 0 {
			break
		} else if kind == kindNone {
			stop = true
			break
		}
		if kind == kindBool && !d.binary {
			after, body = pos, 2
		} else if after, body = p.measure(kind, pos, true); after < 0 {
			d.within(stepField, next)
			p.wasted(p.seen(after) - end)
			break
		}
		body = recordSize(idSize(next) + body)
		if n > 0 && size+body > p.window || body > p.window && canOpen(kind) {
			p.wasted(after - end)
			break
		}
		n++
		end, id = after, next
		size += body
	}
	if n > 0 {
		p.startPart(partFields, size)
		p.writeFields(n, top.id)
		top.id = id
	}
	if stop {
		end = pos
	}
	p.advance(end)
	if n > 0 {
		p.send()
	}
	switch {
	case p.err != nil:
	case p.failing():
		p.raise()
	case stop:
		p.close()
		p.closeMet()
	case n == 0:
		top.id = next
		p.open(kind, pos, next, step{stepField, next}, kindNone)
	}
}

// fieldHeader reads the field header at pos, after a field of that id, and returns where the value begins. The kind is kindNone
// at the stop. Faults and their order are those of measureStruct and measureBinaryStruct.
func (d *Decoder) fieldHeader(pos, id int) (kind uint8, next, end int) {
	data := d.data
	if pos >= len(data) {
		return 0, 0, d.short("a struct")
	}
	at, header := pos, data[pos]
	pos++
	if d.binary {
		switch kind = binaryKind(header); {
		case kind == kindNone:
			return kind, 0, pos
		case kind == kindBad:
			return 0, 0, d.badType(at, "field type", header)
		case len(data)-pos < 2:
			return 0, 0, d.short("a field id")
		}
		return kind, int(int16(binary.BigEndian.Uint16(data[pos:]))), pos + 2 // two's complement
	}
	code := header & 15
	kind = compactKinds[code]
	switch {
	case header >= 16 && code != 0:
		if id += int(header >> 4); id > 1<<15-1 {
			return 0, 0, d.fail(fault.IntRange, at, "field id out of range: %d, want -32768..32767", id)
		}
	case code == 0:
		if header != 0 && !d.lenient {
			return 0, 0, d.fail(fault.BadHeader, at, "field header 0x%02x: a stop has no id step", header)
		}
		return kindNone, 0, pos
	case kind != kindBad:
		if id, pos = d.longID(pos); pos < 0 {
			return 0, 0, failed
		}
	}
	if kind == kindBad {
		return 0, 0, d.badType(at, "field type", code)
	}
	return kind, id, pos
}

// writeFields writes the n fields at the beginning of the window, after a field of that id.
func (p *Parts) writeFields(n, id int) {
	d := &p.d
	pos := 0
	for range n {
		code := d.data[pos]
		kind, next, value := d.fieldHeader(pos, id)
		if kind == kindBool && !d.binary {
			d.out.byteField(next, tagOf(kindBool), oneIfTrue(code&15))
			pos = value
		} else {
			pos = d.writeMember(kind, value, next)
		}
		id = next
	}
}

// elements emits the next elements of the open list or set.
func (p *Parts) elements(top *opened) {
	d := p.look()
	n, end, size, flag := p.measureElements(top.elem, top.count-top.done)
	if p.failing() {
		d.within(stepElement, top.done+n)
	}
	if n > 0 {
		p.writeElements(top.elem, n, size, flag)
		p.advance(end)
		top.done += n
		p.send()
	}
	switch {
	case p.err != nil:
	case p.failing():
		p.raise()
	case n > 0:
		p.closeMet()
	default:
		p.open(top.elem, 0, noField, step{stepElement, top.done}, kindNone)
	}
}

// measureElements measures the next elements that fit the window, at most left. size is that of their column, without its head where
// it is packed; flag says of integers that some are padded.
func (p *Parts) measureElements(elem uint8, left int) (n, end, size int, flag uint32) {
	d := &p.d
	switch elem {
	case kindBool, kindI8:
		n = min(left, len(d.data))
		if elem == kindBool && !d.lenient {
			if i, good := bools(d.data[:n], d.binary); !good {
				n = i
				d.badBool(i)
			}
		}
		return n, n, n, 0
	case kindDouble:
		n = min(left, len(d.data)/doubleLen)
		return n, n * doubleLen, n * doubleLen, 0
	case kindI16, kindI32, kindI64:
		return p.measureIntegers(elem, left)
	}
	for n < left {
		next, s := p.measure(elem, end, false)
		if next < 0 || size+s > p.window {
			p.wasted(p.seen(next) - end)
			break
		}
		n++
		end = next
		size += s
	}
	return n, end, size, 0
}

// measureIntegers is measureElements for integers.
func (p *Parts) measureIntegers(kind uint8, left int) (n, end, size int, flag uint32) {
	d := &p.d
	if d.binary {
		left = min(left, len(d.data)/binaryLeast[kind])
		for n < left {
			// As many as fit whatever they are, and then one at a time.
			sure := min(left-n, max((p.window-size)/longestFixed, 1))
			next, s := d.measureFixed(kind, end, sure)
			if size+s > p.window {
				break
			}
			n, end = n+sure, next
			size += s
		}
		return n, end, size, 0
	}
	for n < left {
		done, next := scanRun(d.data, end, left-n, kind)
		size += next - end
		n, end = n+done, next
		for range min(left-n, 8) {
			next, s := d.measureVarint(kind, end)
			if next < 0 {
				return n, end, size, flag
			}
			if s != next-end {
				flag = 1
			}
			size += s
			n, end = n+1, next
		}
	}
	return n, end, size, flag
}

// writeElements writes the n elements at the beginning of the window; size and flag are those that measureElements gave.
func (p *Parts) writeElements(elem uint8, n, size int, flag uint32) {
	d := &p.d
	if isPacked(elem) {
		p.startPart(partElements, recordSize(size))
		d.writePacked(elem, 0, n, size, flag)
		return
	}
	p.startPart(partElements, size)
	for pos := 0; n > 0; n-- {
		pos = d.writeRecord(elem, pos, noField, unknown, 0)
	}
}

// entries emits the next entries of the open map.
func (p *Parts) entries(top *opened) {
	d := p.look()
	left := top.count - top.done
	var n, end, keys, values int
	for n < left {
		value, k, _ := d.measureElement(top.key, end, p.depth(), false)
		if value < 0 {
			d.within(stepKey, top.done+n)
			p.wasted(p.seen(value) - end)
			break
		}
		next, v := p.measure(top.elem, value, false)
		if next < 0 {
			d.within(stepValue, top.done+n)
			p.wasted(p.seen(next) - end)
			break
		}
		if keys+values+k+v > p.window {
			p.wasted(next - end)
			break
		}
		n++
		end = next
		keys += k
		values += v
	}
	if n > 0 {
		p.writeEntries(top, n, keys, values)
		p.advance(end)
		top.done += n
		p.send()
	}
	switch {
	case p.err != nil:
	case p.failing():
		p.raise()
	case n > 0:
		p.closeMet()
	default:
		p.openEntry(top)
	}
}

// writeEntries writes the n entries at the beginning of the window.
func (p *Parts) writeEntries(top *opened, n, keys, values int) {
	k := column{kind: top.key, size: keys, run: keys, only: unknown}
	v := column{kind: top.elem, size: values, run: values, only: unknown}
	if isPacked(k.kind) {
		k.size = recordSize(keys)
	}
	if isPacked(v.kind) {
		v.size = recordSize(values)
	}
	p.startPart(partEntries, recordSize(k.size)+recordSize(v.size))
	p.d.writeBothColumns(0, n, &k, &v)
}

// openEntry opens the next value of the open map, where key and value are too large for the window. A value that cannot be opened
// comes out whole with its key.
func (p *Parts) openEntry(top *opened) {
	d := p.look()
	value, keys, _ := d.measureElement(top.key, 0, p.depth(), false)
	if value < 0 || keys > p.window {
		p.keyTooLarge(top, value, keys)
		return
	}
	if canOpen(top.elem) {
		p.wasted(value) // and once more when it is written
		p.open(top.elem, value, noField, step{stepValue, top.done}, top.key)
		return
	}
	d = p.lookAhead()
	_, keys, _ = d.measureElement(top.key, 0, p.depth(), false)
	end, values, _ := d.measureElement(top.elem, value, p.depth(), false)
	if end < 0 {
		d.within(stepValue, top.done)
		p.raise()
		return
	}
	p.writeEntries(top, 1, keys, values)
	p.advance(end)
	top.done++
	if p.send(); p.err == nil {
		p.closeMet()
	}
}

// keyTooLarge refuses a key that does not fit the window.
func (p *Parts) keyTooLarge(top *opened, end, size int) {
	d := p.lookAhead()
	if top.key == kindBinary {
		size, _ = d.readSize(0, "")
	} else if end < 0 {
		size = p.window + 1 // or more
	}
	d.overLimit(fault.SizeLimit, 0, "size of a map key", "what fits chunk_size", p.window, size)
	d.within(stepKey, top.done)
	p.raise()
}
