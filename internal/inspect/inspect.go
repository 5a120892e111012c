// Package inspect turns any Thrift bytes into a listing for a person: where each byte is, what it is and what it says,
// and the place from which malformed bytes make no sense. It guesses protocol, framing and envelope when not told. It
// builds no values; for those see package decoder, with which it agrees on what is valid and where a fault is.
package inspect

import (
	"fmt"
	"strings"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// Listing is what is known of some bytes. It is safe for concurrent use.
type Listing struct {
	data    []byte // aliases the input
	o       Options
	best    reading
	others  []reading // what else was open, the likelier first
	looks   string    // what else the bytes look like, or ""
	records int       // complete values that follow the first, where bytes do
}

// Inspect reads data as o says. Malformed bytes are no error but part of the listing; an error is an option outside
// of what it may be. The listing aliases data.
func Inspect(data []byte, o Options) (*Listing, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	all := readings(data, &o)
	l := &Listing{data: data, o: o, best: all[0], others: all[1:]}
	if !l.best.whole() {
		l.looks = looksLike(data)
		l.records = l.countRecords()
	}
	return l, nil
}

func (o *Options) check() error {
	for _, bound := range []struct {
		name      string
		got, most int
	}{
		{"MaxDepth", o.MaxDepth, DepthCeiling},
		{"MaxElements", o.MaxElements, 1<<31 - 1},
		{"MaxRows", o.MaxRows, 1<<31 - 1},
		{"MaxBytes", o.MaxBytes, 1<<31 - 1},
	} {
		if bound.got < 1 || bound.got > bound.most {
			return fault.New(fault.BadOption, "%s: out of range: %d, want 1..%d", bound.name, bound.got, bound.most)
		}
	}
	switch {
	case o.Protocol > Binary, o.Framing > Framed, o.Message > WithoutMessage:
		return fault.New(fault.BadOption, "protocol %s, framing %s, message %s: no such choice", o.Protocol, o.Framing, o.Message)
	case o.Root != thriftpackv1.Type_TYPE_UNSPECIFIED && typeNames[o.Root] == "":
		return fault.New(fault.BadOption, "root type %d: no such type", int32(o.Root))
	case o.Message == WithMessage && o.Root != thriftpackv1.Type_TYPE_UNSPECIFIED && o.Root != thriftpackv1.Type_TYPE_STRUCT:
		return fault.New(fault.BadOption, "root type %s: the body of a message is a struct", typeNames[o.Root])
	}
	return nil
}

// Fault is the first thing that is wrong with the bytes, with its offset and path, or nil.
func (l *Listing) Fault() *fault.Error {
	if l.best.whole() {
		return nil
	}
	f := l.best.faults[0]
	e := &fault.Error{Reason: f.reason, Path: pathOf(f.place), Offset: int64(f.offset), Detail: f.detail}
	if f.reason == fault.DepthLimit {
		e.Limit, e.Actual = int64(l.o.MaxDepth), int64(l.o.MaxDepth)+1
	}
	return e
}

// Protocol is the protocol that the bytes were read as, as told or guessed.
func (l *Listing) Protocol() Protocol { return l.best.plan.protocol }

// Framed says whether the bytes were read as a frame.
func (l *Listing) Framed() bool { return l.best.plan.framed }

// Message says whether the bytes were read as an RPC message with its envelope.
func (l *Listing) Message() bool { return l.best.plan.message }

// guessed says whether anything was left to guess.
func (l *Listing) guessed() bool {
	return l.o.Protocol == ProtocolAuto || l.o.Framing == FramingAuto || l.o.Message == MessageAuto
}

// walk shows every row of the listing, one at a time; a row is valid during the call only.
func (l *Listing) walk(emit func(*row) error) error {
	r := reader{data: l.data, plan: l.best.plan, o: &l.o, emit: emit, expected: l.best.faults, records: l.records}
	r.run()
	return r.err
}

// alternatives returns the readings to speak of: those that are nearly as likely, and the same in the other protocol.
func (l *Listing) alternatives() []reading {
	const near, most = 30, 2
	var out []reading
	other, spoken := -1, false
	for i := range l.others {
		g := &l.others[i]
		if l.best.score-g.score < near && (g.whole() || !l.best.whole()) && !g.unlikely() && len(out) < most {
			out = append(out, *g)
			spoken = spoken || g.plan.protocol != l.best.plan.protocol
		}
		if g.plan.protocol != l.best.plan.protocol && g.plan.framed == l.best.plan.framed && g.plan.message == l.best.plan.message {
			other = i
		}
	}
	if !spoken && other >= 0 {
		out = append(out, l.others[other])
	}
	return out
}

// countRecords counts the values that follow the first one, where the bytes behind it are nothing but such.
func (l *Listing) countRecords() int {
	f := l.best.faults[0]
	if f.reason != fault.TrailingBytes || len(l.best.faults) > 1 {
		return 0
	}
	n := 0
	for rest := l.data[f.offset:]; len(rest) > 0; n++ {
		g := try(rest, l.best.plan, &l.o)
		if g.whole() {
			return n + 1
		}
		if g.faults[0].reason != fault.TrailingBytes || n >= 1000 {
			return 0
		}
		rest = rest[g.faults[0].offset:]
	}
	return n
}

// summary reads like "compact protocol, no frame, no envelope: 107 bytes, root struct".
func (l *Listing) summary() string {
	root := "struct"
	if l.o.Root != thriftpackv1.Type_TYPE_UNSPECIFIED {
		root = typeNames[l.o.Root]
	}
	return fmt.Sprintf("%s: %s, root %s", &l.best, plural(len(l.data), "byte"), root)
}

// Protocol is the wire format that the bytes are read as.
type Protocol uint8

// The protocols.
const (
	ProtocolAuto Protocol = iota // guessed
	Compact
	Binary
)

// Framing says whether a 4-byte big-endian length comes first.
type Framing uint8

// The framings.
const (
	FramingAuto Framing = iota // guessed
	Unframed
	Framed
)

// Message says whether the bytes are a whole Thrift RPC message, envelope first.
type Message uint8

// What is known of the envelope.
const (
	MessageAuto Message = iota // guessed
	WithMessage
	WithoutMessage
)

var (
	protocolNames = []string{"auto", "compact", "binary"}
	framingNames  = []string{"auto", "none", "framed"}
	messageNames  = []string{"auto", "yes", "no"}
)

// String is the name that Set takes: auto, compact or binary.
func (p Protocol) String() string { return nameOf(protocolNames, p) }

// String is the name that Set takes: auto, none or framed.
func (f Framing) String() string { return nameOf(framingNames, f) }

// String is the name that Set takes: auto, yes or no.
func (m Message) String() string { return nameOf(messageNames, m) }

// Set takes auto, compact or binary. With String and Type it makes *Protocol the value of a command line flag.
func (p *Protocol) Set(name string) error { return setNamed(protocolNames, name, p) }

// Set takes auto, none or framed. With String and Type it makes *Framing the value of a command line flag.
func (f *Framing) Set(name string) error { return setNamed(framingNames, name, f) }

// Set takes auto, yes or no. With String and Type it makes *Message the value of a command line flag.
func (m *Message) Set(name string) error { return setNamed(messageNames, name, m) }

// Type is what a flag's help calls the value.
func (*Protocol) Type() string { return strings.Join(protocolNames, "|") }

// Type is what a flag's help calls the value.
func (*Framing) Type() string { return strings.Join(framingNames, "|") }

// Type is what a flag's help calls the value.
func (*Message) Type() string { return strings.Join(messageNames, "|") }

func nameOf[T ~uint8](names []string, v T) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("unknown(%d)", uint8(v))
}

