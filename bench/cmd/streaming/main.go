// Command streaming measures large streams through a server and a client in processes of their own: CPU time, memory and
// speed, beside a server that only moves the bytes.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/thriftpack/thriftpack/bench/streaming"
)

func main() {
	root := &cobra.Command{Use: "streaming", Short: "Measure large streams", SilenceUsage: true}
	root.AddCommand(runCommand(), pairsCommand(), plateauCommand(), windowsCommand(), &cobra.Command{
		Use: streaming.ChildArgument, Short: "Be a server or client (this is how the others start them)", Hidden: true, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return streaming.Child(c.Context(), c.InOrStdin(), c.OutOrStdout())
		},
	})
	if err := root.Execute(); err != nil {
		os.Exit(1)
	}
}

// common are the flags that all commands have.
type common struct {
	methods   []string
	payloads  []string
	mib       int64
	chunkSize int
	client    string
	interval  time.Duration
	warmup    int64
	json      bool
}

func (f *common) bind(c *cobra.Command, mib int64) {
	c.Flags().StringSliceVar(&f.methods, "methods", []string{streaming.EncodeStream, streaming.EncodeParts, streaming.DecodeParts}, "what to measure")
	c.Flags().StringSliceVar(&f.payloads, "payloads", []string{streaming.Binary}, "what is carried: binary, i64")
	c.Flags().Int64Var(&f.mib, "mib", mib, "size of a stream in MiB of Thrift bytes")
	c.Flags().IntVar(&f.chunkSize, "chunk-size", 0, "chunk size to ask for, and the size of the client's messages of parts; 0 for the default")
	c.Flags().StringVar(&f.client, "client", "", "kind of client: stock or lean (default stock for EncodeStream, lean for parts)")
	c.Flags().DurationVar(&f.interval, "interval", 10*time.Millisecond, "how often memory is sampled")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON, one result a line; times are nanoseconds, memory bytes")
}

// jobs are the streams that the flags ask for.
func (f *common) jobs() []streaming.Job {
	jobs := make([]streaming.Job, 0, len(f.methods)*len(f.payloads))
	for _, method := range f.methods {
		for _, payload := range f.payloads {
			job := streaming.Job{
				Method: method, Payload: payload, Bytes: f.mib << 20, ChunkSize: f.chunkSize, MessageSize: f.chunkSize, Client: f.client,
			}
			if job.Client == "" {
				job.Client = streaming.Lean
				if method == streaming.EncodeStream {
					job.Client = streaming.Stock
				}
			}
			jobs = append(jobs, job)
		}
	}
	return jobs
}

func runCommand() *cobra.Command {
	var f common
	var reuse []bool
	var raw, huge bool
	c := &cobra.Command{
		Use: "run", Short: "Stream 1 GiB each way that there is, and print CPU time and memory of both processes", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if huge {
				f.mib = 10 << 10
			}
			var modes []string
			for _, r := range reuse {
				modes = append(modes, map[bool]string{true: streaming.Thriftpack, false: streaming.Fresh}[r])
			}
			if raw {
				modes = append(modes, streaming.Raw)
			}
			return run(c.Context(), c.OutOrStdout(), &f, modes)
		},
	}
	f.bind(c, 1<<10)
	c.Flags().BoolVar(&huge, "huge", false, "stream 10 GiB")
	c.Flags().BoolSliceVar(&reuse, "reuse", []bool{true, false}, "whether the server reuses its chunks; both by default, so that before and after stand in one run")
	c.Flags().Int64Var(&f.warmup, "warmup-mib", 0, "size of a stream before the one that counts, so that it finds pools filled; memory stays relative to before that one")
	c.Flags().BoolVar(&raw, "raw", true, "measure a server that only moves the bytes, too")
	return c
}

