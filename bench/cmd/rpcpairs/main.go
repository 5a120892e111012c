// Command rpcpairs measures unary calls against servers in processes of their own: ours beside the floor, the bare floor
// and the ordinary way, in interleaved pairs.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/thriftpack/thriftpack/bench/rpc"
)

func main() {
	root := &cobra.Command{Use: "rpcpairs", Short: "Measure unary calls beside the floor", SilenceUsage: true}
	root.AddCommand(runCommand(), serveCommand())
	if err := root.Execute(); err != nil {
		os.Exit(1)
	}
}

func serveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "serve MODE", Short: "Be a server (this is how run starts them)", Args: cobra.ExactArgs(1), ValidArgs: rpc.Modes,
		RunE: func(c *cobra.Command, args []string) error { return rpc.Serve(c.Context(), args[0], c.OutOrStdout()) },
	}
}

type flags struct {
	workloads []string
	against   []string
	callers   []int
	pairs     int
	duration  time.Duration
}

func runCommand() *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use: "run", Short: "Measure", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), c.OutOrStdout(), f) },
	}
	c.Flags().StringSliceVar(&f.workloads, "workloads", []string{"encode/small", "decode/small"}, "calls to measure")
	c.Flags().StringSliceVar(&f.against, "against", []string{rpc.Floor, rpc.Bare, rpc.Ordinary}, "servers to measure against")
	c.Flags().IntSliceVar(&f.callers, "callers", []int{8}, "how many call at once")
	c.Flags().IntVar(&f.pairs, "pairs", 16, "interleaved pairs")
	c.Flags().DurationVar(&f.duration, "duration", 500*time.Millisecond, "length of one side of a pair")
	return c
}

func run(ctx context.Context, out io.Writer, f flags) error {
	workloads, err := rpc.Workloads()
	if err != nil {
		return err
	}
	ours, closeOurs, err := start(ctx, rpc.Thriftpack)
	if err != nil {
		return err
	}
	defer closeOurs()
	for _, mode := range f.against {
		theirs, closeTheirs, err := start(ctx, mode)
		if err != nil {
			return err
		}
		for _, name := range f.workloads {
			workload, err := rpc.Select(workloads, name)
			if err != nil {
				closeTheirs()
				return err
			}
			for _, callers := range f.callers {
				load := rpc.Load{
					Method: workload.Method, Request: workload.Request, Reply: len(workload.Reply), Callers: callers, Duration: f.duration,
				}
				pairs, err := rpc.RunPairs(ctx, ours, theirs, load, f.pairs)
				if err != nil {
					closeTheirs()
					return err
				}
				report(out, name, mode, callers, pairs)
			}
		}
		closeTheirs()
	}
	return nil
}

func start(ctx context.Context, mode string) (*rpc.Client, func(), error) {
	process, err := rpc.Start(ctx, mode)
	if err != nil {
		return nil, nil, err
	}
	client, err := rpc.Dial(process)
	if err != nil {
		process.Stop()
		return nil, nil, err
	}
	return client, func() { client.Close(); process.Stop() }, nil
}

func report(out io.Writer, workload, mode string, callers int, pairs []rpc.Pair) {
	ratios := make([]float64, 0, len(pairs))
	ours, theirs := make([]time.Duration, 0, len(pairs)), make([]time.Duration, 0, len(pairs))
	oursP99, theirsP99 := make([]time.Duration, 0, len(pairs)), make([]time.Duration, 0, len(pairs))
	for _, pair := range pairs {
		ratios = append(ratios, pair.Ratio())
		ours = append(ours, pair.Ours.ServerCPUPerCall())
		theirs = append(theirs, pair.Theirs.ServerCPUPerCall())
		oursP99 = append(oursP99, time.Duration(pair.Ours.Latency.ValueAtQuantile(99)))
		theirsP99 = append(theirsP99, time.Duration(pair.Theirs.Latency.ValueAtQuantile(99)))
	}
	fmt.Fprintf(out, "%s, %d callers: %.3f of the calls per CPU second of %s (%.2f..%.2f in %d pairs)\n",
		workload, callers, rpc.Median(ratios), mode, slices.Min(ratios), slices.Max(ratios), len(pairs))
	fmt.Fprintf(out, "  server CPU per call %v against %v, p99 %v (%v..%v) against %v (%v..%v)\n",
		rpc.Median(ours), rpc.Median(theirs), rpc.Median(oursP99), slices.Min(oursP99), slices.Max(oursP99),
		rpc.Median(theirsP99), slices.Min(theirsP99), slices.Max(theirsP99))
}
