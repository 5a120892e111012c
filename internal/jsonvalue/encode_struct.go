package jsonvalue

import (
	"cmp"
	"slices"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// encodeMember is a field of an open struct, in the order of the text. Only structs whose members are not in ascending order of
// their ids look at it again.
type encodeMember struct {
	start, end uint32 // of the payload in the scratch memory
	at         uint32 // of the name in the text
	mark       uint32 // the index of the last mark before it
	id         int16
	code       uint8 // the type in its header
	from       memberFrom
}

const memberBytes = 20

// memberFrom says how a member came to be.
type memberFrom uint8

const (
	fromDefault memberFrom = iota // it was absent so far; what comes later takes its place
	fromText
	fromNull // it has no bytes
)

// openStruct is what is known of a struct whose members are being read.
type openStruct struct {
	*schema.Struct
	at        int    // of the object in the text
	start     int    // in the scratch memory
	base      int    // of the members
	before    uint32 // the index of the last mark before it
	highest   int32  // the highest id so far
	lastID    int16  // the id of the last header
	expected  int    // which of the expected fields comes next
	missing   int    // the index of a required field that was not there in its place, or -1
	given     int    // how many members have a value
	unordered bool
}

// beforeAll is less than every field id.
const beforeAll = -1 << 15

// structure reads an object as a struct, union or exception.
func (e *Encoder) structure(t *schema.Type, depth int) bool {
	in := e.in
	if e.at >= len(in) || in[e.at] != '{' {
		return e.failType(t, "an object")
	}
	if depth > e.maxDepth {
		return e.failDepth(depth)
	}
	if !e.tick() {
		return false
	}
	o := openStruct{
		Struct: t.Struct, at: e.at, start: e.written, base: len(e.members), before: e.last, highest: beforeAll - 1, missing: -1,
	}
	e.at = scanSpace(in, e.at+1)
	if e.at < len(in) && in[e.at] == '}' {
		e.at++
		return e.closeStruct(&o)
	}
	next := 0 // the index of the field that is likely to be next
	for {
		if !e.room(0) {
			return false
		}
		field, at := (*schema.Field)(nil), e.at
		if next < len(o.Fields) {
			key := o.Fields[next].JSONKey
			if len(in)-at > len(key) && string(in[at:at+len(key)]) == string(key) {
				field = &o.Fields[next]
				if e.at = at + len(key); in[e.at] <= ' ' {
					e.at = scanSpace(in, e.at)
				}
			}
		}
		if field == nil {
			found, ok := e.memberName(&o, next, depth)
			if !ok {
				return false
			}
			field = found
		}
		if field != nil {
			if !e.member(&o, field, at, depth) {
				if e.fault != nil {
					return e.underName(field.Name)
				}
				return false
			}
			next = field.Index + 1
		}
		at = e.at
		if at < len(in) && in[at] <= ' ' {
			at = scanSpace(in, at)
		}
		switch {
		case at < len(in) && in[at] == ',':
			if at++; at < len(in) && in[at] <= ' ' {
				at = scanSpace(in, at)
			}
			e.at = at
		case at < len(in) && in[at] == '}':
			e.at = at + 1
			return e.closeStruct(&o)
		default:
			return e.failSyntax(at, "',' or '}'")
		}
	}
}

// member reads the value of a field whose name is at the position.
func (e *Encoder) member(o *openStruct, field *schema.Field, at, depth int) bool {
	if e.at < len(e.in) && e.in[e.at] == 'n' {
		return e.nullMember(o, field, at)
	}
	id := field.ID
	if int32(id) > o.highest {
		if o.expected < len(o.Expected) && o.Expected[o.expected] <= field.Index && !e.absent(o, field.Index) {
			return false
		}
		o.highest = int32(id)
	} else {
		o.unordered = true
	}
	o.given++
	kind := field.Type.Kind
	code := e.codes[kind&15]
	if kind == thriftpackv1.Type_TYPE_BOOL && !e.binary {
		value, ok := e.boolean(field.Type)
		if !ok {
			return false
		}
		if code = compactFalse; value {
			code = compactTrue
		}
		e.putHeader(o, id, code)
		return e.addMember(encodeMember{start: uint32(e.written), end: uint32(e.written), at: uint32(at), mark: e.last, id: id, code: code, from: fromText})
	}
	e.putHeader(o, id, code)
	start, mark := e.written, e.last
	ok := false
	switch kind {
	case thriftpackv1.Type_TYPE_I8, thriftpackv1.Type_TYPE_I16, thriftpackv1.Type_TYPE_I32, thriftpackv1.Type_TYPE_I64:
		ok = e.integer(field.Type)
	case thriftpackv1.Type_TYPE_STRING:
		ok = e.text(field.Type)
	case thriftpackv1.Type_TYPE_DOUBLE:
		ok = e.double(field.Type)
	default:
		ok = e.value(field.Type, depth+1)
	}
	return ok && e.addMember(encodeMember{
		start: uint32(start), end: uint32(e.written), at: uint32(at), mark: mark, id: id, code: code, from: fromText,
	})
}

// addMember notes a member. All of its numbers are at most 2^32-1, as the text and the scratch memory are.
func (e *Encoder) addMember(m encodeMember) (ok bool) {
	if len(e.members) < cap(e.members) {
		e.members = append(e.members, m)
		return true
	}
	e.members, ok = push(e, e.members, m, memberBytes)
	return ok
}

// nullMember reads the null of a field, which is as good as absent, but counts as one when it is looked for a second.
func (e *Encoder) nullMember(o *openStruct, field *schema.Field, at int) bool {
	if !e.word("null") {
		return false
	}
	if int32(field.ID) > o.highest {
		if !e.absent(o, field.Index+1) {
			return false
		}
		o.highest = int32(field.ID)
	} else {
		o.unordered = true
	}
	return e.addMember(encodeMember{at: uint32(at), id: field.ID, from: fromNull})
}

// absent deals with the expected fields before that of the index: those with a default value are written, for now, and what is missing is
// noted. Should one of them come later, the struct is not in order, and all is looked at again.
func (e *Encoder) absent(o *openStruct, index int) bool {
	for o.expected < len(o.Expected) && o.Expected[o.expected] < index {
		field := &o.Fields[o.Expected[o.expected]]
		o.expected++
		switch {
		case field.Default == nil:
			if o.missing < 0 {
				o.missing = field.Index
			}
		case field.Requirement == schema.Required || !e.options.OmitDefaults:
			if !e.defaultMember(o, field) {
				return false
			}
		}
	}
	if o.expected < len(o.Expected) && o.Expected[o.expected] == index {
		o.expected++
	}
	return true
}

// defaultMember writes a field with its default value.
func (e *Encoder) defaultMember(o *openStruct, field *schema.Field) bool {
	payload, code := field.Default.Compact, e.codes[field.Type.Kind&15]
	if e.binary {
		payload = field.Default.Binary
	} else if field.Type.Kind == thriftpackv1.Type_TYPE_BOOL {
		code, payload = payload[0], nil
	}
	if !e.room(len(payload)) {
		return false
	}
	e.ticks -= len(payload) / 64
	e.putHeader(o, field.ID, code)
	start := e.written
	e.written += copy(e.out[start:], payload)
	return e.addMember(encodeMember{
		start: uint32(start), end: uint32(e.written), at: uint32(e.at), mark: e.last, id: field.ID, code: code, from: fromDefault,
	}) && e.room(0)
}

// putHeader writes the header of a field into the room made before.
//
//	compact  dddd tttt               when 1 <= id-lastID <= 15
//	         0000 tttt, zigzag id    otherwise
//	binary   type, two bytes id
func (e *Encoder) putHeader(o *openStruct, id int16, code uint8) {
	if step := int(id) - int(o.lastID); !e.binary && uint(step-1) < 15 { // wraps for steps below 1, on purpose
		e.out[e.written] = byte(step)<<4 | code
		e.written++
	} else {
		e.written = len(e.appendHeader(e.out[:e.written], o.lastID, id, code))
	}
	o.lastID = id
}

// closeStruct writes the end of a struct.
func (e *Encoder) closeStruct(o *openStruct) bool {
	if o.expected < len(o.Expected) && !e.absent(o, len(o.Fields)) {
		return false
	}
	switch {
	case o.Union && o.given != 1:
		return e.fail(o.at, fault.UnionArity, "%d members of the union %s, want 1", o.given, o.Name)
	case o.unordered:
		if !e.sortMembers(o) {
			return false
		}
	case o.missing >= 0:
		return e.failMissing(o, o.missing)
	}
	e.ticks -= len(e.members) - o.base
	e.members = e.members[:o.base]
	if !e.room(0) {
		return false
	}
	e.putByte(0)
	return true
}

// failMissing fails with a required field that is absent.
func (e *Encoder) failMissing(o *openStruct, index int) bool {
	e.fail(o.at, fault.MissingField, "required field is missing")
	return e.underName(o.Fields[index].Name)
}

// compareMembers orders members by their ids, and those of one id by their place in the text, but a default value first.
func compareMembers(a, b encodeMember) int {
	return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(min(a.from, fromText), min(b.from, fromText)), cmp.Compare(a.at, b.at))
}

