package store

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// damagePatience bounds calls that must not wait for a lock that nobody gives back.
const damagePatience = 60 * time.Second

// within fails the test, with the whole process, where do does not end: whoever waits for a lock cannot be stopped.
func within(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(damagePatience):
		panic(t.Name() + ": " + what + " does not end")
	}
}

// useAll calls everything that reads or writes the file, twice: after a fault nothing may wait for what the first call held.
func useAll(t *testing.T, f *File) (errs []error) {
	t.Helper()
	for range 2 {
		within(t, "a call", func() {
			_, err := f.Record(t.Context(), "s1")
			errs = append(errs, err)
			_, _, err = f.Sources(t.Context(), "s1", revisionOf("1").ID)
			errs = append(errs, err)
			_, _, err = f.Swap(t.Context(), "new", Record{}, newRecord("1"), sourcesOf("new"))
			errs = append(errs, err)
		})
	}
	return errs
}

// fill pushes schemas of more than a page each.
func fill(t *testing.T, path string, schemas int) {
	t.Helper()
	f, err := OpenFile(path, quiet)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x", 6000)
	for i := range schemas {
		mustSwap(t, f, "s"+string(rune('0'+i)), Record{}, newRecord("1"), sourcesOf(text))
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFileCutWhileOpen takes the pages away from under the map of the file: reading them is a fault of the memory, which must be
// an error like others and not the end of the process.
func TestFileCutWhileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schemas.db")
	fill(t, path, 5)
	f, err := OpenFile(path, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	for i, err := range useAll(t, f) {
		if err == nil {
			t.Errorf("call %d: no error", i)
			continue
		}
		wantUnavailable(t, err, "")
		if strings.Contains(err.Error(), path) {
			t.Errorf("the error tells clients the path: %v", err)
		}
	}
	within(t, "Close", func() { _ = f.Close() }) // what it returns is the disk's
}

// TestFileWithWrongPages opens files with bytes of pages exchanged, which lead bbolt outside of the file. They may be refused or
// not; no call may end the process, or never end.
func TestFileWithWrongPages(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "schemas.db")
	fill(t, path, 9)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	random := rand.New(rand.NewPCG(1, 2))
	wrong := filepath.Join(folder, "wrong.db")
	refused := 0
	for range 300 {
		contents := append([]byte(nil), whole...)
		at := (2 + random.IntN(len(contents)/page-2)) * page // the first two are the meta pages, which have checksums
		for range 1 + random.IntN(40) {
			contents[at+8+random.IntN(120)] = byte(random.Uint32())
		}
		_ = os.Remove(wrong) // one that is still mapped stays as it is
		if err := os.WriteFile(wrong, contents, 0o600); err != nil {
			t.Fatal(err)
		}
		var f *File
		within(t, "OpenFile", func() { f, err = OpenFile(wrong, quiet) })
		if err != nil {
			refused++
			continue
		}
		ended, end := context.WithCancel(t.Context())
		end()
		within(t, "Follow", func() {
			f.Follow(ended, Follower{Reset: func(map[string]Record, int64) {}, Changed: func(string, Record) {}, Reachable: func(bool) {}})
		})
		for _, err := range useAll(t, f) {
			if err != nil {
				refused++
				break
			}
		}
		within(t, "Close", func() { _ = f.Close() }) // as above
	}
	if refused == 0 {
		t.Error("none of the damages was met: the test shows nothing")
	}
	t.Logf("%d of 300 were met", refused)
}
