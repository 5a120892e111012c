package main

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/thriftpack/thriftpack/bench/rpc"
	"github.com/thriftpack/thriftpack/bench/suite"
)

// goal is a figure to reach.
type goal struct {
	text string
	// section is the heading's anchor under which the figure, and what limits it, stands.
	section string
	limit   float64
	// most says that the figure must not be above the limit; otherwise it must not be below.
	most bool
	// figures are what was measured, one a trial or a pair; none where it was not.
	figures func(*data) []float64
	// ceiling, if not nil, are those of what nobody can do better than.
	ceiling func(*data) []float64
}

// codec is a ratio of the CPU time of two scenarios of a group.
func codec(text, section, group, ours, peer string, least float64) goal {
	return goal{text: text, section: section, limit: least, figures: func(d *data) []float64 {
		our, found := d.scenarios[ours+"-"+group]
		their, both := d.scenarios[peer+"-"+group]
		if !found || !both {
			return nil
		}
		return suite.Ratios(&our, &their)
	}}
}

// call is a ratio through gRPC: of values in the CPU time of the server, or of speeds.
func call(text, workload, against string, callers int, least float64, figure func(rpc.Pair) float64) goal {
	return goal{text: fmt.Sprintf("%s, callers: %d", text, callers), section: "calls-through-grpc", limit: least, figures: func(d *data) []float64 {
		if c := d.comparison(workload, against, callers); c != nil {
			return rpc.Each(c.Pairs, figure)
		}
		return nil
	}, ceiling: func(d *data) []float64 {
		if c := d.comparison(workload, against, callers); c != nil {
			return rpc.Each(c.Ceiling, figure)
		}
		return nil
	}}
}

func (d *data) comparison(workload, against string, callers int) *rpc.Comparison {
	i := slices.IndexFunc(d.rpc, func(c rpc.Comparison) bool {
		return c.Workload == workload && c.Against == against && c.Callers == callers
	})
	if i < 0 {
		return nil
	}
	return &d.rpc[i]
}

// goals are all of them, in the order of the table.
func goals() []goal {
	var all []goal
	for _, size := range []string{"small", "large"} {
		all = append(all,
			codec("Writer, any io.Writer, "+size+" / Apache Go", "structs", "cmp-write-"+size, "tpw", "apache", 2),
			codec("Writer, own chunks, "+size+" / Apache Go", "structs", "cmp-write-"+size, "tpwchunk", "apache", 3.5),
			codec("Writer, own chunks, "+size+" / C++ templated", "structs", "cmp-write-"+size, "tpwchunk", "cpp", 1),
			codec("from wire bytes, "+size+" / Apache Go from structs", "structs", "cmp-write-"+size, "tp", "apache", 3),
			codec("from wire bytes, "+size+" / proto.Unmarshal + Apache", "structs", "cmp-write-"+size, "tp", "protobuf", 20),
			codec("reading to wire bytes, "+size+" / Apache Go", "structs", "cmp-read-"+size, "tp", "apache", 3))
	}
	for _, size := range bulkSizes {
		if size.size != "binary_64mib" { // nobody can be three times as fast as one copy
			all = append(all, codec("reading to wire bytes, "+size.kind+" / Apache Go", "bulk", "cmp-read-"+size.size, "tp", "apache", 3))
		}
	}
	all = append(all, goal{text: "objects allocated for a struct, the most of `tp`, `tpw` and `tpwchunk`", section: "structs", most: true, figures: (*data).objectsPerStruct})
	all = append(all, changeGoals()...)
	for _, bulk := range []struct {
		size, peer string
		least      float64
	}{
		{"list_double", "memcpy", 0.8},
		{"binary_64mib", "memcpy", 0.8},
		{"list_i64", "memcpy", 0.15},
		{"list_i32", "memcpy", 0.15},
		{"list_string", "memcpy", 0.12},
		{"list_struct", "apache", 3},
		{"map_string_i64", "apache", 3},
	} {
		i := slices.IndexFunc(bulkSizes, func(b bulkPayload) bool { return b.size == bulk.size })
		all = append(all, codec("from wire bytes, "+bulkSizes[i].kind+" / "+shortNames[bulk.peer], "bulk", "cmp-write-"+bulk.size, "tp", bulk.peer, bulk.least))
	}
	all = append(all, callGoals()...)
	for _, payload := range []string{"list<i64>", "list<struct>"} {
		all = append(all, goal{
			text: "cost of a byte of " + payload + ", 64 KiB to 1 GiB, dearest / cheapest", section: "how-the-cost-grows-with-the-payload",
			limit: 2, most: true, figures: func(d *data) []float64 { return d.spread(payload) },
		})
	}
	for _, size := range jsonSizes[:3] {
		all = append(all,
			codec("JSON to compact, "+size.name+" / jsontext reading", "json", "cmp-fromjson-"+size.size, "tp", "jsontext", 0.9),
			codec("JSON to compact, "+size.name+" / sonic + Apache", "json", "cmp-fromjson-"+size.size, "tp", "sonic", 1.5),
			codec("compact to JSON, "+size.name+" / jsontext writing", "json", "cmp-tojson-"+size.size, "tp", "jsontext", 1.2))
	}
	return all
}

