package conform

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/valuewire"
)

// list checks the list or set of type t, nil for any, whose List is in[start:end]. It returns by how many bytes the List changes.
func (c *Checker) list(t *schema.Type, kind uint8, opened, start, end, depth int) (delta int, ok bool) {
	column, ok := valuewire.Elements(c.in, start, end)
	if !ok {
		return 0, c.form()
	}
	var elem *schema.Type
	if t != nil {
		elem = t.Elem
		if column.Kind == valuewire.None {
			return 0, c.noElements(elem, &column, opened, end)
		}
		if !c.allows(kindOf(elem), column.Kind) {
			c.failKind(elem, column.Kind, start, end, atValue)
			return 0, false
		}
	}
	top, drops := len(c.steps), len(c.drops)
	c.steps = append(c.steps, step{kind: stepElement})
	if kind == valuewire.Set && !c.findDuplicates(column, top, keepFirst) {
		return 0, false
	}
	if delta, ok = c.elements(elem, column, top, c.drops[drops:], depth); !ok {
		return 0, false
	}
	c.steps, c.drops = c.steps[:top], c.drops[:drops]
	return delta, true
}

// allows reports whether elements of the kind may be where others are declared. Decoding does not tell text from binary.
func (c *Checker) allows(declared, kind uint8) bool {
	return kind == declared || c.decoding && valuewire.IsText(kind) && valuewire.IsText(declared)
}

// noElements checks the element type of a List without elements, and supplies it. The List ends at in[end:].
func (c *Checker) noElements(elem *schema.Type, column *valuewire.Column, opened, end int) bool {
	declared := kindOf(elem)
	switch given := column.ElementType; {
	case given == uint64(declared):
		return true
	case given == 0:
	case given > uint64(valuewire.String):
		return c.form() // the encoder says so
	case !c.allows(declared, uint8(given)) && !c.lenient:
		c.failKind(elem, uint8(given), column.TypeAt, end, atValue)
		return false
	default:
		if c.decoding {
			c.in[column.TypeAt] = declared
		}
		return true
	}
	if c.complete {
		p := &c.patches[opened]
		p.what, p.value, p.size = patchType, uint32(declared), uint32(end)-p.at
	}
	return true
}

// elements checks the elements of a column, of type elem or of any where that is nil, but for those that dropped lists, which go
// away. top is the number of the step into them. It returns by how many bytes the column changes.
func (c *Checker) elements(elem *schema.Type, column valuewire.Column, top int, dropped []uint32, depth int) (delta int, ok bool) {
	switch kind := column.Kind; {
	case valuewire.IsContainer(kind):
	case len(dropped) > 0:
		if valuewire.IsPacked(kind) {
			return c.dropScalars(column, dropped)
		}
		if valuewire.IsText(kind) && elem != nil {
			if !c.texts(kindOf(elem), column, top, dropped) {
				return 0, false
			}
			column.Kind = c.in[column.At] >> 3 // what texts made of it
		}
	case valuewire.IsText(kind) && elem != nil:
		return 0, c.texts(kindOf(elem), column, top, nil)
	default:
		return 0, true
	}
	for i := uint32(0); ; i++ {
		if !c.tick() {
			return 0, false
		}
		e, more, ok := column.Next(c.in)
		if !ok {
			return 0, c.form()
		}
		if !more {
			return delta, true
		}
		var change int
		switch {
		case len(dropped) > 0 && dropped[0] == i:
			dropped = dropped[1:]
			change, ok = c.drop(e.Tag, e.End, false)
		case valuewire.IsContainer(column.Kind):
			c.steps[top].index = int32(i)
			change, ok = c.container(elem, column.Kind, e.Tag+1, e.Start, e.End, depth+1)
		}
		if !ok {
			return 0, false
		}
		delta += change
	}
}

// texts checks the strings and binaries of a column. Decoding makes of them what is declared: a column has one kind only, so
// where one of them is not UTF-8 and that is taken, all of them stay binary. Those that dropped lists do not matter.
func (c *Checker) texts(declared uint8, column valuewire.Column, top int, dropped []uint32) bool {
	if column.Kind == declared {
		return true
	}
	whole, tag := column, valuewire.RecordTag(declared)
	for i := uint32(0); ; i++ {
		if len(dropped) == 0 {
			if i += c.plainTexts(&column, tag); !c.tick() {
				return false
			}
		}
		e, more, ok := column.Next(c.in)
		if !ok {
			return c.form()
		}
		if !more {
			return true
		}
		if len(dropped) > 0 && dropped[0] == i {
			dropped = dropped[1:]
		} else if declared == valuewire.String && !utf8.Valid(c.in[e.Start:e.End]) {
			if c.lenient {
				c.untag(whole, e.Tag)
				return true
			}
			c.steps[top].index = int32(i)
			c.fail(fault.BadUTF8, e.Start, e.End, atData, "string is not valid UTF-8")
			return false
		}
		c.in[e.Tag] = tag
		if !c.tick() {
			return false
		}
	}
}

