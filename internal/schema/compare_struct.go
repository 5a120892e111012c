package schema

import (
	"bytes"
	"strconv"
)

// structPair is two structs that stand at the same place.
type structPair struct {
	old, updated *Struct
	// path is the place: the name of the type where both have the same.
	path string
	// result says that they are the results of a method, which hold at most one field.
	result bool
	// byName says that both schemas have a name for them, and not only fields of their types.
	byName bool
}

// pairStructs puts two structs on the worklist, once.
func (c *comparison) pairStructs(p structPair) difference {
	pair := [2]*Struct{p.old, p.updated}
	if c.structs[pair] {
		return 0
	}
	if !p.byName && !c.mayKeepCompany(p.old, p.updated) {
		return differentWire
	}
	c.structs[pair] = true
	c.queue = append(c.queue, func() { c.compareStructs(p) })
	return 0
}

// compareStructs compares two structs field by field, by their ids first.
func (c *comparison) compareStructs(p structPair) {
	switch {
	case !p.old.Union && p.updated.Union:
		c.add(StructMadeUnion, p.path, "it is a union now: exactly one field is set", p.old.At, p.updated.At)
	case p.old.Union && !p.updated.Union:
		c.add(UnionMadeStruct, p.path, "it is no union any more: none or several fields may be set", p.old.At, p.updated.At)
	}
	for i := range p.old.Fields {
		c.pause()
		was := &p.old.Fields[i]
		path := p.path + "." + briefly(was.Name)
		moved := p.updated.FieldByName([]byte(was.Name))
		if moved != nil && moved.ID != was.ID {
			c.add(FieldIDChanged, path, "the id is "+idOf(moved)+", was "+idOf(was), was.At, moved.At)
		}
		is := p.updated.FieldByID(was.ID)
		switch {
		case is == nil && moved == nil:
			c.removed(p, was, path)
		case is == nil:
		case is.Name == was.Name:
			c.compareFields(p, was, is, path)
		case moved != nil || p.old.FieldByName([]byte(is.Name)) != nil:
			c.reused(p, was, is)
		default:
			c.renamedField(p, was, is)
		}
	}
	for i := range p.updated.Fields {
		c.pause()
		is := &p.updated.Fields[i]
		if p.old.FieldByID(is.ID) == nil && p.old.FieldByName([]byte(is.Name)) == nil {
			c.addedField(p, is)
		}
	}
}

// idOf returns the id of a field as text.
func idOf(f *Field) string { return strconv.Itoa(int(f.ID)) }

// described returns a field's type and id.
func described(f *Field) string { return briefly(f.Type.Name) + ", id " + idOf(f) }

// removed reports a field that is gone.
func (c *comparison) removed(p structPair, was *Field, path string) {
	rule, detail := FieldRemoved, "the field ("
	switch {
	case p.result && was.ID == 0:
		rule, detail = MethodResultRemoved, "the result ("
		path = p.path
	case p.result:
		rule, detail = MethodExceptionRemoved, "the exception ("
	case p.old.Union && p.updated.Union:
		rule, detail = UnionMemberRemoved, "the member ("
	case was.Requirement == Required:
		rule, detail = RequiredFieldRemoved, "the required field ("
	}
	c.add(rule, path, detail+described(was)+") is gone", was.At, Position{})
}

// addedField reports a field that is new.
func (c *comparison) addedField(p structPair, is *Field) {
	rule, detail, path := FieldAdded, "the field (", p.path+"."+briefly(is.Name)
	switch {
	case p.result && is.ID == 0:
		rule, detail = MethodResultAdded, "the result ("
		path = p.path
	case p.result:
		rule, detail = MethodExceptionAdded, "the exception ("
	case p.old.Union && p.updated.Union:
		rule, detail = UnionMemberAdded, "the member ("
	case is.Requirement == Required:
		rule, detail = RequiredFieldAdded, "the required field ("
	}
	c.add(rule, path, detail+described(is)+") is new", Position{}, is.At)
}

// reused reports an id that is now another field's.
func (c *comparison) reused(p structPair, was, is *Field) {
	c.add(FieldIDReused, p.path+"."+briefly(is.Name),
		"the id "+idOf(is)+" was that of "+briefly(was.Name)+" ("+briefly(was.Type.Name)+")", was.At, is.At)
}

// renamedField compares two fields of one id whose names are both in one of the structs only: it is taken for the same field
// where its type is the same.
func (c *comparison) renamedField(p structPair, was, is *Field) {
	path := p.path + "." + briefly(is.Name)
	if was.Type.Kind != is.Type.Kind || c.difference(was.Type, is.Type, path)&differentWire != 0 {
		c.reused(p, was, is)
		return
	}
	c.add(FieldRenamed, p.path+"."+briefly(was.Name), "the field is called "+briefly(is.Name), was.At, is.At)
	c.compareFields(p, was, is, path)
}

// compareFields compares two fields of one id.
func (c *comparison) compareFields(p structPair, was, is *Field, path string) {
	d := c.difference(was.Type, is.Type, path)
	c.typeChange(FieldTypeChanged, path, d, was.Type, is.Type, was.At, is.At)
	switch {
	case was.Requirement == is.Requirement:
	case is.Requirement == Required:
		c.add(FieldMadeRequired, path, "the field is required now", was.At, is.At)
	case was.Requirement == Required:
		c.add(FieldNoLongerRequired, path, "the field is no longer required", was.At, is.At)
	case p.old.Union != p.updated.Union: // all members of unions are optional, which is no change of theirs
	case is.Requirement == Optional:
		c.add(FieldRequirementChanged, path, "the field is optional now", was.At, is.At)
	default:
		c.add(FieldRequirementChanged, path, "the field is no longer optional", was.At, is.At)
	}
	if d&differentWire == 0 {
		c.compareDefaults(was, is, path)
	}
}

// compareDefaults compares what two fields stand for where they are absent. Where one of them is required no reader comes to
// know: either the writers never leave it out, or the reader refuses that, which is another rule's change.
func (c *comparison) compareDefaults(was, is *Field, path string) {
	rule := DefaultChanged
	if was.Requirement == Required || is.Requirement == Required {
		rule = RequiredDefaultChanged
	}
	switch {
	case was.Default == nil && is.Default == nil:
	case was.Default == nil:
		c.add(rule, path, "the field has a default value now", was.At, is.At)
	case is.Default == nil:
		c.add(rule, path, "the field has no default value any more", was.At, is.At)
	case !bytes.Equal(was.Default.Binary, is.Default.Binary):
		c.add(rule, path, "the field has another default value", was.At, is.At)
	}
}
