package server

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// typedDecode returns a request to decode bytes as a type of the example.
func typedDecode(typ string, data []byte, options *thriftpackv1.DecodeOptions) *thriftpackv1.DecodeRequest {
	return &thriftpackv1.DecodeRequest{Data: data, Type: &thriftpackv1.TypeRef{Schema: "example", Type: typ}, Options: options}
}

// toJSON returns options for JSON.
func toJSON(changes ...func(*thriftpackv1.DecodeOptions)) *thriftpackv1.DecodeOptions {
	o := &thriftpackv1.DecodeOptions{Output: thriftpackv1.Output_OUTPUT_JSON}
	for _, change := range changes {
		change(o)
	}
	return o
}

// decodedCases are bytes that Apache's libraries write, and what they are.
var decodedCases = []struct {
	name, typ, data string
	options         *thriftpackv1.DecodeOptions
	json            string
	value           *thriftpackv1.Value
	unknown         []*thriftpackv1.UnknownField
}{
	{name: "an empty struct", typ: "S", data: "00", options: toJSON(), json: `{}`},
	{name: "an i64", typ: "S", data: "16828080808080802000", options: toJSON(), json: `{"l":"9007199254740993"}`},
	{
		name: "an i64 as a number", typ: "S", data: "16828080808080802000", json: `{"l":9007199254740993}`,
		options: toJSON(func(o *thriftpackv1.DecodeOptions) { o.I64AsNumber = true }),
	},
	{name: "binary", typ: "S", data: "28030001ff00", options: toJSON(), json: `{"b":"AAH/"}`},
	{name: "text", typ: "S", data: "880368c3a900", options: toJSON(), json: `{"s":"hé"}`},
	{name: "a map", typ: "S", data: "3b015802017800", options: toJSON(), json: `{"m":{"1":"x"}}`},
	{name: "an enum", typ: "S", data: "450200", options: toJSON(), json: `{"e":"X"}`},
	{name: "an enum without a name", typ: "S", data: "45c60100", options: toJSON(), json: `{"e":99}`},
	{name: "NaN", typ: "S", data: "57000000000000f87f00", options: toJSON(), json: `{"d":"NaN"}`},
	{name: "a union", typ: "S", data: "6c15020000", options: toJSON(), json: `{"u":{"a":1}}`},
	{name: "an absent default", typ: "R", data: "150200", options: toJSON(), json: `{"r":1}`},
	{
		name: "an absent default that is written", typ: "R", data: "150200", json: `{"r":1,"d":7,"o":9}`,
		options: toJSON(func(o *thriftpackv1.DecodeOptions) { o.EmitDefaults = true }),
	},
	{
		name: "unknown fields", typ: "R", data: "150265068c150a0000", options: toJSON(), json: `{"r":1}`,
		unknown: []*thriftpackv1.UnknownField{
			{Path: "R.7", Id: 7, Type: thriftpackv1.Type_TYPE_I32}, {Path: "R.15", Id: 15, Type: thriftpackv1.Type_TYPE_STRUCT},
		},
	},
	{
		name: "unknown fields that are kept", typ: "R", data: "150265068c150a0000", json: `{"r":1,"7":{"i32":3},"15":{"struct":{"1":{"i32":5}}}}`,
		options: toJSON(func(o *thriftpackv1.DecodeOptions) { o.KeepUnknown = true }),
	},
	{name: "a scalar", typ: "E", data: "04", options: toJSON(), json: `"Y"`},
	{
		name: "text in a Value", typ: "S", data: "1602780168" + "00", // i64 1, string h
		value: thriftpackv1.StructValue(thriftpackv1.I64Field(1, 1), thriftpackv1.StringField(8, "h")),
	},
	{
		name: "unknown fields in a Value", typ: "R", data: "15026506" + "00",
		value:   thriftpackv1.StructValue(thriftpackv1.I32Field(1, 1)),
		unknown: []*thriftpackv1.UnknownField{{Path: "R.7", Id: 7, Type: thriftpackv1.Type_TYPE_I32}},
	},
	{
		name: "unknown fields that are kept in a Value", typ: "R", data: "15026506" + "00", options: &thriftpackv1.DecodeOptions{KeepUnknown: true},
		value: thriftpackv1.StructValue(thriftpackv1.I32Field(1, 1), thriftpackv1.I32Field(7, 3)),
	},
}

