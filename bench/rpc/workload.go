package rpc

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fixture"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// Shape is how a workload uses gRPC.
type Shape int

const (
	// Unary is a call with one request and one reply.
	Unary Shape = iota
	// Batch is a stream each way that stays open: an exchange is one message of many requests, and one of as many results.
	Batch
	// Stream is a call whose reply comes in chunks.
	Stream
)

// Workload is one exchange: what is sent, and what the right answer is as long as.
type Workload struct {
	// Name tells it apart.
	Name string
	// Method is the full method name.
	Method string
	// Shape is how it uses gRPC.
	Shape Shape
	// Request is the wire bytes of the request.
	Request []byte
	// Replies are the wire bytes of the replies: one, or the chunks of a Stream.
	Replies [][]byte
	// Values is how many values an exchange encodes or decodes.
	Values int
	// Bytes is how many Thrift bytes these have together.
	Bytes int64
}

// Size is the bytes of all replies.
func (w *Workload) Size() int64 {
	total := int64(0)
	for _, reply := range w.Replies {
		total += int64(len(reply))
	}
	return total
}

// batchSize is how many requests a message of a batch has.
const batchSize = 64

// limits are generous.
var (
	encoderLimits = encoder.Limits{Depth: 64, Elements: 1 << 24, StringBytes: 1 << 24}
	decoderLimits = decoder.Limits{Depth: 64, Elements: 1 << 24, StringBytes: 1 << 24, Nodes: 1 << 24}
)

// Workloads are all that is measured: encoding and decoding a small struct, one of about 64 KiB and one of about 1 MiB, in
// calls of their own; small ones in batches; and streams of 16 MiB. No two have requests of one length.
func Workloads() ([]Workload, error) {
	var workloads []Workload
	add := func(made ...Workload) { workloads = append(workloads, made...) }
	for _, v := range []struct {
		name  string
		value *thriftpackv1.Value
	}{
		{"small", fixture.OneOfEach()},
		{"64KiB", structOf(fixture.ListStruct(1_250))},
		{"1MiB", fixture.Nested4()},
	} {
		m, err := messagesOf(v.value)
		if err != nil {
			return nil, fmt.Errorf("workload %s: %w", v.name, err)
		}
		encode, decode, err := m.unary(v.name)
		if err != nil {
			return nil, fmt.Errorf("workload %s: %w", v.name, err)
		}
		add(encode, decode)
		if v.name != "small" {
			continue
		}
		if encode, decode, err = m.batch(v.name); err != nil {
			return nil, fmt.Errorf("workload %s: %w", v.name, err)
		}
		add(encode, decode)
	}
	for _, v := range []struct {
		name  string
		value *thriftpackv1.Value
		count int
	}{
		{"binary", structOf(fixture.Binary(1 << 20)), 16},
		{"records", structOf(fixture.ListStruct(25_000)), 12},
	} {
		m, err := messagesOf(v.value)
		if err != nil {
			return nil, fmt.Errorf("workload %s: %w", v.name, err)
		}
		w, err := m.stream(v.name, v.count)
		if err != nil {
			return nil, fmt.Errorf("workload %s: %w", v.name, err)
		}
		add(w)
	}
	return workloads, nil
}

// Select returns the workload of a name.
func Select(workloads []Workload, name string) (*Workload, error) {
	for i := range workloads {
		if workloads[i].Name == name {
			return &workloads[i], nil
		}
	}
	return nil, fmt.Errorf("no workload %q", name)
}

// structOf wraps a value into a struct, so that the ordinary way, which serves structs, can have it.
func structOf(v *thriftpackv1.Value) *thriftpackv1.Value {
	f := &thriftpackv1.Field{Id: 1}
	switch kind := v.GetKind().(type) {
	case *thriftpackv1.Value_List:
		f.Kind = &thriftpackv1.Field_List{List: kind.List}
	case *thriftpackv1.Value_Binary:
		f.Kind = &thriftpackv1.Field_Binary{Binary: kind.Binary}
	}
	return &thriftpackv1.Value{Kind: &thriftpackv1.Value_Struct{Struct: &thriftpackv1.Struct{Fields: []*thriftpackv1.Field{f}}}}
}

// messages are the requests and responses about one value.
type messages struct {
	encodeRequest  *thriftpackv1.EncodeRequest
	encodeResponse *thriftpackv1.EncodeResponse
	decodeRequest  *thriftpackv1.DecodeRequest
	decodeResponse *thriftpackv1.DecodeResponse
}

