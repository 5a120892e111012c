package encoder

import (
	"encoding/binary"
	"math/bits"
)

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
	for left := keys.count; left > 0; {
		before := left
		left = e.shortEntries(keys, values, left)
		if e.ticks -= before - left; left == 0 {
			break
		}
		if !e.tick() || !e.element(keys, depth) || !e.element(values, depth) {
			return false
		}
		left--
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

// shortEntries writes entries of scalars from the next one on, as long as they are short, but at most a block of them, and returns how
// many of left are left.
func (e *Encoder) shortEntries(keys, values *column, left int) int {
	const block = 1024 // entries before the caller counts a step
	if e.maxString < shortText || !hasShort[keys.kind] || !hasShort[values.kind] {
		return left
	}
	last := max(left-block, 0)
	if !e.binary && isVarintKind[values.kind] && (keys.kind == kindString || keys.kind == kindBinary) {
		return e.shortTextToVarint(keys, values, left, last)
	}
	in, out, written := e.in, e.out, e.written
	keyAt, valueAt := keys.at, values.at
	if e.binary {
		for left > last && len(out)-written >= 2*itemRoom {
			nextKey, between := shortBinaryScalar(in, out, keys.kind, keyAt, written)
			if nextKey == 0 {
				break
			}
			nextValue, to := shortBinaryScalar(in, out, values.kind, valueAt, between)
			if nextValue == 0 {
				binary.LittleEndian.PutUint32(out[written+spill:], 0) // what a key reaches beyond what clearSpill clears
				break
			}
			keyAt, valueAt, written = nextKey, nextValue, to
			left--
		}
		last = left // no more in the compact protocol
	}
	for left > last && len(out)-written >= 2*itemRoom {
		nextKey, between := shortScalar(in, out, keys.kind, keyAt, written)
		nextValue, to := shortScalar(in, out, values.kind, valueAt, between)
		if nextKey == 0 || nextValue == 0 {
			break
		}
		keyAt, valueAt, written = nextKey, nextValue, to
		left--
	}
	keys.at, values.at, e.written = keyAt, valueAt, written
	return left
}

// shortTextToVarint is shortEntries for the maps that there are most of, from texts to integers. It calls nothing, so that all of its
// variables stay in registers.
func (e *Encoder) shortTextToVarint(keys, values *column, left, last int) int {
	const text, number = shortText + 2, maxVarint64
	in, out, written := e.in, e.out, e.written
	keyAt, valueAt := keys.at, values.at
	tag, isString := keys.kind<<3|wireBytes, keys.kind == kindString
	for left > last && len(out)-written >= text+number && keyAt+text <= len(in) && valueAt+number <= len(in) {
		from := (*[text]byte)(in[keyAt : keyAt+text : keyAt+text])
		size := int(from[1])
		if from[0] != tag || size > shortText {
			break
		}
		mask := (*[shortText + 1]byte)(topBits[shortText-size : 2*shortText+1-size : 2*shortText+1-size]) // of the length and the text
		first, second := binary.LittleEndian.Uint64(from[1:]), binary.LittleEndian.Uint64(from[9:])
		third, fourth := binary.LittleEndian.Uint64(from[17:]), binary.LittleEndian.Uint64(from[25:])
		top := first&binary.LittleEndian.Uint64(mask[0:]) | second&binary.LittleEndian.Uint64(mask[8:]) |
			third&binary.LittleEndian.Uint64(mask[16:]) | fourth&binary.LittleEndian.Uint64(mask[24:])
		if top != 0 && isString && !isShortText(from[2:2+size]) {
			break
		}
		to := (*[shortText + 1]byte)(out[written : written+shortText+1 : written+shortText+1])
		binary.LittleEndian.PutUint64(to[0:], first)
		binary.LittleEndian.PutUint64(to[8:], second)
		binary.LittleEndian.PutUint64(to[16:], third)
		binary.LittleEndian.PutUint64(to[24:], fourth)
		keyAt += size + 2
		written += size + 1

		value := (*[number]byte)(in[valueAt : valueAt+number : valueAt+number])
		low := binary.LittleEndian.Uint64(value[:])
		room := (*[number]byte)(out[written : written+number : written+number])
		binary.LittleEndian.PutUint64(room[0:], low)
		binary.LittleEndian.PutUint16(room[8:], binary.LittleEndian.Uint16(value[8:]))
		size = bits.TrailingZeros64(^low&continuation)>>3 + 1
		size += int(value[8]>>7) & (size >> 3 & size)
		valueAt += size
		written += size
		left--
	}
	keys.at, values.at, e.written = keyAt, valueAt, written
	return left
}

// isVarintKind says which kinds are varints.
var isVarintKind = [16]bool{kindI16: true, kindI32: true, kindI64: true}

// hasShort says which kinds shortScalar knows.
var hasShort = [16]bool{
	kindBool: true, kindI8: true, kindI16: true, kindI32: true, kindI64: true, kindDouble: true, kindBinary: true, kindString: true,
}

// shortScalar writes the element of the kind at in[at:], which column has seen, at out[written:], which has itemRoom. It returns
// the positions behind both, the first 0 where the element is not short. Its arguments and variables are in registers.
func shortScalar(in, out []byte, kind uint8, at, written int) (next, to int) {
	const wide = shortText + 2
	if at+wide > len(in) {
		return 0, written
	}
	from, room := (*[wide]byte)(in[at:at+wide:at+wide]), (*[wide]byte)(out[written:written+wide:written+wide])
	first := binary.LittleEndian.Uint64(from[:])
	switch kind {
	case kindString, kindBinary:
		size := int(from[1])
		if from[0] != kind<<3|wireBytes || size > shortText {
			return 0, written
		}
		first, second := binary.LittleEndian.Uint64(from[1:]), binary.LittleEndian.Uint64(from[9:])
		third, fourth := binary.LittleEndian.Uint64(from[17:]), binary.LittleEndian.Uint64(from[25:])
		mask := (*[shortText + 1]byte)(topBits[shortText-size : 2*shortText+1-size : 2*shortText+1-size])
		top := first&binary.LittleEndian.Uint64(mask[0:]) | second&binary.LittleEndian.Uint64(mask[8:]) |
			third&binary.LittleEndian.Uint64(mask[16:]) | fourth&binary.LittleEndian.Uint64(mask[24:])
		if top != 0 && kind == kindString && !isShortText(from[2:2+size]) {
			return 0, written
		}
		binary.LittleEndian.PutUint64(room[0:], first)
		binary.LittleEndian.PutUint64(room[8:], second)
		binary.LittleEndian.PutUint64(room[16:], third)
		binary.LittleEndian.PutUint64(room[24:], fourth)
		return at + size + 2, written + size + 1
	case kindI16, kindI32, kindI64:
		size := bits.TrailingZeros64(^first&continuation)>>3 + 1
		binary.LittleEndian.PutUint64(room[0:], first)
		binary.LittleEndian.PutUint16(room[8:], binary.LittleEndian.Uint16(from[8:]))
		size += int(from[8]>>7) & (size >> 3 & size) // a tenth byte where all eight and the ninth have a continuation bit
		return at + size, written + size
	case kindDouble:
		binary.LittleEndian.PutUint64(room[0:], first)
		return at + 8, written + 8
	case kindI8:
		room[0] = from[0]
		return at + 1, written + 1
	case kindBool:
		room[0] = 2 - from[0]
		return at + 1, written + 1
	}
	return 0, written
}
