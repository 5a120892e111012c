package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Load is what a closed loop of callers does: each begins the next exchange when it has the last reply.
type Load struct {
	// Workload is what an exchange is.
	Workload *Workload
	// Callers is how many call at once, over one connection.
	Callers int
	// Duration is how long they go on.
	Duration time.Duration
}

// Outcome is what a load came to. Times are in nanoseconds in JSON.
type Outcome struct {
	// Exchanges is how many were answered, and Values how many values were in them.
	Exchanges int64 `json:"exchanges"`
	Values    int64 `json:"values"`
	// Elapsed is how long that took.
	Elapsed time.Duration `json:"elapsed"`
	// ServerCPU is the CPU time the server's process used meanwhile.
	ServerCPU time.Duration `json:"server_cpu"`
	// P50, P99 and P999 are quantiles of how long an exchange took.
	P50  time.Duration `json:"p50"`
	P99  time.Duration `json:"p99"`
	P999 time.Duration `json:"p999"`
}

// CPUPerValue is the server's CPU time for one value.
func (o Outcome) CPUPerValue() time.Duration { return o.ServerCPU / time.Duration(max(o.Values, 1)) }

// Rate is values a second.
func (o Outcome) Rate() float64 { return float64(o.Values) / o.Elapsed.Seconds() }

// Client is a connection to a server under load.
type Client struct {
	server     *Process
	connection *grpc.ClientConn
}

// Dial connects to a server process. Close must be called.
func Dial(server *Process) (*Client, error) {
	connection, err := grpc.NewClient("passthrough:///"+server.Address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(RawCodec{}), grpc.MaxCallRecvMsgSize(mostGrowing)))
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", server.Mode, err)
	}
	return &Client{server: server, connection: connection}, nil
}

// Close ends the connection.
func (c *Client) Close() { _ = c.connection.Close() }

// slowestLatency is the largest latency that the histograms hold.
const slowestLatency = 10 * time.Second

// leadIn is how long a load runs before it is measured, at most. A server adapts to a load (collections follow each other at a distance
// that package pace sets), and forgets it while the other sides have their turns.
const leadIn = 100 * time.Millisecond

// Run carries out a load and measures it, but for its beginning.
func (c *Client) Run(ctx context.Context, load Load) (Outcome, error) {
	c.call(ctx, load, min(load.Duration/4, leadIn)) // what fails here fails below
	before, err := c.server.CPU()
	if err != nil {
		return Outcome{}, err
	}
	start := time.Now()
	callers := c.call(ctx, load, load.Duration)
	elapsed := time.Since(start)
	after, err := c.server.CPU()
	if err != nil {
		return Outcome{}, err
	}
	latency := newHistogram()
	for i := range callers {
		if callers[i].err != nil {
			return Outcome{}, fmt.Errorf("%s: %s: %w", c.server.Mode, load.Workload.Name, callers[i].err)
		}
		latency.Merge(callers[i].latency)
	}
	quantile := func(q float64) time.Duration { return time.Duration(latency.ValueAtQuantile(q)) }
	return Outcome{
		Exchanges: latency.TotalCount(), Values: latency.TotalCount() * int64(load.Workload.Values),
		Elapsed: elapsed, ServerCPU: after - before, P50: quantile(50), P99: quantile(99), P999: quantile(99.9),
	}, nil
}

// call has callers make a load's calls for a time.
func (c *Client) call(ctx context.Context, load Load, duration time.Duration) []caller {
	deadline := time.Now().Add(duration)
	callers := make([]caller, load.Callers)
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() { callers[i].loop(ctx, c.connection, load.Workload, deadline) })
	}
	group.Wait()
	return callers
}

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(int64(time.Microsecond), int64(slowestLatency), 3)
}

type caller struct {
	latency *hdrhistogram.Histogram
	err     error
}

func (c *caller) loop(ctx context.Context, connection *grpc.ClientConn, w *Workload, deadline time.Time) {
	c.latency = newHistogram()
	exchange, end := c.unary, func() error { return nil }
	switch w.Shape {
	case Unary:
	case Batch:
		exchange, end, c.err = openBatch(ctx, connection, w)
	case Stream:
		exchange = readStream
	}
	for start := time.Now(); c.err == nil; {
		if c.err = exchange(ctx, connection, w); c.err != nil {
			break
		}
		now := time.Now()
		c.err = c.latency.RecordValue(int64(min(now.Sub(start), slowestLatency)))
		if start = now; !now.Before(deadline) {
			break
		}
	}
	if c.err == nil {
		c.err = end()
	}
}

func (*caller) unary(ctx context.Context, connection *grpc.ClientConn, w *Workload) error {
	reply := Raw{}
	if err := connection.Invoke(ctx, w.Method, &Raw{Data: w.Request}, &reply); err != nil {
		return err
	}
	return checkLength(int64(reply.Length), w)
}

func checkLength(got int64, w *Workload) error {
	if got != w.Size() {
		return fmt.Errorf("replies of %d bytes, want %d", got, w.Size())
	}
	return nil
}

// openBatch opens a stream, over which exchange sends a message and waits for its results.
func openBatch(ctx context.Context, connection *grpc.ClientConn, w *Workload) (
	exchange func(context.Context, *grpc.ClientConn, *Workload) error, end func() error, err error,
) {
	description := &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}
	ss, err := connection.NewStream(ctx, description, w.Method)
	if err != nil {
		return nil, nil, err
	}
	request, reply := &Raw{Data: w.Request}, new(Raw)
	exchange = func(context.Context, *grpc.ClientConn, *Workload) error {
		if err := ss.SendMsg(request); err != nil {
			return err
		}
		if err := ss.RecvMsg(reply); err != nil {
			return err
		}
		return checkLength(int64(reply.Length), w)
	}
	end = func() error {
		if err := ss.CloseSend(); err != nil {
			return err
		}
		if err := ss.RecvMsg(reply); !errors.Is(err, io.EOF) {
			return fmt.Errorf("the stream does not end: %w", err)
		}
		return nil
	}
	return exchange, end, nil
}

// readStream is a whole call of a Stream. Where chunks are cut is the server's affair; that all bytes come is not.
func readStream(ctx context.Context, connection *grpc.ClientConn, w *Workload) error {
	ss, err := connection.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, w.Method)
	if err != nil {
		return err
	}
	if err := ss.SendMsg(&Raw{Data: w.Request}); err != nil {
		return err
	}
	if err := ss.CloseSend(); err != nil {
		return err
	}
	total, reply := int64(0), new(Raw)
	for {
		err := ss.RecvMsg(reply)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		total += int64(reply.Length)
	}
	if total < w.Bytes {
		return fmt.Errorf("chunks of %d bytes in all, want at least %d", total, w.Bytes)
	}
	return nil
}
