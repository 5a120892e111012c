package cli

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// TestStreamEncodeUpToAWrongLine has lines that cannot be read, or cannot be encoded, after many that can: those come out whole.
func TestStreamEncodeUpToAWrongLine(t *testing.T) {
	addr := startServer(t)
	pairs := 5_000
	if raceEnabled {
		pairs /= 5 // ten times as slow
	}
	whole := strings.Repeat("\x15\x54\x00\x15\x56\x00", pairs)
	var frames strings.Builder
	for record := range slices.Chunk([]byte(whole), 3) {
		frames.WriteString("\x00\x00\x00\x03" + string(record))
	}
	// A list's header, with a count that is not met, and no end.
	list := string([]byte{0xfc, 0xa0, 0x9c, 0x01}) + whole
	lines := strings.Repeat(twoStructs, pairs)
	broken := fmt.Sprintf("line %d, column 3: not a Value as json: syntax error\n", 2*pairs+1)
	for _, tt := range []struct {
		name string
		last string
		args []string
		out  string
		want string
	}{
		{"records", "  nonsense\n" + twoStructs, nil, whole, broken},
		{"frames", "  nonsense\n" + twoStructs, []string{"--framing=framed"}, frames.String(), broken},
		{"a list", "  nonsense\n" + twoStructs, []string{"--list", "--count=20000"}, list, broken},
		{"in hexadecimal", "  nonsense\n", []string{"--output=hex"}, hex.EncodeToString([]byte(whole)) + "\n", broken},
		{"in base64", "  nonsense\n", []string{"--output=base64"}, base64.StdEncoding.EncodeToString([]byte(whole)) + "\n", broken},
		{"a long line", strings.Repeat("x", 200), []string{"--max-line=100"}, whole, fmt.Sprintf("line %d is longer", 2*pairs+1)},
		{"another type", `{"i32":1}`, []string{"--list", "--count=20000"}, list, fmt.Sprintf("line %d: i32 in a list of struct", 2*pairs+1)},
		{"a fault before it", "{\"i16\":40000}\nnonsense\n", nil, whole, fmt.Sprintf("line %d: INVALID_ARGUMENT: ", 2*pairs+1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"stream", "encode", "-q"}, tt.args...)
			for _, args := range [][]string{args, append(args, "--addr="+addr)} {
				got := execute(t, lines+tt.last, args...)
				if got.stdout != tt.out {
					t.Errorf("%q: %d bytes, want the %d of what is before", args, len(got.stdout), len(tt.out))
				}
				got.stdout = ""
				mustFail(t, got, tt.want)
			}
		})
	}
	mustFail(t, execute(t, "nonsense\n"+twoStructs, "stream", "encode", "--output=hex"), "line 1, column 1: not a Value")
}

// TestStreamEncodeWrongTwice has a line that cannot be read, and a server that does not send what is before it.
func TestStreamEncodeWrongTwice(t *testing.T) {
	s := grpc.NewServer()
	thriftpackv1.RegisterSerializerServiceServer(s, &partsLiar{early: true, reads: true})
	listener := listen(t)
	go func() { _ = s.Serve(listener) }() // ends with Stop
	t.Cleanup(s.Stop)
	mustFail(t, execute(t, twoStructs+"x", "stream", "encode", "-q", "--addr="+listener.Addr().String()),
		"line 3, column 1: not a Value as json: syntax error; and what was before that did not come: ", errNoTrailers.Error())
}

