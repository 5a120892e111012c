package decoder_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/fault"
)

func TestEnvelope(t *testing.T) {
	call := func(name string, kind, seqID int32) decoder.Message {
		return decoder.Message{Name: name, Type: kind, SeqID: seqID}
	}
	tests := []struct {
		name     string
		protocol decoder.Protocol
		hex      string
		want     decoder.Message
	}{
		{"seqid 0", decoder.Compact, "82 21 00 04 70 69 6e 67", call("ping", 1, 0)},
		{"seqid 300", decoder.Compact, "82 21 ac 02 04 70 69 6e 67", call("ping", 1, 300)},
		{"seqid -1", decoder.Compact, "82 21 ff ff ff ff 0f 04 70 69 6e 67", call("ping", 1, -1)},
		{"smallest seqid", decoder.Compact, "82 21 80 80 80 80 08 04 70 69 6e 67", call("ping", 1, -1<<31)},
		{"padded seqid", decoder.Compact, "82 21 81 80 00 04 70 69 6e 67", call("ping", 1, 1)},
		{"reply", decoder.Compact, "82 41 01 01 65", call("e", 2, 1)},
		{"exception", decoder.Compact, "82 61 01 01 65", call("e", 3, 1)},
		{"oneway", decoder.Compact, "82 81 01 01 65", call("e", 4, 1)},
		{"no name", decoder.Compact, "82 21 01 00", call("", 1, 1)},
		{"strict", decoder.Binary, "80 01 00 01 00000004 70696e67 ffffffff", call("ping", 1, -1)},
		{"strict oneway", decoder.Binary, "80 01 00 04 00000001 65 00000001", call("e", 4, 1)},
		{"old", decoder.Binary, "00000004 70696e67 02 0000012c", call("ping", 2, 300)},
		{"old without a name", decoder.Binary, "00000000 03 00000001", call("", 3, 1)},
	}
	body := map[decoder.Protocol]string{decoder.Compact: "15 02 00", decoder.Binary: "08 0001 00000001 00"}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := &decoder.Options{Protocol: test.protocol, Message: true, Limits: usual}
			data := unhex(t, test.hex+body[test.protocol])
			info := expect(t, data, o, thriftpackv1.StructValue(thriftpackv1.I32Field(1, 1)))
			if !info.HasMessage || info.Message != test.want || info.BytesRead != int64(len(data)) {
				t.Errorf("%x: %+v, want %+v", data, info, test.want)
			}
			o.Framed = true
			framed := append([]byte{0, 0, 0, byte(len(data))}, data...)
			if info = expect(t, framed, o, thriftpackv1.StructValue(thriftpackv1.I32Field(1, 1))); info.BytesRead != int64(len(framed)) || info.Message != test.want {
				t.Errorf("%x: %+v, want %+v", framed, info, test.want)
			}
		})
	}
}

