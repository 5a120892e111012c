package server

import (
	"context"
	"log/slog"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/thriftpack/thriftpack/internal/fixture"
)

// BenchmarkGate is a small call by what is asked of its caller.
func BenchmarkGate(b *testing.B) {
	request, err := proto.Marshal(encodeRequestOf(fixture.OneOfEach(), nil))
	if err != nil {
		b.Fatal(err)
	}
	tokens := withTokens(withFile(b, "tokens", hashedLine()))
	policy := func(s *setup) {
		s.cfg.AuthzPolicy = withFile(b, "policy.json", `{"name":"p","deny_rules":[{"name":"d","request":{"paths":["/thriftpack.v1.SchemaService/*"]}}],
			"allow_rules":[{"name":"a","request":{"paths":["/thriftpack.v1.SerializerService/*"],"headers":[{"key":"thriftpack-client","values":["billing"]}]}}]}`)
	}
	ours := newAuthority(b, "ours")
	client := ours.issue(b)
	quiet := func(s *setup) { s.level = slog.LevelInfo }
	rates := withRate(1 << 30)
	for _, bench := range []struct {
		name   string
		change []func(*setup)
		token  string
		tls    bool
	}{
		{"nothing", nil, "", false},
		{"rate", []func(*setup){rates}, "", false},
		{"token", []func(*setup){tokens}, hashedToken, false},
		{"token-policy", []func(*setup){tokens, policy}, hashedToken, false},
		{"token-policy-rate", []func(*setup){tokens, policy, rates}, hashedToken, false},
		{"mutual-tls", []func(*setup){newCertificateFiles(b, ours.issue(b), ours).serve(true)}, "", true},
	} {
		b.Run(bench.name, func(b *testing.B) {
			h := start(b, append(bench.change, quiet)...)
			var options []grpc.DialOption
			if bench.tls {
				options = append(options, grpc.WithTransportCredentials(withTLS(b, ours, &client)))
			}
			if bench.token != "" {
				options = append(options, grpc.WithPerRPCCredentials(bearerToken(bench.token)))
			}
			benchmarkEncode(b, h.addr, request, options...)
		})
	}
}

// bearerToken is sent with each call.
type bearerToken string

// GetRequestMetadata returns the header.
func (t bearerToken) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(t)}, nil
}

// RequireTransportSecurity reports that plaintext will do.
func (bearerToken) RequireTransportSecurity() bool { return false }
