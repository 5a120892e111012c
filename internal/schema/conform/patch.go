package conform

import (
	"encoding/binary"
	"slices"

	"github.com/thriftpack/thriftpack/internal/schema/valuewire"
)

// patch is a change of the value: size bytes at in[at:] are replaced, and size is not 0. Patches are recorded in the order of
// their positions: one for a length is opened before what the length is of is walked, and taken away again where nothing
// of it changes.
type patch struct {
	at, size uint32
	// value is the new length, or for patchType and patchTypes the kinds.
	value uint32
	// what says what is put there. From patchOrder on it is the length of a struct, whose fields come in another order: that of
	// the spans from Checker.orders[what-patchOrder] on.
	what uint32
}

const (
	patchDrop   uint32 = iota // nothing
	patchLength               // the varint of value
	patchType                 // a length, and element_type with value
	patchTypes                // a length, and the sides of a Map without entries, with their element_type
	patchOrder
)

// The bytes that patchType and patchTypes put in.
const (
	typeSize  = 3
	typesSize = 9
)

// open records that the length at in[at:start] may change, and returns the patch's number. close must follow.
func (c *Checker) open(at, start int) (opened int, ok bool) {
	return len(c.patches), c.push(patch{at: uint32(at), size: uint32(start - at), what: patchLength})
}

// push appends a patch.
func (c *Checker) push(p patch) bool {
	if len(c.patches) == cap(c.patches) && !c.take(max(cap(c.patches), 16)*patchSize) {
		return false
	}
	c.patches = append(c.patches, p)
	return true
}

// close ends what open began: the size bytes behind the length become delta more. It returns by how many bytes these and the
// length change together.
func (c *Checker) close(opened, size, delta int) int {
	p := &c.patches[opened]
	switch {
	case p.what == patchType || p.what == patchTypes:
		return p.added() - int(p.size)
	case p.what == patchLength && delta == 0 && opened == len(c.patches)-1:
		c.patches = c.patches[:opened]
		return 0
	}
	p.value = uint32(size + delta)
	return delta + p.added() - int(p.size)
}

// drop records that in[start:end] goes away and returns the change of size. joined says that what stands before it in the same
// struct or column was the last to go away.
func (c *Checker) drop(start, end int, joined bool) (delta int, ok bool) {
	if joined {
		c.patches[len(c.patches)-1].size += uint32(end - start)
		return start - end, true
	}
	return start - end, c.push(patch{at: uint32(start), size: uint32(end - start), what: patchDrop})
}

// added returns how many bytes the patch puts in.
func (p *patch) added() int {
	switch p.what {
	case patchDrop:
		return 0
	case patchType:
		return typeSize
	case patchTypes:
		return typesSize
	default:
		return valuewire.LengthSize(int(p.value))
	}
}

// rewrite writes the value with all patches to out.
func (c *Checker) rewrite() bool {
	size := len(c.in)
	for i := range c.patches {
		size += c.patches[i].added() - int(c.patches[i].size)
	}
	clear(c.out) // a shorter value leaves nothing of a longer one behind
	if cap(c.out) < size {
		if !c.take(size) {
			return false
		}
		c.out = make([]byte, 0, size)
	}
	c.out = c.out[:0]
	return c.apply(0, len(c.in), 0)
}

// apply writes in[start:end], with the patches from number next on that are in it.
func (c *Checker) apply(start, end, next int) bool {
	for at := start; ; next++ {
		if !c.tick() {
			return false
		}
		if next == len(c.patches) || int(c.patches[next].at) >= end {
			c.out = append(c.out, c.in[at:end]...)
			return true
		}
		p := &c.patches[next]
		c.out = append(c.out, c.in[at:p.at]...)
		at = int(p.at + p.size)
		switch p.what {
		case patchDrop:
		case patchLength:
			c.out = binary.AppendUvarint(c.out, uint64(p.value))
		case patchType:
			c.out = append(c.out, typeSize-1, valuewire.TagElementType, byte(p.value))
		case patchTypes:
			c.out = append(c.out, typesSize-1, valuewire.TagKeys, 2, valuewire.TagElementType, byte(p.value>>8),
				valuewire.TagValues, 2, valuewire.TagElementType, byte(p.value))
		default:
			c.out = binary.AppendUvarint(c.out, uint64(p.value))
			order := c.orders[p.what-patchOrder:]
			for _, s := range order[1 : 1+order[0].start] {
				if !c.apply(int(s.start), int(s.end), c.patchAt(int(s.start))) {
					return false
				}
			}
			at = int(order[0].end)
			next = c.patchAt(at) - 1
		}
	}
}

// patchAt returns the number of the first patch at in[at:] or behind.
func (c *Checker) patchAt(at int) int {
	i, _ := slices.BinarySearchFunc(c.patches, at, func(p patch, at int) int { return int(p.at) - at })
	return i
}
