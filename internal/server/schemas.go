package server

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync/atomic"

	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/reload"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/registry"
	"github.com/thriftpack/thriftpack/internal/schema/store"
)

// Source is a schema that a server has from the start and for good, as those of --schema-dir.
type Source struct {
	// Name is its name.
	Name string
	// Files are its IDL sources by their path, and Root is one of them.
	Files map[string]string
	Root  string
}

// WithSchemas gives the server schemas beside those that its settings name. Names must not repeat. New returns what is wrong with one as
// an error that has each fault on a line of its own.
func WithSchemas(sources ...Source) Option { return func(o *options) { o.schemas = sources } }

// schemaLimits are the settings as package schema takes them.
func schemaLimits(cfg *config.Config) schema.Limits {
	limits := schema.DefaultLimits()
	limits.PlanBytes = cfg.MaxSchemaPlanBytes
	limits.Source.FileBytes, limits.Source.TotalBytes = cfg.MaxSchemaBytes, cfg.MaxSchemaBytes
	limits.Source.Files = cfg.MaxSchemaFiles
	return limits
}

// newSchemas opens what the settings name, and starts to follow it.
func newSchemas(cfg config.Config, opts *options, watcher *reload.Watcher, accept func(*schema.Schema) error) (*registry.Registry, error) {
	c := registry.Config{
		Limits: schemaLimits(&cfg), Compilations: min(max(runtime.GOMAXPROCS(0)/2, 1), config.SchemaCompilations),
		Pushes: config.SchemaPushes, Checks: config.SchemaChecks, WaitingBytes: cfg.SchemasWaiting(),
		CacheBytes: cfg.SchemaCacheBytes, Schemas: cfg.MaxSchemas, Revisions: cfg.MaxSchemaRevisions,
		Accept: accept, Logger: opts.logger,
	}
	for _, source := range opts.schemas {
		compiled, err := schema.Compile(source.Name, source.Files, source.Root, c.Limits)
		if err != nil {
			return nil, err
		}
		c.Fixed = append(c.Fixed, compiled)
	}
	if cfg.SchemaDir != "" {
		if err := checkDirectory(cfg.SchemaDir); err != nil {
			return nil, err
		}
		c.Directory = &store.Directory{Path: cfg.SchemaDir, Limits: store.DirectoryLimits{
			Schemas: cfg.MaxSchemas, Files: cfg.MaxSchemaFiles, Bytes: cfg.MaxSchemaBytes,
		}}
	}
	var err error
	if c.Store, err = openStore(&cfg, opts.logger, watcher); err != nil {
		return nil, err
	}
	return registry.New(c), nil
}

// checkDirectory checks that the directory of schemas is one. Later it may go and come as it likes.
func checkDirectory(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("schema-dir: %w", err)
	case !info.IsDir():
		return fmt.Errorf("schema-dir: %s is not a directory", path)
	}
	return nil
}

// openStore opens the store of the settings. It is nil where there is none.
func openStore(cfg *config.Config, logger *slog.Logger, watcher *reload.Watcher) (registry.Store, error) {
	where, err := config.ParseSchemaStore(cfg.SchemaStore)
	if err != nil {
		return nil, fmt.Errorf("schema-store: %w", err)
	}
	switch where.Kind {
	case config.FileStore:
		return store.OpenFile(where.Path, logger)
	case config.EtcdStore:
		etcd := store.EtcdConfig{Endpoints: where.Endpoints, Prefix: where.Prefix, Username: cfg.SchemaEtcdUsername, Logger: logger}
		if where.TLS {
			if etcd.TLS, err = etcdTLS(cfg, watcher); err != nil {
				return nil, err
			}
		}
		if cfg.SchemaEtcdPasswordFile != "" {
			if etcd.Password, err = readPassword(cfg.SchemaEtcdPasswordFile); err != nil {
				return nil, err
			}
		}
		return store.OpenEtcd(etcd), nil
	default:
		return nil, nil //nolint:nilnil // no store is no error
	}
}

const (
	// maxPEMBytes bounds a file of certificates or a key, and maxPasswordBytes that of a password.
	maxPEMBytes      = 1 << 20
	maxPasswordBytes = 4 << 10
	// etcdCertificate is the certificate for etcd in logs and metrics.
	etcdCertificate = "etcd_certificate"
)

var (
	errNoAuthorities = errors.New("schema-etcd-ca: no certificate in it")
	errNoPassword    = errors.New("schema-etcd-password-file: it is empty")
)

// etcdTLS returns how etcd is spoken to. The certificate that it is shown is reloaded, the authorities are not.
func etcdTLS(cfg *config.Config, watcher *reload.Watcher) (*tls.Config, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if cfg.SchemaEtcdCA != "" {
		text, err := reload.ReadFile(cfg.SchemaEtcdCA, maxPEMBytes)
		if err != nil {
			return nil, fmt.Errorf("schema-etcd-ca: %w", err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(text) {
			return nil, errNoAuthorities
		}
	}
	if cfg.SchemaEtcdCert == "" {
		return t, nil
	}
	var present atomic.Pointer[tls.Certificate]
	err := watcher.Add(reload.Files{
		Name: etcdCertificate, Paths: []string{cfg.SchemaEtcdCert, cfg.SchemaEtcdKey}, Limit: maxPEMBytes,
		Load: func(contents [][]byte) error {
			pair, err := tls.X509KeyPair(contents[0], contents[1])
			if err == nil {
				present.Store(&pair)
			}
			return err
		},
	})
	if err != nil {
		return nil, fmt.Errorf("schema-etcd-cert: %w", err)
	}
	t.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return present.Load(), nil }
	return t, nil
}

func readPassword(path string) (string, error) {
	text, err := reload.ReadFile(path, maxPasswordBytes)
	if err != nil {
		return "", fmt.Errorf("schema-etcd-password-file: %w", err)
	}
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
	if len(text) == 0 {
		return "", errNoPassword
	}
	return string(text), nil
}
