package stream

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"time"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// The bounds of a chunk size, in bytes, tag and length included.
const (
	// MinChunkSize keeps every buffer above the size that gRPC does not give back.
	MinChunkSize = 4 << 10
	// MaxChunkSize keeps what a stalled stream holds small.
	MaxChunkSize = 1 << 20
	// DefaultChunkSize is the largest message that, with gRPC's own 5 bytes, fits two HTTP/2 frames; stock grpc-go clients
	// receive it without taking a 1 MiB buffer.
	DefaultChunkSize = 32<<10 - 5
)

// ChunkSize returns the chunk size for a requested one, which is the default for 0. Outside of MinChunkSize to
// MaxChunkSize the error is a *fault.Error with reason BadOption and path "chunk_size".
func ChunkSize(requested int32) (int, error) {
	switch {
	case requested == 0:
		return DefaultChunkSize, nil
	case requested < MinChunkSize || requested > MaxChunkSize:
		err := fault.New(fault.BadOption, "out of range: %d, want 0 or %d..%d", requested, MinChunkSize, MaxChunkSize)
		err.Path = "chunk_size"
		return 0, err
	default:
		return int(requested), nil
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// UpdateCRC32C returns the CRC-32C (Castagnoli) of what sum is the CRC-32C of, followed by data. That of nothing is 0.
func UpdateCRC32C(sum uint32, data []byte) uint32 { return crc32.Update(sum, castagnoli, data) }

// SenderConfig is what a Sender needs. Pool, ChunkSize, Tag and Send are required; Whole takes the place of Tag.
type SenderConfig struct {
	// Pool is where chunks come from.
	Pool *Pool
	// Account is charged with what is handed to gRPC; nil charges nobody.
	Account *Account
	// Watch ends the stream when Send blocks for too long; nil waits for as long as gRPC does.
	Watch *Watch
	// ChunkSize is the length of a full message in bytes, tag and length included; see function ChunkSize.
	ChunkSize int
	// Tag is the protobuf tag of the bytes field that carries the data: 0x0a for field 1.
	Tag byte
	// Whole sends what was filled as a whole message: nothing is put before it, the room that is lent has the whole ChunkSize, and
	// Bytes and CRC32C stay 0, since only the caller knows which bytes are data.
	Whole bool
	// Send hands a message to gRPC, as grpc.ServerStream.SendMsg does with a codec that calls Message.Take. The Message is
	// used again for the next chunk, so it must not be kept after Send returns.
	Send func(*Message) error
}

// Sender cuts the bytes of one stream into messages of one bytes field each. It lends the room the bytes are written
// in, puts tag and length right before them, and hands the chunk to gRPC without a copy. It implements the Sink of
// packages encoder and decoder. It is for one goroutine; Bytes and CRC32C may also be called where Watch says so.
type Sender struct {
	ctx      context.Context
	config   SenderConfig
	headroom int
	chunk    Chunk
	room     []byte
	message  Message
	debt     *Debt
	bytes    int64
	crc      uint32
	repeated *repetition // what all data is, or nil
	shared   *loan       // of the record that messages refer to, or nil
	err      error
}

// NewSender returns a Sender for the stream of ctx. It takes no memory before the first Next. The error is that of a
// config that cannot work.
func NewSender(ctx context.Context, config SenderConfig) (*Sender, error) {
	if config.ChunkSize < MinChunkSize || config.ChunkSize > MaxChunkSize {
		return nil, fault.New(fault.BadOption, "chunk size: out of range: %d, want %d..%d", config.ChunkSize, MinChunkSize, MaxChunkSize)
	}
	s := &Sender{ctx: ctx, config: config}
	if !config.Whole {
		s.headroom = 1 + varintLen(config.ChunkSize)
	}
	if config.Account != nil {
		s.debt = config.Account.debt()
	}
	return s, nil
}

// Next sends the first filled bytes of the buffer lent last as one message and lends the next buffer, which aliases a
// chunk and must not be touched after the next call. With 0 nothing is sent: the first call, or the same buffer again.
// A buffer that was filled to its end becomes a message of exactly the chunk size. After an error every call returns
// it.
func (s *Sender) Next(filled int) ([]byte, error) {
	if err := s.Flush(filled); err != nil {
		return nil, err
	}
	if s.room == nil {
		s.chunk = s.config.Pool.Get(s.config.ChunkSize)
		s.room = s.chunk.Room(s.config.ChunkSize)[s.headroom:]
	}
	return s.room, nil
}

// Flush sends the first filled bytes of the buffer lent last as one message and lends nothing; with 0 it sends nothing.
// It is how the last partial buffer goes out.
func (s *Sender) Flush(filled int) error {
	if s.err != nil {
		return s.err
	}
	if filled < 0 || filled > len(s.room) {
		return s.fail(fault.New(fault.Internal, "sender: %d bytes filled of %d lent", filled, len(s.room)))
	}
	if err := s.ctx.Err(); err != nil {
		return s.fail(err)
	}
	if filled == 0 {
		return nil
	}
	return s.deliver(filled)
}

// deliver sends n bytes of the lent room.
func (s *Sender) deliver(n int) error {
	start, counted, crc := 0, int64(0), uint32(0)
	if !s.config.Whole {
		start, counted = s.putHeader(n), int64(n)
		if s.repeated == nil {
			crc = UpdateCRC32C(s.crc, s.room[:n])
		}
	}
	s.chunk.block.loan.debt = s.debt
	s.message.buffer = s.chunk.Buffer(start, s.headroom+n)
	s.room = nil
	return s.dispatch(counted, crc)
}

// dispatch sends the message, of counted bytes of data, after which crc is the CRC of all.
func (s *Sender) dispatch(counted int64, crc uint32) error {
	err := s.send()
	if err == nil && !s.message.taken() {
		err = fault.New(fault.Internal, "sender: message was not taken")
	}
	if err != nil {
		// gRPC frees a buffer that the codec has taken. One that it was never asked to take is still ours, and fail frees it.
		return s.fail(err)
	}
	s.bytes += counted
	s.crc = crc
	return nil
}

// putHeader puts tag and length right before the n bytes of data, and returns where the message begins.
//
//	tag | length, a varint of 1..3 bytes | data
func (s *Sender) putHeader(n int) (start int) {
	start = s.headroom - 1 - varintLen(n)
	header := s.chunk.Room(s.config.ChunkSize)[start:s.headroom]
	header[0] = s.config.Tag
	binary.PutUvarint(header[1:], uint64(n)) //nolint:gosec // n is at most MaxChunkSize
	return start
}

// send calls Send under the watch.
func (s *Sender) send() error {
	if s.config.Watch == nil {
		return s.config.Send(&s.message)
	}
	s.config.Watch.Begin(Sending)
	err := s.config.Send(&s.message)
	if stalled := s.config.Watch.End(); stalled != nil {
		return stalled
	}
	return err
}

// fail gives back what was not sent and keeps the error.
func (s *Sender) fail(err error) error {
	s.err = err
	s.release()
	return err
}

// Close gives back the chunk that was not sent. It is called on every path, may be called more than once, and makes
// every later call fail.
func (s *Sender) Close() {
	if s.err == nil {
		s.err = fault.New(fault.Internal, "sender: used after Close")
	}
	s.release()
	s.RepeatEnd()
	if s.debt != nil {
		s.debt.end()
	}
}

// release gives back the chunk that is being filled, and a message that Send has left untaken, as when it panicked.
func (s *Sender) release() {
	s.message.Release()
	s.chunk.Release()
	s.chunk, s.room = Chunk{}, nil
}

// Bytes returns how many bytes of data were handed to gRPC, without tags and lengths.
func (s *Sender) Bytes() int64 {
	return s.bytes
}

// CRC32C returns the CRC-32C (Castagnoli) of the data that was handed to gRPC.
func (s *Sender) CRC32C() uint32 {
	if s.repeated != nil {
		return s.repeated.upTo(s.bytes)
	}
	return s.crc
}

// CloseUnlessPaid calls closeConnection after grace, and six seconds more in which what gRPC has dropped is found out, when
// gRPC by then still holds something that this stream has sent. It is for streams whose end is queued behind data that
// the peer does not read, as after a cut; when the peer has cancelled, gRPC holds nothing. It is called once, when the handler
// ends. Its timer ends with the connection's Account. Without an Account it closes nothing. It calls settled once: when all is paid, or the
// connection closed.
func (s *Sender) CloseUnlessPaid(grace time.Duration, closeConnection, settled func()) {
	if s.debt == nil {
		settled()
		return
	}
	s.debt.closeUnlessPaid(grace, closeConnection, settled)
}

// Cost is function Cost of the chunks of this stream.
func (s *Sender) Cost() int64 { return Cost(s.config.ChunkSize) }

// Retains reports whether a record that messages have referred to is still held: all of it, however little of it gRPC has queued. After Close
// it is gRPC that holds it.
func (s *Sender) Retains() bool { return s.shared != nil && s.shared.out.Load() }

// Owed returns the bytes that gRPC holds of this stream, which its connection owes; 0 without an Account.
func (s *Sender) Owed() int64 {
	if s.debt == nil {
		return 0
	}
	return s.debt.held()
}

// varintLen returns the number of bytes of n as a varint.
func varintLen(n int) int {
	length := 1
	for ; n >= 0x80; n >>= 7 {
		length++
	}
	return length
}
