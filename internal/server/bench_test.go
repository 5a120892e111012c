package server

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

const encodeMethod = "/thriftpack.v1.SerializerService/Encode"

// BenchmarkUnaryEncode compares a small Encode with the floor: a server that answers a request of the same size with a
// reply of the same size without reading it, behind the same interceptors and on the same transport. What counts is cpu-ns/op, of both ends
// together; the client is the same raw one, so the share of the server's own work is larger than the ratio says.
func BenchmarkUnaryEncode(b *testing.B) {
	request, err := proto.Marshal(encodeRequestOf(fixture.OneOfEach(), nil))
	if err != nil {
		b.Fatal(err)
	}
	reply, err := proto.Marshal(&thriftpackv1.EncodeResponse{Data: make([]byte, fixture.OneOfEachCompactSize)})
	if err != nil {
		b.Fatal(err)
	}
	quiet := func(s *setup) { s.level = slog.LevelInfo }
	for _, bench := range []struct {
		name  string
		start func(testing.TB) string
	}{
		{"thriftpack", func(b testing.TB) string { b.Helper(); return start(b, quiet).addr }},
		{"echo", func(b testing.TB) string { b.Helper(); return startEcho(b, reply, true) }},
		{"bare-echo", func(b testing.TB) string { b.Helper(); return startEcho(b, reply, false) }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			benchmarkEncode(b, bench.start(b), request)
		})
	}
}

// benchmarkEncode makes the same call over and over, several at a time.
func benchmarkEncode(b *testing.B, addr string, request []byte, options ...grpc.DialOption) {
	b.Helper()
	conn := dial(b, addr, append(options, grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawClientCodec{})))...)
	size := call(b, conn, request)
	var failed atomic.Int64
	cpu := cpuTime()
	b.ReportAllocs()
	b.SetParallelism(4)
	b.RunParallel(func(p *testing.PB) {
		var got rawSize
		for p.Next() {
			if err := conn.Invoke(b.Context(), encodeMethod, rawBytes(request), &got); err != nil || got != size {
				failed.Add(1)
			}
		}
	})
	b.ReportMetric(float64(cpuTime()-cpu)/float64(b.N), "cpu-ns/op")
	if failed.Load() != 0 {
		b.Fatalf("%d calls failed", failed.Load())
	}
}

// call makes one call and returns the size of its reply, which is that of the fixture.
func call(b *testing.B, conn *grpc.ClientConn, request []byte) (got rawSize) {
	b.Helper()
	if err := conn.Invoke(b.Context(), encodeMethod, rawBytes(request), &got); err != nil || int(dataSize(fixture.OneOfEachCompactSize)) != int(got) {
		b.Fatalf("Invoke: %d bytes, %v; want %d", got, err, dataSize(fixture.OneOfEachCompactSize))
	}
	return got
}

// cpuTime is the CPU time of the process in nanoseconds.
func cpuTime() int64 {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}

// startEcho starts a server that answers Encode with reply, unread, behind the interceptors of a Server or none.
func startEcho(t testing.TB, reply []byte, intercepted bool) string {
	t.Helper()
	s := newServer(t, config.Default())
	opts := []grpc.ServerOption{grpc.ForceServerCodecV2(rawServerCodec{})}
	if intercepted {
		opts = append(s.ServerOptions(), opts...)
	}
	server := grpc.NewServer(opts...)
	info := &grpc.UnaryServerInfo{FullMethod: encodeMethod}
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "thriftpack.v1.SerializerService", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{
			MethodName: "Encode",
			Handler: func(_ any, ctx context.Context, receive func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
				var size rawSize
				if err := receive(&size); err != nil {
					return nil, err
				}
				answer := func(context.Context, any) (any, error) { return rawBytes(reply), nil }
				if intercept == nil {
					return answer(ctx, &size)
				}
				return intercept(ctx, &size, info, answer)
			},
		}},
	}, struct{}{})
	var lc net.ListenConfig
	lis, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(lis) })
	t.Cleanup(func() { server.Stop(); served.Wait() })
	return lis.Addr().String()
}

// rawBytes is a message that is sent as it is, and rawSize one of which only the size is kept.
type (
	rawBytes []byte
	rawSize  int
)

type rawClientCodec struct{}

func (rawClientCodec) Name() string { return "proto" }

func (rawClientCodec) Marshal(m any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(m.(rawBytes))}, nil
}

func (rawClientCodec) Unmarshal(data mem.BufferSlice, m any) error {
	*m.(*rawSize) = rawSize(data.Len())
	return nil
}

type rawServerCodec = rawClientCodec
