package faults

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/leaks"
	"github.com/thriftpack/thriftpack/test/process"
)

// memoryGroup is a control group of this test that limits memory.
type memoryGroup struct{ folder, limit, processes, used string }

// groups numbers the groups of this process.
var groups atomic.Int64

// newMemoryGroup makes a control group below the one that this process is in, or skips the test where it may not.
func newMemoryGroup(t *testing.T, limit int64) *memoryGroup {
	t.Helper()
	table, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Skip("no control groups here:", err)
	}
	g := &memoryGroup{processes: "cgroup.procs"}
	mount := ""
	if own := regexp.MustCompile(`(?m)^\d+:(?:\w+,)*memory(?:,\w+)*:(.*)$`).FindSubmatch(table); own != nil {
		mount, g.limit, g.used = path.Join("/sys/fs/cgroup/memory", string(own[1])), "memory.limit_in_bytes", "memory.max_usage_in_bytes"
	} else if own := regexp.MustCompile(`(?m)^0::(.*)$`).FindSubmatch(table); own != nil {
		mount, g.limit, g.used = path.Join("/sys/fs/cgroup", string(own[1])), "memory.max", "memory.peak"
	}
	g.folder = filepath.Join(mount, fmt.Sprintf("thriftpack-test-%d-%d", os.Getpid(), groups.Add(1)))
	if err := os.Mkdir(g.folder, 0o755); err != nil {
		t.Skip("no control group may be made here:", err)
	}
	t.Cleanup(func() { _ = os.Remove(g.folder) }) // its processes have ended
	if err := os.WriteFile(filepath.Join(g.folder, g.limit), []byte(strconv.FormatInt(limit, 10)), 0o600); err != nil {
		t.Skip("control groups have no memory controller here:", err)
	}
	return g
}

// command wraps a command so that it runs in the group.
func (g *memoryGroup) command(command ...string) []string {
	return append([]string{"/bin/sh", "-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(g.folder, g.processes)}, command...)
}

// peak returns the most memory that the group has had.
func (g *memoryGroup) peak(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(g.folder, g.used))
	if err != nil {
		t.Logf("peak: %v", err)
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// base reads the settings and the memory of k8s/base.
func base(t *testing.T) (settings []string, memory int64) {
	t.Helper()
	folder := filepath.Join("..", "..", "k8s", "base")
	text, err := os.ReadFile(filepath.Join(folder, "settings.env"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		flag := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "THRIFTPACK_"), "_", "-"))
		switch {
		case strings.HasSuffix(flag, "-addr") || flag == "schema-dir": // those are the pod's
		default:
			settings = append(settings, "--"+flag+"="+value)
		}
	}
	deployment, err := os.ReadFile(filepath.Join(folder, "deployment.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	limit := regexp.MustCompile(`limits:\n\s+memory: (\d+)Mi\n`).FindSubmatch(deployment)
	if limit == nil || len(settings) < 5 {
		t.Fatalf("k8s/base: %d settings, memory %q", len(settings), limit)
	}
	if memory, err = strconv.ParseInt(string(limit[1]), 10, 64); err != nil {
		t.Fatal(err)
	}
	return settings, memory << 20
}

// TestMemoryOfAPod gives a server the settings and the memory of k8s/base and asks of it more than it has: streams that nobody reads, up to
// the budget and beyond, and unary calls with large requests. Some calls are refused, none is lost, and the kernel has nothing to kill.
func TestMemoryOfAPod(t *testing.T) {
	leaks.Check(t)
	settings, memory := base(t)
	group := newMemoryGroup(t, memory)
	// However long it takes to spend the budget, streams from the beginning are there at the end.
	settings = append(settings, "--stream-wait=10ms", "--stall-timeout=1h")
	s := process.Start(t, group.command(append([]string{binary}, settings...)...)...)
	if logs := s.Logs(); !strings.Contains(logs[0].Text, `"memory_limit_from":"cgroup"`) || !strings.Contains(logs[0].Text, fmt.Sprintf(`"memory_limit":%d`, memory/10*9)) {
		t.Errorf("the runtime's limit is not 90 %% of the group's: %s", logs[0].Text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()

	// Streams that nobody reads, until the budget is spent.
	const streamsPerConnection = 90
	refused := 0
	for n := 0; refused == 0 && n < 20_000; n += streamsPerConnection {
		refused += openStreams(t, ctx, dial(t, s.GRPC), streamsPerConnection)
	}
	if refused == 0 {
		t.Error("no stream was refused: was the budget spent at all?")
	}

	// Large unary calls beside them.
	var done, turnedAway atomic.Int64
	var callers sync.WaitGroup
	for range 8 {
		conn := dial(t, s.GRPC)
		callers.Go(func() {
			for range 20 {
				switch err := decodeLarge(ctx, conn); {
				case err == nil:
					done.Add(1)
				case status.Code(err) == codes.ResourceExhausted:
					turnedAway.Add(1)
				default:
					t.Errorf("a large call: %v", err)
				}
			}
		})
	}
	callers.Wait()
	if done.Load() == 0 {
		t.Error("no large call was answered")
	}
	if s.Ended() {
		t.Fatalf("the server has ended: %v", s.Logs())
	}
	t.Logf("%d large calls answered, %d refused; the group's peak is %d MiB of %d", done.Load(), turnedAway.Load(), group.peak(t)>>20, memory>>20)

	// When they are gone, all is as before.
	cancel()
	for {
		err := encode(t.Context(), dial(t, s.GRPC))
		if err == nil {
			break
		}
		if status.Code(err) != codes.ResourceExhausted {
			t.Fatalf("a small call after all that: %v", err)
		}
	}
}

// openStreams opens streams, reads the first chunk of each, and returns how many were refused.
func openStreams(t *testing.T, ctx context.Context, conn *grpc.ClientConn, n int) (refused int) { //nolint:revive // the test comes first
	t.Helper()
	client := thriftpackv1.NewSerializerServiceClient(conn)
	for range n {
		stream, err := client.EncodeStream(ctx, &thriftpackv1.EncodeStreamRequest{Request: endless().GetRequest(), Count: 1 << 30, ChunkSize: 256 << 10})
		if err == nil {
			_, err = stream.Recv()
		}
		switch {
		case err == nil:
		case status.Code(err) == codes.ResourceExhausted && reason(err) == "BUDGET_EXHAUSTED":
			refused++
		default:
			t.Fatalf("a stream: %v", err)
		}
	}
	return refused
}

// decodeLarge decodes a list of a million bytes: 1 MiB there, and 1 MiB back.
func decodeLarge(ctx context.Context, conn *grpc.ClientConn) error {
	data := append([]byte{0xf3, 0xc0, 0x84, 0x3d}, bytes.Repeat([]byte{1}, 1_000_000)...) // list<i8>, 1,000,000 elements
	response, err := thriftpackv1.NewSerializerServiceClient(conn).Decode(ctx, &thriftpackv1.DecodeRequest{
		Data: data, Options: &thriftpackv1.DecodeOptions{RootType: thriftpackv1.Type_TYPE_LIST},
	})
	if err != nil {
		return err
	}
	if got := len(response.GetValue().GetList().GetI8S()); got != 1_000_000 {
		return fmt.Errorf("%d elements came back", got)
	}
	return nil
}
