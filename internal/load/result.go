package load

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc/codes"
)

// Result is what a load came to. Times are nanoseconds in JSON.
type Result struct {
	// Elapsed is how long it took.
	Elapsed time.Duration `json:"elapsed"`
	// Exchanges is how many were answered, Values how many values these had, and Thrift how many bytes of Thrift.
	Exchanges int64 `json:"exchanges"`
	Values    int64 `json:"values"`
	Thrift    int64 `json:"thrift_bytes"`
	// Failed is how many were not, and Failures the same by the gRPC code.
	Failed   int64            `json:"failed"`
	Failures map[string]int64 `json:"failures,omitempty"`
	// Example is one of the failures.
	Example error `json:"-"`
	// Latency says how long those that were answered took.
	Latency Latency `json:"latency"`
}

// Latency is how long exchanges took, to a microsecond or three digits.
type Latency struct {
	// Min, Mean and Max are the shortest, the average and the longest.
	Min  time.Duration `json:"min"`
	Mean time.Duration `json:"mean"`
	Max  time.Duration `json:"max"`
	// Percentiles are those of Percentages.
	Percentiles []Percentile `json:"percentiles"`
	// Histogram has the counts between powers of two of a microsecond; empty buckets at both ends are left out.
	Histogram []Bucket `json:"histogram"`
}

// Percentile is the time that a share of the exchanges took at most.
type Percentile struct {
	Percent float64       `json:"percent"`
	Time    time.Duration `json:"time"`
}

// Percentages are the percentiles that are told.
var Percentages = []float64{50, 90, 99, 99.9, 99.99}

// Bucket counts exchanges that took at least From and less than To.
type Bucket struct {
	From  time.Duration `json:"from"`
	To    time.Duration `json:"to"`
	Count int64         `json:"count"`
}

// Rate is exchanges a second.
func (r *Result) Rate() float64 { return r.per(r.Exchanges) }

func (r *Result) per(n int64) float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(n) / r.Elapsed.Seconds()
}

func codeName(c codes.Code) string { return code.Code(c).String() } //nolint:gosec // gRPC has seventeen codes

func (r *Result) setLatency(h *hdrhistogram.Histogram) {
	microseconds := func(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
	if h.TotalCount() == 0 {
		return
	}
	r.Latency = Latency{
		Min: microseconds(h.Min()), Mean: time.Duration(h.Mean() * float64(time.Microsecond)).Round(time.Microsecond / 10), Max: microseconds(h.Max()),
	}
	for _, percent := range Percentages {
		r.Latency.Percentiles = append(r.Latency.Percentiles, Percentile{percent, microseconds(h.ValueAtQuantile(percent))})
	}
	var counts [64]int64
	for _, bar := range h.Distribution() {
		if bar.Count > 0 {
			counts[bits.Len64(uint64(bar.From))] += bar.Count //nolint:gosec // not negative
		}
	}
	first, last := 0, len(counts)-1
	for counts[first] == 0 {
		first++
	}
	for counts[last] == 0 {
		last--
	}
	for i := first; i <= last; i++ {
		r.Latency.Histogram = append(r.Latency.Histogram, Bucket{microseconds(1 << i >> 1), microseconds(1 << i), counts[i]})
	}
}

// Line is the result so far on one line.
func (r *Result) Line() string {
	text := fmt.Sprintf("%s  %d calls, %.0f/s", r.Elapsed.Round(time.Second), r.Exchanges, r.Rate())
	if len(r.Latency.Percentiles) > 2 {
		text += fmt.Sprintf("  p50 %s  p99 %s  max %s", short(r.Latency.Percentiles[0].Time), short(r.Latency.Percentiles[2].Time), short(r.Latency.Max))
	}
	if r.Failed > 0 {
		text += fmt.Sprintf("  %d failed", r.Failed)
	}
	return text
}

// barWidth is the width of the longest bar of a histogram.
const barWidth = 40

// WriteText writes the result for a person.
func (r *Result) WriteText(out io.Writer) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "  calls    %12d   %.0f/s in %s\n", r.Exchanges, r.Rate(), r.Elapsed.Round(time.Millisecond))
	if r.Values != r.Exchanges {
		fmt.Fprintf(w, "  values   %12d   %.0f/s\n", r.Values, r.per(r.Values))
	}
	fmt.Fprintf(w, "  Thrift   %12d   %.2f MB/s\n", r.Thrift, r.per(r.Thrift)/1e6)
	fmt.Fprintf(w, "  failed   %12d\n", r.Failed)
	for _, name := range slices.Sorted(maps.Keys(r.Failures)) {
		fmt.Fprintf(w, "           %12d   %s\n", r.Failures[name], name)
	}
	if r.Exchanges > 0 {
		fmt.Fprintf(w, "\n  latency  min %s, mean %s, max %s\n", short(r.Latency.Min), short(r.Latency.Mean), short(r.Latency.Max))
		for _, p := range r.Latency.Percentiles {
			fmt.Fprintf(w, "  %8g %%   %s\n", p.Percent, short(p.Time))
		}
		w.WriteString("\n")
		r.writeHistogram(w)
	}
	return w.Flush()
}

func (r *Result) writeHistogram(w *bufio.Writer) {
	most := int64(1)
	for _, b := range r.Latency.Histogram {
		most = max(most, b.Count)
	}
	for _, b := range r.Latency.Histogram {
		bar := strings.Repeat("#", int((b.Count*barWidth+most-1)/most))
		fmt.Fprintf(w, "  %9s .. %-9s  %10d  %5.1f %%  %s\n", short(b.From), short(b.To), b.Count, float64(b.Count)*100/float64(r.Exchanges), bar)
	}
}

// short is a time with three digits.
func short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	default:
		return d.Round(time.Microsecond).String()
	}
}
