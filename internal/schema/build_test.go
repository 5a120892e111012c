package schema

import (
	"slices"
	"testing"
)

// TestSetFields shows the order of the fields, the fields that are expected, and how they are found.
func TestSetFields(t *testing.T) {
	t.Parallel()
	seven := &Constant{Compact: []byte{14}}
	fields := func() []Field {
		return []Field{
			{ID: 5, Name: "optional", Requirement: Optional, Default: seven},
			{ID: 3, Name: "plain"},
			{ID: 1, Name: "required", Requirement: Required},
			{ID: -2, Name: "defaulted", Default: seven},
			{ID: 9, Name: "both", Requirement: Required, Default: seven},
		}
	}
	s := &Struct{Name: "S"}
	s.SetFields(fields())
	for i, want := range []string{"defaulted", "required", "plain", "optional", "both"} {
		f := &s.Fields[i]
		if f.Name != want || f.Index != i || string(f.JSONKey) != `"`+want+`":` || s.FieldByID(f.ID) != f || s.FieldByName([]byte(want)) != f {
			t.Errorf("field %d is %+v, want %s", i, f, want)
		}
	}
	if s.Required != 2 || !slices.Equal(s.Expected, []int{0, 1, 4}) {
		t.Errorf("%d required, expected %v, want 2 and [0 1 4]", s.Required, s.Expected)
	}
	if s.FieldByID(2) != nil || s.FieldByID(10) != nil || s.FieldByName([]byte("Plain")) != nil {
		t.Error("a field was found that the struct does not have")
	}
	union := &Struct{Name: "U", Union: true}
	if union.SetFields(fields()); len(union.Expected) != 0 {
		t.Errorf("a union expects %v", union.Expected)
	}
}

// TestNewEnum shows which name a number has.
func TestNewEnum(t *testing.T) {
	t.Parallel()
	e := NewEnum("E", []EnumValue{{Name: "B", Number: 2}, {Name: "A", Number: 1}, {Name: "TWO", Number: 2}})
	for name, want := range map[string]int32{"A": 1, "B": 2, "TWO": 2} {
		if got, ok := e.Number([]byte(name)); !ok || got != want {
			t.Errorf("Number(%s) = %d, %v, want %d", name, got, ok, want)
		}
	}
	if name, ok := e.NameOf(2); !ok || name != "B" {
		t.Errorf("NameOf(2) = %q, %v, want the first of its names", name, ok)
	}
	if _, ok := e.NameOf(3); ok {
		t.Error("NameOf(3) is found")
	}
}
