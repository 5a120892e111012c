package registry

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/thriftpack/thriftpack/internal/schema/store"
)

// folder is a directory of schemas and a registry that follows it.
type folder struct {
	*Registry
	t    *testing.T
	path string
	log  *lockedBuffer
}

// lockedBuffer is a log that many may write to.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func (f *folder) write(name, text string) {
	f.t.Helper()
	full := filepath.Join(f.path, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) link(to, name string) {
	f.t.Helper()
	if err := os.Symlink(to, filepath.Join(f.path, name)); err != nil {
		f.t.Fatal(err)
	}
}

// wantSoon waits until ref leads to a schema with that file.
func (f *folder) wantSoon(ref, file, text string) {
	f.t.Helper()
	eventually(f.t, ref+" is "+text, func() bool {
		s, err := f.Resolve(f.t.Context(), []byte(ref))
		return err == nil && s.Files[file] == text || err != nil && text == ""
	})
}

// wantBroken waits until what is broken is that, each line beginning so.
func (f *folder) wantBroken(lines ...string) {
	f.t.Helper()
	var broken []string
	defer func() {
		if f.t.Failed() {
			f.t.Logf("broken: %q", broken)
		}
	}()
	eventually(f.t, fmt.Sprintf("broken: %q", lines), func() bool {
		broken = f.Status().Broken
		if len(broken) != len(lines) {
			return false
		}
		for i := range lines {
			if !strings.HasPrefix(broken[i], lines[i]) {
				return false
			}
		}
		return true
	})
}

// newFolder fills a directory and starts a registry that follows it.
func newFolder(t *testing.T, fill func(f *folder), changes ...func(*Config)) *folder {
	t.Helper()
	f := &folder{t: t, path: t.TempDir(), log: &lockedBuffer{}}
	fill(f)
	f.Registry = start(t, nil, append([]func(*Config){func(c *Config) {
		c.Directory = &store.Directory{Path: f.path, Limits: store.DirectoryLimits{Schemas: 100, Files: 10, Bytes: 1 << 20}}
		c.LookEvery = 20 * time.Millisecond
		c.Logger = slog.New(slog.NewTextHandler(f.log, nil))
	}}, changes...)...)
	return f
}

func TestFollowDirectory(t *testing.T) {
	f := newFolder(t, func(f *folder) {
		f.write("a.thrift", one)
		f.write("bad.thrift", "struct {")
		f.write("base.thrift", one)
		f.write("uses.thrift", "include \"base.thrift\"\nstruct T { 1: base.S s }")
	})
	f.wantSoon("a", "a.thrift", one)
	f.wantBroken("bad: bad.thrift:1:8: ")
	first, err := f.Resolve(t.Context(), []byte("a"))
	if err != nil {
		t.Fatal(err)
	}

	f.write("a.thrift", two)
	f.wantSoon("a", "a.thrift", two)
	wantResolved(t, f.Registry, "a@"+first.Revision, "")

	// A broken file leaves what was served before.
	f.write("a.thrift", "struct S {")
	f.wantBroken("a: a.thrift:1:", "bad: bad.thrift:1:8: ")
	f.wantSoon("a", "a.thrift", two)
	f.write("a.thrift", three)
	f.wantSoon("a", "a.thrift", three)
	f.wantBroken("bad: bad.thrift:1:8: ")

	// A file that others include changes them, too.
	f.write("base.thrift", two)
	f.wantSoon("base", "base.thrift", two)
	f.wantSoon("uses", "base.thrift", two)

	// Files that go take their schemas along, folders that come bring theirs.
	for _, name := range []string{"a.thrift", "bad.thrift"} {
		if err := os.Remove(filepath.Join(f.path, name)); err != nil {
			t.Fatal(err)
		}
	}
	f.write("new/sub/x.thrift", one)
	f.write("new/new.thrift", "include \"sub/x.thrift\"\nstruct T { 1: x.S s }")
	f.wantSoon("new", "sub/x.thrift", one)
	f.wantSoon("a", "a.thrift", "")
	f.wantBroken()

	// A directory that goes leaves everything as it was.
	if err := os.Rename(f.path, f.path+"-gone"); err != nil {
		t.Fatal(err)
	}
	f.wantBroken("the directory: no such file or directory")
	f.wantSoon("new", "sub/x.thrift", one)
	if err := os.Rename(f.path+"-gone", f.path); err != nil {
		t.Fatal(err)
	}
	f.wantBroken()
	for _, line := range []string{"schema of the directory is broken", "schema directory cannot be read", "schema of the directory removed"} {
		if got := strings.Count(f.log.String(), line); got == 0 || got > 4 {
			t.Errorf("%q is %d times in the log:\n%s", line, got, f.log.String())
		}
	}
}

