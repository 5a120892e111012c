package server

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// The default value of Defaults.texts.
const (
	firstDefault  = "a default that is much longer than the braces that stand for it"
	secondDefault = "and another one"
)

// exampleIDL has the types of these tests.
const exampleIDL = `
enum E { X = 1, Y = 2 }
union U { 1: i32 a; 2: string b }
struct S {
	1: optional i64 l; 2: optional binary b; 3: optional map<i32, string> m; 4: optional E e; 5: optional double d; 6: optional U u
	7: optional i8 by; 8: optional string s; 9: optional set<i32> st; 11: optional i32 i; 12: optional bool bo; 13: optional list<i32> li
}
struct R { 1: required i32 r; 2: i32 d = 7; 3: optional i32 o = 9 }
struct Node { 1: optional list<Node> nodes; 2: optional string text }
struct Defaults { 1: list<string> texts = ["` + firstDefault + `", "` + secondDefault + `"] }
struct Many { 1: list<Defaults> many }
struct Worst { 1: list<list<i32>> lists; 2: list<S> many; 3: set<i32> set; 4: map<i32, i32> map }
service Calls { i32 add(1: i32 a, 2: i32 b) }
`

// withExample gives the server the schema "example".
func withExample(s *setup) {
	s.options = append(s.options, WithSchemas(Source{Name: "example", Files: map[string]string{"example.thrift": exampleIDL}, Root: "example.thrift"}))
}

// jsonRequest returns a request to encode JSON as a type of the example.
func jsonRequest(typ, text string, options *thriftpackv1.EncodeOptions) *thriftpackv1.EncodeRequest {
	return &thriftpackv1.EncodeRequest{
		Input: &thriftpackv1.EncodeRequest_Json{Json: text}, Type: &thriftpackv1.TypeRef{Schema: "example", Type: typ}, Options: options,
	}
}

// jsonCases are JSON and the bytes that Apache's libraries write for it.
var jsonCases = []struct {
	name, typ, text string
	options         *thriftpackv1.EncodeOptions
	want            string
}{
	{"an empty struct", "S", `{}`, nil, "00"},
	{"an i64 as a number", "S", `{"l":9007199254740993}`, nil, "16828080808080802000"},
	{"an i64 as text", "S", `{"l":"9007199254740993"}`, nil, "16828080808080802000"},
	{"binary", "S", `{"b":"AAH/"}`, nil, "28030001ff00"},
	{"a map", "S", `{"m":{"1":"x"}}`, nil, "3b015802017800"},
	{"an enum by name", "S", `{"e":"X"}`, nil, "450200"},
	{"an enum by a number without a name", "S", `{"e":99}`, nil, "45c60100"},
	{"NaN", "S", `{"d":"NaN"}`, nil, "57000000000000f87f00"},
	{"a union", "S", `{"u":{"a":1}}`, nil, "6c15020000"},
	{"defaults", "R", `{"r":1}`, nil, "1502150e00"},
	{"defaults left out", "R", `{"r":1}`, &thriftpackv1.EncodeOptions{OmitDefaults: true}, "150200"},
	{"an unknown name", "R", `{"r":1,"q":[{}]}`, &thriftpackv1.EncodeOptions{IgnoreUnknown: true}, "1502150e00"},
	{"a method's arguments as a message", "Calls.add.args", `{"b":2,"a":1}`, &thriftpackv1.EncodeOptions{
		Message: &thriftpackv1.MessageHeader{Name: "add", Type: thriftpackv1.MessageType_MESSAGE_TYPE_CALL, Seqid: 1},
	}, "8221010361646415021504" + "00"},
	{"framed binary protocol", "R", `{"r":1}`, &thriftpackv1.EncodeOptions{
		Protocol: thriftpackv1.Protocol_PROTOCOL_BINARY, Framing: thriftpackv1.Framing_FRAMING_FRAMED,
	}, "0000000f" + "08000100000001" + "08000200000007" + "00"},
	{"a scalar", "E", ` "Y" `, nil, "04"},
}

