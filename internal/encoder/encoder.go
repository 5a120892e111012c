// Package encoder turns values into Thrift bytes, compact protocol or strict binary protocol. Encoder takes a value as
// the protobuf wire bytes of a thriftpack.v1.Value: it builds no tree of objects but walks those bytes once, and copies
// whole runs where the two formats agree. Writer is for values that a Go program has at hand. The package knows nothing of
// gRPC, requests or JSON; for those see package server.
package encoder

import (
	"math"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// Protocol is the Thrift protocol to write.
type Protocol uint8

const (
	// Compact is the Thrift compact protocol, version 1.
	Compact Protocol = iota
	// Binary is the Thrift binary protocol with strict message headers.
	Binary
)

// MaxDepth is the deepest nesting that is encoded, whatever Limits.Depth allows: the walk goes down by calls, and their
// stack must be bounded. Protobuf for Go has the same limit.
const MaxDepth = 10_000

// Message is the envelope of a Thrift RPC message around a struct.
type Message struct {
	// Name is the name of the method, valid UTF-8 of at most Limits.StringBytes bytes.
	Name string
	// Type is 1 call, 2 reply, 3 exception or 4 oneway; others are refused (BAD_HEADER).
	Type int32
	// SeqID is the sequence id.
	SeqID int32
}

// Limits bound what one value may cost. A value exactly at a limit passes. A limit of zero refuses everything it bounds, so
// that a forgotten one fails closed.
type Limits struct {
	// Depth is the largest nesting of structs, lists, sets and maps; the root counts as 1. Above MaxDepth it has no effect.
	Depth int
	// Elements is the largest number of elements or entries of one container. Thrift cannot express more than 2^31-1.
	Elements int
	// StringBytes is the largest number of bytes of one string or binary. Thrift cannot express more than 2^31-1.
	StringBytes int
	// SlowNodes is the largest number of protobuf members in a value that has to be normalised first: everything with a tag, at every
	// depth, and the value itself. A packed run counts as one, or where one of its numbers has more bytes than needed, for each number.
	SlowNodes int
}

// Options say how a value is to be written. They are only read; the same Options may serve many encoders at once.
type Options struct {
	// Protocol is the protocol to write.
	Protocol Protocol
	// Framed puts the length of everything that follows first, as four big-endian bytes; it is at most 2^31-1.
	Framed bool
	// Message, when set, writes the value, which must be a struct, as a Thrift message of that header.
	Message *Message
	// Limits bound the value.
	Limits Limits
	// Stop, when set, is asked every few thousand members whether to go on, such as Err of a context. Its error ends the call, which
	// returns it as it is.
	Stop func() error
	// Reserve, when set, is asked before memory is taken to normalise a value, for all bytes that the call has to take for it
	// together; the next question of a call includes what the one before was for. Its error ends the call like that of Stop. What
	// was taken is given back by Release, or by the end of a call other than Prepare.
	Reserve func(bytes int64) error
}

// Sink takes encoded bytes and lends the room they are written in.
type Sink interface {
	// Next takes the first filled bytes of the buffer that it lent last, 0 on the first call, and lends the next
	// buffer, at least 512 bytes long. Of the lent buffer no byte beyond the filled ones is left other than zero or as it was.
	Next(filled int) ([]byte, error)
}

// Encoder encodes one value at a time. The zero value is ready for use. It keeps its scratch memory from call to call,
// so a reused Encoder allocates nothing; it must not be used concurrently. Every call starts from a clean state,
// also after one that failed. Errors are of type *fault.Error, with a path such as value.struct.fields[3].i16, or those of a
// sink and of Options.Stop and Reserve, as they were.
type Encoder struct {
	in      []byte // what is walked: the value or its normalised form, and whatever is behind its end
	end     int    // of what is walked
	out     []byte // where it is written, the whole room
	written int    // how much of out is in use

	binary      bool
	slowPath    bool
	prepared    bool
	measuring   bool
	untyped     bool // empty lists need no element_type: what is measured is not written
	maxDepth    int
	maxElements int
	maxString   int
	ticks       int   // how many more steps of the walk there are until Stop is asked
	reserved    int64 // what Reserve was asked for

	passed  int64 // bytes that left by way of more
	size    int64 // of the prepared encoding
	sink    Sink
	sinkErr error // of the sink, of Stop, or of Reserve
	failure failure
	options *Options
	normal  normaliser
	scratch [minBuffer]byte // where a measured encoding goes
	short   [512]byte       // a short value, so that there is input to look at behind its end
}

// Append encodes value, the protobuf wire bytes of a Value, and appends the result to dst. It aliases value only
// during the call. A dst with Bound bytes of room is never reallocated by a value that takes the fast path in the compact
// protocol. On an error it returns dst as it was. Room of dst beyond the result is left as it was, or zero.
func (e *Encoder) Append(dst, value []byte, o *Options) ([]byte, error) {
	e.start(value, o)
	e.out, e.written = dst[:cap(dst)], len(dst)
	if room := Bound(len(value), o); len(e.out)-e.written < room {
		e.out = make([]byte, e.written+room)
		copy(e.out, dst)
	}
	ok := e.encodeFrame(len(dst))
	if !ok && e.failure.cause == causeSlow {
		if ok = e.normalise(); ok {
			e.written = len(dst)
			ok = e.encodeFrame(len(dst))
		}
	}
	var err error
	if ok {
		e.clearSpill()
		dst = e.out[:e.written]
	} else {
		clear(e.out[len(dst):min(e.written+spill, len(e.out))])
		err = e.err()
	}
	e.drop()
	return dst, err
}

// Bound returns a number of bytes that the compact encoding of a value of valueLen wire bytes never exceeds on the fast
// path, frame and message header included, with the room that wide stores need. The binary protocol may need more.
func Bound(valueLen int, o *Options) int {
	n := valueLen + 2*itemRoom
	if o.Message != nil {
		n += len(o.Message.Name)
	}
	return n
}

// Normalise validates the whole value, but for the element types of empty lists, which a type may supply. It returns the value in
// a form that holds each member once and minimal: value itself, or bytes of the Encoder's, valid until Release or the next call.
func (e *Encoder) Normalise(value []byte, o *Options) ([]byte, error) {
	e.start(value, o)
	e.untyped = true
	_, ok := e.measure()
	if !ok && e.failure.cause == causeSlow {
		if ok = e.normalise(); ok {
			_, ok = e.measure()
		}
	}
	if !ok {
		err := e.err()
		e.drop()
		return nil, err
	}
	if e.slowPath {
		return e.in[:e.end:e.end], nil
	}
	return value, nil
}

// Prepare validates the whole value and returns the size of its encoding, frame and message header included. It keeps
// aliasing value and o until Release; the caller must not change them before.
func (e *Encoder) Prepare(value []byte, o *Options) (size int64, err error) {
	e.start(value, o)
	size, ok := e.measure()
	if !ok && e.failure.cause == causeSlow {
		if ok = e.normalise(); ok {
			size, ok = e.measure()
		}
	}
	if ok && o.Framed {
		if ok = size <= math.MaxInt32 || e.fail(causeFrame, 0, 0, size, 0); ok {
			size += frameSize
		}
	}
	if !ok {
		err = e.err()
		e.drop()
		return 0, err
	}
	e.size, e.prepared = size, true
	return size, nil
}

// WriteTo writes the value that was prepared, and may be called several times after one Prepare. It starts at
// buf[filled:], so that several records can share a buffer, and takes further buffers from the sink as they fill; buf may
// be nil. The last buffer, with lastFilled bytes of it in use, is left to the caller, after an error of the sink as nil.
// Errors are the sink's own, or that of Options.Stop, which leaves the buffer to the caller.
func (e *Encoder) WriteTo(sink Sink, buf []byte, filled int) (lastBuf []byte, lastFilled int, err error) {
	if !e.prepared {
		return buf, filled, fault.New(fault.Internal, "nothing is prepared")
	}
	e.failure.cause = causeNone
	e.sink, e.sinkErr = sink, nil
	e.out, e.written = buf, filled
	ok := e.room()
	if ok && e.options.Framed {
		e.putUint32(uint32(e.size - frameSize)) // Prepare saw that it fits
	}
	ok = ok && e.encode()
	if e.out != nil {
		e.clearSpill()
	}
	lastBuf, lastFilled = e.out, e.written
	if !ok {
		err = e.err()
	}
	e.sink, e.out = nil, nil
	return lastBuf, lastFilled, err
}

// Release drops every reference to the value that was prepared, and scratch memory beyond what is worth keeping.
func (e *Encoder) Release() {
	e.drop()
	e.sinkErr = nil
	clear(e.scratch[:])
	clear(e.short[:])
}

// SlowPath reports whether the value of the last Append or Prepare had to be normalised before it was encoded.
func (e *Encoder) SlowPath() bool { return e.slowPath }

// frameSize is the number of bytes before a frame.
const frameSize = 4

// start resets all state for a new value.
func (e *Encoder) start(value []byte, o *Options) {
	if e.in != nil {
		e.drop()
	}
	e.in, e.end, e.options = value, len(value), o
	if len(value) <= len(e.short)-window {
		e.in = e.short[:]
		copy(e.short[:], value)
	}
	e.binary = o.Protocol == Binary
	e.slowPath, e.untyped = false, false
	e.maxDepth = min(o.Limits.Depth, MaxDepth)
	e.maxElements = min(o.Limits.Elements, math.MaxInt32)
	e.maxString = min(o.Limits.StringBytes, math.MaxInt32)
	e.failure.cause = causeNone
	e.ticks, e.reserved = stopEvery, 0
}

// reserve asks for so many bytes more.
func (e *Encoder) reserve(bytes int64) bool {
	if e.reserved += bytes; e.options.Reserve == nil {
		return true
	}
	if e.sinkErr = e.options.Reserve(e.reserved); e.sinkErr != nil {
		return e.fail(causeSink, 0, 0, 0, 0)
	}
	return true
}

// stopEvery is how many steps of the walk lie between two questions whether to go on. The slowest steps take about 50 ns.
const stopEvery = 4096

// tick counts a step of the walk: a message, or a member that no fast loop takes. It returns false when Stop says so.
func (e *Encoder) tick() bool {
	e.ticks--
	return e.ticks >= 0 || e.goOn()
}

// goOn asks Stop.
//
//go:noinline
func (e *Encoder) goOn() bool {
	e.ticks = stopEvery
	if e.options.Stop == nil {
		return true
	}
	if e.sinkErr = e.options.Stop(); e.sinkErr != nil {
		return e.fail(causeSink, 0, 0, 0, 0)
	}
	return true
}

// drop ends what a call began and lets go of all memory that is not the encoder's own.
func (e *Encoder) drop() {
	e.in, e.out, e.options = nil, nil, nil
	e.prepared = false
	if e.slowPath {
		e.normal.release()
	}
}

// measure walks the value and returns the size of its encoding without the frame.
func (e *Encoder) measure() (size int64, ok bool) {
	e.measuring, e.passed = true, 0
	e.out, e.written = e.scratch[:], 0
	ok = e.encode()
	size = e.passed + int64(e.written)
	e.measuring, e.out, e.written = false, nil, 0
	return size, ok
}

// encodeFrame encodes with the frame, where one is wanted, at out[at:].
func (e *Encoder) encodeFrame(at int) bool {
	if !e.options.Framed {
		return e.encode()
	}
	e.written += frameSize
	if !e.encode() {
		return false
	}
	size := e.written - at - frameSize
	if size > math.MaxInt32 {
		return e.fail(causeFrame, 0, 0, int64(size), 0)
	}
	end := e.written
	e.written = at
	e.putUint32(uint32(size)) // not negative, at most 2^31-1
	e.written = end
	return true
}

// encode writes the value, after its message header where one is wanted.
func (e *Encoder) encode() bool {
	if in := e.in[:e.end]; len(in) >= 2 && in[0] == kindStruct<<3|wireBytes && int(in[1]) == len(in)-2 && in[1] < 0x80 &&
		e.options.Message == nil {
		return e.fields(2, len(in), 1) // what most small values are
	}
	root, ok := e.oneof(0, e.end, false)
	if !ok {
		return false
	}
	if e.options.Message != nil && !e.envelope(e.options.Message, root.kind) {
		return false
	}
	return e.payload(root.kind, root.start, root.end, 0)
}
