package schema_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
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

// Each detail has what a person has to know beside the rule.
func TestChangesSayWhat(t *testing.T) {
	for _, c := range []struct{ old, updated, path, want string }{
		{"struct S {1: i32 a}", "struct S {1: optional i32 a}", "S.a", "the field is optional now"},
		{"struct S {1: optional i32 a}", "struct S {1: i32 a}", "S.a", "the field is no longer optional"},
		{"struct S {1: required i32 a}", "struct S {1: i32 a}", "S.a", "the field is no longer required"},
		{"struct S {1: i32 a}", "struct S {1: i32 a = 1}", "S.a", "the field has a default value now"},
		{"struct S {1: i32 a = 1}", "struct S {1: i32 a}", "S.a", "the field has no default value any more"},
		{"struct S {1: i32 a}", "struct S {1: i32 b}", "S.a", "the field is called b"},
		{"struct S {1: i32 a}", "struct S {2: i32 a}", "S.a", "the id is 2, was 1"},
		{"struct S {1: i32 a}", "struct S {1: string b}", "S.b", "the id 1 was that of a (i32)"},
		{"struct S {1: list<i32> a}", "struct S {1: list<i64> a}", "S.a", "the type is list<i64>, was list<i32>"},
		{"struct S {1: required i32 a}", "struct S {}", "S.a", "the required field (i32, id 1) is gone"},
		{"union U {1: i32 a}", "union U {1: i32 a, 2: i8 b}", "U.b", "the member (i8, id 2) is new"},
		{"enum E {A = 1}", "enum E {A = 2}", "E.A", "the number is 2, was 1"},
		{"enum E {A = 1}", "enum E {B = 1}", "E.A", "the number 1 is called B"},
		{"struct S {1: i32 a}", "struct T {1: i32 a}", "S", "the struct is called T"},
		{"exception S {}", "", "S", "the exception is gone"},
		{"service S { void m() }", "service S { oneway void m() }", "S.m", "the method is oneway now: it has no reply any more"},
		{"service S { void m() }", "service S { i32 m() }", "S.m.result", "the result (i32, id 0) is new"},
	} {
		found := []string{}
		for _, change := range schema.Compare(schematest.Compile(t, c.old), schematest.Compile(t, c.updated)) {
			found = append(found, change.Path+": "+change.Detail)
		}
		if want := c.path + ": " + c.want; !slices.Contains(found, want) {
			t.Errorf("from %s to %s: %q, want %q", c.old, c.updated, found, want)
		}
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
	// Each of the types A is compared with eight of the types B at most, and each of those with eight of them. Others count as changed.
	if got := counted[schema.FieldTypeChanged]; len(counted) != 1 || got < types*(30-8) || got > types*30 {
		t.Errorf("%v, want at least %d fields whose types count as changed, and nothing else", counted, types*(30-8))
	}
}
