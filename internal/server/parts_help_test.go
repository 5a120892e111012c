package server

import (
	"context"
	"errors"
	"io"
	"iter"
	"math/rand/v2"
	"net"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// encodedParts is what a client of EncodeParts got.
type encodedParts struct {
	received
	largest int // the largest message
}

// decodedParts is what a client of DecodeParts got; data is the serialized parts.
type decodedParts struct {
	received
	parts   []*thriftpackv1.Part
	message *thriftpackv1.MessageHeader // of the first response
	read    int64                       // of the last response
	largest int
}

// feed sends requests while the caller reads. Send says io.EOF when the server has ended the stream; then the reason comes with
// the next receive.
func feed[Q, R any](s grpc.BidiStreamingClient[Q, R], requests iter.Seq[*Q]) (ended chan error) {
	ended = make(chan error, 1)
	go func() {
		for request := range requests {
			if err := s.Send(request); err != nil {
				ended <- err
				return
			}
		}
		ended <- s.CloseSend()
	}()
	return ended
}

// wantSent fails unless the requests were sent, or the server ended the stream.
func wantSent(t *testing.T, sent, received error) {
	t.Helper()
	if sent != nil && (!errors.Is(sent, io.EOF) || received == nil) {
		t.Errorf("Send: %v, and the stream ended with %v", sent, received)
	}
}

// encodePartsOf makes one call of EncodeParts.
func (h *harness) encodePartsOf(t *testing.T, requests iter.Seq[*thriftpackv1.EncodePartsRequest]) (got encodedParts) {
	t.Helper()
	s, err := h.client.EncodeParts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended := feed(s, requests)
	responses, err := drainStream(s)
	got.err, got.trailer = err, s.Trailer()
	wantSent(t, <-ended, err)
	for _, response := range responses {
		got.data = append(got.data, response.GetData()...)
		got.largest = max(got.largest, proto.Size(response))
	}
	return got
}

// decodePartsOf makes one call of DecodeParts.
func (h *harness) decodePartsOf(t *testing.T, requests iter.Seq[*thriftpackv1.DecodePartsRequest]) (got decodedParts) {
	t.Helper()
	s, err := h.client.DecodeParts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended := feed(s, requests)
	responses, err := drainStream(s)
	got.err, got.trailer = err, s.Trailer()
	wantSent(t, <-ended, err)
	for i, response := range responses {
		got.largest = max(got.largest, proto.Size(response))
		got.parts = append(got.parts, response.GetParts()...)
		got.read = response.GetBytesRead()
		if i == 0 {
			got.message = response.GetMessage()
		} else if response.GetMessage() != nil {
			t.Errorf("response %d has an envelope, too", i)
		}
		if i < len(responses)-1 && response.GetBytesRead() != 0 {
			t.Errorf("response %d of %d says %d bytes were read", i, len(responses), response.GetBytesRead())
		}
	}
	for _, part := range got.parts {
		got.data = append(got.data, marshal(t, part)...)
	}
	return got
}

// marshal returns a message as deterministic wire bytes, which for a Part are those that the server sends.
func marshal(t *testing.T, m proto.Message) []byte {
	t.Helper()
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// cut yields the requests of DecodeParts for data cut into pieces of random sizes up to largest.
func cut(data []byte, largest int, o *thriftpackv1.DecodeOptions, chunkSize int32) iter.Seq[*thriftpackv1.DecodePartsRequest] {
	random := rand.New(rand.NewPCG(uint64(len(data)), uint64(largest)))
	return func(yield func(*thriftpackv1.DecodePartsRequest) bool) {
		request := &thriftpackv1.DecodePartsRequest{Options: o, ChunkSize: chunkSize}
		for len(data) > 0 {
			n := min(random.IntN(largest)+1, len(data))
			request.Data = data[:n]
			if !yield(request) {
				return
			}
			data = data[n:]
			request = &thriftpackv1.DecodePartsRequest{}
		}
		if request.Options != nil || request.GetChunkSize() != 0 {
			yield(request)
		}
	}
}

// group yields the requests of EncodeParts for parts in groups of random sizes up to most.
func group(parts []*thriftpackv1.Part, most int, o *thriftpackv1.EncodeOptions, chunkSize int32) iter.Seq[*thriftpackv1.EncodePartsRequest] {
	random := rand.New(rand.NewPCG(uint64(len(parts)), uint64(most)))
	return func(yield func(*thriftpackv1.EncodePartsRequest) bool) {
		request := &thriftpackv1.EncodePartsRequest{Options: o, ChunkSize: chunkSize}
		for len(parts) > 0 {
			n := min(random.IntN(most)+1, len(parts))
			request.Parts = parts[:n]
			if !yield(request) {
				return
			}
			parts = parts[n:]
			request = &thriftpackv1.EncodePartsRequest{}
		}
	}
}

// Parts by hand.

func beginPart(b *thriftpackv1.Begin) *thriftpackv1.Part {
	return &thriftpackv1.Part{Part: &thriftpackv1.Part_Begin{Begin: b}}
}

func endPart() *thriftpackv1.Part {
	return &thriftpackv1.Part{Part: &thriftpackv1.Part_End{End: &thriftpackv1.End{}}}
}

func dataPart(data []byte) *thriftpackv1.Part {
	return &thriftpackv1.Part{Part: &thriftpackv1.Part_Data{Data: data}}
}

func fieldsPart(fields ...*thriftpackv1.Field) *thriftpackv1.Part {
	return &thriftpackv1.Part{Part: &thriftpackv1.Part_Fields{Fields: &thriftpackv1.Struct{Fields: fields}}}
}

func elementsPart(l *thriftpackv1.List) *thriftpackv1.Part {
	return &thriftpackv1.Part{Part: &thriftpackv1.Part_Elements{Elements: l}}
}

// openStruct is a root struct that is open, with one field.
func openStruct() []*thriftpackv1.Part {
	return []*thriftpackv1.Part{
		beginPart(&thriftpackv1.Begin{Type: thriftpackv1.Type_TYPE_STRUCT}),
		fieldsPart(thriftpackv1.I32Field(1, 42)),
	}
}

// partsRequest is one message with parts.
func partsRequest(parts ...*thriftpackv1.Part) *thriftpackv1.EncodePartsRequest {
	return &thriftpackv1.EncodePartsRequest{Parts: parts}
}

// endlessParts yields a binary of the most that Thrift can count, in pieces of 32 KiB, until it is told to stop.
func endlessParts() iter.Seq[*thriftpackv1.EncodePartsRequest] {
	piece := make([]byte, 32<<10)
	return func(yield func(*thriftpackv1.EncodePartsRequest) bool) {
		begin := beginPart(&thriftpackv1.Begin{Type: thriftpackv1.Type_TYPE_BINARY, Size: 1<<31 - 1})
		for more := yield(partsRequest(begin)); more; {
			more = yield(partsRequest(dataPart(piece)))
		}
	}
}

// endlessBytes yields the same binary as bytes to decode.
func endlessBytes() iter.Seq[*thriftpackv1.DecodePartsRequest] {
	piece := make([]byte, 32<<10)
	return func(yield func(*thriftpackv1.DecodePartsRequest) bool) {
		more := yield(&thriftpackv1.DecodePartsRequest{
			Data: []byte{0xff, 0xff, 0xff, 0xff, 0x07}, Options: &thriftpackv1.DecodeOptions{RootType: thriftpackv1.Type_TYPE_BINARY},
		})
		for more {
			more = yield(&thriftpackv1.DecodePartsRequest{Data: piece})
		}
	}
}

// partsStream is a stream of either kind, for tests that care for neither.
type partsStream struct {
	grpc.ClientStream

	method string
	ended  chan error
	recv   func() error
}

// openParts opens an endless stream of parts that sends on its own and has received something.
func openParts(ctx context.Context, t *testing.T, client thriftpackv1.SerializerServiceClient, method string) *partsStream {
	t.Helper()
	opened := &partsStream{method: method}
	switch method {
	case "EncodeParts":
		s, err := client.EncodeParts(ctx)
		if err != nil {
			t.Fatal(err)
		}
		opened.ClientStream, opened.ended = s, feed(s, endlessParts())
		opened.recv = func() error { _, err := s.Recv(); return err }
	case "DecodeParts":
		s, err := client.DecodeParts(ctx)
		if err != nil {
			t.Fatal(err)
		}
		opened.ClientStream, opened.ended = s, feed(s, endlessBytes())
		opened.recv = func() error { _, err := s.Recv(); return err }
	default:
		t.Fatalf("no parts in %s", method)
	}
	if err := opened.recv(); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return opened
}

var partsMethods = []string{"EncodeParts", "DecodeParts"}

// rest receives until the end.
func (s *partsStream) rest() error {
	for {
		if err := s.recv(); err != nil {
			return err
		}
	}
}

// sequence yields the values of a slice.
func sequence[T any](values ...T) iter.Seq[T] { return slices.Values(values) }

// withConn tells f of each connection that a client makes.
func withConn(f func(net.Conn)) grpc.DialOption {
	return grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, "tcp", addr)
		if err == nil {
			f(conn)
		}
		return conn, err
	})
}
