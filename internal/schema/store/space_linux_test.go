package store

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const (
	// limitedFile names the file for TestHelperIsOutOfSpace.
	limitedFile = "THRIFTPACK_TEST_LIMITED_FILE"
	// smallDisk says that the helper is to mount a small disk there.
	smallDisk = "THRIFTPACK_TEST_SMALL_DISK"
	// diskBytes is its size.
	diskBytes = 1 << 20
)

// TestOutOfSpace lacks space in two ways: files that may not grow, and a disk that is full.
func TestOutOfSpace(t *testing.T) {
	for _, tt := range []struct {
		name        string
		environment []string
		namespace   *syscall.SysProcAttr
	}{
		{name: "limit on files"},
		{name: "full disk", environment: []string{smallDisk + "=1"}, namespace: &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "schemas.db")
			command := helper(t, "TestHelperIsOutOfSpace", append(tt.environment, limitedFile+"="+path)...)
			command.SysProcAttr = tt.namespace
			out, err := command.CombinedOutput()
			switch {
			case errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || bytes.Contains(out, []byte("SKIP")):
				t.Skip("no user namespaces here")
			case err != nil || !bytes.Contains(out, []byte("PASS: TestHelperIsOutOfSpace")):
				t.Errorf("%v:\n%s", err, out)
			}
		})
	}
}

// TestHelperIsOutOfSpace is a process that has little space.
func TestHelperIsOutOfSpace(t *testing.T) {
	path := os.Getenv(limitedFile)
	if path == "" {
		t.Skip("for TestOutOfSpace")
	}
	disk := os.Getenv(smallDisk) != ""
	if disk {
		if err := syscall.Mount("thriftpack-test", filepath.Dir(path), "tmpfs", 0, "size=1m"); err != nil {
			t.Skipf("no mounts here: %v", err)
		}
	}
	var log bytes.Buffer
	f, err := OpenFile(path, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	told := follow(t, f)

	room := takeSpace(t, filepath.Dir(path), disk)
	_, _, err = f.Swap(t.Context(), "a", Record{}, newRecord("1"), sourcesOf("one"))
	wantUnavailable(t, err, "")
	if _, err := os.Stat(path); err == nil {
		t.Error("a file that has no room was made")
	}
	if !strings.Contains(log.String(), filepath.Dir(path)) || strings.Contains(err.Error(), filepath.Dir(path)) {
		t.Errorf("the path is to be in the log alone: %v\n%s", err, log.String())
	}

	room(diskBytes)
	one := mustSwap(t, f, "a", Record{}, newRecord("1"), sourcesOf("one"))
	large := sourcesOf(strings.Repeat("x", 2*diskBytes/3))
	for range 3 {
		_, _, err = f.Swap(t.Context(), "large", Record{}, newRecord("1"), large)
		wantUnavailable(t, err, "")
	}
	two := mustSwap(t, f, "a", one, newRecord("1", "2"), sourcesOf("two")) // what fits goes on to work
	told.want(t, map[string]Record{"a": two})
	if sources, ok, err := f.Sources(t.Context(), "a", revisionOf("1").ID); !ok || err != nil || sources.Files["a.thrift"] != "one" {
		t.Errorf("Sources: %v, %v", ok, err)
	}

	room(16 * diskBytes)
	mustSwap(t, f, "large", Record{}, newRecord("1"), large)
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	reopened := openFile(t, path)
	if record, err := reopened.Record(t.Context(), "large"); err != nil || !record.Exists() {
		t.Errorf("Record after all that: %v, %v", record, err)
	}
}

// takeSpace takes all space, and returns what gives so many bytes back.
func takeSpace(t *testing.T, folder string, disk bool) (room func(bytes int)) {
	t.Helper()
	if disk {
		filler := filepath.Join(folder, "filler")
		if err := os.WriteFile(filler, make([]byte, 2*diskBytes), 0o600); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("the disk is not full: %v", err)
		}
		return func(bytes int) {
			t.Helper()
			_ = os.Remove(filler) // it may be gone
			if err := syscall.Mount("thriftpack-test", folder, "tmpfs", syscall.MS_REMOUNT, "size="+strconv.Itoa(bytes)); err != nil {
				t.Fatal(err)
			}
		}
	}
	signal.Ignore(syscall.SIGXFSZ)
	allow := func(bytes int) {
		t.Helper()
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(bytes), Max: 1 << 30}); err != nil {
			t.Fatal(err)
		}
	}
	allow(100)
	return allow
}
