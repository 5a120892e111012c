package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// Method is what is called.
type Method string

// The methods.
const (
	// Encode is a call for each value.
	Encode Method = "encode"
	// Decode is a call for each value.
	Decode Method = "decode"
	// EncodeBatch is a stream each way for each caller, with many values in each message.
	EncodeBatch Method = "encode-batch"
	// DecodeBatch is the same for decoding.
	DecodeBatch Method = "decode-batch"
	// EncodeStream is a call whose answer comes in chunks: a record many times over.
	EncodeStream Method = "encode-stream"
)

// Methods are all of them.
var Methods = []Method{Encode, Decode, EncodeBatch, DecodeBatch, EncodeStream}

// errWrongReply says that the server gave another answer than the first time.
var errWrongReply = errors.New("reply: other than the first one")

// Exchange is what a caller does again and again: finished bytes are sent, and the answer must be as long as the first one
// was, which was read.
type Exchange struct {
	// Values is how many values an exchange has, and Thrift how many bytes of Thrift.
	Values, Thrift int64
	// Sent and Received are the bytes of its messages.
	Sent, Received int64

	method  Method
	name    string // of the method on the wire
	request []byte
}

// Prepare makes the exchange of a method about the value of a request to encode it, by calling the server once through the
// generated client; its errors are those of these calls. Decoding is of the bytes that the value becomes, with the request's
// type, into JSON where the value is JSON. Values is how many there are in a message of a batch, or how often a stream has the record.
func Prepare(ctx context.Context, connection *grpc.ClientConn, method Method, encode *thriftpackv1.EncodeRequest, values int) (*Exchange, error) {
	client := thriftpackv1.NewSerializerServiceClient(connection)
	encoded, err := client.Encode(ctx, encode)
	if err != nil {
		return nil, err
	}
	thrift := int64(len(encoded.GetData()))
	decode := &thriftpackv1.DecodeRequest{Data: encoded.GetData(), Type: encode.GetType(), Options: &thriftpackv1.DecodeOptions{}}
	if encode.GetType() == nil {
		decode.Options.RootType = rootType(encode.GetValue())
	} else if _, ok := encode.GetInput().(*thriftpackv1.EncodeRequest_Json); ok {
		decode.Options.Output = thriftpackv1.Output_OUTPUT_JSON
	}
	switch method {
	case Encode:
		return newExchange(method, thriftpackv1.SerializerService_Encode_FullMethodName, 1, thrift, encode, encoded)
	case Decode:
		decoded, err := client.Decode(ctx, decode)
		if err != nil {
			return nil, err
		}
		return newExchange(method, thriftpackv1.SerializerService_Decode_FullMethodName, 1, thrift, decode, decoded)
	case EncodeBatch:
		request := &thriftpackv1.EncodeBatchRequest{}
		for range values {
			request.Requests = append(request.Requests, encode)
		}
		reply, err := once(ctx, client.EncodeBatch, request)
		if err != nil {
			return nil, err
		}
		for _, result := range reply.GetResults() {
			if err := itemError(result.GetError()); err != nil {
				return nil, err
			}
		}
		return newExchange(method, thriftpackv1.SerializerService_EncodeBatch_FullMethodName, int64(values), int64(values)*thrift, request, reply)
	case DecodeBatch:
		request := &thriftpackv1.DecodeBatchRequest{}
		for range values {
			request.Requests = append(request.Requests, decode)
		}
		reply, err := once(ctx, client.DecodeBatch, request)
		if err != nil {
			return nil, err
		}
		for _, result := range reply.GetResults() {
			if err := itemError(result.GetError()); err != nil {
				return nil, err
			}
		}
		return newExchange(method, thriftpackv1.SerializerService_DecodeBatch_FullMethodName, int64(values), int64(values)*thrift, request, reply)
	case EncodeStream:
		request := &thriftpackv1.EncodeStreamRequest{Request: encode, Count: int64(values)}
		e, err := newExchange(method, thriftpackv1.SerializerService_EncodeStream_FullMethodName, int64(values), int64(values)*thrift, request, nil)
		if err != nil {
			return nil, err
		}
		c := e.caller(connection)
		defer c.close()
		e.Received = -1 // not known yet
		received, err := c.readStream(ctx)
		e.Received = received
		return e, err
	default:
		return nil, fmt.Errorf("method %q: there is no such method", method)
	}
}

func newExchange(method Method, name string, values, thrift int64, request, reply proto.Message) (*Exchange, error) {
	data, err := proto.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	e := &Exchange{Values: values, Thrift: thrift, Sent: int64(len(data)), method: method, name: name, request: data}
	if reply != nil {
		e.Received = int64(proto.Size(reply))
	}
	return e, nil
}

// once sends one message over a stream of its own and returns the answer.
func once[Request, Response any](
	ctx context.Context, open func(context.Context, ...grpc.CallOption) (grpc.BidiStreamingClient[Request, Response], error), request *Request,
) (*Response, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := open(ctx)
	if err != nil {
		return nil, err
	}
	if err := stream.Send(request); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return stream.Recv()
}

