package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// floor answers a request of a workload, which its length tells, with finished replies.
type floor map[int][]*Raw

// floorService is the floor as a service.
func floorService(workloads []Workload) *grpc.ServiceDesc {
	answers := make(floor)
	for i := range workloads {
		for _, reply := range workloads[i].Replies {
			length := len(workloads[i].Request)
			answers[length] = append(answers[length], &Raw{Data: reply})
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
	return description
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
