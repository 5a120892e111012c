package stream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// The harness is a grpc-go server over TCP that does what package server does with package stream, and nothing else.

type harness struct {
	t            *testing.T
	pool         *Pool
	budget       *Budget
	stallTimeout time.Duration
	// grace, when not 0, closes connections that still owe that long after a cut.
	grace time.Duration
	// graceAlways does so after every stream.
	graceAlways bool
	// closeOnStall ends a stalled stream by closing its connection, as where EndRPC cannot.
	closeOnStall bool

	address string
	server  *grpc.Server
	// ended receives what each handler of a stream returned.
	ended chan error

	mu       sync.Mutex
	accounts []*Account
	open     atomic.Int64 // connections
}

// serve starts a server that the test stops.
func serve(t *testing.T, configure func(*harness)) *harness {
	t.Helper()
	h := &harness{
		t:            t,
		pool:         NewCheckedPool(),
		budget:       NewBudget(1<<30, 0, time.Minute),
		stallTimeout: DefaultTestTimeout,
		ended:        make(chan error, 10_000),
	}
	if configure != nil {
		configure(h)
	}
	lis := listen(t)
	h.address = lis.Addr().String()
	h.server = grpc.NewServer(grpc.ForceServerCodecV2(rawCodec{}), grpc.StatsHandler(h), grpc.WaitForHandlers(true))
	h.server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "test.Bytes",
		HandlerType: (*any)(nil),
		Methods:     []grpc.MethodDesc{{MethodName: "Once", Handler: h.once}},
		Streams: []grpc.StreamDesc{
			{StreamName: "Send", Handler: h.counted(h.send), ServerStreams: true},
			{StreamName: "Receive", Handler: h.counted(h.receive), ServerStreams: true, ClientStreams: true},
		},
	}, nil)
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := h.server.Serve(trackingListener{lis}); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	t.Cleanup(func() {
		h.server.Stop()
		serving.Wait()
	})
	return h
}

// listen opens a TCP listener on any port.
func listen(tb testing.TB) net.Listener {
	tb.Helper()
	lis, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	return lis
}

type accountKey struct{}

// TagConn opens the account of a connection.
func (h *harness) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	account := newAccount(h.pool)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.accounts = append(h.accounts, account)
	return context.WithValue(ctx, accountKey{}, account)
}

// HandleConn closes the account when the connection ends.
func (h *harness) HandleConn(ctx context.Context, event stats.ConnStats) {
	switch event.(type) {
	case *stats.ConnBegin:
		h.open.Add(1)
	case *stats.ConnEnd:
		accountOf(ctx).Close()
		h.open.Add(-1)
	}
}

// TagRPC does nothing.
func (h *harness) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC does nothing.
func (h *harness) HandleRPC(context.Context, stats.RPCStats) {}

func accountOf(ctx context.Context) *Account {
	account, ok := ctx.Value(accountKey{}).(*Account)
	if !ok {
		panic("no account: the stats handler did not see the connection")
	}
	return account
}

// owed is what all connections owe.
func (h *harness) owed() (total int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, account := range h.accounts {
		total += account.Owed()
	}
	return total
}

// counted tells the test what a handler returned, and makes a status of it.
func (h *harness) counted(handler func(context.Context, grpc.ServerStream) error) grpc.StreamHandler {
	return func(_ any, ss grpc.ServerStream) error {
		err := handler(ss.Context(), ss)
		h.ended <- err
		if err == nil {
			return nil
		}
		return statusOf(err).Err()
	}
}

func statusOf(err error) *status.Status {
	var f *fault.Error
	if errors.As(err, &f) {
		return status.New(codes.ResourceExhausted, string(f.Reason)+": "+f.Detail)
	}
	return status.FromContextError(err)
}

func closeConnection(ctx context.Context) {
	if from, ok := peer.FromContext(ctx); ok {
		if addr, ok := from.Addr.(*trackedAddr); ok {
			addr.conn.Close()
		}
	}
}

// trackingListener accepts connections that can be found by the address of their peer.
type trackingListener struct{ net.Listener }

func (l trackingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return trackedConn{conn}, nil
}

type trackedConn struct{ net.Conn }

func (c trackedConn) RemoteAddr() net.Addr {
	return &trackedAddr{Addr: c.Conn.RemoteAddr(), conn: c.Conn}
}

type trackedAddr struct {
	net.Addr
	conn net.Conn
}

// watch makes the watch of a stream, with trailers that tell how far it came.
func (h *harness) watch(ctx context.Context, setTrailer func()) *Watch {
	return NewWatch(h.stallTimeout, func(err *fault.Error) {
		if setTrailer != nil {
			setTrailer()
		}
		if h.closeOnStall || !EndRPC(ctx, statusOf(err)) {
			closeConnection(ctx)
		}
	})
}

