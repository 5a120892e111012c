package encoder

import (
	"math"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// Parts encodes values that are given step by step, each step as the wire bytes of a thriftpack.v1.Part: what opens, what
// closes, and whole fields, elements, entries and bytes in between. Several values may follow each other. What it
// writes is what Encoder would write for the whole.
//
// Memory follows the depth of what is open, not the size of the value: declared sizes are only counted down. Of Limits,
// Depth bounds what is open together with what a part brings, and SlowNodes each part; Elements and StringBytes do not count,
// since sizes are bounded by what Thrift can express, 2^31-1.
//
// The zero value is ready for Start. A Parts must not be used concurrently, nor copied once started. It keeps no reference
// to a part after the call. Errors are of type *fault.Error, or the sink's own; their path starts at the part's member,
// such as fields.fields[3].i16 or begin.size, and is empty where the part as a whole is at fault.
type Parts struct {
	e       Encoder
	options Options
	started bool
	message bool  // there is an envelope, so that there is one root, a struct
	roots   int64 // that are complete
	err     error // that ended it
	fault   *fault.Error
	open    []opened // outermost first
	root    root

	joined []byte // a part whose members were merged
	value  []byte // a value that has to be normalised
	detour detour
}

// opened is what a Begin has opened and no End has closed.
type opened struct {
	kind      uint8 // STRUCT, LIST, SET, MAP, STRING or BINARY
	element   uint8 // the kind of the elements of a list or set, of the values of a map
	key       uint8 // the kind of the keys of a map
	utf8State uint8 // of a string, after the bytes so far; one of the states of utf8Rows
	lastID    int32 // of a struct
	left      int32 // elements, entries or bytes to come
	size      int32 // as declared
}

// root is where the walk of a part begins: what the paths of its faults start with.
type root struct {
	name    string
	message message
	span    span
}

// Start begins a stream of values, whatever became of the one before. With Options.Message its header is written at once,
// and there is one value, which must be a struct; Options.Framed is refused (BAD_OPTION), because a frame starts with a length
// that is not known yet. It copies o. The first buffer is taken from the sink by sink.Next(0), when there is
// something to write.
func (p *Parts) Start(o *Options, sink Sink) error {
	p.Reset()
	if o.Framed {
		err := fault.New(fault.BadOption, "parts cannot be framed: the length comes first, and is not known")
		err.Path = "options.framing"
		return err
	}
	p.options = *o
	p.options.Limits.Elements, p.options.Limits.StringBytes = math.MaxInt32, math.MaxInt32
	p.options.Message = nil
	p.message = o.Message != nil
	p.started = true
	e := &p.e
	e.sink, e.sinkErr, e.passed = sink, nil, 0
	e.start(nil, &p.options)
	if p.message && !e.envelope(o.Message, kindStruct) {
		p.err = e.err()
	}
	e.in, e.options = nil, nil
	return p.err
}

// Write encodes one part, the wire bytes of a Part. It aliases part only during the call. After an error every call
// returns it; of the part at fault nothing is left in the buffer lent last, unless it had filled one before.
func (p *Parts) Write(part []byte) error {
	if err := p.usable(); err != nil {
		return err
	}
	e := &p.e
	e.start(part, &p.options)
	passed, written := e.passed, e.written
	if !p.step() {
		p.err = p.reason()
		if e.out != nil && e.passed == passed {
			clear(e.out[written:min(e.written+spill, len(e.out))])
			e.written = written
		}
	}
	e.in, e.options = nil, nil
	if e.slowPath {
		e.normal.release()
	}
	return p.err
}

// Flush gives up the buffer lent last, so that the caller can hand on what it holds while no parts come; the first filled
// bytes of it are in use. The next buffer is taken from the sink by sink.Next(0).
func (p *Parts) Flush() (buf []byte, filled int) {
	e := &p.e
	if e.out != nil {
		e.clearSpill()
	}
	buf, filled = e.out, e.written
	e.passed += int64(filled)
	e.out, e.written = nil, 0
	return buf, filled
}

// Finish ends the stream. The error is that of an earlier call, or says that something is still open (TRUNCATED) or that no
// value was given (MISSING_KIND). The last buffer, with filled bytes of it in use, is left to the caller, with an error
// too; it is nil where nothing is lent.
func (p *Parts) Finish() (buf []byte, filled int, err error) {
	err = p.usable()
	switch {
	case err != nil:
	case len(p.open) > 0:
		err = p.unfinished()
	case p.roots == 0:
		err = fault.New(fault.MissingKind, "no value: the stream of parts is empty")
	}
	buf, filled = p.Flush()
	p.started, p.e.sink = false, nil
	return buf, filled, err
}

// Reset drops what was begun, every reference, and scratch memory beyond what is worth keeping.
func (p *Parts) Reset() {
	e := &p.e
	e.Release()
	e.sink, e.passed, e.written = nil, 0, 0
	p.options, p.started, p.message, p.roots, p.err, p.fault = Options{}, false, false, 0, nil, nil
	p.root, p.detour = root{}, detour{}
	p.open = p.open[:0]
	if cap(p.open) > keepItems {
		p.open = nil
	}
	p.joined, p.value = tidy(p.joined), tidy(p.value)
}

// tidy returns scratch memory emptied and cleared, or nil where it is more than is worth keeping.
func tidy(b []byte) []byte {
	if cap(b) > keepBytes {
		return nil
	}
	clear(b[:cap(b)])
	return b[:0]
}

// Written returns the number of bytes of Thrift so far, with the envelope.
func (p *Parts) Written() int64 { return p.e.passed + int64(p.e.written) }

// Open returns how many containers and strings are open.
func (p *Parts) Open() int { return len(p.open) }

// SlowPath reports whether the part of the last Write had to be merged or normalised.
func (p *Parts) SlowPath() bool { return p.e.slowPath }

// usable returns the error of a call that cannot be served.
func (p *Parts) usable() error {
	if p.err != nil {
		return p.err
	}
	if !p.started {
		return fault.New(fault.Internal, "no stream of parts was started")
	}
	return nil
}

// unfinished returns the error of a stream that ends while something is open.
func (p *Parts) unfinished() error {
	top := &p.open[len(p.open)-1]
	if top.kind == kindStruct {
		return fault.New(fault.Truncated, "the stream ends inside of a STRUCT, %d open", len(p.open))
	}
	return fault.New(fault.Truncated, "the stream ends inside of a %s, %d of %d missing, %d open",
		typeName(int64(top.kind)), top.left, top.size, len(p.open))
}

// fail records a fault of the grammar and returns false.
func (p *Parts) fail(path string, reason fault.Reason, format string, args ...any) bool {
	p.fault = fault.New(reason, format, args...)
	p.fault.Path = path
	return false
}

// reason returns the error of the part that failed.
func (p *Parts) reason() error {
	if p.fault != nil {
		return p.fault
	}
	e := &p.e
	f := &e.failure
	if f.cause == causeSink {
		return e.sinkErr
	}
	if f.cause == causeSlow {
		f.cause = causeTwice
	}
	err := e.describe(f)
	if f.cause != causeTwice && p.root.name != "" {
		err.Path = locateIn(p.root.name, p.root.message, e.in, p.root.span, f.start, f.end)
	}
	return err
}
