package schema

import (
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/schematest"
)

// exchanged is a value that one revision writes and the other reads, both by the type of one name.
type exchanged struct {
	typ   string
	value *thriftpackv1.Value
}

// methodRows have what goes over the wire before a change of methods or types, and after it.
var methodRows = []struct {
	rule         schema.Rule
	old, updated string
	backward     exchanged // of the old revision
	forward      exchanged // of the new one
}{
	{
		schema.MethodAdded, "service S { void m() }", "service S { void m(), void n() }",
		exchanged{"S.m.args", reply()},
		exchanged{"S.m.args", reply()},
	},
	{
		schema.MethodRemoved, "service S { void m(), void n() }", "service S { void m() }",
		exchanged{"S.n.args", reply()},
		exchanged{"S.m.args", reply()},
	},
	{
		schema.MethodOnewayChanged, "service S { void m() }", "service S { oneway void m() }",
		exchanged{"S.m.result", reply()},
		exchanged{"", nil},
	},
	{
		schema.MethodResultAdded, "service S { void m() }", "service S { i32 m() }",
		exchanged{"S.m.result", reply()},
		exchanged{"S.m.result", reply(thriftpackv1.I32Field(0, 7))},
	},
	{
		schema.MethodResultRemoved, "service S { i32 m() }", "service S { void m() }",
		exchanged{"S.m.result", reply(thriftpackv1.I32Field(0, 7))},
		exchanged{"S.m.result", reply()},
	},
	{
		schema.MethodExceptionAdded, "exception X {} service S { i32 m() }", "exception X {} service S { i32 m() throws (1: X x) }",
		exchanged{"S.m.result", reply(thriftpackv1.I32Field(0, 7))},
		exchanged{"S.m.result", reply(thriftpackv1.StructField(1, thriftpackv1.StructOf()))},
	},
	{
		schema.MethodExceptionRemoved, "exception X {} service S { void m() throws (1: X x) }", "exception X {} service S { void m() }",
		exchanged{"S.m.result", reply(thriftpackv1.StructField(1, thriftpackv1.StructOf()))},
		exchanged{"S.m.result", reply()},
	},
	{
		schema.TypeAdded, "struct S {1: i32 a}", "struct S {1: i32 a} struct T {}",
		exchanged{"S", reply(thriftpackv1.I32Field(1, 7))},
		exchanged{"S", reply(thriftpackv1.I32Field(1, 7))},
	},
	{
		schema.TypeRemoved, "struct S {} struct T {1: i32 a}", "struct S {}",
		exchanged{"T", reply(thriftpackv1.I32Field(1, 7))},
		exchanged{"S", reply()},
	},
	{
		schema.TypeChanged, "struct T {1: i32 a}", "typedef i32 T",
		exchanged{"T", reply(thriftpackv1.I32Field(1, 7))},
		exchanged{"T", thriftpackv1.I32Value(7)},
	},
}

// reply returns the struct that a reply carries, or arguments.
func reply(fields ...*thriftpackv1.Field) *thriftpackv1.Value {
	return thriftpackv1.StructValue(fields...)
}

// understood reports whether the reader's revision makes of a value what the writer's put into it. Of a result, generated code
// looks for the exceptions first, then for success, and without either it is an error unless the method is void.
func (x exchanged) understood(t *testing.T, writer, reader *schema.Schema) bool {
	t.Helper()
	if x.value == nil {
		return false // a reply that never comes
	}
	written := schematest.TypeOf(t, writer, x.typ)
	read, ok := reader.Type(x.typ)
	if !ok || reading(t, x.value, written, read) != "" {
		return false
	}
	fields := x.value.GetStruct().GetFields()
	if read.Struct == nil || read.Struct.FieldByID(0) == nil && written.Struct.FieldByID(0) != nil {
		return true // the reader wants no result: exceptions are looked at by those who have them
	}
	for _, f := range fields {
		if read.Struct.FieldByID(int16(f.GetId())) == nil {
			return false
		}
	}
	return read.Struct.FieldByID(0) == nil || len(fields) > 0
}

// Values of methods and types are understood unless the rule says that they are not.
func TestRulesAreWhatHappensToMethods(t *testing.T) {
	for _, row := range methodRows {
		old, updated := schematest.Compile(t, row.old), schematest.Compile(t, row.updated)
		found := false
		for _, c := range schema.Compare(old, updated) {
			found = found || c.Rule == row.rule
		}
		if !found {
			t.Errorf("%s: not found", row.rule)
		}
		if got, want := row.backward.understood(t, old, updated), row.rule.Breaks()&schema.BreaksBackward == 0; got != want {
			t.Errorf("%s: what the old revision writes is understood: %t, want %t", row.rule, got, want)
		}
		if got, want := row.forward.understood(t, updated, old), row.rule.Breaks()&schema.BreaksForward == 0; got != want {
			t.Errorf("%s: what the new revision writes is understood: %t, want %t", row.rule, got, want)
		}
	}
}
