// Package schema has Thrift types in the form that the service works with: plans, compiled once from Thrift IDL and never
// changed, by which values are checked and named. Package idl reads the IDL, package store keeps it, and package jsonvalue
// goes from JSON to bytes and back through plans. It knows nothing of gRPC.
package schema

import (
	"math"
	"slices"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/schema/idl"
)

// Type is what a value may be. It is immutable and may be shared; types can be recursive.
type Type struct {
	// Kind is how the value is on the wire; that of an enum is i32, that of a union or exception is struct.
	Kind thriftpackv1.Type
	// Name is the type as errors name it: the declared name, with its include's name where it is from another file, or such as
	// "i32" and "list<base.Meta>". Typedefs have the name of what they stand for.
	Name string
	// Enum is set for enums.
	Enum *Enum
	// Struct is set for structs, unions and exceptions.
	Struct *Struct
	// Key is the type of a map's keys.
	Key *Type
	// Elem is the type of a list's or set's elements, or of a map's values.
	Elem *Type
}

// ObjectKey reports whether JSON writes a map with keys of this type as an object, the key as text, and not as an array of
// {"key":…,"value":…}: strings, integers, enums, bools and uuids have one text each.
func (t *Type) ObjectKey() bool {
	switch t.Kind {
	case thriftpackv1.Type_TYPE_STRING, thriftpackv1.Type_TYPE_I8, thriftpackv1.Type_TYPE_I16, thriftpackv1.Type_TYPE_I32,
		thriftpackv1.Type_TYPE_I64, thriftpackv1.Type_TYPE_BOOL, thriftpackv1.Type_TYPE_UUID:
		return true
	default:
		return false
	}
}

// Position is a place in a source.
type Position = idl.Position

// Requirement says whether a field may be absent.
type Requirement uint8

// The requirements of fields.
const (
	// Default fields may be absent. Where they have a default value they are then written with it.
	Default Requirement = iota
	// Required fields must be there, but for those with a default value, which are written with it.
	Required
	// Optional fields may be absent; nothing is written for them.
	Optional
)

// Struct is the fields of a struct, union or exception.
type Struct struct {
	// Name is as Type.Name.
	Name string
	// Union says that exactly one field is set.
	Union bool
	// Fields are in ascending order of their ids, and no two share an id or a name.
	Fields []Field
	// Required counts the fields that a reader must find.
	Required int
	// Written counts the fields that are written with their default value where they are absent, see Field.WrittenByDefault.
	Written int
	// Expected are the indexes, ascending, of the fields that Required and Written count: whatever writes a struct has to look at these
	// where they are absent, and at no other. A union has none.
	Expected []int
	// At is where the name is declared.
	At Position

	// byName has the index into Fields of each name; nil for few fields, whose names are compared one by one.
	byName map[string]int
	// dense has the index into Fields, plus 1, of the ids from firstID on; nil where they are far apart, and byID has them.
	dense   []uint16
	firstID int
	byID    map[int16]int
}

// Field is one field of a Struct.
type Field struct {
	// Index is the field's place in Struct.Fields.
	Index int
	// ID is the field id.
	ID int16
	// Requirement says whether it may be absent.
	Requirement Requirement
	// Name is its name: an identifier, all ASCII.
	Name string
	// JSONKey is the name as it starts a member in JSON: quoted, with a colon. It is shared and must not be changed.
	JSONKey []byte
	// Type is what its value is.
	Type *Type
	// Default is the value that an absent field stands for, or nil. Members of unions have none: one of them has to be set.
	Default *Constant
	// At is where the name is declared.
	At Position
}

// WrittenByDefault reports whether the field is written with its default value where it is absent.
func (f *Field) WrittenByDefault() bool { return f.Default != nil && f.Requirement != Optional }

// Constant is a value in the forms in which it is written. All are shared and must not be changed.
type Constant struct {
	// Value is the wire bytes of the thriftpack.v1.Value, canonical.
	Value []byte
	// Compact and Binary are its Thrift bytes without a field header: a bool is one byte, in the compact protocol 1 or 2.
	Compact, Binary []byte
}

// Enum is the names of numbers.
type Enum struct {
	// Name is as Type.Name.
	Name string
	// Values are in the order of their declaration. Numbers may repeat.
	Values []EnumValue
	// At is where the name is declared.
	At Position

	// byName has the index into Values of each name; nil for few, which are compared one by one.
	byName map[string]int
	// byNumber has the index into Values of the first of each number; nil for few.
	byNumber map[int32]int
}

// EnumValue is a named number.
type EnumValue struct {
	// Name is an identifier, all ASCII.
	Name string
	// Number is the value.
	Number int32
	// At is where the name is declared.
	At Position
}

