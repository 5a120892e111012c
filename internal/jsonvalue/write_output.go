package jsonvalue

import (
	"slices"

	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
)

// writeRoom is the room that is made before an item is written: a separator, a number or a uuid, and its quotes.
const writeRoom = 64

// writeOutput is where JSON is written. Without a sink buf grows. With one, items are written into the lent buffer while at least
// writeRoom bytes of it are left, then into spill, which is moved to the end of the buffer and on into the next. So buffers
// are always full when handed over. After an error, what is written is lost.
type writeOutput struct {
	buf  []byte // the lent buffer, the caller's slice up to its capacity, or spill
	n    int    // how much of it is filled
	from int    // without a sink: where the text begins
	most int    // and how long it may become
	sink encoder.Sink
	err  error

	setting string // that most comes from

	spilling bool
	lent     []byte // while spilling: the lent buffer, filled up to lentN
	lentN    int
	dirty    bool // something was spilled
	owned    bool // buf is not the caller's
	spill    [2 * writeRoom]byte
}

// begin sets the output up: buf is filled up to n. Where there is no sink, most is to be set, too.
func (o *writeOutput) begin(buf []byte, n int, sink encoder.Sink) {
	o.buf, o.n, o.from, o.sink, o.err, o.spilling, o.dirty, o.owned = buf, n, n, sink, nil, false, false, false
}

// finish ends the text: what was spilled goes to its place, and what wide stores left behind the end is cleared, so that a buffer holds
// nothing but what is announced. After an error everything is that was written to the last buffer and is not announced.
func (o *writeOutput) finish() {
	o.settle()
	switch behind := o.buf[o.n:]; {
	case o.err == nil:
		clear(behind[:min(writeRoom, len(behind))])
	case o.sink == nil:
		clear(o.buf[o.from:])
	default:
		clear(behind)
	}
}

// end drops every reference and all text.
func (o *writeOutput) end() {
	o.buf, o.lent, o.sink, o.err, o.setting = nil, nil, nil, nil, ""
	if o.dirty {
		clear(o.spill[:])
	}
}

// fail records the first error.
func (o *writeOutput) fail(err error) {
	if o.err == nil {
		o.err = err
	}
}

// tooLong fails with text of n bytes at least, which is more than Append may append.
func (o *writeOutput) tooLong(n int) {
	o.fail(fault.OverLimit(fault.SizeLimit, "length of the JSON text", o.setting, int64(o.most), int64(n)))
}

// room makes sure that writeRoom bytes can be written.
func (o *writeOutput) room() {
	if len(o.buf)-o.n < writeRoom {
		o.makeRoom()
	}
}

//go:noinline
func (o *writeOutput) makeRoom() {
	switch {
	case o.err != nil:
	case o.sink == nil:
		o.grow(writeRoom)
	default:
		o.settle()
	}
	if o.err != nil || len(o.buf)-o.n < writeRoom {
		o.divert()
	}
}

// divert lets the next items go to spill.
func (o *writeOutput) divert() {
	if !o.spilling {
		o.lent, o.lentN, o.spilling, o.dirty = o.buf, o.n, true, true
	}
	o.buf, o.n = o.spill[:], 0
}

// settle moves what was spilled to where it belongs.
func (o *writeOutput) settle() {
	if !o.spilling {
		return
	}
	spilled := o.spill[:o.n]
	o.buf, o.n, o.lent, o.spilling = o.lent, o.lentN, nil, false
	if o.err == nil {
		o.bytes(spilled)
	}
}

// grow makes room for n bytes more where there is no sink.
func (o *writeOutput) grow(n int) {
	text := o.n - o.from
	if text > o.most {
		o.tooLong(text)
		return
	}
	more := max(n, min(text, o.most-text+writeRoom)) // double it, but not far beyond what may be needed
	given := o.buf
	o.buf = slices.Grow(given[:o.n], more)
	o.buf = o.buf[:cap(o.buf)]
	if !o.owned && o.from < len(given) {
		clear(given[o.from:]) // the caller's, who does not know of it
	}
	o.owned = true
}

// bytes writes b, which may be of any length.
func (o *writeOutput) bytes(b []byte) {
	n := copy(o.buf[o.n:], b)
	o.n += n
	if n < len(b) {
		o.overflow(b[n:])
	}
}

// overflow writes what did not fit.
//
//go:noinline
func (o *writeOutput) overflow(b []byte) {
	switch {
	case o.err != nil:
		o.divert()
	case o.sink == nil:
		if text := o.n - o.from + len(b); text > o.most {
			o.tooLong(text)
			o.divert()
			return
		}
		o.grow(len(b))
		o.bytes(b)
	case o.spilling:
		o.settle()
		o.bytes(b)
	default:
		for len(b) > 0 && o.next() {
			o.n = copy(o.buf, b)
			b = b[o.n:]
		}
	}
}

// next hands the buffer over and takes another one.
func (o *writeOutput) next() bool {
	buf, err := o.sink.Next(o.n)
	if err == nil && len(buf) < writeSinkLeast {
		err = fault.New(fault.Internal, "sink lent %d bytes, want at least %d", len(buf), writeSinkLeast)
	}
	if err != nil {
		o.err = err
		o.buf, o.n = nil, 0 // it is not the caller's any more
		o.divert()
		return false
	}
	o.buf, o.n = buf, 0
	return true
}

// writeSinkLeast is the least room that a Sink lends.
const writeSinkLeast = 512
