package encoder

// pairs writes the map whose Map is in[start:end].
func (e *Encoder) pairs(start, end, depth int) bool {
	if depth > e.maxDepth {
		return e.fail(causeDepth, start, end, int64(depth), 0)
	}
	in, at := e.in, start
	var keysAt, keysEnd, valuesAt, valuesEnd int
	for at < end {
		from, stop := 0, 0
		switch tag := in[at]; tag {
		case tagKeys, tagValues:
			var ok bool
			if from, stop, ok = e.span(at+1, end); !ok {
				return false
			}
			at = stop
			switch {
			case tag == tagKeys && keysAt == 0:
				keysAt, keysEnd = from, stop
			case tag == tagValues && valuesAt == 0:
				valuesAt, valuesEnd = from, stop
			default:
				return e.slow() // one of them twice
			}
		default:
			return e.unexpected(at, start, end, mapMembers)
		}
	}
	// A List that is absent is at 0:0, which is an empty one.
	keys, ok := e.column(keysAt, keysEnd)
	if !ok {
		return false
	}
	values, ok := e.column(valuesAt, valuesEnd)
	if !ok {
		return false
	}
	if keys.count != values.count {
		return e.fail(causePairs, start, end, int64(keys.count), int64(values.count))
	}
	if !e.room() {
		return false
	}
	e.mapHeader(&keys, &values)
	for range keys.count {
		if !e.element(&keys, depth) || !e.element(&values, depth) {
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
		e.putUint32(uint32(keys.count)) //nolint:gosec // maxElements is at most 2^31-1
	case keys.count == 0:
		e.putByte(0)
	default:
		e.putVarint(uint64(keys.count)) //nolint:gosec // not negative
		e.putByte(compactElement[keys.kind]<<4 | compactElement[values.kind])
	}
}
