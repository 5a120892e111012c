package conform

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema/valuewire"
)

// slot is a place in the hash table of elements: where the element's record, or its scalar, begins, 0 in an empty slot, and how
// many elements stand before it.
type slot struct{ at, before uint32 }

// keeping says which of equal elements counts.
type keeping bool

const (
	keepFirst keeping = false // of a set
	keepLast  keeping = true  // of a map's keys
)

// findDuplicates sees that no two elements of the column of a set, or of a map's keys, are equal, or where that is taken puts the
// ordinals of those that do not count onto drops, in ascending order. Elements are equal that have the same bytes: of structs, fields
// in another order make a difference, and so do elements of sets within sets; 0.0 is not -0.0. But each NaN is the same double, whatever
// its bits: JSON has one word for all of them. top is the number of the step into the column.
//
// Sorted elements, which is how most sets and maps are written, take one comparison each and no memory.
func (c *Checker) findDuplicates(column valuewire.Column, top int, keep keeping) bool {
	count, ascending := 0, true
	var last valuewire.Element
	for rest := column; ; count++ {
		e, more, ok := nextElement(c.in, &rest)
		if !ok {
			return c.form()
		}
		if !more {
			break
		}
		if ascending && count > 0 {
			ascending = c.isLess(column.Kind, last, e)
		}
		last = e
		if !c.tick() {
			return false
		}
	}
	if ascending {
		return true
	}
	if !c.makeTable(count) {
		return false
	}
	from, mask := len(c.drops), uint64(len(c.slots)-1)
	for i := uint32(0); ; i++ {
		e, more, _ := nextElement(c.in, &column)
		if !more {
			break
		}
		if !c.tick() {
			return false
		}
		text := identity(column.Kind, c.in[e.Start:e.End])
		for at := maphash.Bytes(c.seed, text); ; at++ {
			s := &c.slots[at&mask]
			if s.at == 0 {
				*s = slot{uint32(e.Tag), i}
				break
			}
			if !c.isSame(column.Kind, int(s.at), e) {
				continue
			}
			if !c.lenient {
				return c.failDuplicate(e, s.before, i, top, keep)
			}
			dropped := i
			if keep == keepLast {
				dropped = s.before
				*s = slot{uint32(e.Tag), i}
			}
			if !c.pushDrop(dropped) {
				return false
			}
			break
		}
	}
	slices.Sort(c.drops[from:])
	return true
}

// failDuplicate fails with the element e, the same as that which has so many before it.
func (c *Checker) failDuplicate(e valuewire.Element, first, second uint32, top int, keep keeping) bool {
	c.steps[top].index = int32(second)
	if keep == keepLast {
		c.fail(fault.DuplicateKey, e.Start, e.End, atValue, "the key of entry %d again", first)
	} else {
		c.fail(fault.DuplicateElement, e.Start, e.End, atValue, "element %d again", first)
	}
	return false
}

// makeTable makes the table empty, and large enough for so many elements.
func (c *Checker) makeTable(count int) bool {
	size := 1 << bits.Len(uint(count+count/2)) // at most two thirds of it are in use
	if cap(c.slots) < size {
		if !c.take(size * slotSize) {
			return false
		}
		c.slots = make([]slot, size)
	}
	c.slots = c.slots[:size]
	clear(c.slots)
	if c.seed == (maphash.Seed{}) {
		c.seed = maphash.MakeSeed()
	}
	return true
}

// nextElement takes the next element of any column. That of a packed run has its beginning in place of its tag.
func nextElement(in []byte, column *valuewire.Column) (e valuewire.Element, more, ok bool) {
	if !valuewire.IsPacked(column.Kind) {
		return column.Next(in)
	}
	if column.At >= column.End {
		return e, false, true
	}
	e.Start, e.End, ok = column.NextScalar(in)
	e.Tag = e.Start
	return e, ok, ok
}

// isSame reports whether the element whose record or scalar begins at in[at:], before e, is e. Tags are the same, and lengths minimal, so
// that records are equal where payloads are.
func (c *Checker) isSame(kind uint8, at int, e valuewire.Element) bool {
	size := e.End - e.Tag
	if kind == valuewire.Double {
		return bytes.Equal(identity(kind, c.in[at:at+size]), identity(kind, c.in[e.Tag:e.End]))
	}
	return bytes.Equal(c.in[at:at+size], c.in[e.Tag:e.End])
}

// nan is a double that is none, as JSON's "NaN" is encoded.
var nan = binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.NaN()))

// identity returns the bytes by which an element is told from others. They alias text, or must not be changed.
func identity(kind uint8, text []byte) []byte {
	if kind == valuewire.Double && math.IsNaN(math.Float64frombits(binary.LittleEndian.Uint64(text))) {
		return nan
	}
	return text
}

// isLess reports whether a comes before b, in an order in which sorted containers have the elements of the kind.
func (c *Checker) isLess(kind uint8, a, b valuewire.Element) bool {
	x, y := c.in[a.Start:a.End], c.in[b.Start:b.End]
	switch kind {
	case valuewire.I8:
		return int8(x[0]) < int8(y[0])
	case valuewire.I16, valuewire.I32, valuewire.I64:
		u, _ := binary.Uvarint(x)
		v, _ := binary.Uvarint(y)
		return valuewire.Unzigzag(u) < valuewire.Unzigzag(v)
	case valuewire.Double:
		return math.Float64frombits(binary.LittleEndian.Uint64(x)) < math.Float64frombits(binary.LittleEndian.Uint64(y))
	default:
		return bytes.Compare(x, y) < 0
	}
}
