package decoder

import (
	"encoding/binary"
	"math/bits"
)

// Most fields are scalars and short strings with a short header and an id below 64, and not the last bytes of the input. The two
// functions of this file see to runs of them, and leave all other fields and every fault to their callers. They call nothing, so that
// their variables stay in registers, and tell a field from the eight bytes where it begins.

// word is how many bytes of input a short field is told from.
const word = 8

// shortHeads gives, by the header of a short field, the first bytes of its Field, little-endian: all but what depends on the id before
// it and on its value. The size of the payload is to be added in the second byte, but for bools, which are complete. A header that
// no short field has gets longID.
//
//	0a, length without payload, 08, id step in zigzag, tag of the kind, payload of a bool
var shortHeads = func() (heads [256]uint64) {
	for header := range heads {
		kind, step := uint8(header&15), uint64(header>>4)
		head := 0x0008_030a | step<<idShift | uint64(tagOfCompact[kind])<<32
		switch {
		case step == 0 || kind == 0 || kind > kindBinary:
			head = longID
		case compactKinds[kind] == kindBool:
			head += 1<<8 | uint64(oneIfTrue(kind))<<40
		}
		heads[header] = head
	}
	return heads
}()

const (
	idShift = 25                   // where an id stands in a head, whose zigzag form is twice the id
	longID  = twoByteID << idShift // the bit that an id has that takes two bytes
	idBits  = longID - 1<<idShift
)

// mostShort is the largest minimal varint of each integer kind as it stands behind a header, read little-endian.
var mostShort = [16]uint64{kindI16: 0x03ff_ffff, kindI32: 0x0fff_ffff_ffff, kindI64: 1<<63 - 1}

// shortVarint returns how many bytes the varint behind the first byte of w takes, or 0 where it does not end in w, is padded, or is
// too wide for its kind.
func shortVarint(w uint64, kind uint8) int {
	ends := ^w & laterBits
	mask := ends ^ (ends - 1) // up to the last byte's top bit; everything, where there is none
	own := w & mask
	if own > mostShort[kind&15] || own|1<<8 <= mask>>8 {
		return 0
	}
	return bits.TrailingZeros64(ends|1<<63) >> 3
}

// shortFields measures the fields of a compact struct from pos on, behind the field id, and returns where the first one begins that it
// leaves, the id before it, how many they are and what they take as Fields.
func (d *Decoder) shortFields(pos, id int) (end, last, fields, size int) {
	if uint(id) >= twoByteID {
		return pos, id, 0, 0
	}
	data, before := d.data[:len(d.data):len(d.data)], uint64(id)<<idShift
	start, longest, more := pos, min(d.limits.StringBytes, 127-4), 0
	for len(data)-pos >= word {
		w := binary.LittleEndian.Uint64(data[pos:])
		head := shortHeads[byte(w)] + before
		if head&longID != 0 {
			break
		}
		switch kind := uint8(w & 15); kind {
		case 1, 2:
			pos++
			more++
		case kindI8:
			pos += 2
			more += i8Size(byte(w>>8)) - 1
		case kindDouble:
			if len(data)-pos < 1+doubleLen {
				goto done
			}
			pos += 1 + doubleLen
		case kindBinary:
			l := int(byte(w >> 8))
			if l > longest || 2+l > len(data)-pos {
				goto done
			}
			pos += 2 + l
		default:
			n := shortVarint(w, kind)
			if n == 0 {
				goto done
			}
			pos += 1 + n
		}
		before = head & idBits
		fields++
	}
done:
	// A Field takes four bytes more than it has here, but for bools, and some i8.
	return pos, int(before >> idShift), fields, pos - start + 4*fields + more
}

