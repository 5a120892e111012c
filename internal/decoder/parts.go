package decoder

import (
	"math/bits"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// PartsWindowLeast and PartsWindowMost bound the window of Parts, in bytes.
const (
	PartsWindowLeast = 64
	PartsWindowMost  = 64 << 20
)

// PartsHeadMost is how many bytes a part may be longer than the window.
const PartsHeadMost = 64

// partsHeaders is how many bytes of input are looked at beyond the window: enough for what stands before the contents of the
// largest item that comes out whole, and for the scalar value of an entry whose key fills the window.
const partsHeaders = 64

// Parts turns a stream of Thrift bytes, pushed into it in pieces of any size, into a stream of thriftpack.v1.Part messages.
//
// What comes out depends on the bytes and the options only, never on how the input was cut: each decision is made when a window and
// a few bytes are at hand, or the input has ended, and sees no more. So nothing comes out before that many bytes, or Finish, came in.
// Parts keeps at most four windows of memory and 64 bytes for each level of nesting, whatever flows through, and looks at each byte a few
// times, however deep it lies (parts_patience.go). The zero value is ready for Start; it may be used again and again, by one
// goroutine at a time. Once warm it does not allocate, but for an error, a new envelope name, and what Release gave back.
type Parts struct {
	d       Decoder
	options Options // as Start got them
	records bool
	window  int // see Start
	ahead   int // how many bytes a decision may look at

	state  partsState
	root   uint8     // the kind of every root
	stack  []opened  // what is open, the root first
	text   textCheck // of the open root string
	began  bool      // a decision was made
	first  []byte    // the first bytes of a stream that is longer than a decision looks at
	rest   []byte    // aliases the input that is at hand and not yet decided
	offset int64     // of rest, from the first byte of the stream
	origin int64     // of d.data

	patience int   // how many bytes may still be looked at in vain
	looked   int64 // how many were looked at, those that were looked at again included
	asked    int64 // what looked was when Options.Stop was last asked

	piece, pieced, pieceHead int // the data part in out: bytes of data, how many are there, bytes before them

	in     []byte // input that waits for more: in[lo:hi]
	lo, hi int
	most   int    // how much of in was ever used
	out    []byte // where parts are put together
	dirty  int    // how much of out was ever used

	message    Message
	hasMessage bool
	emit       func(part []byte) error
	lend       func(size int) []byte // or nil
	err        error                 // what every call returns from now on
	fault      *fault.Error          // err, where it is a fault of the input
}

// partsState is what comes next where nothing is open.
type partsState uint8

const (
	partsUnstarted partsState = iota
	partsEnvelope
	partsRoot
	partsDone
)

// Start begins a stream. records expects any number of values, none included, one after the other, rather than one; then
// AllowTrailing has no effect. window bounds the parts, but for PartsHeadMost more bytes: a field, element or entry
// whose Thrift bytes and whose bytes in a Part fit the window comes out whole, together with its neighbours; a larger one is
// opened, and so may a smaller container be where many around it were looked at in vain (parts_patience.go). The data of strings and
// binaries comes in pieces of window bytes. Map keys must fit (SIZE_LIMIT): a Begin has them whole.
//
// Of the limits only Depth applies, and StringBytes to an envelope's name, which must fit the window, too. Framed and DetectText are
// refused, and so are records with an envelope, and a window that is not PartsWindowLeast..PartsWindowMost (BAD_OPTION).
func (p *Parts) Start(o *Options, records bool, window int) error {
	p.reset()
	root, f := rootKind(o)
	switch {
	case f != nil:
	case o.Framed:
		f = badOption(fault.BadOption, "framing", "parts have no frame: its length comes first and would bound them")
	case o.DetectText:
		f = badOption(fault.BadOption, "detect_text", "parts have no detect_text: whether a list is text shows at its end only")
	case records && o.Message:
		f = badOption(fault.BadOption, "message", "records have no envelope: a message holds one value")
	case window < PartsWindowLeast || window > PartsWindowMost:
		f = fault.New(fault.BadOption, "window of %d bytes, want %d..%d", window, PartsWindowLeast, PartsWindowMost)
	}
	if f != nil {
		p.err = f
		return f
	}
	p.options, p.records, p.window, p.ahead, p.root = *o, records, window, window+partsHeaders, root
	p.patience = patienceWindows * window
	p.state = partsRoot
	if o.Message {
		p.state = partsEnvelope
	}
	d := &p.d
	d.binary, d.lenient, d.detectText = o.Protocol == Binary, o.Lenient, false
	d.limits = Limits{Depth: min(o.Limits.Depth, stackMost), Elements: maxSize, StringBytes: maxSize, Nodes: maxSize}
	return nil
}

// reset forgets a stream, but keeps the memory.
func (p *Parts) reset() {
	p.d.drop()
	p.state, p.stack, p.text = partsUnstarted, p.stack[:0], textCheck{}
	p.rest, p.offset, p.lo, p.hi, p.piece, p.pieced = nil, 0, 0, 0, 0, 0
	p.began, p.first = false, p.first[:0]
	p.patience, p.looked, p.asked = 0, 0, 0
	p.message, p.hasMessage, p.emit, p.lend, p.err, p.fault = Message{}, false, nil, nil, nil, nil
}

// Write takes the next bytes of the input and calls emit for each part that is certain by now, in order. It copies what it keeps
// of data. The part that emit gets is a whole serialized Part, canonical; it aliases memory of p, or what was lent (Lend), and is valid during the
// call only. An error of emit is returned as it is. Other errors are *fault.Error with the offset from the first byte of the stream
// and the path by field ids, as those of Decoder. What was whole before a fault is emitted. After an error, every call
// returns it again.
func (p *Parts) Write(data []byte, emit func(part []byte) error) error {
	if p.state == partsUnstarted && p.err == nil {
		p.err = fault.New(fault.Internal, "parts were not started")
	}
	p.emit = emit
	if p.lo == p.hi {
		data = p.run(data, false)
	}
	for len(data) > 0 && p.err == nil {
		data = p.buffer(data)
	}
	p.emit = nil
	return p.err
}

// Lend makes room be asked, until the next Start, for memory that each part of so many bytes is put together in, but for pieces of strings and
// binaries. What is lent has at least that many bytes, or is nil, and then the part is put together in memory of p; it belongs to p
// until the part is emitted, and all of it may be written to. It may hold anything.
func (p *Parts) Lend(room func(size int) []byte) { p.lend = room }

// buffer adds data to the input that waits, decides what can be, and returns what was not added.
func (p *Parts) buffer(data []byte) []byte {
	waiting := p.hi - p.lo
	if len(p.in)-p.hi < len(data) && p.lo > 0 {
		copy(p.in, p.in[p.lo:p.hi])
		p.lo, p.hi = 0, waiting
	}
	// Two windows: what is left after a decision is less than one, so it is moved once for at least as many new bytes.
	if most := 2 * p.ahead; len(p.in)-p.hi < len(data) && len(p.in) < most {
		grown := make([]byte, min(most, 1<<bits.Len(uint(p.hi+len(data))))) // not negative
		copy(grown, p.in[:p.hi])
		clear(p.in)
		p.in = grown
	}
	n := copy(p.in[p.hi:], data)
	p.hi += n
	p.most = max(p.most, p.hi)
	left := len(p.run(p.in[p.lo:p.hi], false))
	p.lo = p.hi - left
	if left > n {
		return data[n:]
	}
	// All that waits is at the end of what was added, so the caller's own bytes will do.
	p.lo, p.hi = 0, 0
	if again := data[n-left:]; left == 0 || len(again) >= 2*p.ahead {
		return p.run(again, false)
	}
	p.hi = copy(p.in, data[n-left:n])
	return data[n:]
}

// Finish says that the input has ended, and emits the parts that waited for it. It fails with TRUNCATED unless the value is
// complete. emit and errors are as those of Write.
func (p *Parts) Finish(emit func(part []byte) error) error {
	if p.state == partsUnstarted && p.err == nil {
		p.err = fault.New(fault.Internal, "parts were not started")
	}
	if p.err != nil {
		return p.err
	}
	p.emit = emit
	whole := p.in[p.lo:p.hi]
	short := !p.began
	p.finish(whole)
	if short && p.fault != nil {
		p.view(nil)
		o := p.options
		o.Limits = Limits{Depth: o.Limits.Depth, Elements: maxSize, StringBytes: maxSize, Nodes: maxSize}
		p.d.recognise(whole, &o, p.fault, p.isAtFirst(p.fault))
	}
	p.emit = nil
	return p.err
}

// finish decides what is left of the input.
func (p *Parts) finish(left []byte) {
	left = p.run(left, false)
	if p.err == nil && !p.claimsMet(int64(len(left))) {
		return
	}
	p.run(left, true)
	p.lo = p.hi
}

// Message returns the envelope, once it was read: before the first part is emitted.
func (p *Parts) Message() (Message, bool) { return p.message, p.hasMessage }

// BytesRead returns how many bytes of the input are in the parts emitted so far, with the envelope. After Finish it is where the
// last value ends.
func (p *Parts) BytesRead() int64 { return p.offset }

// Release forgets the stream, clears what was kept of it, and gives back memory beyond what is worth keeping. Only Start may follow.
func (p *Parts) Release() {
	p.reset()
	p.d.Release()
	p.options = Options{}
	clear(p.first[:cap(p.first)])
	p.in, p.most = kept(p.in, p.most), 0
	p.out, p.dirty = kept(p.out, p.dirty), 0
	if cap(p.stack) > partsKeptLevels {
		p.stack = nil
	}
}

const (
	partsKeptBytes  = 512 << 10
	partsKeptLevels = 256
)

// kept clears what was used of a buffer, or drops it where it is large.
func kept(b []byte, used int) []byte {
	if len(b) > partsKeptBytes {
		return nil
	}
	clear(b[:min(used, len(b))])
	return b
}
