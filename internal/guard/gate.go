package guard

import (
	"context"
	"strings"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/auth"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// Names of the services that callers may be let to without being asked who they are.
const (
	HealthService     = "health"
	ReflectionService = "reflection"
)

// exemptPrefixes are the methods of those services.
var exemptPrefixes = map[string][]string{
	HealthService:     {"/grpc.health.v1.Health/"},
	ReflectionService: {"/grpc.reflection.v1.ServerReflection/", "/grpc.reflection.v1alpha.ServerReflection/"},
}

// Gate lets calls in, or not. What it does not have, it does not ask for.
type Gate struct {
	Tokens *Tokens // nil: callers need no token
	Policy *Policy // nil: whoever is let in may call all
	// Exempt are services, by the names above, that anyone may call.
	Exempt []string
}

// Open reports whether there is nothing to ask for.
func (g *Gate) Open() bool { return g.Tokens == nil && g.Policy == nil }

// Errors of callers without a token. They do not say which tokens there are.
var (
	errNoToken      = fault.New(fault.Unauthenticated, "want the header \"authorization: Bearer TOKEN\"")
	errUnknownToken = fault.New(fault.Unauthenticated, "unknown token")
)

// Admit decides about the call of ctx, which is not exempt, before anything of its body is read. The context that it returns knows the caller, and has
// the token no longer.
func (g *Gate) Admit(ctx context.Context) (context.Context, error) {
	if g.Open() {
		return ctx, nil
	}
	var caller *Caller
	if g.Tokens != nil {
		token, err := auth.AuthFromMD(ctx, "bearer")
		if err != nil {
			return nil, errNoToken
		}
		if caller = g.Tokens.find(token); caller == nil {
			return nil, errUnknownToken
		}
		ctx = context.WithValue(ctx, callerKey{}, caller)
	}
	ctx = g.withHeaders(ctx, caller)
	if g.Policy != nil {
		if err := g.Policy.check(ctx); err != nil {
			return nil, err
		}
	}
	return ctx, nil
}

// withHeaders puts the name of the caller, and not the caller's own idea of it, where a policy looks for it.
func (g *Gate) withHeaders(ctx context.Context, caller *Caller) context.Context {
	headers, _ := metadata.FromIncomingContext(ctx) // a copy
	if headers == nil {
		headers = metadata.MD{}
	}
	delete(headers, ClientHeader)
	if caller != nil {
		delete(headers, "authorization")
		headers[ClientHeader] = []string{caller.Name}
	}
	return metadata.NewIncomingContext(ctx, headers)
}

// IsExempt reports whether anyone may make the call of ctx.
func (g *Gate) IsExempt(ctx context.Context) bool {
	method, _ := grpc.Method(ctx)
	for _, service := range g.Exempt {
		for _, prefix := range exemptPrefixes[service] {
			if strings.HasPrefix(method, prefix) {
				return true
			}
		}
	}
	return false
}
