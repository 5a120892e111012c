package valuewire

// Column is the elements of a List where they stand on the wire.
type Column struct {
	// Kind is that of the elements; None where there are none.
	Kind uint8
	// At is the position of the first element, End that behind the last one, which for elements with tags may have further members
	// without elements before it.
	At, End int
	// Run is the position of the length of a packed run.
	Run int
	// ElementType is List.element_type, 0 where it is absent, and TypeAt where its value stands.
	ElementType uint64
	TypeAt      int
}

// Elements finds the elements of the List in[at:end]. It does not read a List with elements in two columns or in two runs.
func Elements(in []byte, at, end int) (c Column, ok bool) {
	hasType, hasI8s := false, false
	for at < end {
		tag := in[at]
		if tag == TagElementType {
			if hasType {
				return c, false
			}
			hasType, c.TypeAt = true, at+1
			if c.ElementType, at = Varint(in, at+1, end); at < 0 {
				return c, false
			}
			continue
		}
		if !isColumn[tag] {
			return c, false
		}
		kind := tag >> 3
		start, stop, ok := Span(in, at+1, end)
		if !ok {
			return c, false
		}
		if kind == I8 {
			if hasI8s {
				return c, false // the last one counts, be it empty
			}
			hasI8s = true
		}
		if !IsPacked(kind) {
			if c.Kind != None {
				return c, false
			}
			// The elements follow each other; Next sees that nothing else is among them.
			c.Kind, c.At, c.End = kind, at, end
			return c, true
		}
		if start < stop {
			if c.Kind != None {
				return c, false
			}
			c.Kind, c.At, c.End, c.Run = kind, start, stop, at+1
		}
		at = stop
	}
	return c, true
}

// Element is an element that has a tag and a length.
type Element struct {
	// Tag is the position of its tag, one byte; that of its length is the next.
	Tag int
	// Start and End are the span of its payload.
	Start, End int
}

// Next takes the next element that has a tag and a length. more is false behind the last one; ok is false where the bytes are not
// what Column promised.
func (c *Column) Next(in []byte) (e Element, more, ok bool) {
	at := c.At
	if at >= c.End {
		return e, false, true
	}
	if in[at] == RecordTag(c.Kind) {
		e.Tag = at
		if e.Start, e.End, ok = Span(in, at+1, c.End); ok {
			c.At = e.End
		}
		return e, ok, ok
	}
	return c.skip(in)
}

// skip is Next where something else stands before the next element: element_type, or a packed run without elements.
func (c *Column) skip(in []byte) (e Element, more, ok bool) {
	at := c.At
	for at < c.End && in[at] != RecordTag(c.Kind) {
		switch tag := in[at]; {
		case tag == TagElementType && c.TypeAt == 0:
			c.TypeAt = at + 1
			if c.ElementType, at = Varint(in, at+1, c.End); at < 0 {
				return e, false, false
			}
		case isColumn[tag] && IsPacked(tag>>3) && at+1 < c.End && in[at+1] == 0:
			at += 2
		default:
			return e, false, false
		}
	}
	c.At = at
	if at >= c.End {
		return e, false, true
	}
	return c.Next(in)
}

// NextScalar returns the end of the element of a packed run at in[c.At:], and takes it. ok is false where it is cut off.
func (c *Column) NextScalar(in []byte) (start, end int, ok bool) {
	start = c.At
	switch c.Kind {
	case Bool, I8:
		end = start + 1
	case Double:
		end = start + doubleSize
	default:
		end = start
		for end < c.End && in[end] >= 0x80 {
			end++
		}
		end++
	}
	c.At = end
	return start, end, end <= c.End
}

// Sides finds the keys and the values of the Map in[at:end]. Sides that are absent have no elements.
func Sides(in []byte, at, end int) (keys, values Side, ok bool) {
	for at < end {
		var s *Side
		switch in[at] {
		case TagKeys:
			s = &keys
		case TagValues:
			s = &values
		default:
			return keys, values, false
		}
		start, stop, ok := Span(in, at+1, end)
		if !ok || s.Length > 0 {
			return keys, values, false
		}
		if s.Column, ok = Elements(in, start, stop); !ok {
			return keys, values, false
		}
		s.Length, s.Start, s.End = at+1, start, stop
		at = stop
	}
	return keys, values, true
}

// Side is the keys or the values of a Map.
type Side struct {
	Column
	// Length is the position of the List's length, 0 where the List is absent.
	Length int
	// Start and End are the span of the List.
	Start, End int
}
