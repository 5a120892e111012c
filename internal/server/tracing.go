package server

import (
	"context"
	"strings"

	grpcprometheus "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
)

// WithTracing makes a span of every call of our services by provider, below the caller's where the call has a W3C traceparent, and names
// traces beside latencies as exemplars. Without it no call pays for tracing: gRPC then has no stats handler.
func WithTracing(provider trace.TracerProvider) Option {
	return func(o *options) { o.tracing = provider }
}

// tracing is the option of gRPC that makes the spans, or none.
func (s *Server) tracing() []grpc.ServerOption {
	if s.opts.tracing == nil {
		return nil
	}
	// The name of a span is its method, which for methods that there are not is whatever a caller makes up.
	traced := make(map[string]bool)
	for _, method := range methodNames() {
		traced[method] = strings.HasPrefix(method, ourPrefix)
	}
	return []grpc.ServerOption{grpc.StatsHandler(otelgrpc.NewServerHandler(
		otelgrpc.WithTracerProvider(s.opts.tracing),
		otelgrpc.WithMeterProvider(metricnoop.NewMeterProvider()), // Prometheus has the metrics
		otelgrpc.WithPropagators(propagation.TraceContext{}),
		otelgrpc.WithFilter(func(info *stats.RPCTagInfo) bool { return traced[info.FullMethodName] }),
	))}
}

// exemplars are the option that names the trace of a call beside its latency, or none.
func (s *Server) exemplars() []grpcprometheus.Option {
	if s.opts.tracing == nil {
		return nil
	}
	return []grpcprometheus.Option{grpcprometheus.WithExemplarFromContext(func(ctx context.Context) prometheus.Labels {
		if span := trace.SpanContextFromContext(ctx); span.IsSampled() {
			return prometheus.Labels{"trace_id": span.TraceID().String()}
		}
		return nil
	})}
}
