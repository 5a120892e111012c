package server

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/thriftpack/thriftpack/internal/guard"
)

// closed reports whether the server closes a connection within a time.
func closed(t *testing.T, conn net.Conn, within time.Duration) bool {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		t.Fatal(err)
	}
	_, err := io.Copy(io.Discard, conn)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// TestHandshakesStall opens connections that never become ones: they last hardly longer than a peer that does nothing may, and until
// then they count against their address.
func TestHandshakesStall(t *testing.T) {
	ours := newAuthority(t, "ours")
	tls := newCertificateFiles(t, ours.issue(t), ours).serve(false)
	plain := func(*setup) {}
	for name, serve := range map[string]func(*setup){"TLS": tls, "plaintext": plain} {
		t.Run(name+": timeout", func(t *testing.T) {
			h := start(t, serve, func(s *setup) { s.cfg.StallTimeout = 100 * time.Millisecond })
			if conn := dialTCP(t, h.addr); !closed(t, conn, longestHandshake/2) {
				t.Errorf("a silent connection outlasts %v (--stall-timeout)", h.server.cfg.StallTimeout)
			}
		})
		t.Run(name+": by address", func(t *testing.T) {
			h := start(t, serve, func(s *setup) { s.cfg.MaxConnectionsPerAddress = 2 })
			conns := []net.Conn{dialTCP(t, h.addr), dialTCP(t, h.addr)}
			from := guard.Network("127.0.0.1")
			eventually(t, "two are counted", func() bool {
				h.server.connectionsFrom.mu.Lock()
				defer h.server.connectionsFrom.mu.Unlock()
				return h.server.connectionsFrom.open[from] == len(conns)
			})
			if !closed(t, dialTCP(t, h.addr), longestHandshake/2) {
				t.Error("a third one is kept")
			}
		})
	}
}