// TestInputIsNotQuoted has wrong input whose contents must not come up in the error.
func TestInputIsNotQuoted(t *testing.T) {
	const secret = "sesame"
	for _, line := range []string{
		`sesame`, `"sesame"`, `["sesame"]`, `{"sesame": 1}`, `{"sesame"}`, `{"i32": "sesame"}`, `{"i32": sesame}`, `{"string": sesame}`, `{"bool": "sesame"}`,
		`{"uuid": "sesame*"}`, `{"binary": "*sesame"}`, `{"double": "sesame"}`, `{"i32": 1, "sesame": 2}`, `{"i32": 1} sesame`, `{"i32": 1}{"string": "sesame"}`,
		`{"list": "sesame"}`, `{"list": {"i32s": ["sesame"]}}`, `{"list": {"elementType": "sesame"}}`, `{"struct": {"fields": {"sesame": 1}}}`,
		`{"struct": {"fields": [{"id": "sesame"}]}}`, `{"string": "sesame", "i32": 1}`, `{"string": "sesame`, `{"string": "sesame\q"}`, `{"string": "` + "\x01" + `sesame"}`,
		`{"string": "sesame` + "\xff" + `"}`, `{"string": "\ud800sesame"}`, `{"@type": "sesame"}`, `{"[sesame]": 1}`,
	} {
		for _, args := range [][]string{{"encode"}, {"stream", "encode"}, {"stream", "encode", "--framing=framed"}} {
			got := execute(t, line, args...)
			mustFail(t, got, ": not a Value as json")
			if strings.Contains(got.stderr, secret) {
				t.Errorf("%q of %s: %s", args, line, got.stderr)
			}
		}
	}
}

// terse answers what decodes as it was told to.
type terse struct {
	thriftpackv1.UnimplementedSerializerServiceServer

	value   *thriftpackv1.Value
	message *thriftpackv1.MessageHeader
	read    int64
	trailer int64 // thriftpack-bytes-read
	err     error
}

func (s *terse) Decode(context.Context, *thriftpackv1.DecodeRequest) (*thriftpackv1.DecodeResponse, error) {
	return &thriftpackv1.DecodeResponse{Output: &thriftpackv1.DecodeResponse_Value{Value: s.value}, Message: s.message, BytesRead: s.read}, s.err
}

func (s *terse) DecodeStream(_ *thriftpackv1.DecodeStreamRequest, stream grpc.ServerStreamingServer[thriftpackv1.DecodeStreamResponse]) error {
	data, err := proto.Marshal(s.value)
	if err != nil {
		return err
	}
	stream.SetTrailer(trailersOf(data))
	if err := stream.Send(&thriftpackv1.DecodeStreamResponse{Data: data, BytesRead: s.read}); err != nil {
		return err
	}
	return s.err
}

