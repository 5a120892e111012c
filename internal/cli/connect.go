package cli

import (
	"context"
	"math"
	"net"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/server"
)

// connection is how a command reaches a server.
type connection struct {
	addr     string
	timeout  time.Duration
	security clientSecurity
	// local are options of the server in this process.
	local []server.Option
}

func (c *connection) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.addr, "addr", "", "call the server at `ADDRESS`, host:port or unix:PATH (default: in this process)")
	cmd.Flags().DurationVar(&c.timeout, "timeout", 0, "give up after this `DURATION`, such as 30s (default: never)")
	c.security.addFlags(cmd)
}

// context bounds ctx by --timeout.
func (c *connection) context(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, c.timeout)
}

// localBytes bounds requests, replies and strings of the server in this process. They are files of whoever runs it, so
// this is larger than what a server accepts from strangers. The number of decoded values keeps its default: a small hostile
// file can hold very many.
const localBytes = 1 << 30

// localDepth bounds nesting there. Decoding stays at the default of a server unless --max-depth is given.
const localDepth = 10_000

// localStall is how long the reader of a pipe may pause.
const localStall = 24 * time.Hour

// localConfig is the configuration of the server in this process.
func localConfig() config.Config {
	cfg := config.Default()
	cfg.MaxRequestBytes, cfg.MaxUnaryReplyBytes, cfg.MaxStringBytes = localBytes, localBytes, localBytes
	cfg.MaxElements = math.MaxInt32
	cfg.MaxDepth = localDepth
	cfg.StreamBudget = max(cfg.StreamBudget, 4*localBytes)
	// Whoever reads a pipe may take its time, and there is no replica to move on to.
	cfg.StallTimeout, cfg.MaxConnectionAge = localStall, 0
	// Types are those of --idl, whatever a server on this machine keeps.
	cfg.SchemaStore, cfg.SchemaDir = "none", ""
	cfg.MaxSchemaBytes, cfg.MaxSchemaFiles = mostIDLBytes, mostIDLFiles
	return cfg
}

// dial connects to the server of --addr, or to one that it starts in this process. The caller calls closed when done.
func (c *connection) dial() (client thriftpackv1.SerializerServiceClient, closed func(), err error) {
	conns, closed, err := c.connect(1)
	if err != nil {
		return nil, nil, err
	}
	return thriftpackv1.NewSerializerServiceClient(conns[0]), closed, nil
}

// connect opens n connections to the server of --addr, or to one that it starts in this process. The caller calls closed when done.
func (c *connection) connect(n int) (conns []*grpc.ClientConn, closed func(), err error) {
	options, err := c.security.options(c.addr)
	if err != nil {
		return nil, nil, err
	}
	// The server has its own limits; ours would only hide its errors.
	options = append(options, grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32), grpc.MaxCallSendMsgSize(math.MaxInt32)))
	target, stop := c.addr, func() {}
	if c.addr == "" {
		listener := bufconn.Listen(1 << 20)
		s, err := server.New(localConfig(), c.local...)
		if err != nil {
			return nil, nil, err
		}
		go func() { _ = s.Serve(listener) }() // it ends with Close; a failure shows as an error of the call
		target, stop = "passthrough:///in-process", s.Close
		options = append(options, grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return listener.DialContext(ctx)
		}))
	}
	closed = func() {
		for _, conn := range conns {
			_ = conn.Close() // all calls are over; there is nothing to lose
		}
		stop()
	}
	for range n {
		conn, err := grpc.NewClient(target, options...)
		if err != nil {
			closed()
			return nil, nil, err
		}
		conns = append(conns, conn)
	}
	return conns, closed, nil
}
