package idl

import (
	"strings"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// source is a file as it is parsed: its definitions, and what the linker has to do to them.
type source struct {
	file *File
	// includes are its includes as written.
	includes []include
	// refs are the types that are names.
	refs []*Type
	// uses are all types that are no part of another.
	uses []*Type
	// order has the constants, the defaults of fields and the services in the order of the source, in which they are linked.
	order []pending
}

// include is an include as written.
type include struct {
	place Position
	path  string
}

// pending is something that is linked in the order of the source: a constant, a default value or a service.
type pending struct {
	constant *Const
	field    *Field
	service  *Service
	// value is that of the constant or the field.
	value *raw
	// extends is the name of the service's base, or "".
	extends string
	// place is where that name stands.
	place Position
}

// budget counts what all files of a program take together.
type budget struct {
	definitions, constants int
}

// parser reads one source. Its methods report what is wrong and return false; whoever has a place to go on from does so.
type parser struct {
	report *reporter
	budget *budget
	lex    *lexer
	out    *source
	// tok is the current token, and peek the one behind it.
	tok, peek token
	// autoID is the id of the next field without one.
	autoID int
	// functions says that fields are those of functions.
	functions bool
	// wrongID says that the id of the last field was reported.
	wrongID bool
	// attributes counts the xsd_attrs around a field.
	attributes int

	newFields slab[Field]
	newTypes  slab[Type]
	newRaws   slab[raw]
}

// parse reads a source. What is wrong with it goes to the report.
func parse(report *reporter, spent *budget, path, text string) *source {
	p := &parser{report: report, budget: spent, lex: newLexer(report, path, text)}
	p.out = &source{file: &File{Path: path, Name: includeName(path)}}
	p.tok, p.peek = p.lex.next(), p.lex.next()
	for defined := false; p.tok.kind != tokenEnd; {
		report.limits.pause()
		at := p.tok
		if !p.definition(&defined) {
			p.skipDefinition(at)
		}
	}
	return p.out
}

// includeName returns how files name what they include: the last element of its path, without its extension.
func includeName(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		name = name[:dot]
	}
	return name
}

func (p *parser) advance() {
	p.tok = p.peek
	p.peek = p.lex.next()
}

func (p *parser) place(t *token) Position {
	return Position{File: p.lex.path, Line: t.line, Column: t.column}
}

// here is the place of the current token.
func (p *parser) here() Position { return p.place(&p.tok) }

// is reports whether the current token is this word.
func (p *parser) is(word string) bool { return p.tok.kind == tokenWord && p.tok.text == word }

// mark takes a punctuation mark where there is one.
func (p *parser) mark(c byte) bool {
	if p.tok.kind != tokenKind(c) {
		return false
	}
	p.advance()
	return true
}

// expectMark takes a punctuation mark, or reports its absence.
func (p *parser) expectMark(c byte, where string) bool {
	if p.mark(c) {
		return true
	}
	return p.expected(`"` + string(c) + `" ` + where)
}

// separator takes a comma or a semicolon where there is one.
func (p *parser) separator() {
	if p.tok.kind == ',' || p.tok.kind == ';' {
		p.advance()
	}
}

// expected reports that the current token is another than what the grammar has here.
func (p *parser) expected(what string) bool {
	if p.tok.kind == '@' {
		p.unsupported(&p.tok, "a structured annotation (@)")
		return false
	}
	p.report.fault(p.here(), fault.SchemaSyntax, "expected %s, found %s", what, describe(&p.tok))
	return false
}

// describe says what a token is, without the contents of literals.
func describe(t *token) string {
	switch t.kind {
	case tokenEnd:
		return "the end of the file"
	case tokenLiteral:
		return "a quoted text"
	case tokenInteger, tokenDouble:
		return "the number " + clip(t.text)
	default:
		return `"` + clip(t.text) + `"`
	}
}

// foreignIDL says why a construct is not supported.
const foreignIDL = "it is of another dialect of Thrift, or of an old version"

// unsupported reports a construct that is not Apache's.
func (p *parser) unsupported(t *token, construct string) {
	p.report.fault(p.place(t), fault.SchemaUnsupported, "%s is not supported: %s", construct, foreignIDL)
}

// literal takes a quoted text.
func (p *parser) literal(what string) (string, bool) {
	if p.tok.kind != tokenLiteral {
		return "", p.expected(what)
	}
	text := p.tok.value()
	p.advance()
	return text, true
}

// define takes the name of a definition, which is no keyword: a type of that name could not be told from the keyword.
func (p *parser) define(what string) (token, bool) {
	if p.tok.kind == tokenWord && keywords[p.tok.text] != 0 {
		p.report.fault(p.here(), fault.SchemaSyntax, "%s cannot be named by the keyword %q", what, p.tok.text)
		return p.tok, false
	}
	t, ok := p.name(what)
	if !ok {
		return t, false
	}
	place := p.place(&t)
	return t, p.count(&place)
}

// count counts a definition, and reports one too many.
func (p *parser) count(place *Position) bool {
	p.budget.definitions++
	most := p.report.limits.Definitions
	if p.budget.definitions > most {
		p.report.overLimit(*place, fault.SizeLimit, "definitions of a program", most, p.budget.definitions)
	}
	return p.budget.definitions <= most
}

// members reports one member too many.
func (p *parser) members(place *Position, what string, count int) bool {
	p.report.limits.pause()
	most := p.report.limits.Members
	if count > most {
		p.report.overLimit(*place, fault.SizeLimit, what, most, count)
	}
	return count <= most
}

