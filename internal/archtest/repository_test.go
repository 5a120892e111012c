package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

const modulePath = "github.com/thriftpack/thriftpack"

// root is the repository's root, seen from this package.
const root = "../.."

// skipped are folders whose files are not ours, or not sources.
var skipped = map[string]bool{".git": true, "bin": true, "dist": true, "node_modules": true, "gen": true, "testdata": true}

// files returns the paths of all files that keep reports true for, relative to the root and with forward slashes.
func files(t *testing.T, keep func(name string) bool) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if skipped[entry.Name()] {
				return fs.SkipDir
			}
			return nil
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if relative = filepath.ToSlash(relative); entry.Type().IsRegular() && keep(relative) {
			found = append(found, relative)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatal("no file found: is the root right?")
	}
	return found
}

// read returns the text of the file with the given path from the root.
func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// source is one Go file.
type source struct {
	name      string // from the root
	module    string // the folder of its module from the root: "", "bench", "test", "test/k8s" or "k8s/image"
	dir       string // the folder of its package, from its module's
	test      bool
	generated bool
	text      string
	file      *ast.File
	fset      *token.FileSet
}

// position returns file:line of a node.
func (s *source) position(node ast.Node) string {
	return s.fset.Position(node.Pos()).String()
}

// sources parses all Go files of the repository.
func sources(t *testing.T) []source {
	t.Helper()
	fset := token.NewFileSet()
	names := files(t, func(name string) bool { return strings.HasSuffix(name, ".go") })
	parsed := make([]source, 0, len(names))
	for _, name := range names {
		text := read(t, name)
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		module := ""
		for _, folder := range []string{"bench", "test/k8s", "test", "k8s/image"} {
			if strings.HasPrefix(name, folder+"/") {
				module = folder
				break
			}
		}
		parsed = append(parsed, source{
			name:      name,
			module:    module,
			dir:       path.Dir(strings.TrimPrefix(strings.TrimPrefix(name, module), "/")),
			test:      strings.HasSuffix(name, "_test.go"),
			generated: ast.IsGenerated(file),
			text:      text,
			file:      file,
			fset:      fset,
		})
	}
	return parsed
}

// within reports whether a package's path is one of the given prefixes, or below one.
func within(name string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if name == prefix || strings.HasPrefix(name, prefix+"/") {
			return true
		}
	}
	return false
}
