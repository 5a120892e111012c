package server

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// A traceparent as a caller sends it, and its ids.
const (
	traceID     = "0af7651916cd43dd8448eb211c80319c"
	parentID    = "b7ad6b7169203331"
	traceparent = "00-" + traceID + "-" + parentID + "-01"
)

// traced sets a server up whose spans end in the exporter.
func traced(into *tracetest.InMemoryExporter) func(*setup) {
	return func(s *setup) {
		s.options = append(s.options, WithTracing(sdktrace.NewTracerProvider(sdktrace.WithSyncer(into))))
	}
}

// TestSpans calls every method of every service, and one that there is not, below a caller's span.
func TestSpans(t *testing.T) {
	into := tracetest.NewInMemoryExporter()
	h := start(t, traced(into))
	ctx := metadata.AppendToOutgoingContext(t.Context(), "traceparent", traceparent)
	ours := 0
	for _, method := range append(h.methods(), "/thriftpack.v1.SerializerService/"+secret, "/"+secret+"/Encode") {
		_, _ = h.outcome(ctx, h.conn, method)
		if strings.HasPrefix(method, ourPrefix) && !strings.Contains(method, secret) {
			ours++
		}
	}
	eventually(t, "a span of each of our methods", func() bool { return len(into.GetSpans()) >= ours })
	named := map[string]bool{}
	for _, span := range into.GetSpans() {
		named["/"+span.Name] = true
		if span.SpanContext.TraceID().String() != traceID || span.Parent.SpanID().String() != parentID || span.SpanKind != trace.SpanKindServer {
			t.Errorf("%s: trace %s, parent %s, kind %s", span.Name, span.SpanContext.TraceID(), span.Parent.SpanID(), span.SpanKind)
		}
	}
	for _, method := range h.methods() {
		if named[method] != strings.HasPrefix(method, ourPrefix) {
			t.Errorf("%s: has a span: %t", method, named[method])
		}
	}
	if len(named) != ours {
		t.Errorf("spans %v, want one for each of our %d methods", named, ours)
	}
	lines := h.log.calls(t, "EncodeBatch")
	if len(lines) != 1 || lines[0]["trace_id"] != traceID || lines[0]["span_id"] == parentID {
		t.Errorf("log %v, want the trace in it", lines)
	}
}

// TestSpansTellNothing makes calls that fail by what is in them, with a token.
func TestSpansTellNothing(t *testing.T) {
	into := tracetest.NewInMemoryExporter()
	h := start(t, traced(into), withTokens(withFile(t, "tokens", hashedLine())))
	calls := 0
	for _, value := range wrongValues() {
		_, _ = h.client.Encode(bearing(t.Context(), hashedToken), encodeRequestOf(value, nil))
		_, _ = h.client.Encode(bearing(t.Context(), plainToken), encodeRequestOf(value, nil))
		calls += 2
	}
	eventually(t, "all spans", func() bool { return len(into.GetSpans()) == calls })
	for _, span := range into.GetSpans() {
		text := fmt.Sprintf("%+v", span)
		wantNoSecret(t, "a span", text)
		if strings.Contains(text, hashedToken) || strings.Contains(text, plainToken) {
			t.Errorf("a span has a token: %s", text)
		}
	}
}

// TestExemplars looks for the trace of a call beside its latency, in the format that has exemplars.
func TestExemplars(t *testing.T) {
	for _, on := range []bool{true, false} {
		var options []func(*setup)
		if on {
			options = append(options, traced(tracetest.NewInMemoryExporter()))
		}
		h := start(t, options...)
		ctx := metadata.AppendToOutgoingContext(t.Context(), "traceparent", traceparent)
		if err := h.oneCall(ctx, "Encode"); err != nil {
			t.Fatal(err)
		}
		addr := serveWebOf(t, h.server, nil)
		eventually(t, "metrics", func() bool {
			body := scrape(t, addr)
			return strings.Contains(body, `grpc_server_handling_seconds_count{grpc_method="Encode",grpc_service="thriftpack.v1.SerializerService",grpc_type="unary"} 1`) &&
				strings.Contains(body, `# {trace_id="`+traceID+`"}`) == on
		})
	}
}

// scrape gets the metrics as Prometheus does.
func scrape(t *testing.T, addr string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
	_, body := do(t, request)
	return body
}

// TestNoTracingNoStats has no stats handler where no traces are wanted: that alone would cost every call an eighth.
func TestNoTracingNoStats(t *testing.T) {
	if opts := newServer(t, config.Default()).tracing(); opts != nil {
		t.Errorf("%d options of gRPC without tracing", len(opts))
	}
}

// TestTraceContextIsOptional sends what is no traceparent.
func TestTraceContextIsOptional(t *testing.T) {
	into := tracetest.NewInMemoryExporter()
	h := start(t, traced(into))
	for i, sent := range []string{"", "x", "00-" + strings.Repeat("0", 32) + "-" + parentID + "-01", traceparent + "-more", strings.Repeat("f", 4<<10)} {
		if err := h.oneCall(metadata.AppendToOutgoingContext(t.Context(), "traceparent", sent), "Encode"); err != nil {
			t.Errorf("traceparent %.60q: %v", sent, err)
		}
		eventually(t, "a span", func() bool { return len(into.GetSpans()) == i+1 })
		if span := into.GetSpans()[i]; span.Parent.IsValid() || !span.SpanContext.IsValid() {
			t.Errorf("traceparent %.60q: parent %v, want none", sent, span.Parent)
		}
	}
}

// BenchmarkTracing is a small call with and without spans.
func BenchmarkTracing(b *testing.B) {
	request, err := proto.Marshal(encodeRequestOf(fixture.OneOfEach(), nil))
	if err != nil {
		b.Fatal(err)
	}
	for _, on := range []bool{false, true} {
		b.Run(strconv.FormatBool(on), func(b *testing.B) {
			h := start(b, func(s *setup) {
				s.level = 99
				if on {
					provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(dropped{}))
					b.Cleanup(func() { _ = provider.Shutdown(context.Background()) })
					s.options = append(s.options, WithTracing(provider))
				}
			})
			benchmarkEncode(b, h.addr, request)
		})
	}
}

// dropped is an exporter to nowhere.
type dropped struct{}

func (dropped) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }
func (dropped) Shutdown(context.Context) error                             { return nil }
