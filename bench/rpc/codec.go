package rpc

import (
	"errors"

	"google.golang.org/grpc/mem"
)

// errNotRaw is returned for a message that RawCodec does not pass.
var errNotRaw = errors.New("raw codec: not a *Raw")

// Raw is a message whose wire bytes are made and read by nobody: the cheapest thing that gRPC can carry.
type Raw struct {
	// Data is the whole message on the way out. The codec aliases it, and never writes to it.
	Data []byte
	// Length is how many bytes came in. They are not kept: a floor does not read.
	Length int
}

// RawCodec carries Raw messages. It says that its name is "proto", so that any server takes what it sends.
type RawCodec struct{}

// Name is the content subtype.
func (RawCodec) Name() string { return "proto" }

// Marshal lends the bytes of a Raw.
func (RawCodec) Marshal(message any) (mem.BufferSlice, error) {
	raw, ok := message.(*Raw)
	if !ok {
		return nil, errNotRaw
	}
	return mem.BufferSlice{mem.SliceBuffer(raw.Data)}, nil
}

// Unmarshal keeps only how long the message was.
func (RawCodec) Unmarshal(data mem.BufferSlice, message any) error {
	raw, ok := message.(*Raw)
	if !ok {
		return errNotRaw
	}
	raw.Length = data.Len()
	return nil
}
