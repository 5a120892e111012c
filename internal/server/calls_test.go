package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

const secret = "hunter2-secret"

// oneCall makes one call of a method with a stock client, and returns its error.
func (h *harness) oneCall(ctx context.Context, method string) error {
	value := encodeRequestOf(fixture.OneOfEach(), nil)
	switch method {
	case "Encode":
		_, err := h.client.Encode(ctx, value)
		return err
	case "EncodeStream":
		s, err := h.client.EncodeStream(ctx, &thriftpackv1.EncodeStreamRequest{Request: value})
		if err != nil {
			return err
		}
		_, err = drainStream(s)
		return err
	case "EncodeBatch":
		s, err := h.client.EncodeBatch(ctx)
		if err != nil {
			return err
		}
		// A send that fails says io.EOF; the reason comes with the next receive.
		if err := s.Send(&thriftpackv1.EncodeBatchRequest{Requests: []*thriftpackv1.EncodeRequest{value}}); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		_ = s.CloseSend()
		_, err = drainStream(s)
		return err
	}
	return h.oneCallOfParts(ctx, method)
}

// oneCallOfParts is oneCall for streams of parts: an empty struct.
func (h *harness) oneCallOfParts(ctx context.Context, method string) error {
	switch method {
	case "EncodeParts":
		s, err := h.client.EncodeParts(ctx)
		if err != nil {
			return err
		}
		if err := s.Send(partsRequest(beginPart(&thriftpackv1.Begin{Type: thriftpackv1.Type_TYPE_STRUCT}), endPart())); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		_ = s.CloseSend()
		_, err = drainStream(s)
		return err
	case "DecodeParts":
		s, err := h.client.DecodeParts(ctx)
		if err != nil {
			return err
		}
		if err := s.Send(&thriftpackv1.DecodePartsRequest{Data: []byte{0}}); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		_ = s.CloseSend()
		_, err = drainStream(s)
		return err
	}
	return errors.New("no such method: " + method)
}

// handled returns how many calls of a method ended with a code, and how many ended in all.
func (h *harness) handled(t *testing.T, method string, code codes.Code) (withCode, all float64) {
	t.Helper()
	families, err := h.server.Registry().Gather()
	if err != nil {
		t.Fatalf("Gather: %v", err)
	}
	for _, family := range families {
		if family.GetName() != "grpc_server_handled_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			labels := make(map[string]string)
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			if labels["grpc_method"] != method {
				continue
			}
			all += metric.GetCounter().GetValue()
			if labels["grpc_code"] == code.String() {
				withCode += metric.GetCounter().GetValue()
			}
		}
	}
	return withCode, all
}

// wantFinished checks that a call left one line in the log and one count, with the code.
func (h *harness) wantFinished(t *testing.T, method string, code codes.Code, level slog.Level) map[string]any {
	t.Helper()
	// The line is written before the client is answered for all but a success, whose reply overtakes it.
	eventually(t, method+": a line in the log", func() bool { return len(h.log.calls(t, method)) > 0 })
	lines := h.log.calls(t, method)
	if len(lines) != 1 || lines[0]["code"] != code.String() || lines[0]["level"] != level.String() {
		t.Fatalf("%s: log %v, want one line at %v with code %v", method, lines, level, code)
	}
	eventually(t, method+": a count", func() bool { _, all := h.handled(t, method, code); return all > 0 })
	if withCode, all := h.handled(t, method, code); withCode != 1 || all != 1 {
		t.Errorf("%s: %v calls counted, %v of them %v; want one", method, all, withCode, code)
	}
	return lines[0]
}

func TestFinishedCalls(t *testing.T) {
	wrapped := fmt.Errorf("%s: %w", secret, status.Error(codes.NotFound, secret))
	for _, tt := range []struct {
		name   string
		hook   func(context.Context, string) error
		code   codes.Code
		reason string
		text   string
		unary  slog.Level
		stream slog.Level
	}{
		{"a success", nil, codes.OK, "", "", slog.LevelDebug, slog.LevelInfo},
		{
			"a panic", func(context.Context, string) error { panic(secret) },
			codes.Internal, "INTERNAL", "internal error", slog.LevelError, slog.LevelError,
		},
		{
			"a panic with an error", func(context.Context, string) error { panic(errors.New(secret)) },
			codes.Internal, "INTERNAL", "internal error", slog.LevelError, slog.LevelError,
		},
		{
			"a plain error", func(context.Context, string) error { return errors.New(secret) },
			codes.Internal, "INTERNAL", "internal error", slog.LevelError, slog.LevelError,
		},
		{
			"a wrapped status", func(context.Context, string) error { return wrapped },
			codes.Internal, "INTERNAL", "internal error", slog.LevelError, slog.LevelError,
		},
		{
			"a context's end, wrapped", func(context.Context, string) error { return fmt.Errorf("%s: %w", secret, context.DeadlineExceeded) },
			codes.DeadlineExceeded, "", "deadline exceeded", slog.LevelWarn, slog.LevelWarn,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := start(t, func(s *setup) { s.hook = tt.hook })
			for _, method := range []string{"Encode", "EncodeStream", "EncodeBatch", "EncodeParts", "DecodeParts"} {
				err := h.oneCall(t.Context(), method)
				wantError(t, err, tt.code, tt.reason)
				if got := status.Convert(err).Message(); got != tt.text {
					t.Errorf("%s: text %q, want %q", method, got, tt.text)
				}
				level := tt.stream
				if method == "Encode" {
					level = tt.unary
				}
				line := h.wantFinished(t, method, tt.code, level)
				if stack, _ := line["stack"].(string); strings.HasPrefix(tt.name, "a panic") != strings.Contains(stack, "calls_test.go") {
					t.Errorf("%s: stack %q", method, stack)
				}
			}
			if strings.Contains(h.log.String(), secret) {
				t.Errorf("the secret is in the log: %s", h.log.String())
			}
		})
	}
}

