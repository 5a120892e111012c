package idl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thriftpack/thriftpack/internal/schema/idl"
)

// showType writes a type with what it was resolved to.
func showType(t *idl.Type) string {
	if t == nil {
		return "void"
	}
	switch t.Kind {
	case idl.KindMap:
		return "map<" + showType(t.Key) + ", " + showType(t.Elem) + ">"
	case idl.KindList, idl.KindSet:
		return t.Name + "<" + showType(t.Elem) + ">"
	case idl.KindTypedef:
		return t.Name + "=" + showType(t.Final())
	case idl.KindEnum:
		return t.Name + "=enum " + t.Enum.File.Name + "." + t.Enum.Name
	case idl.KindStruct:
		return t.Name + "=struct " + t.Struct.File.Name + "." + t.Struct.Name
	default:
		return t.Name
	}
}

// dump writes a file, a line for each definition and member, each with its place.
func dump(f *idl.File) string {
	var b strings.Builder
	line := func(p idl.Position, indent, format string, args ...any) {
		fmt.Fprintf(&b, "%s%d:%d %s\n", indent, p.Line, p.Column, fmt.Sprintf(format, args...))
	}
	fields := func(fields []*idl.Field, indent string) {
		for _, f := range fields {
			text := fmt.Sprintf("%d %s %s", f.ID, f.Name, showType(f.Type))
			text += [...]string{idl.Default: "", idl.Required: " required", idl.Optional: " optional"}[f.Requirement]
			if f.Default != nil {
				text += " = " + show(f.Default)
			}
			line(f.Position, indent, "%s", text)
		}
	}
	for _, i := range f.Includes {
		line(i.Position, "", "include %s as %s", i.File.Path, i.File.Name)
	}
	for _, d := range f.Typedefs {
		line(d.Position, "", "typedef %s %s is %s", d.Name, showType(d.Type), showType(d.Final))
	}
	for _, d := range f.Enums {
		line(d.Position, "", "enum %s", d.Name)
		for _, v := range d.Values {
			line(v.Position, "  ", "%s %d", v.Name, v.Number)
		}
	}
	for _, d := range f.Structs {
		line(d.Position, "", "%s %s", [...]string{idl.Plain: "struct", idl.Union: "union", idl.Exception: "exception"}[d.Kind], d.Name)
		fields(d.Fields, "  ")
	}
	for _, d := range f.Consts {
		line(d.Position, "", "const %s %s = %s", d.Name, showType(d.Type), show(d.Value))
	}
	for _, d := range f.Services {
		base := ""
		if d.Extends != nil {
			base = " extends " + d.Extends.File.Name + "." + d.Extends.Name
		}
		line(d.Position, "", "service %s%s", d.Name, base)
		for _, f := range d.Functions {
			oneway := ""
			if f.Oneway {
				oneway = " oneway"
			}
			line(f.Position, "  ", "%s %s%s", f.Name, showType(f.Returns), oneway)
			fields(f.Args, "    ")
			fields(f.Throws, "    throws ")
		}
	}
	return b.String()
}

// checkDump checks what a source is read as, and its warnings.
func checkDump(t *testing.T, text, want string, wantWarnings ...string) {
	t.Helper()
	program, warnings, err := parse(text)
	if err != nil {
		t.Fatalf("Parse(%q): %v", text, err)
	}
	if diff := cmp.Diff(strings.TrimLeft(want, "\n"), dump(program.Root)); diff != "" {
		t.Errorf("Parse(%q), - is wanted, + is there:\n%s", text, diff)
	}
	ok := len(warnings) == len(wantWarnings)
	for i := range min(len(warnings), len(wantWarnings)) {
		ok = ok && strings.HasPrefix(strings.TrimPrefix(warnings[i].String(), "main.thrift:"), wantWarnings[i])
	}
	if !ok {
		t.Errorf("Parse(%q) warns %q, want %q", text, warnings, wantWarnings)
	}
}

