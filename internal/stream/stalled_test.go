package stream

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// shortStall is long enough for every stream of a test to get blocked, also on a machine that pauses, and short enough to wait for.
const shortStall = time.Second

// Two hundred streams on two connections whose client does not read end however they are cut: the handlers return, the
// budget is whole again, every chunk came back or was
// collected, and (by TestMain) no goroutine is left.
func TestStalledStreams(t *testing.T) {
	t.Parallel() // it waits more than it works
	stalled := fault.New(fault.Stalled, "")
	const connections, streams = 2, 100
	tests := []struct {
		name      string
		configure func(h *harness)
		cut       func(h *harness, conns []*grpc.ClientConn, cancel func()) // nil: the watch does it
		want      error                                                     // nil: any
		// connectionsEnd tells whether the cut ends the connections too. Streams may then end with it before they are cut.
		connectionsEnd bool
	}{
		{
			name:      "by the watch",
			configure: func(h *harness) { h.stallTimeout = shortStall },
			want:      stalled,
		},
		{
			name:           "by the watch, then the connection is closed because it owes",
			configure:      func(h *harness) { h.stallTimeout, h.grace = shortStall, shortStall },
			want:           stalled,
			connectionsEnd: true,
		},
		{
			name:           "by the watch, which can only close the connection",
			configure:      func(h *harness) { h.stallTimeout, h.closeOnStall = shortStall, true },
			want:           stalled,
			connectionsEnd: true,
		},
		{
			name: "by the client, which closes its connections",
			cut: func(_ *harness, conns []*grpc.ClientConn, _ func()) {
				for _, conn := range conns {
					conn.Close()
				}
			},
			connectionsEnd: true,
		},
		{
			name: "by the client, which cancels every stream",
			cut:  func(_ *harness, _ []*grpc.ClientConn, cancel func()) { cancel() },
		},
		{
			name:           "by the server, which stops",
			cut:            func(h *harness, _ []*grpc.ClientConn, _ func()) { h.server.Stop() },
			connectionsEnd: true,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := serve(t, test.configure)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			conns := make([]*grpc.ClientConn, 0, connections)
			for c := range connections {
				// On one connection each stream has spent its own window, on the other they share one that is spent.
				conn := h.dial(grpc.WithStaticStreamWindowSize(64<<10), grpc.WithStaticConnWindowSize([]int32{64 << 20, 64 << 10}[c]))
				conns = append(conns, conn)
				for s := range streams {
					h.start(ctx, conn, order{id: uint32(c*streams + s), total: 1 << 40, chunkSize: 16 << 10})
				}
			}
			if test.cut != nil {
				h.waitBlocked(connections * streams)
				test.cut(h, conns, cancel)
			}
			wanted := 0
			for i, err := range h.waitEnded(connections * streams) {
				switch {
				case err == nil:
					t.Fatalf("handler %d ended well", i)
				case test.want == nil || errors.Is(err, test.want):
					wanted++
				case !test.connectionsEnd:
					t.Errorf("handler %d ended with %v, want %v", i, err, test.want)
				}
			}
			if wanted < connections {
				t.Errorf("%d handlers ended with %v, want at least one on each connection", wanted, test.want)
			}
			if got := h.budget.Held(); got != 0 {
				t.Errorf("Held() = %d when all handlers have ended, want 0", got)
			}
			t.Logf("owed when all handlers have ended: %d bytes", h.owed())
			if !test.connectionsEnd {
				if got := h.open.Load(); got != connections {
					t.Errorf("%d connections are open, want %d", got, connections)
				}
				for _, conn := range conns {
					conn.Close()
				}
			}
			h.checkSettled()
		})
	}
}

// waitBlocked waits until no stream moves any more: all were admitted, and nothing was lent for a while.
func (h *harness) waitBlocked(streams int64) {
	h.t.Helper()
	var seen, same int64
	eventually(h.t, "all streams are blocked", func() bool {
		got := h.pool.Stats().Got
		if got != seen {
			seen, same = got, 0
		}
		same++
		return same > 50 && h.budget.Held() == streams*Cost(16<<10)
	})
}

// A client that cancels streams in full flow makes gRPC drop chunks, again and again on one connection. They are
// forgiven, and the connection is not closed for them.
func TestCancelledStreamsAreForgiven(t *testing.T) {
	t.Parallel() // it waits more than it works
	h := serve(t, func(h *harness) { h.grace, h.graceAlways = 8*time.Second, true })
	conn := h.dial()
	const rounds, streams = 3, 50
	for range rounds {
		h.cancelInFullFlow(conn, streams)
	}
	h.waitEnded(rounds * streams)
	eventually(t, "all debts are settled", func() bool {
		h.mu.Lock()
		account := h.accounts[0]
		h.mu.Unlock()
		account.mu.Lock()
		defer account.mu.Unlock()
		return len(account.timers) == 0
	})
	if got := h.owed(); got != 0 {
		t.Errorf("the connection owes %d bytes", got)
	}
	t.Logf("chunks: %+v", h.pool.Stats())
	checkStream(t, conn, order{id: 99, total: 1 << 20, chunkSize: DefaultChunkSize}, -1)
	h.waitEnded(1)
	if got := len(h.accounts); got != 1 {
		t.Errorf("the client needed %d connections, want 1", got)
	}
	conn.Close()
	h.checkSettled()
}

// cancelInFullFlow reads streams on one connection and then cancels them all at once.
func (h *harness) cancelInFullFlow(conn *grpc.ClientConn, streams int) {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	defer cancel()
	started := make([]grpc.ClientStream, 0, streams)
	for s := range streams {
		started = append(started, h.start(ctx, conn, order{id: uint32(s), total: 1 << 40, chunkSize: 16 << 10}))
	}
	var reading sync.WaitGroup
	var read atomic.Int64
	for _, stream := range started {
		reading.Go(func() {
			for {
				var message discard
				if err := stream.RecvMsg(&message); err != nil {
					return
				}
				if read.Add(1) == int64(20*streams) {
					cancel()
				}
			}
		})
	}
	reading.Wait()
}