func TestDecodeTyped(t *testing.T) {
	h := start(t, withExample)
	batch, err := h.client.DecodeBatch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range decodedCases {
		t.Run(tt.name, func(t *testing.T) {
			request := typedDecode(tt.typ, fromHex(t, tt.data), tt.options)
			want := &thriftpackv1.DecodeResponse{BytesRead: int64(len(tt.data) / 2), Unknown: tt.unknown}
			stream := []byte(tt.json)
			if tt.value != nil {
				want.Output = &thriftpackv1.DecodeResponse_Value{Value: tt.value}
				var err error
				if stream, err = (proto.MarshalOptions{Deterministic: true}).Marshal(tt.value); err != nil {
					t.Fatal(err)
				}
			} else {
				want.Output = &thriftpackv1.DecodeResponse_Json{Json: tt.json}
			}
			got, err := h.client.Decode(t.Context(), request)
			if diff := cmp.Diff(want, got, protocmp.Transform()); err != nil || diff != "" {
				t.Errorf("Decode: %v, -want +got:\n%s", err, diff)
			}
			data, _, read := decodeStreamOf(t, h, &thriftpackv1.DecodeStreamRequest{Request: request})
			if !bytes.Equal(data, stream) || read != want.GetBytesRead() {
				t.Errorf("DecodeStream: %q, %d bytes read; want %q, %d", data, read, stream, want.GetBytesRead())
			}
			bad := typedDecode("S", []byte{0xFF}, nil)
			if err := batch.Send(&thriftpackv1.DecodeBatchRequest{Requests: []*thriftpackv1.DecodeRequest{request, bad, request}}); err != nil {
				t.Fatal(err)
			}
			results, err := batch.Recv()
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range []int{0, 2} {
				if diff := cmp.Diff(want, results.GetResults()[i].GetResponse(), protocmp.Transform()); diff != "" {
					t.Errorf("DecodeBatch: result %d, -want +got:\n%s", i, diff)
				}
			}
			if results.GetResults()[1].GetError().GetCode() != int32(codes.InvalidArgument) {
				t.Errorf("DecodeBatch: result 1 is %v", results.GetResults()[1])
			}
			if tt.value != nil || tt.unknown != nil || (tt.options.GetEmitDefaults() || tt.options.GetI64AsNumber()) {
				return
			}
			// And back: unknown fields that were kept, too. Defaults that were not there stay away.
			back, err := h.client.Encode(t.Context(), jsonRequest(tt.typ, tt.json, &thriftpackv1.EncodeOptions{OmitDefaults: true}))
			if data := hex.EncodeToString(back.GetData()); err != nil || data != tt.data {
				t.Errorf("Encode of the JSON: %s, %v; want %s", data, err, tt.data)
			}
		})
	}
}

func TestDecodeTypedMessages(t *testing.T) {
	h := start(t, withExample)
	data := fromHex(t, "0000000c"+"82210103616464"+"1502150400"+"00")
	options := toJSON(func(o *thriftpackv1.DecodeOptions) {
		o.Message, o.Framing, o.AllowTrailing = true, thriftpackv1.Framing_FRAMING_FRAMED, true
	})
	got, err := h.client.Decode(t.Context(), typedDecode("Calls.add.args", data[:len(data)-1], options))
	want := &thriftpackv1.MessageHeader{Name: "add", Type: thriftpackv1.MessageType_MESSAGE_TYPE_CALL, Seqid: 1}
	if err != nil || got.GetJson() != `{"a":1,"b":2}` || !proto.Equal(got.GetMessage(), want) || got.GetBytesRead() != 16 {
		t.Errorf("Decode: %v, %v", got, err)
	}
	text, header, read := decodeStreamOf(t, h, &thriftpackv1.DecodeStreamRequest{Request: typedDecode("Calls.add.args", data, options)})
	if string(text) != `{"a":1,"b":2}` || !proto.Equal(header, want) || read != 16 {
		t.Errorf("DecodeStream: %s, %v, %d", text, header, read)
	}
}

