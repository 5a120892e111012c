package encoder

import (
	"encoding/binary"
	"math/bits"

	"github.com/thriftpack/thriftpack/internal/varint"
)

// Packed runs are checked eight bytes at a time, as the lanes of a word, without a branch that depends on the data. What is
// wrong in any lane sets its top bit in bad, which is looked at once at the end. The constants come as arguments, because
// the compiler would load them again for each use: a quarter of all instructions.
const (
	ones = 0x0101010101010101

	// blockWords is how many words are counted before the lanes of a counter could overflow.
	blockWords = 252

	// The bits, without the top one, that make a byte too large as the last of a varint of the greatest length.
	above03 = 0x7c7c7c7c7c7c7c7c // a third byte of 16 bits
	above0f = 0x7070707070707070 // a fifth byte of 32 bits

	// gather, as a factor, brings the low bits of eight bytes together in the top byte: that of lane i goes to bit 56+i, and
	// no two of the products meet.
	gather = 0x0102040810204080
)

// minimal flags each byte of x that is 0 after a continuation bit: a varint that could be shorter. before has the bytes one
// place earlier. It also returns 1 in each byte of x that follows a continuation bit. one is ones.
//
// Taking 1 from a byte borrows only if it is 0; then its top bit, which was 0, becomes 1.
func minimal(x, before, one uint64) (flag, after uint64) {
	after = before >> 7 & one
	return (x - after) &^ x, after
}

// tooLarge flags each byte of x that has a bit of above, or its top bit, where the top bit of before is set.
func tooLarge(x, before, above uint64) uint64 {
	return (x&above + above | x) & before
}

// sumLanes adds the bytes of x.
func sumLanes(x uint64) int {
	x = x&0x00ff00ff00ff00ff + x>>8&0x00ff00ff00ff00ff
	return int(x * 0x0001000100010001 >> 48) // at most 16 bits
}

// countVarints counts the varints of the packed run in[at:end] of the kind, which must not be empty. It returns false where
// one is not minimal, is too wide, or is cut off. The run must have at least four bytes before it, the last of them without
// a continuation bit; those of a List inside a Value do: tags and lengths.
func countVarints(in []byte, at, end int, kind uint8) (count int, ok bool) {
	if in[end-1] >= 0x80 {
		return 0, false
	}
	var followers int // bytes that follow a continuation bit
	var bad uint64
	switch kind {
	case kindI16:
		followers, bad = scan16(in, at, end, ones, above03)
	case kindI32:
		followers, bad = scan32(in, at, end, ones, above0f)
	default:
		followers, bad = scan64(in, at, end, ones, gather)
	}
	return end - at - followers, bad&continuation == 0
}

// scan16 returns how many bytes of the run of i16 in[at:end] follow a continuation bit, and what is wrong.
func scan16(in []byte, at, end int, one, above uint64) (followers int, bad uint64) {
	var x, before, flag, after uint64
	for end-at >= 32 {
		var counts uint64
		for range min((end-at)/32, blockWords/4) {
			b := (*[34]byte)(in[at-2 : at+32 : at+32])
			x, before = load64(b[:], 2), load64(b[:], 1)
			bad |= tooLarge(x, before&load64(b[:], 0), above)
			flag, after = minimal(x, before, one)
			bad |= flag
			counts += after
			x, before = load64(b[:], 10), load64(b[:], 9)
			bad |= tooLarge(x, before&load64(b[:], 8), above)
			flag, after = minimal(x, before, one)
			bad |= flag
			counts += after
			x, before = load64(b[:], 18), load64(b[:], 17)
			bad |= tooLarge(x, before&load64(b[:], 16), above)
			flag, after = minimal(x, before, one)
			bad |= flag
			counts += after
			x, before = load64(b[:], 26), load64(b[:], 25)
			bad |= tooLarge(x, before&load64(b[:], 24), above)
			flag, after = minimal(x, before, one)
			bad |= flag
			counts += after
			at += 32
		}
		followers += sumLanes(counts)
	}
	for ; at < end; at += 8 {
		// The rest, filled up with zeros, which follow no continuation bit.
		var last [10]byte
		copy(last[:], in[at-2:min(at+8, end)])
		x, before = load64(last[:], 2), load64(last[:], 1)
		bad |= tooLarge(x, before&load64(last[:], 0), above)
		flag, after = minimal(x, before, one)
		bad |= flag
		followers += bits.OnesCount64(after)
	}
	return followers, bad
}

