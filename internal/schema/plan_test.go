package schema

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// structOf returns an indexed struct with a field for each id, named after it.
func structOf(ids ...int) *Struct {
	s := &Struct{Name: "S"}
	for _, id := range ids {
		s.Fields = append(s.Fields, Field{ID: int16(id), Name: fmt.Sprintf("f%d", id)})
	}
	s.index()
	return s
}

func TestFieldsAreFound(t *testing.T) {
	rangeOf := func(first, last int) (ids []int) {
		for id := first; id <= last; id++ {
			ids = append(ids, id)
		}
		return ids
	}
	for _, c := range []struct {
		name string
		ids  []int
	}{
		{"none", nil},
		{"one", []int{1}},
		{"one at the lowest id", []int{math.MinInt16}},
		{"as many as are compared one by one", rangeOf(1, few)},
		{"one more", rangeOf(1, few+1)},
		{"negative, zero and positive", []int{-3, -1, 0, 2}},
		{"just close enough for a table", []int{1, 2 * densest}},
		{"too far apart for a table", []int{1, 2*densest + 1}},
		{"both ends", []int{math.MinInt16, math.MaxInt16}},
		{"all but one", rangeOf(math.MinInt16, math.MaxInt16-1)},
		{"all there are", rangeOf(math.MinInt16, math.MaxInt16)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := structOf(c.ids...)
			wanted := map[int]bool{}
			for i, id := range c.ids {
				wanted[id] = true
				name := fmt.Sprintf("f%d", id)
				byID, byName := s.FieldByID(int16(id)), s.FieldByName([]byte(name))
				if byID != &s.Fields[i] || byName != byID {
					t.Fatalf("field %d: by id %v, by name %v, want the same of Fields[%d]", id, byID, byName, i)
				}
				if got, want := string(byID.JSONKey), `"`+name+`":`; byID.Index != i || got != want {
					t.Fatalf("field %d: Index %d, JSONKey %s, want %d, %s", id, byID.Index, got, i, want)
				}
			}
			for id := math.MinInt16; id <= math.MaxInt16; id++ {
				if f := s.FieldByID(int16(id)); !wanted[id] && f != nil {
					t.Fatalf("FieldByID(%d) = field %d, want none", id, f.ID)
				}
			}
			for _, name := range []string{"", "f", "f40000", "F1"} {
				if f := s.FieldByName([]byte(name)); f != nil {
					t.Errorf("FieldByName(%q) = field %d, want none", name, f.ID)
				}
			}
		})
	}
}

func TestFieldsThatReadersAndWritersLookForAreCounted(t *testing.T) {
	one := &Constant{}
	s := &Struct{Fields: []Field{
		{ID: 1, Name: "a", Requirement: Required},
		{ID: 2, Name: "b", Requirement: Required, Default: one},
		{ID: 3, Name: "c"},
		{ID: 4, Name: "d", Default: one},
		{ID: 5, Name: "e", Requirement: Optional},
		{ID: 6, Name: "f", Requirement: Optional, Default: one},
	}}
	s.index()
	if s.Required != 2 || s.Written != 2 {
		t.Errorf("Required %d, Written %d, want 2, 2", s.Required, s.Written)
	}
}

func TestEnumValuesAreFound(t *testing.T) {
	for _, n := range []int{0, 1, few, few + 1, 100} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			e := &Enum{}
			for i := range n {
				// Every second number is that of the name before it.
				e.Values = append(e.Values, EnumValue{Name: fmt.Sprintf("V%d", i), Number: int32(i/2) - 3})
			}
			e.index()
			for i := range n {
				name := fmt.Sprintf("V%d", i)
				if got, ok := e.Number([]byte(name)); !ok || got != int32(i/2)-3 {
					t.Errorf("Number(%s) = %d, %t, want %d", name, got, ok, i/2-3)
				}
				if got, ok := e.NameOf(int32(i/2) - 3); !ok || got != fmt.Sprintf("V%d", i/2*2) {
					t.Errorf("NameOf(%d) = %s, %t, want the first declared", i/2-3, got, ok)
				}
			}
			if got, ok := e.Number([]byte("v0")); ok {
				t.Errorf("Number(v0) = %d, want none", got)
			}
			if got, ok := e.NameOf(-4); ok {
				t.Errorf("NameOf(-4) = %s, want none", got)
			}
		})
	}
}

func TestLookingUpAllocatesNothing(t *testing.T) {
	long := strings.Repeat("long", 20) // a short one would be copied to the stack
	for _, n := range []int{1, few, few + 1} {
		s, e := structOf(), &Enum{}
		for i := range n {
			s.Fields = append(s.Fields, Field{ID: int16(i), Name: long + strconv.Itoa(i)})
			e.Values = append(e.Values, EnumValue{Name: long + strconv.Itoa(i), Number: int32(i)})
		}
		s.index()
		e.index()
		name := []byte(long + "0")
		if got := testing.AllocsPerRun(1000, func() {
			s.FieldByName(name)
			s.FieldByID(0)
			e.Number(name)
			e.NameOf(0)
		}); got != 0 {
			t.Errorf("%d members: %v allocations, want 0", n, got)
		}
	}
}

// Every kind either has one text for each value, and may be the key of an object, or is known not to.
func TestEveryKindIsAKeyOrNot(t *testing.T) {
	keys := map[thriftpackv1.Type]bool{
		thriftpackv1.Type_TYPE_BOOL: true, thriftpackv1.Type_TYPE_I8: true, thriftpackv1.Type_TYPE_I16: true,
		thriftpackv1.Type_TYPE_I32: true, thriftpackv1.Type_TYPE_I64: true, thriftpackv1.Type_TYPE_STRING: true,
		thriftpackv1.Type_TYPE_UUID: true, thriftpackv1.Type_TYPE_DOUBLE: false, thriftpackv1.Type_TYPE_BINARY: false,
		thriftpackv1.Type_TYPE_LIST: false, thriftpackv1.Type_TYPE_SET: false, thriftpackv1.Type_TYPE_MAP: false,
		thriftpackv1.Type_TYPE_STRUCT: false, thriftpackv1.Type_TYPE_UNSPECIFIED: false,
	}
	for number, name := range thriftpackv1.Type_name {
		want, ok := keys[thriftpackv1.Type(number)]
		if !ok {
			t.Errorf("%s is in no row", name)
		}
		if got := (&Type{Kind: thriftpackv1.Type(number)}).ObjectKey(); got != want {
			t.Errorf("ObjectKey of %s = %t, want %t", name, got, want)
		}
	}
}
