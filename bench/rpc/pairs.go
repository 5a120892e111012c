package rpc

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Side is one of the two that are compared: a load on a server.
type Side struct {
	Client *Client
	Load   Load
}

// Pair is one trial of both sides, one right after the other, so that a machine whose speed drifts does so for both.
type Pair struct {
	// Ours and Theirs are the two outcomes.
	Ours   Outcome `json:"ours"`
	Theirs Outcome `json:"theirs"`
}

// Ratio is how many values we serve in the CPU time in which they serve one: above 1 is cheaper than they are.
func (p Pair) Ratio() float64 {
	return float64(p.Theirs.CPUPerValue()) / float64(p.Ours.CPUPerValue())
}

// Speed is our rate over theirs: above 1 is faster than they are.
func (p Pair) Speed() float64 { return p.Ours.Rate() / p.Theirs.Rate() }

// RunPairs runs both sides in interleaved pairs, the order swapped from pair to pair, after one discarded run of each.
func RunPairs(ctx context.Context, ours, theirs Side, pairs int) ([]Pair, error) {
	for _, side := range []Side{ours, theirs} {
		if _, err := side.Client.Run(ctx, side.Load); err != nil {
			return nil, fmt.Errorf("warm up: %w", err)
		}
	}
	results := make([]Pair, pairs)
	for i := range results {
		first, second := ours, theirs
		into, other := &results[i].Ours, &results[i].Theirs
		if i%2 == 1 {
			first, second, into, other = second, first, other, into
		}
		var err error
		if *into, err = first.Client.Run(ctx, first.Load); err != nil {
			return nil, err
		}
		if *other, err = second.Client.Run(ctx, second.Load); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// Comparison is the pairs of a workload, as JSON.
type Comparison struct {
	// Workload is its name, and Theirs that of the other side's where it is another one.
	Workload string `json:"workload"`
	Theirs   string `json:"theirs,omitempty"`
	// Against is the kind of the other server.
	Against string `json:"against"`
	// Callers is how many call at once.
	Callers int `json:"callers"`
	// Bytes is how many Thrift bytes an exchange of ours encodes or decodes.
	Bytes int64 `json:"bytes"`
	// Pairs are what was measured.
	Pairs []Pair `json:"pairs"`
}

// Each takes one figure from every pair.
func Each[T any](pairs []Pair, figure func(Pair) T) []T {
	figures := make([]T, len(pairs))
	for i, p := range pairs {
		figures[i] = figure(p)
	}
	return figures
}

// MedianOf is the median of one figure of all pairs.
func MedianOf[T ~int64 | ~float64](pairs []Pair, figure func(Pair) T) T {
	return Median(Each(pairs, figure))
}

// Median returns the middle of the values (the lower one of two); it sorts a copy.
func Median[T ~int64 | ~float64](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}

// MicrosecondsPerValue is the median of the server's CPU time for a value, which is CPU seconds for a million of them.
func MicrosecondsPerValue(pairs []Pair, side func(Pair) Outcome) float64 {
	return float64(MedianOf(pairs, func(p Pair) time.Duration { return side(p).ServerCPU * 1000 / time.Duration(max(side(p).Values, 1)) })) / 1e6
}

// Ours and Theirs are the sides of a pair.
func Ours(p Pair) Outcome { return p.Ours }

// Theirs is the other one.
func Theirs(p Pair) Outcome { return p.Theirs }