func TestEncodeJSON(t *testing.T) {
	h := start(t, withExample)
	batch, err := h.client.EncodeBatch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range jsonCases {
		t.Run(tt.name, func(t *testing.T) {
			request := jsonRequest(tt.typ, tt.text, tt.options)
			reply, err := h.client.Encode(t.Context(), request)
			if got := hex.EncodeToString(reply.GetData()); err != nil || got != tt.want {
				t.Errorf("Encode: %s, %v; want %s", got, err, tt.want)
			}
			got := h.stream(t, &thriftpackv1.EncodeStreamRequest{Request: request, Count: 3})
			if data := hex.EncodeToString(got.data); data != strings.Repeat(tt.want, 3) {
				t.Errorf("EncodeStream: %s, want three times %s", data, tt.want)
			}
			got.wantTrailers(t)
			if err := batch.Send(&thriftpackv1.EncodeBatchRequest{Requests: []*thriftpackv1.EncodeRequest{request, jsonRequest("S", "{", nil), request}}); err != nil {
				t.Fatal(err)
			}
			results, err := batch.Recv()
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range []int{0, 2} {
				if got := hex.EncodeToString(results.GetResults()[i].GetResponse().GetData()); got != tt.want {
					t.Errorf("EncodeBatch: result %d is %s, want %s", i, got, tt.want)
				}
			}
			if code := results.GetResults()[1].GetError().GetCode(); code != int32(codes.InvalidArgument) {
				t.Errorf("EncodeBatch: result 1 has code %d", code)
			}
		})
	}
}

// stream is encodeStreamOf where that must succeed.
func (h *harness) stream(t *testing.T, request *thriftpackv1.EncodeStreamRequest) received {
	t.Helper()
	got := encodeStreamOf(t, h, request)
	if length := got.header.Get(thriftpackv1.LengthHeader); got.err != nil || len(length) != 1 || length[0] != strconv.Itoa(len(got.data)) {
		t.Errorf("EncodeStream announced %v, sent %d bytes, %v", length, len(got.data), got.err)
	}
	return got
}

// encodeRaw sends the wire bytes of an EncodeRequest and returns those of the reply.
func (h *harness) encodeRaw(t *testing.T, request []byte) ([]byte, error) {
	t.Helper()
	var reply thriftpackv1.EncodeResponse
	err := h.conn.Invoke(t.Context(), encodeMethod, rawBytes(request), &reply, grpc.ForceCodecV2(rawRequestCodec{}))
	return reply.GetData(), err
}

// rawRequestCodec sends bytes and receives messages.
type rawRequestCodec struct{ rawClientCodec }

func (rawRequestCodec) Unmarshal(data mem.BufferSlice, m any) error {
	return proto.Unmarshal(data.Materialize(), m.(proto.Message))
}

