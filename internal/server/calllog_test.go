package server

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// TestLogIsBounded makes more calls than there may be lines, and an error that must not drown in them.
func TestLogIsBounded(t *testing.T) {
	fails := false
	h := start(t, func(s *setup) {
		s.cfg.LogRate = 1
		s.hook = func(context.Context, string) error {
			if fails {
				panic("of the test")
			}
			return nil
		}
	})
	const calls = 200
	for range calls {
		if err := h.oneCall(t.Context(), "EncodeStream"); err != nil {
			t.Fatal(err)
		}
	}
	fails = true
	_ = h.oneCall(t.Context(), "EncodeStream")
	var lines, suppressed int
	eventually(t, "all lines are written or not", func() bool {
		lines = 0
		for _, line := range h.log.calls(t, "EncodeStream") {
			if line["level"] == "INFO" {
				lines++
			}
		}
		suppressed = int(h.labelled(t, "thriftpack_log_lines_suppressed_total", "level", "INFO"))
		return lines+suppressed == calls
	})
	if lines < burstSeconds || lines > calls/2 {
		t.Errorf("%d lines of %d calls, want about %d", lines, calls, burstSeconds)
	}
	eventually(t, "the error is logged", func() bool { return strings.Contains(h.log.String(), `"level":"ERROR"`) })

	// After a pause, which is cut short here, the next line says how many there were not.
	info := h.server.log.levels[slog.LevelInfo]
	info.bucket.SetBurst(1 << 20)
	info.bucket.SetLimit(1 << 30)
	fails = false
	if err := h.oneCall(t.Context(), "EncodeBatch"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the next line", func() bool { return len(h.log.calls(t, "EncodeBatch")) == 1 })
	told := h.log.calls(t, "EncodeBatch")[0]["suppressed"]
	if told == nil {
		t.Error("the next line does not say how many were suppressed")
	}
	sum, _ := told.(float64)
	for _, line := range h.log.calls(t, "EncodeStream") {
		n, _ := line["suppressed"].(float64)
		sum += n
	}
	if sum != float64(suppressed) {
		t.Errorf("the lines say that %v were suppressed, want %d", sum, suppressed)
	}
}

// TestLogOfCallers looks at what a line says of who called.
func TestLogOfCallers(t *testing.T) {
	ours := newAuthority(t, "ours")
	client := ours.issue(t)
	h := start(t, newCertificateFiles(t, ours.issue(t), ours).serve(true),
		func(s *setup) { s.dial = []grpc.DialOption{grpc.WithTransportCredentials(withTLS(t, ours, &client))} },
	)
	if err := h.oneCall(t.Context(), "Encode"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a line", func() bool { return len(h.log.calls(t, "Encode")) == 1 })
	line := h.log.calls(t, "Encode")[0]
	if line["client"] != "CN=of a test" || line["peer"] != "127.0.0.1" {
		t.Errorf("client %v, peer %v", line["client"], line["peer"])
	}
	if took, ok := line["duration_ms"].(float64); !ok || took <= 0 || took > 60_000 {
		t.Errorf("duration_ms %v", line["duration_ms"])
	}

	h = start(t, withTokens(withFile(t, "tokens", hashedLine())))
	for _, call := range []struct{ method, token, client string }{{"Encode", hashedToken, "billing"}, {"EncodeBatch", "wrong", ""}, {"EncodeStream", hashedToken, "billing"}} {
		_ = h.oneCall(bearing(t.Context(), call.token), call.method)
		eventually(t, "a line", func() bool { return len(h.log.calls(t, call.method)) == 1 })
		line := h.log.calls(t, call.method)[0]
		if got, _ := line["client"].(string); got != call.client || line["peer"] != "127.0.0.1" {
			t.Errorf("%s: client %q, peer %v; want %q", call.method, got, line["peer"], call.client)
		}
	}
}

// TestRequestIDs sends ids of callers, and looks for them in replies and in the log.
func TestRequestIDs(t *testing.T) {
	for _, test := range []struct {
		name string
		sent []string
		kept bool
	}{
		{"an id", []string{"7f3a-Bc.9_~+/=:@,"}, true},
		{"the longest", []string{strings.Repeat("x", maxRequestID)}, true},
		{"none", nil, false},
		{"an empty one", []string{""}, false},
		{"one too long", []string{strings.Repeat("x", maxRequestID+1)}, false},
		{"one with a quote", []string{`a"b`}, false},
		{"one with a space", []string{"a b"}, false},
		{"two", []string{"a", "b"}, false},
	} {
		for _, method := range []string{"Encode", "EncodeStream"} {
			for _, fails := range []bool{false, true} {
				h := start(t)
				ctx := t.Context()
				for _, id := range test.sent {
					ctx = metadata.AppendToOutgoingContext(ctx, "x-request-id", id)
				}
				header, trailer := requestWithID(ctx, t, h, method, fails)
				eventually(t, "a line", func() bool { return len(h.log.calls(t, method)) == 1 })
				logged, _ := h.log.calls(t, method)[0]["request_id"].(string)
				told := strings.Join(append(header.Get("x-request-id"), trailer.Get("x-request-id")...), " ")
				want := logged
				if test.kept {
					want = test.sent[0]
				}
				switch {
				case told != want || logged != want:
					t.Errorf("%s, %s, fails %t: told %q, logged %q; want %q", test.name, method, fails, told, logged, want)
				case !test.kept && (fails || method == "EncodeStream") && len(logged) != 16:
					t.Errorf("%s, %s, fails %t: an id was made, %q; want 16 digits", test.name, method, fails, logged)
				}
			}
		}
	}
}

// requestWithID makes a call and returns what comes with its reply.
func requestWithID(ctx context.Context, t *testing.T, h *harness, method string, fails bool) (header, trailer metadata.MD) {
	t.Helper()
	value := fixture.OneOfEach()
	if fails {
		value = nil
	}
	if method == "Encode" {
		_, _ = h.client.Encode(ctx, encodeRequestOf(value, nil), grpc.Header(&header), grpc.Trailer(&trailer))
		return header, trailer
	}
	s, err := h.client.EncodeStream(ctx, &thriftpackv1.EncodeStreamRequest{Request: encodeRequestOf(value, nil)})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = drainStream(s)
	header, _ = s.Header()
	return header, s.Trailer()
}

// TestLogIsJSON has every line of a log parsed.
func TestLogIsJSON(t *testing.T) {
	h := start(t)
	_ = h.oneCall(metadata.AppendToOutgoingContext(t.Context(), "x-request-id", "a"), "Encode")
	for line := range strings.Lines(h.log.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("log line %q", line)
		}
	}
}
