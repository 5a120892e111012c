package jsonvalue

import (
	"math"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// encodeMember is a field of an open struct, in the order of the text. Only structs whose members are not in ascending order of
// their ids look at it again. It is packed, since one is written for each field.
type encodeMember struct {
	start, end uint32 // of the payload in the scratch memory
	info       uint64 // from the lowest bits: memberFrom, the type in the header, the id, the index of the last mark before it
}

const memberBytes = 16

// memberInfo packs the info of a member.
func memberInfo(from memberFrom, code uint8, id int16, mark uint32) uint64 {
	return uint64(from) | uint64(code)<<8 | uint64(uint16(id))<<16 | uint64(mark)<<32 // the bits of id are meant
}

func (m *encodeMember) from() memberFrom { return memberFrom(m.info) }
func (m *encodeMember) code() uint8      { return uint8(m.info >> 8) }
func (m *encodeMember) id() int16        { return int16(m.info >> 16) }
func (m *encodeMember) mark() uint32     { return uint32(m.info >> 32) }

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

// memberOrder is which field is likely to come after which: at first that with the next higher id, and then what came after it last time.
// Whoever writes many structs of a type writes their members in the same order, though it be that of the alphabet; to compare
// one name is faster than to find it.
type memberOrder struct {
	of   *schema.Struct
	next [64]uint8 // by 1 more than the index of the field before, which is 0 at the beginning
}

func (m *memberOrder) reset(s *schema.Struct) {
	m.of, m.next = s, usualOrder
}

func (m *memberOrder) after(last int) int {
	if last < len(m.next) {
		return int(m.next[last])
	}
	return last
}

func (m *memberOrder) learn(last, index int) {
	if last < len(m.next) && index <= math.MaxUint8 {
		m.next[last] = uint8(index)
	}
}

// usualOrder is that of the ids.
var usualOrder = func() (next [64]uint8) {
	for i := range next {
		next[i] = uint8(i)
	}
	return next
}()

// beforeAll is less than every field id.
const beforeAll = math.MinInt16 - 1

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
		Struct: t.Struct, at: e.at, start: e.written, base: len(e.members), before: e.last, highest: beforeAll, missing: -1,
	}
	if e.opening('}') {
		return e.closeStruct(&o)
	}
	order := &e.orders[depth%len(e.orders)]
	if order.of != o.Struct {
		order.reset(o.Struct)
	}
	for last := 0; ; { // 1 more than the index of the field before
		if !e.room(0) {
			return false
		}
		field, at := (*schema.Field)(nil), e.at
		if next := order.after(last); next < len(o.Fields) {
			key := o.Fields[next].JSONKey
			if len(in)-at > len(key) && string(in[at:at+len(key)]) == string(key) {
				field = &o.Fields[next]
				if e.at = at + len(key); in[e.at] <= ' ' {
					e.at = scanSpace(in, e.at)
				}
			}
		}
		if field == nil {
			found, ok := e.memberName(&o, depth)
			if !ok {
				return false
			}
			if field = found; field != nil {
				order.learn(last, field.Index)
			}
		}
		if field != nil {
			if !e.member(&o, field, depth) {
				return e.underName(field.Name)
			}
			last = field.Index + 1
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

// addMember notes a member that ends here. Positions are at most 2^32-1, as the scratch memory is.
func (e *Encoder) addMember(start int, info uint64) (ok bool) {
	n := len(e.members)
	if n == cap(e.members) {
		e.members, ok = push(e, e.members, encodeMember{uint32(start), uint32(e.written), info}, memberBytes)
		return ok
	}
	e.members = e.members[:n+1]
	m := &e.members[n]
	m.start, m.end, m.info = uint32(start), uint32(e.written), info
	return true
}

// member reads the value of a field.
func (e *Encoder) member(o *openStruct, field *schema.Field, depth int) bool {
	if e.at < len(e.in) && e.in[e.at] == 'n' {
		return e.nullMember(o, field.ID, field.Index)
	}
	id, kind := field.ID, field.Type.Kind
	if int32(id) > o.highest {
		if o.expected < len(o.Expected) && o.Expected[o.expected] <= field.Index {
			if !e.absent(o, field.Index) {
				return false
			}
			if o.expected < len(o.Expected) && o.Expected[o.expected] == field.Index {
				o.expected++
			}
		}
		o.highest = int32(id)
	} else {
		o.unordered = true
	}
	o.given++
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
		return e.addMember(e.written, memberInfo(fromText, code, id, e.last))
	}
	e.putHeader(o, id, code)
	start, info := e.written, memberInfo(fromText, code, id, e.last)
	var ok bool
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
	return ok && e.addMember(start, info)
}

// nullMember reads the null of a field, which is as good as absent, but counts as one when it is looked for a second. index is that of the
// field, or of the first one of a higher id where the type does not have it.
func (e *Encoder) nullMember(o *openStruct, id int16, index int) bool {
	if !e.word("null") {
		return false
	}
	if int32(id) > o.highest {
		if !e.absent(o, index+1) {
			return false
		}
		o.highest = int32(id)
	} else {
		o.unordered = true
	}
	return e.addMember(e.written, memberInfo(fromNull, 0, id, e.last))
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
	return e.addMember(start, memberInfo(fromDefault, code, field.ID, e.last)) && e.room(0)
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
		if !e.orderMembers(o) {
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
