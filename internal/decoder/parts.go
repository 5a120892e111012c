package decoder

import (
	"github.com/thriftpack/thriftpack/internal/fault"
)

// PartsWindowLeast is the smallest window that Parts takes, in bytes.
const PartsWindowLeast = 64

// Parts turns a stream of Thrift bytes, pushed into it in pieces of any size, into a stream of thriftpack.v1.Part messages. What
// comes out depends on the bytes and the options only, never on how the input was cut. It keeps a few times the window of
// memory, whatever flows through. The zero value is ready for Start; it may be used again and again, by one goroutine at a time.
type Parts struct {
	d Decoder
}

// Start begins a stream. records expects any number of values, one after the other, rather than one. window bounds in bytes what
// comes out in one part, but for a head of at most 64 bytes: a field, element or entry whose Thrift bytes and Part bytes fit comes out
// whole, together with its neighbours; a larger one is opened. Of the limits only Depth applies, and StringBytes to an envelope's name.
// Framed and DetectText are refused, and so are records with an envelope, and windows below PartsWindowLeast (BAD_OPTION).
func (p *Parts) Start(o *Options, records bool, window int) error {
	if o.Framed || o.DetectText || records && o.Message || window < PartsWindowLeast {
		return fault.New(fault.BadOption, "not an option of parts")
	}
	return fault.New(fault.Unsupported, "parts are not decoded by this build")
}

// Write takes the next bytes of the input and calls emit for each part that is certain by now, in order. It does not keep data.
// The part that emit gets is a whole serialized Part; it aliases memory of p and is valid during the call only. An error of emit is
// returned as it is. Other errors are *fault.Error with the offset from the first byte of the stream and the path by field ids, as
// Decoder has them. After an error, every call returns it again.
func (p *Parts) Write(data []byte, emit func(part []byte) error) error {
	return fault.New(fault.Unsupported, "parts are not decoded by this build")
}

// Finish says that the input has ended, and emits the parts that waited for it. It fails with TRUNCATED unless the value is complete.
func (p *Parts) Finish(emit func(part []byte) error) error {
	return fault.New(fault.Unsupported, "parts are not decoded by this build")
}

// Message returns the envelope, once it was read: at the latest when the first part is emitted.
func (p *Parts) Message() (Message, bool) {
	return Message{}, false
}

// BytesRead returns how many bytes of the input are in the parts emitted so far, with the envelope. After Finish it is where the
// last value ends.
func (p *Parts) BytesRead() int64 {
	return 0
}

// Release forgets the stream, clears what was kept of it, and gives back memory beyond what is worth keeping. Start after it begins
// another stream.
func (p *Parts) Release() {
	p.d.Release()
}
