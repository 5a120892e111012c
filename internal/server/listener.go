package server

import (
	"context"
	"net"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc/peer"

	"github.com/thriftpack/thriftpack/internal/guard"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// limitListener tracks the connections of a listener: how many are open, which one a call came by, and what each owes. A
// connection over the limit is closed at once, before anything is read of it, so that its client backs off; to let it
// wait would only fill the kernel's queue. gRPC's own way to learn of connections, a stats handler, costs every call more
// than all of this.
type limitListener struct {
	net.Listener
	limit   int64
	account func() *stream.Account // opens one
	open    *atomic.Int64
	from    *perAddress
	refused func()
	// abandoned is told how many bytes a connection still owed when it ended: gRPC drops most of what it had queued for it.
	abandoned func(bytes int64)
}

// perAddress counts connections by the address that they come from, up to a limit; 0 is none.
type perAddress struct {
	limit int

	mu   sync.Mutex
	open map[string]int
}

// add counts a connection, unless its address has as many as it may. done is called when it ends.
func (p *perAddress) add(addr net.Addr) (done func(), ok bool) {
	if p.limit == 0 {
		return func() {}, true
	}
	from := guard.Network(guard.HostOf(addr))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open[from] >= p.limit {
		return nil, false
	}
	p.open[from]++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.open[from]--; p.open[from] == 0 {
			delete(p.open, from)
		}
	}, true
}

// Accept returns the next connection within the limit.
func (l *limitListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= l.limit {
			if done, ok := l.from.add(conn.RemoteAddr()); ok {
				return trackConn(conn, l, done), nil
			}
		}
		l.open.Add(-1)
		l.refused()
		_ = conn.Close()
	}
}

// maxSideConnections is how many connections the listeners of HTTP and of health alone have at a time: scrapers and probes are few.
const maxSideConnections = 128

// sideListener closes connections over a limit at once, as limitListener does, and does nothing else.
type sideListener struct {
	net.Listener
	open atomic.Int64
}

// Accept returns the next connection within the limit.
func (l *sideListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= maxSideConnections {
			return &sideConn{Conn: conn, ended: sync.OnceFunc(func() { l.open.Add(-1) })}, nil
		}
		l.open.Add(-1)
		_ = conn.Close()
	}
}

// sideConn is a connection of a sideListener.
type sideConn struct {
	net.Conn
	ended func()
}

// Close ends the connection.
func (c *sideConn) Close() error {
	err := c.Conn.Close()
	c.ended()
	return err
}

// trackedConn is a connection with its account.
type trackedConn struct {
	net.Conn
	account *stream.Account
	addr    *trackedAddr
	ended   func()
	caller  atomic.Pointer[guard.Caller] // who made it, once somebody has asked
}

// trackConn wraps a connection, in a form that reads without pinning a buffer where the system can.
func trackConn(conn net.Conn, l *limitListener, done func()) net.Conn {
	tracked := &trackedConn{Conn: conn, account: l.account()}
	tracked.addr = &trackedAddr{Addr: conn.RemoteAddr(), conn: tracked}
	tracked.ended = sync.OnceFunc(func() {
		l.open.Add(-1)
		done()
		l.abandoned(tracked.account.Close())
	})
	return withReadiness(tracked)
}

// accountOrNil returns the account; c may be nil.
func (c *trackedConn) accountOrNil() *stream.Account {
	if c == nil {
		return nil
	}
	return c.account
}

// Close ends the connection and writes off what it owes.
func (c *trackedConn) Close() error {
	err := c.Conn.Close()
	c.ended()
	return err
}

// abort closes the connection from outside of gRPC, which then notices.
func (c *trackedConn) abort() { _ = c.Conn.Close() }

// LocalAddr is the connection's own address. gRPC's policies want one with a port, which a socket file does not have.
func (c *trackedConn) LocalAddr() net.Addr {
	addr := c.Conn.LocalAddr()
	if _, _, err := net.SplitHostPort(addr.String()); err != nil {
		return portlessAddr{addr}
	}
	return addr
}

// portlessAddr is an address without a port in the form of one with a port.
type portlessAddr struct{ net.Addr }

// String is the address with port 0.
func (a portlessAddr) String() string { return net.JoinHostPort(a.Addr.String(), "0") }

// RemoteAddr is the peer's address. It leads from a call's peer to the connection.
func (c *trackedConn) RemoteAddr() net.Addr { return c.addr }

// trackedAddr is the address of the peer of a tracked connection.
type trackedAddr struct {
	net.Addr
	conn *trackedConn
}

// connectionOf returns the connection that a call came by, or nil where its listener does not track them.
func connectionOf(ctx context.Context) *trackedConn {
	if p, ok := peer.FromContext(ctx); ok {
		if addr, ok := p.Addr.(*trackedAddr); ok {
			return addr.conn
		}
	}
	return nil
}
