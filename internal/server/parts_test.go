package server

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fixture"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// partsValues are values of all shapes, smaller and larger than a chunk.
func partsValues() map[string]*thriftpackv1.Value {
	long := bytes.Repeat([]byte("0123456789abcdef"), 10_000)
	return map[string]*thriftpackv1.Value{
		"one of each": fixture.OneOfEach(), "nested": fixture.Nested4(),
		"i64": fixture.ListI64(50_000), "bools": fixture.ListBool(200_000), "doubles": fixture.ListDouble(30_000),
		"strings": fixture.ListString(300, 700), "structs": fixture.ListStruct(5_000), "map": fixture.MapStringI64(10_000),
		"binary": fixture.Binary(300_000), "a bool": {Kind: &thriftpackv1.Value_Bool{Bool: true}}, "an empty struct": thriftpackv1.StructValue(),
		"large ones in a struct": thriftpackv1.StructValue(
			thriftpackv1.I32Field(1, 1), thriftpackv1.BinaryField(2, long), thriftpackv1.ListField(3, fixture.ListI32(40_000).GetList()),
			thriftpackv1.StructField(4, thriftpackv1.StructOf(thriftpackv1.BinaryField(1, long), thriftpackv1.BoolField(2, true))), thriftpackv1.BoolField(5, false)),
		"large ones in a list": thriftpackv1.ListValue(&thriftpackv1.List{Binaries: [][]byte{long, {}, long, {1}}}),
	}
}

// rootOf is the type of a value.
func rootOf(v *thriftpackv1.Value) thriftpackv1.Type {
	m := v.ProtoReflect()
	field := m.WhichOneof(m.Descriptor().Oneofs().ByName("kind"))
	return thriftpackv1.Type(field.Number())
}

// TestPartsRoundTrip decodes values into parts and encodes these again, with cuts and groups of all sizes: the bytes are the same,
// and the parts do not depend on the cuts.
func TestPartsRoundTrip(t *testing.T) {
	sizes := []int32{0, stream.MinChunkSize, 100_000}
	if raceEnabled {
		sizes = sizes[:1]
	}
	h := start(t, func(s *setup) { s.pool = stream.NewCheckedPool() })
	for name, value := range partsValues() {
		if raceEnabled && name == "nested" {
			continue // it is half a minute of the client's protobuf
		}
		for _, protocol := range []thriftpackv1.Protocol{thriftpackv1.Protocol_PROTOCOL_COMPACT, thriftpackv1.Protocol_PROTOCOL_BINARY} {
			for _, chunkSize := range sizes {
				t.Run(fmt.Sprintf("%s %v %d", name, protocol, chunkSize), func(t *testing.T) {
					h.roundTrip(t, value, protocol, chunkSize)
				})
			}
		}
	}
	if faults := h.server.service.pool.Stats().Faults; faults != 0 {
		t.Errorf("pool: %d faults", faults)
	}
	h.eventuallyIdle(t)
}

func (h *harness) roundTrip(t *testing.T, value *thriftpackv1.Value, protocol thriftpackv1.Protocol, chunkSize int32) {
	t.Helper()
	want := encodeStreamOf(t, h, &thriftpackv1.EncodeStreamRequest{Request: encodeRequestOf(value, &thriftpackv1.EncodeOptions{Protocol: protocol})})
	if want.err != nil {
		t.Fatal(want.err)
	}
	options := &thriftpackv1.DecodeOptions{Protocol: protocol, RootType: rootOf(value)}
	limit, err := stream.ChunkSize(chunkSize)
	if err != nil {
		t.Fatal(err)
	}
	var first decodedParts
	for i, largest := range []int{1 << 20, 50_000, 3000} {
		got := h.decodePartsOf(t, cut(want.data, largest, options, chunkSize))
		if got.err != nil {
			t.Fatalf("DecodeParts, cut to %d: %v", largest, got.err)
		}
		got.wantTrailers(t)
		if read := got.trailer.Get(thriftpackv1.BytesReadTrailer); got.read != int64(len(want.data)) || len(read) != 1 || read[0] != strconv.Itoa(len(want.data)) {
			t.Errorf("DecodeParts: %d bytes read, trailer %v, want %d", got.read, read, len(want.data))
		}
		if got.largest > limit {
			t.Errorf("DecodeParts: a message of %d bytes, want %d at most", got.largest, limit)
		}
		if i == 0 {
			first = got
		} else if !bytes.Equal(got.data, first.data) {
			t.Errorf("DecodeParts, cut to %d: other parts than when cut to 1 MiB", largest)
		}
	}
	for _, most := range []int{1, 50} {
		got := h.encodePartsOf(t, group(first.parts, most, &thriftpackv1.EncodeOptions{Protocol: protocol}, chunkSize))
		if got.err != nil {
			t.Fatalf("EncodeParts in groups of %d: %v", most, got.err)
		}
		got.wantTrailers(t)
		if !bytes.Equal(got.data, want.data) {
			t.Errorf("EncodeParts in groups of %d: %d bytes, want the %d that were decoded", most, len(got.data), len(want.data))
		}
		if got.largest > limit {
			t.Errorf("EncodeParts: a message of %d bytes, want %d at most", got.largest, limit)
		}
	}
}

