// Package server serves thriftpack over gRPC: the codec that lends request bytes, the handlers, the chain of
// interceptors, the one place that makes statuses of errors, health, metrics, and the life of the process from
// listening to draining. Bytes are written and read by packages encoder and decoder; settings come from package config.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/auth"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// Server is the service with everything around it. Make one with New; it serves once.
type Server struct {
	cfg             config.Config
	opts            options
	metrics         *metrics
	log             *callLog
	sessions        *sessions
	service         *service
	security        *security
	health          *health.Server
	grpc            *grpc.Server
	connections     atomic.Int64
	connectionsFrom perAddress
	readiness       readiness
	methodPrefix    string          // of the methods of SerializerService
	budgeted        map[string]bool // full names of the methods that take from the budget of streams
	maxWaiting      int64           // how many streams may wait for that budget before new ones are refused outright
	buffers         *stream.Buffers // what gRPC reads into
}

// Option changes a Server beyond its settings.
type Option func(*options)

type options struct {
	logger      *slog.Logger
	credentials credentials.TransportCredentials
	admission   auth.AuthFunc
	listening   func(Addresses)
	pool        *stream.Pool
	transport   []grpc.ServerOption
	tracing     trace.TracerProvider
	schemas     []Source
}

// Addresses are where a Server listens. Those that are not served are nil.
type Addresses struct {
	GRPC, HTTP, Health net.Addr
}

// WithLogger sets the logger. The default discards.
func WithLogger(logger *slog.Logger) Option { return func(o *options) { o.logger = logger } }

// WithCredentials serves gRPC with these transport credentials instead of what the settings say of TLS.
func WithCredentials(creds credentials.TransportCredentials) Option {
	return func(o *options) { o.credentials = creds }
}

// WithAdmission has every call decided about by f, too, after what the settings say of tokens and policy, and before anything of
// a request's body is decoded. Services that the settings exempt are not asked about.
func WithAdmission(f auth.AuthFunc) Option { return func(o *options) { o.admission = f } }

// WithListening has Run call f once, when all listeners are open and before it serves. Port 0 in the settings takes any.
func WithListening(f func(Addresses)) Option { return func(o *options) { o.listening = f } }

// WithPool makes chunks come from pool. The default is a pool of the server's own, stream.NewPool.
func WithPool(pool *stream.Pool) Option { return func(o *options) { o.pool = pool } }

// WithTransport adds settings of gRPC's transport, which win over the server's own. It is for measuring other ones.
func WithTransport(opts ...grpc.ServerOption) Option { return func(o *options) { o.transport = opts } }

// New returns a server for these settings. It is not ready yet: health is NOT_SERVING until it serves and has loaded its schemas. Its
// goroutines end with Run, Drain or Close.
func New(cfg config.Config, opts ...Option) (*Server, error) {
	s := &Server{cfg: cfg, metrics: newMetrics(), sessions: newSessions(), health: newHealth(), maxWaiting: maxWaiting}
	s.connectionsFrom = perAddress{limit: cfg.MaxConnectionsPerAddress, open: make(map[string]int)}
	s.opts.logger = slog.New(slog.DiscardHandler)
	for _, opt := range opts {
		opt(&s.opts)
	}
	s.log = newCallLog(s.opts.logger, cfg.LogRate, s.metrics)
	s.service = newService(cfg, s.sessions, s.metrics)
	if s.opts.pool != nil {
		s.service.pool = s.opts.pool
	}
	var err error
	if s.security, err = newSecurity(cfg, s.reloaded); err != nil {
		return nil, err
	}
	if s.security.rates != nil {
		s.service.limiterOf, s.service.take = s.limiterOf, s.take
	}
	if s.service.schemas, err = newSchemas(cfg, &s.opts, s.security.watcher, s.service.acceptSchema); err != nil {
		return nil, err
	}
	if s.grpc, err = s.newGRPC(); err != nil {
		s.closeSchemas()
		return nil, err
	}
	s.metrics.watch(s)
	s.metrics.watchFiles(s.security)
	s.metrics.watchSchemas(s.service.schemas)
	s.warnOfStrayPaths()
	if s.security.gate.Tokens != nil && !cfg.TLS() && cfg.IsPublic() {
		s.opts.logger.LogAttrs(context.Background(), slog.LevelWarn, "tokens travel in plaintext: whoever sees the traffic has them")
	}
	s.security.watcher.Start()
	return s, nil
}

