package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseSchemaStore(t *testing.T) {
	for _, tt := range []struct {
		text string
		want SchemaStore
		err  string
	}{
		{text: "none", want: SchemaStore{}},
		{text: "file:/var/lib/schemas.db", want: SchemaStore{Kind: FileStore, Path: "/var/lib/schemas.db"}},
		{text: "file:schemas.db", want: SchemaStore{Kind: FileStore, Path: "schemas.db"}},
		{text: "etcd://e:2379", want: SchemaStore{Kind: EtcdStore, Endpoints: []string{"e:2379"}, Prefix: "/thriftpack"}},
		{text: "etcd://e:2379/", want: SchemaStore{Kind: EtcdStore, Endpoints: []string{"e:2379"}, Prefix: "/thriftpack"}},
		{
			text: "etcds://a.example:2379,10.0.0.1:2,[::1]:65535/team/a_b-c.d",
			want: SchemaStore{Kind: EtcdStore, TLS: true, Prefix: "/team/a_b-c.d", Endpoints: []string{"a.example:2379", "10.0.0.1:2", "[::1]:65535"}},
		},
		{text: "", err: "is no store"},
		{text: "None", err: "is no store"},
		{text: "/var/lib/schemas.db", err: "is no store"},
		{text: "https://e:2379", err: "is no store"},
		{text: "file:", err: "no path"},
		{text: "etcd://", err: `"" is not HOST:PORT`},
		{text: "etcd://e", err: `"e" is not HOST:PORT`},
		{text: "etcd://:2379", err: `":2379" is not HOST:PORT`},
		{text: "etcd://e:0", err: `"e:0" is not HOST:PORT`},
		{text: "etcd://e:65536", err: `"e:65536" is not HOST:PORT`},
		{text: "etcd://e:2379,", err: `"" is not HOST:PORT`},
		{text: "etcd://user:secret@e:2379", err: "is not HOST:PORT"},
		{text: "etcd://e:2379//a", err: "the prefix"},
		{text: "etcd://e:2379/a/", err: "the prefix"},
		{text: "etcd://e:2379/a b", err: "the prefix"},
	} {
		got, err := ParseSchemaStore(tt.text)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("ParseSchemaStore(%q): %v, want %q", tt.text, err, tt.err)
			}
			continue
		}
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("ParseSchemaStore(%q): %v, -want +got:\n%s", tt.text, err, diff)
		}
	}
}

func TestStoreOfTheUser(t *testing.T) {
	for _, tt := range []struct{ environ, args, want string }{
		{"HOME=/home/u", "", "file:/home/u/.local/state/thriftpack/schemas.db"},
		{"HOME=/home/u XDG_STATE_HOME=/state", "", "file:/state/thriftpack/schemas.db"},
		{"HOME=/home/u XDG_STATE_HOME=state", "", "file:/home/u/.local/state/thriftpack/schemas.db"},
		{"HOME=/a HOME=/b", "", "file:/b/.local/state/thriftpack/schemas.db"},
		{"", "", "none"},
		{"HOME=", "", "none"},
		{"HOME=/", "", "none"},
		{"HOME=/home/u", "--schema-store=none", "none"},
		{"HOME=/home/u THRIFTPACK_SCHEMA_STORE=file:x", "", "file:x"},
	} {
		loaded, err := Load(strings.Fields(tt.args), strings.Fields(tt.environ))
		if err != nil || loaded.Config.SchemaStore != tt.want {
			t.Errorf("%s %s: schema-store %q, %v; want %q", tt.environ, tt.args, loaded.Config.SchemaStore, err, tt.want)
		}
	}
}

func TestSchemaSettingsThatDoNotFit(t *testing.T) {
	for args, want := range map[string]string{
		"--schema-store=x": `--schema-store: "x" is no store; want none, file:PATH or etcd://HOST:PORT/PREFIX`,
		"--schema-cache-bytes=1MiB --max-schema-plan-bytes=2MiB": "--schema-cache-bytes: 1MiB is less than max-schema-plan-bytes 2MiB",
		"--schema-etcd-ca=f":                                       "--schema-etcd-ca: needs a schema-store in etcd",
		"--schema-etcd-ca=f --schema-store=etcd://e:1":             "--schema-etcd-ca: needs TLS: schema-store etcds://",
		"--schema-etcd-cert=f --schema-store=etcds://e:1":          "--schema-etcd-cert: needs a schema-etcd-key",
		"--schema-etcd-key=f --schema-store=etcds://e:1":           "--schema-etcd-key: needs a schema-etcd-cert",
		"--schema-etcd-username=u --schema-store=etcds://e:1":      "--schema-etcd-username: needs a schema-etcd-password-file",
		"--schema-etcd-password-file=f --schema-store=etcds://e:1": "--schema-etcd-password-file: needs a schema-etcd-username",
		"--schema-etcd-username=u --schema-etcd-password-file=f --schema-store=etcd://e:1": "--schema-etcd-username: the password would go over the network " +
			"as it is; use schema-store etcds://, or add --insecure where the network protects it",
	} {
		if _, err := Load(strings.Fields(args), nil); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
	if _, err := Load(strings.Fields("--insecure --schema-etcd-username=u --schema-etcd-password-file=f --schema-store=etcd://e:1"), nil); err != nil {
		t.Errorf("with --insecure: %v", err)
	}
}
