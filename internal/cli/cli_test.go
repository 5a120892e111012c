package cli

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/thriftpack/thriftpack/internal/fixture"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// outcome is what a command did.
type outcome struct {
	code           int
	stdout, stderr string
}

// execute runs a command line in this process, none of its ends being a terminal.
func execute(t *testing.T, stdin string, args ...string) outcome {
	t.Helper()
	return executeOn(t, IO{}, stdin, args...)
}

// executeOn is execute with the terminals of s.
func executeOn(t *testing.T, s IO, stdin string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	s.In, s.Out, s.Err = strings.NewReader(stdin), &stdout, &stderr
	code := Run(t.Context(), args, s)
	return outcome{code, stdout.String(), stderr.String()}
}

// mustFail checks for exit code 1, nothing on stdout and one line on stderr that contains every text of want.
func mustFail(t *testing.T, got outcome, want ...string) {
	t.Helper()
	if got.code != 1 || got.stdout != "" || strings.Count(got.stderr, "\n") != 1 || !strings.HasPrefix(got.stderr, "thriftpack: ") {
		t.Errorf("got %+v, want exit code 1 and one line on stderr alone", got)
	}
	for _, text := range want {
		if !strings.Contains(got.stderr, text) {
			t.Errorf("stderr %q, want it to say %q", got.stderr, text)
		}
	}
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func TestHelp(t *testing.T) {
	for name, args := range map[string][]string{
		"help.txt": {"help"}, "help-encode.txt": {"help", "encode"}, "help-decode.txt": {"decode", "--help"},
		"help-inspect.txt": {"inspect", "-h"}, "help-stream.txt": {"stream"}, "help-stream-encode.txt": {"stream", "encode", "-h"},
		"help-stream-decode.txt": {"help", "stream", "decode"}, "help-bench.txt": {"bench", "-h"}, "help-schema.txt": {"schema"},
		"help-schema-check.txt": {"schema", "check", "-h"},
	} {
		t.Run(name, func(t *testing.T) {
			got := execute(t, "", args...)
			if got.code != 0 || got.stderr != "" {
				t.Errorf("%q: %+v, want exit code 0", args, got)
			}
			compareGolden(t, name, got.stdout)
		})
	}
	if bare, help := execute(t, ""), execute(t, "", "help"); bare.stdout != help.stdout {
		t.Errorf("thriftpack without arguments prints %q, want the help", bare.stdout)
	}
}

func TestVersion(t *testing.T) {
	if got := execute(t, "", "version"); got.code != 0 || !strings.HasPrefix(got.stdout, "thriftpack ") || strings.Count(got.stdout, "\n") != 1 {
		t.Errorf("version: %+v", got)
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := execute(t, "", "completion", shell); got.code != 0 || !strings.Contains(got.stdout, "thriftpack") {
			t.Errorf("completion %s: exit code %d, %d bytes", shell, got.code, len(got.stdout))
		}
	}
	got := execute(t, "", "__complete", "decode", "--root-type", "")
	for _, word := range append(typeNames(), "struct", "uuid") {
		if !strings.Contains(got.stdout, word+"\n") {
			t.Errorf("--root-type completes to %q, want %s among it", got.stdout, word)
		}
	}
	if len(typeNames()) != 13 {
		t.Errorf("%d type names, want 13: %q", len(typeNames()), typeNames())
	}
}

const answer = `{"struct":{"fields":[{"id":1,"i32":42}]}}`

func TestEncode(t *testing.T) {
	file := filepath.Join(t.TempDir(), "value.json")
	if err := os.WriteFile(file, []byte(answer), 0o600); err != nil {
		t.Fatal(err)
	}
	wire, err := proto.Marshal(fixture.OneOfEach())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, stdin string
		args        []string
		want        string
	}{
		{"raw into a pipe", answer, nil, "\x15\x54\x00"},
		{"hex", answer, []string{"--output=hex"}, "155400\n"},
		{"base64", answer, []string{"--output=base64"}, "FVQA\n"},
		{"a file", "", []string{"--output=hex", file}, "155400\n"},
		{"a dash", answer, []string{"--output=hex", "-"}, "155400\n"},
		{"wire bytes", string(wire), []string{"--output=hex", "--input=wire"}, fixture.OneOfEachCompact + "\n"},
		{"binary", answer, []string{"--output=hex", "--protocol=binary"}, "0800010000002a00\n"},
		{"framed", answer, []string{"--output=hex", "--framing=framed"}, "00000003155400\n"},
		{"a message", answer, []string{"--output=hex", "--message=f"}, "82210001" + "66" + "155400\n"},
		{
			"a reply, binary and framed", answer,
			[]string{"--output=hex", "--protocol=binary", "--framing=framed", "--message=f", "--message-type=reply", "--seqid=7"},
			"00000015" + "80010002" + "0000000166" + "00000007" + "0800010000002a00\n",
		},
		{"a root that is no struct", `{"i32": 42}`, []string{"--output=hex"}, "54\n"},
		{"streamed", answer, []string{"--output=hex", "--stream", "--quiet"}, "155400\n"},
		{"streamed three times", answer, []string{"--output=base64", "--stream", "--quiet", "--count=3"}, "FVQAFVQAFVQA\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := execute(t, test.stdin, append([]string{"encode"}, test.args...)...)
			if want := (outcome{0, test.want, ""}); got != want {
				t.Errorf("encode %q: %+v, want %+v", test.args, got, want)
			}
		})
	}
}

