package decoder

import (
	"cmp"
	"slices"
)

// column is one side of a map while it is written.
type column struct {
	kind uint8
	size int    // of the List's body
	run  int    // of the packed run, where the column is packed
	only int    // the body of an only key or value that is not packed, else unknown
	flag uint32 // of the List
}

// takeColumn takes a column's entry. It fills the column in place: a copy of 40 bytes would read what was stored in smaller pieces,
// which processors wait for. Maps of two structs were written a tenth slower for it.
func (d *Decoder) takeColumn(c *column, kind uint8, count int) {
	c.kind, c.only, c.run = kind, unknown, 0
	c.size, c.flag = d.sizes.next()
	switch {
	case isPacked(kind):
		c.run = recordBody(c.size)
	case count == 1:
		c.only = recordBody(c.size)
	case kind != kindBinary:
		c.flag = 0
	}
}

// writeMap writes a map. Thrift has keys and values in turn, protobuf in two columns. Where the columns have their whole
// room at once, one walk over the entries writes both, at two places. Where they do not, that is where the room is lent piece
// by piece, a small map goes through a buffer of our own, and a large one is walked twice, stepping over the other side.
func (d *Decoder) writeMap(pos, id int) (end int) {
	o := &d.out
	if o.err != nil {
		return failed
	}
	key, value, count, pos := d.mapHeader(pos)
	if count == 0 {
		o.head(id, tagOf(kindMap), 4*boolToInt(key != kindNone)+4*boolToInt(value != kindNone))
		d.writeEmptySide(0x0a, key)
		d.writeEmptySide(0x12, value)
		return pos
	}
	var keys, values column
	d.takeColumn(&keys, key, count)
	d.takeColumn(&values, value, count)
	size := recordSize(keys.size) + recordSize(values.size)
	o.head(id, tagOf(kindMap), size)
	switch {
	case o.err != nil: // with room in the spill, but no place to go from there
		return failed
	case o.sink == nil || size <= len(o.buf)-o.n:
		sink := o.sink
		o.sink = nil // there is room: nothing spills
		end = d.writeBothColumns(pos, count, &keys, &values)
		o.sink = sink
		return end
	case size <= mapBuffer:
		return d.writeBuffered(pos, count, size, &keys, &values)
	default:
		return d.writeColumns(pos, count, &keys, &values)
	}
}

// writeEmptySide writes the List of an empty map's keys or values, where its type is known.
func (d *Decoder) writeEmptySide(tag byte, kind uint8) {
	if kind != kindNone {
		d.out.head(noField, tag, 2)
		d.writeElementType(kind)
	}
}

// writeColumnHead writes what stands before a column's elements.
func (d *Decoder) writeColumnHead(tag byte, c *column) {
	d.out.head(noField, tag, c.size)
	if isPacked(c.kind) {
		d.out.head(noField, columnTag(c.kind), c.run)
	}
}

// writeSide writes one key or value.
func (d *Decoder) writeSide(c *column, pos int) (end int) {
	if isPacked(c.kind) {
		return d.writeScalar(c.kind, pos)
	}
	if c.kind == kindBinary {
		if end, left := d.copyShortTexts(pos, 1, c.flag); left == 0 {
			return end
		}
	}
	return d.writeRecord(c.kind, pos, noField, c.only, c.flag)
}

// writeBothColumns writes a map in one walk. The output holds the room for all of it.
func (d *Decoder) writeBothColumns(pos, count int, keys, values *column) (end int) {
	o := &d.out
	whole := o.buf
	d.writeColumnHead(0x0a, keys)
	keysAt := o.n
	valuesAt := keysAt + keys.size
	if isPacked(keys.kind) {
		valuesAt = keysAt + keys.run
	}
	onlyKeys := whole[:valuesAt] // so that no key's store reaches into the values
	o.n = valuesAt
	d.writeColumnHead(0x12, values)
	valuesAt = o.n
	for range count {
		o.buf, o.n = onlyKeys, keysAt
		pos = d.writeSide(keys, pos)
		o.buf, keysAt, o.n = whole, o.n, valuesAt
		pos = d.writeSide(values, pos)
		valuesAt = o.n
	}
	return pos
}

// writeBuffered writes a map of at most mapBuffer bytes by way of a buffer.
func (d *Decoder) writeBuffered(pos, count, size int, keys, values *column) (end int) {
	o := &d.out
	buffer := d.buffered(mapBuffer)[:size]
	buf, n, sink, spilling := o.buf, o.n, o.sink, o.spilling
	o.buf, o.n, o.sink, o.spilling = buffer, 0, nil, false
	end = d.writeBothColumns(pos, count, keys, values)
	o.buf, o.n, o.sink, o.spilling = buf, n, sink, spilling
	d.dirty = max(d.dirty, size)
	o.bytes(buffer)
	return end
}

// writeColumns writes a map in two walks.
func (d *Decoder) writeColumns(pos, count int, keys, values *column) (end int) {
	entries, start := d.sizes.used, pos
	d.writeColumnHead(0x0a, keys)
	for range count {
		if d.out.err != nil {
			return failed
		}
		if pos = d.writeSide(keys, pos); pos < 0 {
			return failed
		}
		pos = d.stepOver(values, pos, count)
	}
	d.sizes.used, pos = entries, start
	d.writeColumnHead(0x12, values)
	for range count {
		if d.out.err != nil {
			return failed
		}
		pos = d.stepOver(keys, pos, count)
		if pos = d.writeSide(values, pos); pos < 0 {
			return failed
		}
	}
	return pos
}

// stepOver returns where a key or value ends, and passes over its entries. Large ones were remembered; others are measured
// again, which costs less than spanLeast bytes each. Maps inside of those are small enough for one walk, so no byte is stepped
// over more than once or twice, however deep the maps are nested.
func (d *Decoder) stepOver(c *column, pos, count int) (end int) {
	if isContainer(c.kind) {
		if !d.sorted {
			slices.SortFunc(d.spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
			d.sorted = true
		}
		i, found := slices.BinarySearchFunc(d.spans, pos, func(s span, pos int) int { return cmp.Compare(int(s.start), pos) })
		if found {
			d.sizes.used = int(d.spans[i].used)
			return int(d.spans[i].end)
		}
	}
	end, _, _ = d.measureElement(c.kind, pos, 0, count == 1)
	return end
}
