package cli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// writeFiles writes files below a folder of the test, and returns that.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestIncludesAreFound reads a schema from files in several folders, and compiles what was read.
func TestIncludesAreFound(t *testing.T) {
	const pin = "struct Pin { 1: i32 n }"
	for _, row := range []struct {
		name     string
		files    map[string]string
		root     string
		folders  []string
		want     []string // the names that the server is given
		wantRoot string
		typ      string
	}{
		{
			name:  "beside the file that includes",
			files: map[string]string{"a.thrift": `include "lib/b.thrift"`, "lib/b.thrift": `include "c.thrift"` + "\nstruct B { 1: c.Pin pin }", "lib/c.thrift": pin},
			root:  "a.thrift", want: []string{"a.thrift", "lib/b.thrift", "lib/c.thrift"}, wantRoot: "a.thrift", typ: "b.B",
		},
		{
			name:  "from the folder of the root",
			files: map[string]string{"a.thrift": `include "lib/b.thrift"`, "lib/b.thrift": `include "deep/c.thrift"` + "\nstruct B { 1: c.Pin pin }", "deep/c.thrift": pin},
			root:  "a.thrift", want: []string{"a.thrift", "deep/c.thrift", "lib/b.thrift"}, wantRoot: "a.thrift", typ: "b.B",
		},
		{
			name:  "beside the file first",
			files: map[string]string{"a.thrift": `include "lib/b.thrift"`, "lib/b.thrift": "include 'c.thrift'\nstruct B { 1: c.Pin pin }", "lib/c.thrift": pin, "c.thrift": "struct Other {}"},
			root:  "a.thrift", want: []string{"a.thrift", "lib/b.thrift", "lib/c.thrift"}, wantRoot: "a.thrift", typ: "b.B",
		},
		{
			name:  "up and down again",
			files: map[string]string{"app/a.thrift": `include "../lib/b.thrift"`, "lib/b.thrift": pin},
			root:  "app/a.thrift", want: []string{"app/a.thrift", "lib/b.thrift"}, wantRoot: "app/a.thrift", typ: "b.Pin",
		},
		{
			name:  "several on a line, several words apart",
			files: map[string]string{"a.thrift": "namespace go a include \"b.thrift\"\n  include\t\"c.thrift\"", "b.thrift": pin, "c.thrift": "struct C {}"},
			root:  "a.thrift", want: []string{"a.thrift", "b.thrift", "c.thrift"}, wantRoot: "a.thrift", typ: "b.Pin",
		},
		{
			name:  "from a folder of -I",
			files: map[string]string{"app/a.thrift": `include "b.thrift"`, "vendor/b.thrift": pin},
			root:  "app/a.thrift", folders: []string{"none", "vendor"}, want: []string{"a.thrift", "b.thrift"}, wantRoot: "a.thrift", typ: "b.Pin",
		},
		{
			name: "from there on, beside each other and from the top",
			files: map[string]string{
				"app/a.thrift": "include \"../lib/d.thrift\"\ninclude \"x/b.thrift\"", "lib/d.thrift": "struct D {}",
				"vendor/x/b.thrift": "include \"c.thrift\"\ninclude \"y/e.thrift\"\nstruct B { 1: c.Pin pin, 2: e.E e }", "vendor/x/c.thrift": pin,
				"vendor/y/e.thrift": "include \"../x/c.thrift\"\nstruct E { 1: c.Pin pin }",
			},
			root: "app/a.thrift", folders: []string{"vendor"},
			want: []string{"app/a.thrift", "lib/d.thrift", "x/b.thrift", "x/c.thrift", "y/e.thrift"}, wantRoot: "app/a.thrift", typ: "b.B",
		},
		{
			name:  "from a folder of -I that has the root, too",
			files: map[string]string{"app/a.thrift": `include "lib/b.thrift"`, "lib/b.thrift": pin},
			root:  "app/a.thrift", folders: []string{"."}, want: []string{"a.thrift", "lib/b.thrift"}, wantRoot: "a.thrift", typ: "b.Pin",
		},
		{
			name:  "beside the root before -I",
			files: map[string]string{"app/a.thrift": `include "b.thrift"`, "app/b.thrift": pin, "vendor/b.thrift": "struct Other {}"},
			root:  "app/a.thrift", folders: []string{"vendor"}, want: []string{"a.thrift", "b.thrift"}, wantRoot: "a.thrift", typ: "b.Pin",
		},
		{
			name:  "in comments alone",
			files: map[string]string{"a.thrift": "// include \"none.thrift\"\n# include \"b.thrift\"\n/* include \"/etc/passwd\" */\n" + pin, "b.thrift": "no IDL at all"},
			root:  "a.thrift", want: []string{"a.thrift"}, wantRoot: "a.thrift", typ: "Pin",
		},
		{
			name:  "in a comment, of a file that exists",
			files: map[string]string{"a.thrift": "/* include \"b.thrift\" */\n" + pin, "b.thrift": "struct B {}"},
			root:  "a.thrift", want: []string{"a.thrift", "b.thrift"}, wantRoot: "a.thrift", typ: "Pin",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := writeFiles(t, row.files)
			path := filepath.Join(dir, filepath.FromSlash(row.root))
			var folders, flags []string
			for _, name := range row.folders {
				folders = append(folders, filepath.Join(dir, name))
				flags = append(flags, "-I", filepath.Join(dir, name))
			}
			got, err := readIDL(path, folders)
			if err != nil {
				t.Fatalf("readIDL: %v", err)
			}
			if diff := cmp.Diff(row.want, slices.Sorted(maps.Keys(got.files))); diff != "" || got.root != row.wantRoot {
				t.Errorf("readIDL has the root %q, want %q, and files (-want +got):\n%s", got.root, row.wantRoot, diff)
			}
			out := execute(t, "{}", append([]string{"encode", "--output", "hex", "--idl", path, "--type", row.typ}, flags...)...)
			if out.code != 0 || out.stdout != "00\n" {
				t.Errorf("encode {} by %s: %+v, want 00", row.typ, out)
			}
		})
	}
}