func TestEncodeJSONThatIsRefused(t *testing.T) {
	h := start(t, withExample)
	in := func(typ, text string) *thriftpackv1.EncodeRequest { return jsonRequest(typ, text, nil) }
	schemaOf := func(ref, typ string) *thriftpackv1.EncodeRequest {
		r := in(typ, "{}")
		r.Type.Schema = ref
		return r
	}
	secretSchema := schemaOf("A "+secret, "S")
	for _, tt := range []struct {
		name    string
		request *thriftpackv1.EncodeRequest
		code    codes.Code
		reason  string
		path    string
		offset  string
	}{
		{"out of range", in("S", `{"by":128}`), codes.InvalidArgument, "INT_RANGE", "S.by", "6"},
		{"a fraction", in("S", `{"l":1.5}`), codes.InvalidArgument, "TYPE_MISMATCH", "S.l", "5"},
		{"a null", in("S", `{"li":[1,null]}`), codes.InvalidArgument, "NULL_ELEMENT", "S.li[1]", "9"},
		{"an unknown name", in("S", `{"nope":1}`), codes.InvalidArgument, "UNKNOWN_NAME", "S", "1"},
		{"a required field that is missing", in("R", `{}`), codes.InvalidArgument, "MISSING_FIELD", "R.r", ""},
		{"an element twice", in("S", `{"st":[1,1]}`), codes.InvalidArgument, "DUPLICATE_ELEMENT", "S.st[1]", "9"},
		{"trailing text", in("S", `{} x`), codes.InvalidArgument, "JSON_SYNTAX", "S", "3"},
		{"no text", in("S", ``), codes.InvalidArgument, "JSON_SYNTAX", "S", "0"},
		{"too deep", in("Node", strings.Repeat(`{"nodes":[`, 33)+strings.Repeat("]}", 33)), codes.ResourceExhausted, "DEPTH_LIMIT", "", ""},
		{"no such type", in("T", `{}`), codes.NotFound, "TYPE_NOT_FOUND", "type.type", ""},
		{"no type", in("", `{}`), codes.NotFound, "TYPE_NOT_FOUND", "type.type", ""},
		{"no such schema", schemaOf("other", "S"), codes.NotFound, "SCHEMA_NOT_FOUND", "type.schema", ""},
		{"no such revision", schemaOf("example@0123456789abcdef", "S"), codes.NotFound, "SCHEMA_NOT_FOUND", "type.schema", ""},
		{"what is no reference", secretSchema, codes.NotFound, "SCHEMA_NOT_FOUND", "type.schema", ""},
		{"no type at all", &thriftpackv1.EncodeRequest{Input: &thriftpackv1.EncodeRequest_Json{Json: "{}"}}, codes.InvalidArgument, "MISSING_KIND", "type", ""},
		{"an envelope around a scalar", jsonRequest("E", `"X"`, &thriftpackv1.EncodeOptions{
			Message: &thriftpackv1.MessageHeader{Name: "add", Type: thriftpackv1.MessageType_MESSAGE_TYPE_CALL},
		}), codes.InvalidArgument, "TYPE_MISMATCH", "", ""},
		{"an option", jsonRequest("S", `{}`, &thriftpackv1.EncodeOptions{Protocol: 9}), codes.InvalidArgument, "BAD_OPTION", "options.protocol", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check := func(rpc string, err error) {
				t.Helper()
				wantError(t, err, tt.code, tt.reason)
				if info := infoOf(err).GetMetadata(); tt.path != "" && info["path"] != tt.path || tt.offset != "" && info["offset"] != tt.offset {
					t.Errorf("%s: path %q and offset %q, want %q and %q: %v", rpc, info["path"], info["offset"], tt.path, tt.offset, err)
				}
				wantNoSecret(t, rpc, statusProto(err).String())
			}
			_, err := h.client.Encode(t.Context(), tt.request)
			check("Encode", err)
			s, err := h.client.EncodeStream(t.Context(), &thriftpackv1.EncodeStreamRequest{Request: tt.request})
			if err != nil {
				t.Fatal(err)
			}
			chunks, err := drainStream(s)
			check("EncodeStream", err)
			if len(chunks) > 0 {
				t.Errorf("EncodeStream sent %d chunks of a wrong value", len(chunks))
			}
			b, err := h.client.EncodeBatch(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Send(&thriftpackv1.EncodeBatchRequest{Requests: []*thriftpackv1.EncodeRequest{tt.request}}); err != nil {
				t.Fatal(err)
			}
			results, err := b.Recv()
			if err != nil {
				t.Fatal(err)
			}
			failed := results.GetResults()[0].GetError()
			check("EncodeBatch", status.ErrorProto(&spb.Status{Code: failed.GetCode(), Message: failed.GetMessage(), Details: failed.GetDetails()}))
			_ = b.CloseSend()
			if _, err := b.Recv(); !errors.Is(err, io.EOF) {
				t.Errorf("EncodeBatch: %v at its end", err)
			}
		})
	}
	wantNoSecret(t, "the log", h.log.String())
}

