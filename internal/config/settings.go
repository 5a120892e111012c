package config

import (
	"math"
	"slices"
	"strings"
	"time"
)

// EnvPrefix starts the name of every environment variable that is a setting.
const EnvPrefix = "THRIFTPACK_"

// Setting describes one setting: its names, what it means, and what it may be.
type Setting struct {
	// Name is the flag without its dashes and the key of the file.
	Name string
	// Group is the heading it stands under in --help.
	Group string
	// Meaning says in a sentence what the setting does.
	Meaning string
	// AppliesTo says which RPCs or which part of the server it concerns.
	AppliesTo string

	unit unit
	// minimum and maximum bound a number: bytes, a count, or nanoseconds. zeroToo allows 0 below the minimum.
	minimum, maximum int64
	zeroToo          bool
	// defaultText says what the default is where that is not in Default.
	defaultText string
	// field returns a pointer to the setting's field.
	field func(c *Config) any
}

// unit is what the value of a setting counts, and so how it is written.
type unit string

const (
	bytesUnit    unit = "SIZE"
	countUnit    unit = "COUNT"
	durationUnit unit = "DURATION"
	addressUnit  unit = "ADDRESS"
	levelUnit    unit = "LEVEL"
	fileUnit     unit = "FILE"
	storeUnit    unit = "STORE"
	nameUnit     unit = "NAME"
	modeUnit     unit = "MODE"
	versionUnit  unit = "VERSION"
	namesUnit    unit = "NAMES"
	switchUnit   unit = ""
)

// Groups of settings, in the order of --help.
const (
	groupAddresses = "Addresses"
	groupSecurity  = "Security"
	groupLimits    = "Limits on one request"
	groupSchemas   = "Schemas"
	groupStreams   = "Streams and connections"
	groupProcess   = "Process"
)

var groups = []string{groupAddresses, groupSecurity, groupLimits, groupSchemas, groupStreams, groupProcess}

// Env returns the name of the setting's environment variable.
func (s *Setting) Env() string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
}

// Text returns the value that c has for the setting, as it may be written in a flag, the environment or the file.
func (s *Setting) Text(c *Config) string { return formatValue(s.unit, s.field(c)) }

// largestInt bounds what Thrift and gRPC count in 32 bits.
const largestInt = math.MaxInt32

// longest bounds durations: more than a day is a mistake in the unit.
const longest = int64(24 * time.Hour)

// Settings returns every setting, in the order of --help. The caller owns the slice.
func Settings() []Setting {
	return slices.Concat(basicSettings(), securitySettings(), schemaSettings())
}

