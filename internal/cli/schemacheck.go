package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/server"
)

// oldSchema is the name that the server in this process has the files of --against by.
const oldSchema = "old"

func newSchemaCheck(s *IO) *cobra.Command {
	c := &schemaCommand{io: s}
	var against string
	cmd := c.command("check FILE", "Say whom a change breaks", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		if against == "" {
			return errNothingToCompare
		}
		idl, err := readIDL(args[0], c.includes)
		if err != nil {
			return err
		}
		old := against
		if c.addr == "" {
			before, err := readIDL(against, c.includes)
			if err != nil {
				return fmt.Errorf("--against: %w", err)
			}
			old = oldSchema
			c.local = []server.Option{server.WithSchemas(server.Source{Name: oldSchema, Files: before.files, Root: before.root})}
		}
		return c.call(cmd.Context(), func(ctx context.Context, client thriftpackv1.SchemaServiceClient) error {
			response, err := client.CheckCompatibility(ctx, &thriftpackv1.CheckCompatibilityRequest{
				Schema: old, Files: idl.files, Root: idl.root, Compatibility: c.compatibilityValue(),
			})
			if err != nil {
				return err
			}
			return c.checked(response, against)
		})
	})
	cmd.Flags().StringVar(&against, "against", "", "compare with this `SCHEMA` of the server at --addr, or without one with this .thrift file")
	c.addSources(cmd)
	c.addCompatibility(cmd, "what to check: for unchanged what the schema has, backward for files")
	return cmd
}

var (
	errNothingToCompare = errors.New("--against says what to compare with: NAME or NAME@REVISION of the server at --addr, or a .thrift file")
	errUnknownSchema    = errors.New("the server has no schema of this name: there is nothing to compare with")
)

// checked writes the changes, and returns an error where they are not allowed.
func (c *schemaCommand) checked(response *thriftpackv1.CheckCompatibilityResponse, against string) error {
	if c.json {
		if err := c.io.writeJSON(response); err != nil {
			return err
		}
	} else {
		for _, change := range response.GetChanges() {
			if err := c.io.line("%s", changeLine(change)); err != nil {
				return err
			}
		}
	}
	if response.GetAgainst() == "" {
		return fmt.Errorf("--against %s: %w", against, errUnknownSchema)
	}
	policy := strings.ToLower(strings.TrimPrefix(response.GetCompatibility().String(), "COMPATIBILITY_"))
	if !response.GetCompatible() {
		return fmt.Errorf("not compatible (%s): see the changes", policy)
	}
	if c.json {
		return nil
	}
	return c.io.line("compatible (%s), %s", policy, plural(len(response.GetChanges()), "change"))
}

func newSchemaLint(s *IO) *cobra.Command {
	c := &schemaCommand{io: s}
	var strict, types bool
	cmd := &cobra.Command{
		Use:   "lint FILE...",
		Short: "Compile files and say what is wrong or doubtful",
		Long: `lint compiles each FILE as the root of a schema, as a server would, and lists its faults and warnings as file:line:column. It exits
with 1 where there are faults, and with --strict for warnings, too. Nothing is sent anywhere.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			wrong := 0
			for _, name := range args {
				doubtful, err := c.lint(cmd.Context(), name, types)
				switch {
				case err != nil:
					wrong++
					s.note("%s: %s", name, err)
				case strict && doubtful > 0:
					wrong++
				}
			}
			if wrong > 0 {
				return fmt.Errorf("%d of %s must be mended", wrong, plural(len(args), "schema"))
			}
			return nil
		},
	}
	c.addSources(cmd)
	cmd.Flags().BoolVar(&types, "types", false, "write the names of the types, a line each")
	cmd.Flags().BoolVar(&strict, "strict", false, "warnings are faults, too")
	return cmd
}

// lint compiles one schema, shows what is found, and returns how many warnings those were.
func (c *schemaCommand) lint(ctx context.Context, name string, types bool) (warnings int, err error) {
	idl, err := readIDL(name, c.includes)
	if err != nil {
		return 0, err
	}
	err = c.call(ctx, func(ctx context.Context, client thriftpackv1.SchemaServiceClient) error {
		response, err := client.CheckCompatibility(ctx, &thriftpackv1.CheckCompatibilityRequest{Files: idl.files, Root: idl.root})
		if err != nil {
			return err
		}
		schema := response.GetSchema()
		warnings = len(schema.GetWarnings())
		c.io.noteWarnings(schema)
		if types {
			return c.io.lines(schema.GetTypes())
		}
		return c.io.line("%s: %s, %s", name, plural(len(schema.GetTypes()), "type"), plural(warnings, "warning"))
	})
	return warnings, err
}

// reference is name@revision.
func reference(schema *thriftpackv1.Schema) string {
	return schema.GetName() + "@" + schema.GetRevision()
}

// line writes a line, which may have text of a server in it.
func (s *IO) line(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if s.OutTerminal {
		text = printable(text)
	}
	_, err := fmt.Fprintln(s.Out, text)
	return err
}

// source writes a source as it is, and on a terminal such that it can do nothing there: anyone may have pushed it.
func (s *IO) source(text string) error {
	if s.OutTerminal {
		text = printableLines(text)
	}
	_, err := s.Out.Write([]byte(text))
	return err
}

// lines writes texts, a line each.
func (s *IO) lines(texts []string) error {
	for _, text := range texts {
		if err := s.line("%s", text); err != nil {
			return err
		}
	}
	return nil
}

func (s *IO) noteWarnings(schema *thriftpackv1.Schema) {
	for _, warning := range schema.GetWarnings() {
		s.note("warning: %s", warning)
	}
}

func (s *IO) noteChanges(changes []*thriftpackv1.Change) {
	for _, change := range changes {
		s.note("%s", changeLine(change))
	}
}

// changeLine is a change in a line, with the place in the files that has to do with it.
func changeLine(change *thriftpackv1.Change) string {
	at := change.GetNewPosition()
	if at == nil {
		at = change.GetOldPosition()
	}
	var breaks []string
	for _, b := range []struct {
		set  bool
		word string
	}{{change.GetBreaksBackward(), "backward"}, {change.GetBreaksForward(), "forward"}, {change.GetBreaksNames(), "names"}} {
		if b.set {
			breaks = append(breaks, b.word)
		}
	}
	effect := "breaks nothing"
	if len(breaks) > 0 {
		effect = "breaks " + strings.Join(breaks, ", ")
	}
	place := ""
	if at != nil {
		place = at.GetFile() + ":" + strconv.Itoa(int(at.GetLine())) + ":" + strconv.Itoa(int(at.GetColumn())) + ": "
	}
	return fmt.Sprintf("%s%s: %s (%s, %s)", place, change.GetPath(), change.GetMessage(), change.GetRule(), effect)
}
