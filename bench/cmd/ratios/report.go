package main

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/thriftpack/thriftpack/bench/suite"
)

// report prints a group as a table, and the ratios that are goals.
func report(out io.Writer, g *suite.Group, measurements []suite.Measurement) error {
	if len(measurements) == 0 {
		return nil
	}
	fmt.Fprintf(out, "%s: %d bytes, %d runs a trial, %d trials\n", g.Name, g.Bytes, measurements[0].Runs, len(measurements[0].NanosecondsPerRun))
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "scenario\tns median\t(range)\tMB/s\tof memcpy\tobjects\tbytes\t")
	for _, family := range suite.Families {
		m := suite.Find(measurements, family)
		if m == nil {
			continue
		}
		fmt.Fprintf(table, "%s\t%.1f\t(%.1f..%.1f)\t%.0f\t%s\t%.2f\t%.0f\t\n", m.Scenario, m.Median(), m.Best(), m.Worst(),
			m.Speed(), ofMemcpy(measurements, m), m.ObjectsPerRun, m.BytesPerRun)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, goal := range g.Goals {
		ours, peer := suite.Find(measurements, goal.Ours), suite.Find(measurements, goal.Peer)
		if ours == nil || peer == nil {
			continue
		}
		ratios := suite.Ratios(ours, peer)
		verdict := "reached"
		if suite.Median(ratios) < goal.AtLeast {
			verdict = "missed"
		}
		fmt.Fprintf(out, "  %s is %.2fx as fast as %s (%.2f..%.2f), goal %.2fx: %s\n", goal.Ours, suite.Median(ratios), goal.Peer,
			slices.Min(ratios), slices.Max(ratios), goal.AtLeast, verdict)
	}
	_, err := fmt.Fprintln(out)
	return err
}

// ofMemcpy is the speed of a measurement over that of copying the same bytes.
func ofMemcpy(measurements []suite.Measurement, m *suite.Measurement) string {
	copied := suite.Find(measurements, "memcpy")
	if copied == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f", suite.Median(suite.Ratios(m, copied)))
}

func changeCommand(f *flags) *cobra.Command {
	return &cobra.Command{
		Use: "change", Short: "Compare a transport write for each byte with one for each varint, in the terms of THRIFT-6153", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, size := range suite.ChangeSizes {
				changes, err := suite.MeasureChange(size, f.trials, f.runs("-"+size))
				if err != nil {
					return err
				}
				if f.json {
					err = writeJSON(c.OutOrStdout(), changes)
				} else {
					err = reportChange(c.OutOrStdout(), changes)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func reportChange(out io.Writer, changes []suite.Change) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "for %d writes:\tms median\t(range)\ttransport writes\tobjects\ttimes as fast\t(range)\t\n", suite.RunsOfChange)
	before := &changes[slices.IndexFunc(changes, func(c suite.Change) bool { return c.Family == suite.Before })].Measurement
	for i := range changes {
		c := &changes[i]
		ratios := suite.Ratios(&c.Measurement, before)
		fmt.Fprintf(table, "%s\t%.1f\t(%.1f..%.1f)\t%.0f\t%.0f\t%.2f\t(%.2f..%.2f)\t\n", c.Scenario, c.Scaled(c.Median())/1e6, c.Scaled(c.Best())/1e6, c.Scaled(c.Worst())/1e6,
			c.Scaled(float64(c.WritesPerRun)), c.Scaled(c.ObjectsPerRun), suite.Median(ratios), slices.Min(ratios), slices.Max(ratios))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out)
	return err
}

// fromWhere is the size from which on the cost is to be linear: below, the work for a value is more than that for its bytes.
const fromWhere = 32 << 10

func growthCommand(f *flags) *cobra.Command {
	var least, most, trialBytes int64
	var factor int
	c := &cobra.Command{
		Use: "growth", Short: "Measure how the encoder's cost grows with the payload, into a buffer of 32 KiB that is used again", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if least < 1 || factor < 2 || most < least {
				return fmt.Errorf("sizes from %d to %d by %d, want growing ones", least, most, factor)
			}
			growths := suite.MeasureGrowth(least, most, factor, f.trials, trialBytes)
			if !f.json {
				return reportGrowth(c.OutOrStdout(), growths)
			}
			for g, err := range growths {
				if err != nil {
					return err
				}
				if err := writeJSON(c.OutOrStdout(), []suite.Growth{g}); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().Int64Var(&least, "least", 64, "smallest size in bytes")
	c.Flags().Int64Var(&most, "most", 1<<30, "largest size in bytes")
	c.Flags().IntVar(&factor, "factor", 4, "how much larger each size is than the one before")
	c.Flags().Int64Var(&trialBytes, "trial-bytes", 32<<20, "bytes that a trial encodes at least")
	return c
}

func reportGrowth(out io.Writer, growths iter.Seq2[suite.Growth, error]) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "payload\tbytes\tns a byte\t(range)\tobjects a run\t")
	medians := make(map[string][]float64)
	for g, err := range growths {
		if err != nil {
			return err
		}
		if g.Size >= fromWhere {
			medians[g.Payload] = append(medians[g.Payload], g.Median())
		}
		fmt.Fprintf(table, "%s\t%d\t%.3f\t(%.3f..%.3f)\t%.2f\t\n", g.Payload, g.Size, g.Median(),
			slices.Min(g.NanosecondsPerByte), slices.Max(g.NanosecondsPerByte), g.ObjectsPerRun)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for payload, of := range medians {
		fmt.Fprintf(out, "%s: from 64 KiB on the dearest size costs %.2f of the cheapest for a byte, goal at most 2\n", payload, slices.Max(of)/slices.Min(of))
	}
	return nil
}
