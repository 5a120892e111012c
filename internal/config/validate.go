package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// What a stream may cost, in bytes.
const (
	// LargestChunk is the largest response message that a client may ask for.
	LargestChunk = 1 << 20
	// SendWindow is what gRPC may hold of one stream's replies.
	SendWindow = 64 << 10
	// ReceiveWindow is the flow control window of one stream: what a peer may send that nobody has read yet.
	ReceiveWindow = 1 << 20
)

// SmallestStreamBudget is what one stream with the largest chunks takes, in bytes.
const SmallestStreamBudget = SendWindow + 2*LargestChunk

var (
	errNoValue    = errors.New("has no value")
	errManyValues = errors.New("wants one value, not a list or a mapping")
	errSocketPath = errors.New("want unix:PATH with a path of at most 100 bytes")
)

// Validate checks that every setting is within its range and that they fit each other. The error is one line and names
// the setting.
func (c *Config) Validate() error {
	for _, s := range Settings() {
		if err := s.checkRange(c); err != nil {
			return &settingError{s.Name, err}
		}
	}
	if c.MaxDepthValue > c.MaxDepth {
		return wrong("max-depth-value", "%d exceeds max-depth %d", c.MaxDepthValue, c.MaxDepth)
	}
	switch c.LogLevel {
	case "debug", "info", "warn", "error":
	default:
		return wrong("log-level", "%q is not a level; want debug, info, warn or error", c.LogLevel)
	}
	if err := c.validateSecurity(); err != nil {
		return err
	}
	if err := c.validateSchemas(); err != nil {
		return err
	}
	return c.validateAddresses()
}

// settingError is the error of a setting whose value can be read and is wrong.
type settingError struct {
	name string
	err  error
}

func (e *settingError) Error() string { return e.name + ": " + e.err.Error() }

func (e *settingError) Unwrap() error { return e.err }

// wrong returns the error of a setting.
func wrong(name, format string, args ...any) error {
	return &settingError{name, fmt.Errorf(format, args...)}
}

// checkRange checks a number against the setting's bounds.
func (s *Setting) checkRange(c *Config) error {
	n, ok := number(s.field(c))
	if !ok || (n >= s.minimum && n <= s.maximum) || (s.zeroToo && n == 0) {
		return nil
	}
	minimum, maximum := s.bounds()
	zero := ""
	if s.zeroToo {
		zero = ", or 0"
	}
	return fmt.Errorf("%s is out of range; want %s to %s%s", s.Text(c), minimum, maximum, zero)
}

// bounds writes the setting's range in its unit.
func (s *Setting) bounds() (minimum, maximum string) {
	switch s.unit {
	case bytesUnit:
		return FormatSize(s.minimum), FormatSize(s.maximum)
	case durationUnit:
		return formatDuration(time.Duration(s.minimum)), formatDuration(time.Duration(s.maximum))
	default:
		return formatCount(s.minimum), formatCount(s.maximum)
	}
}

func (c *Config) validateAddresses() error {
	if err := checkAddress(c.GRPCAddr); err != nil {
		return &settingError{"grpc-addr", err}
	}
	for _, a := range []struct{ name, address string }{{"http-addr", c.HTTPAddr}, {"health-addr", c.HealthAddr}} {
		if a.address == "" {
			continue
		}
		if strings.HasPrefix(a.address, "unix:") {
			return wrong(a.name, "%q: want host:port; only grpc-addr takes unix:PATH", a.address)
		}
		if err := checkAddress(a.address); err != nil {
			return &settingError{a.name, err}
		}
		if a.address == c.GRPCAddr && !strings.HasSuffix(a.address, ":0") {
			return wrong(a.name, "%q is the grpc-addr, too", a.address)
		}
	}
	if c.HTTPAddr != "" && c.HTTPAddr == c.HealthAddr && !strings.HasSuffix(c.HTTPAddr, ":0") {
		return wrong("health-addr", "%q is the http-addr, too", c.HealthAddr)
	}
	if c.Pprof && c.HTTPAddr == "" {
		return wrong("pprof", "needs an http-addr")
	}
	if c.Insecure {
		return nil
	}
	if isPublic(c.GRPCAddr) && !c.TLS() {
		return wrong("grpc-addr", "%q can be reached by others and has no TLS; add --tls-cert and --tls-key, or --insecure where the "+
			"network protects it", c.GRPCAddr)
	}
	if c.Pprof && isPublic(c.HTTPAddr) {
		return wrong("pprof", "http-addr %q can be reached by others, and profiles can show payloads; add --insecure where the network "+
			"protects it", c.HTTPAddr)
	}
	return nil
}

// validateSecurity checks the settings of who may call against each other. What is in their files is checked where they are read.
func (c *Config) validateSecurity() error {
	switch {
	case c.TLSCert != "" && c.TLSKey == "":
		return wrong("tls-cert", "needs a tls-key")
	case c.TLSKey != "" && c.TLSCert == "":
		return wrong("tls-key", "needs a tls-cert")
	case c.TLSClientCA != "" && c.TLSCert == "":
		return wrong("tls-client-ca", "needs a tls-cert and a tls-key")
	case c.TLSMinVersion != "1.2" && c.TLSMinVersion != "1.3":
		return wrong("tls-min-version", "%q is not a version; want 1.2 or 1.3", c.TLSMinVersion)
	}
	if c.RateBurst != 0 && c.RateLimit == 0 {
		return wrong("rate-burst", "needs a rate-limit")
	}
	for _, name := range c.Exempt() {
		if name != "health" && name != "reflection" {
			return wrong("auth-exempt", "%q is no service that can be exempt; want health, reflection, both with a comma between, or nothing", name)
		}
	}
	return nil
}

// Exempt returns the services of AuthExempt.
func (c *Config) Exempt() []string {
	names := strings.FieldsFunc(c.AuthExempt, func(r rune) bool { return r == ',' })
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return names
}

// checkAddress accepts "host:port" with a port in digits, and "unix:PATH".
func checkAddress(address string) error {
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		if path == "" || len(path) > 100 { // the kernel's sockaddr_un has 108 bytes
			return fmt.Errorf("%q: %w", address, errSocketPath)
		}
		return nil
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q is not an address; want host:port, such as 127.0.0.1:50051", address)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%q: the port is not a number from 0 to 65535", address)
	}
	return nil
}

// IsPublic reports whether GRPCAddr can be reached from outside of this machine.
func (c *Config) IsPublic() bool { return isPublic(c.GRPCAddr) }

// isPublic reports whether an address that checkAddress accepted can be reached from outside of this machine. Names other than
// localhost count as public: they are not resolved here.
func isPublic(address string) bool {
	if strings.HasPrefix(address, "unix:") {
		return false
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return true
	}
	if host == "localhost" {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err != nil || !ip.Unmap().IsLoopback()
}
