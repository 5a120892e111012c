package server

import (
	"bytes"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// TestEncodePartsFaults has a fault in each step, behind a field that is whole: its bytes come, the trailers count them, and the error says
// which part it was.
func TestEncodePartsFaults(t *testing.T) {
	h := start(t)
	const whole = "1554" // field 1 is 42
	list := &thriftpackv1.Begin{Type: thriftpackv1.Type_TYPE_LIST, FieldId: 2, ElementType: thriftpackv1.Type_TYPE_I32, Size: 2}
	text := &thriftpackv1.Begin{Type: thriftpackv1.Type_TYPE_STRING, FieldId: 2, Size: 3}
	for _, tt := range []struct {
		name   string
		parts  []*thriftpackv1.Part
		data   string // that comes after the first field
		reason string
		path   string
		words  string
	}{
		{
			"a value out of range",
			[]*thriftpackv1.Part{fieldsPart(thriftpackv1.I32Field(2, 1), &thriftpackv1.Field{Id: 3, Kind: &thriftpackv1.Field_I16{I16: 40000}})},
			"", "INT_RANGE", "parts[0].fields.fields[1].i16", "(part 3 of the stream)",
		},
		{"no step", []*thriftpackv1.Part{{}}, "", "MISSING_KIND", "parts[0]", "(part 3 of the stream)"},
		{"data of a struct", []*thriftpackv1.Part{dataPart([]byte("x"))}, "", "TYPE_MISMATCH", "parts[0].data", "(part 3 of the stream)"},
		{"one element of two", []*thriftpackv1.Part{beginPart(list), elementsPart(thriftpackv1.I32List(1)), endPart()}, "192502", "COUNT_MISMATCH", "parts[2].end", "1 of 2 are missing (part 5 of the stream)"},
		{"three elements of two", []*thriftpackv1.Part{beginPart(list), elementsPart(thriftpackv1.I32List(1, 2, 3))}, "1925", "COUNT_MISMATCH", "parts[1].elements", "(part 4 of the stream)"},
		{"another type", []*thriftpackv1.Part{beginPart(list), elementsPart(thriftpackv1.I64List(1))}, "1925", "TYPE_MISMATCH", "parts[1].elements", "(part 4 of the stream)"},
		{"broken text", []*thriftpackv1.Part{beginPart(text), dataPart([]byte("a\xc3")), dataPart([]byte("a"))}, "180361c3", "BAD_UTF8", "parts[2].data", "(part 5 of the stream)"},
		{"too much text", []*thriftpackv1.Part{beginPart(text), dataPart([]byte("abcd"))}, "1803", "COUNT_MISMATCH", "parts[1].data", "(part 4 of the stream)"},
		{"one end too many", []*thriftpackv1.Part{endPart(), endPart()}, "00", "TYPE_MISMATCH", "parts[1].end", "nothing is open (part 4 of the stream)"},
		{"an open struct", nil, "", "TRUNCATED", "", "1 open, after 2 parts"},
		{"an open list", []*thriftpackv1.Part{beginPart(list)}, "1925", "TRUNCATED", "", "2 of 2 missing, 2 open, after 3 parts"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := h.encodePartsOf(t, sequence(partsRequest(openStruct()...), partsRequest(tt.parts...)))
			wantError(t, got.err, codes.InvalidArgument, tt.reason, tt.words)
			info := infoOf(got.err).GetMetadata()
			if info["path"] != tt.path {
				t.Errorf("path %q, want %q", info["path"], tt.path)
			}
			if _, number, ok := strings.Cut(tt.words, "(part "); ok && number != info["part"]+" of the stream)" {
				t.Errorf("part %q, want that of %q", info["part"], tt.words)
			}
			if want := fromHex(t, whole+tt.data); !bytes.Equal(got.data, want) {
				t.Errorf("data %x, want %x", got.data, want)
			}
			got.wantTrailers(t)
		})
	}
	h.eventuallyIdle(t)
}

func TestEncodePartsEmptyStream(t *testing.T) {
	h := start(t)
	got := h.encodePartsOf(t, sequence[*thriftpackv1.EncodePartsRequest]())
	wantError(t, got.err, codes.InvalidArgument, "MISSING_KIND", "after 0 parts")
	got.wantTrailers(t)
	decoded := h.decodePartsOf(t, sequence[*thriftpackv1.DecodePartsRequest]())
	wantError(t, decoded.err, codes.InvalidArgument, "TRUNCATED")
	decoded.wantTrailers(t)
}

