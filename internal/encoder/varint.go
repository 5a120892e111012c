package encoder

import (
	"encoding/binary"
	"math/bits"
)

// The most bytes a varint takes.
const (
	maxVarint32 = 5
	maxVarint64 = 10
)

// Zigzag32 maps a signed number to an unsigned one, so that those near zero have short varints: 0, -1, 1, -2 become
// 0, 1, 2, 3 and so on.
func Zigzag32(v int32) uint32 { return uint32(v)<<1 ^ uint32(v>>31) }

// Zigzag64 is Zigzag32 for 64 bits.
func Zigzag64(v int64) uint64 { return uint64(v)<<1 ^ uint64(v>>63) }

// SizeVarint returns how many bytes AppendVarint appends, 1 to 10.
func SizeVarint(v uint64) int {
	// (9*bits+64)/64 is ceil(bits/7) for all of 1..64 bits, and 1 for none: a multiplication and a shift in place of a
	// division.
	return (9*bits.Len64(v) + 64) >> 6
}

// AppendVarint appends v as a varint, seven bits a byte, the lowest first. It takes the same time for all sizes but
// those of one byte; see PutVarint64.
func AppendVarint(b []byte, v uint64) []byte {
	if v < 0x80 {
		return append(b, byte(v))
	}
	if cap(b)-len(b) < maxVarint64 {
		for v >= 0x80 {
			b = append(b, byte(v)|0x80)
			v >>= 7
		}
		return append(b, byte(v))
	}
	n := len(b)
	return b[:n+PutVarint64((*[maxVarint64]byte)(b[n:n+maxVarint64]), v)]
}

// PutVarint64 writes v to the start of b and returns its length. Bytes after it are overwritten.
//
// It has no branch that depends on the size of v, up to 56 bits: the groups of seven bits are spread to bytes by masks and
// shifts, the continuation bits come from the length, and eight bytes are stored at once. With sizes that a branch predictor
// cannot learn this takes about half the time of a loop (BenchmarkVarint).
//
//	v      … ccccccc bbbbbbb aaaaaaa
//	bytes  1aaaaaaa 1bbbbbbb 0ccccccc
func PutVarint64(b *[maxVarint64]byte, v uint64) int {
	n := SizeVarint(v)
	x := Spread(v)
	if n <= 8 {
		// Continuation bits for all bytes but the last: those below bit 8*(n-1).
		binary.LittleEndian.PutUint64(b[:8], x|0x8080808080808080&(1<<(8*uint(n-1))-1))
		return n
	}
	binary.LittleEndian.PutUint64(b[:8], x|0x8080808080808080)
	// 57 bits and more: the ninth byte holds bits 56..62, the tenth bit 63.
	high := v >> 56
	b[8] = byte(high)&0x7f | byte(high>>7)<<7
	b[9] = byte(high >> 7)
	return n
}

// putVarint32 is PutVarint64 for 32 bits, which always fit the eight bytes that are stored at once.
func putVarint32(b *[8]byte, v uint32) int {
	n := SizeVarint(uint64(v))
	x := uint64(v)
	x = x&0x000000000fffffff | x&0x00000000f0000000<<4
	x = x&0x00003fff00003fff | x&0x000000000fffc000<<2
	x = x&0x007f007f007f007f | x&0x000000003f803f80<<1
	binary.LittleEndian.PutUint64(b[:], x|0x8080808080808080&(1<<(8*uint(n-1))-1))
	return n
}

// Spread puts the eight lowest groups of seven bits into the low bits of eight bytes.
func Spread(v uint64) uint64 {
	v = v&0x000000000fffffff | v&0x00fffffff0000000<<4 // 28 + 28 bits
	v = v&0x00003fff00003fff | v&0x0fffc0000fffc000<<2 // 4 x 14 bits
	return v&0x007f007f007f007f | v&0x3f803f803f803f80<<1
}

// AppendFieldHeader appends the header of the field id that follows lastID in its struct; code is the compact type code.
//
//	short form: dddd tttt               when 1 <= id-lastID <= 15
//	long form:  0000 tttt, zigzag id    otherwise: steps backwards, repeated ids and longer steps
func AppendFieldHeader(b []byte, lastID, id int16, code byte) []byte {
	if step := int32(id) - int32(lastID); uint32(step-1) < 15 {
		return append(b, byte(step)<<4|code)
	}
	return AppendVarint(append(b, code), uint64(Zigzag32(int32(id))))
}
