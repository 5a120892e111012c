package server

import (
	"encoding/hex"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// wantNoSecret fails when text tells of the payload, in plain or in hex.
func wantNoSecret(t *testing.T, where, text string) {
	t.Helper()
	for _, told := range []string{secret, hex.EncodeToString([]byte(secret)), "unter2"} {
		if strings.Contains(text, told) {
			t.Errorf("%s has the payload: %s", where, text)
		}
	}
}

// wrongValues are values that are refused, each with the secret in the place that is at fault or near it.
func wrongValues() map[string]*thriftpackv1.Value {
	return map[string]*thriftpackv1.Value{
		"uuid": {Kind: &thriftpackv1.Value_Uuid{Uuid: []byte(secret)}},
		"map": thriftpackv1.MapValue(thriftpackv1.MapOf(
			thriftpackv1.StringList(secret), thriftpackv1.StringList(secret, secret))),
		"value of a key": thriftpackv1.MapValue(thriftpackv1.MapOf(
			thriftpackv1.StringList(secret), &thriftpackv1.List{I16S: []int32{1 << 20}})),
		"after a string": thriftpackv1.StructValue(
			thriftpackv1.StringField(1, secret), &thriftpackv1.Field{Id: 40_000, Kind: &thriftpackv1.Field_String_{String_: secret}}),
	}
}

// wrongBytes are inputs that are refused, in the same way. Some look like other formats, which the decoder says.
func wrongBytes() map[string]string {
	long := string(rune(len(secret))) + secret
	return map[string]string{
		"JSON":              `{"password": "` + secret + `", "more": [1, 2, 3]}`,
		"text":              secret + "\n",
		"HTTP":              "GET /" + secret + " HTTP/1.1\r\n\r\n",
		"cut":               "\x18\x7F" + secret,
		"trailing":          "\x18" + long + "\x00" + secret,
		"bad UTF-8 as name": "\x82\x21\x01" + long,
		"bad type":          "\x18" + long + "\x1E\x00",
		"gzip":              "\x1f\x8b\x08\x00\x00\x00\x00\x00" + secret,
		"key of a map":      "\x1B\x01\x88" + long + "\x7F" + secret,
	}
}

// TestPayloadIsNeverTold makes calls that fail by what is in them, by every RPC: neither the status nor the log has anything of it.
func TestPayloadIsNeverTold(t *testing.T) {
	h := start(t)
	failed := func(name string, err error) {
		t.Helper()
		if code := status.Code(err); code != codes.InvalidArgument && code != codes.ResourceExhausted {
			t.Errorf("%s: %v, want a fault", name, err)
		}
		wantNoSecret(t, "the status of "+name, statusProto(err).String())
	}
	for name, value := range wrongValues() {
		request := encodeRequestOf(value, nil)
		_, err := h.client.Encode(t.Context(), request)
		failed("Encode of "+name, err)
		failed("EncodeStream of "+name, encodeStreamOf(t, h, &thriftpackv1.EncodeStreamRequest{Request: request}).err)
		wantNoSecret(t, "the result of "+name, h.batchError(t, request))
	}
	for name, input := range wrongBytes() {
		request := &thriftpackv1.DecodeRequest{Data: []byte(input), Options: &thriftpackv1.DecodeOptions{Message: strings.Contains(name, "name")}}
		_, err := h.client.Decode(t.Context(), request)
		failed("Decode of "+name, err)
		s, err := h.client.DecodeStream(t.Context(), &thriftpackv1.DecodeStreamRequest{Request: request})
		if err != nil {
			t.Fatal(err)
		}
		_, err = drainStream(s)
		failed("DecodeStream of "+name, err)
		wantNoSecret(t, "the result of "+name, h.decodeBatchError(t, request))

		parts, err := h.client.DecodeParts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_ = parts.Send(&thriftpackv1.DecodePartsRequest{Data: request.GetData(), Options: request.GetOptions()})
		_ = parts.CloseSend()
		_, err = drainStream(parts)
		failed("DecodeParts of "+name, err)
	}
	wantNoSecret(t, "the log", h.log.String())
}

// batchError returns the error of a request in a batch, as JSON.
func (h *harness) batchError(t *testing.T, request *thriftpackv1.EncodeRequest) string {
	t.Helper()
	s, err := h.client.EncodeBatch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Send(&thriftpackv1.EncodeBatchRequest{Requests: []*thriftpackv1.EncodeRequest{request}})
	_ = s.CloseSend()
	replies, err := drainStream(s)
	if err != nil || replies[0].GetResults()[0].GetError() == nil {
		t.Fatalf("EncodeBatch: %v, %v; want an error in a result", replies, err)
	}
	return protojson.Format(replies[0])
}

// decodeBatchError is batchError for decoding.
func (h *harness) decodeBatchError(t *testing.T, request *thriftpackv1.DecodeRequest) string {
	t.Helper()
	s, err := h.client.DecodeBatch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Send(&thriftpackv1.DecodeBatchRequest{Requests: []*thriftpackv1.DecodeRequest{request}})
	_ = s.CloseSend()
	replies, err := drainStream(s)
	if err != nil || replies[0].GetResults()[0].GetError() == nil {
		t.Fatalf("DecodeBatch: %v, %v; want an error in a result", replies, err)
	}
	return protojson.Format(replies[0])
}
