package cli

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/fixture"
	"github.com/thriftpack/thriftpack/internal/server"
)

// listen opens a port of the loopback interface.
func listen(t *testing.T) net.Listener {
	t.Helper()
	var listening net.ListenConfig
	listener, err := listening.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// startServer serves on TCP until the test ends, and returns the address.
func startServer(t *testing.T, set ...func(*config.Config)) string {
	t.Helper()
	cfg := config.Default()
	cfg.SchemaStore = "none"
	for _, f := range set {
		f(&cfg)
	}
	s, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	listener := listen(t)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := s.Serve(listener); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			t.Errorf("Serve: %v", err)
		}
	}()
	t.Cleanup(func() {
		s.Close()
		<-ended
	})
	return listener.Addr().String()
}

// TestOverTCP compares a server on TCP with the one in the process.
func TestOverTCP(t *testing.T) {
	addr := startServer(t)
	commands := []struct {
		stdin string
		args  []string
	}{
		{answer, []string{"encode", "--output=hex", "--message=f"}},
		{answer, []string{"encode", "--output=hex", "--stream", "--count=100000", "-q"}},
		{`{}`, []string{"encode"}},
		{fixture.OneOfEachCompact, []string{"decode", "--detect-text"}},
		{fixture.OneOfEachCompact, []string{"decode", "--stream", "-q"}},
		{"15", []string{"decode"}},
	}
	for _, c := range commands {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			local := execute(t, c.stdin, c.args...)
			remote := execute(t, c.stdin, append(c.args, "--addr="+addr, "--timeout=1m")...)
			if local != remote {
				t.Errorf("over TCP %+v, in this process %+v", remote, local)
			}
		})
	}
}

// TestLimits has a file that is larger, and one that is deeper, than a server takes by default: the process's own takes them.
func TestLimits(t *testing.T) {
	addr := startServer(t)
	large := execute(t, string(fixture.Wire(fixture.Binary(20<<20))), "encode", "--input=wire")
	if large.code != 0 || len(large.stdout) != 20<<20+4 {
		t.Fatalf("encode of 20 MiB: exit code %d, %d bytes, %s", large.code, len(large.stdout), large.stderr)
	}
	if back := execute(t, large.stdout, "decode", "--root-type=binary", "--output=wire"); back.stdout != string(fixture.Wire(fixture.Binary(20<<20))) {
		t.Errorf("decode of 20 MiB: exit code %d, %d bytes, %s", back.code, len(back.stdout), back.stderr)
	}
	mustFail(t, execute(t, large.stdout, "decode", "--root-type=binary", "--addr="+addr), "RESOURCE_EXHAUSTED: ", "20971537", "16777216")

	deep := strings.Repeat("1c", 999) + strings.Repeat("00", 1000)
	value := execute(t, deep, "decode", "--max-depth=1000", "--output=wire")
	if again := execute(t, value.stdout, "encode", "--input=wire", "--output=hex"); again.stdout != deep+"\n" {
		t.Errorf("decode | encode of depth 1000: %q, %q", value.stderr, again.stderr)
	}
	mustFail(t, execute(t, value.stdout, "encode", "--input=wire", "--addr="+addr), "RESOURCE_EXHAUSTED: ", "reason DEPTH_LIMIT")
}

func TestStreamSummary(t *testing.T) {
	want := fmt.Sprintf("CRC-32C %08x checked", crc32.Checksum([]byte("\x15\x54\x00\x15\x54\x00"), crc32.MakeTable(crc32.Castagnoli)))
	got := execute(t, answer, "encode", "--stream", "--count=2")
	if got.code != 0 || !strings.HasPrefix(got.stderr, "6 bytes") || !strings.Contains(got.stderr, want) {
		t.Errorf("encode --stream: %+v, want a summary with %q", got, want)
	}
}

func TestProgressOnATerminal(t *testing.T) {
	s := IO{ErrTerminal: true}
	if got := executeOn(t, s, answer, "encode", "--stream", "--count=100000"); got.code != 0 || !strings.Contains(got.stderr, "receiving") {
		t.Errorf("encode --stream with stderr on a terminal: %q, want a progress bar", got.stderr)
	}
	if got := executeOn(t, s, answer, "encode", "--stream", "--quiet"); got.stderr != "" {
		t.Errorf("encode --stream --quiet: %q, want nothing on stderr", got.stderr)
	}
	s.OutTerminal = true
	if got := executeOn(t, s, answer, "encode", "--stream", "--count=2"); strings.Contains(got.stderr, "receiving") {
		t.Errorf("encode --stream to a terminal: %q, want no bar in the output", got.stderr)
	}
}