func run(ctx context.Context, out io.Writer, f *common, modes []string) error {
	if !f.json {
		if err := streaming.WriteHead(out); err != nil {
			return err
		}
	}
	for _, job := range f.jobs() {
		for _, mode := range modes {
			m, err := measure(ctx, mode, job, f.warmup<<20, f.interval)
			if err != nil {
				return err
			}
			if f.json {
				err = json.NewEncoder(out).Encode(m)
			} else {
				err = streaming.WriteRow(out, m)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// measure streams a job through a new server to a new client.
func measure(ctx context.Context, mode string, job streaming.Job, warmup int64, interval time.Duration) (*streaming.Measurement, error) {
	couple, err := streaming.Start(ctx, streaming.ServerSpec{Mode: mode})
	if err != nil {
		return nil, err
	}
	defer couple.Stop()
	if warmup > 0 {
		first := job
		first.Bytes = warmup
		if _, err := couple.Run(first, interval); err != nil {
			return nil, err
		}
	}
	return couple.Run(job, interval)
}

func plateauCommand() *cobra.Command {
	var f common
	var huge bool
	var sizes []int64
	c := &cobra.Command{
		Use: "plateau", Short: "Stream several sizes through one server, and print how its memory differs", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if huge {
				sizes = append(sizes, 10<<10)
			}
			for i := range sizes {
				sizes[i] <<= 20
			}
			return plateau(c.Context(), c.OutOrStdout(), &f, sizes)
		},
	}
	f.bind(c, 1<<10)
	c.Flags().Lookup("mib").Usage = "size of the warm-up in MiB"
	c.Flags().Int64SliceVar(&sizes, "sizes", []int64{64, 1 << 10}, "sizes of the streams that count, in MiB")
	c.Flags().BoolVar(&huge, "huge", false, "stream 10 GiB, too")
	return c
}

func plateau(ctx context.Context, out io.Writer, f *common, sizes []int64) error {
	for _, job := range f.jobs() {
		p, err := streaming.RunPlateau(ctx, streaming.ServerSpec{Mode: streaming.Thriftpack}, job, job.Bytes, sizes, f.interval)
		if err != nil {
			return err
		}
		if f.json {
			if err := json.NewEncoder(out).Encode(p); err != nil {
				return err
			}
			continue
		}
		if err := printPlateau(out, &job, p); err != nil {
			return err
		}
	}
	return nil
}

func printPlateau(out io.Writer, job *streaming.Job, p *streaming.Plateau) error {
	text := bufio.NewWriter(out)
	fmt.Fprintf(text, "%s %s: idle %d kB; warm-up of %d MiB: peak %d kB, end %d kB\n", job.Method, job.Payload,
		p.Warmup.Server.Idle>>10, p.Warmup.Outcome.Bytes>>20, p.Warmup.Server.Peak>>10, p.Warmup.Server.End>>10)
	for _, m := range p.Runs {
		fmt.Fprintf(text, "  %5d MiB: peak %d kB, end %d kB\n", m.Outcome.Bytes>>20, m.Server.Peak>>10, m.Server.End>>10)
	}
	fmt.Fprintf(text, "  peaks %d kB apart (at most 2048), %d kB above idle (at most 8192)\n", p.Spread()>>10, p.Growth()>>10)
	return text.Flush()
}

func pairsCommand() *cobra.Command {
	var f common
	var pairs int
	c := &cobra.Command{
		Use: "pairs", Short: "Compare speed with a server that only moves the bytes, in interleaved pairs", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runPairs(c.Context(), c.OutOrStdout(), &f, pairs) },
	}
	f.bind(c, 256)
	c.Flags().IntVar(&pairs, "pairs", 9, "interleaved pairs that count")
	return c
}

// goals are the least ratios of our speed to the raw server's.
var goals = map[string]float64{streaming.EncodeStream: 0.9, streaming.EncodeParts: 0.8, streaming.DecodeParts: 0.8}

func runPairs(ctx context.Context, out io.Writer, f *common, pairs int) error {
	for _, job := range f.jobs() {
		results, err := streaming.RunPairs(ctx, streaming.ServerSpec{Mode: streaming.Thriftpack}, streaming.ServerSpec{Mode: streaming.Raw}, job, pairs)
		if err != nil {
			return err
		}
		if f.json {
			err = json.NewEncoder(out).Encode(map[string]any{"job": job, "pairs": results})
		} else {
			err = printPairs(out, &job, results)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func printPairs(out io.Writer, job *streaming.Job, pairs []streaming.Pair) error {
	ratios, cpu := each(pairs, streaming.Pair.Ratio), each(pairs, streaming.Pair.CPURatio)
	ours := each(pairs, func(p streaming.Pair) float64 { return p.Ours.Rate })
	theirs := each(pairs, func(p streaming.Pair) float64 { return p.Theirs.Rate })
	oursCPU := each(pairs, func(p streaming.Pair) time.Duration { return p.Ours.Server })
	theirsCPU := each(pairs, func(p streaming.Pair) time.Duration { return p.Theirs.Server })
	text := bufio.NewWriter(out)
	fmt.Fprintf(text, "%s %s, chunks of %d, %s client: %.3f of the raw server's speed (%.2f..%.2f in %d pairs), goal %.1f\n",
		job.Method, job.Payload, job.ChunkSize, job.Client, streaming.Median(ratios), slices.Min(ratios), slices.Max(ratios), len(pairs), goals[job.Method])
	fmt.Fprintf(text, "  %.0f MB/s against %.0f; server CPU for a GiB %.3f s against %.3f, ratio %.2f (%.2f..%.2f)\n",
		streaming.Median(ours)/1e6, streaming.Median(theirs)/1e6,
		streaming.PerGiB(streaming.Median(oursCPU), job.Bytes).Seconds(), streaming.PerGiB(streaming.Median(theirsCPU), job.Bytes).Seconds(),
		streaming.Median(cpu), slices.Min(cpu), slices.Max(cpu))
	return text.Flush()
}

// each takes one figure from every pair.
func each[T any](pairs []streaming.Pair, figure func(streaming.Pair) T) []T {
	figures := make([]T, len(pairs))
	for i, p := range pairs {
		figures[i] = figure(p)
	}
	return figures
}
