package jsonvalue

import (
	"encoding/binary"
	"math"
	"math/bits"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// numbers is elements for integers, enums and doubles.
func (e *Encoder) numbers(t *schema.Type) (count int, ok bool) {
	for {
		switch s := uint(spare[t.Kind&15]); {
		case t.Kind == thriftpackv1.Type_TYPE_DOUBLE:
			count = e.doubleRun(count)
		case e.binary || t.Kind == thriftpackv1.Type_TYPE_I8:
			count = e.fixedRun(count, s)
		default:
			count = e.integerRun(count, s)
		}
		e.at = scanSpace(e.in, e.at)
		if !e.startElement(count) {
			return count, false
		}
		if !e.value(t, 0) {
			return count, e.under(count)
		}
		count++
		if end, ok := e.closing(']'); end || !ok {
			return count, ok
		}
	}
}

// doubleRun reads elements from the one that count is the index of, as long as they are in their usual form and are followed by a comma, and
// returns the index of the first that is not.
func (e *Encoder) doubleRun(count int) int {
	in, out, at, written := e.in, e.out, e.at, e.written
	left := min(e.maxElements-count, stopEvery)
	all := left
	for ; left > 0 && len(out)-written >= 8; left-- {
		number, next, ok := scanDouble(in, at)
		if !ok || next+1 >= len(in) || in[next] != ',' {
			break
		}
		word := math.Float64bits(number)
		if e.binary {
			word = bits.ReverseBytes64(word)
		}
		binary.LittleEndian.PutUint64(out[written:], word)
		written += 8
		if at = next + 1; in[at] == ' ' {
			at++
		}
	}
	e.ticks -= all - left
	e.at, e.written = at, written
	return count + all - left
}

// fixedRun is integerRun for integers that have as many big-endian bytes as their kind: all those of the binary protocol, and i8.
func (e *Encoder) fixedRun(count int, spare uint) int {
	in, out, at, written := e.in, e.out, e.at, e.written
	width := 8 - int(spare/8)
	left := min(e.maxElements-count, stopEvery)
	all := left
	for ; left > 0 && len(out)-written >= 8; left-- {
		number, next, ok := scanInteger(in, at)
		if !ok || next+1 >= len(in) || in[next] != ',' || number<<(spare&63)>>(spare&63) != number {
			break
		}
		binary.BigEndian.PutUint64(out[written:], uint64(number)<<(spare&63)) // what is behind it is written over
		written += width
		if at = next + 1; in[at] == ' ' {
			at++
		}
	}
	e.ticks -= all - left
	e.at, e.written = at, written
	return count + all - left
}

// integerRun reads elements from the one that count is the index of, as long as they are in their usual form, are followed by a comma, and fit
// 64 bits less those that are spare; and it returns the index of the first that is not. It calls nothing, so that all of its variables
// stay in registers; for what it does see scanInteger and encoder.PutVarint64.
func (e *Encoder) integerRun(count int, spare uint) int {
	in, out, at, written := e.in, e.out, e.at, e.written
	left := min(e.maxElements-count, stopEvery)
	all := left
	for ; left > 0; left-- {
		if at < textBefore || len(in)-at < textBehind || len(out)-written < 16 {
			break
		}
		around := (*scanWindow)(in[at-textBefore : at+textBehind : at+textBehind])
		first, sign := textBefore, uint64(0)
		if around[textBefore] == '-' {
			first, sign = textBefore+1, 1
		}
		word := around.word(first)
		digits := scanCount(word)
		next := first + digits
		var magnitude uint64
		if digits < 8 {
			magnitude = scanEight(word << ((64 - 8*uint(digits)) & 63))
		} else {
			more := scanCount(around.word(next))
			next += more
			if more < 8 {
				magnitude = scanEight(around.word(next-16)&scanUpper[more&15])*1e8 + scanEight(around.word(next-8))
			} else {
				rest := around.word(next)
				n := scanCount(rest)
				if n > 3 {
					break
				}
				magnitude = (scanEight(word)*1e8+scanEight(around.word(next-8)))*scanTens[n] + scanEight(rest<<(64-8*uint(n)))
				next += n
			}
		}
		number := int64((magnitude ^ -sign) + sign)
		if around[next] != ',' || digits == 0 || around[first] == '0' && digits > 1 || number<<(spare&63)>>(spare&63) != number || magnitude > math.MaxInt64+sign {
			break
		}
		v := encoder.Zigzag64(number)
		n := encoder.SizeVarint(v)
		to := (*[10]byte)(out[written : written+10 : written+10])
		binary.LittleEndian.PutUint64(to[:8], encoder.Spread(v)|scanTops&(1<<(8*uint(n-1))-1))
		to[8], to[9] = byte(v>>56)&0x7f|byte(v>>63)<<7, byte(v>>63)
		written += n
		if at += next - textBefore + 1; in[at] == ' ' {
			at++
		}
	}
	e.ticks -= all - left
	e.at, e.written = at, written
	return count + all - left
}