func TestOutputOnATerminal(t *testing.T) {
	if got := executeOn(t, IO{OutTerminal: true}, answer, "encode"); got.stdout != "155400\n" {
		t.Errorf("encode to a terminal: %+v, want hex", got)
	}
	if got := executeOn(t, IO{InTerminal: true}, answer, "encode"); !strings.Contains(got.stderr, "Ctrl-D") {
		t.Errorf("encode from a terminal: %+v, want a word on how to end", got)
	}
}

func TestEncodeRefuses(t *testing.T) {
	tests := []struct {
		name, stdin string
		args        []string
		want        []string
	}{
		{"no input", "", nil, []string{"input: empty", `{"i32": 42}`}},
		{"no JSON", "hello", nil, []string{"input: line 1, column 1: not a Value as json: syntax error"}},
		{"a name that does not exist", `{"int": 5}`, nil, []string{"input: line 1, column 2: not a Value as json: unknown field\n"}},
		{"a value out of range", `{"struct":{"fields":[{"id":1,"i16":40000}]}}`, nil, []string{"INVALID_ARGUMENT: ", "40000", "reason INT_RANGE", "value.struct.fields[0].i16"}},
		{"no kind", `{}`, nil, []string{"INVALID_ARGUMENT", "reason MISSING_KIND"}},
		{"wire bytes that are none", "\xff", []string{"--input=wire"}, []string{"input: not a Value as wire"}},
		{"a file that is not there", "", []string{"/nowhere.json"}, []string{"open /nowhere.json: no such file"}},
		{"two files", "", []string{"a", "b"}, []string{"accepts at most 1 arg"}},
		{"a flag that does not exist", "", []string{"--protokol=binary"}, []string{"unknown flag: --protokol"}},
		{"a protocol that does not exist", "", []string{"--protocol=json"}, []string{"--protocol", "want one of compact, binary"}},
		{"a count without a stream", answer, []string{"--count=3"}, []string{"need --stream"}},
		{"a sequence id without a message", answer, []string{"--seqid=3"}, []string{"need --message"}},
		{"a message that is no struct", `{"i32": 42}`, []string{"--message=f"}, []string{"INVALID_ARGUMENT", "reason TYPE_MISMATCH"}},
		{"a chunk that is too small", answer, []string{"--stream", "--chunk-size=5"}, []string{"INVALID_ARGUMENT", "chunk"}},
		{"a server that is not there", answer, []string{"--addr=127.0.0.1:1"}, []string{"UNAVAILABLE: ", "connection refused", "server 127.0.0.1:1"}},
		{"an address that is none", answer, []string{"--addr=127.0.0.1"}, []string{"127.0.0.1"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			mustFail(t, execute(t, test.stdin, append([]string{"encode"}, test.args...)...), test.want...)
		})
	}
	mustFail(t, execute(t, "", "transmogrify"), `unknown command "transmogrify"`)
	mustFail(t, execute(t, "", "help", "transmogrify"), `no command "transmogrify"`)
	mustFail(t, execute(t, "", "help", "stream", "transmogrify"), `no command "stream transmogrify"`)
}

