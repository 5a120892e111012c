package server

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// finished waits until n calls of a method are finished, and returns their lines.
func (h *harness) finished(t *testing.T, method string, n int) []map[string]any {
	t.Helper()
	eventually(t, method+" is finished", func() bool { return len(h.log.calls(t, method)) >= n })
	h.eventuallyIdle(t)
	return h.log.calls(t, method)
}

// TestPartsSlowReaderSlowsWriter has clients that do not read: what they can send is bounded by windows, and what the server lends by
// what gRPC queues for one stream and two chunks.
func TestPartsSlowReaderSlowsWriter(t *testing.T) {
	for _, method := range partsMethods {
		t.Run(method, func(t *testing.T) {
			h := start(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := openParts(ctx, t, h.client, method)
			lent := h.settled(t)
			// The client's window of 64 KiB, the server's quota of 64 KiB, one that was read, and two; twice that, because the
			// client may widen its window by an estimate of its own.
			if most := int64(2 * ((64+64)/32 + 1 + 2 + 1)); lent > most {
				t.Errorf("%d chunks lent, want %d at most", lent, most)
			}
			if held, most := h.server.service.budget.Held(), stream.Cost(stream.DefaultChunkSize)+4*(32<<10)+64<<10; held > most {
				t.Errorf("%d bytes of budget held, want %d at most", held, most)
			}
			select {
			case err := <-s.ended:
				t.Errorf("the client could send everything: %v", err)
			default:
			}
			// It goes on when the client reads.
			for range 20 {
				if err := s.recv(); err != nil {
					t.Fatal(err)
				}
			}
			cancel()
			h.eventuallyIdle(t)
			<-s.ended
		})
	}
}

func TestPartsStalledReader(t *testing.T) {
	for _, method := range partsMethods {
		t.Run(method, func(t *testing.T) {
			h := start(t, func(s *setup) { s.cfg.StallTimeout = time.Second })
			s := openParts(t.Context(), t, h.client, method)
			if line := h.finished(t, method, 1)[0]; line["reason"] != "STALLED" {
				t.Errorf("log: %v", line)
			}
			wantError(t, s.rest(), codes.DeadlineExceeded, "STALLED", "a client must read while it writes")
			if len(s.Trailer().Get(thriftpackv1.BytesTrailer)) != 1 || len(s.Trailer().Get(thriftpackv1.CRC32CTrailer)) != 1 {
				t.Errorf("trailers: %v", s.Trailer())
			}
			<-s.ended
		})
	}
}

// TestPartsStalledSender stops sending in the middle of a value.
func TestPartsStalledSender(t *testing.T) {
	h := start(t, func(s *setup) { s.cfg.StallTimeout = 100 * time.Millisecond })
	encoding, err := h.client.EncodeParts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := encoding.Send(partsRequest(openStruct()...)); err != nil {
		t.Fatal(err)
	}
	_, err = drainStream(encoding)
	wantError(t, err, codes.DeadlineExceeded, "STALLED", "no whole message from the peer")
	received{trailer: encoding.Trailer()}.wantTrailers(t)

	decoding, err := h.client.DecodeParts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := decoding.Send(&thriftpackv1.DecodePartsRequest{Data: []byte{0x15}}); err != nil {
		t.Fatal(err)
	}
	_, err = drainStream(decoding)
	wantError(t, err, codes.DeadlineExceeded, "STALLED", "no whole message from the peer")
	received{trailer: decoding.Trailer()}.wantTrailers(t)
	h.finished(t, "EncodeParts", 1)
	h.finished(t, "DecodeParts", 1)
}

func TestPartsAbandoned(t *testing.T) {
	for _, method := range partsMethods {
		t.Run(method, func(t *testing.T) {
			h := start(t, func(s *setup) { s.pool = stream.NewCheckedPool() })
			ctx, cancel := context.WithCancel(t.Context())
			canceled := openParts(ctx, t, h.client, method)
			cancel()
			if err := canceled.rest(); status.Code(err) != codes.Canceled {
				t.Errorf("canceled: %v", err)
			}
			if line := h.finished(t, method, 1)[0]; line["code"] != codes.Canceled.String() {
				t.Errorf("canceled: log %v", line)
			}
			ctx, cancel = context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			expired := openParts(ctx, t, h.client, method)
			if err := expired.rest(); status.Code(err) != codes.DeadlineExceeded {
				t.Errorf("expired: %v", err)
			}
			h.finished(t, method, 2)
			conn := dial(t, h.addr)
			gone := openParts(t.Context(), t, thriftpackv1.NewSerializerServiceClient(conn), method)
			_ = conn.Close()
			h.finished(t, method, 3)
			for _, s := range []*partsStream{canceled, expired, gone} {
				<-s.ended
			}
			if faults := h.server.service.pool.Stats().Faults; faults != 0 {
				t.Errorf("pool: %d faults", faults)
			}
		})
	}
}

func TestPartsDrain(t *testing.T) {
	h := start(t)
	var busy []*partsStream
	for _, method := range partsMethods {
		busy = append(busy, openParts(t.Context(), t, h.client, method))
	}
	// One that waits in the middle of a value.
	idle, err := h.client.EncodeParts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := idle.Send(partsRequest(openStruct()...)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "three streams hold budget", func() bool {
		return h.server.service.budget.Held() > 2*stream.Cost(stream.DefaultChunkSize)+4*(32<<10)
	})
	drained := make(chan struct{})
	began := time.Now()
	go func() { h.server.Drain(t.Context()); close(drained) }()
	for _, s := range busy {
		wantError(t, s.rest(), codes.Unavailable, "DRAINING")
		if len(s.Trailer().Get(thriftpackv1.BytesTrailer)) != 1 || len(s.Trailer().Get(thriftpackv1.CRC32CTrailer)) != 1 {
			t.Errorf("%s: trailers %v", s.method, s.Trailer())
		}
		<-s.ended
	}
	responses, err := drainStream(idle)
	wantError(t, err, codes.Unavailable, "DRAINING")
	got := received{trailer: idle.Trailer()}
	for _, response := range responses {
		got.data = append(got.data, response.GetData()...)
	}
	got.wantTrailers(t)
	<-drained
	if took := time.Since(began); took > h.server.cfg.DrainTimeout/2 {
		t.Errorf("drained after %v", took)
	}
}

func TestPartsBudget(t *testing.T) {
	h := start(t, func(s *setup) {
		s.cfg.StreamBudget, s.cfg.StreamWait = config.SmallestStreamBudget, 10*time.Millisecond
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// The first one takes all there is, with one large message.
	first, err := h.client.EncodeParts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	begin := beginPart(&thriftpackv1.Begin{Type: thriftpackv1.Type_TYPE_BINARY, Size: 1<<31 - 1})
	if err := first.Send(partsRequest(begin, dataPart(make([]byte, 3<<20)))); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Recv(); err != nil {
		t.Fatal(err)
	}
	for _, method := range partsMethods {
		err := h.oneCall(t.Context(), method)
		wantError(t, err, codes.ResourceExhausted, "BUDGET_EXHAUSTED", "--stream-budget")
		if detailOf[*errdetails.RetryInfo](err) == nil {
			t.Errorf("%s: no RetryInfo", method)
		}
	}
	cancel()
	h.eventuallyIdle(t)
	for _, method := range partsMethods {
		if err := h.oneCall(t.Context(), method); err != nil {
			t.Errorf("%s after the first was canceled: %v", method, err)
		}
	}
	h.eventuallyIdle(t)
}

// TestPartsCutConnections stalls 200 streams on two connections, which are then cut: nothing is left of them.
func TestPartsCutConnections(t *testing.T) {
	each := 100
	if raceEnabled {
		each = 20 // each sends until its window is full
	}
	h := start(t, func(s *setup) { s.pool = stream.NewCheckedPool() })
	var conns []net.Conn
	var mu sync.Mutex
	var streams []*partsStream
	for range 2 {
		conn := dial(t, h.addr, withConn(func(c net.Conn) {
			mu.Lock()
			defer mu.Unlock()
			conns = append(conns, c)
		}))
		client := thriftpackv1.NewSerializerServiceClient(conn)
		for i := range each {
			streams = append(streams, openParts(t.Context(), t, client, partsMethods[i%2]))
		}
	}
	mu.Lock()
	for _, c := range conns {
		_ = c.Close()
	}
	mu.Unlock()
	h.finished(t, "EncodeParts", each)
	h.finished(t, "DecodeParts", each)
	for _, s := range streams {
		if err := s.rest(); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s ended with %v, want an error", s.method, err)
		}
		<-s.ended
	}
	if faults := h.server.service.pool.Stats().Faults; faults != 0 {
		t.Errorf("pool: %d faults", faults)
	}
	if err := h.oneCall(t.Context(), "EncodeParts"); err != nil {
		t.Errorf("another client: %v", err)
	}
}

// TestPartsTrailersTellTheWholeBytes cancels nothing and breaks nothing: the client ends in the middle of a long binary.
func TestPartsTrailersTellTheWholeBytes(t *testing.T) {
	h := start(t)
	begin := beginPart(&thriftpackv1.Begin{Type: thriftpackv1.Type_TYPE_BINARY, Size: 1_000_000})
	got := h.encodePartsOf(t, sequence(partsRequest(begin), partsRequest(dataPart(make([]byte, 300_000)))))
	wantError(t, got.err, codes.InvalidArgument, "TRUNCATED", "700000 of 1000000 missing")
	if len(got.data) != 300_003 {
		t.Errorf("%d bytes came, want 300003", len(got.data))
	}
	got.wantTrailers(t)
	data := append([]byte{0xc0, 0x84, 0x3d}, make([]byte, 300_000)...)
	decoded := h.decodePartsOf(t, cut(data, 1<<20, &thriftpackv1.DecodeOptions{RootType: thriftpackv1.Type_TYPE_BINARY}, 0))
	wantError(t, decoded.err, codes.InvalidArgument, "TRUNCATED")
	decoded.wantTrailers(t)
	window := partsWindow(stream.DefaultChunkSize)
	if read := decoded.trailer.Get(thriftpackv1.BytesReadTrailer); len(read) != 1 || read[0] != strconv.Itoa(3+300_000/window*window) {
		t.Errorf("bytes read: %v, want the head and the whole pieces", read)
	}
}

// TestPartsWaitForBudgetInTurn has more streams at once than the budget holds, whose first messages alone would fill it: those that are
// let in must not wait for what the others have.
func TestPartsWaitForBudgetInTurn(t *testing.T) {
	const size, streams = 700 << 10, 8
	value := append(protowire.AppendVarint([]byte{0x18}, size), make([]byte, size+1)...) // {1: binary}, and a stop
	h := start(t, func(s *setup) { s.cfg.StreamBudget, s.cfg.StreamWait = 4<<20, time.Hour })
	var group sync.WaitGroup
	for range streams {
		group.Go(func() {
			got := h.decodePartsOf(t, func(yield func(*thriftpackv1.DecodePartsRequest) bool) {
				yield(&thriftpackv1.DecodePartsRequest{Data: value})
			})
			if got.err != nil || got.read != int64(len(value)) {
				t.Errorf("DecodeParts: %d bytes read, %v, want %d", got.read, got.err, len(value))
			}
		})
	}
	group.Wait()
	h.eventuallyIdle(t)
}
