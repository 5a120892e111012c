package jsonvalue

import (
	"strconv"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// memberName reads the name of a member of the struct, whatever its form, and the colon behind it. Where the type has no such field, it
// reads the value as well and returns nil.
func (e *Encoder) memberName(o *openStruct, depth int) (field *schema.Field, ok bool) {
	at := e.at
	name, ok := e.name()
	if !ok {
		return nil, false
	}
	if known := o.FieldByName(name); known != nil {
		return known, true
	}
	if id, ok := fieldNumber(name); ok {
		return nil, e.unnamed(o, id, at, depth)
	}
	return nil, e.unknownName(at, o.Struct.Name, name, depth)
}

// name reads the name of a member and the colon behind it. It aliases the text, or plain, until the next string is read.
func (e *Encoder) name() (name []byte, ok bool) {
	if e.at >= len(e.in) || e.in[e.at] != '"' {
		return nil, e.failSyntax(e.at, "the name of a member")
	}
	if name, ok = e.content(nil); !ok {
		return nil, false
	}
	return name, e.colon()
}

// colon reads the colon between a name and a value.
func (e *Encoder) colon() bool {
	at := scanSpace(e.in, e.at)
	if at >= len(e.in) || e.in[at] != ':' {
		return e.failSyntax(at, "':'")
	}
	e.at = scanSpace(e.in, at+1)
	return true
}

// unknownName ignores the value of a member that the type does not have, or fails with its name.
func (e *Encoder) unknownName(at int, typeName string, name []byte, depth int) bool {
	if e.options.IgnoreUnknown {
		return e.skip(depth)
	}
	return e.fail(at, fault.UnknownName, "%s has no member %s", typeName, shortName(name))
}

// shortName returns a name for a message: quoted, and not too long.
func shortName(name []byte) string {
	const most = 64
	if len(name) > most {
		return strconv.QuoteToASCII(string(name[:most])) + "…"
	}
	return strconv.QuoteToASCII(string(name))
}

// fieldNumber returns the field id that a name is: a number in its only form, which no name in IDL is.
func fieldNumber(name []byte) (id int16, ok bool) {
	if len(name) > len("-32768") {
		return 0, false
	}
	number, next, ok := scanInteger(name, 0)
	if !ok || next != len(name) || number != int64(int16(number)) || number == 0 && len(name) > 1 {
		return 0, false
	}
	return int16(number), true
}

// closing reads what comes behind an element or a member: a comma, or the end, which is the byte last.
func (e *Encoder) closing(last byte) (end, ok bool) {
	at := scanSpace(e.in, e.at)
	switch {
	case at < len(e.in) && e.in[at] == ',':
		e.at = scanSpace(e.in, at+1)
		return false, true
	case at < len(e.in) && e.in[at] == last:
		e.at = at + 1
		return true, true
	default:
		return false, e.failSyntax(at, "',' or '"+string(rune(last))+"'")
	}
}

// opening reads the byte that begins an array or an object, and says whether it ends at once, with the byte last.
func (e *Encoder) opening(last byte) (empty bool) {
	e.at = scanSpace(e.in, e.at+1)
	if e.at < len(e.in) && e.in[e.at] == last {
		e.at++
		return true
	}
	return false
}

// word reads true, false or null, of which the first letter was seen.
func (e *Encoder) word(word string) bool {
	rest := e.in[e.at:]
	for i := range len(word) {
		if i >= len(rest) || rest[i] != word[i] {
			return e.failSyntax(e.at+i, word)
		}
	}
	e.at += len(word)
	return true
}

// skip reads a value that nobody wants, and checks its syntax. It is inside of something at the depth.
func (e *Encoder) skip(depth int) bool {
	if !e.tick() {
		return false
	}
	if e.at >= len(e.in) {
		return e.failSyntax(e.at, "a value")
	}
	switch c := e.in[e.at]; c {
	case '{', '[':
		return e.skipContainer(c+2, depth+1) // the closing ones are two above the opening ones
	case '"':
		_, ok := e.quoted(nil)
		return ok
	case 't':
		return e.word("true")
	case 'f':
		return e.word("false")
	case 'n':
		return e.word("null")
	default:
		end, ok := scanNumber(e.in, e.at)
		if !ok && end == e.at {
			return e.failSyntax(end, "a value")
		}
		if !ok {
			return e.failSyntax(end, "a number")
		}
		e.at = end
		return true
	}
}

// skipContainer skips an array or an object that ends with the byte last.
func (e *Encoder) skipContainer(last byte, depth int) bool {
	if depth > e.maxDepth {
		return e.failDepth(depth)
	}
	if e.opening(last) {
		return true
	}
	for {
		if last == '}' {
			if _, ok := e.name(); !ok {
				return false
			}
		}
		if !e.skip(depth) {
			return false
		}
		if end, ok := e.closing(last); end || !ok {
			return ok
		}
	}
}
