package server

import (
	"context"

	"google.golang.org/grpc/peer"

	"github.com/thriftpack/thriftpack/internal/guard"
)

// asksCallers reports whether admit has anything to decide.
func (s *Server) asksCallers() bool {
	return !s.security.gate.Open() || s.security.rates != nil || s.opts.admission != nil
}

// admit decides whether a caller may make its call, before anything of the call's body is read.
func (s *Server) admit(ctx context.Context) (context.Context, error) {
	gate := &s.security.gate
	if gate.IsExempt(ctx) {
		return ctx, nil
	}
	inside, err := gate.Admit(ctx)
	if err != nil {
		// Those who are nobody count by their address, so that guessing has a bound.
		if limited := s.take(s.limiterOf(ctx)); limited != nil {
			return nil, limited
		}
		return nil, err
	}
	if known, ok := ctx.Value(admittedKey{}).(*admitted); ok {
		known.caller = guard.TokenCallerOf(inside)
	}
	if err := s.take(s.limiterOf(inside)); err != nil {
		return nil, err
	}
	if s.opts.admission != nil {
		return s.opts.admission(inside)
	}
	return inside, nil
}

// admitted is how those who report a call learn who was let in: what is decided further in is not in their context.
type admitted struct {
	caller *guard.Caller // of a token, or nil
}

// admittedKey is the key of the admitted in a call's context.
type admittedKey struct{}

// withAdmitted returns a context in which admit says whom it has let in.
func withAdmitted(ctx context.Context) (context.Context, *admitted) {
	a := &admitted{}
	return context.WithValue(ctx, admittedKey{}, a), a
}

// limiterOf is what bounds the requests of the caller of ctx, or nil.
func (s *Server) limiterOf(ctx context.Context) *guard.Limiter {
	if s.security.rates == nil {
		return nil
	}
	return s.security.rates.Of(callerOf(ctx))
}

// take counts a request against a limiter, which may be nil.
func (s *Server) take(limiter *guard.Limiter) error {
	if limiter == nil {
		return nil
	}
	err := limiter.Take()
	if err != nil {
		s.metrics.rateLimited.Inc()
	}
	return err
}

// callerOf returns who makes the call of ctx. What is known of a connection is worked out once.
func callerOf(ctx context.Context) guard.Caller {
	if c := guard.TokenCallerOf(ctx); c != nil {
		return *c
	}
	conn := connectionOf(ctx)
	if conn != nil {
		if known := conn.caller.Load(); known != nil {
			return *known
		}
	}
	p, ok := peer.FromContext(ctx)
	if !ok {
		return guard.Caller{Kind: guard.AddressCaller, Name: "unknown"}
	}
	caller := guard.PeerCaller(p)
	if conn != nil {
		conn.caller.Store(&caller)
	}
	return caller
}

// peerHost is the address of the caller of ctx, without its port.
func peerHost(ctx context.Context) string {
	if p, ok := peer.FromContext(ctx); ok {
		return guard.HostOf(p.Addr)
	}
	return "unknown"
}
