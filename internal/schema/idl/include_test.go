package idl_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/thriftpack/thriftpack/internal/schema/idl"
)

func TestIncludes(t *testing.T) {
	const s = "struct S { 1: i32 x }\n"
	tests := []struct {
		name  string
		root  string
		files map[string]string
		want  string
	}{
		{"in the folder of the file", "a/main.thrift", map[string]string{
			"a/main.thrift": "include \"sub/inner.thrift\"\nstruct A { 1: inner.S s }", "a/sub/inner.thrift": "include \"more.thrift\"\ntypedef more.S S",
			"a/sub/more.thrift": s, "more.thrift": "struct Wrong {}", "a/more.thrift": "struct Wrong {}",
		}, "1:9 include a/sub/inner.thrift as inner\n2:8 struct A\n  2:23 1 s inner.S=more.S=struct more.S\n"},
		{"in the folder of the root", "a/main.thrift", map[string]string{
			"a/main.thrift": "include \"sub/inner.thrift\"\nstruct A { 1: inner.S s }", "a/sub/inner.thrift": "include \"more.thrift\"\ntypedef more.S S",
			"a/more.thrift": s, "more.thrift": "struct Wrong {}",
		}, "1:9 include a/sub/inner.thrift as inner\n2:8 struct A\n  2:23 1 s inner.S=more.S=struct more.S\n"},
		{"at the top", "a/main.thrift", map[string]string{
			"a/main.thrift": "include \"b/s.thrift\"\nstruct A { 1: s.S s }", "b/s.thrift": s,
		}, "1:9 include b/s.thrift as s\n2:8 struct A\n  2:19 1 s s.S=struct s.S\n"},
		{"up and down inside", "a/b/main.thrift", map[string]string{
			"a/b/main.thrift": "include \"../c/./s.thrift\"\nstruct A { 1: s.S s }", "a/c/s.thrift": s,
		}, "1:9 include a/c/s.thrift as s\n2:8 struct A\n  2:19 1 s s.S=struct s.S\n"},
		{"a name with dots", "main.thrift", map[string]string{
			"main.thrift":  "include \"a.b.c.thrift\"\nstruct A { 1: a.b.c.T t = a.b.c.E.X, 2: i32 i = a.b.c.C }\nservice V extends a.b.c.U {}",
			"a.b.c.thrift": "typedef E T\nenum E { X = 3 }\nconst i32 C = 4\nservice U {}",
		}, "1:9 include a.b.c.thrift as a.b.c\n2:8 struct A\n  2:23 1 t a.b.c.T=E=enum a.b.c.E = E(3)\n" +
			"  2:45 2 i i32 = i32(4)\n3:9 service V extends a.b.c.U\n"},
		{"a file of another extension", "main.idl", map[string]string{
			"main.idl": "include \"s.txt\"\nstruct A { 1: s.S s }", "s.txt": s,
		}, "1:9 include s.txt as s\n2:8 struct A\n  2:19 1 s s.S=struct s.S\n"},
		{"twice", "main.thrift", map[string]string{
			"main.thrift": "include \"s.thrift\"\ninclude \"./s.thrift\"\nstruct A { 1: s.S s }", "s.thrift": s,
		}, "1:9 include s.thrift as s\n3:8 struct A\n  3:19 1 s s.S=struct s.S\n"},
		{"two of a name, where only one can be meant", "main.thrift", map[string]string{
			"main.thrift":  "include \"foo/s.thrift\"\ninclude \"bar/s.thrift\"\nstruct A { 1: s.S s, 2: s.T t = s.T.X, 3: i32 c = s.C }\nservice V extends s.V {}",
			"foo/s.thrift": s + "service V {}", "bar/s.thrift": "enum T { X }\nconst i32 C = 1",
		}, "1:9 include foo/s.thrift as s\n2:9 include bar/s.thrift as s\n3:8 struct A\n  3:19 1 s s.S=struct s.S\n" +
			"  3:29 2 t s.T=enum s.T = T(0)\n  3:47 3 c i32 = i32(1)\n4:9 service V extends s.V\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			program, _, err := idl.Parse(test.files, test.root, idl.DefaultLimits())
			if err != nil {
				t.Fatalf("Parse(%q): %v", test.files, err)
			}
			if got := dump(program.Root); got != test.want {
				t.Errorf("Parse(%q):\n got %s\nwant %s", test.files, got, test.want)
			}
			if last := program.Files[len(program.Files)-1]; last != program.Root || last.Path != test.root {
				t.Errorf("the last file is %s and the root is %s", last.Path, program.Root.Path)
			}
		})
	}
}

