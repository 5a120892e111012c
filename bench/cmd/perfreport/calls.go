package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/thriftpack/thriftpack/bench/rpc"
)

// calls is the table of calls through gRPC.
func (d *data) calls() string {
	if len(d.rpc) == 0 {
		return ""
	}
	rows := make([][]string, 0, len(d.rpc))
	for i := range d.rpc {
		c := &d.rpc[i]
		against := c.Against
		if c.Theirs != "" {
			against = "our own " + c.Theirs
		}
		ratios := rpc.Each(c.Pairs, rpc.Pair.Ratio)
		speeds := rpc.Each(c.Pairs, rpc.Pair.Speed)
		latency := func(side func(rpc.Pair) rpc.Outcome) string {
			at := func(of func(rpc.Outcome) time.Duration) string {
				return fmt.Sprintf("%.3g", float64(rpc.MedianOf(c.Pairs, func(p rpc.Pair) time.Duration { return of(side(p)) }))/1e6)
			}
			p99 := rpc.Each(c.Pairs, func(p rpc.Pair) time.Duration { return side(p).P99 })
			return fmt.Sprintf("%s / %s (%.3g..%.3g) / %s", at(func(o rpc.Outcome) time.Duration { return o.P50 }),
				at(func(o rpc.Outcome) time.Duration { return o.P99 }), float64(slices.Min(p99))/1e6, float64(slices.Max(p99))/1e6,
				at(func(o rpc.Outcome) time.Duration { return o.P999 }))
		}
		ceiling := "–"
		if len(c.Ceiling) > 0 {
			ceiling = fmt.Sprintf("%.2f", rpc.Median(rpc.Each(c.Ceiling, rpc.Pair.Ratio)))
		}
		rows = append(rows, []string{
			c.Workload, strconv.Itoa(c.Callers), against,
			fmt.Sprintf("**%.2f** (%.2f..%.2f)", rpc.Median(ratios), slices.Min(ratios), slices.Max(ratios)), ceiling,
			fmt.Sprintf("%.2f", rpc.Median(speeds)),
			fmt.Sprintf("%.3g / %.3g", rpc.MicrosecondsPerValue(c.Pairs, rpc.Ours), rpc.MicrosecondsPerValue(c.Pairs, rpc.Theirs)),
			latency(rpc.Ours), latency(rpc.Theirs),
		})
	}
	return table([]string{
		"workload", "callers", "against", "values per server CPU second, ours / theirs", "the floor / theirs", "values per second, ours / theirs",
		"server CPU s per million values, ours / theirs", "ms, ours: p50 / p99 (its range) / p99.9", "ms, theirs",
	}, rows)
}

// callers is how the cost of a small unary call grows with how many call at once.
func (d *data) callers() string {
	var rows [][]string
	for _, operation := range []string{"encode", "decode"} {
		for _, callers := range []int{1, 8, 64} {
			floor, ordinary := d.comparison(operation+"/small", rpc.Floor, callers), d.comparison(operation+"/small", rpc.Ordinary, callers)
			if floor == nil || ordinary == nil {
				continue
			}
			for _, side := range []struct {
				name  string
				pairs []rpc.Pair
				of    func(rpc.Pair) rpc.Outcome
			}{{"thriftpack", floor.Pairs, rpc.Ours}, {"the floor", floor.Pairs, rpc.Theirs}, {"the ordinary way", ordinary.Pairs, rpc.Theirs}} {
				milliseconds := func(of func(rpc.Outcome) time.Duration) string {
					return fmt.Sprintf("%.3g", float64(rpc.MedianOf(side.pairs, func(p rpc.Pair) time.Duration { return of(side.of(p)) }))/1e6)
				}
				rows = append(rows, []string{
					operation, strconv.Itoa(callers), side.name, fmt.Sprintf("%.1f", rpc.MicrosecondsPerValue(side.pairs, side.of)),
					fmt.Sprintf("%.0f", rpc.MedianOf(side.pairs, func(p rpc.Pair) float64 { return side.of(p).Rate() })),
					milliseconds(func(o rpc.Outcome) time.Duration { return o.P50 }), milliseconds(func(o rpc.Outcome) time.Duration { return o.P99 }),
					milliseconds(func(o rpc.Outcome) time.Duration { return o.P999 }),
				})
			}
		}
	}
	if rows == nil {
		return ""
	}
	return table([]string{"", "callers", "", "server CPU µs a call", "calls a second", "p50, ms", "p99, ms", "p99.9, ms"}, rows)
}

// payloads is how the cost of a call grows with what it carries.
func (d *data) payloads() string {
	rows := make([][]string, 0, len(d.rpcGrowth))
	for i := range d.rpcGrowth {
		c := &d.rpcGrowth[i]
		ratios := rpc.Each(c.Pairs, rpc.Pair.Ratio)
		microseconds := func(side func(rpc.Pair) rpc.Outcome) float64 { return perExchange(c.Pairs, side) }
		p50 := func(side func(rpc.Pair) rpc.Outcome) string {
			return fmt.Sprintf("%.3g", float64(rpc.MedianOf(c.Pairs, func(p rpc.Pair) time.Duration { return side(p).P50 }))/1e6)
		}
		rows = append(rows, []string{
			bytesText(c.Bytes), callShape(c), fmt.Sprintf("%.4g / %.4g", microseconds(rpc.Ours), microseconds(rpc.Theirs)),
			fmt.Sprintf("%.2f (%.2f..%.2f)", rpc.Median(ratios), slices.Min(ratios), slices.Max(ratios)),
			fmt.Sprintf("%.3g / %.3g", microseconds(rpc.Ours)*1e3/float64(c.Bytes), microseconds(rpc.Theirs)*1e3/float64(c.Bytes)),
			p50(rpc.Ours) + " / " + p50(rpc.Theirs),
		})
	}
	if len(rows) == 0 {
		return ""
	}
	return table([]string{"Thrift", "", "server CPU µs a call, ours / floor", "floor / ours", "ns a byte, ours / floor", "ms of a call, p50, ours / floor"}, rows)
}

// callShape says how a payload is carried.
func callShape(c *rpc.Comparison) string {
	if strings.HasPrefix(c.Workload, "encode-stream/") {
		return "EncodeStream"
	}
	return "Encode"
}

// perExchange is the median of the server's CPU time of a call, in microseconds.
func perExchange(pairs []rpc.Pair, side func(rpc.Pair) rpc.Outcome) float64 {
	return rpc.MedianOf(pairs, func(p rpc.Pair) float64 { return float64(side(p).ServerCPU) / float64(max(side(p).Exchanges, 1)) }) / 1e3
}