// few is the most names or numbers that are compared one by one. It is as fast as a map up to about so many, and a map takes
// more memory than all else of a small struct.
const few = 8

// Number returns the number of that name. It keeps no reference to name.
func (e *Enum) Number(name []byte) (int32, bool) {
	if i := e.indexOf(name); i >= 0 {
		return e.Values[i].Number, true
	}
	return 0, false
}

// NameOf returns the name of a number; of several, that declared first.
func (e *Enum) NameOf(number int32) (string, bool) {
	if i := e.indexOfNumber(number); i >= 0 {
		return e.Values[i].Name, true
	}
	return "", false
}

// indexOf returns the index of a name, or -1.
func (e *Enum) indexOf(name []byte) int {
	if e.byName != nil {
		if i, ok := e.byName[string(name)]; ok {
			return i
		}
		return -1
	}
	for i := range e.Values {
		if e.Values[i].Name == string(name) {
			return i
		}
	}
	return -1
}

// indexOfNumber returns the index of the first name of a number, or -1.
func (e *Enum) indexOfNumber(number int32) int {
	if e.byNumber != nil {
		if i, ok := e.byNumber[number]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(e.Values, func(v EnumValue) bool { return v.Number == number })
}

// FieldByID returns the field of that id, or nil.
func (s *Struct) FieldByID(id int16) *Field {
	if s.dense == nil {
		if i, ok := s.byID[id]; ok {
			return &s.Fields[i]
		}
		return nil
	}
	if at := int(id) - s.firstID; at >= 0 && at < len(s.dense) && s.dense[at] != 0 {
		return &s.Fields[s.dense[at]-1]
	}
	return nil
}

// FieldAfter returns the field of that id where it is among the few from number next on, or nil, also where the id is that of another
// one. It is for readers of fields in ascending order, of which some are absent, and faster there than FieldByID.
func (s *Struct) FieldAfter(next int, id int16) *Field {
	for i := next; i < len(s.Fields) && i < next+few && s.Fields[i].ID <= id; i++ {
		if s.Fields[i].ID == id {
			return &s.Fields[i]
		}
	}
	return nil
}

// FieldByName returns the field of that name, or nil. It keeps no reference to name. A caller that reads members in the
// order of declaration is faster to compare with the name of the next field first.
func (s *Struct) FieldByName(name []byte) *Field {
	if s.byName != nil {
		if i, ok := s.byName[string(name)]; ok {
			return &s.Fields[i]
		}
		return nil
	}
	for i := range s.Fields {
		if s.Fields[i].Name == string(name) {
			return &s.Fields[i]
		}
	}
	return nil
}

// densest is how many ids a table may span for each field.
const densest = 16

// index makes the tables of a struct whose Fields are final, in ascending order of ids.
func (s *Struct) index() {
	s.expect()
	if len(s.Fields) > few {
		s.byName = make(map[string]int, len(s.Fields))
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		f.Index = i
		f.JSONKey = append(append(append(make([]byte, 0, len(f.Name)+3), '"'), f.Name...), '"', ':')
		if s.byName != nil {
			s.byName[f.Name] = i
		}
	}
	if len(s.Fields) == 0 {
		s.dense = []uint16{}
		return
	}
	s.firstID = int(s.Fields[0].ID)
	span := int(s.Fields[len(s.Fields)-1].ID) - s.firstID + 1
	if span <= densest*len(s.Fields) && len(s.Fields) <= math.MaxUint16 {
		s.dense = make([]uint16, span)
		for i := range s.Fields {
			s.dense[int(s.Fields[i].ID)-s.firstID] = uint16(i + 1)
		}
		return
	}
	s.byID = make(map[int16]int, len(s.Fields))
	for i := range s.Fields {
		s.byID[s.Fields[i].ID] = i
	}
}

// expect notes which absent fields matter, by their requirements and default values.
func (s *Struct) expect() {
	s.Required, s.Written, s.Expected = 0, 0, nil
	for i := range s.Fields {
		f := &s.Fields[i]
		required, written := f.Requirement == Required, f.WrittenByDefault()
		if required {
			s.Required++
		}
		if written {
			s.Written++
		}
		if !s.Union && (required || written) {
			s.Expected = append(s.Expected, i)
		}
	}
}

// index makes the tables of an enum whose Values are final.
func (e *Enum) index() {
	if len(e.Values) <= few {
		return
	}
	e.byName = make(map[string]int, len(e.Values))
	e.byNumber = make(map[int32]int, len(e.Values))
	for i, v := range e.Values {
		e.byName[v.Name] = i
		if _, ok := e.byNumber[v.Number]; !ok {
			e.byNumber[v.Number] = i
		}
	}
}
