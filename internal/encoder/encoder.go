// Package encoder turns values into Thrift bytes, compact protocol or strict binary protocol. Its input is not a tree
// of objects but the protobuf wire bytes of a thriftpack.v1.Value, which it walks once: where the two formats agree
// it copies whole runs. It knows nothing of gRPC, requests or JSON; for those see package server.
package encoder

import (
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

// Message is the envelope of a Thrift RPC message around a struct.
type Message struct {
	// Name is the name of the method.
	Name string
	// Type is 1 call, 2 reply, 3 exception or 4 oneway.
	Type int32
	// SeqID is the sequence id.
	SeqID int32
}

// Limits bound what one value may cost. A limit of zero refuses everything it bounds, so that a forgotten one fails closed.
type Limits struct {
	// Depth is the largest nesting of structs, lists, sets and maps; the root counts as 1.
	Depth int
	// Elements is the largest number of elements or entries of one container.
	Elements int
	// StringBytes is the largest number of bytes of one string or binary.
	StringBytes int
	// SlowNodes is the largest number of messages in a value that has to be normalised first.
	SlowNodes int
}

// Options say how a value is to be written. They are only read; the same Options may serve many encoders at once.
type Options struct {
	// Protocol is the protocol to write.
	Protocol Protocol
	// Framed puts the length of everything that follows first, as four big-endian bytes.
	Framed bool
	// Message, when set, writes the value, which must be a struct, as a Thrift message of that header.
	Message *Message
	// Limits bound the value.
	Limits Limits
}

// Sink takes encoded bytes and lends the room they are written in.
type Sink interface {
	// Next takes the first filled bytes of the buffer that it lent last, 0 on the first call, and lends the next
	// buffer, at least 512 bytes long.
	Next(filled int) ([]byte, error)
}

// Encoder encodes one value at a time. The zero value is ready for use. It keeps its scratch memory from call to call,
// so a reused Encoder allocates nothing; it must not be used concurrently. Every call starts from a clean state,
// also after one that failed. Errors are of type *fault.Error, with a path such as value.struct.fields[3].i16.
type Encoder struct{}

// Append encodes value, the protobuf wire bytes of a Value, and appends the result to dst. It aliases value only
// during the call. A dst with Bound bytes of room is never reallocated by a value that takes the fast path in the compact
// protocol. On an error it returns dst as it was, though bytes beyond its length may have been overwritten.
func (e *Encoder) Append(dst, value []byte, o *Options) ([]byte, error) {
	return dst, fault.New(fault.Unsupported, "encoding is not built in")
}

// Bound returns a number of bytes that the compact encoding of a value of valueLen wire bytes never exceeds on the fast
// path, frame and message header included. The binary protocol may need more.
func Bound(valueLen int, o *Options) int {
	n := valueLen + 32
	if o.Message != nil {
		n += len(o.Message.Name)
	}
	return n
}

// Prepare validates the whole value and returns the size of its encoding, frame and message header included. It keeps
// aliasing value until Release; the caller must not change it before.
func (e *Encoder) Prepare(value []byte, o *Options) (size int64, err error) {
	return 0, fault.New(fault.Unsupported, "encoding is not built in")
}

// WriteTo writes the value that was prepared, and may be called several times after one Prepare. It starts at
// buf[filled:], so that several records can share a buffer, and takes further buffers from the sink as they fill; buf may
// be nil. The last buffer, with lastFilled bytes of it in use, is left to the caller. Errors are the sink's own.
func (e *Encoder) WriteTo(sink Sink, buf []byte, filled int) (lastBuf []byte, lastFilled int, err error) {
	return buf, filled, fault.New(fault.Internal, "nothing is prepared")
}

// Release drops every reference to the value that was prepared, and scratch memory beyond what is worth keeping.
func (e *Encoder) Release() {}

// SlowPath reports whether the value of the last Append or Prepare had to be normalised before it was encoded.
func (e *Encoder) SlowPath() bool { return false }
