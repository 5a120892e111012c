package stream

import (
	"io"
	"net"
	"runtime"
	"sync"
	"weak"
)

// Connections can close the connections that a listener has accepted, which gRPC cannot: a stream that was cut leaves
// bytes queued until its peer reads them or the connection ends. It finds a connection by the very net.Addr that
// gRPC shows as the peer's, in stats.ConnTagInfo.RemoteAddr and in peer.FromContext; addresses of the same text do not
// matter, so that it works for unix sockets too. Connections are not wrapped, because gRPC reads without holding a
// buffer only from the types of package net. It keeps nothing alive. It is safe for concurrent use.
type Connections struct {
	mu     sync.Mutex
	closer map[net.Addr]func() io.Closer
}

// NewConnections returns an empty set.
func NewConnections() *Connections {
	return &Connections{closer: make(map[net.Addr]func() io.Closer)}
}

// Listener returns a listener that accepts what lis accepts and remembers it. TCP and unix sockets can be closed, other
// kinds pass through.
func (c *Connections) Listener(lis net.Listener) net.Listener {
	return &listener{Listener: lis, connections: c}
}

// Close closes the connection of a remote address, and tells whether there was one.
func (c *Connections) Close(remote net.Addr) bool {
	if !isIdentity(remote) {
		return false
	}
	c.mu.Lock()
	closer := c.closer[remote]
	c.mu.Unlock()
	if closer == nil {
		return false
	}
	conn := closer()
	return conn != nil && conn.Close() == nil
}

type listener struct {
	net.Listener
	connections *Connections
}

// Accept waits for the next connection.
func (l *listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	switch conn := conn.(type) {
	case *net.TCPConn:
		remember(l.connections, conn.RemoteAddr(), conn)
	case *net.UnixConn:
		remember(l.connections, conn.RemoteAddr(), conn)
	}
	return conn, nil
}

// remember keeps a weak pointer to a connection until it is collected.
func remember[T any, P interface {
	*T
	io.Closer
}](c *Connections, remote net.Addr, conn P) {
	if !isIdentity(remote) {
		return
	}
	pointer := weak.Make((*T)(conn))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closer[remote] = func() io.Closer {
		if conn := pointer.Value(); conn != nil {
			return P(conn)
		}
		return nil
	}
	runtime.AddCleanup((*T)(conn), c.forget, remote)
}

func (c *Connections) forget(remote net.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.closer, remote)
}

// isIdentity tells whether an address is a pointer, and so the same only for the same connection.
func isIdentity(address net.Addr) bool {
	switch address := address.(type) {
	case *net.TCPAddr:
		return address != nil
	case *net.UnixAddr:
		return address != nil
	default:
		return false
	}
}