// TestTooMuchIDL includes as much as is read at most, and one more.
func TestTooMuchIDL(t *testing.T) {
	many := func(n int) string { // the root and n-1 others
		files := map[string]string{}
		var root strings.Builder
		for i := range n - 1 {
			name := fmt.Sprintf("f%d.thrift", i)
			files[name] = ""
			fmt.Fprintf(&root, "include %q\n", name)
		}
		files["root.thrift"] = root.String()
		return filepath.Join(writeFiles(t, files), "root.thrift")
	}
	large := func(n int) string { // two files of n bytes together
		const root = `include "b.thrift"`
		files := map[string]string{"root.thrift": root, "b.thrift": strings.Repeat("\n", n-len(root))}
		return filepath.Join(writeFiles(t, files), "root.thrift")
	}
	twice := func() (path, dir string) { // a file that is found beside the one that includes it, and in a folder of --include
		const root, other = "include \"v/b.thrift\"\ninclude \"c.thrift\"", "include \"b.thrift\"\n"
		large := strings.Repeat("\n", mostIDLBytes-len(root)-len(other))
		dir = writeFiles(t, map[string]string{"root.thrift": root, "v/b.thrift": large, "v/c.thrift": other})
		return filepath.Join(dir, "root.thrift"), filepath.Join(dir, "v")
	}
	t.Run("most bytes, found twice", func(t *testing.T) {
		path, dir := twice()
		if _, err := readIDL(path, []string{dir}); err != nil {
			t.Errorf("readIDL: %v", err)
		}
	})
	for _, row := range []struct {
		name string
		path string
		ok   bool
	}{
		{"most files", many(mostIDLFiles), true},
		{"one more", many(mostIDLFiles + 1), false},
		{"most bytes", large(mostIDLBytes), true},
		{"one byte more", large(mostIDLBytes + 1), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if raceEnabled && strings.Contains(row.name, "byte") {
				t.Skip("ten times as slow, on one goroutine")
			}
			if _, err := readIDL(row.path, nil); (err == nil) != row.ok {
				t.Errorf("readIDL: %v, want success: %t", err, row.ok)
			}
			if !row.ok {
				mustFail(t, execute(t, "", "encode", "--idl", row.path, "--type", "A"), "more than 1000 files or 16777216 bytes")
			}
		})
	}
}

// TestTwoFilesOfOneName refuses to guess.
func TestTwoFilesOfOneName(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"app/a.thrift": "include \"../b.thrift\"\ninclude \"x.thrift\"", "b.thrift": "struct B {}",
		"vendor/x.thrift": `include "b.thrift"`, "vendor/b.thrift": "struct Other {}",
	})
	got := execute(t, "{}", "encode", "--idl", filepath.Join(dir, "app", "a.thrift"), "-I", filepath.Join(dir, "vendor"), "--type", "b.B")
	mustFail(t, got, "two different files", "b.thrift")
}

// TestIncludeOfWhatIsNoFile does not wait for a pipe, nor read a device.
func TestIncludeOfWhatIsNoFile(t *testing.T) {
	path := filepath.Join(writeFiles(t, map[string]string{"a.thrift": "include \"folder\"\nstruct A {}", "folder/x": ""}), "a.thrift")
	mustFail(t, execute(t, "{}", "encode", "--idl", path, "--type", "A"), "a.thrift:1:")
	// Whoever wrote the IDL may name any file of whoever runs this.
	path = filepath.Join(writeFiles(t, map[string]string{"a.thrift": "include \"secret.txt\"\nstruct A {}", "secret.txt": "confidential"}), "a.thrift")
	if got := execute(t, "", "schema", "lint", path); got.code == 0 || strings.Contains(got.stdout+got.stderr, "confidential") {
		t.Errorf("lint = %+v, want a fault that shows nothing of the file", got)
	}
	mustFail(t, execute(t, "{}", "encode", "--idl", os.DevNull, "--type", "A"), "is no file")
}