// TestPartsEverySplit splits the bytes, and the parts, of a small value at every position.
func TestPartsEverySplit(t *testing.T) {
	h := start(t)
	data := fromHex(t, fixture.OneOfEachCompact)
	whole := h.decodePartsOf(t, sequence(&thriftpackv1.DecodePartsRequest{Data: data}))
	for at := range len(data) + 1 {
		got := h.decodePartsOf(t, sequence(&thriftpackv1.DecodePartsRequest{Data: data[:at]}, &thriftpackv1.DecodePartsRequest{Data: data[at:]}))
		if got.err != nil || !bytes.Equal(got.data, whole.data) {
			t.Errorf("split at %d: %d parts, %v", at, len(got.parts), got.err)
		}
	}
	for at := range len(whole.parts) + 1 {
		got := h.encodePartsOf(t, sequence(partsRequest(whole.parts[:at]...), partsRequest(whole.parts[at:]...)))
		if got.err != nil || !bytes.Equal(got.data, data) {
			t.Errorf("parts split at %d: %x, %v", at, got.data, got.err)
		}
	}
}

// TestPartsPiped pipes what DecodeParts sends straight into EncodeParts, two values of 13 MiB, one behind the other.
func TestPartsPiped(t *testing.T) {
	h := start(t)
	random := rand.NewChaCha8([32]byte{1})
	value := thriftpackv1.StructValue(thriftpackv1.ListField(1, fixture.ListI64(600_000).GetList()), thriftpackv1.BinaryField(2, make([]byte, 8<<20)))
	_, _ = random.Read(value.GetStruct().GetFields()[1].GetBinary())
	one := encodeStreamOf(t, h, &thriftpackv1.EncodeStreamRequest{Request: encodeRequestOf(value, nil), Count: 2})
	if one.err != nil {
		t.Fatal(one.err)
	}

	decoding, err := h.client.DecodeParts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sent := feed(decoding, cut(one.data, 200_000, &thriftpackv1.DecodeOptions{Records: true}, 0))
	var decodingError error
	got := h.encodePartsOf(t, func(yield func(*thriftpackv1.EncodePartsRequest) bool) {
		for {
			response, err := decoding.Recv()
			if err != nil {
				decodingError = err
				return
			}
			if !yield(partsRequest(response.GetParts()...)) {
				return
			}
		}
	})
	wantSent(t, <-sent, nil)
	if got.err != nil || !bytes.Equal(got.data, one.data) {
		t.Errorf("%d bytes, %v (decoding: %v), want the %d that were decoded", len(got.data), got.err, decodingError, len(one.data))
	}
	got.wantTrailers(t)
	h.eventuallyIdle(t)
}

func TestPartsEnvelope(t *testing.T) {
	h := start(t)
	call := &thriftpackv1.MessageHeader{Name: "ping", Type: thriftpackv1.MessageType_MESSAGE_TYPE_CALL, Seqid: 300}
	data := fromHex(t, "8221ac020470696e67"+fixture.OneOfEachCompact)
	got := h.decodePartsOf(t, cut(data, 5, &thriftpackv1.DecodeOptions{Message: true}, 0))
	if got.err != nil || !proto.Equal(got.message, call) || got.read != int64(len(data)) {
		t.Fatalf("DecodeParts: message %v, %d bytes read, %v", got.message, got.read, got.err)
	}
	back := h.encodePartsOf(t, group(got.parts, 2, &thriftpackv1.EncodeOptions{Message: call}, 0))
	if back.err != nil || !bytes.Equal(back.data, data) {
		t.Errorf("EncodeParts: %x, %v", back.data, back.err)
	}
}

func TestPartsRecords(t *testing.T) {
	h := start(t)
	for _, records := range []int{0, 1, 1000} {
		// {1: 42, 2: "abc"}
		data := bytes.Repeat(fromHex(t, "1554180361626300"), records)
		got := h.decodePartsOf(t, cut(data, 7, &thriftpackv1.DecodeOptions{Records: true}, 0))
		if got.err != nil || got.read != int64(len(data)) {
			t.Fatalf("%d records: %d bytes read, %v", records, got.read, got.err)
		}
		got.wantTrailers(t)
	}
}

