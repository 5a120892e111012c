package idl

import (
	"math"
	"strconv"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// fields reads fields up to the closing mark. A field that is wrong is passed over.
func (p *parser) fields(opening *token, closing byte) ([]*Field, bool) {
	var (
		fields []*Field
		names  repeats[string]
		ids    repeats[int16]
		ok     = true
		warned bool
	)
	// As in Apache's compiler, one count is for all lists: where a list of xsd_attrs ends, the list around it goes on from there.
	p.autoID = -1
	for !p.mark(closing) {
		if p.tok.kind == tokenEnd || p.atDefinition() {
			return nil, p.unclosed(opening)
		}
		at := p.tok
		f := p.field(&warned)
		if f == nil {
			ok = false
			if !p.skipMember(closing, at) {
				return nil, false
			}
			continue
		}
		if i, twice := names.of(f.Name, len(fields), func(i int) string { return fields[i].Name }); twice {
			p.report.duplicate(f.Position, "field "+clip(f.Name), fields[i].Position)
		}
		if i, twice := ids.of(f.ID, len(fields), func(i int) int16 { return fields[i].ID }); twice && !p.wrongID {
			p.report.duplicate(f.Position, "field id "+strconv.Itoa(int(f.ID)), fields[i].Position)
		}
		fields = append(fields, f)
		if !p.members(&f.Position, "fields", len(fields)) {
			return nil, false
		}
	}
	return fields, ok
}

// field reads a field, or returns nil. Of several fields without an id in one list, one is warned of.
func (p *parser) field(warned *bool) *Field {
	f := p.newFields.take()
	p.wrongID = false
	hasID := p.tok.kind == tokenInteger
	if hasID && !p.fieldID(f) {
		return nil
	}
	switch {
	case p.is("required"):
		f.Requirement = Required
		p.advance()
	case p.is("optional"):
		f.Requirement = Optional
		if p.functions {
			p.report.warn(p.here(), "arguments and exceptions are not optional, whatever they say")
			f.Requirement = Default
		}
		p.advance()
	}
	var ok bool
	if f.Type, ok = p.typeUse(0); !ok {
		return nil
	}
	p.mark('&')
	if p.isAttribute() {
		p.expected("the name of a field") // it would be taken for the name where that is missing
		return nil
	}
	name, ok := p.name("a field")
	if !ok {
		return nil
	}
	f.Position, f.Name = p.place(&name), name.text
	if !hasID {
		if p.autoID < math.MinInt16 {
			p.report.fault(f.Position, fault.SchemaIDRange, "%s would get the id %d, not in -32768..32767", clip(f.Name), p.autoID)
			p.wrongID = true
			p.autoID = -1
		}
		f.ID = int16(p.autoID) //nolint:gosec // it was just checked
		p.autoID--
		if !*warned {
			*warned = true
			p.report.warn(f.Position, "%s has no id and gets %d: such ids change with the fields before them", clip(f.Name), f.ID)
		}
	}
	if p.mark('=') {
		value, ok := p.value(0)
		if !ok {
			return nil
		}
		if p.attributes == 0 {
			p.out.order = append(p.out.order, pending{field: f, value: value})
		}
	}
	if !p.attributesOf() || !p.annotations() {
		return nil
	}
	p.separator()
	return f
}

// fieldID reads the id of a field. Those of 0 and less stay as they are, and the next automatic one is 1 less.
func (p *parser) fieldID(f *Field) bool {
	place, text := p.here(), p.tok.text
	id, ok := p.integer()
	if !p.expectMark(':', "after the id of a field") {
		return false
	}
	if !ok || id < math.MinInt16 || id > math.MaxInt16 {
		p.report.fault(place, fault.SchemaIDRange, "field id %s is not in -32768..32767", clip(text))
		p.wrongID = true
		return true
	}
	if id <= 0 {
		if int(id) != p.autoID {
			p.report.warn(place, "field id %d is kept; Apache's compiler makes it %d, unless it is told to allow negative keys",
				id, p.autoID)
		}
		p.autoID = int(id) - 1
	}
	f.ID = int16(id)
	return true
}

// isAttribute reports whether here is a word that stands behind the name of a field.
func (p *parser) isAttribute() bool {
	return p.is("xsd_optional") || p.is("xsd_nillable") || p.is("xsd_attrs")
}

// attributesOf reads what XML schemas want to know of a field. It is of no use here, and is not linked: as in Apache's
// compiler, types there need not be defined.
func (p *parser) attributesOf() bool {
	for _, word := range [...]string{"xsd_optional", "xsd_nillable"} {
		if p.is(word) {
			p.advance()
		}
	}
	if !p.is("xsd_attrs") || p.peek.kind != '{' {
		return true
	}
	p.advance()
	opening := p.tok
	p.advance()
	p.attributes++
	if most := p.report.limits.Nesting; p.attributes >= most {
		p.report.overLimit(p.place(&opening), fault.DepthLimit, "fields in xsd_attrs", most, p.attributes+1)
		return false
	}
	_, ok := p.fields(&opening, '}')
	p.attributes--
	return ok
}

// checkThrows checks the exceptions of a function against its result, which is field 0, "success".
func (p *parser) checkThrows(f *Function, throws *token) {
	if f.Oneway && len(f.Throws) > 0 {
		p.report.fault(p.place(throws), fault.SchemaRule, "a oneway function throws nothing")
	}
	for _, x := range f.Throws {
		if f.Returns != nil && (x.ID == 0 || x.Name == "success") {
			p.report.fault(x.Position, fault.SchemaDuplicate, "the id 0 and the name success are those of the result")
		}
	}
}

// baseTypes are the types without parts.
var baseTypes = map[string]Kind{
	"bool": KindBool, "byte": KindI8, "i8": KindI8, "i16": KindI16, "i32": KindI32, "i64": KindI64, "double": KindDouble,
	"string": KindString, "binary": KindBinary, "uuid": KindUUID,
}

// typeUse reads a type, nested in so many others.
func (p *parser) typeUse(depth int) (*Type, bool) {
	if depth >= p.report.limits.Nesting {
		p.report.overLimit(p.here(), fault.DepthLimit, "types in types", p.report.limits.Nesting, depth+1)
		return nil, false
	}
	word := p.tok
	if word.kind != tokenWord {
		return nil, p.expected("a type")
	}
	t := p.newTypes.take()
	t.Position, t.Name = p.place(&word), word.text
	if depth == 0 && p.attributes == 0 {
		p.out.uses = append(p.out.uses, t)
	}
	switch class := keywords[word.text]; {
	case word.text == "map", word.text == "set", word.text == "list":
		p.advance()
		return t, p.container(t, depth) && p.annotations()
	case class&wordType != 0 && word.text != "void":
		t.Kind = baseTypes[word.text]
		p.advance()
		return t, p.annotations()
	case class != 0:
		return nil, p.expected("a type")
	}
	p.advance()
	if p.tok.kind == '<' {
		p.unsupported(&word, `"`+clip(word.text)+`<>"`)
		return nil, false
	}
	if p.attributes == 0 {
		p.out.refs = append(p.out.refs, t)
	}
	return t, true
}

// container reads the parts of a map, set or list behind its word.
func (p *parser) container(t *Type, depth int) (ok bool) {
	p.cppType()
	if !p.expectMark('<', "after "+t.Name) {
		return false
	}
	switch t.Name {
	case "map":
		t.Kind = KindMap
		if t.Key, ok = p.typeUse(depth + 1); !ok || !p.expectMark(',', "between the types of a map") {
			return false
		}
	case "set":
		t.Kind = KindSet
	default:
		t.Kind = KindList
	}
	if t.Elem, ok = p.typeUse(depth + 1); !ok || !p.expectMark('>', "behind the types of a container") {
		return false
	}
	if t.Kind == KindList {
		p.cppType()
	}
	return true
}

// cppType reads the name of a C++ type. It is of no use here.
func (p *parser) cppType() {
	if p.is("cpp_type") && p.peek.kind == tokenLiteral {
		p.advance()
		p.advance()
	}
}

// skipMember goes on behind the next separator or to where the next member seems to begin, at most to the closing mark.
// It returns false where the list seems to have no more. The token is that at which the member started that failed.
func (p *parser) skipMember(closing byte, from token) bool {
	angles := 0
	for depth := 0; p.tok.kind != tokenEnd && !p.atDefinition(); p.advance() {
		p.report.limits.pause()
		switch p.tok.kind {
		case '<':
			angles++
		case '>':
			angles = max(0, angles-1)
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			if depth == 0 {
				return p.tok.kind == tokenKind(closing)
			}
			depth--
		case ',', ';':
			if depth == 0 && angles == 0 {
				p.advance()
				return true
			}
		case tokenInteger:
			if depth == 0 && p.tok.first && p.peek.kind == ':' && (p.tok.line != from.line || p.tok.column != from.column) {
				return true
			}
		default: // part of what is wrong
		}
	}
	return false
}

// fewMembers is up to how many members are looked for one by one. Most lists are short, and need no map.
const fewMembers = 12

// repeats finds what is in a list twice.
type repeats[K comparable] struct {
	index map[K]int
}

// of returns which of so many members has a key, if one has, and then is told of the next, which gets it.
func (r *repeats[K]) of(key K, members int, keyOf func(int) K) (first int, twice bool) {
	if r.index == nil && members < fewMembers {
		for i := range members {
			if keyOf(i) == key {
				return i, true
			}
		}
		return 0, false
	}
	if r.index == nil {
		r.index = make(map[K]int, 4*fewMembers)
		for i := range members {
			r.put(keyOf(i), i)
		}
	}
	first, twice = r.index[key]
	r.put(key, members)
	return first, twice
}

// put keeps the first member of a key.
func (r *repeats[K]) put(key K, member int) {
	if _, ok := r.index[key]; !ok {
		r.index[key] = member
	}
}

// slab allocates many small things together, which saves a fifth of the processor time of BenchmarkParse.
type slab[T any] struct {
	free []T
	size int
}

// largestSlab bounds what is allocated ahead.
const largestSlab = 256

// take returns a zero of its own.
func (s *slab[T]) take() *T {
	if len(s.free) == 0 {
		s.size = min(max(2*s.size, 4), largestSlab)
		s.free = make([]T, s.size)
	}
	t := &s.free[0]
	s.free = s.free[1:]
	return t
}
