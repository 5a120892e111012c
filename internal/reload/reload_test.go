package reload

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/thriftpack/thriftpack/internal/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	write(t, file, "abcd")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, path string
		limit      int64
		want       string // the contents
		refused    string // a part of the error
	}{
		{"a file at the limit", file, 4, "abcd", ""},
		{"a file over the limit", file, 3, "", "larger than 3 bytes"},
		{"a link to a file", link, 4, "abcd", ""},
		{"a pipe that nobody writes to", pipe, 4, "", "not a regular file"},
		{"a device without an end", "/dev/zero", 4, "", "not a regular file"},
		{"a folder", dir, 4, "", "not a regular file"},
		{"nothing", filepath.Join(dir, "nothing"), 4, "", "no such file"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := ReadFile(test.path, test.limit)
			switch {
			case test.refused == "" && (err != nil || string(got) != test.want):
				t.Errorf("ReadFile(%q, %d) = %q, %v; want %q", test.path, test.limit, got, err, test.want)
			case test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused) || !strings.Contains(err.Error(), test.path)):
				t.Errorf("ReadFile(%q, %d): %v, want the path and %q", test.path, test.limit, err, test.refused)
			}
		})
	}
}

// pairs loads two files that must be equal.
type pairs struct {
	loaded chan string
	events chan Event
}

func newPairs() *pairs {
	return &pairs{loaded: make(chan string, 64), events: make(chan Event, 64)}
}

func (p *pairs) load(contents [][]byte) error {
	if !bytes.Equal(contents[0], contents[1]) {
		return fmt.Errorf("%d bytes do not match %d", len(contents[0]), len(contents[1]))
	}
	p.loaded <- string(contents[0])
	return nil
}

// next is the next event that is no repetition.
func (p *pairs) next(t *testing.T) Event {
	t.Helper()
	for {
		select {
		case e := <-p.events:
			if !e.Again {
				return e
			}
		case <-time.After(30 * time.Second):
			t.Fatal("no event within 30 s")
		}
	}
}

func TestWatcher(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	write(t, one, "a")
	write(t, two, "a")
	p := newPairs()
	w := NewWatcher(time.Millisecond, func(e Event) { p.events <- e })
	if err := w.Add(Files{Name: "pair", Paths: []string{one, two}, Limit: 10, Load: p.load}); err != nil {
		t.Fatal(err)
	}
	w.Start()
	defer w.Close()
	if got := <-p.loaded; got != "a" || !w.Current()["pair"] {
		t.Fatalf("loaded %q, current %v", got, w.Current())
	}

	write(t, one, "bb")
	if e := p.next(t); e.Err == nil || e.Name != "pair" || w.Current()["pair"] {
		t.Errorf("after one of two has changed: %+v, current %v", e, w.Current())
	}
	write(t, two, "bb")
	if e := p.next(t); e.Err != nil {
		t.Errorf("after both have: %v", e.Err)
	}
	if got := <-p.loaded; got != "bb" || !w.Current()["pair"] {
		t.Errorf("loaded %q, want bb", got)
	}

	if err := os.Remove(one); err != nil {
		t.Fatal(err)
	}
	if e := p.next(t); !errors.Is(e.Err, os.ErrNotExist) {
		t.Errorf("without a file: %v", e.Err)
	}
	write(t, one, "bb")
	if e := p.next(t); e.Err != nil {
		t.Errorf("with the old one again: %v", e.Err)
	}
	if len(p.loaded) != 0 {
		t.Errorf("what was in use has been loaded again: %q", <-p.loaded)
	}
}

// TestSwappedFolder does what the kubelet does to a mounted secret: files are links through a link to a folder, which is replaced.
func TestSwappedFolder(t *testing.T) {
	dir := t.TempDir()
	swap := func(version string) {
		folder := filepath.Join(dir, "..v"+version)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, "one"), version)
		write(t, filepath.Join(folder, "two"), version)
		if err := os.Symlink(filepath.Base(folder), filepath.Join(dir, "..data_tmp")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	swap("0")
	var paths []string
	for _, name := range []string{"one", "two"} {
		path := filepath.Join(dir, name)
		if err := os.Symlink(filepath.Join("..data", name), path); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	p := newPairs()
	w := NewWatcher(time.Microsecond, func(e Event) { p.events <- e })
	if err := w.Add(Files{Name: "pair", Paths: paths, Limit: 10, Load: p.load}); err != nil {
		t.Fatal(err)
	}
	w.Start()
	defer w.Close()
	<-p.loaded
	for n := range 50 {
		version := strconv.Itoa(n + 1)
		swap(version)
		for got := ""; got != version; {
			select {
			case got = <-p.loaded:
			case e := <-p.events:
				if e.Err != nil {
					t.Fatalf("version %s: %v: halves of two versions were not read again", version, e.Err)
				}
			case <-time.After(30 * time.Second):
				t.Fatalf("version %s was not loaded within 30 s", version)
			}
		}
	}
}

func TestAddRefuses(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	write(t, one, "a")
	write(t, two, "bb")
	p := newPairs()
	w := NewWatcher(time.Hour, func(Event) {})
	if err := w.Add(Files{Paths: []string{one, two}, Limit: 10, Load: p.load}); err == nil || !strings.Contains(err.Error(), "1 bytes do not match 2") {
		t.Errorf("Add of files that do not load: %v", err)
	}
	if err := w.Add(Files{Paths: []string{one, two}, Limit: 1, Load: p.load}); err == nil || !strings.Contains(err.Error(), "larger") {
		t.Errorf("Add of files over the limit: %v", err)
	}
	if err := w.Add(Files{Load: p.load}); err == nil {
		t.Error("Add of no files: no error")
	}
	w.Start() // nothing to watch
	w.Close()
	w.Close()
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}
