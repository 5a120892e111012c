package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/thriftpack/thriftpack/bench/rpc"
	"github.com/thriftpack/thriftpack/bench/suite"
)

// sections are the contents of the document's sections by name.
func (d *data) sections() map[string]string {
	return map[string]string{
		"machine": machine(), "goals": d.goals(), "structs": d.structs(), "change": d.changes(),
		"bulk": d.bulk(), "growth": d.growths(), "rpc": d.calls(), "fromjson": d.fromJSON(),
	}
}

// table writes a table of Markdown, all columns but the first being numbers.
func table(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(head)
	rule := make([]string, len(head))
	for i := range rule {
		rule[i] = "---:"
	}
	rule[0] = "---"
	line(rule)
	for _, row := range rows {
		line(row)
	}
	return b.String()
}

// names say in words what the families are.
var names = map[string]string{ //nolint:gosec // the names of peers, no credentials
	"tp": "thriftpack from or to wire bytes (`tp`)", "tpw": "thriftpack's Writer, any io.Writer (`tpw`)",
	"tpwchunk": "thriftpack's Writer, own chunks (`tpwchunk`)", "apache": "Apache Go (`apache`)",
	"protobuf": "proto.Unmarshal + Apache, and back (`protobuf`)", "segmentio": "segmentio, encoder reused (`segmentio`)",
	"marshal": "segmentio, Marshal (`marshal`)", "cpp": "Apache C++, templated (`cpp`)", "memcpy": "memcpy",
	"pervarint": "one write a varint (`pervarint`)", "perbyte": "one write a byte (`perbyte`)",
}

func duration(nanoseconds float64) string {
	switch {
	case nanoseconds >= 1e6:
		return fmt.Sprintf("%.2f ms", nanoseconds/1e6)
	case nanoseconds >= 1e4:
		return fmt.Sprintf("%.1f µs", nanoseconds/1e3)
	default:
		return fmt.Sprintf("%.1f ns", nanoseconds)
	}
}

// structs is small and large, written and read.
func (d *data) structs() string {
	var out strings.Builder
	for _, operation := range []string{"write", "read"} {
		for _, size := range []string{"small", "large"} {
			group := "cmp-" + operation + "-" + size
			apache, found := d.scenarios["apache-"+group]
			if !found {
				continue
			}
			var rows [][]string
			for _, family := range suite.Families {
				m, found := d.scenarios[family+"-"+group]
				if !found {
					continue
				}
				ratios := suite.Ratios(&m, &apache)
				rows = append(rows, []string{
					names[family], duration(m.Median()), duration(m.Best()) + " .. " + duration(m.Worst()), fmt.Sprintf("%.0f", m.Speed()),
					fmt.Sprintf("%.2f", suite.Median(ratios)), fmt.Sprintf("%.0f", m.ObjectsPerRun), fmt.Sprintf("%.0f", m.BytesPerRun),
				})
			}
			fmt.Fprintf(&out, "**%s %s**, %d bytes, %d trials of %d runs:\n\n", operation, size, apache.Size, len(apache.NanosecondsPerRun), apache.Runs)
			out.WriteString(table([]string{"", "median", "range", "MB/s", "times Apache Go", "objects", "bytes"}, rows))
			out.WriteString("\n")
		}
	}
	return out.String()
}

// changes is the table in the terms of THRIFT-6153.
func (d *data) changes() string {
	rows := make([][]string, 0, len(d.change))
	var before *suite.Measurement
	for i := range d.change {
		c := &d.change[i]
		if c.Family == suite.Before {
			before = &c.Measurement
		}
		ratios := suite.Ratios(&c.Measurement, before)
		rows = append(rows, []string{
			"`" + c.Scenario + "`", duration(c.Median()), duration(c.Best()) + " .. " + duration(c.Worst()), strconv.FormatInt(c.WritesPerRun, 10),
			fmt.Sprintf("%.0f", c.ObjectsPerRun*suite.RunsOfChange), fmt.Sprintf("%.2f", suite.Median(ratios)),
		})
	}
	return table([]string{"", "time of a run", "range", "transport writes of a run", "objects in 500,000 runs", "times as fast as `perbyte`"}, rows)
}