// TestPartsAnyOrder has the options behind the parts of the first message, as a runtime may write them.
func TestPartsAnyOrder(t *testing.T) {
	h := start(t)
	request := partsRequest(append(openStruct(), endPart())...)
	// What is unknown to a message is written last. Field 99 is unknown to the server, too.
	options := marshal(t, &thriftpackv1.EncodePartsRequest{Options: &thriftpackv1.EncodeOptions{Protocol: thriftpackv1.Protocol_PROTOCOL_BINARY}, ChunkSize: 4096})
	request.ProtoReflect().SetUnknown(append([]byte{0x9a, 0x06, 0x01, 0x00}, options...))
	got := h.encodePartsOf(t, sequence(request))
	if want := fromHex(t, "0800010000002a00"); got.err != nil || !bytes.Equal(got.data, want) {
		t.Errorf("EncodeParts: %x, %v; want %x", got.data, got.err, want)
	}

	decoding := &thriftpackv1.DecodePartsRequest{Data: got.data}
	decoding.ProtoReflect().SetUnknown(marshal(t, &thriftpackv1.DecodePartsRequest{
		Options: &thriftpackv1.DecodeOptions{Protocol: thriftpackv1.Protocol_PROTOCOL_BINARY}, Data: nil,
	}))
	if back := h.decodePartsOf(t, sequence(decoding)); back.err != nil || back.read != int64(len(got.data)) {
		t.Errorf("DecodeParts: %d bytes read, %v", back.read, back.err)
	}
}

func TestPartsRefuseOptions(t *testing.T) {
	h := start(t)
	encode := func(o *thriftpackv1.EncodeOptions, chunkSize int32) error {
		return h.encodePartsOf(t, sequence(&thriftpackv1.EncodePartsRequest{Options: o, ChunkSize: chunkSize})).err
	}
	decode := func(o *thriftpackv1.DecodeOptions, chunkSize int32) error {
		return h.decodePartsOf(t, sequence(&thriftpackv1.DecodePartsRequest{Options: o, ChunkSize: chunkSize})).err
	}
	framed := thriftpackv1.Framing_FRAMING_FRAMED
	for _, tt := range []struct {
		name         string
		err          error
		reason, path string
	}{
		{"encode framed", encode(&thriftpackv1.EncodeOptions{Framing: framed}, 0), "BAD_OPTION", "options.framing"},
		{"encode another protocol", encode(&thriftpackv1.EncodeOptions{Protocol: 9}, 0), "BAD_OPTION", "options.protocol"},
		{"encode in tiny chunks", encode(nil, 4095), "BAD_OPTION", "chunk_size"},
		{"encode with no message type", encode(&thriftpackv1.EncodeOptions{Message: &thriftpackv1.MessageHeader{}}, 0), "BAD_HEADER", "options.message.type"},
		{"decode framed", decode(&thriftpackv1.DecodeOptions{Framing: framed}, 0), "BAD_OPTION", "options.framing"},
		{"decode text", decode(&thriftpackv1.DecodeOptions{DetectText: true}, 0), "BAD_OPTION", "options.detect_text"},
		{"decode in huge chunks", decode(nil, 1<<20+1), "BAD_OPTION", "chunk_size"},
		{"decode another root", decode(&thriftpackv1.DecodeOptions{RootType: 14}, 0), "BAD_OPTION", "options.root_type"},
		{"decode to JSON", decode(&thriftpackv1.DecodeOptions{Output: thriftpackv1.Output_OUTPUT_JSON}, 0), "BAD_OPTION", "options.output"},
		{"decode records of a message", decode(&thriftpackv1.DecodeOptions{Records: true, Message: true}, 0), "BAD_OPTION", "options.message"},
	} {
		wantError(t, tt.err, codes.InvalidArgument, tt.reason)
		if path := infoOf(tt.err).GetMetadata()["path"]; path != tt.path {
			t.Errorf("%s: path %q, want %q", tt.name, path, tt.path)
		}
	}
}

func TestPartsRefuseLateOptions(t *testing.T) {
	h := start(t)
	first := partsRequest(openStruct()...)
	for path, second := range map[string]*thriftpackv1.EncodePartsRequest{
		"options": {Options: &thriftpackv1.EncodeOptions{}}, "chunk_size": {ChunkSize: 4096},
	} {
		got := h.encodePartsOf(t, sequence(first, second))
		wantError(t, got.err, codes.InvalidArgument, "BAD_OPTION", path, "first message")
		got.wantTrailers(t)
	}
	for path, second := range map[string]*thriftpackv1.DecodePartsRequest{
		"options": {Options: &thriftpackv1.DecodeOptions{}}, "chunk_size": {ChunkSize: 4096},
	} {
		got := h.decodePartsOf(t, sequence(&thriftpackv1.DecodePartsRequest{Data: []byte{0x15}}, second))
		wantError(t, got.err, codes.InvalidArgument, "BAD_OPTION", path, "first message")
	}
}
