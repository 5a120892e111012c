// Package decoder reads Apache Thrift bytes, compact or binary, and returns the protobuf wire bytes of the same
// thriftpack.v1.Value. It builds no tree: a sizing pass checks everything and measures, a writing pass copies; what is small is checked
// and copied at once. Parts makes both passes for streams larger than memory, a window at a time. The package knows nothing of gRPC, JSON or schemas; for requests see package server, for the other direction package encoder.
package decoder

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
)

// Protocol is a Thrift wire format.
type Protocol uint8

// The protocols. The zero value is Compact.
const (
	Compact Protocol = iota // thrift-compact-protocol.md, version 1
	Binary                  // thrift-binary-protocol.md; envelopes in the strict or in the old unversioned form
)

// Limits bound what an input may cost. A value exactly at its limit passes; a limit of zero refuses everything that it
// bounds, so that a forgotten one is noticed.
type Limits struct {
	// Depth bounds the nesting of structs and containers, the root being 1. More than 10,000 counts as 10,000.
	Depth int
	// Elements bounds the elements of one list or set and the entries of one map.
	Elements int
	// StringBytes bounds one string or binary, and an envelope's name, in bytes.
	StringBytes int
	// Nodes bounds the values of the whole input: the root, fields, elements, keys and values each count one.
	Nodes int
}

// Options say how bytes are read. The zero value but for its limits reads one bare compact struct, strictly.
type Options struct {
	// Protocol is the wire format.
	Protocol Protocol
	// Framed expects a 4-byte big-endian length first.
	Framed bool
	// Message expects the envelope of a Thrift RPC message before the value, which must be a struct.
	Message bool
	// Root is the type of the value; TYPE_UNSPECIFIED is a struct.
	Root thriftpackv1.Type
	// AllowTrailing leaves bytes after the value alone, inside the frame or behind it.
	AllowTrailing bool
	// Lenient accepts what Apache's readers accept: bool bytes without meaning (false), a stop byte with a delta, element
	// type 0 of an empty list, a non-zero third byte of a binary envelope. Nothing that wraps a number or reads past the end.
	Lenient bool
	// DetectText returns binary as string where it is valid UTF-8: of a list and of a map's keys or values, where all are.
	DetectText bool
	// Limits bound the input.
	Limits Limits
	// Stop, when set, is asked every few thousand values by the sizing pass whether to go on, such as Err of a context. Its error ends
	// Prepare, which returns it as it is. The writing pass has its sink to stop it. Parts ask between steps, and end likewise.
	Stop func() error
}

// Message is the envelope of a Thrift RPC message.
type Message struct {
	// Name is the method's name, valid UTF-8.
	Name string
	// Type is 1 call, 2 reply, 3 exception or 4 oneway.
	Type int32
	// SeqID is the sequence id.
	SeqID int32
}

// Info is what Prepare found.
type Info struct {
	// Size is the number of bytes of the serialized Value.
	Size int64
	// BytesRead is how many bytes of the input were read, with frame length and envelope: where the value ends.
	BytesRead int64
	// Message is the envelope where HasMessage is set.
	Message Message
	// HasMessage says that the input had an envelope.
	HasMessage bool
}

// Sink takes bytes and lends the room they are written in. Next hands over the first filled bytes of the buffer lent last
// (0 on the first call) and lends the next one, at least 512 bytes long.
type Sink interface {
	Next(filled int) ([]byte, error)
}

// Decoder turns Thrift bytes into the wire bytes of a Value. The zero value is ready; it may be used again and again, by one
// goroutine at a time. Once warm it does not allocate, but for an error, a new envelope name, and more scratch than Release keeps.
type Decoder struct {
	data  []byte // aliases the input up to the end of its frame, between Prepare and Release
	start int    // where the value begins
	body  int    // likewise, from before its first byte is read on; until then the largest int
	root  uint8  // its kind
	size  int    // of the Value, or unknown while there is none to write

	binary, lenient, detectText bool
	limits                      Limits
	nodes                       int  // how many more values are allowed, until Stop is asked
	later                       int  // how many more are allowed after that
	cut                         bool // data goes on: see errCut
	reached                     int  // how far into data the pass had come when errCut was met
	beyond                      int  // how many bytes a size may claim behind data

	sizes   sizes
	spans   []span
	sorted  bool // spans are in the order of their starts
	writing bool // entries and spans are there already
	out     output
	buffer  []byte // for small Values and maps; at most mapBuffer bytes, nil until they are needed
	dirty   int    // how many of them hold bytes of an input

	ready, readyEnd int  // where in buffer the Value is; readyEnd is 0 where it is yet to be written
	twoPasses       bool // however small the input is; set by tests

	stop    func() error // nil or Options.Stop, during Prepare
	stopErr error        // what it returned, which ends everything

	name  string // the last envelope's, so that a stream of messages does not allocate
	fault *fault.Error
	steps []step
}