// bulkSizes are the payloads in bulk, and what they are.
var bulkSizes = []struct{ size, name string }{
	{"list_i64", "list<i64>, 1 M"},
	{"list_i32", "list<i32>, 1 M"},
	{"list_double", "list<double>, 1 M"},
	{"list_string", "list<string of 20>, 1 M"},
	{"list_struct", "list<struct of 5>, 100 k"},
	{"map_string_i64", "map<string,i64>, 100 k"},
	{"binary_64mib", "binary, 64 MiB"},
}

// bulkFamilies are the columns of the tables of bulk.
var bulkFamilies = []string{"tp", "tpwchunk", "apache", "segmentio", "cpp", "memcpy"}

func (d *data) bulk() string {
	var out strings.Builder
	for _, operation := range []string{"write", "read"} {
		head := []string{operation + ", MB/s"}
		for _, family := range bulkFamilies {
			if operation == "write" || family != "tpwchunk" {
				head = append(head, "`"+family+"`")
			}
		}
		head = append(head, "`tp` / memcpy", "`tp` / `apache`")
		var rows [][]string
		for _, bulk := range bulkSizes {
			group := "-cmp-" + operation + "-" + bulk.size
			ours, found := d.scenarios["tp"+group]
			if !found {
				continue
			}
			row := []string{bulk.name}
			for _, family := range bulkFamilies {
				if operation == "read" && family == "tpwchunk" {
					continue
				}
				cell := "–"
				if m, found := d.scenarios[family+group]; found {
					cell = fmt.Sprintf("%.0f", m.Speed())
				}
				row = append(row, cell)
			}
			for _, family := range []string{"memcpy", "apache"} {
				peer := d.scenarios[family+group]
				row = append(row, fmt.Sprintf("%.2f", suite.Median(suite.Ratios(&ours, &peer))))
			}
			rows = append(rows, row)
		}
		out.WriteString(table(head, rows) + "\n")
	}
	return out.String()
}

// jsonSizes are the payloads of JSON text, and what they are.
var jsonSizes = []struct{ size, name string }{
	{"small", "OneOfEach"},
	{"list_struct", "list<struct of 5>, 10 k"},
	{"list_i64", "list<i64>, 100 k"},
	{"list_double", "list<double>, 100 k"},
	{"list_string", "list<string of 20>, 100 k"},
	{"map_string_i64", "map<string,i64>, 10 k"},
	{"binary_1mib", "binary, 1 MiB in base64"},
}

// fromJSON is reading JSON text into compact bytes.
func (d *data) fromJSON() string {
	rows := make([][]string, 0, len(jsonSizes))
	for _, payload := range jsonSizes {
		group := "-cmp-fromjson-" + payload.size
		ours, found := d.scenarios["tp"+group]
		if !found {
			continue
		}
		row := append(make([]string, 0, 10), payload.name, strconv.Itoa(ours.Size), fmt.Sprintf("%.0f", ours.Speed()))
		for _, family := range []string{"jsontext", "sonic", "stdjson"} {
			peer := d.scenarios[family+group]
			ratios := suite.Ratios(&ours, &peer)
			row = append(row, fmt.Sprintf("%.0f", peer.Speed()), fmt.Sprintf("%.2f (%.2f .. %.2f)", suite.Median(ratios), slices.Min(ratios), slices.Max(ratios)))
		}
		rows = append(rows, append(row, fmt.Sprintf("%.0f", ours.ObjectsPerRun)))
	}
	return table([]string{
		"", "bytes of JSON", "`tp`, MB/s", "`jsontext`", "`tp` / `jsontext`", "`sonic`", "`tp` / `sonic`", "`stdjson`", "`tp` / `stdjson`", "objects",
	}, rows)
}

