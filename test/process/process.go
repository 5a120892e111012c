// Package process runs the real server in processes of their own, for tests of what happens to clients when one ends, however it ends. It
// knows nothing of what is asked of the server.
package process

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds waiting for a process. A machine that is busy with other tests takes its time.
const patience = 60 * time.Second

// Build builds the server into a folder and returns its path. It is built with the versions of the root module, as it is shipped.
func Build(folder string) (string, error) {
	_, file, _, _ := runtime.Caller(0) //nolint:dogsled // only the file is of interest
	binary := filepath.Join(folder, "server")
	build := exec.Command("go", "build", "-o", binary, "./cmd/server") //nolint:gosec,noctx // a path of the test's own; bounded by its timeout
	build.Dir = filepath.Join(filepath.Dir(file), "..", "..")
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, text)
	}
	return binary, nil
}

// Main builds the server into *binary and runs the tests of a package: the body of a TestMain.
func Main(m *testing.M, binary *string) int {
	folder, err := os.MkdirTemp("", "thriftpack-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(folder) }() // a folder left in the temporary one harms nobody
	if *binary, err = Build(folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Server is a server in a process of its own.
type Server struct {
	// GRPC and HTTP are its addresses; HTTP is empty where it serves none.
	GRPC, HTTP string
	// Process is the process itself.
	Process *os.Process

	command *exec.Cmd
	ended   chan struct{} // closed when the process has ended
	mu      sync.Mutex
	logs    []Line
}

// Line is a line of the server's log.
type Line struct {
	Level  string `json:"level"`
	Msg    string `json:"msg"`
	Method string `json:"method"`
	Code   string `json:"code"`
	Reason string `json:"reason"`
	GRPC   string `json:"grpc"`
	HTTP   string `json:"http"`
	// Text is the whole line.
	Text string `json:"-"`
}

// Start runs a command, the server's binary and flags or something that ends in them, and waits until it serves. Ports are 0 unless the
// flags say otherwise. The process is killed when the test ends, if it has not ended then.
func Start(t *testing.T, command ...string) *Server {
	t.Helper()
	s := &Server{command: exec.Command(command[0], command[1:]...), ended: make(chan struct{})} //nolint:gosec,noctx // ended by signal
	// Settings are those of the command alone.
	s.command.Env = append(slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return strings.HasPrefix(entry, "THRIFTPACK_") || strings.HasPrefix(entry, "OTEL_")
	}), "THRIFTPACK_GRPC_ADDR=127.0.0.1:0", "THRIFTPACK_HTTP_ADDR=", "THRIFTPACK_SCHEMA_STORE=none")
	logs, err := s.command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.command.Start(); err != nil {
		t.Fatal(err)
	}
	s.Process = s.command.Process
	t.Cleanup(func() {
		_ = s.Process.Kill() // it has ended already where the test went well
		<-s.ended
	})
	serving := make(chan Line, 1)
	go func() {
		defer close(s.ended)
		lines := bufio.NewScanner(logs)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			line := Line{Text: lines.Text()}
			// A panic's trace is not JSON; then the text is all there is.
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" {
				serving <- line
			}
			s.mu.Lock()
			s.logs = append(s.logs, line)
			s.mu.Unlock()
		}
		_ = s.command.Wait() // Wait has the outcome
	}()
	select {
	case line := <-serving:
		s.GRPC, s.HTTP = line.GRPC, line.HTTP
	case <-s.ended:
		t.Fatalf("%q ended before it served: %v", command, s.Logs())
	case <-time.After(patience):
		t.Fatalf("%q does not serve: %v", command, s.Logs())
	}
	return s
}

// Logs returns the lines of the log so far.
func (s *Server) Logs() []Line {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.logs)
}

// Signal sends a signal.
func (s *Server) Signal(t *testing.T, signal os.Signal) {
	t.Helper()
	if err := s.Process.Signal(signal); err != nil {
		t.Errorf("signal %s: %v", signal, err)
	}
}

// Wait waits for the end and returns the exit code, -1 where a signal ended the process.
func (s *Server) Wait(t *testing.T) int {
	t.Helper()
	select {
	case <-s.ended:
		return s.command.ProcessState.ExitCode()
	case <-time.After(patience):
		t.Fatal("the server does not end")
		return 0
	}
}

// Ended reports whether the process has ended.
func (s *Server) Ended() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}
