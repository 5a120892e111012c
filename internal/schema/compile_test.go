package schema_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/schematest"
)

// outline returns what a type is in one line, and of a struct its fields: a type within it is named only.
func outline(t *schema.Type) string {
	switch {
	case t.Enum != nil:
		names := make([]string, len(t.Enum.Values))
		for i, v := range t.Enum.Values {
			names[i] = fmt.Sprintf("%s=%d", v.Name, v.Number)
		}
		return "enum " + t.Name + " {" + strings.Join(names, ", ") + "}"
	case t.Struct != nil:
		fields := make([]string, len(t.Struct.Fields))
		for i := range t.Struct.Fields {
			f := &t.Struct.Fields[i]
			requirement := map[schema.Requirement]string{
				schema.Default: "", schema.Required: "required ", schema.Optional: "optional ",
			}[f.Requirement]
			fields[i] = fmt.Sprintf("%d: %s%s %s", f.ID, requirement, f.Type.Name, f.Name)
			if f.Default != nil {
				fields[i] += " = " + hex.EncodeToString(f.Default.Compact)
			}
		}
		word := "struct "
		if t.Struct.Union {
			word = "union "
		}
		return word + t.Name + " {" + strings.Join(fields, ", ") + "}"
	default:
		return t.Name
	}
}

func outlines(s *schema.Schema) string {
	var b strings.Builder
	for _, name := range s.Types() {
		t, _ := s.Type(name)
		fmt.Fprintf(&b, "%s: %s\n", name, outline(t))
	}
	return b.String()
}

func TestNamesStandForPlans(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"nothing", "", ""},
		{
			"every base type", "struct S {1: bool a 2: byte b 3: i8 c 4: i16 d 5: i32 e 6: i64 f 7: double g 8: string h 9: binary i 10: uuid j}",
			"S: struct S {1: bool a, 2: i8 b, 3: i8 c, 4: i16 d, 5: i32 e, 6: i64 f, 7: double g, 8: string h, 9: binary i, 10: uuid j}\n",
		},
		{"containers", "typedef map<string, list<set<i32>>> M", "M: map<string, list<set<i32>>>\n"},
		{
			"typedefs are looked through", "typedef list<B> L typedef i32 A typedef A B struct S {1: L l 2: map<A, B> m}",
			"A: i32\nB: i32\nL: list<i32>\nS: struct S {1: list<i32> l, 2: map<i32, i32> m}\n",
		},
		{
			"fields by their ids", "struct S {3: i32 c, 1: optional i32 a, -2: required i32 z, 0: i32 n}",
			"S: struct S {-2: required i32 z, 0: i32 n, 1: optional i32 a, 3: i32 c}\n",
		},
		{"fields without ids", "struct S {i32 a, i32 b, 1: i32 c, i32 d}", "S: struct S {-3: i32 d, -2: i32 b, -1: i32 a, 1: i32 c}\n"},
		{"enums", "enum E {A, B = 7, C, D = 7}", "E: enum E {A=0, B=7, C=8, D=7}\n"},
		{
			"a union's members are optional", "union U {1: i32 a, 2: required string b}",
			"U: union U {1: optional i32 a, 2: optional string b}\n",
		},
		{"a union's default stands for nothing", "union U {1: i32 a = 3}", "U: union U {1: optional i32 a}\n"},
		{"exceptions are structs", "exception X {1: string why}", "X: struct X {1: string why}\n"},
		{
			"structs that hold each other", "struct A {1: optional B b} struct B {1: list<A> a 2: optional B b}",
			"A: struct A {1: optional B b}\nB: struct B {1: list<A> a, 2: optional B b}\n",
		},
		{
			"methods", "exception X {} service S { i32 sum(1: i32 a, 2: i32 b = 2) throws (1: X x), void none(), oneway void go(3: bool b) }",
			"S.go.args: struct S.go.args {3: bool b}\n" +
				"S.none.args: struct S.none.args {}\n" +
				"S.none.result: struct S.none.result {}\n" +
				"S.sum.args: struct S.sum.args {1: i32 a, 2: i32 b = 04}\n" +
				"S.sum.result: struct S.sum.result {0: optional i32 success, 1: optional X x}\n" +
				"X: struct X {}\n",
		},
		{
			"inherited methods", "service A { void a() } service B extends A { void b() } service C extends B {}",
			"A.a.args: struct A.a.args {}\nA.a.result: struct A.a.result {}\n" +
				"B.a.args: struct A.a.args {}\nB.a.result: struct A.a.result {}\n" +
				"B.b.args: struct B.b.args {}\nB.b.result: struct B.b.result {}\n" +
				"C.a.args: struct A.a.args {}\nC.a.result: struct A.a.result {}\n" +
				"C.b.args: struct B.b.args {}\nC.b.result: struct B.b.result {}\n",
		},
		{"constants have no name here", "const i32 C = 1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, outlines(schematest.Compile(t, c.source))); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", c.source, diff)
			}
		})
	}
}

