package decoder

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// tellingSize is how many bytes must read whole as another protocol to be taken for it: fewer may by chance.
const tellingSize = 8

// recognise says in f what the bytes look like, where that is something else than o asks for. What reads whole as another form is
// BAD_VERSION, and so is what has the marks of one and is wrong from its first bytes on (atFirst). Marks may come by chance: a fault
// further on, an input that is merely cut short and a tiny one keep their reason and place, and get a hint.
func (d *Decoder) recognise(data []byte, o *Options, f *fault.Error, atFirst bool) {
	switch f.Reason {
	case fault.SizeLimit, fault.DepthLimit, fault.BadOption, fault.TypeMismatch:
		return
	case fault.BadUTF8:
		if !o.Message {
			return
		}
	default:
	}
	if words, protocol, framed := marks(data); words != "" && (protocol != o.Protocol || framed != o.Framed || !o.Message) {
		if protocol != foreign && len(data) >= tellingSize && !atFirst && d.readsAsMessage(data, o, protocol, framed) {
			atFirst = true
		}
		tell(f, words, atFirst)
		return
	}
	if o.Message || rootOf(o) != kindStruct {
		return
	}
	words := d.readsAs(data, o)
	switch {
	case words == "":
	case f.Reason == fault.Truncated || len(data) < tellingSize:
		f.Detail += "; the bytes read whole as " + words
	default:
		tell(f, words, true)
	}
}

// isAtFirst says whether f is so near the beginning that no field was read: in what stands before the value, which starts at
// body, in its first byte, or behind a value that is no more than that. An end of the input may be anywhere.
func isAtFirst(f *fault.Error, body int) bool {
	return f.Reason != fault.Truncated && f.Path == "" && f.Offset-1 <= int64(body)
}

func rootOf(o *Options) uint8 {
	kind, _ := rootKind(o)
	return kind
}

// tell says in f what the bytes look like. Where misread is set, that is the fault, and what was found first is in its words only.
func tell(f *fault.Error, words string, misread bool) {
	switch {
	case f.Reason == fault.BadVersion:
	case misread:
		f.Reason, f.Offset, f.Path = fault.BadVersion, 0, ""
	case !strings.Contains(f.Detail, words):
		f.Detail += "; the bytes begin like " + words
		return
	}
	if !strings.Contains(f.Detail, words) {
		f.Detail += "; this looks like " + words
	}
}

// foreign in the place of a protocol: one that is not read at all.
const foreign Protocol = 255

// marks returns in words which message the bytes start like, or "".
func marks(data []byte) (words string, protocol Protocol, framed bool) {
	if len(data) < 4 {
		return "", 0, false
	}
	if words, protocol = messageMarks(data); words != "" {
		return words, protocol, false
	}
	length := int(binary.BigEndian.Uint32(data))
	if inner := data[frameSize:]; length > 0 && length <= len(inner) && len(inner) >= 4 {
		if inner[0] == 0x0f && inner[1] == 0xff {
			return "THeader (magic 0fff), which is not supported", foreign, true
		}
		if words, protocol = messageMarks(inner); words != "" {
			return words + " in a frame: set framing", protocol, true
		}
	}
	if n := length; n > 0 && n < 256 && len(data) >= frameSize+n+5 {
		name, kind := data[frameSize:frameSize+n], data[frameSize+n]
		if kind >= 1 && kind <= 4 && isName(name) {
			return "an unversioned message of the binary protocol: set protocol and message", Binary, false
		}
	}
	return "", 0, false
}

// messageMarks returns in words which message starts here, or "".
func messageMarks(b []byte) (words string, protocol Protocol) {
	switch {
	case b[0] == 0x80 && b[1] == 0x01 && b[2] == 0 && b[3] >= 1 && b[3] <= 4:
		return "a message of the binary protocol: set protocol and message", Binary
	case b[0] == compactID && b[1]>>5 >= 1 && b[1]>>5 <= 4:
		_, pos := consumeVarint(b, 2)
		if pos < 0 {
			return "", 0
		}
		n, start := consumeVarint(b, pos)
		if start < 0 || n == 0 || n > uint64(len(b)-start) || !isName(b[start:start+int(n)]) { // in range
			return "", 0
		}
		if b[1]&31 == 2 {
			return "fbthrift's compact protocol, version 2, which is not supported", foreign
		}
		if b[1]&31 == compactVersion {
			return "a message of the compact protocol: set protocol and message", Compact
		}
	case isJSON(b):
		return "JSON text, which is not supported", foreign
	}
	return "", 0
}

// isJSON says whether b starts like a JSON object, or like a message of Thrift's JSON protocol, and goes on as text.
func isJSON(b []byte) bool {
	if !bytes.HasPrefix(b, []byte(`{"`)) && !bytes.HasPrefix(b, []byte(`[1,"`)) {
		return false
	}
	return !slices.ContainsFunc(b[:min(len(b), jsonHead)], func(c byte) bool { return c < ' ' && c != '\t' && c != '\n' && c != '\r' || c >= 0x7f })
}

// jsonHead is how many bytes of JSON must be ASCII text.
const jsonHead = 16

// isName says whether b could be a method's name.
func isName(b []byte) bool {
	return len(b) > 0 && utf8.Valid(b) && !slices.ContainsFunc(b, func(c byte) bool { return c <= ' ' || c == 0x7f })
}

// readsAsMessage says whether the whole of data reads, strictly, as a message of the protocol.
func (d *Decoder) readsAsMessage(data []byte, o *Options, protocol Protocol, framed bool) bool {
	other := Options{Protocol: protocol, Framed: framed, Message: true, Limits: o.Limits}
	return d.prepare(data, &other, new(Info)) == nil
}

// readsAs returns in words as which other form the whole of data reads, strictly, or "". A lone stop says nothing.
func (d *Decoder) readsAs(data []byte, o *Options) string {
	other := *o
	other.Lenient, other.AllowTrailing, other.DetectText = false, false, false
	other.Protocol = Binary - o.Protocol
	if len(data) > 1+frameSize*boolToInt(o.Framed) {
		if d.prepare(data, &other, new(Info)) == nil {
			return "the " + protocolName(o.Protocol == Compact) + " protocol: set protocol"
		}
	}
	other.Framed = !o.Framed
	for _, other.Protocol = range []Protocol{o.Protocol, Binary - o.Protocol} {
		if len(data) <= 1+frameSize*boolToInt(other.Framed) {
			continue
		}
		if d.prepare(data, &other, new(Info)) == nil {
			if other.Framed {
				return "a frame of the " + protocolName(other.Protocol == Binary) + " protocol: set framing"
			}
			return "the " + protocolName(other.Protocol == Binary) + " protocol without a frame"
		}
	}
	return ""
}
