package server

import (
	"bytes"
	"encoding/hex"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fixture"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// fromHex returns bytes that are written as hex.
func fromHex(t *testing.T, text string) []byte {
	t.Helper()
	data, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDecodeBytes(t *testing.T) {
	h := start(t)
	compact := fixture.OneOfEachCompact
	// On the wire a string cannot be told from a binary.
	oneOfEach := proto.Clone(fixture.OneOfEach()).(*thriftpackv1.Value)
	for _, field := range oneOfEach.GetStruct().GetFields() {
		if text, ok := field.GetKind().(*thriftpackv1.Field_String_); ok {
			field.Kind = &thriftpackv1.Field_Binary{Binary: []byte(text.String_)}
		}
	}
	call := &thriftpackv1.MessageHeader{Name: "ping", Type: thriftpackv1.MessageType_MESSAGE_TYPE_CALL, Seqid: 300}
	for _, tt := range []struct {
		name    string
		data    string
		options *thriftpackv1.DecodeOptions
		want    *thriftpackv1.DecodeResponse
	}{
		{"a struct", compact, nil, &thriftpackv1.DecodeResponse{BytesRead: 49}},
		{"framed", "00000031" + compact, &thriftpackv1.DecodeOptions{Framing: thriftpackv1.Framing_FRAMING_FRAMED}, &thriftpackv1.DecodeResponse{BytesRead: 53}},
		{"a call", "8221ac020470696e67" + compact, &thriftpackv1.DecodeOptions{Message: true}, &thriftpackv1.DecodeResponse{BytesRead: 58, Message: call}},
		{"with more behind it", compact + "ffff", &thriftpackv1.DecodeOptions{AllowTrailing: true}, &thriftpackv1.DecodeResponse{BytesRead: 49}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Output = &thriftpackv1.DecodeResponse_Value{Value: oneOfEach}
			request := &thriftpackv1.DecodeRequest{Data: fromHex(t, tt.data), Options: tt.options}
			got, err := h.client.Decode(t.Context(), request)
			if err != nil {
				t.Fatalf("Decode: %v", err)
			}
			if !proto.Equal(got, tt.want) {
				t.Errorf("Decode: got %v, want %v", got, tt.want)
			}
			data, header, read := decodeStreamOf(t, h, &thriftpackv1.DecodeStreamRequest{Request: request})
			if !bytes.Equal(data, fixture.Wire(oneOfEach)) || read != tt.want.GetBytesRead() || !proto.Equal(header, tt.want.GetMessage()) {
				t.Errorf("DecodeStream: %x, header %v, %d bytes read", data, header, read)
			}
		})
	}
}

// decodeStreamOf runs DecodeStream and checks the order of its members and its trailers.
func decodeStreamOf(t *testing.T, h *harness, r *thriftpackv1.DecodeStreamRequest) (data []byte, header *thriftpackv1.MessageHeader, read int64) {
	t.Helper()
	s, err := h.client.DecodeStream(t.Context(), r)
	if err != nil {
		t.Fatalf("DecodeStream: %v", err)
	}
	responses, err := drainStream(s)
	if err != nil {
		t.Fatalf("DecodeStream: %v", err)
	}
	for i, response := range responses {
		data = append(data, response.GetData()...)
		if response.GetMessage() != nil {
			if i != 0 {
				t.Errorf("the envelope is in response %d", i)
			}
			header = response.GetMessage()
		}
		if response.GetBytesRead() != 0 {
			if i != len(responses)-1 {
				t.Errorf("bytes_read is in response %d of %d", i, len(responses))
			}
			read = response.GetBytesRead()
		}
	}
	received{data: data, trailer: s.Trailer()}.wantTrailers(t)
	return data, header, read
}

// TestDecodeInverts decodes what Encode made of values of many sizes, and finds the value again.
func TestDecodeInverts(t *testing.T) {
	h := start(t, func(s *setup) { s.pool = stream.NewCheckedPool() })
	var values []*thriftpackv1.Value
	if !raceEnabled { // It is all work of the test's own protobuf.
		values = append(values, fixture.Nested4())
	}
	for _, n := range []int{0, 1, 120, 990, 1000, 1010, 1012, 1013, 1014, 1015, 1016, 1020, 1024, 2040, 4096, 65536, 4<<20 - 1<<10 - 30} {
		values = append(values, thriftpackv1.StructValue(thriftpackv1.BinaryField(1, binaryOf(n).GetBinary())))
	}
	for _, value := range values {
		encoded, err := h.client.Encode(t.Context(), encodeRequestOf(value, nil))
		if err != nil {
			t.Fatalf("Encode: %v", err)
		}
		request := &thriftpackv1.DecodeRequest{Data: encoded.GetData(), Options: &thriftpackv1.DecodeOptions{DetectText: true}}
		decoded, err := h.client.Decode(t.Context(), request)
		if err != nil {
			t.Fatalf("Decode of %d bytes: %v", len(encoded.GetData()), err)
		}
		if value.GetStruct().GetFields()[0].GetBinary() == nil && !proto.Equal(decoded.GetValue(), value) {
			t.Errorf("Decode of %d bytes: another value", len(encoded.GetData()))
		}
		again, err := h.client.Encode(t.Context(), encodeRequestOf(decoded.GetValue(), nil))
		if err != nil || !bytes.Equal(again.GetData(), encoded.GetData()) {
			t.Errorf("Encode of what Decode gave: %d bytes, %v; want the same %d", len(again.GetData()), err, len(encoded.GetData()))
		}
		for _, chunkSize := range []int32{0, 4096} {
			data, _, read := decodeStreamOf(t, h, &thriftpackv1.DecodeStreamRequest{Request: request, ChunkSize: chunkSize})
			if !bytes.Equal(data, fixture.Wire(decoded.GetValue())) || read != int64(len(encoded.GetData())) {
				t.Errorf("DecodeStream: %d bytes differ from Decode's; %d read", len(data), read)
			}
		}
	}
	if faults := h.server.service.pool.Stats().Faults; faults != 0 {
		t.Errorf("pool: %d faults", faults)
	}
}

func TestDecodeRefuses(t *testing.T) {
	h := start(t)
	for _, tt := range []struct {
		name    string
		data    string
		options *thriftpackv1.DecodeOptions
		code    codes.Code
		reason  string
		key     string
		want    string
	}{
		{"nothing", "", nil, codes.InvalidArgument, "TRUNCATED", "offset", "0"},
		{"a field cut off", "15", nil, codes.InvalidArgument, "TRUNCATED", "offset", "1"},
		{"bytes behind it", "0000", nil, codes.InvalidArgument, "TRAILING_BYTES", "offset", "1"},
		{"an unknown protocol", "00", &thriftpackv1.DecodeOptions{Protocol: 9}, codes.InvalidArgument, "BAD_OPTION", "path", "options.protocol"},
		{"an unknown framing", "00", &thriftpackv1.DecodeOptions{Framing: 9}, codes.InvalidArgument, "BAD_OPTION", "path", "options.framing"},
		{"an unknown output", "00", &thriftpackv1.DecodeOptions{Output: 9}, codes.InvalidArgument, "BAD_OPTION", "path", "options.output"},
		{"JSON without a type", "00", &thriftpackv1.DecodeOptions{Output: thriftpackv1.Output_OUTPUT_JSON}, codes.InvalidArgument, "MISSING_KIND", "path", "type"},
		{"an unknown root", "00", &thriftpackv1.DecodeOptions{RootType: 1}, codes.InvalidArgument, "BAD_OPTION", "path", "options.root_type"},
		{"a negative depth", "00", &thriftpackv1.DecodeOptions{MaxDepth: -1}, codes.InvalidArgument, "BAD_OPTION", "path", "options.max_depth"},
		{"records", "00", &thriftpackv1.DecodeOptions{Records: true}, codes.InvalidArgument, "BAD_OPTION", "path", "options.records"},
		{"deeper than asked for", "1c1c000000", &thriftpackv1.DecodeOptions{MaxDepth: 2}, codes.ResourceExhausted, "DEPTH_LIMIT", "limit", "2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			request := &thriftpackv1.DecodeRequest{Data: fromHex(t, tt.data), Options: tt.options}
			_, err := h.client.Decode(t.Context(), request)
			wantError(t, err, tt.code, tt.reason)
			if got := infoOf(err).GetMetadata()[tt.key]; got != tt.want {
				t.Errorf("%s: got %q, want %q", tt.key, got, tt.want)
			}
			s, err := h.client.DecodeStream(t.Context(), &thriftpackv1.DecodeStreamRequest{Request: request})
			if err != nil {
				t.Fatal(err)
			}
			responses, err := drainStream(s)
			wantError(t, err, tt.code, tt.reason)
			if len(responses) != 0 {
				t.Errorf("DecodeStream: %d responses", len(responses))
			}
		})
	}
}

