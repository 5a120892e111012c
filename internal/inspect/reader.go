package inspect

import (
	"fmt"
	"slices"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// maxFaults is how many faults are marked before a reader gives up on the bytes.
const maxFaults = 8

// plan is one way to read some bytes.
type plan struct {
	protocol        Protocol // Compact or Binary
	framed, message bool
}

// found is a fault, and the place where it was met.
type found struct {
	offset, length int // of the bytes it is about; both may be the end of the input
	reason         fault.Reason
	detail         string
	place          []step
}

// reader goes through bytes once, in the order in which they stand, and says what each is. It goes on after a fault
// that leaves no doubt where the next item starts, and stops at others.
type reader struct {
	data []byte // aliases the input
	pos  int
	end  int // of what may be read: the input's, or the frame's
	plan plan
	o    *Options

	emit   func(*row) error // nil while only checking
	muted  int              // above 0 inside what is elided
	rows   int              // emitted
	shown  int              // the end of the last emitted row with bytes
	indent int
	depth  int // of structs and containers
	row    row // lent to emit
	err    error

	place    []step
	faults   []found // met in this pass
	expected []found // met in an earlier pass: what leads to them is never elided
	dead     bool    // what comes next is not known
	body     int     // where the bytes start that are more than a length, which any bytes may be
	records  int     // values behind the first that are to be shown as well

	// The place in a container that the next row belongs to.
	index int
	part  string
	// The type that is declared for the value that is read next, nil where none is known.
	declared *schema.Type

	envelope envelope
	tally    tally
}

// envelope is what an RPC envelope says.
type envelope struct {
	headed bool   // it starts with a protocol id or version
	form   string // compact, strict, unversioned, or "" without one
	name   string
	typ    int32
	seqID  int32
}

// run reads everything: frame, envelope, value, and looks for bytes behind them.
func (r *reader) run() {
	if r.record() && r.pos < len(r.data) {
		what := "value"
		if r.plan.framed {
			what = "frame"
		}
		r.trailing(what, len(r.data))
		for i := range r.records {
			if w := r.start(kindRecord, r.pos, r.pos); w != nil {
				w.count = int64(i) + 2
				r.put(w)
			}
			r.record()
		}
	}
	if r.emit != nil && r.err == nil && r.shown < len(r.data) && len(r.faults) > 0 {
		r.indent = 0
		r.put(r.start(kindRest, r.shown, len(r.data)))
	}
}

// record reads one value with what is around it. It says false where what comes next is not known.
func (r *reader) record() bool {
	r.end, r.index, r.part = len(r.data), noIndex, ""
	ok := !r.plan.framed || r.frame()
	r.body = r.pos
	if !ok || (r.plan.message && !r.message()) {
		return false
	}
	r.declare(r.o.Type, r.root())
	if !r.value(r.root()) {
		return false
	}
	if r.plan.framed && r.pos < r.end {
		r.trailing("value", r.end)
		return false
	}
	return true
}

func (r *reader) root() thriftpackv1.Type {
	switch r.o.Root {
	case thriftpackv1.Type_TYPE_UNSPECIFIED:
		return thriftpackv1.Type_TYPE_STRUCT
	case thriftpackv1.Type_TYPE_STRING:
		return thriftpackv1.Type_TYPE_BINARY
	default:
		return r.o.Root
	}
}

func (r *reader) trailing(behind string, to int) {
	verb := "follow"
	if to-r.pos == 1 {
		verb = "follows"
	}
	r.fault(r.pos, 1, fault.TrailingBytes, "%s %s the %s", plural(to-r.pos, "byte"), verb, behind)
}

// showing says whether rows are shown right now; what only rows need is not made otherwise.
func (r *reader) showing() bool { return r.emit != nil && r.muted == 0 && r.err == nil }

// start returns the row of [from, to), or nil where none is shown. It is valid until the next call.
func (r *reader) start(k kind, from, to int) *row {
	if !r.showing() {
		return nil
	}
	r.row = row{kind: k, offset: from, bytes: r.data[from:to:to], depth: r.indent, index: noIndex, count: -1}
	return &r.row
}

// startHere is start for the bytes from up to where the reader stands, with the place that the row belongs to.
func (r *reader) startHere(k kind, from int) *row {
	w := r.start(k, from, r.pos)
	if w != nil {
		w.index, w.part = r.index, r.part
	}
	return w
}

// put shows what start returned.
func (r *reader) put(w *row) {
	if w == nil {
		return
	}
	r.rows++
	if len(w.bytes) > 0 {
		r.shown = w.offset + len(w.bytes)
	}
	if err := r.emit(w); err != nil {
		r.err, r.dead = err, true
	}
}

// fault notes what is wrong with the length bytes at offset, and marks them.
func (r *reader) fault(offset, length int, reason fault.Reason, format string, args ...any) {
	if len(r.faults) >= maxFaults {
		r.dead = true
		return
	}
	length = min(length, len(r.data)-offset)
	f := found{offset: offset, length: length, reason: reason, place: slices.Clone(r.place)}
	f.detail = fmt.Sprintf(format, args...)
	r.faults = append(r.faults, f)
	if r.records == 0 && offset+length > r.shown && r.shown < len(r.data) {
		// The mark needs something to stand under.
		to := min(max(offset+length, r.shown+1), len(r.data))
		if w := r.start(kindBad, r.shown, to); w != nil {
			w.marked = true
			r.put(w)
		}
	}
	if w := r.start(kindFault, offset, offset+length); w != nil {
		w.reason, w.note = reason, f.detail
		shown := r.shown
		r.put(w)
		r.shown = max(shown, r.shown)
	}
}

// refuse is fault for what leaves no way to go on; it returns false.
func (r *reader) refuse(offset, length int, reason fault.Reason, format string, args ...any) bool {
	r.fault(offset, length, reason, format, args...)
	r.dead = true
	return false
}

// truncated refuses an item that the input ends in or before.
func (r *reader) truncated(what string) bool {
	return r.refuse(r.end, 0, fault.Truncated, "the input ends inside %s", what)
}

// take returns the next n bytes, which alias the input, or refuses.
func (r *reader) take(n int, what string) ([]byte, bool) {
	if r.end-r.pos < n {
		return nil, r.truncated(what)
	}
	b := r.data[r.pos : r.pos+n : r.pos+n]
	r.pos += n
	return b, true
}

// gap counts what is elided in one container.
type gap struct {
	from, count int
	open        bool
}

// enter is called before the i-th element, entry or field of a container, after its step was pushed.
func (r *reader) enter(i int, g *gap, what string) {
	if r.emit == nil || (r.muted > 0 && !g.open) {
		return
	}
	if r.o.All || (i < r.o.MaxElements && r.rows < r.o.MaxRows) || r.leadsToFault() {
		r.flush(g, what)
		return
	}
	if g.count == 0 {
		g.from = r.pos
	}
	g.count++
	g.open = true
	r.muted++
}

// leave is called after each element, entry or field.
func (r *reader) leave(g *gap) {
	if g.open {
		g.open = false
		r.muted--
	}
}

// flush shows what was elided since the last call.
func (r *reader) flush(g *gap, what string) {
	if g.count == 0 {
		return
	}
	if w := r.start(kindElided, g.from, r.pos); w != nil {
		w.count, w.typ = int64(g.count), what
		r.put(w)
	}
	g.count = 0
}

// leadsToFault says whether a fault was met in what is about to be read.
func (r *reader) leadsToFault() bool {
	last := len(r.place) - 1
	for i := range r.expected {
		p := r.expected[i].place
		if last >= 0 && last < len(p) && p[last].start == r.place[last].start {
			return true
		}
	}
	return false
}

func (r *reader) push(s stepKind, id int) {
	r.place = append(r.place, step{start: r.pos, id: int32(id), what: s}) //nolint:gosec // ids and indexes fit
}

func (r *reader) pop() { r.place = r.place[:len(r.place)-1] }
