package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sample returns a valid value that is not the default, as text and as it ends up in the field.
func sample(t *testing.T, s *Setting) (text string, want any) {
	t.Helper()
	c := Default()
	switch p := s.field(&c).(type) {
	case *bool:
		return "true", true
	case *string:
		if s.unit == levelUnit {
			return "warn", "warn"
		}
		switch s.unit {
		case versionUnit:
			return "1.2", "1.2"
		case namesUnit:
			return "reflection", "reflection"
		default:
		}
		if s.unit == storeUnit {
			return "etcds://e:2379/p", "etcds://e:2379/p"
		}
		return "127.0.0.1:7", "127.0.0.1:7"
	case *fs.FileMode:
		return "0660", fs.FileMode(0o660)
	case *time.Duration:
		return "1m1s", 61 * time.Second
	case *int:
		if s.unit == bytesUnit {
			return "3MiB", 3 << 20
		}
		return "42", 42
	case *int64:
		return "96MiB", int64(96 << 20)
	default:
		t.Fatalf("%s: field of type %T has no sample", s.Name, p)
		return "", nil
	}
}

// TestEveryFieldIsASetting walks the fields of Config: each has exactly one setting, and so a flag, a variable and a key.
func TestEveryFieldIsASetting(t *testing.T) {
	var c Config
	names := map[uintptr]string{}
	for _, s := range Settings() {
		at := reflect.ValueOf(s.field(&c)).Pointer()
		if other, taken := names[at]; taken {
			t.Errorf("settings %s and %s share a field", other, s.Name)
		}
		names[at] = s.Name
	}
	fields := reflect.ValueOf(&c).Elem()
	for i := range fields.NumField() {
		if _, ok := names[fields.Field(i).Addr().Pointer()]; !ok {
			t.Errorf("Config.%s has no setting", fields.Type().Field(i).Name)
		}
	}
	if got, want := len(names), fields.NumField(); got != want {
		t.Errorf("%d settings, want %d", got, want)
	}
}

const etcd = "--schema-store=etcds://127.0.0.1:2379"

// needs are the settings that some need beside them.
var needs = map[string][]string{
	"pprof":         {"--http-addr=127.0.0.1:1"},
	"tls-cert":      {"--tls-key=k"},
	"tls-key":       {"--tls-cert=c"},
	"tls-client-ca": {"--tls-cert=c", "--tls-key=k"},
	"rate-burst":    {"--rate-limit=1"},

	"schema-etcd-ca":            {etcd},
	"schema-etcd-cert":          {etcd, "--schema-etcd-key=k"},
	"schema-etcd-key":           {etcd, "--schema-etcd-cert=c"},
	"schema-etcd-username":      {etcd, "--schema-etcd-password-file=f"},
	"schema-etcd-password-file": {etcd, "--schema-etcd-username=u"},
}

func TestEverySettingFromEverySource(t *testing.T) {
	for _, s := range Settings() {
		text, want := sample(t, &s)
		file := writeFile(t, fmt.Sprintf("%s: %q\n", s.Name, text))
		extra := needs[s.Name]
		sources := map[string]struct{ args, environ []string }{
			"flag":        {args: append(extra, "--"+s.Name+"="+text)},
			"environment": {args: extra, environ: []string{s.Env() + "=" + text}},
			"file":        {args: append(extra, "--config="+file)},
		}
		for origin, in := range sources {
			t.Run(s.Name+"/"+origin, func(t *testing.T) {
				loaded, err := Load(in.args, in.environ)
				if err != nil {
					t.Fatalf("Load(%q, %q): %v", in.args, in.environ, err)
				}
				got := reflect.ValueOf(s.field(&loaded.Config)).Elem().Interface()
				if got != want {
					t.Errorf("Load(%q, %q): %s = %v, want %v", in.args, in.environ, s.Name, got, want)
				}
				if loaded.Origin[s.Name] != origin {
					t.Errorf("origin of %s = %q, want %q", s.Name, loaded.Origin[s.Name], origin)
				}
			})
		}
	}
}

