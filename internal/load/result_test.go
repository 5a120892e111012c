package load

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fixed is a result that is the same on every machine: a thousand exchanges, the i-th of them i*i microseconds long.
func fixed() Result {
	h := hdrhistogram.New(shortest, longest, digits)
	for i := range int64(1000) {
		_ = h.RecordValue(max(i*i/10, shortest)) // within its range
	}
	r := Result{
		Elapsed: 2500 * time.Millisecond, Exchanges: 1000, Values: 64_000, Thrift: 3_136_000,
		Failed: 3, Failures: map[string]int64{codeName(codes.Unavailable): 2, codeName(codes.DeadlineExceeded): 1},
	}
	r.setLatency(h)
	return r
}

func TestResultAsText(t *testing.T) {
	var text strings.Builder
	r := fixed()
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	compareGolden(t, "result.txt", text.String())
	if want := "3s  1000 calls, 400/s  p50 24.9ms  p99 97.9ms  max 99.8ms  3 failed"; r.Line() != want {
		t.Errorf("line %q, want %q", r.Line(), want)
	}
}

func TestResultAsJSON(t *testing.T) {
	text, err := json.MarshalIndent(fixed(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	compareGolden(t, "result.json", string(text)+"\n")
}

func TestResultOfNothing(t *testing.T) {
	r := Result{}
	r.setLatency(hdrhistogram.New(shortest, longest, digits))
	var text strings.Builder
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "latency") || !strings.Contains(text.String(), "0   0/s in 0s") {
		t.Errorf("got %q, want no calls and no latency", text.String())
	}
}

// The buckets hold all exchanges, each in the one between whose powers of two it lies.
func TestHistogramCountsAll(t *testing.T) {
	r := fixed()
	total := int64(0)
	for i, b := range r.Latency.Histogram {
		total += b.Count
		if b.To != 2*b.From && b.From != 0 || i > 0 && b.From != r.Latency.Histogram[i-1].To {
			t.Errorf("bucket %d is %s..%s, want it to double and to follow the one before", i, b.From, b.To)
		}
	}
	if total != r.Exchanges {
		t.Errorf("the buckets hold %d, want %d", total, r.Exchanges)
	}
}

func TestShort(t *testing.T) {
	for text, d := range map[string]time.Duration{
		"0s": 400 * time.Nanosecond, "999µs": 999 * time.Microsecond, "1.23ms": 1234 * time.Microsecond,
		"12.3ms": 12_340 * time.Microsecond, "1.23s": 1234 * time.Millisecond, "12.3s": 12_340 * time.Millisecond,
	} {
		if got := short(d); got != text {
			t.Errorf("short(%d) = %q, want %q", d, got, text)
		}
	}
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
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
