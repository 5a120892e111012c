package encoder

import "encoding/binary"

// column is what a List holds: its elements, or only their type.
type column struct {
	kind  uint8 // of the elements; 0 for an empty list without element_type
	count int
	// at is the position of the next element, end that behind the last one. An element of a packed run and of i8s has no
	// tag; all others have a tag and a length each, and members without elements may lie between them.
	at, end int
}

// list writes the list or set whose List is in[at:end].
func (e *Encoder) list(at, end, depth int) bool {
	if depth > e.maxDepth {
		return e.fail(causeDepth, at, end, int64(depth), 0)
	}
	c, ok := e.column(at, end)
	if !ok {
		return false
	}
	if c.kind == 0 && !e.untyped {
		return e.fail(causeMissingType, at, end, 0, 0)
	}
	if !e.room() {
		return false
	}
	e.listHeader(c.kind, c.count)
	return c.count == 0 || e.elements(&c, depth)
}

// listHeader writes the header of a list or set into the room made before.
//
//	compact  nnnn tttt                when the size n is at most 14
//	         1111 tttt, varint size   otherwise
//	binary   type, 4 bytes size
func (e *Encoder) listHeader(kind uint8, count int) {
	switch {
	case e.binary:
		e.putByte(binaryType[kind])
		e.putUint32(uint32(count)) // maxElements is at most 2^31-1
	case count < 15:
		e.putByte(byte(count)<<4 | compactElement[kind])
	default:
		e.putByte(0xf0 | compactElement[kind])
		e.putVarint(uint64(count)) // not negative
	}
}

// column finds the elements of the List in[start:end], counts them, and checks the scalars among them. A List that has to be
// normalised is noticed before any fault of its members.
func (e *Encoder) column(start, end int) (c column, ok bool) {
	in, at := e.in, start
	elementType, hasType, hasI8s, second := uint64(0), false, false, uint8(0)
	for at < end {
		if !e.tick() {
			return c, false
		}
		tag := in[at]
		kind := tag >> 3
		var from, stop int
		switch columnOfTag[tag] {
		case columnElementType:
			if hasType {
				return c, e.slow()
			}
			hasType = true
			if elementType, at, ok = e.varint(at+1, end); !ok {
				return c, false
			}
			continue
		case columnPacked, columnI8s:
			if from, stop, ok = e.span(at+1, end); !ok {
				return c, false
			}
			at = stop
			if kind == kindI8 {
				if hasI8s {
					return c, e.slow()
				}
				hasI8s = true
			}
			if from == stop {
				continue // no elements: as if it were absent
			}
			if c.kind == kind {
				return c, e.slow() // a run in two parts
			}
		case columnRepeated:
			from = at
			var n int
			if n, stop, ok = e.countRepeated(tag, at, start, end); !ok {
				return c, false
			}
			at = stop
			if c.kind == kind {
				c.count += n
				c.end = stop
				continue
			}
			if c.kind == 0 {
				c.count = n
			}
		case columnUnpacked:
			return c, e.slow()
		default:
			return c, e.unexpected(at, start, end, listMembers)
		}
		if c.kind != 0 {
			second = kind
			continue
		}
		c.kind, c.at, c.end = kind, from, stop
	}
	switch {
	case second != 0:
		return c, e.fail(causeTwoColumns, start, end, int64(c.kind), int64(second))
	case elementType > kindString || elementType != 0 && !isKind(uint8(elementType)):
		return c, e.badElementType(start, end, elementType)
	case c.kind == 0:
		c.kind = uint8(elementType)
		return c, true
	case elementType != 0 && elementType != uint64(c.kind):
		return c, e.fail(causeElementType, start, end, int64(elementType), int64(c.kind)) // at most 15
	}
	if !e.countScalars(&c, start, end) {
		return c, false
	}
	if c.count > e.maxElements {
		return c, e.fail(causeElements, start, end, int64(c.count), 0)
	}
	return c, true
}

// badElementType fails with an element_type that is no type, in the List in[start:end].
func (e *Encoder) badElementType(start, end int, elementType uint64) bool {
	if int64(elementType) != int64(int32(elementType)) { // the bits are meant
		return e.fail(causeOverflow, start, end, 0, 32)
	}
	return e.fail(causeNoSuchType, start, end, int64(elementType), 0) // the bits are meant
}

