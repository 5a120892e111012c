package decoder

import (
	"encoding/binary"
	"math/bits"
)

// scanRun looks at a run of count varints of an integer kind from pos on, eight bytes at a time, and stops where it meets
// one that is padded or too wide for the kind, or when few elements or bytes are left. It returns how many elements it
// saw to be minimal and in range, and where they end.
//
// In a word of eight bytes, the upper bits mark the bytes that continue. A padded varint ends in a zero byte after a
// continued one. A varint is as long as its kind allows where as many continued bytes stand before its last one; then the
// last one's upper bits must be clear.
func scanRun(data []byte, pos, count int, kind uint8) (done, end int) {
	start := pos
	switch kind {
	case kindI64:
		done, pos = scanBlocks(data, pos, count)
		for pos > start && data[pos-1] >= 0x80 {
			pos--
		}
		n, next := scanLong(data, pos, count-done)
		done, pos = done+n, next
	case kindI32:
		done, pos = scanShort(data, pos, count, 0xffffffff)
	default:
		done, pos = scanShort(data, pos, count, 0xffff)
	}
	// The last word may end inside a varint: go back to where that starts.
	for pos > start && data[pos-1] >= 0x80 {
		pos--
	}
	return done, pos
}

const (
	lowerBits = ^uint64(highBits)  // all but the continuation bits
	units     = 0x0101010101010101 // one in each byte
	mostWords = 31                 // of which the ends are counted in bytes, at most eight in each word
)

// words returns how many words may be scanned before the ends must be counted: no more than hold the run, even if every byte
// of them were an element.
func words(data []byte, pos, left int) int {
	return min(left/8, (len(data)-pos)/8, mostWords)
}

// scanShort is scanRun for i16 and i32, of which most is the largest zigzag value. The marks are shifted by whole bytes, with
// those of the word before, to see how many continued bytes stand before each.
func scanShort(data []byte, pos, count int, most uint64) (done, end int) {
	var before, bad uint64
	for k := words(data, pos, count); k > 0 && bad == 0; k = words(data, pos, count-done) {
		var ends uint64 // in each byte, how many there were
		for range k {
			x := binary.LittleEndian.Uint64(data[pos:])
			marks := x & highBits
			last := marks ^ highBits
			after := marks<<8 | before>>56
			bad = last & after &^ (x&lowerBits + lowerBits)
			after &= marks<<16 | before>>48
			if most == 0xffff {
				bad |= x & (after | after>>1 | after>>2 | after>>3 | after>>4 | after>>5)
			} else {
				after &= (marks<<24 | before>>40) & (marks<<32 | before>>32)
				bad |= x & (after | after>>1 | after>>2 | after>>3)
			}
			if bad != 0 {
				break
			}
			ends += last >> 7
			before = marks
			pos += 8
		}
		done += int(ends * units >> 56)
	}
	return done, pos
}

// gather, as a factor, brings the low bits of eight bytes together in the top byte: that of byte i goes to bit 56+i, and no two
// of the products meet.
const gather = 0x0102040810204080

// scanBlocks is scanLong by 64 bytes: three times as fast on long runs. It marks in one word which bytes follow a continued one, where
// nine in a row are found by shifting; the byte behind them is the tenth of its varint and must be 1. A padded varint is a byte from
// which the 1 that it follows cannot be taken without a borrow.
func scanBlocks(data []byte, pos, count int) (done, end int) {
	var before uint64              // the word before
	var last1, last2, last4 uint64 // follows, runs2 and runs4 of the block before
	for count-done >= 64 && len(data)-pos >= 64 {
		b := (*[64]byte)(data[pos : pos+64])
		previous := before
		var follows, bad uint64
		for i := 0; i < 64; i += 16 {
			x := binary.LittleEndian.Uint64(b[i:])
			after := (x<<8 | before>>56) >> 7 & units
			bad |= (x - after) &^ x
			follows = follows>>8 | after*gather&(0xff<<56)
			before = binary.LittleEndian.Uint64(b[i+8:])
			after = (before<<8 | x>>56) >> 7 & units
			bad |= (before - after) &^ before
			follows = follows>>8 | after*gather&(0xff<<56)
		}
		// Bit i of runsN: N continued bytes stand before byte i.
		runs2 := follows & (follows<<1 | last1>>63)
		runs4 := runs2 & (runs2<<2 | last2>>62)
		runs9 := runs4 & (runs4<<4 | last4>>60) & (follows<<8 | last1>>56)
		for ; runs9 != 0; runs9 &= runs9 - 1 {
			if b[bits.TrailingZeros64(runs9)] != 1 {
				bad = highBits
			}
		}
		if bad&highBits != 0 {
			break
		}
		last1, last2, last4 = follows, runs2, runs4
		continued := bits.OnesCount64(follows) - int(previous>>63) + int(before>>63) // one bit each
		done += 64 - continued
		pos += 64
	}
	return done, pos
}

// scanLong is scanRun for i64. Nine continued bytes cross words, so those at the end of what came before are counted.
func scanLong(data []byte, pos, count int) (done, end int) {
	var before uint64
	bad := false
	lead := 0 // how many continued bytes end what came before
	for k := words(data, pos, count); k > 0 && !bad; k = words(data, pos, count-done) {
		var ends uint64 // in each byte, how many there were
		for range k {
			x := binary.LittleEndian.Uint64(data[pos:])
			marks := x & highBits
			last := marks ^ highBits
			bad = last&(marks<<8|before>>56)&^(x&lowerBits+lowerBits) != 0
			first := bits.TrailingZeros64(last) >> 3 // 8 where all continue
			if lead+first >= 9 && (lead+first > 9 || byte(x>>(first*8)) > 1) || bad {
				bad = true
				break
			}
			if lead += 8; last != 0 {
				lead = bits.LeadingZeros64(last) >> 3
			}
			ends += last >> 7
			before = marks
			pos += 8
		}
		done += int(ends * units >> 56)
	}
	return done, pos
}

// bools says whether every byte is 0, 1 or, in the compact protocol, 2, and where not, the index of the first other one.
func bools(b []byte, binaryProtocol bool) (int, bool) {
	most, upper := byte(2), ^uint64(3*units)
	if binaryProtocol {
		most, upper = 1, ^uint64(units)
	}
	i := 0
	for ; len(b)-i >= 8; i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		if x&upper != 0 || x&(x>>1)&units != 0 {
			break
		}
	}
	for ; i < len(b); i++ {
		if b[i] > most {
			return i, false
		}
	}
	return 0, true
}
