package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fixture"
	"github.com/thriftpack/thriftpack/internal/stream"
)

func TestRequestLimit(t *testing.T) {
	const limit = 100_000
	h := start(t, func(s *setup) { s.cfg.MaxRequestBytes = limit })
	request := encodeRequestOf(binaryOf(limit-8), nil)
	if size := proto.Size(request); size != limit {
		t.Fatalf("a request of %d bytes", size)
	}
	if _, err := h.client.Encode(t.Context(), request); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	_, err := h.client.Encode(t.Context(), encodeRequestOf(binaryOf(limit-7), nil))
	wantError(t, err, codes.ResourceExhausted, "SIZE_LIMIT", "request of bytes: 100001 exceeds the limit of 100000 (--max-request-bytes)")
}

// endless is an EncodeStreamRequest for more than anybody reads.
func endless() *thriftpackv1.EncodeStreamRequest {
	return &thriftpackv1.EncodeStreamRequest{Request: encodeRequestOf(binaryOf(1000), nil), Count: 1 << 40}
}

// eventuallyIdle waits until no stream holds budget.
func (h *harness) eventuallyIdle(t *testing.T) {
	t.Helper()
	eventually(t, "the budget is free", func() bool { return h.server.service.budget.Held() == 0 })
}

func TestBudget(t *testing.T) {
	// The first stream takes all there is.
	cost := stream.Cost(stream.DefaultChunkSize)
	h := start(t, func(s *setup) { s.cfg.StreamBudget, s.cfg.StreamWait = cost, 10*time.Millisecond })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first, err := h.client.EncodeStream(ctx, endless())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Recv(); err != nil {
		t.Fatalf("first: %v", err)
	}
	for _, method := range []string{"EncodeStream", "EncodeBatch"} {
		err := h.oneCall(t.Context(), method)
		wantError(t, err, codes.ResourceExhausted, "BUDGET_EXHAUSTED", "--stream-budget")
		if detailOf[*errdetails.RetryInfo](err) == nil {
			t.Errorf("%s: no RetryInfo", method)
		}
	}
	if err := h.oneCall(t.Context(), "Encode"); err != nil {
		t.Errorf("unary calls take none of it: %v", err)
	}
	cancel()
	h.eventuallyIdle(t)
	if err := h.oneCall(t.Context(), "EncodeStream"); err != nil {
		t.Errorf("after the first was canceled: %v", err)
	}
	h.eventuallyIdle(t)
}

// TestAbandonedStreams ends many streams in each of the ways in which clients do.
func TestAbandonedStreams(t *testing.T) {
	const streams = 10
	for _, tt := range []struct {
		name  string
		begin func(t *testing.T, h *harness) (abandon func())
		codes []codes.Code
	}{
		{
			"canceled",
			func(t *testing.T, h *harness) func() {
				t.Helper()
				ctx, cancel := context.WithCancel(t.Context())
				openStreams(ctx, t, h.client, streams)
				return cancel
			},
			[]codes.Code{codes.Canceled},
		},
		{
			"expired",
			func(t *testing.T, h *harness) func() {
				t.Helper()
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				openStreams(ctx, t, h.client, streams)
				return func() { <-ctx.Done(); cancel() }
			},
			[]codes.Code{codes.Canceled, codes.DeadlineExceeded},
		},
		{
			"gone with their connection",
			func(t *testing.T, h *harness) func() {
				t.Helper()
				conn := dial(t, h.addr)
				openStreams(t.Context(), t, thriftpackv1.NewSerializerServiceClient(conn), streams)
				return func() { _ = conn.Close() }
			},
			[]codes.Code{codes.Canceled, codes.Unavailable},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := start(t, func(s *setup) { s.pool = stream.NewCheckedPool() })
			tt.begin(t, h)()
			began := time.Now()
			h.eventuallyIdle(t)
			t.Logf("idle after %v", time.Since(began))
			eventually(t, "all calls are finished", func() bool { return len(h.log.calls(t, "EncodeStream")) == streams })
			for _, line := range h.log.calls(t, "EncodeStream") {
				ok := false
				for _, code := range tt.codes {
					ok = ok || line["code"] == code.String()
				}
				if !ok {
					t.Errorf("finished with %v, want one of %v", line["code"], tt.codes)
				}
			}
			if faults := h.server.service.pool.Stats().Faults; faults != 0 {
				t.Errorf("pool: %d faults", faults)
			}
		})
	}
}

