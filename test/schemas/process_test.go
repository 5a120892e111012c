package schemas

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/leaks"
)

// patience bounds every wait of a test.
const patience = time.Minute

// The programs, built once for all tests.
var serverProgram, etcdProgram string

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "thriftpack-schemas-")
	if err == nil {
		serverProgram, etcdProgram = filepath.Join(folder, "server"), filepath.Join(folder, "etcd")
		err = build("../..", serverProgram, "./cmd/server") // with the versions of the root module, as it is shipped
	}
	if err == nil {
		err = build("", etcdProgram, "./etcd")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	leaks.Main(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(folder) // in the temporary folder it harms nobody
		os.Exit(code)
	}))
}

// build builds a program.
func build(folder, output, path string) error {
	command := exec.Command("go", "build", "-o", output, path) //nolint:noctx // bounded by the test's own timeout
	command.Dir = folder
	if text, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", path, err, text)
	}
	return nil
}

// process is a program that runs, and says where it serves in a line of its log, which is JSON.
type process struct {
	addr   string
	cmd    *exec.Cmd
	stdout *lockedBuffer
	ended  chan struct{}
	err    error // after ended
}

type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// run starts a program and waits until a line of its log says, by where, where it serves. It is killed at the end of the test.
func run(t *testing.T, program string, args []string, where func(line map[string]any) string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(program, args...), stdout: &lockedBuffer{}, ended: make(chan struct{})} //nolint:noctx // killed below
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	p.cmd.Stdout = p.stdout
	log, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.kill() })
	addr := make(chan string, 1)
	var last lockedBuffer
	go func() {
		defer close(p.ended)
		defer close(addr)
		for lines := bufio.NewReader(log); ; {
			text, err := lines.ReadBytes('\n')
			var line map[string]any
			if json.Unmarshal(text, &line) != nil || line["level"] == "ERROR" || line["level"] == "error" || line["level"] == "fatal" {
				_, _ = last.Write(text)
			}
			if at := where(line); at != "" {
				select {
				case addr <- at:
				default:
				}
			}
			if err != nil {
				break
			}
		}
		_, _ = io.Copy(io.Discard, log)
		p.err = p.cmd.Wait()
	}()
	select {
	case p.addr = <-addr:
	case <-time.After(patience):
	}
	if p.addr == "" {
		t.Fatalf("%s did not say where it serves:\n%s", filepath.Base(program), last.String())
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s said:\n%s", filepath.Base(program), last.String())
		}
	})
	return p
}

// kill ends the process as a power cut does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// startEtcd runs etcd in a folder, on a free port or again where it was.
func startEtcd(t *testing.T, folder, addr string, flags ...string) *process {
	t.Helper()
	if addr == "" {
		addr = "127.0.0.1:0"
	} else {
		// Whoever got the port meanwhile, for a connection or a test of its own, does not keep it.
		eventually(t, "the port is free", func(ctx context.Context) bool {
			lis, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
			if err == nil {
				_ = lis.Close()
			}
			return err == nil
		})
	}
	scheme := "http://"
	if len(flags) > 0 {
		scheme = "https://"
	}
	args := append([]string{
		"--data-dir=" + folder, "--listen-client-urls=" + scheme + addr, "--advertise-client-urls=" + scheme + addr,
		"--listen-peer-urls=http://127.0.0.1:0", "--initial-advertise-peer-urls=http://127.0.0.1:1", "--initial-cluster=default=http://127.0.0.1:1",
	}, flags...)
	return run(t, etcdProgram, args, func(line map[string]any) string {
		if text, _ := line["msg"].(string); strings.HasPrefix(text, "serving client traffic") {
			at, _ := line["address"].(string)
			return at
		}
		return ""
	})
}

// replica is a server of thriftpack.
type replica struct {
	*process
	schemas thriftpackv1.SchemaServiceClient
	values  thriftpackv1.SerializerServiceClient
	conn    *grpc.ClientConn
}

// startReplica runs a server.
func startReplica(t *testing.T, flags ...string) *replica {
	t.Helper()
	flags = append([]string{"--grpc-addr=127.0.0.1:0", "--http-addr=", "--drain-delay=0s", "--drain-timeout=20s"}, flags...)
	p := run(t, serverProgram, flags, func(line map[string]any) string {
		if line["msg"] == "serving" {
			at, _ := line["grpc"].(string)
			return at
		}
		return ""
	})
	conn, err := grpc.NewClient("passthrough:///"+p.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &replica{
		process: p, conn: conn,
		schemas: thriftpackv1.NewSchemaServiceClient(conn), values: thriftpackv1.NewSerializerServiceClient(conn),
	}
}

// stop wants an orderly end, and nothing on the standard output.
func (r *replica) stop(t *testing.T) {
	t.Helper()
	_ = r.conn.Close()
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatalf("SIGTERM: %v", err)
	}
	select {
	case <-r.ended:
		if r.err != nil {
			t.Errorf("the server ended with %v, want exit code 0", r.err)
		}
	case <-time.After(patience):
		t.Error("the server did not end")
	}
	if out := r.stdout.String(); out != "" {
		t.Errorf("the server wrote to its standard output: %s", out)
	}
}

// eventually waits until ok reports true, and returns how long that took.
func eventually(t *testing.T, what string, ok func(ctx context.Context) bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !ok(t.Context()) {
		if time.Since(began) > patience {
			t.Fatalf("not within %s: %s", patience, what)
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-t.Context().Done():
		}
	}
	return time.Since(began)
}
