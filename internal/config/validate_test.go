package config

import (
	"strings"
	"testing"
	"time"
)

func TestDefaultIsValid(t *testing.T) {
	c := Default()
	if err := c.Validate(); err != nil {
		t.Errorf("Default: %v", err)
	}
	if err := new(Config).Validate(); err == nil {
		t.Error("the zero Config is valid, want an error")
	}
}

// TestEveryNumberIsBounded tries both sides of both bounds of every number.
func TestEveryNumberIsBounded(t *testing.T) {
	for _, s := range Settings() {
		c := Default()
		if _, ok := number(s.field(&c)); !ok {
			continue
		}
		if s.maximum <= 0 {
			t.Errorf("%s has no maximum", s.Name)
		}
		for _, n := range []struct {
			value int64
			valid bool
		}{{s.minimum - 1, s.zeroToo && s.minimum == 1}, {s.minimum, true}, {s.maximum, true}, {s.maximum + 1, false}, {-1, false}, {0, s.zeroToo || s.minimum == 0}} {
			setNumber(s.field(&c), n.value)
			err := s.checkRange(&c)
			if (err == nil) != n.valid {
				t.Errorf("%s = %d: %v, want valid %t", s.Name, n.value, err, n.valid)
			}
		}
	}
}

func setNumber(field any, n int64) {
	switch p := field.(type) {
	case *int:
		*p = int(n)
	case *int64:
		*p = n
	case *time.Duration:
		*p = time.Duration(n)
	}
}

func TestValidateAddresses(t *testing.T) {
	tests := []struct {
		name   string
		change func(c *Config)
		want   string // "" for valid
	}{
		{"loopback of IPv6", func(c *Config) { c.GRPCAddr = "[::1]:50051" }, ""},
		{"mapped loopback", func(c *Config) { c.GRPCAddr = "[::ffff:127.0.0.1]:50051" }, ""},
		{"localhost", func(c *Config) { c.GRPCAddr = "localhost:0" }, ""},
		{"a socket file", func(c *Config) { c.GRPCAddr = "unix:/run/thriftpack.sock" }, ""},
		{"no HTTP", func(c *Config) { c.HTTPAddr = "" }, ""},
		{"health for all", func(c *Config) { c.HealthAddr = "0.0.0.0:50052" }, ""},
		{"public and insecure", func(c *Config) { c.GRPCAddr, c.Insecure = "0.0.0.0:50051", true }, ""},
		{"public with TLS", func(c *Config) { c.GRPCAddr, c.TLSCert, c.TLSKey = "0.0.0.0:50051", "c", "k" }, ""},
		{"TLS with clients' certificates", func(c *Config) { c.TLSCert, c.TLSKey, c.TLSClientCA = "c", "k", "a" }, ""},
		{"a certificate without its key", func(c *Config) { c.TLSCert = "c" }, "tls-cert: needs a tls-key"},
		{"a key without its certificate", func(c *Config) { c.TLSKey = "k" }, "tls-key: needs a tls-cert"},
		{"clients' certificates without TLS", func(c *Config) { c.TLSClientCA = "a" }, "tls-client-ca: needs a tls-cert"},
		{"a burst without a rate", func(c *Config) { c.RateBurst = 5 }, "rate-burst: needs a rate-limit"},
		{"nothing exempt", func(c *Config) { c.AuthExempt = "" }, ""},
		{"exempt with a space", func(c *Config) { c.AuthExempt = "reflection, health" }, ""},
		{"an exempt service that cannot be", func(c *Config) { c.AuthExempt = "health,schema" }, `auth-exempt: "schema" is no service`},
		{"an old version of TLS", func(c *Config) { c.TLSMinVersion = "1.1" }, `tls-min-version: "1.1" is not a version`},
		{"ports 0 twice", func(c *Config) { c.GRPCAddr, c.HTTPAddr = "127.0.0.1:0", "127.0.0.1:0" }, ""},
		{"all addresses", func(c *Config) { c.GRPCAddr = "0.0.0.0:50051" }, `grpc-addr: "0.0.0.0:50051" can be reached by others`},
		{"no host", func(c *Config) { c.GRPCAddr = ":50051" }, `grpc-addr: ":50051" can be reached by others`},
		{"a name", func(c *Config) { c.GRPCAddr = "thriftpack:50051" }, "can be reached by others"},
		{"no port", func(c *Config) { c.GRPCAddr = "127.0.0.1" }, `grpc-addr: "127.0.0.1" is not an address`},
		{"nothing", func(c *Config) { c.GRPCAddr = "" }, `grpc-addr: "" is not an address`},
		{"a large port", func(c *Config) { c.HTTPAddr = "127.0.0.1:65536" }, `http-addr: "127.0.0.1:65536": the port`},
		{"a port by name", func(c *Config) { c.HealthAddr = "127.0.0.1:http" }, `health-addr: "127.0.0.1:http": the port`},
		{"a socket without a path", func(c *Config) { c.GRPCAddr = "unix:" }, "want unix:PATH"},
		{"a socket with a long path", func(c *Config) { c.GRPCAddr = "unix:" + strings.Repeat("x", 101) }, "at most 100 bytes"},
		{"a socket for HTTP", func(c *Config) { c.HTTPAddr = "unix:/x" }, "only grpc-addr takes unix:PATH"},
		{"one address for two", func(c *Config) { c.HTTPAddr = c.GRPCAddr }, `http-addr: "127.0.0.1:50051" is the grpc-addr, too`},
		{"one address for health and HTTP", func(c *Config) { c.HealthAddr = c.HTTPAddr }, "is the http-addr, too"},
		{"public profiles", func(c *Config) { c.HTTPAddr, c.Pprof = ":8080", true }, "pprof: http-addr"},
		{"profiles nowhere", func(c *Config) { c.HTTPAddr, c.Pprof = "", true }, "pprof: needs an http-addr"},
		{"a level", func(c *Config) { c.LogLevel = "INFO" }, `log-level: "INFO" is not a level`},
		{"values deeper than all", func(c *Config) { c.MaxDepthValue = 65 }, "max-depth-value: 65 exceeds max-depth 64"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := Default()
			test.change(&c)
			err := c.Validate()
			switch {
			case test.want == "" && err != nil:
				t.Errorf("Validate: %v, want none", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("Validate: %v, want %q", err, test.want)
			}
		})
	}
}

