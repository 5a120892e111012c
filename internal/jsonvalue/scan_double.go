package jsonvalue

import (
	"errors"
	"math"
	"math/bits"
	"strconv"
)

// scanDouble reads a number as the double that is nearest to it. It is false for a number that has no form, and for one with more than 19
// digits or an exponent beyond two digits, which scanDoubleExactly takes.
func scanDouble(in []byte, at int) (number float64, next int, ok bool) {
	const room = 40 // sign, seven digits, point, three words of digits, and what is behind
	if len(in)-at < room {
		return scanAnyDouble(in, at)
	}
	text := (*[room]byte)(in[at : at+room : at+room])
	first := 0
	if text[0] == '-' {
		first = 1
	}
	word := scanWord(text[first:first+8:first+8], 0)
	count := scanCount(word)
	if uint(count-1) >= 7 || text[first] == '0' && count > 1 || text[(first+count)&15] != '.' {
		return scanAnyDouble(in, at)
	}
	digits := scanEight(word << ((64 - 8*uint(count)) & 63))
	from := first + count + 1
	word = scanWord(text[from:from+8:from+8], 0)
	places := scanCount(word)
	if places < 8 {
		digits = digits*scanTens[places] + scanEight(word<<(64-8*uint(places)))
	} else {
		second := scanWord(text[from+8:from+16:from+16], 0)
		digits = digits*1e8 + scanEight(word)
		n := scanCount(second)
		digits = digits*scanTens[n] + scanEight(second<<(64-8*uint(n)))
		if places += n; n == 8 {
			third := scanWord(text[from+16:from+24:from+24], 0)
			n = scanCount(third)
			digits = digits*scanTens[n] + scanEight(third<<(64-8*uint(n)))
			places += n
		}
	}
	next = from + places
	if c := text[next]; places == 0 || count+places > 19 || c|0x20 == 'e' {
		return scanAnyDouble(in, at)
	}
	if digits <= 1<<53 && places < len(scanPowers) {
		number = float64(digits) / scanPowers[places] // see scanScale
	} else if number, ok = scanScale(digits, -places); !ok {
		return 0, at, false
	}
	if first == 1 {
		number = -number
	}
	return number, at + next, true
}

// scanAnyDouble is scanDouble for numbers with few bytes around, and for all other forms than digits with a point between.
func scanAnyDouble(in []byte, at int) (number float64, next int, ok bool) {
	if at >= len(in) {
		return 0, at, false
	}
	negative := in[at] == '-'
	if negative {
		at++
	}
	digits, count := scanDigits(in, at)
	if count == 0 || count > 19 || in[at] == '0' && count > 1 {
		return 0, at, false
	}
	at += count
	scale := 0
	if at < len(in) && in[at] == '.' {
		fraction, n := scanDigits(in, at+1)
		if count += n; n == 0 || count > 19 {
			return 0, at, false
		}
		digits = digits*scanTens[n] + fraction
		scale = -n
		at += 1 + n
	}
	if at < len(in) && in[at]|0x20 == 'e' {
		at++
		minus := at < len(in) && in[at] == '-'
		if minus || at < len(in) && in[at] == '+' {
			at++
		}
		exponent, n := scanDigits(in, at)
		if n == 0 || n > 2 {
			return 0, at, false
		}
		at += n
		if minus {
			exponent = -exponent
		}
		scale += int(exponent)
	}
	if number, ok = scanScale(digits, scale); !ok {
		return 0, at, false
	}
	if negative {
		number = -number
	}
	return number, at, true
}

// scanScale returns the double nearest to digits times ten to the power of scale, where two words are enough to know it: of two that
// are equally near the even one. The numbers that people and shortest printers write are of that kind.
func scanScale(digits uint64, scale int) (number float64, ok bool) {
	if digits <= 1<<53 && uint(scale+22) <= 44 {
		// Both are doubles without an error, and so one operation rounds once.
		if scale < 0 {
			return float64(digits) / scanPowers[-scale], true
		}
		return float64(digits) * scanPowers[scale], true
	}
	switch {
	case digits == 0:
		return 0, true
	case scale < -27 || scale > 27:
		return 0, false
	}
	// Ten to the power of n is five to the power of n, which fits a word, and a shift. The number is top, and a little more where rest is
	// not 0, times two to the power of exponent; top has 63 bits or 64.
	zeros := bits.LeadingZeros64(digits)
	top, rest, exponent := digits<<uint(zeros), uint64(0), scale-zeros
	switch {
	case scale < 0:
		five := scanFives[-scale]
		shift := bits.LeadingZeros64(five)
		// The divisor has its top bit and the dividend has not, so that the quotient fits.
		top, rest = bits.Div64(top>>1, top<<63, five<<uint(shift))
		exponent += shift - 63
	case scale > 0:
		top, rest = bits.Mul64(top, scanFives[scale])
		shift := bits.LeadingZeros64(top)
		top, rest = top<<uint(shift)|rest>>uint(64-shift), rest<<uint(shift)
		exponent += 64 - shift
	}
	return scanRound(top, rest != 0, exponent), true
}

// scanRound returns the double nearest to top, and a little more where there is a rest, times two to the power of exponent. top has at least 54
// bits, and the result is neither too large for a double nor so small that it has fewer digits.
func scanRound(top uint64, rest bool, exponent int) float64 {
	const digits = 53
	cut := uint(bits.Len64(top) - digits)
	mantissa, lost, half := top>>cut, top&(1<<cut-1), uint64(1)<<(cut-1)
	if lost > half || lost == half && (rest || mantissa&1 == 1) {
		mantissa++ // at most 2^53, a double as well
	}
	const bias, place = 1023, 52
	return float64(mantissa) * math.Float64frombits(uint64(exponent+int(cut)+bias)<<place)
}

// scanDoubleExactly reads a number of the form that scanNumber checks, whatever its size. It is false for one that no double is near.
func scanDoubleExactly(text []byte) (number float64, ok bool) {
	number, err := strconv.ParseFloat(string(text), 64)
	return number, !errors.Is(err, strconv.ErrRange)
}

// scanPowers are the powers of ten that are doubles without an error.
var scanPowers = [23]float64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// scanFives are the powers of five that fit 64 bits.
var scanFives = func() (fives [28]uint64) {
	fives[0] = 1
	for i := 1; i < len(fives); i++ {
		fives[i] = fives[i-1] * 5
	}
	return fives
}()