func TestDecodeReplyLimit(t *testing.T) {
	const limit = 10_000
	h := start(t, func(s *setup) { s.cfg.MaxUnaryReplyBytes = limit })
	request := func(n int) *thriftpackv1.DecodeRequest {
		data := protowire.AppendVarint([]byte{0x18}, uint64(n))
		data = append(append(data, make([]byte, n)...), 0)
		return &thriftpackv1.DecodeRequest{Data: data}
	}
	reply, err := h.client.Decode(t.Context(), request(9000))
	if err != nil {
		t.Fatal(err)
	}
	n := 9000 + limit - proto.Size(reply)
	reply, err = h.client.Decode(t.Context(), request(n))
	if err != nil || proto.Size(reply) != limit {
		t.Fatalf("at the limit: %d bytes, %v", proto.Size(reply), err)
	}
	_, err = h.client.Decode(t.Context(), request(n+1))
	wantError(t, err, codes.ResourceExhausted, "SIZE_LIMIT", "10001", "10000", "DecodeStream")
}

// TestDecodeEncodeKeepsFields has fields that a reader with a schema may not know, and one that comes twice: what comes back is what
// was there, in its order.
func TestDecodeEncodeKeepsFields(t *testing.T) {
	h := start(t)
	for _, text := range []string{"150228016100", "150205020400"} {
		decoded, err := h.client.Decode(t.Context(), &thriftpackv1.DecodeRequest{Data: fromHex(t, text)})
		if err != nil {
			t.Fatalf("Decode %s: %v", text, err)
		}
		encoded, err := h.client.Encode(t.Context(), encodeRequestOf(decoded.GetValue(), nil))
		if err != nil || hex.EncodeToString(encoded.GetData()) != text {
			t.Errorf("decoded and encoded: %x, %v; want %s", encoded.GetData(), err, text)
		}
	}
}
