package server

import (
	"bytes"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// TestParseEncodeRequest compares our parsing with protobuf's on members in every order, in pieces and repeated.
func TestParseEncodeRequest(t *testing.T) {
	options := func(o *thriftpackv1.EncodeOptions) []byte {
		b, _ := proto.Marshal(o)
		return member5(b)
	}
	value := func(v *thriftpackv1.Value) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), fixture.Wire(v))
	}
	json := protowire.AppendString(protowire.AppendTag(nil, 2, protowire.BytesType), "{}")
	unknown := protowire.AppendFixed32(protowire.AppendTag(nil, 77, protowire.Fixed32Type), 5)
	group := []byte{0x53, 0x54} // member 10, an empty group
	pieces := [][]byte{
		value(fixture.OneOfEach()), value(thriftpackv1.StructValue(thriftpackv1.I32Field(10, 1))), json, unknown, group,
		options(&thriftpackv1.EncodeOptions{Protocol: 2}), options(&thriftpackv1.EncodeOptions{Framing: 2, Message: &thriftpackv1.MessageHeader{Name: "a", Type: 1}}),
		options(&thriftpackv1.EncodeOptions{Message: &thriftpackv1.MessageHeader{Seqid: -5}}),
		{0x08, 0x05},                   // member 1 as a varint: another wire type, so unknown
		{0x2a, 0x02, 0x0a, 0x00},       // options with protocol as bytes: unknown, too
		{0x2a, 0x03, 0x08, 0x82, 0x00}, // protocol 2 in a longer varint
	}
	for a := range pieces {
		for b := range pieces {
			for c := range pieces {
				data := bytes.Join([][]byte{pieces[a], pieces[b], pieces[c]}, nil)
				var want thriftpackv1.EncodeRequest
				if err := proto.Unmarshal(data, &want); err != nil {
					t.Fatalf("%x: %v", data, err)
				}
				var got encodeRequest
				if err := parseEncodeRequest(&got, data); err != nil {
					t.Fatalf("parseEncodeRequest(%x): %v", data, err)
				}
				compareEncodeRequest(t, data, &got, &want)
			}
		}
	}
}

func member5(b []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, 5, protowire.BytesType), b)
}

func compareEncodeRequest(t *testing.T, data []byte, got *encodeRequest, want *thriftpackv1.EncodeRequest) {
	t.Helper()
	switch input := want.GetInput().(type) {
	case nil:
		if got.input != noInput {
			t.Errorf("%x: input %v, want none", data, got.input)
		}
	case *thriftpackv1.EncodeRequest_Json:
		if got.input != jsonInput {
			t.Errorf("%x: input %v, want JSON", data, got.input)
		}
	case *thriftpackv1.EncodeRequest_Value:
		value := got.value
		if got.isSplit() {
			joined, err := got.join(func(r *encodeRequest) error { return parseEncodeRequest(r, data) })
			if err != nil || len(joined) != got.size || cap(joined) != got.most || got.most > len(data) {
				t.Errorf("%x: joined to %d bytes of %d, %v; want %d of %d", data, len(joined), cap(joined), err, got.size, got.most)
			}
			value = joined
		}
		var merged thriftpackv1.Value
		if err := proto.Unmarshal(value, &merged); err != nil || got.input != valueInput || !proto.Equal(&merged, input.Value) {
			t.Errorf("%x: value %v, want %v (%v)", data, &merged, input.Value, err)
		}
	}
	o, m := want.GetOptions(), want.GetOptions().GetMessage()
	wantOptions := encodeOptions{
		protocol: int32(o.GetProtocol()), framing: int32(o.GetFraming()), hasMessage: m != nil,
		message: messageHeader{name: m.GetName(), kind: int32(m.GetType()), seqID: m.GetSeqid()},
	}
	if got.options != wantOptions {
		t.Errorf("%x: options %+v, want %+v", data, got.options, wantOptions)
	}
}

