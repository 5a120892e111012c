package cli

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/server"
)

const token = "the-token-of-the-client-0001"

// writeSecrets writes an authority, a certificate of it that serves both ends, with its key, and a token; and returns their folder.
func writeSecrets(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, kind string, der []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	newKey := func() *ecdsa.PrivateKey {
		t.Helper()
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	authorityKey, key := newKey(), newKey()
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "both"}, NotBefore: authority.NotBefore, NotAfter: authority.NotAfter,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"thriftpack.example"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, authority, authority, authorityKey.Public(), authorityKey)
	if err != nil {
		t.Fatal(err)
	}
	write("ca.crt", "CERTIFICATE", der)
	if der, err = x509.CreateCertificate(rand.Reader, leaf, authority, key.Public(), authorityKey); err != nil {
		t.Fatal(err)
	}
	write("tls.crt", "CERTIFICATE", der)
	if der, err = x509.MarshalPKCS8PrivateKey(key); err != nil {
		t.Fatal(err)
	}
	write("tls.key", "PRIVATE KEY", der)
	for name, text := range map[string]string{"token": token + "\n", "tokens": "cli " + token + "\n", "other": token + "x", "two": "a b\n", "none": "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// serveSecurely starts a server with these settings, on TCP, and returns its address.
func serveSecurely(t *testing.T, change func(*config.Config)) string {
	t.Helper()
	cfg := config.Default()
	change(&cfg)
	s, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var lc net.ListenConfig
	lis, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(lis) }()
	t.Cleanup(func() {
		s.Close()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return lis.Addr().String()
}

// TestSecurely calls a server with mutual TLS and tokens, with all that it wants and with less.
func TestSecurely(t *testing.T) {
	dir := writeSecrets(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	addr := serveSecurely(t, func(c *config.Config) {
		c.TLSCert, c.TLSKey, c.TLSClientCA, c.AuthTokensFile = in("tls.crt"), in("tls.key"), in("ca.crt"), in("tokens")
	})
	plain := serveSecurely(t, func(c *config.Config) { c.AuthTokensFile = in("tokens") })
	const value = `{"struct":{"fields":[{"id":1,"i32":42}]}}`
	all := []string{"--addr=" + addr, "--tls-ca=" + in("ca.crt"), "--tls-cert=" + in("tls.crt"), "--tls-key=" + in("tls.key"), "--token-file=" + in("token")}
	for _, test := range []struct {
		name string
		args []string
		want string // a part of the error, or "" for success
	}{
		{"all of it", all, ""},
		{"by another name", append([]string{"--tls-server-name=thriftpack.example"}, all...), ""},
		{"by a wrong name", append([]string{"--tls-server-name=other.example"}, all...), "other.example"},
		{"without a token", all[:4], "authorization: Bearer TOKEN"},
		{"without a certificate", append([]string{all[4]}, all[:2]...), "UNAVAILABLE"}, // what the server says of it may come too late
		{"without its authority", append([]string{"--tls"}, append(all[2:], all[0])...), "unknown authority"},
		{"by another authority", append([]string{"--tls-ca=" + filepath.Join(writeSecrets(t), "ca.crt")}, append(all[2:], all[0])...), "unknown authority"},
		{"in plaintext", []string{all[0]}, "UNAVAILABLE"},
		{"a token in plaintext, on this machine", []string{"--addr=" + plain, all[4]}, ""},
		{"a token in plaintext, elsewhere", []string{"--addr=example.org:50051", all[4]}, "add --tls or --tls-ca"},
		{"a certificate without its key", []string{all[0], all[2]}, "need each other"},
		{"a key without its certificate", []string{all[0], all[3]}, "need each other"},
		{"a key of another certificate", []string{all[0], all[1], all[2], "--tls-key=" + filepath.Join(writeSecrets(t), "tls.key")}, "does not match"},
		{"a wrong token", append(all[:4:4], "--token-file="+in("other")), "UNAUTHENTICATED"},
		{"two tokens", []string{"--addr=" + plain, "--token-file=" + in("two")}, "want one token"},
		{"no token", []string{"--addr=" + plain, "--token-file=" + in("none")}, "want one token"},
		{"a token that is not there", []string{"--addr=" + plain, "--token-file=" + in("nothing")}, "no such file"},
		{"an authority that is none", []string{all[0], "--tls-ca=" + in("token")}, "no certificates"},
		{"no address", []string{"--tls"}, "need --addr"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := execute(t, value, append([]string{"encode", "--output=hex", "--timeout=20s"}, test.args...)...)
			if test.want == "" {
				if got.code != 0 || got.stdout != "155400\n" {
					t.Errorf("got %+v, want 155400", got)
				}
				return
			}
			mustFail(t, got, test.want)
		})
	}
	for _, args := range [][]string{{"bench", "--count=10"}, {"schema", "list"}, {"stream", "encode"}} {
		if got := execute(t, value, append(append(args, all...), "--timeout=20s")...); got.code != 0 {
			t.Errorf("%q: %+v", args, got)
		}
	}
}
