package streaming

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fixture"
	"github.com/thriftpack/thriftpack/internal/pace"
	"github.com/thriftpack/thriftpack/internal/server"
	"github.com/thriftpack/thriftpack/internal/stream"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// ServerSpec says which server to start.
type ServerSpec struct {
	// Mode is its kind.
	Mode string `json:"mode"`
	// Transport is its settings of gRPC.
	Transport Transport `json:"transport"`
}

// serve starts a server in this process and returns its address. It serves until the process ends.
func serve(spec ServerSpec) (address string, err error) {
	pace.Start() // as the service does
	opts := []server.Option{
		server.WithLogger(slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))),
		server.WithTransport(spec.Transport.serverOptions()...),
	}
	if spec.Mode == Fresh {
		opts = append(opts, server.WithPool(stream.NewFreshPool()))
	}
	ours, err := server.New(config.Default(), opts...)
	if err != nil {
		return "", fmt.Errorf("serve %s: %w", spec.Mode, err)
	}
	serve := ours.Serve
	switch spec.Mode {
	case Thriftpack, Fresh:
	case Raw, Bare:
		serverOpts := []grpc.ServerOption{grpc.ForceServerCodecV2(rawCodec{})}
		if spec.Mode == Raw {
			serverOpts = append(ours.ServerOptions(), serverOpts...)
		}
		peer := grpc.NewServer(serverOpts...)
		peer.RegisterService(rawService(), nil)
		serve = peer.Serve
	default:
		return "", fmt.Errorf("serve: no mode %q", spec.Mode)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it does not wait for anybody
	if err != nil {
		return "", fmt.Errorf("serve %s: %w", spec.Mode, err)
	}
	go serve(listener) //nolint:errcheck // it ends with the process
	return listener.Addr().String(), nil
}

// rawService moves bytes by the names of ours.
func rawService() *grpc.ServiceDesc {
	return &grpc.ServiceDesc{
		ServiceName: thriftpackv1.SerializerService_ServiceDesc.ServiceName,
		HandlerType: (*any)(nil),
		Streams: []grpc.StreamDesc{
			{StreamName: EncodeStream, ServerStreams: true, Handler: sendStatic},
			{StreamName: EncodeParts, ServerStreams: true, ClientStreams: true, Handler: echo},
			{StreamName: DecodeParts, ServerStreams: true, ClientStreams: true, Handler: echo},
		},
	}
}

// echo sends back every message as the buffers that it came in.
func echo(_ any, ss grpc.ServerStream) error {
	message := rawMessage{hold: true}
	defer message.free()
	for {
		switch err := ss.RecvMsg(&message); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := ss.SendMsg(&message); err != nil {
			return err
		}
	}
}

// sendStatic answers EncodeStream with as many bytes as the real answer has, in chunks of the same size, all of them one
// static buffer.
func sendStatic(_ any, ss grpc.ServerStream) error {
	total, chunkSize, err := receiveRequest(ss)
	if err != nil {
		return err
	}
	room := chunkSize - 1 - varintLen(chunkSize)
	full := response(fixture.Binary(room).GetBinary())
	message := new(rawMessage)
	for ; total > int64(room); total -= int64(room) {
		message.out = full
		if err := ss.SendMsg(message); err != nil {
			return err
		}
	}
	message.out = response(fixture.Binary(int(total)).GetBinary())
	return ss.SendMsg(message)
}

// response is the wire bytes of an EncodeStreamResponse.
func response(data []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), data)
}

// receiveRequest reads how many bytes an EncodeStream request asks for, and in what chunks.
func receiveRequest(ss grpc.ServerStream) (total int64, chunkSize int, err error) {
	message := rawMessage{hold: true}
	defer message.free()
	if err := ss.RecvMsg(&message); err != nil {
		return 0, 0, err
	}
	data := message.in.MaterializeToBuffer(mem.DefaultBufferPool())
	defer data.Free()
	value, chunk, count, err := parseRequest(data.ReadOnlyData())
	if err != nil {
		return 0, 0, err
	}
	if chunkSize, err = stream.ChunkSize(chunk); err != nil {
		return 0, 0, err
	}
	e := new(encoder.Encoder)
	defer e.Release()
	size, err := e.Prepare(value, &encoder.Options{Limits: encoder.Limits{Depth: 64, Elements: recordSize, StringBytes: recordSize}})
	return max(count, 1) * size, chunkSize, err
}

// parseRequest finds what it needs in an EncodeStreamRequest, without a copy of the value.
func parseRequest(data []byte) (value []byte, chunkSize int32, count int64, err error) {
	for len(data) > 0 {
		number, typ, n := protowire.ConsumeTag(data)
		if n < 0 {
			return nil, 0, 0, protowire.ParseError(n)
		}
		data = data[n:]
		switch {
		case number == 1 && typ == protowire.BytesType: // request, then its value
			value, n = protowire.ConsumeBytes(data)
			if n >= 0 {
				_, _, tag := protowire.ConsumeTag(value)
				value, _ = protowire.ConsumeBytes(value[max(tag, 0):])
			}
		case typ == protowire.VarintType:
			var v uint64
			if v, n = protowire.ConsumeVarint(data); number == 2 {
				chunkSize = int32(v) //nolint:gosec // our own client sends it
			} else {
				count = int64(v) //nolint:gosec // as above
			}
		default:
			n = protowire.ConsumeFieldValue(number, typ, data)
		}
		if n < 0 {
			return nil, 0, 0, protowire.ParseError(n)
		}
		data = data[n:]
	}
	return value, chunkSize, count, nil
}
