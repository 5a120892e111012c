package inspect

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
)

var update = flag.Bool("update", false, "write the golden listings")

func unhex(tb testing.TB, s string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// every has one field of each type, and a struct with bools around it.
const every = `11 22 13 85 14 ff ff 03 15 d6 01 16 80 a0 ab fe f9 62 17 00 00 00 00 00 00 f8 3f
	18 05 68 65 6c 6c 6f 18 04 00 01 fe ff 19 35 02 04 06 1a 28 01 61 02 62 63 1b 01 85 01 6b 01
	1c 11 22 00 1d 00 11 22 33 44 55 66 77 88 99 aa bb cc dd ee ff 00`

// sentence is 134 bytes of text.
const sentence = "5468652062656573206c65667420617420736576656e20616e64206e6f6e65206f66207468656d2063616d65206261636b206265666f7265206e6f6f6e3b20746865206b65657065722077726f746520697420646f776e20696e2068657220626f6f6b2c20746f6f6b20686572206861742c20616e642077656e74206f757420746f206c6f6f"

// listings are read by people: each golden file of testdata was looked at.
var listings = []struct {
	name, hex string
	change    func(*Options)
}{
	{"empty", "", nil},
	{"stop", "00", nil},
	{"every-type", every, nil},
	{"every-type-binary", `020001 01 020002 00 030003 85 060004 8000 080005 0000006b 0a0006 0000018bcfe56800
		040007 3ff8000000000000 0b0008 00000005 68656c6c6f 0b0009 00000004 0001feff 0f000a 08 00000003 000000010000000200000003
		0e000b 0b 00000002 00000001 61 00000002 6263 0d000c 0b 08 00000001 00000001 6b ffffffff 0c000d 020001 01 00
		10000e 00112233445566778899aabbccddeeff 00`, nil},
	{"nested", "1c 1c 19 2c 15 02 00 15 04 00 00 00 28 01 7a 00", nil},
	{"lists-of-lists", "19 29 25 02 04 05 16 00 00", nil},
	{"maps", "1b 02 8b 01 61 01 55 02 04 01 62 00 1b 00 1b 01 bc 01 88 01 78 01 79 11 00 00", nil},
	{"bool-elements", "19 31 01 02 00 1a 22 01 02 00", nil},
	{"negative-ids", "05 03 02 15 02 05 ff ff 03 00 05 00 04 f5 06 00", nil},
	{"long-forms", "15 82 00 09 04 f5 02 00 02 16 81 80 80 00 00", nil},
	{"doubles", "17 00 00 00 00 00 00 f8 7f 17 00 00 00 00 00 00 f0 ff 17 00 00 00 00 00 00 00 80 17 9a 99 99 99 99 99 b9 3f 00", nil},
	{"call-compact", "82 21 ac 02 04 70 69 6e 67 18 02 68 69 00", nil},
	{"reply-compact-framed", "00 00 00 12 82 41 ff ff ff ff 0f 04 70 69 6e 67 0c 00 15 02 00 00", nil},
	{"call-binary", "80010001 00000004 70696e67 0000012c 0b0001 00000002 6869 00", nil},
	{"call-binary-unversioned", "00000004 70696e67 01 0000012c 0b0001 00000002 6869 00", nil},
	{"exception-binary-framed", "00000025 80010003 00000004 70696e67 00000007 0b0001 00000006 62726f6b656e 080002 00000006 00", nil},
	{"long-text", "18 86 01 " + sentence + " 00", nil},
	{"long-text-all", "18 86 01 " + sentence + " 00", func(o *Options) { o.All = true }},
	{"many-elements", "19 f5 64" + strings.Repeat("02", 100) + " 29 fc 28" + strings.Repeat("15 02 00", 40) + "00", func(o *Options) { o.MaxElements = 4 }},
	{"many-elements-fault", "19 f1 64" + strings.Repeat("01", 60) + "07" + strings.Repeat("02", 39) + "00", func(o *Options) { o.MaxElements = 4 }},
	{"scalar-root", "d6 01", func(o *Options) { o.Root = thriftpackv1.Type_TYPE_I32 }},
	{"values-in-a-row", "15 02 00 15 04 00 15 06 00", nil},
	{"both-protocols", "08 00 04 64 6f 6e 65 00", nil},
	{"fault-end-of-input", "1c 15 02 18 05 68 65", nil},
	{"fault-list-size", "19 f5 e8 07 02 04 06 00", nil},
	{"fault-negative-size", "15 02 18 ff ff ff ff 0f 00 01 02 03", nil},
	{"fault-type", "15 02 1e 01 02 03 04 05 06 07 08 09 0a 0b 0c", nil},
	{"fault-ranges", "14 80 80 08 19 31 01 07 02 10", nil},
	{"fault-depth", strings.Repeat("1c", 8), func(o *Options) { o.MaxDepth = 5 }},
	{"fault-frame-cut", "00 00 01 00 15 02 18 0a 68 65 6c 6c 6f", nil},
	{"fault-version", "82 22 01 04 70 69 6e 67 00", func(o *Options) { o.Message = WithMessage }},
	{"fault-no-thrift", "7b 22 61 22 3a 31 7d", nil},
}

func TestListings(t *testing.T) {
	for _, c := range listings {
		t.Run(c.name, func(t *testing.T) {
			o := Defaults()
			if c.change != nil {
				c.change(&o)
			}
			l, err := Inspect(unhex(t, c.hex), o)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, c.name+".txt", func(w io.Writer) error { return l.WriteText(w, false) })
		})
	}
}

