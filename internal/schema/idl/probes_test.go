package idl_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/thriftpack/thriftpack/internal/schema/idl"
)

// probe is a small program and what Apache's compilers say of it.
type probe struct {
	Name    string            `json:"name"`
	Text    string            `json:"text"`
	Files   map[string]string `json:"files"`
	Verdict string            `json:"0.25"`
}

// differs has the probes of which this package says other than Apache's compiler 0.25, and why.
var differs = map[string]string{
	"ids/too-big":            "an id outside of 16 bits cannot be written: an error, where the compiler warns",
	"struct/semicolon-after": "a separator after a definition is taken: other parsers stopped there and lost the rest",
	"header/old-namespace":   "namespaces are of no use here, so that old words for them are taken, with a warning",
}

func TestVerdictsAreThoseOfApache(t *testing.T) {
	file, err := os.Open(filepath.Join("testdata", "probes.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unused := maps.Clone(differs)
	count := 0
	for lines := bufio.NewScanner(file); lines.Scan(); count++ {
		var p probe
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		t.Run(p.Name, func(t *testing.T) {
			files := map[string]string{"main.thrift": p.Text}
			maps.Copy(files, p.Files)
			program, _, err := idl.Parse(files, "main.thrift", idl.DefaultLimits())
			_, other := differs[p.Name]
			delete(unused, p.Name)
			if accepted := strings.HasPrefix(p.Verdict, "ok"); accepted != (err == nil) != other {
				t.Errorf("Parse(%q) = %v; Apache's compiler: %s; listed as different: %v", p.Text, err, p.Verdict, other)
			}
			checkErrors(t, err)
			if err == nil && len(program.Files) != len(files) {
				t.Errorf("Parse(%q) has %d files, want %d", p.Text, len(program.Files), len(files))
			}
		})
	}
	if count < 100 {
		t.Errorf("%d probes, want at least 100", count)
	}
	for name := range unused {
		t.Errorf("%s is listed as different, and is no probe", name)
	}
}

// checkErrors checks what holds for every error: at least one, and each with a reason and a place.
func checkErrors(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	var list idl.Errors
	if !errors.As(err, &list) || len(list) == 0 {
		t.Fatalf("error is %T %v, want Errors", err, err)
	}
	for _, e := range list {
		if e.Reason == "" || e.Path == "" || strings.Count(e.Path, ":") != 2 || e.Detail == "" {
			t.Errorf("error %+v lacks a reason, a place or words", e)
		}
	}
}

func TestVectorsAreRead(t *testing.T) {
	const folder = "../../../test/testdata/vectors/idl"
	paths, err := filepath.Glob(filepath.Join(folder, "*.thrift"))
	if err != nil || len(paths) < 12 {
		t.Fatalf("%d files in %s, %v", len(paths), folder, err)
	}
	files := make(map[string]string)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = string(text)
	}
	for _, root := range slices.Sorted(maps.Keys(files)) {
		if _, _, err := idl.Parse(files, root, idl.DefaultLimits()); err != nil {
			t.Errorf("Parse(vectors, %q): %v", root, err)
		}
	}
}
