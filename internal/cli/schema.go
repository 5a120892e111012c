package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/genproto/googleapis/rpc/errdetails"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

const schemaLong = `schema works on the schemas of a server: Thrift IDL under a name, of which every revision is kept. encode and decode then name a
type by --schema and --type. lint and check without --addr work in this process, on files alone.

FILE is the root of a schema, a .thrift file; what it includes is read, too, from its folder and from those of --include.`

const schemaExample = `  thriftpack schema lint shop.thrift
  thriftpack schema push --addr localhost:50051 shop shop.thrift --compatibility full
  thriftpack schema check --addr localhost:50051 --against shop shop.thrift
  thriftpack schema list --addr localhost:50051
  thriftpack schema get --addr localhost:50051 shop@0123456789abcdef --types`

// schemaCommand is what the commands below schema share.
type schemaCommand struct {
	connection

	io            *IO
	includes      []string
	compatibility choice
	json          bool
}

func newSchema(s *IO) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "schema",
		Short:   "Push, list, compare and check Thrift IDL",
		Long:    schemaLong,
		Example: schemaExample,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSchemaPush(s), newSchemaList(s), newSchemaGet(s), newSchemaDelete(s), newSchemaCheck(s), newSchemaLint(s))
	return cmd
}

// command makes one of them, with the flags of a connection.
func (c *schemaCommand) command(use, short string, args cobra.PositionalArgs, run func(*cobra.Command, []string) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: args, RunE: run}
	cmd.Flags().SortFlags = false
	c.connection.addFlags(cmd)
	cmd.Flags().BoolVar(&c.json, "json", false, "write the server's answer as JSON")
	return cmd
}

// addSources declares the flags of commands that read IDL.
func (c *schemaCommand) addSources(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&c.includes, "include", "I", nil, "look for includes in this `FOLDER`, too")
}

// addCompatibility declares --compatibility.
func (c *schemaCommand) addCompatibility(cmd *cobra.Command, usage string) {
	c.compatibility = newChoice("unchanged", "none", "backward", "forward", "full")
	addChoice(cmd, &c.compatibility, "compatibility", usage)
}

// compatibilityValue is what --compatibility says.
func (c *schemaCommand) compatibilityValue() thriftpackv1.Compatibility {
	return thriftpackv1.Compatibility(thriftpackv1.Compatibility_value["COMPATIBILITY_"+strings.ToUpper(c.compatibility.value)])
}

// call calls the server of --addr, or the one in this process.
func (c *schemaCommand) call(ctx context.Context, f func(context.Context, thriftpackv1.SchemaServiceClient) error) error {
	conns, closed, err := c.connect(1)
	if err != nil {
		return err
	}
	defer closed()
	ctx, cancel := c.context(ctx)
	defer cancel()
	if err := f(ctx, thriftpackv1.NewSchemaServiceClient(conns[0])); err != nil {
		return c.noteViolations(newCallError(c.addr, err))
	}
	return nil
}

// noteViolations shows the places of what is wrong with IDL, a line each, and returns an error that counts them.
func (c *schemaCommand) noteViolations(err error) error {
	var e *callError
	if !errors.As(err, &e) {
		return err
	}
	faults := 0
	for _, detail := range e.status.Details() {
		bad, ok := detail.(*errdetails.BadRequest)
		if !ok {
			continue
		}
		for _, v := range bad.GetFieldViolations() {
			if strings.Contains(v.GetField(), ":") {
				c.io.note("%s", withPlace(v.GetField(), v.GetDescription()))
				faults++
			}
		}
	}
	if faults == 0 {
		return err
	}
	return fmt.Errorf("the files do not compile: %s", plural(faults, "fault"))
}

// withPlace is "file:line:column: text", where the text does not begin with the place already.
func withPlace(place, text string) string {
	if strings.HasPrefix(text, place) {
		return text
	}
	return place + ": " + text
}

var errNeedsAddr = errors.New("--addr is needed: the schemas are those of a server")

func (c *schemaCommand) needServer() error {
	if c.addr == "" {
		return errNeedsAddr
	}
	return nil
}