func TestRefusedEnvelopes(t *testing.T) {
	tests := []struct {
		name     string
		protocol decoder.Protocol
		hex      string
		reason   fault.Reason
		offset   int64
		words    string
	}{
		{"nothing", decoder.Compact, "", fault.Truncated, 0, ""},
		{"id only", decoder.Compact, "82", fault.Truncated, 1, ""},
		{"no seqid", decoder.Compact, "82 21", fault.Truncated, 2, ""},
		{"no name", decoder.Compact, "82 21 01", fault.Truncated, 3, ""},
		{"name cut", decoder.Compact, "82 21 01 05 61 62", fault.Truncated, 3, ""},
		{"no body", decoder.Compact, "82 21 01 01 61", fault.Truncated, 5, ""},
		{"type 0", decoder.Compact, "82 01 01 01 61 00", fault.BadHeader, 1, "message type 0"},
		{"type 5", decoder.Compact, "82 a1 01 01 61 00", fault.BadHeader, 1, "message type 5"},
		{"type 7", decoder.Compact, "82 e1 01 01 61 00", fault.BadHeader, 1, "message type 7"},
		{"version 0", decoder.Compact, "82 20 01 01 61 00", fault.BadVersion, 1, "version 0"},
		{"version 2", decoder.Compact, "82 22 01 01 61 00", fault.BadVersion, 1, "fbthrift"},
		{"version 31", decoder.Compact, "82 3f 01 01 61 00", fault.BadVersion, 1, "version 31"},
		{"seqid of 33 bits", decoder.Compact, "82 21 80 80 80 80 10 01 61 00", fault.VarintOverflow, 2, ""},
		{"seqid of ten bytes", decoder.Compact, "82 21 ff ff ff ff ff ff ff ff ff 01 01 61 00", fault.VarintOverflow, 2, ""},
		{"name size -1", decoder.Compact, "82 21 01 ff ff ff ff 0f 61 00", fault.NegativeSize, 3, ""},
		{"name that is not text", decoder.Compact, "82 21 01 01 ff 00", fault.BadUTF8, 4, ""},
		{"a byte after the message", decoder.Compact, "82 21 01 01 61 00 00", fault.TrailingBytes, 6, ""},
		{"first byte 00", decoder.Compact, "00 21 01 01 61 00", fault.BadVersion, 0, "0x82"},
		{"strict binary", decoder.Compact, "80 01 00 01 00000001 61 00000001 00", fault.BadVersion, 0, "the binary protocol"},
		{"old binary", decoder.Compact, "00000001 61 01 00000001 00", fault.BadVersion, 0, "unversioned message of the binary protocol"},
		{"framed", decoder.Compact, "00000006 82 21 01 01 61 00", fault.BadVersion, 0, "in a frame"},
		{"framed strict binary", decoder.Compact, "0000000e 80 01 00 01 00000001 61 00000001 00", fault.BadVersion, 0, "binary protocol: set protocol and message in a frame"},
		{"THeader", decoder.Compact, "0000000c 0fff 0000 00000001 00000000", fault.BadVersion, 0, "THeader"},
		{"JSON", decoder.Compact, "5b 31 2c 22 70 22", fault.BadVersion, 0, "JSON"},

		{"nothing", decoder.Binary, "", fault.Truncated, 0, ""},
		{"no name", decoder.Binary, "80 01 00 01", fault.Truncated, 4, ""},
		{"no seqid", decoder.Binary, "80 01 00 01 00000001 61", fault.Truncated, 9, ""},
		{"no type", decoder.Binary, "00000001 61", fault.Truncated, 5, ""},
		{"version 0x8002", decoder.Binary, "80 02 00 01 00000001 61 00000001 00", fault.BadVersion, 0, "0x8002"},
		{"type 0", decoder.Binary, "80 01 00 00 00000001 61 00000001 00", fault.BadHeader, 3, "message type 0"},
		{"type 5", decoder.Binary, "00000001 61 05 00000001 00", fault.BadHeader, 5, "message type 5"},
		{"third byte", decoder.Binary, "80 01 07 01 00000001 61 00000001 00", fault.BadHeader, 2, "0x07"},
		{"compact", decoder.Binary, "82 21 01 01 61 00", fault.BadVersion, 0, "the compact protocol"},
		{"framed", decoder.Binary, "0000000e 80 01 00 01 00000001 61 00000001 00", fault.BadVersion, 0, "in a frame"},
		{"framed compact", decoder.Binary, "00000006 82 21 01 01 61 00", fault.BadVersion, 0, "compact protocol: set protocol and message in a frame"},
		{"THeader", decoder.Binary, "0000000c 0fff 0000 00000001 00000000", fault.BadVersion, 0, "THeader"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := &decoder.Options{Protocol: test.protocol, Message: true, Limits: usual}
			f := refuse(t, unhex(t, test.hex), o, test.reason, test.offset, "")
			if !strings.Contains(f.Detail, test.words) {
				t.Errorf("%s: %v does not say %q", test.hex, f, test.words)
			}
		})
	}
}

