// Package schematest compiles schemas for tests, in one line. No code but tests may import it.
package schematest

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/thriftpack/thriftpack/internal/schema"
)

// TB is the part of testing.TB that is needed, so that this package does without testing, which registers flags.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// Root is the name of the file that Compile and Type compile.
const Root = "test.thrift"

// Compile compiles one source, with the default limits.
func Compile(tb TB, source string) *schema.Schema {
	tb.Helper()
	return CompileFiles(tb, map[string]string{Root: source}, Root)
}

// CompileFiles compiles several sources, with the default limits.
func CompileFiles(tb TB, files map[string]string, root string) *schema.Schema {
	tb.Helper()
	s, err := schema.Compile("test", files, root, schema.DefaultLimits())
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// Type compiles one source and returns the type of that name.
func Type(tb TB, source, name string) *schema.Type {
	tb.Helper()
	return TypeOf(tb, Compile(tb, source), name)
}

// TypeOf returns the type of that name.
func TypeOf(tb TB, s *schema.Schema, name string) *schema.Type {
	tb.Helper()
	t, ok := s.Type(name)
	if !ok {
		tb.Fatal("no type " + name + " among " + strings.Join(s.Types(), ", "))
	}
	return t
}

// Vectors compiles a file of the IDL of the golden vectors, such as "shapes.thrift", in which vectors name their types.
func Vectors(tb TB, root string) *schema.Schema {
	tb.Helper()
	return CompileFiles(tb, VectorFiles(tb), root)
}

// VectorFiles returns all sources of the golden vectors by their names.
func VectorFiles(tb TB) map[string]string {
	tb.Helper()
	_, here, _, _ := runtime.Caller(0)
	paths, err := filepath.Glob(filepath.Join(filepath.Dir(here), "..", "..", "..", "test", "testdata", "vectors", "idl", "*.thrift"))
	if err != nil || len(paths) == 0 {
		tb.Fatal("no sources of vectors: ", err)
	}
	files := make(map[string]string, len(paths))
	for _, path := range paths {
		text, err := os.ReadFile(path) //nolint:gosec // a file of this repository
		if err != nil {
			tb.Fatal(err)
		}
		files[filepath.Base(path)] = string(text)
	}
	return files
}
