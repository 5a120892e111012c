package jsonvalue

import (
	"encoding/base64"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/thriftpack/thriftpack/internal/schema/valuewire"
)

const (
	writeOnes = 0x0101010101010101
	writeTops = 0x8080808080808080
)

// writeMarks sets the top bit of the first byte of x that JSON escapes, and of each that is not ASCII. Bytes behind the first may
// be marked as well.
func writeMarks(x uint64) uint64 {
	quote, backslash := x^'"'*writeOnes, x^'\\'*writeOnes
	return (x - ' '*writeOnes) | (quote - writeOnes) | (backslash - writeOnes) | x
}

// writeEscapes has for each byte how a string has it: 0 as it is, 'u' as \u00xx, or the letter behind a backslash.
var writeEscapes = func() (escapes [256]byte) {
	for b := range ' ' {
		escapes[b] = 'u'
	}
	escapes['\b'], escapes['\f'], escapes['\n'], escapes['\r'], escapes['\t'] = 'b', 'f', 'n', 'r', 't'
	escapes['"'], escapes['\\'] = '"', '\\'
	return escapes
}()

// writeSlack is how many bytes behind a short string may be written to.
const writeSlack = 8

// text writes a string. Bytes that are not UTF-8 are written as those of a field without a type, {"binary":"wyg="}; then it returns
// false.
func (w *Writer) text(text []byte) bool {
	o := &w.out
	if n := o.n; len(o.buf)-n >= len(text)+2+writeSlack {
		if end := writePlain(o.buf[n:], text); end > 0 {
			o.n = n + end
			return true
		}
	}
	if !utf8.Valid(text) {
		w.literal(`{"binary":`)
		w.base64(text)
		w.byte('}')
		return false
	}
	if n := o.n; len(text) <= writeShort && len(o.buf)-n >= 6*len(text)+2 {
		o.n = n + writeEscaped(o.buf[n:], text)
		return true
	}
	w.escaped(text)
	return true
}

// writeShort is the longest text that is escaped byte by byte.
const writeShort = 32

// writeEscaped writes a string to buf, which has room for it whatever it is, and returns where it ends.
func writeEscaped(buf, text []byte) (end int) {
	buf[0] = '"'
	n := 1
	for _, b := range text {
		escape := writeEscapes[b]
		if escape == 0 {
			buf[n] = b
			n++
			continue
		}
		buf[n], buf[n+1] = '\\', escape
		n += 2
		if escape == 'u' {
			buf[n], buf[n+1], buf[n+2], buf[n+3] = '0', '0', writeHex[b>>4], writeHex[b&15]
			n += 4
		}
	}
	buf[n] = '"'
	return n + 1
}

// writePlain writes a string of ASCII without escapes to buf, which has room for it and writeSlack bytes more, and returns where it
// ends; 0 where it is another one.
func writePlain(buf, text []byte) (end int) {
	to := buf[1:]
	at := 0
	for ; len(text)-at >= 8; at += 8 {
		x := writeWord(text, at)
		if writeMarks(x)&writeTops != 0 {
			return 0
		}
		binary.LittleEndian.PutUint64(to[at:at+8], x)
	}
	if rest := len(text) - at; rest > 0 {
		if len(text) >= 8 {
			// The last word overlaps what was seen.
			x := writeWord(text, len(text)-8)
			if writeMarks(x)&writeTops != 0 {
				return 0
			}
			binary.LittleEndian.PutUint64(to[len(text)-8:len(text)], x)
		} else {
			for _, b := range text {
				if writeEscapes[b] != 0 || b >= 0x80 {
					return 0
				}
				to[at] = b
				at++
			}
		}
	}
	buf[0], to[len(text)] = '"', '"'
	return len(text) + 2
}

// writeAround is how much room shortTexts wants beyond a text: for a byte and the quotes, and for wide stores.
const writeAround = 3 + writeSlack

