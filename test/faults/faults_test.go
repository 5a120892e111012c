// Package faults has tests of what clients see when the server's surroundings fail: its process is killed, its memory or its file descriptors
// run out, its disk is full, etcd goes away. The servers are real processes.
package faults

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fixture"
	"github.com/thriftpack/thriftpack/internal/leaks"
	"github.com/thriftpack/thriftpack/test/process"
)

var binary string

func TestMain(m *testing.M) { os.Exit(process.Main(m, &binary)) }

// patience bounds what should take no time.
const patience = time.Minute

// dial returns a connection of its own that ends with the test.
func dial(t *testing.T, address string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // nothing can be lost at the end of a test
	return conn
}

// encode makes a small call.
func encode(ctx context.Context, conn *grpc.ClientConn, opts ...grpc.CallOption) error {
	response, err := thriftpackv1.NewSerializerServiceClient(conn).Encode(ctx, thriftpackv1.EncodeRequestOf(fixture.OneOfEach()), opts...)
	if err != nil {
		return err
	}
	if got := hex.EncodeToString(response.GetData()); got != fixture.OneOfEachCompact {
		return fmt.Errorf("encoded %s", got)
	}
	return nil
}

// endless asks for more than anyone reads.
func endless() *thriftpackv1.EncodeStreamRequest {
	return &thriftpackv1.EncodeStreamRequest{Request: thriftpackv1.EncodeRequestOf(fixture.ListI64(10_000)), Count: 1 << 30}
}

// reason returns the reason in an error's details.
func reason(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}

// TestKilled kills a server in the middle of a stream. Nothing can tell the client how much was sent; that nothing does is how it knows.
func TestKilled(t *testing.T) {
	leaks.Check(t)
	s := process.Start(t, binary)
	conn := dial(t, s.GRPC)
	defer conn.Close()
	stream, err := thriftpackv1.NewSerializerServiceClient(conn).EncodeStream(t.Context(), endless())
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := stream.Recv(); err != nil {
			t.Fatal(err)
		}
	}
	s.Signal(t, os.Kill)
	if code := s.Wait(t); code != -1 {
		t.Errorf("exit code %d after SIGKILL", code)
	}
	for err = error(nil); err == nil; {
		_, err = stream.Recv() // what was on its way still comes
	}
	if errors.Is(err, io.EOF) || status.Code(err) != codes.Unavailable {
		t.Errorf("the stream ends with %v, want UNAVAILABLE", err)
	}
	if trailer := stream.Trailer(); len(trailer.Get(thriftpackv1.BytesTrailer))+len(trailer.Get(thriftpackv1.CRC32CTrailer)) > 0 {
		t.Errorf("the stream has trailers %v: it could be taken for a whole one", trailer)
	}
	if err := encode(t.Context(), conn); status.Code(err) != codes.Unavailable {
		t.Errorf("a call after that: %v, want UNAVAILABLE", err)
	}
}

// TestFileDescriptorsRunOut lets a server have few of them and takes the rest. Those who are connected are served; others wait, and are
// served when there are some again.
func TestFileDescriptorsRunOut(t *testing.T) {
	leaks.Check(t)
	const descriptors = 64
	s := process.Start(t, "/bin/sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, descriptors), binary)
	early := dial(t, s.GRPC)
	defer early.Close()
	if err := encode(t.Context(), early); err != nil {
		t.Fatal(err)
	}

	// The kernel completes connections that the server has not accepted; more than it can have are enough.
	var dialer net.Dialer
	taken := make([]net.Conn, 0, descriptors)
	for range descriptors {
		conn, err := dialer.DialContext(t.Context(), "tcp", s.GRPC)
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, conn)
	}
	late := dial(t, s.GRPC)
	defer late.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	err := encode(ctx, late, grpc.WaitForReady(true))
	cancel()
	if status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("a call on a new connection: %v, want it to wait for its deadline", err)
	}
	for range 100 {
		if err := encode(t.Context(), early); err != nil {
			t.Fatalf("a call on the connection from before: %v", err)
		}
	}

	for _, conn := range taken {
		_ = conn.Close()
	}
	ctx, cancel = context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := encode(ctx, late, grpc.WaitForReady(true)); err != nil {
		t.Errorf("a call when there are descriptors again: %v", err)
	}
	if s.Ended() {
		t.Errorf("the server has ended: %v", s.Logs())
	}
}