func TestEverythingIsRead(t *testing.T) {
	checkDump(t, `// comment
# another
/* and
   another */ namespace go a.b
namespace * c
namespace xsd e (uri = "d", f)
cpp_include "<deque>"
/** Documentation. */
const map<string, list<i32>> M = {"a": [1; 2], 'b': [],};
typedef i64 (js.type = "Long") Long (a = "b"),
typedef Long Longer
enum E { A, B = 0x10 (c = "d"); C
  D = -1, E } (f)
struct S xsd_all {
  1: required i32 a = 5,
  2: optional string b = "x" xsd_optional xsd_nillable xsd_attrs { 1: i32 z } (x = "1", y.z='two'; w v = "3",);
  0x10: map cpp_type "m" <Long, set cpp_type "s" <list<list<binary>> cpp_type "l">> c
  17: list<string (u="1")> (v="2") d ()
  18: optional S & e
  19: E f = E.B
} (g = "h");
union U { 1: bool a; 2: uuid b } exception X { 1: string message }
service Empty {}
service P { void ping() } (i)
service Q extends P {
  oneway void fire(1: Longer at),
  async void forget();
  list<E> all(1: i32 a = 3, 2: S s) throws (1: X x) (j = "k")
  E one() throws ()
};
`, `
10:32 typedef Long i64 is i64
11:14 typedef Longer Long=i64 is i64
12:6 enum E
  12:10 A 0
  12:13 B 16
  12:33 C 17
  13:3 D -1
  13:11 E 0
14:8 struct S
  15:19 1 a i32 required = i32(5)
  16:22 2 b string optional = string("x")
  17:85 16 c map<Long=i64, set<list<list<binary>>>>
  18:36 17 d list<string>
  19:20 18 e S=struct main.S optional
  20:9 19 f E=enum main.E = E(16)
22:7 union U
  22:19 1 a bool optional
  22:30 2 b uuid optional
22:44 exception X
  22:58 1 message string
9:30 const M map<string, list<i32>> = map[string("a"): list[i32(1) i32(2)] string("b"): list[]]
23:9 service Empty
24:9 service P
  24:18 ping void
25:9 service Q extends main.P
  26:15 fire void oneway
    26:30 1 at Longer=i64
  27:14 forget void oneway
  28:11 all list<E=enum main.E>
    28:22 1 a i32 = i32(3)
    28:34 2 s S=struct main.S
    throws 28:50 1 x X=struct main.X
  29:5 one E=enum main.E
`[1:])
}

// What is used before it is defined: types are, constants are not.
func TestForwardReferences(t *testing.T) {
	checkDump(t, "struct A { 1: B b = {\"e\": E.Y}, 2: T t = E.X, 3: list<U> u }\ntypedef E T\nunion U { 1: A a }\nstruct B { 1: optional A a, 2: E e }\nenum E { X, Y }\n", `
2:11 typedef T E=enum main.E is E=enum main.E
5:6 enum E
  5:10 X 0
  5:13 Y 1
1:8 struct A
  1:17 1 b B=struct main.B = B{2 e: E(1)}
  1:38 2 t T=E=enum main.E = E(0)
  1:58 3 u list<U=struct main.U>
3:7 union U
  3:16 1 a A=struct main.A optional
4:8 struct B
  4:26 1 a A=struct main.A optional
  4:34 2 e E=enum main.E
`)
}

func TestFieldIDs(t *testing.T) {
	checkDump(t, "struct A { i32 a, i32 b, 1: i32 c, i32 d }", `
1:8 struct A
  1:16 -1 a i32
  1:23 -2 b i32
  1:33 1 c i32
  1:40 -3 d i32
`, "1:16: a has no id and gets -1")
	checkDump(t, "struct A { -5: i32 a, i32 b, 0: i32 c, -1: i32 d, 0x10: i32 e, -32768: i32 f, 32767: i32 g }", `
1:8 struct A
  1:20 -5 a i32
  1:27 -6 b i32
  1:37 0 c i32
  1:48 -1 d i32
  1:61 16 e i32
  1:76 -32768 f i32
  1:90 32767 g i32
`, "1:12: field id -5 is kept; Apache's compiler makes it -1", "1:27: b has no id and gets -6", "1:30: field id 0 is kept", "1:64: field id -32768 is kept")
	checkDump(t, "struct A { -32767: i32 a, i32 b }", `
1:8 struct A
  1:24 -32767 a i32
  1:31 -32768 b i32
`, "1:12: field id -32767 is kept", "1:31: b has no id and gets -32768")
	checkDump(t, "service S { void f(i32 a, 1: i32 b) throws (X x, X y) } exception X {}", `
1:67 exception X
1:9 service S
  1:18 f void
    1:24 -1 a i32
    1:34 1 b i32
    throws 1:47 -1 x X=struct main.X
    throws 1:52 -2 y X=struct main.X
`, "1:24: a has no id", "1:47: x has no id")
	// As in Apache's compiler, the ids behind xsd_attrs go on from those in it.
	checkDump(t, "struct A { i32 a xsd_attrs { i32 x, Missing y = MISSING }, i32 b }", `
1:8 struct A
  1:16 -1 a i32
  1:64 -3 b i32
`, "1:16: a has no id", "1:34: x has no id")
}

