package idl

import (
	"strings"
	"unicode/utf8"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// tokenKind says what a token is. Punctuation marks are kinds of their own, by their character.
type tokenKind uint8

const (
	tokenEnd     tokenKind = iota
	tokenWord              // an identifier or a keyword: which of the two, only the place can tell
	tokenInteger           // 12, -12, 0x1f
	tokenDouble            // 1.5, .5, 1e3
	tokenLiteral           // 'text' or "text"
)

// token is a piece of a source. Its text aliases the source; that of a literal is without its quotes, as written.
type token struct {
	kind tokenKind
	// first says that nothing but blanks and comments stands before it in its line.
	first bool
	// escaped says that a literal has backslashes.
	escaped      bool
	line, column int32
	text         string
}

// lexer cuts a source into tokens, in one pass. What is no token is reported and passed over.
type lexer struct {
	report *reporter
	path   string
	text   string
	at     int
	line   int32
	// lineStart is where the current line begins.
	lineStart int
	// first is what the next token's will be.
	first bool
}

// The classes of characters that tokens are made of.
const (
	classBlank = 1 << iota
	classLetter
	classDigit
	classHex
	classMark
)

var classes = func() (table [256]uint8) {
	for c := range table {
		switch {
		case 'a' <= c && c <= 'f', 'A' <= c && c <= 'F':
			table[c] = classLetter | classHex
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_':
			table[c] = classLetter
		case '0' <= c && c <= '9':
			table[c] = classDigit | classHex
		case c == ' ', c == '\t', c == '\r':
			table[c] = classBlank
		case strings.IndexByte(":;,{}()=<>[]*&@", byte(c)) >= 0:
			table[c] = classMark
		}
	}
	return table
}()

// newLexer starts at the beginning of a source. A byte order mark there has no column.
func newLexer(report *reporter, path, text string) *lexer {
	l := &lexer{report: report, path: path, text: text, line: 1, first: true}
	if strings.HasPrefix(text, "\ufeff") {
		l.at = len("\ufeff")
		l.lineStart = l.at
	}
	return l
}

// stop makes the rest of the source as if it were not there.
func (l *lexer) stop() { l.at = len(l.text) }

// position returns the place of an offset in the current line.
func (l *lexer) position(at int) Position {
	return Position{File: l.path, Line: l.line, Column: l.column(at)}
}

func (l *lexer) column(at int) int32 {
	return int32(at - l.lineStart + 1) //nolint:gosec // sources have at most largestFile bytes
}

// next returns the next token; at the end, and once no more errors are reported, one of kind tokenEnd.
func (l *lexer) next() token {
	for {
		l.skipBlank()
		if l.report.full {
			l.stop()
		}
		if l.at >= len(l.text) {
			return token{kind: tokenEnd, first: true, line: l.line, column: l.column(l.at)}
		}
		if t, ok := l.scan(); ok {
			l.first = false
			return t
		}
	}
}

// scan reads one token, or passes over what is none.
func (l *lexer) scan() (token, bool) {
	start := l.at
	c := l.text[start]
	t := token{first: l.first, line: l.line, column: l.column(start)}
	switch class := classes[c]; {
	case class&classLetter != 0:
		t.kind = tokenWord
		l.word()
		if size := l.at - start; size > l.report.limits.NameBytes {
			l.report.overLimit(l.position(start), fault.SizeLimit, "bytes of a name", l.report.limits.NameBytes, size)
			l.stop()
			return t, false
		}
	case class&classDigit != 0, c == '+', c == '-', c == '.':
		if t.kind = l.number(); t.kind == tokenEnd {
			l.unexpected()
			return t, false
		}
	case c == '"', c == '\'':
		return l.literal(t)
	case class&classMark != 0:
		t.kind = tokenKind(c)
		l.at++
	default:
		l.unexpected()
		return t, false
	}
	t.text = l.text[start:l.at]
	return t, true
}

// skipBlank passes over blanks, line ends and comments.
func (l *lexer) skipBlank() {
	for l.at < len(l.text) {
		c := l.text[l.at]
		switch {
		case c == '\n':
			l.at++
			l.newline()
		case classes[c] == classBlank:
			l.at++
		case c == '#', c == '/' && strings.HasPrefix(l.text[l.at:], "//"):
			if end := strings.IndexByte(l.text[l.at:], '\n'); end >= 0 {
				l.at += end
			} else {
				l.stop()
			}
		case c == '/' && strings.HasPrefix(l.text[l.at:], "/*"):
			l.blockComment()
		default:
			return
		}
	}
}

// newline counts a line, with l.at behind its end.
func (l *lexer) newline() {
	l.line++
	l.lineStart = l.at
	l.first = true
}

func (l *lexer) blockComment() {
	size := strings.Index(l.text[l.at+2:], "*/")
	if size < 0 {
		l.report.fault(l.position(l.at), fault.SchemaSyntax, "this comment is not closed")
		l.stop()
		return
	}
	for end := l.at + 2 + size + 2; l.at < end; {
		if line := strings.IndexByte(l.text[l.at:end], '\n'); line >= 0 {
			l.at += line + 1
			l.newline()
		} else {
			l.at = end
		}
	}
}

// word reads an identifier: letters and digits with dots between them.
func (l *lexer) word() {
	for l.at++; l.at < len(l.text); l.at++ {
		c := l.text[l.at]
		if classes[c]&(classLetter|classDigit) != 0 {
			continue
		}
		if c != '.' || l.at+1 >= len(l.text) || classes[l.text[l.at+1]]&(classLetter|classDigit) == 0 {
			return
		}
	}
}

// number reads an integer or a double and returns which, or tokenEnd where there is none:
//
//	[+-] digits | [+-] 0x hex digits | [+-] [digits] [. digits] [e [+-] digits]
func (l *lexer) number() tokenKind {
	at := l.at
	if c := l.text[at]; c == '+' || c == '-' {
		at++
	}
	if strings.HasPrefix(l.text[at:], "0x") {
		if end := l.run(at+2, classHex); end > at+2 {
			l.at = end
			return tokenInteger
		}
	}
	end := l.run(at, classDigit)
	kind := tokenEnd
	if end > at {
		kind = tokenInteger
	}
	if end < len(l.text) && l.text[end] == '.' {
		if fraction := l.run(end+1, classDigit); fraction > end+1 {
			end, kind = fraction, tokenDouble
		}
	}
	if kind == tokenEnd {
		return kind
	}
	if end < len(l.text) && l.text[end]|0x20 == 'e' {
		digits := end + 1
		if digits < len(l.text) && (l.text[digits] == '+' || l.text[digits] == '-') {
			digits++
		}
		if exponent := l.run(digits, classDigit); exponent > digits {
			end, kind = exponent, tokenDouble
		}
	}
	l.at = end
	return kind
}

// run returns the end of the characters of a class that start at an offset.
func (l *lexer) run(at int, class uint8) int {
	for at < len(l.text) && classes[l.text[at]]&class != 0 {
		at++
	}
	return at
}

// literal reads a quoted text, which ends in its line.
func (l *lexer) literal(t token) (token, bool) {
	start := l.at
	quote := l.text[start]
	t.kind = tokenLiteral
	valid := true
	for l.at++; l.at < len(l.text); l.at++ {
		switch c := l.text[l.at]; c {
		case quote:
			t.text = l.text[start+1 : l.at]
			if !valid { // it stays a literal, for the parser's sake
				t.text, t.escaped = "", false
			}
			l.at++
			return t, true
		case '\\':
			t.escaped = true
			l.at++
			if l.at < len(l.text) && strings.IndexByte(escapes, l.text[l.at]) < 0 {
				l.report.fault(l.position(l.at-1), fault.SchemaSyntax, `unknown escape: there are \r, \n, \t, \", \' and \\`)
				valid = false
				l.at--
				if l.report.full {
					l.stop()
				}
			}
		case '\n':
			l.report.fault(l.position(start), fault.SchemaSyntax, "this text is not closed in its line")
			t.escaped = false
			return t, true
		}
	}
	l.stop() // a backslash may have led past the end
	l.report.fault(l.position(start), fault.SchemaSyntax, "this text is not closed")
	return t, false
}

// escapes are the characters that may follow a backslash, and escaped what they stand for.
const (
	escapes = `rnt"'\`
	escaped = "\r\n\t\"'\\"
)

// value returns what a literal stands for.
func (t *token) value() string {
	if !t.escaped {
		return t.text
	}
	var b strings.Builder
	b.Grow(len(t.text))
	for i := 0; i < len(t.text); i++ {
		c := t.text[i]
		if c == '\\' {
			i++ // an escape is whole, or the token would not be
			c = escaped[strings.IndexByte(escapes, t.text[i])]
		}
		b.WriteByte(c)
	}
	return b.String()
}

// unexpected reports the character here and passes over it.
func (l *lexer) unexpected() {
	place := l.position(l.at)
	r, size := utf8.DecodeRuneInString(l.text[l.at:])
	if r == utf8.RuneError && size == 1 {
		l.report.fault(place, fault.SchemaSyntax, "unexpected byte 0x%02x", l.text[l.at])
	} else {
		l.report.fault(place, fault.SchemaSyntax, "unexpected character %q", r)
	}
	l.at += size
}
