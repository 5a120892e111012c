package decoder

import (
	"encoding/binary"
	"math/bits"

	"github.com/thriftpack/thriftpack/internal/varint"
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

// scanBlocks is scanLong by 64 bytes: many times as fast on long runs. A padded varint ends in a zero byte after a continued one; nine
// continued ones in a row make the byte behind them the tenth of its varint, which must be 1. It stops before a block with either.
func scanBlocks(data []byte, pos, count int) (done, end int) {
	var blocks [16]varint.Block
	var tenths varint.Tenths
	before := byte(0)
	for {
		n := min((count-done)/varint.BlockLen, (len(data)-pos)/varint.BlockLen, len(blocks))
		if n == 0 {
			return done, pos
		}
		varint.Look(blocks[:n], data[pos:], before)
		for _, block := range blocks[:n] {
			if tenth := tenths.Of(block.Follows); tenth|block.Padded != 0 && (block.Padded != 0 || !areOnes(data[pos:], tenth)) {
				return done, pos
			}
			pos += varint.BlockLen
			// As many varints end in it as bytes have no continuation bit.
			continued := bits.OnesCount64(block.Follows) - int(before>>7) + int(data[pos-1]>>7)
			done += varint.BlockLen - continued
			before = data[pos-1]
		}
	}
}

// areOnes says whether all marked bytes of a block are 1.
func areOnes(block []byte, marks uint64) bool {
	for ; marks != 0; marks &= marks - 1 {
		if block[bits.TrailingZeros64(marks)] != 1 {
			return false
		}
	}
	return true
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