// countRepeated counts the elements that follow each other from in[at:] on, each with this tag and its length, in the List
// in[start:end].
func (e *Encoder) countRepeated(tag byte, at, start, end int) (count, stop int, ok bool) {
	in := e.in[:end]
	for at+1 < len(in) && in[at] == tag {
		size := int(in[at+1])
		if size < 0x80 {
			at += 2 + size
		} else {
			_, stop, ok := e.span(at+1, end)
			if !ok {
				return 0, 0, false
			}
			at = stop
		}
		count++
	}
	if at > end || at+1 == end && in[at] == tag {
		return 0, 0, e.fail(causeEnds, start, end, 0, 0)
	}
	return count, at, true
}

// countScalars counts the elements of a packed run or of i8s and checks all of them. start and end are those of the List.
func (e *Encoder) countScalars(c *column, start, end int) bool {
	in := e.in
	switch c.kind {
	case kindI8:
		c.count = c.end - c.at
	case kindBool:
		c.count = c.end - c.at
		if !areBools(in[c.at:c.end]) {
			return e.slow()
		}
	case kindDouble:
		c.count = (c.end - c.at) / 8
		if c.count*8 != c.end-c.at {
			return e.fail(causeEnds, start, end, 0, 0)
		}
	case kindI16, kindI32, kindI64:
		if c.end-c.at == 1 && in[c.at] < 0x80 {
			c.count = 1
			return true
		}
		var ok bool
		if c.count, ok = countVarints(in, c.at, c.end, c.kind); !ok {
			return e.badRun(c.kind, c.at, c.end)
		}
	}
	return true
}

// badRun finds what is wrong with the packed run of varints in[at:end].
func (e *Encoder) badRun(kind uint8, at, end int) bool {
	for at < end {
		v, next, ok := e.varint(at, end)
		if !ok {
			return false
		}
		switch {
		case kind == kindI32 && v > 1<<32-1, kind == kindI16 && v > 1<<32-1:
			return e.fail(causeOverflow, at, next, 0, 32)
		case kind == kindI16 && v > 1<<16-1:
			return e.fail(causeRange, at, next, unzigzag(v), kindI16)
		}
		at = next
	}
	return e.fail(causeEnds, at, end, 0, 0)
}

// elements writes all elements of a column.
func (e *Encoder) elements(c *column, depth int) bool {
	switch c.kind {
	case kindI8:
		return e.copyInput(c.at, c.end)
	case kindBool:
		if e.binary {
			return e.copyInput(c.at, c.end)
		}
		return e.bools(c.at, c.end)
	case kindI16, kindI32, kindI64:
		if !e.binary {
			return e.copyInput(c.at, c.end)
		}
		return e.binaryIntegers(c.kind, c.at, c.end)
	case kindDouble:
		if !e.binary {
			return e.copyInput(c.at, c.end)
		}
		return e.swapDoubles(c.at, c.end)
	case kindStruct:
		return e.structs(c, depth)
	case kindString, kindBinary:
		return e.texts(c)
	}
	for range c.count {
		if !e.tick() || !e.element(c, depth) {
			return false
		}
	}
	return true
}

// element writes the next element of a column.
func (e *Encoder) element(c *column, depth int) bool {
	switch c.kind {
	case kindBool, kindI8, kindDouble, kindI16, kindI32, kindI64:
		return e.scalar(c)
	}
	start, stop := e.next(c)
	return e.payload(c.kind, start, stop, depth)
}

// next returns the span of the next element that has a tag and a length.
func (e *Encoder) next(c *column) (start, stop int) {
	in, at := e.in, c.at
	for in[at]>>3 != c.kind {
		at = e.skip(at)
	}
	size := uint64(in[at+1])
	start = at + 2
	if size >= 0x80 {
		var n int
		size, n = binary.Uvarint(in[at+1:])
		start = at + 1 + n
	}
	stop = start + int(size) // column saw that it lies inside
	c.at = stop
	return start, stop
}

