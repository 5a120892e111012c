package stream

import "google.golang.org/grpc/mem"

// Message is one finished message on its way to gRPC: the value that is passed to SendMsg or returned by a unary
// handler, and that the codec takes the bytes out of. The one who took them owns them; until then they belong to the
// Message, which can give them back. So a send that fails before the codec was reached loses nothing, and one that
// fails after it frees nothing twice. It is not for concurrent use.
type Message struct {
	buffer mem.Buffer      // all of it, or
	data   mem.BufferSlice // its pieces
}

// NewMessage returns a message of the bytes [start:end) of chunk, tag and length included. It ends the loan of chunk.
func NewMessage(chunk Chunk, start, end int) *Message {
	return &Message{buffer: chunk.Buffer(start, end)}
}

// Take hands the bytes to the caller, which is the codec's Marshal: from then on gRPC owns them. It succeeds once.
func (m *Message) Take() (data mem.BufferSlice, ok bool) {
	switch {
	case m.buffer != nil:
		data = mem.BufferSlice{m.buffer}
	case m.data != nil:
		data = m.data
	default:
		return nil, false
	}
	*m = Message{}
	return data, true
}

// taken reports whether there are no bytes any more.
func (m *Message) taken() bool { return m.buffer == nil && m.data == nil }

// Len returns the number of bytes, or 0 once they were taken.
func (m *Message) Len() int {
	if m.buffer != nil {
		return m.buffer.Len()
	}
	return m.data.Len()
}

// Release gives the bytes back to their pool unless they were taken.
func (m *Message) Release() {
	if m.buffer != nil {
		m.buffer.Free()
	}
	m.data.Free()
	*m = Message{}
}