// TestConfigMap exchanges the files as Kubernetes does: a new folder, a link to it under another name, and that renamed. Both schemas change
// together, so that no mixture of them is ever served.
func TestConfigMap(t *testing.T) {
	fill := func(f *folder, version string) {
		f.t.Helper()
		f.write("..v"+version+"/base.thrift", "struct S"+version+" { 1: i32 a }")
		f.write("..v"+version+"/uses.thrift", "include \"base.thrift\"\nstruct T"+version+" { 1: base.S"+version+" s }")
	}
	f := newFolder(t, func(f *folder) {
		fill(f, "0")
		f.link("..v0", "..data")
		f.link("..data/base.thrift", "base.thrift")
		f.link("..data/uses.thrift", "uses.thrift")
	})
	f.wantSoon("base", "base.thrift", "struct S0 { 1: i32 a }")
	for version := 1; version <= 3; version++ {
		text := strconv.Itoa(version)
		fill(f, text)
		f.link("..v"+text, "..data_tmp")
		if err := os.Rename(filepath.Join(f.path, "..data_tmp"), filepath.Join(f.path, "..data")); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(f.path, "..v"+strconv.Itoa(version-1))); err != nil {
			t.Fatal(err)
		}
		f.wantSoon("uses", "base.thrift", "struct S"+text+" { 1: i32 a }")
		s, err := f.Resolve(t.Context(), []byte("uses"))
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := s.Type("T" + text); !ok {
			t.Errorf("version %s has the types %v", text, s.Types())
		}
	}
	f.wantBroken()
	if log := f.log.String(); strings.Contains(log, "broken") {
		t.Errorf("something was broken in between:\n%s", log)
	}
}

// TestDirectoryIsBounded has more schemas than fit into memory.
func TestDirectoryIsBounded(t *testing.T) {
	f := newFolder(t, func(f *folder) {
		for i := range 10 {
			f.write(fmt.Sprintf("s%d.thrift", i), one)
		}
	}, func(c *Config) { c.CacheBytes = 30 << 10 })
	status := f.Status()
	if status.CacheBytes > 30<<10 || status.Schemas == 0 || status.Schemas+len(status.Broken) != 10 {
		t.Errorf("%d schemas in %d bytes, broken: %q", status.Schemas, status.CacheBytes, status.Broken)
	}
	if want := "larger than what is left of --schema-cache-bytes"; !strings.HasSuffix(status.Broken[0], want) {
		t.Errorf("broken: %q, want %q", status.Broken, want)
	}
}

// TestDirectoryHasRoomAgain lets a schema grow beyond what there is room for, and then makes room.
func TestDirectoryHasRoomAgain(t *testing.T) {
	large := "struct S {" + fields(100) + "}"
	f := newFolder(t, func(f *folder) {
		f.write("a.thrift", one)
		f.write("b/b.thrift", one)
	}, func(c *Config) { c.CacheBytes = 27 << 10 })
	f.wantBroken()
	f.write("b/b.thrift", large)
	f.wantBroken("b: larger than what is left of --schema-cache-bytes")
	f.wantSoon("b", "b.thrift", one)
	if err := os.Remove(filepath.Join(f.path, "a.thrift")); err != nil {
		t.Fatal(err)
	}
	f.wantSoon("b", "b.thrift", large)
	f.wantBroken()
}

// fields are n fields of a struct.
func fields(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "%d: i32 f%d\n", i+1, i)
	}
	return text.String()
}
