package stream

import (
	"context"
	"hash/crc32"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// BenchmarkSender sends full chunks to a gRPC that frees at once: what the package costs for each chunk, of which
// clearing and the checksum are the larger part.
func BenchmarkSender(b *testing.B) {
	for _, size := range []struct {
		name  string
		bytes int
	}{{"4KiB", 4 << 10}, {"default", DefaultChunkSize}, {"64KiB", 64 << 10}, {"1MiB", 1 << 20}} {
		b.Run(size.name, func(b *testing.B) {
			pool := NewPool()
			watch := NewWatch(time.Hour, func(*fault.Error) {})
			defer watch.Stop()
			sender, err := NewSender(b.Context(), SenderConfig{
				Pool: pool, Account: newAccount(pool), Watch: watch, ChunkSize: size.bytes, Tag: 0x0a, Send: freeAtOnce,
			})
			if err != nil {
				b.Fatal(err)
			}
			defer sender.Close()
			room, err := sender.Next(0)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(size.bytes))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := sender.Next(len(room)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFloor is what BenchmarkSender cannot do without: clearing a chunk and its checksum.
func BenchmarkFloor(b *testing.B) {
	chunk := make([]byte, DefaultChunkSize)
	b.Run("clear", func(b *testing.B) {
		b.SetBytes(int64(len(chunk)))
		for b.Loop() {
			clear(chunk)
		}
	})
	b.Run("crc32c", func(b *testing.B) {
		b.SetBytes(int64(len(chunk)))
		var crc uint32
		for b.Loop() {
			crc = crc32.Update(crc, castagnoli, chunk)
		}
	})
}

// BenchmarkGet compares a chunk from the pool with new memory of the same size.
func BenchmarkGet(b *testing.B) {
	b.Run("pool", func(b *testing.B) {
		pool := NewPool()
		b.ReportAllocs()
		for b.Loop() {
			chunk := pool.Get(DefaultChunkSize)
			chunk.Room(DefaultChunkSize)[0] = 1
			chunk.Release()
		}
	})
	b.Run("make", func(b *testing.B) {
		b.ReportAllocs()
		var data []byte
		for b.Loop() {
			data = make([]byte, 32<<10)
			data[0] = 1
		}
		_ = data
	})
}

// BenchmarkWatch is the price of watching one call.
func BenchmarkWatch(b *testing.B) {
	watch := NewWatch(time.Hour, func(*fault.Error) {})
	defer watch.Stop()
	b.ReportAllocs()
	for b.Loop() {
		watch.Begin(Sending)
		if err := watch.End(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWatchAlternative is a goroutine for each call, which would let a handler leave a call that is blocked.
func BenchmarkWatchAlternative(b *testing.B) {
	b.ReportAllocs()
	done := make(chan error, 1)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for b.Loop() {
		go func() { done <- nil }()
		timer.Reset(time.Hour)
		select {
		case err := <-done:
			if err != nil {
				b.Fatal(err)
			}
		case <-timer.C:
			b.Fatal("stalled")
		}
	}
}

// BenchmarkAdmit admits streams, from one goroutine and from many.
func BenchmarkAdmit(b *testing.B) {
	budget := NewBudget(256<<20, 16<<20, time.Minute)
	admit := func(ctx context.Context) error {
		release, err := budget.Admit(ctx, Cost(DefaultChunkSize))
		if err != nil {
			return err
		}
		release()
		return nil
	}
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := admit(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("many", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := admit(b.Context()); err != nil {
					b.Error(err)
					return
				}
			}
		})
	})
}

// BenchmarkOverTCP streams through grpc-go to a client that reads, with chunks of ours and with a new slice for each
// message, which is what a zero-copy codec without a pool needs.
func BenchmarkOverTCP(b *testing.B) {
	for _, pooled := range []bool{true, false} {
		name := "new slices"
		if pooled {
			name = "chunks"
		}
		b.Run(name, func(b *testing.B) { benchmarkOverTCP(b, pooled) })
	}
}

func benchmarkOverTCP(b *testing.B, pooled bool) {
	b.Helper()
	pool := NewPool()
	handler := func(_ any, ss grpc.ServerStream) error {
		var request []byte
		if err := ss.RecvMsg(&request); err != nil {
			return err
		}
		messages := parseOrder(request).total
		if !pooled {
			for range messages {
				if err := ss.SendMsg(make([]byte, DefaultChunkSize)); err != nil {
					return err
				}
			}
			return nil
		}
		watch := NewWatch(time.Minute, func(*fault.Error) {})
		defer watch.Stop()
		sender, err := NewSender(ss.Context(), SenderConfig{
			Pool: pool, Account: newAccount(pool), Watch: watch, ChunkSize: DefaultChunkSize, Tag: 0x0a,
			Send: func(message *Message) error { return ss.SendMsg(message) },
		})
		if err != nil {
			return err
		}
		defer sender.Close()
		filled := 0
		for range messages {
			room, err := sender.Next(filled)
			if err != nil {
				return err
			}
			filled = len(room)
		}
		return sender.Flush(filled)
	}
	address, stop := serveBenchmark(b, handler)
	defer stop()
	stream := openBenchmark(b, address, order{total: uint64(b.N)})
	b.SetBytes(DefaultChunkSize)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		var message discard
		if err := stream.RecvMsg(&message); err != nil {
			b.Fatal(err)
		}
	}
}

// serveBenchmark serves one method without what the tests look at.
func serveBenchmark(b *testing.B, handler grpc.StreamHandler) (address string, stop func()) {
	b.Helper()
	server := grpc.NewServer(grpc.ForceServerCodecV2(rawCodec{}))
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "test.Bytes", HandlerType: (*any)(nil),
		Streams: []grpc.StreamDesc{{StreamName: "Send", Handler: handler, ServerStreams: true}},
	}, nil)
	lis := listen(b)
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(lis); err != nil {
			b.Errorf("Serve: %v", err)
		}
	})
	return lis.Addr().String(), func() {
		server.Stop()
		serving.Wait()
	}
}

func openBenchmark(b *testing.B, address string, o order) grpc.ClientStream {
	b.Helper()
	conn := dial(b, address)
	stream, err := conn.NewStream(b.Context(), &grpc.StreamDesc{ServerStreams: true}, sendMethod)
	if err != nil {
		b.Fatal(err)
	}
	if err := stream.SendMsg(o.bytes()); err != nil {
		b.Fatal(err)
	}
	if err := stream.CloseSend(); err != nil {
		b.Fatal(err)
	}
	return stream
}
