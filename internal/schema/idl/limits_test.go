package idl_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema/idl"
)

// repeat joins what a function returns for 0 up to count.
func repeat(count int, format func(int) string) string {
	var b strings.Builder
	for i := range count {
		b.WriteString(format(i))
	}
	return b.String()
}

// chain is so many files, each of which includes the next.
func chain(count int) map[string]string {
	files := map[string]string{"main.thrift": "include \"1.thrift\""}
	for i := 1; i < count; i++ {
		files[fmt.Sprintf("%d.thrift", i)] = fmt.Sprintf("include \"%d.thrift\"", i+1)
	}
	files[fmt.Sprintf("%d.thrift", count-1)] = ""
	return files
}

func TestLimits(t *testing.T) {
	one := func(text string) map[string]string { return map[string]string{"main.thrift": text} }
	tests := []struct {
		name   string
		set    func(*idl.Limits, int)
		limit  int
		reason fault.Reason
		// files has what is as large as it says.
		files func(size int) map[string]string
	}{
		{"FileBytes", func(l *idl.Limits, n int) { l.FileBytes = n }, 100, fault.SizeLimit, func(n int) map[string]string {
			return one(strings.Repeat(" ", n))
		}},
		{"TotalBytes", func(l *idl.Limits, n int) { l.TotalBytes = n }, 100, fault.SizeLimit, func(n int) map[string]string {
			return map[string]string{"main.thrift": strings.Repeat(" ", n/2), "a.thrift": strings.Repeat(" ", n-n/2)}
		}},
		{"Files", func(l *idl.Limits, n int) { l.Files = n }, 10, fault.SizeLimit, chain},
		{"IncludeDepth", func(l *idl.Limits, n int) { l.IncludeDepth = n }, 10, fault.DepthLimit, chain},
		{"IncludeDepth", func(l *idl.Limits, n int) { l.IncludeDepth = n }, 10, fault.DepthLimit, func(n int) map[string]string {
			// The chain is first met at its last files, from where it looks short.
			files := chain(n)
			files["main.thrift"] = fmt.Sprintf("include \"%d.thrift\"\ninclude \"3.thrift\"\ninclude \"1.thrift\"", n-2)
			return files
		}},
		{"Nesting", func(l *idl.Limits, n int) { l.Nesting = n }, 10, fault.DepthLimit, func(n int) map[string]string {
			return one("struct S { 1: " + strings.Repeat("list<", n-1) + "i32" + strings.Repeat(">", n-1) + " a }")
		}},
		{"Nesting", func(l *idl.Limits, n int) { l.Nesting = n }, 10, fault.DepthLimit, func(n int) map[string]string {
			return one("typedef i32 T0\n" + repeat(n-1, func(i int) string { return fmt.Sprintf("typedef list<T%d> T%d\n", i, i+1) }))
		}},
		{"Nesting", func(l *idl.Limits, n int) { l.Nesting = n }, 10, fault.DepthLimit, func(n int) map[string]string {
			return one("typedef list<i32> T0\nstruct S { 1: " + strings.Repeat("set<", n-2) + "T0" + strings.Repeat(">", n-2) + " a }")
		}},
		{"Nesting", func(l *idl.Limits, n int) { l.Nesting = n }, 10, fault.DepthLimit, func(n int) map[string]string {
			return one("struct S { 1: optional S s }\nconst S C = " + strings.Repeat(`{"s": `, n-1) + "{}" + strings.Repeat("}", n-1))
		}},
		{"Nesting", func(l *idl.Limits, n int) { l.Nesting = n }, 10, fault.DepthLimit, func(n int) map[string]string {
			return one("struct S { 1: optional S s }\nconst S C0 = {}\n" +
				repeat(n-1, func(i int) string { return fmt.Sprintf("const S C%d = {\"s\": C%d}\n", i+1, i) }))
		}},
		{"Nesting", func(l *idl.Limits, n int) { l.Nesting = n }, 10, fault.DepthLimit, func(n int) map[string]string {
			return one("struct S0 { }\n" + repeat(n-1, func(i int) string { return fmt.Sprintf("struct S%d { 1: S%d s = {} }\n", i+1, i) }) +
				fmt.Sprintf("const S%d C = {}", n-1))
		}},
		{"Nesting", func(l *idl.Limits, n int) { l.Nesting = n }, 10, fault.DepthLimit, func(n int) map[string]string {
			return one("service S0 {}\n" + repeat(n-1, func(i int) string { return fmt.Sprintf("service S%d extends S%d {}\n", i+1, i) }))
		}},
		{"Nesting", func(l *idl.Limits, n int) { l.Nesting = n }, 10, fault.DepthLimit, func(n int) map[string]string {
			return one("struct S { " + strings.Repeat("1: i32 a xsd_attrs { ", n-1) + strings.Repeat("} ", n-1) + "}")
		}},
		{"Definitions", func(l *idl.Limits, n int) { l.Definitions = n }, 14, fault.SizeLimit, func(n int) map[string]string {
			return map[string]string{
				"main.thrift": "include \"a.thrift\"\nenum E {} typedef i32 T const i32 C = 1 service S { void f() void g() }",
				"a.thrift":    repeat(n-6, func(i int) string { return fmt.Sprintf("union U%d {} ", i) }),
			}
		}},
		{"Members", func(l *idl.Limits, n int) { l.Members = n }, 20, fault.SizeLimit, func(n int) map[string]string {
			return one("struct S { " + repeat(n, func(i int) string { return fmt.Sprintf("%d: i32 f%d ", i+1, i) }) + "}")
		}},
		{"Members", func(l *idl.Limits, n int) { l.Members = n }, 20, fault.SizeLimit, func(n int) map[string]string {
			return one("enum E { " + repeat(n, func(i int) string { return fmt.Sprintf("V%d ", i) }) + "}")
		}},
		{"Members", func(l *idl.Limits, n int) { l.Members = n }, 20, fault.SizeLimit, func(n int) map[string]string {
			return one("service S { " + repeat(n, func(i int) string { return fmt.Sprintf("void f%d() ", i) }) + "}")
		}},
		{"Members", func(l *idl.Limits, n int) { l.Members = n }, 20, fault.SizeLimit, func(n int) map[string]string {
			return one("exception X {} service S { void f() throws (" + repeat(n, func(i int) string { return fmt.Sprintf("%d: X x%d ", i+1, i) }) + ")}")
		}},
		{"NameBytes", func(l *idl.Limits, n int) { l.NameBytes = n }, 20, fault.SizeLimit, func(n int) map[string]string {
			return one("struct " + strings.Repeat("a", n) + " {}")
		}},
		{"NameBytes", func(l *idl.Limits, n int) { l.NameBytes = n }, 20, fault.SizeLimit, func(n int) map[string]string {
			return one("namespace go " + strings.Repeat("a.", n/2-1) + strings.Repeat("b", n-2*(n/2-1)))
		}},
		{"TypeSize", func(l *idl.Limits, n int) { l.TypeSize = n }, 11, fault.SizeLimit, func(n int) map[string]string {
			// 3 for map<i32, i32>, 2 more for each typedef, and 1 more for a list.
			text := "typedef map<i32, i32> T0\n" + repeat((n-3)/2, func(i int) string { return fmt.Sprintf("typedef map<i32, T%d> T%d\n", i, i+1) })
			last := fmt.Sprintf("T%d", (n-3)/2)
			if (n-3)%2 == 1 {
				last = "list<" + last + ">"
			}
			return one(text + "struct S { 1: " + last + " a }")
		}},
		{"Types", func(l *idl.Limits, n int) { l.Types = n }, 30, fault.SizeLimit, func(n int) map[string]string {
			return one("struct S { " + repeat(n/3, func(i int) string { return fmt.Sprintf("%d: map<bool, i8> f%d ", i+1, i) }) + "}\n" +
				repeat(n%3, func(i int) string { return fmt.Sprintf("typedef i32 T%d\n", i) }))
		}},
		{"ConstantBytes", func(l *idl.Limits, n int) { l.ConstantBytes = n }, 320, fault.SizeLimit, func(n int) map[string]string {
			return one("const string S = \"" + strings.Repeat("x", n-16) + "\"")
		}},
		{"ConstantBytes", func(l *idl.Limits, n int) { l.ConstantBytes = n }, 320, fault.SizeLimit, func(n int) map[string]string {
			return one("const list<i32> S = [" + strings.Repeat("1,", n/16-2) + "]\nconst string T = \"" + strings.Repeat("x", n%16) + "\"")
		}},
		{"ConstantBytes", func(l *idl.Limits, n int) { l.ConstantBytes = n }, 320, fault.SizeLimit, func(n int) map[string]string {
			// 3 * (16 + 10) for A and its 2 elements of B, 4 * 16 for the lists: it is what is referred to that counts
			return one("const string A = \"0123456789\"\nconst list<string> B = [A, A]\nstruct S { 1: list<string> a = B }\nconst string C = \"" +
				strings.Repeat("x", n-(5*26+2*16+16)) + "\"")
		}},
		{"ConstantBytes", func(l *idl.Limits, n int) { l.ConstantBytes = n }, 320, fault.SizeLimit, func(n int) map[string]string {
			// 16 for the default, 32 for each S and 16 more for a b: defaults count where they are filled in
			return one("struct S { 1: i32 a = 1, 2: optional i32 b }\nconst list<S> L = [{}, {}, {\"b\": 2}]\nconst string C = \"" +
				strings.Repeat("x", n-(16+16+32+32+48+16)) + "\"")
		}},
	}
	for _, test := range tests {
		limits := idl.DefaultLimits()
		test.set(&limits, test.limit)
		if _, _, err := idl.Parse(test.files(test.limit), "main.thrift", limits); err != nil {
			t.Errorf("%s %d, as large as %.200q: %v", test.name, test.limit, test.files(test.limit), err)
		}
		files := test.files(test.limit + 1)
		_, _, err := idl.Parse(files, "main.thrift", limits)
		var list idl.Errors
		if !errors.As(err, &list) {
			t.Errorf("%s %d takes one more: %.200q", test.name, test.limit, files)
			continue
		}
		last := list[len(list)-1]
		if len(list) != 1 || last.Reason != test.reason || last.Limit != int64(test.limit) || last.Actual <= last.Limit ||
			!strings.Contains(last.Detail, fmt.Sprintf(": %d, more than the limit of %d", last.Actual, last.Limit)) {
			t.Errorf("%s %d, one more than the limit: %v, %+v, want %s with the limit", test.name, test.limit, err, last, test.reason)
		}
	}
}

