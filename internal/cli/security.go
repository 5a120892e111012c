package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/thriftpack/thriftpack/internal/reload"
)

// maxSecretBytes bounds files of certificates, keys and tokens, in bytes.
const maxSecretBytes = 1 << 20

// clientSecurity is how a command proves who it is, and asks for proof.
type clientSecurity struct {
	tls                   bool
	ca, cert, key, server string
	tokenFile             string
}

func (s *clientSecurity) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&s.tls, "tls", false, "call the server by TLS, trusting the authorities of this machine")
	f.StringVar(&s.ca, "tls-ca", "", "call it by TLS, trusting the authorities in the PEM `FILE`")
	f.StringVar(&s.cert, "tls-cert", "", "show the server the certificate in the PEM `FILE`; needs --tls-key")
	f.StringVar(&s.key, "tls-key", "", "the PEM `FILE` of the key of --tls-cert")
	f.StringVar(&s.server, "tls-server-name", "", "the `NAME` that the server's certificate must have (default: the host of --addr)")
	f.StringVar(&s.tokenFile, "token-file", "", "send the bearer token in `FILE` with each call")
}

// options are how to call the server at addr.
func (s *clientSecurity) options(addr string) ([]grpc.DialOption, error) {
	if *s == (clientSecurity{}) {
		return []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}, nil
	}
	if addr == "" {
		return nil, errors.New("--tls, --tls-… and --token-file need --addr")
	}
	secure := s.tls || s.ca != "" || s.cert != "" || s.key != "" || s.server != ""
	var options []grpc.DialOption
	if secure {
		config, err := s.config()
		if err != nil {
			return nil, err
		}
		options = append(options, grpc.WithTransportCredentials(credentials.NewTLS(config)))
	} else {
		options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))
	}
	if s.tokenFile == "" {
		return options, nil
	}
	if !secure && !isLocal(addr) {
		return nil, fmt.Errorf("--token-file: %s is not on this machine, and whoever sees the traffic would have the token; add --tls or --tls-ca", addr)
	}
	text, err := reload.ReadFile(s.tokenFile, maxSecretBytes)
	if err != nil {
		return nil, fmt.Errorf("--token-file: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return nil, fmt.Errorf("--token-file: %s: want one token", s.tokenFile)
	}
	return append(options, grpc.WithPerRPCCredentials(bearer{token, secure})), nil
}

// config reads the files of certificates.
func (s *clientSecurity) config() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: s.server}
	if s.ca != "" {
		text, err := reload.ReadFile(s.ca, maxSecretBytes)
		if err != nil {
			return nil, fmt.Errorf("--tls-ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("--tls-ca: %s: no certificates", s.ca)
		}
	}
	if (s.cert == "") != (s.key == "") {
		return nil, errors.New("--tls-cert and --tls-key need each other")
	}
	if s.cert != "" {
		pair, err := tls.LoadX509KeyPair(s.cert, s.key)
		if err != nil {
			return nil, fmt.Errorf("--tls-cert, --tls-key: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// isLocal reports whether traffic to an address stays on this machine.
func isLocal(addr string) bool {
	if strings.HasPrefix(addr, "unix:") {
		return true
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && ip.Unmap().IsLoopback())
}

// bearer sends a token with each call.
type bearer struct {
	token  string
	secure bool // to be sent by TLS only
}

// GetRequestMetadata returns the header.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + b.token}, nil
}

// RequireTransportSecurity reports whether the token must not go in plaintext.
func (b bearer) RequireTransportSecurity() bool { return b.secure }
