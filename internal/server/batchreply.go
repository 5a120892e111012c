package server

import (
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// errorTag begins member 2 of a result: its error.
const errorTag = 2<<3 | byte(protowire.BytesType)

// replyFull is the result of a request whose real result does not fit into the reply any more. Room for it is kept for every
// request of a message, so it is short.
var replyFull = appendError(nil, &thriftpackv1.Error{
	Code: int32(codes.ResourceExhausted), Message: "SIZE_LIMIT: reply full",
})

// batchReply is the response to one request message of a batch. Both kinds of responses are laid out alike:
//
//	0a len              results: one result
//	   0a len           response; or 12 len: error
//	      0a len data   data or value; a decoded one is followed by its tail
type batchReply struct {
	service *service
	session *session
	chunk   stream.Chunk
	room    []byte // aliases the chunk
	charged int64  // what the budget has for chunks
	filled  int
	// limit is how many bytes the results up to the present one may have.
	limit int
}

// grow makes room for n more bytes. The error is that of a budget that has none left.
func (b *batchReply) grow(n int) error {
	if len(b.room)-b.filled >= n {
		return nil
	}
	size := max(b.filled+n, min(2*len(b.room), b.service.cfg.MaxUnaryReplyBytes+sinkRoom))
	if more := int64(stream.Capacity(len(b.room))+stream.Capacity(size)) - b.charged; more > 0 && len(b.room) > 0 {
		if err := b.session.more(more); err != nil {
			return err
		}
		b.charged += more
	}
	chunk := b.service.pool.Get(size)
	room := chunk.Room(size)
	copy(room, b.room[:b.filled])
	b.chunk.Release()
	b.chunk, b.room = chunk, room
	return nil
}

// left is how many bytes the present result may take.
func (b *batchReply) left() int64 { return int64(b.limit - b.filled) }

// resultSize is the size of a result whose response has n bytes.
func resultSize(n int64) int64 { return dataSize(dataSize(n)) }

// appendResultHead appends all that stands before the n bytes of a response.
func appendResultHead(dst []byte, n int64) []byte {
	dst = protowire.AppendVarint(append(dst, dataTag), uint64(dataSize(n))) //nolint:gosec // a size is not negative
	return protowire.AppendVarint(append(dst, dataTag), uint64(n))          //nolint:gosec // as above
}

// appendEncodedHead appends all that stands before n bytes of encoded data.
func appendEncodedHead(dst []byte, n int64) []byte {
	dst = appendResultHead(dst, dataSize(n))
	return protowire.AppendVarint(append(dst, dataTag), uint64(n)) //nolint:gosec // a size is not negative
}

// encode appends a value's result and returns the data in it, which aliases the reply until the next result.
func (b *batchReply) encode(e *encoder.Encoder, p *encodePlan) (data []byte, err error) {
	bound := int64(encoder.Bound(len(p.value), &p.options))
	if p.options.Protocol != encoder.Compact || resultSize(dataSize(bound)) > b.left() {
		return b.encodeMeasured(e, p)
	}
	if err := b.grow(int(resultSize(dataSize(bound)))); err != nil {
		return nil, err
	}
	// The head is written last, when the size is known; a bound of as many digits makes it fall into place.
	head := int(resultSize(dataSize(bound)) - bound)
	encoded, err := e.Append(b.room[:b.filled+head], p.value, &p.options)
	if err != nil {
		return nil, err
	}
	return b.place(encoded, head)
}

// place puts the head before the data of a result that was encoded behind it, at encoded[b.filled+head:]. That is in the reply's
// own room, or where the encoder needed more than it said, in memory of the encoder's.
func (b *batchReply) place(encoded []byte, head int) (data []byte, err error) {
	data = encoded[b.filled+head:]
	size := resultSize(dataSize(int64(len(data))))
	switch {
	case size > b.left():
		return nil, b.errFull(size)
	case &encoded[0] != &b.room[0]:
		if err := b.grow(int(size)); err != nil {
			return nil, err
		}
	case int(size) > len(b.room)-b.filled:
		// To grow would clear the data under our hands.
		return nil, fault.New(fault.Internal, "a value of %d bytes is larger than its bound", len(data))
	}
	head = int(size) - len(data)
	copy(b.room[b.filled+head:], data)
	appendEncodedHead(b.room[:b.filled], int64(len(data)))
	data = b.room[b.filled+head : b.filled+int(size)]
	b.filled += int(size)
	return data, nil
}

// encodeMeasured measures a value before it takes room for it.
func (b *batchReply) encodeMeasured(e *encoder.Encoder, p *encodePlan) (data []byte, err error) {
	n, err := e.Prepare(p.value, &p.options)
	if err != nil {
		return nil, err
	}
	return b.write(e, n)
}

// write appends the result of a value of n bytes that was prepared.
func (b *batchReply) write(e recordWriter, n int64) (data []byte, err error) {
	size := resultSize(dataSize(n))
	if size > b.left() {
		return nil, b.errFull(size)
	}
	if err := b.grow(int(size) + sinkRoom); err != nil {
		return nil, err
	}
	start := len(appendEncodedHead(b.room[:b.filled], n))
	_, end, err := e.WriteTo(fullSink{}, b.room, start)
	if err != nil {
		return nil, err
	}
	b.filled = end
	return b.room[start:end], nil
}

// decode appends a value's result and returns the value in it, which aliases the reply until the next result.
func (b *batchReply) decode(d *decoder.Decoder, p *decodePlan) (data []byte, err error) {
	info, err := d.Prepare(p.data, &p.options)
	if err != nil {
		return nil, err
	}
	p.tail = appendDecodeTail(p.tail[:0], &info)
	response := dataSize(info.Size) + int64(len(p.tail))
	size := resultSize(response)
	if size > b.left() {
		return nil, b.errFull(size)
	}
	if err := b.grow(int(size)); err != nil {
		return nil, err
	}
	start := len(appendResultHead(b.room[:b.filled], response))
	appendDecoded(b.room[:start], d, info.Size, p.tail)
	end := b.filled + int(size)
	b.filled = end
	end -= len(p.tail)
	return b.room[end-int(info.Size) : end], nil
}

// errFull is the fault of a result of size bytes that does not fit.
func (b *batchReply) errFull(size int64) error {
	return fault.OverLimit(fault.SizeLimit, "result size", resultSetting, b.left(), size)
}

// fail appends the result of a request that failed by a fault. Other errors are returned: they end the stream.
func (b *batchReply) fail(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Reason == fault.Internal || f.Reason == fault.BudgetExhausted || f.Reason == fault.Draining {
		return err
	}
	st := toStatus(f).status.Proto()
	result := appendError(nil, &thriftpackv1.Error{Code: st.GetCode(), Message: st.GetMessage(), Details: st.GetDetails()})
	if int64(len(result)) > b.left() {
		result = replyFull
	}
	if err := b.grow(len(result)); err != nil {
		return err
	}
	b.filled += copy(b.room[b.filled:], result)
	return nil
}

// appendError appends a result with an error.
func appendError(dst []byte, e *thriftpackv1.Error) []byte {
	// The message was made here, of valid UTF-8: marshalling it cannot fail.
	encoded, _ := proto.MarshalOptions{Deterministic: true}.Marshal(e)
	dst = protowire.AppendVarint(append(dst, dataTag), uint64(dataSize(int64(len(encoded))))) //nolint:gosec // a size is not negative
	dst = protowire.AppendVarint(append(dst, errorTag), uint64(len(encoded)))
	return append(dst, encoded...)
}

// finish returns the reply's bytes, which the connection owes like those of a unary reply until gRPC has sent them: a batch
// whose client does not read them goes on to its next message.
func (b *batchReply) finish(session *session) (mem.Buffer, error) {
	if b.filled <= smallReply {
		return mem.SliceBuffer(append([]byte(nil), b.room[:b.filled]...)), nil
	}
	if err := b.chunk.ChargeTo(session.ctx, session.conn.accountOrNil()); err != nil {
		return nil, err
	}
	return b.chunk.Buffer(0, b.filled), nil
}
