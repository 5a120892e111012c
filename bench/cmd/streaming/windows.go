package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/thriftpack/thriftpack/bench/streaming"
)

// settings of gRPC to choose from. The first is what the server has; the others are compared with it.
func settings(streamWindows, buffers []int) []streaming.Transport {
	all := make([]streaming.Transport, 1, 1+len(streamWindows)*len(buffers))
	for _, window := range streamWindows {
		for _, buffer := range buffers {
			all = append(all, streaming.Transport{
				StreamWindow: int32(window) << 10, ConnectionWindow: 2 * int32(window) << 10, //nolint:gosec // a few MiB
				ReadBuffer: buffer << 10, WriteBuffer: buffer << 10,
			})
		}
	}
	return all
}

func windowsCommand() *cobra.Command {
	var f common
	var rounds int
	var mode string
	var streamWindows, buffers []int
	c := &cobra.Command{
		Use: "windows", Short: "Compare settings of the server's transport with those it has, in interleaved rounds", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return windows(c.Context(), c.OutOrStdout(), &f, mode, settings(streamWindows, buffers), rounds)
		},
	}
	f.bind(c, 128)
	c.Flags().IntVar(&rounds, "rounds", 7, "rounds that count")
	c.Flags().StringVar(&mode, "server", streaming.Thriftpack, "kind of server")
	c.Flags().IntSliceVar(&streamWindows, "windows", []int{256, 512, 1024, 2048, 4096}, "stream windows in KiB; a connection's is twice that")
	c.Flags().IntSliceVar(&buffers, "buffers", []int{32, 128}, "sizes of read and write buffers in KiB")
	return c
}

// choice is one setting with what was measured.
type choice struct {
	Transport streaming.Transport `json:"transport"`
	Ratio     float64             `json:"ratio"` // of its speed to that of the first
	Rate      float64             `json:"rate"`
	Server    time.Duration       `json:"server"` // CPU time for a GiB
	Memory    int64               `json:"memory"` // RssAnon after all rounds
}

func windows(ctx context.Context, out io.Writer, f *common, mode string, transports []streaming.Transport, rounds int) error {
	for _, job := range f.jobs() {
		choices, err := compare(ctx, mode, transports, job, rounds)
		if err != nil {
			return err
		}
		if f.json {
			if err := json.NewEncoder(out).Encode(map[string]any{"job": job, "choices": choices}); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintf(out, "%s %s, %s server, %s client\n", job.Method, job.Payload, mode, job.Client); err != nil {
			return err
		}
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(table, "\tspeed\tMB/s\tserver CPU s/GiB\tRssAnon kB\t")
		for _, c := range choices {
			fmt.Fprintf(table, "%s\t%.2f\t%.0f\t%.3f\t%d\t\n", c.Transport, c.Ratio, c.Rate/1e6, c.Server.Seconds(), c.Memory>>10)
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// compare streams a job in turn to a server of each setting.
func compare(ctx context.Context, mode string, transports []streaming.Transport, job streaming.Job, rounds int) ([]choice, error) {
	specs := make([]streaming.ServerSpec, len(transports))
	for i, transport := range transports {
		specs[i] = streaming.ServerSpec{Mode: mode, Transport: transport}
	}
	rivals, err := streaming.StartRivals(ctx, specs...)
	if err != nil {
		return nil, err
	}
	defer rivals.Stop()
	rows, err := rivals.Rounds(job, rounds)
	if err != nil {
		return nil, err
	}
	choices := make([]choice, len(specs))
	for i := range choices {
		var ratios, rates []float64
		var cpu []time.Duration
		for _, row := range rows {
			ratios = append(ratios, row[i].Rate/row[0].Rate)
			rates = append(rates, row[i].Rate)
			cpu = append(cpu, streaming.PerGiB(row[i].Server, job.Bytes))
		}
		memory, err := rivals.Memory(i)
		if err != nil {
			return nil, err
		}
		choices[i] = choice{transports[i], streaming.Median(ratios), streaming.Median(rates), streaming.Median(cpu), memory}
	}
	return choices, nil
}
