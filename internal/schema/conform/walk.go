package conform

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/valuewire"
)

// verdict is what the check of a value came to.
type verdict uint8

const (
	fits    verdict = iota
	foreign         // lenient: the value is not what its type says, and the field that it is in is an unknown one
	failed          // the failure is recorded
)

// member checks the value m of type t that is a member of a Value, or of a Field whose record begins with the length at
// record. It returns by how many bytes the record changes.
func (c *Checker) member(t *schema.Type, m *valuewire.Member, record span, depth int) (delta int, v verdict) {
	kind := kindOf(t)
	switch {
	case m.Kind == kind && !valuewire.IsContainer(kind) && !valuewire.IsText(kind):
		return 0, fits
	case valuewire.IsText(kind) && valuewire.IsText(m.Kind):
		return 0, c.text(t, m)
	case m.Kind != kind:
		return 0, c.mismatch(t, m.Kind, m.Start, m.End, atHeader)
	}
	if c.lenient && record.end > 0 && !HasShape(c.in, t, m.Start, m.End, c.tick) {
		return 0, foreign
	}
	opened := len(c.patches)
	if record.end > 0 {
		var ok bool
		if opened, ok = c.open(int(record.start), int(record.end)); !ok {
			return 0, failed
		}
	}
	delta, ok := c.container(t, kind, m.Tag+1, m.Start, m.End, depth+1)
	if !ok {
		return 0, failed
	}
	if record.end > 0 {
		delta = c.close(opened, m.Next-int(record.end), delta)
	}
	return delta, fits
}

// fieldOf returns the field of s that m is, or nil where m is an unknown one.
func (c *Checker) fieldOf(s *schema.Struct, m *valuewire.Member) *schema.Field {
	if s == nil {
		return nil
	}
	f := s.FieldByID(int16(m.ID))
	if f == nil || !c.lenient {
		return f
	}
	kind := kindOf(f.Type)
	if m.Kind != kind && !(valuewire.IsText(kind) && valuewire.IsText(m.Kind)) {
		return nil
	}
	if valuewire.IsContainer(kind) && !HasShape(c.in, f.Type, m.Start, m.End, c.tick) {
		return nil
	}
	return f
}

// mismatch fails with a value of another kind than t's.
func (c *Checker) mismatch(t *schema.Type, kind uint8, start, end int, at place) verdict {
	if c.lenient && len(c.steps) > 0 {
		return foreign
	}
	c.failKind(t, kind, start, end, at)
	return failed
}

// failKind records that a value has another kind than t's.
func (c *Checker) failKind(t *schema.Type, kind uint8, start, end int, at place) {
	c.fail(fault.TypeMismatch, start, end, at, "kind is %s, but %s is declared", typeName(kind), describe(t))
}

// describe names a type, and its kind where that does not show.
func describe(t *schema.Type) string {
	if t.Struct != nil || t.Enum != nil {
		return t.Name + " (" + typeName(kindOf(t)) + ")"
	}
	return t.Name
}

// text checks a string or binary that is a member.
func (c *Checker) text(t *schema.Type, m *valuewire.Member) verdict {
	kind := kindOf(t)
	switch {
	case m.Kind == kind:
		return fits
	case !c.decoding:
		return c.mismatch(t, m.Kind, m.Start, m.End, atHeader)
	case kind == valuewire.String && !utf8.Valid(c.in[m.Start:m.End]):
		if c.lenient {
			return fits // it stays binary
		}
		c.fail(fault.BadUTF8, m.Start, m.End, atData, "string is not valid UTF-8")
		return failed
	}
	c.in[m.Tag] = valuewire.RecordTag(kind)
	return fits
}

