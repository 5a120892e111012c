package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/thriftpack/thriftpack/internal/fixture"
	"github.com/thriftpack/thriftpack/internal/load"
)

func TestBench(t *testing.T) {
	for _, method := range load.Methods {
		t.Run(string(method), func(t *testing.T) {
			got := execute(t, "", "bench", "--method", string(method), "--count", "30", "--warmup", "1ms", "--callers", "3", "--connections", "2")
			if got.code != 0 || got.stderr != "" {
				t.Fatalf("got %+v, want exit code 0 and nothing on stderr", got)
			}
			for _, want := range []string{string(method) + " in this process: 3 callers over 2 connections", "calls              30 ", "failed              0", "99.99 %", "#"} {
				if !strings.Contains(got.stdout, want) {
					t.Errorf("stdout lacks %q:\n%s", want, got.stdout)
				}
			}
		})
	}
}

func TestBenchAsJSON(t *testing.T) {
	file := filepath.Join(t.TempDir(), "value.json")
	if err := os.WriteFile(file, []byte(`{"list": {"i32s": [1, 2, 3]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	got := execute(t, "", "bench", "--json", "--count", "7", "--warmup", "0", "--method", "decode-batch", "--values", "3", file)
	if got.code != 0 {
		t.Fatalf("got %+v, want exit code 0", got)
	}
	var report struct {
		Method                    string
		Callers, Exchanges        int64
		Values, Failed            int64
		Request_bytes             int64 //nolint:revive // named as in the JSON
		Thrift_bytes, Reply_bytes int64 //nolint:revive // as above
		Latency                   struct {
			Max         time.Duration
			Percentiles []load.Percentile
		}
	}
	if err := json.Unmarshal([]byte(got.stdout), &report); err != nil {
		t.Fatal(err)
	}
	// The list is a header of one byte and three elements of one.
	if report.Method != "decode-batch" || report.Exchanges != 7 || report.Values != 21 || report.Thrift_bytes != 21*4 || report.Failed != 0 {
		t.Errorf("got %+v, want 7 exchanges of 3 values of 4 bytes", report)
	}
	if len(report.Latency.Percentiles) != len(load.Percentages) || report.Latency.Max <= 0 || report.Request_bytes <= 0 || report.Reply_bytes <= 0 {
		t.Errorf("got %+v, want latencies and sizes", report)
	}
}

func TestBenchValueIsOneOfEach(t *testing.T) {
	value, err := parseValue([]byte(benchValue), formJSON)
	if err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(value, fixture.OneOfEach()) {
		t.Errorf("got %v, want %v", value, fixture.OneOfEach())
	}
}

func TestBenchRefuses(t *testing.T) {
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"--callers", "0"}, "--callers: out of range: 0, want 1 to 100000"},
		{[]string{"--callers", "100001"}, "--callers: out of range: 100001, want 1 to 100000"},
		{[]string{"--connections", "1001"}, "--connections: out of range: 1001, want 1 to 1000"},
		{[]string{"--values", "0"}, "--values: out of range: 0, want 1 to 1000000"},
		{[]string{"--values", "1000001"}, "--values: out of range: 1000001, want 1 to 1000000"},
		{[]string{"--timeout", "-1s"}, "must not be negative"},
		{[]string{"--duration", "nan"}, "invalid duration"},
		{[]string{"--callers", "1e3"}, "invalid argument"},
		{[]string{"--duration", "0"}, "needs a --count"},
		{[]string{"--method", "encode-twice"}, "want one of encode, decode,"},
		{[]string{"--addr", "passthrough:///nowhere.invalid:1", "--timeout", "10ms"}, "(server passthrough:///nowhere.invalid:1)"},
		{[]string{"no-such-file.json"}, "no-such-file.json"},
	}
	for _, test := range tests {
		mustFail(t, execute(t, "", append([]string{"bench"}, test.args...)...), test.want)
	}
	mustFail(t, execute(t, `{"i16": 40000}`, "bench", "-"), "INVALID_ARGUMENT", "INT_RANGE")
}

func TestBenchShowsALineOnATerminal(t *testing.T) {
	var stderr bytes.Buffer
	b := &bench{io: &IO{Err: &stderr, ErrTerminal: true}}
	b.progress()(load.Result{Elapsed: 3 * time.Second, Exchanges: 300})
	if want := "\r\x1b[K3s  300 calls, 100/s"; stderr.String() != want {
		t.Errorf("wrote %q, want %q", stderr.String(), want)
	}
	b.quiet = true
	if b.progress() != nil {
		t.Error("a line in spite of --quiet")
	}
	if (&bench{io: &IO{Err: &stderr}}).progress() != nil {
		t.Error("a line without a terminal")
	}
}
