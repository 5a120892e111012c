package idl_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thriftpack/thriftpack/internal/schema/idl"
)

// FuzzParse looks for sources that make Parse panic, allocate out of proportion, return two different things for the same
// input, or break what the documentation of Program promises.
func FuzzParse(f *testing.F) {
	for _, seed := range seeds(f) {
		f.Add(seed, "struct S { 1: i32 x }\nconst i32 C = 1\nenum E { X }\nservice V { void f() }\nexception X {}\ntypedef list<S> T")
	}
	f.Fuzz(func(t *testing.T, main, other string) {
		files := map[string]string{"main.thrift": main, "other.thrift": other}
		limits := idl.DefaultLimits()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		program, warnings, err := idl.Parse(files, "main.thrift", limits)
		runtime.ReadMemStats(&after)
		size := uint64(len(main) + len(other))
		if got, most := after.TotalAlloc-before.TotalAlloc, 20<<20+200*size; got > most {
			t.Errorf("%d bytes allocate %d, want at most %d", size, got, most)
		}
		checkBounded(t, limits, warnings, err)
		again, warningsAgain, errAgain := idl.Parse(files, "main.thrift", limits)
		if diff := cmp.Diff(found(err), found(errAgain)) + cmp.Diff(warnings, warningsAgain); diff != "" {
			t.Errorf("once so and once so: %s", diff)
		}
		if err != nil {
			checkErrors(t, err)
			if program != nil {
				t.Error("a program with an error")
			}
			return
		}
		for i, file := range program.Files {
			if diff := cmp.Diff(dump(file), dump(again.Files[i])); diff != "" {
				t.Errorf("once so and once so: %s", diff)
			}
			checkFile(t, file, limits)
		}
	})
}

// seeds are small sources: the probes, the vectors, and one of each kind of what is refused.
func seeds(f *testing.F) []string {
	f.Helper()
	var list []string
	probes, err := os.Open(filepath.Join("testdata", "probes.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	defer probes.Close()
	for lines := bufio.NewScanner(probes); lines.Scan(); {
		var p probe
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			f.Fatal(err)
		}
		list = append(list, p.Text)
	}
	list = append(list, generate(1), declarations,
		"include \"other.thrift\"\nstruct A extends other.S { 1: other.S s = {\"x\": other.C}, 2: other.E e = other.E.X }\nservice W extends other.V { void g() throws (1: other.X x) }",
		"typedef map<i32, i32> A\ntypedef map<A, A> B\nconst list<B> C = [{{1: 2}: {3: 4}}, {}]\nconst set<list<double>> D = [[1, .5], [1, .5]]",
		"struct A { 1: optional A a, 2: list<A> b = [{\"b\": []}] } struct B { 1: A a = {} } struct C { 1: B b = {} }",
		"struct A { 1: i32 a xsd_attrs { 2: i32 b xsd_attrs { 3: i32 c } } xsd_nillable } union U { 1: i32 a = 5 } const U V = {\"a\": 0x7f}")
	return list
}

// checkFile checks what the documentation promises of a file.
func checkFile(t *testing.T, f *idl.File, limits idl.Limits) {
	t.Helper()
	for _, d := range f.Typedefs {
		if d.Final == nil || d.Final.Kind == idl.KindTypedef || d.Final != d.Type.Final() {
			t.Errorf("typedef %s has no final type", d.Name)
		}
	}
	for _, d := range f.Structs {
		checkFields(t, d.Fields, limits)
	}
	for _, d := range f.Consts {
		checkValue(t, d.Value, d.Type, 1, limits)
	}
	for _, d := range f.Services {
		levels := 0
		for base := d; base != nil; base = base.Extends {
			if levels++; levels > limits.Nesting {
				t.Fatalf("service %s extends too many", d.Name)
			}
		}
		for _, function := range d.Functions {
			checkFields(t, function.Args, limits)
			checkFields(t, function.Throws, limits)
			for _, x := range function.Throws {
				if x.Type.Final().Struct.Kind != idl.Exception {
					t.Errorf("%s throws what is no exception", function.Name)
				}
			}
			if function.Oneway && (function.Returns != nil || len(function.Throws) > 0) {
				t.Errorf("%s is oneway and returns", function.Name)
			}
		}
	}
}

func checkFields(t *testing.T, fields []*idl.Field, limits idl.Limits) {
	t.Helper()
	names, ids := make(map[string]bool), make(map[int16]bool)
	for _, f := range fields {
		if names[f.Name] || ids[f.ID] || f.Name == "" || strings.Contains(f.Name, ".") {
			t.Errorf("field %d %q is there twice, or has no name", f.ID, f.Name)
		}
		names[f.Name], ids[f.ID] = true, true
		checkType(t, f.Type, 1, limits)
		if f.Default != nil {
			checkValue(t, f.Default, f.Type, 1, limits)
		}
	}
}

func checkType(t *testing.T, use *idl.Type, depth int, limits idl.Limits) {
	t.Helper()
	final := use.Final()
	if final == nil || final.Kind == 0 || final.Kind == idl.KindTypedef || depth > limits.Nesting ||
		(final.Kind == idl.KindEnum) != (final.Enum != nil) || (final.Kind == idl.KindStruct) != (final.Struct != nil) ||
		(final.Kind == idl.KindMap) != (final.Key != nil) {
		t.Fatalf("type %s at %v is not sound", use.Name, use.Position)
	}
	if final.Key != nil {
		checkType(t, final.Key, depth+1, limits)
	}
	if final.Elem != nil {
		checkType(t, final.Elem, depth+1, limits)
	}
}

// checkValue checks a value, completed by the defaults of fields that are not given.
func checkValue(t *testing.T, v *idl.Value, use *idl.Type, depth int, limits idl.Limits) {
	t.Helper()
	final := use.Final()
	if v == nil || depth > limits.Nesting || v.Line == 0 || v.Type.Kind != final.Kind || v.Type.Enum != final.Enum || v.Type.Struct != final.Struct {
		t.Fatalf("a value of type %s is not of it, or too deep", showType(use))
	}
	for _, element := range v.Elements {
		checkValue(t, element, final.Elem, depth+1, limits)
	}
	for _, entry := range v.Entries {
		checkValue(t, entry.Key, final.Key, depth+1, limits)
		checkValue(t, entry.Value, final.Elem, depth+1, limits)
	}
	given := make(map[*idl.Field]bool)
	for _, field := range v.Fields {
		given[field.Field] = true
		checkValue(t, field.Value, field.Field.Type, depth+1, limits)
	}
	if final.Kind != idl.KindStruct {
		return
	}
	if final.Struct.Kind == idl.Union && len(v.Fields) != 1 || len(given) != len(v.Fields) {
		t.Errorf("a value of %s has %d members, %d of them different", final.Struct.Name, len(v.Fields), len(given))
	}
	for _, field := range final.Struct.Fields {
		if !given[field] && field.Default != nil && field.Requirement != idl.Optional {
			checkValue(t, field.Default, field.Type, depth+1, limits)
		}
	}
}
