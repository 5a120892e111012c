//go:build unix

package server

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"google.golang.org/grpc/mem"
)

// readyConn is a tracked connection that takes a buffer only once there is something to read. gRPC does so itself for the
// net package's own types; wrapped, an idle connection would pin its whole read buffer.
type readyConn struct {
	*trackedConn
	raw syscall.RawConn

	// The rest is the state of one read, kept here so that a read does not allocate.
	size int
	pool mem.BufferPool
	buf  *[]byte
	n    int
	err  error
	read func(fd uintptr) bool
}

// withReadiness returns a readyConn for a TCP or unix socket, and the connection as it is otherwise.
func withReadiness(tracked *trackedConn) net.Conn {
	switch tracked.Conn.(type) {
	case *net.TCPConn, *net.UnixConn:
	default:
		return tracked
	}
	socket, ok := tracked.Conn.(syscall.Conn)
	if !ok {
		return tracked
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return tracked
	}
	c := &readyConn{trackedConn: tracked, raw: raw}
	c.read = c.tryRead
	return c
}

// ReadOnReady waits until there is something to read, takes a buffer of size bytes from pool and reads into it once. The
// caller owns the buffer and returns it to pool.
func (c *readyConn) ReadOnReady(size int, pool mem.BufferPool) (buf *[]byte, n int, err error) {
	c.size, c.pool, c.buf, c.n, c.err = size, pool, nil, 0, nil
	err = c.raw.Read(c.read)
	buf, n = c.buf, c.n
	if err == nil {
		err = c.err
	}
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil && buf != nil {
		pool.Put(buf)
		buf, n = nil, 0
	}
	c.pool, c.buf, c.err = nil, nil, nil
	return buf, n, err
}

// tryRead reads once and reports whether there was an answer.
func (c *readyConn) tryRead(fd uintptr) bool {
	c.buf = c.pool.Get(c.size)
	for {
		c.n, c.err = syscall.Read(int(fd), *c.buf)
		if !errors.Is(c.err, syscall.EINTR) {
			break
		}
	}
	if c.err == nil {
		return true
	}
	c.n = 0
	c.pool.Put(c.buf)
	c.buf = nil
	return !errors.Is(c.err, syscall.EAGAIN)
}

// closedSocket has the file of a socket made without any permission: Linux takes those of the socket when it is bound. Elsewhere the
// umask decides until the mode is set.
func closedSocket(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), 0) })
}

// lockFolder keeps other processes that do the same out of a folder until unlock. A file system without locks has none.
func lockFolder(ctx context.Context, path string) (unlock func(), err error) {
	folder, err := os.Open(path) //nolint:gosec // the folder of the socket that the settings name
	if err != nil {
		return nil, err
	}
	for range 200 {
		if err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
			return func() { _ = folder.Close() }, nil
		}
		pause(ctx, 10*time.Millisecond)
	}
	_ = folder.Close()
	return nil, &os.PathError{Op: "lock", Path: path, Err: syscall.EWOULDBLOCK}
}
