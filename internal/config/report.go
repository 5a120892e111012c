package config

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WorstCase is the memory that the settings allow peers to take, in bytes.
type WorstCase struct {
	// Connections, Streams and Active are how many there may be: Active is Connections times Streams.
	Connections, Streams, Active int64
	// Uploads is what peers may have sent that nobody has read: Connections x Streams x ReceiveWindow.
	Uploads float64
	// Calls is what calls hold that are no streams, or none yet, or have a message in hand that waits: Active x CallMost.
	Calls float64
	// StreamsHold is what streams hold: the stream budget, or one stream where that takes more.
	StreamsHold float64
	// Schemas is SchemasMost.
	Schemas float64
	// Unread is what connections owe for calls that have ended: Connections x MostUnread.
	Unread float64
}

// Total is the sum of the parts.
func (w WorstCase) Total() float64 { return w.Uploads + w.Calls + w.StreamsHold + w.Schemas + w.Unread }

// perCall is what one more call of the largest kind takes, its unread upload included.
func (w WorstCase) perCall(c *Config) float64 {
	return ReceiveWindow + float64(c.CallMost())
}

// WorstCase computes the memory that the settings allow. The numbers are floats since their products leave 63 bits.
func (c *Config) WorstCase() WorstCase {
	w := WorstCase{Connections: int64(c.MaxConnections), Streams: int64(c.MaxConcurrentStreams)}
	w.Active = w.Connections * w.Streams
	active := float64(w.Active)
	w.Uploads = active * ReceiveWindow
	w.Calls = active * float64(c.CallMost())
	w.StreamsHold = max(float64(c.StreamBudget), float64(c.StreamMost()))
	w.Schemas = float64(c.SchemasMost())
	w.Unread = float64(w.Connections) * float64(c.MostUnread())
	return w
}

// Report writes the answer to --check-config: every effective setting with its origin, as a YAML file that --config
// takes, and as comments the worst-case memory. memoryLimit is the Go runtime's limit that will be set, in bytes, 0 for none.
func (l *Loaded) Report(w io.Writer, memoryLimit int64) error {
	var b strings.Builder
	b.WriteString("# The effective settings.\n")
	table := newTable(&b, 1)
	for _, s := range Settings() {
		origin := l.Origin[s.Name]
		if origin == "" {
			origin = "default"
		}
		table.row("%s: %s\t# %s", s.Name, yamlText(&s, &l.Config), origin)
	}
	table.end()
	l.Config.reportMemory(&b, memoryLimit)
	_, err := io.WriteString(w, b.String())
	return err
}

// yamlText quotes text; numbers, sizes and durations are plain.
func yamlText(s *Setting, c *Config) string {
	text := s.Text(c)
	switch s.unit {
	case bytesUnit, countUnit, durationUnit, levelUnit, switchUnit:
		return text
	default:
		return fmt.Sprintf("%q", text)
	}
}

// table aligns columns that are separated by tabs. It writes to a strings.Builder, which does not fail.
type table struct{ w *tabwriter.Writer }

func newTable(b *strings.Builder, padding int) table {
	return table{tabwriter.NewWriter(b, 0, 0, padding, ' ', 0)}
}

func (t table) row(format string, args ...any) { _, _ = fmt.Fprintf(t.w, format+"\n", args...) }

func (t table) end() { _ = t.w.Flush() }

func (c *Config) reportMemory(b *strings.Builder, memoryLimit int64) {
	worst := c.WorstCase()
	b.WriteString("\n# Memory, if every connection and every call of it did its worst at the same time:\n")
	table := newTable(b, 2)
	table.row("# unread uploads\t%d connections x %d calls x %s window\t%s",
		worst.Connections, worst.Streams, FormatSize(ReceiveWindow), approximateSize(worst.Uploads))
	table.row("# calls\t%d active calls x %s with the largest request\t%s",
		worst.Active, approximateSize(float64(c.CallMost())), approximateSize(worst.Calls))
	table.row("# streams\tstream-budget %s, or one stream with %s\t%s",
		FormatSize(c.StreamBudget), approximateSize(float64(c.StreamMost())), approximateSize(worst.StreamsHold))
	table.row("# schemas\tschema-cache-bytes %s, and those being pushed and compiled\t%s",
		FormatSize(c.SchemaCacheBytes), approximateSize(worst.Schemas))
	table.row("# unread replies\t%d connections x %s\t%s",
		worst.Connections, FormatSize(c.MostUnread()), approximateSize(worst.Unread))
	table.row("# worst case\t\t%s", approximateSize(worst.Total()))
	if memoryLimit > 0 {
		table.row("# memory limit\tsoft limit of the Go runtime\t%s", approximateSize(float64(memoryLimit)))
	} else {
		table.row("# memory limit\tnone: no memory-limit, no GOMEMLIMIT and no limit of a cgroup\t")
	}
	table.end()
	if memoryLimit > 0 && worst.Total() > float64(memoryLimit) {
		fmt.Fprintf(b, "# The worst case exceeds the limit: about %d calls of the largest kind fit at a time. Lower max-connections,\n"+
			"# max-concurrent-streams or max-request-bytes where clients are not trusted.\n", int64(float64(memoryLimit)/worst.perCall(c)))
	}
}