// bytesText is a size in words.
func bytesText(n int64) string {
	switch {
	case n >= 1<<30-1<<24:
		return fmt.Sprintf("%.2f GiB", float64(n)/(1<<30))
	case n >= 1<<20-1<<14:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	default:
		return fmt.Sprintf("%d B", n)
	}
}

func (d *data) growths() string {
	rows := make([][]string, 0, len(d.growth))
	for i := range d.growth {
		g := &d.growth[i]
		rows = append(rows, []string{
			g.Payload, bytesText(g.Size), fmt.Sprintf("%.3f", g.Median()),
			fmt.Sprintf("%.3f .. %.3f", slices.Min(g.NanosecondsPerByte), slices.Max(g.NanosecondsPerByte)),
			fmt.Sprintf("%.0f", 1e3/g.Median()), fmt.Sprintf("%.0f", g.ObjectsPerRun),
		})
	}
	return table([]string{"", "size", "ns a byte", "range", "MB/s", "objects"}, rows)
}

// calls is the table of calls through gRPC.
func (d *data) calls() string {
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
		rows = append(rows, []string{
			c.Workload, strconv.Itoa(c.Callers), against,
			fmt.Sprintf("**%.2f** (%.2f..%.2f)", rpc.Median(ratios), slices.Min(ratios), slices.Max(ratios)),
			fmt.Sprintf("%.2f", rpc.Median(speeds)),
			fmt.Sprintf("%.3g / %.3g", rpc.MicrosecondsPerValue(c.Pairs, rpc.Ours), rpc.MicrosecondsPerValue(c.Pairs, rpc.Theirs)),
			latency(rpc.Ours), latency(rpc.Theirs),
		})
	}
	return table([]string{
		"workload", "callers", "against", "values per server CPU second, ours / theirs", "values per second, ours / theirs",
		"server CPU s per million values, ours / theirs", "ms, ours: p50 / p99 (its range) / p99.9", "ms, theirs",
	}, rows)
}

// versioned are the modules whose versions matter.
var versioned = []string{
	"google.golang.org/grpc", "google.golang.org/protobuf", "github.com/apache/thrift", "github.com/segmentio/encoding",
}

// machine says what this is measured on.
func machine() string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, "- "+fmt.Sprintf(format, args...)) }
	add("%s, %d CPUs, %s memory", field("/proc/cpuinfo", "model name"), runtime.NumCPU(), field("/proc/meminfo", "MemTotal"))
	add("%s, Linux %s", osName(), output("uname", "-r"))
	add("%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if slices.Contains(versioned, module.Path) {
				add("%s %s", module.Path, module.Version)
			}
		}
	}
	if compiler := output("g++", "-dumpfullversion"); compiler != "" {
		add("g++ %s -O3, libthrift %s", compiler, output("dpkg-query", "-W", "-f", "${Version}", "libthrift-dev"))
	}
	load, err := os.ReadFile("/proc/loadavg")
	if err == nil {
		add("load average when this was written: %s", strings.Join(strings.Fields(string(load))[:3], " "))
	}
	return strings.Join(lines, "\n") + "\n"
}

func osName() string {
	return strings.Trim(strings.TrimPrefix(grep("/etc/os-release", "PRETTY_NAME="), "PRETTY_NAME="), `"`)
}

// field is the value of the first line of a file that begins with a name and a colon.
func field(file, name string) string {
	_, value, _ := strings.Cut(grep(file, name), ":")
	return strings.TrimSpace(value)
}

func grep(file, prefix string) string {
	in, err := os.Open(file) //nolint:gosec // files of the system
	if err != nil {
		return ""
	}
	defer in.Close() //nolint:errcheck // it was only read
	for scanner := bufio.NewScanner(in); scanner.Scan(); {
		if strings.HasPrefix(scanner.Text(), prefix) {
			return scanner.Text()
		}
	}
	return ""
}

// output is what a program prints, or nothing where it is not there.
func output(name string, args ...string) string {
	text, err := exec.Command(name, args...).Output() //nolint:gosec,noctx // fixed programs that end at once
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
