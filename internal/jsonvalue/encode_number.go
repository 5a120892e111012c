package jsonvalue

import (
	"encoding/binary"
	"math"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// putWord stores eight bytes at out[at:], which must be there.
func putWord(out []byte, at int, word uint64) {
	binary.LittleEndian.PutUint64(out[at:], word)
}

// spare is how many bits of 64 an integer of a kind has not.
var spare = [16]uint8{
	thriftpackv1.Type_TYPE_I8: 56, thriftpackv1.Type_TYPE_I16: 48, thriftpackv1.Type_TYPE_I32: 32, thriftpackv1.Type_TYPE_I64: 0,
}

// integer reads an integer, or the name of an enum's value.
func (e *Encoder) integer(t *schema.Type) bool {
	number, next, ok := scanInteger(e.in, e.at)
	if s := spare[t.Kind&15] & 63; !ok || number<<s>>s != number {
		if t.Enum != nil {
			return e.enum(t)
		}
		return e.number(t)
	}
	e.at = next
	e.putInteger(t.Kind, number)
	return true
}

// putInteger writes an integer of a kind into the room made before.
func (e *Encoder) putInteger(kind thriftpackv1.Type, number int64) {
	switch {
	case kind == thriftpackv1.Type_TYPE_I8:
		e.putByte(byte(number))
	case !e.binary:
		v := encoder.Zigzag64(number)
		n := encoder.SizeVarint(v)
		if n > 8 {
			e.putVarint(v)
			return
		}
		putWord(e.out, e.written, encoder.Spread(v)|scanTops&(1<<(8*uint(n-1))-1)) // see encoder.PutVarint64
		e.written += n
	case kind == thriftpackv1.Type_TYPE_I16:
		binary.BigEndian.PutUint16(e.out[e.written:], uint16(number))
		e.written += 2
	case kind == thriftpackv1.Type_TYPE_I32:
		e.putUint32(uint32(number))
	default:
		binary.BigEndian.PutUint64(e.out[e.written:], uint64(number))
		e.written += 8
	}
}

// number reads an integer of any form, with a fraction of zeros, with an exponent, in a string; or says what is wrong with it.
func (e *Encoder) number(t *schema.Type) bool {
	at := e.at
	text, ok := e.numberText(t, "an integer")
	if !ok {
		return false
	}
	number, is := scanExactly(text)
	s := spare[t.Kind&15] & 63
	low, high := int64(math.MinInt64)>>s, int64(math.MaxInt64)>>s
	switch {
	case is == scanIsFraction:
		return e.fail(at, fault.TypeMismatch, "%s is not an integer, want %s", shortNumber(text), t.Name)
	case is == scanIsTooLarge || number < low || number > high:
		return e.fail(at, fault.IntRange, "out of range: %s, want %d..%d for %s", shortNumber(text), low, high, t.Name)
	}
	e.putInteger(t.Kind, number)
	return true
}

// numberText reads a number of any form, in a string or not, and returns it. It aliases the text, or plain until the next string.
func (e *Encoder) numberText(t *schema.Type, want string) (text []byte, ok bool) {
	at := e.at
	if at >= len(e.in) {
		return nil, e.failSyntax(at, "a value")
	}
	switch c := e.in[at]; {
	case c == '"':
		if text, ok = e.content(t); !ok {
			return nil, false
		}
		if end, ok := scanNumber(text, 0); !ok || end != len(text) {
			return nil, e.fail(at, fault.TypeMismatch, "a string of %d bytes that is not a number, want %s for %s", len(text), want, t.Name)
		}
		return text, true
	case c == '-' || c >= '0' && c <= '9':
		end, ok := scanNumber(e.in, at)
		if !ok {
			return nil, e.failSyntax(end, "a number")
		}
		e.at = end
		return e.in[at:end], true
	default:
		return nil, e.failType(t, want)
	}
}

// double reads a number, or the name of one that JSON cannot write.
func (e *Encoder) double(t *schema.Type) bool {
	number, next, ok := scanDouble(e.in, e.at)
	if !ok {
		return e.doubleText(t)
	}
	e.at = next
	e.putDouble(number)
	return true
}

// putDouble writes a double into the room made before.
func (e *Encoder) putDouble(number float64) {
	if e.binary {
		binary.BigEndian.PutUint64(e.out[e.written:], math.Float64bits(number))
	} else {
		binary.LittleEndian.PutUint64(e.out[e.written:], math.Float64bits(number))
	}
	e.written += 8
}

// doubleText reads a double of any form.
func (e *Encoder) doubleText(t *schema.Type) bool {
	at := e.at
	if at < len(e.in) && e.in[at] == '"' {
		text, ok := e.content(t)
		if !ok {
			return false
		}
		switch string(text) {
		case "NaN":
			e.putDouble(math.Float64frombits(0x7ff8 << 48)) // Go's own has another bit
			return true
		case "Infinity":
			e.putDouble(math.Inf(1))
			return true
		case "-Infinity":
			e.putDouble(math.Inf(-1))
			return true
		}
		e.at = at // a number in a string
	}
	text, ok := e.numberText(t, "a number")
	if !ok {
		return false
	}
	number, ok := scanDoubleExactly(text)
	if !ok {
		return e.fail(at, fault.IntRange, "out of range: %s, want a double", shortNumber(text))
	}
	e.putDouble(number)
	return true
}
