package cli

import "github.com/spf13/cobra"

const streamLong = `stream turns files of any size into Thrift bytes and back, through the streams of parts of a server, with memory that does not
follow the size. It reads and writes at the same time; number and CRC-32C of what comes are checked at the end, so look at
the exit code before using it.`

// newStream is the command stream, which has one for each direction.
func newStream(s *IO) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stream",
		Short: "Encode and decode files of any size",
		Long:  streamLong,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newStreamEncode(s), newStreamDecode(s))
	return cmd
}
