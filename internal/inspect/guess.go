package inspect

import (
	"bytes"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
)

// tally counts what speaks for and against a reading. Right readings have ascending ids in the shortest form and text
// that is text; wrong ones come upon such by chance only.
type tally struct {
	fields, steps, backs      int // fields; of those with the next few ids, and those that do not ascend
	lowIDs, farIDs            int // negative ids; ids far from 0
	needless                  int // long forms that a short one would have done for
	textNumbers               int // numbers of fixed width whose bytes are all printable
	padded, stops             int
	containers, empties       int
	textBytes, texts, notText int
	exactFrame, longFrame     bool
	identifier, noIdentifier  bool // the envelope's name
}

// field counts a field header; last is the id of the field before, first says that there is none.
func (t *tally) field(h header, last int32, first bool) {
	t.fields++
	switch d := h.id - last; {
	case d == 0 && first:
		// Id 0 is what the result of a call has.
	case d <= 0:
		t.backs++
	case d <= 15:
		t.steps++
		if h.form == "long" {
			t.needless++
		}
	}
	if h.id < 0 {
		t.lowIDs++
	}
	const far = 1000
	if h.id > far || h.id < -far {
		t.farIDs++
	}
}

// number counts a number of fixed width that would be text.
func (t *tally) number(b []byte) {
	for _, c := range b {
		if c < ' ' || c > '~' {
			return
		}
	}
	t.textNumbers++
}

func (t *tally) container(n int) {
	if t.containers++; n == 0 {
		t.empties++
	}
}

func (t *tally) blob(b []byte) {
	switch {
	case isText(b):
		t.texts++
		t.textBytes += len(b)
	case !utf8.Valid(b):
		t.notText++
	}
}

func (t *tally) name(b []byte) {
	ok := len(b) > 0
	for _, c := range b {
		ok = ok && (c == '_' || c == '.' || c == ':' || c == '-' || c == '/' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= utf8.RuneSelf)
	}
	t.identifier, t.noIdentifier = ok, !ok
}

// reading is one plan and how it went.
type reading struct {
	plan     plan
	score    int
	body     int // where what is more than a guess starts
	read     int // bytes before the reader stopped
	faults   []found
	envelope envelope
	tally    tally
}

// whole says whether all bytes were read without a fault.
func (g *reading) whole() bool { return len(g.faults) == 0 }

// unlikely says whether a frame or envelope was only assumed: nothing like one starts the bytes.
func (g *reading) unlikely() bool {
	return g.tally.longFrame || (!g.whole() && g.plan.message && !g.tally.identifier && !g.envelope.headed)
}

// try reads data as p says, and scores it.
func try(data []byte, p plan, o *Options) reading {
	r := reader{data: data, plan: p, o: o}
	r.run()
	g := reading{plan: p, body: r.body, read: r.pos, faults: r.faults, envelope: r.envelope, tally: r.tally}
	if n := len(r.faults); n > 0 {
		g.read = r.faults[n-1].offset
	}
	g.score = g.weigh(len(data))
	return g
}

// weigh adds up, in about bits, how unlikely each thing that is right would be in other bytes. What is summed per item is
// capped, so that reading all bytes without a fault outweighs any number of items before one.
func (g *reading) weigh(n int) int {
	t := &g.tally
	perField := 1
	if g.plan.protocol == Binary {
		perField = 8 // a type byte of 256 and two bytes of id
	}
	s := min(perField*t.steps, 60) + min(t.textBytes, 40) + min(2*(t.containers-t.empties), 20)
	s -= min(6*t.backs+4*t.lowIDs+6*t.farIDs+12*t.needless+12*t.padded+2*t.notText+6*t.textNumbers, 80)
	if g.whole() {
		s += 200
	} else {
		s += int(60 * int64(g.read-g.body) / int64(max(n, 1)))
		for i := range g.faults {
			if g.faults[i].reason == fault.Truncated {
				s -= 10 // what was cut off is the commonest
			} else {
				s -= 20
			}
		}
		if g.faults[0].reason == fault.TrailingBytes && t.fields == 0 {
			s -= 30 // a stop and then more: zeros of a length, rather
		}
	}
	switch {
	case t.exactFrame:
		s += 28
	case g.plan.framed && t.longFrame:
		s -= 80 // a length above 16 MiB that does not fit is no length
	case g.plan.framed:
		s -= 4
	}
	if g.envelope.headed {
		s += 12
	}
	switch {
	case t.identifier:
		s += map[string]int{"compact": 8, "strict": 18, "unversioned": 24}[g.envelope.form]
	case t.noIdentifier:
		s -= 40
	case g.plan.message:
		s -= 20 // no name was reached
	}
	return s
}

