package server

import (
	"context"
	"math"
	"net"
	"runtime"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/tap"

	// Requests may come compressed by gzip. gRPC bounds what it unpacks to the size of a request.
	_ "google.golang.org/grpc/encoding/gzip"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// Fixed settings of the transport.
const (
	// connectionWindow lets two streams send ahead at once.
	connectionWindow = 2 * config.ReceiveWindow
	// transportBuffer is the size of a connection's read and write buffers, in bytes; they are not held while it is idle.
	transportBuffer = 128 << 10
	// maxHeaderListSize bounds the headers of a call, in bytes.
	maxHeaderListSize = 16 << 10
	// longestHandshake bounds how long a new connection may take to become one, beside --stall-timeout, and shortestHandshake is what it has
	// in any case, since a handshake is several messages.
	longestHandshake  = 20 * time.Second
	shortestHandshake = time.Second
	// pingEvery and pingTimeout find dead peers.
	pingEvery   = time.Minute
	pingTimeout = 20 * time.Second
	// workersPerProcessor is how many goroutines per processor wait for calls. A new goroutine for each grows its stack anew under
	// the interceptors, which BenchmarkUnaryEncode shows as an eighth of the CPU time of a small call. Calls beyond
	// them, such as many streams, have goroutines of their own.
	workersPerProcessor = 16
	// clientPings is how often clients may ping, with or without calls. Clients may ask for 10 s at the least; the rest is
	// for timers that run early.
	clientPings = 8 * time.Second
)

// newGRPC returns the gRPC server with all services registered.
func (s *Server) newGRPC() (*grpc.Server, error) {
	pool := stream.NewBuffers()
	s.buffers, s.service.buffers = pool, pool
	server := grpc.NewServer(append(s.ServerOptions(), grpc.ForceServerCodecV2(newCodec(pool)))...)

	description := s.service.describe()
	s.methodPrefix = "/" + description.ServiceName + "/"
	s.budgeted = make(map[string]bool, len(description.Streams))
	for i := range description.Streams {
		s.budgeted[s.methodPrefix+description.Streams[i].StreamName] = true
	}
	server.RegisterService(description, s.service)
	server.RegisterService(s.service.describeSchemas(), s.service)
	server.RegisterService(s.describeSide(&healthpb.Health_ServiceDesc), s.health)
	if err := registerReflection(server); err != nil {
		return nil, err
	}
	s.metrics.calls.InitializeMetrics(server)
	return server, nil
}

// ServerOptions returns the transport settings and the interceptors of this server, without its codec: what another
// gRPC server needs to be compared with it.
func (s *Server) ServerOptions() []grpc.ServerOption {
	unary, streams := s.chain()
	opts := []grpc.ServerOption{
		experimental.BufferPool(s.buffers),
		grpc.ChainUnaryInterceptor(unary...),
		grpc.ChainStreamInterceptor(streams...),
		grpc.InTapHandle(func(ctx context.Context, info *tap.Info) (context.Context, error) {
			return s.tap(ctx, info.FullMethodName)
		}),
		grpc.MaxRecvMsgSize(s.cfg.MaxRequestBytes),
		grpc.MaxSendMsgSize(math.MaxInt32), // Handlers bound what they send, and say by which setting.
		grpc.MaxConcurrentStreams(uint32(min(max(s.cfg.MaxConcurrentStreams, 0), math.MaxInt32))),
		grpc.MaxHeaderListSize(maxHeaderListSize),
		grpc.StaticStreamWindowSize(config.ReceiveWindow),
		grpc.StaticConnWindowSize(connectionWindow),
		grpc.ReadBufferSize(transportBuffer),
		grpc.WriteBufferSize(transportBuffer),
		grpc.ConnectionTimeout(s.handshakeTimeout()),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: clientPings, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionAge: s.cfg.MaxConnectionAge, MaxConnectionAgeGrace: s.cfg.MaxConnectionAgeGrace,
			Time: pingEvery, Timeout: pingTimeout,
		}),
		grpc.WaitForHandlers(true),
		grpc.NumStreamWorkers(uint32(workersPerProcessor * runtime.GOMAXPROCS(0))), //nolint:gosec // a small number
	}
	if creds := s.transportCredentials(); creds != nil {
		// TLS has a buffer of its own, of a record. Another one beside it would be held while the connection is idle: 155 KiB
		// more for each, and no faster.
		opts = append(opts, grpc.Creds(creds), grpc.ReadBufferSize(0))
	}
	opts = append(opts, s.tracing()...)
	return append(opts, s.opts.transport...)
}

// handshakeTimeout is how long a new connection may take to become one. It holds what a connection holds, and its peer does nothing.
func (s *Server) handshakeTimeout() time.Duration {
	return max(min(longestHandshake, s.cfg.StallTimeout), shortestHandshake)
}

// limit wraps the listener of gRPC so that connections are counted and tracked.
func (s *Server) limit(lis net.Listener) net.Listener {
	owed := s.cfg.MostUnread()
	return &limitListener{
		Listener: lis, limit: int64(s.cfg.MaxConnections), open: &s.connections, from: &s.connectionsFrom,
		account: func() *stream.Account { return stream.NewAccount(s.service.pool, owed, s.cfg.StallTimeout) },
		refused: s.metrics.connectionsRefused.Inc, abandoned: s.buffers.Abandoned,
	}
}

// The services that grpc.health.v1 knows besides "": two names for probes, and the services' own.
const (
	livenessName  = "liveness"
	readinessName = "readiness"
)

var readinessNames = []string{
	"", readinessName,
	thriftpackv1.SerializerService_ServiceDesc.ServiceName, thriftpackv1.SchemaService_ServiceDesc.ServiceName,
}

// newHealth returns the health service, alive but not ready.
func newHealth() *health.Server {
	h := health.NewServer()
	for _, name := range readinessNames {
		h.SetServingStatus(name, healthpb.HealthCheckResponse_NOT_SERVING)
	}
	h.SetServingStatus(livenessName, healthpb.HealthCheckResponse_SERVING)
	return h
}

// newProbes returns a gRPC server of health alone, in plaintext, for probes that cannot do TLS.
func (s *Server) newProbes() *grpc.Server {
	probes := grpc.NewServer(
		grpc.MaxRecvMsgSize(4<<10), grpc.MaxConcurrentStreams(16), grpc.MaxHeaderListSize(maxHeaderListSize),
		grpc.ConnectionTimeout(s.handshakeTimeout()),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: clientPings, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: pingEvery, Timeout: pingTimeout, MaxConnectionIdle: 10 * time.Minute}),
	)
	healthpb.RegisterHealthServer(probes, s.health)
	return probes
}
