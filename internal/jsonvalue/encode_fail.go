package jsonvalue

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// fail records a fault at the position of the text and returns false, so that it can be returned in one go. The functions above then name
// where they are, each by under.
//
//go:noinline
func (e *Encoder) fail(at int, reason fault.Reason, format string, args ...any) bool {
	return e.failWith(at, fault.New(reason, format, args...))
}

// failLimit is fail for a configured limit.
func (e *Encoder) failLimit(at int, reason fault.Reason, what, setting string, limit, actual int64) bool {
	return e.failWith(at, fault.OverLimit(reason, what, setting, limit, actual))
}

// failWith is fail for a fault that has no place yet.
func (e *Encoder) failWith(at int, f *fault.Error) bool {
	f.Offset = int64(at)
	e.err, e.fault, e.trail = f, f, e.trail[:0]
	return false
}

// failOption is fail for an option.
func (e *Encoder) failOption(path string, f *fault.Error) bool {
	f.Path = path
	e.err = f
	return false
}

// failSize is fail for a string or container beyond its limit.
func (e *Encoder) failSize(at int, what, setting string, limit int, actual int64) bool {
	return e.failWith(at, sizeFault(what, setting, limit, actual))
}

// sizeFault returns the fault of a size beyond the limit, or beyond what Thrift can express where the limit allows more.
func sizeFault(what, setting string, limit int, actual int64) *fault.Error {
	if actual <= int64(limit) {
		return fault.New(fault.NegativeSize, "%s %d, at most %d", what, actual, math.MaxInt32)
	}
	return fault.OverLimit(fault.SizeLimit, what, setting, int64(limit), actual)
}

// failEncoded is fail for an encoding beyond the limit. It is not measured to the end.
func (e *Encoder) failEncoded(size int64) bool {
	return e.failLimit(e.at, fault.SizeLimit, "number of encoded bytes", e.options.Limits.EncodedSetting, e.maxEncoded, size)
}

// failDepth is fail for nesting beyond the limit.
func (e *Encoder) failDepth(depth int) bool {
	return e.failLimit(e.at, fault.DepthLimit, "depth", "--max-depth", int64(e.maxDepth), int64(depth))
}

// failElements is fail for a container with more elements than the limit. They are not counted to the end.
func (e *Encoder) failElements() bool {
	return e.failSize(e.at, "number of elements", "--max-elements", e.options.Limits.Elements, int64(e.maxElements)+1)
}

// under adds the element or entry at the index, around the fault, to its path, and returns false.
func (e *Encoder) under(index int) bool {
	e.trail = append(e.trail, "["+strconv.Itoa(index)+"]")
	return false
}

// underName adds a name, around the fault, to its path, and returns false.
func (e *Encoder) underName(name string) bool {
	e.trail = append(e.trail, "."+name)
	return false
}

// failure returns the error of a call that ended.
func (e *Encoder) failure() error {
	if e.fault != nil {
		slices.Reverse(e.trail)
		e.fault.Path = e.root.Name + strings.Join(e.trail, "")
	}
	return e.err
}

// failSyntax says what stands at the position where something else is wanted.
func (e *Encoder) failSyntax(at int, want string) bool {
	if at >= len(e.in) {
		return e.fail(at, fault.JSONSyntax, "the text ends, want %s", want)
	}
	return e.fail(at, fault.JSONSyntax, "%s, want %s", found(e.in[at]), want)
}

// failType says that the value at e.at is not of the type, or that no value begins there.
func (e *Encoder) failType(t *schema.Type, want string) bool {
	if e.at < len(e.in) {
		if name := begins(e.in[e.at:]); name != "" {
			return e.fail(e.at, fault.TypeMismatch, "%s, want %s for %s", name, want, t.Name)
		}
	}
	return e.failSyntax(e.at, "a value")
}

// begins names the value that text begins with, or returns "".
func begins(text []byte) string {
	switch c := text[0]; {
	case c == '"':
		return "a string"
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	case c == '-' || c >= '0' && c <= '9':
		return "a number"
	}
	for _, word := range []string{"true", "false", "null"} {
		if strings.HasPrefix(string(text[:min(len(text), len(word))]), word) {
			return word
		}
	}
	return ""
}

// found names a byte. Letters and digits are not shown: they may be the beginning of what nobody but its owner should read.
func found(c byte) string {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		return "a letter"
	case c >= '0' && c <= '9':
		return "a digit"
	case c > ' ' && c < 0x7f:
		return "'" + string(rune(c)) + "'"
	default:
		return "byte 0x" + strconv.FormatUint(uint64(c)|0x100, 16)[1:]
	}
}

// shortNumber returns the text of a number for a message.
func shortNumber(text []byte) string {
	const most = 40
	if len(text) > most {
		return string(text[:most/2]) + "…" + string(text[len(text)-most/4:])
	}
	return string(text)
}

// minBuffer is the least room that a sink lends.
const minBuffer = 512

// Faults of whoever uses an Encoder, or of the Encoder itself.
var (
	errTooLarge    = fault.New(fault.Internal, "a value is larger than it was measured to be")
	errSmallBuffer = fault.New(fault.Internal, "the sink lent a buffer that is too small")
)
