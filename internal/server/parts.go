package server

import (
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// The requests of EncodeParts and DecodeParts: the first message has the options, and all have some of what is to be worked on.

// partsHead is what the first message of a stream of parts says besides its contents.
type partsHead struct {
	chunkSize int32
	encode    encodeOptions
	decode    decodeOptions
}

// partsLayout is where the members of the one or the other request are.
type partsLayout struct {
	options, chunkSize, contents protowire.Number
	decoding                     bool
}

var (
	encodePartsLayout = partsLayout{options: 1, chunkSize: 2, contents: 3}
	decodePartsLayout = partsLayout{options: 1, chunkSize: 3, contents: 2, decoding: true}
)

// head reads what a first message says besides its contents, wherever in it that stands.
func (l *partsLayout) head(data []byte) (h partsHead, err error) {
	for len(data) > 0 {
		var m member
		if m, data, err = nextMember(data, ""); err != nil {
			return h, err
		}
		switch {
		case m.number == l.options && m.typ == protowire.BytesType && l.decoding:
			err = parseDecodeOptions(&h.decode, m.bytes)
		case m.number == l.options && m.typ == protowire.BytesType:
			err = parseEncodeOptions(&h.encode, m.bytes)
		case m.number == l.chunkSize && m.typ == protowire.VarintType:
			h.chunkSize = int32(m.varint) //nolint:gosec // protobuf keeps the low 32 bits of an int32
		}
		if err != nil {
			return h, err
		}
	}
	return h, nil
}

// next splits the next member with contents off a message; ok is false at its end. In a message that is not the first one,
// options are refused: they would be too late. contents aliases data.
func (l *partsLayout) next(data []byte, first bool) (contents, rest []byte, ok bool, err error) {
	for len(data) > 0 {
		m, rest, err := nextMember(data, "")
		switch {
		case err != nil:
			return nil, nil, false, err
		case m.number == l.contents && m.typ == protowire.BytesType:
			return m.bytes, rest, true, nil
		case !first && m.number == l.options && m.typ == protowire.BytesType:
			return nil, nil, false, optionFault(fault.BadOption, "options", "only the first message of a stream may have options")
		case !first && m.number == l.chunkSize && m.typ == protowire.VarintType:
			return nil, nil, false, optionFault(fault.BadOption, "chunk_size", "only the first message of a stream may have a chunk size")
		}
		data = rest
	}
	return nil, nil, false, nil
}

// messageShare is what every stream of parts has of the budget for the message in hand, in bytes.
const messageShare = 64 << 10

// requests are the messages of a stream of parts, one at a time. A stream has its messageShare to the end. What a larger message takes
// beyond that, it waits for with the message in hand, and gives back with the message: a stream that waits for its client
// holds its share alone, so that all others can go on.
type requests struct {
	session *session
	raw     rawRequest
	larger  int64 // what the session has taken for the message in hand
	// first is whether the message under way is the first one.
	first bool
	begun bool
}

// next waits for the next message and returns its bytes, which alias it until the next call. The error is io.EOF at the end
// of the stream.
func (r *requests) next() ([]byte, error) {
	r.first, r.begun = !r.begun, true
	r.close()
	if err := r.session.receive(&r.raw); err != nil {
		return nil, err
	}
	if larger := r.beyondShare(); larger > 0 && !r.first {
		if err := r.session.grow(larger); err != nil {
			return nil, err
		}
		r.larger = larger
	}
	return r.raw.bytes(), nil
}

// beyondShare is what the message in hand takes beyond the stream's share.
func (r *requests) beyondShare() int64 { return max(r.raw.held()-messageShare, 0) }

// admit takes the share of the stream and of its first message, in one step: streams that had the one and waited for the
// other would wait for each other.
func (r *requests) admit(cost int64) error {
	larger := r.beyondShare()
	err := r.session.take(cost + messageShare + larger)
	if err == nil {
		r.larger = larger
	}
	return err
}

// close gives the message back, and what it took beyond the stream's share.
func (r *requests) close() {
	r.raw.free()
	if r.larger > 0 {
		r.session.shrink(r.larger)
		r.larger = 0
	}
}

// following is next without an error at the end of the stream: there, more is false.
func (r *requests) following() (data []byte, more bool, err error) {
	data, err = r.next()
	if errors.Is(err, io.EOF) {
		return nil, false, nil
	}
	return data, err == nil, err
}

// begin returns the first message and what it says besides its contents; more is false for a stream without any message.
func (r *requests) begin(l *partsLayout) (data []byte, h partsHead, more bool, err error) {
	if data, more, err = r.following(); err == nil {
		h, err = l.head(data)
	}
	return data, h, more, err
}

// isFault reports whether err is a fault of what the client sent: then what was whole before it is still sent.
func isFault(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Reason != fault.Stalled && f.Reason != fault.Internal
}

// partFault says which part is at fault: the index within its message in the path, the number within the stream in words.
func partFault(err error, index int, number int64) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Reason == fault.BudgetExhausted || f.Reason == fault.Draining {
		return err // not the part's
	}
	placed := *f
	placed.Part = number
	placed.Path = fmt.Sprintf("parts[%d]", index)
	if f.Path != "" {
		placed.Path += "." + f.Path
	}
	placed.Detail = fmt.Sprintf("%s (part %d of the stream)", f.Detail, number)
	return &placed
}
