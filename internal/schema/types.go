package schema

import (
	"reflect"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/schema/idl"
)

// sizeOf returns the bytes that a T takes, without what it points to.
func sizeOf[T any]() int64 { return int64(reflect.TypeFor[T]().Size()) } //nolint:gosec // small

// composition is what a container consists of; equal ones share a Type.
type composition struct {
	kind      thriftpackv1.Type
	key, elem *Type
}

// kinds are the wire types of the IDL's.
var kinds = map[idl.Kind]thriftpackv1.Type{
	idl.KindBool:   thriftpackv1.Type_TYPE_BOOL,
	idl.KindI8:     thriftpackv1.Type_TYPE_I8,
	idl.KindI16:    thriftpackv1.Type_TYPE_I16,
	idl.KindI32:    thriftpackv1.Type_TYPE_I32,
	idl.KindI64:    thriftpackv1.Type_TYPE_I64,
	idl.KindDouble: thriftpackv1.Type_TYPE_DOUBLE,
	idl.KindString: thriftpackv1.Type_TYPE_STRING,
	idl.KindBinary: thriftpackv1.Type_TYPE_BINARY,
	idl.KindUUID:   thriftpackv1.Type_TYPE_UUID,
	idl.KindList:   thriftpackv1.Type_TYPE_LIST,
	idl.KindSet:    thriftpackv1.Type_TYPE_SET,
	idl.KindMap:    thriftpackv1.Type_TYPE_MAP,
}

// kindNames are how the IDL spells them.
var kindNames = map[thriftpackv1.Type]string{
	thriftpackv1.Type_TYPE_BOOL:   "bool",
	thriftpackv1.Type_TYPE_I8:     "i8",
	thriftpackv1.Type_TYPE_I16:    "i16",
	thriftpackv1.Type_TYPE_I32:    "i32",
	thriftpackv1.Type_TYPE_I64:    "i64",
	thriftpackv1.Type_TYPE_DOUBLE: "double",
	thriftpackv1.Type_TYPE_STRING: "string",
	thriftpackv1.Type_TYPE_BINARY: "binary",
	thriftpackv1.Type_TYPE_UUID:   "uuid",
	thriftpackv1.Type_TYPE_LIST:   "list",
	thriftpackv1.Type_TYPE_SET:    "set",
	thriftpackv1.Type_TYPE_MAP:    "map",
	thriftpackv1.Type_TYPE_STRUCT: "struct",
}

// typeOf returns the plan of a type. It goes down by calls only through containers, whose nesting Limits.Source bounds.
func (c *compiler) typeOf(t *idl.Type) *Type {
	t = t.Final()
	switch {
	case t.Struct != nil:
		return c.structType(t.Struct)
	case t.Enum != nil:
		return c.enumType(t.Enum)
	}
	// Typedefs can share containers so that there are 2^n ways through n of them: each is gone into once.
	if known, ok := c.containers[t]; ok {
		return known
	}
	of := composition{kind: kinds[t.Kind]}
	if t.Key != nil {
		of.key = c.typeOf(t.Key)
	}
	if t.Elem != nil {
		of.elem = c.typeOf(t.Elem)
	}
	plan := c.intern(of)
	if of.elem != nil {
		c.containers[t] = plan
	}
	return plan
}

// intern returns the one type of that composition.
func (c *compiler) intern(of composition) *Type {
	if known, ok := c.interned[of]; ok {
		return known
	}
	t := &Type{Kind: of.kind, Key: of.key, Elem: of.elem, Name: kindNames[of.kind]}
	switch {
	case of.key != nil:
		t.Name += "<" + briefly(of.key.Name) + ", " + briefly(of.elem.Name) + ">"
	case of.elem != nil:
		t.Name += "<" + briefly(of.elem.Name) + ">"
	}
	c.charge(sizeOf[Type]() + int64(len(t.Name)))
	c.interned[of] = t
	return t
}

// longestName is how long the name of a type within that of a container may be. Names of containers of containers would grow
// with the product of their depth and number, and by way of typedefs to a power of two.
const longestName = 80

// briefly shortens a name that is too long to be part of another.
func briefly(name string) string {
	if len(name) <= longestName {
		return name
	}
	return name[:longestName-len("…")] + "…"
}

// qualified returns a declared name as errors have it.
func (c *compiler) qualified(f *idl.File, name string) string {
	if f == c.root {
		return name
	}
	c.charge(int64(len(f.Name) + 1 + len(name)))
	return f.Name + "." + name
}