// container checks the list, set, map or struct of type t, or of any type where t is nil, whose message is in[start:end] and has its
// length at in[length:start]. It returns by how many bytes length and message change. depth is its own.
func (c *Checker) container(t *schema.Type, kind uint8, length, start, end, depth int) (delta int, ok bool) {
	if depth > c.maxDepth {
		return 0, c.form() // the encoder says so
	}
	var s *schema.Struct
	done := progress{at: start}
	if kind == valuewire.Struct && t != nil {
		s = t.Struct
		done = c.usualRun(s, done, end)
		if done.at == end && !s.Union && done.required >= s.Required {
			return 0, c.tick() // which is all that there is to most structs
		}
		if c.lenient {
			done = progress{at: start} // fields that follow may take the place of those
		}
	}
	opened, ok := c.open(length, start)
	if !ok {
		return 0, false
	}
	switch kind {
	case valuewire.Struct:
		delta, ok = c.fields(s, done, opened, start, end, depth)
	case valuewire.Map:
		delta, ok = c.pairs(t, opened, start, end, depth)
	default:
		delta, ok = c.list(t, kind, opened, start, end, depth)
	}
	if !ok {
		return 0, false
	}
	return c.close(opened, end-start, delta), true
}

// tally is what a struct was seen to have.
type tally struct {
	known, unknown, required int
	second                   int // how many fields stand before the second one
}

// add counts known fields that follow each other, the first of which has so many before it.
func (y *tally) add(known, before int) {
	if seen := y.known + y.unknown; seen < 2 {
		y.second = before + 1 - seen
	}
	y.known += known
}

// fields checks the fields of the Struct in[start:end], but for those that are done. A nil struct is one without a type: all of
// its fields are unknown.
func (c *Checker) fields(s *schema.Struct, done progress, opened, start, end, depth int) (delta int, ok bool) {
	if !c.tick() {
		return 0, false
	}
	in, top := c.in, len(c.steps)
	c.steps = append(c.steps, step{})
	drops := len(c.drops)
	if c.lenient && !c.findRepeated(s, start, end) {
		return 0, false
	}
	seen := tally{required: done.required}
	seen.add(done.count, 0)
	next, last, isOrdered := drops, math.MinInt, true // last is the last id that is kept
	dropped := -1                                     // where the last field ends that was dropped
	if done.guess > 0 {
		last = int(s.Fields[done.guess-1].ID)
	}
	for done.at < end {
		before := done.count
		if s != nil && next == len(c.drops) && done.guess < len(s.Fields) && int(s.Fields[done.guess].ID) > last {
			done = c.usualRun(s, done, end)
			if done.count > before {
				seen.add(done.count-before, before)
				last, before = int(s.Fields[done.guess-1].ID), done.count
			}
			if done.at == end {
				break
			}
		}
		done.count++
		record := done.at
		m, ok := valuewire.Field(in, record, end)
		if !ok {
			return 0, c.form()
		}
		done.at = m.Next
		if next < len(c.drops) && int(c.drops[next]) == before {
			next++
			change, ok := c.drop(record, m.Next, dropped == record)
			if !ok {
				return 0, false
			}
			delta += change
			dropped = m.Next
			continue
		}
		c.steps[top] = step{stepField, int16(m.ID), int32(before)}
		var f *schema.Field
		if s != nil {
			f = s.FieldByID(int16(m.ID))
		}
		if f != nil {
			patches := len(c.patches)
			change, v := c.member(f.Type, &m, lengthOf(in, record), depth)
			switch v {
			case fits:
				delta += change
			case foreign:
				c.patches = c.patches[:patches]
				f = nil
			case failed:
				return 0, false
			}
		}
		if f == nil {
			change, kept, ok := c.unknownField(s, &m, record, depth, dropped == record)
			if !ok {
				return 0, false
			}
			delta += change
			if seen.unknown++; seen.known+seen.unknown == 2 {
				seen.second = before
			}
			if !kept {
				if c.decoding {
					dropped = m.Next
				}
				continue
			}
		} else {
			done.guess = f.Index + 1
			if f.Requirement == schema.Required {
				done.required++
			}
			seen.add(1, before)
		}
		if m.ID <= last {
			isOrdered = false
		}
		last = m.ID
	}
	seen.required = done.required
	if !isOrdered && !c.order(s, opened, start, end, c.drops[drops:next]) {
		return 0, false
	}
	c.drops = c.drops[:drops]
	if s != nil && !seen.meets(s) && !c.complain(s, &seen, top, start, end) {
		return 0, false
	}
	c.steps = c.steps[:top]
	return delta, true
}

// progress says how far into a struct the check is. With one field more, Go would keep it in memory.
type progress struct {
	at       int // where the next field begins
	guess    int // the number among the fields of the type of that which comes next, if they come in order
	count    int // how many fields stand before it
	required int // how many required fields there were
}

