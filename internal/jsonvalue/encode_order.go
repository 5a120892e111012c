package jsonvalue

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// order is what members are sorted by: their ids, and a default value before what was given.
func (m *encodeMember) order() int32 { return int32(m.id())<<8 | int32(m.from()) }

// sortMembers sorts the members of a struct.
func sortMembers(members []encodeMember) {
	if len(members) > 16 {
		slices.SortFunc(members, func(a, b encodeMember) int { return cmp.Compare(a.order(), b.order()) })
		return
	}
	for i := 1; i < len(members); i++ { // they are in order but for a few, mostly
		m := members[i]
		key := m.order()
		j := i
		for ; j > 0 && members[j-1].order() > key; j-- {
			members[j] = members[j-1]
		}
		members[j] = m
	}
}

// orderMembers puts the members of a struct in the order of their ids, each once.
func (e *Encoder) orderMembers(o *openStruct) bool {
	members := e.members[o.base:]
	sortMembers(members)
	kept, expected := 0, 0
	for i := range members {
		m := members[i]
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
		members[kept] = m
		kept++
	}
	for ; expected < len(o.Expected); expected++ {
		if field := &o.Fields[o.Expected[expected]]; field.Default == nil {
			return e.failMissing(o, field.Index)
		}
	}
	switch members = members[:kept]; {
	case kept == 0:
		return true
	case e.last == o.before && e.written-o.start <= len(e.small):
		return e.moveSmall(o, members)
	default:
		return e.moveLater(o, members)
	}
}

// moveSmall moves the members of a small struct to their places at once.
func (e *Encoder) moveSmall(o *openStruct, members []encodeMember) bool {
	if !e.room(3 * len(members)) { // no header gets longer by more
		return false
	}
	small := e.small[:copy(e.small[:], e.out[o.start:e.written])]
	e.written, o.lastID = o.start, 0
	for i := range members {
		m := &members[i]
		e.putHeader(o, m.id(), m.code())
		payload := small[int(m.start)-o.start : int(m.end)-o.start]
		if len(payload) <= 16 && len(e.small)-(int(m.start)-o.start) >= 16 {
			*(*[16]byte)(e.out[e.written:]) = *(*[16]byte)(e.small[int(m.start)-o.start:]) // most are short
			e.written += len(payload)
			continue
		}
		e.written += copy(e.out[e.written:], payload)
	}
	return true
}

// moveLater makes the moves that put the members of a struct in their places when they are copied to the target: so their bytes are moved but
// once, however many structs around them are out of order as well.
func (e *Encoder) moveLater(o *openStruct, members []encodeMember) bool {
	self, first := uint32(len(e.marks)), len(e.moves)
	inside := func(mark uint32) uint32 { // the last mark before a piece: the struct's own where there is none inside of the struct
		if mark == o.before {
			return self
		}
		return mark
	}
	size, lastID := int64(0), int16(0)
	for i := range members {
		m := &members[i]
		if !e.addMove(encodeMove{start: m.start, end: m.end, mark: inside(m.mark()), header: true, code: m.code(), id: m.id()}) {
			return false
		}
		size += e.headerSize(lastID, m.id()) + int64(m.end-m.start)
		lastID = m.id()
	}
	if !e.addMove(encodeMove{start: uint32(e.written), mark: inside(e.last)}) {
		return false
	}
	e.extra += size - int64(e.written-o.start)
	return e.insertMark(o.before, encodeMark{at: uint32(o.start), moves: uint32(len(members)), first: uint32(first)})
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
