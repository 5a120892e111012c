package cli

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/server"
)

// roleVariable makes the test's program play a part in a process of its own: that of the client, or of a server.
const roleVariable = "THRIFTPACK_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "client":
		os.Exit(Run(context.Background(), os.Args[1:], IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	case "server":
		os.Exit(serve())
	default:
		os.Exit(m.Run())
	}
}

// serve runs a server until it is told to end, and says where.
func serve() int {
	cfg := config.Default()
	cfg.GRPCAddr, cfg.HTTPAddr, cfg.DrainDelay = "127.0.0.1:0", "", 0
	s, err := server.New(cfg, server.WithListening(func(a server.Addresses) { _, _ = fmt.Fprintln(os.Stdout, a.GRPC) }))
	if err != nil {
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := s.Run(ctx); err != nil {
		return 1
	}
	return 0
}

// process is a child with the most anonymous memory that it was seen with.
type process struct {
	*exec.Cmd

	out  io.ReadCloser
	in   io.WriteCloser
	text bytes.Buffer // of stderr
	peak atomic.Int64 // RssAnon in bytes
	done chan struct{}
}

// begin starts a child.
func begin(t *testing.T, role string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.CommandContext(t.Context(), os.Args[0], args...), done: make(chan struct{})}
	p.Env = append(os.Environ(), roleVariable+"="+role)
	p.Stderr = &p.text
	var err error
	if p.out, err = p.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if p.in, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			p.peak.Store(max(p.peak.Load(), anonymous(p.Process.Pid)))
			select {
			case <-p.done:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return p
}

// anonymous returns RssAnon of a process in bytes.
func anonymous(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "RssAnon:" {
			kib, _ := strconv.ParseInt(fields[1], 10, 64)
			return kib << 10
		}
	}
	return 0
}

// TestStreamMemory sends 120 MiB of lines through stream encode, and what comes out through stream decode, with client, server and second
// client in processes of their own. The lines come back, and none of the three has held more than a fraction of them.
func TestStreamMemory(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("sends 120 MiB, and measures memory, of which the race detector takes its own")
	}
	const size, most = 120 << 20, 60 << 20
	srv := begin(t, "server")
	defer func() { _ = srv.Process.Signal(syscall.SIGTERM); _ = srv.Wait(); close(srv.done) }()
	addr, err := bufio.NewReader(srv.out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	addr = "--addr=" + strings.TrimSpace(addr)
	encode, decode := begin(t, "client", "stream", "encode", addr), begin(t, "client", "stream", "decode", "--records", addr)

	sent, received := sha256.New(), sha256.New()
	numbers := strings.TrimSuffix(strings.Repeat(`"1234567890",`, 2000), ",")
	go func() {
		w := io.MultiWriter(encode.in, sent)
		for id, n := 0, 0; n < size; id++ {
			k, err := fmt.Fprintf(w, `{"struct":{"fields":[{"id":1,"i32":%d},{"id":2,"list":{"i64s":[%s]}}]}}`+"\n", id+1, numbers)
			if n += k; err != nil {
				break
			}
		}
		_ = encode.in.Close()
	}()
	go func() { _, _ = io.Copy(decode.in, encode.out); _ = decode.in.Close() }()
	n, err := io.Copy(received, decode.out)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*process{encode, decode} {
		if err := p.Wait(); err != nil {
			t.Errorf("%v: %s", err, p.text.String())
		}
		close(p.done)
	}
	if n < size || !bytes.Equal(sent.Sum(nil), received.Sum(nil)) {
		t.Errorf("%d bytes came back, and not those that were sent", n)
	}
	for name, p := range map[string]*process{"server": srv, "stream encode": encode, "stream decode": decode} {
		peak := p.peak.Load()
		t.Logf("%s: at most %d MiB of anonymous memory for %d MiB of lines", name, peak>>20, n>>20)
		if peak > most || peak == 0 {
			t.Errorf("%s: at most %d bytes of anonymous memory, want less than %d", name, peak, most)
		}
	}
}
