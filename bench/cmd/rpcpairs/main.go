// Command rpcpairs measures calls through gRPC against servers in processes of their own: ours beside the floor, the bare floor
// and the ordinary way, in interleaved pairs.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/thriftpack/thriftpack/bench/rpc"
)

func main() {
	root := &cobra.Command{Use: "rpcpairs", Short: "Measure calls beside the floor and the ordinary way", SilenceUsage: true}
	root.AddCommand(runCommand(), growthCommand(), serveCommand())
	if err := root.Execute(); err != nil {
		os.Exit(1)
	}
}

func serveCommand() *cobra.Command {
	var profile string
	c := &cobra.Command{
		Use: "serve MODE", Short: "Be a server (this is how run starts them)", Args: cobra.ExactArgs(1), ValidArgs: rpc.Modes,
		RunE: func(c *cobra.Command, args []string) error {
			if profile == "" {
				return rpc.Serve(c.Context(), args[0], c.OutOrStdout())
			}
			return profiled(profile, func() error { return rpc.Serve(c.Context(), args[0], c.OutOrStdout()) })
		},
	}
	c.Flags().StringVar(&profile, "profile", "", "file to write a profile of the CPU time to")
	return c
}

// profiled calls serve and writes a profile of the CPU time that it took to a file.
func profiled(path string, serve func() error) (err error) {
	file, err := os.Create(path) //nolint:gosec // whoever calls names it
	if err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := pprof.StartCPUProfile(file); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	defer pprof.StopCPUProfile()
	return serve()
}

type flags struct {
	workloads []string
	against   []string
	callers   []int
	pairs     int
	duration  time.Duration
	batches   bool
	json      bool
	profiles  string
}

func runCommand() *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use: "run", Short: "Measure", Args: cobra.NoArgs,
		Long: `run measures the server's CPU time for a value, and the time an exchange takes, in interleaved pairs. Against the ordinary way the
floor runs in the same rounds, and its ratio is the ceiling: nobody who answers through gRPC can do better.

Workloads: encode/small, decode/small, encode/64KiB, decode/64KiB, encode/1MiB, decode/1MiB, encode-batch/small,
decode-batch/small, encode-stream/binary, encode-stream/records.`,
		RunE: func(c *cobra.Command, _ []string) error {
			r := runner{flags: f, out: c.OutOrStdout()}
			defer r.stop()
			return r.run(c.Context())
		},
	}
	c.Flags().StringSliceVar(&f.workloads, "workloads", []string{"encode/small", "decode/small"}, "what to measure")
	c.Flags().StringSliceVar(&f.against, "against", []string{rpc.Floor, rpc.Ordinary}, "servers to measure against: floor, bare, ordinary")
	c.Flags().IntSliceVar(&f.callers, "callers", []int{8}, "how many call at once")
	c.Flags().IntVar(&f.pairs, "pairs", 16, "interleaved pairs")
	c.Flags().DurationVar(&f.duration, "duration", 500*time.Millisecond, "length of one side of a pair")
	c.Flags().BoolVar(&f.batches, "batch-against-unary", false, "compare our batches with our own unary calls instead")
	c.Flags().StringVar(&f.profiles, "profiles", "", "folder in which every server leaves a profile of its CPU time, MODE.pprof")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON, one comparison a line")
	return c
}

// runner runs comparisons, and keeps the servers that it has started.
type runner struct {
	flags

	out     io.Writer
	clients map[string]*rpc.Client
	stops   []func()
}