func TestColoredListing(t *testing.T) {
	l := inspected(t, every)
	golden(t, "every-type.ansi", func(w io.Writer) error { return l.WriteText(w, true) })
	golden(t, "fault-list-size.ansi", func(w io.Writer) error {
		return inspected(t, "19 f5 e8 07 02 04 06 00").WriteText(w, true)
	})
}

func TestJSONListing(t *testing.T) {
	for name, text := range map[string]string{
		"every-type.json": every, "call-compact.json": "82 21 ac 02 04 70 69 6e 67 18 02 68 69 00", "fault-list-size.json": "19 f5 e8 07 02 04 06 00",
	} {
		l := inspected(t, text)
		golden(t, name, l.WriteJSON)
		var b bytes.Buffer
		if err := l.WriteJSON(&b); err != nil || !json.Valid(b.Bytes()) {
			t.Errorf("%s: not JSON (%v)", name, err)
		}
	}
}

func inspected(tb testing.TB, text string) *Listing {
	tb.Helper()
	l, err := Inspect(unhex(tb, text), Defaults())
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

func golden(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s differs; got:\n%s\nwant:\n%s", name, b.Bytes(), want)
	}
}

func TestFaults(t *testing.T) {
	compact := Options{Protocol: Compact, Framing: Unframed, Message: WithoutMessage}
	message := Options{Protocol: Compact, Framing: Unframed, Message: WithMessage}
	framed := Options{Protocol: Compact, Framing: Framed, Message: WithoutMessage}
	binary := Options{Protocol: Binary, Framing: Unframed, Message: WithoutMessage}
	binaryMessage := Options{Protocol: Binary, Framing: Unframed, Message: WithMessage}
	for _, c := range []struct {
		name   string
		o      Options
		hex    string
		offset int64
		path   string
		reason fault.Reason
	}{
		{"nothing", compact, "", 0, "", fault.Truncated},
		{"no stop", compact, "15 02", 2, "", fault.Truncated},
		{"inside a varint", compact, "15 80", 2, "1", fault.Truncated},
		{"inside a double", compact, "17 00 00", 3, "1", fault.Truncated},
		{"string by one", compact, "18 03 61 62", 1, "1", fault.Truncated},
		{"second string of a list", compact, "19 28 01 61 05 62", 4, "1[1]", fault.Truncated},
		{"short list too long", compact, "19 31 01 02", 1, "1", fault.Truncated},
		{"long list too long", compact, "19 f5 e8 07 02 04 06 00", 2, "1", fault.Truncated},
		{"map without its value", compact, "1b 01 55 02", 1, "1", fault.Truncated},
		{"negative length", compact, "18 ff ff ff ff 0f 00", 1, "1", fault.NegativeSize},
		{"negative list size", compact, "19 f5 ff ff ff ff 0f 00", 2, "1", fault.NegativeSize},
		{"33 bits", compact, "15 80 80 80 80 10 00", 1, "1", fault.VarintOverflow},
		{"65 bits", compact, "16 80 80 80 80 80 80 80 80 80 02 00", 1, "1", fault.VarintOverflow},
		{"eleven bytes", compact, "16 80 80 80 80 80 80 80 80 80 80 00 00", 1, "1", fault.VarintOverflow},
		{"i16 of 32768", compact, "14 80 80 04 00", 1, "1", fault.IntRange},
		{"id 32768", compact, "05 80 80 04 02 00", 1, "", fault.IntRange},
		{"delta past 32767", compact, "05 fe ff 03 02 15 02 00", 5, "", fault.IntRange},
		{"field type 14", compact, "1e 00", 0, "", fault.BadType},
		{"element type 15", compact, "19 1f 00 00", 1, "1", fault.BadType},
		{"element type 0", compact, "19 10 00", 1, "1", fault.BadType},
		{"element type 0, empty", compact, "19 00 00", 1, "1", fault.BadType},
		{"map value type 15", compact, "1b 01 5f 02 00 00", 2, "1", fault.BadType},
		{"stop with a delta", compact, "15 02 10", 2, "", fault.BadHeader},
		{"bool element 7", compact, "19 21 01 07 00", 3, "1[1]", fault.BadHeader},
		{"map key fault", compact, "1b 01 15 07 02 00", 3, "1[0].key", fault.BadHeader},
		{"nested path", compact, "5c 19 1c 27 00", 5, "5.1[0].2", fault.Truncated},
		{"trailing", compact, "15 02 00 ff", 3, "", fault.TrailingBytes},
		{"frame too short", framed, "00 00 00 01 15 02 00", 5, "1", fault.Truncated},
		{"frame too long", framed, "00 00 00 09 15 02 00", 0, "", fault.Truncated},
		{"negative frame", framed, "ff ff ff ff 00", 0, "", fault.NegativeSize},
		{"after the frame", framed, "00 00 00 01 00 00", 5, "", fault.TrailingBytes},
		{"not a message", message, "15 02 00", 0, "", fault.BadVersion},
		{"version 2", message, "82 22 01 01 61 00", 1, "", fault.BadVersion},
		{"message type 0", message, "82 01 01 01 61 00", 1, "", fault.BadHeader},
		{"name too long", message, "82 21 01 05 61 62", 3, "", fault.Truncated},
		{"binary type 5", binary, "05 00 01 00", 0, "", fault.BadType},
		{"binary bool 2", binary, "02 00 01 02 00", 3, "1", fault.BadHeader},
		{"binary list too long", binary, "0f 00 01 08 00 00 00 02 00 00 00 01 00", 4, "1", fault.Truncated},
		{"binary version", binaryMessage, "80 02 00 01 00 00 00 00 00 00 00 00 00", 0, "", fault.BadVersion},
	} {
		o := Defaults()
		o.Protocol, o.Framing, o.Message = c.o.Protocol, c.o.Framing, c.o.Message
		l, err := Inspect(unhex(t, c.hex), o)
		if err != nil {
			t.Fatal(err)
		}
		f := l.Fault()
		if f == nil || f.Offset != c.offset || f.Path != c.path || f.Reason != c.reason {
			t.Errorf("%s (% s): fault %+v, want %s at offset %d, path %q", c.name, c.hex, f, c.reason, c.offset, c.path)
		}
	}
}

