package archtest

import (
	"strconv"
	"strings"
	"testing"
)

// layer says what the packages in a folder may import of this repository and of others, beyond the standard library. The
// most specific folder counts. Tests may import more: they are looked at by TestOnlyTestsKnow alone.
type layer struct {
	dir      string
	ours     []string // folders
	others   []string // module or package paths
	whatFor  string   // what the layer is
	forbidIn string   // why it may import no more
}

const (
	api   = "api/thriftpack/v1"
	fault = "internal/fault"
	proto = "google.golang.org/protobuf"
	grpc  = "google.golang.org/grpc"
)

var layers = []layer{
	{
		dir: "api", others: []string{proto, grpc},
		whatFor: "the API", forbidIn: "clients import it: it brings them nothing but protobuf and gRPC",
	},
	{
		dir:     "internal/fault",
		whatFor: "the reasons of faults", forbidIn: "everything may import it, so it imports nothing",
	},
	{
		dir:     "internal/buildinfo",
		whatFor: "the version", forbidIn: "it only reads what the build left in the binary",
	},
	{
		dir:     "internal/varint",
		whatFor: "runs of varints", forbidIn: "it looks at bytes, whatever they are",
	},
	{
		dir:     "internal/pace",
		whatFor: "how often garbage is collected", forbidIn: "it looks at the Go runtime alone",
	},
	{
		dir:     "internal/reload",
		whatFor: "files that may change", forbidIn: "it does not know what is in them",
	},
	{
		dir: "internal/leaks", others: []string{"go.uber.org/goleak"},
		whatFor: "goroutines that tests leave", forbidIn: "it looks at goroutines, of whatever they are",
	},
	{
		dir: "internal/fixture", ours: []string{api}, others: []string{proto},
		whatFor: "values that tests and benchmarks share", forbidIn: "values are made of the API alone",
	},
	{
		dir: "internal/config", ours: []string{fault, "internal/reload"},
		others:  []string{"github.com/knadh/koanf", "github.com/spf13/pflag", "go.yaml.in/yaml"},
		whatFor: "settings", forbidIn: "it starts nothing",
	},
	{
		dir: "internal/encoder", ours: []string{api, fault, "internal/varint"}, others: []string{proto},
		whatFor: "values to Thrift bytes", forbidIn: "bytes to bytes: it must serve without gRPC, and without the way back",
	},
	{
		dir: "internal/decoder", ours: []string{api, fault, "internal/varint"}, others: []string{proto},
		whatFor: "Thrift bytes to values", forbidIn: "bytes to bytes: it must serve without gRPC, and without the way out",
	},
	{
		dir: "internal/stream", ours: []string{fault}, others: []string{grpc},
		whatFor: "lent chunks and their sending", forbidIn: "it knows memory and when gRPC gives it back, not what is in it",
	},
	{
		dir: "internal/inspect", ours: []string{api, fault, "internal/decoder", "internal/schema"}, others: []string{proto},
		whatFor: "listings of bytes for people", forbidIn: "it explains bytes, and must do so for any that it is given",
	},
	{
		dir: "internal/schema", ours: []string{api, fault, "internal/encoder", "internal/decoder", "internal/schema"},
		others:  []string{proto, "golang.org/x/sync"},
		whatFor: "types", forbidIn: "design: schema stands on the codecs, and nothing below knows of it",
	},
	{
		dir: "internal/schema/store", ours: []string{api, fault},
		others:  []string{proto, grpc, "go.etcd.io", "go.uber.org/zap", "golang.org/x/sync"},
		whatFor: "kept sources", forbidIn: "it keeps bytes and does not know what they mean; gRPC is that of etcd's client",
	},
	{
		dir: "internal/jsonvalue", ours: []string{api, fault, "internal/encoder", "internal/decoder", "internal/schema"},
		others:  []string{proto},
		whatFor: "JSON through types", forbidIn: "design: JSON stands on types and codecs",
	},
	{
		dir: "internal/telemetry", others: []string{"go.opentelemetry.io", "github.com/go-logr/logr", "golang.org/x/time"},
		whatFor: "the export of traces", forbidIn: "it exports spans, of whatever they are",
	},
	{
		dir: "internal/guard", ours: []string{fault, "internal/reload"},
		others:  []string{grpc, "github.com/grpc-ecosystem/go-grpc-middleware", "golang.org/x/time"},
		whatFor: "who may call", forbidIn: "it decides by caller and method, and never sees a request",
	},
	{
		dir: "internal/server",
		ours: []string{
			api, fault, "internal/config", "internal/encoder", "internal/decoder", "internal/stream", "internal/schema",
			"internal/jsonvalue", "internal/server", "internal/guard", "internal/reload", "internal/buildinfo",
		},
		others: []string{
			proto, grpc, "google.golang.org/genproto/googleapis/rpc", "github.com/grpc-ecosystem/go-grpc-middleware",
			"github.com/prometheus", "golang.org/x/sync", "golang.org/x/net", "golang.org/x/time", "go.opentelemetry.io",
		},
		whatFor: "gRPC services", forbidIn: "the only place that joins codecs, streams and gRPC",
	},
	{
		dir: "internal/load", ours: []string{api},
		others:  []string{proto, grpc, "google.golang.org/genproto/googleapis/rpc", "github.com/HdrHistogram/hdrhistogram-go"},
		whatFor: "load on a server", forbidIn: "it is a client, of any server",
	},
	{
		dir: "internal/cli",
		ours: []string{
			api, fault, "internal/buildinfo", "internal/reload", "internal/config", "internal/inspect", "internal/load", "internal/server", "internal/cli", "internal/schema",
		},
		others: []string{
			proto, grpc, "google.golang.org/genproto/googleapis/rpc", "github.com/spf13", "github.com/schollz/progressbar",
			"golang.org/x/term",
		},
		whatFor: "the command line client", forbidIn: "it is a client: codecs are reached through the server, in-process or not",
	},
	{
		dir: "cmd", ours: []string{api, fault, "internal"}, others: []string{"github.com/spf13", "golang.org/x/term", "golang.org/x/time", proto, grpc},
		whatFor: "programs", forbidIn: "main wires; the work is done below",
	},
	{
		dir: "examples", ours: []string{api}, others: []string{proto, grpc},
		whatFor: "what users may copy", forbidIn: "users have the API and nothing internal",
	},
	{
		dir:     "examples/demo",
		ours:    []string{api, "internal/config", "internal/server", "internal/inspect", "internal/schema"},
		others:  []string{proto, grpc, "google.golang.org/genproto/googleapis/rpc"},
		whatFor: "the demo", forbidIn: "it starts a server and explains bytes, and is a client otherwise",
	},
	{dir: "internal/archtest", whatFor: "these tests", forbidIn: "it reads sources, it imports none"},
}