// TestEncodeJSONLimits has results that are larger than a reply, and JSON that stands for much more than it is.
func TestEncodeJSONLimits(t *testing.T) {
	const limit = 10_000
	h := start(t, withExample, func(s *setup) { s.cfg.MaxUnaryReplyBytes, s.cfg.StreamBudget = limit, 4<<20 })
	text := func(n int) string { return `{"s":"` + strings.Repeat("x", n) + `"}` }
	const head = 1 + 2 + 1 + 2 + 1 // tag and length of the data, field header and length of the text, and the end
	if _, err := h.client.Encode(t.Context(), jsonRequest("S", text(limit-head), nil)); err != nil {
		t.Errorf("a reply as large as may be: %v", err)
	}
	_, err := h.client.Encode(t.Context(), jsonRequest("S", text(limit-head+1), nil))
	wantError(t, err, codes.ResourceExhausted, "SIZE_LIMIT", "10001 exceeds the limit of 10000 (--max-unary-reply-bytes; use EncodeStream)")
	_, err = h.client.Encode(t.Context(), jsonRequest("S", text(5*limit), nil))
	wantError(t, err, codes.ResourceExhausted, "SIZE_LIMIT", "--max-unary-reply-bytes; use EncodeStream")
	if got := h.stream(t, &thriftpackv1.EncodeStreamRequest{Request: jsonRequest("S", text(5*limit), nil), ChunkSize: 4096}); len(got.data) != 5*limit+5 {
		t.Errorf("EncodeStream: %d bytes", len(got.data))
	}

	// Braces for a struct with defaults are forty times as long in Thrift.
	amplified := func(n int) *thriftpackv1.EncodeRequest {
		return jsonRequest("Many", `{"many":[`+strings.Repeat("{},", n-1)+`{}]}`, nil)
	}
	const each = 1 + 1 + 1 + len(firstDefault) + 1 + len(secondDefault) + 1
	if got := h.stream(t, &thriftpackv1.EncodeStreamRequest{Request: amplified(10_000)}); len(got.data) != 1+1+2+10_000*each+1 {
		t.Errorf("EncodeStream of defaults: %d bytes, want %d", len(got.data), 1+1+2+10_000*each+1)
	}
	s, err := h.client.EncodeStream(t.Context(), &thriftpackv1.EncodeStreamRequest{Request: amplified(100_000)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := drainStream(s); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("EncodeStream of more than the budget: %v", err)
	}
	_, err = h.client.Encode(t.Context(), amplified(1000))
	wantError(t, err, codes.ResourceExhausted, "SIZE_LIMIT", "use EncodeStream")
	h.eventuallyIdle(t)
}

// TestJSONIsCanceledAtWork cancels a stream of large JSON in its first pass.
func TestJSONIsCanceledAtWork(t *testing.T) {
	h := start(t, withExample)
	text := `{"li":[` + strings.Repeat("1,", 4<<20) + `1]}`
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	for range 5 {
		_, err := h.client.Encode(ctx, jsonRequest("S", text, nil))
		if code := status.Code(err); code != codes.DeadlineExceeded {
			t.Errorf("Encode: %v", err)
		}
	}
	h.eventuallyIdle(t)
}

// TestSplitRequestWithJSON merges what protobuf merges: the last member of the oneof wins, and a type may come in two pieces.
func TestSplitRequestWithJSON(t *testing.T) {
	h := start(t, withExample)
	piece := func(number protowire.Number, data string) []byte {
		return protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), data)
	}
	var request []byte
	for _, p := range [][]byte{
		piece(1, "\x18\x02"), piece(2, "not this"), piece(4, string(piece(1, "other"))), piece(2, `{"r":1}`),
		piece(4, string(piece(2, "R"))), piece(5, "\x20\x01"), piece(4, string(piece(1, "example"))), piece(5, "\x28\x01"),
	} {
		request = append(request, p...)
	}
	reply, err := h.encodeRaw(t, request)
	if got := hex.EncodeToString(reply); err != nil || got != "150200" {
		t.Errorf("Encode: %s, %v", got, err)
	}
	// A value after the JSON takes its place.
	reply, err = h.encodeRaw(t, append(request, piece(1, "\x18\x02")...))
	if status.Code(err) == codes.OK {
		t.Errorf("Encode of an i8 as a struct: %x", reply)
	}
}

// TestDefaultsAreBoundedInStreams has text that becomes fifty times as long. A quarter of the budget is the most that it may become, so that
// memory which doubles as it grows stays within the budget.
func TestDefaultsAreBoundedInStreams(t *testing.T) {
	h := start(t, withExample, func(s *setup) {
		s.cfg.MaxRequestBytes = 1 << 20
		s.cfg.StreamBudget = 16 << 20
	})
	const each = len(firstDefault) + len(secondDefault) + 5 // headers, lengths and a stop
	for _, row := range []struct {
		elements int
		code     codes.Code
	}{{(4 << 20) / each * 9 / 10, codes.OK}, {(4 << 20) / each * 11 / 10, codes.ResourceExhausted}} {
		text := `{"many":[` + strings.Repeat(`{},`, row.elements-1) + `{}]}`
		stream, err := h.client.EncodeStream(t.Context(), &thriftpackv1.EncodeStreamRequest{Request: jsonRequest("Many", text, nil)})
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = stream.Recv()
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		if status.Code(err) != row.code {
			t.Errorf("%d elements of %d bytes: %v, want %v", row.elements, each, err, row.code)
		}
		if err != nil {
			wantError(t, err, codes.ResourceExhausted, "SIZE_LIMIT", "what --stream-budget has for one result")
		}
	}
}
