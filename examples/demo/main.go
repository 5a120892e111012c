// Command demo shows thriftpack at work: it builds and starts the real server on a free port, sends it values over gRPC,
// explains the bytes that come back, does the same by the names of a schema, streams a gibibyte through flat memory, and stops the server as Kubernetes would.
// It needs Go only: go run ./examples/demo.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// streamedBytes is about how much the streaming step sends.
const streamedBytes = 1 << 30

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout, streamedBytes)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "demo: %v\n", err)
		os.Exit(1)
	}
}

// run is the whole demonstration; total is about how many bytes it streams.
func run(ctx context.Context, out io.Writer, total int64) (err error) {
	d := &demo{out: out}
	d.title("Starting the server")
	s, err := startServer(ctx, d)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			s.kill()
		}
	}()

	conn, err := grpc.NewClient(s.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	client := thriftpackv1.NewSerializerServiceClient(conn)
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for _, step := range []func() error{
		func() error { return d.roundTrip(ctx, client) },
		func() error { return d.binary(ctx, client) },
		func() error { return d.byName(ctx, thriftpackv1.NewSchemaServiceClient(conn), client) },
		func() error { return d.mistake(ctx, client) },
		func() error { return d.stream(ctx, client, s, total) },
	} {
		if err := step(); err != nil {
			_ = conn.Close() // the step's error says more
			return err
		}
	}
	if err := conn.Close(); err != nil {
		return err
	}

	d.title("Stopping the server with SIGTERM")
	if err := s.stop(); err != nil {
		return err
	}
	d.say("It drained and ended with exit code 0.")
	return d.err
}

// demo writes the story. The first error of writing is kept.
type demo struct {
	out io.Writer
	err error
}

func (d *demo) title(text string) { d.say("\n== %s", text) }

func (d *demo) say(format string, args ...any) {
	if _, err := fmt.Fprintf(d.out, format+"\n", args...); err != nil && d.err == nil {
		d.err = err
	}
}