// shortTexts writes the next strings of a column, at most so many, a byte before each, up to the first one that has escapes or more than ASCII, is
// longer than 127 bytes, among the last bytes of the value, or has no room. It takes what it writes, and returns how many they are.
func (w *Writer) shortTexts(before byte, column *valuewire.Column, most int) (count int) {
	in, at, end := w.in, column.At, column.End
	buf, n := w.out.buf, w.out.n
	for ; count < most && end-at >= 2; count++ {
		size := int(in[at+1])
		if in[at] != valuewire.RecordTag(valuewire.String) || size >= 0x80 || size > end-at-2 ||
			len(in)-at-2 < size+8 || len(buf)-n < size+writeAround {
			break
		}
		from, to := in[at+2:at+2+size+8], buf[n+2:n+2+size+8]
		var marks uint64
		for ; len(from) >= 16 && len(to) >= 16; from, to = from[8:], to[8:] {
			x := binary.LittleEndian.Uint64(from)
			marks |= writeMarks(x)
			binary.LittleEndian.PutUint64(to, x)
		}
		x := binary.LittleEndian.Uint64(from)
		marks |= writeMarks(x) & (1<<(8*uint(size&7)) - 1)
		if marks&writeTops != 0 {
			break
		}
		binary.LittleEndian.PutUint64(to, x)
		buf[n], buf[n+1] = before, '"'
		n += size + 3
		buf[n-1] = '"'
		at += 2 + size
	}
	column.At, w.out.n = at, n
	w.ticks -= count
	return count
}

// escaped writes a string of any length, which is UTF-8.
func (w *Writer) escaped(text []byte) {
	o := &w.out
	w.byte('"')
	for len(text) > 0 {
		clean := writeClean(text)
		o.bytes(text[:clean])
		if text = text[clean:]; len(text) == 0 {
			break
		}
		o.room()
		buf, n, b := o.buf, o.n, text[0]
		escape := writeEscapes[b]
		buf[n], buf[n+1] = '\\', escape
		n += 2
		if escape == 'u' {
			buf[n], buf[n+1], buf[n+2], buf[n+3] = '0', '0', writeHex[b>>4], writeHex[b&15]
			n += 4
		}
		o.n = n
		text = text[1:]
		if !w.tick() {
			return
		}
	}
	w.byte('"')
}

// writeClean returns how many bytes at the beginning of text JSON does not escape.
func writeClean(text []byte) int {
	at := 0
	for ; len(text)-at >= 8; at += 8 {
		x := writeWord(text, at)
		wide := x & writeTops
		x = x&^wide | (wide - wide>>7) // a byte that is not ASCII becomes 7f, which is not escaped
		if marks := writeMarks(x) & writeTops; marks != 0 {
			return at + bits.TrailingZeros64(marks)>>3
		}
	}
	for ; at < len(text); at++ {
		if writeEscapes[text[at]] != 0 {
			break
		}
	}
	return at
}

// base64 writes a string with the bytes in standard base64, padded.
func (w *Writer) base64(data []byte) {
	o := &w.out
	w.byte('"')
	for len(data) > 0 && w.tick() {
		o.room()
		// As many whole groups as there is room for, or the rest; makeRoom left room for several.
		piece := min((len(o.buf)-o.n)/4*3, len(data), writePiece)
		base64.StdEncoding.Encode(o.buf[o.n:], data[:piece])
		o.n += base64.StdEncoding.EncodedLen(piece)
		data = data[piece:]
		w.ticks -= piece / 64
	}
	w.byte('"')
}

// writePiece is how many bytes are written as base64 between two steps, a multiple of 3.
const writePiece = 24 << 10

// byte writes one byte.
func (w *Writer) byte(b byte) {
	w.out.room()
	w.out.buf[w.out.n] = b
	w.out.n++
}

// literal writes text that needs no escapes, at most writeRoom bytes.
func (w *Writer) literal(text string) {
	w.out.room()
	w.out.n += copy(w.out.buf[w.out.n:], text)
}

// name writes text that needs no escapes in quotes, of any length.
func (w *Writer) name(text string) {
	o := &w.out
	w.byte('"')
	for {
		n := copy(o.buf[o.n:], text)
		o.n += n
		if text = text[n:]; text == "" {
			break
		}
		o.room()
	}
	w.byte('"')
}
