package server

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/fixture"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// TestTransportSettings reads what the server tells every client at first.
func TestTransportSettings(t *testing.T) {
	h := start(t, func(s *setup) { s.cfg.MaxConcurrentStreams = 7 })
	client := dialDeaf(t, h.addr)
	want := map[http2.SettingID]uint32{
		http2.SettingMaxConcurrentStreams: 7,
		http2.SettingMaxHeaderListSize:    16 << 10,
		http2.SettingInitialWindowSize:    1 << 20,
	}
	for windowed := false; len(want) > 0 || !windowed; {
		frame, err := client.framer.ReadFrame()
		if err != nil {
			t.Fatalf("ReadFrame: %v; still want %v", err, want)
		}
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			for id, value := range want {
				if got, ok := f.Value(id); ok && got != value {
					t.Errorf("%v: got %d, want %d", id, got, value)
				}
				delete(want, id)
			}
		case *http2.WindowUpdateFrame:
			windowed = true
			if f.StreamID != 0 || f.Increment != 2<<20-65535 {
				t.Errorf("window of stream %d: %d more, want that of the connection to become 2 MiB", f.StreamID, f.Increment)
			}
		}
	}
}

// TestConcurrentStreams has a client that does not care for what the server told it.
func TestConcurrentStreams(t *testing.T) {
	h := start(t, func(s *setup) { s.cfg.MaxConcurrentStreams = 2 })
	client := dialDeaf(t, h.addr)
	for range 3 {
		client.open(t, "/thriftpack.v1.SerializerService/EncodeBatch")
	}
	for {
		frame, err := client.framer.ReadFrame()
		if err != nil {
			t.Fatalf("ReadFrame: %v", err)
		}
		if reset, ok := frame.(*http2.RSTStreamFrame); ok {
			if reset.StreamID != 5 || reset.ErrCode != http2.ErrCodeRefusedStream {
				t.Errorf("stream %d was reset with %v, want 5 with REFUSED_STREAM", reset.StreamID, reset.ErrCode)
			}
			return
		}
	}
}

func TestHeaderLimit(t *testing.T) {
	h := start(t)
	large := metadata.AppendToOutgoingContext(t.Context(), "x-large", string(make([]byte, 17<<10)))
	if err := h.oneCall(large, "Encode"); status.Code(err) != codes.Internal {
		t.Errorf("17 KiB of metadata by a client that knows the limit: %v", err)
	}
	client := dialDeaf(t, h.addr)
	for i := range 20 {
		client.extra = append(client.extra, [2]string{"x-large-" + string(rune('a'+i)), string(make([]byte, 1<<10))})
	}
	client.open(t, encodeMethod)
	for {
		frame, err := client.framer.ReadFrame()
		if err != nil {
			break // the connection was closed
		}
		if reset, ok := frame.(*http2.RSTStreamFrame); ok {
			if reset.StreamID != 1 {
				t.Errorf("stream %d was reset, want 1", reset.StreamID)
			}
			break
		}
	}
	if lines := h.log.calls(t, "Encode"); len(lines) != 0 {
		t.Errorf("a call with 20 KiB of headers came to its handler: %v", lines)
	}
	if err := h.oneCall(t.Context(), "Encode"); err != nil {
		t.Errorf("another client: %v", err)
	}
}

