package cli

import (
	"context"
	"fmt"
	"io"
	"unicode/utf8"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// records encodes the values by EncodeBatch: those with a type, and those in a frame of their own, since that begins with its length, which a
// stream of parts does not know. It returns how many there were.
func (e *streamEncode) records(
	ctx context.Context, cancel context.CancelFunc, client thriftpackv1.SerializerServiceClient, d *duplex, l *lines, out io.Writer,
) (values int64, err error) {
	stream, err := client.EncodeBatch(ctx)
	if err != nil {
		return 0, newCallError(e.addr, err)
	}
	options := &thriftpackv1.EncodeOptions{
		Protocol: e.protocolValue(), Framing: e.framingValue(), IgnoreUnknown: e.ignoreUnknown, OmitDefaults: e.omitDefaults,
	}
	numbers := make(chan int64, framesAhead)
	send := func() error {
		batch, held := &thriftpackv1.EncodeBatchRequest{}, 0
		flush := func() error {
			if len(batch.GetRequests()) == 0 {
				return nil
			}
			full := batch
			batch, held = &thriftpackv1.EncodeBatchRequest{}, 0
			return stream.Send(full)
		}
		for {
			request, err := e.nextRequest(l)
			if err != nil {
				return firstError(flush(), endOfInput(err))
			}
			request.Options = options
			batch.Requests = append(batch.Requests, request)
			held += proto.Size(request)
			select {
			case numbers <- l.number:
			case <-ctx.Done():
				return io.EOF // receive says why
			}
			if held >= messageBytes || len(batch.GetRequests()) >= framesAhead/4 {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	err = d.run(cancel, stream, send, func() error {
		response, err := stream.Recv()
		if err != nil {
			return err
		}
		for _, result := range response.GetResults() {
			line := <-numbers
			if failed := result.GetError(); failed != nil {
				return &localError{fmt.Errorf("line %d: %w", line, newCallError(e.addr, batchError(failed)))}
			}
			data := result.GetResponse().GetData()
			d.count(data)
			if err := write(out, data); err != nil {
				return err
			}
			values++
		}
		return nil
	})
	return values, err
}

// nextRequest returns the request of the next line: JSON by the names of a type, or a value.
func (e *streamEncode) nextRequest(l *lines) (*thriftpackv1.EncodeRequest, error) {
	if !e.set() {
		v, err := l.value()
		if err != nil {
			return nil, err
		}
		return thriftpackv1.EncodeRequestOf(v), nil
	}
	line, err := l.next()
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(line) {
		return nil, fmt.Errorf("line %d: not UTF-8", l.number)
	}
	return &thriftpackv1.EncodeRequest{Input: &thriftpackv1.EncodeRequest_Json{Json: string(line)}, Type: e.ref()}, nil
}

// framesAhead bounds how many values are on their way.
const framesAhead = 4096

// batchError is the error of one request of a batch, as that of a call.
func batchError(e *thriftpackv1.Error) error {
	return status.FromProto(&spb.Status{Code: e.GetCode(), Message: e.GetMessage(), Details: e.GetDetails()}).Err()
}
