package jsonvalue

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// compareMembers orders members by their ids, and puts a default value before what was given.
func compareMembers(a, b encodeMember) int {
	return cmp.Or(cmp.Compare(a.id(), b.id()), cmp.Compare(a.from(), b.from()))
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
	for i := range members {
		m := &members[i]
		id, from := m.id(), m.from()
		if i > 0 && id == members[i-1].id() && members[i-1].from() != fromDefault {
			return e.failTwice(o, id)
		}
		if from == fromNull || from == fromDefault && i+1 < len(members) && members[i+1].id() == id && members[i+1].from() == fromText {
			continue
		}
		for expected < len(o.Expected) && o.Fields[o.Expected[expected]].ID <= id {
			if field := &o.Fields[o.Expected[expected]]; field.ID != id && field.Default == nil {
				return e.failMissing(o, field.Index)
			}
			expected++
		}
		if !e.addMove(encodeMove{start: m.start, end: m.end, mark: inside(m.mark()), header: true, code: m.code(), id: id}) {
			return false
		}
		size += e.headerSize(lastID, id) + int64(m.end-m.start)
		lastID = id
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

// failTwice fails with a field that was given before. It reads the object again to find where.
func (e *Encoder) failTwice(o *openStruct, id int16) bool {
	field := o.FieldByID(id)
	times := 0
	e.at = o.at
	e.opening('}')
	for {
		at := e.at
		name, ok := e.name()
		if !ok {
			return false // never: all of it was read before
		}
		if field != nil && string(name) == field.Name {
			times++
		} else if number, ok := fieldNumber(name); ok && field == nil && number == id {
			times++
		}
		if times == 2 {
			e.fail(at, fault.DuplicateField, "field is given twice")
			if field == nil {
				return e.underName(strconv.Itoa(int(id)))
			}
			return e.underName(field.Name)
		}
		if !e.skip(0) {
			return false
		}
		if end, ok := e.closing('}'); end || !ok {
			return e.fail(o.at, fault.DuplicateField, "field %d is given twice", id)
		}
	}
}
