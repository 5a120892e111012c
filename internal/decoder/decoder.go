// Package decoder reads Apache Thrift bytes, compact or binary, and returns the protobuf wire bytes of the same
// thriftpack.v1.Value. It builds no tree: a sizing pass checks everything and measures, a writing pass copies. It knows
// nothing of gRPC, JSON or schemas; for requests see package server, for the other direction package encoder.
package decoder

import (
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
// goroutine at a time. Once warm it does not allocate, but for an error or a new envelope name.
type Decoder struct {
	data []byte // aliases the input between Prepare and Release
}

// Prepare checks all of data and measures the Value in it. It aliases data until Release: the caller must not change it
// before. Errors are *fault.Error with the offset from the first byte of data and the path by field ids, such as "5[0].2",
// and leave nothing to write. What Prepare kept of an earlier input is dropped.
func (d *Decoder) Prepare(data []byte, o *Options) (Info, error) {
	d.data = data
	return Info{}, fault.New(fault.Unsupported, "decoding is not part of this build")
}

// Append appends the Value that the last Prepare measured to dst, Info.Size bytes, and returns the result. The bytes are
// canonical: what protobuf's deterministic marshalling of the same Value gives. After a failed Prepare, dst is returned as it is.
func (d *Decoder) Append(dst []byte) []byte {
	return dst
}

// WriteTo writes the Value that the last Prepare measured through sink, starting at buf[filled:] of the buffer that
// sink lent last (nil and 0 before its first). Every buffer is filled to its end before it is handed over; the last one is
// left to the caller: WriteTo returns it and how much of it is filled, so that values can follow each other in one buffer.
// The error is the sink's, as it was.
func (d *Decoder) WriteTo(sink Sink, buf []byte, filled int) (lastBuf []byte, lastFilled int, err error) {
	return buf, filled, nil
}

// Release drops the input, clears what was kept of it and gives back scratch beyond what is worth keeping.
func (d *Decoder) Release() {
	d.data = nil
}
