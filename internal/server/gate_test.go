package server

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

// Tokens of the tests, of clients of the same names.
const (
	plainToken  = "plain-token-of-reports-0001"
	hashedToken = "hashed-token-of-billing-0002"
)

// hashedLine is the line of billing in a file of tokens.
func hashedLine() string {
	sum := sha256.Sum256([]byte(hashedToken))
	return "billing sha256:" + hex.EncodeToString(sum[:]) + "\n"
}

// withTokens requires tokens, of a file with these contents.
func withTokens(path string) func(*setup) {
	return func(s *setup) { s.cfg.AuthTokensFile, s.cfg.ReloadInterval = path, reloadOfTests }
}

// withFile writes a file of settings in a folder of its own and returns its path.
func withFile(t testing.TB, name, contents string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	writeWhole(t, path, []byte(contents))
	return path
}

// bearing is a context whose calls have a token.
func bearing(ctx context.Context, token string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
}

// methods are the full names of every method that the server has registered.
func (h *harness) methods() []string {
	var names []string
	for service, info := range h.server.grpc.GetServiceInfo() {
		for _, method := range info.Methods {
			names = append(names, "/"+service+"/"+method.Name)
		}
	}
	slices.Sort(names)
	return names
}

// outcome calls any method with an empty message and returns the code of the first thing that comes back. A stream that only opens is OK.
func (h *harness) outcome(ctx context.Context, conn *grpc.ClientConn, method string) (codes.Code, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
	if err == nil {
		err = s.SendMsg(new(emptypb.Empty))
	}
	if err == nil || errors.Is(err, io.EOF) {
		_ = s.CloseSend()
		err = s.RecvMsg(new(emptypb.Empty))
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return status.Code(err), err
}

func TestMethodNames(t *testing.T) {
	h := start(t)
	got := methodNames()
	slices.Sort(got)
	if want := h.methods(); !slices.Equal(got, want) {
		t.Errorf("methodNames: %q, want those that are registered, %q", got, want)
	}
}

// TestTokenMatrix calls every method of every service with every kind of credentials.
func TestTokenMatrix(t *testing.T) {
	header := func(values ...string) func(context.Context) context.Context {
		return func(ctx context.Context) context.Context {
			for _, v := range values {
				ctx = metadata.AppendToOutgoingContext(ctx, "authorization", v)
			}
			return ctx
		}
	}
	sum := sha256.Sum256([]byte(hashedToken))
	callers := []struct {
		name string
		with func(context.Context) context.Context
		in   bool
	}{
		{"none", header(), false},
		{"an empty header", header(""), false},
		{"a scheme alone", header("Bearer"), false},
		{"an empty token", header("Bearer "), false},
		{"a token without a scheme", header(plainToken), false},
		{"a token of another scheme", header("Basic " + plainToken), false},
		{"an unknown token", header("Bearer " + plainToken + "x"), false},
		{"half a token", header("Bearer " + plainToken[:20]), false},
		{"the digest of a token", header("Bearer sha256:" + hex.EncodeToString(sum[:])), false},
		{"a client's name", header("Bearer reports"), false},
		{"a bad token before a good one", header("Bearer x", "Bearer "+plainToken), false},
		{"a token of 8 KiB", header("Bearer " + strings.Repeat("x", 8<<10)), false},
		{"a token", header("Bearer " + plainToken), true},
		{"a token of which there is a digest", header("Bearer " + hashedToken), true},
		{"a scheme in lower case", header("bearer " + plainToken), true},
	}
	for _, exempt := range []string{"", "health", "health,reflection"} {
		path := withFile(t, "tokens", "reports "+plainToken+"\n"+hashedLine())
		h := start(t, withTokens(path), func(s *setup) { s.cfg.AuthExempt = exempt })
		for _, method := range h.methods() {
			free := strings.Contains(method, "Health") && strings.Contains(exempt, "health") ||
				strings.Contains(method, "ServerReflection") && strings.Contains(exempt, "reflection")
			for _, caller := range callers {
				code, err := h.outcome(caller.with(t.Context()), h.conn, method)
				switch {
				case caller.in || free:
					if code == codes.Unauthenticated || code == codes.Unavailable {
						t.Errorf("%s with %s, exempt %q: %v", method, caller.name, exempt, err)
					}
				case code != codes.Unauthenticated || reasonOf(err) != "UNAUTHENTICATED":
					t.Errorf("%s with %s, exempt %q: %v, want UNAUTHENTICATED", method, caller.name, exempt, err)
				}
			}
		}
		for _, told := range []string{plainToken, plainToken[:20], hashedToken, hex.EncodeToString(sum[:])} {
			if strings.Contains(h.log.String(), told) {
				t.Errorf("exempt %q: the log has %q", exempt, told)
			}
		}
	}
}

// TestTokensAreReplaced takes a token out of the file and puts another one in.
func TestTokensAreReplaced(t *testing.T) {
	path := withFile(t, "tokens", "reports "+plainToken+"\n")
	h := start(t, withTokens(path))
	in := func(token string) bool {
		err := h.oneCall(bearing(t.Context(), token), "Encode")
		if err != nil && status.Code(err) != codes.Unauthenticated {
			t.Errorf("Encode: %v", err)
		}
		return err == nil
	}
	if !in(plainToken) || in(hashedToken) {
		t.Error("want the first token to be let in, and the second not")
	}
	writeWhole(t, path, []byte(hashedLine()))
	eventually(t, "the second token is let in", func() bool { return in(hashedToken) })
	if in(plainToken) {
		t.Error("the first token is let in after it was taken out")
	}
	for _, broken := range []string{"", "reports", "reports short", plainToken} {
		failures := h.failedReloads(t, "tokens")
		writeWhole(t, path, []byte(broken))
		eventually(t, "the file is refused", func() bool { return h.failedReloads(t, "tokens") > failures })
		if !in(hashedToken) || in(plainToken) {
			t.Errorf("tokens %q: want what was loaded to stay", broken)
		}
	}
	if strings.Contains(h.log.String(), plainToken) {
		t.Errorf("the log has a token: %s", h.log.String())
	}
}

// policyOf is a policy that lets each client call what it is given, and denies.
func policyOf(t *testing.T, deny, allow map[string][]string) string {
	t.Helper()
	type rule map[string]any
	rulesOf := func(who map[string][]string) (rules []rule) {
		for client, paths := range who {
			of := rule{"name": client, "request": map[string]any{
				"paths": paths, "headers": []map[string]any{{"key": "thriftpack-client", "values": []string{client}}},
			}}
			rules = append(rules, of)
		}
		return rules
	}
	policy := map[string]any{"name": "of a test", "allow_rules": rulesOf(allow)}
	if deny != nil {
		policy["deny_rules"] = rulesOf(deny)
	}
	text, err := json.Marshal(policy)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPolicyMatrix has a client for each method of each service who may call that one alone, and one who may call all but that one.
// Every client calls every method.
func TestPolicyMatrix(t *testing.T) {
	all := start(t).methods()
	allow, deny := map[string][]string{"nobody": {"/none"}}, map[string][]string{}
	var tokens strings.Builder
	token := func(client string) string { return "the-long-token-of-" + client }
	add := func(client string) { fmt.Fprintf(&tokens, "%s %s\n", client, token(client)) }
	add("nobody")
	for i, method := range all {
		only, but := fmt.Sprintf("only-%d", i), fmt.Sprintf("but-%d", i)
		add(only)
		add(but)
		allow[only], allow[but], deny[but] = []string{method}, []string{"*"}, []string{method}
	}
	h := start(t, withTokens(withFile(t, "tokens", tokens.String())), func(s *setup) {
		s.cfg.AuthzPolicy, s.cfg.AuthExempt = withFile(t, "policy.json", policyOf(t, deny, allow)), ""
	})
	for i, method := range all {
		for j := range all {
			h.wantAllowed(t, bearing(t.Context(), token(fmt.Sprintf("only-%d", j))), method, i == j)
			h.wantAllowed(t, bearing(t.Context(), token(fmt.Sprintf("but-%d", j))), method, i != j)
		}
		h.wantAllowed(t, bearing(t.Context(), token("nobody")), method, false)
		// Whoever claims to be another client is still the one of its token.
		spoofed := metadata.AppendToOutgoingContext(bearing(t.Context(), token("nobody")), "thriftpack-client", fmt.Sprintf("only-%d", i))
		h.wantAllowed(t, spoofed, method, false)
	}
}

// wantAllowed makes a call that the policy lets through, or does not.
func (h *harness) wantAllowed(t *testing.T, ctx context.Context, method string, allowed bool) { //nolint:revive // t comes first in helpers
	t.Helper()
	code, err := h.outcome(ctx, h.conn, method)
	if denied := code == codes.PermissionDenied && reasonOf(err) == "PERMISSION_DENIED"; denied == allowed || code == codes.Unavailable {
		t.Errorf("%s: %v, want it allowed: %t", method, err, allowed)
	}
}

// TestPolicyByCertificate knows clients by their certificates, in every form of identity, and not by what they say.
func TestPolicyByCertificate(t *testing.T) {
	ours := newAuthority(t, "ours")
	files := newCertificateFiles(t, ours.issue(t), ours)
	spiffe, err := url.Parse("spiffe://example.org/encoder")
	if err != nil {
		t.Fatal(err)
	}
	policy := withFile(t, "policy.json", `{"name":"p","allow_rules":[
		{"name":"by URI","source":{"principals":["spiffe://example.org/encoder"]},"request":{"paths":["/thriftpack.v1.SerializerService/Encode*"]}},
		{"name":"by DNS name","source":{"principals":["*.example.org"]},"request":{"paths":["*/Encode"]}},
		{"name":"by subject","source":{"principals":["CN=decoder"]},"request":{"paths":["*/Decode"]}},
		{"name":"by header","request":{"headers":[{"key":"thriftpack-client","values":["*"]}]}}]}`)
	h := start(t, files.serve(true), func(s *setup) { s.cfg.AuthzPolicy = policy })
	for _, test := range []struct {
		name   string
		change func(*x509.Certificate)
		may    string
	}{
		{"a URI", func(c *x509.Certificate) { c.URIs = []*url.URL{spiffe} }, "Encode EncodeStream EncodeBatch EncodeParts"},
		{"a DNS name", func(c *x509.Certificate) { c.DNSNames = []string{"a.example.org"} }, "Encode"},
		{"a subject", func(c *x509.Certificate) { c.Subject.CommonName = "decoder" }, "Decode"},
		{"the second of two URIs", func(c *x509.Certificate) {
			c.URIs = []*url.URL{{Scheme: "spiffe", Host: "other"}, spiffe}
		}, "Encode EncodeStream EncodeBatch EncodeParts"},
		{"the second of two DNS names", func(c *x509.Certificate) { c.DNSNames = []string{"other", "a.example.org"} }, "Encode"},
		{"a URI counts, not the DNS name", func(c *x509.Certificate) {
			c.URIs, c.DNSNames = []*url.URL{{Scheme: "spiffe", Host: "other"}}, []string{"a.example.org"}
		}, ""},
		{"nothing of it", func(*x509.Certificate) {}, ""},
	} {
		client := ours.issue(t, test.change)
		conn := dial(t, h.addr, grpc.WithTransportCredentials(withTLS(t, ours, &client)))
		for _, name := range []string{"Encode", "EncodeStream", "EncodeBatch", "EncodeParts", "Decode", "DecodeStream", "DecodeBatch", "DecodeParts"} {
			ctx := metadata.AppendToOutgoingContext(t.Context(), "thriftpack-client", "admin")
			code, err := h.outcome(ctx, conn, "/thriftpack.v1.SerializerService/"+name)
			if allowed := slices.Contains(strings.Fields(test.may), name); (code == codes.PermissionDenied) == allowed || code == codes.Unavailable {
				t.Errorf("%s: %s: %v, want it allowed: %t", test.name, name, err, allowed)
			}
		}
	}
}

// TestPolicyIsReplaced changes the policy, also to ones that cannot be used.
func TestPolicyIsReplaced(t *testing.T) {
	only := func(method string) string {
		return `{"name":"p","allow_rules":[{"name":"a","request":{"paths":["/thriftpack.v1.SerializerService/` + method + `"]}}]}`
	}
	path := withFile(t, "policy.json", only("Encode"))
	socket := socketPath(t) // a policy works there, too
	h := start(t, func(s *setup) { s.cfg.AuthzPolicy, s.cfg.ReloadInterval = path, reloadOfTests })
	h.alsoOn(t, "unix:"+socket)
	for _, conn := range []*grpc.ClientConn{h.conn, dialTarget(t, "unix:"+socket)} {
		may := func(method string) bool {
			code, err := h.outcome(t.Context(), conn, "/thriftpack.v1.SerializerService/"+method)
			if code == codes.Unavailable || code == codes.Internal {
				t.Fatalf("%s: %v", method, err)
			}
			return code != codes.PermissionDenied
		}
		writeWhole(t, path, []byte(only("Encode")))
		eventually(t, "Encode is allowed", func() bool { return may("Encode") && !may("DecodeBatch") })
		writeWhole(t, path, []byte(only("DecodeBatch")))
		eventually(t, "DecodeBatch is allowed", func() bool { return !may("Encode") && may("DecodeBatch") })
		for _, broken := range []string{"", "{}", only("Encode") + "x", `{"name":"p","allow_rules":[]}`} {
			failures := h.failedReloads(t, "policy")
			writeWhole(t, path, []byte(broken))
			eventually(t, "the file is refused", func() bool { return h.failedReloads(t, "policy") > failures })
			if may("Encode") || !may("DecodeBatch") {
				t.Errorf("policy %q: want what was loaded to stay", broken)
			}
		}
	}
	writeWhole(t, path, []byte(only("Encoed")))
	eventually(t, "a misspelt path is logged", func() bool { return strings.Contains(h.log.String(), "Encoed") })
	if got := healthOf(t.Context(), h.conn, ""); got != "SERVING" {
		t.Errorf("health, which is exempt: %s", got)
	}
}

// TestTokensInPlaintext warns where others can see tokens.
func TestTokensInPlaintext(t *testing.T) {
	for addr, want := range map[string]bool{"0.0.0.0:50051": true, "127.0.0.1:50051": false, "unix:/run/s": false} {
		h := start(t, withTokens(withFile(t, "tokens", hashedLine())), func(s *setup) { s.cfg.GRPCAddr = addr })
		if got := strings.Contains(h.log.String(), "tokens travel in plaintext"); got != want {
			t.Errorf("%s: warned %t, want %t", addr, got, want)
		}
	}
}

// TestRefusedBeforeTheBody opens calls without a token and sends nothing of their bodies: the refusal must not wait for them.
func TestRefusedBeforeTheBody(t *testing.T) {
	h := start(t, withTokens(withFile(t, "tokens", "reports "+plainToken)))
	for _, method := range h.methods() {
		if strings.Contains(method, "grpc.") {
			continue
		}
		s, err := h.conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.RecvMsg(new(emptypb.Empty)); status.Code(err) != codes.Unauthenticated {
			t.Errorf("%s: %v, want UNAUTHENTICATED", method, err)
		}
	}
}
