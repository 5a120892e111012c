package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// TestTLSMatrix has every kind of client at servers with and without certificates of clients.
func TestTLSMatrix(t *testing.T) {
	ours, theirs := newAuthority(t, "ours"), newAuthority(t, "theirs")
	files := newCertificateFiles(t, ours.issue(t), ours)
	good, foreign := ours.issue(t), theirs.issue(t)
	old, early, ofServer := ours.issue(t, expired), ours.issue(t, notYetValid), ours.issue(t, forServers)
	atMost := func(config *tls.Config, version uint16) credentials.TransportCredentials {
		config.MaxVersion = version
		return credentials.NewTLS(config)
	}
	servers := map[string]string{
		"TLS":                  start(t, files.serve(false)).addr,
		"mutual TLS":           start(t, files.serve(true)).addr,
		"TLS 1.2 at the least": start(t, files.serve(false), func(s *setup) { s.cfg.TLSMinVersion = "1.2" }).addr,
	}
	for _, test := range []struct {
		name   string
		client credentials.TransportCredentials
		let    string // which servers let it in
	}{
		{"without a certificate", withTLS(t, ours, nil), "TLS, TLS 1.2 at the least"},
		{"with a good certificate", withTLS(t, ours, &good), "TLS, mutual TLS, TLS 1.2 at the least"},
		{"with one of another authority", withTLS(t, ours, &foreign), "TLS, TLS 1.2 at the least"},
		{"with one that has expired", withTLS(t, ours, &old), "TLS, TLS 1.2 at the least"},
		{"with one that is not valid yet", withTLS(t, ours, &early), "TLS, TLS 1.2 at the least"},
		{"with one that is for servers", withTLS(t, ours, &ofServer), "TLS, TLS 1.2 at the least"},
		{"that trusts another authority", withTLS(t, theirs, &good), ""},
		{"that speaks TLS 1.2 alone", atMost(clientTLS(t, ours, &good), tls.VersionTLS12), "TLS 1.2 at the least"},
		{"in plaintext", insecure.NewCredentials(), ""},
	} {
		for name, addr := range servers {
			t.Run(name+"/a client "+test.name, func(t *testing.T) {
				err := encodeOnce(t.Context(), dial(t, addr, grpc.WithTransportCredentials(test.client)))
				want := codes.Unavailable
				if strings.Contains(", "+test.let+",", ", "+name+",") {
					want = codes.OK
				}
				if status.Code(err) != want {
					t.Errorf("Encode: %v, want %v", err, want)
				}
			})
		}
	}
}

// encodeOnce makes one small call.
func encodeOnce(ctx context.Context, conn *grpc.ClientConn) error {
	_, err := thriftpackv1.NewSerializerServiceClient(conn).Encode(ctx, encodeRequestOf(fixture.OneOfEach(), nil))
	return err
}

// TestTLSIsHTTP2 has clients that do not say, or do not want, that they speak HTTP/2.
func TestTLSIsHTTP2(t *testing.T) {
	ours := newAuthority(t, "ours")
	h := start(t, newCertificateFiles(t, ours.issue(t)).serve(false))
	for _, test := range []struct {
		name      string
		protocols []string
		agreed    bool
	}{
		{"h2", []string{"h2"}, true},
		{"both", []string{"http/1.1", "h2"}, true},
		{"HTTP/1.1", []string{"http/1.1"}, false},
		{"none", nil, false},
	} {
		config := clientTLS(t, ours, nil)
		config.NextProtos, config.ServerName = test.protocols, "127.0.0.1"
		conn := tls.Client(dialTCP(t, h.addr), config)
		_ = conn.SetDeadline(time.Now().Add(patience))
		err := conn.HandshakeContext(t.Context())
		if err == nil {
			_, err = conn.Read(make([]byte, 1)) // a server speaks first in HTTP/2
		}
		if agreed := err == nil && conn.ConnectionState().NegotiatedProtocol == "h2"; agreed != test.agreed {
			t.Errorf("%s: agreed on h2: %t (%v), want %t", test.name, agreed, err, test.agreed)
		}
	}
	_ = dialTCP(t, h.addr).Close() // it only looks whether somebody listens
	if err := encodeOnce(t.Context(), dial(t, h.addr)); err == nil {
		t.Error("plaintext is served")
	}
	eventually(t, "the failure of plaintext is logged", func() bool {
		return strings.Contains(h.log.String(), "first record does not look like a TLS handshake")
	})
	// A client may know of its failure before the server has counted it, and dials again where it wants to.
	eventually(t, "three failures at the least are counted, and all of them are logged", func() bool {
		lines := strings.Count(h.log.String(), `"handshake failed","peer":"127.0.0.1"`)
		return lines >= 3 && lines == int(h.metric(t, "thriftpack_tls_handshake_failures_total"))
	})
	if strings.Contains(h.log.String(), "EOF") {
		t.Errorf("a look is logged as a failure: %s", h.log.String())
	}
}