func (r *runner) run(ctx context.Context) error {
	workloads, err := rpc.Workloads()
	if err != nil {
		return err
	}
	if r.batches {
		for _, operation := range []string{"encode", "decode"} {
			if err := r.compare(ctx, workloads, operation+"-batch/small", operation+"/small", rpc.Thriftpack); err != nil {
				return err
			}
		}
		return nil
	}
	for _, name := range r.workloads {
		for _, mode := range r.against {
			if err := r.compare(ctx, workloads, name, name, mode); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare runs our server with one workload against another server with, perhaps, another workload.
func (r *runner) compare(ctx context.Context, workloads []rpc.Workload, name, other, mode string) error {
	ours, err := rpc.Select(workloads, name)
	if err != nil {
		return err
	}
	theirs, err := rpc.Select(workloads, other)
	if err != nil {
		return err
	}
	modes := []string{rpc.Thriftpack, mode}
	if mode == rpc.Ordinary {
		modes = append(modes, rpc.Floor) // what could be reached at all
	}
	sides := make([]rpc.Side, len(modes))
	for i, mode := range modes {
		sides[i].Load = rpc.Load{Workload: ours, Duration: r.duration}
		if sides[i].Client, err = r.client(ctx, mode); err != nil {
			return err
		}
	}
	sides[1].Load.Workload = theirs
	for _, callers := range r.callers {
		for i := range sides {
			sides[i].Load.Callers = callers
		}
		rounds, err := rpc.RunRounds(ctx, sides, r.pairs)
		if err != nil {
			return err
		}
		c := rpc.NewComparison(ours, mode, callers, rounds)
		if other != name {
			c.Theirs = other
		}
		if err := r.report(c); err != nil {
			return err
		}
	}
	return nil
}

// client returns the connection to the server of a mode, which it starts when it is first asked for.
func (r *runner) client(ctx context.Context, mode string) (*rpc.Client, error) {
	if client, found := r.clients[mode]; found {
		return client, nil
	}
	process, err := rpc.Start(ctx, mode, r.profiles)
	if err != nil {
		return nil, err
	}
	r.stops = append(r.stops, process.Stop)
	client, err := rpc.Dial(process)
	if err != nil {
		return nil, err
	}
	if r.clients == nil {
		r.clients = make(map[string]*rpc.Client)
	}
	r.clients[mode] = client
	r.stops = append(r.stops, client.Close)
	return client, nil
}

func (r *runner) stop() {
	for _, stop := range slices.Backward(r.stops) {
		stop()
	}
}

func (r *runner) report(c *rpc.Comparison) error {
	if r.json {
		return json.NewEncoder(r.out).Encode(c)
	}
	name := c.Against
	if c.Theirs != "" {
		name = c.Theirs
	}
	ratios, speeds := rpc.Each(c.Pairs, rpc.Pair.Ratio), rpc.Each(c.Pairs, rpc.Pair.Speed)
	fmt.Fprintf(r.out, "%s, %d callers: %.3f of the values per CPU second of %s (%.2f..%.2f in %d pairs), %.3f of its speed (%.2f..%.2f)\n",
		c.Workload, c.Callers, rpc.Median(ratios), name, slices.Min(ratios), slices.Max(ratios), len(c.Pairs),
		rpc.Median(speeds), slices.Min(speeds), slices.Max(speeds))
	for _, side := range []struct {
		name string
		of   func(rpc.Pair) rpc.Outcome
	}{{"ours", rpc.Ours}, {name, rpc.Theirs}} {
		p99 := rpc.Each(c.Pairs, func(p rpc.Pair) time.Duration { return side.of(p).P99 })
		fmt.Fprintf(r.out, "  %-10s %8.2f CPU s for a million values, %8.0f values/s, p50 %v, p99 %v (%v..%v), p99.9 %v\n", side.name,
			rpc.MicrosecondsPerValue(c.Pairs, side.of), rpc.MedianOf(c.Pairs, func(p rpc.Pair) float64 { return side.of(p).Rate() }),
			rpc.MedianOf(c.Pairs, func(p rpc.Pair) time.Duration { return side.of(p).P50 }),
			rpc.Median(p99), slices.Min(p99), slices.Max(p99),
			rpc.MedianOf(c.Pairs, func(p rpc.Pair) time.Duration { return side.of(p).P999 }))
	}
	if len(c.Ceiling) > 0 {
		ratios, speeds := rpc.Each(c.Ceiling, rpc.Pair.Ratio), rpc.Each(c.Ceiling, rpc.Pair.Speed)
		fmt.Fprintf(r.out, "  ceiling: the floor, which does nothing but gRPC, has %.3f of the values per CPU second of %s (%.2f..%.2f), %.3f of its speed (%.2f..%.2f)\n",
			rpc.Median(ratios), name, slices.Min(ratios), slices.Max(ratios), rpc.Median(speeds), slices.Min(speeds), slices.Max(speeds))
	}
	return nil
}
