package server

import (
	"context"
	"encoding/binary"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// transportReader is what gRPC itself reads messages from. Its RecvMsg writes the status of a message over the limit before any
// handler hears of it, in its own words and without details; so requests are read here. The methods are public ones of the type
// behind grpc.ServerTransportStream, as is the one that stream.EndRPC calls; where they are missing, RecvMsg does it all.
type transportReader interface {
	ReadMessageHeader(header []byte) error
	Read(n int) (mem.BufferSlice, error)
	RecvCompress() string
}

// messageReader reads request messages from a transport:
//
//	1 byte: 1 where it is compressed, else 0 | 4 bytes: length, big-endian | the message
type messageReader struct {
	header [5]byte
	// most, where it is not 0, bounds messages more tightly than --max-request-bytes does.
	most int
}

// limit is the size of the largest message that is read, in bytes, and what bounds it.
func (r *messageReader) limit(s *service) (limit int, setting string) {
	if r.most > 0 && r.most < s.cfg.MaxRequestBytes {
		return r.most, "of this service"
	}
	return s.cfg.MaxRequestBytes, "--max-request-bytes"
}

// Faults of a client that does not keep to gRPC's protocol. gRPC itself calls them INTERNAL, which here is a fault of ours.
var (
	errNoRequest     = fault.New(fault.BadProto, "the call has no request message")
	errSecondRequest = fault.New(fault.BadProto, "the call has more than one request message")
	errNotCompressed = fault.New(fault.BadProto, "a message is marked as compressed, but the call names no compression")
	errPayloadFormat = fault.New(fault.BadProto, "a message is marked neither as plain nor as compressed")
	errUnreadable    = fault.New(fault.BadProto, "the request message cannot be read")
)

// errNoDecompressor is in gRPC's own code, since that one asks clients to do without compression.
var errNoDecompressor = status.Error(codes.Unimplemented, "a message is compressed in a way that is not known here")

// receive reads the next message into raw. The error is io.EOF at the end of the stream of requests.
func (r *messageReader) receive(ctx context.Context, from transportReader, s *service, raw *rawRequest) error {
	raw.free()
	if err := from.ReadMessageHeader(r.header[:]); err != nil {
		return receiveError(ctx, err)
	}
	limit, setting := r.limit(s)
	size := int64(binary.BigEndian.Uint32(r.header[1:]))
	if size > int64(limit) {
		return fault.OverLimit(fault.SizeLimit, "request of bytes:", setting, int64(limit), size)
	}
	var plain mem.Buffer
	var err error
	switch r.header[0] {
	case 0:
		plain, err = readPlain(from, int(size), s.buffers)
	case 1:
		plain, err = readPacked(from, int(size), limit, setting, s.buffers)
	default:
		return errPayloadFormat
	}
	switch {
	case errors.Is(err, io.EOF):
		return receiveError(ctx, io.ErrUnexpectedEOF)
	case err != nil:
		var f *fault.Error
		if errors.As(err, &f) {
			return err
		}
		return receiveError(ctx, err)
	}
	raw.take(plain)
	return nil
}

// Messages of more than piece bytes are put together as they come, so that their bytes lie in memory once and not a second time in gRPC's
// frames. The buffer is taken when the first of firstShare parts of the message has come, since its length is what the peer claims.
const (
	piece      = 64 << 10
	firstShare = 16
)

// readPlain reads a message of size bytes into one buffer. Errors are the transport's.
func readPlain(from transportReader, size int, pool *stream.Buffers) (mem.Buffer, error) {
	frames, err := from.Read(min(size, max(size/firstShare, piece)))
	if err != nil {
		return nil, err
	}
	if frames.Len() == size && len(frames) <= 1 {
		plain := frames.MaterializeToBuffer(pool) // nothing is copied
		frames.Free()
		return plain, nil
	}
	whole := pool.GetUncleared(size)
	filled := 0
	for {
		filled += frames.CopyTo((*whole)[filled:])
		frames.Free()
		if filled == size {
			return mem.NewBuffer(whole, pool), nil
		}
		if frames, err = from.Read(min(size-filled, piece)); err != nil {
			pool.Put(whole)
			return nil, err
		}
	}
}

// readPacked reads a message of size bytes that is compressed, and unpacks at most limit bytes. Errors are *fault.Error or the transport's.
func readPacked(from transportReader, size, limit int, setting string, pool mem.BufferPool) (mem.Buffer, error) {
	packed, err := from.Read(size)
	if err != nil {
		return nil, err
	}
	plain, err := decompress(packed, from.RecvCompress(), limit, setting, pool)
	packed.Free()
	if err != nil {
		return nil, err
	}
	whole := plain.MaterializeToBuffer(pool)
	plain.Free()
	return whole, nil
}

// receiveOnly reads the one message of a call whose client sends one, and waits for the end of what it sends. other does the
// same where the transport cannot be read.
func (r *messageReader) receiveOnly(
	ctx context.Context, transport grpc.ServerTransportStream, s *service, raw *rawRequest, other func(any) error,
) error {
	from, ok := transport.(transportReader)
	if !ok {
		return readError(other(raw))
	}
	if err := r.receive(ctx, from, s, raw); err != nil {
		if errors.Is(err, io.EOF) {
			return errNoRequest
		}
		return err
	}
	switch err := from.ReadMessageHeader(r.header[:]); {
	case err == nil:
		return errSecondRequest
	case errors.Is(err, io.EOF):
		return nil
	default:
		return receiveError(ctx, err)
	}
}

// receiveError is the error of a read that failed.
func receiveError(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return io.EOF
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fault.New(fault.Truncated, "the client ended its stream inside of a message")
	case ctx.Err() != nil:
		return ctx.Err()
	}
	if _, ok := status.FromError(err); ok {
		return readError(err)
	}
	return status.Error(codes.Unavailable, "the connection failed")
}

