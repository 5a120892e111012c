package guard

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/thriftpack/thriftpack/internal/reload"
)

// TokensFile is the name of the file of tokens, in logs and as a label of metrics.
const TokensFile = "tokens"

// Bounds of the file of tokens.
const (
	maxTokensBytes = 1 << 20
	// minTokenBytes is the length of the shortest token that may stand in the file: shorter ones can be guessed.
	minTokenBytes = 20
)

// digestPrefix marks the SHA-256 of a token, in hexadecimal, in the place of the token.
const digestPrefix = "sha256:"

var (
	clientName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	tokenText  = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`) // as RFC 6750 has it
)

// Tokens tells clients by their bearer tokens. It keeps digests alone.
type Tokens struct {
	key     [sha256.Size]byte // of this process
	clients atomic.Pointer[map[[sha256.Size]byte]tokenClient]
}

// tokenClient is a client with one of its tokens.
type tokenClient struct {
	digest [sha256.Size]byte
	caller *Caller
}

// NewTokens loads the file of tokens and has watcher look after it.
//
//	# a client's name, and one of its tokens or the SHA-256 of it; a client may have several lines
//	billing  sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
//	reports  tp_5LQ9zc1vWmXoXq0YgY0u
func NewTokens(path string, watcher *reload.Watcher) (*Tokens, error) {
	t := &Tokens{}
	_, _ = rand.Read(t.key[:]) // it does not fail
	err := watcher.Add(reload.Files{Name: TokensFile, Paths: []string{path}, Limit: maxTokensBytes, Load: func(contents [][]byte) error {
		clients, err := t.parse(string(contents[0]))
		if err != nil {
			return err
		}
		t.clients.Store(&clients)
		return nil
	}})
	if err != nil {
		return nil, fmt.Errorf("tokens: %w", err)
	}
	return t, nil
}

// Len returns how many tokens there are.
func (t *Tokens) Len() int { return len(*t.clients.Load()) }

// find returns the client whose token it is, or nil. What it looks up is a digest under a key that nobody knows, so how long it
// takes tells nothing of the tokens that there are.
func (t *Tokens) find(token string) *Caller {
	digest := sha256.Sum256([]byte(token))
	client := (*t.clients.Load())[t.index(digest)]
	if client.caller == nil || subtle.ConstantTimeCompare(client.digest[:], digest[:]) != 1 {
		return nil
	}
	return client.caller
}

// index is where the client of a token's digest is found.
func (t *Tokens) index(digest [sha256.Size]byte) [sha256.Size]byte {
	var keyed [2 * sha256.Size]byte
	copy(keyed[:], t.key[:])
	copy(keyed[sha256.Size:], digest[:])
	return sha256.Sum256(keyed[:])
}

// parse reads the file. Its errors name lines, and nothing of what is in them.
func (t *Tokens) parse(text string) (map[[sha256.Size]byte]tokenClient, error) {
	clients := make(map[[sha256.Size]byte]tokenClient)
	callers := make(map[string]*Caller)
	number := 0
	for line := range strings.Lines(text) {
		number++
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) != 2 {
			return nil, fmt.Errorf("line %d: want a client's name and its token, got %d words", number, len(fields))
		}
		name := fields[0]
		if !clientName.MatchString(name) {
			return nil, fmt.Errorf("line %d: want a client's name of at most 64 letters, digits, dots, dashes and underscores", number)
		}
		digest, err := tokenDigest(fields[1])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if callers[name] == nil {
			callers[name] = &Caller{Kind: TokenCaller, Name: name}
		}
		index := t.index(digest)
		if other, ok := clients[index]; ok && other.caller.Name != name {
			return nil, fmt.Errorf("line %d: the token is another client's, too", number)
		}
		clients[index] = tokenClient{digest, callers[name]}
	}
	if len(clients) == 0 {
		return nil, errors.New("no tokens")
	}
	return clients, nil
}

var (
	errDigest = errors.New("want sha256: and 64 hexadecimal digits")
	errToken  = fmt.Errorf("want a token of at least %d letters, digits and -._~+/, or sha256: and its digest", minTokenBytes)
)

// tokenDigest reads the second word of a line.
func tokenDigest(word string) (digest [sha256.Size]byte, err error) {
	if digits, ok := strings.CutPrefix(word, digestPrefix); ok {
		if hex.DecodedLen(len(digits)) != len(digest) {
			return digest, errDigest
		}
		if _, err := hex.Decode(digest[:], []byte(digits)); err != nil {
			return digest, errDigest
		}
		return digest, nil
	}
	if len(word) < minTokenBytes || !tokenText.MatchString(word) {
		return digest, errToken
	}
	return sha256.Sum256([]byte(word)), nil
}
