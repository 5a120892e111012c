package idl_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/thriftpack/thriftpack/internal/schema/idl"
)

// show writes a value as its type and contents.
func show(v *idl.Value) string {
	if v == nil {
		return "nil"
	}
	var b strings.Builder
	switch v.Type.Kind {
	case idl.KindBool:
		return strconv.FormatBool(v.Int != 0)
	case idl.KindI8, idl.KindI16, idl.KindI32, idl.KindI64:
		return fmt.Sprintf("%s(%d)", v.Type.Name, v.Int)
	case idl.KindEnum:
		return fmt.Sprintf("%s(%d)", v.Type.Enum.Name, v.Int)
	case idl.KindDouble:
		return fmt.Sprintf("double(%g)", v.Double)
	case idl.KindString, idl.KindBinary:
		return fmt.Sprintf("%s(%q)", v.Type.Name, v.Text)
	case idl.KindUUID:
		return fmt.Sprintf("uuid(%x)", v.Text)
	case idl.KindList, idl.KindSet:
		for _, element := range v.Elements {
			b.WriteString(" " + show(element))
		}
	case idl.KindMap:
		for _, entry := range v.Entries {
			b.WriteString(" " + show(entry.Key) + ": " + show(entry.Value))
		}
	case idl.KindStruct:
		for _, field := range v.Fields {
			fmt.Fprintf(&b, " %d %s: %s", field.Field.ID, field.Field.Name, show(field.Value))
		}
		return v.Type.Struct.Name + "{" + strings.TrimSpace(b.String()) + "}"
	default:
		return "a value of no kind"
	}
	return v.Type.Name + "[" + strings.TrimSpace(b.String()) + "]"
}

// declarations stand before the constants of the tests.
const declarations = `enum E { A = 1, B, C = 7 }
enum F { A = 5, X = 2 }
enum L { MIN = -2147483648, MAX = 2147483647 }
typedef E T
typedef list<i32> Ints
struct S { 1: i32 a, 2: optional string b, 3: S c }
union U { 1: i32 a, 2: string b }
const i32 ONE = 1
const i64 TEN = 10
const double HALF = 0.5
const string TEXT = "text"
const E SECOND = E.B
const Ints INTS = [ONE, 2]
const map<string, i32> MAP = {"a": ONE}
const S STRUCT = {"a": 5}
const list<map<string, i32>> MAPS = [MAP]
const list<map<string, i32>> LITERALS = [{"a": 1}]
const list<E> SECONDS = [SECOND]
const uuid ID = "00112233-4455-6677-8899-aabbccddeeff"
`

