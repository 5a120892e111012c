package jsonvalue

import (
	"encoding/binary"
	"math"
)

// How many bytes there are before and behind a number that is read by words.
const (
	textBefore = 16
	textBehind = 32
)

// scanWindow is the bytes around a number, which begins at textBefore.
type scanWindow [textBefore + textBehind]byte

// word is scanWord for a window. Naming the end and the capacity spares several instructions.
func (w *scanWindow) word(at int) uint64 { return binary.LittleEndian.Uint64(w[at : at+8 : at+8]) }

// scanInteger reads an integer in its usual form, digits with or without a minus. It is false for any other form, whether good or not,
// and beyond 64 bits. It does not look at what comes behind the digits unless that makes the form another one.
func scanInteger(in []byte, at int) (number int64, next int, ok bool) {
	if len(in)-at < 16 {
		return scanAnyInteger(in, at)
	}
	text := (*[16]byte)(in[at : at+16 : at+16]) // naming the capacity spares three instructions
	first, sign := 0, uint64(0)
	if text[0] == '-' {
		first, sign = 1, 1
	}
	word := scanWord(text[first:first+8:first+8], 0)
	digits := scanCount(word)
	if digits == 8 {
		return scanLongInteger(in, at)
	}
	magnitude := scanEight(word << ((64 - 8*uint(digits)) & 63))
	next = first + digits
	c := text[next&15]
	if digits == 0 || c == '.' || c|0x20 == 'e' || text[first] == '0' && digits > 1 {
		return 0, at, false
	}
	return int64((magnitude ^ -sign) + sign), at + next, true // two's complement
}

// scanLongInteger is scanInteger for eight digits and more. In the middle of a text it looks at sixteen at once: as two words that end with
// the last digit, less what comes before the first, so that no branch depends on how many there are.
func scanLongInteger(in []byte, at int) (number int64, next int, ok bool) {
	if at < textBefore || len(in)-at < textBehind {
		return scanAnyInteger(in, at)
	}
	around := (*scanWindow)(in[at-textBefore : at+textBehind : at+textBehind])
	first, sign := textBefore, uint64(0)
	if around[textBefore] == '-' {
		first, sign = textBefore+1, 1
	}
	more := scanCount(around.word(first + 8))
	if more == 8 {
		return scanAnyInteger(in, at)
	}
	next = first + 8 + more
	magnitude := scanEight(around.word(next-16)&scanUpper[more&15])*1e8 + scanEight(around.word(next-8))
	c := around[next]
	if c == '.' || c|0x20 == 'e' || around[first] == '0' {
		return 0, at, false
	}
	return int64((magnitude ^ -sign) + sign), at + next - textBefore, true // two's complement
}

// scanAnyInteger is scanInteger where there are few bytes around, or many digits.
func scanAnyInteger(in []byte, at int) (number int64, next int, ok bool) {
	if at >= len(in) {
		return 0, at, false
	}
	sign := uint64(0)
	if in[at] == '-' {
		sign = 1
		at++
	}
	magnitude, count := scanDigits(in, at)
	next = at + count
	if count == 0 || count > 19 || in[at] == '0' && count > 1 || magnitude > math.MaxInt64+sign {
		return 0, at, false
	}
	if next < len(in) && (in[next] == '.' || in[next]|0x20 == 'e') {
		return 0, at, false
	}
	return int64((magnitude ^ -sign) + sign), next, true // two's complement
}

// scanNumber checks the form of the number at in[at:]. Where it has none, end is the position of the first byte that is wrong.
//
//	-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?
func scanNumber(in []byte, at int) (end int, ok bool) {
	if at < len(in) && in[at] == '-' {
		at++
	}
	first := at
	if at = scanDigitsEnd(in, at); at == first {
		return at, false
	}
	if in[first] == '0' && at > first+1 {
		return first + 1, false
	}
	if at < len(in) && in[at] == '.' {
		first = at + 1
		if at = scanDigitsEnd(in, first); at == first {
			return at, false
		}
	}
	if at < len(in) && in[at]|0x20 == 'e' {
		at++
		if at < len(in) && (in[at] == '+' || in[at] == '-') {
			at++
		}
		first = at
		if at = scanDigitsEnd(in, at); at == first {
			return at, false
		}
	}
	return at, true
}

// scanDigitsEnd returns the position behind the digits at in[at:].
func scanDigitsEnd(in []byte, at int) int {
	for at+8 <= len(in) {
		n := scanCount(scanWord(in, at))
		if at += n; n < 8 {
			return at
		}
	}
	for at < len(in) && in[at]-'0' < 10 {
		at++
	}
	return at
}

// scanWhole is what a number is as an integer.
type scanWhole uint8

const (
	scanIsInteger  scanWhole = iota // an integer that fits 64 bits
	scanIsFraction                  // no integer
	scanIsTooLarge                  // an integer beyond 64 bits
)

// scanExactly returns the integer that text, a number of the form that scanNumber checks, is. The digits are looked at once, however many there
// are, and the exponent may be any.
func scanExactly(text []byte) (number int64, is scanWhole) {
	negative := text[0] == '-'
	if negative {
		text = text[1:]
	}
	// The number is digits, without the point, times ten to the power of scale.
	scale, point, end := int64(0), -1, len(text)
	for i, c := range text {
		if c == '.' {
			point = i
		} else if c|0x20 == 'e' {
			scale, end = scanExponent(text[i+1:]), i
			break
		}
	}
	// The digits from first to last, both not '0', matter.
	first, last := -1, -1
	for i, c := range text[:end] {
		if c != '.' && c != '0' {
			if last = i; first < 0 {
				first = i
			}
		}
	}
	if first < 0 {
		return 0, scanIsInteger
	}
	digits := int64(last - first + 1)
	switch {
	case point < 0:
		scale += int64(end - 1 - last)
	case last < point:
		scale += int64(point - 1 - last)
	default:
		scale -= int64(last - point)
		if first < point {
			digits--
		}
	}
	if scale < 0 {
		return 0, scanIsFraction
	}
	if digits+scale > 19 {
		return 0, scanIsTooLarge
	}
	magnitude := uint64(0)
	for _, c := range text[first : last+1] {
		if c != '.' {
			magnitude = magnitude*10 + uint64(c-'0')
		}
	}
	magnitude *= scanTens[scale]
	switch {
	case negative && magnitude <= 1<<63:
		return int64(-magnitude), scanIsInteger
	case !negative && magnitude <= math.MaxInt64:
		return int64(magnitude), scanIsInteger
	default:
		return 0, scanIsTooLarge
	}
}

// scanExponent returns the exponent of text, digits with or without a sign, or one that is as good: no text has so many digits.
func scanExponent(text []byte) int64 {
	const most = 1 << 40
	negative := text[0] == '-'
	if negative || text[0] == '+' {
		text = text[1:]
	}
	exponent := int64(0)
	for _, c := range text {
		exponent = min(exponent*10+int64(c-'0'), most)
	}
	if negative {
		return -exponent
	}
	return exponent
}