func TestDecode(t *testing.T) {
	const indented = `{
  "struct": {
    "fields": [
      {
        "id": 1,
        "i32": 42
      }
    ]
  }
}
`
	text := func(kind string) string {
		return `{
  "struct": {
    "fields": [
      {
        "id": 1,
        ` + kind + `
      }
    ]
  }
}
`
	}
	tests := []struct {
		name, stdin string
		args        []string
		want        string
		stderr      string
	}{
		{"hex", "155400\n", nil, indented, ""},
		{"hex with spaces and 0x", "0x15 54\n00", nil, indented, ""},
		{"raw", "\x15\x54\x00", nil, indented, ""},
		{"hex, said", "155400", []string{"--input=hex"}, indented, ""},
		{"base64", "FVQA\n", []string{"--input=base64"}, indented, ""},
		{"raw digits", "15", []string{"--input=raw", "--root-type=i8", "--allow-trailing"}, "{\n  \"i8\": 49\n}\n", "read 1 of 2 bytes\n"},
		{"binary and framed", "000000080800010000002a00", []string{"--protocol=binary", "--framing=framed"}, indented, ""},
		{"a message", "8221000166155400", []string{"--message"}, indented, "message \"f\", call, seqid 0\n"},
		{"a message, quiet", "8221000166155400", []string{"--message", "-q"}, indented, ""},
		{"trailing bytes", "155400ffff", []string{"--allow-trailing"}, indented, "read 3 of 5 bytes\n"},
		{"bytes", "1802686900", nil, text(`"binary": "aGk="`), ""},
		{"bytes as text", "1802686900", []string{"--detect-text"}, text(`"string": "hi"`), ""},
		{"a root", "54", []string{"--root-type=i32"}, "{\n  \"i32\": 42\n}\n", ""},
		{"to wire bytes", "54", []string{"--root-type=i32", "--output=wire"}, "\x28\x54", ""},
		{"streamed", "155400", []string{"--stream", "-q"}, indented, ""},
		{"streamed to wire bytes", "54", []string{"--root-type=i32", "--output=wire", "--stream", "-q"}, "\x28\x54", ""},
		{
			"the response", "155400",
			[]string{"--output=response"},
			"{\n  \"value\": " + strings.ReplaceAll(strings.TrimSpace(indented), "\n", "\n  ") + ",\n  \"bytesRead\": \"3\"\n}\n", "",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := execute(t, test.stdin, append([]string{"decode"}, test.args...)...)
			if diff := cmp.Diff(test.want, got.stdout); got.code != 0 || got.stderr != test.stderr || diff != "" {
				t.Errorf("decode %q: exit code %d, stderr %q, want %q; stdout (-want +got):\n%s", test.args, got.code, got.stderr, test.stderr, diff)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	deep := strings.Repeat("1c", 60) + strings.Repeat("00", 61)
	tests := []struct {
		name, stdin string
		args        []string
		want        []string
	}{
		{"half a value", "1554", nil, []string{"INVALID_ARGUMENT: ", "offset 2", "reason TRUNCATED"}},
		{"trailing bytes", "15540000", nil, []string{"reason TRAILING_BYTES", "offset 3"}},
		{"half a byte", "155", []string{"--input=hex"}, []string{"input: hex: an odd number of digits"}},
		{"no hex", "15xx", []string{"--input=hex"}, []string{"input: hex: byte 'x' at position 2"}},
		{"no base64", "!", []string{"--input=base64"}, []string{"input: base64: "}},
		{"too deep", deep, nil, []string{"RESOURCE_EXHAUSTED", "reason DEPTH_LIMIT"}},
		{"the response of a stream", "155400", []string{"--stream", "--output=response"}, []string{"--output response"}},
		{"a type that does not exist", "155400", []string{"--root-type=float"}, []string{"want one of struct, bool"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			mustFail(t, execute(t, test.stdin, append([]string{"decode"}, test.args...)...), test.want...)
		})
	}
	if got := execute(t, deep, "decode", "--max-depth=61", "--output=wire"); got.code != 0 {
		t.Errorf("decode --max-depth=61 of depth 61: exit code %d, %s", got.code, got.stderr)
	}
}

// TestRoundTrip passes the wire bytes of decode to encode.
func TestRoundTrip(t *testing.T) {
	decoded := execute(t, fixture.OneOfEachCompact, "decode", "--output=wire")
	again := execute(t, decoded.stdout, "encode", "--input=wire", "--output=hex")
	if want := fixture.OneOfEachCompact + "\n"; again.stdout != want {
		t.Errorf("decode | encode = %q, want %q (stderr %q, %q)", again.stdout, want, decoded.stderr, again.stderr)
	}
	asJSON := execute(t, fixture.OneOfEachCompact, "decode", "--detect-text")
	compareGolden(t, "one-of-each.json", asJSON.stdout)
	if again := execute(t, asJSON.stdout, "encode", "--output=hex"); again.stdout != fixture.OneOfEachCompact+"\n" {
		t.Errorf("decode | encode as JSON = %+v, want %q", again, fixture.OneOfEachCompact)
	}
}

func TestInspect(t *testing.T) {
	got := execute(t, fixture.OneOfEachCompact, "inspect")
	if got.code != 0 || got.stderr != "" {
		t.Errorf("inspect: %+v", got)
	}
	for _, want := range []string{"-42", "27000", "6000000000", `"Debug THIS!"`} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("inspect shows %q, want %q in it", got.stdout, want)
		}
	}

	if plain, colored := execute(t, "155400", "inspect"), execute(t, "155400", "inspect", "--color=always"); !strings.Contains(colored.stdout, "\x1b[") ||
		strings.Contains(plain.stdout, "\x1b[") {
		t.Errorf("inspect: colours %q with --color=always, %q without", colored.stdout, plain.stdout)
	}
	if got := execute(t, "155400", "inspect", "--json"); got.code != 0 || !strings.HasPrefix(got.stdout, "{") {
		t.Errorf("inspect --json: %+v, want an object", got)
	}
	malformed := execute(t, "15", "inspect", "--protocol=compact", "--framing=none", "--message=no")
	if malformed.code != 1 || malformed.stdout == "" || !strings.Contains(malformed.stderr, "malformed: ") || !strings.Contains(malformed.stderr, "reason TRUNCATED") {
		t.Errorf("inspect of half a value: %+v, want a listing, exit code 1 and the fault", malformed)
	}
	mustFail(t, execute(t, "", "inspect", "--protocol=json"), "want one of auto, compact, binary")
}

func TestLocalConfigIsValid(t *testing.T) {
	cfg := localConfig()
	if err := cfg.Validate(); err != nil {
		t.Errorf("localConfig: %v", err)
	}
	if cfg.StallTimeout < time.Hour || cfg.MaxConnectionAge != 0 {
		t.Errorf("StallTimeout = %v, MaxConnectionAge = %v, want hours and none: the reader of a pipe may pause",
			cfg.StallTimeout, cfg.MaxConnectionAge)
	}
}