// TestCertificateRotation replaces the certificate and its key under load, by new connections and on old ones. Nothing fails, a stream goes on
// through all of it, and new connections get the new certificate.
func TestCertificateRotation(t *testing.T) {
	ours := newAuthority(t, "ours")
	files, client := newCertificateFiles(t, ours.issue(t), ours), ours.issue(t)
	h := start(t, files.serve(true), func(s *setup) {
		s.dial = []grpc.DialOption{grpc.WithTransportCredentials(withTLS(t, ours, &client))}
	})
	long, err := h.client.EncodeBatch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	calls := make([]int, 4)
	for i := range calls {
		callers.Go(func() {
			for ctx.Err() == nil {
				conn := h.conn
				if i%2 == 0 { // these come by new connections, and so make handshakes
					conn = dial(t, h.addr, grpc.WithTransportCredentials(withTLS(t, ours, &client)))
				}
				if err := encodeOnce(t.Context(), conn); err != nil {
					t.Errorf("caller %d, call %d: %v", i, calls[i], err)
				}
				if conn != h.conn {
					_ = conn.Close()
				}
				calls[i]++
			}
		})
	}
	for range 10 {
		next := ours.issue(t)
		files.replace(t, next)
		eventually(t, "new connections get the new certificate", func() bool {
			return servedSerial(t, h.addr, ours, &client) == next.serial.String()
		})
		if got := h.metric(t, "thriftpack_tls_certificate_expiry_seconds"); got != float64(next.notAfter.Unix()) {
			t.Errorf("it expires at %v, want %d", got, next.notAfter.Unix())
		}
		if err := long.Send(&thriftpackv1.EncodeBatchRequest{}); err != nil {
			t.Fatalf("the stream: %v", err)
		}
		if _, err := long.Recv(); err != nil {
			t.Fatalf("the stream: %v", err)
		}
	}
	stop()
	callers.Wait()
	t.Logf("calls: %v", calls)
	for i, n := range calls {
		if n == 0 {
			t.Errorf("caller %d made no calls", i)
		}
	}
}