// Files come after what they include, each once.
func TestOrderOfFiles(t *testing.T) {
	program, warnings, err := idl.Parse(map[string]string{
		"main.thrift": "include \"l.thrift\"\ninclude \"r.thrift\"\nstruct A { 1: l.L l, 2: r.R r }", "l.thrift": "include \"b.thrift\"\nstruct L { 1: b.B b }",
		"r.thrift": "include \"b.thrift\"\nstruct R { 1: b.B b }", "b.thrift": "struct B {}", "unused.thrift": "this is { never read",
	}, "main.thrift", idl.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range program.Files {
		paths = append(paths, f.Path)
	}
	if got, want := strings.Join(paths, " "), "b.thrift l.thrift r.thrift main.thrift"; got != want {
		t.Errorf("files are %s, want %s", got, want)
	}
	l, r := program.Files[1].Structs[0].Fields[0].Type.Struct, program.Files[2].Structs[0].Fields[0].Type.Struct
	if l != r || l != program.Files[0].Structs[0] {
		t.Error("one struct is there twice")
	}
	if got, want := fmt.Sprint(warnings), "[unused.thrift:1:1: this file is not included]"; got != want {
		t.Errorf("warnings are %s, want %s", got, want)
	}
}

func TestIncludeErrors(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"the files of the host", map[string]string{
			"main.thrift": "include \"../../../../etc/passwd\"\ninclude \"/etc/passwd\"\ninclude \"a/../../main.thrift\"\ninclude \"..\"\ninclude \"\"\ninclude \"C:\\\\a.thrift\"",
		}, []string{
			"1:9 SCHEMA_INCLUDE: this include leads out of the files", "2:9 SCHEMA_INCLUDE: this include is absolute", "3:9 SCHEMA_INCLUDE: this include leads out",
			"4:9 SCHEMA_INCLUDE: this include leads out", "5:9 SCHEMA_INCLUDE: this include has a path that is empty", "6:9 SCHEMA_INCLUDE: this include is not among the files",
		}},
		{"a file that is not there", map[string]string{
			"main.thrift": "include \"nowhere.thrift\"\nstruct A { 1: nowhere.S s }", "b.thrift": "", "a/c.thrift": "",
		}, []string{"1:9 SCHEMA_INCLUDE: nowhere.thrift is not among the files: there are a/c.thrift, b.thrift, main.thrift"}},
		{"a file that is elsewhere", map[string]string{
			"main.thrift": "include \"x/s.thrift\"", "a.thrift": "", "z/y/s.thrift": "",
		}, []string{"1:9 SCHEMA_INCLUDE: x/s.thrift is not among the files: there are z/y/s.thrift, a.thrift, main.thrift"}},
		{"itself", map[string]string{"main.thrift": "include \"main.thrift\""}, []string{
			"1:9 SCHEMA_INCLUDE_CYCLE: files include each other: main.thrift -> main.thrift",
		}},
		{"a circle", map[string]string{
			"main.thrift": "include \"a.thrift\"", "a.thrift": "include \"sub/b.thrift\"", "sub/b.thrift": "// b\ninclude \"../a.thrift\"",
		}, []string{"sub/b.thrift:2:9 SCHEMA_INCLUDE_CYCLE: files include each other: a.thrift -> sub/b.thrift -> a.thrift"}},
		{"a path that is too long to quote, in the middle of a letter", map[string]string{
			"main.thrift": "include \"" + strings.Repeat("é", 40) + "\"\ninclude \"x" + strings.Repeat("é", 40) + "\"",
		}, []string{
			"1:9 SCHEMA_INCLUDE: " + strings.Repeat("é", 32) + "… is not among", "2:9 SCHEMA_INCLUDE: x" + strings.Repeat("é", 31) + "… is not among",
		}},
		{"errors in several files", map[string]string{
			"main.thrift": "include \"b.thrift\"\ninclude \"a.thrift\"\nstruct {}", "a.thrift": "struct A {", "b.thrift": "include \"c.thrift\"\nfoo", "c.thrift": "bar",
		}, []string{
			"3:8 SCHEMA_SYNTAX", "b.thrift:2:1 SCHEMA_SYNTAX", "c.thrift:1:1 SCHEMA_SYNTAX", "a.thrift:1:10 SCHEMA_SYNTAX",
		}},
		{"names of what is included by what is included", map[string]string{
			"main.thrift": "include \"mid.thrift\"\nstruct A { 1: leaf.L a, 2: mid.leaf.L b, 3: mid.M c }\nconst i32 C = leaf.K\nservice S extends leaf.V {}",
			"mid.thrift":  "include \"leaf.thrift\"\ntypedef leaf.L M", "leaf.thrift": "struct L {}\nconst i32 K = 1\nservice V {}",
		}, []string{
			"2:15 SCHEMA_UNDEFINED: type leaf.L is not defined: no include is named leaf", "2:28 SCHEMA_UNDEFINED: type mid.leaf.L",
			"3:15 SCHEMA_UNDEFINED: leaf.K is not defined", "4:19 SCHEMA_UNDEFINED: service leaf.V",
		}},
		{"its own name", map[string]string{"main.thrift": "struct A { 1: optional main.A a }"}, []string{"1:24 SCHEMA_UNDEFINED: type main.A is not defined: no include is named main"}},
		{"two of a name", map[string]string{
			"main.thrift":  "include \"foo/s.thrift\"\ninclude \"bar/s.thrift\"\nstruct A { 1: s.S s }\nconst i32 C = s.C\nconst i32 D = s.E.X\nservice V extends s.V {}",
			"foo/s.thrift": "struct S {}\nconst i32 C = 1\nenum E { X }\nservice V {}", "bar/s.thrift": "typedef i32 S\nconst i32 C = 2\nenum E { X }\nservice V {}",
		}, []string{
			"3:15 SCHEMA_AMBIGUOUS: s.S may be of several includes", "4:15 SCHEMA_AMBIGUOUS: s.C may be several values", "5:15 SCHEMA_AMBIGUOUS: s.E.X",
			"6:19 SCHEMA_AMBIGUOUS: s.V",
		}},
		{"an enum of the name of an include", map[string]string{
			"main.thrift": "include \"E.thrift\"\nenum E { X, Y }\nconst i32 A = E.X\nconst i32 B = E.Y\nconst i32 C = E.Z", "E.thrift": "const i32 X = 5\nconst i32 Z = 6",
		}, []string{"3:15 SCHEMA_AMBIGUOUS: E.X may be several values"}},
		{"many of a name", map[string]string{
			"main.thrift": manyIncludes(9), "1/s.thrift": "", "2/s.thrift": "", "3/s.thrift": "", "4/s.thrift": "", "5/s.thrift": "",
			"6/s.thrift": "", "7/s.thrift": "", "8/s.thrift": "", "9/s.thrift": "",
		}, []string{"9:9 SCHEMA_AMBIGUOUS: more than 8 includes are named s"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := idl.Parse(test.files, "main.thrift", idl.DefaultLimits())
			checkFound(t, fmt.Sprint(test.files), err, test.want)
			checkErrors(t, err)
		})
	}
}

