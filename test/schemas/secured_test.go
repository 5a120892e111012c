package schemas

import (
	"context"
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
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// authority makes certificates, in files of a folder.
type authority struct {
	t      *testing.T
	folder string
	key    *ecdsa.PrivateKey
	cert   *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, folder: t.TempDir()}
	a.cert, a.key = a.make("ca", &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	})
	return a
}

// file is the path of a file of the authority's.
func (a *authority) file(name string) string { return filepath.Join(a.folder, name) }

// issue makes a certificate for both ends of a connection.
func (a *authority) issue(name string) {
	a.t.Helper()
	a.make(name, &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
}

func (a *authority) make(name string, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	for ending, block := range map[string]*pem.Block{".crt": {Type: "CERTIFICATE", Bytes: der}, ".key": {Type: "PRIVATE KEY", Bytes: keyDER}} {
		if err := os.WriteFile(a.file(name+ending), pem.EncodeToMemory(block), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key
}

// administrator is a client of etcd for the test itself.
func administrator(t *testing.T, a *authority, addr string) *clientv3.Client {
	t.Helper()
	config := clientv3.Config{Endpoints: []string{addr}, DialTimeout: patience, Logger: zap.NewNop()}
	if a != nil {
		pair, err := tls.LoadX509KeyPair(a.file("client.crt"), a.file("client.key"))
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AddCert(a.cert)
		config.TLS = &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	client, err := clientv3.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// TestSecuredEtcd has an etcd that wants certificates, and users with passwords who may have their own prefix alone.
func TestSecuredEtcd(t *testing.T) {
	a := newAuthority(t)
	a.issue("server")
	a.issue("client")
	etcd := startEtcd(t, t.TempDir(), "", "--cert-file="+a.file("server.crt"), "--key-file="+a.file("server.key"),
		"--trusted-ca-file="+a.file("ca.crt"), "--client-cert-auth")
	client := administrator(t, a, etcd.addr)
	for what, do := range map[string]func(ctx context.Context) error{
		"a role of the prefix": func(ctx context.Context) error {
			_, err := client.RoleAdd(ctx, "schemas")
			if err == nil {
				_, err = client.RoleGrantPermission(ctx, "schemas", "/team/", clientv3.GetPrefixRangeEnd("/team/"), clientv3.PermissionType(clientv3.PermReadWrite))
			}
			if err == nil {
				_, err = client.UserAdd(ctx, "team", "sesame")
			}
			if err == nil {
				_, err = client.UserGrantRole(ctx, "team", "schemas")
			}
			return err
		},
		"the root": func(ctx context.Context) error {
			_, err := client.UserAdd(ctx, "root", "root")
			if err == nil {
				_, err = client.UserGrantRole(ctx, "root", "root")
			}
			return err
		},
	} {
		if err := do(t.Context()); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	if _, err := client.AuthEnable(t.Context()); err != nil {
		t.Fatal(err)
	}
	password := a.file("password")
	if err := os.WriteFile(password, []byte("sesame\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := func(prefix string, more ...string) []string {
		return append([]string{
			"--schema-store=etcds://" + etcd.addr + prefix, "--schema-etcd-ca=" + a.file("ca.crt"),
			"--schema-etcd-username=team", "--schema-etcd-password-file=" + password,
		}, more...)
	}
	certificate := []string{"--schema-etcd-cert=" + a.file("client.crt"), "--schema-etcd-key=" + a.file("client.key")}

	r := startReplica(t, flags("/team", certificate...)...)
	eventually(t, "ready", r.ready)
	revision := r.mustPush(t, "s", first)
	if newest, err := r.newest(t.Context(), "s"); err != nil || newest != revision {
		t.Errorf("GetSchema: %s, %v", newest, err)
	}
	r.stop(t)

	for name, args := range map[string][]string{
		"a prefix of others": flags("/others", certificate...),
		"no certificate":     flags("/team"),
	} {
		r := startReplica(t, args...)
		if _, err := r.push(t.Context(), "s", first); status.Code(err) != codes.Unavailable {
			t.Errorf("%s: a push: %v", name, err)
		}
		if r.ready(t.Context()) {
			t.Errorf("%s: ready", name)
		}
		r.stop(t)
	}
}

// TestWhatOthersWrite has keys under the prefix that no server wrote, and a history that etcd has forgotten.
func TestWhatOthersWrite(t *testing.T) {
	etcd := startEtcd(t, t.TempDir(), "")
	client := administrator(t, nil, etcd.addr)
	put := func(key, value string) {
		t.Helper()
		if _, err := client.Put(t.Context(), key, value); err != nil {
			t.Fatal(err)
		}
	}
	const good = `{"compatibility":"COMPATIBILITY_NONE","revisions":[{"revision":"0123456789abcdef","root":"a.thrift","created":"2030-01-02T03:04:05Z"}]}`
	put("/thriftpack/schemas/Bad Name", good)
	put("/thriftpack/schemas/garbage", "\xff")
	put("/thriftpack/schemas/nowhere", good) // no sources
	put("/thriftpack/schemas/broken", good)
	put("/thriftpack/sources/broken/0123456789abcdef", "\xff")
	r := startReplica(t, "--schema-store=etcd://"+etcd.addr)
	eventually(t, "ready", r.ready)
	r.mustPush(t, "s", first)
	put("/thriftpack/schemas/garbage-2", "{}")
	put("/thriftpack/schemas/s-2", good)
	r.mustPush(t, "t", first)
	for name, want := range map[string]codes.Code{
		"s": codes.OK, "t": codes.OK, "garbage": codes.Unavailable, "nowhere": codes.NotFound, "s-2": codes.NotFound, "broken": codes.Unavailable,
	} {
		if _, err := r.newest(t.Context(), name); status.Code(err) != want {
			t.Errorf("GetSchema %s: %v, want %v", name, err, want)
		}
	}
	// What is damaged can be replaced: deleted and pushed again.
	revision := r.mustPush(t, "nowhere", second)
	if newest, err := r.newest(t.Context(), "nowhere"); err != nil || newest != revision {
		t.Errorf("GetSchema nowhere: %s, %v", newest, err)
	}
	// Pushes go on while etcd forgets its history again and again.
	for range 20 {
		now, err := client.Get(t.Context(), "x")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Compact(t.Context(), now.Header.GetRevision()); err != nil {
			t.Fatal(err)
		}
		r.mustPush(t, "s", first+" // "+time.Now().String())
	}
	r.stop(t)
}
