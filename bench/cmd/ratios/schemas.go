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

// What parsing IDL may cost: so much CPU time for 1 MiB, and for 4 MiB not more than so many times that of 1 MiB.
const (
	mebibyte         = 1 << 20
	mostMilliseconds = 100
	mostGrowth       = 5
)

func schemasCommand(f *flags) *cobra.Command {
	var trialBytes int
	c := &cobra.Command{
		Use: "schemas", Short: "Measure what it costs to parse, compile and compare Thrift IDL, and how that grows", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			sizes := []int{mebibyte / 16, mebibyte / 4, mebibyte, 4 * mebibyte}
			costs := suite.MeasureSchemas(sizes, f.trials, trialBytes)
			if !f.json {
				return reportSchemas(c.OutOrStdout(), costs)
			}
			for cost, err := range costs {
				if err != nil {
					return err
				}
				if err := writeJSON(c.OutOrStdout(), []suite.SchemaCost{cost}); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().IntVar(&trialBytes, "trial-bytes", 4*mebibyte, "bytes of IDL that a trial reads at least")
	return c
}

func reportSchemas(out io.Writer, costs iter.Seq2[suite.SchemaCost, error]) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "step\tbytes\tms median\t(range)\tMB/s\tobjects\tbytes a byte\t")
	byStep := map[string][]suite.SchemaCost{}
	for cost, err := range costs {
		if err != nil {
			return err
		}
		byStep[cost.Step] = append(byStep[cost.Step], cost)
		fmt.Fprintf(table, "%s\t%d\t%.2f\t(%.2f..%.2f)\t%.1f\t%.0f\t%.1f\t\n", cost.Step, cost.Size, cost.Median(),
			slices.Min(cost.MillisecondsPerRun), slices.Max(cost.MillisecondsPerRun), cost.Speed(), cost.ObjectsPerRun,
			cost.BytesPerRun/float64(cost.Size))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, step := range []string{suite.StepParse, suite.StepCompile, suite.StepCompare} {
		of := byStep[step]
		large, larger := &of[len(of)-2], &of[len(of)-1]
		growth := larger.Median() / large.Median()
		fmt.Fprintf(out, "%s: 1 MiB takes %.1f ms, 4 MiB take %.2f times as long", step, large.Median(), growth)
		if step == suite.StepParse {
			fmt.Fprintf(out, "; goals at most %d ms: %s; at most %d times: %s",
				mostMilliseconds, verdict(large.Median() <= mostMilliseconds), mostGrowth, verdict(growth <= mostGrowth))
		}
		fmt.Fprintln(out)
	}
	return nil
}

func verdict(reached bool) string {
	if reached {
		return "reached"
	}
	return "missed"
}
