package encoder

import (
	"encoding/binary"
	"math/bits"
)

// Packed runs are checked eight bytes at a time, as the lanes of a word, without a branch that depends on the data. What is
// wrong in any lane sets its top bit in bad, which is looked at once at the end.
const (
	low7 = 0x7f7f7f7f7f7f7f7f
	ones = 0x0101010101010101

	// blockWords is how many words are counted before the lanes of a counter could overflow.
	blockWords = 252
)

// nonZero sets the top bit of each byte of x that has any bit of mask, and of each that has its own top bit set. mask has
// the same bits in all bytes, bit 7 not among them, and those above its lowest.
func nonZero(x, mask uint64) uint64 {
	return x&mask + mask | x
}

// The bits that make a byte too large as the last of a varint of the greatest length.
const (
	above03 = 0x7c7c7c7c7c7c7c7c // a third byte of 16 bits
	above0f = 0x7070707070707070 // a fifth byte of 32 bits
	above01 = 0x7e7e7e7e7e7e7e7e // a tenth byte of 64 bits
)

// sumLanes adds the bytes of x.
func sumLanes(x uint64) int {
	x = x&0x00ff00ff00ff00ff + x>>8&0x00ff00ff00ff00ff
	return int(x * 0x0001000100010001 >> 48) //nolint:gosec // at most 16 bits
}

// countVarints counts the varints of the packed run in[at:end] of the kind, which must not be empty. It returns false where
// one is not minimal, is too wide, or is cut off. The run must have at least four bytes before it, the last of them without
// a continuation bit; those of a List inside a Value do: tags and lengths.
func countVarints(in []byte, at, end int, kind uint8) (count int, ok bool) {
	if in[end-1] >= 0x80 {
		return 0, false
	}
	var followers int // bytes with a continuation bit
	var bad uint64
	switch kind {
	case kindI16:
		followers, bad = scan16(in, at, end)
	case kindI32:
		followers, bad = scan32(in, at, end)
	default:
		followers, bad = scan64(in, at, end)
	}
	return end - at - followers, bad&continuation == 0
}

// lanes16 checks eight bytes of a run of i16; b starts two bytes before them.
func lanes16(b *[10]byte) (x, bad uint64) {
	before2, before1, x := load64(b[:], 0), load64(b[:], 1), load64(b[:], 2)
	// A byte of zero after a continuation bit is not minimal; after two, it must be at most 3.
	return x, before1&^nonZero(x, low7) | before1&before2&nonZero(x, above03)
}

// lanes32 checks eight bytes of a run of i32; b starts four bytes before them.
func lanes32(b *[12]byte) (x, bad uint64) {
	x = load64(b[:], 4)
	before1 := load64(b[:], 3)
	before4 := before1 & load64(b[:], 2) & load64(b[:], 1) & load64(b[:], 0)
	return x, before1&^nonZero(x, low7) | before4&nonZero(x, above0f)
}

// scan16 returns how many bytes of the run of i16 in[at:end] have a continuation bit, and what is wrong.
func scan16(in []byte, at, end int) (followers int, bad uint64) {
	for end-at >= 8 {
		var counts uint64
		for range min((end-at)/8, blockWords) {
			x, wrong := lanes16((*[10]byte)(in[at-2 : at+8]))
			counts += x >> 7 & ones
			bad |= wrong
			at += 8
		}
		followers += sumLanes(counts)
	}
	var last [10]byte // filled up with zeros, which have no continuation bit and follow none
	copy(last[:], in[at-2:end])
	x, wrong := lanes16(&last)
	return followers + sumLanes(x>>7&ones), bad | wrong
}

// scan32 is scan16 for i32.
func scan32(in []byte, at, end int) (followers int, bad uint64) {
	for end-at >= 8 {
		var counts uint64
		for range min((end-at)/8, blockWords) {
			x, wrong := lanes32((*[12]byte)(in[at-4 : at+8]))
			counts += x >> 7 & ones
			bad |= wrong
			at += 8
		}
		followers += sumLanes(counts)
	}
	var last [12]byte
	copy(last[:], in[at-4:end])
	x, wrong := lanes32(&last)
	return followers + sumLanes(x>>7&ones), bad | wrong
}

