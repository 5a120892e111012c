package encoder

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// The members of a Part.
const (
	partBegin    = 1
	partFields   = 2
	partElements = 3
	partEntries  = 4
	partData     = 5
	partEnd      = 6

	partMembers = 1<<partBegin | 1<<partFields | 1<<partElements | 1<<partEntries | 1<<partData | 1<<partEnd
)

// partNames are the names of the members of Part.
var partNames = [7]string{
	partBegin: "begin", partFields: "fields", partElements: "elements", partEntries: "entries", partData: "data", partEnd: "end",
}

// step encodes the part in in[:end].
func (p *Parts) step() bool {
	e := &p.e
	p.root = root{}
	if e.end == 0 {
		return p.fail("", fault.MissingKind, "no part is set")
	}
	if number := e.in[0] >> 3; e.in[0]&7 == wireBytes && number >= partBegin && number <= partEnd {
		if at, stop, ok := e.span(1, e.end); ok && stop == e.end {
			return p.take(number, at, stop)
		}
	}
	return p.merge()
}

// take encodes the part whose only member is in[at:end].
func (p *Parts) take(number uint8, at, end int) bool {
	switch number {
	case partBegin:
		return p.begin(at, end)
	case partData:
		return p.data(at, end)
	case partEnd:
		return p.close(at, end)
	}
	return p.bulk(number, at, end)
}

// top returns what is open innermost, nil at the root.
func (p *Parts) top() *opened {
	if len(p.open) == 0 {
		return nil
	}
	return &p.open[len(p.open)-1]
}

// misplaced fails with a part that the place does not allow.
func (p *Parts) misplaced(number uint8) bool {
	if top := p.top(); top != nil {
		return p.fail(partNames[number], fault.TypeMismatch, "no place for %s: open is a %s", partNames[number], typeName(int64(top.kind)))
	}
	return p.fail(partNames[number], fault.TypeMismatch, "no place for %s: nothing is open", partNames[number])
}

// another checks that one more root of the kind may come.
func (p *Parts) another(path string, kind uint8) bool {
	switch {
	case !p.message:
		return true
	case p.roots > 0:
		return p.fail(path, fault.CountMismatch, "a message holds one value")
	case kind != kindStruct:
		return p.fail(path, fault.TypeMismatch, "a message needs a STRUCT, not %s", typeName(int64(kind)))
	}
	return true
}

// data writes bytes of the open string or binary.
func (p *Parts) data(at, end int) bool {
	top := p.top()
	if top == nil || top.kind != kindString && top.kind != kindBinary {
		return p.misplaced(partData)
	}
	if end-at > int(top.left) {
		return p.fail("data", fault.CountMismatch, "%d bytes, but only %d of %d are left", end-at, top.left, top.size)
	}
	left := top.left - int32(end-at) // at most left
	if top.kind == kindString {
		state, ok := nextText(top.utf8State, p.e.in, at, end)
		if !ok || left == 0 && state != utf8Accept {
			return p.fail("data", fault.BadUTF8, "not valid UTF-8")
		}
		top.utf8State = state
	}
	top.left = left
	return p.e.copyInput(at, end)
}

// nextText runs the automaton of utf8Rows over in[at:end], a part of a text that may begin and end in the middle of a
// character, and returns the state behind it, or false where the text cannot be valid UTF-8.
func nextText(from uint8, in []byte, at, end int) (state uint8, ok bool) {
	s := uint64(from)
	for ; at < end && s != utf8Accept; at++ {
		if s = utf8Rows[in[at]] >> s & 63; s == utf8Reject {
			return 0, false
		}
	}
	whole := end - unfinishedRune(in[at:end])
	if !isText(in, at, whole) {
		return 0, false
	}
	for ; whole < end; whole++ {
		s = utf8Rows[in[whole]] >> s & 63
	}
	return uint8(s), s != utf8Reject // 6 bits
}

// unfinishedRune returns how many bytes at the end of text, up to three, are the start of a character that goes on.
func unfinishedRune(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		switch b := text[len(text)-n]; {
		case b < 0x80:
			return 0
		case b >= 0xf0, b >= 0xe0 && n < 3, b >= 0xc0 && n < 2:
			return n
		case b >= 0xc0:
			return 0
		}
	}
	return 0
}

// close closes what is open innermost; in[at:end] is the End, which has no members.
func (p *Parts) close(at, end int) bool {
	e := &p.e
	p.root = root{name: "end", span: span{at, end}}
	if at < end {
		_, ok := p.member(at, span{at, end}, 0)
		return ok
	}
	top := p.top()
	switch {
	case top == nil:
		return p.misplaced(partEnd)
	case top.left > 0:
		return p.fail("end", fault.CountMismatch, "%d of %d are missing", top.left, top.size)
	case top.kind == kindStruct:
		if !e.room() {
			return false
		}
		e.putByte(0)
	}
	p.open = p.open[:len(p.open)-1]
	if len(p.open) == 0 {
		p.roots++
	}
	return true
}

// member reads the member at in[at:] of the message in the span of, whose members are a bit for each number.
func (p *Parts) member(at int, of span, members uint16) (r record, ok bool) {
	e := &p.e
	r, ok = readMember(e.in, at, of.end)
	number := r.tag >> 3
	switch hasTag := ok || r.tag != 0; {
	case hasTag && (number > kindString || members>>number&1 == 0), r.cause == causeWireType:
		return r, e.badTag(r.tag, of.start, of.end, members)
	case !ok && r.cause == causeOverflow:
		return r, e.fail(causeOverflow, of.start, of.end, 0, 64)
	case !ok:
		return r, e.fail(r.cause, of.start, of.end, 0, 0)
	}
	return r, true
}

// putFieldHeader writes the header of a field that is a container, string or binary into the room made before.
func (p *Parts) putFieldHeader(kind uint8, lastID, id int32) {
	e := &p.e
	if e.binary {
		e.putByte(binaryType[kind])
		binary.BigEndian.PutUint16(e.out[e.written:], uint16(id)) // two's complement of a value within range
		e.written += 2
		return
	}
	header := AppendFieldHeader(e.out[:e.written], int16(lastID), int16(id), compactType[kind]) // within range
	e.written = len(header)
}
