package server

import (
	"context"
	"crypto/x509"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// withRate bounds callers to one request in a second, after a burst.
func withRate(burst int) func(*setup) {
	return func(s *setup) { s.cfg.RateLimit, s.cfg.RateBurst = 1, burst }
}

// spend makes calls until one is refused, and returns how many passed. wantBurst allows for the seconds that it took.
func spend(t *testing.T, call func() error) (passed int) {
	t.Helper()
	for {
		err := call()
		switch {
		case err == nil:
			passed++
		case reasonOf(err) == "RATE_LIMITED":
			wantError(t, err, codes.ResourceExhausted, "RATE_LIMITED", "more than 1 requests in a second")
			if detailOf[*errdetails.RetryInfo](err).GetRetryDelay().AsDuration() != time.Second {
				t.Errorf("no RetryInfo of a second: %v", statusProto(err))
			}
			return passed
		default:
			t.Fatalf("call %d: %v", passed, err)
		}
	}
}

func wantBurst(t *testing.T, what string, burst int, call func() error) {
	t.Helper()
	began := time.Now()
	got := spend(t, call)
	if most := burst + int(time.Since(began)/time.Second) + 1; got < burst || got > most {
		t.Errorf("%s: %d calls passed, want %d", what, got, burst)
	}
}

func TestRateOfEveryMethod(t *testing.T) {
	for _, method := range []string{"Encode", "Decode", "EncodeStream", "DecodeStream", "EncodeBatch", "EncodeParts", "DecodeParts", "DecodeBatch"} {
		h := start(t, withRate(3))
		wantBurst(t, method, 3, func() error {
			code, err := h.outcome(t.Context(), h.conn, "/thriftpack.v1.SerializerService/"+method)
			if code == codes.InvalidArgument {
				return nil // an empty request is wrong, and counts
			}
			return err
		})
		if got := h.metric(t, "thriftpack_rate_limited_total"); got != 1 {
			t.Errorf("%s: %v refusals counted, want 1", method, got)
		}
		for range 10 {
			if got := healthOf(t.Context(), h.conn, ""); got != "SERVING" {
				t.Errorf("health: %s", got)
			}
		}
	}
}

// TestRateIsOfTheCaller has several callers by tokens, certificates and addresses.
func TestRateIsOfTheCaller(t *testing.T) {
	encode := func(ctx context.Context, conn *grpc.ClientConn) func() error {
		return func() error { return encodeOnce(ctx, conn) }
	}
	t.Run("tokens", func(t *testing.T) {
		h := start(t, withRate(4), withTokens(withFile(t, "tokens", "reports "+plainToken+"\nreports "+plainToken+"-too\n"+hashedLine())))
		began := time.Now()
		wantBurst(t, "reports", 4, encode(bearing(t.Context(), plainToken), h.conn))
		// For its other token, by another connection, there is what the seconds since have given back.
		got := spend(t, encode(bearing(t.Context(), plainToken+"-too"), dial(t, h.addr)))
		if most := int(time.Since(began) / time.Second); got > most {
			t.Errorf("its other token: %d calls passed, want %d at most", got, most)
		}
		wantBurst(t, "billing", 4, encode(bearing(t.Context(), hashedToken), h.conn))
	})
	t.Run("guesses", func(t *testing.T) {
		h := start(t, withRate(4), withTokens(withFile(t, "tokens", "reports "+plainToken+"\n")))
		wantBurst(t, "guesses", 4, func() error {
			err := encodeOnce(bearing(t.Context(), "a-guess"), dial(t, h.addr))
			if status.Code(err) == codes.Unauthenticated {
				return nil
			}
			return err
		})
		wantBurst(t, "a client at the same address", 4, encode(bearing(t.Context(), plainToken), h.conn))
	})
	t.Run("certificates", func(t *testing.T) {
		ours := newAuthority(t, "ours")
		one, other := ours.issue(t, func(c *x509.Certificate) { c.Subject.CommonName = "one" }), ours.issue(t, func(c *x509.Certificate) { c.Subject.CommonName = "other" })
		h := start(t, withRate(4), newCertificateFiles(t, ours.issue(t), ours).serve(true))
		for _, p := range []pair{one, other} {
			wantBurst(t, "a certificate", 4, func() error { // each call by a connection of its own
				return encodeOnce(t.Context(), dial(t, h.addr, grpc.WithTransportCredentials(withTLS(t, ours, &p))))
			})
		}
		if got := h.metric(t, "thriftpack_rate_callers"); got != 2 {
			t.Errorf("%v callers are known, want 2", got)
		}
	})
	t.Run("addresses", func(t *testing.T) {
		h := start(t, withRate(4))
		wantBurst(t, "an address", 4, func() error { return encodeOnce(t.Context(), dial(t, h.addr)) })
	})
}

// TestRateOfBatches counts each request of a batch: those that are too many fail in their place, and the stream goes on.
func TestRateOfBatches(t *testing.T) {
	h := start(t, withRate(4))
	s, err := h.client.EncodeBatch(t.Context()) // the first
	if err != nil {
		t.Fatal(err)
	}
	request := encodeRequestOf(fixture.OneOfEach(), nil)
	began := time.Now()
	if err := s.Send(&thriftpackv1.EncodeBatchRequest{Requests: []*thriftpackv1.EncodeRequest{request, request, request, request, request, request}}); err != nil {
		t.Fatal(err)
	}
	reply, err := s.Recv()
	if err != nil {
		t.Fatal(err)
	}
	passed := 0
	for i, result := range reply.GetResults() {
		switch failed := result.GetError(); {
		case failed == nil && len(result.GetResponse().GetData()) == fixture.OneOfEachCompactSize:
			passed++
		case codes.Code(failed.GetCode()) != codes.ResourceExhausted || len(failed.GetDetails()) != 2:
			t.Errorf("result %d: %v", i, result)
		}
	}
	if most := 3 + int(time.Since(began)/time.Second) + 1; len(reply.GetResults()) != 6 || passed < 3 || passed > most {
		t.Errorf("%d of %d results are no errors, want 3 of 6", passed, len(reply.GetResults()))
	}
	if got, want := h.metric(t, "thriftpack_rate_limited_total"), float64(6-passed); got != want {
		t.Errorf("%v refusals counted, want %v", got, want)
	}
	_ = s.CloseSend()
	if _, err := drainStream(s); err != nil {
		t.Errorf("the end of the stream: %v", err)
	}
}
