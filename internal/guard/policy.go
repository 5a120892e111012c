package guard

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc/authz"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/reload"
)

// PolicyFile is the name of the file of the policy, in logs and as a label of metrics.
const PolicyFile = "policy"

// ClientHeader is the request header by which a policy refers to the client of a token. What callers send under that name is
// taken out.
const ClientHeader = "thriftpack-client"

// maxPolicyBytes bounds the file of the policy, in bytes.
const maxPolicyBytes = 1 << 20

// Policy says who may call what, in gRPC's own language for that.
type Policy struct {
	rules atomic.Pointer[rules]
}

// rules are a policy as loaded.
type rules struct {
	check *authz.StaticInterceptor
	paths []string // in rules
}

// NewPolicy loads the file of a policy and has watcher look after it.
//
// gRPC has a watcher of its own for such files. It reports what cannot be loaded to gRPC's internal log alone, and it takes two rules of the
// same name for one.
func NewPolicy(path string, watcher *reload.Watcher) (*Policy, error) {
	p := &Policy{}
	err := watcher.Add(reload.Files{Name: PolicyFile, Paths: []string{path}, Limit: maxPolicyBytes, Load: p.load})
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	return p, nil
}

// Stray returns the paths in the policy that are none of the methods', full names as in "/package.Service/Method": a rule with a misspelt
// path denies or allows nothing.
func (p *Policy) Stray(methods []string) []string {
	var stray []string
	for _, path := range p.rules.Load().paths {
		if !matchesAny(path, methods) {
			stray = append(stray, path)
		}
	}
	return stray
}

// check returns nil if the call of ctx is allowed.
func (p *Policy) check(ctx context.Context) error {
	_, err := p.rules.Load().check.UnaryInterceptor(ctx, nil, nil, allowed)
	if status.Code(err) == codes.PermissionDenied {
		return errDenied
	}
	return err
}

var errDenied = fault.New(fault.PermissionDenied, "the policy of this server does not allow this call")

// allowed is what the policy would have called: unary calls and streams are decided alike.
func allowed(context.Context, any) (any, error) { return struct{}{}, nil }

// load puts a policy to use.
func (p *Policy) load(contents [][]byte) error {
	paths, err := lint(contents[0])
	if err != nil {
		return err
	}
	check, err := authz.NewStatic(string(contents[0]))
	if err != nil {
		return err
	}
	p.rules.Store(&rules{check, paths})
	return nil
}

// policyRule is what lint looks at of a rule.
type policyRule struct {
	Name    string
	Request struct{ Paths []string }
}

// lint finds what gRPC reads without a word and reads wrong: a member given twice, of which the last wins; two rules of one name, of which
// the last wins; and what follows the policy, which is ignored. It returns the paths in the rules.
func lint(text []byte) (paths []string, err error) {
	var policy struct {
		DenyRules  []policyRule `json:"deny_rules"`
		AllowRules []policyRule `json:"allow_rules"`
	}
	if err := json.Unmarshal(text, &policy); err != nil { // which bounds the depth, and allows nothing after it
		return nil, err
	}
	if err := uniqueMembers(json.NewDecoder(bytes.NewReader(text)), ""); err != nil {
		return nil, err
	}
	for _, list := range [][]policyRule{policy.DenyRules, policy.AllowRules} {
		named := make(map[string]bool)
		for _, rule := range list {
			if named[rule.Name] {
				return nil, fmt.Errorf("two rules are named %q", rule.Name)
			}
			named[rule.Name] = true
			paths = append(paths, rule.Request.Paths...)
		}
	}
	return paths, nil
}

// uniqueMembers reads one JSON value and refuses objects with a member given twice, in whatever case, since the reader that follows does
// not tell cases apart.
func uniqueMembers(decoder *json.Decoder, path string) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	open, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	members := make(map[string]bool)
	for decoder.More() {
		at := path
		if open == '{' {
			name, err := decoder.Token()
			if err != nil {
				return err
			}
			member := strings.ToLower(fmt.Sprint(name))
			at += "." + member
			if members[member] {
				return fmt.Errorf("%s is given twice", strings.TrimPrefix(at, "."))
			}
			members[member] = true
		}
		if err := uniqueMembers(decoder, at); err != nil {
			return err
		}
	}
	_, err = decoder.Token()
	return err
}

// matchesAny reports whether a path of a policy, with a * at one end or none, is that of a method.
func matchesAny(path string, methods []string) bool {
	for _, method := range methods {
		var matches bool
		switch {
		case path == "*":
			matches = true
		case strings.HasSuffix(path, "*"):
			matches = strings.HasPrefix(method, strings.TrimSuffix(path, "*"))
		case strings.HasPrefix(path, "*"):
			matches = strings.HasSuffix(method, strings.TrimPrefix(path, "*"))
		default:
			matches = method == path
		}
		if matches {
			return true
		}
	}
	return false
}