// Bytes of another form are named, also where no envelope was asked for.
func TestRecognised(t *testing.T) {
	const compact = "15 02 18 03 61 62 63 2c 11 00 00"
	const binary = "08 0001 00000001 0b 0002 00000003 616263 0c 0004 02 0001 01 00 00"
	tests := []struct {
		name    string
		options decoder.Options
		hex     string
		reason  fault.Reason
		words   string
	}{
		{"binary read as compact", decoder.Options{}, binary, fault.BadVersion, "the binary protocol: set protocol"},
		{"compact read as binary", decoder.Options{Protocol: decoder.Binary}, compact, fault.BadVersion, "the compact protocol: set protocol"},
		{"a compact message", decoder.Options{}, "82 21 01 04 70 69 6e 67 00", fault.BadVersion, "message of the compact protocol"},
		{"a binary message", decoder.Options{}, "80 01 00 01 00000004 70696e67 00000001 00", fault.BadVersion, "message of the binary protocol"},
		{"a frame", decoder.Options{}, "0000000b" + compact, fault.BadVersion, "a frame of the compact protocol: set framing"},
		{"a frame of binary", decoder.Options{}, "0000001a" + binary, fault.BadVersion, "a frame of the binary protocol: set framing"},
		{"a framed message", decoder.Options{}, "00000009 82 21 01 04 70 69 6e 67 00", fault.BadVersion, "in a frame"},
		{"THeader", decoder.Options{}, "0000000c 0fff 0000 00000001 00000000", fault.BadVersion, "THeader"},
		{"no frame", decoder.Options{Framed: true}, compact, fault.Truncated, "the compact protocol without a frame"},
		{"binary in the frame", decoder.Options{Framed: true}, "0000001a" + binary, fault.BadVersion, "the binary protocol: set protocol"},
		{"cut short stays so", decoder.Options{}, "15 02 18 03 61", fault.Truncated, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.options.Limits = usual
			_, _, err := decode(t, new(decoder.Decoder), unhex(t, test.hex), &test.options)
			var f *fault.Error
			if !errors.As(err, &f) || f.Reason != test.reason || !strings.Contains(f.Detail, test.words) {
				t.Errorf("%s: %v, want %s and %q", test.hex, err, test.reason, test.words)
			}
		})
	}
}

// Bytes may have the marks of another form by chance. A fault behind the first field keeps its reason and place then, and so does
// an input that ends too early.
func TestMarksByChance(t *testing.T) {
	const hello = "18 05 68656c6c6f" // {11: "hello"} after 82 21; of a message, seqid 24 and a name
	tests := []struct {
		name   string
		hex    string
		reason fault.Reason
		offset int64
		path   string
		words  string
	}{
		{"a cut map that begins like JSON", "7b 22 88 18 02 61 62 15 02 18", fault.Truncated, 1, "7", ""},
		{"no stop", "82 21" + hello + "15 02", fault.Truncated, 11, "", "begin like a message of the compact protocol"},
		{"a byte behind the value", "82 21" + hello + "15 02 00 ff", fault.TrailingBytes, 12, "", "begin like a message of the compact protocol"},
		{"a bad bool", "82 41" + hello + "19 12 07 00", fault.BadHeader, 11, "14[0]", "begin like a message of the compact protocol"},
		{"a bad type", "82 22" + hello + "1e 00", fault.BadType, 9, "", "begin like fbthrift's compact protocol"},
		{"a whole message", "82 21" + hello + "1c 15 02 00 f0 00", fault.BadHeader, 13, "", "begin like a message of the compact protocol"},
		{"a message", "82 21 01 04 70696e67 15 02 00", fault.BadVersion, 0, "", "this looks like a message of the compact protocol"},
		{"a message with a body cut off", "82 21 01 04 70696e67 15", fault.BadHeader, 4, "", "begin like a message of the compact protocol"},
		{"a strict message cut off", "80 01 00 01 00000004 70696e67", fault.BadVersion, 0, "", "this looks like a message of the binary protocol"},
		{"JSON", "7b 22 61 22 3a 31 7d", fault.Truncated, 1, "7", "begin like JSON"},
		{"a message of Thrift's JSON", "5b 31 2c 22 70 22 2c 31", fault.Truncated, 1, "5", "begin like JSON"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := decoder.Options{Limits: usual}
			f := refuse(t, unhex(t, test.hex), &o, test.reason, test.offset, test.path)
			if !strings.Contains(f.Detail, test.words) || test.words == "" && strings.Contains(f.Detail, "like") {
				t.Errorf("%s: %v, want %q", test.hex, f, test.words)
			}
			var p decoder.Parts
			got := push(t, &p, unhex(t, test.hex), &o, false, 64, whole)
			expectFault(t, got.err, test.reason, test.offset, test.path)
		})
	}
}

