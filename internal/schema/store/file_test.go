package store

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"
)

// openFile opens a file of schemas; it is closed at the end of the test.
func openFile(t *testing.T, path string) *File {
	t.Helper()
	f, err := OpenFile(path, quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return f
}

func sourcesOf(text string) *Sources {
	return &Sources{Files: map[string]string{"a.thrift": text, "b/c.thrift": "// " + text}, Root: "a.thrift"}
}

func TestFileIsMadeWhenItIsNeeded(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state", "thriftpack")
	path := filepath.Join(folder, "schemas.db")
	f := openFile(t, path)
	told := follow(t, f)
	told.want(t, map[string]Record{})
	if record, err := f.Record(t.Context(), "a"); err != nil || record.Exists() {
		t.Errorf("Record: %v, %v", record, err)
	}
	if _, ok, err := f.Sources(t.Context(), "a", revisionOf("1").ID); err != nil || ok {
		t.Errorf("Sources: %v, %v", ok, err)
	}
	if _, err := os.Stat(folder); err == nil {
		t.Errorf("%s is there before anything was pushed", folder)
	}
	mustSwap(t, f, "a", Record{}, newRecord("1"), sourcesOf("one"))
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 || entries[0].Name() != "schemas.db" {
		t.Errorf("the folder has %v, %v; want schemas.db alone", entries, err)
	}
	for name, want := range map[string]os.FileMode{folder: 0o700, path: 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
}

func TestFileSwap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schemas.db")
	f := openFile(t, path)
	told := follow(t, f)
	one := mustSwap(t, f, "a", Record{}, newRecord("1"), sourcesOf("one"))
	two := mustSwap(t, f, "a", one, newRecord("1", "2"), sourcesOf("two"))
	other := mustSwap(t, f, "a.b", Record{}, newRecord("1"), sourcesOf("other"))
	told.want(t, map[string]Record{"a": two, "a.b": other})

	// Whoever has an old record is told of the present one.
	for _, from := range []Record{{}, one} {
		current, swapped, err := f.Swap(t.Context(), "a", from, newRecord("1", "3"), sourcesOf("three"))
		if diff := cmp.Diff(two, current); swapped || err != nil || diff != "" {
			t.Errorf("Swap of an old record: swapped %v, %v, -want +got:\n%s", swapped, err, diff)
		}
	}
	if current, swapped, err := f.Swap(t.Context(), "new", one, newRecord("1"), sourcesOf("one")); swapped || err != nil || current.Exists() {
		t.Errorf("Swap of one that is not there: %v, %v, %v", current, swapped, err)
	}

	// The first revision again, as the newest, without its sources.
	again := mustSwap(t, f, "a", two, newRecord("2", "1"), nil)
	for id, want := range map[string]string{"1": "one", "2": "two", "3": ""} {
		sources, ok, err := f.Sources(t.Context(), "a", revisionOf(id).ID)
		if err != nil || ok != (want != "") || sources.Files["a.thrift"] != want {
			t.Errorf("Sources %s: %v, %v, %v; want %q", id, sources, ok, err, want)
		}
	}
	sources, _, err := f.Sources(t.Context(), "a", revisionOf("1").ID)
	if diff := cmp.Diff(*sourcesOf("one"), sources); err != nil || diff != "" {
		t.Errorf("Sources: %v, -want +got:\n%s", err, diff)
	}

	// Away with one, then with the rest; the other stays.
	left := mustSwap(t, f, "a", again, newRecord("2"), nil)
	if _, ok, err := f.Sources(t.Context(), "a", revisionOf("1").ID); ok || err != nil {
		t.Errorf("Sources of a revision that was removed: %v, %v", ok, err)
	}
	mustSwap(t, f, "a", left, Record{Compatibility: left.Compatibility}, nil)
	told.want(t, map[string]Record{"a.b": other})
	if _, ok, err := f.Sources(t.Context(), "a", revisionOf("2").ID); ok || err != nil {
		t.Errorf("Sources of a schema that was removed: %v, %v", ok, err)
	}
	if record, err := f.Record(t.Context(), "a"); err != nil || record.Exists() || record.Version != 0 {
		t.Errorf("Record of a schema that was removed: %v, %v", record, err)
	}

	// And all of it is there the next time.
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Swap(t.Context(), "a", Record{}, newRecord("1"), sourcesOf("one")); err == nil {
		t.Error("Swap after Close: no error")
	}
	reopened := openFile(t, path)
	follow(t, reopened).want(t, map[string]Record{"a.b": other})
	if again := mustSwap(t, reopened, "a", Record{}, newRecord("1"), sourcesOf("one")); again.Version <= left.Version {
		t.Errorf("version %d after %d", again.Version, left.Version)
	}
}

func TestFileOfAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schemas.db")
	late := openFile(t, path) // before there is a file
	first := openFile(t, path)
	mustSwap(t, first, "a", Record{}, newRecord("1"), sourcesOf("one"))
	if _, err := OpenFile(path, quiet); err == nil || !strings.Contains(err.Error(), path+": another process has it open") {
		t.Errorf("OpenFile: %v", err)
	}
	_, _, err := late.Swap(t.Context(), "b", Record{}, newRecord("1"), sourcesOf("one"))
	wantUnavailable(t, err, "another process has the file open")
	if strings.Contains(err.Error(), path) {
		t.Errorf("the error tells clients the path: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	current, swapped, err := late.Swap(t.Context(), "a", Record{}, newRecord("2"), sourcesOf("two"))
	if err != nil || swapped || current.Newest().ID != revisionOf("1").ID {
		t.Errorf("Swap once the other is gone: %v, %v, %v; want the other's record", current, swapped, err)
	}
}

func TestFileThatIsNone(t *testing.T) {
	folder := t.TempDir()
	text := filepath.Join(folder, "text")
	if err := os.WriteFile(text, bytes.Repeat([]byte("no schemas here\n"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	others := filepath.Join(folder, "others")
	db, err := bolt.Open(others, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("theirs")); return err }); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		text:                              "none of schemas",
		others:                            "none of schemas",
		folder:                            "is a directory",
		filepath.Join(text, "schemas.db"): "not a directory",
	} {
		f, err := OpenFile(path, quiet)
		if err == nil || !strings.HasPrefix(err.Error(), "schema store "+path+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("OpenFile(%s): %v, want %q", path, err, want)
		}
		if err == nil {
			_ = f.Close()
		}
	}
	// Nothing was added to what is of others.
	if db, err = bolt.Open(others, 0o600, nil); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	_ = db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, _ *bolt.Bucket) error {
			if string(name) != "theirs" {
				t.Errorf("a bucket %q was added", name)
			}
			return nil
		})
	})
}

