package rpc

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fixture"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// Workload is one unary call: what is sent, and what the right answer is as long as.
type Workload struct {
	// Name tells it apart.
	Name string
	// Method is the full method name.
	Method string
	// Request and Reply are the wire bytes of the messages.
	Request, Reply []byte
}

// Workloads are the calls that are measured: encoding and decoding a small struct, one of about 64 KiB and one of about 1 MiB.
// No two have requests of one length.
func Workloads() ([]Workload, error) {
	values := []struct {
		name  string
		value *thriftpackv1.Value
	}{
		{"small", fixture.OneOfEach()},
		{"64KiB", records(1_250)},
		{"1MiB", fixture.Nested4()},
	}
	var workloads []Workload
	for _, v := range values {
		encode, decode, err := workloadsOf(v.name, v.value)
		if err != nil {
			return nil, fmt.Errorf("workload %s: %w", v.name, err)
		}
		workloads = append(workloads, encode, decode)
	}
	return workloads, nil
}

// records wraps a list of n small structs, so that the ordinary way, which serves structs, can have it.
func records(n int) *thriftpackv1.Value {
	return &thriftpackv1.Value{Kind: &thriftpackv1.Value_Struct{Struct: &thriftpackv1.Struct{Fields: []*thriftpackv1.Field{
		{Id: 1, Kind: &thriftpackv1.Field_List{List: fixture.ListStruct(n).GetList()}},
	}}}}
}

func workloadsOf(name string, value *thriftpackv1.Value) (encode, decode Workload, err error) {
	wire := fixture.Wire(value)
	limits := encoder.Limits{Depth: 64, Elements: 1 << 24, StringBytes: 1 << 24}
	compact, err := new(encoder.Encoder).Append(nil, wire, &encoder.Options{Limits: limits})
	if err != nil {
		return encode, decode, err
	}
	encode = Workload{Name: "encode/" + name, Method: thriftpackv1.SerializerService_Encode_FullMethodName}
	if encode.Request, err = proto.Marshal(&thriftpackv1.EncodeRequest{Input: &thriftpackv1.EncodeRequest_Value{Value: value}}); err != nil {
		return encode, decode, err
	}
	if encode.Reply, err = proto.Marshal(&thriftpackv1.EncodeResponse{Data: compact}); err != nil {
		return encode, decode, err
	}
	decode = Workload{Name: "decode/" + name, Method: thriftpackv1.SerializerService_Decode_FullMethodName}
	if decode.Request, err = proto.Marshal(&thriftpackv1.DecodeRequest{Data: compact}); err != nil {
		return encode, decode, err
	}
	decoded := new(thriftpackv1.Value)
	dec := new(decoder.Decoder)
	if _, err = dec.Prepare(compact, &decoder.Options{
		Root:   thriftpackv1.Type_TYPE_STRUCT,
		Limits: decoder.Limits{Depth: 64, Elements: 1 << 24, StringBytes: 1 << 24, Nodes: 1 << 24},
	}); err != nil {
		return encode, decode, err
	}
	if err := proto.Unmarshal(dec.Append(nil), decoded); err != nil {
		return encode, decode, err
	}
	decode.Reply, err = proto.Marshal(&thriftpackv1.DecodeResponse{
		Output: &thriftpackv1.DecodeResponse_Value{Value: decoded}, BytesRead: int64(len(compact)),
	})
	return encode, decode, err
}

// Select returns the workload of a name.
func Select(workloads []Workload, name string) (Workload, error) {
	for _, w := range workloads {
		if w.Name == name {
			return w, nil
		}
	}
	return Workload{}, fmt.Errorf("no workload %q", name)
}
