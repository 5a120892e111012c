package rpc

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/apache/thrift/lib/go/thrift"
	"google.golang.org/grpc"

	"github.com/thriftpack/thriftpack/bench/peers/apachevalue"
	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/server"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// The kinds of servers.
const (
	// Thriftpack is our server with its default settings.
	Thriftpack = "thriftpack"
	// Floor answers every request with the same finished bytes, behind the same transport settings and interceptors: what
	// gRPC itself costs.
	Floor = "floor"
	// Bare is the floor with grpc-go's defaults and no interceptors.
	Bare = "bare"
	// Ordinary is what one would write without us, behind the same transport settings and interceptors: generated stubs,
	// proto.Unmarshal, Apache's encoder into a bytes field.
	Ordinary = "ordinary"
)

// Modes are all kinds.
var Modes = []string{Thriftpack, Floor, Bare, Ordinary}

// Serve runs a server of a mode until SIGTERM; it writes its address to out. It is what Start starts.
func Serve(ctx context.Context, mode string, out io.Writer) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	settings := config.Default()
	settings.DrainDelay = 0
	ours, err := server.New(settings, server.WithLogger(slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))))
	if err != nil {
		return fmt.Errorf("serve %s: %w", mode, err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("serve %s: %w", mode, err)
	}
	workloads, err := Workloads()
	if err != nil {
		return fmt.Errorf("serve %s: %w", mode, err)
	}
	serve, end := ours.Serve, ours.Close
	if mode != Thriftpack {
		peer := newPeer(mode, ours, workloads)
		serve, end = peer.Serve, peer.Stop
		defer ours.Close()
	}
	go func() {
		<-ctx.Done()
		end()
	}()
	if _, err := fmt.Fprintln(out, addressPrefix+listener.Addr().String()); err != nil {
		return fmt.Errorf("serve %s: %w", mode, err)
	}
	if err := serve(listener); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve %s: %w", mode, err)
	}
	return nil
}

func newPeer(mode string, ours *server.Server, workloads []Workload) *grpc.Server {
	switch mode {
	case Ordinary:
		peer := grpc.NewServer(ours.ServerOptions()...)
		thriftpackv1.RegisterSerializerServiceServer(peer, ordinary{})
		return peer
	case Bare:
		peer := grpc.NewServer(grpc.ForceServerCodecV2(RawCodec{}))
		peer.RegisterService(floorService(workloads), nil)
		return peer
	default:
		peer := grpc.NewServer(append(ours.ServerOptions(), grpc.ForceServerCodecV2(RawCodec{}))...)
		peer.RegisterService(floorService(workloads), nil)
		return peer
	}
}

// floorService answers a request of a workload, which its length tells, with the finished reply.
func floorService(workloads []Workload) *grpc.ServiceDesc {
	replies := make(map[int]*Raw)
	for _, w := range workloads {
		replies[len(w.Request)] = &Raw{Data: w.Reply}
	}
	description := &grpc.ServiceDesc{ServiceName: thriftpackv1.SerializerService_ServiceDesc.ServiceName}
	for _, method := range []string{"Encode", "Decode"} {
		answer := func(_ context.Context, request any) (any, error) {
			raw, _ := request.(*Raw)
			reply, ok := replies[raw.Length]
			if !ok {
				return nil, fmt.Errorf("floor: no workload has a request of %d bytes", raw.Length)
			}
			return reply, nil
		}
		info := &grpc.UnaryServerInfo{FullMethod: "/" + description.ServiceName + "/" + method}
		description.Methods = append(description.Methods, grpc.MethodDesc{
			MethodName: method,
			Handler: func(_ any, ctx context.Context, decode func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
				request := new(Raw)
				if err := decode(request); err != nil {
					return nil, err
				}
				if interceptor == nil {
					return answer(ctx, request)
				}
				return interceptor(ctx, request, info, answer)
			},
		})
	}
	return description
}

// ordinary is the service as one would write it with generated stubs and Apache's library.
type ordinary struct {
	thriftpackv1.UnimplementedSerializerServiceServer
}

func (ordinary) Encode(ctx context.Context, request *thriftpackv1.EncodeRequest) (*thriftpackv1.EncodeResponse, error) {
	transport := thrift.NewTMemoryBufferLen(64)
	protocol := thrift.NewTCompactProtocolConf(transport, &thrift.TConfiguration{})
	if err := apachevalue.Write(ctx, protocol, request.GetValue().GetStruct()); err != nil {
		return nil, err
	}
	return &thriftpackv1.EncodeResponse{Data: transport.Bytes()}, nil
}

func (ordinary) Decode(ctx context.Context, request *thriftpackv1.DecodeRequest) (*thriftpackv1.DecodeResponse, error) {
	transport := thrift.NewTMemoryBufferLen(len(request.GetData()))
	transport.Write(request.GetData()) // a memory buffer takes everything
	tree, err := apachevalue.Read(ctx, thrift.NewTCompactProtocolConf(transport, &thrift.TConfiguration{}))
	if err != nil {
		return nil, err
	}
	return &thriftpackv1.DecodeResponse{
		Output:    &thriftpackv1.DecodeResponse_Value{Value: &thriftpackv1.Value{Kind: &thriftpackv1.Value_Struct{Struct: tree}}},
		BytesRead: int64(len(request.GetData())),
	}, nil
}
