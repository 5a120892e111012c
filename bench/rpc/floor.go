package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"google.golang.org/grpc"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// floor answers a request of a workload, which its length tells, with finished replies.
type floor map[int][]*Raw

// floorService is the floor as a service. Its replies lie outside of Go's heap: megabytes that are always reachable would make its
// collections rarer than those of a server that has none.
func floorService(workloads []Workload) (*grpc.ServiceDesc, error) {
	answers := make(floor)
	for i := range workloads {
		w := &workloads[i]
		moved := make(map[*byte][]byte, len(w.Replies)) // the chunks of a stream come again and again
		for _, reply := range w.Replies {
			outside, found := moved[&reply[0]]
			if !found {
				var err error
				if outside, err = offHeap(reply); err != nil {
					return nil, err
				}
				moved[&reply[0]] = outside
			}
			answers[len(w.Request)] = append(answers[len(w.Request)], &Raw{Data: outside})
		}
	}
	description := &grpc.ServiceDesc{
		ServiceName: thriftpackv1.SerializerService_ServiceDesc.ServiceName,
		HandlerType: (*any)(nil),
		Streams: []grpc.StreamDesc{
			{StreamName: "EncodeBatch", ServerStreams: true, ClientStreams: true, Handler: answers.stream},
			{StreamName: "DecodeBatch", ServerStreams: true, ClientStreams: true, Handler: answers.stream},
			{StreamName: "EncodeStream", ServerStreams: true, Handler: answers.stream},
		},
	}
	for _, method := range []string{"Encode", "Decode"} {
		info := &grpc.UnaryServerInfo{FullMethod: "/" + description.ServiceName + "/" + method}
		description.Methods = append(description.Methods, grpc.MethodDesc{
			MethodName: method,
			Handler: func(_ any, ctx context.Context, decode func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
				request := new(Raw)
				if err := decode(request); err != nil {
					return nil, err
				}
				if interceptor == nil {
					return answers.unary(ctx, request)
				}
				return interceptor(ctx, request, info, answers.unary)
			},
		})
	}
	return description, nil
}

// offHeap returns a copy of data in memory of its own, for good.
func offHeap(data []byte) ([]byte, error) {
	pages, err := syscall.Mmap(-1, 0, len(data), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("floor: %w", err)
	}
	return pages[:copy(pages, data)], nil
}

func (f floor) replies(request *Raw) ([]*Raw, error) {
	replies, ok := f[request.Length]
	if !ok {
		return nil, fmt.Errorf("floor: no workload has a request of %d bytes", request.Length)
	}
	return replies, nil
}

func (f floor) unary(_ context.Context, message any) (any, error) {
	request, ok := message.(*Raw)
	if !ok {
		return nil, errNotRaw
	}
	replies, err := f.replies(request)
	if err != nil {
		return nil, err
	}
	return replies[0], nil
}

// stream answers each message with all of its replies.
func (f floor) stream(_ any, ss grpc.ServerStream) error {
	request := new(Raw)
	for {
		switch err := ss.RecvMsg(request); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		replies, err := f.replies(request)
		if err != nil {
			return err
		}
		for _, reply := range replies {
			if err := ss.SendMsg(reply); err != nil {
				return err
			}
		}
	}
}
