package inspect

import (
	"fmt"
	"strings"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

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
			*to = T(i) //nolint:gosec // names has three members
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
