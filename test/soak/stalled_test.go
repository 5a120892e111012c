package soak

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// How many streams stand still, on how many connections.
const (
	stalledStreams     = 1000
	stalledConnections = 20
	streamsOfEach      = stalledStreams / stalledConnections
)

// patience bounds every wait; what is waited for usually takes a second.
const patience = time.Minute

// TestStalledStreams has a thousand streams whose clients do not read, and then a thousand whose clients stop in the middle of their uploads. The
// server's memory stays within what --check-config says, others are served all the while, and when the clients are gone nothing of them is left.
func TestStalledStreams(t *testing.T) {
	s := start(t, "--http-addr=127.0.0.1:0", fmt.Sprintf("--max-connections=%d", stalledConnections+1), fmt.Sprintf("--max-concurrent-streams=%d", streamsOfEach),
		"--max-request-bytes=128KiB", "--max-unary-reply-bytes=128KiB", "--max-slow-nodes=1000", "--stream-budget=512MiB", "--stall-timeout=10m")
	other := &worker{client: thriftpackv1.NewSerializerServiceClient(dial(t, s.addr)), addr: s.addr}
	serve := func(when string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		for range 50 {
			if err := unary(ctx, other); err != nil {
				t.Fatalf("%s, another client: %v", when, err)
			}
		}
		if err := encodeStream(ctx, other); err != nil {
			t.Fatalf("%s, another client: %v", when, err)
		}
	}
	serve("at first")
	const budget, goroutines, connections = "thriftpack_stream_budget_held_bytes", "go_goroutines", "thriftpack_connections_open"
	eventually(t, "the first streams are over", func() bool { return s.metric(t, budget) == 0 })
	idle, before, most := s.memory(t), s.metric(t, goroutines), s.worstCase(t)
	for _, kind := range []struct {
		name string
		open func(t *testing.T, addr string) (gone func())
		held int64 // of the budget, by each stream
	}{
		{"clients that do not read", openUnread, 128 << 10},
		{"clients that stop sending", openUnsent, 128 << 10},
	} {
		gone := kind.open(t, s.addr)
		eventually(t, kind.name+" hold their share", func() bool { return s.metric(t, budget) >= stalledStreams*kind.held })
		// What is on its way arrives.
		last, still := s.memory(t), 0
		eventually(t, "memory stands still", func() bool {
			now := s.memory(t)
			if still++; now > last+1<<20 {
				last, still = now, 0
			}
			return still > 20
		})
		memory, held := s.memory(t), s.metric(t, budget)
		t.Logf("%s: %d MiB, %d MiB idle; the budget gave %d MiB, --check-config says %d MiB at most", kind.name, memory>>20, idle>>20, held>>20, most>>20)
		if memory > most {
			t.Errorf("%s: the server has %d bytes, --check-config says %d", kind.name, memory, most)
		}
		// Beside what the budget gave there are the windows of connections, what gRPC and Go have of each stream, and garbage.
		if likely := idle + held + stalledConnections<<21 + stalledStreams<<15 + 32<<20; memory > likely {
			t.Errorf("%s: the server has %d bytes, want %d at most", kind.name, memory, likely)
		}
		serve(kind.name)
		gone()
		for name, want := range map[string]int64{budget: 0, connections: 1, goroutines: before + 10} {
			eventually(t, name+" is as before", func() bool { return s.metric(t, name) <= want })
		}
		serve("after " + kind.name)
	}
	s.stop(t)
}

// eventually waits until ok reports true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience, what)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-t.Context().Done():
		}
	}
}

// connect opens one of the connections, over which a client lets itself be sent much, and calls use for it.
func connect(t *testing.T, addr string, options []grpc.DialOption, use func(client thriftpackv1.SerializerServiceClient)) (gone func()) {
	t.Helper()
	conn, err := grpc.NewClient(addr, append(options, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithStaticStreamWindowSize(64<<10), grpc.WithStaticConnWindowSize(streamsOfEach*64<<10))...)
	if err != nil {
		t.Fatal(err)
	}
	use(thriftpackv1.NewSerializerServiceClient(conn))
	return func() { _ = conn.Close() }
}

