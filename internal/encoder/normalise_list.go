package encoder

import (
	"encoding/binary"
	"math/bits"
)

// list normalises a List: its element_type, then its columns.
func (n *normaliser) list(bottom, depth int) bool {
	var elementType uint64
	var i8s span
	var columns uint16 // a bit for each that has elements
	for i, top := bottom, len(n.spans); i < top; i++ {
		part := n.spans[i]
		for at := part.start; at < part.end; {
			r, ok := n.read(at, part, listMembers)
			if !ok {
				return false
			}
			at = r.next
			switch columnOfTag[byte(r.tag)] { // read saw that it is a member
			case columnElementType:
				elementType = r.value
			case columnI8s:
				i8s = span{r.start, r.end}
			case columnPacked:
				if r.start < r.end {
					columns |= 1 << (r.tag >> 3)
				}
			case columnRepeated, columnUnpacked:
				columns |= 1 << (r.tag >> 3)
			default:
				n.failure = tagFailure(r.tag, part.start, part.end, listMembers)
				return false
			}
		}
	}
	if elementType != 0 {
		n.putVarint(tagID)
		n.putVarint(elementType)
	}
	kinds := bits.OnesCount16(columns)
	if i8s.start < i8s.end {
		n.putVarint(kindI8<<3 | wireBytes)
		n.putVarint(uint64(i8s.end - i8s.start)) // not negative
		n.putBytes(i8s)
		kinds++
	}
	if kinds > 1 {
		return n.several(columns, bottom, depth)
	}
	return columns == 0 || n.column(uint8(bits.TrailingZeros16(columns)), bottom, depth) // at most 15
}

// several normalises the columns of a List that has more than one, which the fast path refuses. It checks all members in one
// walk, and puts one element of each column in their place, so that the fault is the same.
func (n *normaliser) several(columns uint16, bottom, depth int) bool {
	if !n.writing {
		size, sizes := n.size, len(n.sizes)
		ok := n.members(columns, bottom, depth)
		if n.size, n.sizes = size, n.sizes[:sizes]; !ok {
			return false
		}
	}
	for ; columns != 0; columns &= columns - 1 {
		tag := uint8(bits.TrailingZeros16(columns))<<3 | wireBytes // at most 15
		length := 0
		switch {
		case tag == kindDouble<<3|wireBytes:
			length = 8
		case columnOfTag[tag] == columnPacked:
			length = 1
		}
		n.putVarint(uint64(tag))
		n.putVarint(uint64(length)) // not negative
		for range length {
			n.putVarint(0)
		}
	}
	return true
}

// column normalises the elements of one kind of a List that has no others.
func (n *normaliser) column(kind uint8, bottom, depth int) bool {
	tag := kind<<3 | wireBytes
	if columnOfTag[tag] != columnPacked {
		return n.members(1<<kind, bottom, depth)
	}
	index, size := n.begin(tag)
	ok := n.members(1<<kind, bottom, depth)
	n.end(index, size)
	return ok
}

// members normalises the elements of the columns, one bit for each kind, in their order on the wire.
func (n *normaliser) members(columns uint16, bottom, depth int) bool {
	for i, top := bottom, len(n.spans); i < top; i++ {
		part := n.spans[i]
		for at := part.start; at < part.end; {
			if !n.tick() {
				return false
			}
			r, _ := readMember(n.in, at, part.end) // list saw that it is well-formed
			at = r.next
			kind := uint8(r.tag >> 3) // at most 15
			ok := true
			switch class := columnOfTag[byte(r.tag)]; {
			case columns>>kind&1 == 0:
			case class == columnPacked:
				ok = n.run(kind, span{r.start, r.end})
			case class == columnRepeated:
				ok = n.element(kind, span{r.start, r.end}, depth)
			case kind == kindDouble:
				n.putBytes(span{r.start, r.end})
			case kind == kindBool:
				n.putVarint(min(r.value, 1))
			default:
				n.putVarint(r.value)
			}
			if !ok {
				return false
			}
		}
	}
	return true
}

// element normalises one element that has a tag of its own.
func (n *normaliser) element(kind uint8, s span, depth int) bool {
	tag := kind<<3 | wireBytes
	child, _ := messageList.child(uint64(kind))
	if child == messageNone {
		n.putVarint(uint64(tag))
		return n.text(kind, s)
	}
	bottom := len(n.spans)
	n.spans = append(n.spans, s)
	index, size := n.begin(tag)
	ok := n.message(child, bottom, depth+1)
	n.end(index, size)
	n.spans = n.spans[:bottom]
	return ok
}

// runPiece is how many bytes of a run are normalised between two steps, which it counts for 512 of.
const runPiece = 4096

// run normalises a packed run.
func (n *normaliser) run(kind uint8, s span) bool {
	isNormal := s.start == s.end
	switch {
	case isNormal:
	case kind == kindDouble:
		if (s.end-s.start)%8 != 0 {
			return n.fail(causeEnds, s, 0)
		}
		isNormal = true
	case kind == kindBool:
		isNormal = areBools(n.in[s.start:s.end])
	default:
		_, isNormal = countVarints(n.in, s.start, s.end, kindI64)
	}
	if isNormal {
		n.putBytes(s)
		return true
	}
	for at := s.start; at < s.end; {
		var ok bool
		if at, ok = n.varints(kind, at, min(at+runPiece, s.end), s.end); !ok {
			return false
		}
		if n.left < 0 && !n.writing {
			return n.tooMany()
		}
		n.e.ticks -= runPiece / 8
		if !n.tick() {
			return false
		}
	}
	return true
}

// varints normalises, and counts as members, the varints in in[at:end] that begin before stop, and returns the position behind the last one.
func (n *normaliser) varints(kind uint8, at, stop, end int) (next int, ok bool) {
	in, out, size, count := n.in, n.out, n.size, 0
	for ; at < stop; count++ {
		v, length := uint64(in[at]), 1
		if v >= 0x80 {
			if v, length = binary.Uvarint(in[at:end]); length <= 0 {
				if length == 0 {
					return 0, n.fail(causeEnds, span{at, end}, 0)
				}
				return 0, n.fail(causeOverflow, span{at, at - length}, 64)
			}
		}
		if kind == kindBool {
			v = min(v, 1)
		}
		if n.writing {
			out = AppendVarint(out, v)
		} else {
			size += SizeVarint(v)
		}
		at += length
	}
	n.out, n.size, n.left = out, size, n.left-count
	return at, true
}