// A client that begins to read after the cut gets what was sent, a status that says why it ended, and trailers that
// agree with what it got.
func TestStalledStreamTellsItsClient(t *testing.T) {
	t.Parallel() // it waits more than it works
	h := serve(t, func(h *harness) { h.stallTimeout = shortStall })
	conn := h.dial()
	o := order{id: 7, total: 1 << 40, chunkSize: DefaultChunkSize}
	stream := h.start(t.Context(), conn, o)
	h.waitEnded(1)
	total, crc, err := readContent(stream, o, -1)
	got := status.Convert(err)
	want := "STALLED: peer took no message for 1s (--stall-timeout); a client must read while it writes"
	if got.Code() != codes.ResourceExhausted || got.Message() != want {
		t.Errorf("stream ended with %s %q, want %s %q", got.Code(), got.Message(), codes.ResourceExhausted, want)
	}
	if total == 0 {
		t.Error("the client got nothing, want what was sent before the stall")
	}
	checkTrailer(t, stream, total, crc)

	// The connection goes on as if nothing had been.
	checkStream(t, conn, order{id: 8, total: 1 << 20, chunkSize: DefaultChunkSize}, -1)
	h.waitEnded(1)
	eventually(t, "what was sent has come back", func() bool { return h.owed() == 0 })
}

// A stream that moves slowly but moves is not cut. It takes longer than a stall, for 25 messages with a fifteenth of one between two.
func TestSlowReaderIsNotCut(t *testing.T) {
	t.Parallel() // it waits more than it works
	h := serve(t, func(h *harness) { h.stallTimeout = shortStall })
	o := order{id: 9, total: 400 << 10, chunkSize: 16 << 10}
	stream := h.start(t.Context(), h.dial(grpc.WithStaticStreamWindowSize(64<<10)), o)
	ticker := time.NewTicker(shortStall / 15)
	defer ticker.Stop()
	var total uint64
	for {
		<-ticker.C
		var message []byte
		if err := stream.RecvMsg(&message); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		total += uint64(len(message) - 4)
	}
	if total < o.total-100 {
		t.Errorf("received about %d bytes, want %d", total, o.total)
	}
}

// A client that opens a stream and sends nothing, or stops, is cut off with a status that says so.
func TestStalledUpload(t *testing.T) {
	t.Parallel() // it waits more than it works
	const want = "STALLED: no whole message from the peer for 1s (--stall-timeout)"
	for _, messages := range []int{0, 1, 20} {
		h := serve(t, func(h *harness) { h.stallTimeout = shortStall })
		stream, err := h.dial().NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, receiveMethod)
		if err != nil {
			t.Fatal(err)
		}
		for range messages {
			if err := stream.SendMsg(make([]byte, 1000)); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.waitEnded(1)[0]; !errors.Is(err, fault.New(fault.Stalled, "")) {
			t.Errorf("after %d messages the handler ended with %v, want reason %s", messages, err, fault.Stalled)
		}
		var message []byte
		if got := status.Convert(stream.RecvMsg(&message)); got.Message() != want {
			t.Errorf("after %d messages the client got %s %q, want %q", messages, got.Code(), got.Message(), want)
		}
	}
}

// A client that stops in the middle of one message, of a stream or of a unary call, is cut off too.
func TestStalledInMidMessage(t *testing.T) {
	t.Parallel() // it waits more than it works
	const want = "STALLED: no whole message from the peer for 1s (--stall-timeout)"
	for _, method := range []string{receiveMethod, onceMethod} {
		t.Run(method[strings.LastIndex(method, "/")+1:], func(t *testing.T) {
			h := serve(t, func(h *harness) { h.stallTimeout = shortStall })
			clogged := &cloggedDialer{after: 100_000}
			conn := h.dial(grpc.WithContextDialer(clogged.dial))
			defer clogged.close() // before conn, which waits for its writer
			stream, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
			if err != nil {
				t.Fatal(err)
			}
			if err := stream.SendMsg(make([]byte, 1<<20)); err != nil {
				t.Fatal(err)
			}
			if err := h.waitEnded(1)[0]; !errors.Is(err, fault.New(fault.Stalled, "")) {
				t.Errorf("the handler ended with %v, want reason %s", err, fault.Stalled)
			}
			var message []byte
			if got := status.Convert(stream.RecvMsg(&message)); got.Message() != want {
				t.Errorf("the client got %s %q, want %q", got.Code(), got.Message(), want)
			}
		})
	}
}

// cloggedDialer opens connections whose writes block for good after a number of bytes.
type cloggedDialer struct {
	after int64
	mu    sync.Mutex
	conns []*cloggedConn
}

func (d *cloggedDialer) dial(ctx context.Context, address string) (net.Conn, error) {
	inner, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	conn := &cloggedConn{Conn: inner, closed: make(chan struct{})}
	conn.left.Store(d.after)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.conns = append(d.conns, conn)
	return conn, nil
}

func (d *cloggedDialer) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, conn := range d.conns {
		conn.Close()
	}
}

type cloggedConn struct {
	net.Conn
	left   atomic.Int64
	once   sync.Once
	closed chan struct{}
}

func (c *cloggedConn) Write(data []byte) (int, error) {
	if c.left.Add(-int64(len(data))) < 0 {
		<-c.closed
		return 0, net.ErrClosed
	}
	return c.Conn.Write(data)
}

func (c *cloggedConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
