package server

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"
)

// authority makes certificates.
type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
	pem         []byte
}

// reloadOfTests is how often files are looked at in tests.
const reloadOfTests = 10 * time.Millisecond

// serials numbers the certificates of the tests.
var serials atomic.Int64

func newAuthority(t testing.TB, name string) *authority {
	t.Helper()
	a := &authority{key: newKey(t)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serials.Add(1)), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return a
}

func newKey(t testing.TB) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// pair is a certificate with its key, as PEM.
type pair struct {
	cert, key []byte
	serial    *big.Int
	notAfter  time.Time
}

// issue makes a certificate for 127.0.0.1, for servers and clients, valid for an hour, unless the changes say otherwise.
func (a *authority) issue(t testing.TB, changes ...func(*x509.Certificate)) pair {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serials.Add(1)), Subject: pkix.Name{CommonName: "of a test"},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour).Truncate(time.Second),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, change := range changes {
		change(template)
	}
	key := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pair{
		cert:   pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:    pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
		serial: template.SerialNumber, notAfter: template.NotAfter,
	}
}

// Changes of certificates.
var (
	expired     = func(c *x509.Certificate) { c.NotBefore, c.NotAfter = c.NotBefore.Add(-time.Hour), c.NotBefore }
	notYetValid = func(c *x509.Certificate) { c.NotBefore = c.NotAfter.Add(-time.Minute) }
	forServers  = func(c *x509.Certificate) { c.ExtKeyUsage = c.ExtKeyUsage[:1] }
	forClients  = func(c *x509.Certificate) { c.ExtKeyUsage = c.ExtKeyUsage[1:] }
)

// certificateFiles are the files of a server with TLS, in a folder as the kubelet makes it of a secret.
type certificateFiles struct {
	dir   string
	files map[string][]byte
}

func newCertificateFiles(t testing.TB, p pair, clientCAs ...*authority) certificateFiles {
	t.Helper()
	f := certificateFiles{dir: t.TempDir(), files: map[string][]byte{}}
	for _, name := range []string{"tls.crt", "tls.key", "ca.crt"} {
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(f.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	f.replaceCA(t, clientCAs...)
	f.replace(t, p)
	return f
}

func (f certificateFiles) cert() string { return filepath.Join(f.dir, "tls.crt") }
func (f certificateFiles) key() string  { return filepath.Join(f.dir, "tls.key") }
func (f certificateFiles) ca() string   { return filepath.Join(f.dir, "ca.crt") }

func (f certificateFiles) replace(t testing.TB, p pair) {
	t.Helper()
	f.files["tls.crt"], f.files["tls.key"] = p.cert, p.key
	f.swap(t)
}

func (f certificateFiles) replaceCA(t testing.TB, authorities ...*authority) {
	t.Helper()
	var all []byte
	for _, a := range authorities {
		all = append(all, a.pem...)
	}
	f.write(t, "ca.crt", all)
}

// write replaces one file; nil removes it.
func (f certificateFiles) write(t testing.TB, name string, contents []byte) {
	t.Helper()
	f.files[name] = contents
	f.swap(t)
}

// swap replaces all files in one step.
func (f certificateFiles) swap(t testing.TB) {
	t.Helper()
	folder, err := os.MkdirTemp(f.dir, "..version") //nolint:usetesting // it lies beside the link to it
	if err != nil {
		t.Fatal(err)
	}
	for name, contents := range f.files {
		if contents == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(folder, name), contents, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(f.dir, "..data")
	if err := os.Symlink(filepath.Base(folder), link+"_new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(link+"_new", link); err != nil {
		t.Fatal(err)
	}
}

// writeWhole replaces a file in one step.
func writeWhole(t testing.TB, path string, contents []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", contents, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// serve sets a server up with the files; mutual requires certificates of clients.
func (f certificateFiles) serve(mutual bool) func(*setup) {
	return func(s *setup) {
		s.cfg.TLSCert, s.cfg.TLSKey = f.cert(), f.key()
		if mutual {
			s.cfg.TLSClientCA = f.ca()
		}
		s.cfg.ReloadInterval = reloadOfTests
	}
}

// clientTLS is how a client trusts an authority, and shows a certificate where it has one.
func clientTLS(t testing.TB, trusts *authority, shows *pair) *tls.Config {
	t.Helper()
	config := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	config.RootCAs.AddCert(trusts.certificate)
	if shows != nil {
		certificate, err := tls.X509KeyPair(shows.cert, shows.key)
		if err != nil {
			t.Fatal(err)
		}
		// A client asked for a certificate of certain authorities keeps others to itself; this one shows what it has.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &certificate, nil }
	}
	return config
}

// withTLS is clientTLS as credentials.
func withTLS(t testing.TB, trusts *authority, shows *pair) credentials.TransportCredentials {
	t.Helper()
	return credentials.NewTLS(clientTLS(t, trusts, shows))
}
