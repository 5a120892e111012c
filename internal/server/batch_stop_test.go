package server

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/guard"
)

// onRequest calls do before the request of a batch with that number, the first being 0, and counts them.
func onRequest(number int64, do func()) (count *atomic.Int64, change func(*harness)) {
	count = new(atomic.Int64)
	return count, func(h *harness) {
		h.server.service.take = func(*guard.Limiter) error {
			if count.Add(1) == number+1 {
				do()
			}
			return nil
		}
	}
}

// batchStream is a stream of batches of either kind.
type batchStream struct {
	send func(texts []string) error
	recv func() error
}

// batchStreams opens one of each kind.
func batchStreams(ctx context.Context, t *testing.T, h *harness) map[string]batchStream {
	t.Helper()
	encode, err := h.client.EncodeBatch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	decode, err := h.client.DecodeBatch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]batchStream{
		"EncodeBatch": {
			send: func(texts []string) error {
				var m thriftpackv1.EncodeBatchRequest
				for _, text := range texts {
					m.Requests = append(m.Requests, encodeRequestOf(thriftpackv1.StructValue(thriftpackv1.StringField(1, text)), nil))
				}
				return encode.Send(&m)
			},
			recv: func() error { _, err := encode.Recv(); return err },
		},
		"DecodeBatch": {
			send: func(texts []string) error {
				var m thriftpackv1.DecodeBatchRequest
				for _, text := range texts {
					data := append([]byte{0x18, byte(len(text)) | 0x80, byte(len(text)>>7) | 0x80, byte(len(text) >> 14)}, text...)
					m.Requests = append(m.Requests, &thriftpackv1.DecodeRequest{Data: append(data, 0)})
				}
				return decode.Send(&m)
			},
			recv: func() error { _, err := decode.Recv(); return err },
		},
	}
}

// TestBatchStopsAtWork ends streams, and the server, while they work on a message: what counts is how much was done, not how many requests.
func TestBatchStopsAtWork(t *testing.T) {
	const at = 2
	large := strings.Repeat("a", 50_000)
	for _, kind := range []string{"EncodeBatch", "DecodeBatch"} {
		for _, tt := range []struct {
			name     string
			text     string
			requests int
			ends     string // how
			code     codes.Code
			most     int64 // requests that are worked on
		}{
			{"large requests and drain", large, 40, "drain", codes.Unavailable, at + 3},
			{"large requests and a client that leaves", large, 40, "cancel", codes.Canceled, at + 3},
			{"few small requests and drain", strings.Repeat("a", 20_000)[:16_400], 3, "drain", codes.OK, 3},
			{"many requests and drain", strings.Repeat("a", 16_400), 200, "drain", codes.Unavailable, at + 5},
		} {
			t.Run(kind+": "+tt.name, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				received := make(chan context.Context, 1)
				h := start(t, func(s *setup) {
					s.hook = func(ctx context.Context, _ string) error { received <- ctx; return nil }
				})
				count, change := onRequest(at, func() {
					if tt.ends == "drain" {
						h.server.sessions.drain()
						return
					}
					cancel()
					<-(<-received).Done()
				})
				change(h)
				s := batchStreams(ctx, t, h)[kind]
				texts := make([]string, tt.requests)
				for i := range texts {
					texts[i] = tt.text
				}
				if err := s.send(texts); err != nil {
					t.Fatal(err)
				}
				err := s.recv()
				reason := ""
				if tt.code == codes.Unavailable {
					reason = "DRAINING"
				}
				if tt.code == codes.OK && err != nil || tt.code != codes.OK && err == nil {
					t.Fatalf("got %v, want %v", err, tt.code)
				}
				if err != nil {
					wantError(t, err, tt.code, reason)
				}
				if errors.Is(ctx.Err(), context.Canceled) {
					h.eventuallyIdle(t)
				}
				if got := count.Load(); got > tt.most {
					t.Errorf("%d of %d requests were worked on, want %d at most", got, tt.requests, tt.most)
				}
			})
		}
	}
}