// helper runs the test of that name in a process of its own.
func helper(t *testing.T, name string, environment ...string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+name+"$", "-test.v")
	command.Env = append(os.Environ(), environment...)
	return command
}

// pusherFile names the file for TestHelperPushes.
const pusherFile = "THRIFTPACK_TEST_PUSHER_FILE"

// TestHelperPushes is a process that pushes until it is killed, and says what was acknowledged.
func TestHelperPushes(t *testing.T) {
	path := os.Getenv(pusherFile)
	if path == "" {
		t.Skip("for TestKilledInMidPush")
	}
	f, err := OpenFile(path, quiet)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x", 100_000) // several pages, so that there is a middle
	for i := 0; ; i++ {
		name := fmt.Sprintf("s%d-%d", os.Getpid(), i)
		if _, swapped, err := f.Swap(context.Background(), name, Record{}, newRecord("1"), sourcesOf(name+text)); err != nil || !swapped {
			t.Fatal(swapped, err)
		}
		fmt.Printf("pushed %s\n", name) //nolint:forbidigo // the output is what this process is for
	}
}

// TestKilledInMidPush kills a process that pushes, again and again: what it was told is kept is there, whole.
func TestKilledInMidPush(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schemas.db")
	var acknowledged []string
	for round := range 5 {
		command := helper(t, "TestHelperPushes", pusherFile+"="+path)
		out, err := command.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		pushed := 0
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if name, ok := strings.CutPrefix(lines.Text(), "pushed "); ok {
				acknowledged = append(acknowledged, name)
				if pushed++; pushed == 3+round {
					_ = command.Process.Kill() // what it still says is read, too
				}
			}
		}
		_ = command.Wait() // it was killed
		if pushed < 3+round {
			t.Fatalf("round %d: %d pushes before it ended", round, pushed)
		}
	}
	f := openFile(t, path)
	text := strings.Repeat("x", 100_000)
	for _, name := range acknowledged {
		record, err := f.Record(t.Context(), name)
		sources, ok, errSources := f.Sources(t.Context(), name, revisionOf("1").ID)
		if err != nil || !record.Exists() || !ok || errSources != nil || sources.Files["a.thrift"] != name+text {
			t.Errorf("%s: %v, %v, sources %v, %v", name, record, err, ok, errSources)
		}
	}
}