// readError is the error of a message that gRPC has read: INTERNAL there means that the message was not what it should be.
func readError(err error) error {
	if status.Code(err) == codes.Internal {
		return errUnreadable
	}
	return err
}

// decompress unpacks a message, at most limit bytes of it.
func decompress(data mem.BufferSlice, name string, limit int, setting string, pool mem.BufferPool) (mem.BufferSlice, error) {
	if name == "" || name == encoding.Identity {
		return nil, errNotCompressed
	}
	compressor := encoding.GetCompressor(name)
	if compressor == nil {
		return nil, errNoDecompressor
	}
	packed := data.Reader()
	defer func() { _ = packed.Close() }() // it only gives buffers back
	reader, err := compressor.Decompress(packed)
	if err != nil {
		return nil, badCompression(name)
	}
	if closer, ok := reader.(io.Closer); ok {
		defer func() { _ = closer.Close() }() // what was read is known already
	}
	plain, err := mem.ReadAll(io.LimitReader(reader, int64(limit)+1), pool)
	switch {
	case err != nil:
		plain.Free()
		return nil, badCompression(name)
	case plain.Len() > limit:
		plain.Free()
		// How much more there is only reading it would tell.
		return nil, fault.OverLimit(fault.SizeLimit, "request, unpacked, of bytes: at least", setting, int64(limit), int64(limit)+1)
	}
	return plain, nil
}

// badCompression is the fault of a message that cannot be unpacked.
func badCompression(name string) error {
	return fault.New(fault.BadProto, "the message is not valid %s", name)
}

// readingStream is a stream whose requests are read by a messageReader. It is the innermost of all that wrap a stream, so that they see
// every message.
type readingStream struct {
	grpc.ServerStream
	service *service
	from    transportReader
	reader  messageReader
	many    bool // the client may send any number of messages
	got     bool
	parsed  rawRequest // what a message that is parsed here is read into
}

// readRequests makes the requests of a stream be read by a messageReader, where the transport can be read.
func (s *Server) readRequests(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	from, ok := grpc.ServerTransportStreamFromContext(ss.Context()).(transportReader)
	if !ok {
		return handler(srv, ss)
	}
	reading := &readingStream{ServerStream: ss, service: s.service, from: from, many: info.IsClientStream}
	if !isOurs(info.FullMethod) {
		reading.reader.most = maxSideRequest
	}
	defer reading.parsed.free()
	return handler(srv, reading)
}

// RecvMsg reads the next message.
func (s *readingStream) RecvMsg(message any) error {
	raw, ok := message.(*rawRequest)
	if _, isProto := message.(proto.Message); isProto {
		if err := s.RecvMsg(&s.parsed); err != nil {
			return err
		}
		return unmarshalSide(&s.parsed, message)
	}
	switch {
	case !ok: // of another codec, in a server that is compared with this one
		return readError(s.ServerStream.RecvMsg(message))
	case s.many:
		return s.reader.receive(s.Context(), s.from, s.service, raw)
	case s.got:
		return io.EOF
	}
	s.got = true
	transport := grpc.ServerTransportStreamFromContext(s.Context())
	return s.reader.receiveOnly(s.Context(), transport, s.service, raw, s.ServerStream.RecvMsg)
}
