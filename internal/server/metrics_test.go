package server

import (
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

var update = flag.Bool("update", false, "rewrite the table of docs/metrics.md")

// description takes apart what Prometheus says of a metric.
var description = regexp.MustCompile(`^Desc\{fqName: "([^"]*)", help: "(.*?)",(?: unit: "[^"]*",)? constLabels: \{([^}]*)\}, variableLabels: \{([^}]*)\}\}$`)

// metricsTable is the table of every metric of the service and of gRPC.
func metricsTable(t *testing.T, s *Server) string {
	t.Helper()
	described := make(chan *prometheus.Desc, 1000)
	s.Registry().Describe(described)
	close(described)
	var rows []string
	for desc := range described {
		parts := description.FindStringSubmatch(desc.String())
		if parts == nil {
			t.Fatalf("cannot read %s", desc)
		}
		name, labels := parts[1], parts[4]
		if strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_") {
			continue
		}
		if !strings.HasPrefix(name, "thriftpack_") && !strings.HasPrefix(name, "grpc_server_") {
			t.Errorf("%s: a metric of the service begins with thriftpack_", name)
		}
		if parts[3] != "" {
			labels = regexp.MustCompile(`="[^"]*"`).ReplaceAllString(parts[3], "")
		}
		kind := "gauge"
		switch {
		case strings.HasSuffix(name, "_total"):
			kind = "counter"
		case name == "grpc_server_handling_seconds":
			kind = "histogram"
		}
		rows = append(rows, "| `"+name+"` | "+kind+" | "+strings.ReplaceAll(labels, ",", ", ")+" | "+parts[2]+" |\n")
	}
	slices.Sort(rows)
	return "\n| name | kind | labels | meaning |\n| --- | --- | --- | --- |\n" + strings.Join(rows, "") + "\n"
}