func TestOptionsOutOfRange(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"nothing set":    func(o *Options) { *o = Options{} },
		"depth":          func(o *Options) { o.MaxDepth = DepthCeiling + 1 },
		"elements":       func(o *Options) { o.MaxElements = 0 },
		"rows":           func(o *Options) { o.MaxRows = -1 },
		"bytes":          func(o *Options) { o.MaxBytes = 0 },
		"protocol":       func(o *Options) { o.Protocol = 3 },
		"root":           func(o *Options) { o.Root = 14 },
		"message of i32": func(o *Options) { o.Message, o.Root = WithMessage, thriftpackv1.Type_TYPE_I32 },
	} {
		o := Defaults()
		change(&o)
		if _, err := Inspect([]byte{0}, o); !errors.Is(err, fault.New(fault.BadOption, "")) {
			t.Errorf("%s: Inspect: %v, want %s", name, err, fault.BadOption)
		}
	}
}

func TestFlagValues(t *testing.T) {
	var p Protocol
	var f Framing
	var m Message
	if err := errors.Join(p.Set("binary"), f.Set("framed"), m.Set("no")); err != nil || p != Binary || f != Framed || m != WithoutMessage {
		t.Errorf("Set: %v, %v, %v (%v)", p, f, m, err)
	}
	if err := p.Set("json"); err == nil || p.String() != "binary" {
		t.Errorf(`Set("json"): %v, and the value is %v`, err, p)
	}
}