// copyShortFields writes what shortFields measures, and does not trust it to have done so: it checks as much. It changes up to overrun
// bytes behind what it writes, of the itemRoom bytes that it wants for a field.
//
//	Field: 0a, length, 08, id, tag of the kind, payload
func (d *Decoder) copyShortFields(pos, id int) (end, last int) {
	if uint(id) >= twoByteID {
		return pos, id
	}
	data, before := d.data[:len(d.data):len(d.data)], uint64(id)<<idShift
	buf, n := d.out.buf[:len(d.out.buf):len(d.out.buf)], d.out.n
	longest := min(d.limits.StringBytes, itemRoom-8)
	if d.detectText {
		longest = -1
	}
	for len(data)-pos >= word && len(buf)-n >= itemRoom {
		// Either of the slices is checked once; nothing that is stored overlaps, which would cost more and smaller stores.
		in, to := data[pos:], (*[itemRoom]byte)(buf[n:])
		w := binary.LittleEndian.Uint64(in)
		head := shortHeads[byte(w)] + before
		if head&longID != 0 {
			break
		}
		rest := w >> 32
		var size int // of the payload, here and there
		switch kind := uint8(w & 15); kind {
		case 1, 2:
			binary.LittleEndian.PutUint64(to[:], head)
			before = head & idBits
			pos++
			n += 6
			continue
		case kindI8:
			u := zigzag(int64(int8(w >> 8))) // two's complement
			size = i8Size(byte(w >> 8))
			binary.LittleEndian.PutUint64(to[:], head+uint64(size)<<8|(u|u&0x80<<1)<<40) // small
			before = head & idBits
			pos += 2
			n += 5 + size
			continue
		case kindDouble:
			if len(in) < 1+doubleLen {
				goto done
			}
			size = doubleLen
			rest = binary.LittleEndian.Uint64(in[1:]) >> 24
		case kindBinary:
			l := int(byte(w >> 8))
			if l > longest {
				goto done
			}
			if l > word-2 {
				if len(in) < 20 || l > 16 && len(in) < 28 {
					goto done
				}
				rest = binary.LittleEndian.Uint64(in[4:])
				binary.LittleEndian.PutUint64(to[16:], binary.LittleEndian.Uint64(in[12:]))
				if l > 16 {
					binary.LittleEndian.PutUint64(to[24:], binary.LittleEndian.Uint64(in[20:]))
				}
			}
			size = 1 + l
		default:
			if size = shortVarint(w, kind); size == 0 {
				goto done
			}
		}
		// The input from its second byte on stands behind the tag.
		binary.LittleEndian.PutUint64(to[:], head+uint64(size)<<8|w>>8<<40)
		binary.LittleEndian.PutUint64(to[8:], rest)
		before = head & idBits
		pos += 1 + size
		n += 5 + size
	}
done:
	d.out.n = n
	return pos, int(before >> idShift)
}

// copyShortTexts writes the strings from pos on, at most so many, as elements of a column with this flag, up to the first one that is long,
// among the last bytes of the input, or has no room. It returns where that begins, and how many are left. As what stands behind the tag
// is what stands in the input, both are copied by words, of which the last changes up to overrun bytes behind.
func (d *Decoder) copyShortTexts(pos, count int, flag uint32) (end, left int) {
	if d.binary {
		return pos, count
	}
	tag := tagOf(kindBinary)
	if flag != 0 {
		tag = tagOf(kindString)
	}
	data, buf, n := d.data, d.out.buf, d.out.n
	for ; count > 0 && pos < len(data); count-- {
		size := int(data[pos])
		if size >= 0x80 || len(data)-pos < 1+size+word || len(buf)-n < 2+size+word {
			break
		}
		from, to := data[pos:pos+1+size+word], buf[n:n+2+size+word]
		to[0] = tag
		for to = to[1:]; len(from) > word && len(to) > word; from, to = from[word:], to[word:] {
			binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(from))
		}
		pos += 1 + size
		n += 2 + size
	}
	d.out.n = n
	return pos, count
}

// copyShortVarint writes the varint at pos, and returns how many bytes it takes; 0 where it is not minimal, longer than eight
// bytes, among the last bytes of the input, or has no room. It changes up to overrun bytes behind it.
func (d *Decoder) copyShortVarint(pos int) int {
	o := &d.out
	if d.binary || len(d.data)-pos < word || len(o.buf)-o.n < word {
		return 0
	}
	x := binary.LittleEndian.Uint64(d.data[pos:])
	n := bits.TrailingZeros64(^x&highBits)>>3 + 1 // 9 where there is no end
	if n > word || n > 1 && byte(x>>(8*n-8)) == 0 {
		return 0
	}
	binary.LittleEndian.PutUint64(o.buf[o.n:], x)
	o.n += n
	return n
}