// Run is the life of the process: it listens where the settings say, serves until ctx is done, then drains and closes. It
// returns nil after an orderly end, and the error when it cannot listen or a listener fails.
func (s *Server) Run(ctx context.Context) error {
	// Listen on everything before anything is served, so that a wrong address is one error at the start.
	defer s.Close()
	listeners, err := listenAll(ctx, s.cfg)
	if err != nil {
		return err
	}
	defer listeners.close()
	if s.opts.listening != nil {
		s.opts.listening(listeners.addresses())
	}

	// Serve.
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.Serve(listeners.grpc) })
	web := s.newWeb()
	if listeners.http != nil {
		group.Go(func() error { return unlessClosed(web.Serve(&sideListener{Listener: listeners.http}), "http") })
	}
	probes := s.newProbes()
	if listeners.health != nil {
		group.Go(func() error { return unlessClosed(probes.Serve(&sideListener{Listener: listeners.health}), "health") })
	}

	// Drain once ctx is done, which it also is when a listener fails. Probes and metrics are answered to the end.
	group.Go(func() error {
		<-ctx.Done()
		s.Drain(context.WithoutCancel(ctx))
		probes.Stop()
		return web.Close()
	})
	return group.Wait()
}

// Serve serves gRPC on lis until Drain or Close. It is ready when its schemas have been loaded, which is at once where there are none. It
// is for callers that bring their own listener, such as bufconn's for a server in the same process; Run does it all. It closes lis.
func (s *Server) Serve(lis net.Listener) error {
	s.readiness.begin(s.service.schemas.Loaded(), s.tellReady)
	return unlessClosed(s.grpc.Serve(s.limit(lis)), "grpc")
}

// Drain stops in order: not ready; still serving for the drain delay, until nobody sends new calls here; streams told to
// end, and those that only wait for their client ended; then a graceful stop bounded by the drain timeout. When ctx is done
// the rest is cut short.
func (s *Server) Drain(ctx context.Context) {
	s.readiness.end(s.tellReady)
	pause(ctx, s.cfg.DrainDelay)
	s.sessions.drain()

	stopped := make(chan struct{})
	go func() {
		s.grpc.GracefulStop()
		close(stopped)
	}()
	deadline, cancel := context.WithTimeout(ctx, s.cfg.DrainTimeout)
	defer cancel()
	select {
	case <-stopped:
	case <-deadline.Done():
		s.opts.logger.LogAttrs(ctx, slog.LevelWarn, "drain timeout: cutting what is left", slog.String("timeout", s.cfg.DrainTimeout.String()))
		s.grpc.Stop()
		<-stopped
	}
	s.security.watcher.Close()
	s.closeSchemas()
}

// Close stops at once: RPCs under way are cut.
func (s *Server) Close() {
	s.readiness.end(s.tellReady)
	s.grpc.Stop()
	s.security.watcher.Close()
	s.closeSchemas()
}

// closeSchemas ends what follows directory and store, once no call uses them any more.
func (s *Server) closeSchemas() {
	if err := s.service.schemas.Close(); err != nil {
		s.opts.logger.LogAttrs(context.Background(), slog.LevelError, "schema store not closed", slog.String("error", err.Error()))
	}
}

// Registry holds the server's metrics.
func (s *Server) Registry() *prometheus.Registry { return s.metrics.registry }

// tellReady tells probes of readiness. Liveness is not touched: a draining server is alive.
func (s *Server) tellReady(ready bool) {
	status := healthpb.HealthCheckResponse_NOT_SERVING
	if ready {
		status = healthpb.HealthCheckResponse_SERVING
	}
	for _, name := range readinessNames {
		s.health.SetServingStatus(name, status)
	}
}

// pause waits, or until ctx is done.
func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// unlessClosed is the error of a server that ended, or nil when it was told to.
func unlessClosed(err error, what string) error {
	if err == nil || errors.Is(err, http.ErrServerClosed) || errors.Is(err, grpc.ErrServerStopped) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return fmt.Errorf("serve %s: %w", what, err)
}
