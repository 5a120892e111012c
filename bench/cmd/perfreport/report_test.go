package main

import (
	"strings"
	"testing"
	"time"

	"github.com/thriftpack/thriftpack/bench/rpc"
	"github.com/thriftpack/thriftpack/bench/suite"
)

func TestRenew(t *testing.T) {
	const text = "before\n<!-- measured: speed -->\nold\n<!-- end -->\nbetween\n<!-- measured: size -->\n<!-- end -->\nafter\n"
	got, err := renew(text, map[string]string{"speed": "fast\n", "size": "small\n"})
	want := "before\n<!-- measured: speed -->\nfast\n<!-- end -->\nbetween\n<!-- measured: size -->\nsmall\n<!-- end -->\nafter\n"
	if err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	for _, text := range []string{"", "<!-- measured: speed -->\n"} {
		if _, err := renew(text, map[string]string{"speed": ""}); err == nil {
			t.Errorf("renewed %q, want an error", text)
		}
	}
}

// measured is the least that a report can be made of.
func measured() *data {
	m := func(family, group string, nanoseconds float64) suite.Measurement {
		return suite.Measurement{
			Scenario: family + "-" + group, Family: family, Size: 49, Runs: 10, NanosecondsPerRun: []float64{nanoseconds, nanoseconds, nanoseconds},
		}
	}
	d := &data{scenarios: make(map[string]suite.Measurement)}
	for _, of := range []suite.Measurement{
		m("tp", "cmp-write-small", 10), m("apache", "cmp-write-small", 40), m("tp", "cmp-write-list_i64", 50),
		m("apache", "cmp-write-list_i64", 100), m("memcpy", "cmp-write-list_i64", 5),
	} {
		d.scenarios[of.Scenario] = of
	}
	d.change = []suite.Change{
		{Measurement: m("perbyte", "cmp-write-small", 30), WritesPerRun: 28}, {Measurement: m("pervarint", "cmp-write-small", 20), WritesPerRun: 19},
	}
	d.growth = []suite.Growth{
		{Payload: "list<i64>", Size: 64 << 10, NanosecondsPerByte: []float64{1}}, {Payload: "list<i64>", Size: 1 << 30, NanosecondsPerByte: []float64{1.5}},
	}
	outcome := rpc.Outcome{Values: 100, Elapsed: time.Second, ServerCPU: time.Millisecond, P50: time.Millisecond, P99: 2 * time.Millisecond}
	pair := rpc.Pair{Ours: outcome, Theirs: outcome}
	for _, against := range []string{rpc.Floor, rpc.Ordinary} {
		for _, callers := range []int{1, 8} {
			d.rpc = append(d.rpc, rpc.Comparison{Workload: "encode/small", Against: against, Callers: callers, Pairs: []rpc.Pair{pair}})
		}
	}
	return d
}

func TestSections(t *testing.T) {
	sections := measured().sections()
	for name, want := range map[string]string{
		"structs": "| thriftpack from or to wire bytes (`tp`) | 10.0 ns |",
		"change":  "| 28 | 0 | 1.00 |",
		"bulk":    "| 0.10 | 2.00 |",
		"growth":  "| list<i64> | 1.00 GiB | 1.500 |",
		"rpc":     "| encode/small | 8 | ordinary | **1.00** (1.00..1.00) | 1.00 | 10 / 10 |",
		"machine": "github.com",
	} {
		if name == "machine" {
			continue // what it says depends on where it is
		}
		if !strings.Contains(sections[name], want) {
			t.Errorf("section %s lacks %q:\n%s", name, want, sections[name])
		}
	}
	for _, want := range []string{
		"| from wire bytes, small / Apache Go from structs | ≥ 3 | 4.00 | 4.00 .. 4.00 | reached |",
		"| list<i64> / memcpy | ≥ 0.15 | 0.10 | 0.10 .. 0.10 | missed |",
		"| `pervarint-cmp-write-small` / `perbyte` | ≥ 1.25 | 1.50 | 1.50 .. 1.50 | reached |",
		"| unary small encode / floor, callers: 8 | ≥ 0.95 | 1.00 | 1.00 .. 1.00 | reached |",
		"dearest / cheapest | ≤ 2 | 1.50 | 1.50 .. 1.50 | reached |",
	} {
		if !strings.Contains(sections["goals"], want) {
			t.Errorf("goals lack %q:\n%s", want, sections["goals"])
		}
	}
}

func TestDraw(t *testing.T) {
	if err := measured().draw(t.TempDir()); err != nil {
		t.Fatal(err)
	}
}
