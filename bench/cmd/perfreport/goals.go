package main

import (
	"fmt"
	"slices"

	"github.com/thriftpack/thriftpack/bench/rpc"
	"github.com/thriftpack/thriftpack/bench/suite"
)

// goal is a ratio of two scenarios of a group to reach.
type goal struct {
	text, group, ours, peer string
	least                   float64
}

// codecGoals are the goals of the codecs alone.
var codecGoals = []goal{
	{"Writer, any io.Writer, small / Apache Go", "cmp-write-small", "tpw", "apache", 2},
	{"Writer, own chunks, small / Apache Go", "cmp-write-small", "tpwchunk", "apache", 3.5},
	{"Writer, own chunks, small / C++ templated", "cmp-write-small", "tpwchunk", "cpp", 1},
	{"Writer, any io.Writer, large / Apache Go", "cmp-write-large", "tpw", "apache", 2},
	{"Writer, own chunks, large / Apache Go", "cmp-write-large", "tpwchunk", "apache", 3.5},
	{"Writer, own chunks, large / C++ templated", "cmp-write-large", "tpwchunk", "cpp", 1},
	{"from wire bytes, small / Apache Go from structs", "cmp-write-small", "tp", "apache", 3},
	{"from wire bytes, small / proto.Unmarshal + Apache", "cmp-write-small", "tp", "protobuf", 20},
	{"from wire bytes, large / Apache Go from structs", "cmp-write-large", "tp", "apache", 3},
	{"from wire bytes, large / proto.Unmarshal + Apache", "cmp-write-large", "tp", "protobuf", 20},
	{"reading to wire bytes, small / Apache Go", "cmp-read-small", "tp", "apache", 3},
	{"reading to wire bytes, large / Apache Go", "cmp-read-large", "tp", "apache", 3},
	{"list<double> / memcpy", "cmp-write-list_double", "tp", "memcpy", 0.8},
	{"binary of 64 MiB / memcpy", "cmp-write-binary_64mib", "tp", "memcpy", 0.8},
	{"list<i64> / memcpy", "cmp-write-list_i64", "tp", "memcpy", 0.15},
	{"list<i32> / memcpy", "cmp-write-list_i32", "tp", "memcpy", 0.15},
	{"list<string> / memcpy", "cmp-write-list_string", "tp", "memcpy", 0.12},
	{"list<struct> / Apache Go", "cmp-write-list_struct", "tp", "apache", 3},
	{"map<string,i64> / Apache Go", "cmp-write-map_string_i64", "tp", "apache", 3},
}

// callGoal is a ratio to reach through gRPC, in CPU time of the server, or in speed.
type callGoal struct {
	text, workload, against string
	least                   float64
	speed                   bool
}

var callGoals = []callGoal{
	{"unary small encode / floor", "encode/small", rpc.Floor, 0.95, false},
	{"unary small decode / floor", "decode/small", rpc.Floor, 0.95, false},
	{"unary small encode / ordinary", "encode/small", rpc.Ordinary, 1.4, false},
	{"unary small decode / ordinary", "decode/small", rpc.Ordinary, 1.4, false},
	{"unary 64 KiB encode / ordinary", "encode/64KiB", rpc.Ordinary, 2, false},
	{"unary 64 KiB decode / ordinary", "decode/64KiB", rpc.Ordinary, 2, false},
	{"unary 1 MiB encode / ordinary", "encode/1MiB", rpc.Ordinary, 2, false},
	{"unary 1 MiB decode / ordinary", "decode/1MiB", rpc.Ordinary, 2, false},
	{"batch encode / our own unary, for a value", "encode-batch/small", rpc.Thriftpack, 5, false},
	{"batch decode / our own unary, for a value", "decode-batch/small", rpc.Thriftpack, 5, false},
	{"stream of binaries / floor, speed", "encode-stream/binary", rpc.Floor, 0.9, true},
	{"stream of records / floor, speed", "encode-stream/records", rpc.Floor, 0.9, true},
}

// goals is the table of all goals.
func (d *data) goals() string {
	var rows [][]string
	add := func(text, least string, measured, smallest, largest float64, reached bool) {
		verdict := "missed"
		if reached {
			verdict = "reached"
		}
		rows = append(rows, []string{text, least, fmt.Sprintf("%.2f", measured), fmt.Sprintf("%.2f .. %.2f", smallest, largest), verdict})
	}
	ratios := func(text string, least float64, of []float64) {
		add(text, fmt.Sprintf("≥ %g", least), suite.Median(of), slices.Min(of), slices.Max(of), suite.Median(of) >= least)
	}
	for _, g := range codecGoals {
		ours, found := d.scenarios[g.ours+"-"+g.group]
		peer, both := d.scenarios[g.peer+"-"+g.group]
		if found && both {
			ratios(g.text, g.least, suite.Ratios(&ours, &peer))
		}
	}
	d.changeGoals(ratios)
	for _, g := range callGoals {
		for i := range d.rpc {
			c := &d.rpc[i]
			if c.Workload != g.workload || c.Against != g.against {
				continue
			}
			figure := rpc.Pair.Ratio
			if g.speed {
				figure = rpc.Pair.Speed
			}
			text := fmt.Sprintf("%s, callers: %d", g.text, c.Callers)
			if len(c.Ceiling) > 0 {
				text += fmt.Sprintf(" (the floor itself: %.2f)", rpc.Median(rpc.Each(c.Ceiling, figure)))
			}
			ratios(text, g.least, rpc.Each(c.Pairs, figure))
		}
	}
	for _, payload := range []string{"list<i64>", "list<struct>"} {
		var medians []float64
		most := int64(0)
		for i := range d.growth {
			if g := &d.growth[i]; g.Payload == payload && g.Size >= 32<<10 {
				medians = append(medians, g.Median())
				most = max(most, g.Size)
			}
		}
		if len(medians) > 0 {
			spread := slices.Max(medians) / slices.Min(medians)
			add("cost of a byte of "+payload+", from 64 KiB to "+bytesText(most)+", dearest / cheapest", "≤ 2", spread, spread, spread, spread <= 2)
		}
	}
	return table([]string{"goal", "to reach", "median", "range", ""}, rows)
}

// changeGoals are those in the terms of THRIFT-6153.
func (d *data) changeGoals(ratios func(text string, least float64, of []float64)) {
	var before *suite.Measurement
	for i := range d.change {
		c := &d.change[i]
		if c.Family == suite.Before {
			before = &c.Measurement
			continue
		}
		least := 1.25
		if c.Size > 1000 {
			least = 2
		}
		ratios("`"+c.Scenario+"` / `"+suite.Before+"`", least, suite.Ratios(&c.Measurement, before))
	}
}
