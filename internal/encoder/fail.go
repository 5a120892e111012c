package encoder

import (
	"math"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// cause is why the walk stopped. The walk records it with the place in the wire bytes only; the error, with its path
// and words, is made afterwards.
type cause uint8

const (
	causeNone         cause = iota
	causeSlow               // no fault: the bytes have to be normalised first
	causeSink               // the error of the sink or of Stop, in sinkErr
	causeEnds               // the protobuf bytes end inside of a member
	causeMember             // a member number that does not exist; got is the number
	causeWireType           // got is the tag
	causeBadVarint          // a tag or length of more than 64 bits
	causeMissingKind        // no member of the oneof is set
	causeMissingType        // an empty list without element_type
	causeTwoColumns         // got and want are the kinds
	causeElementType        // got is element_type, want the kind of the column
	causeNoSuchType         // got is element_type
	causePairs              // got is the number of keys, want the number of values
	causeUUID               // got is the number of bytes
	causeUTF8               //
	causeRange              // got is the number, want the kind
	causeOverflow           // want is the number of bits
	causeDepth              // got is the depth
	causeElements           // got is the number of elements
	causeString             // got is the number of bytes
	causeNodes              // got is the number of members, or fewer
	causeRoot               // got is the kind of the root
	causeMessageType        // got is the message type
	causeMessageName        // the message's name is not UTF-8
	causeMessageBytes       // got is the number of bytes of the message's name
	causeFrame              // got is the size of the frame
	causeUnprepared         // WriteTo without Prepare
	causeTwice              // normalised bytes that need normalising: a fault of this package
)

// failure is what the walk records: the span in.start:end of the message or scalar at fault, and two numbers.
type failure struct {
	cause      cause
	start, end int
	got, want  int64
}

// fail records a failure and returns false, so that it can be returned in one go.
//
//go:noinline
func (e *Encoder) fail(c cause, start, end int, got, want int64) bool {
	e.failure = failure{cause: c, start: start, end: end, got: got, want: want}
	return false
}

// slow records that the value has to be normalised and returns false.
func (e *Encoder) slow() bool {
	e.failure.cause = causeSlow
	return false
}

// err makes the error of the recorded failure.
func (e *Encoder) err() error {
	f := &e.failure
	if f.cause == causeSink {
		return e.sinkErr
	}
	if f.cause == causeSlow {
		f.cause = causeTwice
	}
	err := e.describe(f)
	switch f.cause {
	case causeMessageType:
		err.Path = "options.message.type"
	case causeMessageName, causeMessageBytes:
		err.Path = "options.message.name"
	case causeFrame, causeUnprepared, causeTwice:
	default:
		err.Path = locate(e.in[:e.end], f.start, f.end)
	}
	return err
}

// describe returns the error of a failure without its place.
func (e *Encoder) describe(f *failure) *fault.Error {
	switch f.cause {
	case causeEnds:
		return fault.New(fault.BadProto, "malformed protobuf: ends inside of a member")
	case causeMember:
		return fault.New(fault.BadProto, "malformed protobuf: no member has the number %d", f.got)
	case causeWireType:
		return fault.New(fault.BadProto, "malformed protobuf: member %d with wire type %d", f.got>>3, f.got&7)
	case causeBadVarint:
		return fault.New(fault.BadProto, "malformed protobuf: a tag or length is not a varint of at most 64 bits")
	case causeMissingKind:
		return fault.New(fault.MissingKind, "no kind is set")
	case causeMissingType:
		return fault.New(fault.MissingKind, "no elements and no element_type")
	case causeTwoColumns:
		return fault.New(fault.TypeMismatch, "elements in two columns: %s and %s", columnName(f.got), columnName(f.want))
	case causeElementType:
		return fault.New(fault.TypeMismatch, "element_type is %s, but the elements are %s", typeName(f.got), typeName(f.want))
	case causeNoSuchType:
		return fault.New(fault.BadType, "element_type %d does not exist", f.got)
	case causePairs:
		return fault.New(fault.CountMismatch, "%d keys, but %d values", f.got, f.want)
	case causeUUID:
		return fault.New(fault.CountMismatch, "%d bytes, want %d", f.got, uuidSize)
	case causeUTF8, causeMessageName:
		return fault.New(fault.BadUTF8, "not valid UTF-8")
	case causeRange:
		return rangeError(f.got, f.want)
	case causeOverflow:
		return fault.New(fault.VarintOverflow, "varint of more than %d bits", f.want)
	case causeDepth:
		return e.depthError(f.got)
	case causeElements:
		return sizeError("number of elements", "--max-elements", e.options.Limits.Elements, f.got)
	case causeString, causeMessageBytes:
		return sizeError("number of bytes", "--max-string-bytes", e.options.Limits.StringBytes, f.got)
	case causeNodes:
		return fault.OverLimit(fault.SizeLimit, "number of members to normalise", "--max-slow-nodes",
			int64(e.options.Limits.SlowNodes), f.got)
	case causeRoot:
		return fault.New(fault.TypeMismatch, "a message needs a STRUCT, not %s", typeName(f.got))
	case causeMessageType:
		return fault.New(fault.BadHeader, "message type %d, want 1..4", f.got)
	case causeFrame:
		return fault.New(fault.NegativeSize, "frame of %d bytes, at most %d", f.got, math.MaxInt32)
	case causeUnprepared:
		return fault.New(fault.Internal, "nothing is prepared")
	case causeTwice:
		return fault.New(fault.Internal, "normalised bytes are not normal")
	case causeNone, causeSlow, causeSink:
	}
	return fault.New(fault.Internal, "cause %d has no words", f.cause)
}

// sizeError returns the error of a size beyond the limit, or beyond what Thrift can express where the limit allows more.
func sizeError(what, setting string, limit int, actual int64) *fault.Error {
	if actual <= int64(limit) {
		return fault.New(fault.NegativeSize, "%s %d, at most %d", what, actual, math.MaxInt32)
	}
	return fault.OverLimit(fault.SizeLimit, what, setting, int64(limit), actual)
}

// depthError returns the error of nesting beyond the limit, or beyond MaxDepth where the limit allows more.
func (e *Encoder) depthError(depth int64) *fault.Error {
	return fault.OverLimit(fault.DepthLimit, "depth", "--max-depth", int64(min(e.options.Limits.Depth, MaxDepth)), depth)
}

// rangeError returns the error of an integer outside of the range of its kind; memberFirst stands for a field id.
func rangeError(got, kind int64) *fault.Error {
	low, high := int64(math.MinInt16), int64(math.MaxInt16)
	if kind == kindI8 {
		low, high = math.MinInt8, math.MaxInt8
	}
	return fault.New(fault.IntRange, "out of range: %d, want %d..%d", got, low, high)
}
