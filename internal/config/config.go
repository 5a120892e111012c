// Package config holds the server's settings: one struct, its defaults, and how flags, environment and an optional
// file fill it. It starts nothing.
package config

import (
	"io/fs"
	"time"
)

// Config is every setting of the server. Each field is a flag, an environment variable and a key of the file, all of the
// same name; see the table in docs/configuration.md, which is made from the flags.
type Config struct {
	// GRPCAddr is where gRPC is served: "host:port", or "unix:PATH".
	GRPCAddr string
	// HTTPAddr is where /metrics, /healthz, /readyz and, when enabled, /debug/pprof are served; "" serves none.
	HTTPAddr string
	// HealthAddr, when not "", serves grpc.health.v1 alone in plaintext, for probes beside TLS.
	HealthAddr string
	// Insecure allows a public GRPCAddr without TLS.
	Insecure bool
	// UnixSocketMode is the permissions of the socket file of GRPCAddr.
	UnixSocketMode fs.FileMode
	// Pprof serves /debug/pprof on HTTPAddr.
	Pprof bool
	// LogLevel is "debug", "info", "warn" or "error".
	LogLevel string
	// LogRate bounds the lines of each level about calls and connections in a second; 0 bounds nothing.
	LogRate int

	// TLSCert and TLSKey are the PEM files of the certificate, with its chain, and of its key that GRPCAddr is served with; both
	// "" serve plaintext.
	TLSCert, TLSKey string
	// TLSClientCA, when not "", is the PEM file of the authorities one of which every client needs a certificate of.
	TLSClientCA string
	// TLSMinVersion is the lowest version of TLS, "1.2" or "1.3".
	TLSMinVersion string
	// AuthTokensFile, when not "", is the file of the tokens one of which every call needs.
	AuthTokensFile string
	// AuthzPolicy, when not "", is the file of the policy that says who may call what.
	AuthzPolicy string
	// AuthExempt are the services that anyone may call, separated by commas: "health", "reflection".
	AuthExempt string
	// RateLimit is how many requests each caller may make in a second; 0 is no limit.
	RateLimit int
	// RateBurst is how many of them may come at once; 0 is as many as RateLimit.
	RateBurst int
	// ReloadInterval is how often files that the server keeps using are looked at.
	ReloadInterval time.Duration

	// MaxRequestBytes bounds every request message, in bytes.
	MaxRequestBytes int
	// MaxUnaryReplyBytes bounds unary replies, in bytes; larger results need a streaming RPC.
	MaxUnaryReplyBytes int
	// MaxDepth bounds the nesting of structs and containers; the root is 1.
	MaxDepth int
	// MaxDepthValue is the default bound where a Value is returned.
	MaxDepthValue int
	// MaxElements bounds the elements of one container.
	MaxElements int
	// MaxStringBytes bounds one string or binary, in bytes.
	MaxStringBytes int
	// MaxDecodedNodes bounds the values that one decode to a Value returns.
	MaxDecodedNodes int
	// MaxSlowNodes bounds the protobuf members, at every depth, of a request that needs the slow path.
	MaxSlowNodes int

	// SchemaDir, when not "", is the directory of schemas that the server follows.
	SchemaDir string
	// SchemaStore is where pushed schemas are kept; see ParseSchemaStore.
	SchemaStore string
	// SchemaEtcdCA, SchemaEtcdCert and SchemaEtcdKey are PEM files: the authorities of etcd's certificate, and the certificate that
	// etcd is shown, with its key.
	SchemaEtcdCA, SchemaEtcdCert, SchemaEtcdKey string
	// SchemaEtcdUsername and SchemaEtcdPasswordFile are the user of etcd, and the file with the password.
	SchemaEtcdUsername, SchemaEtcdPasswordFile string
	// MaxSchemas bounds the schemas of SchemaDir, and those of SchemaStore.
	MaxSchemas int
	// MaxSchemaRevisions bounds the revisions of one schema in SchemaStore.
	MaxSchemaRevisions int
	// MaxSchemaBytes bounds the files of one schema with their paths, in bytes.
	MaxSchemaBytes int
	// MaxSchemaFiles bounds the files of one schema.
	MaxSchemaFiles int
	// MaxSchemaPlanBytes bounds the memory of one compiled schema, in bytes.
	MaxSchemaPlanBytes int64
	// SchemaCacheBytes bounds the memory of all compiled schemas, in bytes.
	SchemaCacheBytes int64

	// StreamBudget bounds the memory of all streams of the process, in bytes.
	StreamBudget int64
	// StreamWait bounds how long a new stream waits for budget.
	StreamWait time.Duration
	// StallTimeout ends a stream whose peer neither reads nor sends for that long.
	StallTimeout time.Duration
	// MaxConnections bounds the open gRPC connections.
	MaxConnections int
	// MaxConnectionsPerAddress bounds those of one address; 0 bounds nothing.
	MaxConnectionsPerAddress int
	// MaxConcurrentStreams bounds the RPCs under way on one connection.
	MaxConcurrentStreams int
	// MaxConnectionAge closes connections after about that long, so that clients find new replicas; 0 never does.
	MaxConnectionAge time.Duration
	// MaxConnectionAgeGrace is how long RPCs of an aged connection may go on.
	MaxConnectionAgeGrace time.Duration

	// DrainDelay is how long the server keeps serving after SIGTERM, not ready, while endpoints are withdrawn.
	DrainDelay time.Duration
	// DrainTimeout bounds the graceful stop that follows.
	DrainTimeout time.Duration
	// MemoryLimit is the Go runtime's soft limit in bytes; 0 takes 90 % of the cgroup's limit where there is one.
	MemoryLimit int64
	// CompressReplies lets replies to gzip requests be compressed too.
	CompressReplies bool
}

// TLS reports whether GRPCAddr is served with TLS.
func (c *Config) TLS() bool { return c.TLSCert != "" }

// Default returns the default settings, but for SchemaStore: that of Load is a file of the user, which it takes a user for.
func Default() Config {
	return Config{
		GRPCAddr:              "127.0.0.1:50051",
		HTTPAddr:              "127.0.0.1:8080",
		UnixSocketMode:        0o600,
		LogLevel:              "info",
		LogRate:               100,
		TLSMinVersion:         "1.3",
		AuthExempt:            "health,reflection",
		ReloadInterval:        10 * time.Second,
		MaxRequestBytes:       16 << 20,
		MaxUnaryReplyBytes:    4<<20 - 1<<10,
		MaxDepth:              64,
		MaxDepthValue:         48,
		MaxElements:           16 << 20,
		MaxStringBytes:        16 << 20,
		MaxDecodedNodes:       4 << 20,
		MaxSlowNodes:          100_000,
		SchemaStore:           noStore,
		MaxSchemas:            1_000,
		MaxSchemaRevisions:    1_000,
		MaxSchemaBytes:        1 << 20,
		MaxSchemaFiles:        256,
		MaxSchemaPlanBytes:    32 << 20,
		SchemaCacheBytes:      128 << 20,
		StreamBudget:          256 << 20,
		StreamWait:            5 * time.Second,
		StallTimeout:          30 * time.Second,
		MaxConnections:        1024,
		MaxConcurrentStreams:  100,
		MaxConnectionAge:      30 * time.Minute,
		MaxConnectionAgeGrace: 5 * time.Minute,
		DrainDelay:            5 * time.Second,
		DrainTimeout:          20 * time.Second,
	}
}
