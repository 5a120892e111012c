// Package soak runs a mix of clients against the real server for a while, well-behaved ones and others, and looks at three
// things: every byte that arrives is right, memory does not grow, and the server drains in order at the end. `make soak` runs
// it.
package soak

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// durationVariable names how long to run; without it the test is skipped.
const durationVariable = "SOAKTIME"

// mostGrowth is what the server's memory may grow by from the first third of the run to the last. Its garbage collector
// works in cycles, so the highest of each third is compared.
const mostGrowth = 64 << 20

// mostDrift is what the mean of the last minute of a long run may be above that of the third.
const mostDrift = 1 << 20

func TestSoak(t *testing.T) {
	text := os.Getenv(durationVariable)
	if text == "" {
		t.Skipf("%s is not set; make soak runs it", durationVariable)
	}
	duration, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("%s: %v", durationVariable, err)
	}
	s := start(t, "--stream-budget=64MiB", "--stall-timeout=10s")
	// No call is cut short when the time is over: its end would say nothing.
	over, stop := context.WithTimeout(t.Context(), duration)
	defer stop()
	ctx, cancel := context.WithTimeout(t.Context(), duration+time.Minute)
	defer cancel()

	client := thriftpackv1.NewSerializerServiceClient(dial(t, s.addr))
	mix := []struct {
		name    string
		workers int
		step    func(ctx context.Context, w *worker) error
	}{
		{"unary", 2, unary},
		{"batch", 1, batch},
		{"encode stream", 2, encodeStream},
		{"decode stream", 1, decodeStream},
		{"parts", 1, parts},
		{"refused", 1, refused},
		{"cancelled", 2, cancelled},
		{"gone", 1, gone},
	}
	var running sync.WaitGroup
	steps := make([]atomic.Int64, len(mix))
	for i, kind := range mix {
		for range kind.workers {
			running.Go(func() {
				w := &worker{client: client, addr: s.addr}
				for over.Err() == nil {
					if err := kind.step(ctx, w); err != nil {
						t.Errorf("%s, step %d: %v", kind.name, steps[i].Load(), err)
						stop()
						return
					}
					steps[i].Add(1)
				}
			})
		}
	}

	var highest [3]int64 // of each third
	var minutes []int64  // the mean of each
	sample := time.NewTicker(100 * time.Millisecond)
	defer sample.Stop()
	sum, samples := int64(0), int64(0)
	for began := time.Now(); over.Err() == nil; {
		select {
		case <-over.Done():
		case <-sample.C:
			since, now := time.Since(began), s.memory(t)
			third := min(2, int(3*since/duration))
			highest[third] = max(highest[third], now)
			if sum, samples = sum+now, samples+1; since >= time.Duration(len(minutes)+1)*time.Minute {
				minutes = append(minutes, sum/samples)
				sum, samples = 0, 0
			}
		}
	}
	running.Wait()
	if t.Failed() {
		return
	}
	for i, kind := range mix {
		t.Logf("%-14s %d", kind.name, steps[i].Load())
		if steps[i].Load() == 0 {
			t.Errorf("%s: not once in %v", kind.name, duration)
		}
	}
	t.Logf("highest memory of each third: %d, %d, %d MiB", highest[0]>>20, highest[1]>>20, highest[2]>>20)
	if highest[2] > highest[0]+mostGrowth {
		t.Errorf("memory grew from %d to %d bytes, want at most %d more", highest[0], highest[2], mostGrowth)
	}
	// The mean of a minute is steadier than the highest: from the third minute on it does not climb.
	for i, mean := range minutes {
		t.Logf("minute %d: %d KiB on average", i+1, mean>>10)
	}
	if n := len(minutes); n >= 5 && minutes[n-1] > minutes[2]+mostDrift {
		t.Errorf("memory drifted from %d bytes in the third minute to %d in the last, want at most %d more", minutes[2], minutes[n-1], mostDrift)
	}
	s.stop(t)
}

// dial connects to the server until the test ends.
func dial(t *testing.T, addr string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}