func TestConstants(t *testing.T) {
	tests := []struct{ typ, value, want string }{
		{"bool", "true", "true"},
		{"bool", "0", "false"},
		{"bool", "1", "true"},
		{"bool", "ONE", "true"},
		{"i8", "-128", "i8(-128)"},
		{"byte", "127", "byte(127)"},
		{"i16", "-32768", "i16(-32768)"},
		{"i32", "2147483647", "i32(2147483647)"},
		{"i32", "true", "i32(1)"},
		{"i32", "010", "i32(10)"},
		{"i32", "+0x1F", "i32(31)"},
		{"i32", "-0x1f", "i32(-31)"},
		{"i64", "-9223372036854775808", "i64(-9223372036854775808)"},
		{"i64", "9223372036854775807", "i64(9223372036854775807)"},
		{"i64", "-0x8000000000000000", "i64(-9223372036854775808)"},
		{"i64", "ONE", "i64(1)"},
		{"i8", "TEN", "i8(10)"},
		{"i32", "E.C", "i32(7)"},
		{"i32", "SECOND", "i32(2)"},
		{"i64", "SECOND", "i64(2)"},
		{"double", "SECOND", "double(2)"},
		{"i32", "T.B", "i32(2)"},
		{"double", "1", "double(1)"},
		{"double", "1e3", "double(1000)"},
		{"double", "-.5", "double(-0.5)"},
		{"double", "1.5E-2", "double(0.015)"},
		{"double", "1e-400", "double(0)"},
		{"double", "9007199254740993", "double(9.007199254740992e+15)"},
		{"double", "HALF", "double(0.5)"},
		{"double", "ONE", "double(1)"},
		{"string", `"a 'b' \" \\ \n\r\t\'"`, `string("a 'b' \" \\ \n\r\t'")`},
		{"string", `'single "x" \''`, `string("single \"x\" '")`},
		{"string", `"é😀"`, `string("é😀")`},
		{"string", "TEXT", `string("text")`},
		{"binary", "\"\xff\"", `binary("\xff")`},
		{"binary", "TEXT", `binary("text")`},
		{"uuid", `"00112233-4455-6677-8899-AABBccddeeff"`, "uuid(00112233445566778899aabbccddeeff)"},
		{"uuid", `"{00112233-4455-6677-8899-aabbccddeeff}"`, "uuid(00112233445566778899aabbccddeeff)"},
		{"uuid", "ID", "uuid(00112233445566778899aabbccddeeff)"},
		{"list<i8>", "SECONDS", "list[i8(2)]"},
		{"E", "E.A", "E(1)"},
		{"E", "7", "E(7)"},
		{"L", "2147483647", "L(2147483647)"},
		{"L", "-2147483648", "L(-2147483648)"},
		{"L", "L.MIN", "L(-2147483648)"},
		{"E", "SECOND", "E(2)"},
		{"E", "ONE", "E(1)"},
		{"T", "E.B", "E(2)"},
		{"E", "T.B", "E(2)"},
		{"E", "F.A", "E(1)"},           // the type decides
		{"E", "elsewhere.E.C", "E(7)"}, // as Apache's compiler has it
		{"list<i32>", "[]", "list[]"},
		{"list<i32>", "{}", "list[]"},
		{"list<i32>", "[1; 2 3,]", "list[i32(1) i32(2) i32(3)]"},
		{"list<i32>", "INTS", "list[i32(1) i32(2)]"},
		{"Ints", "INTS", "list[i32(1) i32(2)]"},
		{"list<i64>", "INTS", "list[i64(1) i64(2)]"},
		{"set<double>", "INTS", "set[double(1) double(2)]"},
		{"list<Ints>", "[INTS, [ONE, TEN]]", "list[list[i32(1) i32(2)] list[i32(1) i32(10)]]"},
		{"list<E>", "[E.A, 2, SECOND]", "list[E(1) E(2) E(2)]"},
		{"set<i32>", "[3, ONE, 3, 1]", "set[i32(3) i32(1)]"},
		{"set<list<string>>", `[["a"], ["a", ""], ["", "a"], ["a"]]`, `set[list[string("a")] list[string("a") string("")] list[string("") string("a")]]`},
		{"map<string, i32>", "MAP", `map[string("a"): i32(1)]`},
		{"map<string, i64>", "MAP", `map[string("a"): i64(1)]`},
		{"map<i32, i32>", "[]", "map[]"},
		{"map<i32, i32>", "{1: 2; 3: 4 1: 5}", "map[i32(1): i32(5) i32(3): i32(4)]"},
		{"map<E, string>", `{E.A: "x", 2: "y"}`, `map[E(1): string("x") E(2): string("y")]`},
		{"map<Ints, S>", `{INTS: {"a": ONE}}`, `map[list[i32(1) i32(2)]: S{1 a: i32(1)}]`},
		{"S", "{}", "S{}"},
		{"S", `{"b": TEXT, "a": 1, "c": {"a": 2}}`, `S{2 b: string("text") 1 a: i32(1) 3 c: S{1 a: i32(2)}}`},
		{"S", `{"a": 1, "a": 2}`, "S{1 a: i32(2)}"},
		{"S", `{"c": STRUCT}`, "S{3 c: S{1 a: i32(5)}}"},
		{"U", `{"b": "x"}`, `U{2 b: string("x")}`},
	}
	for _, test := range tests {
		t.Run(test.typ+" "+test.value, func(t *testing.T) {
			text := declarations + "const " + test.typ + " RESULT = " + test.value +
				"\nstruct WITH { 1: " + test.typ + " f = " + test.value + " }\nconst " + test.typ + " AGAIN = RESULT\n"
			program, _, err := parse(text)
			if err != nil {
				t.Fatalf("Parse(%q): %v", text, err)
			}
			consts := program.Root.Consts
			for _, v := range []*idl.Value{
				consts[len(consts)-2].Value, consts[len(consts)-1].Value, program.Root.Structs[len(program.Root.Structs)-1].Fields[0].Default,
			} {
				if got := show(v); got != test.want {
					t.Errorf("%s as %s is %s, want %s", test.value, test.typ, got, test.want)
				}
			}
		})
	}
}

