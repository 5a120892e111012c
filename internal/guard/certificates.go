// Package guard decides who may call: the certificates of a connection, the tokens of calls, the policy that says who may call
// what, and how often. It knows callers and methods, never what is in a request; package server puts it into its chain of interceptors.
package guard

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/credentials"

	"github.com/thriftpack/thriftpack/internal/reload"
)

// Names of the files that are reloaded, in logs and as labels of metrics.
const (
	CertificateFiles = "certificate"
	ClientCAFile     = "client_ca"
)

// maxCertificateBytes bounds a file of certificates or keys, in bytes.
const maxCertificateBytes = 1 << 20

// TLSFiles are where the certificates of a server are.
type TLSFiles struct {
	// Cert and Key are PEM files: the certificate with those that lead to its authority, and its key.
	Cert, Key string
	// ClientCA, when not "", is the PEM file of the authorities one of which every client needs a certificate of.
	ClientCA string
	// MinVersion is the lowest version of TLS, such as tls.VersionTLS13.
	MinVersion uint16
}

// Certificates are a server's certificate and the authorities of its clients, as they were when last they were good. A new
// connection gets the present ones; open connections keep theirs.
type Certificates struct {
	minVersion uint16
	requireOne bool // a certificate of every client
	now        func() time.Time

	config   atomic.Pointer[tls.Config]
	expiry   atomic.Int64 // of the certificate, in seconds since 1970
	caExpiry atomic.Int64 // of the authorities of clients; 0 where there are none

	mu        sync.Mutex // guards what follows, which config is made of
	identity  *tls.Certificate
	clientCAs *x509.CertPool
}

// NewCertificates loads the files and has watcher look after them.
func NewCertificates(files TLSFiles, watcher *reload.Watcher) (*Certificates, error) {
	c := &Certificates{minVersion: files.MinVersion, requireOne: files.ClientCA != "", now: time.Now}
	// The authorities come first, so that there is no moment at which clients need none.
	if c.requireOne {
		err := watcher.Add(reload.Files{Name: ClientCAFile, Paths: []string{files.ClientCA}, Limit: maxCertificateBytes, Load: c.loadClientCAs})
		if err != nil {
			return nil, fmt.Errorf("authorities of clients: %w", err)
		}
	}
	err := watcher.Add(reload.Files{Name: CertificateFiles, Paths: []string{files.Cert, files.Key}, Limit: maxCertificateBytes, Load: c.loadIdentity})
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	return c, nil
}

// Expiry returns when the certificate in use ends to be valid.
func (c *Certificates) Expiry() time.Time { return time.Unix(c.expiry.Load(), 0) }

// ClientCAExpiry returns when the first of the authorities of clients ends to be valid that is valid now; ok is false where clients need no
// certificate.
func (c *Certificates) ClientCAExpiry() (expiry time.Time, ok bool) {
	return time.Unix(c.caExpiry.Load(), 0), c.requireOne
}

// Credentials returns credentials for a gRPC server. failed is called with the peer of each connection that does not become one, but for
// those that only looked whether somebody listens.
func (c *Certificates) Credentials(failed func(net.Addr, error)) credentials.TransportCredentials {
	return &countedCredentials{
		TransportCredentials: credentials.NewTLS(&tls.Config{
			MinVersion: c.minVersion,
			GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
				return c.config.Load(), nil
			},
		}),
		failed: failed,
	}
}

// countedCredentials tells of handshakes that fail; gRPC itself drops the connection without a word.
type countedCredentials struct {
	credentials.TransportCredentials
	failed func(net.Addr, error)
}

// ServerHandshake makes a connection a TLS connection.
func (c *countedCredentials) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := c.TransportCredentials.ServerHandshake(raw)
	if err != nil && !errors.Is(err, io.EOF) { // as load balancers do, and close again
		c.failed(raw.RemoteAddr(), err)
	}
	return conn, info, err
}

// Clone returns a copy.
func (c *countedCredentials) Clone() credentials.TransportCredentials {
	return &countedCredentials{c.TransportCredentials.Clone(), c.failed}
}

