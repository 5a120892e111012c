package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// healthOf asks for the health of a service.
func healthOf(ctx context.Context, conn *grpc.ClientConn, service string) string {
	reply, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{Service: service})
	if err != nil {
		return status.Code(err).String()
	}
	return reply.GetStatus().String()
}

func TestDrainTellsStreams(t *testing.T) {
	h := start(t)
	// A batch that is idle after an exchange, a batch that never sent, a health watch, and a stream that is being read.
	idle, err := h.client.EncodeBatch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := idle.Send(&thriftpackv1.EncodeBatchRequest{Requests: []*thriftpackv1.EncodeRequest{encodeRequestOf(fixture.OneOfEach(), nil)}}); err != nil {
		t.Fatal(err)
	}
	exchanged, err := idle.Recv()
	if err != nil {
		t.Fatal(err)
	}
	silent, err := h.client.DecodeBatch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	watch, err := healthpb.NewHealthClient(h.conn).Watch(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if state, err := watch.Recv(); err != nil || state.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Fatalf("Watch: %v, %v", state, err)
	}
	unknown, err := healthpb.NewHealthClient(h.conn).Watch(t.Context(), &healthpb.HealthCheckRequest{Service: "of nobody"})
	if err != nil {
		t.Fatal(err)
	}
	if state, err := unknown.Recv(); err != nil || state.GetStatus() != healthpb.HealthCheckResponse_SERVICE_UNKNOWN {
		t.Fatalf("Watch of an unknown service: %v, %v", state, err)
	}
	busy, err := h.client.EncodeStream(t.Context(), endless())
	if err != nil {
		t.Fatal(err)
	}
	first, err := busy.Recv()
	if err != nil {
		t.Fatal(err)
	}

	drained := make(chan struct{})
	began := time.Now()
	go func() { h.server.Drain(t.Context()); close(drained) }()

	got := received{data: first.GetData()}
	chunks, err := drainStream(busy)
	for _, chunk := range chunks {
		got.data = append(got.data, chunk.GetData()...)
	}
	wantError(t, err, codes.Unavailable, "DRAINING")
	got.trailer = busy.Trailer()
	got.wantTrailers(t)
	_, err = idle.Recv()
	wantError(t, err, codes.Unavailable, "DRAINING")
	received{data: exchanged.GetResults()[0].GetResponse().GetData(), trailer: idle.Trailer()}.wantTrailers(t)
	_, err = silent.Recv()
	wantError(t, err, codes.Unavailable, "DRAINING")
	received{trailer: silent.Trailer()}.wantTrailers(t)
	_, err = drainStream(watch)
	wantError(t, err, codes.Unavailable, "DRAINING")
	_, err = unknown.Recv()
	wantError(t, err, codes.Unavailable, "DRAINING")
	<-drained
	if took := time.Since(began); took > h.server.cfg.DrainTimeout/2 {
		t.Errorf("drained after %v", took)
	}
}

func TestDrainIsBounded(t *testing.T) {
	h := start(t, func(s *setup) { s.cfg.DrainTimeout = 200 * time.Millisecond })
	// Nobody reads this one, so it never comes to a chunk's boundary.
	s, err := h.client.EncodeStream(t.Context(), endless())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recv(); err != nil {
		t.Fatal(err)
	}
	h.settled(t)
	began := time.Now()
	h.server.Drain(t.Context())
	if took := time.Since(began); took < h.server.cfg.DrainTimeout || took > h.server.cfg.DrainTimeout+patience/2 {
		t.Errorf("drained after %v, want %v at least", took, h.server.cfg.DrainTimeout)
	}
	if _, err := drainStream(s); status.Code(err) != codes.Unavailable {
		t.Errorf("the stream ended with %v, want UNAVAILABLE", err)
	}
	h.eventuallyIdle(t)
}