// servedSerial makes a connection and returns the number of the server's certificate.
func servedSerial(t *testing.T, addr string, trusts *authority, shows *pair) string {
	t.Helper()
	config := clientTLS(t, trusts, shows)
	config.NextProtos, config.ServerName = []string{"h2"}, "127.0.0.1"
	conn := tls.Client(dialTCP(t, addr), config)
	defer conn.Close()
	if err := conn.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// TestBrokenFilesChangeNothing replaces files by ones that cannot be used: what was loaded stays, one line says so, and a good one is taken again.
func TestBrokenFilesChangeNothing(t *testing.T) {
	ours := newAuthority(t, "ours")
	first := ours.issue(t)
	files := newCertificateFiles(t, first, ours)
	h := start(t, files.serve(true), func(s *setup) {
		s.dial = []grpc.DialOption{grpc.WithTransportCredentials(withTLS(t, ours, &first))}
	})
	broken := []struct {
		name string
		make func()
		want string
	}{
		{"expired", func() { files.replace(t, ours.issue(t, expired)) }, "the certificate expired on "},
		{"not valid yet", func() { files.replace(t, ours.issue(t, notYetValid)) }, "the certificate is not valid before "},
		{"for clients", func() { files.replace(t, ours.issue(t, forClients)) }, "not for servers"},
		{"of another key", func() { files.write(t, "tls.key", ours.issue(t).key) }, "private key does not match"},
		{"no PEM", func() { files.write(t, "tls.crt", []byte(secret)) }, "no PEM blocks"},
		{"cut", func() { files.write(t, "tls.crt", append(first.cert, ours.pem[:100]...)) }, "1 of 2 PEM blocks cannot be read"},
		{"gone", func() { files.write(t, "tls.crt", nil) }, "no such file"},
	}
	for _, b := range broken {
		b.make()
		eventually(t, b.name+" is logged", func() bool { return strings.Contains(h.log.String(), b.want) })
		failures := h.failedReloads(t, "certificate")
		eventually(t, b.name+" is tried again", func() bool { return h.failedReloads(t, "certificate") > failures+1 })
		if n := strings.Count(h.log.String(), b.want); n != 1 {
			t.Errorf("%s: logged %d times, want once", b.name, n)
		}
		if err := encodeOnce(t.Context(), dial(t, h.addr, grpc.WithTransportCredentials(withTLS(t, ours, &first)))); err != nil {
			t.Errorf("%s: a new connection: %v", b.name, err)
		}
		if got := servedSerial(t, h.addr, ours, &first); got != first.serial.String() {
			t.Errorf("%s: certificate %s is served, want the first, %v", b.name, got, first.serial)
		}
	}
	if err := encodeOnce(t.Context(), h.conn); err != nil {
		t.Errorf("the old connection: %v", err)
	}
	wantNoSecret(t, "the log", h.log.String())
	if strings.Contains(h.log.String(), "PRIVATE") {
		t.Error("the log has a private key")
	}
	second := ours.issue(t)
	files.replace(t, second)
	eventually(t, "a good one is taken", func() bool { return servedSerial(t, h.addr, ours, &first) == second.serial.String() })
}

// TestClientCARotation replaces the authorities of clients as one does: first both, then the new one alone.
func TestClientCARotation(t *testing.T) {
	server, before, after := newAuthority(t, "server"), newAuthority(t, "before"), newAuthority(t, "after")
	files := newCertificateFiles(t, server.issue(t), before)
	oldClient, newClient := before.issue(t), after.issue(t)
	h := start(t, files.serve(true), func(s *setup) {
		s.dial = []grpc.DialOption{grpc.WithTransportCredentials(withTLS(t, server, &oldClient))}
	})
	newConnection := func(p pair) error {
		conn := dial(t, h.addr, grpc.WithTransportCredentials(withTLS(t, server, &p)))
		defer conn.Close()
		return encodeOnce(t.Context(), conn)
	}
	if err := errors.Join(encodeOnce(t.Context(), h.conn), newConnection(oldClient)); err != nil {
		t.Fatalf("the old client: %v", err)
	}
	if err := newConnection(newClient); err == nil {
		t.Error("the new client is let in before its authority is")
	}
	files.replaceCA(t, before, after)
	eventually(t, "both are let in", func() bool { return newConnection(newClient) == nil && newConnection(oldClient) == nil })
	files.replaceCA(t, after)
	eventually(t, "the old client is no longer let in", func() bool { return newConnection(oldClient) != nil })
	if err := newConnection(newClient); err != nil {
		t.Errorf("the new client: %v", err)
	}
	if err := encodeOnce(t.Context(), h.conn); err != nil {
		t.Errorf("the old client on its old connection: %v", err)
	}
	for name, contents := range map[string][]byte{
		"a certificate of no authority": after.issue(t).cert, "a key": after.issue(t).key, "nothing": {},
	} {
		failures := h.failedReloads(t, "client_ca")
		files.write(t, "ca.crt", contents)
		eventually(t, name+" is refused", func() bool { return h.failedReloads(t, "client_ca") > failures })
		if err := newConnection(newClient); err != nil {
			t.Errorf("%s as authorities: %v", name, err)
		}
	}
}

// TestWrongFilesStopTheStart has files that a server does not start with; --check-config says the same.
func TestWrongFilesStopTheStart(t *testing.T) {
	ours := newAuthority(t, "ours")
	for _, test := range []struct {
		name    string
		pair    pair
		clients []byte
		want    string
	}{
		{"an expired certificate", ours.issue(t, expired), ours.pem, "TLS: certificate: the certificate expired on"},
		{"a certificate for later", ours.issue(t, notYetValid), ours.pem, "TLS: certificate: the certificate is not valid before"},
		{"a certificate for clients", ours.issue(t, forClients), ours.pem, "TLS: certificate: the certificate is not for servers"},
		{"a foreign key", pair{cert: ours.issue(t).cert, key: ours.issue(t).key}, ours.pem, "TLS: certificate: tls: private key does not match"},
		{"no authorities", ours.issue(t), []byte{}, "TLS: authorities of clients: no PEM blocks"},
		{"an authority cut short", ours.issue(t), ours.pem[:len(ours.pem)-40], "TLS: authorities of clients: 1 of 1 PEM blocks cannot be read"},
		{"an expired authority", ours.issue(t), expiredAuthority(t), "TLS: authorities of clients: the certificate expired on"},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := newCertificateFiles(t, test.pair)
			files.write(t, "ca.crt", test.clients)
			s := &setup{cfg: config.Default()}
			files.serve(true)(s)
			if server, err := New(s.cfg); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("New: %v, %v; want an error with %q", server, err, test.want)
			}
			if _, err := Check(s.cfg); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Check: %v, want an error with %q", err, test.want)
			}
		})
	}
	files := newCertificateFiles(t, ours.issue(t), ours)
	s := &setup{cfg: config.Default()}
	files.serve(true)(s)
	notes, err := Check(s.cfg)
	if err != nil || len(notes) != 2 || !strings.HasPrefix(notes[0], "certificate: valid until 20") {
		t.Errorf("Check of good files: %q, %v", notes, err)
	}
}

