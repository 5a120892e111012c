package schema

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/schematest"
	"github.com/thriftpack/thriftpack/test/oracle"
	"github.com/thriftpack/thriftpack/test/schema/gen/after"
	"github.com/thriftpack/thriftpack/test/schema/gen/before"
)

// exchange is one direction of a row: what one revision writes, and what the other would have to see in it.
type exchange struct {
	written thrift.TStruct
	reader  func() thrift.TStruct
	right   string // as sees tells it
}

// breaks reports whether the reader refuses what was written or sees something else, in either protocol.
func (e exchange) breaks(t *testing.T, sees func(any) string) (string, bool) {
	t.Helper()
	for _, protocol := range oracle.Protocols {
		data := written(t, e.written, protocol)
		transport := thrift.NewTMemoryBufferLen(len(data))
		transport.Write(data)
		reader := e.reader()
		if err := reader.Read(t.Context(), protocolOf(t, protocol, transport)); err != nil {
			return fmt.Sprintf("%s: %v", protocol, err), true
		}
		if got := sees(reader); got != e.right {
			return fmt.Sprintf("%s: sees %s, where it should see %s", protocol, got, e.right), true
		}
	}
	return "", false
}

// byNames sees fields by their names, and numbers of enums by theirs.
func byNames(s any) string {
	text, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// byNumber sees the number of an enum.
func byNumber(s any) string {
	switch s := s.(type) {
	case interface{ GetA() before.Added }:
		return strconv.FormatInt(int64(s.GetA()), 10)
	case interface{ GetA() before.Removed }:
		return strconv.FormatInt(int64(s.GetA()), 10)
	case interface{ GetA() before.Renamed }:
		return strconv.FormatInt(int64(s.GetA()), 10)
	case interface{ GetA() after.Added }:
		return strconv.FormatInt(int64(s.GetA()), 10)
	case interface{ GetA() after.Removed }:
		return strconv.FormatInt(int64(s.GetA()), 10)
	case interface{ GetA() after.Renamed }:
		return strconv.FormatInt(int64(s.GetA()), 10)
	default:
		return fmt.Sprintf("%T", s)
	}
}

// members sees how many members of a union are set.
func members(s any) string {
	set := 0
	for _, is := range []func() bool{
		func() bool { u, ok := s.(interface{ IsSetA() bool }); return ok && u.IsSetA() },
		func() bool { u, ok := s.(interface{ IsSetB() bool }); return ok && u.IsSetB() },
	} {
		if is() {
			set++
		}
	}
	return fmt.Sprint(set, " set")
}

func of[T any](v T) *T { return &v }

func reader[T any, P interface {
	*T
	thrift.TStruct
}](made func() P,
) func() thrift.TStruct {
	return func() thrift.TStruct { return made() }
}

// rows have, for each rule that generated code can show, what is written before the change and read after it, and the other
// way round. Only readers are asked: a reader by names of its own knows them.
var rows = []struct {
	rule     schema.Rule
	typ      string // the type in both IDLs
	sees     func(any) string
	backward exchange
	forward  exchange
}{
	{
		rule: schema.FieldAdded, typ: "FieldAdded", sees: byNames,
		backward: exchange{&before.FieldAdded{A: of(int32(7))}, reader(after.NewFieldAdded), `{"a":7}`},
		forward:  exchange{&after.FieldAdded{A: of(int32(7)), B: of("x")}, reader(before.NewFieldAdded), `{"a":7}`},
	},
	{
		rule: schema.FieldRemoved, typ: "FieldRemoved", sees: byNames,
		backward: exchange{&before.FieldRemoved{A: of(int32(7)), B: of("x")}, reader(after.NewFieldRemoved), `{"a":7}`},
		forward:  exchange{&after.FieldRemoved{A: of(int32(7))}, reader(before.NewFieldRemoved), `{"a":7}`},
	},
	{
		rule: schema.RequiredFieldAdded, typ: "RequiredFieldAdded", sees: byNames,
		backward: exchange{&before.RequiredFieldAdded{A: of(int32(7))}, reader(after.NewRequiredFieldAdded), `{"a":7}`},
		forward:  exchange{&after.RequiredFieldAdded{A: of(int32(7)), B: "x"}, reader(before.NewRequiredFieldAdded), `{"a":7}`},
	},
	{
		rule: schema.RequiredFieldRemoved, typ: "RequiredFieldRemoved", sees: byNames,
		backward: exchange{&before.RequiredFieldRemoved{A: of(int32(7)), B: "x"}, reader(after.NewRequiredFieldRemoved), `{"a":7}`},
		forward:  exchange{&after.RequiredFieldRemoved{A: of(int32(7))}, reader(before.NewRequiredFieldRemoved), `{"a":7}`},
	},
	{
		rule: schema.FieldRenamed, typ: "FieldRenamed", sees: byNames,
		backward: exchange{&before.FieldRenamed{A: of(int32(7))}, reader(after.NewFieldRenamed), `{"b":7}`},
		forward:  exchange{&after.FieldRenamed{B: of(int32(7))}, reader(before.NewFieldRenamed), `{"a":7}`},
	},
	{
		rule: schema.FieldIDChanged, typ: "FieldIDChanged", sees: byNames,
		backward: exchange{&before.FieldIDChanged{A: of(int32(7))}, reader(after.NewFieldIDChanged), `{"a":7}`},
		forward:  exchange{&after.FieldIDChanged{A: of(int32(7))}, reader(before.NewFieldIDChanged), `{"a":7}`},
	},
	{
		rule: schema.FieldIDReused, typ: "FieldIDReused", sees: byNames,
		backward: exchange{&before.FieldIDReused{A: of(int32(1)), B: of(int32(2))}, reader(after.NewFieldIDReused), `{"b":2,"a":1}`},
		forward:  exchange{&after.FieldIDReused{A: of(int32(1)), B: of(int32(2))}, reader(before.NewFieldIDReused), `{"a":1,"b":2}`},
	},
	{
		rule: schema.FieldMadeRequired, typ: "FieldMadeRequired", sees: byNames,
		backward: exchange{&before.FieldMadeRequired{}, reader(after.NewFieldMadeRequired), `{}`},
		forward:  exchange{&after.FieldMadeRequired{A: 7}, reader(before.NewFieldMadeRequired), `{"a":7}`},
	},
	{
		rule: schema.FieldNoLongerRequired, typ: "FieldNoLongerRequired", sees: byNames,
		backward: exchange{&before.FieldNoLongerRequired{A: 7}, reader(after.NewFieldNoLongerRequired), `{"a":7}`},
		forward:  exchange{&after.FieldNoLongerRequired{}, reader(before.NewFieldNoLongerRequired), `{}`},
	},
	{
		rule: schema.FieldRequirementChanged, typ: "FieldRequirementChanged", sees: byNames,
		backward: exchange{&before.FieldRequirementChanged{A: 7}, reader(after.NewFieldRequirementChanged), `{"a":7}`},
		forward:  exchange{&after.FieldRequirementChanged{}, reader(before.NewFieldRequirementChanged), `{"a":0}`},
	},
	{
		rule: schema.FieldTypeChanged, typ: "FieldTypeChanged", sees: byNames,
		backward: exchange{&before.FieldTypeChanged{A: of(int32(7))}, reader(after.NewFieldTypeChanged), `{"a":7}`},
		forward:  exchange{&after.FieldTypeChanged{A: of(int64(7))}, reader(before.NewFieldTypeChanged), `{"a":7}`},
	},
	{ // Code for Go looks at no element type; in the compact protocol the numbers happen to be right.
		rule: schema.FieldTypeChanged, typ: "ElementTypeChanged", sees: byNames,
		backward: exchange{&before.ElementTypeChanged{A: []int32{7}}, reader(after.NewElementTypeChanged), `{"a":[7]}`},
		forward:  exchange{&after.ElementTypeChanged{A: []int64{7}}, reader(before.NewElementTypeChanged), `{"a":[7]}`},
	},
	{
		rule: schema.FieldTypeChanged, typ: "ListMadeSet", sees: byNames,
		backward: exchange{&before.ListMadeSet{A: []int32{7}}, reader(after.NewListMadeSet), `{"a":[7]}`},
		forward:  exchange{&after.ListMadeSet{A: []int32{7}}, reader(before.NewListMadeSet), `{"a":[7]}`},
	},
	{
		rule: schema.EnumMadeInteger, typ: "EnumMadeInteger", sees: byNames,
		backward: exchange{&before.EnumMadeInteger{A: of(before.Season_AUTUMN)}, reader(after.NewEnumMadeInteger), `{"a":2}`},
		forward:  exchange{&after.EnumMadeInteger{A: of(int32(2))}, reader(before.NewEnumMadeInteger), `{"a":"AUTUMN"}`},
	},
	{
		rule: schema.IntegerMadeEnum, typ: "IntegerMadeEnum", sees: byNames,
		backward: exchange{&before.IntegerMadeEnum{A: of(int32(2))}, reader(after.NewIntegerMadeEnum), `{"a":"AUTUMN"}`},
		forward:  exchange{&after.IntegerMadeEnum{A: of(after.Season_AUTUMN)}, reader(before.NewIntegerMadeEnum), `{"a":2}`},
	},
	{
		rule: schema.DefaultChanged, typ: "DefaultChanged", sees: byNames,
		backward: exchange{before.NewDefaultChanged(), reader(after.NewDefaultChanged), `{"a":1}`},
		forward:  exchange{after.NewDefaultChanged(), reader(before.NewDefaultChanged), `{"a":2}`},
	},
	{
		rule: schema.RequiredDefaultChanged, typ: "RequiredDefaultChanged", sees: byNames,
		backward: exchange{before.NewRequiredDefaultChanged(), reader(after.NewRequiredDefaultChanged), `{"a":1}`},
		forward:  exchange{after.NewRequiredDefaultChanged(), reader(before.NewRequiredDefaultChanged), `{"a":2}`},
	},
	{
		rule: schema.UnionMemberAdded, typ: "UnionMemberAdded", sees: members,
		backward: exchange{&before.UnionMemberAdded{A: of(int32(7))}, reader(after.NewUnionMemberAdded), "1 set"},
		forward:  exchange{&after.UnionMemberAdded{B: of("x")}, reader(before.NewUnionMemberAdded), "1 set"},
	},
	{
		rule: schema.UnionMemberRemoved, typ: "UnionMemberRemoved", sees: members,
		backward: exchange{&before.UnionMemberRemoved{B: of("x")}, reader(after.NewUnionMemberRemoved), "1 set"},
		forward:  exchange{&after.UnionMemberRemoved{A: of(int32(7))}, reader(before.NewUnionMemberRemoved), "1 set"},
	},
	{
		rule: schema.EnumValueAdded, typ: "EnumValueAdded", sees: byNumber,
		backward: exchange{&before.EnumValueAdded{A: of(before.Added_FIRST)}, reader(after.NewEnumValueAdded), "1"},
		forward:  exchange{&after.EnumValueAdded{A: of(after.Added_SECOND)}, reader(before.NewEnumValueAdded), "2"},
	},
	{
		rule: schema.EnumValueRemoved, typ: "EnumValueRemoved", sees: byNumber,
		backward: exchange{&before.EnumValueRemoved{A: of(before.Removed_SECOND)}, reader(after.NewEnumValueRemoved), "2"},
		forward:  exchange{&after.EnumValueRemoved{A: of(after.Removed_FIRST)}, reader(before.NewEnumValueRemoved), "1"},
	},
	{
		rule: schema.EnumValueRenamed, typ: "EnumValueRenamed", sees: byNumber,
		backward: exchange{&before.EnumValueRenamed{A: of(before.Renamed_FIRST)}, reader(after.NewEnumValueRenamed), "1"},
		forward:  exchange{&after.EnumValueRenamed{A: of(after.Renamed_OTHER)}, reader(before.NewEnumValueRenamed), "1"},
	},
	{
		rule: schema.EnumValueRenumbered, typ: "EnumValueRenumbered", sees: byNames,
		backward: exchange{&before.EnumValueRenumbered{A: of(before.Renumbered_FIRST)}, reader(after.NewEnumValueRenumbered), `{"a":"FIRST"}`},
		forward:  exchange{&after.EnumValueRenumbered{A: of(after.Renumbered_FIRST)}, reader(before.NewEnumValueRenumbered), `{"a":"FIRST"}`},
	},
}

// changes compares the two IDLs that the code was generated from.
func changes(t *testing.T) []schema.Change {
	t.Helper()
	compile := func(name string) *schema.Schema {
		text, err := os.ReadFile("idl/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return schematest.Compile(t, string(text))
	}
	return schema.Compare(compile("before.thrift"), compile("after.thrift"))
}

// Generated code breaks where the rule says so, and nowhere else.
func TestRulesAreWhatHappensToGeneratedCode(t *testing.T) {
	for _, row := range rows {
		t.Run(row.typ, func(t *testing.T) {
			for _, direction := range []struct {
				name   string
				of     exchange
				breaks schema.Breaks
			}{{"backward", row.backward, schema.BreaksBackward}, {"forward", row.forward, schema.BreaksForward}} {
				how, got := direction.of.breaks(t, row.sees)
				if want := row.rule.Breaks()&direction.breaks != 0; got != want {
					t.Errorf("%s breaks %s: %t, want %t: %s", row.rule, direction.name, got, want, how)
				}
			}
		})
	}
}

// The comparison finds each change under the rule that its type is named for, or is in the row of.
func TestChangesAreFound(t *testing.T) {
	found := map[string]bool{}
	for _, c := range changes(t) {
		typ, _, _ := strings.Cut(c.Path, ".")
		found[typ+" "+string(c.Rule)] = true
	}
	enums := map[schema.Rule]string{
		schema.EnumValueAdded: "Added", schema.EnumValueRemoved: "Removed", schema.EnumValueRenamed: "Renamed",
		schema.EnumValueRenumbered: "Renumbered",
	}
	for _, row := range rows {
		typ := row.typ
		if of, ok := enums[row.rule]; ok {
			typ = of
		}
		if key := typ + " " + string(row.rule); !found[key] {
			t.Errorf("%s: not found", key)
		}
		delete(found, typ+" "+string(row.rule))
	}
	delete(found, "FieldIDReused FIELD_ID_CHANGED") // two fields that change places do both
	if len(found) > 0 {
		t.Errorf("found, and in no row: %v", found)
	}
}
