package schema_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/schematest"
)

// briefly returns a change as "RULE path breaks", b for backward, f for forward, n for names.
func briefly(c schema.Change) string {
	breaks := ""
	for _, one := range []struct {
		breaks schema.Breaks
		letter string
	}{{schema.BreaksBackward, "b"}, {schema.BreaksForward, "f"}, {schema.BreaksNames, "n"}} {
		if c.Breaks&one.breaks != 0 {
			breaks += one.letter
		}
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", c.Rule, c.Path, breaks))
}

func compare(t *testing.T, old, updated string) []string {
	t.Helper()
	got := []string{}
	for _, c := range schema.Compare(schematest.Compile(t, old), schematest.Compile(t, updated)) {
		got = append(got, briefly(c))
	}
	return got
}

// Each row is looked at in both directions.
var compareRows = []struct {
	name, old, updated string
	forth, back        []string
}{
	{
		"an optional field", "struct S {1: i32 a}", "struct S {1: i32 a, 2: optional i32 b}",
		[]string{"FIELD_ADDED S.b"},
		[]string{"FIELD_REMOVED S.b"},
	},
	{
		"a required field", "struct S {1: i32 a}", "struct S {1: i32 a, 2: required i32 b}",
		[]string{"REQUIRED_FIELD_ADDED S.b b"},
		[]string{"REQUIRED_FIELD_REMOVED S.b f"},
	},
	{
		"a required field with a default, which readers want all the same", "struct S {}", "struct S {2: required i32 b = 3}",
		[]string{"REQUIRED_FIELD_ADDED S.b b"},
		[]string{"REQUIRED_FIELD_REMOVED S.b f"},
	},
	{
		"from optional to required", "struct S {1: optional i32 a}", "struct S {1: required i32 a}",
		[]string{"FIELD_MADE_REQUIRED S.a b"},
		[]string{"FIELD_NO_LONGER_REQUIRED S.a f"},
	},
	{
		"from no word to required", "struct S {1: i32 a}", "struct S {1: required i32 a}",
		[]string{"FIELD_MADE_REQUIRED S.a b"},
		[]string{"FIELD_NO_LONGER_REQUIRED S.a f"},
	},
	{
		"from no word to optional", "struct S {1: i32 a}", "struct S {1: optional i32 a}",
		[]string{"FIELD_REQUIREMENT_CHANGED S.a"},
		[]string{"FIELD_REQUIREMENT_CHANGED S.a"},
	},
	{
		"a new name", "struct S {1: i32 a}", "struct S {1: i32 b}",
		[]string{"FIELD_RENAMED S.a n"},
		[]string{"FIELD_RENAMED S.b n"},
	},
	{
		"a new name and a new kind of bytes", "struct S {1: i32 a}", "struct S {1: string b}",
		[]string{"FIELD_ID_REUSED S.b bf"},
		[]string{"FIELD_ID_REUSED S.a bf"},
	},
	{
		"a new name and other elements", "struct S {1: list<i32> a}", "struct S {1: list<i64> b}",
		[]string{"FIELD_ID_REUSED S.b bf"},
		[]string{"FIELD_ID_REUSED S.a bf"},
	},
	{
		"a new id", "struct S {1: i32 a}", "struct S {2: i32 a}",
		[]string{"FIELD_ID_CHANGED S.a bf"},
		[]string{"FIELD_ID_CHANGED S.a bf"},
	},
	{
		"two fields change places", "struct S {1: i32 a, 2: i32 b}", "struct S {1: i32 b, 2: i32 a}",
		[]string{"FIELD_ID_CHANGED S.a bf", "FIELD_ID_REUSED S.a bf", "FIELD_ID_CHANGED S.b bf", "FIELD_ID_REUSED S.b bf"},
		[]string{"FIELD_ID_CHANGED S.a bf", "FIELD_ID_REUSED S.a bf", "FIELD_ID_CHANGED S.b bf", "FIELD_ID_REUSED S.b bf"},
	},
	{
		"a new field takes the id of one that moves", "struct S {1: i32 a}", "struct S {1: i32 b, 2: i32 a}",
		[]string{"FIELD_ID_CHANGED S.a bf", "FIELD_ID_REUSED S.b bf"},
		[]string{"FIELD_ID_CHANGED S.a bf", "FIELD_ID_REUSED S.a bf"},
	},
	{
		"a wider integer", "struct S {1: i32 a}", "struct S {1: i64 a}",
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
	},
	{
		"i8 is byte", "struct S {1: byte a}", "struct S {1: i8 a}", []string{}, []string{},
	},
	{
		"bool and i8", "struct S {1: bool a}", "struct S {1: i8 a}",
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
	},
	{
		"list and set", "struct S {1: list<i32> a}", "struct S {1: set<i32> a}",
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
	},
	{
		"wider elements", "struct S {1: map<i32, list<i32>> a}", "struct S {1: map<i32, list<i64>> a}",
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
	},
	{
		"wider keys", "struct S {1: map<i32, i8> a}", "struct S {1: map<i64, i8> a}",
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
	},
	{
		"a typedef", "typedef i32 T struct S {1: list<T> a}", "struct S {1: list<i32> a}",
		[]string{"TYPE_REMOVED T bn"},
		[]string{"TYPE_ADDED T"},
	},
	{
		"a typedef for another type", "typedef i32 T struct S {1: list<T> a}", "typedef i16 T struct S {1: list<T> a}",
		[]string{"FIELD_TYPE_CHANGED S.a bf", "TYPE_CHANGED T bf"},
		[]string{"FIELD_TYPE_CHANGED S.a bf", "TYPE_CHANGED T bf"},
	},
	{
		"a typedef that comes before its struct", "struct Z {1: i32 z} typedef Z A", "struct Z {1: i64 z} typedef Z A",
		[]string{"FIELD_TYPE_CHANGED Z.z bf"},
		[]string{"FIELD_TYPE_CHANGED Z.z bf"},
	},
	{
		"text and bytes", "struct S {1: string a}", "struct S {1: binary a}",
		[]string{"STRING_MADE_BINARY S.a fn"},
		[]string{"BINARY_MADE_STRING S.a bn"},
	},
	{
		"text and bytes in containers", "struct S {1: map<string, list<binary>> a}", "struct S {1: map<binary, list<string>> a}",
		[]string{"BINARY_MADE_STRING S.a bn", "STRING_MADE_BINARY S.a fn"},
		[]string{"BINARY_MADE_STRING S.a bn", "STRING_MADE_BINARY S.a fn"},
	},
	{
		"text and bytes by a typedef", "typedef string T", "typedef binary T",
		[]string{"STRING_MADE_BINARY T fn"},
		[]string{"BINARY_MADE_STRING T bn"},
	},
	{
		"numbers get names", "enum E {A} struct S {1: i32 a}", "enum E {A} struct S {1: E a}",
		[]string{"INTEGER_MADE_ENUM S.a n"},
		[]string{"ENUM_MADE_INTEGER S.a n"},
	},
	{
		"an enum is no i64", "enum E {A} struct S {1: i64 a}", "enum E {A} struct S {1: E a}",
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
	},
	{
		"a default", "struct S {1: optional i32 a = 1}", "struct S {1: optional i32 a = 2}",
		[]string{"DEFAULT_CHANGED S.a bf"},
		[]string{"DEFAULT_CHANGED S.a bf"},
	},
	{
		"a default or none", "struct S {1: i32 a}", "struct S {1: i32 a = 0}",
		[]string{"DEFAULT_CHANGED S.a bf"},
		[]string{"DEFAULT_CHANGED S.a bf"},
	},
	{
		"a default that is written otherwise", "const i32 C = 5 struct S {1: i32 a = 5}", "const i32 C = 5 struct S {1: i32 a = C}",
		[]string{},
		[]string{},
	},
	{
		"a required field's default, which only JSON can do without", "struct S {1: required i32 a = 1}", "struct S {1: required i32 a}",
		[]string{"REQUIRED_DEFAULT_CHANGED S.a n"},
		[]string{"REQUIRED_DEFAULT_CHANGED S.a n"},
	},
	{
		"a default within a default", "struct I {1: i32 a = 1} struct S {1: optional I i = {}}",
		"struct I {1: i32 a = 2} struct S {1: optional I i = {}}",
		[]string{"DEFAULT_CHANGED I.a bf", "DEFAULT_CHANGED S.i bf"},
		[]string{"DEFAULT_CHANGED I.a bf", "DEFAULT_CHANGED S.i bf"},
	},
	{
		"a default of a new type", "struct S {1: i32 a = 1}", "struct S {1: i64 a = 1}",
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
	},
	{
		"a member of a union", "union U {1: i32 a}", "union U {1: i32 a, 2: i32 b}",
		[]string{"UNION_MEMBER_ADDED U.b f"},
		[]string{"UNION_MEMBER_REMOVED U.b b"},
	},
	{
		"a member's name", "union U {1: i32 a}", "union U {1: i32 b}",
		[]string{"FIELD_RENAMED U.a n"},
		[]string{"FIELD_RENAMED U.b n"},
	},
	{
		"struct and union", "struct S {1: i32 a, 2: i32 b = 3}", "union S {1: i32 a, 3: i32 c}",
		[]string{"STRUCT_MADE_UNION S b", "FIELD_REMOVED S.b", "FIELD_ADDED S.c"},
		[]string{"UNION_MADE_STRUCT S f", "FIELD_ADDED S.b", "FIELD_REMOVED S.c"},
	},
	{
		"struct and union, with a required field", "struct S {1: required i32 a}", "union S {1: i32 a}",
		[]string{"STRUCT_MADE_UNION S b", "FIELD_NO_LONGER_REQUIRED S.a f"},
		[]string{"UNION_MADE_STRUCT S f", "FIELD_MADE_REQUIRED S.a b"},
	},
	{
		"struct and union, with a default", "struct S {1: optional i32 a = 1}", "union S {1: i32 a = 1}",
		[]string{"STRUCT_MADE_UNION S b", "DEFAULT_CHANGED S.a bf"},
		[]string{"UNION_MADE_STRUCT S f", "DEFAULT_CHANGED S.a bf"},
	},
	{"struct and exception", "struct S {1: i32 a}", "exception S {1: i32 a}", []string{}, []string{}},
	{
		"an enum's value", "enum E {A}", "enum E {A, B}",
		[]string{"ENUM_VALUE_ADDED E.B"},
		[]string{"ENUM_VALUE_REMOVED E.B n"},
	},
	{
		"a value's name", "enum E {A, B}", "enum E {A, C}",
		[]string{"ENUM_VALUE_RENAMED E.B n"},
		[]string{"ENUM_VALUE_RENAMED E.C n"},
	},
	{
		"a value's number", "enum E {A = 1, B = 2}", "enum E {A = 1, B = 3}",
		[]string{"ENUM_VALUE_RENUMBERED E.B bf"},
		[]string{"ENUM_VALUE_RENUMBERED E.B bf"},
	},
	{
		"two values change places", "enum E {A, B}", "enum E {B, A}",
		[]string{"ENUM_VALUE_RENUMBERED E.A bf", "ENUM_VALUE_RENUMBERED E.B bf"},
		[]string{"ENUM_VALUE_RENUMBERED E.A bf", "ENUM_VALUE_RENUMBERED E.B bf"},
	},
	{
		"a second name of a number", "enum E {A = 1}", "enum E {A = 1, B = 1}",
		[]string{"ENUM_VALUE_ADDED E.B"},
		[]string{"ENUM_VALUE_REMOVED E.B n"},
	},
	{"the order of values", "enum E {A = 1, B = 2}", "enum E {B = 2, A = 1}", []string{}, []string{}},
	{
		"a type", "struct S {1: i32 a}", "struct S {1: i32 a} enum E {A}", []string{"TYPE_ADDED E"}, []string{"TYPE_REMOVED E bn"},
	},
	{
		"a type's name", "struct A {1: i32 a} struct S {1: A a}", "struct B {1: i32 a} struct S {1: B a}",
		[]string{"TYPE_RENAMED A n"},
		[]string{"TYPE_RENAMED B n"},
	},
	{
		"an enum's name", "enum A {X} struct S {1: A a}", "enum B {X} struct S {1: B a}",
		[]string{"TYPE_RENAMED A n"},
		[]string{"TYPE_RENAMED B n"},
	},
	{
		"the name of a type that holds itself", "struct A {1: optional A a}", "struct B {1: optional B a}",
		[]string{"TYPE_RENAMED A n"},
		[]string{"TYPE_RENAMED B n"},
	},
	{
		"the name of a type with another default", "struct A {1: i32 a = 1}", "struct B {1: i32 a = 2}",
		[]string{"TYPE_RENAMED A n", "DEFAULT_CHANGED A.a bf"},
		[]string{"TYPE_RENAMED B n", "DEFAULT_CHANGED B.a bf"},
	},
	{
		"one of two equal types", "struct A {1: i32 a}", "struct B {1: i32 a} struct C {1: i32 a}",
		[]string{"TYPE_REMOVED A bn", "TYPE_ADDED B", "TYPE_ADDED C"},
		[]string{"TYPE_REMOVED B bn", "TYPE_REMOVED C bn", "TYPE_ADDED A"},
	},
	{
		"empty types are not renamed", "struct A {}", "struct B {}",
		[]string{"TYPE_REMOVED A bn", "TYPE_ADDED B"},
		[]string{"TYPE_REMOVED B bn", "TYPE_ADDED A"},
	},
	{
		"another type of the same form", "struct A {1: i32 a} struct B {1: i32 a} struct S {1: A f}",
		"struct A {1: i32 a} struct B {1: i32 a} struct S {1: B f}",
		[]string{},
		[]string{},
	},
	{
		"another type of another form", "struct A {1: i32 a} struct B {1: i64 a} struct S {1: list<A> f}",
		"struct A {1: i32 a} struct B {1: i64 a} struct S {1: list<B> f}",
		[]string{"FIELD_TYPE_CHANGED S.f.a bf"},
		[]string{"FIELD_TYPE_CHANGED S.f.a bf"},
	},
	{
		"another enum of the same numbers", "enum A {X, Y} enum B {X, Z} struct S {1: A f}", "enum A {X, Y} enum B {X, Z} struct S {1: B f}",
		[]string{"ENUM_VALUE_RENAMED S.f.Y n"},
		[]string{"ENUM_VALUE_RENAMED S.f.Z n"},
	},
	{
		"struct and enum", "struct T {1: i32 a}", "enum T {A}", []string{"TYPE_CHANGED T bf"}, []string{"TYPE_CHANGED T bf"},
	},
	{
		"structs that hold each other", "struct A {1: optional B b} struct B {1: optional A a, 2: i32 x}",
		"struct A {1: optional B b} struct B {1: optional A a, 2: i64 x}",
		[]string{"FIELD_TYPE_CHANGED B.x bf"},
		[]string{"FIELD_TYPE_CHANGED B.x bf"},
	},
	{
		"a method", "service S {}", "service S { i32 m(1: i32 a) }", []string{"METHOD_ADDED S.m"}, []string{"METHOD_REMOVED S.m bn"},
	},
	{
		"an argument", "service S { void m() }", "service S { void m(1: i32 a) }",
		[]string{"FIELD_ADDED S.m.args.a"},
		[]string{"FIELD_REMOVED S.m.args.a"},
	},
	{
		"an argument's type", "service S { void m(1: i32 a) }", "service S { void m(1: i64 a) }",
		[]string{"FIELD_TYPE_CHANGED S.m.args.a bf"},
		[]string{"FIELD_TYPE_CHANGED S.m.args.a bf"},
	},
	{
		"a result", "service S { void m() }", "service S { i32 m() }",
		[]string{"METHOD_RESULT_ADDED S.m.result b"},
		[]string{"METHOD_RESULT_REMOVED S.m.result f"},
	},
	{
		"a result's type", "service S { i32 m() }", "service S { i64 m() }",
		[]string{"FIELD_TYPE_CHANGED S.m.result.success bf"},
		[]string{"FIELD_TYPE_CHANGED S.m.result.success bf"},
	},
	{
		"an exception", "exception X {} service S { void m() }", "exception X {} service S { void m() throws (1: X x) }",
		[]string{"METHOD_EXCEPTION_ADDED S.m.result.x f"},
		[]string{"METHOD_EXCEPTION_REMOVED S.m.result.x b"},
	},
	{
		"oneway", "service S { void m() }", "service S { oneway void m() }",
		[]string{"METHOD_ONEWAY_CHANGED S.m bf"},
		[]string{"METHOD_ONEWAY_CHANGED S.m bf"},
	},
	{
		"a method that is inherited", "service A { void m() } service B { void m() }", "service A { void m() } service B extends A {}",
		[]string{},
		[]string{},
	},
}

func TestCompare(t *testing.T) {
	for _, c := range compareRows {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.forth, compare(t, c.old, c.updated)); diff != "" {
				t.Errorf("from %s\nto %s: (-want +got)\n%s", c.old, c.updated, diff)
			}
			if diff := cmp.Diff(c.back, compare(t, c.updated, c.old)); diff != "" {
				t.Errorf("from %s\nto %s: (-want +got)\n%s", c.updated, c.old, diff)
			}
		})
	}
}

