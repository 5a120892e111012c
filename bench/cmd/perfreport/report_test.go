package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thriftpack/thriftpack/bench/profile"
	"github.com/thriftpack/thriftpack/bench/rpc"
	"github.com/thriftpack/thriftpack/bench/streaming"
	"github.com/thriftpack/thriftpack/bench/suite"
)

func TestRenew(t *testing.T) {
	const text = "before\n<!-- measured: speed -->\nold\n<!-- end -->\nbetween\n<!-- measured: size -->\nkept\n<!-- end -->\nafter\n"
	got, err := renew(text, map[string]string{"speed": "fast\n", "size": ""})
	want := "before\n<!-- measured: speed -->\nfast\n<!-- end -->\nbetween\n<!-- measured: size -->\nkept\n<!-- end -->\nafter\n"
	if err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	for _, text := range []string{"", "<!-- measured: speed -->\n"} {
		if _, err := renew(text, map[string]string{"speed": ""}); !errors.Is(err, errSection) {
			t.Errorf("renewed %q, %v, want %v", text, err, errSection)
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
		m("apache", "cmp-write-list_i64", 100), m("memcpy", "cmp-write-list_i64", 5), m("tp", "cmp-read-list_i64", 100),
	} {
		d.scenarios[of.Scenario] = of
	}
	d.change = []suite.Change{
		{Measurement: m("perbyte", "cmp-write-small", 30), WritesPerRun: 28}, {Measurement: m("pervarint", "cmp-write-small", 20), WritesPerRun: 19},
	}
	for i := range d.change {
		d.change[i].Units = 1
	}
	d.growth = []suite.Growth{
		{Payload: "list<i64>", Size: 64 << 10, NanosecondsPerByte: []float64{1}}, {Payload: "list<i64>", Size: 1 << 30, NanosecondsPerByte: []float64{1.5}},
	}
	outcome := rpc.Outcome{Exchanges: 1, Values: 100, Elapsed: time.Second, ServerCPU: time.Millisecond, P50: time.Millisecond, P99: 2 * time.Millisecond}
	pair := rpc.Pair{Ours: outcome, Theirs: outcome}
	for _, against := range []string{rpc.Floor, rpc.Ordinary} {
		for _, callers := range []int{1, 8} {
			c := rpc.Comparison{Workload: "encode/small", Against: against, Callers: callers, Pairs: []rpc.Pair{pair, pair}}
			if against == rpc.Ordinary {
				c.Ceiling = []rpc.Pair{{Ours: rpc.Outcome{Values: 200, ServerCPU: time.Millisecond}, Theirs: outcome}}
			}
			d.rpc = append(d.rpc, c)
		}
	}
	d.rpcGrowth = []rpc.Comparison{
		{Workload: "encode/100", Bytes: 100, Pairs: []rpc.Pair{pair}}, {Workload: "encode-stream/1073741824", Bytes: 1 << 30, Pairs: []rpc.Pair{pair}},
	}
	stream := func(size, peak int64) *streaming.Measurement {
		m := &streaming.Measurement{Job: streaming.Job{Method: streaming.EncodeStream, Payload: streaming.Binary, Bytes: size, Mode: streaming.Thriftpack, Client: streaming.Stock}}
		m.Real, m.Outcome.Bytes, m.Server.Idle, m.Server.Peak = time.Second, size, 5<<20, peak
		m.Samples = []streaming.Sample{{At: time.Second, Server: peak}}
		return m
	}
	d.streams = []*streaming.Measurement{stream(1<<30, 8<<20)}
	d.plateaus = []streaming.Plateau{{
		Method: streaming.EncodeStream, Warmup: stream(1<<30, 6<<20), Runs: []*streaming.Measurement{stream(64<<20, 6<<20), stream(1<<30, 9<<20)},
	}}
	d.pairs = []streamPairs{{Job: streaming.Job{Method: streaming.EncodeStream, Payload: "i64", Bytes: 1 << 30, Client: streaming.Stock}, Pairs: []streaming.Pair{
		{Ours: streaming.Trial{Rate: 1, Server: 2 * time.Second}, Theirs: streaming.Trial{Rate: 2, Server: time.Second}},
	}}}
	d.profiles = []*profile.Summary{{Name: "server-encode-small", CPU: time.Second, Functions: []profile.Function{{Name: "encoder.Encode", Percent: 60, Under: 100}}}}
	d.machine = []string{"2026-01-02", "abc", "9.00 8.00 7.00"}
	const missed, before = "unary small encode / ordinary, callers: 8", "unary small decode / floor, callers: 64"
	d.goalRows = map[string][]string{
		missed: {missed, "≥ 1.4", "0.5", "0.4 .. 0.6", "**missed**", "gRPC *alone*: list<x>"},
		before: {before, "≥ 0.95", "0.96", "0.9 .. 1.1", "reached", ""},
	}
	return d
}

func TestSections(t *testing.T) {
	sections := measured().sections()
	for name, want := range map[string]string{
		"structs":     "| thriftpack from or to wire bytes (`tp`) | 10.0 ns |",
		"change":      "| 15.0 | 15.0 .. 15.0 | 14000000 | 28.00 | 0 | 1.00 (1.00 .. 1.00) |",
		"bulk":        "| 0.10 | 2.00 |",
		"growth":      "| list&lt;i64&gt; | 1.00 GiB | 1.500 |",
		"rpc":         "| encode/small | 8 | ordinary | **1.00** (1.00..1.00) | 2.00 | 1.00 | 10 / 10 |",
		"callers":     "| encode | 8 | the floor | 10.0 | 100 | 1 | 2 | 0 |",
		"payloads":    "| 1.00 GiB | EncodeStream | 1000 / 1000 | 1.00 (1.00..1.00) | 0.000931 / 0.000931 | 1 / 1 |",
		"streams":     "EncodeStream binary, chunks reused: 1.00 GiB",
		"plateau":     "| EncodeStream, binary | 5,120 | 6,144 | 9,216 | 3,072, **missed** | 4,096 |",
		"streampairs": "| EncodeStream, list&lt;i64&gt; | default | stock | 0.9 | 0.50, **missed** | 0.50 .. 0.50 | 2.000 / 1.000 |",
		"profiles":    "**The server under unary encodes of 49 bytes, 8 callers**, 1s of CPU time. By package: thriftpack's own 0.0 %.\n\n| function |",
	} {
		if !strings.Contains(sections[name], want) {
			t.Errorf("section %s lacks %q:\n%s", name, want, sections[name])
		}
	}
	if sections["binary"] != "" || sections["tojson"] != "" {
		t.Error("what was not measured has sections")
	}
	if !strings.Contains(sections["machine"], "measured on 2026-01-02, commit abc; load average before: 9.00 8.00 7.00\n\n**The machine was busy**") {
		t.Errorf("machine: %s", sections["machine"])
	}
	for _, want := range []string{
		"| from wire bytes, small / Apache Go from structs | ≥ 3 | 4.00 | 4.00 .. 4.00 | reached |  |",
		"| from wire bytes, list&lt;i64&gt; / memcpy | ≥ 0.15 | 0.10 | 0.10 .. 0.10 | **missed** | [what limits it](#bulk) |",
		"| `pervarint-cmp-write-small` / `perbyte` | ≥ 1.25 | 1.50 | 1.50 .. 1.50 | reached |  |",
		"| transport writes of OneOfEach, `pervarint`; `perbyte` has 28 | ≤ 19 | 19.00 |  | reached |  |",
		"| objects in a write, the most of `perbyte`, `pervarint` and `tpw` | ≤ 0 | 0.00 |  | reached |  |",
		"| unary small encode / floor, callers: 8 | ≥ 0.95 | 1.00 | 1.00 .. 1.00 | reached |  |",
		"| unary small encode / ordinary, callers: 8 | ≥ 1.4 | 1.00 | 1.00 .. 1.00; the floor itself: 2.00 | **missed** | gRPC *alone*: list&lt;x&gt; |",
		"| unary small decode / floor, callers: 64 | ≥ 0.95 | 0.96 | 0.9 .. 1.1 | reached |  |",
		"64 KiB to 1 GiB, dearest / cheapest | ≤ 2 | 1.50 |  | reached |  |",
		"| cost of a byte of list&lt;struct&gt;, 64 KiB to 1 GiB, dearest / cheapest | ≤ 2 |  |  | not measured |  |",
	} {
		if !strings.Contains(sections["goals"], want) {
			t.Errorf("goals lack %q:\n%s", want, sections["goals"])
		}
	}
}

// Every goal has a text of its own, by which what people wrote is found again, and a place in the document.
func TestGoals(t *testing.T) {
	document, err := os.ReadFile("../../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	headings := make(map[string]bool)
	for line := range strings.Lines(string(document)) {
		if _, heading, found := strings.Cut(line, "## "); found {
			headings[strings.ReplaceAll(strings.ToLower(strings.TrimSpace(heading)), " ", "-")] = true
		}
	}
	seen := make(map[string]bool)
	for _, g := range goals() {
		if seen[g.text] {
			t.Errorf("two goals %q", g.text)
		}
		seen[g.text] = true
		if !headings[g.section] {
			t.Errorf("%s: the document has no section %q", g.text, g.section)
		}
		if figures := g.figures(&data{}); len(figures) > 0 {
			t.Errorf("%s: figures of nothing: %v", g.text, figures)
		}
	}
	for name := range measured().sections() {
		if _, _, _, err := cut(string(document), name); err != nil {
			t.Error(err)
		}
	}
}

func TestGoalRowsOf(t *testing.T) {
	const text = "<!-- measured: goals -->\n| goal | to reach | median | range |  | why not |\n| --- | ---: | ---: | ---: | ---: | ---: |\n" +
		"| list&lt;i64&gt; / memcpy | ≥ 1 | 0.5 | 0.4 .. 0.6 | **missed** | it is [checked](#bulk) |\n" +
		"| other | ≥ 1 | 2 |  | reached |  |\n| of five | ≥ 1 | 2 | 1 .. 3 | reached |\n<!-- end -->\n"
	got := goalRowsOf(text)
	for _, want := range [][]string{
		{"list<i64> / memcpy", "≥ 1", "0.5", "0.4 .. 0.6", "**missed**", "it is [checked](#bulk)"}, {"other", "≥ 1", "2", "", "reached", ""},
	} {
		if !slices.Equal(got[want[0]], want) {
			t.Errorf("got %q, want %q", got[want[0]], want)
		}
	}
	if got["of five"] != nil || len(goalRowsOf("no table")) != 0 {
		t.Errorf("got %q, want no rows of other tables", got)
	}
}

// A folder with some of the files renews their sections, names the others and leaves these as they were; one with nothing changes nothing.
func TestRun(t *testing.T) {
	folder, documents := t.TempDir(), t.TempDir()
	document := filepath.Join(documents, "performance.md")
	var text strings.Builder
	for name := range measured().sections() {
		text.WriteString("<!-- measured: " + name + " -->\nold " + name + "\n<!-- end -->\n")
	}
	write := func(path, content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(document, text.String())
	if err := run(folder, document, io.Discard); !errors.Is(err, errNothing) {
		t.Errorf("an empty folder: %v, want %v", err, errNothing)
	}
	line, err := json.Marshal(measured().growth[0])
	if err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(folder, "growth.json"), string(line))
	var warnings strings.Builder
	if err := run(folder, document, &warnings); err != nil {
		t.Fatal(err)
	}
	renewed, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(renewed); strings.Contains(got, "old growth") || !strings.Contains(got, "old bulk") || !strings.Contains(got, "| list&lt;i64&gt; | 64.0 KiB |") {
		t.Errorf("document:\n%s", got)
	}
	if !strings.Contains(warnings.String(), "calls-small.json: not measured") || strings.Contains(warnings.String(), "growth.json: not measured; what stands in the document stays\ngrowth") {
		t.Errorf("warnings: %s", warnings.String())
	}
	files, err := os.ReadDir(documents)
	if err != nil || len(files) != 2 { // the document and one picture
		t.Errorf("files %v, %v, want the document and one picture", files, err)
	}
	write(filepath.Join(folder, "growth.json"), "{")
	if err := run(folder, document, io.Discard); err == nil {
		t.Error("a damaged file was taken")
	}
	if after, err := os.ReadFile(document); err != nil || string(after) != string(renewed) {
		t.Errorf("the document was changed by a run that failed, %v", err)
	}
}

func TestDraw(t *testing.T) {
	folder := t.TempDir()
	if err := measured().draw(folder); err != nil {
		t.Fatal(err)
	}
	for _, picture := range pictures {
		if _, err := os.Stat(filepath.Join(folder, picture.file)); err != nil {
			t.Error(err)
		}
	}
}
