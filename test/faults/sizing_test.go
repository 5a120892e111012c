package faults

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"sync"
	"testing"

	"google.golang.org/grpc"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/test/process"
)

// sizingVariable switches TestSizing on.
const sizingVariable = "SIZING"

// TestSizing measures what a server's memory goes into, for the table in docs/kubernetes.md: SIZING=1 go test -v -run Sizing ./faults.
func TestSizing(t *testing.T) {
	if os.Getenv(sizingVariable) == "" {
		t.Skipf("%s is not set: it measures and asserts nothing", sizingVariable)
	}
	settings, memory := base(t)
	begin := func() *process.Server {
		group := newMemoryGroup(t, memory)
		return process.Start(t, group.command(append([]string{binary}, settings...)...)...)
	}

	s := begin()
	idle := anonymous(t, s)
	t.Logf("idle: %d KiB", idle>>10)
	const connections = 500
	for range connections {
		if err := encode(t.Context(), dial(t, s.GRPC)); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("an idle connection: %d KiB", (anonymous(t, s)-idle)/connections>>10)
	s.Signal(t, os.Kill)
	s.Wait(t)

	for _, chunk := range []int32{0, 256 << 10, 1 << 20} {
		s = begin()
		idle = anonymous(t, s)
		const streams = 90
		client := thriftpackv1.NewSerializerServiceClient(dial(t, s.GRPC))
		for range streams {
			stream, err := client.EncodeStream(t.Context(), &thriftpackv1.EncodeStreamRequest{Request: endless().GetRequest(), Count: 1 << 30, ChunkSize: chunk})
			if err == nil {
				_, err = stream.Recv()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("a stream that nobody reads, chunk_size %d: %d KiB", chunk, (anonymous(t, s)-idle)/streams>>10)
		s.Signal(t, os.Kill)
		s.Wait(t)
	}

	for _, callers := range []int{1, 8, 32, 64} {
		s = begin()
		peak := largeCalls(t, s, callers)
		t.Logf("%d callers at once, each decoding 3.9 MB to a Value: peak %d MiB", callers, peak>>20)
		s.Signal(t, os.Kill)
		s.Wait(t)
	}
}

// largeCalls lets callers decode a large list ten times each, and returns the most anonymous memory that the server has had after any of these.
func largeCalls(t *testing.T, s *process.Server, callers int) (peak int64) {
	t.Helper()
	data := append([]byte{0xf3, 0xe0, 0x84, 0xee, 0x01}, bytes.Repeat([]byte{1}, 3_900_000)...) // list<i8>, 3,900,000 elements
	var mu sync.Mutex
	var running sync.WaitGroup
	for range callers {
		client := thriftpackv1.NewSerializerServiceClient(dial(t, s.GRPC))
		running.Go(func() {
			for range 10 {
				_, err := client.Decode(context.WithoutCancel(t.Context()), &thriftpackv1.DecodeRequest{
					Data: data, Options: &thriftpackv1.DecodeOptions{RootType: thriftpackv1.Type_TYPE_LIST},
				}, grpc.MaxCallRecvMsgSize(8<<20))
				if err != nil {
					t.Errorf("decode: %v", err)
					return
				}
				now := anonymous(t, s)
				mu.Lock()
				peak = max(peak, now)
				mu.Unlock()
			}
		})
	}
	running.Wait()
	return peak
}

// anonymous returns the memory of a server that is its own, in bytes.
func anonymous(t *testing.T, s *process.Server) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Process.Pid))
	if err != nil {
		t.Error(err)
		return 0
	}
	match := regexp.MustCompile(`RssAnon:\s+(\d+) kB`).FindSubmatch(text)
	if match == nil {
		t.Error("no RssAnon")
		return 0
	}
	n, err := strconv.ParseInt(string(match[1]), 10, 64)
	if err != nil {
		t.Error(err)
	}
	return n << 10
}
