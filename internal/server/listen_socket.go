package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// listenSocket opens a socket file of that mode. A socket that a dead process left behind is replaced; anything else at the path is
// left alone, and refused.
func listenSocket(ctx context.Context, path string, mode fs.FileMode) (net.Listener, error) {
	// Two processes that find the same dead socket would each remove what the other has just made.
	unlock, err := lockFolder(ctx, filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := removeDeadSocket(ctx, path); err != nil {
		return nil, err
	}
	// The file is made for nobody, and only then opened up.
	lc := net.ListenConfig{Control: closedSocket}
	lis, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, mode); err != nil {
		_ = lis.Close() // which removes the file
		return nil, err
	}
	return lis, nil
}

// removeDeadSocket removes the socket at path if nobody listens to it. A link is not followed: what it leads to is not ours.
func removeDeadSocket(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s is there and not a socket", path)
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", path)
	if err == nil {
		_ = conn.Close()
	}
	// A full queue, or no right to connect, are no signs of death.
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("socket is in use: %s", path)
	}
	return os.Remove(path)
}