// However many definitions are allowed, a chain of typedefs does not grow the stack without a bound.
func TestChainsOfTypedefsAreBounded(t *testing.T) {
	limits := idl.DefaultLimits()
	limits.Definitions, limits.FileBytes, limits.TotalBytes = 1<<30, 1<<30, 1<<30
	backwards := func(count int) map[string]string {
		return map[string]string{"main.thrift": repeat(count-1, func(i int) string { return fmt.Sprintf("typedef T%d T%d\n", i+1, i) }) +
			fmt.Sprintf("typedef i32 T%d\n", count-1)}
	}
	if _, _, err := idl.Parse(backwards(1<<16), "main.thrift", limits); err != nil {
		t.Errorf("65,536 typedefs: %v", err)
	}
	_, _, err := idl.Parse(backwards(1<<16+1), "main.thrift", limits)
	checkFound(t, "65,537 typedefs", err, []string{"65537:13 DEPTH_LIMIT: typedefs of typedefs: 65537, more than the limit of 65536"})
}

// A limit that was forgotten refuses everything that it bounds.
func TestLimitsFailClosed(t *testing.T) {
	files := map[string]string{"main.thrift": "include \"a.thrift\"\nstruct S { 1: a.T t = [1] }", "a.thrift": "typedef list<i32> T"}
	if _, _, err := idl.Parse(files, "main.thrift", idl.Limits{}); err == nil {
		t.Error("no limits take everything")
	}
	limits := reflect.TypeFor[idl.Limits]()
	for i := range limits.NumField() {
		name := limits.Field(i).Name
		if name == "Errors" || name == "Warnings" || name == "Pause" {
			continue // they bound what is said, not what is taken, or nothing
		}
		some := idl.DefaultLimits()
		reflect.ValueOf(&some).Elem().Field(i).SetInt(0)
		if _, _, err := idl.Parse(files, "main.thrift", some); err == nil {
			t.Errorf("without %s everything is taken", name)
		}
		if reflect.ValueOf(idl.DefaultLimits()).Field(i).Int() <= 0 {
			t.Errorf("%s has no default", name)
		}
	}
}