func itemError(e *thriftpackv1.Error) error {
	if e == nil {
		return nil
	}
	return status.ErrorProto(&spb.Status{Code: e.GetCode(), Message: e.GetMessage(), Details: e.GetDetails()})
}

// rootType is the type of a value.
func rootType(value *thriftpackv1.Value) thriftpackv1.Type {
	m := value.ProtoReflect()
	kind := m.WhichOneof(m.Descriptor().Oneofs().ByName("kind"))
	if kind == nil {
		return thriftpackv1.Type_TYPE_UNSPECIFIED
	}
	return thriftpackv1.Type(thriftpackv1.Type_value["TYPE_"+strings.ToUpper(string(kind.Name()))])
}

// caller is one that calls. It is for one goroutine.
type caller struct {
	exchange   *Exchange
	connection *grpc.ClientConn
	// stream is open between the exchanges of a batch, until cancel.
	stream grpc.ClientStream
	cancel context.CancelFunc
}

func (e *Exchange) caller(connection *grpc.ClientConn) *caller {
	return &caller{exchange: e, connection: connection, cancel: func() {}}
}

// close ends what is open.
func (c *caller) close() { c.cancel() }

// do is one exchange.
func (c *caller) do(ctx context.Context, timeout time.Duration) error {
	switch c.exchange.method {
	case EncodeBatch, DecodeBatch:
		return c.doBatch(ctx, timeout)
	case EncodeStream:
		ctx, cancel := bound(ctx, timeout)
		defer cancel()
		received, err := c.readStream(ctx)
		return c.check(received, err)
	default:
		ctx, cancel := bound(ctx, timeout)
		defer cancel()
		var reply finished
		err := c.connection.Invoke(ctx, c.exchange.name, &finished{data: c.exchange.request}, &reply, grpc.ForceCodecV2(codec{}))
		return c.check(int64(reply.length), err)
	}
}

func bound(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, timeout)
}

func (c *caller) check(received int64, err error) error {
	if err == nil && received != c.exchange.Received {
		return fmt.Errorf("%w: %d bytes, want %d", errWrongReply, received, c.exchange.Received)
	}
	return err
}

// doBatch sends a message over the stream that stays open and waits for the results. After a failure the next one opens another.
func (c *caller) doBatch(ctx context.Context, timeout time.Duration) error {
	if c.stream == nil {
		ctx, cancel := context.WithCancel(ctx)
		c.cancel = cancel
		stream, err := c.connection.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, c.exchange.name, grpc.ForceCodecV2(codec{}))
		if err != nil {
			return err
		}
		c.stream = stream
	}
	var expired atomic.Bool
	if timeout > 0 {
		defer time.AfterFunc(timeout, func() {
			expired.Store(true)
			c.cancel()
		}).Stop()
	}
	var reply finished
	err := c.stream.SendMsg(&finished{data: c.exchange.request})
	if err == nil || errors.Is(err, io.EOF) { // then the stream knows why
		err = c.stream.RecvMsg(&reply)
	}
	switch {
	case expired.Load():
		err = status.FromContextError(context.DeadlineExceeded).Err()
	case errors.Is(err, io.EOF):
		err = fmt.Errorf("%w: the stream ended", errWrongReply)
	}
	if err = c.check(int64(reply.length), err); err != nil {
		c.cancel()
		c.stream = nil
	}
	return err
}

// readStream is a whole call of EncodeStream. It returns how many bytes the messages had.
func (c *caller) readStream(ctx context.Context) (received int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.connection.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, c.exchange.name, grpc.ForceCodecV2(codec{}))
	if err != nil {
		return 0, err
	}
	if err := stream.SendMsg(&finished{data: c.exchange.request}); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if err := stream.CloseSend(); err != nil {
		return 0, err
	}
	var reply finished
	for {
		err := stream.RecvMsg(&reply)
		if errors.Is(err, io.EOF) {
			return received, nil
		}
		if err != nil {
			return received, err
		}
		received += int64(reply.length)
	}
}

// finished is a message whose bytes are made and read by nobody, so that the load costs little beside the server.
type finished struct {
	data   []byte // sent as it is, never written to
	length int    // of what was received, which is not kept
}

var errNotFinished = errors.New("load codec: not a finished message")

// codec carries finished messages. Its name is that of protobuf, which they are.
type codec struct{}

func (codec) Name() string { return "proto" }

func (codec) Marshal(message any) (mem.BufferSlice, error) {
	m, ok := message.(*finished)
	if !ok {
		return nil, errNotFinished
	}
	return mem.BufferSlice{mem.SliceBuffer(m.data)}, nil
}

func (codec) Unmarshal(data mem.BufferSlice, message any) error {
	m, ok := message.(*finished)
	if !ok {
		return errNotFinished
	}
	m.length = data.Len()
	return nil
}
