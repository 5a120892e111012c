// Package varint looks at runs of varints, 64 bytes at a time. It knows nothing of what they mean; packages encoder and decoder, which
// check whether each is minimal and fits its type, share it.
package varint

import "encoding/binary"

// BlockLen is the length of a block in bytes.
const BlockLen = 64

// Block tells of 64 bytes, of which bit i is byte i.
type Block struct {
	// Follows marks the bytes after one with a continuation bit: those that are not the first of their varint.
	Follows uint64
	// Padded is not 0 where one of them is 0, so that its varint could be shorter.
	Padded uint64
}

// Look fills blocks with what is in as many blocks of data. before is the byte before data, 0 where there is none.
func Look(blocks []Block, data []byte, before byte) {
	if len(blocks) == 0 {
		return
	}
	data = data[:len(blocks)*BlockLen]
	look(blocks, data, uint64(before>>7))
}

// Tenths finds the bytes that are the tenth of their varint, where there may be no more than ten, from block to block. The zero value is
// for the beginning of a run.
type Tenths struct {
	last1, last2, last4 uint64 // of the block before: which bytes have one, two and four continued ones before them
}

// Of takes the Follows of the next block, and returns which of its bytes have nine continued ones before them, or more.
func (t *Tenths) Of(follows uint64) uint64 {
	two := follows & (follows<<1 | t.last1>>63)
	four := two & (two<<2 | t.last2>>62)
	nine := four & (four<<4 | t.last4>>60) & (follows<<8 | t.last1>>56)
	t.last1, t.last2, t.last4 = follows, two, four
	return nine
}

const (
	ones = 0x0101010101010101
	// gather, as a factor, brings the low bits of eight bytes together in the top byte: that of byte i goes to bit 56+i, and no
	// two of the products meet.
	gather = 0x0102040810204080
)

// lookWords is look, a word at a time.
func lookWords(blocks []Block, data []byte, follows uint64) {
	for i := range blocks {
		block := (*[BlockLen]byte)(data[i*BlockLen:])
		var mask, padded uint64
		for at := 0; at < BlockLen; at += 8 {
			x := binary.LittleEndian.Uint64(block[at:])
			continued := x >> 7 & ones
			after := continued<<8 | follows
			follows = continued >> 56
			// Taking 1 from a byte borrows only if it is 0; then its top bit, which was 0, becomes 1. What is borrowed from the next byte
			// only adds to that.
			padded |= (x - after) &^ x & (ones << 7)
			mask = mask>>8 | after*gather&(0xff<<56)
		}
		blocks[i] = Block{mask, padded}
	}
}
