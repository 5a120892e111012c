package server

import (
	"context"
	"log/slog"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/auth"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"google.golang.org/grpc"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// chain returns the interceptors, outermost first. Whatever a handler does, metrics and the log see one finished call: the
// innermost recovery makes an error of its panic. The outermost one is for panics of the chain itself.
func (s *Server) chain() (unary []grpc.UnaryServerInterceptor, streams []grpc.StreamServerInterceptor) {
	outermost := recovery.WithRecoveryHandlerContext(s.recoverChain)
	innermost := recovery.WithRecoveryHandler(newPanicError)

	unary = append(unary, recovery.UnaryServerInterceptor(outermost), s.metrics.calls.UnaryServerInterceptor(s.exemplars()...), s.reportUnary)
	streams = append(streams, recovery.StreamServerInterceptor(outermost), s.readRequests, s.metrics.calls.StreamServerInterceptor(s.exemplars()...), s.reportStream)
	if s.asksCallers() {
		unary = append(unary, auth.UnaryServerInterceptor(s.admit))
		streams = append(streams, auth.StreamServerInterceptor(s.admit))
	}
	// Unary calls meet their limits in the tap and in their handlers.
	streams = append(streams, s.limitStream)
	unary = append(unary, recovery.UnaryServerInterceptor(innermost))
	streams = append(streams, recovery.StreamServerInterceptor(innermost))
	return unary, streams
}

// recoverChain answers a call whose interceptors panicked, and logs it: the log's own interceptor may not have come to it.
func (s *Server) recoverChain(ctx context.Context, value any) error {
	failed := toStatus(newPanicError(value))
	method, _ := grpc.Method(ctx)
	s.log.finished(ctx, finishedCall{level: slog.LevelError, method: method, failed: failed, requestID: requestIDOf(ctx)})
	return failed
}

// limitStream makes a stream wait on a connection that owes too much, and holds the streams of other services, such as
// health watches, so that draining ends them.
func (s *Server) limitStream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx := ss.Context()
	transport := grpc.ServerTransportStreamFromContext(ctx)
	if err := keepPlain(ctx, transport, s.cfg.CompressReplies); err != nil {
		return err
	}
	if isOurs(info.FullMethod) {
		if err := connectionOf(ctx).accountOrNil().Await(ctx); err != nil {
			return err
		}
		return handler(srv, ss)
	}
	w := waiter{ctx: ctx}
	if !s.sessions.wait(&w) {
		return errDraining
	}
	watched := watchSide(ss, s.cfg.StallTimeout)
	defer watched.watch.Stop()
	err := handler(srv, watched)
	if !s.sessions.resume(&w) {
		return errDraining
	}
	return err
}

// maxWaiting is how many streams may wait for budget before new ones are refused outright: each has its request in hand.
const maxWaiting = 1024

// tap refuses a stream before gRPC makes anything of it while too many others wait for budget.
func (s *Server) tap(ctx context.Context, method string) (context.Context, error) {
	if waiting := s.service.budget.Waiting(); waiting >= s.maxWaiting && s.budgeted[method] {
		s.metrics.streamsRefused.Inc() // a line in the log for each would be one more thing that floods
		return nil, toStatus(fault.OverLimit(fault.BudgetExhausted, "streams waiting for memory:", "--stream-budget",
			s.maxWaiting, waiting)).status.Err()
	}
	return ctx, nil
}
