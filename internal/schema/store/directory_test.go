package store

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// tree writes files by their path below a new folder. A text "-> to" is a link to that, and "pipe" a named pipe.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		put(t, folder, name, text)
	}
	return folder
}

func put(t *testing.T, folder, name, text string) {
	t.Helper()
	full := filepath.Join(folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		t.Fatal(err)
	}
	var err error
	switch to, link := strings.CutPrefix(text, "-> "); {
	case link:
		err = os.Symlink(to, full)
	case text == "pipe":
		err = syscall.Mkfifo(full, 0o600)
	default:
		err = os.WriteFile(full, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

var roomy = DirectoryLimits{Schemas: 100, Files: 10, Bytes: 1000}

// readDirectory lists and reads everything, and returns what went wrong in the place of sources. Waiting for a pipe would hang, so there is
// a bound.
func readDirectory(t *testing.T, folder string, limits DirectoryLimits) map[string]any {
	t.Helper()
	d := &Directory{Path: folder, Limits: limits}
	found, err := d.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	for i := range found {
		f := &found[i]
		if f.Err != nil {
			got[f.Name] = f.Err.Error()
			continue
		}
		sources, err := d.Read(t.Context(), f)
		if err != nil {
			got[f.Name] = err.Error()
			continue
		}
		got[f.Name] = sources
	}
	return got
}

func TestDirectory(t *testing.T) {
	const badName = `the name is not 1 to 64 of a-z, 0-9, ".", "_" and "-"`
	long := strings.Repeat("a", 65)
	for _, tt := range []struct {
		name   string
		files  map[string]string
		limits DirectoryLimits
		want   map[string]any
	}{
		{name: "empty", want: map[string]any{}},
		{
			name:  "files of their own",
			files: map[string]string{"a.thrift": "one", "b.c-d.thrift": "two", "README.md": "three"},
			want: map[string]any{
				"a":     Sources{Root: "a.thrift", Files: map[string]string{"a.thrift": "one"}},
				"b.c-d": Sources{Root: "b.c-d.thrift", Files: map[string]string{"b.c-d.thrift": "two"}},
			},
		},
		{
			name: "files that include others beside them, and each other",
			files: map[string]string{
				"a.thrift": "include \"b.thrift\"\n", "b.thrift": "include 'c.thrift'\ninclude\t\"./b.thrift\"", "c.thrift": "three",
				"d.thrift": "include \"gone.thrift\" include \"../x.thrift\" include \"/etc/passwd\"",
			},
			want: map[string]any{
				"a": Sources{Root: "a.thrift", Files: map[string]string{
					"a.thrift": "include \"b.thrift\"\n", "b.thrift": "include 'c.thrift'\ninclude\t\"./b.thrift\"", "c.thrift": "three",
				}},
				"b": Sources{Root: "b.thrift", Files: map[string]string{
					"b.thrift": "include 'c.thrift'\ninclude\t\"./b.thrift\"", "c.thrift": "three",
				}},
				"c": Sources{Root: "c.thrift", Files: map[string]string{"c.thrift": "three"}},
				"d": Sources{Root: "d.thrift", Files: map[string]string{
					"d.thrift": "include \"gone.thrift\" include \"../x.thrift\" include \"/etc/passwd\"",
				}},
			},
		},
		{
			name:  "a folder, with a root of its name",
			files: map[string]string{"a/a.thrift": "one", "a/Other.thrift": "two", "a/sub/Deep er.thrift": "three", "a/notes.txt": "four"},
			want: map[string]any{"a": Sources{Root: "a.thrift", Files: map[string]string{
				"a.thrift": "one", "Other.thrift": "two", "sub/Deep er.thrift": "three",
			}}},
		},
		{
			name:  "a folder, with one file directly in it",
			files: map[string]string{"a/main.thrift": "one", "a/sub/b.thrift": "two"},
			want: map[string]any{"a": Sources{Root: "main.thrift", Files: map[string]string{
				"main.thrift": "one", "sub/b.thrift": "two",
			}}},
		},
		{
			name:  "folders whose root is not clear",
			files: map[string]string{"a/b.thrift": "one", "a/c.thrift": "two", "empty/sub/b.thrift": "three"},
			want: map[string]any{
				"a":     "which of its 2 files is the root? Name it a.thrift",
				"empty": "which of its 0 files is the root? Name it empty.thrift",
			},
		},
		{
			name: "what Kubernetes makes of a ConfigMap",
			files: map[string]string{
				"..2030_01_02/a.thrift": "one", "..2030_01_02/sub/b.thrift": "two", "..data": "-> ..2030_01_02",
				"a.thrift": "-> ..data/a.thrift", "sub": "-> ..data/sub",
			},
			want: map[string]any{
				"a":   Sources{Root: "a.thrift", Files: map[string]string{"a.thrift": "one"}},
				"sub": Sources{Root: "b.thrift", Files: map[string]string{"b.thrift": "two"}},
			},
		},
		{
			name:  "a file and a folder of one name",
			files: map[string]string{"a.thrift": "one", "a/a.thrift": "two"},
			want: map[string]any{
				"a":        Sources{Root: "a.thrift", Files: map[string]string{"a.thrift": "two"}},
				"a.thrift": "there is a folder of this name, too",
			},
		},
		{
			name: "hostile names",
			files: map[string]string{
				"A.thrift": "one", "a b.thrift": "one", long + ".thrift": "one", "...thrift": "hidden", ".git/a.thrift": "hidden",
				"a\nb.thrift": "one", "x@y/x.thrift": "one", ".thrift": "hidden",
			},
			want: map[string]any{"A": badName, "a b": badName, long: badName, "a\nb": badName, "x@y": badName},
		},
		{
			name: "what is not a file",
			files: map[string]string{
				"pipe.thrift": "pipe", "null.thrift": "-> /dev/null", "gone.thrift": "-> nowhere", "passwd.thrift": "-> ../../../../etc/passwd",
				"self.thrift": "-> self.thrift", "folder/pipe.thrift": "pipe", "out": "-> /tmp",
			},
			want: map[string]any{
				"pipe": "not a regular file", "null": "path escapes from parent", "gone": "no such file or directory",
				"passwd": "path escapes from parent", "self": "too many levels of symbolic links", "folder": "pipe.thrift: not a regular file",
			},
		},
		{
			name:   "a folder in itself, which os.Root follows eight times",
			files:  map[string]string{"a/a.thrift": "one", "a/again": "-> ."},
			limits: DirectoryLimits{Schemas: 1, Files: 8, Bytes: 1000},
			want:   map[string]any{"a": "number of files 9 exceeds the limit of 8 (--max-schema-files)"},
		},
		{
			name:  "folders in folders",
			files: map[string]string{"a/a.thrift": "one", "a" + strings.Repeat("/b", 16) + "/c.thrift": "two"},
			want:  map[string]any{"a": "folders are nested more than 16 deep"},
		},
		{
			name:   "as large as may be, and a byte more",
			files:  map[string]string{"a.thrift": strings.Repeat("x", 92), "b.thrift": strings.Repeat("x", 93), "c/c.thrift": "x" + strings.Repeat("x", 92)},
			limits: DirectoryLimits{Schemas: 3, Files: 1, Bytes: 100},
			want: map[string]any{
				"a": Sources{Root: "a.thrift", Files: map[string]string{"a.thrift": strings.Repeat("x", 92)}},
				"b": "bytes of sources: at least 101 exceeds the limit of 100 (--max-schema-bytes)",
				"c": "bytes of sources: at least 101 exceeds the limit of 100 (--max-schema-bytes)",
			},
		},
		{
			name: "too many files, and too many schemas",
			files: map[string]string{
				"a/a.thrift": "one", "a/b.thrift": "two", "b.thrift": "include \"c.thrift\"", "c.thrift": "three", "d.thrift": "four",
			},
			limits: DirectoryLimits{Schemas: 3, Files: 1, Bytes: 100},
			want: map[string]any{
				"a": "number of files 2 exceeds the limit of 1 (--max-schema-files)",
				"b": "number of files 2 exceeds the limit of 1 (--max-schema-files)",
				"c": Sources{Root: "c.thrift", Files: map[string]string{"c.thrift": "three"}},
				"d": "number of schemas 4 exceeds the limit of 3 (--max-schemas)",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			limits := tt.limits
			if limits == (DirectoryLimits{}) {
				limits = roomy
			}
			if diff := cmp.Diff(tt.want, readDirectory(t, tree(t, tt.files), limits)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestDirectoryThatIsNone(t *testing.T) {
	folder := tree(t, map[string]string{"file": "text"})
	for name, want := range map[string]string{"gone": "no such file or directory", "file": "not a directory"} {
		d := &Directory{Path: filepath.Join(folder, name), Limits: roomy}
		if _, err := d.List(t.Context()); err == nil || err.Error() != want {
			t.Errorf("List of %s: %v, want %s", name, err, want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	put(t, folder, "a.thrift", "one")
	if _, err := (&Directory{Path: folder, Limits: roomy}).List(ended); err == nil {
		t.Error("List after the end of its context: no error")
	}
}

// TestPipeInPlaceOfAFile exchanges a file that was listed for a pipe, which nobody must wait for.
func TestPipeInPlaceOfAFile(t *testing.T) {
	folder := tree(t, map[string]string{"a.thrift": "one"})
	d := &Directory{Path: folder, Limits: roomy}
	found, err := d.List(t.Context())
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	if err := os.Remove(filepath.Join(folder, "a.thrift")); err != nil {
		t.Fatal(err)
	}
	put(t, folder, "a.thrift", "pipe")
	if _, err := d.Read(t.Context(), &found[0]); err == nil || err.Error() != "a.thrift: not a regular file" {
		t.Errorf("Read: %v", err)
	}
}

// TestStamp changes files in ways that must show.
func TestStamp(t *testing.T) {
	folder := tree(t, map[string]string{
		"a/a.thrift": "one", "..one/b.thrift": "one", "..two/b.thrift": "one", "..data": "-> ..one", "b.thrift": "-> ..data/b.thrift",
	})
	at := time.Now().Add(-time.Hour)
	for _, name := range []string{"a/a.thrift", "..one/b.thrift", "..two/b.thrift"} {
		if err := os.Chtimes(filepath.Join(folder, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	d := &Directory{Path: folder, Limits: roomy}
	stamps := func() map[string]string {
		t.Helper()
		found, err := d.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		stamps := map[string]string{}
		for _, f := range found {
			stamps[f.Name] = f.Stamp
		}
		return stamps
	}
	for _, tt := range []struct {
		name    string
		change  func() error
		changes string
	}{
		{"nothing", func() error { return nil }, ""},
		{"another text of the same size", func() error { return os.WriteFile(filepath.Join(folder, "a", "a.thrift"), []byte("two"), 0o600) }, "a"},
		{"another file in the folder", func() error { return os.WriteFile(filepath.Join(folder, "a", "c.thrift"), nil, 0o600) }, "a"},
		{"the links exchanged, to a file of the same size and time", func() error {
			if err := os.Symlink("..two", filepath.Join(folder, "..next")); err != nil {
				return err
			}
			return os.Rename(filepath.Join(folder, "..next"), filepath.Join(folder, "..data"))
		}, "b"},
		{"a file that is none of ours", func() error { return os.WriteFile(filepath.Join(folder, "notes"), nil, 0o600) }, ""},
	} {
		before := stamps()
		if err := tt.change(); err != nil {
			t.Fatal(err)
		}
		var changed []string
		for name, stamp := range stamps() {
			if before[name] != stamp {
				changed = append(changed, name)
			}
		}
		if got := strings.Join(changed, " "); got != tt.changes {
			t.Errorf("%s: changes the stamp of %q, want %q", tt.name, got, tt.changes)
		}
	}
}

// TestCrowdedFolders has a folder with more entries than are looked at, and others that together have more: the one is broken, and no other.
func TestCrowdedFolders(t *testing.T) {
	folder := tree(t, map[string]string{"a/a.thrift": "", "b/b.thrift": "", "crowd/crowd.thrift": "", "c.thrift": ""})
	for name, count := range map[string]int{"a": maxEntries / 2, "b": maxEntries / 2, "crowd": maxEntries} {
		for i := range count {
			file, err := os.Create(filepath.Join(folder, name, strconv.Itoa(i)))
			if err != nil {
				t.Fatal(err)
			}
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := readDirectory(t, folder, roomy)
	if got["crowd"] != "more than 10000 entries" {
		t.Errorf("crowd: %v", got["crowd"])
	}
	for _, name := range []string{"a", "b", "c"} {
		if _, ok := got[name].(Sources); !ok {
			t.Errorf("%s: %v", name, got[name])
		}
	}
}

// TestManySingleFiles has many schemas that are files. Each knows of all files, so what it knows must be shared: a look takes memory for each
// of them once.
func TestManySingleFiles(t *testing.T) {
	const count = 2000
	contents := map[string]string{}
	for i := range count {
		contents[strconv.Itoa(i)+extension] = ""
	}
	limits := roomy
	limits.Schemas = count
	d := &Directory{Path: tree(t, contents), Limits: limits}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	found, err := d.List(t.Context())
	runtime.ReadMemStats(&after)
	if err != nil || len(found) != count {
		t.Fatalf("%d schemas, %v", len(found), err)
	}
	if each := (after.TotalAlloc - before.TotalAlloc) / count; each > 8<<10 {
		t.Errorf("a look takes %d bytes for each of %d files", each, count)
	}
	for i := range found {
		if len(found[i].Stamp) > 64 {
			t.Fatalf("%s has a stamp of %d bytes, which each look compares", found[i].Name, len(found[i].Stamp))
		}
	}
}
