package guard

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thriftpack/thriftpack/internal/reload"
)

func loadPolicy(t *testing.T, text string) (*Policy, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return NewPolicy(path, reload.NewWatcher(time.Hour, func(reload.Event) {}))
}

func TestPolicyRefuses(t *testing.T) {
	const rules = `"allow_rules":[{"name":"all"}]`
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", "unexpected end of JSON input"},
		{"no rules", `{"name":"p"}`, `"allow_rules" is not present`},
		{"a member that there is not", `{"name":"p","deny":[],` + rules + `}`, `unknown field "deny"`},
		{"a member twice", `{"name":"p",` + rules + `,` + rules + `}`, "allow_rules is given twice"},
		{"a member twice in another case", `{"name":"p","Allow_Rules":[{"name":"none","request":{"paths":["/no"]}}],` + rules + `}`, "allow_rules is given twice"},
		{"a member of a rule twice", `{"name":"p","allow_rules":[{"name":"a","request":{"paths":["/a"],"paths":["*"]}}]}`, "allow_rules.request.paths is given twice"},
		{"two rules of one name", `{"name":"p","deny_rules":[{"name":"x","request":{"paths":["/a"]}},{"name":"x","request":{"paths":["/b"]}}],` + rules + `}`, `two rules are named "x"`},
		{"something after it", `{"name":"p",` + rules + `}{}`, "after top-level value"},
		{"too deep", strings.Repeat("[", 100_000), "exceeded max depth"},
		{"a forbidden header", `{"name":"p","allow_rules":[{"name":"a","request":{"headers":[{"key":":path","values":["*"]}]}}]}`, "unsupported"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := loadPolicy(t, test.text); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("NewPolicy: %v, want %q", err, test.want)
			}
		})
	}
}

func TestStrayPaths(t *testing.T) {
	p, err := loadPolicy(t, `{"name":"p","deny_rules":[{"name":"a","request":{"paths":["/p.S/Delet","/p.S/Delete"]}}],
		"allow_rules":[{"name":"b","request":{"paths":["/p.S/*","/q.*","*/Get","*/Got","*"]}},{"name":"c"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	got := p.Stray([]string{"/p.S/Delete", "/p.S/Get"})
	if want := []string{"/p.S/Delet", "/q.*", "*/Got"}; !slices.Equal(got, want) {
		t.Errorf("Stray: %q, want %q", got, want)
	}
}

// TestPolicyOfTheDocument loads the example that users copy.
func TestPolicyOfTheDocument(t *testing.T) {
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```json\n")
	example, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("docs/security.md has no policy")
	}
	if _, err := loadPolicy(t, example); err != nil {
		t.Errorf("NewPolicy: %v", err)
	}
}
