package server

import (
	"runtime"

	grpcprometheus "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/thriftpack/thriftpack/internal/buildinfo"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// handlingBuckets are the bounds of the histogram of handling times, in seconds.
var handlingBuckets = []float64{.0001, .0005, .001, .005, .01, .05, .1, .5, 1, 5, 30}

// metrics are what the server counts. Labels come from registered services only, and every series exists from the start, so
// that no client can add any.
type metrics struct {
	registry           *prometheus.Registry
	calls              *grpcprometheus.ServerMetrics
	slowPath           prometheus.Counter
	fastPath           prometheus.Counter
	requestBytes       *prometheus.CounterVec
	replyBytes         *prometheus.CounterVec
	connectionsRefused prometheus.Counter
	streamsRefused     prometheus.Counter
	handshakesFailed   prometheus.Counter
	rateLimited        prometheus.Counter
	suppressed         *prometheus.CounterVec
	reloads            *prometheus.CounterVec
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		calls: grpcprometheus.NewServerMetrics(
			grpcprometheus.WithServerHandlingTimeHistogram(grpcprometheus.WithHistogramBuckets(handlingBuckets))),
		slowPath: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "thriftpack_encode_slow_path_total", Help: "Values that had to be normalised before they were encoded.",
		}),
		fastPath: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "thriftpack_encode_fast_path_total", Help: "Values that were encoded as they came.",
		}),
		requestBytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "thriftpack_request_bytes_total", Help: "Bytes of request messages, unpacked.",
		}, []string{"grpc_service", "grpc_method"}),
		replyBytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "thriftpack_reply_bytes_total", Help: "Bytes of reply messages, before they are packed.",
		}, []string{"grpc_service", "grpc_method"}),
		connectionsRefused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "thriftpack_connections_refused_total", Help: "Connections closed at once because --max-connections were open, or --max-connections-per-address from the same address.",
		}),
		streamsRefused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "thriftpack_streams_refused_total", Help: "Streams refused before they began because too many others waited for budget. No other metric or log line has them.",
		}),
		handshakesFailed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "thriftpack_tls_handshake_failures_total", Help: "Connections that failed to become TLS ones: no certificate, a wrong one, plaintext.",
		}),
		rateLimited: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "thriftpack_rate_limited_total", Help: "Requests refused because their caller made too many (--rate-limit): calls, and requests of batches.",
		}),
		suppressed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "thriftpack_log_lines_suppressed_total", Help: "Lines about calls and connections that were not written because there were too many (--log-rate).",
		}, []string{"level"}),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "thriftpack_reloads_total", Help: "Loadings of files that have changed. A failure is tried, and counted, at every look (--reload-interval).",
		}, []string{"files", "result"}),
	}
	m.registry.MustRegister(m.calls, newBuildInfo(), m.slowPath, m.fastPath, m.requestBytes, m.replyBytes, m.connectionsRefused, m.streamsRefused, m.handshakesFailed, m.rateLimited, m.suppressed, m.reloads,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// watch adds what is read from the server when it is scraped.
func (m *metrics) watch(s *Server) {
	pool := s.service.pool
	count := func(name, help string, read func(stream.Stats) int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
			func() float64 { return float64(read(pool.Stats())) })
	}
	gauge := func(name, help string, read func() int64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(read()) })
	}
	budget := s.service.budget
	m.registry.MustRegister(
		gauge("thriftpack_connections_open", "Open gRPC connections.", s.connections.Load),
		gauge("thriftpack_stream_budget_bytes", "The memory budget of streams, in bytes (--stream-budget).",
			func() int64 { return s.cfg.StreamBudget }),
		gauge("thriftpack_stream_budget_held_bytes", "The part of the budget that streams hold, in bytes.", budget.Held),
		gauge("thriftpack_stream_budget_waiting", "Streams that wait for budget.", budget.Waiting),
		count("thriftpack_chunks_lent_total", "Chunks of memory lent.", func(s stream.Stats) int64 { return s.Got }),
		count("thriftpack_chunks_allocated_total", "Chunks lent that were new memory.", func(s stream.Stats) int64 { return s.Allocated }),
		count("thriftpack_chunks_written_off_total", "Chunks that gRPC had not given back when their connection ended.",
			func(s stream.Stats) int64 { return s.WrittenOff }),
	)
}

// newBuildInfo is a metric that is always 1, and whose labels say which build is running.
func newBuildInfo() prometheus.Collector {
	build := buildinfo.Read()
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "thriftpack_build_info", Help: "1, with the version, the commit and Go's version of the running build.",
		ConstLabels: prometheus.Labels{"version": build.Version, "revision": build.Revision, "goversion": runtime.Version()},
	})
	gauge.Set(1)
	return gauge
}