// openUnread opens streams of every kind that sends much, and reads nothing of them.
func openUnread(t *testing.T, addr string) (gone func()) {
	t.Helper()
	request := &thriftpackv1.EncodeStreamRequest{Request: thriftpackv1.EncodeRequestOf(fixture.ListI64(10_000)), Count: 1 << 40}
	var all []func()
	for range stalledConnections {
		all = append(all, connect(t, addr, nil, func(client thriftpackv1.SerializerServiceClient) {
			for range streamsOfEach {
				if _, err := client.EncodeStream(t.Context(), request); err != nil {
					t.Fatal(err)
				}
			}
		}))
	}
	return closeAll(all)
}

// openUnsent opens uploads, and stops sending on each connection in the middle of what its streams send.
func openUnsent(t *testing.T, addr string) (gone func()) {
	t.Helper()
	data := make([]byte, 100<<10)
	var all []func()
	var sending sync.WaitGroup
	for range stalledConnections {
		// Each stream has sent a message and half of the next one when the connection stops: 150 KiB of it, and what gRPC itself says.
		stop := &stopping{left: streamsOfEach * 150 << 10, stopped: make(chan struct{})}
		dialer := grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) {
			var d net.Dialer
			conn, err := d.DialContext(ctx, "tcp", addr)
			return &stoppingConn{conn, stop}, err
		})
		ended := connect(t, addr, []grpc.DialOption{dialer}, func(client thriftpackv1.SerializerServiceClient) {
			for i := range streamsOfEach {
				send, recv := openUpload(t, client, i, data)
				sending.Go(func() { untilError(send) })
				sending.Go(func() { untilError(recv) })
			}
		})
		all = append(all, func() { close(stop.stopped); ended() })
	}
	return func() { closeAll(all)(); sending.Wait() }
}

// untilError repeats what a connection does until it ends.
func untilError(f func() error) {
	var err error
	for err == nil {
		err = f()
	}
}

// openUpload opens a stream of parts of either kind.
func openUpload(t *testing.T, client thriftpackv1.SerializerServiceClient, i int, data []byte) (send, recv func() error) {
	t.Helper()
	if i%2 == 0 {
		stream, err := client.DecodeParts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		first := append([]byte{0x18, 0xff, 0xff, 0xff, 0xff, 0x07}, data...) // {1: a binary of 2^31-1 bytes
		return func() error {
				err := stream.Send(&thriftpackv1.DecodePartsRequest{Data: first})
				first = data
				return err
			}, func() error {
				_, err := stream.Recv()
				return err
			}
	}
	stream, err := client.EncodeParts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	parts := []*thriftpackv1.Part{
		{Part: &thriftpackv1.Part_Begin{Begin: &thriftpackv1.Begin{Type: thriftpackv1.Type_TYPE_BINARY, Size: 1<<31 - 1}}},
		{Part: &thriftpackv1.Part_Data{Data: data}},
	}
	return func() error {
			err := stream.Send(&thriftpackv1.EncodePartsRequest{Parts: parts})
			parts = parts[len(parts)-1:]
			return err
		}, func() error {
			_, err := stream.Recv()
			return err
		}
}

func closeAll(all []func()) func() {
	return func() {
		for _, f := range all {
			f()
		}
	}
}

// stopping is how much a connection may still send.
type stopping struct {
	mu      sync.Mutex
	left    int
	stopped chan struct{} // closed when the test is over with it
}

// stoppingConn is a connection that stops sending, without an error, when it has sent so much.
type stoppingConn struct {
	net.Conn
	stop *stopping
}

// Write sends, or waits until the connection is closed.
func (c *stoppingConn) Write(b []byte) (int, error) {
	c.stop.mu.Lock()
	n := min(len(b), c.stop.left)
	c.stop.left -= n
	c.stop.mu.Unlock()
	sent, err := c.Conn.Write(b[:n])
	if err != nil || n == len(b) {
		return sent, err
	}
	<-c.stop.stopped
	return sent, net.ErrClosed
}
