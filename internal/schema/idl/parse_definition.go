package idl

import (
	"math"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// constant reads a constant behind its keyword.
func (p *parser) constant() bool {
	t, ok := p.typeUse(0)
	if !ok {
		return false
	}
	name, ok := p.define("a constant")
	if !ok || !p.expectMark('=', "after the name of a constant") {
		return false
	}
	value, ok := p.value(0)
	if !ok {
		return false
	}
	c := &Const{Position: p.place(&name), File: p.out.file, Name: name.text, Type: t}
	p.out.file.Consts = append(p.out.file.Consts, c)
	p.out.order = append(p.out.order, pending{constant: c, value: value})
	return true
}

// typedef reads a typedef behind its keyword.
func (p *parser) typedef() bool {
	t, ok := p.typeUse(0)
	if !ok {
		return false
	}
	name, ok := p.define("a typedef")
	if !ok {
		return false
	}
	p.out.file.Typedefs = append(p.out.file.Typedefs,
		&Typedef{Position: p.place(&name), File: p.out.file, Name: name.text, Type: t})
	return p.annotations()
}

// enum reads an enum behind its keyword. Values without a number have that of the one before and 1 more.
func (p *parser) enum() bool {
	name, ok := p.define("an enum")
	if !ok {
		return false
	}
	e := &Enum{Position: p.place(&name), File: p.out.file, Name: name.text}
	opening := p.tok
	if !p.expectMark('{', "after the name of an enum") {
		return false
	}
	var names repeats[string]
	for next := int64(0); !p.mark('}'); next++ {
		if p.tok.kind == tokenEnd || p.atDefinition() {
			return p.unclosed(&opening)
		}
		word, ok := p.name("a value of an enum")
		if !ok {
			return false
		}
		value := EnumValue{Position: p.place(&word), Name: word.text}
		place := value.Position
		if p.mark('=') {
			place = p.here()
			if p.tok.kind != tokenInteger {
				return p.expected("an integer")
			}
			if next, ok = p.integer(); !ok {
				next = math.MaxInt64
			}
		}
		if next < math.MinInt32 || next > math.MaxInt32 {
			p.report.fault(place, fault.SchemaConstRange, "the number of %s is not in 32 bits", clip(word.text))
			next = 0
		}
		value.Number = int32(next) //nolint:gosec // it was just checked
		if i, twice := names.of(word.text, len(e.Values), func(i int) string { return e.Values[i].Name }); twice {
			p.report.duplicate(value.Position, "value "+clip(word.text), e.Values[i].Position)
		}
		e.Values = append(e.Values, value)
		if !p.members(&value.Position, "values of an enum", len(e.Values)) || !p.annotations() {
			return false
		}
		p.separator()
	}
	p.out.file.Enums = append(p.out.file.Enums, e)
	return p.annotations()
}

// structure reads a struct, union or exception behind its keyword.
func (p *parser) structure(kind StructKind, what string) bool {
	name, ok := p.define(what)
	if !ok {
		return false
	}
	if p.is("xsd_all") && kind != Exception {
		p.advance()
	}
	s := &Struct{Position: p.place(&name), File: p.out.file, Name: name.text, Kind: kind}
	opening := p.tok
	if !p.expectMark('{', "after the name of "+what) {
		return false
	}
	if s.Fields, ok = p.fields(&opening, '}'); !ok {
		return false
	}
	if kind == Union {
		p.checkUnion(s)
	}
	p.out.file.Structs = append(p.out.file.Structs, s)
	return p.annotations()
}

// checkUnion makes the members of a union optional.
func (p *parser) checkUnion(s *Struct) {
	for _, f := range s.Fields {
		if f.Requirement == Required {
			p.report.warn(f.Position, "member %s of a union is optional, whatever it says", f.Name)
		}
		f.Requirement = Optional
	}
}

// service reads a service behind its keyword.
func (p *parser) service() bool {
	name, ok := p.define("a service")
	if !ok {
		return false
	}
	s := &Service{Position: p.place(&name), File: p.out.file, Name: name.text}
	link := pending{service: s}
	if p.is("extends") {
		p.advance()
		if p.tok.kind != tokenWord {
			return p.expected("the name of a service")
		}
		link.extends, link.place = p.tok.text, p.here()
		p.advance()
	}
	opening := p.tok
	if !p.expectMark('{', "after the name of a service") {
		return false
	}
	p.functions = true
	ok = p.serviceBody(s, &opening)
	p.functions = false
	if !ok {
		return false
	}
	p.out.file.Services = append(p.out.file.Services, s)
	p.out.order = append(p.out.order, link)
	return p.annotations()
}

// serviceBody reads functions up to the closing bracket. A function that is wrong is passed over.
func (p *parser) serviceBody(s *Service, opening *token) bool {
	ok := true
	var names repeats[string]
	for !p.mark('}') {
		if p.tok.kind == tokenEnd || p.atDefinition() {
			return p.unclosed(opening)
		}
		at := p.tok
		f := p.function()
		if f == nil {
			ok = false
			if !p.skipMember('}', at) {
				return false
			}
			continue
		}
		if i, twice := names.of(f.Name, len(s.Functions), func(i int) string { return s.Functions[i].Name }); twice {
			p.report.duplicate(f.Position, "function "+clip(f.Name), s.Functions[i].Position)
		}
		s.Functions = append(s.Functions, f)
		if !p.members(&f.Position, "functions of a service", len(s.Functions)) {
			return false
		}
	}
	return ok
}

// function reads a function, or returns nil.
func (p *parser) function() *Function {
	f := new(Function)
	switch {
	case p.is("oneway"), p.is("async"):
		f.Oneway = true
		p.advance()
	case p.tok.kind == tokenWord && p.peek.kind == tokenWord && foreignFunctions[p.tok.text]:
		p.unsupported(&p.tok, `"`+p.tok.text+`" in a service`)
		return nil
	}
	if p.is("void") {
		p.advance()
	} else {
		t, ok := p.typeUse(0)
		if !ok {
			return nil
		}
		if f.Returns = t; f.Oneway {
			p.report.warn(t.Position, "a oneway function has no result")
			f.Returns = nil
		}
	}
	name, ok := p.name("a function")
	if !ok {
		return nil
	}
	f.Position, f.Name = p.place(&name), name.text
	if !p.count(&f.Position) {
		return nil
	}
	opening := p.tok
	if !p.expectMark('(', "after the name of a function") {
		return nil
	}
	if f.Args, ok = p.fields(&opening, ')'); !ok {
		return nil
	}
	if p.is("throws") && p.peek.kind == '(' {
		throws := p.tok
		p.advance()
		opening = p.tok
		p.advance()
		if f.Throws, ok = p.fields(&opening, ')'); !ok {
			return nil
		}
		p.checkThrows(f, &throws)
	}
	if !p.annotations() {
		return nil
	}
	p.separator()
	return f
}

// foreignFunctions are words of another dialect that stand before a function.
var foreignFunctions = map[string]bool{"performs": true, "idempotent": true, "readonly": true}
