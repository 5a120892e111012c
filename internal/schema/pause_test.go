package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thriftpack/thriftpack/internal/schema"
)

// TestPauses compiles and compares what is large in one way each: others get the processor at least once for so many bytes of IDL.
func TestPauses(t *testing.T) {
	const count = 2_000
	repeat := func(head, format, tail string) string {
		var text strings.Builder
		text.WriteString(head)
		for i := range count {
			fmt.Fprintf(&text, format, i+1)
		}
		return text.String() + tail
	}
	for name, text := range map[string]string{
		"structs":            repeat("", "struct S%d {}\n", ""),
		"fields":             repeat("struct S {", "%[1]d: i32 a%[1]d,", "}"),
		"values of an enum":  repeat("enum E {", "A%d,", "}"),
		"typedefs":           repeat("", "typedef i32 T%d\n", ""),
		"constants":          repeat("", "const i32 C%d = 7\n", ""),
		"a constant":         repeat("const list<i32> C = [", "%d,", "]"),
		"a default":          repeat("struct S { 1: list<i32> a = [", "%d,", "] }"),
		"methods":            repeat("service S {", "void m%d(),", "}"),
		"services":           repeat("", "service S%d {}\n", ""),
		"annotations":        repeat("struct S {} (", "a%d = \"b\",", ")"),
		"what is skipped":    repeat("struct S { 1: i32 a = ", "b%d ", "}"),
		"what is no IDL":     repeat("", "%d\n", ""),
		"containers":         repeat("struct S {", "%[1]d: map<i32, list<i32>> a%[1]d,", "}"),
		"definitions of one": repeat("", "struct S {} // %d\n", ""),
	} {
		t.Run(name, func(t *testing.T) {
			pauses := 0
			limits := schema.DefaultLimits()
			limits.Source.Pause = func() { pauses++ }
			files := map[string]string{"main.thrift": text}
			compiled, err := schema.Compile("test", files, "main.thrift", limits)
			const bytes = 100
			if pauses < len(text)/bytes {
				t.Errorf("to compile %d bytes (error %v) took %d pauses, want %d at least", len(text), err != nil, pauses, len(text)/bytes)
			}
			if err != nil || len(compiled.Types()) == 0 {
				return
			}
			pauses = 0
			changes := schema.ComparePausing(compiled, compiled, limits.Source.Pause)
			if least := min(len(compiled.Types()), count); len(changes) != 0 || pauses < least {
				t.Errorf("to compare %d types took %d pauses, want %d at least", least, pauses, least)
			}
		})
	}
}