// skip returns the position behind a member without elements that lies between elements: element_type, or an empty run.
func (e *Encoder) skip(at int) int {
	if e.in[at] == tagID {
		_, n := binary.Uvarint(e.in[at+1:])
		return at + 1 + n
	}
	return at + 2
}

// scalar writes the next element of a packed run or of i8s.
func (e *Encoder) scalar(c *column) bool {
	if !e.room() {
		return false
	}
	at := c.at
	switch c.kind {
	case kindBool, kindI8:
		value := e.in[at]
		if c.kind == kindBool && !e.binary {
			value = 2 - value
		}
		e.putByte(value)
		c.at++
	case kindDouble:
		e.double(at)
		c.at += 8
	default:
		c.at = varintEnd(e.in, at)
		if e.binary {
			return e.integer(c.kind, at, c.at)
		}
		e.written += copy(e.out[e.written:], e.in[at:c.at])
	}
	return true
}

// structs writes the elements of a list of structs.
func (e *Encoder) structs(c *column, depth int) bool {
	in, at := e.in, c.at
	for range c.count {
		var start, stop int
		if in[at] == kindStruct<<3|wireBytes && in[at+1] < 0x80 {
			start = at + 2
			stop = start + int(in[at+1])
		} else {
			c.at = at
			start, stop = e.next(c)
		}
		if !e.fields(start, stop, depth+1) {
			return false
		}
		at = stop
	}
	return true
}

// texts writes the elements of a list of strings or binaries.
func (e *Encoder) texts(c *column) bool {
	for left := c.count; ; left-- {
		if left = e.shortTexts(c, left); left == 0 {
			return true
		}
		start, stop := e.next(c)
		if !e.tick() || !e.text(c.kind, start, stop) {
			return false
		}
	}
}

// shortTexts writes elements of a list of strings or binaries from the next one on, as long as they have fewer than 32 bytes
// and nothing between them, and returns how many of left are left. Each is copied together with its length, as four words. It
// calls nothing, so that all of its variables stay in registers.
func (e *Encoder) shortTexts(c *column, left int) int {
	in, out, at, written := e.in, e.out, c.at, e.written
	tag, maxString := c.kind<<3|wireBytes, min(e.maxString, shortText)
	isString, zeros := c.kind == kindString, 0
	if e.binary {
		zeros = 3 // the fourth byte of the length is protobuf's
	}
	for left > 0 && at+shortText+2 <= len(in) && len(out)-written >= itemRoom {
		from := (*[shortText + 2]byte)(in[at : at+shortText+2 : at+shortText+2])
		size := int(from[1])
		if from[0] != tag || size > maxString {
			break
		}
		mask := (*[shortText + 1]byte)(topBits[shortText-size : 2*shortText+1-size : 2*shortText+1-size]) // of the length and the text
		first, second := binary.LittleEndian.Uint64(from[1:]), binary.LittleEndian.Uint64(from[9:])
		third, fourth := binary.LittleEndian.Uint64(from[17:]), binary.LittleEndian.Uint64(from[25:])
		top := first&binary.LittleEndian.Uint64(mask[0:]) | second&binary.LittleEndian.Uint64(mask[8:]) |
			third&binary.LittleEndian.Uint64(mask[16:]) | fourth&binary.LittleEndian.Uint64(mask[24:])
		if top != 0 && isString && !isShortText(from[2:2+size]) {
			break
		}
		binary.LittleEndian.PutUint32(out[written:], 0)
		written += zeros
		to := (*[shortText + 1]byte)(out[written : written+shortText+1 : written+shortText+1])
		binary.LittleEndian.PutUint64(to[0:], first)
		binary.LittleEndian.PutUint64(to[8:], second)
		binary.LittleEndian.PutUint64(to[16:], third)
		binary.LittleEndian.PutUint64(to[24:], fourth)
		at += size + 2
		written += size + 1
		left--
	}
	c.at, e.written = at, written
	return left
}

// shortText is the most bytes that shortTexts takes, and topBits has 0x80 for the bytes of such a text and of its length: those of
// size bytes start at shortText-size.
const shortText = 31

var topBits = func() (mask [2*shortText + 1]byte) {
	for i := range shortText + 1 {
		mask[i] = 0x80
	}
	return mask
}()