func TestDecodeTypedThatIsRefused(t *testing.T) {
	h := start(t, withExample)
	in := func(typ, data string, options *thriftpackv1.DecodeOptions) *thriftpackv1.DecodeRequest {
		return typedDecode(typ, fromHex(t, data), options)
	}
	lenient := toJSON(func(o *thriftpackv1.DecodeOptions) { o.Lenient = true })
	badText := "8802" + hex.EncodeToString([]byte("\xff" + secret))[:4] + "00"
	for _, tt := range []struct {
		name    string
		request *thriftpackv1.DecodeRequest
		code    codes.Code
		reason  string
		path    string
		offset  string
	}{
		{"another kind", in("R", "160200", nil), codes.InvalidArgument, "TYPE_MISMATCH", "R.r", "0"},
		{"a required field that is missing", in("R", "250e00", toJSON()), codes.InvalidArgument, "MISSING_FIELD", "R.r", ""},
		{"a field twice", in("R", "1502"+"050202"+"00", toJSON()), codes.InvalidArgument, "DUPLICATE_FIELD", "R.r", "2"},
		{"text that is not UTF-8", in("S", badText, toJSON()), codes.InvalidArgument, "BAD_UTF8", "S.s", "2"},
		{"an element twice", in("S", "9a"+"25"+"0202"+"00", toJSON()), codes.InvalidArgument, "DUPLICATE_ELEMENT", "S.st[1]", "3"},
		{"two members of a union", in("S", "6c"+"1502"+"180178"+"00"+"00", toJSON()), codes.InvalidArgument, "UNION_ARITY", "S.u", ""},
		{"bytes that end", in("R", "15", toJSON()), codes.InvalidArgument, "TRUNCATED", "R.r", "1"},
		{"no such type", in("T", "00", nil), codes.NotFound, "TYPE_NOT_FOUND", "type.type", ""},
		{"another root", in("R", "00", &thriftpackv1.DecodeOptions{RootType: thriftpackv1.Type_TYPE_I32}), codes.InvalidArgument, "BAD_OPTION", "options.root_type", ""},
		{"detected text", in("R", "00", &thriftpackv1.DecodeOptions{DetectText: true}), codes.InvalidArgument, "BAD_OPTION", "options.detect_text", ""},
		{"JSON without a type", &thriftpackv1.DecodeRequest{Data: []byte{0}, Options: toJSON()}, codes.InvalidArgument, "MISSING_KIND", "type", ""},
		{"lenient, and still too short", in("R", "15", lenient), codes.InvalidArgument, "TRUNCATED", "", ""},
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
			_, err := h.client.Decode(t.Context(), tt.request)
			check("Decode", err)
			s, err := h.client.DecodeStream(t.Context(), &thriftpackv1.DecodeStreamRequest{Request: tt.request})
			if err != nil {
				t.Fatal(err)
			}
			if chunks, err := drainStream(s); len(chunks) > 0 {
				t.Errorf("DecodeStream sent %d responses", len(chunks))
			} else {
				check("DecodeStream", err)
			}
			b, err := h.client.DecodeBatch(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Send(&thriftpackv1.DecodeBatchRequest{Requests: []*thriftpackv1.DecodeRequest{tt.request}}); err != nil {
				t.Fatal(err)
			}
			results, err := b.Recv()
			if err != nil {
				t.Fatal(err)
			}
			failed := results.GetResults()[0].GetError()
			check("DecodeBatch", status.ErrorProto(&spb.Status{Code: failed.GetCode(), Message: failed.GetMessage(), Details: failed.GetDetails()}))
			_ = b.CloseSend()
			if _, err := b.Recv(); !errors.Is(err, io.EOF) {
				t.Errorf("DecodeBatch: %v at its end", err)
			}
		})
	}
	wantNoSecret(t, "the log", h.log.String())
	if got, err := h.client.Decode(t.Context(), in("R", "1502"+"050204"+"00", lenient)); err != nil || got.GetJson() != `{"r":2}` {
		t.Errorf("a field twice, lenient: %v, %v", got, err)
	}
}