// usualFields checks fields from p.at on as long as they have the usual form, are the next ones of s, and are scalars or text. It
// calls hardly anything, so that its variables stay in registers: with it, a field takes a third of the time.
func (c *Checker) usualFields(s *schema.Struct, p progress, end int) progress {
	in, fields, decoding, at, first := c.in, s.Fields, c.decoding, p.at, p.guess
	for at < end && len(in)-at >= valuewire.HeadRoom && p.guess < len(fields) {
		head, f := valuewire.ReadHead(in, at), &fields[p.guess]
		size := head.Size()
		if !head.IsUsual() || int(f.ID) != head.ID() || at+size > end {
			break
		}
		switch declared, kind := kindOf(f.Type), head.Kind(); {
		case kind == declared:
			if valuewire.IsContainer(kind) || !decoding && !head.IsWhole(in, at) {
				goto stop
			}
		case decoding && kind == valuewire.Binary && declared == valuewire.String:
			if text := in[at+valuewire.HeadSize+1 : at+size]; !isASCII(text) && !utf8.Valid(text) {
				goto stop
			}
			in[at+valuewire.HeadSize-1] = valuewire.RecordTag(valuewire.String)
		default:
			goto stop
		}
		if f.Requirement == schema.Required {
			p.required++
		}
		at += size
		p.guess++
	}
stop:
	p.count += p.guess - first
	p.at = at
	return p
}

// usualRun is usualFields where fields may be absent between others.
func (c *Checker) usualRun(s *schema.Struct, p progress, end int) progress {
	for {
		p = c.usualFields(s, p, end)
		if p.at == end || end-p.at < valuewire.HeadRoom || p.guess == len(s.Fields) {
			return p
		}
		f := s.FieldAfter(p.guess, int16(valuewire.ReadHead(c.in, p.at).ID()))
		if f == nil || f.Index == p.guess {
			return p
		}
		p.guess = f.Index
	}
}

// isASCII reports whether text is ASCII, which is the UTF-8 that most short text is.
func isASCII(text []byte) bool {
	for len(text) >= 8 {
		if binary.LittleEndian.Uint64(text)&tops != 0 {
			return false
		}
		text = text[8:]
	}
	for _, b := range text {
		if b >= 0x80 {
			return false
		}
	}
	return true
}

// tops is the top bit of eight bytes.
const tops = 0x8080808080808080

// lengthOf returns the span of the length of the Field record at in[at:], which was read before.
func lengthOf(in []byte, at int) span {
	start := at + 2
	for in[start-1] >= 0x80 {
		start++
	}
	return span{uint32(at + 1), uint32(start)}
}

// meets reports whether a struct has what s asks for: its required fields, or of a union one member.
func (y *tally) meets(s *schema.Struct) bool {
	if s.Union {
		return y.known+y.unknown == 1
	}
	return y.required >= s.Required
}

// complain fails with a required field that is absent, or with a union that has not one member, or returns true where that is
// taken. top is the number of the step into the struct.
func (c *Checker) complain(s *schema.Struct, seen *tally, top, start, end int) bool {
	if !s.Union {
		c.failOutside(fault.MissingField, start, end, "required field is missing")
		c.failure.name = c.missing(s, start, end)
		return false
	}
	if c.lenient && seen.known <= 1 {
		return true
	}
	count := seen.known + seen.unknown
	c.failOutside(fault.UnionArity, start, end, "%d members of a union are set, want 1", count)
	if count > 1 {
		c.steps[top] = step{kind: stepField, index: int32(seen.second)}
		c.failure.at, c.failure.inside = atHeader, true
	}
	return false
}

// missing returns the name of the first required field that the Struct in[start:end] does not have.
func (c *Checker) missing(s *schema.Struct, start, end int) string {
	present := make([]bool, len(s.Fields))
	for at := start; at < end; {
		m, _ := valuewire.Field(c.in, at, end) // it was read before
		if f := c.fieldOf(s, &m); f != nil {
			present[f.Index] = true
		}
		at = m.Next
	}
	for i := range s.Fields {
		if s.Fields[i].Requirement == schema.Required && !present[i] {
			return s.Fields[i].Name
		}
	}
	return ""
}
