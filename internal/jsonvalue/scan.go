package jsonvalue

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// The scanner works on the bytes of the text and makes nothing of them: positions and numbers are all that it returns. Its functions
// take the position of the first byte to look at and return that behind the last. Where the short way of one of them does not apply,
// whether for an unusual form or for a fault, it says no more than that; a slower one then tells which.

const (
	scanOnes   = 0x0101010101010101
	scanSpaces = 0x2020202020202020
	scanTops   = 0x8080808080808080
)

// scanWord returns the eight bytes at in[at:], which must be there, the first in the lowest place.
func scanWord(in []byte, at int) uint64 {
	return binary.LittleEndian.Uint64(in[at:])
}

// scanSpace returns the position of the first byte from at on that is no white space.
func scanSpace(in []byte, at int) int {
	for at < len(in) {
		switch in[at] {
		case ' ':
			for at+8 <= len(in) && scanWord(in, at) == scanSpaces { // indentation
				at += 8
			}
			if at < len(in) && in[at] == ' ' {
				at++
			}
		case '\n', '\r', '\t':
			at++
		default:
			return at
		}
	}
	return at
}

// What scanString saw.
const (
	scanEscaped = 1 << iota // an escape
	scanWide                // a byte that is not ASCII
)

// scanString finds the end of the string whose first byte, behind the quote, is in[at]. It returns the position of the quote that ends
// it, or of a control character or the end of the text in its stead, and what it saw. What follows a backslash is left unchecked.
func scanString(in []byte, at int) (end int, seen uint8) {
	for at+8 <= len(in) {
		stops := scanStops(scanWord(in, at))
		if stops == 0 {
			at += 8
			continue
		}
		at += bits.TrailingZeros64(stops) >> 3
		switch c := in[at]; {
		case c == '\\':
			seen |= scanEscaped
			at += 2
		case c < 0x80:
			return at, seen
		default:
			seen |= scanWide
			at++
			for at+8 <= len(in) {
				if stops = scanStopsWide(scanWord(in, at)); stops != 0 {
					at += bits.TrailingZeros64(stops) >> 3
					break
				}
				at += 8
			}
		}
	}
	for at < len(in) {
		switch c := in[at]; {
		case c == '"' || c < ' ':
			return at, seen
		case c == '\\':
			seen |= scanEscaped
			at++
		case c >= 0x80:
			seen |= scanWide
		}
		at++
	}
	return len(in), seen
}

// scanStops has the top bit of the lowest byte of x that is a quote, a backslash, a control character or not ASCII. Of the bytes above
// that one it may have any.
func scanStops(x uint64) uint64 {
	quotes, backslashes := x^'"'*scanOnes, x^'\\'*scanOnes
	return ((x - scanSpaces) | (quotes - scanOnes) | (backslashes - scanOnes) | x) & scanTops
}

// scanStopsWide is scanStops for text in which bytes that are not ASCII are no reason to stop.
func scanStopsWide(x uint64) uint64 {
	quotes, backslashes := x^'"'*scanOnes, x^'\\'*scanOnes
	return ((x - scanSpaces) | (quotes - scanOnes) | (backslashes - scanOnes)) &^ x & scanTops
}

// scanDigits reads decimal digits, at most 19 of them, and returns their number and how many they are. Where there are more, it is 20.
//
// Eight digits make their number by three multiplications: of pairs, of pairs of pairs, and of both halves. Fewer do the same,
// moved to the upper bytes of the word, with zeros before them; so no branch depends on how many there are, which no
// branch predictor could learn (BenchmarkIntegers).
func scanDigits(in []byte, at int) (number uint64, count int) {
	if at+8 <= len(in) {
		word := scanWord(in, at)
		if count = scanCount(word); count < 8 {
			return scanEight(word << (64 - 8*uint(count))), count
		}
		number = scanEight(word)
		if at += 8; at+8 <= len(in) {
			word = scanWord(in, at)
			n := scanCount(word)
			number = number*scanTens[n] + scanEight(word<<(64-8*uint(n)))
			if count += n; n < 8 {
				return number, count
			}
			at += 8
		}
	}
	for at < len(in) && in[at]-'0' < 10 {
		if count++; count > 19 {
			return number, count
		}
		number = number*10 + uint64(in[at]-'0')
		at++
	}
	return number, count
}

// scanCount returns how many of the bytes of x, from the lowest on, are digits.
func scanCount(x uint64) int {
	// Above '9' the sum has the top bit, below '0' the difference. What is carried or borrowed spoils higher bytes only.
	return bits.TrailingZeros64(((x+(0x7f-'9')*scanOnes)|(x-'0'*scanOnes)|x)&scanTops) >> 3
}

// scanEight returns the number of eight digits, the first in the lowest byte. A byte of 0 is the digit 0.
func scanEight(x uint64) uint64 {
	x = x & 0x0f0f0f0f0f0f0f0f * (10<<8 + 1) >> 8
	x = x & 0x00ff00ff00ff00ff * (100<<16 + 1) >> 16
	return x & 0x0000ffff0000ffff * (10_000<<32 + 1) >> 32
}

// scanTens are the powers of ten that fit 64 bits.
var scanTens = [20]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// scanUpper has all bits of as many bytes, from the highest on, as its index says.
var scanUpper = [16]uint64{
	0, 0xff << 56, 0xffff << 48, 0xffffff << 40, 0xffffffff << 32, 0xffffffffff << 24, 0xffffffffffff << 16, 0xffffffffffffff << 8, math.MaxUint64,
}
