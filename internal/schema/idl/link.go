package idl

import (
	"strings"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// linker resolves the names of a program.
type linker struct {
	report  *reporter
	sources []*source
	scopes  map[*File]*scope
	types   typeMeter
	// services has what is known of services that were linked.
	services map[*Service]*lineage
	consts   constants
}

// scope is what names of one file mean.
type scope struct {
	file *File
	// types are what the file defines, services among them, which are no types but share their names.
	types map[string]definition
	// declared are its constants, and consts and services those that were linked: what the next one may refer to.
	declared map[string]*Const
	consts   map[string]*Const
	services map[string]*Service
	// includes are the scopes of the included files by their name.
	includes map[string][]*scope
}

// definition is what a name of a type stands for: exactly one is set.
type definition struct {
	structure *Struct
	enum      *Enum
	typedef   *Typedef
	service   *Service
}

// place returns where it is defined.
func (d *definition) place() Position {
	switch {
	case d.structure != nil:
		return d.structure.Position
	case d.enum != nil:
		return d.enum.Position
	case d.typedef != nil:
		return d.typedef.Position
	default:
		return d.service.Position
	}
}

// link resolves all names. It goes on after errors, so that there is more to report.
func (l *loader) link() *Program {
	k := &linker{report: l.report, sources: l.sources, scopes: make(map[*File]*scope, len(l.sources))}
	k.services = make(map[*Service]*lineage)
	k.types = typeMeter{report: l.report, typedefs: make(map[*Typedef]*typeSize)}
	k.consts = newConstants(l.report)
	for _, s := range l.sources {
		k.declare(s)
	}
	for _, s := range l.sources {
		scope := k.scopes[s.file]
		for _, t := range s.refs {
			k.report.limits.pause()
			k.resolveType(scope, t)
		}
	}
	for _, s := range l.sources {
		k.measureTypes(s)
	}
	for _, s := range l.sources {
		k.linkInOrder(s)
	}
	if !l.report.failed {
		k.complete()
	}
	program := &Program{Root: l.sources[len(l.sources)-1].file}
	for _, s := range l.sources {
		program.Files = append(program.Files, s.file)
	}
	return program
}

// declare makes the scope of a file, whose includes have theirs.
func (k *linker) declare(s *source) {
	file := s.file
	c := &scope{
		file:     file,
		types:    make(map[string]definition, len(file.Structs)+len(file.Enums)+len(file.Typedefs)+len(file.Services)),
		declared: make(map[string]*Const, len(file.Consts)),
		consts:   make(map[string]*Const, len(file.Consts)),
		services: make(map[string]*Service, len(file.Services)),
		includes: make(map[string][]*scope, len(file.Includes)),
	}
	k.scopes[file] = c
	for _, inc := range file.Includes {
		c.includes[inc.File.Name] = append(c.includes[inc.File.Name], k.scopes[inc.File])
	}
	for _, d := range file.Structs {
		k.declareType(c, d.Name, definition{structure: d})
	}
	for _, d := range file.Enums {
		k.declareType(c, d.Name, definition{enum: d})
	}
	for _, d := range file.Typedefs {
		k.declareType(c, d.Name, definition{typedef: d})
	}
	for _, d := range file.Services {
		k.declareType(c, d.Name, definition{service: d})
	}
	for _, d := range file.Consts {
		k.report.limits.pause()
		if first := c.declared[d.Name]; first != nil {
			k.report.duplicate(d.Position, "constant "+clip(d.Name), first.Position)
			continue
		}
		c.declared[d.Name] = d
	}
}

func (k *linker) declareType(c *scope, name string, d definition) {
	k.report.limits.pause()
	first, twice := c.types[name]
	if !twice {
		c.types[name] = d
		return
	}
	a, b := first.place(), d.place()
	if b.Line < a.Line || b.Line == a.Line && b.Column < a.Column {
		a, b = b, a // kinds are declared one after the other, not in the order of the source
		c.types[name] = d
	}
	k.report.duplicate(b, "the name "+clip(name), a)
}

// split cuts a name at its last dot: the part before it, or "", and the rest.
func split(name string) (prefix, last string) {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return "", name
	}
	return name[:dot], name[dot+1:]
}

// findType returns the definitions that a name may mean: of the file itself, or of the includes that it names.
func (c *scope) findType(name string) (found definition, count int) {
	prefix, last := split(name)
	if prefix == "" {
		if d, ok := c.types[last]; ok {
			return d, 1
		}
		return definition{}, 0
	}
	for _, inc := range c.includes[prefix] {
		if d, ok := inc.types[last]; ok {
			found = d
			count++
		}
	}
	return found, count
}

// foreignTypes are types of other dialects and times.
var foreignTypes = map[string]bool{"float": true, "slist": true, "hash_map": true, "hash_set": true}