func TestDrainDelayServes(t *testing.T) {
	h := start(t, func(s *setup) { s.cfg.DrainDelay = time.Hour })
	for service, want := range map[string]string{"": "SERVING", "liveness": "SERVING", "readiness": "SERVING", "thriftpack.v1.SerializerService": "SERVING", "other": "NotFound"} {
		if got := healthOf(t.Context(), h.conn, service); got != want {
			t.Errorf("health of %q: %s, want %s", service, got, want)
		}
	}
	watch, err := healthpb.NewHealthClient(h.conn).Watch(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if state, err := watch.Recv(); err != nil || state.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Fatalf("Watch: %v, %v", state, err)
	}
	ctx, hurry := context.WithCancel(t.Context())
	drained := make(chan struct{})
	go func() { h.server.Drain(ctx); close(drained) }()
	if state, err := watch.Recv(); err != nil || state.GetStatus() != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Fatalf("Watch: %v, %v", state, err)
	}
	eventually(t, "not serving", func() bool { return healthOf(t.Context(), h.conn, "readiness") == "NOT_SERVING" })
	eventually(t, "not serving by name", func() bool {
		return healthOf(t.Context(), h.conn, "thriftpack.v1.SerializerService") == "NOT_SERVING"
	})
	for service, want := range map[string]string{"": "NOT_SERVING", "liveness": "SERVING", "readiness": "NOT_SERVING"} {
		if got := healthOf(t.Context(), h.conn, service); got != want {
			t.Errorf("health of %q while draining: %s, want %s", service, got, want)
		}
	}
	for _, method := range []string{"Encode", "EncodeStream", "EncodeBatch"} {
		if err := h.oneCall(t.Context(), method); err != nil {
			t.Errorf("%s within the delay: %v", method, err)
		}
	}
	hurry()
	<-drained
}

func TestReflection(t *testing.T) {
	h := start(t)
	want := "grpc.health.v1.Health grpc.reflection.v1.ServerReflection grpc.reflection.v1alpha.ServerReflection " +
		"thriftpack.v1.SchemaService thriftpack.v1.SerializerService"
	s, err := reflectionpb.NewServerReflectionClient(h.conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	reply, err := s.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, service := range reply.GetListServicesResponse().GetService() {
		names = append(names, service.GetName())
	}
	if got := strings.Join(names, " "); got != want {
		t.Errorf("services: %s, want %s", got, want)
	}
	if err := s.Send(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_FileContainingSymbol{
		FileContainingSymbol: "thriftpack.v1.SerializerService.Encode",
	}}); err != nil {
		t.Fatal(err)
	}
	if reply, err = s.Recv(); err != nil || len(reply.GetFileDescriptorResponse().GetFileDescriptorProto()) == 0 {
		t.Errorf("the file of Encode: %v, %v", reply, err)
	}
	for symbol, want := range map[string]bool{
		"thriftpack.v1.SchemaService": true, "thriftpack.v1.Value": true, "google.rpc.ErrorInfo": true, "google.protobuf.Timestamp": true,
		"grpc.health.v1.Health": true, "google.protobuf.FileDescriptorProto": false, "envoy.config.rbac.v3.RBAC": false, "nobody.Knows": false,
	} {
		if err := s.Send(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: symbol}}); err != nil {
			t.Fatal(err)
		}
		reply, err := s.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if got := reply.GetErrorResponse() == nil; got != want {
			t.Errorf("%s is shown: %t, want %t", symbol, got, want)
		}
	}
	_ = s.CloseSend()
	if _, err := s.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