func TestImportsPointOneWay(t *testing.T) {
	for _, s := range sources(t) {
		if s.module != "" || s.test {
			continue
		}
		var l *layer
		for i := range layers {
			if within(s.dir, []string{layers[i].dir}) && (l == nil || len(layers[i].dir) > len(l.dir)) {
				l = &layers[i]
			}
		}
		if l == nil {
			t.Errorf("%s: no layer for package %s: add it to the table above, and say what it may import", s.name, s.dir)
			continue
		}
		for _, spec := range s.file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(name, "/")
			if !strings.Contains(first, ".") {
				continue // the standard library
			}
			if own, ok := strings.CutPrefix(name, modulePath+"/"); ok {
				if !within(own, l.ours) {
					t.Errorf("%s: %s (%s) imports %s: %s", s.position(spec), l.dir, l.whatFor, own, l.forbidIn)
				}
			} else if !within(name, l.others) {
				t.Errorf("%s: %s (%s) imports %s: %s", s.position(spec), l.dir, l.whatFor, name, l.forbidIn)
			}
		}
	}
}

// What only tests, benchmarks and examples may import.
var testOnly = []struct{ path, reason, except string }{
	{path: modulePath + "/internal/fixture", reason: "values for tests do not belong in the service's binary"},
	{path: modulePath + "/internal/leaks", reason: "it ends the process"},
	{path: modulePath + "/internal/schema/schematest", reason: "it compiles schemas for tests, and reads files of the repository"},
	{path: "testing", reason: "it registers flags in the binary"},
	{path: "github.com/google/go-cmp", reason: "it panics on unexported fields, by design"},
	{path: "go.uber.org/goleak", reason: "it is for tests", except: "internal/leaks"},
}