func TestConstantErrors(t *testing.T) {
	tests := []struct{ typ, value, want string }{
		{"bool", "2", "SCHEMA_CONST_RANGE: a bool is true, false, 1 or 0, not 2"},
		{"bool", "TEN", "SCHEMA_CONST_RANGE"},
		{"bool", `"true"`, "SCHEMA_CONST_TYPE: a text is no value of type bool"},
		{"byte", "300", "SCHEMA_CONST_RANGE: 300 is not in the range of byte"},
		{"i8", "128", "SCHEMA_CONST_RANGE"},
		{"i8", "-129", "SCHEMA_CONST_RANGE"},
		{"i16", "32768", "SCHEMA_CONST_RANGE"},
		{"i32", "2147483648", "SCHEMA_CONST_RANGE: 2147483648 is not in the range of i32"},
		{"i32", "0xFFFFFFFF", "SCHEMA_CONST_RANGE"},
		{"i64", "9223372036854775808", "SCHEMA_CONST_RANGE: 9223372036854775808 is not in 64 bits"},
		{"i64", "0xFFFFFFFFFFFFFFFF", "SCHEMA_CONST_RANGE"},
		{"double", "1e400", "SCHEMA_CONST_RANGE: 1e400 is not in the range of a double"},
		{"i32", "1.0", "SCHEMA_CONST_TYPE: a double is no value of type i32"},
		{"i32", "HALF", "SCHEMA_CONST_TYPE: this constant is no value of type i32"},
		{"i32", "TEXT", "SCHEMA_CONST_TYPE"},
		{"i32", "[1]", "SCHEMA_CONST_TYPE: a list is no value of type i32"},
		{"double", `"1"`, "SCHEMA_CONST_TYPE"},
		{"string", "1", "SCHEMA_CONST_TYPE"},
		{"string", "ONE", "SCHEMA_CONST_TYPE"},
		{"string", "\"\xff\"", "SCHEMA_CONST_TYPE: a string is UTF-8"},
		{"uuid", `"00112233445566778899aabbccddeeff"`, "SCHEMA_CONST_TYPE: a uuid is written as"},
		{"uuid", `"00112233-4455-6677-8899-aabbccddeefg"`, "SCHEMA_CONST_TYPE"},
		{"uuid", `"0011223344-55-6677-8899-aabbccddeeff"`, "SCHEMA_CONST_TYPE"},
		{"uuid", `"{00112233-4455-6677-8899-aabbccddeeff)"`, "SCHEMA_CONST_TYPE"},
		{"E", "3", "SCHEMA_CONST_RANGE: no value of enum E has the number 3"},
		{"E", "4294967297", "SCHEMA_CONST_RANGE"}, // 1 in 32 bits
		{"E", "B", "SCHEMA_UNDEFINED: B is not defined: the value of the enum is written E.B"},
		{"E", "E.Z", "SCHEMA_UNDEFINED: enum E has no value Z"},
		{"E", "F.X", "SCHEMA_CONST_TYPE: F.X is no value of enum E"},
		{"F", "SECOND", "SCHEMA_CONST_TYPE: this constant is no value of type F"},
		{"F", "TEN", "SCHEMA_CONST_RANGE"},
		{"E", `"A"`, "SCHEMA_CONST_TYPE"},
		{"i32", "LATER", "SCHEMA_UNDEFINED: LATER is not defined yet: constants come before what uses them"},
		{"i32", "RESULT", "SCHEMA_UNDEFINED: RESULT is not defined yet"},
		{"list<i32>", "5", "SCHEMA_CONST_TYPE: an integer is no value of type list"},
		{"list<i32>", "{1: 2}", "SCHEMA_CONST_TYPE: a map is no value of type list"},
		{"list<i32>", "MAP", "SCHEMA_CONST_TYPE"},
		{"map<i32, i32>", "[1, 2]", "SCHEMA_CONST_TYPE: a list is no value of type map"},
		{"map<i32, i32>", "INTS", "SCHEMA_CONST_TYPE"},
		{"S", "[]", "SCHEMA_CONST_TYPE: a list is no value of type S"},
		{"S", "MAP", "SCHEMA_CONST_TYPE"},
		{"list<S>", "MAPS", "SCHEMA_CONST_TYPE"},
		{"list<S>", "LITERALS", "SCHEMA_CONST_TYPE"},
		{"map<i32, S>", "{1: MAP}", "SCHEMA_CONST_TYPE"},
		{"list<F>", "SECONDS", "SCHEMA_CONST_TYPE"},
		{"U", "STRUCT", "SCHEMA_CONST_TYPE"},
		{"string", "ID", "SCHEMA_CONST_TYPE"},
		{"S", "{1: 1}", "SCHEMA_CONST_TYPE: the name of a field of S is written as a text"},
		{"S", `{"z": 1}`, "SCHEMA_UNDEFINED: S has no field of this name"},
		{"U", "{}", "SCHEMA_RULE: a value of union U has one member, not 0"},
		{"U", `{"a": 1, "b": "c"}`, "SCHEMA_RULE: a value of union U has one member, not 2"},
	}
	for _, test := range tests {
		t.Run(test.typ+" "+test.value, func(t *testing.T) {
			declared := "const " + test.typ + " RESULT = "
			text := declarations + declared + test.value + "\nconst i32 LATER = 1\nconst " + test.typ + " NO_ERROR_OF_ITS_OWN = RESULT\n"
			_, _, err := parse(text)
			line := strings.Count(declarations, "\n") + 1
			got := found(err)
			if len(got) != 1 || !strings.HasPrefix(got[0], strconv.Itoa(line)+":") || !strings.Contains(got[0], " "+test.want) {
				t.Errorf("%s as %s: %q, want line %d %s", test.value, test.typ, got, line, test.want)
			}
		})
	}
}

