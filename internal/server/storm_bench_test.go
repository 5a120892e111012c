package server

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

const schemaMethods = "/thriftpack.v1.SchemaService/"

// largeIDL is about as much IDL as a schema may have, and as many types.
func largeIDL(variant int) map[string]string {
	var text strings.Builder
	fmt.Fprintf(&text, "// %d\n", variant)
	for i := range 15_000 {
		fmt.Fprintf(&text, "struct S%d { 1: i32 a, 2: list<string> b, 3: S%d c }\n", i, i/2)
	}
	return map[string]string{"main.thrift": text.String()}
}

// BenchmarkStorm is a small encode every millisecond or so from each of a few callers, by what others ask of schemas meanwhile. What counts is
// p99-µs beside that of quiet.
func BenchmarkStorm(b *testing.B) {
	request, err := proto.Marshal(encodeRequestOf(fixture.OneOfEach(), nil))
	if err != nil {
		b.Fatal(err)
	}
	sources := largeIDL(0)
	check, err := proto.Marshal(&thriftpackv1.CheckCompatibilityRequest{Files: sources})
	if err != nil {
		b.Fatal(err)
	}
	create := func(i int) []byte {
		request, err := proto.Marshal(&thriftpackv1.CreateSchemaRequest{
			Name: fmt.Sprintf("s%d", i%8), Files: largeIDL(i), Compatibility: thriftpackv1.Compatibility_COMPATIBILITY_NONE,
		})
		if err != nil {
			b.Error(err)
		}
		return request
	}
	for _, bench := range []struct {
		name   string
		storms int
		storm  func(ctx context.Context, conn *grpc.ClientConn, i int) error
	}{
		{"quiet", 0, nil},
		{"a busy goroutine", 1, func(context.Context, *grpc.ClientConn, int) error { // no storm can do better
			began := time.Now()
			for time.Since(began) < 200*time.Microsecond {
				continue
			}
			runtime.Gosched()
			return nil
		}},
		{"checks", 8, func(ctx context.Context, conn *grpc.ClientConn, _ int) error {
			var got rawSize
			return conn.Invoke(ctx, schemaMethods+"CheckCompatibility", rawBytes(check), &got)
		}},
		{"pushes", 8, func(ctx context.Context, conn *grpc.ClientConn, i int) error {
			var got rawSize
			return conn.Invoke(ctx, schemaMethods+"CreateSchema", rawBytes(create(i)), &got)
		}},
		{"random revisions", 8, func(ctx context.Context, conn *grpc.ClientConn, i int) error {
			var got rawSize
			data, err := proto.Marshal(&thriftpackv1.EncodeRequest{
				Input: &thriftpackv1.EncodeRequest_Json{Json: "{}"}, Type: &thriftpackv1.TypeRef{Schema: fmt.Sprintf("known@%016x", i), Type: "S"},
			})
			if err != nil {
				return err
			}
			return conn.Invoke(ctx, encodeMethod, rawBytes(data), &got)
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			h := start(b, withStore(b), func(s *setup) { s.level = slog.LevelError; s.cfg.MaxSchemaRevisions = 1000 })
			h.create(b, "known", "struct S {}")
			conn := dial(b, h.addr, grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawClientCodec{})))
			call(b, conn, request)
			ctx, cancel := context.WithCancel(b.Context())
			var storm sync.WaitGroup
			var number, done atomic.Int64
			for range bench.storms {
				other := dial(b, h.addr, grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawClientCodec{})))
				storm.Go(func() {
					for ctx.Err() == nil {
						if bench.storm(ctx, other, int(number.Add(1))) == nil {
							done.Add(1)
						}
					}
				})
			}
			const callers = 4
			took := make([][]time.Duration, callers)
			var calls sync.WaitGroup
			b.ResetTimer()
			for i := range callers {
				calls.Go(func() {
					for range (b.N + callers - 1) / callers {
						wait(b, time.Millisecond)
						began := time.Now()
						var got rawSize
						if err := conn.Invoke(b.Context(), encodeMethod, rawBytes(request), &got); err != nil {
							b.Error(err)
							return
						}
						took[i] = append(took[i], time.Since(began))
					}
				})
			}
			calls.Wait()
			b.StopTimer()
			all := slices.Sorted(slices.Values(slices.Concat(took...)))
			if len(all) > 0 {
				b.ReportMetric(float64(all[len(all)/2].Microseconds()), "p50-µs")
				b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-µs")
				b.ReportMetric(float64(all[len(all)-1].Microseconds()), "max-µs")
			}
			b.ReportMetric(float64(done.Load())/b.Elapsed().Seconds(), "others/s")
			cancel()
			storm.Wait()
		})
	}
}
