package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/config"
)

// program is the server, built once for all tests.
var program string

func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m)) // TestMain is a main
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "thriftpack-server-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder left in the temporary one harms nobody
	program = filepath.Join(dir, "server")
	if text, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil { //nolint:noctx // bounded by the test's own timeout
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, text)
		return 1
	}
	return m.Run()
}

// command prepares the program without settings from the environment of the test.
func command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(program)}
	return cmd
}

// finish runs the program to its end.
func finish(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := command(t.Context(), args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// process is a server that runs.
type process struct {
	cmd     *exec.Cmd
	serving map[string]any // the log line "serving"
	ended   chan struct{}  // closed when it has ended
	logs    []string       // complete when ended
}

// start starts the program and waits for its line "serving".
func start(t *testing.T, args ...string) *process {
	t.Helper()
	return startIn(t, nil, args...)
}

// startIn starts the program with variables in its environment.
func startIn(t *testing.T, environ []string, args ...string) *process {
	t.Helper()
	p := &process{cmd: command(t.Context(), args...), ended: make(chan struct{})}
	p.cmd.Env = append(p.cmd.Env, environ...)
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	serving := make(chan map[string]any, 1)
	go func() {
		defer close(p.ended)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			p.logs = append(p.logs, lines.Text())
			var line map[string]any
			if err := json.Unmarshal(lines.Bytes(), &line); err == nil && line["msg"] == "serving" {
				serving <- line
			}
		}
		_ = p.cmd.Wait() // ExitCode has the outcome
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it has ended already where the test went well
		<-p.ended
	})
	select {
	case p.serving = <-serving:
	case <-p.ended:
		t.Fatalf("the server ended with code %d before it served: %q", p.cmd.ProcessState.ExitCode(), p.logs)
	}
	return p
}

// signal sends a signal.
func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Error(err)
	}
}

// wait waits for the end and returns the exit code.
func (p *process) wait() int {
	<-p.ended
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) address(t *testing.T, name string) string {
	t.Helper()
	address, ok := p.serving[name].(string)
	if !ok {
		t.Fatalf("the line %q names no %s address", p.serving, name)
	}
	return address
}

func dial(t *testing.T, address string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // nothing can be lost at the end of a test
	return conn
}

func health(t *testing.T, conn *grpc.ClientConn) healthv1.HealthCheckResponse_ServingStatus {
	t.Helper()
	response, err := healthv1.NewHealthClient(conn).Check(t.Context(), &healthv1.HealthCheckRequest{})
	if err != nil {
		t.Fatalf("health: %v", err)
	}
	return response.GetStatus()
}

func encode(t *testing.T, conn *grpc.ClientConn) {
	t.Helper()
	response, err := thriftpackv1.NewSerializerServiceClient(conn).Encode(t.Context(),
		thriftpackv1.EncodeRequestOf(thriftpackv1.StructValue(thriftpackv1.I32Field(1, 42))))
	if got := hex.EncodeToString(response.GetData()); err != nil || got != "155400" {
		t.Fatalf("Encode = %s, %v; want 155400", got, err)
	}
}

// TestServeAndDrain is the life of a process in a cluster: port 0, ready, a call, SIGTERM, exit code 0.
func TestServeAndDrain(t *testing.T) {
	p := start(t, "--grpc-addr=127.0.0.1:0", "--http-addr=127.0.0.1:0", "--health-addr=127.0.0.1:0", "--drain-delay=10ms")
	conn := dial(t, p.address(t, "grpc"))
	if got := health(t, conn); got != healthv1.HealthCheckResponse_SERVING {
		t.Errorf("health is %s, want SERVING", got)
	}
	if got := health(t, dial(t, p.address(t, "health"))); got != healthv1.HealthCheckResponse_SERVING {
		t.Errorf("health on its own listener is %s, want SERVING", got)
	}
	encode(t, conn)
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.address(t, "http")+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close() // only the status is of interest
		if response.StatusCode != http.StatusOK {
			t.Errorf("GET %s: %s", path, response.Status)
		}
	}
	p.signal(t, syscall.SIGTERM)
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d after SIGTERM, want 0; logs %q", code, p.logs)
	}
	for _, line := range p.logs {
		if !json.Valid([]byte(line)) {
			t.Errorf("log line %q is not JSON", line)
		}
	}
}