// TestDecodePartsFaults has a fault behind 100 fields that are whole: their parts come, and the trailers say how far they go.
func TestDecodePartsFaults(t *testing.T) {
	h := start(t)
	whole := bytes.Repeat([]byte{0x15, 0x54}, 100)
	for _, tt := range []struct {
		name, data, reason, offset string
		code                       codes.Code
		o                          *thriftpackv1.DecodeOptions
	}{
		{"cut in a field", "18056162", "TRUNCATED", "201", codes.InvalidArgument, nil},
		{"cut between fields", "", "TRUNCATED", "200", codes.InvalidArgument, nil},
		{"a type that does not exist", "1e00", "BAD_TYPE", "200", codes.InvalidArgument, nil},
		{"an id out of range", "05fe ff0702", "INT_RANGE", "201", codes.InvalidArgument, nil},
		{"a wide varint", "15ffffffff7f", "VARINT_OVERFLOW", "201", codes.InvalidArgument, nil},
		{"more behind it", "0001", "TRAILING_BYTES", "201", codes.InvalidArgument, nil},
		{"too deep", "1c1c1c00000000", "DEPTH_LIMIT", "201", codes.ResourceExhausted, &thriftpackv1.DecodeOptions{MaxDepth: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data := append(append([]byte{}, whole...), fromHex(t, noSpace(tt.data))...)
			for _, largest := range []int{1, 1000} {
				got := h.decodePartsOf(t, cut(data, largest, tt.o, 0))
				wantError(t, got.err, tt.code, tt.reason)
				if offset := infoOf(got.err).GetMetadata()["offset"]; offset != tt.offset {
					t.Errorf("offset %s, want %s: %v", offset, tt.offset, got.err)
				}
				got.wantTrailers(t)
				fields := 0
				for _, part := range got.parts {
					fields += len(part.GetFields().GetFields())
				}
				if read := got.trailer.Get(thriftpackv1.BytesReadTrailer); fields != 100 || len(read) != 1 || read[0] < "200" || got.read != 0 {
					t.Errorf("%d fields, bytes read %v in the trailer and %d in a response; want 100, 200 and none", fields, read, got.read)
				}
			}
		})
	}
	h.eventuallyIdle(t)
}

// noSpace leaves out blanks, which part hex for people.
func noSpace(text string) string { return string(bytes.ReplaceAll([]byte(text), []byte(" "), nil)) }

// TestPartsRequestLimit has a later message over the limit, plain and compressed: what was whole before it has come.
func TestPartsRequestLimit(t *testing.T) {
	const limit = 50_000
	for _, tt := range []struct {
		name, words string
		dial        []grpc.DialOption
	}{
		{"plain", "request of bytes: 60008 exceeds the limit of 50000 (--max-request-bytes)", nil},
		{"compressed", "unpacked, of bytes: at least 50001 exceeds the limit of 50000", []grpc.DialOption{grpc.WithDefaultCallOptions(grpc.UseCompressor(gzip.Name))}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := start(t, func(s *setup) { s.cfg.MaxRequestBytes, s.dial = limit, tt.dial })
			text := beginPart(&thriftpackv1.Begin{Type: thriftpackv1.Type_TYPE_BINARY, FieldId: 2, Size: 100_000})
			got := h.encodePartsOf(t, sequence(partsRequest(append(openStruct(), text)...), partsRequest(dataPart(make([]byte, 40_000))), partsRequest(dataPart(make([]byte, 60_000)))))
			wantError(t, got.err, codes.ResourceExhausted, "SIZE_LIMIT", tt.words)
			if info := infoOf(got.err).GetMetadata(); info["limit"] != "50000" || info["actual"] == "" {
				t.Errorf("ErrorInfo %v, want the limit and the size", info)
			}
			if len(got.data) != 2+4+40_000 {
				t.Errorf("%d bytes came, want 40006", len(got.data))
			}
			got.wantTrailers(t)
		})
	}
}

// TestMalformedPartsRequest has bytes that are no request.
func TestMalformedPartsRequest(t *testing.T) {
	h := start(t)
	for _, first := range []bool{true, false} {
		bad := partsRequest()
		bad.ProtoReflect().SetUnknown([]byte{0x1a, 0x05, 0x00})
		requests := sequence(partsRequest(openStruct()...), bad)
		if first {
			requests = sequence(bad)
		}
		got := h.encodePartsOf(t, requests)
		wantError(t, got.err, codes.InvalidArgument, "BAD_PROTO", "malformed protobuf")
		got.wantTrailers(t)
	}
}

// TestPartsKeepNothing runs many streams, with faults in between, over the same encoders and decoders.
func TestPartsKeepNothing(t *testing.T) {
	h := start(t)
	data := fromHex(t, fixture.OneOfEachCompact)
	want := h.decodePartsOf(t, sequence(&thriftpackv1.DecodePartsRequest{Data: data}))
	for range 50 {
		h.encodePartsOf(t, sequence(partsRequest(openStruct()...)))
		h.decodePartsOf(t, sequence(&thriftpackv1.DecodePartsRequest{Data: data[:20]}))
		got := h.decodePartsOf(t, sequence(&thriftpackv1.DecodePartsRequest{Data: data}))
		if got.err != nil || !bytes.Equal(got.data, want.data) {
			t.Fatalf("DecodeParts: %v, %v", got.parts, got.err)
		}
		if back := h.encodePartsOf(t, group(got.parts, 3, nil, 0)); back.err != nil || !bytes.Equal(back.data, data) {
			t.Fatalf("EncodeParts: %x, %v", back.data, back.err)
		}
	}
	h.eventuallyIdle(t)
}