func callGoals() []goal {
	all := make([]goal, 0, 22)
	cpu, speed := rpc.Pair.Ratio, rpc.Pair.Speed
	for _, operation := range []string{"encode", "decode"} {
		for _, callers := range []int{1, 8, 64} {
			all = append(all, call("unary small "+operation+" / floor", operation+"/small", rpc.Floor, callers, 0.95, cpu))
		}
	}
	for _, operation := range []string{"encode", "decode"} {
		for _, callers := range []int{1, 8, 64} {
			all = append(all, call("unary small "+operation+" / ordinary", operation+"/small", rpc.Ordinary, callers, 1.4, cpu))
		}
	}
	for _, size := range []struct{ size, name string }{{"64KiB", "64 KiB"}, {"1MiB", "1 MiB"}} {
		for _, operation := range []string{"encode", "decode"} {
			all = append(all, call("unary "+size.name+" "+operation+" / ordinary", operation+"/"+size.size, rpc.Ordinary, 8, 2, cpu))
		}
	}
	for _, operation := range []string{"encode", "decode"} {
		all = append(all, call("batch "+operation+" / our own unary, for a value", operation+"-batch/small", rpc.Thriftpack, 8, 5, cpu))
	}
	for _, stream := range []struct{ text, workload string }{{"binaries", "encode-stream/binary"}, {"records", "encode-stream/records"}} {
		all = append(all,
			call("stream of "+stream.text+" / floor, server CPU", stream.workload, rpc.Floor, 1, 0.9, cpu),
			call("stream of "+stream.text+" / floor, speed", stream.workload, rpc.Floor, 1, 0.9, speed))
	}
	return all
}

// changeGoals are those in the terms of THRIFT-6153.
func changeGoals() []goal {
	const section = "one-transport-write-a-varint"
	var all []goal
	for _, of := range []struct {
		size  string
		least float64
	}{{"small", 1.25}, {"list_i64", 2}} {
		for _, family := range []string{"pervarint", "tpw"} {
			id := family + "-cmp-write-" + of.size
			all = append(all, goal{text: "`" + id + "` / `perbyte`", section: section, limit: of.least, figures: func(d *data) []float64 {
				ours, before := d.changed(id), d.changed(suite.Before+"-cmp-write-"+of.size)
				if ours == nil || before == nil {
					return nil
				}
				return suite.Ratios(&ours.Measurement, &before.Measurement)
			}})
		}
	}
	for _, family := range []string{"pervarint", "tpw"} {
		all = append(all, goal{text: "transport writes of OneOfEach, `" + family + "`; `perbyte` has 28", section: section, limit: 19, most: true, figures: func(d *data) []float64 {
			if c := d.changed(family + "-cmp-write-small"); c != nil {
				return []float64{float64(c.WritesPerRun)}
			}
			return nil
		}})
	}
	return append(all, goal{text: "objects in a write, the most of `perbyte`, `pervarint` and `tpw`", section: section, most: true, figures: func(d *data) []float64 {
		if len(d.change) == 0 {
			return nil
		}
		most := 0.0
		for i := range d.change {
			most = max(most, d.change[i].ObjectsPerRun/float64(d.change[i].Units))
		}
		return []float64{most}
	}})
}

