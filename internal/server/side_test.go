package server

import (
	"bytes"
	"compress/gzip"
	"log/slog"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
)

// sideMethods are all methods of the services beside ours.
func (h *harness) sideMethods() (names []string) {
	for _, method := range h.methods() {
		if strings.HasPrefix(method, "/grpc.") {
			names = append(names, method)
		}
	}
	return names
}

// framed is a message as it is on the wire.
func framed(message []byte, compressed byte) []byte {
	n := len(message)
	return append([]byte{compressed, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, message...)
}

// named is a message of n bytes whose first member is a text.
func named(n int) []byte {
	text := strings.Repeat("n", n-1-protowire.SizeVarint(uint64(n-3)))
	message := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), text)
	return message
}

// TestSideServicesAreBounded sends health and reflection what they should not get, by every one of their methods.
func TestSideServicesAreBounded(t *testing.T) {
	var bomb bytes.Buffer
	packer := gzip.NewWriter(&bomb)
	_, _ = packer.Write(named(1 << 20))
	_ = packer.Close()
	for _, test := range []struct {
		name, compression string
		body              []byte
		code              codes.Code
		reason, text      string
	}{
		{"not protobuf", "", framed([]byte{0xFF}, 0), codes.InvalidArgument, "BAD_PROTO", "cannot be read"},
		{"a text that is not UTF-8", "", framed([]byte{0x0A, 1, 0xFF, 0x22, 1, 0xFF}, 0), codes.InvalidArgument, "BAD_PROTO", "cannot be read"},
		{"half a message", "", []byte{0, 0, 0, 0, 9, 1}, codes.InvalidArgument, "TRUNCATED", "inside of a message"},
		{"one byte too many", "", framed(named(maxSideRequest+1), 0), codes.ResourceExhausted, "SIZE_LIMIT", "4097 exceeds the limit of 4096 (of this service)"},
		{"16 MiB", "", framed(named(16<<20), 0), codes.ResourceExhausted, "SIZE_LIMIT", "exceeds the limit of 4096"},
		{"a MiB in a KiB of gzip", "gzip", framed(bomb.Bytes(), 1), codes.ResourceExhausted, "SIZE_LIMIT", "exceeds the limit of 4096"},
		{"compressed by nothing", "", framed([]byte{0}, 1), codes.InvalidArgument, "BAD_PROTO", "names no compression"},
	} {
		for _, method := range start(t).sideMethods() {
			h := start(t)
			if strings.HasSuffix(method, "/List") && test.name == "a text that is not UTF-8" {
				continue // its request has no text
			}
			wantError(t, wireCall(t, h, method, test.compression, test.body), test.code, test.reason, test.text)
			level := slog.LevelInfo
			if test.code == codes.ResourceExhausted {
				level = slog.LevelWarn
			}
			h.wantFinished(t, method[strings.LastIndex(method, "/")+1:], test.code, level)
		}
	}
}

// TestSideServicesTakeWhatFits sends the largest request that there may be.
func TestSideServicesTakeWhatFits(t *testing.T) {
	h := start(t)
	if message := named(maxSideRequest); len(message) != maxSideRequest {
		t.Fatalf("%d bytes", len(message))
	}
	request := new(healthpb.HealthCheckRequest)
	if err := proto.Unmarshal(named(maxSideRequest), request); err != nil {
		t.Fatal(err)
	}
	if _, err := healthpb.NewHealthClient(h.conn).Check(t.Context(), request); status.Code(err) != codes.NotFound {
		t.Errorf("Check: %v, want NOT_FOUND", err)
	}
	list, err := healthpb.NewHealthClient(h.conn).List(t.Context(), new(healthpb.HealthListRequest), grpc.UseCompressor("gzip"))
	if err != nil || len(list.GetStatuses()) < 4 {
		t.Errorf("List: %v, %v", list, err)
	}
}

// TestSideServicesAreWatched opens calls and sends nothing.
func TestSideServicesAreWatched(t *testing.T) {
	h := start(t, func(s *setup) { s.cfg.StallTimeout = 50 * time.Millisecond })
	for _, method := range h.sideMethods() {
		s, err := h.conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
		if err != nil {
			t.Fatal(err)
		}
		err = s.RecvMsg(new(emptypb.Empty))
		wantError(t, err, codes.DeadlineExceeded, "STALLED", "no whole message from the peer")
	}
	// Reflection takes one request after the other, and a client that has no more to ask goes.
	h = start(t, func(s *setup) { s.cfg.StallTimeout = time.Second })
	s, err := reflectionpb.NewServerReflectionClient(h.conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recv(); err != nil {
		t.Fatal(err)
	}
	_, err = s.Recv()
	wantError(t, err, codes.DeadlineExceeded, "STALLED")
}

// TestWatchingHealthIsNoStall waits for news of health for longer than a stall takes.
func TestWatchingHealthIsNoStall(t *testing.T) {
	const stall = 500 * time.Millisecond
	h := start(t, func(s *setup) { s.cfg.StallTimeout = stall })
	s, err := healthpb.NewHealthClient(h.conn).Watch(t.Context(), new(healthpb.HealthCheckRequest))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recv(); err != nil {
		t.Fatal(err)
	}
	wait(t, 2*stall)
	h.server.tellReady(false)
	if state, err := s.Recv(); err != nil || state.GetStatus() != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Errorf("Recv: %v, %v; want NOT_SERVING", state, err)
	}
}
