package server

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// The services beside ours, health and reflection, are gRPC's own. What they are sent is read, bounded and watched here as for our own:
// gRPC would parse a request before any interceptor runs, take one of --max-request-bytes for a name, and wait for it for ever.

// maxSideRequest is the size of the largest message to one of these services, in bytes: they are names.
const maxSideRequest = 4 << 10

// ourPrefix begins the full names of the methods of this module's services.
const ourPrefix = "/thriftpack.v1."

// isOurs reports whether a method is of a service of this module, and so has handlers that bound and watch by themselves.
func isOurs(method string) bool { return strings.HasPrefix(method, ourPrefix) }

// describeSide is the description of a service whose unary methods run the interceptors first, then receive within bounds.
func (s *Server) describeSide(generated *grpc.ServiceDesc) *grpc.ServiceDesc {
	description := *generated
	description.Methods = make([]grpc.MethodDesc, len(generated.Methods))
	for i, method := range generated.Methods {
		fullMethod := "/" + generated.ServiceName + "/" + method.MethodName
		description.Methods[i] = grpc.MethodDesc{MethodName: method.MethodName, Handler: func(
			srv any, ctx context.Context, receive func(any) error, intercept grpc.UnaryServerInterceptor,
		) (any, error) {
			innermost := func(ctx context.Context, _ any) (any, error) {
				return method.Handler(srv, ctx, func(message any) error { return s.receiveSide(ctx, message, receive) }, nil)
			}
			if intercept == nil {
				return innermost(ctx, nil)
			}
			return intercept(ctx, nil, &grpc.UnaryServerInfo{Server: srv, FullMethod: fullMethod}, innermost)
		}}
	}
	return &description
}

// receiveSide receives the request of a unary call of such a service.
func (s *Server) receiveSide(ctx context.Context, message any, receive func(any) error) error {
	transport := grpc.ServerTransportStreamFromContext(ctx)
	if err := keepPlain(ctx, transport, s.cfg.CompressReplies); err != nil {
		return err
	}
	watch := stream.NewWatch(s.cfg.StallTimeout, func(f *fault.Error) { stream.EndRPC(ctx, toStatus(f).status) })
	defer watch.Stop()
	reader := messageReader{most: maxSideRequest}
	var raw rawRequest
	defer raw.free()
	watch.Begin(stream.Receiving)
	err := reader.receiveOnly(ctx, transport, s.service, &raw, receive)
	if stalled := watch.End(); stalled != nil {
		return stalled
	}
	if err != nil {
		return err
	}
	return unmarshalSide(&raw, message)
}

// unmarshalSide parses what was received. The parser's own error may quote it.
func unmarshalSide(raw *rawRequest, message any) error {
	into, ok := message.(proto.Message)
	if !ok {
		return fault.New(fault.Internal, "%T is no message", message)
	}
	if err := proto.Unmarshal(raw.bytes(), into); err != nil {
		return errUnreadable
	}
	return nil
}

// watchedStream is a stream of such a service that is ended when its peer neither sends nor reads.
type watchedStream struct {
	grpc.ServerStream
	watch *stream.Watch
}

func watchSide(ss grpc.ServerStream, timeout time.Duration) *watchedStream {
	return &watchedStream{ss, stream.NewWatch(timeout, func(f *fault.Error) { stream.EndRPC(ss.Context(), toStatus(f).status) })}
}

// RecvMsg receives a message, or the fault of a peer that sends none.
func (s *watchedStream) RecvMsg(message any) error {
	s.watch.Begin(stream.Receiving)
	err := s.ServerStream.RecvMsg(message)
	if stalled := s.watch.End(); stalled != nil {
		return stalled
	}
	return err
}

// SendMsg sends a message, or returns the fault of a peer that takes none.
func (s *watchedStream) SendMsg(message any) error {
	s.watch.Begin(stream.Sending)
	err := s.ServerStream.SendMsg(message)
	if stalled := s.watch.End(); stalled != nil {
		return stalled
	}
	return err
}