func TestPanicInTheChain(t *testing.T) {
	h := start(t, func(s *setup) {
		s.options = append(s.options, WithAdmission(func(context.Context) (context.Context, error) { panic(secret) }))
	})
	for _, method := range []string{"Encode", "EncodeStream"} {
		wantError(t, h.oneCall(t.Context(), method), codes.Internal, "INTERNAL", "internal error")
		if lines := h.log.calls(t, method); len(lines) != 1 || lines[0]["level"] != "ERROR" {
			t.Errorf("%s: log %v, want one line", method, lines)
		}
	}
	if strings.Contains(h.log.String(), secret) {
		t.Errorf("the secret is in the log: %s", h.log.String())
	}
}

// TestAuthBeforeBody opens calls and sends nothing of their bodies: the refusal must not wait for them.
func TestAuthBeforeBody(t *testing.T) {
	refuse := status.Error(codes.Unauthenticated, "no credentials")
	var hooked atomic.Int64
	h := start(t, func(s *setup) {
		s.hook = func(context.Context, string) error { hooked.Add(1); return nil }
		s.options = append(s.options, WithAdmission(func(context.Context) (context.Context, error) { return nil, refuse }))
	})
	for _, method := range []string{"Encode", "EncodeStream", "EncodeBatch", "Decode", "DecodeStream", "DecodeBatch", "EncodeParts", "DecodeParts"} {
		s, err := h.conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/thriftpack.v1.SerializerService/"+method)
		if err != nil {
			t.Fatalf("NewStream: %v", err)
		}
		err = s.RecvMsg(new(emptypb.Empty))
		if status.Code(err) != codes.Unauthenticated || status.Convert(err).Message() != "no credentials" {
			t.Errorf("%s: %v, want the refusal", method, err)
		}
		h.wantFinished(t, method, codes.Unauthenticated, slog.LevelInfo)
	}
	if n := hooked.Load(); n != 0 {
		t.Errorf("%d handlers ran", n)
	}
	// Probes have no credentials.
	if got := healthOf(t.Context(), h.conn, ""); got != "SERVING" {
		t.Errorf("health without credentials: %s", got)
	}
	watch, err := healthpb.NewHealthClient(h.conn).Watch(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if state, err := watch.Recv(); err != nil || state.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("Watch without credentials: %v, %v", state, err)
	}
	reflected, err := reflectionpb.NewServerReflectionClient(h.conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := reflected.Send(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	if _, err := reflected.Recv(); err != nil {
		t.Errorf("reflection without credentials: %v", err)
	}
}

// series counts the series of a registry.
func series(t *testing.T, r *prometheus.Registry) (n int) {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatalf("Gather: %v", err)
	}
	for _, family := range families {
		n += len(family.GetMetric())
	}
	return n
}

func TestUnknownMethodsAddNoSeries(t *testing.T) {
	h := start(t)
	if err := h.oneCall(t.Context(), "Encode"); err != nil {
		t.Fatal(err)
	}
	before := series(t, h.server.Registry())
	for i := range 10_000 {
		method := fmt.Sprintf("/random.Service%d/Method%d", i%100, i)
		if i%2 == 0 {
			method = fmt.Sprintf("/thriftpack.v1.SerializerService/Method%d", i)
		}
		if err := h.conn.Invoke(t.Context(), method, new(emptypb.Empty), new(emptypb.Empty)); status.Code(err) != codes.Unimplemented {
			t.Fatalf("%s: %v, want UNIMPLEMENTED", method, err)
		}
	}
	for _, method := range []string{"Encode", "EncodeStream", "EncodeBatch"} {
		if err := h.oneCall(t.Context(), method); err != nil {
			t.Fatal(err)
		}
	}
	if after := series(t, h.server.Registry()); after != before {
		t.Errorf("%d series, %d before the calls", after, before)
	}
}

// TestServiceDescriptions compares our descriptions with the generated ones, so that no RPC is forgotten.
func TestServiceDescriptions(t *testing.T) {
	s := newServer(t, config.Default())
	shape := func(d *grpc.ServiceDesc) map[string]string {
		shapes := make(map[string]string)
		for _, m := range d.Methods {
			shapes[m.MethodName] = "unary"
		}
		for _, m := range d.Streams {
			shapes[m.StreamName] = fmt.Sprintf("client streams %v, server streams %v", m.ClientStreams, m.ServerStreams)
		}
		return shapes
	}
	for _, tt := range []struct{ ours, generated *grpc.ServiceDesc }{
		{s.service.describe(), &thriftpackv1.SerializerService_ServiceDesc},
		{s.service.describeSchemas(), &thriftpackv1.SchemaService_ServiceDesc},
	} {
		if tt.ours.ServiceName != tt.generated.ServiceName || tt.ours.Metadata != tt.generated.Metadata {
			t.Errorf("name %q and metadata %v, want %q and %v", tt.ours.ServiceName, tt.ours.Metadata, tt.generated.ServiceName, tt.generated.Metadata)
		}
		if diff := cmp.Diff(shape(tt.generated), shape(tt.ours)); diff != "" {
			t.Errorf("%s: methods, -want +got:\n%s", tt.generated.ServiceName, diff)
		}
	}
}
