package idl

import (
	"github.com/thriftpack/thriftpack/internal/fault"
)

// completer finds how large constants are once their structs have the defaults of the fields that are not given.
// That may be far more than what is written, as a default may have structs that have defaults, or not end at all.
type completer struct {
	report *reporter
	// defaults has the completed sizes of the defaults of fields.
	defaults map[*Field]*completion
	// completing are the fields of structs that complete a value.
	completing map[*Struct][]*Field
}

// completion is how large a completed value is.
type completion struct {
	// bytes are as Limits.ConstantBytes counts them.
	bytes int
	// levels is how deep its values are in each other.
	levels int
	// open says that the value is being completed: one that comes back to it never ends.
	open bool
}

// complete checks the completed sizes of all constants.
func (k *linker) complete() {
	c := &completer{report: k.report, defaults: make(map[*Field]*completion), completing: make(map[*Struct][]*Field)}
	total := 0
	for _, s := range k.sources {
		for i := range s.order {
			if k.report.full {
				return
			}
			var size completion
			var place Position
			switch p := &s.order[i]; {
			case p.constant != nil:
				place = p.constant.Position
				size = c.value(p.constant.Value, 1)
			case p.field != nil:
				place = p.field.Position
				size = *c.field(p.field, 1)
			}
			if total += size.bytes; total > k.report.limits.ConstantBytes {
				k.report.overLimit(place, fault.SizeLimit, "bytes of constants with defaults", k.report.limits.ConstantBytes, total)
			}
		}
	}
}

// field completes the default of a field, at a depth that counts from 1.
func (c *completer) field(f *Field, depth int) *completion {
	size := c.defaults[f]
	switch {
	case size == nil:
		size = &completion{open: true}
		c.defaults[f] = size
		*size = c.value(f.Default, depth)
	case size.open:
		c.report.fault(f.Position, fault.SchemaDefaultCycle,
			"the default of %s never ends: it has a struct in which the same default is to be filled in", clip(f.Name))
		c.report.full = true // every other error would be of the same circle
	}
	return size
}

// value completes a value, at a depth that counts from 1.
func (c *completer) value(v *Value, depth int) completion {
	c.report.limits.pause()
	size := completion{bytes: valueBytes + len(v.Text), levels: 1}
	if c.over(v, depth) {
		return size
	}
	add := func(part completion) {
		size.bytes += part.bytes
		size.levels = max(size.levels, 1+part.levels)
		if most := c.report.limits.ConstantBytes; size.bytes > most {
			c.report.overLimit(v.Position, fault.SizeLimit, "bytes of constants with defaults", most, size.bytes)
		}
	}
	for _, element := range v.Elements {
		add(c.value(element, depth+1))
	}
	for i := range v.Entries {
		add(c.value(v.Entries[i].Key, depth+1))
		add(c.value(v.Entries[i].Value, depth+1))
	}
	for i := range v.Fields {
		add(c.value(v.Fields[i].Value, depth+1))
	}
	if v.Type.Kind == KindStruct {
		given := givenFields(v)
		for _, f := range c.completingFields(v.Type.Struct) {
			if c.report.full {
				break
			}
			if !given(f) {
				part := *c.field(f, depth+1)
				add(part)
				c.over(v, depth+part.levels)
			}
		}
	}
	return size
}

// over reports a value that is too deep, and whether there is no use in going on.
func (c *completer) over(v *Value, depth int) bool {
	if most := c.report.limits.Nesting; depth > most {
		c.report.overLimit(v.Position, fault.DepthLimit, "values in values with defaults", most, depth)
	}
	return c.report.full
}

// completingFields are the fields of a struct that are written where they are not given.
func (c *completer) completingFields(s *Struct) []*Field {
	fields, ok := c.completing[s]
	if !ok {
		for _, f := range s.Fields {
			if f.Default != nil && f.Requirement != Optional {
				fields = append(fields, f)
			}
		}
		c.completing[s] = fields
	}
	return fields
}

// givenFields returns whether a field is given in a value of a struct.
func givenFields(v *Value) func(*Field) bool {
	if len(v.Fields) > fewMembers {
		given := make(map[*Field]bool, len(v.Fields))
		for i := range v.Fields {
			given[v.Fields[i].Field] = true
		}
		return func(f *Field) bool { return given[f] }
	}
	return func(f *Field) bool {
		for i := range v.Fields {
			if v.Fields[i].Field == f {
				return true
			}
		}
		return false
	}
}