func TestSizes(t *testing.T) {
	tests := []struct {
		text string
		want int64
		back string
	}{
		{"0", 0, "0"},
		{"1", 1, "1B"},
		{"1023", 1023, "1023B"},
		{"1024", 1024, "1KiB"},
		{"16MiB", 16 << 20, "16MiB"},
		{" 16 MiB ", 16 << 20, "16MiB"},
		{"16Mi", 16 << 20, "16MiB"},
		{"4095KiB", 4<<20 - 1<<10, "4095KiB"},
		{"1GiB", 1 << 30, "1GiB"},
		{"2TiB", 2 << 40, "2TiB"},
		{"1MB", 1e6, "1000000B"},
		{"8kB", 8000, "8000B"},
		{"9223372036854775807", 1<<63 - 1, "9223372036854775807B"},
	}
	for _, test := range tests {
		got, err := ParseSize(test.text)
		if err != nil || got != test.want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", test.text, got, err, test.want)
		}
		if back := FormatSize(test.want); back != test.back {
			t.Errorf("FormatSize(%d) = %q, want %q", test.want, back, test.back)
		}
		if again, err := ParseSize(FormatSize(test.want)); err != nil || again != test.want {
			t.Errorf("ParseSize(FormatSize(%d)) = %d, %v", test.want, again, err)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "+1", "1.5MiB", "16M", "16K", "1G", "1 0", "0x10", "1e3", "9223372036854775808", "8388608TiB"} {
		if n, err := ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", text, n)
		}
	}
}

func TestDurationsAreShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 5 * time.Second: "5s", 30 * time.Minute: "30m", 2 * time.Hour: "2h", 90 * time.Second: "1m30s", 10 * time.Minute: "10m",
		20*time.Hour + time.Second: "20h0m1s", 500 * time.Millisecond: "500ms",
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("formatDuration(%d) = %q, want %q", d, got, want)
		}
	}
}
