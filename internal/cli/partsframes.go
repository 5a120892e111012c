package cli

import (
	"context"
	"fmt"
	"io"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// frames encodes the values by EncodeBatch, each in a frame of its own: a frame begins with its length, which a stream of parts
// does not know. It returns how many there were.
func (e *streamEncode) frames(
	ctx context.Context, cancel context.CancelFunc, client thriftpackv1.SerializerServiceClient, d *duplex, l *lines, out io.Writer,
) (values int64, err error) {
	stream, err := client.EncodeBatch(ctx)
	if err != nil {
		return 0, newCallError(e.addr, err)
	}
	options := &thriftpackv1.EncodeOptions{Protocol: e.protocolValue(), Framing: e.framingValue()}
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
			v, err := l.value()
			if err != nil {
				return firstError(flush(), endOfInput(err))
			}
			request := thriftpackv1.EncodeRequestOf(v)
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

// framesAhead bounds how many values are on their way.
const framesAhead = 4096

// batchError is the error of one request of a batch, as that of a call.
func batchError(e *thriftpackv1.Error) error {
	return status.FromProto(&spb.Status{Code: e.GetCode(), Message: e.GetMessage(), Details: e.GetDetails()}).Err()
}