func TestOnlyTestsKnow(t *testing.T) {
	for _, s := range sources(t) {
		if s.module != "" || s.test {
			continue
		}
		for _, spec := range s.file.Imports {
			for _, rule := range testOnly {
				if strings.HasPrefix(strings.Trim(spec.Path.Value, `"`), rule.path) && s.dir != rule.except {
					t.Errorf("%s: imports %s: %s", s.position(spec), rule.path, rule.reason)
				}
			}
		}
	}
}

// What needs a reason to be imported at all, with the folders that have one.
var dangerous = []struct {
	path    string
	reason  string
	allowed []string
}{
	{"unsafe", "memory that is lent must be seen by the compiler and the race detector", []string{
		"internal/encoder", // Writer passes the bytes of a string to an io.Writer, which must not keep them, without a copy
	}},
	{"C", "the service is one static binary", nil},
	{"net/http/pprof", "it registers itself on the default mux, which nobody may serve", []string{
		"internal/server", // serves its handlers on a mux of its own, when asked to
	}},
	{"expvar", "it registers itself on the default mux", nil},
	{"encoding/gob", "it allocates what its input claims", nil},
	{"google.golang.org/grpc/experimental", "its API changes; keep it in one place", []string{"internal/server"}},
}

func TestDangerousImportsHaveAReason(t *testing.T) {
	for _, s := range sources(t) {
		if s.module != "" || s.test || s.generated {
			continue
		}
		for _, spec := range s.file.Imports {
			for _, rule := range dangerous {
				if strings.Trim(spec.Path.Value, `"`) == rule.path && !within(s.dir, rule.allowed) {
					t.Errorf("%s: imports %s: %s", s.position(spec), rule.path, rule.reason)
				}
			}
		}
	}
}

// The libraries that the modules test and bench compare with, and others that must not come into the service.
var notInTheService = []struct{ module, reason string }{
	{"github.com/apache/thrift", "it is the oracle of the tests"},
	{"github.com/parquet-go/parquet-go", "it writes footers for the tests"},
	{"github.com/segmentio/encoding", "a peer of the benchmarks"},
	{"github.com/bytedance", "a peer of the benchmarks"},
	{"github.com/go-json-experiment/json", "an oracle of the tests, and a peer of the benchmarks"},
	{"github.com/cloudwego", "a peer of the benchmarks"},
	{"github.com/thrift-iterator/go", "a peer of the benchmarks"},
	{"github.com/bufbuild/buf", "a tool; the Makefile builds it on its own"},
	{"github.com/golangci/golangci-lint", "a tool; the Makefile builds it on its own"},
	{"github.com/stretchr/testify", "tests use the standard library and go-cmp"},
}

func TestTheServiceHasNoDependencyOfTests(t *testing.T) {
	for line := range strings.Lines(read(t, "go.mod")) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "require ")
		if strings.HasPrefix(line, "replace") || strings.HasPrefix(line, "tool") {
			t.Errorf("go.mod: %q: the root module is for others to import, and takes no replace and no tool", line)
		}
		module, _, _ := strings.Cut(line, " ")
		for _, rule := range notInTheService {
			if within(module, []string{rule.module}) {
				t.Errorf("go.mod: %s: %s", module, rule.reason)
			}
		}
	}
}