// TestTooManyWait refuses streams that nobody could serve soon, before anything is made of them, and counts them.
func TestTooManyWait(t *testing.T) {
	h := start(t, func(s *setup) {
		s.cfg.StreamBudget, s.cfg.StreamWait = stream.Cost(stream.DefaultChunkSize), time.Hour
	})
	h.server.maxWaiting = 1
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first, err := h.client.EncodeStream(ctx, endless())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Recv(); err != nil {
		t.Fatalf("first: %v", err)
	}
	waits := make(chan error, 1)
	go func() { waits <- h.oneCall(t.Context(), "EncodeStream") }()
	eventually(t, "the second waits", func() bool { return h.server.service.budget.Waiting() == 1 })
	for _, method := range []string{"EncodeStream", "EncodeBatch", "DecodeParts"} {
		err := h.oneCall(t.Context(), method)
		if status.Code(err) != codes.ResourceExhausted {
			t.Errorf("%s: %v, want RESOURCE_EXHAUSTED", method, err)
		}
		wantError(t, err, codes.ResourceExhausted, "BUDGET_EXHAUSTED", "streams waiting for memory: 1")
	}
	if err := h.oneCall(t.Context(), "Encode"); err != nil {
		t.Errorf("a unary call: %v", err)
	}
	if got := h.metric(t, "thriftpack_streams_refused_total"); got != 3 {
		t.Errorf("%v refusals counted, want 3", got)
	}
	cancel()
	if err := <-waits; err != nil {
		t.Errorf("the second: %v", err)
	}
}

