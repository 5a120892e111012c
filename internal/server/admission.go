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
	admitted, err := gate.Admit(ctx)
	if err != nil {
		// Those who are nobody count by their address, so that guessing has a bound.
		if limited := s.take(s.limiterOf(ctx)); limited != nil {
			return nil, limited
		}
		return nil, err
	}
	if err := s.take(s.limiterOf(admitted)); err != nil {
		return nil, err
	}
	if s.opts.admission != nil {
		return s.opts.admission(admitted)
	}
	return admitted, nil
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
