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
	if i8s.start < i8s.end {
		n.putVarint(kindI8<<3 | wireBytes)
		n.putVarint(uint64(i8s.end - i8s.start)) // not negative
		n.putBytes(i8s)
	}
	for ; columns != 0; columns &= columns - 1 {
		kind := uint8(bits.TrailingZeros16(columns)) // at most 15
		if !n.column(kind, bottom, depth) {
			return false
		}
	}
	return true
}

// column normalises the elements of one kind of a List.
func (n *normaliser) column(kind uint8, bottom, depth int) bool {
	tag := kind<<3 | wireBytes
	packed := columnOfTag[tag] == columnPacked
	var index, size int
	if packed {
		index, size = n.begin(tag)
	}
	for i, top := bottom, len(n.spans); i < top; i++ {
		part := n.spans[i]
		for at := part.start; at < part.end; {
			if !n.tick() {
				return false
			}
			r, _ := readMember(n.in, at, part.end) // list saw that it is well-formed
			at = r.next
			switch {
			case r.tag>>3 != uint64(kind):
			case packed:
				if !n.scalars(kind, r) {
					return false
				}
			default:
				if !n.element(kind, span{r.start, r.end}, depth) {
					return false
				}
			}
		}
	}
	if packed {
		n.end(index, size)
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

// scalars normalises a run of scalars, or one that is not packed.
func (n *normaliser) scalars(kind uint8, r record) bool {
	if kind == kindDouble {
		if (r.end-r.start)%8 != 0 {
			return n.fail(causeEnds, span{r.start, r.end}, 0)
		}
		n.putBytes(span{r.start, r.end})
		return true
	}
	for at := r.start; at < r.end; {
		if !n.tick() {
			return false
		}
		v, size := binary.Uvarint(n.in[at:r.end])
		if size == 0 {
			return n.fail(causeEnds, span{at, r.end}, 0)
		}
		if size < 0 {
			return n.fail(causeOverflow, span{at, at - size}, 64)
		}
		if kind == kindBool {
			v = min(v, 1)
		}
		n.putVarint(v)
		at += size
	}
	return true
}