func TestPrecedence(t *testing.T) {
	file := writeFile(t, "max-depth: 10\nmax-elements: 11\nmax-slow-nodes: 12\n")
	environ := []string{"THRIFTPACK_CONFIG=" + file, "THRIFTPACK_MAX_DEPTH=20", "THRIFTPACK_MAX_ELEMENTS=21", "PATH=/bin"}
	loaded, err := Load([]string{"--max-depth=30"}, environ)
	if err != nil {
		t.Fatal(err)
	}
	c := loaded.Config
	got := []int{c.MaxDepth, c.MaxElements, c.MaxSlowNodes, c.MaxDecodedNodes, c.MaxDepthValue}
	want := []int{30, 21, 12, Default().MaxDecodedNodes, 30}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("flag, environment, file, default, and the depth of values that follows max-depth (-want +got):\n%s", diff)
	}
}

func TestLoadRefusesByName(t *testing.T) {
	unknownKey := writeFile(t, "max-dept: 5\n")
	nested := writeFile(t, "max:\n  depth: 5\n")
	list := writeFile(t, "max-depth: [5]\n")
	null := writeFile(t, "max-depth:\n")
	noUnit := writeFile(t, "stream-wait: 5\n")
	float := writeFile(t, "max-depth: 5.5\n")
	twoDocuments := writeFile(t, "max-depth: 5\n---\nmax-elements: 6\n")
	badSecond := writeFile(t, "max-depth: 5\n---\n\t\n")
	mode := writeFile(t, "unix-socket-mode: 0660\n")
	notYAML := writeFile(t, "max-depth: 5\nmax-depth: 6\n\tx")
	large := writeFile(t, strings.Repeat("#", 1<<20+1))
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	outOfRange := writeFile(t, "max-depth: 0\n")
	tests := []struct {
		name    string
		args    []string
		environ []string
		want    string
	}{
		{"an unknown flag", []string{"--max-dept=5"}, nil, "unknown flag: --max-dept"},
		{"an argument", []string{"serve"}, nil, `unexpected argument "serve"`},
		{"an unknown variable", nil, []string{"THRIFTPACK_MAX_DEPT=5"}, "THRIFTPACK_MAX_DEPT: no such setting"},
		{"a variable in lower case", nil, []string{"THRIFTPACK_max_depth=5"}, "THRIFTPACK_max_depth: no such setting"},
		{"a port that is no setting", nil, []string{"THRIFTPACK_GRPC_PORT=50051"}, "THRIFTPACK_GRPC_PORT: no such setting"},
		{"an unknown key", []string{"--config=" + unknownKey}, nil, unknownKey + ": max-dept: no such setting"},
		{"a nested key", []string{"--config=" + nested}, nil, nested + ": max.depth: no such setting"},
		{"a list in the file", []string{"--config=" + list}, nil, list + ": max-depth: wants one value"},
		{"a key without a value", []string{"--config=" + null}, nil, null + ": max-depth: has no value"},
		{"a duration without a unit", []string{"--config=" + noUnit}, nil, noUnit + `: stream-wait: "5" is not a duration`},
		{"a fraction", []string{"--config=" + float}, nil, float + `: max-depth: "5.5" is not a count`},
		{"a file that is not YAML", []string{"--config=" + notYAML}, nil, "--config " + notYAML + ": yaml:"},
		{"two documents", []string{"--config=" + twoDocuments}, nil, "--config " + twoDocuments + ": yaml: more than one document"},
		{"a second document that is not YAML", []string{"--config=" + badSecond}, nil, "--config " + badSecond + ": yaml:"},
		{"a mode without quotes", []string{"--config=" + mode}, nil, mode + `: unix-socket-mode: "432" is not a mode`},
		{"a file that is not there", []string{"--config=/nowhere.yaml"}, nil, "--config /nowhere.yaml: open"},
		{"a file without an end", []string{"--config=/dev/zero"}, nil, "--config /dev/zero: read /dev/zero: not a regular file"},
		{"a pipe that nobody writes to", []string{"--config=" + pipe}, nil, "not a regular file"},
		{"a large file", []string{"--config=" + large}, nil, "larger than 1048576 bytes"},
		{"a word for a count", []string{"--max-depth=deep"}, nil, `--max-depth: "deep" is not a count`},
		{"a word in a variable", nil, []string{"THRIFTPACK_MAX_DEPTH=deep"}, `THRIFTPACK_MAX_DEPTH: "deep" is not a count`},
		{"an empty variable", nil, []string{"THRIFTPACK_MAX_DEPTH="}, `THRIFTPACK_MAX_DEPTH: "" is not a count`},
		{"an ambiguous size", []string{"--max-request-bytes=16M"}, nil, `--max-request-bytes: "16M" is not a size`},
		{"a negative size", []string{"--max-request-bytes=-1"}, nil, `--max-request-bytes: "-1" is not a size`},
		{"a size beyond 63 bits", []string{"--stream-budget=9999999999GiB"}, nil, `--stream-budget: "9999999999GiB" is not a size`},
		{"a word for a switch", []string{"--insecure=maybe"}, nil, `--insecure: "maybe" is not a switch`},
		{"a value out of range", []string{"--max-depth=0"}, nil, "--max-depth: 0 is out of range; want 1 to 10000"},
		{"a value out of range in a variable", nil, []string{"THRIFTPACK_MAX_DEPTH=0"}, "THRIFTPACK_MAX_DEPTH: 0 is out of range"},
		{"a value out of range in the file", []string{"--config=" + outOfRange}, nil, outOfRange + ": max-depth: 0 is out of range"},
		{"a wrong level in a variable", nil, []string{"THRIFTPACK_LOG_LEVEL=loud"}, `THRIFTPACK_LOG_LEVEL: "loud" is not a level`},
		{"a public address in a variable", nil, []string{"THRIFTPACK_GRPC_ADDR=:1"}, `THRIFTPACK_GRPC_ADDR: ":1" can be reached by others`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Load(test.args, test.environ)
			if err == nil {
				t.Fatalf("Load(%q, %q) succeeded, want an error", test.args, test.environ)
			}
			if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("Load(%q, %q): %q, want one line with %q", test.args, test.environ, err, test.want)
			}
		})
	}
}

