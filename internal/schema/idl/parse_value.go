package idl

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// rawKind says what a value is as written.
type rawKind uint8

const (
	rawInteger rawKind = iota
	rawDouble
	rawText
	rawName  // of a constant or of an enum's value; the linker makes it a rawConst or a rawInteger
	rawConst // a reference
	rawWrong // what was reported
	rawList
	rawMap
)

// raw is a value as written, of no type yet.
type raw struct {
	kind         rawKind
	line, column int32
	// number is that of a rawInteger, or the bits of a rawDouble.
	number uint64
	// text is that of a rawText or a rawName.
	text string
	// constant is that of a rawConst.
	constant *Const
	// first is the first of the elements of a rawList, or of the keys and values of a rawMap in turns, count how many there
	// are, and next the one behind this in the list or map that it is in.
	first, next *raw
	count       int32
}

// value reads a constant value, nested in so many others.
func (p *parser) value(depth int) (*raw, bool) {
	if depth >= p.report.limits.Nesting {
		p.report.overLimit(p.here(), fault.DepthLimit, "values in values", p.report.limits.Nesting, depth+1)
		return nil, false
	}
	t := p.tok
	v := p.newRaws.take()
	v.line, v.column = t.line, t.column
	if !p.spend(&t, valueBytes) {
		return nil, false
	}
	switch t.kind {
	case tokenInteger:
		number, ok := p.integer()
		v.kind, v.number = rawInteger, uint64(number) //nolint:gosec // the bits are kept
		if !ok {
			p.report.fault(p.place(&t), fault.SchemaConstRange, "%s is not in 64 bits", clip(t.text))
			v.kind = rawWrong
		}
	case tokenDouble:
		number, err := strconv.ParseFloat(t.text, 64)
		v.kind, v.number = rawDouble, math.Float64bits(number)
		if errors.Is(err, strconv.ErrRange) {
			p.report.fault(p.place(&t), fault.SchemaConstRange, "%s is not in the range of a double", clip(t.text))
			v.kind = rawWrong
		}
		p.advance()
	case tokenLiteral:
		v.kind, v.text = rawText, t.value()
		p.advance()
		return v, p.spend(&t, len(v.text))
	case tokenWord:
		switch {
		case t.text == "true":
			v.kind, v.number = rawInteger, 1
		case t.text == "false":
			v.kind = rawInteger
		case keywords[t.text] != 0:
			return nil, p.expected("a value")
		default:
			v.kind, v.text = rawName, t.text
		}
		p.advance()
		if p.tok.kind == '{' && v.kind == rawName {
			p.unsupported(&t, "a struct's name before its value")
			return nil, false
		}
	case '[':
		v.kind = rawList
		return v, p.values(v, depth, ']')
	case '{':
		v.kind = rawMap
		return v, p.values(v, depth, '}')
	default:
		return nil, p.expected("a value")
	}
	return v, true
}

// spend counts bytes of constants as they are written, and reports the first too many.
func (p *parser) spend(t *token, bytes int) bool {
	p.report.limits.pause()
	p.budget.constants += bytes
	most := p.report.limits.ConstantBytes
	if p.budget.constants > most {
		p.report.overLimit(p.place(t), fault.SizeLimit, "bytes of constants", most, p.budget.constants)
	}
	return p.budget.constants <= most
}

// values reads the items of a list or a map up to its closing mark.
func (p *parser) values(into *raw, depth int, closing byte) bool {
	opening := p.tok
	p.advance()
	for end := &into.first; !p.mark(closing); p.separator() {
		if p.tok.kind == tokenEnd {
			return p.unclosed(&opening)
		}
		item, ok := p.value(depth + 1)
		if !ok {
			return false
		}
		*end, end = item, &item.next
		into.count++
		if closing == ']' {
			continue
		}
		if !p.expectMark(':', "after a key") {
			return false
		}
		if item, ok = p.value(depth + 1); !ok {
			return false
		}
		*end, end = item, &item.next
		into.count++
	}
	return true
}

// unclosed reports that the file ends inside a bracket.
func (p *parser) unclosed(opening *token) bool {
	p.report.fault(p.place(opening), fault.SchemaSyntax, "this %q is not closed", opening.text)
	return false
}

// integer takes an integer, and says whether it is in 64 bits.
func (p *parser) integer() (int64, bool) {
	text := p.tok.text
	p.advance()
	sign := ""
	switch text[0] {
	case '-':
		sign, text = "-", text[1:]
	case '+':
		text = text[1:]
	}
	base := 10
	if digits, hex := strings.CutPrefix(text, "0x"); hex {
		base, text = 16, digits
	}
	number, err := strconv.ParseInt(sign+text, base, 64)
	return number, err == nil
}

// annotations reads annotations where there are any. They are of no use here.
func (p *parser) annotations() bool {
	opening := p.tok
	if !p.mark('(') {
		return true
	}
	for !p.mark(')') {
		p.report.limits.pause()
		if p.tok.kind == tokenEnd {
			return p.unclosed(&opening)
		}
		if p.tok.kind != tokenWord {
			return p.expected("the name of an annotation")
		}
		p.advance()
		if p.mark('=') {
			if _, ok := p.literal("the quoted text of an annotation"); !ok {
				return false
			}
		}
		p.separator()
	}
	return true
}