// TestRun lives a whole life: listen, serve on all listeners, drain, end.
func TestRun(t *testing.T) {
	cfg := config.Default()
	cfg.GRPCAddr, cfg.HTTPAddr, cfg.HealthAddr = "unix:"+socketPath(t), "127.0.0.1:0", "127.0.0.1:0"
	cfg.DrainDelay, cfg.Pprof = 0, true
	listening := make(chan Addresses, 1)
	s, err := New(cfg, WithListening(func(a Addresses) { listening <- a }))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	addresses := <-listening

	conn := dialTarget(t, "unix:"+addresses.GRPC.String())
	reply, err := thriftpackv1.NewSerializerServiceClient(conn).Encode(t.Context(), encodeRequestOf(fixture.OneOfEach(), nil), grpc.WaitForReady(true))
	if err != nil || len(reply.GetData()) != fixture.OneOfEachCompactSize {
		t.Errorf("Encode over the socket: %d bytes, %v", len(reply.GetData()), err)
	}
	if got := healthOf(t.Context(), dial(t, addresses.Health.String()), ""); got != "SERVING" {
		t.Errorf("health on its own listener: %s", got)
	}
	for path, want := range map[string]string{
		"/metrics": "grpc_server_handled_total", "/healthz": "alive", "/readyz": "ready", "/debug/pprof/": "goroutine",
	} {
		if code, body := get(t, "http://"+addresses.HTTP.String()+path); code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d, want %q in it", path, code, want)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
	if _, err := os.Stat(strings.TrimPrefix(cfg.GRPCAddr, "unix:")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

func TestRunRefusesAddresses(t *testing.T) {
	var lc net.ListenConfig
	taken, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	for setting, change := range map[string]func(*config.Config){
		"--grpc-addr":   func(c *config.Config) { c.GRPCAddr = taken.Addr().String() },
		"--http-addr":   func(c *config.Config) { c.HTTPAddr = taken.Addr().String() },
		"--health-addr": func(c *config.Config) { c.HealthAddr = taken.Addr().String() },
	} {
		cfg := config.Default()
		cfg.GRPCAddr, cfg.HTTPAddr = "127.0.0.1:0", ""
		change(&cfg)
		s, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), setting) {
			t.Errorf("%s in use: %v", setting, err)
		}
	}
}

func TestNotReadyBeforeServing(t *testing.T) {
	s := newServer(t, config.Default())
	reply, err := s.health.Check(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil || reply.GetStatus() != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Errorf("health before serving: %v, %v", reply, err)
	}
}

// TestInProcess serves on bufconn, as the command line client does without an address.
func TestInProcess(t *testing.T) {
	s := newServer(t, config.Default())
	lis := bufconn.Listen(1 << 20)
	served := make(chan error, 1)
	go func() { served <- s.Serve(lis) }()
	conn := dialTarget(t, "passthrough:///in-process", grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
		return lis.DialContext(ctx)
	}))
	reply, err := thriftpackv1.NewSerializerServiceClient(conn).Encode(t.Context(), encodeRequestOf(fixture.OneOfEach(), nil))
	if err != nil || len(reply.GetData()) != fixture.OneOfEachCompactSize {
		t.Errorf("Encode: %d bytes, %v", len(reply.GetData()), err)
	}
	s.Close()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// TestKeepalive pings as often as gRPC's clients may, which is every 10 s, without a call. Two pings in too quick a succession are
// forgiven, and then one is enough to tell whether another that comes after 10 s is one of them.
func TestKeepalive(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("takes 10 s")
	}
	t.Parallel() // it only waits
	h := start(t)
	conn := dialTCP(t, h.addr)
	const often = 10 * time.Second
	if err := conn.SetReadDeadline(time.Now().Add(often + patience)); err != nil {
		t.Fatal(err)
	}
	client := newDeafClient(t, conn)
	for i := range 4 {
		if i == 3 {
			wait(t, often)
		}
		if err := client.framer.WritePing(false, [8]byte{}); err != nil {
			t.Fatal(err)
		}
	}
	request, err := proto.Marshal(encodeRequestOf(fixture.OneOfEach(), nil))
	if err != nil {
		t.Fatal(err)
	}
	client.call(t, request)
	for answered := false; ; {
		frame, err := client.framer.ReadFrame()
		if _, told := frame.(*http2.GoAwayFrame); told || err != nil {
			if !answered {
				t.Errorf("the connection ends for a ping every %v: %v", often, err)
			}
			return
		}
		// Once the call is answered, ping follows ping until there are too many.
		if _, ok := frame.(*http2.HeadersFrame); ok {
			answered = true
		} else if _, ok := frame.(*http2.PingFrame); !ok {
			continue
		}
		if answered {
			_ = client.framer.WritePing(false, [8]byte{}) // the connection may have ended
		}
	}
}

// dialTarget returns a client's connection to any target, closed at the end of the test.
func dialTarget(t *testing.T, target string, opts ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(target, append(opts, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// get fetches a page.
func get(t *testing.T, url string) (code int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return do(t, request)
}

// do makes a request on a connection of its own.
func do(t *testing.T, request *http.Request) (code int, body string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	reply, err := client.Do(request)
	if err != nil {
		t.Fatalf("GET %s: %v", request.URL, err)
	}
	defer func() { _ = reply.Body.Close() }()
	content, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatalf("GET %s: %v", request.URL, err)
	}
	return reply.StatusCode, string(content)
}
