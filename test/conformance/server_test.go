package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"net"
	"strconv"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/server"
	"github.com/thriftpack/thriftpack/test/oracle"
)

// startServer runs the server on a TCP port of its own and returns a stock client of it.
func startServer(t *testing.T) thriftpackv1.SerializerServiceClient {
	t.Helper()
	cfg := config.Default()
	cfg.DrainDelay = 0
	cfg.MaxDepthValue = cfg.MaxDepth // vectors are up to 64 deep, and Go's parser takes them
	s, err := server.New(cfg, server.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:///"+listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		s.Close()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return thriftpackv1.NewSerializerServiceClient(conn)
}

// options returns the encoding and the decoding side of a protocol and an envelope.
func options(p oracle.Protocol, m *oracle.Message) (*thriftpackv1.EncodeOptions, *thriftpackv1.DecodeOptions) {
	protocol := thriftpackv1.Protocol_PROTOCOL_COMPACT
	if p == oracle.Binary {
		protocol = thriftpackv1.Protocol_PROTOCOL_BINARY
	}
	enc := &thriftpackv1.EncodeOptions{Protocol: protocol, Message: header(m)}
	return enc, &thriftpackv1.DecodeOptions{Protocol: protocol, Message: m != nil}
}

func header(m *oracle.Message) *thriftpackv1.MessageHeader {
	if m == nil {
		return nil
	}
	return &thriftpackv1.MessageHeader{Name: m.Name, Type: thriftpackv1.MessageType(m.Type), Seqid: m.SeqID}
}

// unaryBytes is what a unary reply may hold; larger values go through the streams alone.
const unaryBytes = 4<<20 - 1<<10

// TestServer sends every vector over TCP: encoded by Encode and EncodeStream, and decoded by Decode and DecodeStream.
func TestServer(t *testing.T) {
	t.Parallel()
	client := startServer(t)
	for _, vector := range vectors(t) {
		value, err := vector.Value()
		if err != nil {
			t.Fatal(err)
		}
		for _, protocol := range oracle.Protocols {
			if err := overTheWire(t.Context(), client, value, protocol, vector); err != nil {
				t.Errorf("%s: %s: %v", vector.Name, protocol, err)
			}
		}
	}
}

func overTheWire(ctx context.Context, client thriftpackv1.SerializerServiceClient, value *thriftpackv1.Value, p oracle.Protocol, vector *oracle.Vector) error {
	enc, dec := options(p, vector.Envelope())
	want := vector.Bytes(p)
	request := thriftpackv1.EncodeRequestOf(value)
	request.Options = enc
	streamed, err := encodeStream(ctx, client, request)
	if err == nil && !bytes.Equal(streamed, want) {
		err = fmt.Errorf("got %s, want %s", short(streamed), short(want))
	}
	if err != nil {
		return fmt.Errorf("EncodeStream: %w", err)
	}
	if len(want) <= unaryBytes {
		reply, err := client.Encode(ctx, request)
		if err == nil && !bytes.Equal(reply.GetData(), want) {
			err = fmt.Errorf("got %s, want %s", short(reply.GetData()), short(want))
		}
		if err != nil {
			return fmt.Errorf("Encode: %w", err)
		}
	}
	back := &thriftpackv1.DecodeRequest{Data: want, Options: dec}
	read, err := decodeStream(ctx, client, back, vector.Envelope())
	if err != nil {
		return fmt.Errorf("DecodeStream: %w", err)
	}
	if diff := oracle.Diff(oracle.Canonical(value), oracle.Canonical(read)); diff != "" {
		return fmt.Errorf("DecodeStream: another value: %s", diff)
	}
	if proto.Size(read) > unaryBytes/2 {
		return nil
	}
	reply, err := client.Decode(ctx, back)
	switch {
	case err != nil:
		return fmt.Errorf("Decode: %w", err)
	case reply.GetBytesRead() != int64(len(want)):
		return fmt.Errorf("Decode: read %d bytes of %d", reply.GetBytesRead(), len(want))
	case !proto.Equal(reply.GetMessage(), header(vector.Envelope())):
		return fmt.Errorf("Decode: message %v, want %v", reply.GetMessage(), vector.Envelope())
	}
	if diff := oracle.Diff(read, reply.GetValue()); diff != "" {
		return fmt.Errorf("Decode: another value than DecodeStream: %s", diff)
	}
	return nil
}

// encodeStream joins the chunks and checks them against the announced length and the trailers.
func encodeStream(ctx context.Context, client thriftpackv1.SerializerServiceClient, request *thriftpackv1.EncodeRequest) ([]byte, error) {
	stream, err := client.EncodeStream(ctx, &thriftpackv1.EncodeStreamRequest{Request: request, ChunkSize: 4096})
	if err != nil {
		return nil, err
	}
	header, err := stream.Header()
	if err != nil {
		return nil, err
	}
	var data []byte
	for {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		data = append(data, response.GetData()...)
	}
	if got := header.Get("thriftpack-length"); len(got) != 1 || got[0] != strconv.Itoa(len(data)) {
		return nil, fmt.Errorf("thriftpack-length %v for %d bytes", got, len(data))
	}
	return data, checkTrailers(stream.Trailer(), data)
}

func checkTrailers(trailer map[string][]string, data []byte) error {
	bytesSent, sum := trailer["thriftpack-bytes"], trailer["thriftpack-crc32c"]
	wantSum := fmt.Sprintf("%08x", crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
	if len(bytesSent) != 1 || bytesSent[0] != strconv.Itoa(len(data)) || len(sum) != 1 || sum[0] != wantSum {
		return fmt.Errorf("trailers thriftpack-bytes %v, thriftpack-crc32c %v; want %d, %s", bytesSent, sum, len(data), wantSum)
	}
	return nil
}

// decodeStream joins the chunks and parses them.
func decodeStream(ctx context.Context, client thriftpackv1.SerializerServiceClient, request *thriftpackv1.DecodeRequest, m *oracle.Message) (*thriftpackv1.Value, error) {
	stream, err := client.DecodeStream(ctx, &thriftpackv1.DecodeStreamRequest{Request: request})
	if err != nil {
		return nil, err
	}
	var data []byte
	var read int64
	for first := true; ; first = false {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if first && !proto.Equal(response.GetMessage(), header(m)) {
			return nil, fmt.Errorf("message %v in the first response, want %v", response.GetMessage(), m)
		}
		data, read = append(data, response.GetData()...), response.GetBytesRead()
	}
	if read != int64(len(request.GetData())) {
		return nil, fmt.Errorf("read %d bytes of %d", read, len(request.GetData()))
	}
	if err := checkTrailers(stream.Trailer(), data); err != nil {
		return nil, err
	}
	value := new(thriftpackv1.Value)
	return value, proto.Unmarshal(data, value)
}
