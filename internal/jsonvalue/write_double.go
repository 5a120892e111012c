package jsonvalue

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// writeDouble writes a double at buf[n:], at most 26 bytes, and returns the end: the shortest digits that read as the same
// number, as ECMAScript and protobuf's JSON have them, and strings where JSON has no number. It may store into writeRoom bytes.
func writeDouble(buf []byte, n int, word uint64) int {
	f := math.Float64frombits(word)
	if whole := int64(f); float64(whole) == f && whole > -1<<53 && whole < 1<<53 && word != 1<<63 {
		return writeInteger(buf, n, whole)
	}
	if word<<1 == 0 {
		return n + copy(buf[n:], "-0")
	}
	buf[n] = '-'
	n += int(word >> 63)
	if word>>52&0x7ff == 0x7ff {
		return writeNoNumber(buf, n, word)
	}
	digits, exponent := writeShortest(word)
	count := writeDigits(digits)
	point := count + exponent // how many digits stand before the point
	switch {
	case point > 0 && point <= 21 && exponent < 0:
		// ddd.ddd
		end := writeTrimmed(buf, n+1, digits, count)
		copy(buf[n:n+point], buf[n+1:n+1+point])
		if buf[n+point] = '.'; end <= n+point+1 {
			end = n + point // there are no digits behind it
		}
		return end
	case point > 0 && point <= 21:
		// dddddd000
		n = writeWhole(buf, n, digits)
		for ; exponent > 0; exponent-- {
			buf[n] = '0'
			n++
		}
		return n
	case point <= 0 && point > -6:
		// 0.000ddd
		binary.LittleEndian.PutUint64(buf[n:n+8], writeZeros&^(0xff<<8)|'.'<<8)
		return writeTrimmed(buf, n+2-point, digits, count)
	}
	// d.ddde+dd
	end := writeTrimmed(buf, n+1, digits, count)
	buf[n] = buf[n+1]
	if end > n+2 {
		buf[n+1] = '.'
	} else {
		end = n + 1
	}
	buf[end], buf[end+1] = 'e', '+'
	if point--; point < 0 {
		buf[end+1] = '-'
		point = -point
	}
	return writeWhole(buf, end+2, uint64(point))
}

// writeNoNumber writes an infinity or a NaN, whose sign stands before buf[n:].
func writeNoNumber(buf []byte, n int, word uint64) int {
	n -= int(word >> 63)
	switch {
	case word<<12 != 0:
		return n + copy(buf[n:], `"NaN"`)
	case word>>63 == 0:
		return n + copy(buf[n:], `"Infinity"`)
	default:
		return n + copy(buf[n:], `"-Infinity"`)
	}
}

// writeTrimmed writes the count digits of a number at buf[n:] without the zeros at their end, and returns the end. The first digit always
// stays.
func writeTrimmed(buf []byte, n int, digits uint64, count int) int {
	writeWhole(buf, n, digits)
	for end := n + count; ; end-- {
		if buf[end-1] != '0' || end == n+1 {
			return end
		}
	}
}

// writeShortest returns the shortest decimal number that reads as the double of these bits, which is positive or negative, but no
// zero and no infinity: digits times ten to the power of exponent. Of several it is the nearest; it may end in zeros.
//
// This is the method of Raffaello Giulietti, "The Schubfach way to render doubles", 2020: the numbers that read as the double are an
// interval; scaled by a power of ten to be between two integers or four, its bounds and middle are computed from 128 bits of that power,
// rounded to odd, which is enough to compare them with integers.
func writeShortest(word uint64) (digits uint64, exponent int) {
	fraction, biased := word&(1<<52-1), int(word>>52&0x7ff)
	significand, power := fraction|1<<52, biased-1075
	if biased == 0 {
		significand, power = fraction, -1074
	}
	below := uint64(2) // from a power of two, the next double below is half as far away
	ten := (power * 1262611) >> 22
	if fraction == 0 && biased > 1 {
		below = 1
		ten = (power*1262611 - 524031) >> 22
	}
	shift := uint(power + (-ten*1741647)>>19 + 1)
	at := 2 * (-ten - writeTensFirst)
	high, low := writeTens[at], writeTens[at+1]
	odd := significand & 1 // then the bounds do not belong to the interval
	middle := writeScaled(high, low, 4*significand<<shift)
	lower := writeScaled(high, low, (4*significand-below)<<shift) + odd
	upper := writeScaled(high, low, (4*significand+2)<<shift) - odd
	whole := middle / 4
	if whole >= 10 {
		tenth := whole / 10
		isBelow, isAbove := lower <= 40*tenth, 40*tenth+40 <= upper
		if isBelow != isAbove {
			if isAbove {
				tenth++
			}
			return tenth, ten + 1
		}
	}
	isBelow, isAbove := lower <= 4*whole, 4*whole+4 <= upper
	half := 4*whole + 2
	if isBelow != isAbove && isAbove || isBelow == isAbove && (middle > half || middle == half && whole&1 == 1) {
		whole++
	}
	return whole, ten
}

// writeScaled returns the upper 64 bits of the product of n and the 128 bits of high and low, with the lowest one set where there is anything below them.
func writeScaled(high, low, n uint64) uint64 {
	carried, _ := bits.Mul64(low, n)
	upper, lower := bits.Mul64(high, n)
	lower, carry := bits.Add64(lower, carried, 0)
	upper += carry
	if lower > 1 {
		upper |= 1
	}
	return upper
}