// expiredAuthority is the PEM of an authority that has expired.
func expiredAuthority(t *testing.T) []byte {
	t.Helper()
	p := newAuthority(t, "old").issue(t, expired, func(c *x509.Certificate) { c.IsCA, c.BasicConstraintsValid = true, true })
	return p.cert
}

// TestTLSConnectionsAreTracked looks for the connection, with its account, behind TLS.
func TestTLSConnectionsAreTracked(t *testing.T) {
	ours := newAuthority(t, "ours")
	tracked := make(chan bool, 1)
	h := start(t, newCertificateFiles(t, ours.issue(t)).serve(false), func(s *setup) {
		s.dial = []grpc.DialOption{grpc.WithTransportCredentials(withTLS(t, ours, nil))}
		s.hook = func(ctx context.Context, _ string) error {
			tracked <- connectionOf(ctx).accountOrNil() != nil
			return nil
		}
	})
	if err := encodeOnce(t.Context(), h.conn); err != nil {
		t.Fatal(err)
	}
	if !<-tracked {
		t.Error("a call by TLS has no connection, and so no account")
	}
}

// failedReloads returns how often files could not be loaded.
func (h *harness) failedReloads(t *testing.T, files string) float64 {
	t.Helper()
	return h.labelled(t, "thriftpack_reloads_total", "files", files, "result", reloadFailed)
}

// labelled returns the value of a counter or gauge with labels, given as name and value in turn.
func (h *harness) labelled(t *testing.T, name string, labels ...string) float64 {
	t.Helper()
	families, err := h.server.Registry().Gather()
	if err != nil {
		t.Fatalf("Gather: %v", err)
	}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, metric := range family.GetMetric() {
			matching := 0
			for _, label := range metric.GetLabel() {
				for i := 0; i < len(labels); i += 2 {
					if label.GetName() == labels[i] && label.GetValue() == labels[i+1] {
						matching++
					}
				}
			}
			if matching*2 == len(labels) {
				return metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("no metric %s with %v", name, labels)
	return 0
}