// TestDecodeTypedLimits has results that are larger than a reply, and bytes that stand for much more than they are.
func TestDecodeTypedLimits(t *testing.T) {
	const limit = 10_000
	h := start(t, withExample, func(s *setup) {
		s.cfg.MaxUnaryReplyBytes, s.cfg.MaxRequestBytes, s.cfg.StreamBudget = limit, 100_000, 8<<20
	})
	text := func(n int) []byte {
		return append(append([]byte{0x88, byte(n) | 0x80, byte(n >> 7)}, bytes.Repeat([]byte("x"), n)...), 0)
	}
	// The JSON has 8 bytes around the text, the reply 3 around that and 3 for bytes_read.
	const longest = limit - 8 - 3 - 3
	if got, err := h.client.Decode(t.Context(), typedDecode("S", text(longest), toJSON())); err != nil || proto.Size(got) != limit {
		t.Errorf("a reply as large as may be: %d bytes, %v", proto.Size(got), err)
	}
	for _, n := range []int{longest + 1, longest + 100} {
		_, err := h.client.Decode(t.Context(), typedDecode("S", text(n), toJSON()))
		wantError(t, err, codes.ResourceExhausted, "SIZE_LIMIT", "exceeds the limit of 10000 (--max-unary-reply-bytes; use DecodeStream)")
		_, err = h.client.Decode(t.Context(), typedDecode("S", text(n+8), nil))
		wantError(t, err, codes.ResourceExhausted, "SIZE_LIMIT", "--max-unary-reply-bytes; use DecodeStream")
	}
	data, _, _ := decodeStreamOf(t, h, &thriftpackv1.DecodeStreamRequest{Request: typedDecode("S", text(16_000), toJSON()), ChunkSize: 4096})
	if string(data) != `{"s":"`+strings.Repeat("x", 16_000)+`"}` {
		t.Errorf("DecodeStream: %d bytes", len(data))
	}

	// An empty struct is a byte, and with its defaults a hundred.
	many := func(n int) []byte {
		return append(append([]byte{0x19, 0xFC, byte(n) | 0x80, byte(n>>7) | 0x80, byte(n >> 14)}, make([]byte, n)...), 0)
	}
	defaults := toJSON(func(o *thriftpackv1.DecodeOptions) { o.EmitDefaults = true })
	_, err := h.client.Decode(t.Context(), typedDecode("Many", many(5_000), defaults))
	wantError(t, err, codes.ResourceExhausted, "SIZE_LIMIT", "--max-unary-reply-bytes; use DecodeStream")
	each := `{"texts":["` + firstDefault + `","` + secondDefault + `"]}`
	data, _, _ = decodeStreamOf(t, h, &thriftpackv1.DecodeStreamRequest{Request: typedDecode("Many", many(50_000), defaults)})
	if want := `{"many":[` + strings.TrimSuffix(strings.Repeat(each+",", 50_000), ",") + `]}`; string(data) != want {
		t.Errorf("DecodeStream of defaults: %d bytes, want %d", len(data), len(want))
	}
	// Where the decoded value itself is too large for a unary call.
	_, err = h.client.Decode(t.Context(), typedDecode("Many", many(60_000), toJSON()))
	wantError(t, err, codes.ResourceExhausted, "SIZE_LIMIT", "--max-request-bytes; use DecodeStream")

	b, err := h.client.DecodeBatch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	small, large := typedDecode("Many", many(10), defaults), typedDecode("Many", many(5_000), defaults)
	if err := b.Send(&thriftpackv1.DecodeBatchRequest{Requests: []*thriftpackv1.DecodeRequest{small, large, small}}); err != nil {
		t.Fatal(err)
	}
	results, err := b.Recv()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int32{0, int32(codes.ResourceExhausted), 0} {
		result := results.GetResults()[i]
		if result.GetError().GetCode() != want || want == 0 && len(result.GetResponse().GetJson()) != len(`{"many":[]}`)+10*len(each)+9 {
			t.Errorf("DecodeBatch: result %d: %v", i, result)
		}
	}
	h.eventuallyIdle(t)
}

