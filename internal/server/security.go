package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionalphapb "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/guard"
	"github.com/thriftpack/thriftpack/internal/reload"
)

// security is who may call: what was read from the files that the settings name, and who looks after them.
type security struct {
	watcher      *reload.Watcher
	certificates *guard.Certificates // nil without TLS
	gate         guard.Gate
	rates        *guard.Rates // nil without a limit
}

// newSecurity loads the files that the settings name. report is told of changes once the watcher is started.
func newSecurity(cfg config.Config, report func(reload.Event)) (*security, error) {
	s := &security{watcher: reload.NewWatcher(cfg.ReloadInterval, report)}
	if cfg.TLS() {
		files := guard.TLSFiles{Cert: cfg.TLSCert, Key: cfg.TLSKey, ClientCA: cfg.TLSClientCA, MinVersion: tls.VersionTLS13}
		if cfg.TLSMinVersion == "1.2" {
			files.MinVersion = tls.VersionTLS12
		}
		var err error
		if s.certificates, err = guard.NewCertificates(files, s.watcher); err != nil {
			return nil, fmt.Errorf("TLS: %w", err)
		}
	}
	if cfg.RateLimit > 0 {
		burst := cfg.RateBurst
		if burst == 0 {
			burst = cfg.RateLimit
		}
		s.rates = guard.NewRates(cfg.RateLimit, burst)
	}
	s.gate.Exempt = cfg.Exempt()
	var err error
	if cfg.AuthTokensFile != "" {
		if s.gate.Tokens, err = guard.NewTokens(cfg.AuthTokensFile, s.watcher); err != nil {
			return nil, err
		}
	}
	if cfg.AuthzPolicy != "" {
		if s.gate.Policy, err = guard.NewPolicy(cfg.AuthzPolicy, s.watcher); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Check reads the files that the settings name, as New does, without keeping anything. The notes say what was found in them.
func Check(cfg config.Config) (notes []string, err error) {
	s, err := newSecurity(cfg, func(reload.Event) {})
	if err != nil {
		return nil, err
	}
	if c := s.certificates; c != nil {
		notes = append(notes, "certificate: valid until "+c.Expiry().UTC().Format("2006-01-02 15:04 MST"))
		if expiry, ok := c.ClientCAExpiry(); ok {
			notes = append(notes, "authorities of clients: valid until "+expiry.UTC().Format("2006-01-02 15:04 MST"))
		}
	}
	if t := s.gate.Tokens; t != nil {
		notes = append(notes, fmt.Sprintf("tokens: %d", t.Len()))
	}
	if p := s.gate.Policy; p != nil {
		notes = append(notes, "policy: read")
		for _, path := range p.Stray(methodNames()) {
			notes = append(notes, fmt.Sprintf("policy: no method has the path %q", path))
		}
	}
	return notes, nil
}

// methodNames are the full names of every method that is served.
func methodNames() []string {
	var names []string
	for _, service := range []*grpc.ServiceDesc{
		&thriftpackv1.SerializerService_ServiceDesc, &thriftpackv1.SchemaService_ServiceDesc, &healthpb.Health_ServiceDesc,
		&reflectionpb.ServerReflection_ServiceDesc, &reflectionalphapb.ServerReflection_ServiceDesc,
	} {
		for i := range service.Methods {
			names = append(names, "/"+service.ServiceName+"/"+service.Methods[i].MethodName)
		}
		for i := range service.Streams {
			names = append(names, "/"+service.ServiceName+"/"+service.Streams[i].StreamName)
		}
	}
	return names
}

// warnOfStrayPaths logs the paths of the policy that no method has.
func (s *Server) warnOfStrayPaths() {
	if s.security.gate.Policy == nil {
		return
	}
	for _, path := range s.security.gate.Policy.Stray(methodNames()) {
		s.opts.logger.LogAttrs(context.Background(), slog.LevelWarn, "a path in the policy is no method's", slog.String("path", path))
	}
}

// reloaded logs and counts what came of files that have changed. What cannot be used is logged once.
func (s *Server) reloaded(e reload.Event) {
	s.metrics.reloads.WithLabelValues(e.Name, reloadResult(e.Err)).Inc()
	switch {
	case e.Err == nil:
		s.opts.logger.LogAttrs(context.Background(), slog.LevelInfo, "files reloaded", slog.String("files", e.Name))
		if e.Name == guard.PolicyFile {
			s.warnOfStrayPaths()
		}
	case !e.Again:
		s.opts.logger.LogAttrs(context.Background(), slog.LevelError, "changed files cannot be used; what was loaded before stays in use",
			slog.String("files", e.Name), slog.String("error", e.Err.Error()))
	}
}

// Results of loading files, as labels.
const (
	reloadSucceeded = "success"
	reloadFailed    = "failure"
)

func reloadResult(err error) string {
	if err != nil {
		return reloadFailed
	}
	return reloadSucceeded
}

// maxLoggedError bounds the text of an error that a peer has a part in, in bytes.
const maxLoggedError = 256

// transportCredentials are what gRPC is served with; nil is plaintext.
func (s *Server) transportCredentials() credentials.TransportCredentials {
	switch {
	case s.opts.credentials != nil:
		return s.opts.credentials
	case s.security.certificates != nil:
		return s.security.certificates.Credentials(s.handshakeFailed)
	}
	return nil
}

// handshakeFailed counts a connection that did not become one.
func (s *Server) handshakeFailed(from net.Addr, err error) {
	s.metrics.handshakesFailed.Inc()
	s.log.write(context.Background(), slog.LevelInfo, "handshake failed", func() []slog.Attr {
		return []slog.Attr{slog.String("peer", guard.HostOf(from)), slog.String("error", shorten(err.Error(), maxLoggedError))}
	})
}