func newSchemaPush(s *IO) *cobra.Command {
	c := &schemaCommand{io: s}
	cmd := c.command("push NAME FILE", "Keep a revision of a schema", cobra.ExactArgs(2), func(cmd *cobra.Command, args []string) error {
		if err := c.needServer(); err != nil {
			return err
		}
		idl, err := readIDL(args[1], c.includes)
		if err != nil {
			return err
		}
		return c.call(cmd.Context(), func(ctx context.Context, client thriftpackv1.SchemaServiceClient) error {
			response, err := client.CreateSchema(ctx, &thriftpackv1.CreateSchemaRequest{
				Name: args[0], Files: idl.files, Root: idl.root, Compatibility: c.compatibilityValue(),
			})
			if err != nil {
				return err
			}
			if c.json {
				return s.writeJSON(response)
			}
			s.noteWarnings(response.GetSchema())
			s.noteChanges(response.GetChanges())
			what := "was there already"
			if response.GetCreated() {
				what = "is new"
			}
			return s.line("%s %s, and the newest now", reference(response.GetSchema()), what)
		})
	})
	c.addSources(cmd)
	c.addCompatibility(cmd, "which revisions may follow each other from now on")
	return cmd
}

func newSchemaList(s *IO) *cobra.Command {
	c := &schemaCommand{io: s}
	return c.command("list [NAME]", "List schemas, or the revisions of one", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		if err := c.needServer(); err != nil {
			return err
		}
		request := &thriftpackv1.ListSchemasRequest{}
		if len(args) > 0 {
			request.Name = args[0]
		}
		return c.call(cmd.Context(), func(ctx context.Context, client thriftpackv1.SchemaServiceClient) error {
			for {
				response, err := client.ListSchemas(ctx, request)
				if err != nil {
					return err
				}
				for _, schema := range response.GetSchemas() {
					if err := c.listed(schema); err != nil {
						return err
					}
				}
				next := response.GetNextPageToken()
				switch next {
				case "":
					return nil
				case request.GetPageToken():
					return errSamePage
				}
				request.PageToken = next
			}
		})
	})
}

var errSamePage = errors.New("the server names the same page again, so the list would never end")

// listed writes a line of a list.
func (c *schemaCommand) listed(schema *thriftpackv1.Schema) error {
	if c.json {
		return c.io.writeJSON(schema)
	}
	policy := "read-only"
	if !schema.GetReadOnly() {
		policy = strings.ToLower(strings.TrimPrefix(schema.GetCompatibility().String(), "COMPATIBILITY_"))
	}
	return c.io.line("%s  %s  %s  %s", reference(schema), schema.GetCreateTime().AsTime().Format("2006-01-02 15:04:05"), policy, schema.GetRoot())
}

func newSchemaGet(s *IO) *cobra.Command {
	c := &schemaCommand{io: s}
	var types bool
	var file string
	cmd := c.command("get NAME[@REVISION]", "Show a revision", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		if err := c.needServer(); err != nil {
			return err
		}
		return c.call(cmd.Context(), func(ctx context.Context, client thriftpackv1.SchemaServiceClient) error {
			response, err := client.GetSchema(ctx, &thriftpackv1.GetSchemaRequest{Schema: args[0]})
			if err != nil {
				return err
			}
			schema := response.GetSchema()
			switch {
			case c.json:
				return s.writeJSON(response)
			case types:
				return s.lines(schema.GetTypes())
			case file != "":
				text, ok := schema.GetFiles()[file]
				if !ok {
					return fmt.Errorf("%s has no file %q; it has %s", reference(schema), file, strings.Join(filesOf(schema), ", "))
				}
				return s.source(text)
			}
			return c.show(schema)
		})
	})
	cmd.Flags().BoolVar(&types, "types", false, "write the names of its types, a line each")
	cmd.Flags().StringVar(&file, "file", "", "write the source `FILE`, as it was pushed")
	return cmd
}

// show writes what there is to know about a revision, without its sources.
func (c *schemaCommand) show(schema *thriftpackv1.Schema) error {
	if err := c.listed(schema); err != nil {
		return err
	}
	c.io.noteWarnings(schema)
	for _, file := range filesOf(schema) {
		if err := c.io.line("file  %s  %s", file, plural(len(schema.GetFiles()[file]), "byte")); err != nil {
			return err
		}
	}
	for _, name := range schema.GetTypes() {
		if err := c.io.line("type  %s", name); err != nil {
			return err
		}
	}
	return nil
}

func filesOf(schema *thriftpackv1.Schema) []string {
	return slices.Sorted(maps.Keys(schema.GetFiles()))
}

func newSchemaDelete(s *IO) *cobra.Command {
	c := &schemaCommand{io: s}
	return c.command("delete NAME[@REVISION]", "Remove a schema, or a revision", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		if err := c.needServer(); err != nil {
			return err
		}
		return c.call(cmd.Context(), func(ctx context.Context, client thriftpackv1.SchemaServiceClient) error {
			response, err := client.DeleteSchema(ctx, &thriftpackv1.DeleteSchemaRequest{Schema: args[0]})
			if err != nil {
				return err
			}
			if c.json {
				return s.writeJSON(response)
			}
			return s.line("%s removed", plural(int(response.GetRevisions()), "revision"))
		})
	})
}
