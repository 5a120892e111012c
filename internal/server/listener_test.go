package server

import (
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/thriftpack/thriftpack/internal/stream"
)

// TestConnectionsPerAddress opens as many connections from one address as it may have, and more. Loopback has many addresses.
func TestConnectionsPerAddress(t *testing.T) {
	h := start(t, func(s *setup) { s.cfg.MaxConnectionsPerAddress = 3 })
	dialFrom := func(address string) net.Conn {
		t.Helper()
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
		conn, err := dialer.DialContext(t.Context(), "tcp", h.addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	refused := func() float64 { return h.metric(t, "thriftpack_connections_refused_total") }
	var open []net.Conn
	for range 3 {
		open = append(open, dialFrom("127.0.0.2"))
	}
	eventually(t, "three are open", func() bool { return h.server.connections.Load() == 3 })
	dialFrom("127.0.0.2")
	eventually(t, "the fourth is refused", func() bool { return refused() == 1 })
	dialFrom("127.0.0.3")
	eventually(t, "one of another address is not", func() bool { return h.server.connections.Load() == 4 })
	_ = open[0].Close()
	eventually(t, "one has ended", func() bool { return h.server.connections.Load() == 3 })
	dialFrom("127.0.0.2")
	eventually(t, "there is room again", func() bool { return h.server.connections.Load() == 4 })
	if got := refused(); got != 1 {
		t.Errorf("%v refused, want 1", got)
	}
	for _, conn := range open {
		_ = conn.Close()
	}
}

// TestAddressesAreForgotten has a counter that keeps nothing of addresses that have no connections.
func TestAddressesAreForgotten(t *testing.T) {
	p := perAddress{limit: 2, open: make(map[string]int)}
	var ended []func()
	for _, address := range []string{"10.0.0.1:1", "10.0.0.1:2", "[2001:db8::1]:1", "[2001:db8::2]:1"} {
		addr, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		done, ok := p.add(addr)
		if !ok {
			t.Fatalf("%s is refused", address)
		}
		ended = append(ended, done)
	}
	if len(p.open) != 2 {
		t.Errorf("counted by %v, want two networks", p.open)
	}
	for _, done := range ended {
		done()
	}
	if len(p.open) != 0 {
		t.Errorf("%v is kept", p.open)
	}
}

// TestAbandoned closes a connection that owes what it was sent: it is told how much, once.
func TestAbandoned(t *testing.T) {
	pool := stream.NewPool()
	var abandoned []int64
	var lc net.ListenConfig
	plain, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plain.Close() })
	l := &limitListener{
		Listener: plain, limit: 1, open: new(atomic.Int64), from: new(perAddress),
		account:   func() *stream.Account { return stream.NewAccount(pool, 1<<30, time.Second) },
		abandoned: func(bytes int64) { abandoned = append(abandoned, bytes) },
	}
	dialTCP(t, l.Addr().String())
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	addr, ok := conn.RemoteAddr().(*trackedAddr)
	if !ok {
		t.Fatalf("connection of %T", conn.RemoteAddr())
	}
	for range 2 {
		chunk := pool.Get(1 << 20)
		t.Cleanup(chunk.Release)
		if err := chunk.ChargeTo(t.Context(), addr.conn.account); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		_ = conn.Close()
	}
	if want := []int64{2 << 20}; !slices.Equal(abandoned, want) {
		t.Errorf("abandoned %v, want %v", abandoned, want)
	}
}