// What is wrong inside of a constant for the use of it is told where it is used.
func TestPlacesOfReferences(t *testing.T) {
	_, _, err := parse("const list<i32> BIG = [1,\n 300]\nstruct A {\n  1: list<i8> a = BIG,\n  2: map<i32, list<i8>> b = {5: BIG},\n}\n")
	checkFound(t, "references", err, []string{
		"4:19 SCHEMA_CONST_RANGE: 300 is not in the range of i8", "5:33 SCHEMA_CONST_RANGE: 300 is not in the range of i8",
	})
}

// A constant that is used as it was declared is there once.
func TestConstantsAreShared(t *testing.T) {
	program, _, err := parse("const list<i32> A = [1, 2]\ntypedef list<i32> T\nconst T B = A\nstruct S { 1: list<i32> a = B, 2: list<i64> b = B }")
	if err != nil {
		t.Fatal(err)
	}
	a, b, fields := program.Root.Consts[0].Value, program.Root.Consts[1].Value, program.Root.Structs[0].Fields
	if a != b || fields[0].Default != a {
		t.Error("a constant of the same type was made again")
	}
	if fields[1].Default == a || show(fields[1].Default) != "list[i64(1) i64(2)]" {
		t.Errorf("as list<i64> it is %s", show(fields[1].Default))
	}
}

// Every double that can be written is finite.
func TestDoublesAreFinite(t *testing.T) {
	for _, text := range []string{"1e308", "-1e308", "1.7976931348623157e308"} {
		program, _, err := parse("const double D = " + text)
		if err != nil {
			t.Fatal(err)
		}
		if d := program.Root.Consts[0].Value.Double; math.IsInf(d, 0) || d == 0 {
			t.Errorf("%s is %g", text, d)
		}
	}
	for _, text := range []string{"1e309", "-1e309", "1.7976931348623159e308", "inf", "NaN"} {
		if _, _, err := parse("const double D = " + text); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
