package encoder

import "unicode/utf8"

// Protobuf lets the same value be written in ways that only make sense after merging: a singular member twice, a packed run
// in parts or not packed, varints that are longer than needed. The fast path takes none of that. A normaliser turns such wire
// bytes into those that a protobuf runtime would write after reading them, without building objects: a message whose
// parts are scattered is a list of spans of the input. It goes over the input twice, to learn the size of every message,
// and to write.
//
// The rules of merging, of which the last two need the spans:
//
//	singular scalar          the last one wins
//	oneof                    the last member wins; one of another kind takes away what was there before
//	packed column            parts and single elements are joined in their order
//	repeated message         each is an element of its own
//	singular message         the contents of all are joined, and merged by these rules
type normaliser struct {
	in       []byte
	maxDepth int
	failure  failure
	e        *Encoder // whose Stop is asked

	left       int  // how many more members there may be
	discarding bool // what is walked will be taken away, so that nobody else checks its texts

	writing bool
	size    int    // of what was seen so far, in the first pass
	out     []byte // what was written so far, in the second pass
	sizes   []int  // of messages and packed runs, in the order in which they begin
	next    int    // of sizes, in the second pass
	spans   []span // a stack: the parts of the messages that are open
}

// span is in[start:end].
type span struct{ start, end int }

const (
	// keepBytes and keepItems bound the scratch memory that an idle normaliser keeps.
	keepBytes = 64 << 10
	keepItems = 4 << 10
	// memberScratch is what sizes and spans take for each member at most, in bytes. Each has an item for a message, and grows by a
	// quarter beside what it grows from.
	memberScratch = 3 * (8 + 16)
)

// normalise replaces the value by its normal form and returns false after a fault of it.
func (e *Encoder) normalise() bool {
	e.slowPath = true
	limit := e.options.Limits.SlowNodes
	if limit < 1 {
		return e.fail(causeNodes, 0, e.end, 1, 0)
	}
	n := &e.normal
	n.in, n.maxDepth, n.e = e.in, e.maxDepth, e
	n.left = limit - 1 // the value itself counts
	if !n.count(messageValue, span{0, e.end}, 0) {
		e.failure = n.failure
		return false
	}
	if !e.reserve(memberScratch * int64(limit-n.left)) {
		return false
	}
	if !n.oneof(0, e.end, false, 0) {
		e.failure = n.failure
		return false
	}
	if !e.reserve(int64(n.size)) {
		return false
	}
	if cap(n.out) < n.size {
		n.out = make([]byte, 0, n.size)
	}
	n.writing, n.next = true, 0
	if !n.oneof(0, e.end, false, 0) {
		e.failure = n.failure
		return false
	}
	e.in, e.end, e.failure.cause = n.out, len(n.out), causeNone
	return true
}

// count counts the members of the message m in s, at every depth, and stops where there are too many. Malformed bytes are passed
// over: they are found when they are normalised.
func (n *normaliser) count(m message, s span, depth int) bool {
	for at := s.start; at < s.end; {
		if n.left--; n.left < 0 {
			return n.tooMany()
		}
		if !n.tick() {
			return false
		}
		r, ok := readMember(n.in, at, s.end)
		if !ok {
			return true
		}
		at = r.next
		child, _ := m.child(r.tag >> 3)
		if child != messageNone && r.tag&7 == wireBytes && depth < 3*MaxDepth && !n.count(child, span{r.start, r.end}, depth+1) {
			return false
		}
	}
	return true
}

// tooMany fails with more members than allowed: one more, at least.
func (n *normaliser) tooMany() bool {
	n.failure = failure{cause: causeNodes, end: n.e.end, got: int64(n.e.options.Limits.SlowNodes) + 1}
	return false
}

// release lets go of the input and of scratch memory beyond what is worth keeping.
func (n *normaliser) release() {
	if n.in == nil {
		return
	}
	clear(n.out)
	out, sizes, spans := n.out[:0], n.sizes[:0], n.spans[:0]
	*n = normaliser{}
	if cap(out) <= keepBytes {
		n.out = out
	}
	if cap(sizes) <= keepItems {
		n.sizes = sizes
	}
	if cap(spans) <= keepItems {
		n.spans = spans
	}
}

// read reads the member at in[at:] of the message in[of.start:of.end], which has the members.
func (n *normaliser) read(at int, of span, members uint16) (r record, ok bool) {
	if !n.tick() {
		return r, false
	}
	r, ok = readMember(n.in, at, of.end)
	hasTag := ok || r.tag != 0
	switch number := r.tag >> 3; {
	case hasTag && (number > kindString || members>>number&1 == 0), r.cause == causeWireType:
		n.failure = tagFailure(r.tag, of.start, of.end, members)
		return r, false
	case ok:
		return r, true
	case r.cause == causeOverflow:
		return r, n.fail(causeOverflow, span{r.start, r.end}, 64)
	}
	return r, n.fail(r.cause, of, 0)
}

// fail records a failure and returns false.
func (n *normaliser) fail(c cause, where span, want int64) bool {
	n.failure = failure{cause: c, start: where.start, end: where.end, want: want}
	return false
}

// tick counts a step and returns false when Stop says so.
func (n *normaliser) tick() bool {
	if !n.e.tick() {
		n.failure = n.e.failure
		return false
	}
	return true
}

// begin opens a message or packed run with its tag and size; end closes it.
func (n *normaliser) begin(tag byte) (index, size int) {
	n.putVarint(uint64(tag))
	if n.writing {
		n.putVarint(uint64(n.sizes[n.next])) // not negative
		n.next++
		return 0, 0
	}
	n.sizes = append(n.sizes, 0)
	return len(n.sizes) - 1, n.size
}

