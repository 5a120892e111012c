package jsonvalue

import (
	"encoding/binary"
	"math/bits"
)

// writeEight returns the eight decimal digits of u, below 10^8, as the bytes of a word, each 0 to 9, the first digit lowest. It
// divides all of them at once, by multiplying: first into twice four digits, then four times two, then eight.
func writeEight(u uint64) uint64 {
	x := u/10_000 | u%10_000<<32
	hundreds := x * 10_486 >> 20 & 0x0000_007f_0000_007f // exact below 10^4
	x = hundreds | (x-hundreds*100)<<16
	tens := x * 103 >> 10 & 0x000f_000f_000f_000f // exact below 100
	return tens | (x-tens*10)<<8
}

// writeZeros is the digit 0 in each byte.
const writeZeros = '0' * writeOnes

// writeInteger writes v at buf[n:] and returns the end: at most 20 bytes, but it may store into 28. There is no loop over digits and
// no branch on the sign: on random numbers it takes half the time of strconv.
func writeInteger(buf []byte, n int, v int64) int {
	sign := v >> 63 // 0 or -1
	buf[n] = '-'
	return writeWhole(buf, n-int(sign), uint64(v^sign-sign))
}

// writeWhole is writeInteger for numbers that are not negative.
func writeWhole(buf []byte, n int, u uint64) int {
	var middle, last uint64 // eight digits each
	first := u
	if u >= 1e8 {
		if first, last = u/1e8, u%1e8; first >= 1e8 {
			first, middle = first/1e8, first%1e8
		}
	}
	digits := writeEight(first)
	zeros := bits.TrailingZeros64(digits|1<<56) &^ 7 // before the digits; the last of them is none of these
	binary.LittleEndian.PutUint64(buf[n:n+8], (digits|writeZeros)>>zeros)
	n += 8 - zeros>>3
	if u < 1e8 {
		return n
	}
	if u >= 1e16 {
		binary.LittleEndian.PutUint64(buf[n:n+8], writeEight(middle)|writeZeros)
		n += 8
	}
	binary.LittleEndian.PutUint64(buf[n:n+8], writeEight(last)|writeZeros)
	return n + 8
}

// writePowers has 10 to the power of its index, but 0 for the first.
var writePowers = [20]uint64{
	0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// writeDigits returns the number of decimal digits of u.
func writeDigits(u uint64) int {
	guess := bits.Len64(u|1) * 1233 >> 12 // the logarithm times that of 2 to the base of 10
	if u >= writePowers[guess] {
		guess++
	}
	return guess
}

// writeHex has the digits of hexadecimal numbers.
const writeHex = "0123456789abcdef"

// writeUUID writes the sixteen bytes of a uuid at buf[n:] with quotes, 38 bytes, and returns the end.
//
//	xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx
func writeUUID(buf []byte, n int, id []byte) int {
	buf[n] = '"'
	n++
	for i, b := range id {
		if i >= 4 && i <= 10 && i&1 == 0 {
			buf[n] = '-'
			n++
		}
		buf[n], buf[n+1] = writeHex[b>>4], writeHex[b&15]
		n += 2
	}
	buf[n] = '"'
	return n + 1
}

// writeWord returns eight bytes of b as a word.
func writeWord(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at : at+8]) }