func TestFrames(t *testing.T) {
	o := &decoder.Options{Framed: true, Limits: usual}
	expect(t, unhex(t, "00000003 15 02 00"), o, thriftpackv1.StructValue(thriftpackv1.I32Field(1, 1)))
	refuse(t, unhex(t, "000000"), o, fault.Truncated, 3, "")
	refuse(t, unhex(t, "00000000"), o, fault.Truncated, 4, "")
	refuse(t, unhex(t, "00000004 15 02 00"), o, fault.Truncated, 0, "")
	refuse(t, unhex(t, "7fffffff 15 02 00"), o, fault.Truncated, 0, "")
	refuse(t, unhex(t, "ffffffff 15 02 00"), o, fault.NegativeSize, 0, "")
	refuse(t, unhex(t, "00000002 15 02 00"), o, fault.Truncated, 6, "") // the value may not go on behind its frame
	refuse(t, unhex(t, "00000004 15 02 00 00"), o, fault.TrailingBytes, 7, "")
	refuse(t, unhex(t, "00000003 15 02 00 00"), o, fault.TrailingBytes, 7, "")
	refuse(t, unhex(t, "00000002 15 80"), o, fault.Truncated, 6, "1") // offsets count the frame's length
	o.AllowTrailing = true
	if info := expect(t, unhex(t, "00000004 15 02 00 ff ff"), o, thriftpackv1.StructValue(thriftpackv1.I32Field(1, 1))); info.BytesRead != 7 {
		t.Errorf("trailing bytes in and after the frame: read %d, want 7", info.BytesRead)
	}
}

func TestDetectText(t *testing.T) {
	o := &decoder.Options{DetectText: true, Limits: usual}
	bin := func(s string) []byte { return []byte(s) }
	tests := []struct {
		name, hex string
		want      *thriftpackv1.Field
	}{
		{"text", "18 01 61", thriftpackv1.StringField(1, "a")},
		{"empty", "18 00", thriftpackv1.StringField(1, "")},
		{"long text", "18 28" + repeat("61", 40), thriftpackv1.StringField(1, strings.Repeat("a", 40))},
		{"not text", "18 02 c3 28", thriftpackv1.BinaryField(1, bin("\xc3\x28"))},
		{"overlong", "18 02 c0 80", thriftpackv1.BinaryField(1, bin("\xc0\x80"))},
		{"surrogate", "18 03 ed a0 80", thriftpackv1.BinaryField(1, bin("\xed\xa0\x80"))},
		{"list of text", "19 28 01 61 00", thriftpackv1.ListField(1, thriftpackv1.StringList("a", ""))},
		{"list with one that is none", "19 28 01 61 01 ff", thriftpackv1.ListField(1, thriftpackv1.BinaryList(bin("a"), bin("\xff")))},
		{"list of one", "19 18 01 61", thriftpackv1.ListField(1, thriftpackv1.StringList("a"))},
		{"list of one that is none", "19 18 01 ff", thriftpackv1.ListField(1, thriftpackv1.BinaryList(bin("\xff")))},
		{"list of none", "19 08", thriftpackv1.ListField(1, thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_STRING))},
		{"a list in a list", "19 19 18 01 61", thriftpackv1.ListField(1, thriftpackv1.ListList(thriftpackv1.StringList("a")))},
		{"keys", "1b 01 88 01 61 01 ff", thriftpackv1.MapField(1, thriftpackv1.MapOf(thriftpackv1.StringList("a"), thriftpackv1.BinaryList(bin("\xff"))))},
		{"values", "1b 02 88 01 ff 01 61 01 61 01 62", thriftpackv1.MapField(1, thriftpackv1.MapOf(thriftpackv1.BinaryList(bin("\xff"), bin("a")), thriftpackv1.StringList("a", "b")))},
		{"only list of a map", "1b 01 99 18 01 61 18 01 ff", thriftpackv1.MapField(1, thriftpackv1.MapOf(
			thriftpackv1.ListList(thriftpackv1.StringList("a")), thriftpackv1.ListList(thriftpackv1.BinaryList(bin("\xff")))))},
		{"lists of a map", "1b 02 39 01 18 01 61 02 18 01 ff", thriftpackv1.MapField(1, thriftpackv1.MapOf(
			thriftpackv1.I8List(1, 2), thriftpackv1.ListList(thriftpackv1.StringList("a"), thriftpackv1.BinaryList(bin("\xff")))))},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			expect(t, unhex(t, test.hex+"00"), o, thriftpackv1.StructValue(test.want))
		})
	}
	expect(t, unhex(t, "18 01 61 18 01 ff 17 000000000000f03f 00"), &decoder.Options{DetectText: true, Limits: usual}, thriftpackv1.StructValue( // not at the end
		thriftpackv1.StringField(1, "a"), thriftpackv1.BinaryField(2, bin("\xff")), thriftpackv1.DoubleField(3, 1)))
	expect(t, unhex(t, "01 61"), &decoder.Options{DetectText: true, Root: thriftpackv1.Type_TYPE_BINARY, Limits: usual}, thriftpackv1.StringValue("a"))
	expect(t, unhex(t, "01 ff"), &decoder.Options{DetectText: true, Root: thriftpackv1.Type_TYPE_BINARY, Limits: usual}, thriftpackv1.BinaryValue(bin("\xff")))
}

