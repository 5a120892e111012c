// Package load puts a running server under load and measures how long its answers take. It is a closed loop: each caller
// begins the next exchange when it has the last answer, so a slower server is asked less. It knows the API and gRPC; what
// is asked for comes from package cli, and bench/rpc compares servers.
package load

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Plan says what to do.
type Plan struct {
	// Connections are what the callers share, in turn. There is at least one.
	Connections []*grpc.ClientConn
	// Callers is how many call at once, at least one.
	Callers int
	// Warmup is how long callers go on before anything counts.
	Warmup time.Duration
	// Duration is how long they go on; 0 is for ever.
	Duration time.Duration
	// Count is how many exchanges they begin in all; 0 is any number.
	Count int64
	// Timeout is after how long an exchange has failed; 0 is never.
	Timeout time.Duration
	// Progress, if not nil, is called about every second with what has come so far. It must return soon.
	Progress func(Result)
}

// progressInterval is how often Progress is called.
const progressInterval = time.Second

// afterFailure is how long a caller waits after a failure, lest a server that refuses be asked a million times.
const afterFailure = 10 * time.Millisecond

// Run carries out a plan. When ctx ends so does the load; what came until then is returned. Exchanges that are under way at
// the end of the duration are waited for.
func Run(ctx context.Context, plan *Plan, exchange *Exchange) Result {
	if plan.Warmup > 0 {
		warmup := *plan
		warmup.Warmup, warmup.Duration, warmup.Count, warmup.Progress = 0, plan.Warmup, 0, nil
		newRun(&warmup, exchange).do(ctx)
	}
	return newRun(plan, exchange).do(ctx)
}

// run is a plan being carried out.
type run struct {
	plan     *Plan
	exchange *Exchange
	begun    atomic.Int64
	start    time.Time
	shards   []shard
}

// shard is what some of the callers have seen.
type shard struct {
	mutex    sync.Mutex
	latency  *hdrhistogram.Histogram
	failures map[codes.Code]int64
	example  error // of the last failure
}

// shards is how many shards there are at most: a histogram is large, and callers seldom meet.
const shards = 8

// The latencies that are told apart: in microseconds, to three digits. Longer ones count as the longest.
const (
	shortest = 1
	longest  = int64(time.Minute / time.Microsecond)
	digits   = 3
)

func newRun(plan *Plan, exchange *Exchange) *run {
	r := &run{plan: plan, exchange: exchange, shards: make([]shard, min(plan.Callers, shards))}
	for i := range r.shards {
		r.shards[i].latency = hdrhistogram.New(shortest, longest, digits)
		r.shards[i].failures = make(map[codes.Code]int64)
	}
	return r
}

func (r *run) do(ctx context.Context) Result {
	r.start = time.Now()
	var group sync.WaitGroup
	for i := range r.plan.Callers {
		group.Go(func() { r.loop(ctx, r.plan.Connections[i%len(r.plan.Connections)], &r.shards[i%len(r.shards)]) })
	}
	ended := make(chan struct{})
	go func() {
		group.Wait()
		close(ended)
	}()
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			return r.result()
		case <-ticker.C:
			if r.plan.Progress != nil {
				r.plan.Progress(r.result())
			}
		}
	}
}

// next tells whether a caller may begin another exchange.
func (r *run) next(ctx context.Context) bool {
	if ctx.Err() != nil || r.plan.Duration > 0 && time.Since(r.start) >= r.plan.Duration {
		return false
	}
	return r.plan.Count == 0 || r.begun.Add(1) <= r.plan.Count
}

func (r *run) loop(ctx context.Context, connection *grpc.ClientConn, s *shard) {
	c := r.exchange.caller(connection)
	defer c.close()
	for r.next(ctx) {
		start := time.Now()
		err := c.do(ctx, r.plan.Timeout)
		took := time.Since(start)
		if err != nil && ctx.Err() != nil {
			return // the end, not a fault of the server
		}
		s.note(took, err)
		if err != nil {
			wait(ctx, afterFailure)
		}
	}
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (s *shard) note(took time.Duration, err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err != nil {
		s.failures[codeOf(err)]++
		s.example = err
		return
	}
	// It fails for values outside of its range alone.
	_ = s.latency.RecordValue(min(max(took.Microseconds(), shortest), longest))
}

func codeOf(err error) codes.Code {
	if errors.Is(err, errWrongReply) {
		return codes.DataLoss
	}
	return status.Code(err)
}

// result is what has come so far.
func (r *run) result() Result {
	latency := hdrhistogram.New(shortest, longest, digits)
	result := Result{Elapsed: time.Since(r.start), Failures: make(map[string]int64)}
	for i := range r.shards {
		s := &r.shards[i]
		s.mutex.Lock()
		latency.Merge(s.latency)
		for code, n := range s.failures {
			result.Failures[codeName(code)] += n
			result.Failed += n
		}
		if s.example != nil {
			result.Example = s.example
		}
		s.mutex.Unlock()
	}
	result.Exchanges = latency.TotalCount()
	result.Values = result.Exchanges * r.exchange.Values
	result.Thrift = result.Exchanges * r.exchange.Thrift
	result.setLatency(latency)
	return result
}
