package server

import (
	"errors"
	"fmt"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"

	// The stock codec, which codec hands other messages to.
	_ "google.golang.org/grpc/encoding/proto"

	"github.com/thriftpack/thriftpack/internal/stream"
)

// errTaken is a message that was given to gRPC a second time.
var errTaken = errors.New("codec: the message was sent before")

// codec carries the messages of SerializerService as bytes: it lends those of a request to the handler and
// wraps those that a handler has finished, so that neither side is parsed, built or copied here. Other services' messages go
// to the stock codec. It is given to the server, never to gRPC's global registry.
//
// Unmarshal never fails for a rawRequest: gRPC would send its error to the client before a handler could word it.
// Marshal does no work that could panic, since it runs outside of every interceptor.
type codec struct {
	stock encoding.CodecV2
	pool  mem.BufferPool
}

func newCodec(pool mem.BufferPool) *codec {
	return &codec{stock: encoding.GetCodecV2("proto"), pool: pool}
}

// Name is the content subtype, that of the stock codec.
func (c *codec) Name() string { return "proto" }

// Unmarshal lends data to a rawRequest, which keeps a reference until it is freed.
func (c *codec) Unmarshal(data mem.BufferSlice, message any) error {
	if request, ok := message.(*rawRequest); ok {
		request.borrow(data, c.pool)
		return nil
	}
	return c.stock.Unmarshal(data, message)
}

// Marshal passes on finished bytes, one buffer or several. gRPC owns them from here, also when sending fails.
func (c *codec) Marshal(message any) (mem.BufferSlice, error) {
	switch m := message.(type) {
	case *stream.Message:
		if data, ok := m.Take(); ok {
			return data, nil
		}
		return nil, errTaken
	case *ownedReply:
		return m.marshal(), nil
	case mem.Buffer:
		return mem.BufferSlice{m}, nil
	case mem.BufferSlice:
		return m, nil
	case *rawRequest:
		return nil, fmt.Errorf("codec: %T is not a reply", message)
	}
	return c.stock.Marshal(message)
}

// rawRequest is the wire bytes of a request message, lent by gRPC. The zero value is empty. It must be freed.
type rawRequest struct {
	buffer mem.Buffer
}

// borrow takes a reference to data, as one contiguous buffer: the one it has, or else a pooled copy. It frees what it held.
func (r *rawRequest) borrow(data mem.BufferSlice, pool mem.BufferPool) {
	r.free()
	if data.Len() > 0 {
		r.buffer = data.MaterializeToBuffer(pool)
	}
}

// take takes over a buffer, nil where there is none. It frees what it held.
func (r *rawRequest) take(buffer mem.Buffer) {
	r.free()
	r.buffer = buffer
}

// bytes aliases the request; it is valid until free.
func (r *rawRequest) bytes() []byte {
	if r.buffer == nil {
		return nil
	}
	data := r.buffer.ReadOnlyData()
	return data[:len(data):len(data)]
}

// held is how much memory the request takes.
func (r *rawRequest) held() int64 {
	if r.buffer == nil {
		return 0
	}
	return int64(cap(r.buffer.ReadOnlyData()))
}

// free gives the request back. It may be called twice.
func (r *rawRequest) free() {
	if r.buffer != nil {
		buffer := r.buffer
		r.buffer = nil
		buffer.Free()
	}
}