func manyIncludes(count int) string {
	var b strings.Builder
	for i := 1; i <= count; i++ {
		fmt.Fprintf(&b, "include \"%d/s.thrift\"\n", i)
	}
	return b.String()
}

// A fault of another file's constant is told where the constant is used, and of its own where it is written.
func TestPlacesInOtherFiles(t *testing.T) {
	_, _, err := idl.Parse(map[string]string{
		"main.thrift": "include \"a.thrift\"\nconst list<i8> A = a.BIG\nconst i32 B = a.WRONG", "a.thrift": "const list<i32> BIG = [300]\nconst i32 WRONG = \"\"",
	}, "main.thrift", idl.DefaultLimits())
	checkFound(t, "two files", err, []string{"2:20 SCHEMA_CONST_RANGE: 300 is not in the range of i8", "a.thrift:2:19 SCHEMA_CONST_TYPE"})
}

func TestPathsOfFiles(t *testing.T) {
	for _, path := range []string{
		"", ".", "..", "/", "/main.thrift", "../main.thrift", "a/../main.thrift", "./main.thrift", "a//main.thrift", "a/", "a\\main.thrift", "a\x00.thrift", "a\n.thrift",
		"\xff.thrift", "\u202ethrift.a", "\ufffd.thrift", "\u0085", strings.Repeat("a", 256), "a/..",
	} {
		_, _, err := idl.Parse(map[string]string{path: "struct A {}"}, path, idl.DefaultLimits())
		if got := found(err); len(got) != 1 || !strings.Contains(got[0], "SCHEMA_INCLUDE: this path of a file ") {
			t.Errorf("a file %q: %q, want SCHEMA_INCLUDE", path, got)
		} else if strings.ContainsFunc(got[0], func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("a file %q: the error cannot be printed: %q", path, got)
		}
	}
	for _, path := range []string{"a", "a.thrift", "a/b/c.thrift", "…/ä b.thrift", ".hidden", "...", "a..b/c", strings.Repeat("a", 255)} {
		if _, _, err := idl.Parse(map[string]string{path: "struct A {}"}, path, idl.DefaultLimits()); err != nil {
			t.Errorf("a file %q: %v", path, err)
		}
	}
	for _, files := range []map[string]string{nil, {"other.thrift": ""}} {
		_, _, err := idl.Parse(files, "main.thrift", idl.DefaultLimits())
		if got := found(err); len(got) != 1 || !strings.HasPrefix(got[0], "main.thrift SCHEMA_INCLUDE: the root is not among the files: ") {
			t.Errorf("Parse(%q, main.thrift): %q", files, got)
		}
	}
}