func TestIncludesGiveNames(t *testing.T) {
	s := schematest.CompileFiles(t, map[string]string{
		"main.thrift":         `include "lib/base.thrift" include "a.b.thrift" service S extends base.Far {} struct R {1: base.P p, 2: a.b.Q q}`,
		"lib/base.thrift":     `include "deep.thrift" struct P {1: deep.D d} enum E {X} service Far { deep.D far(1: E e) }`,
		"lib/deep.thrift":     "struct D {1: i32 d}",
		"a.b.thrift":          "struct Q {}",
		"nobody.thrift":       "struct Unseen {}",
		"lib/elsewhere.thrif": "not IDL",
	}, "main.thrift")
	want := "R: struct R {1: base.P p, 2: a.b.Q q}\n" +
		"S.far.args: struct base.Far.far.args {1: base.E e}\n" +
		"S.far.result: struct base.Far.far.result {0: optional deep.D success}\n" +
		"a.b.Q: struct a.b.Q {}\n" +
		"base.E: enum base.E {X=0}\n" +
		"base.Far.far.args: struct base.Far.far.args {1: base.E e}\n" +
		"base.Far.far.result: struct base.Far.far.result {0: optional deep.D success}\n" +
		"base.P: struct base.P {1: deep.D d}\n"
	if diff := cmp.Diff(want, outlines(s)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	d := schematest.TypeOf(t, s, "base.P").Struct.FieldByID(1).Type
	if got, want := outline(d), "struct deep.D {1: i32 d}"; got != want {
		t.Errorf("the type of a file that is included by an include: %s, want %s", got, want)
	}
	if got, want := d.Struct.At.String(), "lib/deep.thrift:1:8"; got != want {
		t.Errorf("its position: %s, want %s", got, want)
	}
	if s.Cost < 500 || s.Cost > 20_000 {
		t.Errorf("Cost %d, want that of a small schema", s.Cost)
	}
}

func TestNamesOfTwoFilesStandForNeither(t *testing.T) {
	s := schematest.CompileFiles(t, map[string]string{
		"main.thrift": "include 'a/same.thrift'\ninclude 'b/same.thrift'\ninclude 'S.m.thrift'\n" +
			"service S { void m() }\nstruct R {1: same.A a}",
		"a/same.thrift": "struct A {}\nstruct Both {}",
		"b/same.thrift": "struct B {}\nstruct Both {}",
		"S.m.thrift":    "struct args {1: i32 a}",
	}, "main.thrift")
	if diff := cmp.Diff([]string{"R", "S.m.args", "S.m.result", "same.A", "same.B"}, s.Types()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := outline(schematest.TypeOf(t, s, "S.m.args")); got != "struct S.m.args {}" {
		t.Errorf("S.m.args is %s, want the root's", got)
	}
	want := []string{
		"S.m.thrift:1:8: the name S.m.args is that of the type at main.thrift:4:18",
		"b/same.thrift:2:8: the name same.Both is in two included files, and is left out",
	}
	if diff := cmp.Diff(want, s.Warnings); diff != "" {
		t.Errorf("warnings (-want +got)\n%s", diff)
	}
}

func TestWarningsAreBounded(t *testing.T) {
	var source strings.Builder
	source.WriteString("struct R {1: required i32 a}\n")
	for i := range 300 {
		fmt.Fprintf(&source, "struct S%d {1: R r = {}}\n", i)
	}
	s := schematest.Compile(t, source.String())
	if got := s.Warnings[len(s.Warnings)-1]; len(s.Warnings) != 101 || got != "test.thrift: and 200 more warnings of what was compiled" {
		t.Errorf("%d warnings, the last: %s", len(s.Warnings), got)
	}
}

// Caches of schemas are bounded by what they say that they cost.
func TestTheCostIsAboutTheMemory(t *testing.T) {
	for name, source := range map[string]func(b *strings.Builder, i int){
		"small structs": func(b *strings.Builder, i int) { fmt.Fprintf(b, "struct S%d {1: i32 a}\n", i) },
		"wide structs": func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "struct S%d {", i)
			for j := range 30 {
				fmt.Fprintf(b, "%d: optional list<i32> field%d\n", j+1, j)
			}
			b.WriteString("}\n")
		},
		"far ids": func(b *strings.Builder, i int) { fmt.Fprintf(b, "struct S%d {1: i32 a, 30: i32 b, 999: i32 c}\n", i) },
		"enums":   func(b *strings.Builder, i int) { fmt.Fprintf(b, "enum E%d {A, B, C, D, E, F, G, H, I, J}\n", i) },
		"methods": func(b *strings.Builder, i int) { fmt.Fprintf(b, "service S%d { i32 m(1: i32 a), i32 n() }\n", i) },
		"defaults": func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "struct S%d {1: list<i32> l = [1, 2, 3, 4, 5, 6]}\n", i)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for i := range 1000 {
				source(&b, i)
			}
			text := b.String()
			var before, after runtime.MemStats
			collect := func() { // pools give up what they hold in two steps
				runtime.GC()
				runtime.GC()
			}
			collect()
			runtime.ReadMemStats(&before)
			s := schematest.Compile(t, text)
			collect()
			runtime.ReadMemStats(&after)
			held := int64(after.HeapAlloc) - int64(before.HeapAlloc) + int64(len(text))
			if ratio := float64(s.Cost) / float64(held); ratio < 0.5 || ratio > 2 {
				t.Errorf("cost %d, %d bytes are held: %.2f", s.Cost, held, ratio)
			} else {
				t.Logf("cost %d, %d bytes are held: %.2f", s.Cost, held, ratio)
			}
			runtime.KeepAlive(s)
		})
	}
}