func (s *terse) DecodeParts(stream grpc.BidiStreamingServer[thriftpackv1.DecodePartsRequest, thriftpackv1.DecodePartsResponse]) error {
	for {
		if _, err := stream.Recv(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
	}
	list := &thriftpackv1.List{}
	appendElement(list, s.value)
	part := elementsOf(list)
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(part)
	if err != nil {
		return err
	}
	trailer := trailersOf(data)
	trailer.Set(thriftpackv1.BytesReadTrailer, strconv.FormatInt(s.trailer, 10))
	stream.SetTrailer(trailer)
	if err := stream.Send(&thriftpackv1.DecodePartsResponse{Parts: []*thriftpackv1.Part{part}, BytesRead: s.read}); err != nil {
		return err
	}
	return s.err
}

// trailersOf are the trailers of a stream of that data.
func trailersOf(data []byte) metadata.MD {
	return metadata.Pairs(thriftpackv1.BytesTrailer, strconv.Itoa(len(data)),
		thriftpackv1.CRC32CTrailer, fmt.Sprintf("%08x", crc32.Checksum(data, castagnoli)))
}

// start serves until the test ends, and returns the flag with the address.
func (s *terse) start(t *testing.T) string {
	t.Helper()
	server := grpc.NewServer()
	thriftpackv1.RegisterSerializerServiceServer(server, s)
	listener := listen(t)
	go func() { _ = server.Serve(listener) }() // ends with Stop
	t.Cleanup(server.Stop)
	return "--addr=" + listener.Addr().String()
}

// TestBytesReadAreChecked has servers that say that they have read more or less than they were sent.
func TestBytesReadAreChecked(t *testing.T) {
	commands := [][]string{{"decode"}, {"decode", "--stream", "-q"}, {"stream", "decode", "-q", "--root-type=i32"}}
	for _, tt := range []struct {
		name          string
		read, trailer int64
		args          []string
		want          string // "" for success
	}{
		{"all", 3, 3, nil, ""},
		{"less", 2, 2, nil, "the server says that it has read 2 of 3 bytes"},
		{"nothing", 0, 0, nil, "the server says that it has read 0 of 3 bytes"},
		{"more", 4, 4, nil, "the server says that it has read 4 of 3 bytes"},
		{"less, where that is allowed", 2, 2, []string{"--allow-trailing"}, ""},
		{"more, where less is allowed", 4, 4, []string{"--allow-trailing"}, "the server says that it has read 4 of 3 bytes"},
		{"another number in the trailer", 3, 2, nil, `the server says that it has read 3 bytes, and in a trailer ["2"]`},
	} {
		addr := (&terse{value: thriftpackv1.I32Value(1), read: tt.read, trailer: tt.trailer}).start(t)
		for _, command := range commands {
			if tt.read != tt.trailer && command[0] != "stream" {
				continue // only parts have it
			}
			args := append(append([]string{addr}, command...), tt.args...)
			got := execute(t, "\x15\x54\x00", append(args[1:], args[0])...)
			if tt.want == "" {
				if got.code != 0 {
					t.Errorf("%s: %q: %+v, want success", tt.name, command, got)
				}
				continue
			}
			got.stdout = ""
			mustFail(t, got, tt.want)
		}
	}
}

// TestTextOfServersIsPrintable has servers that send commands to terminals.
func TestTextOfServersIsPrintable(t *testing.T) {
	const hostile = "a\x1b[2J\u009b31m\x07\x7f\u202e\u2028b"
	s := &terse{err: status.Error(codes.Internal, hostile)}
	addr := s.start(t)
	commands := [][]string{{"decode"}, {"decode", "--stream"}, {"stream", "decode"}}
	check := func(command []string, got outcome, want string) {
		t.Helper()
		for _, text := range []string{got.stdout, got.stderr} {
			for _, r := range text {
				if r != '\n' && !unicode.IsPrint(r) {
					t.Errorf("%q: %q has %U", command, text, r)
				}
			}
		}
		if !strings.Contains(got.stdout+got.stderr, want) {
			t.Errorf("%q: %+v, want %q", command, got, want)
		}
	}
	for _, command := range commands {
		check(command, execute(t, "\x00", append(command, addr)...), `a\x1b[2J\u009b31m\a\x7f\u202e b`)
	}
	s.err, s.value, s.read, s.trailer = nil, thriftpackv1.StringValue(hostile), 1, 1
	s.message = &thriftpackv1.MessageHeader{Name: hostile, Type: thriftpackv1.MessageType_MESSAGE_TYPE_CALL}
	for _, command := range commands {
		got := executeOn(t, IO{OutTerminal: true, ErrTerminal: true}, "\x00", append(command, addr)...)
		check(command, got, `"a\u001b[2J\u009b31m\u0007\u007f\u202e\u2028b"`)
		// What is no terminal gets what came.
		if got := execute(t, "\x00", append(command, addr)...); !strings.Contains(got.stdout, "\u009b31m") {
			t.Errorf("%q into a pipe: %+v", command, got)
		}
	}
}

func TestPrintable(t *testing.T) {
	for _, tt := range []struct{ text, want, json string }{
		{"plain", "plain", "plain"},
		{"h\u00e9 \u4e16 \U0001f600", "h\u00e9 \u4e16 \U0001f600", "h\u00e9 \u4e16 \U0001f600"},
		{"\x7f\u0085\u200b", `\x7f\u0085\u200b`, `\u007f\u0085\u200b`},
		{"\U000e0001", `\U000e0001`, `\udb40\udc01`},
		{"\ufffd", "\ufffd", "\ufffd"},
	} {
		if got := printable(tt.text); got != tt.want {
			t.Errorf("printable(%q) = %q, want %q", tt.text, got, tt.want)
		}
		if got := string(printableJSON([]byte(tt.text))); got != tt.json {
			t.Errorf("printableJSON(%q) = %q, want %q", tt.text, got, tt.json)
		}
	}
	for text, want := range map[string]string{"a\nb\tc": `a\nb\tc`, "\x1b[0m\xff": `\x1b[0m\xff`, "it's": "it's", "\"": "\""} {
		if got := printable(text); got != want {
			t.Errorf("printable(%q) = %q, want %q", text, got, want)
		}
	}
}
