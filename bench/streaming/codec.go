package streaming

import (
	"errors"

	"google.golang.org/grpc/mem"
)

// errNotRaw is returned for a message that rawCodec does not pass.
var errNotRaw = errors.New("raw codec: not a raw message")

// rawMessage is a message that is made and read by nobody, or by its holder.
type rawMessage struct {
	// out is the whole message on the way out, unless in is set. The codec aliases it, and never writes to it.
	out []byte
	// hold says that what comes in is kept, as in, a reference that Marshal hands on and free gives back.
	hold bool
	in   mem.BufferSlice
	// length is how many bytes came in.
	length int
}

// free gives back what came in and was not sent.
func (m *rawMessage) free() {
	if m.in != nil {
		m.in.Free()
		m.in = nil
	}
}

// rawCodec carries raw messages. It says that its name is "proto", so that any server takes what it sends.
type rawCodec struct{}

// Name is the content subtype.
func (rawCodec) Name() string { return "proto" }

// Marshal lends the bytes of a message, or sends on what came in.
func (rawCodec) Marshal(message any) (mem.BufferSlice, error) {
	raw, ok := message.(*rawMessage)
	if !ok {
		return nil, errNotRaw
	}
	if in := raw.in; in != nil {
		raw.in = nil
		return in, nil
	}
	return mem.BufferSlice{mem.SliceBuffer(raw.out)}, nil
}

// Unmarshal notes how long the message was, and keeps it where that is asked for.
func (rawCodec) Unmarshal(data mem.BufferSlice, message any) error {
	raw, ok := message.(*rawMessage)
	if !ok {
		return errNotRaw
	}
	raw.free()
	raw.length = data.Len()
	if raw.hold {
		data.Ref()
		raw.in = data
	}
	return nil
}
