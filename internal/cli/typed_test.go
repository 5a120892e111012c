package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	shop = "testdata/idl/shop.thrift"
)

// The bytes were written down by hand from the specification of the compact protocol.
func TestEncodeAndDecodeByName(t *testing.T) {
	for _, row := range []struct {
		name, typ, json, hex string
		encode, decode       []string
		back                 string // what decode writes, where that is not json
	}{
		{name: "fields", typ: "Item", json: `{"name":"tea","price":"250","kind":"DRINK","tags":["x"],"stock":7}`, hex: "180374656116f4031502191801 78 25 0e 00"},
		{name: "a default", typ: "Item", json: `{"name":"tea"}`, hex: "1803746561 55 02 00", back: `{"name":"tea","stock":1}`},
		{name: "no default", typ: "Item", json: `{"name":"tea"}`, hex: "1803746561 00", encode: []string{"--omit-defaults"}},
		{
			name: "shown default", typ: "Item", json: `{"name":"tea"}`, hex: "1803746561 00", encode: []string{"--omit-defaults"},
			decode: []string{"--emit-defaults"}, back: `{"name":"tea","stock":1}`,
		},
		{name: "included", typ: "money.Price", json: `{"cents":"5"}`, hex: "160a00"},
		{name: "numbers", typ: "money.Price", json: `{"cents":5}`, hex: "160a00", decode: []string{"--i64-as-number"}},
		{name: "unknown name", typ: "money.Price", json: `{"cents":"5","tax":1}`, hex: "160a00", encode: []string{"--ignore-unknown"}, back: `{"cents":"5"}`},
		{name: "arguments", typ: "Shop.find.args", json: `{"name":"tea"}`, hex: "180374656100"},
		{
			name: "a call", typ: "Shop.find.args", json: `{"name":"tea"}`, hex: "8221070466696e64 180374656100",
			encode: []string{"--message", "find", "--seqid", "7"}, decode: []string{"--message", "--quiet"},
		},
		{name: "a result", typ: "Shop.find.result", json: `{"gone":{"why":"sold"}}`, hex: "1c1804736f6c640000"},
	} {
		t.Run(row.name, func(t *testing.T) {
			typed := []string{"--idl", shop, "--type", row.typ}
			want := strings.ReplaceAll(row.hex, " ", "")
			got := execute(t, row.json, append(append([]string{"encode", "--output", "hex"}, typed...), row.encode...)...)
			if got.code != 0 || strings.TrimSpace(got.stdout) != want {
				t.Fatalf("encode %s = %+v, want %s", row.json, got, want)
			}
			if row.back == "" {
				row.back = row.json
			}
			got = execute(t, want, append(append([]string{"decode"}, typed...), row.decode...)...)
			if got.code != 0 || compact(got.stdout) != row.back || got.stderr != "" {
				t.Errorf("decode %s = %+v, want %s", want, got, row.back)
			}
			got = execute(t, want, append(append([]string{"decode", "--stream", "--quiet"}, typed...), row.decode...)...)
			if got.code != 0 || strings.TrimSpace(got.stdout) != row.back {
				t.Errorf("decode --stream %s = %+v, want %s", want, got, row.back)
			}
		})
	}
}

// compact takes the white space out of JSON whose strings have none.
func compact(text string) string { return strings.Join(strings.Fields(text), "") }

func TestFieldsThatTheTypeDoesNotHave(t *testing.T) {
	typed := []string{"--idl", shop, "--type", "money.Price"}
	got := execute(t, "160a850200", append([]string{"decode"}, typed...)...)
	if got.code != 0 || compact(got.stdout) != `{"cents":"5"}` || !strings.Contains(got.stderr, "left out: money.Price.9, a i32 field") {
		t.Errorf("decode = %+v", got)
	}
	got = execute(t, "160a850200", append([]string{"decode", "--keep-unknown"}, typed...)...)
	if got.code != 0 || compact(got.stdout) != `{"cents":"5","9":{"i32":1}}` || got.stderr != "" {
		t.Errorf("decode --keep-unknown = %+v", got)
	}
	got = execute(t, got.stdout, append([]string{"encode", "--output", "hex"}, typed...)...)
	if strings.TrimSpace(got.stdout) != "160a850200" {
		t.Errorf("encoded again: %+v", got)
	}
}

