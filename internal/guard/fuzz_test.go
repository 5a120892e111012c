package guard

import (
	"strings"
	"testing"

	"google.golang.org/grpc/authz"
)

// FuzzTokens reads anything as a file of tokens: what it takes, it finds again, and its errors quote nothing.
func FuzzTokens(f *testing.F) {
	f.Add("# clients\nreports " + plainToken + "\nbilling " + digestOf("x") + "\n")
	f.Add("reports\t" + plainToken + "\r\n\r\n")
	f.Add("a b c\n")
	f.Add("sha256: sha256:")
	f.Fuzz(func(t *testing.T, text string) {
		var tokens Tokens
		clients, err := tokens.parse(text)
		if err != nil {
			for _, word := range strings.Fields(text) {
				if len(word) >= minTokenBytes && strings.Contains(err.Error(), word) {
					t.Errorf("the error quotes the file: %v", err)
				}
			}
			return
		}
		tokens.clients.Store(&clients)
		for line := range strings.Lines(text) {
			words := strings.Fields(line)
			if len(words) != 2 || strings.HasPrefix(words[0], "#") || strings.HasPrefix(words[1], digestPrefix) {
				continue
			}
			if caller := tokens.find(words[1]); caller == nil || caller.Name != words[0] {
				t.Errorf("the token of %q is found to be of %+v", words[0], caller)
			}
		}
	})
}

// FuzzPolicy reads anything as a policy. What passes has no rule that gRPC would drop: as many as there are names.
func FuzzPolicy(f *testing.F) {
	f.Add(`{"name":"p","allow_rules":[{"name":"a","request":{"paths":["/a.B/*"],"headers":[{"key":"k","values":["v"]}]}}]}`)
	f.Add(`{"name":"p","deny_rules":[{"name":"a","source":{"principals":["*"]}}],"allow_rules":[{"name":"b"}]}`)
	f.Add(`{"name":"p","allow_rules":[{"name":"a"},{"name":"a"}]}`)
	f.Add(`{"name":"p","NAME":"q"}{}`)
	f.Fuzz(func(t *testing.T, text string) {
		p := &Policy{}
		if p.load([][]byte{[]byte(text)}) != nil {
			return
		}
		if _, err := authz.NewStatic(text); err != nil {
			t.Errorf("loaded, although gRPC refuses it: %v", err)
		}
		p.Stray([]string{"/a.B/C"})
	})
}
