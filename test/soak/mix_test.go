package soak

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// worker is one client of the mix.
type worker struct {
	client thriftpackv1.SerializerServiceClient
	addr   string
}

// small is OneOfEach with its bytes, large a list of a million with its serialized form.
var (
	small      = sync.OnceValues(func() ([]byte, error) { return hex.DecodeString(fixture.OneOfEachCompact) })
	large      = sync.OnceValue(func() *thriftpackv1.Value { return fixture.ListI64(200_000) })
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// unary encodes and decodes a small struct.
func unary(ctx context.Context, w *worker) error {
	want, err := small()
	if err != nil {
		return err
	}
	encoded, err := w.client.Encode(ctx, thriftpackv1.EncodeRequestOf(fixture.OneOfEach()))
	if err != nil {
		return err
	}
	if !bytes.Equal(encoded.GetData(), want) {
		return fmt.Errorf("encoded %x, want %x", encoded.GetData(), want)
	}
	decoded, err := w.client.Decode(ctx, &thriftpackv1.DecodeRequest{
		Data: want, Options: &thriftpackv1.DecodeOptions{DetectText: true},
	})
	if err != nil {
		return err
	}
	if !proto.Equal(decoded.GetValue(), fixture.OneOfEach()) {
		return fmt.Errorf("decoded %v, want OneOfEach", decoded.GetValue())
	}
	return nil
}

// batch sends requests of which every fourth is wrong.
func batch(ctx context.Context, w *worker) error {
	want, err := small()
	if err != nil {
		return err
	}
	request := &thriftpackv1.EncodeBatchRequest{}
	for i := range 32 {
		value := fixture.OneOfEach()
		if i%4 == 3 {
			value = &thriftpackv1.Value{Kind: &thriftpackv1.Value_I8{I8: 1000}}
		}
		request.Requests = append(request.Requests, thriftpackv1.EncodeRequestOf(value))
	}
	stream, err := w.client.EncodeBatch(ctx)
	if err != nil {
		return err
	}
	for range 8 {
		if err := stream.Send(request); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		var results []*thriftpackv1.EncodeResult
		for len(results) < len(request.GetRequests()) {
			reply, err := stream.Recv()
			if err != nil {
				return err
			}
			results = append(results, reply.GetResults()...)
		}
		for i, result := range results {
			if i%4 == 3 {
				if got := codes.Code(result.GetError().GetCode()); got != codes.InvalidArgument {
					return fmt.Errorf("result %d: %v, want %v", i, got, codes.InvalidArgument)
				}
			} else if !bytes.Equal(result.GetResponse().GetData(), want) {
				return fmt.Errorf("result %d: %v, want %x", i, result, want)
			}
		}
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("after the last result: %w, want the end", err)
	}
	return nil
}

// chunk is what the responses of streams of bytes have.
type chunk interface{ GetData() []byte }

// receiver is a stream of responses.
type receiver[T any] interface {
	Recv() (*T, error)
	Trailer() metadata.MD
}

// drain reads a stream to its end, hands its bytes to each, and compares them with the trailers.
func drain[T any, P interface {
	*T
	chunk
}](stream receiver[T], each func(data []byte)) error {
	var count int64
	var crc uint32
	for {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		data := P(response).GetData()
		count += int64(len(data))
		crc = crc32.Update(crc, castagnoli, data)
		each(data)
	}
	trailer := stream.Trailer()
	want := []string{strconv.FormatInt(count, 10), fmt.Sprintf("%08x", crc)}
	got := []string{first(trailer, "thriftpack-bytes"), first(trailer, "thriftpack-crc32c")}
	if got[0] != want[0] || got[1] != want[1] {
		return fmt.Errorf("got bytes %s with CRC %s, the trailers say %s with %s", want[0], want[1], got[0], got[1])
	}
	return nil
}

func first(md metadata.MD, name string) string {
	if values := md.Get(name); len(values) > 0 {
		return values[0]
	}
	return "nothing"
}

// encodeStream takes a small record many times over, and looks at every byte.
func encodeStream(ctx context.Context, w *worker) error {
	record, err := small()
	if err != nil {
		return err
	}
	const count = 200_000
	stream, err := w.client.EncodeStream(ctx, &thriftpackv1.EncodeStreamRequest{
		Request: thriftpackv1.EncodeRequestOf(fixture.OneOfEach()), Count: count,
	})
	if err != nil {
		return err
	}
	at, wrong := 0, false
	err = drain(stream, func(data []byte) {
		for len(data) > 0 {
			rest := record[at%len(record):]
			n := min(len(rest), len(data))
			wrong = wrong || !bytes.Equal(data[:n], rest[:n])
			at, data = at+n, data[n:]
		}
	})
	if err != nil {
		return err
	}
	if wrong || at != count*len(record) {
		return fmt.Errorf("%d bytes, wrong ones among them: %t; want %d", at, wrong, count*len(record))
	}
	return nil
}

// decodeStream encodes a large list and decodes it again.
func decodeStream(ctx context.Context, w *worker) error {
	encoded, err := w.client.EncodeStream(ctx, &thriftpackv1.EncodeStreamRequest{
		Request: thriftpackv1.EncodeRequestOf(large()), ChunkSize: 1 << 20,
	})
	if err != nil {
		return err
	}
	var data []byte
	if err := drain(encoded, func(more []byte) { data = append(data, more...) }); err != nil {
		return err
	}
	decoded, err := w.client.DecodeStream(ctx, &thriftpackv1.DecodeStreamRequest{
		Request: &thriftpackv1.DecodeRequest{
			Data: data, Options: &thriftpackv1.DecodeOptions{RootType: thriftpackv1.Type_TYPE_LIST},
		},
		ChunkSize: 4096,
	})
	if err != nil {
		return err
	}
	var serialized []byte
	if err := drain(decoded, func(more []byte) { serialized = append(serialized, more...) }); err != nil {
		return err
	}
	var value thriftpackv1.Value
	if err := proto.Unmarshal(serialized, &value); err != nil {
		return err
	}
	if !proto.Equal(&value, large()) {
		return errors.New("the list that came back is another one")
	}
	return nil
}

// parts decodes a large list in parts and encodes them again, all at once, and compares the bytes.
func parts(ctx context.Context, w *worker) error {
	encoded, err := w.client.EncodeStream(ctx, &thriftpackv1.EncodeStreamRequest{Request: thriftpackv1.EncodeRequestOf(large())})
	if err != nil {
		return err
	}
	var data []byte
	if err := drain(encoded, func(more []byte) { data = append(data, more...) }); err != nil {
		return err
	}
	decoding, err := w.client.DecodeParts(ctx)
	if err != nil {
		return err
	}
	encoding, err := w.client.EncodeParts(ctx)
	if err != nil {
		return err
	}
	sent := make(chan error, 2)
	go func() { sent <- sendPieces(decoding, data) }()
	go func() { sent <- pipe(decoding, encoding) }()
	at, wrong := 0, false
	err = drain(encoding, func(more []byte) {
		wrong = wrong || len(more) > len(data)-at || !bytes.Equal(more, data[at:at+len(more)])
		at += len(more)
	})
	if err := errors.Join(err, <-sent, <-sent); err != nil {
		return err
	}
	if wrong || at != len(data) {
		return fmt.Errorf("%d bytes, wrong ones among them: %t; want %d", at, wrong, len(data))
	}
	return nil
}

// sendPieces sends bytes to be decoded, in messages of sizes that differ.
func sendPieces(stream thriftpackv1.SerializerService_DecodePartsClient, data []byte) error {
	request := &thriftpackv1.DecodePartsRequest{Options: &thriftpackv1.DecodeOptions{RootType: thriftpackv1.Type_TYPE_LIST}}
	for size := 1000; len(data) > 0; size = size*3/2 + 1 {
		n := min(size%(1<<20), len(data))
		request.Data, data = data[:n], data[n:]
		if err := stream.Send(request); err != nil {
			return err
		}
		request = &thriftpackv1.DecodePartsRequest{}
	}
	return stream.CloseSend()
}

// pipe sends the parts that come to be encoded.
func pipe(from thriftpackv1.SerializerService_DecodePartsClient, to thriftpackv1.SerializerService_EncodePartsClient) error {
	for {
		response, err := from.Recv()
		if errors.Is(err, io.EOF) {
			return to.CloseSend()
		}
		if err != nil {
			return err
		}
		if err := to.Send(&thriftpackv1.EncodePartsRequest{Parts: response.GetParts()}); err != nil {
			return err
		}
	}
}

// refused sends what is wrong.
func refused(ctx context.Context, w *worker) error {
	_, err := w.client.Decode(ctx, &thriftpackv1.DecodeRequest{Data: []byte{0x29, 0xfc, 0xff, 0xff, 0xff, 0x0f}})
	if status.Code(err) != codes.InvalidArgument {
		return fmt.Errorf("a list that claims more than it has: %w, want %v", err, codes.InvalidArgument)
	}
	_, err = w.client.Encode(ctx, thriftpackv1.EncodeRequestOf(&thriftpackv1.Value{}))
	if status.Code(err) != codes.InvalidArgument {
		return fmt.Errorf("a value without a kind: %w, want %v", err, codes.InvalidArgument)
	}
	return nil
}

// endless asks for more than anyone reads.
func endless() *thriftpackv1.EncodeStreamRequest {
	return &thriftpackv1.EncodeStreamRequest{Request: thriftpackv1.EncodeRequestOf(large()), Count: 1 << 30}
}

// cancelled reads a little and cancels.
func cancelled(ctx context.Context, w *worker) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := w.client.EncodeStream(ctx, endless())
	if err != nil {
		return err
	}
	for range 100 {
		if _, err := stream.Recv(); err != nil {
			return err
		}
	}
	return nil
}

// gone opens streams on a connection of its own, does not read them, and closes the connection.
func gone(ctx context.Context, w *worker) error {
	conn, err := grpc.NewClient(w.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	client := thriftpackv1.NewSerializerServiceClient(conn)
	for range 8 {
		stream, err := client.EncodeStream(ctx, endless())
		if err == nil {
			_, err = stream.Header() // the server is sending
		}
		if err != nil {
			_ = conn.Close()
			return err
		}
	}
	return conn.Close()
}
