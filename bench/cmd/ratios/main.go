// Command ratios runs the scenarios of the suite and prints what each contender needs, and the ratios between them.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/thriftpack/thriftpack/bench/suite"
)

func main() {
	if err := command().Execute(); err != nil {
		os.Exit(1)
	}
}

type flags struct {
	match     string
	trials    int
	trialTime time.Duration
	json      bool
}

// result is a scenario with what was measured.
type result struct {
	Scenario     string              `json:"scenario"`
	Bytes        int                 `json:"bytes"`
	Measurements []suite.Measurement `json:"measurements"`
}

func command() *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:          "ratios",
		Short:        "Compare the encoder and the decoder with their peers, in one run",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE:         func(c *cobra.Command, _ []string) error { return run(c.OutOrStdout(), f) },
	}
	c.Flags().StringVar(&f.match, "scenarios", ".", "regular expression of the scenarios to run, such as cmp/write/small")
	c.Flags().IntVar(&f.trials, "trials", 15, "counted trials of each contender")
	c.Flags().DurationVar(&f.trialTime, "trial-time", 50*time.Millisecond, "CPU time of one trial of one contender")
	c.Flags().BoolVar(&f.json, "json", false, "print the measurements as JSON, one scenario a line")
	return c
}

func run(out io.Writer, f flags) error {
	match, err := regexp.Compile(f.match)
	if err != nil {
		return fmt.Errorf("--scenarios: %w", err)
	}
	for scenario, err := range suite.All(match.MatchString) {
		if err != nil {
			return err
		}
		measurements, err := suite.Measure(scenario, f.trials, f.trialTime)
		if err != nil {
			return err
		}
		if f.json {
			err = json.NewEncoder(out).Encode(result{scenario.Name, scenario.Bytes, measurements})
		} else {
			err = report(out, scenario, measurements)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func report(out io.Writer, s suite.Scenario, measurements []suite.Measurement) error {
	fmt.Fprintf(out, "%s, %d bytes\n", s.Name, s.Bytes)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\tns best\tns median\tMB/s best\tobjects\tbytes\t")
	for _, m := range measurements {
		fmt.Fprintf(table, "%s\t%.1f\t%.1f\t%.0f\t%.2f\t%.0f\t\n", m.Contender, m.Best(), m.Median(),
			float64(s.Bytes)/m.Best()*1e3, m.ObjectsPerRun, m.BytesPerRun)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, goal := range s.Goals {
		ours, peer := find(measurements, goal.Ours), find(measurements, goal.Peer)
		ratios := suite.Ratios(ours, peer)
		fmt.Fprintf(out, "  %s is %.2fx as fast as %s (%.2f..%.2f), goal %.2fx\n", goal.Ours, suite.Median(ratios), goal.Peer,
			slices.Min(ratios), slices.Max(ratios), goal.AtLeast)
	}
	_, err := fmt.Fprintln(out)
	return err
}

func find(measurements []suite.Measurement, contender string) suite.Measurement {
	i := slices.IndexFunc(measurements, func(m suite.Measurement) bool { return m.Contender == contender })
	return measurements[i]
}
