package soak

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// server is the real server, in a process of its own, so that its memory is nobody else's.
type server struct {
	addr string
	http string // where metrics are, "" for nowhere
	// binary and flags are what was started.
	binary string
	flags  []string

	cmd  *exec.Cmd
	done chan error // receives the outcome of the process once
}

// start builds the server and runs it on a free port until the test ends.
func start(t *testing.T, flags ...string) *server {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "server")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./cmd/server")
	build.Dir = "../.." // with the versions of the root module, as it is shipped
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, text)
	}
	flags = append([]string{"--grpc-addr=127.0.0.1:0", "--http-addr=", "--drain-delay=0s", "--drain-timeout=20s", "--schema-store=none"}, flags...)
	s := &server{binary: binary, flags: flags, cmd: exec.Command(binary, flags...), done: make(chan error, 1)} //nolint:noctx // it is stopped by signal
	// The server takes its settings from the flags above alone.
	s.cmd.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "THRIFTPACK_") })
	logs, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })

	addr := make(chan string, 1)
	go func() {
		defer close(addr)
		lines := bufio.NewReader(logs)
		for {
			text, err := lines.ReadBytes('\n')
			if err != nil {
				break
			}
			var line struct{ Level, Msg, GRPC, HTTP string }
			switch json.Unmarshal(text, &line) {
			case nil:
				if line.Msg == "serving" {
					s.http = line.HTTP
					addr <- line.GRPC
				}
				// Calls that end badly are part of the mix.
				if line.Level != "INFO" && line.Msg != "finished call" {
					t.Logf("server: %s", text)
				}
			default: // a panic's trace is not JSON
				t.Logf("server: %s", text)
			}
		}
		_, _ = io.Copy(io.Discard, logs)
		s.done <- s.cmd.Wait()
	}()
	select {
	case s.addr = <-addr:
	case <-time.After(patience):
	}
	if s.addr == "" {
		t.Fatal("the server did not say where it serves")
	}
	return s
}

// memory returns the anonymous memory that the process has, in bytes.
func (s *server) memory(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		t.Fatalf("memory of the server: %v", err)
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
			if err != nil {
				t.Fatalf("memory of the server: %v", err)
			}
			return kib << 10
		}
	}
	t.Fatal("memory of the server: no RssAnon")
	return 0
}

// worstCase returns the memory that --check-config prints for the settings of the server, in bytes.
func (s *server) worstCase(t *testing.T) int64 {
	t.Helper()
	report, err := exec.CommandContext(t.Context(), s.binary, append(s.flags, "--check-config")...).Output()
	if err != nil {
		t.Fatalf("--check-config: %v", err)
	}
	for line := range strings.Lines(string(report)) {
		if fields := strings.Fields(line); len(fields) == 5 && fields[1] == "worst" && fields[2] == "case" {
			size, err := strconv.ParseFloat(fields[3], 64)
			shift := slices.Index([]string{"B", "KiB", "MiB", "GiB", "TiB"}, fields[4])
			if err == nil && shift >= 0 {
				return int64(size * float64(int64(1)<<(10*shift)))
			}
		}
	}
	t.Fatalf("--check-config names no worst case:\n%s", report)
	return 0
}

// metric returns the value of a metric without labels.
func (s *server) metric(t *testing.T, name string) int64 {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.http+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatalf("metrics: %v", err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("metrics: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			number, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				t.Fatalf("metric %s: %v", name, err)
			}
			return int64(number)
		}
	}
	t.Fatalf("metrics: no %s", name)
	return 0
}

// stop sends SIGTERM and wants an orderly end.
func (s *server) stop(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatalf("SIGTERM: %v", err)
	}
	select {
	case err := <-s.done:
		if err != nil {
			t.Errorf("the server ended with %v, want exit code 0", err)
		}
	case <-time.After(patience):
		t.Error("the server did not end in time after SIGTERM")
	}
}
