package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/auth"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// chain returns the interceptors, outermost first. Whatever a handler does, metrics and the log see one finished call: the
// innermost recovery makes an error of its panic. The outermost one is for panics of the chain itself.
func (s *Server) chain() (unary []grpc.UnaryServerInterceptor, streams []grpc.StreamServerInterceptor) {
	outermost := recovery.WithRecoveryHandlerContext(s.recoverChain)
	innermost := recovery.WithRecoveryHandler(newPanicError)

	unary = append(unary, recovery.UnaryServerInterceptor(outermost), s.metrics.calls.UnaryServerInterceptor(), s.reportUnary)
	streams = append(streams, recovery.StreamServerInterceptor(outermost), s.readRequests, s.metrics.calls.StreamServerInterceptor(), s.reportStream)
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
	s.logCall(ctx, slog.LevelError, method, 0, failed)
	return failed
}

// reportUnary makes the one status of a call's error and logs the call: a success at DEBUG, where all it costs at other
// levels is two looks at the clock.
func (s *Server) reportUnary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	start := time.Now()
	reply, err := handler(ctx, request)
	if err != nil {
		failed := toStatus(err)
		s.logCall(ctx, levelOf(failed.status.Code(), slog.LevelInfo), info.FullMethod, time.Since(start), failed)
		return nil, failed
	}
	if s.opts.logger.Enabled(ctx, slog.LevelDebug) {
		s.logCall(ctx, slog.LevelDebug, info.FullMethod, time.Since(start), nil)
	}
	return reply, nil
}

// reportStream does for streams what reportUnary does for unary calls; they are logged at INFO.
func (s *Server) reportStream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	start := time.Now()
	err := handler(srv, ss)
	if err != nil {
		failed := toStatus(err)
		s.logCall(ss.Context(), levelOf(failed.status.Code(), slog.LevelInfo), info.FullMethod, time.Since(start), failed)
		return failed
	}
	s.logCall(ss.Context(), slog.LevelInfo, info.FullMethod, time.Since(start), nil)
	return nil
}

// levelOf is the level a finished call is logged at: a caller's mistake is everyday life, trouble of the server is not.
func levelOf(code codes.Code, everyday slog.Level) slog.Level {
	switch code {
	case codes.Internal, codes.Unknown, codes.DataLoss:
		return slog.LevelError
	case codes.ResourceExhausted, codes.Unavailable, codes.DeadlineExceeded, codes.Aborted:
		return slog.LevelWarn
	default:
		return everyday
	}
}

// logCall writes the one line of a finished call. It holds no payload and no text of an error: reason and offset only,
// and of a bug of ours the types and the stack.
func (s *Server) logCall(ctx context.Context, level slog.Level, method string, took time.Duration, failed *callError) {
	attrs := make([]slog.Attr, 0, 8)
	attrs = append(attrs, slog.String("method", method), slog.Duration("duration", took))
	if failed == nil {
		attrs = append(attrs, slog.String("code", codes.OK.String()))
		s.opts.logger.LogAttrs(ctx, level, "finished call", attrs...)
		return
	}
	attrs = append(attrs, slog.String("code", failed.status.Code().String()))
	if failed.fault != nil {
		attrs = append(attrs, slog.String("reason", string(failed.fault.Reason)))
		if failed.fault.Offset >= 0 {
			attrs = append(attrs, slog.Int64("offset", failed.fault.Offset))
		}
	}
	if failed.cause != "" {
		attrs = append(attrs, slog.String("cause", failed.cause))
	}
	if failed.stack != "" {
		attrs = append(attrs, slog.String("stack", failed.stack))
	}
	s.opts.logger.LogAttrs(ctx, level, "finished call", attrs...)
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
