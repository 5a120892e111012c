package server

import (
	"context"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/stream"
)

const (
	// dataTag begins member 1 of wire type "bytes": the data of a response, the value of a DecodeResponse, the results and
	// the response of a batch.
	dataTag = 1<<3 | byte(protowire.BytesType)
	// replyHeadroom is room for a tag and the longest length before the data of a reply.
	replyHeadroom = 1 + 5
	// smallReply is the size of the largest reply that gets memory of its own: gRPC does not pool buffers so small.
	smallReply = 1 << 10
)

// errReplySize is the fault of a unary reply of size bytes.
func (s *service) errReplySize(size int64, streaming string) error {
	return fault.OverLimit(fault.SizeLimit, "reply size", "--max-unary-reply-bytes; use "+streaming,
		int64(s.cfg.MaxUnaryReplyBytes), size)
}

// dataSize returns the size of a message with n bytes of data in its member 1.
func dataSize(n int64) int64 { return 1 + int64(protowire.SizeVarint(uint64(n))) + n } //nolint:gosec // n is a size

// appendData appends member 1 with data.
func appendData(dst, data []byte) []byte {
	dst = protowire.AppendVarint(append(dst, dataTag), uint64(len(data)))
	return append(dst, data...)
}

// ownedReply is a small reply in memory of its own: its bytes, and the slice that gRPC takes them in, in one object where there would be three.
type ownedReply struct {
	mem.SliceBuffer // the bytes

	pieces [1]mem.Buffer
	room   [ownedRoom]byte
}

// ownedRoom is how many bytes lie in the ownedReply itself; with them it fills a size class of the allocator. Longer ones lie elsewhere.
const ownedRoom = 144 - 24 - 16

// newReply returns an empty reply with room for size bytes.
func newReply(size int) *ownedReply {
	r := &ownedReply{}
	if size <= len(r.room) {
		r.SliceBuffer = r.room[:0:size]
	} else {
		r.SliceBuffer = make([]byte, 0, size)
	}
	return r
}

// marshal returns the reply as gRPC takes it.
func (r *ownedReply) marshal() mem.BufferSlice {
	r.pieces[0] = r
	return r.pieces[:]
}

// ownReply returns a reply with data in member 1, in memory of its own: data is copied.
func ownReply(data []byte) mem.Buffer {
	reply := newReply(int(dataSize(int64(len(data)))))
	reply.SliceBuffer = appendData(reply.SliceBuffer, data)
	return reply
}

// chunkReply returns a reply whose data lies in the chunk from replyHeadroom to end: tag and length are put right before
// it. The chunk is handed over, or given back where the reply is small.
func (c *unaryCall) chunkReply(ctx context.Context, chunk stream.Chunk, end int) (mem.Buffer, error) {
	data := chunk.Room(end)[replyHeadroom:]
	if dataSize(int64(len(data))) <= smallReply {
		reply := ownReply(data)
		chunk.Release()
		return reply, nil
	}
	start := replyHeadroom - 1 - protowire.SizeVarint(uint64(len(data)))
	protowire.AppendVarint(append(chunk.Room(end)[:start], dataTag), uint64(len(data)))
	return c.charge(ctx, chunk, start, end)
}

// charge hands a chunk's bytes to gRPC as a unary reply that the connection owes until it is read. While the connection owes
// too much it waits, without the request.
func (c *unaryCall) charge(ctx context.Context, chunk stream.Chunk, start, end int) (mem.Buffer, error) {
	c.raw.free()
	if err := chunk.ChargeTo(ctx, connectionOf(ctx).accountOrNil()); err != nil {
		chunk.Release()
		return nil, err
	}
	return chunk.Buffer(start, end), nil
}
