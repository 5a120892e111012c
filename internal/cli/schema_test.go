package cli

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/thriftpack/thriftpack/internal/config"
)

// withStore gives a server a store of schemas of its own.
func withStore(t *testing.T) func(*config.Config) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "schemas.db")
	return func(c *config.Config) { c.SchemaStore = "file:" + path }
}

var revision = regexp.MustCompile(`[0-9a-f]{16}`)

// TestSchemasOfAServer is the life of a schema, step by step.
func TestSchemasOfAServer(t *testing.T) {
	addr := startServer(t, withStore(t))
	step := func(code int, stdin, want string, args ...string) string {
		t.Helper()
		got := execute(t, stdin, append(args, "--addr", addr)...)
		if got.code != code || !strings.Contains(got.stdout+got.stderr, want) {
			t.Fatalf("thriftpack %q = %+v, want code %d and %q", args, got, code, want)
		}
		return got.stdout
	}

	first := revision.FindString(step(0, "", " is new, and the newest now", "schema", "push", "shop", shop, "--compatibility", "backward"))
	step(0, "", "shop@"+first+" was there already", "schema", "push", "shop", shop)
	step(0, "", "shop@"+first, "schema", "list")
	step(0, "", "  backward  shop.thrift\n", "schema", "list", "shop")
	step(0, "", "\nShop.find.args\n", "schema", "get", "shop", "--types")
	step(0, "", "required i64 cents", "schema", "get", "shop@"+first, "--file", "lib/money.thrift")
	step(1, "", "it has lib/money.thrift, shop.thrift", "schema", "get", "shop", "--file", "none.thrift")
	step(0, "", "type  money.Price\n", "schema", "get", "shop")

	encoded := step(0, `{"name":"tea"}`, "180374656155", "encode", "--schema", "shop", "--type", "Item", "--output", "hex")
	step(0, `{"name":"tea"}`, encoded, "encode", "--schema", "shop@"+first, "--type", "Item", "--output", "hex")
	step(1, `{"name":"tea"}`, "NOT_FOUND", "encode", "--schema", "shop@0000000000000000", "--type", "Item")
	step(0, encoded, `"name": "tea"`, "decode", "--schema", "shop", "--type", "Item")

	for _, method := range []string{"encode", "decode", "encode-batch", "decode-batch", "encode-stream"} {
		step(0, `{"name":"tea"}`, `"exchanges": 20`, "bench", "--schema", "shop", "--type", "Item", "--method", method, "--count", "20", "--warmup", "0s", "--json", "-")
	}

	step(1, "", "shop2.thrift:7:", "schema", "check", "--against", "shop", "testdata/idl/shop2.thrift")
	step(1, "", "FAILED_PRECONDITION", "schema", "push", "shop", "testdata/idl/shop2.thrift")
	step(1, "", "nothing to compare with", "schema", "check", "--against", "nothing", shop)
	step(1, "", "broken.thrift:1:15: ", "schema", "push", "broken", "testdata/idl/broken.thrift")
	second := revision.FindString(step(0, "", " is new, and the newest now", "schema", "push", "shop", "testdata/idl/shop2.thrift", "--compatibility", "none"))
	if got := step(0, "", second, "schema", "list", "shop"); strings.Count(got, "\n") != 2 {
		t.Errorf("list shop = %q, want two revisions", got)
	}
	step(0, "", `"revision": "`+second, "schema", "get", "shop", "--json")

	step(0, "", "1 revision removed", "schema", "delete", "shop@"+second)
	step(0, "", "1 revision removed", "schema", "delete", "shop")
	step(1, "", "NOT_FOUND", "schema", "delete", "shop")
	if got := step(0, "", "", "schema", "list"); got != "" {
		t.Errorf("list = %q, want nothing", got)
	}
}

func TestSchemasWithoutAStore(t *testing.T) {
	addr := startServer(t)
	mustFail(t, execute(t, "", "schema", "push", "--addr", addr, "shop", shop), "FAILED_PRECONDITION", "schema-store")
}
