package server

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"testing"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// wireCall makes a call whose body is these bytes, message prefixes included, and returns its error. It is for what no client of gRPC
// would send.
func wireCall(t *testing.T, h *harness, path, compression string, body []byte) error {
	t.Helper()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+h.addr+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/grpc")
	request.Header.Set("Te", "trailers")
	if compression != "" {
		request.Header.Set("Grpc-Encoding", compression)
	}
	reply, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer func() { _ = reply.Body.Close() }()
	if _, err := io.ReadAll(reply.Body); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	trailer := reply.Trailer
	if len(trailer) == 0 {
		trailer = reply.Header // a reply without a message has its trailers there
	}
	return trailerError(t, trailer)
}

// trailerError is the error that trailers tell of.
func trailerError(t *testing.T, trailer http.Header) error {
	t.Helper()
	code, err := strconv.Atoi(trailer.Get("Grpc-Status"))
	if err != nil {
		t.Fatalf("no status in %v", trailer)
	}
	if details := trailer.Get("Grpc-Status-Details-Bin"); details != "" {
		var st spb.Status
		raw, err := base64.RawStdEncoding.DecodeString(details)
		if err != nil || proto.Unmarshal(raw, &st) != nil {
			t.Fatalf("details %q", details)
		}
		return status.ErrorProto(&st)
	}
	text, err := url.PathUnescape(trailer.Get("Grpc-Message"))
	if err != nil {
		t.Fatal(err)
	}
	return status.Error(codes.Code(code), text)
}

// TestBadMessages sends what gRPC itself answers with INTERNAL. It is the client's fault, and nothing to wake anybody for.
func TestBadMessages(t *testing.T) {
	message := []byte{0, 0, 0, 0, 2, 0x0A, 0}
	tests := []struct {
		name        string
		method      string
		compression string
		body        []byte
		code        codes.Code
		reason      string
		text        string
	}{
		{"gzip that is none", "Encode", gzip.Name, []byte{1, 0, 0, 0, 5, 'h', 'e', 'l', 'l', 'o'}, codes.InvalidArgument, "BAD_PROTO", "not valid gzip"},
		{"gzip that is none", "EncodeStream", gzip.Name, []byte{1, 0, 0, 0, 5, 'h', 'e', 'l', 'l', 'o'}, codes.InvalidArgument, "BAD_PROTO", "not valid gzip"},
		{"gzip that is none", "EncodeBatch", gzip.Name, []byte{1, 0, 0, 0, 5, 'h', 'e', 'l', 'l', 'o'}, codes.InvalidArgument, "BAD_PROTO", "not valid gzip"},
		{"compressed by nothing", "Encode", "", []byte{1, 0, 0, 0, 1, 0}, codes.InvalidArgument, "BAD_PROTO", "names no compression"},
		{"compressed by nothing", "DecodeBatch", "", []byte{1, 0, 0, 0, 1, 0}, codes.InvalidArgument, "BAD_PROTO", "names no compression"},
		{"compressed by what is not known", "Encode", "zip", []byte{1, 0, 0, 0, 1, 0}, codes.Unimplemented, "", "zip"},
		{"a flag without a meaning", "Encode", "", []byte{7, 0, 0, 0, 1, 0}, codes.InvalidArgument, "BAD_PROTO", "neither as plain nor as compressed"},
		{"no message", "Encode", "", nil, codes.InvalidArgument, "BAD_PROTO", "no request message"},
		{"no message", "DecodeStream", "", nil, codes.InvalidArgument, "BAD_PROTO", "no request message"},
		{"two messages", "Encode", "", append(message, message...), codes.InvalidArgument, "BAD_PROTO", "more than one request message"},
		{"two messages", "EncodeStream", "", append(message, message...), codes.InvalidArgument, "BAD_PROTO", "more than one request message"},
		{"half a message", "Encode", "", []byte{0, 0, 0, 0, 9, 1, 2}, codes.InvalidArgument, "TRUNCATED", "inside of a message"},
		{"half a message", "EncodeBatch", "", []byte{0, 0, 0, 0, 9, 1, 2}, codes.InvalidArgument, "TRUNCATED", "inside of a message"},
		{"half a prefix", "DecodeParts", "", []byte{0, 0}, codes.InvalidArgument, "TRUNCATED", "inside of a message"},
	}
	for _, tt := range tests {
		t.Run(tt.name+" by "+tt.method, func(t *testing.T) {
			h := start(t)
			err := wireCall(t, h, "/thriftpack.v1.SerializerService/"+tt.method, tt.compression, tt.body)
			wantError(t, err, tt.code, tt.reason, tt.text)
			if tt.reason == "" {
				return // decided by gRPC
			}
			if line := h.wantFinished(t, tt.method, tt.code, slog.LevelInfo); line["reason"] != tt.reason {
				t.Errorf("log: %v", line)
			}
		})
	}
}

// TestCallsOverBeforeTheyAnswer ends calls just before the handlers set headers or compression, which gRPC then refuses.
func TestCallsOverBeforeTheyAnswer(t *testing.T) {
	for _, tt := range []struct {
		name  string
		setup func(s *setup, canceled func(context.Context))
	}{
		{"headers", func(s *setup, canceled func(context.Context)) {
			s.hook = func(ctx context.Context, _ string) error { canceled(ctx); return nil }
		}},
		{"compression", func(s *setup, canceled func(context.Context)) {
			s.dial = []grpc.DialOption{grpc.WithDefaultCallOptions(grpc.UseCompressor(gzip.Name))}
			s.options = append(s.options, WithAdmission(func(ctx context.Context) (context.Context, error) {
				canceled(ctx)
				return ctx, nil
			}))
		}},
	} {
		for _, method := range []string{"Encode", "EncodeStream", "EncodeBatch"} {
			t.Run(tt.name+" of "+method, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				h := start(t, func(s *setup) {
					tt.setup(s, func(ctx context.Context) { cancel(); <-ctx.Done() })
				})
				if err := h.oneCall(ctx, method); status.Code(err) != codes.Canceled {
					t.Errorf("the client: %v", err)
				}
				if tt.name == "headers" && method == "Encode" {
					return // a unary handler sets none, and gRPC drops its reply
				}
				h.wantFinished(t, method, codes.Canceled, slog.LevelInfo)
			})
		}
	}
}