// The IDL allows for 2^n ways from a name to what it stands for: containers of typedefs of containers, constants of constants,
// methods inherited from services that inherit. Time, memory and names must grow with the text or end at a limit.
func TestHostileSourcesEndAtLimits(t *testing.T) {
	repeat := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.NewReplacer("$", strconv.Itoa(i), "@", strconv.Itoa(i+1)).Replace(format))
		}
		return b.String()
	}
	for _, c := range []struct {
		name, source string
		want         fault.Reason // "" where it compiles
	}{
		{"maps of maps by typedefs", "typedef i32 T0\n" + repeat(7, "typedef map<T$, T$> T@\n"), ""},
		{"more maps of maps by typedefs", "typedef i32 T0\n" + repeat(60, "typedef map<T$, T$> T@\n"), fault.SizeLimit},
		{"structs in a chain", repeat(20_000, "struct S$ {1: S@ s}\n") + "struct S20000 {}", ""},
		{"services in a chain", "service V0 {void m0()}\n" + repeat(4000, "service V@ extends V$ {void m@()}\n"), fault.DepthLimit},
		{"one method for many services", "service V0 {" + repeat(1000, "void m$()\n") + "}\n" +
			repeat(20_000, "service V@ extends V0 {}\n"), fault.SizeLimit},
		{"defaults of defaults", "struct S0 {1: i32 a = 1}\n" + repeat(40, "struct S@ {1: S$ a = {}, 2: S$ b = {}}\n"), fault.SizeLimit},
		{"defaults in a chain", "struct S0 {1: i32 a = 1}\n" + repeat(62, "struct S@ {1: S$ a = {}}\n"), ""},
		{"defaults in a longer chain", "struct S0 {1: i32 a = 1}\n" + repeat(70, "struct S@ {1: S$ a = {}}\n"), fault.DepthLimit},
		{"a long name in many types", "struct " + strings.Repeat("L", 512) + " {}\ntypedef " + strings.Repeat("L", 512) +
			" A\nstruct S {" + repeat(8000, "$: map<i32, map<A, list<A>>> f$\n") + "}", ""},
		{"as many fields as there may be", "struct S {" + repeat(8192, "$: i32 f$\n") + "}", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := schema.Compile("hostile", map[string]string{"a.thrift": c.source}, "a.thrift", schema.DefaultLimits())
			if c.want != "" {
				if !errors.Is(err, fault.New(c.want, "")) {
					t.Errorf("%v, want %s", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if s.Cost > 100*int64(len(c.source))+100_000 {
				t.Errorf("cost %d for %d bytes of source", s.Cost, len(c.source))
			}
			for _, name := range s.Types() {
				plan, _ := s.Type(name)
				if plan.Elem != nil && len(plan.Name) > 200 {
					t.Fatalf("a container's name of %d bytes", len(plan.Name))
				}
			}
		})
	}
}

func TestLimitsAreKept(t *testing.T) {
	files := map[string]string{"a.thrift": "struct S {1: i32 a = 5}"}
	whole, err := schema.Compile("s", files, "a.thrift", schema.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	limits := schema.DefaultLimits()
	limits.PlanBytes = whole.Cost
	if _, err := schema.Compile("s", files, "a.thrift", limits); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	limits.PlanBytes--
	var over *fault.Error
	if _, err := schema.Compile("s", files, "a.thrift", limits); !errors.As(err, &over) || over.Reason != fault.SizeLimit ||
		over.Limit != limits.PlanBytes || over.Actual <= over.Limit {
		t.Errorf("one byte less: %v, want SIZE_LIMIT with both numbers", err)
	}
	if _, err := schema.Compile("s", files, "a.thrift", schema.Limits{}); err == nil {
		t.Error("no limits at all: compiled")
	}
}

func TestOneSourceHasOneForm(t *testing.T) {
	files := schematest.VectorFiles(t)
	var first string
	for range 10 {
		var b strings.Builder
		for _, root := range []string{"defaults.thrift", "shapes.thrift", "rpc.thrift", "apiary.thrift", "exotic.thrift"} {
			s := schematest.CompileFiles(t, files, root)
			fmt.Fprintln(&b, outlines(s), s.Warnings, s.Revision, s.Cost)
		}
		all := b.String()
		if first == "" {
			first = all
		}
		if all != first {
			t.Fatalf("two forms (-first +other)\n%s", cmp.Diff(first, all))
		}
	}
}

func TestEveryPositionIsKnown(t *testing.T) {
	s := schematest.Compile(t, "enum E {\n  A,\n  B\n}\nstruct S {\n  1: i32 a\n  -1: E e\n}\nservice V {\n i32 m(1: i32 x)\n}")
	e := schematest.TypeOf(t, s, "E").Enum
	of := schematest.TypeOf(t, s, "S").Struct
	args, result := schematest.TypeOf(t, s, "V.m.args").Struct, schematest.TypeOf(t, s, "V.m.result").Struct
	for _, c := range []struct {
		of   string
		at   schema.Position
		want string
	}{
		{"enum", e.At, "test.thrift:1:6"},
		{"its first value", e.Values[0].At, "test.thrift:2:3"},
		{"its second value", e.Values[1].At, "test.thrift:3:3"},
		{"struct", of.At, "test.thrift:5:8"},
		{"field 1", of.FieldByID(1).At, "test.thrift:6:10"},
		{"field -1", of.FieldByID(-1).At, "test.thrift:7:9"},
		{"arguments", args.At, "test.thrift:10:6"},
		{"an argument", args.Fields[0].At, "test.thrift:10:15"},
		{"result", result.At, "test.thrift:10:6"},
		{"its value", result.Fields[0].At, "test.thrift:10:6"},
	} {
		if c.at.String() != c.want {
			t.Errorf("%s: %s, want %s", c.of, c.at, c.want)
		}
	}
}

func TestRevisionsAreOfTheContent(t *testing.T) {
	one := schema.Revision(map[string]string{"a": "x", "b": "y"}, "a")
	for _, c := range []struct {
		name  string
		files map[string]string
		root  string
		same  bool
	}{
		{"the same", map[string]string{"b": "y", "a": "x"}, "a", true},
		{"another root", map[string]string{"a": "x", "b": "y"}, "b", false},
		{"another text", map[string]string{"a": "x", "b": "z"}, "a", false},
		{"a text in another file", map[string]string{"a": "y", "b": "x"}, "a", false},
		{"a name that ends later", map[string]string{"ax": "", "b": "y"}, "a", false},
		{"one file less", map[string]string{"a": "x"}, "a", false},
	} {
		if got := schema.Revision(c.files, c.root); (got == one) != c.same || len(got) != 16 {
			t.Errorf("%s: %s, and the first is %s", c.name, got, one)
		}
	}
}

func TestResultsAreCalledSuccess(t *testing.T) {
	for source, want := range map[string]string{
		"exception X {} service S { i32 m() throws (1: X success) }":  "test.thrift:1:49",
		"exception X {} service S { void m() throws (1: X success) }": "",
	} {
		_, err := schema.Compile("s", map[string]string{schematest.Root: source}, schematest.Root, schema.DefaultLimits())
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", source, err)
			}
			continue
		}
		var duplicate *fault.Error
		if !errors.As(err, &duplicate) || duplicate.Reason != fault.SchemaDuplicate || duplicate.Path != want {
			t.Errorf("%s: %v, want SCHEMA_DUPLICATE at %s", source, err, want)
		}
	}
}
