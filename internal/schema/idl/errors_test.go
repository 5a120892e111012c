package idl_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema/idl"
)

// parse parses one file.
func parse(text string) (*idl.Program, []idl.Warning, error) {
	return idl.Parse(map[string]string{"main.thrift": text}, "main.thrift", idl.DefaultLimits())
}

// found returns each error as "line:column REASON: words", with the file before it where it is not main.thrift.
func found(err error) []string {
	var list idl.Errors
	if !errors.As(err, &list) {
		return nil
	}
	lines := make([]string, len(list))
	for i, e := range list {
		lines[i] = fmt.Sprintf("%s %s: %s", strings.TrimPrefix(e.Path, "main.thrift:"), e.Reason, e.Detail)
	}
	return lines
}

// checkFound checks that errors begin as wanted, each with its place, and that there are no more.
func checkFound(t *testing.T, text string, err error, want []string) {
	t.Helper()
	got := found(err)
	ok := len(got) == len(want)
	for i := range min(len(got), len(want)) {
		ok = ok && strings.HasPrefix(got[i], want[i])
	}
	if !ok {
		t.Errorf("Parse(%q):\n got %s\nwant %s", text, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"a comment without an end", "struct B {}\n /* struct A { 1: i32 a }\n", []string{
			"2:2 SCHEMA_SYNTAX: this comment is not closed",
		}},
		{"a documentation without an end", "/** struct A { 1: i32 a }\n/", []string{"1:1 SCHEMA_SYNTAX: this comment is not closed"}},
		{"a comment that closes with what opens it", "/*/", []string{"1:1 SCHEMA_SYNTAX: this comment is not closed"}},
		{"a text without an end", "struct A {1: string a = \"x\n}", []string{"1:25 SCHEMA_SYNTAX: this text is not closed in its line"}},
		{"a text up to the end", "const string A = 'x", []string{
			"1:18 SCHEMA_SYNTAX: this text is not closed", "1:20 SCHEMA_SYNTAX: expected a value, found the end of the file",
		}},
		{"a backslash at the end", `const string A = "x\`, []string{
			"1:18 SCHEMA_SYNTAX: this text is not closed", "1:21 SCHEMA_SYNTAX: expected a value",
		}},
		{"an escape that there is not", `const string A = "\x41" const string B = "\\\q"`, []string{
			"1:19 SCHEMA_SYNTAX: unknown escape", "1:45 SCHEMA_SYNTAX: unknown escape",
		}},
		{"a bracket without an end", "struct A {\n 1: i32 a\n", []string{`1:10 SCHEMA_SYNTAX: this "{" is not closed`}},
		{"a bracket that the next definition closes", "struct A {\n 1: i32 a\n\nstruct B { 1: Missing b }\nfoo", []string{
			`1:10 SCHEMA_SYNTAX: this "{" is not closed`, `5:1 SCHEMA_SYNTAX: expected a definition, found "foo"`,
		}},
		{"lists without an end", "const list<i32> A = [1, [2, 3]", []string{`1:21 SCHEMA_SYNTAX: this "[" is not closed`}},
		{"annotations without an end", "struct A {} (a = 'b'", []string{`1:13 SCHEMA_SYNTAX: this "(" is not closed`}},
		{"an enum without an end", "enum E { A, B", []string{`1:8 SCHEMA_SYNTAX: this "{" is not closed`}},
		{"an enum that the next definition closes", "enum E {\n  A,\n  B // }\n\ntypedef i32 T\nenum F {\n struct\n union\n}", []string{
			`1:8 SCHEMA_SYNTAX: this "{" is not closed`,
		}},
		{"a service without an end", "service S { void f(1: i32 a)", []string{`1:11 SCHEMA_SYNTAX: this "{" is not closed`}},
		{"arguments without an end", "service S { void f(1: i32 a", []string{`1:19 SCHEMA_SYNTAX: this "(" is not closed`}},
		{"several errors", "struct A {\n  1: i32\n  2: i32 b,\n  x: i32 c,\n  4: list<i32 d\n}\nenum E { 1 }\nconst i32 = 5\nstruct { }\n", []string{
			`3:3 SCHEMA_SYNTAX: expected the name of a field, found the number 2`,
			`4:4 SCHEMA_SYNTAX: expected the name of a field, found ":"`,
			`5:15 SCHEMA_SYNTAX: expected ">" behind the types of a container, found "d"`,
			`7:10 SCHEMA_SYNTAX: expected the name of a value of an enum, found the number 1`,
			`8:11 SCHEMA_SYNTAX: expected the name of a constant, found "="`,
			`9:8 SCHEMA_SYNTAX: expected the name of a struct, found "{"`,
		}},
		{"functions that are wrong", "service S {\n void f(1 i32 a),\n i32 g(1: i32 b),\n 5: i32 h(),\n void i() throws 1: X x,\n void j(,\n}\nservice T { void }", []string{
			`2:11 SCHEMA_SYNTAX: expected ":" after the id of a field, found "i32"`,
			`4:2 SCHEMA_SYNTAX: expected a type, found the number 5`,
			`5:11 SCHEMA_SYNTAX: expected a type, found "throws"`,
			`6:9 SCHEMA_SYNTAX: expected a type, found ","`,
			`7:1 SCHEMA_SYNTAX: expected a type, found "}"`,
			`8:18 SCHEMA_SYNTAX: expected the name of a function, found "}"`,
		}},
		{"bytes that are no text", "struct A { 1: i32 a \xff }\x00", []string{
			"1:21 SCHEMA_SYNTAX: unexpected byte 0xff", `1:24 SCHEMA_SYNTAX: unexpected character '\x00'`,
		}},
		{"characters that look like others", "struct A\u00a0{ 1: i32 a }\nstruct Ä {}", []string{
			`1:9 SCHEMA_SYNTAX: unexpected character '\u00a0'`, "2:8 SCHEMA_SYNTAX: unexpected character 'Ä'",
			`2:11 SCHEMA_SYNTAX: expected the name of a struct, found "{"`,
		}},
		{"a byte order mark has no column", "\ufeff foo", []string{"1:2 SCHEMA_SYNTAX"}},
		{"a byte order mark elsewhere", "struct A {}\ufeff", []string{"1:12 SCHEMA_SYNTAX: unexpected character '\\ufeff'"}},
		{"lines that end with CR LF", "struct A {}\r\n\r\nfoo", []string{"3:1 SCHEMA_SYNTAX"}},
		{"numbers that are none", "const i32 A = +\nconst double B = 5.\nconst i32 C = 0X1F", []string{
			"1:15 SCHEMA_SYNTAX: unexpected character '+'", `2:1 SCHEMA_SYNTAX: expected a value, found "const"`,
			"2:19 SCHEMA_SYNTAX: unexpected character '.'", `3:16 SCHEMA_SYNTAX: expected a definition, found "X1F"`,
		}},
		{"names with dots", "struct A.B { 1: i32 a.b }\nenum E { A.B }\nservice S { void f.g() }\nconst i32 C.D = 1\ntypedef i32 T.U\nconst i32 OK = 1", []string{
			"1:8 SCHEMA_SYNTAX: the name of a struct must not have dots: A.B", "2:10 SCHEMA_SYNTAX", "3:18 SCHEMA_SYNTAX",
			"4:11 SCHEMA_SYNTAX", "5:13 SCHEMA_SYNTAX",
		}},
		{"keywords as names of what is referred to", "struct string {}\nenum optional {}\nconst i32 true = 1\ntypedef i32 list\nservice struct {}", []string{
			"1:8 SCHEMA_SYNTAX: a struct cannot be named by the keyword \"string\"", "2:6 SCHEMA_SYNTAX", "3:11 SCHEMA_SYNTAX",
			"4:13 SCHEMA_SYNTAX", "5:9 SCHEMA_SYNTAX",
		}},
		{"void is a result only", "struct A { 1: void x }\nservice S { void f(1: void x), list<void> g() }", []string{
			`1:15 SCHEMA_SYNTAX: expected a type, found "void"`, "2:23 SCHEMA_SYNTAX", "2:37 SCHEMA_SYNTAX",
		}},
		{"a field without a name", "struct A { 1: i32 xsd_optional, 2: i32 & xsd_nillable, 3: i32 = 5 }", []string{
			`1:19 SCHEMA_SYNTAX: expected the name of a field, found "xsd_optional"`, "1:42 SCHEMA_SYNTAX", "1:63 SCHEMA_SYNTAX",
		}},
		{"a header behind a definition", "struct A {}\nnamespace go a\ninclude \"x.thrift\"", []string{
			"2:1 SCHEMA_SYNTAX: namespace after a definition: headers come first", "3:1 SCHEMA_SYNTAX: include after a definition",
			"3:9 SCHEMA_INCLUDE",
		}},

		{"the dialect of fbthrift", "package \"a.b\"\nnamespace go a\n@Mark{level = 1}\nstruct A {\n @Other 1: i32 x,\n 2: float y,\n 3: stream<i32> z\n}\n" +
			"interaction I { void a() }\nservice S {\n performs I;\n sink<i32, i32> f(),\n idempotent void g()\n}\nsafe exception X {}\nconst A K = A{x = 1}\n", []string{
			`1:1 SCHEMA_UNSUPPORTED: "package" is not supported`, "3:1 SCHEMA_UNSUPPORTED: a structured annotation (@)",
			"5:2 SCHEMA_UNSUPPORTED: a structured annotation (@)", `7:5 SCHEMA_UNSUPPORTED: "stream<>"`,
			`9:1 SCHEMA_UNSUPPORTED: "interaction"`, `11:2 SCHEMA_UNSUPPORTED: "performs" in a service`,
			`12:2 SCHEMA_UNSUPPORTED: "sink<>"`, `13:2 SCHEMA_UNSUPPORTED: "idempotent" in a service`,
			`15:1 SCHEMA_UNSUPPORTED: "safe"`, "16:13 SCHEMA_UNSUPPORTED: a struct's name before its value",
		}},
		{"types of other dialects and times", "struct A { 1: float a, 2: slist b }", []string{
			"1:15 SCHEMA_UNSUPPORTED: the type float", "1:27 SCHEMA_UNSUPPORTED: the type slist",
		}},
		{"senum", "senum Colour { \"red\" }", []string{`1:1 SCHEMA_UNSUPPORTED: "senum"`}},

		{"typedefs of themselves", "typedef foo foo\ntypedef y x\ntypedef x y\ntypedef map<string, bar> bar\nstruct A { 1: foo a, 2: list<bar> b, 3: x c }", []string{
			"1:13 SCHEMA_TYPEDEF_CYCLE: a typedef that never ends: foo -> foo",
			"2:11 SCHEMA_TYPEDEF_CYCLE: a typedef that never ends: x -> y -> x",
			"4:26 SCHEMA_TYPEDEF_CYCLE: a typedef that never ends: bar -> bar",
		}},
		{"names that are not defined", "struct A { 1: Missing a, 2: list<nowhere.B> b }\nservice S extends T {}\nconst i32 C = D\nconst i32 F = x.Y", []string{
			"1:15 SCHEMA_UNDEFINED: type Missing is not defined", "1:34 SCHEMA_UNDEFINED: type nowhere.B is not defined: no include is named nowhere",
			"2:19 SCHEMA_UNDEFINED: service T is not defined", "3:15 SCHEMA_UNDEFINED: constant D is not defined",
			"4:15 SCHEMA_UNDEFINED: x.Y is not defined: no include or enum is named x",
		}},
		{"services that are defined later", "service S extends T {}\nservice T {}\nservice U extends U {}", []string{"1:19 SCHEMA_UNDEFINED", "3:19 SCHEMA_UNDEFINED"}},
		{"a service is no type", "service S {}\nstruct A { 1: S s }", []string{"2:15 SCHEMA_UNDEFINED: S is a service and no type"}},
		{"names twice", "struct A {}\nenum A {}\ntypedef i32 A\nservice A {}\nconst i32 A = 1\nconst i32 A = 2\nenum E { X, Y, X }\nstruct F { 1: i32 a, 2: i32 a, 1: i32 b }\n" +
			"service S { void f(1: i32 a, 1: i32 b), void f() }\nservice T extends S { i32 f() }", []string{
			"2:6 SCHEMA_DUPLICATE: the name A is there twice, first at line 1, column 8", "3:13 SCHEMA_DUPLICATE", "4:9 SCHEMA_DUPLICATE",
			"6:11 SCHEMA_DUPLICATE: constant A is there twice, first at line 5, column 11", "7:16 SCHEMA_DUPLICATE: value X",
			"8:29 SCHEMA_DUPLICATE: field a", "8:39 SCHEMA_DUPLICATE: field id 1", "9:37 SCHEMA_DUPLICATE: field id 1", "9:46 SCHEMA_DUPLICATE: function f",
			"10:27 SCHEMA_DUPLICATE: function f",
		}},
		{"names twice, of other kinds first", "service A {} typedef i32 A struct A {}\nconst i32 B = 1 const i32 B = 2 const i32 B = 3", []string{
			"1:26 SCHEMA_DUPLICATE: the name A is there twice, first at line 1, column 9", "1:35 SCHEMA_DUPLICATE: the name A is there twice",
			"2:27 SCHEMA_DUPLICATE: constant B", "2:43 SCHEMA_DUPLICATE: constant B is there twice, first at line 2, column 11",
		}},
		{"several errors in one constant", "struct S { 1: i8 a, 2: i8 b }\nconst map<i8, list<S>> A = {1: [{'a': 300, 'b': 'x'}, {1: 2}], 301: [], 3: 4}\nconst set<i8> B = [400, 1, 500]", []string{
			"2:39 SCHEMA_CONST_RANGE", "2:49 SCHEMA_CONST_TYPE", "2:56 SCHEMA_CONST_TYPE", "2:64 SCHEMA_CONST_RANGE", "2:76 SCHEMA_CONST_TYPE",
			"3:20 SCHEMA_CONST_RANGE", "3:28 SCHEMA_CONST_RANGE",
		}},
		{"constants of types that are not sound", "typedef X Y\nconst Y A = 1\nconst list<Y> B = [1]\nconst map<Y, Z> C = {1: 2}\ntypedef W W\nstruct S { 1: W w = 1, 2: set<W> v = [1] }\nconst S D = {'w': 1}\n" +
			"const i8 E = D", []string{
			"1:9 SCHEMA_UNDEFINED: type X", "4:14 SCHEMA_UNDEFINED: type Z", "5:11 SCHEMA_TYPEDEF_CYCLE",
		}},
		{"a field without a separator before one that is wrong", "struct A {\n 1: i32 = 5\n 2: void b\n 3: i32 c = }\n", []string{
			`2:9 SCHEMA_SYNTAX: expected the name of a field, found "="`, `3:5 SCHEMA_SYNTAX: expected a type, found "void"`,
			`4:13 SCHEMA_SYNTAX: expected a value, found "}"`,
		}},
		{"a name that ends in a dot, at the end", "struct a.", []string{"1:9 SCHEMA_SYNTAX: unexpected character '.'", `1:10 SCHEMA_SYNTAX: expected "{"`}},
		{"exponents without digits", "const double A = 1e\nconst double B = 1e+", []string{
			`1:19 SCHEMA_SYNTAX: expected a definition, found "e"`, `2:19 SCHEMA_SYNTAX: expected a definition, found "e"`, "2:20 SCHEMA_SYNTAX: unexpected character '+'",
		}},
		{"names that are too long to quote", "struct A { 1: " + strings.Repeat("x", 64) + " a, 2: " + strings.Repeat("y", 65) + " b }", []string{
			"1:15 SCHEMA_UNDEFINED: type " + strings.Repeat("x", 64) + " is not defined", "1:86 SCHEMA_UNDEFINED: type " + strings.Repeat("y", 64) + "… is not defined",
		}},
		{"functions that are inherited", "service S { void f() }\nservice T extends S {}\nservice U extends T { i32 g(), i32 f() }", []string{
			"3:36 SCHEMA_DUPLICATE: function f is there twice, first at line 1, column 18",
		}},

		{"ids that do not fit", "struct A { 32768: i32 a, -32769: i32 b, 0x8000: i32 c, 99999999999999999999: i32 d, 32767: i32 e, -32768: i32 f }", []string{
			"1:12 SCHEMA_ID_RANGE: field id 32768 is not in -32768..32767", "1:26 SCHEMA_ID_RANGE", "1:41 SCHEMA_ID_RANGE", "1:56 SCHEMA_ID_RANGE",
		}},
		{"automatic ids that do not fit", "struct A { -32768: i32 a, i32 b }", []string{"1:31 SCHEMA_ID_RANGE: b would get the id -32769"}},
		{"enums that do not fit", "enum E { A = 2147483648, B = -2147483649 }\nenum F { A = 2147483647, B }\nenum G { A = 99999999999999999999 }", []string{
			"1:14 SCHEMA_CONST_RANGE: the number of A is not in 32 bits", "1:30 SCHEMA_CONST_RANGE", "2:26 SCHEMA_CONST_RANGE", "3:14 SCHEMA_CONST_RANGE",
		}},
		{"a oneway function that throws", "exception X {}\nservice S { oneway void f() throws (1: X x) }", []string{"2:29 SCHEMA_RULE: a oneway function throws nothing"}},
		{"throws of what is no exception", "struct X {}\nservice S { void f() throws (1: X x, 2: i32 y, 3: list<X> z) }", []string{
			"2:33 SCHEMA_RULE: X is no exception", "2:41 SCHEMA_RULE: i32 is no exception", "2:51 SCHEMA_RULE",
		}},
		{"exceptions in the place of the result", "exception X {}\nservice S { i32 f() throws (0: X x, 1: X success), void g() throws (0: X success) }", []string{
			"2:34 SCHEMA_DUPLICATE: the id 0 and the name success are those of the result", "2:42 SCHEMA_DUPLICATE",
		}},
		{"two defaults of a union", "union U { 1: i32 a = 1, 2: i32 b, 3: i32 c = 2 }", []string{"1:42 SCHEMA_RULE: c has a default, and so has a"}},
		{"defaults that contain themselves", "struct A { 1: A a = {} }", []string{"1:17 SCHEMA_DEFAULT_CYCLE: the default of a never ends"}},
		{"defaults that contain each other", "struct A { 1: list<B> b = [{}] }\nstruct B { 1: map<i32, A> a = {1: {}} }", []string{"1:23 SCHEMA_DEFAULT_CYCLE"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := parse(test.text)
			checkFound(t, test.text, err, test.want)
			checkErrors(t, err)
		})
	}
}

// In lists short and long, the last member may be the same as the first, as one in the middle or as the one before it.
func TestDuplicatesInLists(t *testing.T) {
	for count := 3; count < 40; count++ {
		for _, same := range []int{0, count / 2, count - 2} {
			members := func(format string) string {
				return repeat(count-1, func(i int) string { return fmt.Sprintf(format, i, i) }) + fmt.Sprintf(format, same, same)
			}
			for _, text := range []string{
				"struct S {\n" + members("%d: i32 f%d\n") + "}", "enum E {\n" + members("A%d = %d\n") + "}", "service S {\n" + members("void f%d(%d: i32 a)\n") + "}",
			} {
				_, _, err := parse(text)
				got := found(err)
				line, first := fmt.Sprintf("%d:", count+1), fmt.Sprintf("first at line %d, ", same+2)
				for _, e := range got {
					if !strings.HasPrefix(e, line) || !strings.Contains(e, "SCHEMA_DUPLICATE") || !strings.Contains(e, first) {
						t.Errorf("Parse(%q): %q, want SCHEMA_DUPLICATE in line %s %s", text, got, line, first)
					}
				}
				if want := 1 + strings.Count(text[:6], "struct"); len(got) != want {
					t.Errorf("Parse(%q): %d errors, want %d", text, len(got), want)
				}
			}
		}
	}
}

// Reasons are matched by errors.Is, as of every fault.
func TestErrorsUnwrap(t *testing.T) {
	_, _, err := parse("struct A { 1: Missing a, 40000: i32 b }\nfoo")
	if !errors.Is(err, fault.New(fault.SchemaIDRange, "")) || !errors.Is(err, fault.New(fault.SchemaSyntax, "")) {
		t.Errorf("%v is neither SCHEMA_ID_RANGE nor SCHEMA_SYNTAX", err)
	}
	if errors.Is(err, fault.New(fault.SchemaUndefined, "")) {
		t.Errorf("%v: names are looked at only once all files are sound", err)
	}
	if want := "main.thrift:1:26: field id 40000 is not in -32768..32767\nmain.thrift:2:1: expected a definition, found \"foo\""; err.Error() != want {
		t.Errorf("Error() = %q, want %q", err.Error(), want)
	}
}

// The words say what may help, and no more.
func TestWordsOfNamesThatAreNotDefined(t *testing.T) {
	_, _, err := idl.Parse(map[string]string{
		"main.thrift":  "include \"other.thrift\"\nstruct A { 1: X a, 2: other.X b, 3: none.X c }\nconst i32 C = other.E.X\nconst i32 D = other.C",
		"other.thrift": "enum E { A }",
	}, "main.thrift", idl.DefaultLimits())
	want := "main.thrift:2:15: type X is not defined\nmain.thrift:2:23: type other.X is not defined\n" +
		"main.thrift:2:37: type none.X is not defined: no include is named none\nmain.thrift:3:15: enum E has no value X\n" +
		"main.thrift:4:15: constant other.C is not defined"
	if err == nil || err.Error() != want {
		t.Errorf("errors are\n%v\nwant\n%s", err, want)
	}
}

// What is in quotes stays out of errors: it may be what its writer keeps to themselves.
func TestErrorsQuoteNoText(t *testing.T) {
	const secret = "s3cr3t"
	for _, text := range []string{
		`const i32 A = "s3cr3t"`, `struct "s3cr3t" {}`, `const map<string, i32> A = {"s3cr3t": "s3cr3t"}`,
		`struct S { 1: i32 a } const S B = {"s3cr3t": 1}`, `const uuid U = "s3cr3t"`, "const string S = \"s3cr3t\xff\"",
		`const string S = "s3cr3t\q"`, "const string S = \"s3cr3t\n", `namespace go "s3cr3t"`, "/* s3cr3t", "struct A {} // s3cr3t\nfoo",
		`struct A { 1: i32 a ("s3cr3t") }`, `enum E { A = "s3cr3t" }`, `const set<string> S = ["s3cr3t", "s3cr3t"]`,
		`const map<string, i32> A = {"s3cr3t": 1, "s3cr3t": 2}`, `include "/s3cr3t\\"`,
	} {
		_, warnings, err := parse(text)
		if err == nil && len(warnings) == 0 {
			t.Errorf("Parse(%q) has neither errors nor warnings", text)
		}
		if strings.Contains(fmt.Sprint(err, warnings), secret) {
			t.Errorf("Parse(%q) = %v, %v: quotes the text", text, warnings, err)
		}
	}
}