// lineCounter counts what is written, and fails after some lines.
type lineCounter struct{ lines, bytes, most int }

var errFull = errors.New("full")

func (c *lineCounter) Write(b []byte) (int, error) {
	c.lines += bytes.Count(b, []byte("\n"))
	c.bytes += len(b)
	if c.most > 0 && c.lines > c.most {
		return 0, errFull
	}
	return len(b), nil
}

// A claim or a real container of millions of elements must cost neither memory nor, unless asked for, lines.
func TestBounds(t *testing.T) {
	const n = 16 << 20
	long := append(unhex(t, "19 f1 80 80 80 08"), bytes.Repeat([]byte{1}, n)...)
	long = append(long, 0)
	// Fields in the long form, with ids that are all 1: a struct of 256 Ki fields.
	wide := append(bytes.Repeat(unhex(t, "05 02 02"), 1<<18), 0)
	for name, data := range map[string][]byte{
		"list<bool> of 16 Mi": long, "many fields": wide, "2^31-1 doubles claimed": unhex(t, "19 f7 ff ff ff ff 07 00"),
		"lists of lists that claim 2^31-1": bytes.Repeat(unhex(t, "f9 ff ff ff ff 07"), 1000),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		o := Defaults()
		o.Protocol = Compact
		l, err := Inspect(data, o)
		if err != nil {
			t.Fatal(err)
		}
		var text, machine lineCounter
		if err := errors.Join(l.WriteText(&text, true), l.WriteJSON(&machine)); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
			t.Errorf("%s: %d bytes allocated, want at most 4 MiB", name, got)
		}
		if text.lines > 200 || machine.lines > 200 {
			t.Errorf("%s: %d and %d lines, want at most 200", name, text.lines, machine.lines)
		}
	}
}

func TestAllIsWrittenAsItIsRead(t *testing.T) {
	const n = 1 << 18
	data := append(unhex(t, "19 f3 80 80 10"), make([]byte, n)...)
	o := Defaults()
	o.All = true
	l, err := Inspect(append(data, 0), o)
	if err != nil {
		t.Fatal(err)
	}
	var c lineCounter
	if err := l.WriteText(&c, false); err != nil || c.lines < n {
		t.Errorf("%d lines (%v), want over %d", c.lines, err, n)
	}
	c = lineCounter{most: 100}
	if err := l.WriteText(&c, false); !errors.Is(err, errFull) {
		t.Errorf("WriteText: %v, want the writer's error", err)
	}
	if c.lines > 1000 {
		t.Errorf("%d lines were written after the writer failed", c.lines)
	}
}

// The listings of docs/inspect.md are what inspect writes.
func TestDocumentedListings(t *testing.T) {
	page, err := os.ReadFile("../../docs/inspect.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"82 21 ac 02 04 70 69 6e 67 18 02 68 69 1b 01 85 01 6b 01 19 25 02 04 00", "19 f5 e8 07 02 04 06 00",
	} {
		var b bytes.Buffer
		if err := inspected(t, text).WriteText(&b, false); err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(page, append([]byte("```\n"), append(b.Bytes(), "```"...)...)) {
			t.Errorf("docs/inspect.md lacks this listing of % s:\n%s", text, b.Bytes())
		}
	}
}
