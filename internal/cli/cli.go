// Package cli is the command line client: encode, decode, stream, schema, inspect, bench. It calls a server over gRPC, or the same server inside
// its own process; it turns nothing into Thrift by itself. Listings are package inspect's.
package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thriftpack/thriftpack/internal/buildinfo"
)

// IO is what the commands read and write. The flags say which of them is a terminal.
type IO struct {
	In       io.Reader
	Out, Err io.Writer

	InTerminal, OutTerminal, ErrTerminal bool
}

// note writes a line to Err. It may have text of a server or of the input in it, which is made printable. Where the line cannot be
// written there is nobody to tell.
func (s *IO) note(format string, args ...any) {
	_, _ = fmt.Fprintln(s.Err, printable(fmt.Sprintf(format, args...)))
}

// Run executes the command line args, without the program's name, and returns the exit code: 0, or 1 after one line on
// s.Err that says what is wrong.
func Run(ctx context.Context, args []string, s IO) int {
	root := newRoot(&s)
	root.SetArgs(append([]string{}, args...)) // nil would mean the arguments of the process
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	if err := root.ExecuteContext(ctx); err != nil {
		s.note("thriftpack: %s", describe(err))
		return 1
	}
	return 0
}

const rootLong = `thriftpack turns values into Apache Thrift bytes and back, and shows what is in any Thrift blob.

A value is written as JSON that says its own types, the JSON form of thriftpack.v1.Value:

  {"struct": {"fields": [
    {"id": 1, "i32": 42},
    {"id": 2, "string": "hello"},
    {"id": 3, "list": {"i64s": ["1", "2", "3"]}}
  ]}}

Without --addr everything happens inside this process, through the same code that a server runs.`

const rootExample = `  # a value to compact bytes, shown in hex
  echo '{"struct":{"fields":[{"id":1,"i32":42}]}}' | thriftpack encode --output hex

  # and back
  echo 155400 | thriftpack decode

  # what is in this file?
  thriftpack inspect footer.bin

  # on a server, as a framed message of the binary protocol
  thriftpack encode --addr localhost:50051 --protocol binary --framing framed --message getUser value.json >call.bin`

func newRoot(s *IO) *cobra.Command {
	root := &cobra.Command{
		Use:           "thriftpack",
		Short:         "Apache Thrift bytes from values, and back",
		Long:          rootLong,
		Example:       rootExample,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(newEncode(s), newDecode(s), newStream(s), newSchema(s), newInspect(s), newBench(s), newVersion(s))
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Run, help.RunE = nil, helpOn(root)
	}
	return root
}

// helpOn is the command help, where asking for what does not exist is an error; cobra's own says so and succeeds.
func helpOn(root *cobra.Command) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		topic, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			return fmt.Errorf("no command %q", strings.Join(args, " "))
		}
		topic.InitDefaultHelpFlag()
		return topic.Help()
	}
}

func newVersion(s *IO) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(s.Out, "thriftpack %s\n", buildinfo.Read())
			return err
		},
	}
}

// choice is a flag that takes one of a few words.
type choice struct {
	value   string
	allowed []string
}

// newChoice returns a choice whose default is the first word.
func newChoice(allowed ...string) choice { return choice{value: allowed[0], allowed: allowed} }

// String is the word chosen.
func (c *choice) String() string { return c.value }

// Set takes one of the words.
func (c *choice) Set(word string) error {
	for _, a := range c.allowed {
		if a == word {
			c.value = word
			return nil
		}
	}
	return fmt.Errorf("want one of %s", strings.Join(c.allowed, ", "))
}

// Type is what --help calls the value.
func (c *choice) Type() string { return "WORD" }

// addChoice declares c as a flag whose words stand in --help and can be completed by the shell.
func addChoice(cmd *cobra.Command, c *choice, name, usage string) {
	cmd.Flags().Var(c, name, usage+": "+strings.Join(c.allowed, ", "))
	// It fails for a flag that does not exist or is completed already; neither can be here.
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(c.allowed, cobra.ShellCompDirectiveNoFileComp))
}
