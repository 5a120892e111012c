//go:build !unix

package server

import (
	"context"
	"net"
	"syscall"
)

// withReadiness returns the connection as it is: there is no way to wait without a buffer.
func withReadiness(tracked *trackedConn) net.Conn { return tracked }

// closedSocket does nothing: socket files have no permissions here.
func closedSocket(_, _ string, _ syscall.RawConn) error { return nil }

// lockFolder does nothing: there is no lock on folders here.
func lockFolder(context.Context, string) (unlock func(), err error) { return func() {}, nil }