func setNamed[T ~uint8](names []string, name string, to *T) error {
	for i, n := range names {
		if n == name {
			*to = T(i)
			return nil
		}
	}
	return fmt.Errorf("%q: want one of %s", name, strings.Join(names, ", "))
}

// Options say how bytes are read and how much of them is shown. Start from Defaults: a bound of zero is refused.
type Options struct {
	// Protocol, Framing and Message are guessed where they are left at auto, the zero value.
	Protocol Protocol
	Framing  Framing
	Message  Message
	// Root is the type of the value; TYPE_UNSPECIFIED, the zero value, is a struct. TYPE_STRING is TYPE_BINARY here.
	Root thriftpackv1.Type
	// Type, when set, is the declared type of the value: its names are shown. Bytes that are otherwise than it says are no fault here,
	// only noted.
	Type *schema.Type
	// MaxDepth bounds the nesting of structs and containers, the root being 1; at most DepthCeiling.
	MaxDepth int
	// MaxElements bounds how many elements of one list, set or map, or fields of one struct, are shown; the others
	// become one row with their number. All are read and checked.
	MaxElements int
	// MaxRows bounds the rows in all, roughly: past it elements and fields are only counted.
	MaxRows int
	// MaxBytes bounds how many bytes of one string, binary or unread rest are shown.
	MaxBytes int
	// All shows every row and byte, whatever the three bounds above say. The listing is written as it is read, so
	// memory stays bounded.
	All bool
	// DetectText shows type string or binary as quoted text where the bytes are UTF-8 without control characters.
	DetectText bool
}

// DepthCeiling is the most that Options.MaxDepth may be.
const DepthCeiling = 10_000

// Defaults returns the options of a plain listing: all guessed, depth 64, 32 elements of each container, 10,000
// rows, 64 bytes of each string, text detected.
func Defaults() Options {
	return Options{MaxDepth: 64, MaxElements: 32, MaxRows: 10_000, MaxBytes: 64, DetectText: true}
}