// metric returns the value of a counter or gauge without labels.
func (h *harness) metric(t *testing.T, name string) float64 {
	t.Helper()
	families, err := h.server.Registry().Gather()
	if err != nil {
		t.Fatalf("Gather: %v", err)
	}
	for _, family := range families {
		if family.GetName() == name {
			return family.GetMetric()[0].GetCounter().GetValue() + family.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

// TestUnpaidConnectionIsClosed has a client that opens all windows and reads nothing: what its streams were cut with lies in gRPC's
// queue, and only closing the connection frees it.
func TestUnpaidConnectionIsClosed(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 10 s")
	}
	t.Parallel() // it only waits
	request, err := proto.Marshal(endless())
	if err != nil {
		t.Fatal(err)
	}
	for _, grace := range []time.Duration{100 * time.Millisecond, time.Hour} {
		h := start(t, func(s *setup) { s.cfg.StallTimeout = time.Second })
		h.server.service.unpaidGrace = grace
		client := dialDeaf(t, h.addr)
		client.open(t, "/thriftpack.v1.SerializerService/EncodeStream")
		client.send(t, request)
		eventually(t, "the stream is cut", func() bool { return len(h.log.calls(t, "EncodeStream")) == 1 })
		if line := h.log.calls(t, "EncodeStream")[0]; line["reason"] != "STALLED" {
			t.Errorf("finished with %v", line)
		}
		if grace == time.Hour {
			if open := h.server.connections.Load(); open != 1 {
				t.Errorf("%d connections open after the cut, want 1", open)
			}
			continue
		}
		eventually(t, "the connection is closed", func() bool { return h.server.connections.Load() == 0 })
		if err := h.oneCall(t.Context(), "Encode"); err != nil {
			t.Errorf("another client: %v", err)
		}
	}
}

// TestCutRecordIsCollected has a client go that was cut while gRPC had a record queued for it: the record is garbage then, although gRPC
// never gives it back.
func TestCutRecordIsCollected(t *testing.T) {
	t.Parallel() // it only waits
	request, err := proto.Marshal(&thriftpackv1.EncodeStreamRequest{Request: encodeRequestOf(binaryOf(400_000), nil), Count: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	h := start(t, func(s *setup) { s.cfg.StallTimeout = time.Second })
	conn := dialTCP(t, h.addr)
	client := newDeafClient(t, conn)
	client.open(t, "/thriftpack.v1.SerializerService/EncodeStream")
	client.send(t, request)
	eventually(t, "the stream is cut", func() bool { return len(h.log.calls(t, "EncodeStream")) == 1 })
	if held := h.server.service.budget.Held(); held < 400_000 {
		t.Errorf("the budget holds %d bytes after the cut, want those of the record", held)
	}
	_ = conn.Close()
	h.eventuallyIdle(t)
	eventually(t, "the record is collected", func() bool {
		runtime.GC()
		stats := h.server.service.pool.Stats()
		return stats.Got > 0 && stats.Returned+stats.Lost == stats.Got
	})
}

// TestExpiredRecordIsCharged has calls end while gRPC has a record queued for them that the client does not read: the budget has it until
// the connection is closed, which does not take long.
func TestExpiredRecordIsCharged(t *testing.T) {
	t.Parallel() // it only waits
	request, err := proto.Marshal(&thriftpackv1.EncodeStreamRequest{Request: encodeRequestOf(binaryOf(400_000), nil), Count: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	h := start(t)
	h.server.service.unpaidGrace = 2 * time.Second
	client := dialDeaf(t, h.addr)
	client.extra = [][2]string{{"grpc-timeout", "1S"}}
	client.open(t, "/thriftpack.v1.SerializerService/EncodeStream")
	client.send(t, request)
	eventually(t, "the call expires", func() bool { return len(h.log.calls(t, "EncodeStream")) == 1 })
	if held := h.server.service.budget.Held(); held < 400_000 {
		t.Errorf("the budget holds %d bytes after the call, want those of the record", held)
	}
	eventually(t, "the connection is closed", func() bool { return h.server.connections.Load() == 0 })
	h.eventuallyIdle(t)
}

// TestConnectionAge ends a connection that has lived for long: calls go on by a new one, and a stream that does not end in time is cut,
// which its client can tell from a complete one.
func TestConnectionAge(t *testing.T) {
	h := start(t, func(s *setup) {
		s.cfg.MaxConnectionAge, s.cfg.MaxConnectionAgeGrace = 300*time.Millisecond, 300*time.Millisecond
	})
	began := time.Now() // before there is a connection
	s, err := h.client.EncodeStream(t.Context(), endless())
	if err != nil {
		t.Fatal(err)
	}
	_, err = drainStream(s)
	if status.Code(err) != codes.Unavailable {
		t.Errorf("the stream: %v, want UNAVAILABLE", err)
	}
	if took := time.Since(began); took < 400*time.Millisecond {
		t.Errorf("cut after %v, want age and grace, less a tenth", took)
	}
	if trailer := s.Trailer(); len(trailer.Get(thriftpackv1.CRC32CTrailer)) != 0 {
		t.Errorf("a stream that was cut has trailers: %v", trailer)
	}
	if _, err := h.client.Encode(t.Context(), encodeRequestOf(fixture.OneOfEach(), nil), grpc.WaitForReady(true)); err != nil {
		t.Errorf("by a new connection: %v", err)
	}
}

// TestSideListenersAreLimited opens as many connections as the listeners of HTTP and of health take, and one more.
func TestSideListenersAreLimited(t *testing.T) {
	cfg := config.Default()
	cfg.GRPCAddr, cfg.HTTPAddr, cfg.HealthAddr, cfg.DrainDelay = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", 0
	listening := make(chan Addresses, 1)
	s, err := New(cfg, WithListening(func(a Addresses) { listening <- a }))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	addresses := <-listening
	for _, addr := range []net.Addr{addresses.HTTP, addresses.Health} {
		var conns []net.Conn
		for range maxSideConnections + 1 {
			conns = append(conns, dialTCP(t, addr.String()))
		}
		// They are accepted in their order, so the last one is over the limit. Until it is closed nothing is read of it.
		last := conns[maxSideConnections]
		if err := last.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if n, err := last.Read(make([]byte, 1)); n != 0 || err == nil || errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
			t.Errorf("%s: one connection too many: read %d bytes, %v; want its end", addr, n, err)
		}
		_ = conns[0].Close()
		eventually(t, "there is room again", func() bool {
			conn := dialTCP(t, addr.String())
			defer func() { _ = conn.Close() }()
			_ = conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			_, err := conn.Read(make([]byte, 1))
			return err == nil || isTimeout(err) // open: health says something, HTTP waits
		})
		for _, conn := range conns {
			_ = conn.Close()
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
}

// isTimeout reports whether a read ended by its deadline.
func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout() && !errors.Is(err, io.EOF)
}

// dialTCP opens a connection without any client, closed at the end of the test.
func dialTCP(t *testing.T, addr string) net.Conn {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// dialDeaf opens a connection for a deafClient, and bounds how long the test reads of it.
func dialDeaf(t *testing.T, addr string) *deafClient {
	t.Helper()
	conn := dialTCP(t, addr)
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return newDeafClient(t, conn)
}
