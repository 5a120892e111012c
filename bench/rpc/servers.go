package rpc

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"google.golang.org/grpc"

	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/pace"
	"github.com/thriftpack/thriftpack/internal/server"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// The kinds of servers.
const (
	// Thriftpack is our server with its default settings.
	Thriftpack = "thriftpack"
	// Floor answers every request with the same finished bytes, behind the same transport settings and interceptors: what
	// gRPC itself costs.
	Floor = "floor"
	// Bare is the floor with grpc-go's defaults and no interceptors.
	Bare = "bare"
	// Ordinary is what one would write without us, behind the same transport settings and interceptors: generated stubs,
	// proto.Unmarshal, Apache's encoder into a bytes field.
	Ordinary = "ordinary"
)

// Modes are all kinds.
var Modes = []string{Thriftpack, Floor, Bare, Ordinary}

// Serve runs a server of a mode until SIGTERM; it writes its address to out. It is what Start starts.
func Serve(ctx context.Context, mode string, out io.Writer) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	pace.Start() // as the service does
	settings := config.Default()
	settings.DrainDelay = 0
	mode, grows := strings.CutSuffix(mode, growing)
	workloads := Workloads
	if grows {
		settings.MaxRequestBytes, settings.MaxUnaryReplyBytes, workloads = mostGrowing, mostGrowing, Growing
	}
	ours, err := server.New(settings, server.WithLogger(slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))))
	if err != nil {
		return fmt.Errorf("serve %s: %w", mode, err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("serve %s: %w", mode, err)
	}
	serve, end := ours.Serve, ours.Close
	if mode != Thriftpack {
		peer, err := newPeer(mode, ours, workloads)
		if err != nil {
			return fmt.Errorf("serve %s: %w", mode, err)
		}
		serve, end = peer.Serve, peer.Stop
		defer ours.Close()
	}
	go func() {
		<-ctx.Done()
		end()
	}()
	if _, err := fmt.Fprintln(out, addressPrefix+listener.Addr().String()); err != nil {
		return fmt.Errorf("serve %s: %w", mode, err)
	}
	if err := serve(listener); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve %s: %w", mode, err)
	}
	return nil
}

func newPeer(mode string, ours *server.Server, all func() ([]Workload, error)) (*grpc.Server, error) {
	var options []grpc.ServerOption
	if mode != Bare {
		options = ours.ServerOptions()
	}
	if mode == Ordinary {
		peer := grpc.NewServer(options...)
		thriftpackv1.RegisterSerializerServiceServer(peer, ordinary{})
		return peer, nil
	}
	workloads, err := all()
	if err != nil {
		return nil, err
	}
	description, err := floorService(workloads)
	if err != nil {
		return nil, err
	}
	peer := grpc.NewServer(append(options, grpc.ForceServerCodecV2(RawCodec{}))...)
	peer.RegisterService(description, nil)
	return peer, nil
}