// send streams the bytes of an order.
func (h *harness) send(ctx context.Context, ss grpc.ServerStream) (err error) {
	var request []byte
	if err := ss.RecvMsg(&request); err != nil {
		return err
	}
	order := parseOrder(request)
	release, err := h.budget.Admit(ctx, Cost(int(order.chunkSize)))
	if err != nil {
		return err
	}
	defer release()
	var sender *Sender
	setTrailer := func() {
		ss.SetTrailer(metadata.Pairs(
			"bytes", strconv.FormatInt(sender.Bytes(), 10), "crc32c", fmt.Sprintf("%08x", sender.CRC32C())))
	}
	watch := h.watch(ctx, setTrailer)
	defer watch.Stop()
	sender, err = NewSender(ctx, SenderConfig{
		Pool: h.pool, Account: accountOf(ctx), Watch: watch, ChunkSize: int(order.chunkSize), Tag: 0x0a,
		Send: func(message *Message) error { return ss.SendMsg(message) },
	})
	if err != nil {
		return err
	}
	defer func() {
		sender.Close()
		setTrailer()
		if h.grace > 0 && (h.graceAlways || errors.Is(err, fault.New(fault.Stalled, ""))) {
			sender.CloseUnlessPaid(h.grace, func() { closeConnection(ctx) }, func() {})
		}
	}()
	for done := uint64(0); ; {
		room, err := sender.Next(0)
		if err != nil {
			return err
		}
		n := int(min(uint64(len(room)), order.total-done))
		contentOf(room[:n], order.id, done)
		if err := sender.Flush(n); err != nil {
			return err
		}
		if done += uint64(n); done == order.total {
			return nil
		}
	}
}

// receive reads until the client has sent everything.
func (h *harness) receive(ctx context.Context, ss grpc.ServerStream) error {
	watch := h.watch(ctx, nil)
	defer watch.Stop()
	for {
		var message []byte
		watch.Begin(Receiving)
		err := ss.RecvMsg(&message)
		if stalled := watch.End(); stalled != nil {
			return stalled
		}
		if err != nil {
			return ctx.Err() // nil at the end of the messages
		}
	}
}

// once answers with the bytes of an order in one message.
func (h *harness) once(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) { //nolint:revive // gRPC's order of arguments
	watch := h.watch(ctx, nil)
	defer watch.Stop()
	var request []byte
	watch.Begin(Receiving)
	err := decode(&request)
	if stalled := watch.End(); stalled != nil {
		h.ended <- stalled
		return nil, statusOf(stalled).Err()
	}
	if err != nil {
		h.ended <- err
		return nil, err
	}
	order := parseOrder(request)
	chunk := h.pool.Get(int(order.total))
	defer chunk.Release()
	contentOf(chunk.Room(int(order.total)), order.id, 0)
	if err := chunk.ChargeTo(ctx, accountOf(ctx)); err != nil {
		return nil, err
	}
	return NewMessage(chunk, 0, int(order.total)), nil
}

// dial opens a connection of its own.
func (h *harness) dial(options ...grpc.DialOption) *grpc.ClientConn {
	h.t.Helper()
	return dial(h.t, h.address, options...)
}

func dial(tb testing.TB, address string, options ...grpc.DialOption) *grpc.ClientConn {
	tb.Helper()
	options = append([]grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{}), grpc.MaxCallRecvMsgSize(64<<20)),
	}, options...)
	conn, err := grpc.NewClient("passthrough:///"+address, options...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close() })
	return conn
}

// start starts an RPC that sends the bytes of an order.
func (h *harness) start(ctx context.Context, conn *grpc.ClientConn, o order) grpc.ClientStream {
	h.t.Helper()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, sendMethod)
	if err != nil {
		h.t.Fatal(err)
	}
	if err := stream.SendMsg(o.bytes()); err != nil {
		h.t.Fatal(err)
	}
	if err := stream.CloseSend(); err != nil {
		h.t.Fatal(err)
	}
	return stream
}

// waitEnded waits for a number of handlers and returns their errors.
func (h *harness) waitEnded(n int) []error {
	h.t.Helper()
	errs := make([]error, 0, n)
	late := time.After(time.Minute)
	for range n {
		select {
		case err := <-h.ended:
			errs = append(errs, err)
		case <-late:
			h.t.Fatalf("%d of %d handlers have ended after a minute", len(errs), n)
		}
	}
	return errs
}

// checkSettled checks, once all connections have ended, that every chunk came back or was dropped by gRPC and
// collected, and that the budget is whole.
func (h *harness) checkSettled() {
	h.t.Helper()
	eventually(h.t, "all connections have ended", func() bool { return h.open.Load() == 0 })
	eventually(h.t, "every chunk that was not returned is collected", func() bool {
		runtime.GC()
		stats := h.pool.Stats()
		return stats.Got == stats.Returned+stats.Lost
	})
	if got := h.pool.Stats().Faults; got != 0 {
		h.t.Errorf("Faults = %d, want 0", got)
	}
	if got := h.owed(); got != 0 {
		h.t.Errorf("connections that have ended owe %d bytes", got)
	}
	if got := h.budget.Held(); got != 0 {
		h.t.Errorf("Held() = %d after all streams, want 0", got)
	}
	h.t.Logf("chunks: %+v", h.pool.Stats())
}

// eventually waits until done is true. It looks often and gives up late.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	late := time.After(time.Minute)
	for !done() {
		select {
		case <-ticker.C:
		case <-late:
			t.Fatalf("not after a minute: %s", what)
		}
	}
}

// newAccount returns an account that is never full.
func newAccount(pool *Pool) *Account { return NewAccount(pool, 1<<50, time.Minute) }

// charge charges a chunk to an account that is not full.
func charge(t testing.TB, chunk Chunk, account *Account) {
	t.Helper()
	if err := chunk.ChargeTo(t.Context(), account); err != nil {
		t.Fatalf("ChargeTo: %v", err)
	}
}
