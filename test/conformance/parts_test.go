package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/test/oracle"
)

// partsChunk is small, but takes the longest map key of the vectors, which has to fit.
const partsChunk = 8192

// TestServerParts pipes the bytes of every vector through DecodeParts into EncodeParts, cut in three ways: the same bytes come out.
// Small chunks make the large vectors come opened and in pieces.
func TestServerParts(t *testing.T) {
	t.Parallel()
	client := startServer(t)
	for _, vector := range vectors(t) {
		for _, protocol := range oracle.Protocols {
			for _, cut := range []int{7, 5000, 1 << 20} {
				want := vector.Bytes(protocol)
				if cut < 10 && len(want) > 10_000 {
					continue
				}
				got, err := throughParts(t.Context(), client, vector, protocol, cut)
				if err == nil && !bytes.Equal(got, want) {
					err = fmt.Errorf("got %s, want %s", short(got), short(want))
				}
				if err != nil {
					t.Errorf("%s: %s: cut to %d: %v", vector.Name, protocol, cut, err)
				}
			}
		}
	}
}

// rootType is the type of the vector's value.
func rootType(value *thriftpackv1.Value) thriftpackv1.Type {
	m := value.ProtoReflect()
	return thriftpackv1.Type(m.WhichOneof(m.Descriptor().Oneofs().ByName("kind")).Number())
}

func throughParts(ctx context.Context, client thriftpackv1.SerializerServiceClient, vector *oracle.Vector, p oracle.Protocol, cut int) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	value, err := vector.Value()
	if err != nil {
		return nil, err
	}
	enc, dec := options(p, vector.Envelope())
	dec.RootType = rootType(value)
	decoding, err := client.DecodeParts(ctx)
	if err != nil {
		return nil, err
	}
	encoding, err := client.EncodeParts(ctx)
	if err != nil {
		return nil, err
	}
	first := &thriftpackv1.DecodePartsRequest{Options: dec, ChunkSize: partsChunk}
	decoded := make(chan error, 2)
	go func() {
		for data := vector.Bytes(p); len(data) > 0; first = new(thriftpackv1.DecodePartsRequest) {
			n := min(cut, len(data))
			first.Data, data = data[:n], data[n:]
			if err := decoding.Send(first); err != nil {
				break // Recv has the reason
			}
		}
		decoded <- decoding.CloseSend()
	}()
	go func() {
		err := pipe(decoding, encoding, enc, vector)
		if err != nil {
			cancel() // EncodeParts would wait for the rest
		}
		decoded <- err
	}()
	var joined []byte
	for {
		response, err := encoding.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("EncodeParts: %w", err), <-decoded, <-decoded)
		}
		joined = append(joined, response.GetData()...)
	}
	for range 2 {
		if err := <-decoded; err != nil {
			return nil, err
		}
	}
	return joined, checkTrailers(encoding.Trailer(), joined)
}

// pipe sends what was decoded to be encoded, and checks what DecodeParts says of it.
func pipe(
	from grpc.BidiStreamingClient[thriftpackv1.DecodePartsRequest, thriftpackv1.DecodePartsResponse],
	to grpc.BidiStreamingClient[thriftpackv1.EncodePartsRequest, thriftpackv1.EncodePartsResponse],
	o *thriftpackv1.EncodeOptions, vector *oracle.Vector,
) error {
	var read int64
	var parts []byte
	request := &thriftpackv1.EncodePartsRequest{Options: o, ChunkSize: partsChunk}
	for first := true; ; first = false {
		response, err := from.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("DecodeParts: %w", err)
		}
		if first && !proto.Equal(response.GetMessage(), header(vector.Envelope())) {
			return fmt.Errorf("DecodeParts: message %v, want %v", response.GetMessage(), vector.Envelope())
		}
		if size := proto.Size(response); size > partsChunk {
			return fmt.Errorf("DecodeParts: a message of %d bytes", size)
		}
		read = response.GetBytesRead()
		for _, part := range response.GetParts() {
			if parts, err = (proto.MarshalOptions{Deterministic: true}).MarshalAppend(parts, part); err != nil {
				return err
			}
		}
		request.Parts = response.GetParts()
		if err := to.Send(request); err != nil {
			return nil //nolint:nilerr // Recv has the reason
		}
		request = new(thriftpackv1.EncodePartsRequest)
	}
	if got := from.Trailer().Get("thriftpack-bytes-read"); len(got) != 1 || got[0] != strconv.FormatInt(read, 10) {
		return fmt.Errorf("DecodeParts: trailer thriftpack-bytes-read %v, want %d", got, read)
	}
	if err := checkTrailers(from.Trailer(), parts); err != nil {
		return fmt.Errorf("DecodeParts: %w", err)
	}
	return to.CloseSend()
}
