package jsonvalue

import (
	"bytes"
	"math/bits"
	"unicode/utf8"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// shortText is the most bytes of a string that are copied while they are looked at.
const shortText = 32

// text reads a string as a string.
func (e *Encoder) text(t *schema.Type) bool {
	at := e.at + 1
	if e.at < len(e.in) && e.in[e.at] != '"' {
		return e.failType(t, "a string")
	}
	if at+shortText+8 <= len(e.in) && e.maxString >= shortText {
		start := e.written + 1
		if e.binary {
			start += 3
		}
		from, to := e.in[at:at+shortText+8:at+shortText+8], e.out[start:start+shortText:start+shortText]
		for i := 0; i < shortText; i += 8 {
			word := scanWord(from, i)
			putWord(to, i, word)
			stops := scanStops(word)
			if stops == 0 {
				continue
			}
			i += bits.TrailingZeros64(stops) >> 3
			if from[i] != '"' {
				break
			}
			e.putSize(i)
			e.written += i
			e.at = at + i + 1
			return true
		}
	}
	return e.longText(t)
}

// longText reads a string as a string, whatever it holds.
func (e *Encoder) longText(t *schema.Type) bool {
	at := e.at
	s, ok := e.quoted(t)
	if !ok {
		return false
	}
	if s.size > e.maxString {
		return e.failSize(at, "number of bytes", "--max-string-bytes", e.options.Limits.StringBytes, int64(s.size))
	}
	if !e.room(s.size) {
		return false
	}
	e.putSize(s.size)
	if s.escaped {
		e.written += scanUnescape(e.out[e.written:], s.raw)
		return true
	}
	for raw := s.raw; len(raw) > 0; { // in pieces, see copyPiece
		n := copy(e.out[e.written:], raw[:min(len(raw), copyPiece)])
		e.written += n
		raw = raw[n:]
	}
	return e.room(0)
}

// quotedText is a string of the text.
type quotedText struct {
	raw     []byte // as it stands; it aliases the text
	size    int    // without escapes
	escaped bool
}

// quoted reads a string and checks all of it.
func (e *Encoder) quoted(t *schema.Type) (s quotedText, ok bool) {
	at := e.at
	if at >= len(e.in) || e.in[at] != '"' {
		return s, e.failType(t, "a string")
	}
	at++
	end, seen := scanString(e.in, at)
	if end >= len(e.in) {
		return s, e.fail(end, fault.JSONSyntax, "the text ends inside of a string")
	}
	if e.in[end] != '"' {
		return s, e.fail(end, fault.JSONSyntax, "a control character inside of a string")
	}
	s.raw = e.in[at:end:end]
	s.size = len(s.raw)
	if seen&scanWide != 0 && !utf8.Valid(s.raw) {
		return s, e.fail(at+firstInvalid(s.raw), fault.BadUTF8, "not valid UTF-8")
	}
	if seen&scanEscaped != 0 {
		size, wrong, surrogate := scanEscapes(s.raw)
		switch {
		case wrong >= 0 && surrogate:
			return s, e.fail(at+wrong, fault.BadUTF8, "half of a surrogate pair alone")
		case wrong >= 0:
			return s, e.fail(at+wrong, fault.JSONSyntax, "an escape that JSON does not have")
		}
		s.size, s.escaped = size, true
	}
	e.at = end + 1
	return s, true
}

// content reads a string and returns it without escapes. It aliases the text, or plain until the next string with escapes.
func (e *Encoder) content(t *schema.Type) (text []byte, ok bool) {
	s, ok := e.quoted(t)
	if !ok || !s.escaped {
		return s.raw, ok
	}
	if cap(e.plain) < s.size {
		room := max(s.size, 2*cap(e.plain), 64)
		if !e.reserve(int64(room)) {
			return nil, false
		}
		e.plain = make([]byte, room)
	}
	e.plain = e.plain[:cap(e.plain)]
	return e.plain[:scanUnescape(e.plain, s.raw)], true
}

// firstInvalid returns the position of the first byte that is not UTF-8.
func firstInvalid(text []byte) int {
	at := 0
	for at < len(text) {
		char, size := utf8.DecodeRune(text[at:])
		if char == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at
}

// blob reads a string as the base64 text of a binary.
func (e *Encoder) blob(t *schema.Type) bool {
	at := e.at
	text, ok := e.content(t)
	if !ok {
		return false
	}
	digits, size, ok := scanBase64Size(text)
	if !ok {
		return e.fail(at, fault.TypeMismatch, "a string of %d bytes that is not base64", len(text))
	}
	if size > e.maxString {
		return e.failSize(at, "number of bytes", "--max-string-bytes", e.options.Limits.StringBytes, int64(size))
	}
	if !e.room(size) {
		return false
	}
	e.putSize(size)
	if !scanBase64Bytes(e.out[e.written:], digits) {
		return e.fail(at, fault.TypeMismatch, "a string of %d bytes that is not base64", len(text))
	}
	e.written += size
	return e.room(0)
}

// uuid reads a string as a uuid. Keys must be in lower case.
func (e *Encoder) uuid(t *schema.Type, key bool) bool {
	at := e.at
	text, ok := e.content(t)
	if !ok {
		return false
	}
	valid, lower := scanUUID((*[16]byte)(e.out[e.written:]), text)
	switch {
	case !valid:
		return e.fail(at, fault.TypeMismatch, "a string of %d bytes that is not a uuid such as 00112233-4455-6677-8899-aabbccddeeff", len(text))
	case key && !lower:
		return e.fail(at, fault.TypeMismatch, "a key that is a uuid in upper case, want lower case")
	}
	e.written += 16
	return true
}

// enum reads the name of an enum's value, or its number.
func (e *Encoder) enum(t *schema.Type) bool {
	if e.at >= len(e.in) || e.in[e.at] != '"' {
		return e.number(t)
	}
	at := e.at
	name, ok := e.content(t)
	if !ok {
		return false
	}
	number, ok := t.Enum.Number(name)
	if !ok {
		return e.fail(at, fault.UnknownName, "a string of %d bytes that is no name of the enum %s", len(name), t.Enum.Name)
	}
	e.putInteger(t.Kind, int64(number))
	return true
}

// boolean reads true or false.
func (e *Encoder) boolean(t *schema.Type) (value, ok bool) {
	rest := e.in[e.at:]
	switch {
	case bytes.HasPrefix(rest, []byte("true")):
		e.at += len("true")
		return true, true
	case bytes.HasPrefix(rest, []byte("false")):
		e.at += len("false")
		return false, true
	default:
		return false, e.failType(t, "true or false")
	}
}