func messagesOf(value *thriftpackv1.Value) (*messages, error) {
	compact, err := new(encoder.Encoder).Append(nil, fixture.Wire(value), &encoder.Options{Limits: encoderLimits})
	if err != nil {
		return nil, err
	}
	dec := new(decoder.Decoder)
	if _, err := dec.Prepare(compact, &decoder.Options{Root: thriftpackv1.Type_TYPE_STRUCT, Limits: decoderLimits}); err != nil {
		return nil, err
	}
	decoded := new(thriftpackv1.Value)
	if err := proto.Unmarshal(dec.Append(nil), decoded); err != nil {
		return nil, err
	}
	return &messages{
		encodeRequest:  &thriftpackv1.EncodeRequest{Input: &thriftpackv1.EncodeRequest_Value{Value: value}},
		encodeResponse: &thriftpackv1.EncodeResponse{Data: compact},
		decodeRequest:  &thriftpackv1.DecodeRequest{Data: compact},
		decodeResponse: &thriftpackv1.DecodeResponse{
			Output: &thriftpackv1.DecodeResponse_Value{Value: decoded}, BytesRead: int64(len(compact)),
		},
	}, nil
}

func workload(shape Shape, name, method string, values int, size int64, request, reply proto.Message) (Workload, error) {
	w := Workload{Name: name, Method: method, Shape: shape, Values: values, Bytes: size}
	var err error
	if w.Request, err = proto.Marshal(request); err != nil {
		return w, err
	}
	answer, err := proto.Marshal(reply)
	w.Replies = [][]byte{answer}
	return w, err
}

func (m *messages) size() int64 { return int64(len(m.decodeRequest.GetData())) }

func (m *messages) unary(name string) (encode, decode Workload, err error) {
	encode, err = workload(Unary, "encode/"+name, thriftpackv1.SerializerService_Encode_FullMethodName, 1, m.size(), m.encodeRequest, m.encodeResponse)
	if err != nil {
		return encode, decode, err
	}
	decode, err = workload(Unary, "decode/"+name, thriftpackv1.SerializerService_Decode_FullMethodName, 1, m.size(), m.decodeRequest, m.decodeResponse)
	return encode, decode, err
}

func (m *messages) batch(name string) (encode, decode Workload, err error) {
	var encodes thriftpackv1.EncodeBatchRequest
	var encoded thriftpackv1.EncodeBatchResponse
	var decodes thriftpackv1.DecodeBatchRequest
	var decoded thriftpackv1.DecodeBatchResponse
	for range batchSize {
		encodes.Requests = append(encodes.Requests, m.encodeRequest)
		encoded.Results = append(encoded.Results, &thriftpackv1.EncodeResult{Result: &thriftpackv1.EncodeResult_Response{Response: m.encodeResponse}})
		decodes.Requests = append(decodes.Requests, m.decodeRequest)
		decoded.Results = append(decoded.Results, &thriftpackv1.DecodeResult{Result: &thriftpackv1.DecodeResult_Response{Response: m.decodeResponse}})
	}
	size := batchSize * m.size()
	encode, err = workload(Batch, "encode-batch/"+name, thriftpackv1.SerializerService_EncodeBatch_FullMethodName, batchSize, size, &encodes, &encoded)
	if err != nil {
		return encode, decode, err
	}
	decode, err = workload(Batch, "decode-batch/"+name, thriftpackv1.SerializerService_DecodeBatch_FullMethodName, batchSize, size, &decodes, &decoded)
	return encode, decode, err
}

// chunkSize is the server's default size of a message of a stream, tag and length included.
const chunkSize = 32_763

// stream makes a call of EncodeStream whose chunks are as large as the server's. The finished ones are together as long as a record, and come
// again and again. One chunk alone would lie in the processor's first cache all the time, as the bytes of no stream do: a floor that
// sends nothing else takes 6 to 10 % less CPU time (20 interleaved pairs) than one that has to fetch what it sends.
func (m *messages) stream(name string, count int) (Workload, error) {
	record := m.encodeResponse.GetData()
	w, err := workload(Stream, "encode-stream/"+name, thriftpackv1.SerializerService_EncodeStream_FullMethodName, count, int64(count)*m.size(),
		&thriftpackv1.EncodeStreamRequest{Request: m.encodeRequest, Count: int64(count)}, &thriftpackv1.EncodeStreamResponse{})
	w.Replies = nil
	room := chunkSize - 1 - protowire.SizeVarint(chunkSize)
	twice := slices.Concat(record, record[:min(room, len(record))])
	var full [][]byte
	for at := 0; at < len(record); at += room {
		full = append(full, chunk(twice[at:min(at+room, len(twice))]))
	}
	rest := w.Bytes
	for ; rest > int64(room); rest -= int64(room) {
		w.Replies = append(w.Replies, full[len(w.Replies)%len(full)])
	}
	w.Replies = append(w.Replies, chunk(twice[:rest]))
	return w, err
}

// chunk is the wire bytes of an EncodeStreamResponse.
func chunk(data []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), data)
}