// TestKubernetesServiceLinks has the variables that a Service named thriftpack puts into every pod beside it.
func TestKubernetesServiceLinks(t *testing.T) {
	environ := []string{
		"THRIFTPACK_SERVICE_HOST=10.0.0.1", "THRIFTPACK_SERVICE_PORT=50051", "THRIFTPACK_SERVICE_PORT_GRPC=50051",
		"THRIFTPACK_PORT=tcp://10.0.0.1:50051", "THRIFTPACK_PORT_50051_TCP=tcp://10.0.0.1:50051", "THRIFTPACK_PORT_50051_TCP_PROTO=tcp",
		"THRIFTPACK_PORT_50051_TCP_PORT=50051", "THRIFTPACK_PORT_50051_TCP_ADDR=10.0.0.1", "THRIFTPACK_CANARY_SERVICE_HOST=10.0.0.2",
	}
	if _, err := Load(nil, environ); err != nil {
		t.Errorf("Load with service links: %v", err)
	}
	for _, s := range Settings() {
		if serviceLink.MatchString(s.Env() + "=tcp://10.0.0.1:50051") {
			t.Errorf("%s looks like a service link and would be ignored", s.Env())
		}
	}
}

func TestActions(t *testing.T) {
	tests := []struct {
		args []string
		want Action
	}{
		{nil, Serve},
		{[]string{"--check-config"}, CheckConfig},
		{[]string{"--version"}, ShowVersion},
		{[]string{"-h"}, ShowHelp},
		{[]string{"--help", "--max-depth=deep"}, ShowHelp},
	}
	for _, test := range tests {
		loaded, err := Load(test.args, nil)
		if err != nil || loaded.Action != test.want {
			t.Errorf("Load(%q): action %d, %v; want %d", test.args, loaded.Action, err, test.want)
		}
	}
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "thriftpack.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
