package encoder

import (
	"encoding/binary"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// bulkKind gives the kind of the value that has the form of a member of Part.
var bulkKind = [7]uint8{partFields: kindStruct, partElements: kindList, partEntries: kindMap}

// bulkMessage gives the message that a member of Part is.
var bulkMessage = [7]message{partFields: messageStruct, partElements: messageList, partEntries: messageMap}

// bulk writes the whole fields, elements or entries in[at:end].
func (p *Parts) bulk(number uint8, at, end int) bool {
	e, top := &p.e, p.top()
	switch {
	case number == partElements && (top == nil || top.kind == kindList || top.kind == kindSet):
	case number == partFields && top != nil && top.kind == kindStruct:
	case number == partEntries && top != nil && top.kind == kindMap:
	default:
		return p.misplaced(number)
	}
	p.root = root{partNames[number], bulkMessage[number], span{at, end}}
	before := p.Written()
	if p.walk(number) {
		return true
	}
	if p.fault != nil || e.failure.cause != causeSlow {
		return false
	}
	p.wrap(bulkKind[number], e.in[at:end])
	if !p.normalise(len(p.open) - 1) {
		return false
	}
	return p.again(p.Written()-before, number)
}

// walk writes the whole fields, elements or entries at the root.
func (p *Parts) walk(number uint8) bool {
	switch number {
	case partFields:
		return p.walkFields()
	case partElements:
		return p.walkElements()
	case partEntries:
		return p.walkEntries()
	}
	return p.walkKey()
}

// walkFields writes the Struct at the root as fields of the open struct.
func (p *Parts) walkFields() bool {
	top := p.top()
	last, ok := p.e.fieldRun(p.root.span.start, p.root.span.end, int(top.lastID), len(p.open))
	if ok {
		top.lastID = int32(last) // a field id
	}
	return ok
}

// walkElements writes the List at the root as elements of the open list or set, or as a root of its own.
func (p *Parts) walkElements() bool {
	e, top := &p.e, p.top()
	c, ok := e.column(p.root.span.start, p.root.span.end)
	switch {
	case !ok:
		return false
	case top == nil:
		if c.count != 1 {
			return p.fail("elements", fault.CountMismatch, "%d values, want one: nothing is open", c.count)
		}
		if !p.another("elements", c.kind) || !e.elements(&c, 0) {
			return false
		}
		p.roots++
		return true
	case !p.fits("elements", &c, top.element) || !p.count("elements", c.count):
		return false
	case c.count > 0 && !e.elements(&c, len(p.open)):
		return false
	}
	top.left -= int32(c.count) // at most left
	return true
}

// walkEntries writes the Map at the root as entries of the open map.
func (p *Parts) walkEntries() bool {
	e, top := &p.e, p.top()
	keys, values, ok := e.sides(p.root.span.start, p.root.span.end)
	if !ok || !p.fits("entries.keys", &keys, top.key) || !p.fits("entries.values", &values, top.element) ||
		!p.count("entries", keys.count) || !e.entries(&keys, &values, len(p.open)) {
		return false
	}
	top.left -= int32(keys.count) // at most left
	return true
}

// fits checks that a column holds what was declared. One without elements need not say its type.
func (p *Parts) fits(path string, c *column, want uint8) bool {
	if c.kind == want || c.kind == 0 {
		return true
	}
	return p.fail(path, fault.TypeMismatch, "%s, want %s as declared", typeName(int64(c.kind)), typeName(int64(want)))
}

// count checks that no more come than were declared.
func (p *Parts) count(path string, n int) bool {
	top := p.top()
	if n <= int(top.left) {
		return true
	}
	return p.fail(path, fault.CountMismatch, "%d, but only %d of %d are left", n, top.left, top.size)
}

// wrap puts a message, as the member of the kind, into value.
func (p *Parts) wrap(kind uint8, content []byte) {
	p.value = append(p.value[:0], kind<<3|wireBytes)
	p.value = binary.AppendUvarint(p.value, uint64(len(content)))
	p.value = append(p.value, content...)
}

// normalise replaces what is walked by the normal form of value, which stands below so many open containers. It moves the root.
func (p *Parts) normalise(below int) bool {
	e := &p.e
	// Where it fails, faults have their places in value.
	e.in, e.end, e.failure.cause = p.value, len(p.value), causeNone
	p.rebase()
	if !p.reserve(e.end) {
		return false
	}
	e.maxDepth -= below
	ok := e.normalise()
	e.maxDepth += below
	if !ok {
		if e.failure.cause == causeDepth {
			e.failure.got += int64(below)
		}
		return false
	}
	p.rebase()
	return true
}

// rebase moves the root to what e.in holds now: a Value, or one as whose member the part was wrapped.
func (p *Parts) rebase() {
	e := &p.e
	p.root.span = span{0, e.end}
	if p.root.message == messageValue {
		return
	}
	if r, ok := readMember(e.in, 0, e.end); ok {
		p.root.span = span{r.start, r.end}
	}
}

// again walks what was normalised. The first walk has written the first bytes of the output, skip of them, before it found
// that the part has to be normalised: since no walk writes anything of a message before it has seen all of its
// members, they are the same.
func (p *Parts) again(skip int64, number uint8) bool {
	e, d := &p.e, &p.detour
	if e.out != nil {
		e.clearSpill()
	}
	*d = detour{sink: e.sink, buf: e.out, filled: e.written, passed: e.passed, skip: skip, room: e.scratch[:]}
	e.sink, e.out, e.written = d, d.room, 0
	ok := p.walk(number)
	if ok {
		if err := d.take(e.written); err != nil {
			e.sinkErr = err
			ok = e.fail(causeSink, 0, 0, 0, 0)
		}
	}
	e.sink, e.out, e.written, e.passed = d.sink, d.buf, d.filled, d.passed
	*d = detour{}
	return ok
}

// detour is a Sink before another that leaves out the first bytes.
type detour struct {
	sink   Sink
	buf    []byte // lent by sink
	filled int    // of buf
	passed int64  // what left by way of sink
	skip   int64  // what is still to be left out
	room   []byte // what is lent
}

// Next takes the first filled bytes of room and lends it again.
func (d *detour) Next(filled int) ([]byte, error) {
	if err := d.take(filled); err != nil {
		return nil, err
	}
	return d.room, nil
}

// take copies the first filled bytes of room to the buffers of the sink.
func (d *detour) take(filled int) error {
	from := d.room[min(int64(filled), d.skip):filled]
	d.skip -= int64(filled - len(from))
	for {
		n := copy(d.buf[d.filled:], from)
		d.filled += n
		if from = from[n:]; len(from) == 0 {
			return nil
		}
		buf, err := lend(d.sink, d.filled)
		d.passed += int64(d.filled)
		d.buf, d.filled = buf, 0
		if err != nil {
			return err
		}
	}
}
