package idl

import (
	"go/build"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thriftpack/thriftpack/internal/schema/idl"
)

// apacheFiles returns the IDL files that come with Apache's Go library, by their paths in its repository, and where that is.
func apacheFiles(t *testing.T) (files map[string]string, folder string) {
	t.Helper()
	library, err := build.Default.Import("github.com/apache/thrift/lib/go/thrift", ".", build.FindOnly)
	if err != nil {
		t.Fatal(err)
	}
	folder = filepath.Join(library.Dir, "..", "..", "..")
	files = make(map[string]string)
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".thrift" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		files[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil || len(files) < 150 {
		t.Fatalf("%d files in %s, %v", len(files), folder, err)
	}
	return files, folder
}

// unread are the files of Apache's that are not read, and why.
var unread = map[string]string{
	"test/BrokenConstants.thrift":                                      "it is broken on purpose",
	"lib/rs/test_recursive/src/transit/Buses.thrift":                   "it needs folders to look for includes in",
	"lib/rs/test_recursive/src/transit/Transporters.thrift":            "it needs folders to look for includes in",
	"lib/rs/test_recursive/src/transit/light/LightRail.thrift":         "it needs folders to look for includes in",
	"lib/rs/test_recursive/src/transit/light/Streetcars.thrift":        "it needs folders to look for includes in",
	"lib/rs/test_recursive/src/maintenance/MaintenanceFacility.thrift": "it needs folders to look for includes in",
}

// Every file that Apache's project has is read, also where the compiler that is installed is too old for it.
func TestApacheFilesAreRead(t *testing.T) {
	files, _ := apacheFiles(t)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if _, _, err := idl.Parse(files, path, idl.DefaultLimits()); (err != nil) != (unread[path] != "") {
			t.Errorf("%s: %v; known as not read: %q", path, err, unread[path])
		}
	}
}

// otherJSON are the files of which the compiler's JSON shows what is written, and not what it means.
var otherJSON = map[string]string{
	"test/DoubleConstantsTest.thrift": "integers that are doubles have all their digits",
	"test/v0.16/ConstantsDemo.thrift": "elements of a set are there twice",
	"test/v0.16/ThriftTest.thrift":    "an empty list is written as a map",
}

// What the compiler reads, the parser reads as the same.
func TestApacheFilesAreTheSame(t *testing.T) {
	c := newCompiler(t)
	files, folder := apacheFiles(t)
	same := 0
	for _, path := range slices.Sorted(maps.Keys(files)) {
		program, _, err := idl.Parse(files, path, idl.DefaultLimits())
		theirs := c.run(t, folder, path)
		if err != nil || theirs.json == nil || otherJSON[path] != "" {
			continue
		}
		if diff := cmp.Diff(simplify(theirs.json), describe(program.Root)); diff != "" {
			t.Errorf("%s, - is the compiler's, + the parser's: %s", path, diff)
		}
		same++
	}
	if same < 150 {
		t.Errorf("%d of %d files are the same, want at least 150", same, len(files))
	}
}
