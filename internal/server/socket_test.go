package server

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// socketPath returns a path for a socket. It is relative to a folder of the test's own: a path of more than a hundred bytes is none for a
// socket, and that of the folder for temporary files may be as long.
func socketPath(t *testing.T) string {
	t.Helper()
	t.Chdir(t.TempDir())
	return "s"
}

// deadSocket leaves a socket behind that nobody listens to.
func deadSocket(t *testing.T, path string) {
	t.Helper()
	lis, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	lis.SetUnlinkOnClose(false)
	_ = lis.Close()
}

func TestSocketMode(t *testing.T) {
	for _, mode := range []fs.FileMode{0o600, 0o660, 0o666, 0o000} {
		path := socketPath(t)
		lis, err := listen(t.Context(), "unix:"+path, mode)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("mode %04o: got %v, %v", mode, info.Mode(), err)
		}
		_ = lis.Close()
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the socket is there after its end: %v", err)
		}
	}
}

// TestSocketIsMadeClosed looks at the file between bind and chmod, when the mode has not been set.
func TestSocketIsMadeClosed(t *testing.T) {
	path := socketPath(t)
	lc := net.ListenConfig{Control: closedSocket}
	lis, err := lc.Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lis.Close() }()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0 {
		t.Errorf("mode %v, %v; want none", info.Mode(), err)
	}
}

// TestWhatIsAtTheSocketsPath has everything there that may be: only a dead socket is replaced.
func TestWhatIsAtTheSocketsPath(t *testing.T) {
	for _, test := range []struct {
		name    string
		make    func(t *testing.T, path string)
		refused string // a part of the error
	}{
		{"nothing", func(*testing.T, string) {}, ""},
		{"a dead socket", deadSocket, ""},
		{"a live socket", func(t *testing.T, path string) {
			t.Helper()
			lis, err := listen(t.Context(), "unix:"+path, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = lis.Close() })
		}, "socket is in use"},
		{"a live socket whose queue is full", func(t *testing.T, path string) {
			t.Helper()
			fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = syscall.Close(fd) })
			if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}), syscall.Listen(fd, 0)); err != nil {
				t.Fatal(err)
			}
			var dialer net.Dialer
			if conn, err := dialer.DialContext(t.Context(), "unix", path); err == nil {
				t.Cleanup(func() { _ = conn.Close() })
			}
		}, "socket is in use"},
		{"a file", func(t *testing.T, path string) {
			t.Helper()
			writeWhole(t, path, []byte("precious"))
		}, "is there and not a socket"},
		{"a folder", func(t *testing.T, path string) {
			t.Helper()
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "is there and not a socket"},
		{"a link to a dead socket", func(t *testing.T, path string) {
			t.Helper()
			deadSocket(t, path+"0")
			if err := os.Symlink(path+"0", path); err != nil {
				t.Fatal(err)
			}
		}, "is there and not a socket"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := socketPath(t)
			test.make(t, path)
			before, _ := os.Lstat(path)
			lis, err := listen(t.Context(), "unix:"+path, 0o600)
			if test.refused == "" {
				if err != nil {
					t.Fatalf("listen: %v", err)
				}
				_ = lis.Close()
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.refused) {
				t.Fatalf("listen: %v, want %q", err, test.refused)
			}
			if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) {
				t.Errorf("what was there has been touched: %v", err)
			}
		})
	}
}

// TestManyServersForOneDeadSocket starts several at once: one has it, the others are refused, and it is there in the end.
func TestManyServersForOneDeadSocket(t *testing.T) {
	for range 20 {
		path := socketPath(t)
		deadSocket(t, path)
		var wg sync.WaitGroup
		var mu sync.Mutex
		var won []net.Listener
		for range 4 {
			wg.Go(func() {
				lis, err := listen(t.Context(), "unix:"+path, 0o600)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					won = append(won, lis)
				}
			})
		}
		wg.Wait()
		if len(won) != 1 {
			t.Errorf("%d servers have the socket, want 1", len(won))
		}
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
		for _, lis := range won {
			_ = lis.Close()
		}
	}
}

// TestLockedFolder has another process that keeps the folder to itself.
func TestLockedFolder(t *testing.T) {
	path := socketPath(t)
	unlock, err := lockFolder(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // it does not wait
	if _, err := listen(ctx, "unix:"+path, 0o600); !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Errorf("listen in a locked folder: %v", err)
	}
}