func TestNumberOfErrorsAndWarnings(t *testing.T) {
	limits := idl.DefaultLimits()
	limits.Errors, limits.Warnings = 3, 2
	_, _, err := idl.Parse(map[string]string{"main.thrift": strings.Repeat("$\n", 100)}, "main.thrift", limits)
	checkFound(t, "$", err, []string{"1:1 SCHEMA_SYNTAX", "2:1 SCHEMA_SYNTAX", "3:1 SCHEMA_SYNTAX"})
	_, _, err = idl.Parse(map[string]string{"main.thrift": "struct S {" + repeat(9, func(i int) string { return fmt.Sprintf("%d: X f%d\n", i+1, i) }) + "}"}, "main.thrift", limits)
	checkFound(t, "X", err, []string{"1:14 SCHEMA_UNDEFINED", "2:4 SCHEMA_UNDEFINED", "3:4 SCHEMA_UNDEFINED"})
	_, warnings, err := idl.Parse(map[string]string{"main.thrift": repeat(5, func(i int) string { return fmt.Sprintf("struct S%d { i32 a }\n", i) })}, "main.thrift", limits)
	limits.Warnings = 0
	if _, none, err := idl.Parse(map[string]string{"main.thrift": "struct S { i32 a }"}, "main.thrift", limits); err != nil || len(none) != 0 {
		t.Errorf("without warnings there are %q, %v", none, err)
	}
	if err != nil || len(warnings) != 3 || warnings[2].String() != "main.thrift:2:17: and 3 more warnings" {
		t.Errorf("warnings are %q, %v", warnings, err)
	}
}