// A root that is said to be a string must be text.
func TestStringRootIsChecked(t *testing.T) {
	o := &decoder.Options{Root: thriftpackv1.Type_TYPE_STRING, Limits: usual}
	for _, code := range []string{"01 80", "02 c0 80", "03 e0 80 af", "04 f4 90 80 80", "01 ff", "04 61 62 63 ff"} {
		refuse(t, unhex(t, code), o, fault.BadUTF8, 1, "")
	}
}

func TestBadOptions(t *testing.T) {
	for _, root := range []thriftpackv1.Type{1, 14, 16, -1} {
		refuse(t, unhex(t, "00"), &decoder.Options{Root: root, Limits: usual}, fault.BadOption, fault.NoOffset, "options.root_type")
	}
	refuse(t, unhex(t, "00"), &decoder.Options{Protocol: 2, Limits: usual}, fault.BadOption, fault.NoOffset, "options.protocol")
	refuse(t, unhex(t, "82 21 01 00 05"), &decoder.Options{Root: thriftpackv1.Type_TYPE_LIST, Message: true, Limits: usual}, fault.TypeMismatch, fault.NoOffset, "options.root_type")
}

// Each limit passes what is exactly at it, and names itself, its value and the actual one beyond.
func TestLimits(t *testing.T) {
	tests := []struct {
		name    string
		set     func(l *decoder.Limits, n int)
		at      int
		compact string
		binary  string
		reason  fault.Reason
		setting string
		offset  int64 // in compact
	}{
		{"depth of structs", depth, 3, "1c 1c 00 00 00", "0c 0001 0c 0001 00 00 00", fault.DepthLimit, "max-depth", 2},
		{"depth of lists", depth, 3, "19 19 05 00", "0f 0001 0f 00000001 08 00000000 00", fault.DepthLimit, "max-depth", 2},
		{"depth of keys", depth, 3, "1b 01 b3 00 01 00", "0d 0001 0d 03 00000001 00 00 00000000 01 00", fault.DepthLimit, "max-depth", 3},
		{"depth of values", depth, 3, "1b 01 3a 01 05 00", "0d 0001 03 0e 00000001 01 08 00000000 00", fault.DepthLimit, "max-depth", 4},
		{"elements of a list", elements, 3, "19 33 01 02 03 00", "0f 0001 03 00000003 01 02 03 00", fault.SizeLimit, "max-elements", 1},
		{"elements of a long list", elements, 15, "19 f3 0f" + repeat("01", 15) + "00", "0f 0001 03 0000000f" + repeat("01", 15) + "00", fault.SizeLimit, "max-elements", 2},
		{"entries of a map", elements, 2, "1b 02 33 01 02 03 04 00", "0d 0001 03 03 00000002 01 02 03 04 00", fault.SizeLimit, "max-elements", 1},
		{"bytes of a string", stringBytes, 3, "18 03 61 62 63 00", "0b 0001 00000003 616263 00", fault.SizeLimit, "max-string-bytes", 1},
		{"bytes of a string before others", stringBytes, 3, "18 03 61 62 63 17 0000000000000000 00", "0b 0001 00000003 616263 04 0002 0000000000000000 00", fault.SizeLimit, "max-string-bytes", 1},
		{"bytes of a string in a list", stringBytes, 3, "19 18 03 61 62 63 00", "0f 0001 0b 00000001 00000003 616263 00", fault.SizeLimit, "max-string-bytes", 2},
		{"bytes of a long string", stringBytes, 200, "18 c8 01" + repeat("61", 200) + "00", "0b 0001 000000c8" + repeat("61", 200) + "00", fault.SizeLimit, "max-string-bytes", 1},
		{"values", nodes, 3, "11 12 00", "02 0001 01 02 0002 01 00", fault.SizeLimit, "max-decoded-nodes", 2},
		{"values of a list", nodes, 5, "19 33 01 02 03 00", "0f 0001 03 00000003 01 02 03 00", fault.SizeLimit, "max-decoded-nodes", 1},
		{"values of a map", nodes, 6, "1b 02 33 01 02 03 04 00", "0d 0001 03 03 00000002 01 02 03 04 00", fault.SizeLimit, "max-decoded-nodes", 1},
		{"values of structs in a list", nodes, 5, "19 2c 11 00 00 00", "0f 0001 0c 00000002 02 0001 01 00 00 00", fault.SizeLimit, "max-decoded-nodes", 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for protocol, code := range map[decoder.Protocol]string{decoder.Compact: test.compact, decoder.Binary: test.binary} {
				data := unhex(t, code)
				o := &decoder.Options{Protocol: protocol, Limits: usual}
				test.set(&o.Limits, test.at)
				if _, _, err := decode(t, new(decoder.Decoder), data, o); err != nil {
					t.Errorf("protocol %d: exactly %d: %v", protocol, test.at, err)
				}
				test.set(&o.Limits, test.at-1)
				_, _, err := decode(t, new(decoder.Decoder), data, o)
				var f *fault.Error
				if !errors.As(err, &f) || f.Reason != test.reason || f.Limit != int64(test.at-1) || f.Actual != int64(test.at) ||
					protocol == decoder.Compact && f.Offset != test.offset {
					t.Errorf("protocol %d: one too many: %#v, want %s at %d", protocol, err, test.reason, test.offset)
					continue
				}
				for _, words := range []string{test.setting, strconv.Itoa(test.at), strconv.Itoa(test.at - 1)} {
					if !strings.Contains(f.Error(), words) {
						t.Errorf("protocol %d: %v does not name %s", protocol, f, words)
					}
				}
			}
		})
	}
}