// name takes a name, which may be a keyword, but has no dots.
func (p *parser) name(what string) (token, bool) {
	t := p.tok
	if t.kind != tokenWord {
		return t, p.expected("the name of " + what)
	}
	p.advance()
	if strings.IndexByte(t.text, '.') >= 0 {
		p.report.fault(p.place(&t), fault.SchemaSyntax, "the name of %s must not have dots: %s", what, clip(t.text))
		return t, false
	}
	return t, true
}

// The classes of keywords.
const (
	// wordHeader and wordDefinition begin a header or a definition.
	wordHeader = 1 << iota
	wordDefinition
	// wordType is a type.
	wordType
	// wordOther has a meaning elsewhere.
	wordOther
)

// keywords are the words that have a meaning of their own. They can be the names of fields, functions and values of
// enums, where nothing else can stand, but not of what types and constants are referred to by.
var keywords = map[string]uint8{
	"include": wordHeader, "cpp_include": wordHeader, "namespace": wordHeader,
	"const": wordDefinition, "typedef": wordDefinition, "enum": wordDefinition, "struct": wordDefinition,
	"union": wordDefinition, "exception": wordDefinition, "service": wordDefinition,
	"void": wordType, "bool": wordType, "byte": wordType, "i8": wordType, "i16": wordType, "i32": wordType, "i64": wordType,
	"double": wordType, "string": wordType, "binary": wordType, "uuid": wordType, "map": wordType, "list": wordType,
	"set":      wordType,
	"required": wordOther, "optional": wordOther, "oneway": wordOther, "async": wordOther, "extends": wordOther,
	"throws": wordOther, "true": wordOther, "false": wordOther, "cpp_type": wordOther, "xsd_all": wordOther,
	"xsd_optional": wordOther, "xsd_nillable": wordOther, "xsd_attrs": wordOther,
}

// definition reads a header or a definition, and says whether it is sound. Headers come before definitions.
func (p *parser) definition(defined *bool) (ok bool) {
	word := p.tok
	if word.kind != tokenWord {
		return p.expected("a definition")
	}
	switch class := keywords[word.text]; {
	case class&wordHeader != 0:
		if *defined {
			p.report.fault(p.here(), fault.SchemaSyntax, "%s after a definition: headers come first", word.text)
		}
		ok = p.header()
	case class&wordDefinition != 0:
		*defined = true
		p.advance()
		switch word.text {
		case "const":
			ok = p.constant()
		case "typedef":
			ok = p.typedef()
		case "enum":
			ok = p.enum()
		case "struct":
			ok = p.structure(Plain, "a struct")
		case "union":
			ok = p.structure(Union, "a union")
		case "exception":
			ok = p.structure(Exception, "an exception")
		case "service":
			ok = p.service()
		}
	case oldNamespaces[word.text] && p.peek.kind == tokenWord:
		p.report.warn(p.here(), "%s is out of use: namespaces are declared with the word namespace", word.text)
		p.advance()
		p.advance()
		ok = true
	case p.foreignDefinition():
		p.unsupported(&word, `"`+clip(word.text)+`"`)
		return false
	default:
		return p.expected("a definition")
	}
	if ok {
		p.separator() // Apache's compiler has none after some definitions; a ";" there was what other parsers stopped at
	}
	return ok
}

// oldNamespaces are the words that once declared namespaces.
var oldNamespaces = map[string]bool{
	"cpp_namespace": true, "java_package": true, "csharp_namespace": true, "delphi_namespace": true, "php_namespace": true,
	"py_module": true, "perl_package": true, "ruby_namespace": true, "smalltalk_category": true, "smalltalk_prefix": true,
	"xsd_namespace": true, "cocoa_prefix": true,
}

// foreignDefinition reports whether here begins what other dialects define.
func (p *parser) foreignDefinition() bool {
	switch p.tok.text {
	case "package", "interaction", "senum":
		return p.tok.kind == tokenWord
	}
	return p.tok.kind == tokenWord && p.peek.kind == tokenWord && p.peek.text == "exception"
}

// header reads an include or a namespace.
func (p *parser) header() bool {
	word := p.tok.text
	p.advance()
	place := p.here()
	switch word {
	case "include":
		path, ok := p.literal("the path of a file")
		if ok {
			p.out.includes = append(p.out.includes, include{place, path})
		}
		return ok
	case "cpp_include":
		_, ok := p.literal("the path of a file")
		return ok
	}
	if p.mark('*') {
		if p.tok.kind != tokenWord {
			return p.expected("a namespace")
		}
		p.advance()
		return true
	}
	for _, what := range [...]string{"a language", "a namespace"} {
		if p.tok.kind != tokenWord {
			return p.expected(what)
		}
		p.advance()
	}
	return p.annotations()
}

// skipDefinition goes on to where the next definition or header seems to begin: with its word, at the start of a line. The
// token is that at which the definition started that failed.
func (p *parser) skipDefinition(from token) {
	if p.tok.line == from.line && p.tok.column == from.column {
		p.advance()
	}
	for ; p.tok.kind != tokenEnd; p.advance() {
		p.report.limits.pause()
		if !p.tok.first {
			continue
		}
		if p.tok.kind == '@' || keywords[p.tok.text]&(wordHeader|wordDefinition) != 0 || p.foreignDefinition() {
			return
		}
	}
}

// atDefinition reports whether a definition seems to begin here, inside of another: with its word and a name in one line.
func (p *parser) atDefinition() bool {
	return p.tok.first && p.tok.kind == tokenWord && keywords[p.tok.text]&wordDefinition != 0 &&
		p.peek.kind == tokenWord && p.peek.line == p.tok.line
}