// loadIdentity puts a certificate and its key to use.
func (c *Certificates) loadIdentity(contents [][]byte) error {
	if _, err := pemBlocks(contents[0]); err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(contents[0], contents[1])
	if err != nil {
		return err // names no contents
	}
	leaf := pair.Leaf
	if err := c.validNow(leaf); err != nil {
		return err
	}
	if !servesTLS(leaf) {
		return errors.New("the certificate is not for servers")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.identity = &pair
	c.expiry.Store(leaf.NotAfter.Unix())
	c.publish()
	return nil
}

// loadClientCAs puts the authorities of clients to use.
func (c *Certificates) loadClientCAs(contents [][]byte) error {
	pool, first, err := c.parseAuthorities(contents[0])
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clientCAs = pool
	c.caExpiry.Store(first.Unix())
	c.publish()
	return nil
}

// parseAuthorities reads every block of a PEM file, of which none may be anything but a certificate of an authority, and says when the
// first of the valid ones ends to be so. Some may have expired or not begun, which is how authorities are replaced, but not all:
// handshakes look at the time, too.
func (c *Certificates) parseAuthorities(contents []byte) (pool *x509.CertPool, first time.Time, err error) {
	blocks, err := pemBlocks(contents)
	if err != nil {
		return nil, first, err
	}
	pool = x509.NewCertPool()
	var invalid error
	for i, block := range blocks {
		if block.Type != "CERTIFICATE" {
			return nil, first, fmt.Errorf("block %d is a %q, want a CERTIFICATE", i+1, block.Type)
		}
		authority, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, first, fmt.Errorf("block %d: %w", i+1, err)
		}
		if !authority.IsCA {
			return nil, first, fmt.Errorf("block %d is not the certificate of an authority", i+1)
		}
		pool.AddCert(authority)
		if err := c.validNow(authority); err != nil {
			invalid = err
		} else if first.IsZero() || authority.NotAfter.Before(first) {
			first = authority.NotAfter
		}
	}
	if first.IsZero() {
		return nil, first, invalid
	}
	return pool, first, nil
}

// pemBlocks reads all blocks of a PEM file. A file that was cut has a beginning without its end, which pem.Decode passes over.
func pemBlocks(contents []byte) ([]*pem.Block, error) {
	var blocks []*pem.Block
	for rest := contents; ; {
		block, after := pem.Decode(rest)
		if block == nil {
			break
		}
		blocks, rest = append(blocks, block), after
	}
	switch begun := bytes.Count(contents, []byte("-----BEGIN ")); {
	case begun == 0:
		return nil, errors.New("no PEM blocks")
	case begun != len(blocks):
		return nil, fmt.Errorf("%d of %d PEM blocks cannot be read", begun-len(blocks), begun)
	}
	return blocks, nil
}

// validNow checks the time for which a certificate is valid.
func (c *Certificates) validNow(certificate *x509.Certificate) error {
	switch now := c.now(); {
	case now.Before(certificate.NotBefore):
		return fmt.Errorf("the certificate is not valid before %s", certificate.NotBefore.UTC().Format(time.RFC3339))
	case now.After(certificate.NotAfter):
		return fmt.Errorf("the certificate expired on %s", certificate.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

// servesTLS reports whether a certificate may be a server's: one that says nothing of its use may.
func servesTLS(certificate *x509.Certificate) bool {
	if len(certificate.ExtKeyUsage)+len(certificate.UnknownExtKeyUsage) == 0 {
		return true
	}
	for _, use := range certificate.ExtKeyUsage {
		if use == x509.ExtKeyUsageServerAuth || use == x509.ExtKeyUsageAny {
			return true
		}
	}
	return false
}

// publish makes the configuration for new connections of what is in use. c.mu is held.
func (c *Certificates) publish() {
	if c.identity == nil {
		return // the authorities have come first
	}
	config := &tls.Config{
		MinVersion:   c.minVersion,
		Certificates: []tls.Certificate{*c.identity},
		// A resumed session would bring its client's certificate along from before a change of the authorities. Connections live for
		// long, so that resuming would save next to nothing.
		SessionTicketsDisabled: true,
	}
	if c.requireOne {
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, c.clientCAs
	}
	c.config.Store(config)
}