// lanes64 checks eight bytes of a run of i64 for varints that are not minimal; b starts one byte before them. It returns
// their continuation bits in the top byte of bits.
func lanes64(b *[9]byte) (followers, bad uint64) {
	before1, x := load64(b[:], 0), load64(b[:], 1)
	return x & continuation * gather, before1 &^ nonZero(x, low7)
}

// gather, as a factor, brings the top bits of eight bytes together in the top byte: lane i is shifted to bit 56+i, and no
// two of the products meet.
const gather = 0x0002040810204081

// scan64 is scan16 for i64. A varint may have nine bytes with a continuation bit before its last one, too many to look back
// with loads; so the continuation bits of 64 bytes are gathered in one word, whose runs are found by shifting.
func scan64(in []byte, at, end int) (followers int, bad uint64) {
	var before, before2, before4, before9 uint64 // of the 64 bytes before: continuation bits, runs of 2, 4 and 9
	for at < end {
		start, shift, mask := at, 0, uint64(0)
		for range min((end-at)/8, 8) {
			top, wrong := lanes64((*[9]byte)(in[at-1 : at+8]))
			mask |= top >> 56 << shift
			bad |= wrong
			shift += 8
			at += 8
		}
		if shift < 64 && at < end {
			var last [9]byte
			copy(last[:], in[at-1:end])
			top, wrong := lanes64(&last)
			mask |= top >> 56 << shift
			bad |= wrong
			at = end
		}
		followers += bits.OnesCount64(mask)
		// Bit i of runsN: byte i and the N-1 bytes before it have continuation bits.
		runs2 := mask & (mask<<1 | before>>63)
		runs4 := runs2 & (runs2<<2 | before2>>62)
		runs9 := runs4 & (runs4<<4 | before4>>60) & (mask<<8 | before>>56)
		for tenth := runs9<<1 | before9>>63; tenth != 0; tenth &= tenth - 1 {
			if in[start+bits.TrailingZeros64(tenth)] != 1 {
				bad |= continuation
			}
		}
		before, before2, before4, before9 = mask, runs2, runs4, runs9
	}
	return followers, bad
}

// areBools reports whether all bytes are 0 or 1.
func areBools(run []byte) bool {
	var all uint64
	for len(run) >= 32 {
		all |= load64(run, 0) | load64(run, 8) | load64(run, 16) | load64(run, 24)
		run = run[32:]
	}
	for _, b := range run {
		all |= uint64(b)
	}
	return all&^ones == 0
}

// bools writes the bool elements in[at:end], bytes of 0 and 1, as the compact protocol has them: 2 and 1.
func (e *Encoder) bools(at, end int) bool {
	for at < end {
		if !e.room() {
			return false
		}
		n := min(end-at, len(e.out)-e.written)
		from, to := e.in[at:at+n], e.out[e.written:e.written+n]
		at += n
		e.written += n
		for len(from) >= 8 && len(to) >= 8 {
			// No lane borrows from the next, because none is above 2.
			binary.LittleEndian.PutUint64(to, 2*ones-load64(from, 0))
			from, to = from[8:], to[8:]
		}
		for i, b := range from {
			to[i] = 2 - b
		}
	}
	return true
}

// swapDoubles writes the doubles in[at:end] in big-endian order.
func (e *Encoder) swapDoubles(at, end int) bool {
	for at < end {
		if !e.room() {
			return false
		}
		n := min(end-at, (len(e.out)-e.written)&^7)
		from, to := e.in[at:at+n], e.out[e.written:e.written+n]
		at += n
		e.written += n
		for len(from) >= 8 && len(to) >= 8 {
			binary.BigEndian.PutUint64(to, load64(from, 0))
			from, to = from[8:], to[8:]
		}
	}
	return true
}

// varintEnd returns the position behind the varint at in[at:], which must be whole.
func varintEnd(in []byte, at int) int {
	for in[at] >= 0x80 {
		at++
	}
	return at + 1
}
