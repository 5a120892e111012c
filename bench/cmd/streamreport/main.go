// Command streamreport reads what `streaming run --json` has printed, prints it as tables, and draws the server's memory over
// time. It is a program of its own because a plotting library has memory of its own.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/thriftpack/thriftpack/bench/streaming"
)

func main() {
	var plot string
	c := &cobra.Command{
		Use: "streamreport", Short: "Print and draw what `streaming run --json` has measured", Args: cobra.NoArgs, SilenceUsage: true,
		RunE: func(c *cobra.Command, _ []string) error { return run(c.InOrStdin(), c.OutOrStdout(), plot) },
	}
	c.Flags().StringVar(&plot, "plot", "", "PNG file to draw RssAnon of the server into")
	if err := c.Execute(); err != nil {
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer, plot string) error {
	measurements, err := read(in)
	if err != nil {
		return err
	}
	if err := streaming.WriteHead(out); err != nil {
		return err
	}
	for _, m := range measurements {
		if err := streaming.WriteRow(out, m); err != nil {
			return err
		}
	}
	if plot == "" {
		return nil
	}
	return draw(plot, measurements)
}

func read(in io.Reader) ([]*streaming.Measurement, error) {
	var all []*streaming.Measurement
	for decoder := json.NewDecoder(in); ; {
		m := new(streaming.Measurement)
		switch err := decoder.Decode(m); {
		case errors.Is(err, io.EOF):
			if len(all) == 0 {
				return nil, errors.New("no measurements")
			}
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("measurements: %w", err)
		}
		if m.Real <= 0 || len(m.Samples) == 0 {
			return nil, fmt.Errorf("measurement %d: %s without time or samples", len(all), m.Real)
		}
		all = append(all, m)
	}
}
