package decoder

import (
	"encoding/binary"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// listHeader reads the header of the list or set at pos, checks it, and returns where the first element starts.
//
//	compact: ssss tttt for 0..14 elements of type tttt; 1111 tttt, varint size otherwise
//	binary:  type, 4-byte big-endian size
func (d *Decoder) listHeader(pos int) (elem uint8, count, start int) {
	data := d.data
	if pos >= len(data) {
		return 0, 0, d.short("a list header")
	}
	code := data[pos]
	header, at := pos, pos // at: where the size stands
	least := &compactLeast
	if d.binary {
		elem, least = binaryKind(code), &binaryLeast
	} else {
		elem = compactKinds[code&15]
		count, code = int(code>>4), code&15
	}
	if elem == kindBad || elem == kindNone && !d.lenient && !d.binary {
		return 0, 0, d.badType(header, "element type", code)
	}
	pos++
	if d.binary || count == 15 {
		at = pos
		if count, pos = d.readSize(pos, "a list"); pos < 0 {
			return 0, 0, failed
		}
	}
	if elem == kindNone {
		if count > 0 {
			return 0, 0, d.badType(header, "element type", code)
		}
		return elem, 0, pos
	}
	if need := count * least[elem]; need > len(data)-pos+d.beyond {
		return 0, 0, d.claims(at, "list of %d elements", count, need, len(data)-pos)
	}
	if count > d.limits.Elements {
		return 0, 0, d.overLimit(fault.SizeLimit, at, "number of elements", "--max-elements", d.limits.Elements, count)
	}
	return elem, count, pos
}

// mapHeader reads the header of the map at pos, checks it, and returns where the first entry starts. An empty map has
// types in the binary protocol only.
//
//	compact: 00 when empty; varint size, kkkk vvvv
//	binary:  key type, value type, 4-byte big-endian size
func (d *Decoder) mapHeader(pos int) (key, value uint8, count, start int) {
	data := d.data
	least := &compactLeast
	at := pos
	if d.binary {
		if len(data)-pos < 2 {
			return 0, 0, 0, d.short("a map header")
		}
		least = &binaryLeast
		if key, value = binaryKind(data[pos]), binaryKind(data[pos+1]); key == kindBad {
			return 0, 0, 0, d.badType(pos, "key type", data[pos])
		} else if value == kindBad {
			return 0, 0, 0, d.badType(pos+1, "value type", data[pos+1])
		}
		at += 2
	}
	count, pos = d.readSize(at, "a map")
	if pos < 0 || count == 0 {
		return key, value, 0, pos
	}
	types := at - 2
	if !d.binary {
		if pos >= len(data) {
			return 0, 0, 0, d.short("a map's types")
		}
		types = pos
		code := data[pos]
		if key, value = compactKinds[code>>4], compactKinds[code&15]; key == kindBad {
			return 0, 0, 0, d.badType(pos, "key type", code>>4)
		} else if value == kindBad {
			return 0, 0, 0, d.badType(pos, "value type", code&15)
		}
		pos++
	}
	if key == kindNone {
		return 0, 0, 0, d.badType(types, "key type", 0)
	}
	if value == kindNone {
		return 0, 0, 0, d.badType(types+boolToInt(d.binary), "value type", 0)
	}
	if need := count * (least[key] + least[value]); need > len(data)-pos+d.beyond {
		return 0, 0, 0, d.claims(at, "map of %d entries", count, need, len(data)-pos)
	}
	if count > d.limits.Elements {
		return 0, 0, 0, d.overLimit(fault.SizeLimit, at, "number of map entries", "--max-elements", d.limits.Elements, count)
	}
	return key, value, count, pos
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// measureList measures the elements of the list or set at pos: the body of a List message. The flag of its entry says of
// integers that some are padded, of binaries that all are text; a list of one list or set passes on that one's.
func (d *Decoder) measureList(pos, depth int, derived bool) (end, size int, flag uint32) {
	if depth > d.limits.Depth {
		return d.tooDeep(pos, depth), 0, 0
	}
	header := pos
	elem, count, pos := d.listHeader(pos)
	if pos < 0 {
		return failed, 0, 0
	}
	if count == 0 {
		if elem == kindNone {
			return pos, 0, 0
		}
		return pos, 2, 0 // element_type
	}
	if d.nodes -= count; d.nodes < 0 && !d.goOn(header) {
		return failed, 0, 0
	}
	slot := unknown
	if !derived {
		slot = d.sizes.reserve()
	}
	switch elem {
	case kindBool:
		if end = d.measureBools(pos, count); end < 0 {
			return failed, 0, 0
		}
		size = recordSize(count)
	case kindI8:
		end, size = pos+count, recordSize(count)
	case kindI16, kindI32, kindI64:
		if end, size, flag = d.measureIntegers(elem, pos, count); end < 0 {
			return failed, 0, 0
		}
		size = recordSize(size)
	case kindDouble:
		end, size = pos+count*doubleLen, recordSize(count*doubleLen)
	case kindUUID:
		end, size = pos+count*uuidSize, count*recordSize(uuidSize)
	default:
		if end, size, flag = d.measureElements(elem, pos, depth, count); end < 0 {
			return failed, 0, 0
		}
	}
	if slot >= 0 {
		d.sizes.set(slot, size, flag)
	}
	return end, size, flag
}

// measureElements measures elements whose sizes are in no header.
func (d *Decoder) measureElements(elem uint8, pos, depth, count int) (end, size int, flag uint32) {
	flag = 1
	for i := range count {
		var n int
		var f uint32
		if i%stopEvery == stopEvery-1 && d.stopped() { // empty containers in it are not counted
			return failed, 0, 0
		}
		if elem == kindBinary && !d.detectText && !d.binary && pos < len(d.data) &&
			int(d.data[pos]) < 128 && int(d.data[pos]) < len(d.data)-pos && int(d.data[pos]) <= d.limits.StringBytes {
			n = 2 + int(d.data[pos])
			pos += n - 1
		} else if pos, n, f = d.measureElement(elem, pos, depth, count == 1); pos < 0 {
			return d.within(stepElement, i), 0, 0
		}
		size += n
		flag &= f
	}
	if elem != kindBinary && count > 1 {
		flag = 0
	}
	return pos, size, flag
}

// measureBools checks the bytes of count bools.
func (d *Decoder) measureBools(pos, count int) (end int) {
	end = pos + count
	if d.lenient {
		return end
	}
	if i, good := bools(d.data[pos:end], d.binary); !good {
		d.badBool(pos + i)
		return d.within(stepElement, i)
	}
	return end
}

// measureIntegers measures count integers: size is that of their minimal varints, flag 1 where some are not.
func (d *Decoder) measureIntegers(kind uint8, pos, count int) (end, size int, flag uint32) {
	if d.binary {
		end, size = d.measureFixed(kind, pos, count)
		return end, size, 0
	}
	for left, turns := count, 1; left > 0; turns++ {
		if turns%(stopEvery/8) == 0 && d.stopped() {
			return failed, 0, 0
		}
		done, next := scanRun(d.data, pos, left, kind)
		size += next - pos
		pos, left = next, left-done
		for range min(left, 8) {
			next, n := d.measureVarint(kind, pos)
			if next < 0 {
				return d.within(stepElement, count-left), 0, 0
			}
			if n != next-pos {
				flag = 1
			}
			size += n
			pos, left = next, left-1
		}
	}
	return pos, size, flag
}

// measureMap measures the columns of the map at pos: the body of a Map message. It has two entries, keys and values, with the
// flags that lists of them would have.
func (d *Decoder) measureMap(pos, depth int) (end, size int) {
	if depth > d.limits.Depth {
		return d.tooDeep(pos, depth), 0
	}
	header := pos
	key, value, count, pos := d.mapHeader(pos)
	if pos < 0 {
		return failed, 0
	}
	if count == 0 {
		return pos, 4*boolToInt(key != kindNone) + 4*boolToInt(value != kindNone)
	}
	if d.nodes -= 2 * count; d.nodes < 0 && !d.goOn(header) {
		return failed, 0
	}
	keySlot, valueSlot := d.sizes.reserve(), d.sizes.reserve()
	keys, values := 0, 0
	keyFlag, valueFlag := uint32(1), uint32(1)
	for i := range count {
		if i%stopEvery == stopEvery-1 && d.stopped() {
			return failed, 0
		}
		at := pos
		var n int
		var f uint32
		if pos, n, f = d.measureElement(key, pos, depth, count == 1); pos < 0 {
			return d.within(stepKey, i), 0
		}
		keys += n
		keyFlag &= f
		if pos-at >= spanLeast && isContainer(key) {
			d.addSpan(at, pos)
		}
		at = pos
		if pos, n, f = d.measureElement(value, pos, depth, count == 1); pos < 0 {
			return d.within(stepValue, i), 0
		}
		values += n
		valueFlag &= f
		if pos-at >= spanLeast && isContainer(value) {
			d.addSpan(at, pos)
		}
	}
	if isPacked(key) {
		keys = recordSize(keys)
	}
	if isPacked(value) {
		values = recordSize(values)
	}
	d.sizes.set(keySlot, keys, keyFlag)
	d.sizes.set(valueSlot, values, valueFlag)
	return pos, recordSize(keys) + recordSize(values)
}

// addSpan remembers where a large key or value ends.
func (d *Decoder) addSpan(start, end int) {
	if d.writing {
		return
	}
	// offsets below 2^32: Prepare refuses longer inputs
	d.spans = append(d.spans, span{uint32(start), uint32(end), uint32(d.sizes.used)})
}

// fixed reads an integer of the binary protocol and returns its zigzag form and where it ends.
func (d *Decoder) fixed(kind uint8, pos int) (u uint64, end int) {
	data := d.data[pos:]
	switch {
	case kind == kindI16 && len(data) >= 2:
		return zigzag(int64(int16(binary.BigEndian.Uint16(data)))), pos + 2 // two's complement
	case kind == kindI32 && len(data) >= 4:
		return zigzag(int64(int32(binary.BigEndian.Uint32(data)))), pos + 4 // two's complement
	case kind == kindI64 && len(data) >= 8:
		return zigzag(int64(binary.BigEndian.Uint64(data))), pos + 8 // two's complement
	}
	return 0, d.short(kindName(kind))
}

// measureBinaryStruct is measureStruct for the binary protocol.
//
//	field: type, 2-byte big-endian id, value; 00 is the stop
func (d *Decoder) measureBinaryStruct(pos, depth int, derived bool) (end, size int) {
	data := d.data
	slot := unknown
	if !derived && pos < len(data) && data[pos] != 0 {
		slot = d.sizes.reserve()
	}
	for {
		if pos >= len(data) {
			return d.short("a struct"), 0
		}
		at := pos
		kind := binaryKind(data[pos])
		pos++
		if kind == kindNone {
			if slot >= 0 {
				d.sizes.set(slot, size, 0)
			}
			return pos, size
		}
		if kind == kindBad {
			return d.badType(at, "field type", data[at]), 0
		}
		if len(data)-pos < 2 {
			return d.short("a field id"), 0
		}
		id := int(int16(binary.BigEndian.Uint16(data[pos:]))) // two's complement
		pos += 2
		if d.nodes--; d.nodes < 0 && !d.goOn(at) {
			return failed, 0
		}
		var n int
		if pos, n = d.measureMember(kind, pos, depth); pos < 0 {
			return d.within(stepField, id), 0
		}
		size += recordSize(idSize(id) + n)
	}
}

// measureMember measures a value as a member of Value or Field, with its tag. depth is that of what it stands in.
func (d *Decoder) measureMember(kind uint8, pos, depth int) (end, size int) {
	end, size, _ = d.measureElement(kind, pos, depth, false)
	switch {
	case end < 0:
		return failed, 0
	case kind == kindI8:
		return end, 1 + i8Size(d.data[pos])
	case isPacked(kind):
		return end, 1 + size
	}
	return end, size
}
