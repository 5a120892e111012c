package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"

	"google.golang.org/grpc/credentials"

	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/guard"
	"github.com/thriftpack/thriftpack/internal/reload"
)

// security is who may call: what was read from the files that the settings name, and who looks after them.
type security struct {
	watcher      *reload.Watcher
	certificates *guard.Certificates // nil without TLS
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
	return notes, nil
}

// reloaded logs and counts what came of files that have changed. What cannot be used is logged once.
func (s *Server) reloaded(e reload.Event) {
	s.metrics.reloads.WithLabelValues(e.Name, reloadResult(e.Err)).Inc()
	switch {
	case e.Err == nil:
		s.opts.logger.LogAttrs(context.Background(), slog.LevelInfo, "files reloaded", slog.String("files", e.Name))
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
func (s *Server) handshakeFailed(err error) {
	s.metrics.handshakesFailed.Inc()
	s.opts.logger.LogAttrs(context.Background(), slog.LevelDebug, "handshake failed",
		slog.String("error", shorten(err.Error(), maxLoggedError)))
}
