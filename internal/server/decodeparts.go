package server

import (
	"google.golang.org/protobuf/encoding/protowire"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// decodeParts answers DecodeParts, in one goroutine as encodeParts.
func (s *service) decodeParts(session *session) error {
	session.bytesRead = 0
	in := requests{session: session}
	defer in.close()
	data, head, more, err := in.begin(&decodePartsLayout)
	if err != nil {
		return err
	}
	var options decoder.Options
	if head.decode.output == int32(thriftpackv1.Output_OUTPUT_JSON) {
		return optionFault(fault.BadOption, "options.output", "parts are values; only the other RPCs return JSON")
	}
	if err := s.planDecodeOptions(&options, &head.decode); err != nil {
		return err
	}
	switch {
	case options.Framed:
		return optionFault(fault.BadOption, "options.framing", "parts have no frame: its length comes first and would bound them")
	case options.DetectText:
		return optionFault(fault.BadOption, "options.detect_text", "whether a list is text shows at its end only")
	}
	options.Stop = session.goesOn
	chunkSize, err := stream.ChunkSize(head.chunkSize)
	if err != nil {
		return err
	}
	// The decoder keeps up to four windows.
	if err := in.admit(stream.Cost(chunkSize) + 4*int64(stream.Capacity(chunkSize))); err != nil {
		return err
	}
	sender, err := session.newWholeSender(chunkSize)
	if err != nil {
		return err
	}

	parts := s.cutters.Get().(*decoder.Parts) //nolint:errcheck,forcetypeassert // the pool holds nothing else
	reply := &partsReply{session: session, sender: sender, parts: parts}
	if err = parts.Start(&options, head.decode.records, partsWindow(chunkSize)); err == nil {
		parts.Lend(reply.lend)
		err = cutParts(reply, &in, data, more)
	}
	if err == nil || isFault(err) {
		// What is whole goes out, whatever became of the rest. A second error would say less than the first.
		if flushed := reply.end(err == nil); err == nil {
			err = flushed
		}
	}
	// Not deferred: a decoder that panicked is not used again.
	parts.Release()
	s.cutters.Put(parts)
	return err
}

// cutParts decodes all bytes that come, beginning with those of data.
func cutParts(reply *partsReply, in *requests, data []byte, more bool) (err error) {
	emit := reply.emit // once, since each method value is a new object
	for more {
		var contents []byte // the last of the message, by protobuf's rules
		for ok := true; ok; {
			var piece []byte
			if piece, data, ok, err = decodePartsLayout.next(data, in.first); err != nil {
				return err
			} else if ok {
				contents = piece
			}
		}
		if err := reply.parts.Write(contents, emit); err != nil {
			return err
		}
		if data, more, err = in.following(); err != nil {
			return err
		}
	}
	return reply.parts.Finish(emit)
}

// partHead is the room that tag and length of a part of at most 1 MiB take in a DecodePartsResponse.
const partHead = 1 + 3

// partsWindow returns the window with which every part, tag and length included, fits a message of the chunk size.
func partsWindow(chunkSize int) int { return chunkSize - decoder.PartsHeadMost - partHead }

// partsReply puts parts together to DecodePartsResponses of at most the chunk size:
//
//	12 len …           message: in the first, before all parts
//	0a len part …      parts
//	18 varint          bytes_read: in the last, after all parts
type partsReply struct {
	session *session
	sender  *stream.Sender
	parts   *decoder.Parts
	room    []byte // aliases the chunk
	filled  int
	lent    int // where in room the next part is written, 0 where it is not
	err     error
	begun   bool
	pending tally // of parts, those that are in the room included
	read    int64 // bytes of input in those parts
}

// lend lends the place of the next part in the message under way, or where it does not fit, in the next one. It fails by lending nothing; emit
// then says why.
func (r *partsReply) lend(size int) []byte {
	r.lent = 0
	if !r.begun || r.err != nil {
		return nil
	}
	head := 1 + protowire.SizeVarint(uint64(size)) //nolint:gosec // not negative
	if r.err = r.fit(head + size); r.err != nil {
		return nil
	}
	r.lent = r.filled + head
	return r.room[r.lent:]
}

// emit takes the next part.
func (r *partsReply) emit(part []byte) error {
	if r.err != nil {
		return r.err
	}
	if !r.begun {
		r.begun = true
		if m, ok := r.parts.Message(); ok {
			if err := r.append(appendMessageHeader(nil, 2, &m), nil); err != nil {
				return err
			}
		}
	}
	var room [replyHeadroom]byte
	head := protowire.AppendVarint(append(room[:0], dataTag), uint64(len(part)))
	if r.lent > 0 && r.lent < len(r.room) && &part[0] == &r.room[r.lent] {
		if r.filled+len(head) != r.lent {
			return fault.New(fault.Internal, "a part of %d bytes is not of the size that was asked for", len(part))
		}
		copy(r.room[r.filled:], head)
		r.filled = r.lent + len(part)
	} else if err := r.append(head, part); err != nil {
		return err
	}
	r.lent = 0
	r.pending.add(part)
	r.read = r.parts.BytesRead()
	return nil
}

// append adds bytes that belong together to the message under way, or where they do not fit, to the next one.
func (r *partsReply) append(head, body []byte) error {
	if err := r.fit(len(head) + len(body)); err != nil {
		return err
	}
	r.filled += copy(r.room[r.filled:], head)
	r.filled += copy(r.room[r.filled:], body)
	return nil
}

// fit makes sure that n bytes fit the message under way, which is another one where they did not.
func (r *partsReply) fit(n int) error {
	if len(r.room)-r.filled >= n {
		return nil
	}
	if err := r.send(); err != nil {
		return err
	}
	var err error
	if r.room, err = r.sender.Next(0); err != nil {
		return err
	}
	if n > len(r.room) {
		return fault.New(fault.Internal, "%d bytes of a part do not fit a message of %d", n, len(r.room))
	}
	return nil
}

// send sends the message under way, and counts what is in it.
func (r *partsReply) send() error {
	if err := r.session.goesOn(); err != nil {
		return err
	}
	return r.flush()
}

// flush is send, also when the server drains.
func (r *partsReply) flush() error {
	filled := r.filled
	r.room, r.filled = nil, 0
	if err := r.sender.Flush(filled); err != nil {
		return err
	}
	r.session.tally, r.session.bytesRead = r.pending, r.read
	return nil
}

// end sends what is left, and of a stream that is complete how many bytes were read.
func (r *partsReply) end(complete bool) error {
	if complete {
		r.read = r.parts.BytesRead()
		if tail := appendBytesRead(nil, 3, r.read); len(tail) > 0 {
			if err := r.append(tail, nil); err != nil {
				return err
			}
		}
	}
	return r.flush()
}