// resolveType makes a name a type.
func (k *linker) resolveType(c *scope, t *Type) {
	d, count := c.findType(t.Name)
	switch {
	case count > 1:
		k.ambiguous(t.Position, t.Name)
	case count == 0 && foreignTypes[t.Name]:
		k.report.fault(t.Position, fault.SchemaUnsupported, "the type %s is not supported: %s", t.Name, foreignIDL)
	case count == 0:
		k.undefined(c, t.Position, "type", t.Name)
	case d.service != nil:
		k.report.fault(t.Position, fault.SchemaUndefined, "%s is a service and no type", clip(t.Name))
	case d.structure != nil:
		t.Kind, t.Struct = KindStruct, d.structure
	case d.enum != nil:
		t.Kind, t.Enum = KindEnum, d.enum
	default:
		t.Kind, t.Typedef = KindTypedef, d.typedef
	}
}

func (k *linker) ambiguous(place Position, name string) {
	k.report.fault(place, fault.SchemaAmbiguous, "%s may be of several includes", clip(name))
}

// undefined reports a name that means nothing, and why that may be.
func (k *linker) undefined(c *scope, place Position, what, name string) {
	prefix, _ := split(name)
	hint := ""
	if prefix != "" && len(c.includes[prefix]) == 0 {
		hint = ": no include is named " + clip(prefix)
	}
	k.report.fault(place, fault.SchemaUndefined, "%s %s is not defined%s", what, clip(name), hint)
}

// measureTypes finds what is behind the typedefs of a file, and bounds its types.
func (k *linker) measureTypes(s *source) {
	for _, d := range s.file.Typedefs {
		k.types.typedef(d)
	}
	for _, t := range s.uses {
		k.types.use(t)
	}
	for _, service := range s.file.Services {
		for _, f := range service.Functions {
			for _, x := range f.Throws {
				t := x.Type.Final()
				if t != nil && t.Kind != 0 && (t.Kind != KindStruct || t.Struct.Kind != Exception) {
					k.report.fault(x.Type.Position, fault.SchemaRule, "%s is no exception, and cannot be thrown", clip(x.Type.Name))
				}
			}
		}
	}
}

// linkInOrder links what may only refer to what stands before it.
func (k *linker) linkInOrder(s *source) {
	c := k.scopes[s.file]
	for i := range s.order {
		if k.report.full {
			return
		}
		k.report.limits.pause()
		p := &s.order[i]
		switch {
		case p.service != nil:
			k.linkService(c, p)
			c.services[p.service.Name] = p.service
		case p.constant != nil:
			p.constant.Value = k.consts.define(c, p.constant, p.value)
			if c.declared[p.constant.Name] == p.constant {
				c.consts[p.constant.Name] = p.constant
			}
		default:
			p.field.Default, _ = k.consts.evaluate(c, p.value, p.field.Type)
		}
	}
	for _, d := range s.file.Structs {
		k.report.limits.pause()
		k.checkUnionDefaults(d)
	}
}

// checkUnionDefaults reports more than one default in a union.
func (k *linker) checkUnionDefaults(s *Struct) {
	var first *Field
	for _, f := range s.Fields {
		switch {
		case s.Kind != Union, f.Default == nil:
		case first == nil:
			first = f
		default:
			k.report.fault(f.Position, fault.SchemaRule, "%s has a default, and so has %s: a union has at most one",
				clip(f.Name), clip(first.Name))
		}
	}
}

// lineage is what a service that extends another has to know of it.
type lineage struct {
	// levels counts it and those that it extends.
	levels int
	// functions are its own, by name. It is made for the first that extends it.
	functions map[string]*Function
}

// linkService finds the service that one extends, which must be defined before it.
func (k *linker) linkService(c *scope, p *pending) {
	own := &lineage{levels: 1}
	k.services[p.service] = own
	if p.extends == "" {
		return
	}
	prefix, last := split(p.extends)
	scopes := []*scope{c}
	if prefix != "" {
		scopes = c.includes[prefix]
	}
	for _, other := range scopes {
		base := other.services[last]
		switch {
		case base == nil:
		case p.service.Extends != nil:
			k.ambiguous(p.place, p.extends)
			return
		default:
			p.service.Extends = base
		}
	}
	if p.service.Extends == nil {
		k.undefined(c, p.place, "service", p.extends)
		return
	}
	own.levels += k.services[p.service.Extends].levels
	if most := k.report.limits.Nesting; own.levels > most {
		k.report.overLimit(p.place, fault.DepthLimit, "services that extend each other", most, own.levels)
		return
	}
	for base := p.service.Extends; base != nil; base = base.Extends {
		inherited := k.services[base]
		if inherited.functions == nil {
			inherited.functions = make(map[string]*Function, len(base.Functions))
			for _, f := range base.Functions {
				inherited.functions[f.Name] = f
			}
		}
		for _, f := range p.service.Functions {
			k.report.limits.pause()
			if first := inherited.functions[f.Name]; first != nil {
				k.report.duplicate(f.Position, "function "+clip(f.Name), first.Position)
			}
		}
	}
}