func basicSettings() []Setting {
	return []Setting{
		{
			Name: "grpc-addr", Group: groupAddresses, unit: addressUnit,
			Meaning:   "Where gRPC is served: host:port, or unix:PATH. Port 0 takes a free one, which the log line \"serving\" names.",
			AppliesTo: "gRPC",
			field:     func(c *Config) any { return &c.GRPCAddr },
		},
		{
			Name: "http-addr", Group: groupAddresses, unit: addressUnit,
			Meaning:   "Where /metrics, /healthz and /readyz are served: host:port, or empty for none.",
			AppliesTo: "HTTP",
			field:     func(c *Config) any { return &c.HTTPAddr },
		},
		{
			Name: "health-addr", Group: groupAddresses, unit: addressUnit,
			Meaning:   "Where grpc.health.v1 is served alone and in plaintext, for probes: host:port, or empty for none.",
			AppliesTo: "gRPC health",
			field:     func(c *Config) any { return &c.HealthAddr },
		},
		{
			Name: "insecure", Group: groupAddresses, unit: switchUnit,
			Meaning:   "Allow a grpc-addr that others can reach although it has no TLS, and pprof on such an http-addr.",
			AppliesTo: "gRPC, HTTP",
			field:     func(c *Config) any { return &c.Insecure },
		},
		{
			Name: "unix-socket-mode", Group: groupAddresses, unit: modeUnit,
			Meaning:   "Who may connect to the socket of a grpc-addr unix:PATH: its permissions in octal, as a text with a leading 0.",
			AppliesTo: "gRPC",
			field:     func(c *Config) any { return &c.UnixSocketMode },
		},
		{
			Name: "pprof", Group: groupAddresses, unit: switchUnit,
			Meaning:   "Serve /debug/pprof on http-addr. Profiles can show payloads.",
			AppliesTo: "HTTP",
			field:     func(c *Config) any { return &c.Pprof },
		},

		{
			Name: "max-request-bytes", Group: groupLimits, unit: bytesUnit, minimum: 1, maximum: largestInt,
			Meaning:   "The largest request message.",
			AppliesTo: "every RPC; of Parts, each message",
			field:     func(c *Config) any { return &c.MaxRequestBytes },
		},
		{
			Name: "max-unary-reply-bytes", Group: groupLimits, unit: bytesUnit, minimum: 1, maximum: largestInt,
			Meaning:   "The largest reply of a unary RPC. Stock clients take 4MiB; larger results need the streaming RPC, which the error names.",
			AppliesTo: "Encode, Decode",
			field:     func(c *Config) any { return &c.MaxUnaryReplyBytes },
		},
		{
			Name: "max-depth", Group: groupLimits, unit: countUnit, minimum: 1, maximum: 10_000,
			Meaning:   "The deepest nesting of structs and containers; the root is 1.",
			AppliesTo: "every RPC",
			field:     func(c *Config) any { return &c.MaxDepth },
		},
		{
			Name: "max-depth-value", Group: groupLimits, unit: countUnit, minimum: 1, maximum: 10_000,
			Meaning: "The same where a Value is returned and the request does not set max_depth: protobuf parsers stop at 100 nested " +
				"messages, and a struct costs two. At most max-depth.",
			AppliesTo: "Decode, DecodeStream, DecodeBatch",
			field:     func(c *Config) any { return &c.MaxDepthValue },
		},
		{
			Name: "max-elements", Group: groupLimits, unit: countUnit, minimum: 1, maximum: largestInt,
			Meaning:   "The most elements of one list or set, or entries of one map.",
			AppliesTo: "every RPC but Parts",
			field:     func(c *Config) any { return &c.MaxElements },
		},
		{
			Name: "max-string-bytes", Group: groupLimits, unit: bytesUnit, minimum: 1, maximum: largestInt,
			Meaning:   "The longest string or binary.",
			AppliesTo: "every RPC but Parts",
			field:     func(c *Config) any { return &c.MaxStringBytes },
		},
		{
			Name: "max-decoded-nodes", Group: groupLimits, unit: countUnit, minimum: 1, maximum: largestInt,
			Meaning:   "The most values that one decode returns: a list of a million bools is a million and one.",
			AppliesTo: "Decode, DecodeStream, DecodeBatch",
			field:     func(c *Config) any { return &c.MaxDecodedNodes },
		},
		{
			Name: "max-slow-nodes", Group: groupLimits, unit: countUnit, minimum: 1, maximum: largestInt,
			Meaning:   "The most protobuf members, scalars included, of a Value that needs merging first: a member given twice, a list in several runs, an overlong varint.",
			AppliesTo: "Encode, EncodeStream, EncodeBatch",
			field:     func(c *Config) any { return &c.MaxSlowNodes },
		},

		{
			Name: "stream-budget", Group: groupStreams, unit: bytesUnit, minimum: SmallestStreamBudget, maximum: 1 << 50,
			Meaning:   "The memory of all streams together. At least one stream with the largest chunks must fit.",
			AppliesTo: "streaming RPCs",
			field:     func(c *Config) any { return &c.StreamBudget },
		},
		{
			Name: "stream-wait", Group: groupStreams, unit: durationUnit, minimum: 0, maximum: longest,
			Meaning:   "How long a stream waits for budget before it is refused.",
			AppliesTo: "streaming RPCs",
			field:     func(c *Config) any { return &c.StreamWait },
		},
		{
			Name: "stall-timeout", Group: groupStreams, unit: durationUnit, minimum: int64(10 * time.Millisecond), maximum: longest,
			Meaning:   "How long a peer may take over one message, reading or sending it, before its call is ended; and a new connection, 1 s at least and 20 s at most.",
			AppliesTo: "every RPC",
			field:     func(c *Config) any { return &c.StallTimeout },
		},
		{
			Name: "max-connections", Group: groupStreams, unit: countUnit, minimum: 1, maximum: 1 << 20,
			Meaning:   "The most open gRPC connections; further ones are closed at once.",
			AppliesTo: "gRPC",
			field:     func(c *Config) any { return &c.MaxConnections },
		},
		{
			Name: "max-connections-per-address", Group: groupStreams, unit: countUnit, minimum: 1, maximum: 1 << 20, zeroToo: true,
			Meaning:   "The most of them from one address (of IPv6: one network of 64 bits); 0 for as many as max-connections. Behind a proxy all clients have its address.",
			AppliesTo: "gRPC",
			field:     func(c *Config) any { return &c.MaxConnectionsPerAddress },
		},
		{
			Name: "max-concurrent-streams", Group: groupStreams, unit: countUnit, minimum: 1, maximum: 1 << 20,
			Meaning:   "The most RPCs under way on one connection; clients hold back the rest.",
			AppliesTo: "gRPC",
			field:     func(c *Config) any { return &c.MaxConcurrentStreams },
		},
		{
			Name: "max-connection-age", Group: groupStreams, unit: durationUnit, minimum: int64(time.Second), maximum: 30 * longest, zeroToo: true,
			Meaning:   "About how long a connection lives, so that clients find new replicas; 0 for ever.",
			AppliesTo: "gRPC",
			field:     func(c *Config) any { return &c.MaxConnectionAge },
		},
		{
			Name: "max-connection-age-grace", Group: groupStreams, unit: durationUnit, minimum: int64(time.Millisecond), maximum: 30 * longest,
			Meaning:   "How long the RPCs of an aged connection may go on.",
			AppliesTo: "gRPC",
			field:     func(c *Config) any { return &c.MaxConnectionAgeGrace },
		},
		{
			Name: "compress-replies", Group: groupStreams, unit: switchUnit,
			Meaning:   "Compress the replies to gzip requests too. Without it replies are never compressed.",
			AppliesTo: "every RPC",
			field:     func(c *Config) any { return &c.CompressReplies },
		},

		{
			Name: "drain-delay", Group: groupProcess, unit: durationUnit, minimum: 0, maximum: longest,
			Meaning:   "After SIGTERM: how long to keep serving, not ready, while endpoints are withdrawn.",
			AppliesTo: "SIGTERM",
			field:     func(c *Config) any { return &c.DrainDelay },
		},
		{
			Name: "drain-timeout", Group: groupProcess, unit: durationUnit, minimum: int64(time.Millisecond), maximum: longest,
			Meaning:   "After drain-delay: how long RPCs under way may take to end before they are cut off.",
			AppliesTo: "SIGTERM",
			field:     func(c *Config) any { return &c.DrainTimeout },
		},
		{
			Name: "memory-limit", Group: groupProcess, unit: bytesUnit, minimum: 32 << 20, maximum: 1 << 50, zeroToo: true,
			Meaning:   "The soft memory limit of the Go runtime; 0 takes GOMEMLIMIT where set, else 90 % of the cgroup's limit.",
			AppliesTo: "process",
			field:     func(c *Config) any { return &c.MemoryLimit },
		},
		{
			Name: "log-level", Group: groupProcess, unit: levelUnit,
			Meaning:   "What is logged, as JSON on stderr: debug (each unary call, too), info, warn or error.",
			AppliesTo: "process",
			field:     func(c *Config) any { return &c.LogLevel },
		},
		{
			Name: "log-rate", Group: groupProcess, unit: countUnit, minimum: 1, maximum: 1 << 30, zeroToo: true,
			Meaning: "The most lines of each level about calls and connections in a second, and ten times as many after a pause; 0 for all. " +
				"The next line says how many were left out.",
			AppliesTo: "process",
			field:     func(c *Config) any { return &c.LogRate },
		},
	}
}
