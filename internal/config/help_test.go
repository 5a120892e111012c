package config

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files and the table of docs/configuration.md")

func TestHelp(t *testing.T) {
	var b strings.Builder
	if err := Help(&b, "server"); err != nil {
		t.Fatal(err)
	}
	compareGolden(t, filepath.Join("testdata", "help.txt"), b.String())
	for _, s := range Settings() {
		defaults := Default()
		if !strings.Contains(b.String(), "\n  --"+s.Name) {
			t.Errorf("--help does not name --%s", s.Name)
		}
		if want := "(default " + s.defaultOf(&defaults); !strings.Contains(strings.Join(strings.Fields(b.String()), " "), want) {
			t.Errorf("--help does not say %q of --%s", want, s.Name)
		}
	}
	for line := range strings.Lines(b.String()) {
		if len(line) > 120 {
			t.Errorf("--help has a line of %d columns: %q", len(line), line)
		}
	}
}

// TestDocumentation keeps the tables of docs/configuration.md equal to the settings.
func TestDocumentation(t *testing.T) {
	const start, end = "<!-- settings: made by go test ./internal/config -update -->\n", "<!-- end of settings -->\n"
	path := filepath.Join("..", "..", "docs", "configuration.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), start)
	got, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s does not have the lines %q and %q", path, start, end)
	}
	want := Markdown() + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(before+start+want+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s differs from the settings; run go test ./internal/config -update (-want +got):\n%s", path, diff)
	}
}

func TestReport(t *testing.T) {
	loaded, err := Load([]string{"--check-config", "--max-request-bytes=1MiB", "--pprof"}, []string{"THRIFTPACK_DRAIN_DELAY=0s"})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := loaded.Report(&b, 1<<30); err != nil {
		t.Fatal(err)
	}
	compareGolden(t, filepath.Join("testdata", "report.txt"), b.String())

	// What it prints is a file that gives the same settings.
	again, err := Load([]string{"--config=" + writeFile(t, b.String())}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(loaded.Config, again.Config); diff != "" {
		t.Errorf("settings read back from the report (-want +got):\n%s", diff)
	}
}

func TestWorstCase(t *testing.T) {
	c := Default()
	c.MaxConnections, c.MaxConcurrentStreams, c.MaxRequestBytes, c.StreamBudget = 2, 3, 4<<20, 100<<20
	w := c.WorstCase()
	const buffer, decoding, stream = 4<<20 + 4<<10, 12<<20 + 64<<10, 2<<20 + 64<<10
	want := WorstCase{
		Connections: 2, Streams: 3, Active: 6, Uploads: 6 << 20,
		Calls: 6 * (buffer + decoding + buffer + 4<<20 + 74*100_000 + 3*4<<20), StreamsHold: 100 << 20, Unread: 2 * 8 * 4 << 20,
		Schemas: (128 + 6*32 + 2*64) << 20,
	}
	if diff := cmp.Diff(want, w); diff != "" {
		t.Errorf("WorstCase (-want +got):\n%s", diff)
	}
	if got, want := w.Total(), want.Uploads+want.Calls+want.StreamsHold+want.Schemas+want.Unread; math.Abs(got-want) > 0.5 {
		t.Errorf("Total = %f, want %f", got, want)
	}
	// Encoding takes more: a value of 4 MiB and 100,000 members, its normal form, and the record in a buffer of its own.
	const encoding = 4<<20 + 74*100_000 + buffer
	const largest = stream + buffer + encoding
	for budget, want := range map[int64]float64{1 << 50: 1 << 50, 3 << 20: largest} {
		c.StreamBudget = budget
		if got := c.WorstCase().StreamsHold; math.Abs(got-want) > 0.5 {
			t.Errorf("streams hold %f with a budget of %d, want %f", got, budget, want)
		}
	}
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
