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
// last one's upper bits must be clear. For the short kinds that is seen by shifting the marks by whole bytes, with those of
// the word before; for i64, whose nine cross words, by counting the continued bytes at the end of what came before.
func scanRun(data []byte, pos, count int, kind uint8) (done, end int) {
	start := pos
	var before uint64 // the marks of the word before
	lead := 0         // how many continued bytes end what came before
	for count-done >= 8 && len(data)-pos >= 8 {
		x := binary.LittleEndian.Uint64(data[pos:])
		marks := x & highBits
		ends := marks ^ highBits
		zero := ^((x&^highBits + ^uint64(highBits)) | x) & highBits
		bad := zero & (marks<<8 | before>>56)
		switch kind {
		case kindI64:
			first := bits.TrailingZeros64(ends) >> 3 // 8 where all continue
			if lead+first >= 9 && (lead+first > 9 || byte(x>>(first*8)) > 1) {
				bad = 1
			}
			if lead += 8; ends != 0 {
				lead = bits.LeadingZeros64(ends) >> 3
			}
		case kindI32:
			full := (marks<<8 | before>>56) & (marks<<16 | before>>48) & (marks<<24 | before>>40) & (marks<<32 | before>>32)
			bad |= x & (full | full>>1 | full>>2 | full>>3)
		default:
			full := (marks<<8 | before>>56) & (marks<<16 | before>>48)
			bad |= x & (full | full>>1 | full>>2 | full>>3 | full>>4 | full>>5)
		}
		if bad != 0 {
			break
		}
		done += bits.OnesCount64(ends)
		before = marks
		pos += 8
	}
	// The last word may end inside a varint: go back to where that starts.
	for pos > start && data[pos-1] >= 0x80 {
		pos--
	}
	return done, pos
}

// bools says whether every byte is 0, 1 or, in the compact protocol, 2, and where not, the index of the first other one.
func bools(b []byte, binaryProtocol bool) (int, bool) {
	const low = 0x0101010101010101
	most, upper := byte(2), ^uint64(3*low)
	if binaryProtocol {
		most, upper = 1, ^uint64(low)
	}
	i := 0
	for ; len(b)-i >= 8; i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		if x&upper != 0 || x&(x>>1)&low != 0 {
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
