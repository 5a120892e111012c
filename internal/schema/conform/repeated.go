package conform

import (
	"cmp"
	"slices"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/valuewire"
)

// entry is a field of a struct whose fields are not in ascending order.
type entry struct {
	id         int16
	unknown    bool
	before     uint32 // how many fields stand before it
	start, end uint32 // its record
}

// compare orders fields by their ids; known ones before unknown ones; and then as they stand.
func (e entry) compare(other entry) int {
	if c := e.compareID(other); c != 0 {
		return c
	}
	return cmp.Compare(e.before, other.before)
}

// compareID is 0 for fields of which one counts.
func (e entry) compareID(other entry) int {
	switch {
	case e.id != other.id:
		return cmp.Compare(e.id, other.id)
	case e.unknown == other.unknown:
		return 0
	case other.unknown:
		return -1
	default:
		return 1
	}
}

// collect fills entries with the fields of the Struct in[start:end] that are kept, but for those that dropped lists, and
// sorts them.
func (c *Checker) collect(s *schema.Struct, start, end int, dropped []uint32) bool {
	c.entries = c.entries[:0]
	for at, before := start, uint32(0); at < end; before++ {
		m, ok := valuewire.Field(c.in, at, end)
		if !ok {
			return c.form()
		}
		e := entry{id: int16(m.ID), before: before, start: uint32(at), end: uint32(m.Next)}
		at = m.Next
		if len(dropped) > 0 && dropped[0] == before {
			dropped = dropped[1:]
			continue
		}
		if e.unknown = c.fieldOf(s, &m) == nil; e.unknown && !(c.decoding && c.keepUnknown) {
			continue
		}
		if !c.tick() {
			return false
		}
		if len(c.entries) == cap(c.entries) && !c.take(max(cap(c.entries), 16)*entrySize) {
			return false
		}
		c.entries = append(c.entries, e)
	}
	slices.SortFunc(c.entries, entry.compare)
	return true
}

// findRepeated puts onto drops the ordinals of the fields of the Struct in[start:end] that later ones take the place of.
func (c *Checker) findRepeated(s *schema.Struct, start, end int) bool {
	for at, last := start, -1<<15-1; ; {
		if at >= end {
			return true // in ascending order
		}
		m, ok := valuewire.Field(c.in, at, end)
		if !ok {
			return c.form()
		}
		if m.ID <= last {
			break
		}
		last, at = m.ID, m.Next
	}
	if !c.collect(s, start, end, nil) {
		return false
	}
	from := len(c.drops)
	for i := 1; i < len(c.entries); i++ {
		if c.entries[i-1].compareID(c.entries[i]) == 0 && !c.pushDrop(c.entries[i-1].before) {
			return false
		}
	}
	slices.Sort(c.drops[from:])
	return true
}

// pushDrop puts an ordinal onto drops.
func (c *Checker) pushDrop(ordinal uint32) bool {
	if len(c.drops) == cap(c.drops) && !c.take(max(cap(c.drops), 16)*dropSize) {
		return false
	}
	c.drops = append(c.drops, ordinal)
	return true
}

// order sees that no two fields of the Struct in[start:end], whose fields are not in ascending order, are the same one, and puts
// them in order where that is wanted.
func (c *Checker) order(s *schema.Struct, opened, start, end int, dropped []uint32) bool {
	if !c.collect(s, start, end, dropped) {
		return false
	}
	second := -1
	for i := 1; i < len(c.entries); i++ {
		if c.entries[i-1].compareID(c.entries[i]) == 0 && (second < 0 || c.entries[i].before < c.entries[second].before) {
			second = i
		}
	}
	if second >= 0 {
		e := c.entries[second]
		m, _ := valuewire.Field(c.in, int(e.start), end) // collect read the same
		c.steps[len(c.steps)-1] = step{stepField, e.id, int32(e.before)}
		c.fail(fault.DuplicateField, m.Start, m.End, atHeader, "field %d is set twice", e.id)
		return false
	}
	if !c.ascending || s == nil {
		return true
	}
	if !c.take((len(c.entries) + 1) * spanSize) {
		return false
	}
	c.patches[opened].what = patchOrder + uint32(len(c.orders))
	c.orders = append(c.orders, span{uint32(len(c.entries)), uint32(end)})
	for _, e := range c.entries {
		c.orders = append(c.orders, span{e.start, e.end})
	}
	return true
}

// unknownField checks the field m of the Struct s, which does not have it, and whose record begins at in[record:]. It returns by how
// many bytes the record changes, and whether it is kept in order with others. joined is that of drop.
func (c *Checker) unknownField(s *schema.Struct, m *valuewire.Member, record, depth int, joined bool) (delta int, kept, ok bool) {
	switch {
	case !c.decoding && !c.keepUnknown:
		c.fail(fault.UnknownName, m.Start, m.End, atHeader, "%s has no field %d", s.Name, m.ID)
		return 0, false, false
	case !c.decoding:
		return 0, false, true // it is not looked at, and stays
	case !c.keepUnknown:
		if c.unknownCount++; len(c.unknown) < c.maxUnknown {
			c.unknown = append(c.unknown, Unknown{Path: spellUnknown(c.root, c.steps), ID: int16(m.ID), Kind: m.Kind})
		}
		delta, ok = c.drop(record, m.Next, joined)
		return delta, false, ok
	case !valuewire.IsContainer(m.Kind):
		return 0, true, true
	}
	length := lengthOf(c.in, record)
	opened, ok := c.open(int(length.start), int(length.end))
	if !ok {
		return 0, false, false
	}
	if delta, ok = c.container(nil, m.Kind, m.Tag+1, m.Start, m.End, depth+1); !ok {
		return 0, false, false
	}
	return c.close(opened, m.Next-int(length.end), delta), true, true
}