// Prepare checks all of data and measures the Value in it. It aliases data until Release: the caller must not change it
// before. Errors are *fault.Error with the offset from the first byte of data and the path by field ids, such as "5[0].2",
// or that of Options.Stop, and leave nothing to write. What Prepare kept of an earlier input is dropped.
func (d *Decoder) Prepare(data []byte, o *Options) (info Info, err error) {
	d.stop, d.stopErr = o.Stop, nil
	f := d.prepare(data, o, &info) // in its place: a copy would wait for what was just stored in smaller pieces
	if f == nil {
		d.stop = nil
		return info, nil
	}
	if d.stopErr == nil {
		d.recognise(data, o, f, isAtFirst(f, d.body))
	}
	stopErr := d.stopErr
	d.drop()
	if stopErr != nil {
		return Info{}, stopErr
	}
	return Info{}, f
}

// drop forgets the input and leaves nothing to write.
func (d *Decoder) drop() {
	d.forget()
	d.stop, d.stopErr = nil, nil
}

// forget is drop, but goes on asking Stop.
func (d *Decoder) forget() {
	d.data, d.size, d.fault, d.steps = nil, unknown, nil, d.steps[:0]
	d.sizes.used, d.spans, d.sorted, d.writing, d.readyEnd = 0, d.spans[:0], false, false, 0
}

// prepare is Prepare without the guess at what else the bytes may be.
func (d *Decoder) prepare(data []byte, o *Options, info *Info) *fault.Error {
	d.forget()
	d.binary, d.lenient, d.detectText = o.Protocol == Binary, o.Lenient, o.DetectText
	d.limits, d.nodes = o.Limits, min(o.Limits.Nodes, stopEvery)
	d.later = o.Limits.Nodes - d.nodes
	d.limits.Depth, d.body = min(d.limits.Depth, stackMost), math.MaxInt
	root, f := rootKind(o)
	if f != nil {
		return f
	}
	if len(data) > maxSize {
		return fault.OverLimit(fault.SizeLimit, "length of the input", "the largest that Thrift has", maxSize, int64(len(data)))
	}
	d.data = data
	end := d.measure(root, o, info)
	if end < 0 {
		d.fault.Path = d.path()
		return d.fault
	}
	if !o.AllowTrailing && end < len(data) {
		return &fault.Error{
			Reason: fault.TrailingBytes, Offset: int64(end), Detail: fmt.Sprintf("%d bytes after the value", len(data)-end),
		}
	}
	info.Size, info.BytesRead = int64(d.size), int64(end)
	return nil
}

// measure reads frame, envelope and value, and returns where the value ends.
func (d *Decoder) measure(root uint8, o *Options, info *Info) (end int) {
	pos := 0
	if o.Framed {
		if pos = d.frame(); pos < 0 {
			return failed
		}
	}
	if o.Message {
		if pos = d.envelope(pos, &info.Message); pos < 0 {
			return failed
		}
		info.HasMessage = true
	}
	d.body = pos
	if d.nodes--; d.nodes < 0 && !d.goOn(pos) {
		return failed
	}
	var size int
	if root == kindStruct {
		if end, size = d.measureSmall(pos); end < 0 {
			if end, size = d.measureStruct(pos, 1, false); end >= 0 {
				size = recordSize(size)
			}
		}
	} else {
		end, size = d.measureMember(root, pos, 0)
	}
	if end < 0 {
		return failed
	}
	if size > maxSize {
		return d.overLimit(fault.SizeLimit, pos, "size of the Value", "the largest message of protobuf", maxSize, size)
	}
	if root == kindString || root == kindBinary && d.detectText {
		n, start := d.readSize(pos, "")
		if utf8.Valid(d.data[start : start+n]) {
			root = kindString
		} else if root == kindString {
			return d.fail(fault.BadUTF8, start, "string is not valid UTF-8")
		}
	}
	d.start, d.root, d.size = pos, root, size
	return end
}

