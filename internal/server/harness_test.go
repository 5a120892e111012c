package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/leaks"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// patience bounds every wait of a test; what it waits for usually takes milliseconds.
const patience = 30 * time.Second

func TestMain(m *testing.M) { leaks.Main(m) }

// harness is a server on a TCP port of its own, with a stock client.
type harness struct {
	server *Server
	addr   string
	conn   *grpc.ClientConn
	client thriftpackv1.SerializerServiceClient
	log    *logBuffer
}

// setup changes what start starts.
type setup struct {
	cfg     config.Config
	options []Option
	dial    []grpc.DialOption
	hook    func(ctx context.Context, method string) error
	level   slog.Level
	pool    *stream.Pool
}

// start starts a server; it is closed at the end of the test.
func start(t testing.TB, changes ...func(*setup)) *harness {
	t.Helper()
	s := &setup{cfg: config.Default(), level: slog.LevelDebug}
	s.cfg.DrainDelay = 0
	for _, change := range changes {
		change(s)
	}
	h := &harness{log: &logBuffer{}}
	logger := slog.New(slog.NewJSONHandler(h.log, &slog.HandlerOptions{Level: s.level}))
	server := newServer(t, s.cfg, append([]Option{WithLogger(logger)}, s.options...)...)
	server.service.hook = s.hook
	if s.pool != nil {
		server.service.pool = s.pool
	}
	h.server = server
	var lc net.ListenConfig
	lis, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	h.addr = lis.Addr().String()
	served := make(chan error, 1)
	go func() { served <- server.Serve(lis) }()
	h.conn = dial(t, h.addr, s.dial...)
	h.client = thriftpackv1.NewSerializerServiceClient(h.conn)
	t.Cleanup(func() {
		_ = h.conn.Close()
		server.Close()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return h
}

// alsoOn serves at a second address, until the server ends.
func (h *harness) alsoOn(t testing.TB, address string) {
	t.Helper()
	lis, err := listen(t.Context(), address, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- h.server.Serve(lis) }()
	t.Cleanup(func() {
		h.server.Close()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

// newServer returns a server, closed at the end of the test.
func newServer(t testing.TB, cfg config.Config, opts ...Option) *Server {
	t.Helper()
	s, err := New(cfg, opts...)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// dial returns a stock client's connection, closed at the end of the test.
func dial(t testing.TB, addr string, opts ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+addr, append([]grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
	}, opts...)...)
	if err != nil {
		t.Fatalf("NewClient: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// logBuffer collects the lines of a log.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// calls returns the lines of finished calls of a method.
func (b *logBuffer) calls(t *testing.T, method string) []map[string]any {
	t.Helper()
	var found []map[string]any
	for line := range strings.Lines(b.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("log line %q: %v", line, err)
		}
		if entry["msg"] == "finished call" && strings.HasSuffix(entry["method"].(string), "/"+method) {
			found = append(found, entry)
		}
	}
	return found
}

// eventually waits until ok reports true.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience, what)
		}
		wait(t, time.Millisecond)
	}
}

// settled waits until the server lends no more chunks, which is when nobody reads what it has lent, and returns how many it has. That it
// lends none for half a second tells so: a stream that moves lends the next one in microseconds.
func (h *harness) settled(t testing.TB) int64 {
	t.Helper()
	lent, since := int64(-1), time.Now()
	eventually(t, "the server lends no more", func() bool {
		if now := h.server.service.pool.Stats().Got; now != lent {
			lent, since = now, time.Now()
		}
		return time.Since(since) > 500*time.Millisecond
	})
	return lent
}

// wait lets time pass, or the test end.
func wait(t testing.TB, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}

// reasonOf returns the reason in the ErrorInfo of an error, or "".
func reasonOf(err error) string {
	if info := detailOf[*errdetails.ErrorInfo](err); info != nil {
		return info.GetReason()
	}
	return ""
}

// detailOf returns the first detail of a type.
func detailOf[T any](err error) (found T) {
	for _, detail := range status.Convert(err).Details() {
		if d, ok := detail.(T); ok {
			return d
		}
	}
	return found
}

// wantError fails unless err has the code and the reason, and its text contains the words.
func wantError(t testing.TB, err error, code codes.Code, reason string, words ...string) {
	t.Helper()
	if status.Code(err) != code || reasonOf(err) != reason {
		t.Fatalf("error: got %v %q (%v), want %v %q", status.Code(err), reasonOf(err), err, code, reason)
	}
	for _, word := range words {
		if !strings.Contains(status.Convert(err).Message(), word) {
			t.Errorf("error %q: want %q in it", status.Convert(err).Message(), word)
		}
	}
}

// receiver is a stream of responses.
type receiver[T any] interface{ Recv() (T, error) }

// drainStream receives everything, and returns the error unless it is io.EOF.
func drainStream[T any](s receiver[T]) (all []T, err error) {
	for {
		m, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, m)
	}
}

// infoOf returns the ErrorInfo of an error.
func infoOf(err error) *errdetails.ErrorInfo { return detailOf[*errdetails.ErrorInfo](err) }

// statusProto returns an error's status as a message.
func statusProto(err error) *spb.Status { return status.Convert(err).Proto() }

// lend returns request bytes as gRPC lends them.
func lend(data []byte) mem.Buffer { return mem.SliceBuffer(data) }