// enumType returns the plan of an enum.
func (c *compiler) enumType(e *idl.Enum) *Type {
	if known, ok := c.enums[e]; ok {
		return known
	}
	name := c.qualified(e.File, e.Name)
	plan := &Type{Kind: thriftpackv1.Type_TYPE_I32, Name: name, Enum: &Enum{Name: name, At: e.Position}}
	c.enums[e] = plan
	cost := sizeOf[Type]() + sizeOf[Enum]() + int64(len(e.Values))*sizeOf[EnumValue]()
	if len(e.Values) > few {
		cost += int64(len(e.Values)) * (namedEntry + numberedEntry)
	}
	if !c.charge(cost) {
		return plan
	}
	plan.Enum.Values = make([]EnumValue, len(e.Values))
	for i, v := range e.Values {
		plan.Enum.Values[i] = EnumValue{Name: v.Name, Number: v.Number, At: v.Position}
	}
	plan.Enum.index()
	return plan
}

// About what an entry of a map takes, by name and by number.
const (
	namedEntry    = 48
	numberedEntry = 32
)

// structType returns the plan of a struct, whose fields may still be to come.
func (c *compiler) structType(s *idl.Struct) *Type {
	if known, ok := c.structs[s]; ok {
		return known
	}
	plan := c.newStruct(c.qualified(s.File, s.Name), s.Position, s.Fields, s.Kind == idl.Union)
	c.structs[s] = plan
	return plan
}

// newStruct makes a struct and puts it on the worklist for its fields.
func (c *compiler) newStruct(name string, at Position, fields []*idl.Field, union bool) *Type {
	plan := &Type{Kind: thriftpackv1.Type_TYPE_STRUCT, Name: name, Struct: &Struct{Name: name, Union: union, At: at}}
	c.charge(sizeOf[Type]() + sizeOf[Struct]())
	c.pending = append(c.pending, body{s: plan.Struct, fields: fields})
	return plan
}

// body gives a struct its fields.
func (c *compiler) body(b body) {
	cost := int64(len(b.fields)) * (sizeOf[Field]() + 2*densest)
	if len(b.fields) > few {
		cost += int64(len(b.fields)) * namedEntry
	}
	for _, f := range b.fields {
		cost += int64(len(f.Name)) + int64(len(`"":`))
	}
	if !c.charge(cost) {
		return
	}
	plans := make([]Field, len(b.fields))
	for i, f := range b.fields {
		c.limits.pause()
		plans[i] = Field{ID: f.ID, Name: f.Name, Type: c.typeOf(f.Type), Requirement: requirements[f.Requirement], At: f.Position}
	}
	b.s.SetFields(plans)
	if b.s.Union {
		return
	}
	for _, f := range b.fields {
		if f.Default != nil {
			c.defaults = append(c.defaults, pendingDefault{field: b.s.FieldByID(f.ID), value: f.Default, of: b.s})
		}
	}
}

// requirements are the plans' words for those of the IDL.
var requirements = map[idl.Requirement]Requirement{
	idl.Default: Default, idl.Required: Required, idl.Optional: Optional,
}

// signature is the two structs that a call of a function exchanges; result is nil for oneway functions.
type signature struct {
	args, result *Type
}

// signature returns the structs of a function as generated code has them: the arguments with the requirements that are
// written down, and the result as field 0 and the exceptions, all optional. A result has at most one of them, and that of a
// void function may have none; generated code checks neither when it reads, so the struct is not a union.
func (c *compiler) signature(of *idl.Service, m *idl.Function) signature {
	if known, ok := c.functions[m]; ok {
		return known
	}
	name := c.qualified(of.File, of.Name) + "." + m.Name
	c.charge(2 * int64(len(name)+len(".result")))
	made := signature{args: c.newStruct(name+".args", m.Position, m.Args, false)}
	if !m.Oneway {
		made.result = c.newStruct(name+".result", m.Position, c.resultFields(m), false)
	}
	c.functions[m] = made
	return made
}

// resultFields returns the fields of a function's result. The linker saw to it that no exception has the id or name of success.
func (c *compiler) resultFields(m *idl.Function) []*idl.Field {
	if !c.charge(int64(len(m.Throws)+1) * sizeOf[idl.Field]()) {
		return nil
	}
	fields := make([]*idl.Field, 0, len(m.Throws)+1)
	if m.Returns != nil {
		fields = append(fields, &idl.Field{
			Position: m.Position, Name: "success", Type: m.Returns, Requirement: idl.Optional,
		})
	}
	for _, thrown := range m.Throws {
		field := *thrown
		field.Requirement = idl.Optional
		fields = append(fields, &field)
	}
	return fields
}
