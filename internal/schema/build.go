package schema

import (
	"cmp"
	"slices"
)

// SetFields gives the struct its fields, in any order; no two may share an id or a name. It keeps and sorts the slice. It is called
// once, before the struct is used: on its own, because the type of a field may be the struct itself.
func (s *Struct) SetFields(fields []Field) {
	slices.SortFunc(fields, func(a, b Field) int { return cmp.Compare(a.ID, b.ID) })
	s.Fields = fields
	s.index()
}

// NewEnum returns an enum of these values, in the order of their declaration. It keeps the slice.
func NewEnum(name string, values []EnumValue) *Enum {
	e := &Enum{Name: name, Values: values}
	e.index()
	return e
}