// sortMembers makes the moves that put the members of a struct in order, in time that grows with their number, not with their size.
func (e *Encoder) sortMembers(o *openStruct) bool {
	members := e.members[o.base:]
	slices.SortFunc(members, compareMembers)
	self, first := uint32(len(e.marks)), len(e.moves)
	inside := func(mark uint32) uint32 { // the last mark before a piece: the struct's own where there is none inside of the struct
		if mark == o.before {
			return self
		}
		return mark
	}
	size, lastID, expected := int64(0), int16(0), 0
	for i, m := range members {
		if i > 0 && m.id == members[i-1].id && members[i-1].from != fromDefault {
			return e.failTwice(o, &m)
		}
		if m.from == fromNull {
			continue
		}
		if m.from == fromDefault && i+1 < len(members) && members[i+1].id == m.id && members[i+1].from == fromText {
			continue
		}
		for expected < len(o.Expected) && o.Fields[o.Expected[expected]].ID <= m.id {
			if field := &o.Fields[o.Expected[expected]]; field.ID != m.id && field.Default == nil {
				return e.failMissing(o, field.Index)
			}
			expected++
		}
		if !e.addMove(encodeMove{start: m.start, end: m.end, mark: inside(m.mark), header: true, code: m.code, id: m.id}) {
			return false
		}
		size += e.headerSize(lastID, m.id) + int64(m.end-m.start)
		lastID = m.id
	}
	for ; expected < len(o.Expected); expected++ {
		if field := &o.Fields[o.Expected[expected]]; field.Default == nil {
			return e.failMissing(o, field.Index)
		}
	}
	moves := uint32(len(e.moves) - first) // fewer than bytes
	if moves == 0 {
		return true
	}
	if !e.addMove(encodeMove{start: uint32(e.written), mark: inside(e.last)}) {
		return false
	}
	e.extra += size - int64(e.written-o.start)
	return e.insertMark(o.before, encodeMark{at: uint32(o.start), moves: moves, first: uint32(first)})
}

// failTwice fails with a member that was given before.
func (e *Encoder) failTwice(o *openStruct, m *encodeMember) bool {
	if field := o.FieldByID(m.id); field != nil {
		e.fail(int(m.at), fault.DuplicateField, "field is given twice")
		return e.underName(field.Name)
	}
	return e.fail(int(m.at), fault.DuplicateField, "field %d is given twice", m.id)
}
