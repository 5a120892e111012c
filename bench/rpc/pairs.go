package rpc

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Pair is one trial of two servers, one right after the other, so that a machine whose speed drifts does so for both.
type Pair struct {
	// Ours and Theirs are the two outcomes.
	Ours, Theirs Outcome
}

// Ratio is how many calls we make in the CPU time in which they make one: above 1 is cheaper than they are.
func (p Pair) Ratio() float64 {
	return float64(p.Theirs.ServerCPUPerCall()) / float64(p.Ours.ServerCPUPerCall())
}

// RunPairs runs a load against two servers in interleaved pairs, the order swapped from pair to pair, after one
// discarded run of each.
func RunPairs(ctx context.Context, ours, theirs *Client, load Load, pairs int) ([]Pair, error) {
	warmup := load
	warmup.Duration = min(load.Duration, time.Second)
	for _, client := range []*Client{ours, theirs} {
		if _, err := client.Run(ctx, warmup); err != nil {
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
		if *into, err = first.Run(ctx, load); err != nil {
			return nil, err
		}
		if *other, err = second.Run(ctx, load); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// Median returns the middle of the values (the lower one of two); it sorts a copy.
func Median[T ~int64 | ~float64](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}
