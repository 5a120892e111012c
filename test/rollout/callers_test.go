package rollout

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"sync/atomic"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// tally counts what callers saw.
type tally struct{ unary, whole, cut atomic.Int64 }

// call is one step of a caller: it returns nil when all was as it should be.
type call func(ctx context.Context, client thriftpackv1.SerializerServiceClient, n *tally) error

// pace is the time between two messages of a stream, and twice that between two unary calls: enough for calls to be under way at every
// moment, and few enough for two processors.
const pace = 10 * time.Millisecond

// beat waits for the next message's time.
func beat(ctx context.Context, ticker *time.Ticker) error {
	select {
	case <-ticker.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unary encodes a small struct. A call fails at once where it would have to wait for a connection.
func unary(ctx context.Context, client thriftpackv1.SerializerServiceClient, n *tally) error {
	response, err := client.Encode(ctx, thriftpackv1.EncodeRequestOf(fixture.OneOfEach()), grpc.WaitForReady(false))
	if err != nil {
		return err
	}
	if got := hex.EncodeToString(response.GetData()); got != fixture.OneOfEachCompact {
		return fmt.Errorf("encoded %s, want %s", got, fixture.OneOfEachCompact)
	}
	n.unary.Add(1)
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// received is what a stream has brought.
type received struct {
	bytes int64
	crc   uint32
}

func (r *received) add(data []byte) {
	r.bytes += int64(len(data))
	r.crc = crc32.Update(r.crc, castagnoli, data)
}

// end judges the end of a stream: whole with want bytes, or cut by a drain, and in both cases with trailers that agree with what came.
func (r *received) end(stream grpc.ClientStream, err error, want int64, n *tally) error {
	trailer := stream.Trailer()
	said := fmt.Sprint(trailer.Get(thriftpackv1.BytesTrailer), trailer.Get(thriftpackv1.CRC32CTrailer))
	if came := fmt.Sprint([]string{strconv.FormatInt(r.bytes, 10)}, []string{fmt.Sprintf("%08x", r.crc)}); said != came {
		return fmt.Errorf("%s came, and the trailers say %s: %w", came, said, err)
	}
	if errors.Is(err, io.EOF) {
		if r.bytes != want {
			return fmt.Errorf("%d bytes, want %d", r.bytes, want)
		}
		n.whole.Add(1)
		return nil
	}
	if status.Code(err) != codes.Unavailable || reason(err) != "DRAINING" {
		return fmt.Errorf("after %d bytes: %w, want UNAVAILABLE with DRAINING", r.bytes, err)
	}
	n.cut.Add(1)
	return nil
}

// reason returns the reason in an error's details.
func reason(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}

// encodeStream takes a record many times over, slowly.
func encodeStream(ctx context.Context, client thriftpackv1.SerializerServiceClient, n *tally) error {
	const records = 20_000
	stream, err := client.EncodeStream(ctx, &thriftpackv1.EncodeStreamRequest{
		Request: thriftpackv1.EncodeRequestOf(fixture.OneOfEach()), Count: records,
	})
	if err != nil {
		return err
	}
	return readAll(ctx, stream, stream.Recv, (*thriftpackv1.EncodeStreamResponse).GetData, records*fixture.OneOfEachCompactSize, n)
}

// readAll reads a stream of want bytes to its end.
func readAll[R any](ctx context.Context, stream grpc.ClientStream, receive func() (*R, error), data func(*R) []byte, want int64, n *tally) error {
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	var r received
	for {
		response, err := receive()
		if err != nil {
			if errors.Is(err, io.EOF) || r.bytes < want {
				return r.end(stream, err, want, n)
			}
			return fmt.Errorf("cut after all of its %d bytes: %w", r.bytes, err)
		}
		r.add(data(response))
		if err := beat(ctx, ticker); err != nil {
			return err
		}
	}
}

// decodeStream decodes a list in small chunks.
func decodeStream(ctx context.Context, client thriftpackv1.SerializerServiceClient, n *tally) error {
	// A list<i8> of 200,000 elements: type 3 and more than 14 of them, their number as a varint, themselves.
	elements := bytes.Repeat([]byte{0x02}, 200_000)
	list := append([]byte{0xf3, 0xc0, 0x9a, 0x0c}, elements...)
	value := &thriftpackv1.Value{Kind: &thriftpackv1.Value_List{List: &thriftpackv1.List{I8S: elements}}}
	stream, err := client.DecodeStream(ctx, &thriftpackv1.DecodeStreamRequest{
		Request: &thriftpackv1.DecodeRequest{
			Data: list, Options: &thriftpackv1.DecodeOptions{RootType: thriftpackv1.Type_TYPE_LIST},
		},
		ChunkSize: 4096,
	})
	if err != nil {
		return err
	}
	return readAll(ctx, stream, stream.Recv, (*thriftpackv1.DecodeStreamResponse).GetData, int64(proto.Size(value)), n)
}

// encodeBatch sends a request when the last one was answered, until it is told to go.
func encodeBatch(ctx context.Context, client thriftpackv1.SerializerServiceClient, n *tally) error {
	stream, err := client.EncodeBatch(ctx)
	if err != nil {
		return err
	}
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	var r received
	for range 100 {
		err := stream.Send(&thriftpackv1.EncodeBatchRequest{Requests: []*thriftpackv1.EncodeRequest{thriftpackv1.EncodeRequestOf(fixture.OneOfEach())}})
		if err != nil && !errors.Is(err, io.EOF) { // the end, which Recv explains
			return err
		}
		response, err := stream.Recv()
		if err != nil {
			return r.end(stream, err, 0, n) // it does not end by itself
		}
		for _, result := range response.GetResults() {
			r.add(result.GetResponse().GetData())
		}
		if err := beat(ctx, ticker); err != nil {
			return err
		}
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	_, err = stream.Recv()
	return r.end(stream, err, 100*fixture.OneOfEachCompactSize, n)
}

// encodeParts uploads a long binary and reads its encoding at the same time.
func encodeParts(ctx context.Context, client thriftpackv1.SerializerServiceClient, n *tally) error {
	const pieces, piece = 100, 16 << 10
	stream, err := client.EncodeParts(ctx)
	if err != nil {
		return err
	}
	sent := make(chan error, 1)
	go func() { sent <- sendParts(ctx, stream, pieces, piece) }()
	var r received
	for {
		response, err := stream.Recv()
		if err != nil {
			if sending := <-sent; sending != nil && !errors.Is(sending, io.EOF) {
				return sending
			}
			return r.end(stream, err, pieces*piece+3, n) // its length is a varint of three bytes
		}
		r.add(response.GetData())
	}
}

func sendParts(ctx context.Context, stream thriftpackv1.SerializerService_EncodePartsClient, pieces, piece int) error {
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	begin := &thriftpackv1.Part{Part: &thriftpackv1.Part_Begin{Begin: &thriftpackv1.Begin{
		Type: thriftpackv1.Type_TYPE_BINARY, Size: int64(pieces * piece),
	}}}
	if err := stream.Send(&thriftpackv1.EncodePartsRequest{Parts: []*thriftpackv1.Part{begin}}); err != nil {
		return err
	}
	data := make([]byte, piece)
	for range pieces {
		err := stream.Send(&thriftpackv1.EncodePartsRequest{Parts: []*thriftpackv1.Part{{Part: &thriftpackv1.Part_Data{Data: data}}}})
		if err != nil {
			return err
		}
		if err := beat(ctx, ticker); err != nil {
			return err
		}
	}
	end := &thriftpackv1.Part{Part: &thriftpackv1.Part_End{End: &thriftpackv1.End{}}}
	if err := stream.Send(&thriftpackv1.EncodePartsRequest{Parts: []*thriftpackv1.Part{end}}); err != nil {
		return err
	}
	return stream.CloseSend()
}
