package rpc

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Load is what a closed loop of callers does: each sends the next request when it has the last reply.
type Load struct {
	// Method is the full method name.
	Method string
	// Request is the wire bytes of the request.
	Request []byte
	// Reply is the wire bytes that every reply must be as long as.
	Reply int
	// Callers is how many call at once, over one connection.
	Callers int
	// Duration is how long they go on.
	Duration time.Duration
}

// Outcome is what a load came to.
type Outcome struct {
	// Calls is how many replies came.
	Calls int64
	// Elapsed is how long that took.
	Elapsed time.Duration
	// ServerCPU is the CPU time the server's process used meanwhile.
	ServerCPU time.Duration
	// Latency holds one entry a call, in nanoseconds.
	Latency *hdrhistogram.Histogram
}

// ServerCPUPerCall is the server's CPU time for one call.
func (o Outcome) ServerCPUPerCall() time.Duration {
	return o.ServerCPU / time.Duration(max(o.Calls, 1))
}

// Client is a connection to a server under load.
type Client struct {
	server     *Process
	connection *grpc.ClientConn
}

// Dial connects to a server process. Close must be called.
func Dial(server *Process) (*Client, error) {
	connection, err := grpc.NewClient("passthrough:///"+server.Address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(RawCodec{})))
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", server.Mode, err)
	}
	return &Client{server: server, connection: connection}, nil
}

// Close ends the connection.
func (c *Client) Close() { _ = c.connection.Close() }

// slowestLatency is the largest latency that the histograms hold.
const slowestLatency = 10 * time.Second

// Run carries out a load and measures it.
func (c *Client) Run(ctx context.Context, load Load) (Outcome, error) {
	before, err := c.server.CPU()
	if err != nil {
		return Outcome{}, err
	}
	start := time.Now()
	deadline := start.Add(load.Duration)
	callers := make([]caller, load.Callers)
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() { callers[i].loop(ctx, c.connection, &load, deadline) })
	}
	group.Wait()
	elapsed := time.Since(start)
	after, err := c.server.CPU()
	if err != nil {
		return Outcome{}, err
	}
	outcome := Outcome{Elapsed: elapsed, ServerCPU: after - before, Latency: newHistogram()}
	for i := range callers {
		if callers[i].err != nil {
			return Outcome{}, fmt.Errorf("%s: %w", c.server.Mode, callers[i].err)
		}
		outcome.Latency.Merge(callers[i].latency)
	}
	outcome.Calls = outcome.Latency.TotalCount()
	return outcome, nil
}

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(int64(time.Microsecond), int64(slowestLatency), 3)
}

type caller struct {
	latency *hdrhistogram.Histogram
	err     error
}

func (c *caller) loop(ctx context.Context, connection *grpc.ClientConn, load *Load, deadline time.Time) {
	c.latency = newHistogram()
	request := &Raw{Data: load.Request}
	reply := new(Raw)
	for start := time.Now(); start.Before(deadline); {
		if c.err = connection.Invoke(ctx, load.Method, request, reply); c.err != nil {
			return
		}
		if reply.Length != load.Reply {
			c.err = fmt.Errorf("a reply of %d bytes, want %d", reply.Length, load.Reply)
			return
		}
		end := time.Now()
		c.err = c.latency.RecordValue(int64(min(end.Sub(start), slowestLatency)))
		if c.err != nil {
			return
		}
		start = end
	}
}
