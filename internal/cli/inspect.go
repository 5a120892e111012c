package cli

import (
	"bufio"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/thriftpack/thriftpack/internal/inspect"
)

const inspectLong = `inspect reads Thrift bytes from FILE, or from the standard input, and lists them for a person: offset, bytes in hex, the
structure, and what each byte is. Where malformed bytes stop making sense, the place is marked, and the exit code is 1.

The protocol, the framing and the envelope are guessed unless they are given. With --idl and --type the names of fields, types and
enum values are shown, and where the bytes are not as declared. Nothing is sent anywhere.`

const inspectExample = `  echo 155400 | thriftpack inspect
  thriftpack inspect --color always footer.bin | less -R
  thriftpack inspect --idl parquet.thrift --type FileMetaData footer.bin
  thriftpack inspect --json blob.bin | jq .`

// inspection is the command inspect.
type inspection struct {
	io                     *IO
	input, rootType, color choice
	json                   bool
	options                inspect.Options
	typed                  typed
}

func newInspect(s *IO) *cobra.Command {
	i := &inspection{
		io: s, input: newChoice(formAuto, formHex, formBase64, formRaw), rootType: newChoice(typeNames()...),
		color: newChoice("auto", "always", "never"), options: inspect.Defaults(),
	}
	cmd := &cobra.Command{
		Use:     "inspect [FILE]",
		Short:   "List any Thrift bytes with an explanation of each",
		Long:    inspectLong,
		Example: inspectExample,
		Args:    cobra.MaximumNArgs(1),
		RunE:    i.run,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	addChoice(cmd, &i.input, "input", "form of the Thrift bytes")
	flags.Var(&i.options.Protocol, "protocol", "Thrift protocol")
	flags.Var(&i.options.Framing, "framing", "whether a 4-byte length comes first")
	flags.Var(&i.options.Message, "message", "whether the bytes are an RPC message, envelope first")
	addChoice(cmd, &i.rootType, "root-type", "type of the value")
	i.typed.addLocalFlags(cmd)
	flags.BoolVar(&i.json, "json", false, "write JSON for machines")
	addChoice(cmd, &i.color, "color", "colours, by itself on a terminal unless NO_COLOR is set")
	flags.BoolVar(&i.options.DetectText, "detect-text", i.options.DetectText, "show UTF-8 bytes as text")
	flags.BoolVar(&i.options.All, "all", false, "show everything, however long")
	flags.IntVar(&i.options.MaxElements, "max-elements", i.options.MaxElements, "show at most `N` elements of one container")
	flags.IntVar(&i.options.MaxBytes, "max-bytes", i.options.MaxBytes, "show at most `N` bytes of one string")
	flags.IntVar(&i.options.MaxRows, "max-rows", i.options.MaxRows, "show about `N` rows in all")
	flags.IntVar(&i.options.MaxDepth, "max-depth", i.options.MaxDepth, "deepest nesting `LEVEL` accepted")
	for _, name := range []string{"protocol", "framing", "message"} {
		words := map[string][]string{"protocol": {"auto", "compact", "binary"}, "framing": {"auto", "none", "framed"}, "message": {"auto", "yes", "no"}}
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words[name], cobra.ShellCompDirectiveNoFileComp)) // see addChoice
	}
	return cmd
}

func (i *inspection) run(cmd *cobra.Command, args []string) error {
	text, err := read(i.io, args)
	if err != nil {
		return err
	}
	data, err := thriftBytes(text, i.input.value)
	if err != nil {
		return fmt.Errorf("input: %w", err)
	}
	i.options.Root = typeOf(i.rootType.value)
	if i.options.Type, err = i.typed.compile(); err != nil {
		return err
	}
	if i.options.Type != nil && !cmd.Flags().Changed("root-type") {
		i.options.Root = i.options.Type.Kind
	}
	listing, err := inspect.Inspect(data, i.options)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(i.io.Out, 64<<10)
	if i.json {
		err = listing.WriteJSON(out)
	} else {
		err = listing.WriteText(out, i.colored())
	}
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	if fault := listing.Fault(); fault != nil {
		return fmt.Errorf("malformed: %w (reason %s)", fault, fault.Reason)
	}
	return nil
}

func (i *inspection) colored() bool {
	if i.color.value == "auto" {
		return i.io.OutTerminal && os.Getenv("NO_COLOR") == ""
	}
	return i.color.value == "always"
}