// rootKinds are the types that there are. thriftpackv1.Type_name has them, too, but asking a map is a tenth of reading a small struct.
var rootKinds = [16]bool{
	kindBool: true, kindI8: true, kindI16: true, kindI32: true, kindI64: true, kindDouble: true, kindBinary: true, kindList: true, kindSet: true,
	kindMap: true, kindStruct: true, kindUUID: true, kindString: true,
}

// rootKind returns the kind of the value that the options ask for.
func rootKind(o *Options) (uint8, *fault.Error) {
	if o.Protocol > Binary {
		return 0, badOption(fault.BadOption, "protocol", "protocol %d does not exist", o.Protocol)
	}
	if o.Root == thriftpackv1.Type_TYPE_UNSPECIFIED {
		return kindStruct, nil
	}
	if uint(o.Root) >= uint(len(rootKinds)) || !rootKinds[o.Root] {
		return 0, badOption(fault.BadOption, "root_type", "root type %d does not exist", int32(o.Root))
	}
	if o.Message && o.Root != thriftpackv1.Type_TYPE_STRUCT {
		return 0, badOption(fault.TypeMismatch, "root_type", "a message holds a struct, not a root of type %s", o.Root)
	}
	return uint8(o.Root), nil // known types are below 16
}

// Append appends the Value that the last Prepare measured to dst, Info.Size bytes, and returns the result. The bytes are
// canonical: what protobuf's deterministic marshalling of the same Value gives. Room of dst beyond the result is left as it was, or
// zero. After a failed Prepare, dst is returned as it is.
func (d *Decoder) Append(dst []byte) []byte {
	if d.size == unknown || d.data == nil {
		return dst
	}
	if d.readyEnd > 0 {
		return append(dst, d.buffer[d.ready:d.readyEnd]...)
	}
	filled := len(dst)
	end := filled + d.size
	if cap(dst) < end {
		dst = slices.Grow(dst, d.size+itemRoom)
	}
	room := dst[:min(cap(dst), end+itemRoom)] // a little more where there is some: the last fields are written faster
	d.beginWriting(nil, room[filled:], 0)
	d.writeRoot()
	d.out.buf = nil
	if over := room[end:]; len(over) >= overrun {
		clear(over[:overrun:overrun])
	} else {
		clear(over)
	}
	return dst[:end]
}

// WriteTo writes the Value that the last Prepare measured through sink, starting at buf[filled:] of the buffer that
// sink lent last (nil and 0 before its first). Every buffer is filled to its end before it is handed over; the last one is
// left to the caller: WriteTo returns it and how much of it is filled, so that values can follow each other in one buffer.
// It may be called again for the same Value. The error is the sink's, as it was; then no buffer is left to the caller.
func (d *Decoder) WriteTo(sink Sink, buf []byte, filled int) (lastBuf []byte, lastFilled int, err error) {
	if d.size == unknown || d.data == nil {
		return buf, filled, nil
	}
	o := &d.out
	d.beginWriting(sink, buf, filled)
	d.writeRoot()
	o.settle()
	lastBuf, lastFilled, err = o.buf, o.n, o.err
	o.buf, o.lent, o.sink, o.err = nil, nil, nil, nil
	clear(o.spill[:])
	if err != nil {
		return nil, 0, err
	}
	clear(lastBuf[lastFilled:min(lastFilled+overrun, len(lastBuf))])
	return lastBuf, lastFilled, nil
}

// writeRoot writes the Value.
func (d *Decoder) writeRoot() {
	switch {
	case d.readyEnd > 0:
		d.out.bytes(d.buffer[d.ready:d.readyEnd])
	case d.root == kindStruct:
		d.writeStruct(d.start, noField, unknown)
	default:
		d.writeMember(d.root, d.start, noField)
	}
}

// beginWriting sets the passes up for writing.
func (d *Decoder) beginWriting(sink Sink, buf []byte, filled int) {
	d.writing, d.sizes.used, d.nodes = true, 0, math.MaxInt
	o := &d.out
	o.buf, o.n, o.sink, o.err, o.spilling = buf, filled, sink, nil, false
}

// Release drops the input, clears what was kept of it and gives back scratch beyond what is worth keeping.
func (d *Decoder) Release() {
	d.drop()
	d.sizes.release()
	if cap(d.spans) > keptSpans {
		d.spans = nil
	}
	if d.dirty > 0 {
		clear(d.buffer[:d.dirty])
		d.dirty = 0
	}
}
