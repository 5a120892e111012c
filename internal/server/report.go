package server

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
)

// reportUnary makes the one status of a call's error and logs the call: a success at DEBUG, where all it costs at other
// levels is two looks at the clock and one for the caller's request id.
func (s *Server) reportUnary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	start := time.Now()
	call := finishedCall{level: slog.LevelDebug, method: info.FullMethod, requestID: requestIDOf(ctx)}
	if call.requestID != "" {
		_ = grpc.SetHeader(ctx, metadata.Pairs(requestIDHeader, call.requestID)) // it fails when the call is over
	}
	if s.security.gate.Tokens != nil {
		ctx, call.admitted = withAdmitted(ctx)
	}
	reply, err := handler(ctx, request)
	call.took = time.Since(start)
	if err == nil {
		s.log.finished(ctx, call)
		return reply, nil
	}
	call.failed = toStatus(err)
	call.level = levelOf(call.failed.status.Code())
	if call.requestID == "" {
		call.requestID = newRequestID()
		_ = grpc.SetTrailer(ctx, metadata.Pairs(requestIDHeader, call.requestID)) // as above
	}
	s.log.finished(ctx, call)
	return nil, call.failed
}

// reportStream does for streams what reportUnary does for unary calls; they are logged at INFO.
func (s *Server) reportStream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	start := time.Now()
	ctx := ss.Context()
	call := finishedCall{level: slog.LevelInfo, method: info.FullMethod, requestID: requestIDOf(ctx)}
	if call.requestID == "" {
		call.requestID = newRequestID()
	}
	_ = ss.SetHeader(metadata.Pairs(requestIDHeader, call.requestID)) // it fails when the call is over
	if s.security.gate.Tokens != nil {
		var known context.Context
		known, call.admitted = withAdmitted(ctx)
		ss = &streamIn{ss, known}
	}
	err := handler(srv, ss)
	call.took = time.Since(start)
	if err == nil {
		s.log.finished(ctx, call)
		return nil
	}
	call.failed = toStatus(err)
	call.level = levelOf(call.failed.status.Code())
	s.log.finished(ctx, call)
	return call.failed
}

// streamIn is a stream in another context.
type streamIn struct {
	grpc.ServerStream
	ctx context.Context //nolint:containedctx // a stream has its context
}

// Context is the context that the stream is in.
func (s *streamIn) Context() context.Context { return s.ctx }

// levelOf is the level a failed call is logged at: a caller's mistake is everyday life, trouble of the server is not.
func levelOf(code codes.Code) slog.Level {
	switch code {
	case codes.Internal, codes.Unknown, codes.DataLoss:
		return slog.LevelError
	case codes.ResourceExhausted, codes.Unavailable, codes.DeadlineExceeded, codes.Aborted:
		return slog.LevelWarn
	default:
		return slog.LevelInfo
	}
}
