package encoder

// pairs writes the map whose Map is in[start:end].
func (e *Encoder) pairs(start, end, depth int) bool {
	if depth > e.maxDepth {
		return e.fail(causeDepth, start, end, int64(depth), 0)
	}
	keys, values, ok := e.sides(start, end)
	if !ok || !e.room() {
		return false
	}
	e.mapHeader(&keys, &values)
	return e.entries(&keys, &values, depth)
}

// sides finds the keys and the values of the Map in[start:end], equally many.
func (e *Encoder) sides(start, end int) (keys, values column, ok bool) {
	in, at := e.in, start
	var keysAt, keysEnd, valuesAt, valuesEnd int
	for at < end {
		var from, stop int
		switch tag := in[at]; tag {
		case tagKeys, tagValues:
			if from, stop, ok = e.span(at+1, end); !ok {
				return keys, values, false
			}
			at = stop
			switch {
			case tag == tagKeys && keysAt == 0:
				keysAt, keysEnd = from, stop
			case tag == tagValues && valuesAt == 0:
				valuesAt, valuesEnd = from, stop
			default:
				return keys, values, e.slow() // one of them twice
			}
		default:
			return keys, values, e.unexpected(at, start, end, mapMembers)
		}
	}
	// A List that is absent is at 0:0, which is an empty one.
	if keys, ok = e.column(keysAt, keysEnd); !ok {
		return keys, values, false
	}
	if values, ok = e.column(valuesAt, valuesEnd); !ok {
		return keys, values, false
	}
	if keys.count != values.count {
		return keys, values, e.fail(causePairs, start, end, int64(keys.count), int64(values.count))
	}
	return keys, values, true
}

// entries writes all entries of a map.
func (e *Encoder) entries(keys, values *column, depth int) bool {
	for range keys.count {
		if !e.tick() || !e.element(keys, depth) || !e.element(values, depth) {
			return false
		}
	}
	return true
}

// mapHeader writes the header of a map into the room made before.
//
//	compact  00                          when it is empty
//	         varint size, kkkk vvvv      otherwise
//	binary   key type, value type, 4 bytes size
func (e *Encoder) mapHeader(keys, values *column) {
	switch {
	case e.binary:
		e.putByte(binaryType[keys.kind])
		e.putByte(binaryType[values.kind])
		e.putUint32(uint32(keys.count)) // maxElements is at most 2^31-1
	case keys.count == 0:
		e.putByte(0)
	default:
		e.putVarint(uint64(keys.count)) // not negative
		e.putByte(compactElement[keys.kind]<<4 | compactElement[values.kind])
	}
}
