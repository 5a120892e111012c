package streaming

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// label names a measurement.
func label(m *Measurement) string {
	return m.Job.Method + " " + m.Job.Payload + ", " + serverName(m.Job.Mode)
}

// serverName says what a kind of server does with its chunks.
func serverName(mode string) string {
	switch mode {
	case Thriftpack:
		return "chunks reused"
	case Fresh:
		return "chunks fresh"
	case Raw:
		return "raw"
	default:
		return "bare"
	}
}

// WriteHead writes the head of a table of measurements, in the manner of Ruby's Benchmark.bm: CPU time and time in seconds,
// then RssAnon in kB, and what the heap had to do.
func WriteHead(out io.Writer) error {
	_, err := fmt.Fprintf(out, "%36s %10s %10s %10s %12s %9s %9s %9s %9s %11s %6s\n", "", "user", "system", "total", "real",
		"idle kB", "peak kB", "end kB", "growth kB", "heap kB/GiB", "GC/GiB")
	return err
}

// WriteRow writes two rows of the table: the server's and the client's.
func WriteRow(out io.Writer, m *Measurement) error {
	if _, err := fmt.Fprintf(out, "%s: %s, %d messages received, %.0f MB/s\n", label(m), size(m.Outcome.Bytes), m.Outcome.Replies, m.Rate()/1e6); err != nil {
		return err
	}
	perGiB := float64(1<<30) / float64(m.Outcome.Bytes)
	for _, s := range []struct {
		name string
		Side
	}{{"server", m.Server}, {"client, " + m.Job.Client, m.Client}} {
		if _, err := fmt.Fprintf(out, "%36s %10.6f %10.6f %10.6f (%10.6f) %9d %9d %9d %9d %11.0f %6.0f\n", s.name,
			s.User.Seconds(), s.System.Seconds(), s.Total().Seconds(), m.Real.Seconds(),
			s.Idle>>10, s.Peak>>10, s.End>>10, (s.Peak-s.Idle)>>10,
			float64(s.Allocated)/1024*perGiB, float64(s.Collections)*perGiB); err != nil {
			return err
		}
	}
	return nil
}

// size writes a number of bytes for people.
func size(n int64) string {
	if n < 1<<30 {
		return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.2f GiB", float64(n)/(1<<30))
}

// PerGiB scales a time for n bytes to a GiB.
func PerGiB(d time.Duration, n int64) time.Duration {
	return time.Duration(float64(d) * (1 << 30) / float64(n))
}

// Median returns the middle of the values (the lower one of two); it sorts a copy.
func Median[T ~int64 | ~float64](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}
