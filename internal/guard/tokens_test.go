package guard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/thriftpack/thriftpack/internal/reload"
)

const (
	plainToken = "plain-token-of-reports-0001"
	otherToken = "the-other-token-of-billing~+/=="
)

func digestOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func loadTokens(t *testing.T, text string) (*Tokens, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return NewTokens(path, reload.NewWatcher(time.Hour, func(reload.Event) {}))
}

func TestTokens(t *testing.T) {
	tokens, err := loadTokens(t, "# clients\n\nreports "+plainToken+"\r\nbilling\t"+digestOf("hashed-token")+"\n  billing "+otherToken+"\n"+
		"billing "+otherToken+"\n   # the end")
	if err != nil {
		t.Fatal(err)
	}
	if got := tokens.Len(); got != 3 {
		t.Errorf("%d tokens, want 3", got)
	}
	for token, want := range map[string]string{
		plainToken:                      "reports",
		otherToken:                      "billing",
		"hashed-token":                  "billing",
		digestOf("hashed-token"):        "", // who reads the file has no token
		digestOf("hashed-token")[7:]:    "",
		plainToken[:len(plainToken)-1]:  "",
		plainToken + " ":                "",
		" " + plainToken:                "",
		strings.ToUpper(plainToken):     "",
		"":                              "",
		"reports":                       "",
		strings.Repeat("x", 10_000):     "",
		"hashed-token\x00":              "",
		"#":                             "",
		"reports " + plainToken:         "",
		hex.EncodeToString([]byte("x")): "",
	} {
		caller := tokens.find(token)
		if got := caller; (got == nil) != (want == "") || (got != nil && (got.Name != want || got.Kind != TokenCaller)) {
			t.Errorf("find(%q) = %+v, want %q", token, got, want)
		}
	}
}

func TestTokensRefuse(t *testing.T) {
	short := plainToken[:minTokenBytes-1]
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", "no tokens"},
		{"comments alone", "# a\n", "no tokens"},
		{"a name alone", "billing\n", "line 1: want a client's name and its token, got 1 words"},
		{"three words", "\nbilling a " + plainToken, "line 2: want a client's name and its token, got 3 words"},
		{"a name with a colon", "bil:ling " + plainToken, "line 1: want a client's name of"},
		{"a long name", strings.Repeat("n", 65) + " " + plainToken, "line 1: want a client's name of"},
		{"a short token", "billing " + short, "line 1: want a token of at least 20"},
		{"a token with a quote", `billing "` + plainToken + `"`, "line 1: want a token of at least 20"},
		{"a short digest", "billing " + digestOf("x")[:70], "line 1: want sha256: and 64 hexadecimal digits"},
		{"a digest that is none", "billing sha256:" + strings.Repeat("g", 64), "line 1: want sha256: and 64 hexadecimal digits"},
		{"a token of two clients", "a " + plainToken + "\nb " + digestOf(plainToken), "line 2: the token is another client's, too"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := loadTokens(t, test.text)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("NewTokens: %v, want %q", err, test.want)
			}
			for _, told := range []string{plainToken, short, digestOf("x")[8:30], "bil:ling"} {
				if strings.Contains(err.Error(), told) {
					t.Errorf("the error tells the contents: %v", err)
				}
			}
		})
	}
}

// TestTokensAreNotKept looks for the tokens in what is kept of them.
func TestTokensAreNotKept(t *testing.T) {
	tokens, err := loadTokens(t, "reports "+plainToken+"\n")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(plainToken))
	for index, client := range *tokens.clients.Load() {
		if index == sum {
			t.Error("the index is the digest: how long a look-up takes would tell of it")
		}
		if text := fmt.Sprintf("%+v %q", client, index); strings.Contains(text, plainToken) {
			t.Errorf("the token is kept: %s", text)
		}
	}
}

func BenchmarkFindToken(b *testing.B) {
	var lines strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&lines, "client%d token-of-client-%020d\n", i, i)
	}
	path := filepath.Join(b.TempDir(), "tokens")
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	tokens, err := NewTokens(path, reload.NewWatcher(time.Hour, func(reload.Event) {}))
	if err != nil {
		b.Fatal(err)
	}
	token := fmt.Sprintf("token-of-client-%020d", 7)
	b.ReportAllocs()
	for b.Loop() {
		if tokens.find(token) == nil {
			b.Fatal("not found")
		}
	}
}