// openStreams opens streams, each of which has sent something, and reads no more of them.
func openStreams(ctx context.Context, t *testing.T, client thriftpackv1.SerializerServiceClient, n int) {
	t.Helper()
	for range n {
		s, err := client.EncodeStream(ctx, endless())
		if err != nil {
			t.Fatalf("EncodeStream: %v", err)
		}
		if _, err := s.Recv(); err != nil {
			t.Fatalf("Recv: %v", err)
		}
	}
}

func TestStalledReader(t *testing.T) {
	h := start(t, func(s *setup) { s.cfg.StallTimeout = time.Second })
	s, err := h.client.EncodeStream(t.Context(), endless())
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.Recv()
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the call is finished", func() bool { return len(h.log.calls(t, "EncodeStream")) == 1 })
	h.eventuallyIdle(t)
	line := h.log.calls(t, "EncodeStream")[0]
	if line["code"] != codes.DeadlineExceeded.String() || line["reason"] != "STALLED" {
		t.Errorf("log: %v", line)
	}
	// What was queued arrives when the client reads again, and after it the reason.
	got := received{data: first.GetData()}
	chunks, err := drainStream(s)
	for _, chunk := range chunks {
		got.data = append(got.data, chunk.GetData()...)
	}
	wantError(t, err, codes.DeadlineExceeded, "STALLED", "--stall-timeout")
	if s.Trailer().Get(thriftpackv1.BytesTrailer) == nil || s.Trailer().Get(thriftpackv1.CRC32CTrailer) == nil {
		t.Errorf("no trailers: %v", s.Trailer())
	}
}

