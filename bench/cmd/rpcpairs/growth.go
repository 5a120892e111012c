package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/thriftpack/thriftpack/bench/rpc"
)

func growthCommand() *cobra.Command {
	var f flags
	var most int64
	c := &cobra.Command{
		Use: "growth", Short: "Measure how the cost of encoding grows with the payload, beside the floor", Args: cobra.NoArgs,
		Long: `growth encodes a list<struct> of 39 bytes to 16 MiB in one call each, and records of 1 MiB as streams of up to 1 GiB, by one
caller, in interleaved pairs with the floor. Both servers take messages of up to 64 MiB.`,
		RunE: func(c *cobra.Command, _ []string) error {
			r := runner{flags: f, out: c.OutOrStdout()}
			defer r.stop()
			return r.growth(c.Context(), most)
		},
	}
	c.Flags().IntVar(&f.pairs, "pairs", 7, "interleaved pairs")
	c.Flags().DurationVar(&f.duration, "duration", 200*time.Millisecond, "length of one side of a pair; at least one call")
	c.Flags().Int64Var(&most, "most", 2<<30, "leave payloads out that are larger, in bytes of Thrift")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON, one comparison a line")
	return c
}

func (r *runner) growth(ctx context.Context, most int64) error {
	workloads, err := rpc.Growing()
	if err != nil {
		return err
	}
	sides := make([]rpc.Side, 2)
	for i, mode := range []string{rpc.ThriftpackGrowing, rpc.FloorGrowing} {
		if sides[i].Client, err = r.client(ctx, mode); err != nil {
			return err
		}
	}
	workloads = slices.DeleteFunc(workloads, func(w rpc.Workload) bool { return w.Bytes > most })
	if len(workloads) == 0 {
		return fmt.Errorf("--most: %d bytes, and every payload has more", most)
	}
	for i := range workloads {
		w := &workloads[i]
		for i := range sides {
			sides[i].Load = rpc.Load{Workload: w, Callers: 1, Duration: r.duration}
		}
		rounds, err := rpc.RunRounds(ctx, sides, r.pairs)
		if err != nil {
			return err
		}
		if err := r.report(rpc.NewComparison(w, rpc.Floor, 1, rounds)); err != nil {
			return err
		}
	}
	return nil
}
