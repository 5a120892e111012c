package schema

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema/idl"
)

// Compile reads the sources of a schema and makes plans of the types of root and of the files that it includes itself, and
// of all types that those refer to. The same sources always give the same schema. It takes time and memory in proportion
// to them; limits bound both. Errors are an idl.Errors for faults of the sources, else a *fault.Error. The schema keeps files,
// which must not be changed any more.
func Compile(name string, files map[string]string, root string, limits Limits) (*Schema, error) {
	program, warnings, err := idl.Parse(files, root, limits.Source)
	if err != nil {
		return nil, err
	}
	c := compiler{
		limits:     limits,
		structs:    map[*idl.Struct]*Type{},
		enums:      map[*idl.Enum]*Type{},
		containers: map[*idl.Type]*Type{},
		interned:   map[composition]*Type{},
		functions:  map[*idl.Function]signature{},
		values:     map[*Field]*idl.Value{},
		constants:  map[*Field]*constant{},
		root:       program.Root,
		schema: &Schema{
			Name: name, Revision: Revision(files, root), Root: root, Files: files,
			declared: map[string]*declaration{},
		},
	}
	for path, text := range files {
		c.charge(int64(len(path) + len(text)))
	}
	c.compile()
	if c.fault != nil {
		return nil, c.fault
	}
	for _, w := range warnings {
		c.schema.Warnings = append(c.schema.Warnings, w.String())
	}
	c.schema.Warnings = append(c.schema.Warnings, c.warned()...)
	c.schema.Cost = c.cost
	return c.schema, nil
}

// declaration is what a name of a schema stands for.
type declaration struct {
	t    *Type
	noun noun
	at   Position
	// oneway is that of the method that the arguments are of.
	oneway bool
	// root says that the name is the root's own. No file is kept here: with it all of the IDL's tree would be.
	root bool
}

// noun is what a declaration declares, in the word for it.
type noun string

const (
	nounStruct    noun = "struct"
	nounUnion     noun = "union"
	nounException noun = "exception"
	nounEnum      noun = "enum"
	nounTypedef   noun = "typedef"
	nounArgs      noun = "arguments"
	nounResult    noun = "result"
)

// compiler turns one program into a schema. Once fault is set nothing that it does counts any more.
type compiler struct {
	limits   Limits
	root     *idl.File
	schema   *Schema
	warnings []idl.Warning
	unsaid   int // warnings beyond the limit
	cost     int64
	fault    error

	structs    map[*idl.Struct]*Type
	enums      map[*idl.Enum]*Type
	containers map[*idl.Type]*Type
	interned   map[composition]*Type
	functions  map[*idl.Function]signature

	// pending are the structs whose types are made but not their fields: a worklist and not a recursion, since structs may
	// refer to each other in a chain as long as there are definitions.
	pending []body
	// defaults are the fields whose default values are to be compiled once all structs are.
	defaults  []pendingDefault
	values    map[*Field]*idl.Value
	constants map[*Field]*constant
	encoder   encoder.Encoder
}

// body is a struct and the fields that it is to get.
type body struct {
	s      *Struct
	fields []*idl.Field
}

// pendingDefault is a field and the value that it is to get.
type pendingDefault struct {
	field *Field
	value *idl.Value
	of    *Struct
}

// charge counts memory before it is taken, and reports whether it may be.
func (c *compiler) charge(bytes int64) bool {
	c.limits.pause()
	c.cost += bytes
	if c.fault == nil && c.cost > c.limits.PlanBytes {
		c.fault = fault.OverLimit(fault.SizeLimit, "bytes of compiled types", "--max-schema-plan-bytes", c.limits.PlanBytes, c.cost)
	}
	return c.fault == nil
}

// compile compiles all that has a name, then what that refers to, then default values.
func (c *compiler) compile() {
	c.file(c.root, "")
	for _, include := range c.root.Includes {
		c.file(include.File, include.File.Name+".")
	}
	for len(c.pending) > 0 && c.fault == nil {
		last := c.pending[len(c.pending)-1]
		c.pending = c.pending[:len(c.pending)-1]
		c.body(last)
	}
	c.compileDefaults()
	for name, d := range c.schema.declared {
		if d == nil {
			delete(c.schema.declared, name)
		}
	}
	c.schema.types = slices.AppendSeq(make([]string, 0, len(c.schema.declared)), maps.Keys(c.schema.declared))
	slices.SortFunc(c.schema.types, func(a, b string) int {
		c.limits.pause()
		return cmp.Compare(a, b)
	})
}

// file declares the names of a file.
func (c *compiler) file(f *idl.File, prefix string) {
	for _, s := range f.Structs {
		c.declare(f, prefix+s.Name, declaration{t: c.structType(s), noun: nounOf(s.Kind), at: s.Position})
	}
	for _, e := range f.Enums {
		c.declare(f, prefix+e.Name, declaration{t: c.enumType(e), noun: nounEnum, at: e.Position})
	}
	for _, d := range f.Typedefs {
		c.declare(f, prefix+d.Name, declaration{t: c.typeOf(d.Type), noun: nounTypedef, at: d.Position})
	}
	for _, s := range f.Services {
		for from := s; from != nil; from = from.Extends {
			for _, m := range from.Functions {
				if c.fault != nil {
					return
				}
				of := c.signature(from, m)
				method := prefix + s.Name + "." + m.Name
				c.declare(f, method+".args", declaration{t: of.args, noun: nounArgs, at: m.Position, oneway: m.Oneway})
				if of.result != nil {
					c.declare(f, method+".result", declaration{t: of.result, noun: nounResult, at: m.Position})
				}
			}
		}
	}
}

// nounOf returns the word for a kind of struct.
func nounOf(k idl.StructKind) noun {
	switch k {
	case idl.Union:
		return nounUnion
	case idl.Exception:
		return nounException
	default:
		return nounStruct
	}
}

// nameCost is about what a name takes beside its text: its entry in the map and in the list, and a declaration.
var nameCost = sizeOf[declaration]() + sizeOf[string]() + 64

// declare gives a type a name. The root's names come first and stay. Two includes may have the same base name; a name that is
// in both then stands for neither, as in the IDL.
func (c *compiler) declare(f *idl.File, name string, d declaration) {
	if !c.charge(nameCost + int64(len(name))) {
		return
	}
	d.root = f == c.root
	other, taken := c.schema.declared[name]
	switch {
	case !taken:
		c.schema.declared[name] = &d
	case other != nil && other.root:
		c.warn(d.at, "the name "+name+" is that of the type at "+other.at.String())
	default:
		c.schema.declared[name] = nil
		c.warn(d.at, "the name "+name+" is in two included files, and is left out")
	}
}

// warn adds a warning.
func (c *compiler) warn(at Position, detail string) {
	if len(c.warnings) >= c.limits.Source.Warnings {
		c.unsaid++
		return
	}
	c.warnings = append(c.warnings, idl.Warning{Position: at, Detail: detail})
}

// warned returns the compiler's own warnings in the order of places.
func (c *compiler) warned() []string {
	slices.SortStableFunc(c.warnings, func(a, b idl.Warning) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	var lines []string
	for _, w := range c.warnings {
		lines = append(lines, w.String())
	}
	if c.unsaid > 0 {
		lines = append(lines, fmt.Sprintf("%s: and %d more warnings of what was compiled", c.root.Path, c.unsaid))
	}
	return lines
}
