package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/server"
)

// localSchema is the name that the server in this process has the schema of --idl by.
const localSchema = "idl"

// typed is --type with where it is declared: --idl, which is compiled in this process, or --schema of a server.
type typed struct {
	name, schema, idl string
	includes          []string
}

func (t *typed) addFlags(cmd *cobra.Command) {
	t.addLocalFlags(cmd)
	cmd.Flags().StringVar(&t.schema, "schema", "", "the type is of this schema of the server: `NAME` for its newest revision, or NAME@REVISION")
}

// addLocalFlags declares the flags of a type in a file.
func (t *typed) addLocalFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&t.name, "type", "", "`TYPE` of the value: Type, include.Type, Service.method.args or Service.method.result")
	flags.StringVar(&t.idl, "idl", "", "the type is declared in this .thrift `FILE`, or in one that it includes; nothing is sent anywhere")
	flags.StringArrayVarP(&t.includes, "include", "I", nil, "with --idl: look for includes in this `FOLDER`, too")
}

// compile returns the type of --idl and --type, nil without them.
func (t *typed) compile() (*schema.Type, error) {
	if err := t.check(""); err != nil {
		return nil, err
	}
	if !t.set() {
		return nil, nil //nolint:nilnil // no type is not an error
	}
	s, err := readIDL(t.idl, t.includes)
	if err != nil {
		return nil, err
	}
	limits := schema.DefaultLimits()
	limits.Source.FileBytes, limits.Source.TotalBytes, limits.Source.Files = mostIDLBytes, mostIDLBytes, mostIDLFiles
	compiled, err := schema.Compile(localSchema, s.files, s.root, limits)
	if err != nil {
		return nil, err
	}
	typ, ok := compiled.Type(t.name)
	if !ok {
		return nil, fmt.Errorf("--type %s: %s has no such type; thriftpack schema lint --types lists them", t.name, s.root)
	}
	return typ, nil
}

var (
	errTypeAlone      = errors.New("--type needs --idl FILE, or --addr and --schema NAME")
	errTypeMissing    = errors.New("--idl and --schema need --type TYPE")
	errTwoSchemas     = errors.New("--idl and --schema are two places of one type; give one of them")
	errSchemaNeedsOne = errors.New("--schema is of a server: it needs --addr; --idl FILE is for files")
	errIDLWithAddr    = errors.New("--idl is compiled in this process; for the server at --addr see thriftpack schema push, and --schema")
	errIncludes       = errors.New("--include needs --idl FILE")
)

// set reports whether a type was given.
func (t *typed) set() bool { return t.name != "" }

// check says what is wrong with the flags.
func (t *typed) check(addr string) error {
	switch {
	case len(t.includes) > 0 && t.idl == "":
		return errIncludes
	case t.idl != "" && t.schema != "":
		return errTwoSchemas
	case t.idl != "" && addr != "":
		return errIDLWithAddr
	case t.schema != "" && addr == "":
		return errSchemaNeedsOne
	case t.name == "" && (t.idl != "" || t.schema != ""):
		return errTypeMissing
	case t.name != "" && t.idl == "" && t.schema == "":
		return errTypeAlone
	}
	return nil
}

// ref is the type as requests name it, nil without one.
func (t *typed) ref() *thriftpackv1.TypeRef {
	if !t.set() {
		return nil
	}
	name := t.schema
	if t.idl != "" {
		name = localSchema
	}
	return &thriftpackv1.TypeRef{Schema: name, Type: t.name}
}

// serverOptions are what the server in this process needs to know the type.
func (t *typed) serverOptions() ([]server.Option, error) {
	if t.idl == "" {
		return nil, nil
	}
	s, err := readIDL(t.idl, t.includes)
	if err != nil {
		return nil, err
	}
	return []server.Option{server.WithSchemas(server.Source{Name: localSchema, Files: s.files, Root: s.root})}, nil
}

// noteUnknown says on stderr which fields the type does not have.
func (s *IO) noteUnknown(fields []*thriftpackv1.UnknownField) {
	const most = 10
	for i, field := range fields {
		if i == most {
			s.note("and %d more", len(fields)-most)
			return
		}
		s.note("left out: %s, a %s field that the type does not have; see --keep-unknown", field.GetPath(), strings.ToLower(typeWord(field.GetType())))
	}
}
