package guard

import (
	"context"
	"crypto/x509"
	"net"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// CallerKind is what a caller is known by.
type CallerKind string

// The kinds of callers.
const (
	TokenCaller       CallerKind = "token"       // the client of a bearer token
	CertificateCaller CallerKind = "certificate" // the subject of a client's certificate
	AddressCaller     CallerKind = "address"     // nobody in particular, at an address
)

// Caller is who makes a call.
type Caller struct {
	// Kind is what it is known by.
	Kind CallerKind
	// Name is a token's client, a certificate's identity or a host's address. It comes from files and certificates that are trusted, but
	// for an address, which is the peer's.
	Name string
}

// callerKey is the key of the Caller in a call's context.
type callerKey struct{}

// TokenCallerOf returns the client of the token of the call of ctx, or nil.
func TokenCallerOf(ctx context.Context) *Caller {
	c, _ := ctx.Value(callerKey{}).(*Caller)
	return c
}

// PeerCaller returns who has made a connection: the subject of its certificate, else its address.
func PeerCaller(p *peer.Peer) Caller {
	if info, ok := p.AuthInfo.(credentials.TLSInfo); ok && len(info.State.VerifiedChains) > 0 {
		return Caller{Kind: CertificateCaller, Name: identityOf(info.State.PeerCertificates[0])}
	}
	return Caller{Kind: AddressCaller, Name: HostOf(p.Addr)}
}

// identityOf is the first of the names in a certificate that a policy may call its principal: its URIs, where it has none its DNS names, else
// its subject.
func identityOf(certificate *x509.Certificate) string {
	switch {
	case len(certificate.URIs) > 0:
		return certificate.URIs[0].String()
	case len(certificate.DNSNames) > 0:
		return certificate.DNSNames[0]
	}
	return certificate.Subject.String()
}

// HostOf is an address without its port; "local" is a peer by a socket file.
func HostOf(addr net.Addr) string {
	host, _, err := net.SplitHostPort(addr.String())
	if err != nil {
		return "local"
	}
	return host
}