func (n *normaliser) end(index, size int) {
	if !n.writing {
		n.sizes[index] = n.size - size
		n.size += SizeVarint(uint64(n.size - size)) // not negative
	}
}

func (n *normaliser) putVarint(v uint64) {
	if n.writing {
		n.out = AppendVarint(n.out, v)
	} else {
		n.size += SizeVarint(v)
	}
}

func (n *normaliser) putBytes(s span) {
	if n.writing {
		n.out = append(n.out, n.in[s.start:s.end]...)
	} else {
		n.size += s.end - s.start
	}
}

// oneof normalises the Value or (withID) Field in[at:end].
func (n *normaliser) oneof(at, end int, withID bool, depth int) bool {
	whole, bottom := span{at, end}, len(n.spans)
	members := uint16(valueMembers)
	if withID {
		members = fieldMembers
	}
	var id uint64
	var last record // the scalar that counts, or any part of the message that does
	var kind uint8
	for at < end {
		r, ok := n.read(at, whole, members)
		if !ok {
			return false
		}
		at = r.next
		number := uint8(r.tag >> 3) // read saw that it is a member
		if number == memberFirst && r.tag&7 == wireVarint {
			id = r.value
			continue
		}
		if number == memberFirst || r.tag&7 != uint64(kindWire[number]) {
			n.failure = tagFailure(r.tag, whole.start, whole.end, members)
			return false
		}
		child, _ := messageValue.child(r.tag >> 3)
		if kind != 0 && (kind != number || child == messageNone) {
			if !n.discard(kind, last, bottom, depth) {
				return false
			}
			n.spans = n.spans[:bottom]
		}
		kind, last = number, r
		if child != messageNone {
			n.spans = append(n.spans, span{r.start, r.end})
		}
	}
	if id != 0 {
		n.putVarint(tagID)
		n.putVarint(id)
	}
	ok := kind == 0 || n.payload(kind, last, bottom, depth) // the fast path tells of a missing kind
	n.spans = n.spans[:bottom]
	return ok
}

// discard checks what another member of the oneof takes away: a protobuf runtime refuses it, too, where it is malformed.
func (n *normaliser) discard(kind uint8, last record, bottom, depth int) bool {
	if n.writing {
		return true // the first pass saw it
	}
	size, sizes, before := n.size, len(n.sizes), n.discarding
	n.discarding = true
	ok := n.payload(kind, last, bottom, depth)
	n.size, n.sizes, n.discarding = size, n.sizes[:sizes], before
	return ok
}

// payload normalises the member that counts, with its tag. The parts of a message are the spans from bottom on.
func (n *normaliser) payload(kind uint8, last record, bottom, depth int) bool {
	tag := kind<<3 | kindWire[kind]
	child, _ := messageValue.child(uint64(kind))
	if child != messageNone {
		index, size := n.begin(tag)
		ok := n.message(child, bottom, depth+1)
		n.end(index, size)
		return ok
	}
	n.putVarint(uint64(tag))
	switch kindWire[kind] {
	case wireVarint:
		if kind == kindBool {
			last.value = min(last.value, 1)
		}
		n.putVarint(last.value)
	case wireFixed64:
		n.putBytes(span{last.start, last.end})
	default:
		return n.text(kind, span{last.start, last.end})
	}
	return true
}

// text normalises a string, a binary or a uuid without its tag.
func (n *normaliser) text(kind uint8, s span) bool {
	if n.discarding && kind == kindString && !utf8.Valid(n.in[s.start:s.end]) {
		return n.fail(causeUTF8, s, 0)
	}
	n.putVarint(uint64(s.end - s.start)) // not negative
	n.putBytes(s)
	return true
}

// message normalises the contents of the message whose parts are the spans from bottom on.
func (n *normaliser) message(m message, bottom, depth int) bool {
	if depth > n.maxDepth {
		n.failure = failure{cause: causeDepth, start: n.spans[bottom].start, end: n.spans[bottom].end, got: int64(depth)}
		return false
	}
	switch m {
	case messageStruct:
		return n.fields(bottom, depth)
	case messageMap:
		return n.sides(bottom, depth, tagKeys) && n.sides(bottom, depth, tagValues)
	default:
		return n.list(bottom, depth)
	}
}

// fields normalises a Struct.
func (n *normaliser) fields(bottom, depth int) bool {
	for i, top := bottom, len(n.spans); i < top; i++ {
		part := n.spans[i]
		for at := part.start; at < part.end; {
			r, ok := n.read(at, part, structMembers)
			if !ok {
				return false
			}
			at = r.next
			if r.tag != tagFields {
				n.failure = tagFailure(r.tag, part.start, part.end, structMembers)
				return false
			}
			index, size := n.begin(tagFields)
			ok = n.oneof(r.start, r.end, true, depth)
			n.end(index, size)
			if !ok {
				return false
			}
		}
	}
	return true
}

// sides normalises the keys or the values of a Map: the member of the tag.
func (n *normaliser) sides(bottom, depth int, tag byte) bool {
	top := len(n.spans)
	for i := bottom; i < top; i++ {
		part := n.spans[i]
		for at := part.start; at < part.end; {
			r, ok := n.read(at, part, mapMembers)
			if !ok {
				return false
			}
			at = r.next
			if r.tag != tagKeys && r.tag != tagValues {
				n.failure = tagFailure(r.tag, part.start, part.end, mapMembers)
				return false
			}
			if r.tag == uint64(tag) {
				n.spans = append(n.spans, span{r.start, r.end})
			}
		}
	}
	ok := true
	if len(n.spans) > top {
		index, size := n.begin(tag)
		ok = n.list(top, depth)
		n.end(index, size)
	}
	n.spans = n.spans[:top]
	return ok
}