// liar answers EncodeStream with one chunk of "abc" and any trailers, and may then wait for the end of the connection.
type liar struct {
	thriftpackv1.UnimplementedSerializerServiceServer

	header, trailer metadata.MD
	hang            bool
}

func (l *liar) EncodeStream(_ *thriftpackv1.EncodeStreamRequest, stream grpc.ServerStreamingServer[thriftpackv1.EncodeStreamResponse]) error {
	if err := stream.SetHeader(l.header); err != nil {
		return err
	}
	if err := stream.Send(&thriftpackv1.EncodeStreamResponse{Data: []byte("abc")}); err != nil {
		return err
	}
	if l.hang {
		<-stream.Context().Done()
	}
	stream.SetTrailer(l.trailer)
	return nil
}

// onWrite calls then after what was written first.
type onWrite struct {
	io.Writer

	then func()
}

func (w *onWrite) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.then()
	return n, err
}

// TestStreamIsChecked has servers whose streams are not what they say.
func TestStreamIsChecked(t *testing.T) {
	sum := fmt.Sprintf("%08x", crc32.Checksum([]byte("abc"), crc32.MakeTable(crc32.Castagnoli)))
	three := metadata.Pairs(thriftpackv1.LengthHeader, "3")
	tests := []struct {
		name    string
		header  metadata.MD
		trailer metadata.MD
		dies    bool
		want    string // "" for success
	}{
		{"right", three, metadata.Pairs(thriftpackv1.BytesTrailer, "3", thriftpackv1.CRC32CTrailer, sum), false, ""},
		{"no trailers", three, nil, false, "may have been cut short"},
		{"too few bytes", three, metadata.Pairs(thriftpackv1.BytesTrailer, "4", thriftpackv1.CRC32CTrailer, sum), false, "the server sent 4 bytes, 3 came"},
		{"other bytes", three, metadata.Pairs(thriftpackv1.BytesTrailer, "3", thriftpackv1.CRC32CTrailer, "00000000"), false, "CRC-32C is " + sum},
		{"fewer than announced", metadata.Pairs(thriftpackv1.LengthHeader, "4"), metadata.Pairs(thriftpackv1.BytesTrailer, "3", thriftpackv1.CRC32CTrailer, sum), false, `the server announced ["4"] bytes, 3 came`},
		{"not announced", nil, metadata.Pairs(thriftpackv1.BytesTrailer, "3", thriftpackv1.CRC32CTrailer, sum), false, "the server announced [] bytes, 3 came"},
		{"a server that dies", three, nil, true, "UNAVAILABLE: "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := grpc.NewServer()
			thriftpackv1.RegisterSerializerServiceServer(s, &liar{header: test.header, trailer: test.trailer, hang: test.dies})
			listener := listen(t)
			go func() { _ = s.Serve(listener) }() // ends with Stop
			t.Cleanup(s.Stop)

			var stdout, stderr bytes.Buffer
			out := io.Writer(&stdout)
			if test.dies {
				out = &onWrite{Writer: &stdout, then: s.Stop}
			}
			code := Run(t.Context(), []string{"encode", "--stream", "--quiet", "--output=raw", "--addr=" + listener.Addr().String()},
				IO{In: strings.NewReader(answer), Out: out, Err: &stderr})
			if stdout.String() != "abc" {
				t.Errorf("stdout %q, want the bytes that came", &stdout)
			}
			if test.want == "" {
				if code != 0 || stderr.Len() > 0 {
					t.Errorf("exit code %d, stderr %q, want success", code, &stderr)
				}
				return
			}
			if code != 1 || !strings.Contains(stderr.String(), test.want) || strings.Count(stderr.String(), "\n") != 1 {
				t.Errorf("exit code %d, stderr %q; want 1 and one line with %q", code, &stderr, test.want)
			}
		})
	}
}

// brokenPipe is an output whose reader went away.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, fmt.Errorf("write: %w", syscall.EPIPE) }

func TestBrokenPipe(t *testing.T) {
	for _, args := range [][]string{{"encode"}, {"encode", "--output=base64"}, {"encode", "--stream"}, {"inspect"}} {
		var stderr strings.Builder
		stdin := answer
		if args[0] == "inspect" {
			stdin = "155400"
		}
		code := Run(t.Context(), args, IO{In: strings.NewReader(stdin), Out: brokenPipe{}, Err: &stderr})
		if want := "thriftpack: output: broken pipe: whatever reads it went away\n"; code != 1 || stderr.String() != want {
			t.Errorf("%q into a broken pipe: exit code %d, stderr %q, want 1 and %q", args, code, stderr.String(), want)
		}
	}
}
