// Package idl reads Thrift IDL: Parse takes source files as text and returns them linked, with every name resolved, every
// field id final and every constant evaluated. Sources come from a map and never from the file system, and all of them are
// hostile until checked. It knows nothing of plans; package schema makes those from what Parse returns. What it takes and
// refuses, and where it differs from Apache's compiler, is in docs/idl.md.
package idl

import "strconv"

// Program is a root file and all that it includes. A Program that Parse returned is immutable and may be shared. It
// refers to the memory of the sources.
type Program struct {
	// Root is the file that Parse was asked for.
	Root *File
	// Files are the root and all files that it includes, each once and after those that it includes itself: the root is
	// the last.
	Files []*File
}

// Position is a place in a source. Every node has that of its name, or of its first character where it has no name.
type Position struct {
	// File is the path of the source, as it is in the map that Parse was given.
	File string
	// Line and Column count from 1; columns count bytes, and a byte order mark has none.
	Line, Column int32
}

// String returns "file:line:column".
func (p Position) String() string {
	return p.File + ":" + strconv.Itoa(int(p.Line)) + ":" + strconv.Itoa(int(p.Column))
}

// File is one source.
type File struct {
	// Path is its path in the map that Parse was given.
	Path string
	// Name is how files that include it name it: the last element of the path without ".thrift".
	Name string
	// Includes are the files that it includes, in the order of the source, each once. Two may have the same name; then no
	// name that is used is in both of them.
	Includes []Include
	// Structs are its structs, unions and exceptions; these and the others are in the order of the source. Names are
	// unique among the Structs, Enums and Typedefs of a file, among its Consts and among its Services.
	Structs  []*Struct
	Enums    []*Enum
	Typedefs []*Typedef
	Consts   []*Const
	Services []*Service
}

// Include is an include of a file.
type Include struct {
	Position
	// File is what is included; its Name is how it is referred to.
	File *File
}

// Kind says what a type is.
type Kind uint8

// The kinds. Byte is I8. A reference to a typedef has kind KindTypedef; Final looks through it.
const (
	_ Kind = iota
	KindBool
	KindI8
	KindI16
	KindI32
	KindI64
	KindDouble
	KindString
	KindBinary
	KindUUID
	KindList
	KindSet
	KindMap
	KindEnum
	KindStruct // structs, unions and exceptions
	KindTypedef
)

// Type is the use of a type at one place. Types are recursive only through Struct.
type Type struct {
	Position
	// Kind is what it is as written.
	Kind Kind
	// Name is the type as written: "i32", "list", "base.Label".
	Name string
	// Key is the type of a map's keys.
	Key *Type
	// Elem is the type of a list's or set's elements or of a map's values.
	Elem *Type
	// Enum, Struct and Typedef are the definitions of the kinds of these names.
	Enum    *Enum
	Struct  *Struct
	Typedef *Typedef
}

// Final returns the type behind all typedefs: never one of KindTypedef. Its Key and Elem may again be typedefs.
func (t *Type) Final() *Type {
	if t.Kind == KindTypedef {
		return t.Typedef.Final
	}
	return t
}

// Typedef is another name of a type.
type Typedef struct {
	Position
	// File and Name say where it is declared and how.
	File *File
	Name string
	// Type is what it names, as written.
	Type *Type
	// Final is Type.Final().
	Final *Type
}

// Enum is a named set of numbers.
type Enum struct {
	Position
	// File and Name say where it is declared and how.
	File *File
	Name string
	// Values are in the order of the source. Names are unique, numbers may repeat.
	Values []EnumValue
}

// EnumValue is one name of an enum.
type EnumValue struct {
	Position
	Name   string
	Number int32
}

// StructKind tells structs, unions and exceptions apart.
type StructKind uint8

// The kinds of structs.
const (
	Plain StructKind = iota
	Union
	Exception
)

// Struct is a struct, a union or an exception.
type Struct struct {
	Position
	// File and Name say where it is declared and how.
	File *File
	Name string
	// Kind tells what it is.
	Kind StructKind
	// Fields are in the order of the source; neither ids nor names repeat.
	Fields []*Field
}

// Requirement says whether a field may be absent.
type Requirement uint8

// The requirements of fields.
const (
	// Default is a field without a word. Arguments and exceptions that are thrown have it even where they say optional.
	Default Requirement = iota
	Required
	// Optional is also what all members of unions are.
	Optional
)

// Field is a field of a struct, a union or an exception, an argument, or an exception in a throws clause.
type Field struct {
	Position
	// ID is final: as written, also where it is negative or 0, or -1, -2 and so on for those without one.
	ID          int16
	Name        string
	Type        *Type
	Requirement Requirement
	// Default is the value of the type that an absent field stands for, or nil.
	Default *Value
}

// Const is a named value.
type Const struct {
	Position
	// File and Name say where it is declared and how.
	File  *File
	Name  string
	Type  *Type
	Value *Value
}

// Value is a constant, checked against its type and converted to it, with references to other constants replaced by
// their values, which may then be shared. When its structs are completed by the defaults of the fields that are not given
// and not optional, it is finite, at most Limits.Nesting deep, and Limits.ConstantBytes bounds the sum of all in a program.
// Required fields without a default may be missing in its structs.
type Value struct {
	// Position is where it is written; of a constant that is named, where that was written.
	Position
	// Type is the type that it has, never a typedef.
	Type *Type
	// Int is the value of an integer or an enum, in the range of its type; of a bool it is 0 or 1.
	Int int64
	// Double is the value of a double. IDL cannot write infinities and NaN.
	Double float64
	// Text is the value of a string, which is UTF-8, or of a binary, or the 16 bytes of a uuid.
	Text string
	// Elements are those of a list or a set, in the order written; no element of a set repeats.
	Elements []*Value
	// Entries are those of a map, in the order written; no key repeats.
	Entries []Entry
	// Fields are those of a struct that are given, in the order written; none repeats. A union has exactly one.
	Fields []FieldValue
}

// Entry is a key of a map and its value.
type Entry struct {
	Key, Value *Value
}

// FieldValue is the value of a field.
type FieldValue struct {
	Field *Field
	Value *Value
}

// Service is a named set of functions.
type Service struct {
	Position
	// File and Name say where it is declared and how.
	File *File
	Name string
	// Extends is the service whose functions it has as well, or nil. No service extends itself.
	Extends *Service
	// Functions are its own, in the order of the source. Names are unique, also among those inherited.
	Functions []*Function
}

// Function is a function of a service.
type Function struct {
	Position
	// Name is what a message carries.
	Name string
	// Oneway functions have neither a result nor exceptions.
	Oneway bool
	// Returns is the type of the result, or nil for void. On the wire the result is field 0 of a struct with Throws.
	Returns *Type
	// Args are its arguments, as the fields of a struct.
	Args []*Field
	// Throws are its exceptions, as the fields of a struct. Where there is a result, none has its id or is named "success".
	Throws []*Field
}

// Warning is a doubt about a source that was accepted.
type Warning struct {
	Position
	// Detail is a sentence without its full stop.
	Detail string
}

// String returns "file:line:column: sentence".
func (w Warning) String() string { return w.Position.String() + ": " + w.Detail }
