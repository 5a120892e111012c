// Package idl compares the parser of Thrift IDL with Apache's compiler, where that is installed (Debian's package is
// thrift-compiler): what it says of a source, and what it reads it as, by its generator of JSON.
package idl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema/idl"
)

// timeout ends the compiler where a source makes it run for ever.
const timeout = 5 * time.Second

// compiler is Apache's compiler and the folder in which it works, in a new one for every program.
type compiler struct {
	path, folder string
	programs     int
}

// newCompiler finds Apache's compiler, or skips the test.
func newCompiler(t *testing.T) *compiler {
	t.Helper()
	path, err := exec.LookPath("thrift")
	if err != nil {
		t.Skip("Apache's compiler is not installed")
	}
	return &compiler{path: path, folder: t.TempDir()}
}

// verdict is what the compiler says of a program.
type verdict struct {
	accepted bool
	// hung says that it did not end, or crashed.
	hung bool
	text string
	// json is the root as the compiler has read it, or nil where it is not accepted, or its generator's JSON is none.
	json map[string]any
}

// compile compiles a program.
func (c *compiler) compile(t *testing.T, files map[string]string, root string) verdict {
	t.Helper()
	c.programs++
	folder := filepath.Join(c.folder, strconv.Itoa(c.programs))
	for path, text := range files {
		path = filepath.Join(folder, filepath.FromSlash(path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	v := c.run(t, folder, root)
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	return v
}

// run compiles a file of a folder.
func (c *compiler) run(t *testing.T, folder, root string) verdict {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	command := exec.CommandContext(ctx, c.path, "-nowarn", "--allow-neg-keys", "--gen", "json", "-out", c.folder, root)
	command.Dir = folder
	output, err := command.CombinedOutput()
	v := verdict{text: strings.Join(strings.Fields(strings.ReplaceAll(string(output), folder, "")), " ")}
	var exit *exec.ExitError
	switch {
	case err == nil:
		v.accepted = true
	case ctx.Err() != nil, errors.As(err, &exit) && !exit.Exited():
		v.hung = true
	}
	if v.accepted {
		text, err := os.ReadFile(filepath.Join(c.folder, strings.TrimSuffix(filepath.Base(root), ".thrift")+".json"))
		if err != nil {
			t.Fatal(err)
		}
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&v.json); err != nil {
			v.json = nil // the generator does not escape everything that it should
		}
	}
	return v
}

// compare compares what the parser and the compiler say of a program, and returns what they differ in, or "", and whether
// both accept it.
func (c *compiler) compare(t *testing.T, files map[string]string, root string) (diff string, accepted bool) {
	t.Helper()
	program, _, err := idl.Parse(files, root, idl.DefaultLimits())
	if hangs(err) {
		return "", false
	}
	theirs := c.compile(t, files, root)
	switch {
	case theirs.hung, theirs.accepted && stricter(err), !theirs.accepted && err == nil && laxer(theirs.text):
		return "", false
	case theirs.accepted && err != nil:
		return "the compiler accepts what the parser does not: " + err.Error(), false
	case !theirs.accepted && err == nil:
		return "the parser accepts what the compiler does not: " + theirs.text, false
	case err != nil:
		return "", false
	case theirs.json == nil:
		return "", true
	}
	return cmp.Diff(simplify(theirs.json), describe(program.Root)), true
}

// hangs reports whether the compiler runs for ever on what the parser found, or crashes.
func hangs(err error) bool {
	var list idl.Errors
	return errors.As(err, &list) && slices.ContainsFunc(list, func(e *fault.Error) bool {
		return e.Reason == fault.SchemaTypedefCycle || e.Reason == fault.SchemaIncludeCycle || e.Detail == "this comment is not closed"
	})
}

func TestVectors(t *testing.T) {
	c := newCompiler(t)
	folder := filepath.Join("..", "testdata", "vectors", "idl")
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
	for path := range files {
		if path == "uuids.thrift" {
			continue // the compiler knows uuid since 0.18, and Debian has 0.17
		}
		if diff, accepted := c.compare(t, files, path); diff != "" || !accepted {
			t.Errorf("%s: accepted %v: %s", path, accepted, diff)
		}
	}
}

func TestPrograms(t *testing.T) {
	c := newCompiler(t)
	for name, text := range programs {
		t.Run(name, func(t *testing.T) {
			if diff, _ := c.compare(t, program(text), "main.thrift"); diff != "" {
				t.Errorf("%q: - is the compiler's, + the parser's: %s", text, diff)
			}
		})
	}
}

// rounds is how many programs are made of each kind.
const rounds = 100

func TestRandomPrograms(t *testing.T) {
	c := newCompiler(t)
	both := 0
	for seed := range uint64(rounds) {
		files := newProgram(seed, 8)
		diff, accepted := c.compare(t, files, "main.thrift")
		if diff != "" {
			t.Errorf("seed %d: %s\n- is the compiler's, + the parser's: %s", seed, files["main.thrift"], diff)
		}
		if accepted {
			both++
		}
	}
	if both < rounds/4 {
		t.Errorf("%d of %d programs are accepted: too few to compare", both, rounds)
	}
}

func TestMutatedPrograms(t *testing.T) {
	c := newCompiler(t)
	texts := slices.Sorted(maps.Values(programs))
	both := 0
	for seed := range uint64(2 * rounds) {
		r := rand.New(rand.NewPCG(seed, 815))
		files := newProgram(seed, 4)
		if seed%2 == 0 {
			files = program(texts[r.IntN(len(texts))])
		}
		files["main.thrift"] = mutate(r, files["main.thrift"])
		diff, accepted := c.compare(t, files, "main.thrift")
		if diff != "" {
			t.Errorf("seed %d: %s\n- is the compiler's, + the parser's: %s", seed, files["main.thrift"], diff)
		}
		if accepted {
			both++
		}
	}
	t.Logf("%d of %d programs are accepted", both, 2*rounds)
}