// readings tries all plans that o leaves open, the best first. Between equals, the simpler comes first: compact before
// binary, no frame before one, no envelope before one.
func readings(data []byte, o *Options) []reading {
	var all []reading
	for _, protocol := range []Protocol{Compact, Binary} {
		if o.Protocol != ProtocolAuto && o.Protocol != protocol {
			continue
		}
		for _, framed := range []bool{false, true} {
			if o.Framing != FramingAuto && (o.Framing == Framed) != framed {
				continue
			}
			for _, message := range []bool{false, true} {
				if o.Message != MessageAuto && (o.Message == WithMessage) != message {
					continue
				}
				if message && o.Message == MessageAuto && o.Root != thriftpackv1.Type_TYPE_UNSPECIFIED && o.Root != thriftpackv1.Type_TYPE_STRUCT {
					continue // a message's body is a struct
				}
				all = append(all, try(data, plan{protocol, framed, message}, o))
			}
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].score > all[j].score })
	return all
}

// String reads like "compact protocol, framed, no envelope".
func (g *reading) String() string {
	s := g.plan.protocol.String() + " protocol"
	if g.plan.framed {
		s += ", framed"
	} else {
		s += ", no frame"
	}
	switch {
	case !g.plan.message:
		s += ", no envelope"
	case g.envelope.form == "unversioned":
		s += ", envelope without a version"
	default:
		s += ", envelope"
	}
	return s
}

// why says what speaks for a reading, and against it.
func (g *reading) why() string {
	t := &g.tally
	var said []string
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	if g.whole() {
		say("it reads to the last byte")
	} else {
		say("it reads furthest, up to offset %d", g.read)
	}
	if t.exactFrame {
		say("the frame's length fits")
	}
	if t.identifier {
		say("the envelope has a name")
	}
	switch {
	case t.fields > 0 && t.backs == 0:
		say("%s, ids ascend", plural(t.fields, "field"))
	case t.fields > 0:
		say("%d of %s do not ascend", t.backs, plural(t.fields, "field id"))
	}
	if t.texts > 0 {
		say("%s of text", plural(t.textBytes, "byte"))
	}
	if n := t.textNumbers; n > 0 {
		say("but %s made of text", plural(n, "number"))
	}
	if n := t.needless + t.padded; n > 0 {
		say("but %s in a longer form than needed", plural(n, "number"))
	}
	return strings.Join(said, "; ")
}

// whyNot says why another reading is less likely.
func (g *reading) whyNot() string {
	if g.whole() {
		return "likewise " + strings.TrimPrefix(g.why(), "it ")
	}
	f := g.faults[0]
	return fmt.Sprintf("offset %d: %s", f.offset, f.detail)
}

func remain(n int) string {
	if n == 1 {
		return "1 byte remains"
	}
	return fmt.Sprintf("%d bytes remain", n)
}

func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// formats are other things that people hold for Thrift compact or binary, by what stands at an offset.
var formats = []struct {
	offset int
	magic  string
	name   string
}{
	{4, "\x0f\xff", "a THeader frame (magic 0fff): cut its header off first, and undo its transforms"},
	{0, "\x82\x22", "a compact message of version 2, fbthrift's dialect"},
	{0, "\x1f\x8b", "gzip: decompress it first"},
	{0, "\x28\xb5\x2f\xfd", "zstd: decompress it first"},
	{0, "\x04\x22\x4d\x18", "lz4: decompress it first"},
	{0, "\xff\x06\x00\x00sNaPpY", "snappy: decompress it first"},
	{0, "PAR1", "a Parquet file: its footer is Thrift compact, and its length is in the 4 bytes before the last PAR1"},
	{0, "Obj\x01", "an Avro file"},
	{0, "[1,\"", "a message of Thrift's JSON protocol"},
	{0, "{\"", "JSON"},
	{0, "POST ", "an HTTP request: the Thrift bytes are its body"},
	{0, "HTTP/", "an HTTP response: the Thrift bytes are its body"},
}

const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=\r\n"

// looksLike names what bytes that are not what they were read as look like, or "".
func looksLike(data []byte) string {
	for _, f := range formats {
		if len(data) >= f.offset && bytes.HasPrefix(data[f.offset:], []byte(f.magic)) {
			return f.name
		}
	}
	const most = 4096
	head := data[:min(len(data), most)]
	if len(head) >= 4 && len(bytes.TrimLeft(head, "0123456789abcdefABCDEF \r\n")) == 0 {
		return "hexadecimal text rather than bytes"
	}
	if len(data) >= 8 && len(bytes.TrimLeft(head, base64Alphabet)) == 0 {
		return "base64 text rather than bytes"
	}
	return ""
}
