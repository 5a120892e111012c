package encoder

import (
	"encoding/binary"
	"math/bits"
)

// shortBinaryFields is shortFields for the binary protocol: fields with short scalars in the usual order, of which the
// protobuf payload is turned into big-endian numbers.
//
//	protobuf  0A len 08 id tag payload
//	binary    type, 2 bytes id, payload
func (e *Encoder) shortBinaryFields(at, end, lastID int) (next, id int) {
	in, out, written, maxString := e.in, e.out, e.written, e.maxString
	for at < end && at+window <= len(in) && len(out)-written >= itemRoom {
		from, to := (*[window]byte)(in[at:at+window:at+window]), (*[itemRoom]byte)(out[written:written+itemRoom:written+itemRoom])
		head := binary.LittleEndian.Uint64(from[:])
		size := int(from[1]) - (headBytes - 2) // of the payload
		if head&headMask != headWant || size <= 0 || at+headBytes+size > end {
			break
		}
		kind := kindOfTag[byte(head>>32)]
		payload := binary.LittleEndian.Uint64(from[headBytes:])
		var used int // of the payload
		switch kind {
		case kindBool:
			if size != 1 || byte(payload) > 1 {
				goto done
			}
			to[3] = byte(payload)
			used = 1
		case kindI8, kindI16, kindI32, kindI64:
			if !isVarint64(payload, size) {
				goto done
			}
			v := squeeze(payload & (1<<(8*uint(size)) - 1)) // 1..8
			if v > maxZigzag[kind] {
				goto done
			}
			// The lowest bytes of the number are the first ones once the word is shifted up.
			used = binarySize[kind]
			binary.BigEndian.PutUint64(to[3:], uint64(unzigzag(v))<<(64-8*uint(used))) // the bits are meant
		case kindDouble:
			if size != 8 {
				goto done
			}
			binary.BigEndian.PutUint64(to[3:], payload)
			used = 8
		case kindString:
			second, third := binary.LittleEndian.Uint64(from[headBytes+8:]), binary.LittleEndian.Uint64(from[headBytes+16:])
			if int(byte(payload)) != size-1 || size-1 > maxString || size > 24 ||
				!isASCII(payload, second, third, size) && !isShortText(from[headBytes+1:headBytes+size]) {
				goto done
			}
			// Three bytes of the length are zeros; the fourth is protobuf's.
			binary.LittleEndian.PutUint32(to[3:], 0)
			binary.LittleEndian.PutUint64(to[6:], payload)
			binary.LittleEndian.PutUint64(to[14:], second)
			binary.LittleEndian.PutUint64(to[22:], third)
			used = 3 + size
		default:
			goto done
		}
		to[0], to[1], to[2] = binaryType[kind], 0, from[3]>>1 // zigzag
		written += 3 + used
		at += headBytes + size
		lastID = int(from[3] >> 1)
	}
done:
	e.written = written
	return at, lastID
}

// maxZigzag and binarySize give the largest zigzag number of each integer kind, and the bytes it has in the binary protocol.
var (
	maxZigzag  = [16]uint64{kindI8: 1<<8 - 1, kindI16: 1<<16 - 1, kindI32: 1<<32 - 1, kindI64: 1<<64 - 1}
	binarySize = [16]int{kindI8: 1, kindI16: 2, kindI32: 4, kindI64: 8}
)

// squeeze puts the low seven bits of eight bytes together, the inverse of spread.
func squeeze(x uint64) uint64 {
	x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
	x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
	return x&0x000000000fffffff | x&0x0fffffff00000000>>4
}

// binaryIntegers writes the varints of the packed run in[at:end], which were checked, as big-endian numbers. It has no
// branch that depends on the size of a varint up to eight bytes.
func (e *Encoder) binaryIntegers(kind uint8, at, end int) bool {
	in, size := e.in, binarySize[kind]
	for at < end {
		if !e.room() {
			return false
		}
		out, written := e.out, e.written
		for at < end && at+10 <= len(in) && len(out)-written >= 8 {
			word := load64(in, at)
			length := bits.TrailingZeros64(^word&continuation) >> 3 // without the last byte
			v := squeeze(word & (1<<(8*uint(length)+8) - 1))        // 8..72; shifting by 64 gives 0, and then all ones
			if length == 8 {
				// Bits 56..62 are in the ninth byte, bit 63 in the tenth.
				ninth := uint64(in[at+8])
				v |= ninth << 57 >> 1
				if ninth >= 0x80 {
					v |= 1 << 63
					length++
				}
			}
			binary.BigEndian.PutUint64(out[written:], uint64(unzigzag(v))<<(64-8*uint(size))) // the bits are meant
			at += length + 1
			written += size
		}
		e.written = written
		if at < end {
			if !e.room() {
				return false
			}
			next := varintEnd(in, at)
			if !e.integer(kind, at, next) {
				return false
			}
			at = next
		}
	}
	return true
}

// shortBinaryScalar is shortScalar for the binary protocol. The three bytes of a text's length that are zeros come before protobuf's, which is
// the fourth.
func shortBinaryScalar(in, out []byte, kind uint8, at, written int) (next, to int) {
	if kind == kindString || kind == kindBinary {
		binary.LittleEndian.PutUint32(out[written:], 0)
		return shortScalar(in, out, kind, at, written+3)
	}
	const wide = shortText + 2
	if at+wide > len(in) {
		return 0, written
	}
	from, room := (*[wide]byte)(in[at:at+wide:at+wide]), (*[8]byte)(out[written:written+8:written+8])
	first := load64(from[:], 0)
	switch kind {
	case kindI16, kindI32, kindI64:
		size := bits.TrailingZeros64(^first&continuation)>>3 + 1
		v := squeeze(first & (1<<(8*uint(size)) - 1)) // 8..72; shifting by 64 or more gives 0, and then all ones
		if size > 8 {
			// Bits 56..62 are in the ninth byte, bit 63 in the tenth.
			v |= uint64(from[8])<<57>>1 | uint64(from[8]>>7)<<63
			size = 9 + int(from[8]>>7)
		}
		width := binarySize[kind]
		binary.BigEndian.PutUint64(room[:], uint64(unzigzag(v))<<(64-8*uint(width))) // the bits are meant
		return at + size, written + width
	case kindDouble:
		binary.BigEndian.PutUint64(room[:], first)
		return at + 8, written + 8
	default: // a bool or an i8
		room[0] = from[0]
		return at + 1, written + 1
	}
}
