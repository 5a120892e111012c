package idl

import (
	"errors"
	"regexp"
	"slices"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema/idl"
)

// refused are the reasons for which the parser refuses what the compiler takes.
var refused = map[fault.Reason]string{
	fault.SchemaIDRange:    "the compiler takes ids that cannot be written, with a warning",
	fault.SchemaConstRange: "the compiler cuts numbers off",
	fault.SchemaConstType:  "the compiler looks at no value whose type is a typedef, and takes none for a list",
}

// stricter reports whether the parser refuses on purpose what the compiler takes.
func stricter(err error) bool {
	var list idl.Errors
	if !errors.As(err, &list) {
		return false
	}
	return !slices.ContainsFunc(list, func(e *fault.Error) bool { return refused[e.Reason] == "" })
}

// taken are texts of the compiler where it refuses what the parser takes.
var taken = map[*regexp.Regexp]string{
	regexp.MustCompile(`Cannot use reserved language keyword`):           "since 0.18 the compiler has no words of target languages",
	regexp.MustCompile(`have identifier "\w+", but unset enum on line!`): "the generator of JSON fails on references to lists and maps",
	regexp.MustCompile(`\(last token was '[,;]'\) syntax error`):         "separators are taken after every definition and header",
	regexp.MustCompile(`^Type "\w+" not defined$`):                       "a default may be of a type that is defined later",
	regexp.MustCompile(`Unsupported declaration '\w+'`):                  "old words for namespaces are taken, since namespaces are of no use",
	regexp.MustCompile(`error: identifier \w+ is unqualified!`):          "a constant may be a value of an enum",
}

// keyword finds a keyword at which the compiler stopped. The parser takes them as names of fields, functions and values of
// enums, and of annotations.
var keyword = regexp.MustCompile(`\(last token was '(namespace|include|cpp_include|cpp_type|void|bool|byte|i8|i16|i32|i64|double|string|binary|` +
	`slist|senum|map|list|set|oneway|async|typedef|struct|union|exception|extends|throws|service|enum|const|required|optional|` +
	`true|false|xsd_\w+)'\)`)

// laxer reports whether the parser takes on purpose what the compiler refuses.
func laxer(text string) bool {
	for known := range taken {
		if known.MatchString(text) {
			return true
		}
	}
	return keyword.MatchString(text)
}

// programs are sources in which the compiler's grammar is whole, besides those made at random.
var programs = map[string]string{
	"headers":      "include \"sub/other.thrift\"\nnamespace go a.b\nnamespace * c\nnamespace xsd d (uri = \"e\", f)\ncpp_include \"<deque>\"\nstruct S { 1: other.Os s }",
	"comments":     "/**/ # a\n/***/ // b\n/** c */ /* d\n * e **/ struct S { 1: i32 a /* f */ } /* // */ # /*\nstruct T {}",
	"containers":   "struct S { 1: map cpp_type \"m\" <i64, set cpp_type \"s\" <list<list<binary>> cpp_type \"l\">> a, 2: list cpp_type 'v' <bool> b }",
	"annotations":  "struct S { 1: list<string (u=\"1\")> (v=\"2\") b (), 2: i32 a (x=\"1\", y.z='two'; w v = '3',) } (a)\nenum E { A (b = \"c\") B = 5 (); } (d)\nservice V { void f() (e = \"f\"), } (g)",
	"ids":          "struct S { i32 a, 1: i32 b, -7: i32 c; i32 d 0: i32 e i32 f 0x10: i32 g, -32768: i32 h, 32767: i32 i }",
	"ids in xsd":   "struct S xsd_all { i32 a xsd_optional xsd_nillable xsd_attrs { i32 x, 1: i32 y, i32 z }, i32 b }",
	"arguments":    "exception X {} service S { void f(i32 a, optional i32 b = 5, 1: required i32 c) throws (X x, 1: X y), async void g(), oneway void h(i32 a) }",
	"enums":        "enum A { } enum B { A B; C, D = 0x10 E F = -5 G = +7, H } enum C { A = 2147483647 B = -2147483648 C } enum D { X = 1, Y = 1 }",
	"integers":     "const i64 A = 9223372036854775807 const i64 B = -9223372036854775808 const i64 C = 0x7fffffffffffffff const i32 D = -0x1F const i32 E = 010 const bool F = true",
	"doubles":      "const double A = .5 const double B = 1e3 const double C = -1.5E-2 const double D = +7 const double E = 0 const double F = 1e300",
	"texts":        "const string A = 'a \"b\" c' const string B = \"a 'b' c\" const binary C = \"\" const string D = '\\'' const string E = \"é\"",
	"containers 2": "const list<i32> A = [1; 2 3,] const set<bool> B = [true, 0] const map<string, list<i32>> C = {'a': [1], 'b': [],}",
	"structs":      "struct S { 1: i32 a = 5, 2: optional S s } const S A = {} const S B = {'s': {'s': {'a': 1}}, 'a': 2} union U { 1: i32 a, 2: S b } const U C = {'b': {'a': 6}}",
	"references":   "const i32 A = 5 const i64 B = A const list<i64> C = [A, B] enum E { X = 3, Y } const i32 D = E.Y const E F = 3 const E G = Other.X struct S { 1: E e = E.X, 2: i32 a = D }",
	"typedefs":     "typedef i32 A typedef A B typedef list<B> C typedef map<A, C> D struct S { 1: D d, 2: list<D> e, 3: T t } typedef S T typedef E F enum E { X } struct U { 1: F f }",
	"services":     "service A { void a() } service B extends A { A1 b(1: A1 a) } struct A1 {} service C extends B { list<set<i32>> c() }",
	"names":        "struct _A { 1: i32 _x, 2: i32 y_, 3: i32 trueNum, 4: i32 structure, 5: i32 includes, 6: i32 optionalx, 7: i32 i32x } enum E2 { E10, e5 }",
	"other files":  "include \"sub/other.thrift\"\nstruct S { 1: other.Ot a, 2: map<other.Oe, other.Os> b = {other.Oe.P: {'x': other.Oc}} } service V extends other.Ov { void f() throws (1: other.Ox x) }",

	"a separator too many":        "struct A { 1: i32 a,, 2: i32 b }",
	"a name with dots":            "struct A.B { 1: i32 a }",
	"annotations of a name":       "struct A { 1: i32 a } struct B { 1: A (a = 'b') c }",
	"a map of one type":           "struct A { 1: map<i32> a }",
	"a header behind":             "struct A {} include 'sub/other.thrift'",
	"an exception with xsd_all":   "exception X xsd_all {}",
	"a list of void":              "service S { list<void> f() }",
	"an extension of a struct":    "struct A {} struct B extends A {}",
	"a constant without value":    "const i32 A",
	"a double without digits":     "const double A = 5.",
	"hexadecimal in capitals":     "const i32 A = 0X1F",
	"an integer too large":        "const i64 A = 9223372036854775808",
	"an enum of a double":         "enum E { A = 1.5 }",
	"names of includes' includes": "include \"sub/deep.thrift\"\nstruct S { 1: other.Os s }",
}
