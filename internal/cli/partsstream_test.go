package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// records is a file with a value of each shape on its lines.
func records(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("testdata/records.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

const twoStructs = `{"struct":{"fields":[{"id":1,"i32":42}]}}` + "\n" + `{"struct":{"fields":[{"id":1,"i32":43}]}}` + "\n"

func TestStreamEncode(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ints.jsonl")
	if err := os.WriteFile(file, []byte("{\"i32\":1}\n\n  {\"i32\":2}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, stdin string
		args        []string
		want        string
	}{
		// {1: 42} | list<i64>[1,2] | 7 | "hé" | map{"a": [1]} | list<i32>[]
		{"records", records(t), nil, "155400" + "260204" + "0e" + "0368c3a9" + "0189" + "0161" + "1502" + "05"},
		{"frames", records(t), []string{"--framing=framed"}, "00000003155400" + "00000003260204" + "000000010e" + "000000040368c3a9" + "00000006018901611502" + "0000000105"},
		{"binary protocol", twoStructs, []string{"--protocol=binary"}, "0800010000002a00" + "0800010000002b00"},
		{"binary frames", twoStructs, []string{"--protocol=binary", "--framing=framed"}, "000000080800010000002a00" + "000000080800010000002b00"},
		{"a list with a count", "{\"i32\":1}\n{\"i32\":2}\n", []string{"--list", "--count=2"}, "250204"},
		{"a list of a file", "", []string{"--list", file}, "250204"},
		{"a list of structs", twoStructs, []string{"--list", "--count=2"}, "2c" + "155400" + "155600"},
		{"an empty list", "", []string{"--list", "--count=0", "--element-type=uuid"}, "0d"},
		{"a list of i8", "{\"i8\":-1}\n{\"i8\":1}\n", []string{"--list", "--count=2"}, "23ff01"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := execute(t, tt.stdin, append([]string{"stream", "encode", "--output=hex", "-q"}, tt.args...)...)
			if got.code != 0 || got.stdout != tt.want+"\n" || got.stderr != "" {
				t.Errorf("got %+v, want %s", got, tt.want)
			}
		})
	}
}

func TestStreamDecode(t *testing.T) {
	two := "\x15\x54\x00\x15\x56\x00"
	for _, tt := range []struct {
		name, stdin string
		args        []string
		want        string
	}{
		{"a value in parts", two[:3], nil, `{"begin":{"type":"TYPE_STRUCT"}}` + "\n" + `{"fields":{"fields":[{"id":1,"i32":42}]}}` + "\n" + `{"end":{}}` + "\n"},
		{"records", two, []string{"--records"}, twoStructs},
		{"no records", "", []string{"--records"}, ""},
		{"a value as a line", two[:3], []string{"--output=values"}, twoStructs[:strings.IndexByte(twoStructs, '\n')+1]},
		{"the first of two", two, []string{"--output=values", "--allow-trailing"}, twoStructs[:strings.IndexByte(twoStructs, '\n')+1]},
		{"elements", "\x2c" + two, []string{"--root-type=list", "--output=elements"}, twoStructs},
		{"elements of a set", "\x25\x02\x04", []string{"--root-type=set", "--output=elements"}, "{\"i32\":1}\n{\"i32\":2}\n"},
		{"scalars", "\x02\x04", []string{"--root-type=i32", "--records"}, "{\"i32\":1}\n{\"i32\":2}\n"},
		{"binary protocol", "\x08\x00\x01\x00\x00\x00\x2a\x00", []string{"--protocol=binary", "--records"}, twoStructs[:strings.IndexByte(twoStructs, '\n')+1]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := execute(t, tt.stdin, append([]string{"stream", "decode", "-q"}, tt.args...)...)
			if got.code != 0 || got.stdout != tt.want || got.stderr != "" {
				t.Errorf("got %+v, want %s", got, tt.want)
			}
		})
	}
}

// TestStreamAssembles decodes values that are larger than the parts, so that they come opened, and compares them with what decode says.
func TestStreamAssembles(t *testing.T) {
	long := bytes.Repeat([]byte("abc "), 5_000)
	for name, value := range map[string]*thriftpackv1.Value{
		"a list of i8": thriftpackv1.ListValue(&thriftpackv1.List{I8S: long}), "a list of i64": fixture.ListI64(5_000),
		"structs": fixture.ListStruct(2_000), "a map": fixture.MapStringI64(3_000), "nested": fixture.Nested4(), "one of each": fixture.OneOfEach(),
		"all opened": thriftpackv1.StructValue(
			thriftpackv1.BinaryField(1, long), thriftpackv1.ListField(2, &thriftpackv1.List{Lists: []*thriftpackv1.List{
				{I8S: long}, {ElementType: thriftpackv1.Type_TYPE_BOOL}, {I8S: []byte{1}},
			}}),
			thriftpackv1.MapField(3, thriftpackv1.MapOf(thriftpackv1.I32List(1, 2), &thriftpackv1.List{Binaries: [][]byte{long, {}}})),
			thriftpackv1.StructField(4, thriftpackv1.StructOf(thriftpackv1.BinaryField(1, long))),
		),
	} {
		if raceEnabled && name == "nested" {
			continue // it is minutes of protobuf's JSON
		}
		root := "--root-type=" + map[bool]string{true: "struct", false: "list"}[value.GetStruct() != nil]
		if value.GetMap() != nil {
			root = "--root-type=map"
		}
		encoded := execute(t, string(fixture.Wire(value)), "encode", "--input=wire")
		want := execute(t, encoded.stdout, "decode", root, "--input=raw", "--output=wire")
		line := execute(t, encoded.stdout, "stream", "decode", root, "--chunk-size=4096", "--output=values", "-q")
		got := execute(t, line.stdout, "encode", "--output=raw")
		again := execute(t, got.stdout, "decode", root, "--input=raw", "--output=wire")
		if line.code != 0 || strings.Count(line.stdout, "\n") != 1 || got.stdout != encoded.stdout || again.stdout != want.stdout {
			t.Errorf("%s: %d bytes of JSON, encoded to %d bytes, want the %d that were decoded; %s", name, len(line.stdout), len(got.stdout), len(encoded.stdout), line.stderr)
		}
		if back := execute(t, line.stdout, "stream", "encode", "-q"); back.stdout != encoded.stdout {
			t.Errorf("%s: stream encode gives %d bytes, want %d: %s", name, len(back.stdout), len(encoded.stdout), back.stderr)
		}
	}
}

func TestStreamFaults(t *testing.T) {
	for _, tt := range []struct {
		name, stdin string
		args        []string
		want        []string
	}{
		{"a value out of range", "{\"i32\":1}\n{\"i16\":40000}\n", []string{"encode"}, []string{"line 2: INVALID_ARGUMENT: ", "reason INT_RANGE"}},
		{"in a frame", "{\"i32\":1}\n{\"i16\":40000}\n", []string{"encode", "--framing=framed"}, []string{"line 2: INVALID_ARGUMENT: ", "reason INT_RANGE"}},
		{"among elements", "{\"i16\":1}\n{\"i16\":40000}\n", []string{"encode", "--list", "--count=2"}, []string{"lines 1..2: INVALID_ARGUMENT: ", "reason INT_RANGE"}},
		{"a line that is no JSON", "{\"i32\":1}\nx\n", []string{"encode"}, []string{"line 2, column 1: not a Value as json: syntax error\n"}},
		{"a line that is no JSON, in frames", "{\"i32\":1}\nx\n", []string{"encode", "--framing=framed"}, []string{"line 2, column 1: not a Value as json: syntax error\n"}},
		{"no kind", "{}\n", []string{"encode"}, []string{"line 1: ", "without a kind"}},
		{"no value", "\n", []string{"encode"}, []string{"MISSING_KIND"}},
		{"a long line", "{\"i32\":1}\n\"" + strings.Repeat("x", 100_000) + "\"\n", []string{"encode", "--max-line=70000"}, []string{"line 2 is longer than 70000 bytes (--max-line)"}},
		{"too few", "{\"i32\":1}\n", []string{"encode", "--list", "--count=2"}, []string{"COUNT_MISMATCH"}},
		{"too many", "{\"i32\":1}\n{\"i32\":1}\n", []string{"encode", "--list", "--count=1"}, []string{"COUNT_MISMATCH"}},
		{"two types", "{\"i32\":1}\n{\"i64\":1}\n", []string{"encode", "--list", "--count=2"}, []string{"line 2: i64 in a list of i32"}},
		{"a list without its length", "{\"i32\":1}\n", []string{"encode", "--list"}, []string{"--count N"}},
		{"a framed list", "", []string{"encode", "--list", "--count=1", "--framing=framed"}, []string{"records"}},
		{"an empty list of nothing", "", []string{"encode", "--list", "--count=0"}, []string{"--element-type"}},
		{"a count without a list", "", []string{"encode", "--count=1"}, []string{"need --list"}},
		{"a large count", "", []string{"encode", "--list", "--count=3000000000"}, []string{"out of range"}},
		{"no file", "", []string{"encode", "/does/not/exist"}, []string{"no such file"}},
		{"cut bytes", "\x15", []string{"decode"}, []string{"INVALID_ARGUMENT", "TRUNCATED"}},
		{"elements of a struct", "", []string{"decode", "--output=elements"}, []string{"--root-type list or set"}},
		{"elements of records", "", []string{"decode", "--output=elements", "--records"}, []string{"--records"}},
		{"a large value", "\x2c\x00\x00" + strings.Repeat("\x00", 10), []string{"decode", "--root-type=list", "--output=values", "--max-line=1"}, []string{"--max-line"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := execute(t, tt.stdin, append([]string{"stream"}, tt.args...)...)
			got.stdout = "" // what was whole before the fault
			mustFail(t, got, tt.want...)
		})
	}
}

// TestStreamOverTCP compares a server on TCP with the one in the process, with more than windows and chunks hold.
func TestStreamOverTCP(t *testing.T) {
	addr := startServer(t)
	pairs := 10_000
	if raceEnabled {
		pairs /= 10
	}
	lines := strings.Repeat(twoStructs, pairs)
	encoded := execute(t, lines, "stream", "encode", "-q")
	if want := strings.Repeat("\x15\x54\x00\x15\x56\x00", pairs); encoded.stdout != want {
		t.Fatalf("stream encode: %d bytes, want %d; %s", len(encoded.stdout), len(want), encoded.stderr)
	}
	for _, args := range [][]string{{}, {"--framing=framed"}, {"--list", fmt.Sprintf("--count=%d", 2*pairs)}} {
		args = append([]string{"stream", "encode", "-q"}, args...)
		local, remote := execute(t, lines, args...), execute(t, lines, append(args, "--addr="+addr)...)
		if local != remote || local.code != 0 {
			t.Errorf("%q: over TCP %d bytes and %s, in this process %d and %s", args, len(remote.stdout), remote.stderr, len(local.stdout), local.stderr)
		}
	}
	if got := execute(t, encoded.stdout, "stream", "decode", "-q", "--records", "--addr="+addr); got.stdout != lines {
		t.Errorf("stream decode: %d bytes, want %d; %s", len(got.stdout), len(lines), got.stderr)
	}
}

func TestStreamProgress(t *testing.T) {
	file := filepath.Join(t.TempDir(), "records.jsonl")
	if err := os.WriteFile(file, []byte(strings.Repeat(twoStructs, 5_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	s := IO{ErrTerminal: true}
	got := executeOn(t, s, "", "stream", "encode", file)
	if got.code != 0 || !strings.Contains(got.stderr, "encoding") || !strings.Contains(got.stderr, "10000 values, 30000 bytes") {
		t.Errorf("stream encode on a terminal: %q, want a progress bar and a summary", got.stderr)
	}
	if got := executeOn(t, s, got.stdout, "stream", "decode", "--records"); !strings.Contains(got.stderr, "decoding") || !strings.Contains(got.stderr, "10000 lines of 30000 bytes") {
		t.Errorf("stream decode on a terminal: %q, want a progress bar and a summary", got.stderr)
	}
	if got := executeOn(t, s, "", "stream", "encode", "--quiet", file); got.stderr != "" {
		t.Errorf("stream encode --quiet: %q, want nothing on stderr", got.stderr)
	}
}

// endless is lines that do not end.
type endless struct{ line string }

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for len(p)-n >= len(e.line) {
		n += copy(p[n:], e.line)
	}
	return n, nil
}

// TestStreamDies has an endless input and an output, or a server, that goes away.
func TestStreamDies(t *testing.T) {
	for _, tt := range []struct {
		args []string
		line string
	}{
		{[]string{"stream", "encode", "--output=raw", "-q"}, twoStructs},
		{[]string{"stream", "encode", "--output=raw", "-q", "--framing=framed"}, twoStructs},
		{[]string{"stream", "decode", "--records", "-q"}, "\x15\x54\x00"},
	} {
		var stderr strings.Builder
		code := Run(t.Context(), tt.args, IO{In: &endless{tt.line}, Out: brokenPipe{}, Err: &stderr})
		if want := "thriftpack: output: broken pipe: whatever reads it went away\n"; code != 1 || stderr.String() != want {
			t.Errorf("%q into a broken pipe: exit code %d, stderr %q, want 1 and %q", tt.args, code, stderr.String(), want)
		}

		s := grpc.NewServer()
		thriftpackv1.RegisterSerializerServiceServer(s, &partsLiar{})
		listener := listen(t)
		go func() { _ = s.Serve(listener) }() // ends with Stop
		t.Cleanup(s.Stop)
		stderr.Reset()
		dying := &onWrite{Writer: io.Discard, then: s.Stop}
		code = Run(t.Context(), append(tt.args, "--addr="+listener.Addr().String()), IO{In: &endless{tt.line}, Out: dying, Err: &stderr})
		if code != 1 || !strings.HasPrefix(stderr.String(), "thriftpack: UNAVAILABLE: ") || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%q of a server that dies: exit code %d, stderr %q", tt.args, code, stderr.String())
		}
	}
	mustFail(t, execute(t, "{\"i32\":1}", "stream", "encode", "--addr=127.0.0.1:1"), "UNAVAILABLE: ")
}

// partsLiar answers streams of parts with a lot of something, or ends them early.
type partsLiar struct {
	thriftpackv1.UnimplementedSerializerServiceServer

	early bool
	reads bool // to the end, first
}

func (l *partsLiar) EncodeParts(stream grpc.BidiStreamingServer[thriftpackv1.EncodePartsRequest, thriftpackv1.EncodePartsResponse]) error {
	for l.reads {
		if _, err := stream.Recv(); err != nil {
			break
		}
	}
	for !l.early {
		if err := stream.Send(&thriftpackv1.EncodePartsResponse{Data: make([]byte, 32<<10)}); err != nil {
			return err
		}
	}
	return nil
}

func (*partsLiar) EncodeBatch(stream grpc.BidiStreamingServer[thriftpackv1.EncodeBatchRequest, thriftpackv1.EncodeBatchResponse]) error {
	for {
		request, err := stream.Recv()
		if err != nil {
			return err
		}
		response := &thriftpackv1.EncodeBatchResponse{}
		for range request.GetRequests() {
			response.Results = append(response.Results, &thriftpackv1.EncodeResult{
				Result: &thriftpackv1.EncodeResult_Response{Response: &thriftpackv1.EncodeResponse{Data: []byte("x")}},
			})
		}
		if err := stream.Send(response); err != nil {
			return err
		}
	}
}

func (*partsLiar) DecodeParts(stream grpc.BidiStreamingServer[thriftpackv1.DecodePartsRequest, thriftpackv1.DecodePartsResponse]) error {
	one := elementsOf(thriftpackv1.I32List(make([]int32, 5000)...))
	for {
		if err := stream.Send(&thriftpackv1.DecodePartsResponse{Parts: []*thriftpackv1.Part{one}}); err != nil {
			return err
		}
	}
}

// TestStreamIsComplete has servers that end streams too early, or without trailers.
func TestStreamIsComplete(t *testing.T) {
	s := grpc.NewServer()
	thriftpackv1.RegisterSerializerServiceServer(s, &partsLiar{early: true})
	listener := listen(t)
	go func() { _ = s.Serve(listener) }() // ends with Stop
	t.Cleanup(s.Stop)
	var stderr strings.Builder
	code := Run(t.Context(), []string{"stream", "encode", "-q", "--addr=" + listener.Addr().String()}, IO{In: &endless{twoStructs}, Out: io.Discard, Err: &stderr})
	if want := fmt.Sprintf("thriftpack: %v\n", errEndedEarly); code != 1 || stderr.String() != want {
		t.Errorf("a server that ends early: exit code %d, stderr %q, want 1 and %q", code, stderr.String(), want)
	}
}