// scan32 is scan16 for i32.
func scan32(in []byte, at, end int, one, above uint64) (followers int, bad uint64) {
	var x, before, flag, after uint64
	for end-at >= 32 {
		var counts uint64
		for range min((end-at)/32, blockWords/4) {
			b := (*[36]byte)(in[at-4 : at+32 : at+32])
			x, before = load64(b[:], 4), load64(b[:], 3)
			bad |= tooLarge(x, before&load64(b[:], 2)&load64(b[:], 1)&load64(b[:], 0), above)
			flag, after = minimal(x, before, one)
			bad |= flag
			counts += after
			x, before = load64(b[:], 12), load64(b[:], 11)
			bad |= tooLarge(x, before&load64(b[:], 10)&load64(b[:], 9)&load64(b[:], 8), above)
			flag, after = minimal(x, before, one)
			bad |= flag
			counts += after
			x, before = load64(b[:], 20), load64(b[:], 19)
			bad |= tooLarge(x, before&load64(b[:], 18)&load64(b[:], 17)&load64(b[:], 16), above)
			flag, after = minimal(x, before, one)
			bad |= flag
			counts += after
			x, before = load64(b[:], 28), load64(b[:], 27)
			bad |= tooLarge(x, before&load64(b[:], 26)&load64(b[:], 25)&load64(b[:], 24), above)
			flag, after = minimal(x, before, one)
			bad |= flag
			counts += after
			at += 32
		}
		followers += sumLanes(counts)
	}
	for ; at < end; at += 8 {
		// The rest, filled up with zeros, which follow no continuation bit.
		var last [12]byte
		copy(last[:], in[at-4:min(at+8, end)])
		x, before = load64(last[:], 4), load64(last[:], 3)
		bad |= tooLarge(x, before&load64(last[:], 2)&load64(last[:], 1)&load64(last[:], 0), above)
		flag, after = minimal(x, before, one)
		bad |= flag
		followers += bits.OnesCount64(after)
	}
	return followers, bad
}

// scan64 is scan16 for i64. A varint may have nine bytes with a continuation bit before its last one, too many to look back
// with loads; so the bits of 64 bytes are gathered in one word, whose runs are found by shifting.
func scan64(in []byte, at, end int, one, factor uint64) (followers int, bad uint64) {
	var tenths varint.Tenths
	if end-at >= varint.BlockLen {
		at, followers, bad = scanBlocks(in, at, end, &tenths)
	}
	if at == end {
		return followers, bad
	}
	start, mask := at, uint64(0) // bit i: byte start+i follows a continuation bit
	for shift := 0; at < end; shift += 8 {
		var last [9]byte
		copy(last[:], in[at-1:min(at+8, end)])
		flag, after := minimal(load64(last[:], 1), load64(last[:], 0), one)
		bad |= flag
		mask |= after * factor >> 56 << shift
		at += 8
	}
	return followers + bits.OnesCount64(mask), bad | wideTenths(in[start:], tenths.Of(mask))
}

// scanBlocks is scan64 for the whole blocks at the beginning of a run, and returns where they end.
func scanBlocks(in []byte, at, end int, tenths *varint.Tenths) (next, followers int, bad uint64) {
	var blocks [16]varint.Block
	for end-at >= varint.BlockLen {
		n := min((end-at)/varint.BlockLen, len(blocks))
		varint.Look(blocks[:n], in[at:end], in[at-1])
		for _, block := range blocks[:n] {
			followers += bits.OnesCount64(block.Follows)
			if tenth := tenths.Of(block.Follows); tenth|block.Padded != 0 {
				if block.Padded != 0 {
					bad |= continuation
				}
				bad |= wideTenths(in[at:], tenth)
			}
			at += varint.BlockLen
		}
	}
	return at, followers, bad
}

// wideTenths flags the bytes of a block that are marked as the tenth of their varint, where one is not 1.
func wideTenths(block []byte, marks uint64) (flag uint64) {
	for ; marks != 0; marks &= marks - 1 {
		if block[bits.TrailingZeros64(marks)] != 1 {
			flag = continuation
		}
	}
	return flag
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
