// Package jsonvalue goes from JSON text to Thrift bytes, and from values to JSON text, by the plans of package schema: Encoder reads
// JSON, Writer writes it. Both walk what they are given once and build no tree. The package knows nothing of gRPC; for the form that
// values have in JSON see docs/json.md.
package jsonvalue

import (
	"math"

	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// Limits bound what one value may cost. A value exactly at a limit passes. A limit of zero refuses everything it bounds, so
// that a forgotten one fails closed.
type Limits struct {
	// Depth is the largest nesting of structs, lists, sets and maps; the root counts as 1. Above encoder.MaxDepth it has no effect.
	Depth int
	// Elements is the largest number of elements or entries of one container. Thrift cannot express more than 2^31-1.
	Elements int
	// StringBytes is the largest number of bytes of one string or binary. Thrift cannot express more than 2^31-1.
	StringBytes int
	// EncodedBytes is the largest number of Thrift bytes, and of bytes of memory that they are put together in. Above 2^32-4096 it has no
	// effect.
	EncodedBytes int64
	// EncodedSetting says in errors which setting EncodedBytes comes from, and what else to do about it.
	EncodedSetting string
}

// Options say how a value is to be encoded. They are only read; the same Options may serve many encoders at once.
type Options struct {
	// Protocol is the protocol to write.
	Protocol encoder.Protocol
	// Framed puts the length of everything that follows first, as four big-endian bytes; it is at most 2^31-1.
	Framed bool
	// Message, when set, writes the value, whose type must be a struct, as a Thrift message of that header.
	Message *encoder.Message
	// IgnoreUnknown leaves out members whose name the type does not have; their values are checked for their syntax only. Without it, such a
	// member is a fault.
	IgnoreUnknown bool
	// OmitDefaults writes nothing for absent fields that have a default value, but for the required ones.
	OmitDefaults bool
	// Limits bound the value.
	Limits Limits
	// Stop, when set, is asked every few thousand values whether to go on, such as Err of a context. Its error ends the call, which
	// returns it as it is.
	Stop func() error
	// Reserve, when set, is asked before memory is taken, for all bytes that the call has to take together; the next question of a call
	// includes what the one before was for. Its error ends the call like that of Stop. What was taken is given back by Release, or by
	// the end of Append or of a Prepare that fails.
	Reserve func(bytes int64) error
	// Buffers, when set, lends the scratch memory of values that are too large for what an encoder keeps. It is asked after Reserve.
	Buffers Buffers
}

// Buffers lends memory. gRPC's buffer pools do, and package stream's.
type Buffers interface {
	// Get lends a buffer with room for at least length bytes. What is in it is of no matter.
	Get(length int) *[]byte
	// Put takes a buffer back.
	Put(buffer *[]byte)
}

// Encoder encodes one value at a time from JSON text to Thrift bytes, by the value's type. The zero value is ready for use. It keeps its
// scratch memory from call to call, so a reused Encoder allocates nothing for values of usual size; it must not be used concurrently.
// Every call starts from a clean state, also after one that failed.
//
// Errors are of type *fault.Error, or those of a sink and of Options.Stop and Reserve, as they were. Their path begins with the name of the
// type, such as Batch.spans[3].startTime; entries of maps are counted like elements, because keys are never shown. Their offset is that of
// the byte of the text.
//
// It walks the text once and builds no tree. Thrift puts the size of a container before its elements, and JSON tells it behind them; so all
// bytes go to scratch memory, and what has to be put between them, or in another order, is noted in a list of marks, by which
// they are then copied to where they are wanted.
type Encoder struct {
	in []byte // the text
	at int    // what was read of it

	out     []byte // scratch, the whole room; its bytes are described by marks and moves
	written int    // how much of it is in use
	extra   int64  // how many bytes more, or fewer, the marks make of it

	own  []byte  // what out is at first, and again after Release
	lent *[]byte // what out is, where Options.Buffers lent it

	marks   []encodeMark   // a list in the order of their places, from marks[0] on, which is the mark before the first
	last    uint32         // the index of its last mark
	moves   []encodeMove   // of the marks that put things in another order
	members []encodeMember // of the structs that are open
	seen    encodeSeen     // of the sets and maps that are open
	plain   []byte         // the last string that had escapes
	flat    []byte         // what was put in order last, on its way

	small  [512]byte           // a struct that is put in order
	orders [1 << 3]memberOrder // by the depth of a struct, less its higher bits

	codes       *[16]uint8 // the codes of kinds in the protocol
	binary      bool
	prepared    bool
	maxDepth    int
	maxElements int
	maxString   int
	maxEncoded  int64
	ticks       int   // how many more values there are until Stop is asked
	reserved    int64 // what Reserve was asked for
	size        int64 // of what is prepared

	target encodeTarget
	err    error        // what ended the call
	fault  *fault.Error // the same where the text is at fault
	trail  []string     // the path of the fault, the innermost piece first
	root   *schema.Type
	// options are those of the call.
	options *Options
}

// Append encodes text, a value of the type, and appends the result to dst. It aliases text only during the call. On an error it returns
// dst as it was.
func (e *Encoder) Append(dst, text []byte, t *schema.Type, o *Options) ([]byte, error) {
	size, err := e.Prepare(text, t, o)
	if err != nil {
		return dst, err
	}
	start := len(dst)
	if int64(cap(dst)-start) < size {
		if size > math.MaxInt-int64(start) || !e.reserve(int64(start)+size) {
			err = e.failure()
			e.Release()
			return dst, err
		}
		grown := make([]byte, start, int64(start)+size)
		copy(grown, dst)
		dst = grown
	}
	_, end, err := e.WriteTo(nil, dst[:int64(start)+size], start)
	e.Release()
	if err != nil {
		return dst[:start], err
	}
	return dst[:end], nil
}

// Prepare reads the whole text, a value of the type, and returns the size of its encoding, frame and message header included. The
// caller may change the text afterwards, but neither the type nor o before Release.
func (e *Encoder) Prepare(text []byte, t *schema.Type, o *Options) (size int64, err error) {
	e.start(text, t, o)
	ok := e.document()
	size = int64(e.written) + e.extra
	if ok && size > e.maxEncoded {
		ok = e.failEncoded(size)
	}
	if ok && o.Framed {
		if size > math.MaxInt32 {
			ok = e.fail(0, fault.NegativeSize, "frame of %d bytes, at most %d", size, math.MaxInt32)
		}
		size += frameSize
	}
	e.in = nil
	if !ok {
		err = e.failure()
		e.Release()
		return 0, err
	}
	e.size, e.prepared = size, true
	return size, nil
}

// WriteTo writes the value that was prepared, and may be called several times after one Prepare. It starts at
// buf[filled:], so that several records can share a buffer, and takes further buffers from the sink as they fill; buf may
// be nil. The last buffer, with lastFilled bytes of it in use, is left to the caller, after an error of the sink as nil.
// Errors are the sink's own, or that of Options.Stop, which leaves the buffer to the caller.
func (e *Encoder) WriteTo(sink encoder.Sink, buf []byte, filled int) (lastBuf []byte, lastFilled int, err error) {
	if !e.prepared {
		return buf, filled, fault.New(fault.Internal, "nothing is prepared")
	}
	e.err, e.fault = nil, nil
	e.target = encodeTarget{sink: sink, buf: buf, filled: filled}
	ok := e.writeFrame() && e.emit(0, e.written, 0)
	lastBuf, lastFilled = e.target.buf, e.target.filled
	e.target = encodeTarget{}
	if !ok {
		err = e.failure()
	}
	return lastBuf, lastFilled, err
}

// What Release lets an encoder keep.
const (
	keptBytes   = 256 << 10
	keptMarks   = 4096
	keptMoves   = 4096
	keptMembers = 1024
	keptSeen    = 8192
)

// Release drops every reference to the value that was prepared, and scratch memory beyond what is worth keeping.
func (e *Encoder) Release() {
	if e.lent != nil {
		e.options.Buffers.Put(e.lent)
		e.lent = nil
	}
	e.out = nil
	e.in, e.options, e.root, e.err, e.fault = nil, nil, nil, nil, nil
	e.prepared = false
	e.plain, e.flat = keep(e.plain, keptBytes), keep(e.flat, keptBytes)
	e.marks = keep(e.marks, keptMarks)
	e.moves = keep(e.moves, keptMoves)
	e.members = keep(e.members, keptMembers)
	e.seen.items = keep(e.seen.items, keptSeen)
	e.seen.slots = keep(e.seen.slots, 4*keptSeen)
	clear(e.trail)
	for i := range e.orders {
		e.orders[i].of = nil
	}
}

// keep returns an empty slice with the room of s, unless that is too large.
func keep[T any](s []T, most int) []T {
	if cap(s) > most {
		return nil
	}
	return s[:0]
}

// mostEncoded is the most scratch memory: positions in it have 32 bits, and a last item may go a little beyond.
const mostEncoded = 1<<32 - 4096

// frameSize is the number of bytes before a frame.
const frameSize = 4

// start resets all state for a new value.
func (e *Encoder) start(text []byte, t *schema.Type, o *Options) {
	if e.lent != nil { // it was not released
		e.Release()
	}
	e.in, e.at, e.root, e.options = text, 0, t, o
	e.out, e.written, e.extra, e.last = e.own, 0, 0, 0
	e.marks = append(e.marks[:0], encodeMark{})
	e.moves, e.members = e.moves[:0], e.members[:0]
	e.seen.items, e.seen.slots = e.seen.items[:0], e.seen.slots[:0]
	e.binary, e.codes = o.Protocol == encoder.Binary, &compactCodes
	if e.binary {
		e.codes = &binaryCodes
	}
	e.prepared = false
	e.maxDepth = min(o.Limits.Depth, encoder.MaxDepth)
	e.maxElements = min(o.Limits.Elements, math.MaxInt32)
	e.maxString = min(o.Limits.StringBytes, math.MaxInt32)
	e.maxEncoded = min(o.Limits.EncodedBytes, mostEncoded)
	e.ticks, e.reserved = stopEvery, 0
	e.err, e.fault, e.trail = nil, nil, e.trail[:0]
}

// document reads the whole text.
func (e *Encoder) document() bool {
	if len(e.in) >= 3 && string(e.in[:3]) == "\xef\xbb\xbf" {
		return e.fail(0, fault.JSONSyntax, "a byte order mark, which JSON does not have")
	}
	if !e.room(itemRoom) || e.options.Message != nil && !e.envelope(e.options.Message) {
		return false
	}
	e.at = scanSpace(e.in, 0)
	if e.at == len(e.in) {
		return e.fail(e.at, fault.JSONSyntax, "no value: the text is empty")
	}
	if !e.value(e.root, 1) {
		return false
	}
	if e.at = scanSpace(e.in, e.at); e.at < len(e.in) {
		return e.fail(e.at, fault.JSONSyntax, "text after the value")
	}
	return true
}
