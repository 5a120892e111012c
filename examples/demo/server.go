package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const serverPackage = "github.com/thriftpack/thriftpack/cmd/server"

// serverProcess is the running server.
type serverProcess struct {
	addr string

	cmd  *exec.Cmd
	dir  string
	done chan error // receives the outcome of the process once
}

// startServer builds the server into a temporary folder, starts it on a free port and waits until it says where it listens.
func startServer(ctx context.Context, d *demo) (*serverProcess, error) {
	dir, err := os.MkdirTemp("", "thriftpack-demo-")
	if err != nil {
		return nil, err
	}
	s := &serverProcess{dir: dir, done: make(chan error, 1)}
	if err := s.start(ctx, d); err != nil {
		s.kill()
		return nil, err
	}
	return s, nil
}

func (s *serverProcess) start(ctx context.Context, d *demo) error {
	binary := filepath.Join(s.dir, "server")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, serverPackage) //nolint:gosec // a temporary folder of our own
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, text)
	}
	args := []string{"--grpc-addr=127.0.0.1:0", "--http-addr=", "--drain-delay=0s", "--drain-timeout=10s", "--schema-store=file:" + filepath.Join(s.dir, "schemas")}
	d.say("$ server %s", strings.Join(args, " "))
	s.cmd = exec.Command(binary, args...) //nolint:gosec,noctx // the program was just built; it is stopped by signal, not by a context
	s.cmd.Env = environment()
	logs, err := s.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	addr := make(chan string, 1)
	go func() {
		readLogs(logs, addr)
		s.done <- s.cmd.Wait()
	}()
	timeout := time.NewTimer(30 * time.Second)
	defer timeout.Stop()
	select {
	case s.addr = <-addr:
		if s.addr == "" {
			return errors.New("the server ended without serving")
		}
		d.say("It serves gRPC on %s, process %d.", s.addr, s.cmd.Process.Pid)
		return nil
	case <-timeout.C:
		return errors.New("the server did not start within 30 s")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// environment is the process's own without settings of the server, so that the demonstration is the same everywhere.
func environment() []string {
	var kept []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "THRIFTPACK_") {
			kept = append(kept, entry)
		}
	}
	return kept
}

// readLogs reads the server's log lines to the end, and sends the address of the line "serving", or "" without one.
func readLogs(logs io.Reader, addr chan<- string) {
	lines := bufio.NewScanner(logs)
	for lines.Scan() {
		var line struct{ Msg, GRPC string }
		if err := json.Unmarshal(lines.Bytes(), &line); err == nil && line.Msg == "serving" {
			addr <- line.GRPC
			break
		}
	}
	_, _ = io.Copy(io.Discard, logs) // the rest is not of interest, but must not fill the pipe
	close(addr)
}

// stop sends SIGTERM and waits for an orderly end.
func (s *serverProcess) stop() error {
	defer os.RemoveAll(s.dir) //nolint:errcheck // a folder left in the temporary one harms nobody
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	timeout := time.NewTimer(30 * time.Second)
	defer timeout.Stop()
	select {
	case err := <-s.done:
		return err
	case <-timeout.C:
		s.kill()
		return errors.New("the server did not end within 30 s of SIGTERM")
	}
}

// kill ends what is left after an error.
func (s *serverProcess) kill() {
	if s.cmd != nil && s.cmd.Process != nil {
		_ = s.cmd.Process.Kill() // it may have ended by itself
	}
	_ = os.RemoveAll(s.dir) // see stop
}

// memory returns the server's resident memory that is not backed by files, in bytes.
func (s *serverProcess) memory() (int64, bool) {
	if runtime.GOOS != "linux" {
		return 0, false
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte("RssAnon:")); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(string(rest)), " kB"), 10, 64)
			return kib << 10, err == nil
		}
	}
	return 0, false
}
