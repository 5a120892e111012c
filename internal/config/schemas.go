package config

import (
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// StoreKind says what keeps schemas.
type StoreKind uint8

// The kinds of stores.
const (
	// NoStore keeps nothing.
	NoStore StoreKind = iota
	// FileStore is a file of this machine.
	FileStore
	// EtcdStore is etcd.
	EtcdStore
)

// SchemaStore is what Config.SchemaStore says.
type SchemaStore struct {
	// Kind says which of the others are set.
	Kind StoreKind
	// Path is the file.
	Path string
	// Endpoints are the addresses of etcd, host:port each.
	Endpoints []string
	// Prefix is what all keys in etcd begin with. It begins with "/" and does not end with one.
	Prefix string
	// TLS says that etcd is spoken to by TLS.
	TLS bool
}

// noStore is the text of a store that keeps nothing.
const noStore = "none"

// defaultPrefix is where schemas are in etcd unless the setting says.
const defaultPrefix = "/thriftpack"

// prefixPattern is what a prefix in etcd is.
var prefixPattern = regexp.MustCompile(`^(/[A-Za-z0-9._-]+)+$`)

// ParseSchemaStore reads the text of Config.SchemaStore.
func ParseSchemaStore(text string) (SchemaStore, error) {
	if text == noStore {
		return SchemaStore{}, nil
	}
	if path, ok := strings.CutPrefix(text, "file:"); ok {
		if path == "" {
			return SchemaStore{}, fmt.Errorf("%q: no path; want file:PATH", text)
		}
		return SchemaStore{Kind: FileStore, Path: path}, nil
	}
	rest, plain := strings.CutPrefix(text, "etcd://")
	if !plain {
		var ok bool
		if rest, ok = strings.CutPrefix(text, "etcds://"); !ok {
			return SchemaStore{}, fmt.Errorf("%q is no store; want none, file:PATH or etcd://HOST:PORT/PREFIX", text)
		}
	}
	hosts, prefix, _ := strings.Cut(rest, "/")
	store := SchemaStore{Kind: EtcdStore, TLS: !plain, Prefix: defaultPrefix}
	if prefix != "" {
		if store.Prefix = "/" + prefix; !prefixPattern.MatchString(store.Prefix) {
			return SchemaStore{}, fmt.Errorf("%q: the prefix has other characters than letters, digits, \".\", \"_\", \"-\" and single \"/\" between them", text)
		}
	}
	for endpoint := range strings.SplitSeq(hosts, ",") {
		host, port, err := net.SplitHostPort(endpoint)
		number, errPort := strconv.ParseUint(port, 10, 16)
		if err != nil || errPort != nil || host == "" || number == 0 || strings.ContainsAny(host, "@ ") {
			return SchemaStore{}, fmt.Errorf("%q: %q is not HOST:PORT", text, endpoint)
		}
		store.Endpoints = append(store.Endpoints, endpoint)
	}
	return store, nil
}

// validateSchemas checks the settings of schemas against each other.
func (c *Config) validateSchemas() error {
	store, err := ParseSchemaStore(c.SchemaStore)
	if err != nil {
		return &settingError{"schema-store", err}
	}
	if c.SchemaCacheBytes < c.MaxSchemaPlanBytes {
		return wrong("schema-cache-bytes", "%s is less than max-schema-plan-bytes %s", FormatSize(c.SchemaCacheBytes), FormatSize(c.MaxSchemaPlanBytes))
	}
	for _, f := range []struct {
		name, value string
		tls         bool
	}{
		{"schema-etcd-ca", c.SchemaEtcdCA, true},
		{"schema-etcd-cert", c.SchemaEtcdCert, true},
		{"schema-etcd-key", c.SchemaEtcdKey, true},
		{"schema-etcd-username", c.SchemaEtcdUsername, false},
		{"schema-etcd-password-file", c.SchemaEtcdPasswordFile, false},
	} {
		switch {
		case f.value == "":
		case store.Kind != EtcdStore:
			return wrong(f.name, "needs a schema-store in etcd")
		case f.tls && !store.TLS:
			return wrong(f.name, "needs TLS: schema-store etcds://")
		}
	}
	return c.validateEtcdCredentials(&store)
}

// validateEtcdCredentials checks what has to come in pairs.
func (c *Config) validateEtcdCredentials(store *SchemaStore) error {
	switch {
	case c.SchemaEtcdCert != "" && c.SchemaEtcdKey == "":
		return wrong("schema-etcd-cert", "needs a schema-etcd-key")
	case c.SchemaEtcdKey != "" && c.SchemaEtcdCert == "":
		return wrong("schema-etcd-key", "needs a schema-etcd-cert")
	case c.SchemaEtcdUsername != "" && c.SchemaEtcdPasswordFile == "":
		return wrong("schema-etcd-username", "needs a schema-etcd-password-file")
	case c.SchemaEtcdPasswordFile != "" && c.SchemaEtcdUsername == "":
		return wrong("schema-etcd-password-file", "needs a schema-etcd-username")
	case c.SchemaEtcdUsername != "" && !store.TLS && !c.Insecure:
		return wrong("schema-etcd-username", "the password would go over the network as it is; use schema-store etcds://, or add --insecure "+
			"where the network protects it")
	}
	return nil
}

// userStore returns where schemas are kept for a user with this environment: in the directory for what programs remember. Without a
// home there is no such place.
func userStore(environ []string) string {
	get := func(name string) string {
		value := ""
		for _, entry := range environ {
			if v, ok := strings.CutPrefix(entry, name+"="); ok {
				value = v
			}
		}
		return value
	}
	folder := get("XDG_STATE_HOME")
	if !filepath.IsAbs(folder) { // the specification has relative ones ignored
		home := get("HOME")
		if !filepath.IsAbs(home) || home == "/" { // containers often have none to speak of
			return noStore
		}
		folder = filepath.Join(home, ".local", "state")
	}
	return "file:" + filepath.Join(folder, "thriftpack", "schemas.db")
}
