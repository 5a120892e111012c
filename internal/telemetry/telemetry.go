// Package telemetry exports the spans of traces as the standard variables of OpenTelemetry say. It knows nothing of what is
// traced: package server makes the spans.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/time/rate"
)

// serviceName is what spans are of unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES say otherwise.
const serviceName = "thriftpack"

// Bounds of exporting.
const (
	// shutdownTimeout bounds how long the last spans may take to be exported.
	shutdownTimeout = 5 * time.Second
	// errorEvery is how often the log says that spans cannot be exported.
	errorEvery = time.Minute
	// maxErrorBytes bounds what it says.
	maxErrorBytes = 256
)

// Variables that decide here. The exporters and the tracer read the others themselves.
const (
	disabledVariable       = "OTEL_SDK_DISABLED"
	exporterVariable       = "OTEL_TRACES_EXPORTER"
	endpointVariable       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	tracesEndpointVariable = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	protocolVariable       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	tracesProtocolVariable = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
)

// Tracing exports spans until it is stopped.
type Tracing struct {
	provider *sdktrace.TracerProvider
	logger   *slog.Logger
}

// Start begins to export spans where the environment asks for it: by an endpoint, or by OTEL_TRACES_EXPORTER=otlp. It returns nil where it
// does not, and an error where it asks for what there is not. It does not connect, so that a collector that is away stops nothing.
func Start(ctx context.Context, version string, logger *slog.Logger) (*Tracing, error) {
	wanted, err := isWanted()
	if !wanted || err != nil {
		return nil, err
	}
	exporter, err := newExporter(ctx)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	// The environment comes last, and so wins.
	about, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", serviceName), attribute.String("service.version", version)),
		resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("traces: %w", err)
	}
	otel.SetLogger(logr.FromSlogHandler(logger.Handler()))
	otel.SetErrorHandler(newErrorLog(logger))
	return &Tracing{
		provider: sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about)),
		logger:   logger,
	}, nil
}

// Provider makes the tracers whose spans are exported.
func (t *Tracing) Provider() trace.TracerProvider { return t.provider }

// Stop exports what has been recorded, in bounded time, and ends.
func (t *Tracing) Stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, shutdownTimeout)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.logger.LogAttrs(ctx, slog.LevelWarn, "the last spans were not exported", slog.String("error", shorten(err.Error())))
	}
}

// isWanted reports whether the environment asks for traces.
func isWanted() (bool, error) {
	if strings.EqualFold(os.Getenv(disabledVariable), "true") {
		return false, nil
	}
	switch exporter := os.Getenv(exporterVariable); exporter {
	case "none":
		return false, nil
	case "otlp":
		return true, nil
	case "":
		return os.Getenv(endpointVariable) != "" || os.Getenv(tracesEndpointVariable) != "", nil
	default:
		return false, fmt.Errorf("%s: %q is not supported; want otlp or none", exporterVariable, exporter)
	}
}

// newExporter returns an exporter by the protocol of the environment.
func newExporter(ctx context.Context) (sdktrace.SpanExporter, error) {
	variable := tracesProtocolVariable
	if os.Getenv(variable) == "" {
		variable = protocolVariable
	}
	switch protocol := os.Getenv(variable); protocol {
	case "grpc":
		return otlptracegrpc.New(ctx)
	case "http/protobuf", "":
		return otlptracehttp.New(ctx)
	default:
		return nil, fmt.Errorf("%s: %q is not supported; want grpc or http/protobuf", variable, protocol)
	}
}

// errorLog logs errors of exporting, now and then: while a collector is away there is one for every batch.
type errorLog struct {
	logger *slog.Logger
	bucket *rate.Limiter
}

func newErrorLog(logger *slog.Logger) *errorLog {
	return &errorLog{logger, rate.NewLimiter(rate.Every(errorEvery), 1)}
}

// Handle logs an error.
func (l *errorLog) Handle(err error) {
	if l.bucket.Allow() {
		l.logger.LogAttrs(context.Background(), slog.LevelWarn, "spans cannot be exported", slog.String("error", shorten(err.Error())))
	}
}

// shorten bounds a text, which the collector has a part in.
func shorten(text string) string {
	if len(text) <= maxErrorBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxErrorBytes], "") + "…"
}