// hostile are sources that are made to cost more than they weigh, at most 1 MiB each.
func hostile() map[string]map[string]string {
	const most = 1 << 20
	fill := func(before, piece, after string) map[string]string {
		return map[string]string{"main.thrift": before + strings.Repeat(piece, (most-len(before)-len(after))/len(piece)) + after}
	}
	many := func(before string, count int, format string) map[string]string {
		return map[string]string{"main.thrift": before + repeat(count, func(i int) string {
			return strings.NewReplacer("$I", strconv.Itoa(i), "$N", strconv.Itoa(i+1)).Replace(format)
		})}
	}
	circle := map[string]string{"main.thrift": "include \"0.thrift\""}
	all := map[string]string{"main.thrift": ""}
	for i := range 255 {
		circle[fmt.Sprintf("%d.thrift", i)] = fmt.Sprintf("include \"%d.thrift\"", (i+1)%255)
		all[fmt.Sprintf("%d.thrift", i)] = repeat(255, func(j int) string { return fmt.Sprintf("include \"%d.thrift\"\n", j) })
		all["main.thrift"] += fmt.Sprintf("include \"%d.thrift\"\n", i)
	}
	// A pyramid: every file includes all below it.
	pyramid := map[string]string{"main.thrift": repeat(30, func(j int) string { return fmt.Sprintf("include \"%d.thrift\"\n", j) })}
	for i := range 30 {
		pyramid[fmt.Sprintf("%d.thrift", i)] = repeat(i, func(j int) string { return fmt.Sprintf("include \"%d.thrift\"\n", j) })
	}
	lists := "list<string>"
	laughs := "const list<string> C0 = [\"0123456789\"]\n" + repeat(50, func(i int) string {
		lists = "list<" + lists + ">"
		return fmt.Sprintf("const %s C%d = [C%d, C%d, C%d, C%d]\n", lists, i+1, i, i, i, i)
	})
	wide := repeat(8000, func(i int) string { return fmt.Sprintf("%d: i32 f%d = 1\n", i+1, i) })
	cases := map[string]map[string]string{
		"brackets":               fill("const list<i32> A = ", "[", ""),
		"braces":                 fill("const i32 A = ", "{", ""),
		"maps":                   fill("const i32 A = ", "{1:", ""),
		"types":                  fill("struct A { 1: ", "list<", ""),
		"brackets alone":         fill("", "{", ""),
		"closed alone":           fill("struct A {", "}", ""),
		"xsd_attrs":              fill("struct A { ", "1: i32 a xsd_attrs {", ""),
		"arguments":              fill("service S { void f", "(", ""),
		"annotations":            fill("struct A {} (", "a,", ""),
		"comments":               fill("", "/*", ""),
		"empty comments":         fill("", "/**/", ""),
		"line comments":          fill("", "//\n", ""),
		"lines":                  fill("", "\n", ""),
		"tiny errors":            fill("", "@", ""),
		"bytes":                  fill("", "\xff", ""),
		"field errors":           fill("struct A {", "1:\n", ""),
		"function errors":        fill("service A {", "1:\n", ""),
		"texts":                  fill("", "'\n", ""),
		"a long name":            fill("struct ", "a", " {}"),
		"dots":                   fill("struct A { 1: ", "a.", "b c }"),
		"a long number":          fill("const double D = ", "1", ""),
		"a long fraction":        fill("const double D = .", "1", ""),
		"a long exponent":        fill("const double D = 1e", "9", ""),
		"a long id":              fill("struct A { ", "1", ": i32 a }"),
		"a long text":            fill("const string A = '", `\\`, "'"),
		"escapes":                fill("const string A = '", `\q`, "'"),
		"numbers":                fill("const list<i32> A = [", "1,", "]"),
		"empty lists":            fill("const list<list<i32>> A = [", "[]", "]"),
		"equal elements":         fill("const set<i32> A = [", "1 ", "]"),
		"structs":                fill("", "struct A {} ", ""),
		"fields":                 fill("struct A {", "1: i32 a\n", "}"),
		"fields without ids":     fill("struct A {", "i32 a,", "}"),
		"enum values":            fill("enum E {", "A,", "}"),
		"undefined types":        fill("struct A {", "1: X a\n", "}"),
		"includes":               fill("", "include 'a.thrift'\n", ""),
		"includes of the host":   fill("", "include '../../../../etc/passwd'\n", ""),
		"includes of itself":     fill("", "include 'main.thrift'\n", ""),
		"a circle of files":      circle,
		"files that include all": all,
		"a pyramid of files":     pyramid,
		"constants that laugh":   {"main.thrift": laughs},
		"types that laugh":       many("typedef i32 T0\n", 60, "typedef map<T$I, T$I> T$N\n"),
		"defaults that laugh":    many("struct S0 { 1: i32 a = 1 }\n", 60, "struct S$N { 1: S$I a = {}, 2: S$I b = {} }\n"),
		"wide defaults":          fill("struct S { "+wide+"}\nconst list<S> L = [", "{},", "]"),
		"wide types":             many("typedef map<i32,i32> A\ntypedef map<A,A> B\ntypedef map<B,B> C\ntypedef map<C,C> D\ntypedef map<D,D> E\n", 20_000, "struct S$I { 1: E a, 2: E b }\n"),
		"typedefs":               many("typedef i32 T0\n", 32_000, "typedef T$I T$N\n"),
		"typedefs backwards":     many("", 32_000, "typedef T$N T$I\n"),
		"a circle of typedefs":   many("typedef T0 T32000\n", 32_000, "typedef T$N T$I\n"),
		"circles of typedefs":    many("", 15_000, "typedef a$I b$I typedef b$I a$I\n"),
		"constants":              many("const i32 C0 = 1\n", 32_000, "const i32 C$N = C$I\n"),
		"conversions":            many("const i32 C0 = 1\n", 16_000, "const i64 D$I = C$I const i32 C$N = D$I\n"),
		"services":               many("service S0 {}\n", 16_000, "service S$N extends S$I { void f$I() }\n"),
		"one service":            many("service S0 {"+repeat(4000, func(i int) string { return fmt.Sprintf("void g%d()", i) })+"}\n", 14_000, "service S$N extends S0 { void f() }\n"),
		"one enum":               many("enum E {"+repeat(8000, func(i int) string { return fmt.Sprintf("V%d,", i) })+"}\n", 24_000, "const E C$I = E.V7999\n"),
		"one struct":             many("struct S {"+repeat(8000, func(i int) string { return fmt.Sprintf("%d: optional i32 f%d,", i+1, i) })+"}\n", 16_000, "const S C$I = {'f7999': 1}\n"),
		"keys in keys":           {"main.thrift": "struct S { 1: " + strings.Repeat("map<", 60) + "string" + strings.Repeat(",i32>", 60) + " a = " + strings.Repeat("{", 60) + "'" + strings.Repeat("x", 900_000) + "'" + strings.Repeat(":1}", 60) + "}"},
	}
	return cases
}

