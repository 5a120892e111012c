package rpc

import (
	"context"
	"errors"
	"io"

	"github.com/apache/thrift/lib/go/thrift"
	"google.golang.org/grpc"

	"github.com/thriftpack/thriftpack/bench/peers/apachevalue"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// ordinary is the service as one would write it with generated stubs and Apache's library.
type ordinary struct {
	thriftpackv1.UnimplementedSerializerServiceServer
}

// Encode encodes a struct by Apache's library.
func (ordinary) Encode(ctx context.Context, request *thriftpackv1.EncodeRequest) (*thriftpackv1.EncodeResponse, error) {
	transport := thrift.NewTMemoryBufferLen(64)
	protocol := thrift.NewTCompactProtocolConf(transport, &thrift.TConfiguration{})
	if err := apachevalue.Write(ctx, protocol, request.GetValue().GetStruct()); err != nil {
		return nil, err
	}
	return &thriftpackv1.EncodeResponse{Data: transport.Bytes()}, nil
}

// Decode decodes a struct by Apache's library.
func (ordinary) Decode(ctx context.Context, request *thriftpackv1.DecodeRequest) (*thriftpackv1.DecodeResponse, error) {
	transport := thrift.NewTMemoryBufferLen(len(request.GetData()))
	transport.Write(request.GetData()) // a memory buffer takes everything
	tree, err := apachevalue.Read(ctx, thrift.NewTCompactProtocolConf(transport, &thrift.TConfiguration{}))
	if err != nil {
		return nil, err
	}
	return &thriftpackv1.DecodeResponse{
		Output:    &thriftpackv1.DecodeResponse_Value{Value: &thriftpackv1.Value{Kind: &thriftpackv1.Value_Struct{Struct: tree}}},
		BytesRead: int64(len(request.GetData())),
	}, nil
}

// EncodeBatch does what Encode does for each request of a message.
func (o ordinary) EncodeBatch(ss grpc.BidiStreamingServer[thriftpackv1.EncodeBatchRequest, thriftpackv1.EncodeBatchResponse]) error {
	for {
		batch, err := ss.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		reply := &thriftpackv1.EncodeBatchResponse{Results: make([]*thriftpackv1.EncodeResult, 0, len(batch.GetRequests()))}
		for _, request := range batch.GetRequests() {
			response, err := o.Encode(ss.Context(), request)
			if err != nil {
				return err
			}
			reply.Results = append(reply.Results, &thriftpackv1.EncodeResult{Result: &thriftpackv1.EncodeResult_Response{Response: response}})
		}
		if err := ss.Send(reply); err != nil {
			return err
		}
	}
}

// DecodeBatch does what Decode does for each request of a message.
func (o ordinary) DecodeBatch(ss grpc.BidiStreamingServer[thriftpackv1.DecodeBatchRequest, thriftpackv1.DecodeBatchResponse]) error {
	for {
		batch, err := ss.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		reply := &thriftpackv1.DecodeBatchResponse{Results: make([]*thriftpackv1.DecodeResult, 0, len(batch.GetRequests()))}
		for _, request := range batch.GetRequests() {
			response, err := o.Decode(ss.Context(), request)
			if err != nil {
				return err
			}
			reply.Results = append(reply.Results, &thriftpackv1.DecodeResult{Result: &thriftpackv1.DecodeResult_Response{Response: response}})
		}
		if err := ss.Send(reply); err != nil {
			return err
		}
	}
}

// EncodeStream encodes each record into a buffer, and sends that in chunks.
func (o ordinary) EncodeStream(request *thriftpackv1.EncodeStreamRequest, ss grpc.ServerStreamingServer[thriftpackv1.EncodeStreamResponse]) error {
	for range max(request.GetCount(), 1) {
		response, err := o.Encode(ss.Context(), request.GetRequest())
		if err != nil {
			return err
		}
		for data := response.GetData(); len(data) > 0; {
			n := min(chunkSize-4, len(data)) // less its tag and length
			if err := ss.Send(&thriftpackv1.EncodeStreamResponse{Data: data[:n]}); err != nil {
				return err
			}
			data = data[n:]
		}
	}
	return nil
}
