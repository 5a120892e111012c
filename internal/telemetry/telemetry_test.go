package telemetry

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// patience bounds every wait of a test.
const patience = 30 * time.Second

// environment sets the variables of OpenTelemetry, and unsets those that the test does not give.
func environment(t *testing.T, variables map[string]string) {
	t.Helper()
	for _, name := range []string{
		disabledVariable, exporterVariable, endpointVariable, tracesEndpointVariable, protocolVariable, tracesProtocolVariable,
		"OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TIMEOUT",
	} {
		t.Setenv(name, variables[name])
	}
}

// TestWhenTracesAreWanted has what the environment may ask for.
func TestWhenTracesAreWanted(t *testing.T) {
	const endpoint = "http://127.0.0.1:1"
	for _, test := range []struct {
		name      string
		variables map[string]string
		wanted    bool
		refused   string
	}{
		{"nothing", nil, false, ""},
		{"an endpoint", map[string]string{endpointVariable: endpoint}, true, ""},
		{"an endpoint of traces", map[string]string{tracesEndpointVariable: endpoint}, true, ""},
		{"the exporter alone", map[string]string{exporterVariable: "otlp"}, true, ""},
		{"by gRPC", map[string]string{endpointVariable: endpoint, protocolVariable: "grpc"}, true, ""},
		{"traces by gRPC", map[string]string{endpointVariable: endpoint, protocolVariable: "x", tracesProtocolVariable: "grpc"}, true, ""},
		{"no exporter", map[string]string{endpointVariable: endpoint, exporterVariable: "none"}, false, ""},
		{"disabled", map[string]string{endpointVariable: endpoint, disabledVariable: "true"}, false, ""},
		{"disabled in capitals", map[string]string{endpointVariable: endpoint, disabledVariable: "TRUE"}, false, ""},
		{"another exporter", map[string]string{exporterVariable: "zipkin"}, false, `OTEL_TRACES_EXPORTER: "zipkin" is not supported`},
		{"another protocol", map[string]string{endpointVariable: endpoint, protocolVariable: "http/json"}, false, `OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" is not supported`},
		{"another protocol of traces", map[string]string{endpointVariable: endpoint, tracesProtocolVariable: "x"}, false, `OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "x" is not`},
	} {
		t.Run(test.name, func(t *testing.T) {
			environment(t, test.variables)
			tracing, err := Start(t.Context(), "v1", slog.New(slog.DiscardHandler))
			if tracing != nil {
				tracing.Stop(t.Context())
			}
			if (tracing != nil) != test.wanted || (err != nil) != (test.refused != "") || (err != nil && !strings.Contains(err.Error(), test.refused)) {
				t.Errorf("Start: wanted %t, %v; want %t, %q", tracing != nil, err, test.wanted, test.refused)
			}
		})
	}
}

// receiver is a collector of spans.
type receiver struct {
	collector.UnimplementedTraceServiceServer
	got chan *collector.ExportTraceServiceRequest
}

func (r *receiver) Export(_ context.Context, request *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	r.got <- request
	return &collector.ExportTraceServiceResponse{}, nil
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	message := new(collector.ExportTraceServiceRequest)
	if err = errors.Join(err, proto.Unmarshal(body, message)); err != nil || request.URL.Path != "/v1/traces" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.got <- message
}

// TestExport exports a span by both protocols.
func TestExport(t *testing.T) {
	r := &receiver{got: make(chan *collector.ExportTraceServiceRequest, 8)}
	web := httptest.NewServer(r)
	defer web.Close()
	var lc net.ListenConfig
	lis, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	collector.RegisterTraceServiceServer(server, r)
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(lis) })
	defer func() { server.Stop(); served.Wait() }()

	for protocol, endpoint := range map[string]string{"http/protobuf": web.URL, "grpc": "http://" + lis.Addr().String()} {
		environment(t, map[string]string{
			endpointVariable: endpoint, protocolVariable: protocol, "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test",
		})
		tracing, err := Start(t.Context(), "v1.2.3", slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		_, span := tracing.Provider().Tracer("t").Start(t.Context(), "a span by "+protocol)
		span.End()
		tracing.Stop(t.Context())
		select {
		case request := <-r.got:
			of := request.GetResourceSpans()[0]
			if got := of.GetScopeSpans()[0].GetSpans()[0].GetName(); got != "a span by "+protocol {
				t.Errorf("%s: span %q", protocol, got)
			}
			want := map[string]string{"service.name": "thriftpack", "service.version": "v1.2.3", "deployment.environment.name": "test"}
			for name, value := range want {
				if got := attributeOf(of, name); got != value {
					t.Errorf("%s: %s = %q, want %q", protocol, name, got, value)
				}
			}
		case <-time.After(patience):
			t.Fatalf("%s: no spans within %s", protocol, patience)
		}
	}
}

// attributeOf returns an attribute of the resource that spans are of.
func attributeOf(of *spans.ResourceSpans, name string) string {
	for _, a := range of.GetResource().GetAttributes() {
		if a.GetKey() == name {
			return a.GetValue().GetStringValue()
		}
	}
	return ""
}

// TestCollectorThatIsAway exports to nobody: it ends in bounded time, and the log says so once, without what the exporter sends along.
func TestCollectorThatIsAway(t *testing.T) {
	var lc net.ListenConfig
	lis, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	endpoint := "http://" + lis.Addr().String()
	_ = lis.Close()
	environment(t, map[string]string{endpointVariable: endpoint, "OTEL_EXPORTER_OTLP_HEADERS": "api-key=very-secret", "OTEL_EXPORTER_OTLP_TIMEOUT": "200"})
	var log bytes.Buffer
	var mu sync.Mutex
	tracing, err := Start(t.Context(), "v1", slog.New(slog.NewJSONHandler(&lockedWriter{&mu, &log}, nil)))
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		_, span := tracing.Provider().Tracer("t").Start(t.Context(), "a span")
		span.End()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		_ = tracing.provider.ForceFlush(ctx)
		cancel()
	}
	began := time.Now()
	tracing.Stop(t.Context())
	if took := time.Since(began); took > shutdownTimeout+patience/2 {
		t.Errorf("stopped after %s", took)
	}
	mu.Lock()
	defer mu.Unlock()
	if n := strings.Count(log.String(), "spans cannot be exported"); n > 1 {
		t.Errorf("logged %d times, want once: %s", n, log.String())
	}
	if strings.Contains(log.String(), "very-secret") {
		t.Errorf("the log has the headers: %s", log.String())
	}
}

func TestErrorLog(t *testing.T) {
	var log bytes.Buffer
	l := newErrorLog(slog.New(slog.NewJSONHandler(&log, nil)))
	for range 100 {
		l.Handle(errors.New(strings.Repeat("é", maxErrorBytes)))
	}
	if n := strings.Count(log.String(), "\n"); n != 1 || log.Len() > 2*maxErrorBytes {
		t.Errorf("%d lines of %d bytes, want one short one", n, log.Len())
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
