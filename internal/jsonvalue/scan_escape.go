package jsonvalue

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// scanEscapes returns how many bytes the string raw has without its escapes. Where one is at fault it returns its position, and whether it is
// one half of a surrogate pair alone, which has no UTF-8, rather than no escape at all.
func scanEscapes(raw []byte) (size, fault int, surrogate bool) {
	size = len(raw)
	for at := 0; ; {
		next := bytes.IndexByte(raw[at:], '\\')
		if next < 0 {
			return size, -1, false
		}
		at += next
		if at+1 >= len(raw) {
			return 0, at, false
		}
		if scanEscape[raw[at+1]] != 0 {
			size--
			at += 2
			continue
		}
		char, length := scanChar(raw[at:])
		if length == 0 {
			return 0, at, char == utf8.RuneError
		}
		size -= length - utf8.RuneLen(char)
		at += length
	}
}

// scanChar reads the escape \uXXXX that raw begins with, or two that are a surrogate pair, and returns its length. That is 0 where it is
// none; then char is utf8.RuneError for half a pair, and 0 otherwise.
func scanChar(raw []byte) (char rune, length int) {
	first, ok := scanHex(raw)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(first) {
		return first, 6
	}
	second, ok := scanHex(raw[6:])
	if char = utf16.DecodeRune(first, second); !ok || char == utf8.RuneError {
		return utf8.RuneError, 0
	}
	return char, 12
}

// scanHex reads \uXXXX.
func scanHex(raw []byte) (char rune, ok bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	for _, c := range raw[2:6] {
		digit := scanHexDigit[c]
		if digit == 0 {
			return 0, false
		}
		char = char<<4 | rune(digit-1)
	}
	return char, true
}

// scanUnescape writes raw, whose escapes scanEscapes has seen, to out without them, and returns how many bytes these are.
func scanUnescape(out, raw []byte) (size int) {
	for {
		next := bytes.IndexByte(raw, '\\')
		if next < 0 {
			return size + copy(out[size:], raw)
		}
		size += copy(out[size:], raw[:next])
		raw = raw[next:]
		if c := scanEscape[raw[1]]; c != 0 {
			out[size] = c
			size++
			raw = raw[2:]
			continue
		}
		char, length := scanChar(raw)
		size += utf8.EncodeRune(out[size:], char)
		raw = raw[length:]
	}
}

// scanEscape has what the letter behind a backslash stands for, or 0.
var scanEscape = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// scanHexDigit has the value of hexadecimal digits, plus 1.
var scanHexDigit = func() (digits [256]uint8) {
	for i := range uint8(16) {
		digits["0123456789abcdef"[i]] = i + 1
		digits["0123456789ABCDEF"[i]] = i + 1
	}
	return digits
}()
