package encoder

import (
	"errors"
	"io"
	"math"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// Errors of a Writer that is used wrongly.
var (
	// ErrNoTransport says that a Writer was used before Reset or ResetSink.
	ErrNoTransport = errors.New("encoder: writer has no transport")
	// ErrUnbalanced says that WriteStructEnd was called without a WriteStructBegin before it.
	ErrUnbalanced = errors.New("encoder: struct end without a struct begin")
	// ErrFieldBool says that WriteFieldBegin was called for a bool, whose value is part of its field header.
	ErrFieldBool = errors.New("encoder: a bool field is written by WriteFieldBool")
)

var errTooDeep = fault.OverLimit(fault.DepthLimit, "nesting of structs", "fixed in the writer", maxStructs, maxStructs+1)

// maxStructs is how many structs may be open at once in a Writer: the default depth of Apache Thrift's readers.
const maxStructs = 64

// The room that is asked for before a method writes: more than it fills, since varints are stored eight or ten bytes at a
// time whatever their length.
const (
	roomHeader = 4                      // long form: type, id of up to three bytes
	roomField  = roomHeader + 16        // the longest scalar is a uuid
	roomLength = roomHeader + 8         // field header and length of a string
	roomBegin  = roomHeader + 1 + 8 + 1 // field header, and type and size of a container
	roomOpen   = 2 + 8 + 8              // protocol id, type, seqid and length of the name of a message
	sizeBuffer = 128                    // a short string is passed on together with its header
	maxSize    = math.MaxInt32          // of strings and containers
)

// The first byte of a message, and the version that the second byte holds beside the type.
const (
	protocolID      = 0x82
	protocolVersion = 1
)

// lender is a transport that offers spare room, as bufio.Writer and bytes.Buffer do. What it lends is valid until the next
// Write, which commits it where it stands.
type lender interface {
	AvailableBuffer() []byte
}

// Writer writes the Thrift compact protocol to a transport, one Go value at a time.
//
// The transport is any io.Writer, and a Writer keeps nothing back: when a method returns, the transport has its bytes.
// Each method calls Write once. A varint is assembled before it is passed on, never byte by byte, and what belongs
// together goes together: a field header, its long-form id and a scalar value or a short string. Only a longer string or
// binary is a second Write, straight from the caller's memory; where the transport lends spare room for it (AvailableBuffer), all is
// put there, and one Write commits it in place. The methods for whole lists fill what room there is, and call Write once each time.
//
// A Sink instead of a transport lends whole chunks, which the Writer fills directly: see ResetSink.
//
// The first error stays: every later call returns it, and the transport is not used again, so that errors may be
// looked at once, after the last call (Err). Errors about values are of type *fault.Error and leave the value unwritten;
// those of the transport are returned as they are, and a short write is io.ErrShortWrite.
//
// Structs must be balanced: WriteStructBegin, fields, WriteFieldStop, WriteStructEnd. The compact protocol has no bytes for
// the ends of messages, fields and containers, so there are no methods for them. Nothing checks that as many elements are
// written as a container announced.
//
// A Writer allocates nothing. It must not be copied after its first use, nor used concurrently. The zero value is ready
// for Reset.
type Writer struct {
	buf    []byte    // where bytes are put together: a chunk, room that was lent, or scratch; nil before the first bytes and after an error
	filled int       // bytes of buf in use; with a transport 0 between calls
	limit  int       // below it, filled leaves room for a cursor; 0 before the first bytes and after an error, so that nothing is looked at but it
	chunk  int       // the same as limit where a sink lends chunks, else 0
	writer io.Writer // nil where a sink lends chunks
	lastID int16     // id of the last field of the innermost struct

	depth  int // structs open
	sink   Sink
	text   io.StringWriter // writer, where it takes strings
	lender lender          // writer, where it lends room
	err    error
	lent   []byte // the chunk that was being filled when err came

	lastIDs [maxStructs]int16 // lastID of the structs around the innermost
	scratch [sizeBuffer]byte  // in the Writer, since a local array would escape through the interface: an allocation for each varint
}

// NewWriter returns a Writer to the transport.
func NewWriter(transport io.Writer) *Writer {
	w := new(Writer)
	w.Reset(transport)
	return w
}

// Reset makes the Writer as new, with another transport. What it was in the middle of, and its error, are forgotten.
func (w *Writer) Reset(transport io.Writer) {
	w.reset()
	w.writer = transport
	w.text, _ = transport.(io.StringWriter)
	w.lender, _ = transport.(lender)
}

// ResetSink makes the Writer as new, filling chunks that the sink lends. It goes on at buf[filled:], so that records can
// follow each other in a chunk; buf may be nil. A chunk goes back to the sink when the next bytes do not fit it, and
// the last one is for the caller to fetch by Lent.
func (w *Writer) ResetSink(sink Sink, buf []byte, filled int) {
	w.reset()
	w.sink, w.filled = sink, filled
	w.take(buf)
}

func (w *Writer) reset() {
	w.buf, w.filled, w.limit, w.chunk, w.lastID, w.depth, w.err, w.lent = nil, 0, 0, 0, 0, 0, nil, nil
	w.sink, w.writer, w.text, w.lender = nil, nil, nil, nil
}

// Lent returns the chunk being filled, and how many of its bytes are in use, also after an error about a value. After an error
// of the sink there is none. The Writer keeps using the chunk until it is reset.
func (w *Writer) Lent() (buf []byte, filled int) {
	switch {
	case w.sink == nil:
		return nil, 0
	case w.err != nil:
		return w.lent, w.filled
	default:
		return w.buf, w.filled
	}
}

// Err returns the first error.
func (w *Writer) Err() error { return w.err }

// WriteMessageBegin writes the envelope of a Thrift RPC message; its struct follows.
//
//	10000010 tttvvvvv   protocol id; type and version
//	varint              seqid, the two's complement of 32 bits, not zigzag
//	varint, bytes       length of the name, name
func (w *Writer) WriteMessageBegin(m Message) error {
	if m.Type < 1 || m.Type > 4 {
		return w.fail(fault.New(fault.BadHeader, "message type %d, want 1..4", m.Type))
	}
	if err := w.checkString(m.Name); err != nil {
		return err
	}
	if err := w.room(roomOpen); err != nil {
		return err
	}
	b := w.buf[w.filled:]
	b[0], b[1] = protocolID, byte(m.Type)<<5|protocolVersion
	n := 2 + putVarint32((*[8]byte)(b[2:10]), uint32(m.SeqID))
	n += putVarint32((*[8]byte)(b[n:n+8]), uint32(len(m.Name)))
	return w.finishString(n, m.Name)
}

// WriteStructBegin opens a struct. It writes nothing: field ids start anew. At most 64 structs may be open.
func (w *Writer) WriteStructBegin() error {
	depth := w.depth
	if uint(depth) >= maxStructs {
		return w.fail(errTooDeep)
	}
	w.lastIDs[depth], w.lastID, w.depth = w.lastID, 0, depth+1
	return w.err
}

// WriteStructEnd closes the innermost struct, after its WriteFieldStop. It writes nothing: field ids go on where the
// struct around it was.
func (w *Writer) WriteStructEnd() error {
	around := w.depth - 1
	if uint(around) >= maxStructs {
		return w.fail(ErrUnbalanced)
	}
	w.depth = around
	w.lastID = w.lastIDs[around]
	return w.err
}

// room makes buf[filled:] at least need bytes long. It is small enough to be inlined; most calls end here.
func (w *Writer) room(need int) error {
	if len(w.buf)-w.filled >= need {
		return nil
	}
	return w.more(need)
}

// more fetches a buffer of at least need bytes: the next chunk, or the scratch array.
func (w *Writer) more(need int) error {
	switch {
	case w.err != nil:
		return w.err
	case w.sink != nil:
		return w.next(need)
	case w.writer == nil:
		return w.fail(ErrNoTransport)
	}
	w.take(w.scratch[:])
	return nil
}

// take makes b the buffer: a chunk, or the scratch array, which is always empty between calls.
func (w *Writer) take(b []byte) {
	w.buf, w.limit, w.chunk = b, 1, 0
	if w.writer == nil {
		w.limit = max(len(b)-cursorSize+1, 0)
		w.chunk = w.limit
	}
}

// lend looks for room for all of a string: the n bytes before it, which stand in the scratch array, are moved to the spare room of the
// transport, where it lends at least need bytes. Room is asked for only when the string does not fit the scratch array: a call of
// AvailableBuffer costs more than copying a scalar twice, which made OneOfEach a sixth slower (BenchmarkWriter).
func (w *Writer) lend(n, need int) bool {
	if w.lender == nil {
		return false
	}
	b := w.lender.AvailableBuffer()
	if cap(b)-len(b) < need {
		return false
	}
	w.buf = b[len(b):cap(b)]
	copy(w.buf, w.scratch[:n])
	return true
}

// commitLent commits n bytes of the room that was lent, which is valid until then.
func (w *Writer) commitLent(n int) error {
	if err := w.commit(n); err != nil {
		return err
	}
	w.buf = w.scratch[:]
	return nil
}

// next hands the chunk over and takes another.
func (w *Writer) next(need int) error {
	filled := w.filled
	w.buf, w.filled, w.limit, w.chunk = nil, 0, 0, 0
	b, err := w.sink.Next(filled)
	if err != nil {
		return w.fail(err)
	}
	w.take(b)
	if len(b) < need {
		return w.fail(io.ErrShortBuffer)
	}
	return nil
}

// commit counts n more bytes of the buffer as written. A chunk keeps them; a transport is given them.
func (w *Writer) commit(n int) error {
	if w.writer != nil {
		return w.flush(n)
	}
	w.filled += n
	return nil
}

// flush passes the first n bytes of the buffer on to the transport.
func (w *Writer) flush(n int) error {
	written, err := w.writer.Write(w.buf[:n])
	if err == nil && written == n {
		return nil
	}
	return w.written(written, n, err)
}

// written judges what a transport answered.
func (w *Writer) written(n, want int, err error) error {
	if err == nil && n == want {
		return nil
	}
	if err == nil {
		err = io.ErrShortWrite
	}
	return w.fail(err)
}

// fail keeps err, unless there is one already, and makes every later call end in more.
func (w *Writer) fail(err error) error {
	if w.err == nil {
		w.err = err
		w.buf, w.lent, w.limit, w.chunk = nil, w.buf, 0, 0
	}
	return w.err
}

// finishString commits n bytes that stand in the buffer, which end with the length of s, and writes s: in one go where the buffer
// has room for it.
func (w *Writer) finishString(n int, s string) error {
	if b := w.buf[w.filled+n:]; len(b) >= len(s) {
		return w.commit(n + copy(b, s))
	}
	if w.lend(n, n+len(s)) {
		return w.commitLent(n + copy(w.buf[n:], s))
	}
	if err := w.commit(n); err != nil {
		return err
	}
	if w.text != nil {
		written, err := w.text.WriteString(s)
		return w.written(written, len(s), err)
	}
	return w.pass(stringBytes(s)) // a copy here, or an io.Writer, which must not write to them
}

// finishBytes is finishString for bytes.
func (w *Writer) finishBytes(n int, v []byte) error {
	if b := w.buf[w.filled+n:]; len(b) >= len(v) {
		return w.commit(n + copy(b, v))
	}
	if w.lend(n, n+len(v)) {
		return w.commitLent(n + copy(w.buf[n:], v))
	}
	if err := w.commit(n); err != nil {
		return err
	}
	return w.pass(v)
}

// pass writes bytes that do not fit the buffer. A transport is given them as they are; chunks are filled one after the other.
func (w *Writer) pass(v []byte) error {
	if w.sink == nil {
		n, err := w.writer.Write(v)
		return w.written(n, len(v), err)
	}
	for {
		n := copy(w.buf[w.filled:], v)
		w.filled += n
		if v = v[n:]; len(v) == 0 {
			return nil
		}
		if err := w.next(1); err != nil {
			return err
		}
	}
}