func depth(l *decoder.Limits, n int)       { l.Depth = n }
func elements(l *decoder.Limits, n int)    { l.Elements = n }
func stringBytes(l *decoder.Limits, n int) { l.StringBytes = n }
func nodes(l *decoder.Limits, n int)       { l.Nodes = n }

// A limit that was forgotten refuses.
func TestZeroLimits(t *testing.T) {
	for code, set := range map[string]func(*decoder.Limits, int){
		"00": depth, "19 13 01 00": elements, "18 01 61 00": stringBytes, "11 00": nodes,
	} {
		limits := usual
		set(&limits, 0)
		if _, err := new(decoder.Decoder).Prepare(unhex(t, code), &decoder.Options{Limits: limits}); err == nil {
			t.Errorf("%s is accepted by %+v", code, limits)
		}
	}
	if _, err := new(decoder.Decoder).Prepare([]byte{0}, &decoder.Options{}); err == nil {
		t.Error("a struct is accepted without limits")
	}
}

// The customary limit: 64 levels, the root being one.
func TestDepth64(t *testing.T) {
	o := &decoder.Options{Limits: usual}
	for _, nested := range []struct{ open, last, close string }{
		{"1c", "00", "00"}, {"19 1c", "00", "00"}, {"1b 01 3c 01", "00", "00"}, {"1b 01 c3", "00", "01 00"},
	} {
		levels := 1
		if strings.Contains(nested.open, " ") {
			levels = 2
		}
		open, closing := repeat(nested.open, 63/levels), repeat(nested.close, 63/levels)
		if _, _, err := decode(t, new(decoder.Decoder), unhex(t, open+nested.last+closing), o); err != nil {
			t.Errorf("%s, %d times: %v", nested.open, 63/levels, err)
		}
		open, closing = repeat(nested.open, 64), repeat(nested.close, 64)
		if _, _, err := decode(t, new(decoder.Decoder), unhex(t, open+nested.last+closing), o); !errors.Is(err, fault.New(fault.DepthLimit, "")) {
			t.Errorf("%s, 64 times: %v", nested.open, err)
		}
	}
	deep := unhex(t, "1b"+repeat("01 5b 02", 5000))
	if _, err := new(decoder.Decoder).Prepare(deep, o); !errors.Is(err, fault.New(fault.DepthLimit, "")) {
		t.Errorf("5,000 open maps: %v", err)
	}
	if _, err := new(decoder.Decoder).Prepare(unhex(t, repeat("1c", 2_000_000)), &decoder.Options{
		Limits: decoder.Limits{Depth: 1 << 40, Elements: 1, StringBytes: 1, Nodes: 1 << 40},
	}); !errors.Is(err, fault.New(fault.DepthLimit, "")) {
		t.Errorf("2,000,000 open structs: %v", err)
	}
}