// worstTypedRequests are requests with a type that make the most of their size.
func worstTypedRequests(t *testing.T, size int) map[string]struct {
	method  string
	request []byte
} {
	t.Helper()
	encode := func(text string, count int64) []byte {
		return marshal(t, &thriftpackv1.EncodeStreamRequest{Request: jsonRequest("Worst", text, nil), Count: count})
	}
	decode := func(data []byte, options *thriftpackv1.DecodeOptions) []byte {
		return marshal(t, &thriftpackv1.DecodeStreamRequest{Request: typedDecode("Worst", data, options)})
	}
	number := func(n int) []byte { return []byte{byte(n) | 0x80, byte(n>>7) | 0x80, byte(n >> 14)} }
	lists := `{"lists":[` + strings.Repeat("[],", size/3-10) + "[]]}"
	var set strings.Builder
	set.WriteString(`{"set":[0`)
	for i := 1; set.Len() < size-20; i++ {
		set.WriteByte(',')
		set.WriteString(strconv.Itoa(i))
	}
	set.WriteString("]}")
	// Structs of one bool are two bytes each.
	many := append(append([]byte{0x29, 0xFC}, number(1_000_000)...), bytes.Repeat([]byte{0xC1, 0x00}, 1_000_000)...)
	// The fields out of order, so that they are put in order, and a set, in which twins are looked for.
	disordered := append([]byte{0x3A, 0xF5}, number(700_000)...)
	for i := range 700_000 {
		disordered = append(disordered, byte(i)|0x80, byte(i>>7)|0x80, byte(i>>14))
	}
	disordered = append(append(disordered, 0x09, 0x02, 0xF9), number(300_000)...)
	disordered = append(append(disordered, bytes.Repeat([]byte{0x05}, 300_000)...), 0)
	value := &thriftpackv1.Value{}
	fields := make([]*thriftpackv1.List, 200_000)
	for i := range fields {
		fields[i] = &thriftpackv1.List{} // the type says of what
	}
	value.Kind = &thriftpackv1.Value_Struct{Struct: &thriftpackv1.Struct{Fields: []*thriftpackv1.Field{
		{Id: 1, Kind: &thriftpackv1.Field_List{List: &thriftpackv1.List{Lists: fields}}},
	}}}
	supplied := marshal(t, &thriftpackv1.EncodeStreamRequest{Count: 1 << 20, Request: &thriftpackv1.EncodeRequest{
		Input: &thriftpackv1.EncodeRequest_Value{Value: value}, Type: &thriftpackv1.TypeRef{Schema: "example", Type: "Worst"},
	}})
	return map[string]struct {
		method  string
		request []byte
	}{
		"JSON of lists":              {"EncodeStream", encode(lists, 1)},
		"JSON of a set, many times":  {"EncodeStream", encode(set.String(), 1<<40)},
		"a Value without types":      {"EncodeStream", supplied},
		"JSON of structs":            {"DecodeStream", decode(append(many, 0), toJSON())},
		"a Value of structs":         {"DecodeStream", decode(append(many, 0), nil)},
		"JSON of what is disordered": {"DecodeStream", decode(disordered, toJSON())},
	}
}