func TestTypedRefusals(t *testing.T) {
	dir := t.TempDir()
	loud := filepath.Join(dir, "loud.thrift")
	if err := os.WriteFile(loud, []byte("include \"../../../../etc/passwd\"\ninclude \"/etc/passwd\"\nstruct A {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name  string
		stdin string
		args  []string
		want  []string
	}{
		{"no schema", "{}", []string{"encode", "--type", "Item"}, []string{"--type needs --idl"}},
		{"no type", "{}", []string{"encode", "--idl", shop}, []string{"need --type"}},
		{"two schemas", "{}", []string{"encode", "--idl", shop, "--schema", "x", "--type", "Item"}, []string{"two places"}},
		{"a schema without a server", "{}", []string{"decode", "--schema", "x", "--type", "Item"}, []string{"--addr"}},
		{"files with a server", "{}", []string{"decode", "--idl", shop, "--type", "Item", "--addr", "localhost:1"}, []string{"schema push"}},
		{"a folder without files", "{}", []string{"encode", "-I", dir}, []string{"--include needs --idl"}},
		{"an option of types", "{}", []string{"encode", "--omit-defaults"}, []string{"need --type"}},
		{"another option of types", "00", []string{"decode", "--keep-unknown"}, []string{"need --type"}},
		{"a type that is not there", "{}", []string{"encode", "--idl", shop, "--type", "Nothing"}, []string{"NOT_FOUND", "no such type"}},
		{"a missing field", "{}", []string{"encode", "--idl", shop, "--type", "Item"}, []string{"MISSING_FIELD", "Item.name"}},
		{"a wrong number", `{"name":"a","price":1.5}`, []string{"encode", "--idl", shop, "--type", "Item"}, []string{"Item.price"}},
		{"a wrong kind", "150200", []string{"decode", "--idl", shop, "--type", "Item"}, []string{"TYPE_MISMATCH", "Item.name", "offset"}},
		{"a file that is not there", "{}", []string{"encode", "--idl", "testdata/none.thrift", "--type", "A"}, []string{"none.thrift"}},
		{"a folder", "{}", []string{"encode", "--idl", dir, "--type", "A"}, []string{"is no file"}},
		{"a broken file", "{}", []string{"encode", "--idl", "testdata/idl/broken.thrift", "--type", "A"}, []string{"broken.thrift:1:15"}},
		{"includes of the system", "{}", []string{"encode", "--idl", loud, "--type", "A"}, []string{"loud.thrift:2"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := execute(t, row.stdin, row.args...)
			mustFail(t, got, row.want...)
			if strings.Contains(got.stderr, "root:") {
				t.Errorf("stderr shows another file: %s", got.stderr)
			}
		})
	}
}

func TestInspectByName(t *testing.T) {
	got := execute(t, "180374656116f4031502250405280200", "inspect", "--idl", shop, "--type", "Item", "--message", "no", "--protocol", "compact", "--framing", "none")
	compareGolden(t, "inspect-named.txt", got.stdout)
}

func TestSchemaFiles(t *testing.T) {
	for _, row := range []struct {
		name   string
		args   []string
		code   int
		stdout string
		stderr []string
	}{
		{"lint", []string{"lint", shop}, 0, shop + ": 6 types, 0 warnings\n", nil},
		{"lint of a broken file", []string{"lint", "testdata/idl/broken.thrift"}, 1, "", []string{
			"broken.thrift:1:15: ", "broken.thrift:1:33: ", "the files do not compile: 2 faults", "1 of 1 schema must be mended",
		}},
		{"types", []string{"lint", "--types", "testdata/idl/lib/money.thrift"}, 0, "Price\n", nil},
		{"a change", []string{"check", "--against", shop, "testdata/idl/shop2.thrift"}, 1, "*", []string{"not compatible (backward)"}},
		{"no change", []string{"check", "--against", shop, shop, "--compatibility", "full"}, 0, "compatible (full), 0 changes\n", nil},
		{"nothing to compare", []string{"check", shop}, 1, "", []string{"--against"}},
		{"push without a server", []string{"push", "shop", shop}, 1, "", []string{"--addr is needed"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := execute(t, "", append([]string{"schema"}, row.args...)...)
			if got.code != row.code || row.stdout != "*" && got.stdout != row.stdout {
				t.Errorf("schema %q = %+v, want code %d and %q", row.args, got, row.code, row.stdout)
			}
			for _, want := range row.stderr {
				if !strings.Contains(got.stderr, want) {
					t.Errorf("stderr %q, want it to say %q", got.stderr, want)
				}
			}
		})
	}
	got := execute(t, "", "schema", "check", "--against", shop, "testdata/idl/shop2.thrift")
	for _, want := range []string{"shop2.thrift:7:", "Item.price: ", "FIELD_TYPE_CHANGED, breaks backward, forward)", "Kind.FOOD: "} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("stdout %q, want it to say %q", got.stdout, want)
		}
	}
}

// TestNamedTextOnATerminal has a character by which terminals take commands.
func TestNamedTextOnATerminal(t *testing.T) {
	for _, stream := range [][]string{nil, {"--stream", "--quiet"}} {
		args := append([]string{"decode", "--idl", shop, "--type", "Shop.find.args"}, stream...)
		if got := executeOn(t, IO{OutTerminal: true}, "1802c29b00", args...); got.code != 0 || got.stdout != "{\n  \"name\": \"\\u009b\"\n}\n" {
			t.Errorf("thriftpack %q = %+v", args, got)
		}
	}
}
