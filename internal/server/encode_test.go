package server

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fixture"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// binaryOf returns a binary value of n bytes. Its compact form is a varint of the length, then the bytes.
func binaryOf(n int) *thriftpackv1.Value {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i * 7)
	}
	return thriftpackv1.BinaryValue(data)
}

func encodeRequestOf(v *thriftpackv1.Value, o *thriftpackv1.EncodeOptions) *thriftpackv1.EncodeRequest {
	return &thriftpackv1.EncodeRequest{Input: &thriftpackv1.EncodeRequest_Value{Value: v}, Options: o}
}

func TestEncodeBytes(t *testing.T) {
	h := start(t)
	compact := fixture.OneOfEachCompact
	frame := fmt.Sprintf("%08x", len(compact)/2)
	call := &thriftpackv1.MessageHeader{Name: "ping", Type: thriftpackv1.MessageType_MESSAGE_TYPE_CALL, Seqid: 300}
	for _, tt := range []struct {
		name    string
		options *thriftpackv1.EncodeOptions
		want    string
	}{
		{"without options", nil, compact},
		{"compact by name", &thriftpackv1.EncodeOptions{Protocol: thriftpackv1.Protocol_PROTOCOL_COMPACT}, compact},
		{"framed", &thriftpackv1.EncodeOptions{Framing: thriftpackv1.Framing_FRAMING_FRAMED}, frame + compact},
		// 82 protocol, 21 version 1 and type 1, ac02 seqid 300, 04 length, "ping"
		{"a call", &thriftpackv1.EncodeOptions{Message: call}, "8221ac020470696e67" + compact},
		{
			"strict binary call", &thriftpackv1.EncodeOptions{Protocol: thriftpackv1.Protocol_PROTOCOL_BINARY, Message: call},
			"80010001" + "00000004" + "70696e67" + "0000012c" + "0200010102000200030003d60600046978" + "0800050100" + "0000" + "0a0006" + "0000000165a0bc00" +
				"040007400921fb54442d18" + "0b00080000000b446562756720544849532" + "1" + "0b000900000005c3970a0709" + "00",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reply, err := h.client.Encode(t.Context(), encodeRequestOf(fixture.OneOfEach(), tt.options))
			if err != nil {
				t.Fatalf("Encode: %v", err)
			}
			if got := hex.EncodeToString(reply.GetData()); got != tt.want {
				t.Errorf("Encode: got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestEncodeReplySizes crosses every boundary of how replies are held: own memory, pooled chunks, each tier.
func TestEncodeReplySizes(t *testing.T) {
	h := start(t, func(s *setup) { s.pool = stream.NewCheckedPool() })
	for _, n := range []int{0, 1, 100, 127, 128, 900, 990, 1010, 1015, 1016, 1017, 1020, 1024, 1025, 2000, 2040, 2048, 4090, 16384, 32768, 65536, 1 << 20, 4<<20 - 1<<10 - 20} {
		for _, protocol := range []thriftpackv1.Protocol{thriftpackv1.Protocol_PROTOCOL_COMPACT, thriftpackv1.Protocol_PROTOCOL_BINARY} {
			want := binary.AppendUvarint(nil, uint64(n))
			if protocol == thriftpackv1.Protocol_PROTOCOL_BINARY {
				want = binary.BigEndian.AppendUint32(nil, uint32(n))
			}
			value := binaryOf(n)
			want = append(want, value.GetBinary()...)
			reply, err := h.client.Encode(t.Context(), encodeRequestOf(value, &thriftpackv1.EncodeOptions{Protocol: protocol}))
			if err != nil {
				t.Fatalf("Encode(%d bytes, %v): %v", n, protocol, err)
			}
			if !bytes.Equal(reply.GetData(), want) {
				t.Errorf("Encode(%d bytes, %v): the reply differs", n, protocol)
			}
		}
	}
	if faults := h.server.service.pool.Stats().Faults; faults != 0 {
		t.Errorf("pool: %d faults", faults)
	}
}

func TestUnaryReplyLimit(t *testing.T) {
	// Size of the data that makes a reply of exactly 10,000 bytes: a tag, a length of 2, a length of 2 within the data.
	const limit, exact = 10_000, 10_000 - 3 - 2
	h := start(t, func(s *setup) { s.cfg.MaxUnaryReplyBytes = limit })
	for _, protocol := range []thriftpackv1.Protocol{thriftpackv1.Protocol_PROTOCOL_COMPACT, thriftpackv1.Protocol_PROTOCOL_BINARY} {
		o := &thriftpackv1.EncodeOptions{Protocol: protocol}
		n := exact
		if protocol == thriftpackv1.Protocol_PROTOCOL_BINARY {
			n -= 2 // its length takes four bytes
		}
		reply, err := h.client.Encode(t.Context(), encodeRequestOf(binaryOf(n), o))
		if err != nil || proto.Size(reply) != limit {
			t.Fatalf("%v: at the limit: %d bytes, %v", protocol, proto.Size(reply), err)
		}
		_, err = h.client.Encode(t.Context(), encodeRequestOf(binaryOf(n+1), o))
		wantError(t, err, codes.ResourceExhausted, "SIZE_LIMIT", "10001", "10000", "EncodeStream", "--max-unary-reply-bytes")
	}
}

func TestEncodeRefuses(t *testing.T) {
	h := start(t)
	value := fixture.OneOfEach()
	for _, tt := range []struct {
		name    string
		request *thriftpackv1.EncodeRequest
		code    codes.Code
		reason  string
		path    string
	}{
		{"no input", &thriftpackv1.EncodeRequest{}, codes.InvalidArgument, "MISSING_KIND", "input"},
		{"a value without a kind", encodeRequestOf(&thriftpackv1.Value{}, nil), codes.InvalidArgument, "MISSING_KIND", "value"},
		{
			"an i16 out of range", encodeRequestOf(thriftpackv1.StructValue(&thriftpackv1.Field{Id: 1, Kind: &thriftpackv1.Field_I16{I16: 40000}}), nil),
			codes.InvalidArgument, "INT_RANGE", "value.struct.fields[0].i16",
		},
		{"JSON without a type", &thriftpackv1.EncodeRequest{Input: &thriftpackv1.EncodeRequest_Json{Json: "{}"}}, codes.InvalidArgument, "MISSING_KIND", "type"},
		{
			"a type of a schema that is not there",
			&thriftpackv1.EncodeRequest{Input: &thriftpackv1.EncodeRequest_Value{Value: value}, Type: &thriftpackv1.TypeRef{Schema: "s", Type: "T"}},
			codes.NotFound, "SCHEMA_NOT_FOUND", "type.schema",
		},
		{"an unknown protocol", encodeRequestOf(value, &thriftpackv1.EncodeOptions{Protocol: 3}), codes.InvalidArgument, "BAD_OPTION", "options.protocol"},
		{"an unknown framing", encodeRequestOf(value, &thriftpackv1.EncodeOptions{Framing: -1}), codes.InvalidArgument, "BAD_OPTION", "options.framing"},
		{
			"no message type", encodeRequestOf(value, &thriftpackv1.EncodeOptions{Message: &thriftpackv1.MessageHeader{Name: "x"}}),
			codes.InvalidArgument, "BAD_HEADER", "options.message.type",
		},
		{
			"an unknown message type", encodeRequestOf(value, &thriftpackv1.EncodeOptions{Message: &thriftpackv1.MessageHeader{Name: "x", Type: 5}}),
			codes.InvalidArgument, "BAD_OPTION", "options.message.type",
		},
		{
			"an envelope around a list", encodeRequestOf(&thriftpackv1.Value{Kind: &thriftpackv1.Value_I32{I32: 1}}, &thriftpackv1.EncodeOptions{
				Message: &thriftpackv1.MessageHeader{Name: "x", Type: thriftpackv1.MessageType_MESSAGE_TYPE_CALL},
			}),
			codes.InvalidArgument, "TYPE_MISMATCH", "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := h.client.Encode(t.Context(), tt.request)
			wantError(t, err, tt.code, tt.reason)
			if path := infoOf(err).GetMetadata()["path"]; tt.path != "" && path != tt.path {
				t.Errorf("path: got %q, want %q", path, tt.path)
			}
			for _, count := range []int64{0, 1000} {
				s, err := h.client.EncodeStream(t.Context(), &thriftpackv1.EncodeStreamRequest{Request: tt.request, Count: count})
				if err != nil {
					t.Fatalf("EncodeStream: %v", err)
				}
				chunks, err := drainStream(s)
				wantError(t, err, tt.code, tt.reason)
				if len(chunks) != 0 || s.Trailer().Get(thriftpackv1.BytesTrailer)[0] != "0" || s.Trailer().Get(thriftpackv1.CRC32CTrailer)[0] != "00000000" {
					t.Errorf("EncodeStream: %d chunks, trailers %v, want none", len(chunks), s.Trailer())
				}
			}
		})
	}
}

// received is what a stream of bytes came to.
type received struct {
	data     []byte
	messages []int // their sizes
	header   metadata.MD
	trailer  metadata.MD
	err      error
}

// encodeStreamOf runs EncodeStream.
func encodeStreamOf(t *testing.T, h *harness, r *thriftpackv1.EncodeStreamRequest) received {
	t.Helper()
	s, err := h.client.EncodeStream(t.Context(), r)
	if err != nil {
		t.Fatalf("EncodeStream: %v", err)
	}
	var got received
	chunks, err := drainStream(s)
	for _, chunk := range chunks {
		got.data = append(got.data, chunk.GetData()...)
		got.messages = append(got.messages, proto.Size(chunk))
	}
	got.err = err
	got.header, _ = s.Header()
	got.trailer = s.Trailer()
	return got
}

// wantTrailers compares the trailers with what came.
func (r received) wantTrailers(t *testing.T) {
	t.Helper()
	wantBytes := strconv.Itoa(len(r.data))
	wantCRC := fmt.Sprintf("%08x", crc32.Checksum(r.data, crc32.MakeTable(crc32.Castagnoli)))
	if got := strings.Join(r.trailer.Get(thriftpackv1.BytesTrailer), ","); got != wantBytes {
		t.Errorf("%s: got %s, want %s", thriftpackv1.BytesTrailer, got, wantBytes)
	}
	if got := strings.Join(r.trailer.Get(thriftpackv1.CRC32CTrailer), ","); got != wantCRC {
		t.Errorf("%s: got %s, want %s", thriftpackv1.CRC32CTrailer, got, wantCRC)
	}
}

func TestEncodeStreamEqualsEncode(t *testing.T) {
	h := start(t, func(s *setup) { s.pool = stream.NewCheckedPool() })
	call := &thriftpackv1.MessageHeader{Name: "ping", Type: thriftpackv1.MessageType_MESSAGE_TYPE_CALL, Seqid: -1}
	for _, value := range []*thriftpackv1.Value{
		fixture.OneOfEach(), fixture.Nested4(), binaryOf(1 << 20), binaryOf(32763 - 4 - 3), binaryOf(32763 - 4 - 4),
	} {
		for _, options := range []*thriftpackv1.EncodeOptions{
			nil,
			{Framing: thriftpackv1.Framing_FRAMING_FRAMED},
			{Protocol: thriftpackv1.Protocol_PROTOCOL_BINARY},
		} {
			if value.GetStruct() != nil && options != nil {
				options.Message = call
			}
			request := encodeRequestOf(value, options)
			unary, err := h.client.Encode(t.Context(), request)
			if err != nil {
				t.Fatalf("Encode: %v", err)
			}
			for _, chunkSize := range []int32{0, 4096, stream.MaxChunkSize} {
				got := encodeStreamOf(t, h, &thriftpackv1.EncodeStreamRequest{Request: request, ChunkSize: chunkSize})
				if got.err != nil {
					t.Fatalf("EncodeStream(%v, chunk size %d): %v", options, chunkSize, got.err)
				}
				if !bytes.Equal(got.data, unary.GetData()) {
					t.Errorf("EncodeStream(%v, chunk size %d): %d bytes that differ from Encode's %d", options, chunkSize, len(got.data), len(unary.GetData()))
				}
				if length := strings.Join(got.header.Get(thriftpackv1.LengthHeader), ","); length != strconv.Itoa(len(unary.GetData())) {
					t.Errorf("%s: got %s, want %d", thriftpackv1.LengthHeader, length, len(unary.GetData()))
				}
				got.wantTrailers(t)
				if chunkSize == 0 {
					chunkSize = stream.DefaultChunkSize
				}
				for i, size := range got.messages {
					// The encoder ends a chunk where the next item might not fit.
					if last := i == len(got.messages)-1; size > int(chunkSize) || !last && size < int(chunkSize)-sinkRoom {
						t.Errorf("EncodeStream(%v, chunk size %d): message %d of %d has %d bytes", options, chunkSize, i, len(got.messages), size)
					}
				}
			}
		}
	}
	if faults := h.server.service.pool.Stats().Faults; faults != 0 {
		t.Errorf("pool: %d faults", faults)
	}
}

func TestEncodeStreamCount(t *testing.T) {
	h := start(t, func(s *setup) { s.pool = stream.NewCheckedPool() })
	for _, protocol := range []thriftpackv1.Protocol{thriftpackv1.Protocol_PROTOCOL_COMPACT, thriftpackv1.Protocol_PROTOCOL_BINARY} {
		for _, value := range []*thriftpackv1.Value{
			fixture.OneOfEach(), binaryOf(4096), binaryOf(40_000),
			{Kind: &thriftpackv1.Value_Bool{Bool: true}},
			// Eight bytes each in binary, one in compact: too large to be held.
			{Kind: &thriftpackv1.Value_List{List: &thriftpackv1.List{I64S: make([]int64, 5000)}}},
		} {
			request := encodeRequestOf(value, &thriftpackv1.EncodeOptions{Protocol: protocol})
			unary, err := h.client.Encode(t.Context(), request)
			if err != nil {
				t.Fatalf("Encode: %v", err)
			}
			for _, count := range []int64{0, 1, 2, 3, 100, int64(100_000/len(unary.GetData()) + 1)} {
				got := encodeStreamOf(t, h, &thriftpackv1.EncodeStreamRequest{Request: request, ChunkSize: 4096, Count: count})
				if got.err != nil {
					t.Fatalf("count %d: %v", count, got.err)
				}
				if want := bytes.Repeat(unary.GetData(), int(max(count, 1))); !bytes.Equal(got.data, want) {
					t.Errorf("%v, count %d: %d bytes differ from %d", protocol, count, len(got.data), len(want))
				}
				got.wantTrailers(t)
			}
		}
	}
	for _, tt := range []struct {
		count  int64
		reason string
	}{{-1, "BAD_OPTION"}, {1 << 62, "BAD_OPTION"}} {
		got := encodeStreamOf(t, h, &thriftpackv1.EncodeStreamRequest{Request: encodeRequestOf(fixture.OneOfEach(), nil), Count: tt.count})
		wantError(t, got.err, codes.InvalidArgument, tt.reason, "count")
		got.wantTrailers(t)
	}
	if faults := h.server.service.pool.Stats().Faults; faults != 0 {
		t.Errorf("pool: %d faults", faults)
	}
}

func TestChunkSizeBounds(t *testing.T) {
	h := start(t)
	for _, tt := range []struct {
		size int32
		ok   bool
	}{{4095, false}, {4096, true}, {1 << 20, true}, {1<<20 + 1, false}, {-1, false}} {
		got := encodeStreamOf(t, h, &thriftpackv1.EncodeStreamRequest{Request: encodeRequestOf(fixture.OneOfEach(), nil), ChunkSize: tt.size})
		if tt.ok {
			if got.err != nil {
				t.Errorf("chunk size %d: %v", tt.size, got.err)
			}
			continue
		}
		wantError(t, got.err, codes.InvalidArgument, "BAD_OPTION", "chunk_size")
	}
}

// TestEncodeAllocations states what a small unary call allocates of its own: the reply, with its bytes and what gRPC takes them in.
func TestEncodeAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("allocations differ under the race detector")
	}
	h := start(t)
	call := newUnaryCall(h.server.service)
	request, err := proto.Marshal(encodeRequestOf(fixture.OneOfEach(), nil))
	if err != nil {
		t.Fatal(err)
	}
	var plan encodePlan
	_ = encoder.Bound(len(request), &plan.options)
	got := testing.AllocsPerRun(1000, func() {
		call.raw.buffer = lend(request)
		reply, err := h.server.service.encode(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		if data, err := (&codec{}).Marshal(reply); err != nil || data.Len() != int(dataSize(fixture.OneOfEachCompactSize)) {
			t.Fatalf("Marshal: %d bytes, %v", data.Len(), err)
		}
	})
	// One more is the test's own buffer.
	if got > 2 {
		t.Errorf("encode allocates %v times, want at most 2", got)
	}
}
