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

// RunRounds runs all sides one right after the other, rounds times after one run of each that does not count. Each round begins with another
// side, so that all of them come after each other and after as long a pause. It returns one row of outcomes, one for each side, for each round.
func RunRounds(ctx context.Context, sides []Side, rounds int) ([][]Outcome, error) {
	for _, side := range sides {
		if _, err := side.Client.Run(ctx, side.Load); err != nil {
			return nil, fmt.Errorf("warm up: %w", err)
		}
	}
	rows := make([][]Outcome, rounds)
	for round := range rows {
		row := make([]Outcome, len(sides))
		for turn := range row {
			i := (round + turn) % len(row)
			var err error
			if row[i], err = sides[i].Client.Run(ctx, sides[i].Load); err != nil {
				return nil, err
			}
		}
		rows[round] = row
	}
	return rows, nil
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
	// Ceiling, where there is one, is the floor in our place, in the same rounds: what a server that does nothing but gRPC would have
	// reached. It shares the other side's outcomes with Pairs.
	Ceiling []Pair `json:"ceiling,omitempty"`
}

// NewComparison takes the pairs out of rounds of ours, theirs and, where that is the third side, the floor.
func NewComparison(workload *Workload, against string, callers int, rounds [][]Outcome) *Comparison {
	c := &Comparison{Workload: workload.Name, Against: against, Callers: callers, Bytes: workload.Bytes}
	for _, row := range rounds {
		c.Pairs = append(c.Pairs, Pair{Ours: row[0], Theirs: row[1]})
		if len(row) > 2 {
			c.Ceiling = append(c.Ceiling, Pair{Ours: row[2], Theirs: row[1]})
		}
	}
	return c
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