func (d *data) changed(id string) *suite.Change {
	i := slices.IndexFunc(d.change, func(c suite.Change) bool { return c.Scenario == id })
	if i < 0 {
		return nil
	}
	return &d.change[i]
}

// structsIn is how many structs the payloads have that are made of them.
var structsIn = map[string]float64{"small": 1, "large": 18_785, "list_struct": 100_000}

// objectsPerStruct is the most objects that we allocate for a struct of any payload.
func (d *data) objectsPerStruct() []float64 {
	most, found := 0.0, false
	for _, family := range []string{"tp", "tpw", "tpwchunk"} {
		for _, operation := range []string{"write", "read"} {
			for size, structs := range structsIn {
				if m, measured := d.scenarios[family+"-cmp-"+operation+"-"+size]; measured {
					most, found = max(most, m.ObjectsPerRun/structs), true
				}
			}
		}
	}
	if !found {
		return nil
	}
	return []float64{most}
}

// spread is how much more a byte costs in the dearest size than in the cheapest.
func (d *data) spread(payload string) []float64 {
	var medians []float64
	most := int64(0)
	for i := range d.growth {
		if g := &d.growth[i]; g.Payload == payload && g.Size >= 60<<10 { // lists have no size to the byte
			medians = append(medians, g.Median())
			most = max(most, g.Size)
		}
	}
	if most < 1000<<20 {
		return nil
	}
	return []float64{slices.Max(medians) / slices.Min(medians)}
}

// nearlyNone is what counts as no object: a goroutine of the runtime may allocate meanwhile.
const nearlyNone = 0.005

func (g *goal) reached(figure float64) bool {
	if g.most {
		return figure <= g.limit+nearlyNone
	}
	return figure >= g.limit
}

// goals is the table of all goals.
func (d *data) goals() string {
	all := goals()
	rows := make([][]string, 0, len(all))
	for _, g := range all {
		bound := "≥ "
		if g.most {
			bound = "≤ "
		}
		row := []string{g.text, bound + fmt.Sprintf("%g", g.limit), "", "", "not measured", ""}
		if figures := g.figures(d); len(figures) > 0 {
			median := suite.Median(figures)
			row[2] = number(median)
			if len(figures) > 1 {
				row[3] = number(slices.Min(figures)) + " .. " + number(slices.Max(figures))
			}
			if g.ceiling != nil && len(g.ceiling(d)) > 0 {
				row[3] += "; the floor itself: " + number(suite.Median(g.ceiling(d)))
			}
			if row[4] = "reached"; !g.reached(median) {
				row[4], row[5] = "**missed**", d.reason(&g)
			}
		} else if old := d.goalRows[g.text]; old != nil {
			copy(row[2:], old[2:])
		}
		rows = append(rows, row)
	}
	return table([]string{"goal", "to reach", "median", "range", "", "why not"}, rows)
}

// number has the digits that a ratio needs.
func number(f float64) string {
	if f >= 100 {
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

// reason is what a person has written about a goal that is missed, and otherwise the place where more is said.
func (d *data) reason(g *goal) string {
	if row := d.goalRows[g.text]; len(row) == 6 && row[5] != "" {
		return row[5]
	}
	return "[what limits it](#" + g.section + ")"
}

// goalRowsOf are the rows of the table of goals of a document, by their first cells.
func goalRowsOf(text string) map[string][]string {
	rows := make(map[string][]string)
	_, content, _, err := cut(text, "goals")
	if err != nil {
		return rows
	}
	for line := range strings.Lines(content) {
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|"), " |")
		if len(cells) != 6 {
			continue
		}
		for i := range cells {
			cells[i] = html.UnescapeString(strings.TrimSpace(cells[i]))
		}
		rows[cells[0]] = cells
	}
	return rows
}
