package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/inspect"
)

// oneOfEach is a struct with a field of every type that has one value.
func oneOfEach() *thriftpackv1.Value {
	return thriftpackv1.StructValue(
		thriftpackv1.BoolField(1, true),
		thriftpackv1.BoolField(2, false),
		thriftpackv1.I8Field(3, -42),
		thriftpackv1.I16Field(4, 27000),
		thriftpackv1.I32Field(5, 1<<24),
		thriftpackv1.I64Field(6, 6_000_000_000),
		thriftpackv1.DoubleField(7, 3.141592653589793),
		thriftpackv1.StringField(8, "Debug THIS!"),
		thriftpackv1.BinaryField(9, []byte{0xde, 0xad, 0xbe, 0xef}),
		thriftpackv1.ListField(10, thriftpackv1.I64List(1, -1, 1_000_000)),
		thriftpackv1.MapField(11, thriftpackv1.MapOf(thriftpackv1.StringList("one", "two"), thriftpackv1.I32List(1, 2))),
		thriftpackv1.StructField(12, thriftpackv1.StructOf(thriftpackv1.I32Field(1, 7))),
	)
}

// roundTrip encodes, explains the bytes and decodes them.
func (d *demo) roundTrip(ctx context.Context, client thriftpackv1.SerializerServiceClient) error {
	d.title("Encode: a struct to Thrift compact bytes")
	value := oneOfEach()
	text, err := valueJSON(value)
	if err != nil {
		return err
	}
	wire, err := proto.Marshal(value)
	if err != nil {
		return err
	}
	d.say("%s", text)
	encoded, err := client.Encode(ctx, thriftpackv1.EncodeRequestOf(value))
	if err != nil {
		return err
	}
	data := encoded.GetData()
	d.say("\n%d bytes of protobuf became %d bytes of Thrift:\n%s\n", len(wire), len(data), hex.EncodeToString(data))
	d.say("What each of them is, as `thriftpack inspect` shows it:\n")
	listing, err := inspect.Inspect(data, inspect.Defaults())
	if err != nil {
		return err
	}
	if err := listing.WriteText(d.out, false); err != nil {
		return err
	}

	d.title("Decode: the bytes back to a value")
	decoded, err := client.Decode(ctx, &thriftpackv1.DecodeRequest{Data: data, Options: &thriftpackv1.DecodeOptions{DetectText: true}})
	if err != nil {
		return err
	}
	if !proto.Equal(decoded.GetValue(), value) {
		return errors.New("the decoded value differs from the one that was encoded")
	}
	d.say("%d bytes read, and the value is the one that was sent.", decoded.GetBytesRead())
	return nil
}

// binary encodes a call in the other protocol, framed.
func (d *demo) binary(ctx context.Context, client thriftpackv1.SerializerServiceClient) error {
	d.title("The same service speaks the binary protocol, frames and RPC messages")
	request := thriftpackv1.EncodeRequestOf(thriftpackv1.StructValue(thriftpackv1.I32Field(1, 42)))
	request.Options = &thriftpackv1.EncodeOptions{
		Protocol: thriftpackv1.Protocol_PROTOCOL_BINARY,
		Framing:  thriftpackv1.Framing_FRAMING_FRAMED,
		Message:  &thriftpackv1.MessageHeader{Name: "getUser", Type: thriftpackv1.MessageType_MESSAGE_TYPE_CALL, Seqid: 7},
	}
	encoded, err := client.Encode(ctx, request)
	if err != nil {
		return err
	}
	d.say("getUser(1: 42), call 7: %s", hex.EncodeToString(encoded.GetData()))
	return nil
}