// Everything hostile is answered at once, in memory that its size bounds. The bounds are far from what is usual: they tell
// linear from quadratic, not fast from slow.
func TestHostileSources(t *testing.T) {
	const (
		mostTime  = 20 * time.Second // of processors, which others on the machine do not lengthen
		mostBytes = 100 << 20
	)
	for name, files := range hostile() {
		t.Run(name, func(t *testing.T) {
			limits := idl.DefaultLimits()
			limits.TotalBytes = 4 << 20
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := processorTime(t)
			_, warnings, err := idl.Parse(files, "main.thrift", limits)
			took := processorTime(t) - start
			runtime.ReadMemStats(&after)
			bytes := after.TotalAlloc - before.TotalAlloc
			if took > mostTime || bytes > mostBytes {
				t.Errorf("took %v and allocated %d MiB", took, bytes>>20)
			}
			checkBounded(t, limits, warnings, err)
			t.Logf("%v, %d KiB: %.100v", took.Round(10*time.Microsecond), bytes>>10, err)
		})
	}
}

// checkBounded checks that what is reported is as little as the limits say.
func checkBounded(t *testing.T, limits idl.Limits, warnings []idl.Warning, err error) {
	t.Helper()
	const mostText = 1 << 10
	var list idl.Errors
	if err != nil && (!errors.As(err, &list) || len(list) == 0) || len(list) > limits.Errors || len(warnings) > limits.Warnings+1 {
		t.Fatalf("%d errors and %d warnings: %.1000v", len(list), len(warnings), err)
	}
	for _, e := range list {
		if len(e.Error()) > mostText {
			t.Errorf("an error of %d bytes: %.200s…", len(e.Error()), e)
		}
	}
	for _, w := range warnings {
		if len(w.String()) > mostText {
			t.Errorf("a warning of %d bytes: %.200s…", len(w.String()), w)
		}
	}
}

// What is parsed costs memory in proportion to its size: 4 MB take at most 5 times what 1 MB takes.
func TestMemoryIsLinear(t *testing.T) {
	limits := idl.DefaultLimits()
	for _, bound := range []*int{&limits.FileBytes, &limits.TotalBytes, &limits.Definitions, &limits.Types, &limits.ConstantBytes} {
		*bound *= 16
	}
	allocated := func(size int) uint64 {
		files := map[string]string{"main.thrift": generate(size)}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, _, err := idl.Parse(maps.Clone(files), "main.thrift", limits); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if small, large := allocated(1_000_000), allocated(4_000_000); large > 5*small {
		t.Errorf("4 MB take %d bytes, %.1f times what 1 MB takes", large, float64(large)/float64(small))
	}
}