func TestEveryRuleHasARow(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range compareRows {
		for _, line := range append(c.forth, c.back...) {
			rule, _, _ := strings.Cut(line, " ")
			seen[rule] = true
		}
	}
	for _, rule := range schema.Rules() {
		if !seen[string(rule)] {
			t.Errorf("%s is in no row", rule)
		}
		delete(seen, string(rule))
	}
	for rule := range seen {
		t.Errorf("%s is not among the rules", rule)
	}
}

// docs/schemas.md lists the rules in the same order, and says of each whom it breaks.
func TestTheDocumentHasEveryRule(t *testing.T) {
	text, err := os.ReadFile("../../docs/schemas.md")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| ([a-z, ]+) \\|").FindAllStringSubmatch(string(text), -1) {
		got = append(got, row[1]+": "+row[2])
	}
	for _, rule := range schema.Rules() {
		breaks := []string{}
		for _, one := range []struct {
			breaks schema.Breaks
			word   string
		}{{schema.BreaksBackward, "backward"}, {schema.BreaksForward, "forward"}, {schema.BreaksNames, "names"}} {
			if rule.Breaks()&one.breaks != 0 {
				breaks = append(breaks, one.word)
			}
		}
		if len(breaks) == 0 {
			breaks = []string{"nothing"}
		}
		want = append(want, string(rule)+": "+strings.Join(breaks, ", "))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A schema does not differ from itself, nor from what the same files compile to once more.
func TestNothingDiffersFromItself(t *testing.T) {
	check := func(files map[string]string, root string) {
		one, other := schematest.CompileFiles(t, files, root), schematest.CompileFiles(t, files, root)
		if got := append(schema.Compare(one, one), schema.Compare(one, other)...); len(got) > 0 {
			t.Errorf("%s: %v", files[root], got)
		}
	}
	for _, c := range compareRows {
		check(map[string]string{schematest.Root: c.old}, schematest.Root)
		check(map[string]string{schematest.Root: c.updated}, schematest.Root)
	}
	vectors := schematest.VectorFiles(t)
	for root := range vectors {
		check(vectors, root)
	}
}

func TestChangesSayWhere(t *testing.T) {
	old := schematest.Compile(t, "enum E {A, B}\nstruct S {\n  1: i32 a = 7\n  2: string gone\n}\nunion U {1: i32 m}")
	updated := schematest.Compile(t, "enum E {A}\n\nstruct S {\n  1: i32 a = 8\n  3: list<string> more }\nunion U {1: i32 m, 4: map<i32,S> n}")
	got := []string{}
	for _, c := range schema.Compare(old, updated) {
		got = append(got, fmt.Sprintf("%s: %s [%s] [%s]", c.Path, c.Detail, c.Old, c.New))
	}
	want := []string{
		"E.B: the name of 1 is gone [test.thrift:1:12] [:0:0]",
		"S.a: the field has another default value [test.thrift:3:10] [test.thrift:4:10]",
		"U.n: the member (map<i32, S>, id 4) is new [:0:0] [test.thrift:6:34]",
		"S.gone: the field (string, id 2) is gone [test.thrift:4:13] [:0:0]",
		"S.more: the field (list<string>, id 3) is new [:0:0] [test.thrift:5:19]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestPolicies(t *testing.T) {
	every := []schema.Change{
		{},
		{Breaks: schema.BreaksBackward},
		{Breaks: schema.BreaksForward},
		{Breaks: schema.BreaksNames},
		{Breaks: schema.BreaksBackward | schema.BreaksForward},
		{Breaks: schema.BreaksForward | schema.BreaksNames},
	}
	for _, c := range []struct {
		name   string
		policy schema.Policy
		want   []int // indexes of what is refused
	}{
		{"none", schema.None, nil},
		{"backward", schema.Backward, []int{1, 4}},
		{"forward", schema.Forward, []int{2, 4, 5}},
		{"full", schema.Full, []int{1, 2, 3, 4, 5}},
	} {
		want := []schema.Change{}
		for _, i := range c.want {
			want = append(want, every[i])
		}
		if diff := cmp.Diff(want, c.policy.Refused(every)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

// Fields may pair each type of the old revision with each of the new one. That must not cost the product of their sizes.
func TestComparingIsLinear(t *testing.T) {
	var old, updated strings.Builder
	const types, fields = 300, 300
	for i := range types {
		for _, b := range []*strings.Builder{&old, &updated} {
			for _, name := range []string{"A", "B"} {
				fmt.Fprintf(b, "struct %s%d {", name, i)
				for j := range fields / 10 {
					fmt.Fprintf(b, "%d: i32 f%d\n", j+1, j)
				}
				b.WriteString("}\n")
			}
		}
	}
	for i := range types {
		fmt.Fprintf(&old, "struct S%d {", i)
		fmt.Fprintf(&updated, "struct S%d {", i)
		for j := range 30 {
			fmt.Fprintf(&old, "%d: A%d f%d\n", j+1, i, j)
			fmt.Fprintf(&updated, "%d: B%d f%d\n", j+1, (i+j)%types, j)
		}
		old.WriteString("}\n")
		updated.WriteString("}\n")
	}
	got := schema.Compare(schematest.Compile(t, old.String()), schematest.Compile(t, updated.String()))
	counted := map[schema.Rule]int{}
	for _, c := range got {
		counted[c.Rule]++
	}
	// Each of the types A is compared with eight others; the others are changes, as nobody looked.
	if counted[schema.FieldTypeChanged] == 0 || len(counted) != 1 || counted[schema.FieldTypeChanged] > types*30 {
		t.Errorf("%v, want some fields whose types are counted as changed", counted)
	}
}