// mistake shows what a client sees of a wrong value.
func (d *demo) mistake(ctx context.Context, client thriftpackv1.SerializerServiceClient) error {
	d.title("A wrong value is refused with its place")
	wrong := thriftpackv1.StructValue(&thriftpackv1.Field{Id: 1, Kind: &thriftpackv1.Field_I16{I16: 40_000}})
	_, err := client.Encode(ctx, thriftpackv1.EncodeRequestOf(wrong))
	if err == nil {
		return errors.New("an i16 of 40000 was accepted")
	}
	s := status.Convert(err)
	d.say("%s: %s", s.Code(), s.Message())
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			d.say("reason %s of %s", info.GetReason(), info.GetDomain())
			return nil
		}
	}
	return fmt.Errorf("the error has no ErrorInfo: %w", err)
}

// stream receives about total bytes as one record many times over, checks them, and looks at the server's memory.
func (d *demo) stream(ctx context.Context, client thriftpackv1.SerializerServiceClient, s *serverProcess, total int64) error {
	const elements = 100_000
	numbers := make([]int64, elements)
	for i := range numbers {
		numbers[i] = int64(i) * 7_919
	}
	value := thriftpackv1.StructValue(thriftpackv1.ListField(1, thriftpackv1.I64List(numbers...)))
	count := max(1, total/(5*elements)) // most of these numbers take 5 bytes
	d.title(fmt.Sprintf("EncodeStream: a list of %d numbers, %d times over, in chunks", elements, count))

	memory := newMemoryWatch(s)
	stream, err := client.EncodeStream(ctx, &thriftpackv1.EncodeStreamRequest{Request: thriftpackv1.EncodeRequestOf(value), Count: count})
	if err != nil {
		return err
	}
	start := time.Now()
	received, chunks, sum := int64(0), 0, uint32(0)
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	for {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		received += int64(len(response.GetData()))
		sum = crc32.Update(sum, castagnoli, response.GetData())
		if chunks++; chunks%512 == 0 {
			memory.look()
		}
	}
	elapsed := time.Since(start)
	memory.look()

	trailer := stream.Trailer()
	wantBytes, wantSum := strings.Join(trailer.Get("thriftpack-bytes"), ""), strings.Join(trailer.Get("thriftpack-crc32c"), "")
	if gotSum := fmt.Sprintf("%08x", sum); wantBytes != strconv.FormatInt(received, 10) || wantSum != gotSum {
		return fmt.Errorf("received %d bytes with CRC-32C %s, the server sent %s with %s", received, gotSum, wantBytes, wantSum)
	}
	d.say("%d bytes in %d chunks and %s: %.0f MB/s, receiver included", received, chunks, elapsed.Round(time.Millisecond),
		float64(received)/1e6/elapsed.Seconds())
	d.say("CRC-32C %08x, as the server computed it.", sum)
	d.say("%s", memory)
	return nil
}

// memoryWatch remembers the server's memory before a step and its peak in it.
type memoryWatch struct {
	server       *serverProcess
	before, peak int64
	known        bool
}

func newMemoryWatch(s *serverProcess) *memoryWatch {
	w := &memoryWatch{server: s}
	w.before, w.known = s.memory()
	w.peak = w.before
	return w
}

func (w *memoryWatch) look() {
	if now, ok := w.server.memory(); ok {
		w.peak = max(w.peak, now)
	}
}

// String says what was seen.
func (w *memoryWatch) String() string {
	if !w.known {
		return "This system does not show the server's memory."
	}
	return fmt.Sprintf("The server's anonymous memory (RssAnon): %.1f MiB before, %.1f MiB at its peak.",
		float64(w.before)/(1<<20), float64(w.peak)/(1<<20))
}

// valueJSON is the JSON form of a value, a field in each line.
func valueJSON(value *thriftpackv1.Value) (string, error) {
	var b strings.Builder
	b.WriteString(`{"struct": {"fields": [`)
	for i, field := range value.GetStruct().GetFields() {
		text, err := protojson.Marshal(field)
		if err != nil {
			return "", err
		}
		var compact bytes.Buffer // package protojson varies its white space on purpose
		if err := json.Compact(&compact, text); err != nil {
			return "", err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n  " + compact.String())
	}
	b.WriteString("\n]}}")
	return b.String(), nil
}