// plainTexts gives the tag to the elements at the beginning of a column that are short ASCII, which is text and bytes alike, and
// takes them. It returns how many they are, at most as many as lie between two questions whether to go on.
func (c *Checker) plainTexts(column *valuewire.Column, tag byte) (count uint32) {
	in, at, given := c.in, column.At, valuewire.RecordTag(column.Kind)
	for ; column.End-at >= 2 && count < stopEvery; count++ {
		size := int(in[at+1])
		next := at + 2 + size
		if in[at] != given || size >= 0x80 || next > column.End || len(in)-next < 8 {
			break
		}
		var all uint64
		from := at + 2
		for ; next-from >= 8; from += 8 {
			all |= binary.LittleEndian.Uint64(in[from : from+8])
		}
		all |= binary.LittleEndian.Uint64(in[from:from+8]) & (1<<(8*uint(next-from)) - 1)
		if all&notASCII != 0 {
			break
		}
		in[at] = tag
		at = next
	}
	column.At = at
	c.ticks -= int(count)
	return count
}

// notASCII is the top bit of each byte of a word.
const notASCII = 0x8080808080808080

// untag takes back what texts did to the elements before in[end:]. Next goes by the tag, so it is put right one element ahead.
func (c *Checker) untag(column valuewire.Column, end int) {
	for at := column.At; at < end; {
		c.in[at] = valuewire.RecordTag(column.Kind)
		_, at, _ = valuewire.Span(c.in, at+1, len(c.in)) // it was read before
	}
}

// dropScalars drops elements of a packed run.
func (c *Checker) dropScalars(column valuewire.Column, dropped []uint32) (delta int, ok bool) {
	size := column.End - column.At
	opened, ok := c.open(column.Run, column.At)
	if !ok {
		return 0, false
	}
	for i := uint32(0); len(dropped) > 0; i++ {
		start, end, ok := column.NextScalar(c.in)
		if !ok {
			return 0, c.form()
		}
		if !c.tick() {
			return 0, false
		}
		if dropped[0] != i {
			continue
		}
		dropped = dropped[1:]
		change, ok := c.drop(start, end, false)
		if !ok {
			return 0, false
		}
		delta += change
	}
	return c.close(opened, size, delta), true
}

// pairs checks the map of type t, nil for any, whose Map is in[start:end]. It returns by how many bytes the Map changes.
func (c *Checker) pairs(t *schema.Type, opened, start, end, depth int) (delta int, ok bool) {
	keys, values, ok := valuewire.Sides(c.in, start, end)
	if !ok {
		return 0, c.form()
	}
	var key, elem *schema.Type
	if t != nil {
		key, elem = t.Key, t.Elem
		if keys.Kind == valuewire.None && values.Kind == valuewire.None {
			return 0, c.noEntries(t, &keys, &values, opened, end)
		}
		if keys.Kind == valuewire.None || values.Kind == valuewire.None {
			return 0, c.form() // the encoder says that they are not equally many
		}
		for _, side := range []struct {
			t *schema.Type
			*valuewire.Side
		}{{key, &keys}, {elem, &values}} {
			if !c.allows(kindOf(side.t), side.Kind) {
				c.failKind(side.t, side.Kind, side.Start, side.End, atValue)
				return 0, false
			}
		}
	}
	top, drops := len(c.steps), len(c.drops)
	c.steps = append(c.steps, step{kind: stepKey})
	if !c.findDuplicates(keys.Column, top, keepLast) {
		return 0, false
	}
	first, second := keys, values
	if first.Length > second.Length {
		first, second = values, keys // patches come in the order of their positions
	}
	for _, side := range [...]valuewire.Side{first, second} {
		if side.Length == 0 {
			continue // of a map of any type, which is empty
		}
		kind, of := stepKey, key
		if side.Length == values.Length {
			kind, of = stepValue, elem
		}
		c.steps[top] = step{kind: kind}
		list, ok := c.open(side.Length, side.Start)
		if !ok {
			return 0, false
		}
		change, ok := c.elements(of, side.Column, top, c.drops[drops:], depth)
		if !ok {
			return 0, false
		}
		delta += c.close(list, side.End-side.Start, change)
	}
	c.steps, c.drops = c.steps[:top], c.drops[:drops]
	return delta, true
}

// noEntries checks the types of a map without entries, and supplies them. The Map ends at in[end:].
func (c *Checker) noEntries(t *schema.Type, keys, values *valuewire.Side, opened, end int) bool {
	isOpen := false
	for _, side := range [...]struct {
		t *schema.Type
		*valuewire.Side
	}{{t.Key, keys}, {t.Elem, values}} {
		switch given, declared := side.ElementType, kindOf(side.t); {
		case given == uint64(declared):
		case given == 0:
			isOpen = true
		case given > uint64(valuewire.String):
			return c.form() // the encoder says so
		case !c.allows(declared, uint8(given)) && !c.lenient:
			c.failKind(side.t, uint8(given), side.Start, side.End, atValue)
			return false
		case c.decoding:
			c.in[side.TypeAt] = declared
		}
	}
	if isOpen && c.complete {
		p := &c.patches[opened]
		p.what, p.value, p.size = patchTypes, uint32(kindOf(t.Key))<<8|uint32(kindOf(t.Elem)), uint32(end)-p.at
	}
	return true
}