// TestParseDecodeRequest compares our parsing with protobuf's.
func TestParseDecodeRequest(t *testing.T) {
	options := func(o *thriftpackv1.DecodeOptions) []byte {
		b, _ := proto.Marshal(o)
		return protowire.AppendBytes(protowire.AppendTag(nil, 3, protowire.BytesType), b)
	}
	pieces := [][]byte{
		protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), []byte("one")),
		protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), nil),
		protowire.AppendVarint(protowire.AppendTag(nil, 9, protowire.VarintType), 5),
		options(&thriftpackv1.DecodeOptions{Protocol: 2, Message: true, MaxDepth: 7, RootType: 9}),
		options(&thriftpackv1.DecodeOptions{Framing: 2, AllowTrailing: true, Lenient: true, DetectText: true, Output: 2, Records: true}),
		{0x1a, 0x02, 0x18, 0x00}, // message false, said so
		{0x1a, 0x0b, 0x58, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, // max_depth -1
	}
	for a := range pieces {
		for b := range pieces {
			for c := range pieces {
				data := bytes.Join([][]byte{pieces[a], pieces[b], pieces[c]}, nil)
				var want thriftpackv1.DecodeRequest
				if err := proto.Unmarshal(data, &want); err != nil {
					t.Fatalf("%x: %v", data, err)
				}
				var got decodeRequest
				if err := parseDecodeRequest(&got, data); err != nil {
					t.Fatalf("parseDecodeRequest(%x): %v", data, err)
				}
				o := want.GetOptions()
				wantOptions := decodeOptions{
					protocol: int32(o.GetProtocol()), framing: int32(o.GetFraming()), rootType: int32(o.GetRootType()), output: int32(o.GetOutput()),
					maxDepth: o.GetMaxDepth(), message: o.GetMessage(), allowTrailing: o.GetAllowTrailing(), lenient: o.GetLenient(),
					detectText: o.GetDetectText(), records: o.GetRecords(),
				}
				if !bytes.Equal(got.data, want.GetData()) || got.options != wantOptions {
					t.Errorf("%x: got %q %+v, want %q %+v", data, got.data, got.options, want.GetData(), wantOptions)
				}
			}
		}
	}
}

// FuzzParse looks for requests that our parsing takes and protobuf's does not, or the other way round.
func FuzzParse(f *testing.F) {
	seed, _ := proto.Marshal(encodeRequestOf(fixture.OneOfEach(), &thriftpackv1.EncodeOptions{Message: &thriftpackv1.MessageHeader{Name: "x"}}))
	f.Add(seed)
	f.Add([]byte{0x0a, 0x01, 0x08})
	f.Fuzz(func(t *testing.T, data []byte) {
		var want thriftpackv1.EncodeRequest
		theirs := proto.Unmarshal(data, &want)
		var got encodeRequest
		ours := parseEncodeRequest(&got, data)
		if theirs == nil && ours != nil {
			t.Fatalf("parseEncodeRequest(%x): %v, protobuf takes it", data, ours)
		}
		if theirs == nil {
			compareEncodeRequest(t, data, &got, &want)
		}
		// What is malformed inside of the value or the type is not looked at here; the encoder refuses it.
		var stream encodeStreamRequest
		_ = parseEncodeStreamRequest(&stream, data)
		var decode decodeStreamRequest
		_ = parseDecodeStreamRequest(&decode, data)
		_, _, _ = countRequests(data)
	})
}

// TestMalformedRequests sends what is not protobuf to every RPC.
func TestMalformedRequests(t *testing.T) {
	h := start(t)
	for _, method := range []string{"Encode", "Decode", "EncodeStream", "DecodeStream", "EncodeBatch", "DecodeBatch"} {
		for name, request := range map[string]rawBytes{
			"a length beyond the end": {0x0a, 0x05, 0x08}, "a tag cut off": {0x80}, "member 0": {0x02, 0x00}, "a group that never began": {0x0c},
			"a varint of eleven bytes": {0x20, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
		} {
			s, err := h.conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true},
				"/thriftpack.v1.SerializerService/"+method, grpc.ForceCodecV2(rawClientCodec{}))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.SendMsg(request); err != nil {
				t.Fatal(err)
			}
			if err := s.CloseSend(); err != nil {
				t.Fatal(err)
			}
			var size rawSize
			if err := s.RecvMsg(&size); reasonOf(err) != "BAD_PROTO" {
				t.Errorf("%s: %s: %v", method, name, err)
			} else {
				wantError(t, err, codes.InvalidArgument, "BAD_PROTO")
			}
		}
	}
}