func TestKeywordsAsNames(t *testing.T) {
	checkDump(t, `struct A {
  1: bool trueNum, 2: i32 structure, 3: i32 includes, 4: i32 optionalx, 5: i32 i32x
  6: i32 from, 7: i32 delete, 8: optional bool required, 9: list<i32> map, 10: string string
  11: uuid uuid, 12: required i32 optional, 13: i32 throws 14: list<i32> cpp_type, 15: i32 xsd_all, 16: i32 struct
}
enum E { E2, EXP1, e10, string, true }
service S { void list(1: i32 void) throws (1: X throws) i32 oneway() oneway void async() }
exception X {}
const E C = E.string
const i32 D = E.true
`, `
6:6 enum E
  6:10 E2 0
  6:14 EXP1 1
  6:20 e10 2
  6:25 string 3
  6:33 true 4
1:8 struct A
  2:11 1 trueNum bool
  2:27 2 structure i32
  2:45 3 includes i32
  2:62 4 optionalx i32
  2:80 5 i32x i32
  3:10 6 from i32
  3:23 7 delete i32
  3:48 8 required bool optional
  3:71 9 map list<i32>
  3:87 10 string string
  4:12 11 uuid uuid
  4:35 12 optional i32 required
  4:53 13 throws i32
  4:74 14 cpp_type list<i32>
  4:92 15 xsd_all i32
  4:109 16 struct i32
8:11 exception X
9:9 const C E=enum main.E = E(3)
10:11 const D i32 = i32(4)
7:9 service S
  7:18 list void
    7:30 1 void i32
    throws 7:49 1 throws X=struct main.X
  7:61 oneway i32
  7:82 async void oneway
`)
}

// Comments may be in any encoding, and annotations have any text.
func TestBytesThatAreNotRead(t *testing.T) {
	checkDump(t, "/**//***//****/ // \xe9t\xe9 \x00 @\n# \xff\n/* \xfe */ struct A { 1: i32 a (b = \"\xff\") }\r\n", `
3:16 struct A
  3:27 1 a i32
`)
}

// A separator behind a definition once made other parsers stop there, without an error.
func TestSeparatorsBehindDefinitions(t *testing.T) {
	checkDump(t, "namespace * a; struct A {1:i32 a}; struct B {1:i32 b}, enum E {}; service S {};", `
1:61 enum E
1:23 struct A
  1:32 1 a i32
1:43 struct B
  1:52 1 b i32
1:75 service S
`)
}

func TestWarnings(t *testing.T) {
	checkDump(t, `cpp_namespace a.b
union U { 1: required i32 a }
service S { oneway i32 f(1: optional i32 a) }
enum E { A, B }
const E C = Other.B
const set<i32> D = [1, 1]
const map<i32, i32> F = {1: 1, 1: 2}
`, `
4:6 enum E
  4:10 A 0
  4:13 B 1
2:7 union U
  2:27 1 a i32 optional
5:9 const C E=enum main.E = E(1)
6:16 const D set<i32> = set[i32(1)]
7:21 const F map<i32, i32> = map[i32(1): i32(2)]
3:9 service S
  3:24 f void oneway
    3:42 1 a i32
`, "1:1: cpp_namespace is out of use", "2:27: member a of a union is optional", "3:20: a oneway function has no result",
		"3:29: arguments and exceptions are not optional", "5:13: Other.B is taken for the value of E of that name",
		"6:24: this element is in the set already", "7:32: this key is in the map already")
}

// A default that looks as if it contained itself does not where the field is given.
func TestDefaultsThatEnd(t *testing.T) {
	checkDump(t, "struct A { 1: list<A> b = [{'b': []}] }\nstruct B { 1: optional B b = {} }\nstruct C { 1: C c }\nconst C D = {'c': {}}", `
1:8 struct A
  1:23 1 b list<A=struct main.A> = list[A{1 b: list[]}]
2:8 struct B
  2:26 1 b B=struct main.B optional = B{}
3:8 struct C
  3:17 1 c C=struct main.C
4:9 const D C=struct main.C = C{1 c: C{}}
`)
}

// What multiplies by typedefs stays within its limits, but chains of names may be long.
func TestLongChains(t *testing.T) {
	const length = 10_000
	var b strings.Builder
	b.WriteString("typedef list<i32> T0\nconst i32 C0 = 7\n")
	for i := 1; i <= length; i++ {
		fmt.Fprintf(&b, "typedef T%d T%d\nconst i32 C%d = C%d\n", i-1, i, i, i-1)
	}
	fmt.Fprintf(&b, "struct S { 1: T%d a = [C%d], 2: i64 b = C%d }", length, length, length)
	program, _, err := parse(b.String())
	if err != nil {
		t.Fatal(err)
	}
	fields := program.Root.Structs[0].Fields
	if got := show(fields[0].Default) + show(fields[1].Default); got != "list[i32(7)]i64(7)" {
		t.Errorf("defaults at the ends of the chains are %s", got)
	}
	if final := fields[0].Type.Final(); final.Kind != idl.KindList {
		t.Errorf("the type at the end of the chain is %s", showType(final))
	}
}