// TestMetricsPage compares docs/metrics.md with what the server has.
func TestMetricsPage(t *testing.T) {
	const path, start, end = "../../docs/metrics.md", "-update -->\n", "<!-- end of metrics -->"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), start)
	got, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no table", path)
	}
	want := metricsTable(t, newServer(t, config.Default()))
	if *update {
		if err := os.WriteFile(path, []byte(before+start+want+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != want {
		t.Errorf("%s differs from the metrics; run go test ./internal/server -run TestMetricsPage -update. Got\n%s\nwant\n%s", path, got, want)
	}
	for _, name := range regexp.MustCompile(`thriftpack_[a-z_]+`).FindAllString(after, -1) {
		if !strings.Contains(want, "`"+name+"`") {
			t.Errorf("%s names %s, which there is not", path, name)
		}
	}
}

// series is how many series a server has, but for those of the runtime.
func (h *harness) series(t *testing.T) (n int) {
	t.Helper()
	families, err := h.server.Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if strings.HasPrefix(family.GetName(), "go_") || strings.HasPrefix(family.GetName(), "process_") {
			continue
		}
		n += len(family.GetMetric())
	}
	return n
}

// TestNoClientAddsSeries calls 10,000 methods that there are not, and all that there are with all kinds of headers.
func TestNoClientAddsSeries(t *testing.T) {
	h := start(t, withRate(1<<20), withTokens(withFile(t, "tokens", hashedLine())))
	h.log = &logBuffer{}
	before := h.series(t)
	for i := range 10_000 {
		method := fmt.Sprintf("/thriftpack.v1.SerializerService/Random%d", rand.Uint64())
		if i%2 == 0 {
			method = fmt.Sprintf("/random%d.Service/Method%d", rand.Uint64(), i)
		}
		if code, err := h.outcome(bearing(t.Context(), hashedToken), h.conn, method); code != codes.Unimplemented {
			t.Fatalf("%s: %v, want UNIMPLEMENTED", method, err)
		}
	}
	for _, method := range h.methods() {
		for i := range 20 {
			_, _ = h.outcome(bearing(t.Context(), fmt.Sprintf("token-%d", i)), h.conn, method)
			_, _ = h.outcome(bearing(t.Context(), hashedToken), h.conn, method)
		}
	}
	if after := h.series(t); after != before {
		t.Errorf("%d series, %d before", after, before)
	}
}

// TestTrafficIsCounted compares the bytes that are counted with those of the messages.
func TestTrafficIsCounted(t *testing.T) {
	h := start(t)
	request := encodeRequestOf(fixture.OneOfEach(), nil)
	bytesOf := func(name, method string) int {
		return int(h.labelled(t, name, "grpc_service", "thriftpack.v1.SerializerService", "grpc_method", method))
	}
	want := func(method string, in, out int) {
		t.Helper()
		eventually(t, method+": what was sent is counted", func() bool { return bytesOf("thriftpack_reply_bytes_total", method) >= out })
		if gotIn, gotOut := bytesOf("thriftpack_request_bytes_total", method), bytesOf("thriftpack_reply_bytes_total", method); gotIn != in || gotOut != out {
			t.Errorf("%s: %d bytes in and %d out, want %d and %d", method, gotIn, gotOut, in, out)
		}
	}
	var in, out int
	for range 3 {
		reply, err := h.client.Encode(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		in, out = in+proto.Size(request), out+proto.Size(reply)
	}
	want("Encode", in, out)
	want("Decode", 0, 0)

	streamed := &thriftpackv1.EncodeStreamRequest{Request: request, ChunkSize: 4096, Count: 1000}
	s, err := h.client.EncodeStream(t.Context(), streamed)
	if err != nil {
		t.Fatal(err)
	}
	chunks, err := drainStream(s)
	if err != nil || len(chunks) < 2 {
		t.Fatalf("%d chunks, %v", len(chunks), err)
	}
	out = 0
	for _, chunk := range chunks {
		out += proto.Size(chunk)
	}
	want("EncodeStream", proto.Size(streamed), out)

	batch, err := h.client.EncodeBatch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	in, out = 0, 0
	for range 3 {
		message := &thriftpackv1.EncodeBatchRequest{Requests: []*thriftpackv1.EncodeRequest{request, request}}
		if err := batch.Send(message); err != nil {
			t.Fatal(err)
		}
		reply, err := batch.Recv()
		if err != nil {
			t.Fatal(err)
		}
		in, out = in+proto.Size(message), out+proto.Size(reply)
	}
	want("EncodeBatch", in, out)
	if fast, slow := h.metric(t, "thriftpack_encode_fast_path_total"), h.metric(t, "thriftpack_encode_slow_path_total"); fast != 10 || slow != 0 {
		t.Errorf("%v values took the fast path and %v the slow one, want 10 and none", fast, slow)
	}
}

// TestSecretsAreNowhere sends secrets in all places that a call has, and looks for them in all that a server tells.
func TestSecretsAreNowhere(t *testing.T) {
	h := start(t, withTokens(withFile(t, "tokens", "reports "+plainToken+"\n"+hashedLine())), func(s *setup) { s.cfg.Pprof = true })
	for _, token := range []string{plainToken, hashedToken, "unknown-" + secret} {
		for _, value := range wrongValues() {
			_, err := h.client.Encode(bearing(t.Context(), token), encodeRequestOf(value, nil))
			if err == nil {
				t.Error("a wrong value is no fault")
			}
			wantNoSecret(t, "the status", statusProto(err).String())
		}
		_, _ = h.outcome(bearing(t.Context(), token), h.conn, "/"+secret+"/"+secret)
	}
	// A stream that is under way shows itself in profiles of goroutines.
	ctx, cancel := context.WithCancel(bearing(t.Context(), plainToken))
	defer cancel()
	if _, err := h.client.EncodeBatch(ctx); err != nil {
		t.Fatal(err)
	}
	addr := serveWebOf(t, h.server, nil)
	told := map[string]string{"the log": h.log.String()}
	for _, path := range []string{
		"/metrics", "/healthz", "/readyz", "/debug/pprof/", "/debug/pprof/cmdline", "/debug/pprof/goroutine?debug=2", "/debug/pprof/goroutine?debug=1",
		"/debug/pprof/heap?debug=1", "/debug/pprof/allocs?debug=1", "/debug/pprof/block?debug=1", "/debug/pprof/mutex?debug=1",
		"/debug/pprof/threadcreate?debug=1", "/debug/pprof/symbol",
	} {
		code, body := get(t, "http://"+addr+path)
		if code != 200 {
			t.Errorf("%s: %d", path, code)
		}
		told[path] = body
	}
	for where, text := range told {
		wantNoSecret(t, where, text)
		for _, token := range []string{plainToken, hashedToken} {
			if strings.Contains(text, token) || strings.Contains(text, hex.EncodeToString([]byte(token))) {
				t.Errorf("%s has a token", where)
			}
		}
	}
}