// TestStalledReaderOfRecord has messages refer to a record of 1 MiB when the stream is cut: as long as they are queued, the record is in the budget.
func TestStalledReaderOfRecord(t *testing.T) {
	const size = 1 << 20
	h := start(t, func(s *setup) { s.cfg.StallTimeout = 200 * time.Millisecond })
	s, err := h.client.EncodeStream(t.Context(), &thriftpackv1.EncodeStreamRequest{Request: encodeRequestOf(binaryOf(size), nil), Count: 1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recv(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the call is finished", func() bool { return len(h.log.calls(t, "EncodeStream")) == 1 })
	eventually(t, "the record alone is held", func() bool { held := h.server.service.budget.Held(); return held > size && held < 2*size })
	_, err = drainStream(s)
	wantError(t, err, codes.DeadlineExceeded, "STALLED", "--stall-timeout")
	h.eventuallyIdle(t)
}

// TestStalledSender begins calls of each kind and sends nothing of them.
func TestStalledSender(t *testing.T) {
	h := start(t, func(s *setup) { s.cfg.StallTimeout = 100 * time.Millisecond })
	for _, method := range []string{"Encode", "Decode", "EncodeStream", "DecodeStream", "EncodeBatch", "DecodeBatch", "EncodeParts", "DecodeParts"} {
		s, err := h.conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/thriftpack.v1.SerializerService/"+method)
		if err != nil {
			t.Fatal(err)
		}
		err = s.RecvMsg(new(emptypb.Empty))
		wantError(t, err, codes.DeadlineExceeded, "STALLED", "--stall-timeout")
		eventually(t, "the call is finished", func() bool { return len(h.log.calls(t, method)) == 1 })
		if line := h.log.calls(t, method)[0]; line["reason"] != "STALLED" {
			t.Errorf("%s: log %v", method, line)
		}
	}
}

func TestSlowReaderGetsAll(t *testing.T) {
	h := start(t, func(s *setup) { s.cfg.StallTimeout = 5 * time.Second })
	request := encodeRequestOf(binaryOf(1<<20), nil)
	want, err := h.client.Encode(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	s, err := h.client.EncodeStream(t.Context(), &thriftpackv1.EncodeStreamRequest{Request: request})
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	for {
		chunk, err := s.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, chunk.GetData()...)
		wait(t, 5*time.Millisecond)
	}
	if !bytes.Equal(got, want.GetData()) {
		t.Errorf("%d bytes differ from Encode's %d", len(got), len(want.GetData()))
	}
}

// compressionProbe notes how replies came.
type compressionProbe struct {
	mu         sync.Mutex
	algorithms []string
	compressed bool
}

func (*compressionProbe) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

func (*compressionProbe) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	return ctx
}
func (*compressionProbe) HandleConn(context.Context, stats.ConnStats) {}

func (p *compressionProbe) HandleRPC(_ context.Context, s stats.RPCStats) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch s := s.(type) {
	case *stats.InHeader:
		p.algorithms = append(p.algorithms, s.Compression)
	case *stats.InPayload:
		p.compressed = p.compressed || s.CompressedLength < s.Length
	}
}

func TestCompressedRequests(t *testing.T) {
	for _, compress := range []bool{false, true} {
		probe := &compressionProbe{}
		h := start(t, func(s *setup) {
			s.cfg.CompressReplies = compress
			s.dial = []grpc.DialOption{grpc.WithStatsHandler(probe), grpc.WithDefaultCallOptions(grpc.UseCompressor(gzip.Name))}
		})
		value := thriftpackv1.BinaryValue(make([]byte, 50_000))
		reply, err := h.client.Encode(t.Context(), encodeRequestOf(value, nil))
		if err != nil || len(reply.GetData()) != 50_003 {
			t.Fatalf("Encode: %d bytes, %v", len(reply.GetData()), err)
		}
		got := encodeStreamOf(t, h, &thriftpackv1.EncodeStreamRequest{Request: encodeRequestOf(value, nil)})
		if got.err != nil || !bytes.Equal(got.data, reply.GetData()) {
			t.Fatalf("EncodeStream: %d bytes, %v", len(got.data), got.err)
		}
		if err := h.oneCall(t.Context(), "EncodeBatch"); err != nil {
			t.Fatal(err)
		}
		probe.mu.Lock()
		if probe.compressed != compress || compress != strings.Contains(strings.Join(probe.algorithms, " "), gzip.Name) {
			t.Errorf("compress replies %v: replies came as %q, compressed %v", compress, probe.algorithms, probe.compressed)
		}
		probe.mu.Unlock()
	}
}

func TestCompressionBomb(t *testing.T) {
	h := start(t, func(s *setup) {
		s.cfg.MaxRequestBytes = 1 << 20
		s.dial = []grpc.DialOption{grpc.WithDefaultCallOptions(grpc.UseCompressor(gzip.Name), grpc.ForceCodecV2(rawClientCodec{}))}
	})
	bomb := rawBytes(make([]byte, 64<<20))
	var size rawSize
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := h.conn.Invoke(t.Context(), encodeMethod, bomb, &size)
	runtime.ReadMemStats(&after)
	wantError(t, err, codes.ResourceExhausted, "SIZE_LIMIT", "unpacked, of bytes: at least 1048577 exceeds the limit of 1048576 (--max-request-bytes)")
	// Both ends together: the client's compressor and the wire form, the server's request limit and its own overhead.
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("64 MiB of zeros cost %d bytes of memory", grown)
	}
}

func TestConnectionLimit(t *testing.T) {
	h := start(t, func(s *setup) { s.cfg.MaxConnections = 1 })
	if err := h.oneCall(t.Context(), "Encode"); err != nil {
		t.Fatal(err)
	}
	var dialer net.Dialer
	second, err := dialer.DialContext(t.Context(), "tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = second.Close() }()
	if n, err := second.Read(make([]byte, 1)); err == nil || n != 0 {
		t.Errorf("the second connection: read %d bytes, %v; want its end", n, err)
	}
	third := thriftpackv1.NewSerializerServiceClient(dial(t, h.addr))
	if _, err := third.Encode(t.Context(), encodeRequestOf(fixture.OneOfEach(), nil)); status.Code(err) != codes.Unavailable {
		t.Errorf("a client over the limit: %v, want UNAVAILABLE", err)
	}
	if err := h.oneCall(t.Context(), "Encode"); err != nil {
		t.Errorf("the first connection: %v", err)
	}
	_ = h.conn.Close()
	eventually(t, "there is room again", func() bool {
		_, err := third.Encode(t.Context(), encodeRequestOf(fixture.OneOfEach(), nil), grpc.WaitForReady(true))
		return err == nil
	})
}
