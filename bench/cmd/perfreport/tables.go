package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/thriftpack/thriftpack/bench/suite"
)

// sections are the contents of the document's sections by name, empty where nothing was measured.
func (d *data) sections() map[string]string {
	return map[string]string{
		"machine": d.machineText(), "goals": d.goals(), "structs": d.structs("cmp"), "binary": d.structs("bin"), "change": d.changes(),
		"bulk": d.bulk(), "growth": d.growths(), "fromjson": d.fromJSON(), "tojson": d.toJSON(), "rpc": d.calls(), "callers": d.callers(),
		"payloads": d.payloads(), "streams": d.streamRuns(), "plateau": d.plateauRows(), "streampairs": d.streamPairRows(),
		"profiles": d.profileTables(),
	}
}

// table writes a table of Markdown, all columns but the first being numbers.
func table(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) { b.WriteString("| " + escape(strings.Join(cells, " | ")) + " |\n") }
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

// escape keeps what looks like a tag of HTML, such as that of list<i64>, from being one. In code it is none.
func escape(text string) string {
	parts := strings.Split(text, "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(parts[i])
	}
	return strings.Join(parts, "`")
}

// names say in words what the families are.
var names = map[string]string{ //nolint:gosec // the names of peers, no credentials
	"tp": "thriftpack from or to wire bytes (`tp`)", "tpw": "thriftpack's Writer, any io.Writer (`tpw`)",
	"tpwchunk": "thriftpack's Writer, own chunks (`tpwchunk`)", "apache": "Apache Go (`apache`)",
	"protobuf": "proto.Unmarshal + Apache, and back (`protobuf`)", "segmentio": "segmentio, encoder reused (`segmentio`)",
	"marshal": "segmentio, Marshal (`marshal`)", "cpp": "Apache C++, templated (`cpp`)", "memcpy": "memcpy",
	"pervarint": "one write a varint (`pervarint`)", "perbyte": "one write a byte (`perbyte`)",
}

// shortNames are those of the table of goals.
var shortNames = map[string]string{"memcpy": "memcpy", "apache": "Apache Go"}

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

// structs is small and large, written and read, in a protocol.
func (d *data) structs(protocol string) string {
	var out strings.Builder
	for _, operation := range []string{"write", "read"} {
		for _, size := range []string{"small", "large"} {
			group := protocol + "-" + operation + "-" + size
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
	for i := range d.change {
		c := &d.change[i]
		size := c.Scenario[strings.LastIndexByte(c.Scenario, '-')+1:]
		before := d.changed(suite.Before + "-cmp-write-" + size)
		if before == nil {
			continue
		}
		ratios := suite.Ratios(&c.Measurement, &before.Measurement)
		milliseconds := func(perRun float64) string { return fmt.Sprintf("%.1f", c.Scaled(perRun)/1e6) }
		rows = append(rows, []string{
			"`" + c.Scenario + "`", milliseconds(c.Median()), milliseconds(c.Best()) + " .. " + milliseconds(c.Worst()),
			fmt.Sprintf("%.0f", c.Scaled(float64(c.WritesPerRun))), fmt.Sprintf("%.2f", float64(c.WritesPerRun)/float64(c.Units)),
			fmt.Sprintf("%.0f", c.Scaled(c.ObjectsPerRun)),
			fmt.Sprintf("%.2f (%.2f .. %.2f)", suite.Median(ratios), slices.Min(ratios), slices.Max(ratios)),
		})
	}
	if len(rows) == 0 {
		return ""
	}
	return table([]string{"500,000 writes", "ms", "range", "transport writes", "of one", "objects", "times as fast as `perbyte`"}, rows)
}

// bulkPayload is a payload in bulk.
type bulkPayload struct{ size, kind, name string }

// bulkSizes are the payloads in bulk, and what they are.
var bulkSizes = []bulkPayload{
	{"list_i64", "list<i64>", "list<i64>, 1 M"},
	{"list_i32", "list<i32>", "list<i32>, 1 M"},
	{"list_double", "list<double>", "list<double>, 1 M"},
	{"list_string", "list<string>", "list<string of 20>, 1 M"},
	{"list_struct", "list<struct>", "list<struct of 5>, 100 k"},
	{"map_string_i64", "map<string,i64>", "map<string,i64>, 100 k"},
	{"binary_64mib", "binary of 64 MiB", "binary, 64 MiB"},
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
				cell := "–"
				if peer, found := d.scenarios[family+group]; found {
					cell = fmt.Sprintf("%.2f", suite.Median(suite.Ratios(&ours, &peer)))
				}
				row = append(row, cell)
			}
			rows = append(rows, row)
		}
		if len(rows) > 0 {
			out.WriteString(table(head, rows) + "\n")
		}
	}
	return out.String()
}

// jsonSizes are the payloads of JSON text, and what they are.
var jsonSizes = []struct{ size, name string }{
	{"small", "OneOfEach"}, // the first three have goals
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
			peer, found := d.scenarios[family+group]
			if !found {
				row = append(row, "–", "–")
				continue
			}
			ratios := suite.Ratios(&ours, &peer)
			row = append(row, fmt.Sprintf("%.0f", peer.Speed()), fmt.Sprintf("%.2f (%.2f .. %.2f)", suite.Median(ratios), slices.Min(ratios), slices.Max(ratios)))
		}
		rows = append(rows, append(row, fmt.Sprintf("%.0f", ours.ObjectsPerRun)))
	}
	if len(rows) == 0 {
		return ""
	}
	return table([]string{
		"", "bytes of JSON", "`tp`, MB/s", "`jsontext`", "`tp` / `jsontext`", "`sonic`", "`tp` / `sonic`", "`stdjson`", "`tp` / `stdjson`", "objects",
	}, rows)
}

// toJSON is reading compact bytes into JSON text.
func (d *data) toJSON() string {
	rows := make([][]string, 0, len(jsonSizes))
	for _, payload := range jsonSizes {
		group := "-cmp-tojson-" + payload.size
		ours, found := d.scenarios["tp"+group]
		peer, both := d.scenarios["jsontext"+group]
		if !found || !both {
			continue
		}
		ratios := suite.Ratios(&ours, &peer)
		rows = append(rows, []string{
			payload.name, strconv.Itoa(ours.Size), fmt.Sprintf("%.0f", ours.Speed()), fmt.Sprintf("%.0f", peer.Speed()),
			fmt.Sprintf("%.2f (%.2f .. %.2f)", suite.Median(ratios), slices.Min(ratios), slices.Max(ratios)), fmt.Sprintf("%.0f", ours.ObjectsPerRun),
		})
	}
	if len(rows) == 0 {
		return ""
	}
	return table([]string{"", "bytes of JSON", "`tp`, MB/s", "`jsontext`", "`tp` / `jsontext`", "objects"}, rows)
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
	if len(rows) == 0 {
		return ""
	}
	return table([]string{"", "size", "ns a byte", "range", "MB/s", "objects"}, rows)
}