// TestTraces has spans exported as the variables of OpenTelemetry say, the last of them when the process ends.
func TestTraces(t *testing.T) {
	got := make(chan string, 16)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.URL.Path + " " + string(body)
	}))
	defer collector.Close()
	p := startIn(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + collector.URL, "OTEL_SERVICE_NAME=of-a-test"}, "--grpc-addr=127.0.0.1:0", "--http-addr=", "--drain-delay=0s")
	encode(t, dial(t, p.address(t, "grpc")))
	p.signal(t, syscall.SIGTERM)
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d, want 0; logs %q", code, p.logs)
	}
	if len(got) != 1 {
		t.Fatalf("%d exports, want 1", len(got))
	}
	for export, words := <-got, []string{"/v1/traces ", "thriftpack.v1.SerializerService/Encode", "of-a-test"}; len(words) > 0; words = words[1:] {
		if !strings.Contains(export, words[0]) {
			t.Errorf("the export lacks %q: %q", words[0], export)
		}
	}
	cmd := command(t.Context(), "--grpc-addr=127.0.0.1:0")
	cmd.Env = append(cmd.Env, "OTEL_TRACES_EXPORTER=zipkin")
	if text, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(text), "OTEL_TRACES_EXPORTER: \"zipkin\" is not supported") {
		t.Errorf("an exporter that there is not: %v, %s", err, text)
	}
}

// TestDrainDelay looks at the server between SIGTERM and its end: not ready, and still serving. A second signal ends it.
func TestDrainDelay(t *testing.T) {
	p := start(t, "--grpc-addr=127.0.0.1:0", "--http-addr=", "--drain-delay=10m")
	conn := dial(t, p.address(t, "grpc"))
	encode(t, conn)
	p.signal(t, syscall.SIGTERM)
	for health(t, conn) != healthv1.HealthCheckResponse_NOT_SERVING {
		continue
	}
	encode(t, conn)

	// The handler of the first signal is taken away at about the time when the health changes.
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for ended := false; !ended; {
		select {
		case <-p.ended:
			ended = true
		case <-again.C:
			_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may be gone by now
		}
	}
	if code := p.wait(); code == 0 {
		t.Error("exit code 0 after a second SIGTERM, want another one")
	}
}

func TestUnixSocket(t *testing.T) {
	t.Chdir(t.TempDir())
	const path = "s" // relative, since the folder's may be too long for a socket
	p := start(t, "--grpc-addr=unix:"+path, "--http-addr=", "--drain-delay=0s")
	if got, want := p.address(t, "grpc"), "unix:"+path; got != want {
		t.Errorf("it serves on %q, want %q", got, want)
	}
	encode(t, dial(t, p.address(t, "grpc")))
	p.signal(t, os.Interrupt)
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d after SIGINT, want 0", code)
	}
}

func TestWrongSettingsStopTheStart(t *testing.T) {
	var listening net.ListenConfig
	taken, err := listening.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("max-dept: 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"an unknown flag", []string{"--max-dept=5"}, "unknown flag: --max-dept"},
		{"a wrong value", []string{"--max-depth=deep"}, `--max-depth: "deep" is not a count`},
		{"a value out of range", []string{"--stream-budget=1KiB"}, "stream-budget: 1KiB is out of range"},
		{"an unknown key", []string{"--config=" + file}, "max-dept: no such setting"},
		{"a public address", []string{"--grpc-addr=0.0.0.0:0"}, "add --tls-cert and --tls-key, or --insecure"},
		{"a certificate that is not there", []string{"--tls-cert=/nowhere", "--tls-key=/nowhere"}, "TLS: certificate: open /nowhere"},
		{"the same for --check-config", []string{"--tls-cert=/nowhere", "--tls-key=/nowhere", "--check-config"}, "TLS: certificate: open /nowhere"},
		{"a gRPC port in use", []string{"--grpc-addr=" + taken.Addr().String(), "--http-addr="}, "address already in use"},
		{"an HTTP port in use", []string{"--grpc-addr=127.0.0.1:0", "--http-addr=" + taken.Addr().String()}, "address already in use"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := finish(t, test.args...)
			if code != 1 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "server: ") || !strings.Contains(stderr, test.want) {
				t.Errorf("server %q: exit code %d, stdout %q, stderr %q; want 1 and one line with %q", test.args, code, stdout, stderr, test.want)
			}
		})
	}
}

func TestAnswersWithoutServing(t *testing.T) {
	help := []string{"--config", "--check-config", "Usage:\n  server [flags]"}
	for _, s := range config.Settings() {
		help = append(help, "--"+s.Name)
	}
	tests := []struct {
		flag string
		want []string
	}{
		{"--help", help},
		{"--version", []string{"thriftpack server ", "go1."}},
		{"--check-config", []string{"max-depth: 64", "# default", "worst case", "memory limit"}},
	}
	for _, test := range tests {
		code, stdout, stderr := finish(t, test.flag)
		if code != 0 || stderr != "" {
			t.Errorf("server %s: exit code %d, stderr %q", test.flag, code, stderr)
		}
		for _, text := range test.want {
			if !strings.Contains(stdout, text) {
				t.Errorf("server %s does not print %q:\n%s", test.flag, text, stdout)
			}
		}
	}
}
