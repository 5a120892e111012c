package server

import (
	"net"
	"testing"
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
