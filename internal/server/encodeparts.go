package server

import (
	"errors"
	"fmt"

	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// ctxInterval is after how many parts of a message the context is looked at, beside the looks at each part's own work.
const ctxInterval = 64

// encodeParts answers EncodeParts. One goroutine receives, encodes and sends in turn, so that a client that reads slowly is
// made to write slowly, and nothing is queued but its window, one message and one chunk.
func (s *service) encodeParts(session *session) error {
	in := requests{session: session}
	defer in.close()
	data, head, more, err := in.begin(&encodePartsLayout)
	if err != nil {
		return err
	}
	var p encodePlan
	if err := s.planOptions(&p, &head.encode); err != nil {
		return err
	}
	if p.options.Framed {
		return optionFault(fault.BadOption, "options.framing", "parts cannot be framed: the length comes first, and is not known")
	}
	p.options.Stop, p.options.Reserve = session.goesOn, session.reserve
	chunkSize, err := stream.ChunkSize(head.chunkSize)
	if err != nil {
		return err
	}
	if err := in.admit(stream.Cost(chunkSize)); err != nil {
		return err
	}
	sender, err := session.newSender(chunkSize)
	if err != nil {
		return err
	}

	parts := s.joiners.Get().(*encoder.Parts) //nolint:errcheck,forcetypeassert // the pool holds nothing else
	sink := &partsSink{drainingSink: drainingSink{sender, session.registry}}
	number, err := s.joinParts(parts, sink, &in, &p, data, more)
	var filled int
	if err == nil {
		_, filled, err = parts.Finish()
		err = endFault(err, number)
	} else {
		_, filled = parts.Flush()
	}
	if err == nil || isFault(err) {
		// What is whole goes out, whatever became of the rest. A second error would say less than the first.
		if flushed := sender.Flush(filled); err == nil {
			err = flushed
		}
	}
	// Not deferred: an encoder that panicked is not used again.
	parts.Reset()
	s.joiners.Put(parts)
	return err
}

// joinParts encodes all parts that come, beginning with those of data, and returns how many there were.
func (s *service) joinParts(parts *encoder.Parts, sink *partsSink, in *requests, p *encodePlan, data []byte, more bool) (number int64, err error) {
	if err := parts.Start(&p.options, sink); err != nil {
		return 0, err
	}
	for more {
		for index := 0; ; index++ {
			part, rest, ok, err := encodePartsLayout.next(data, in.first)
			if err != nil {
				return number, err
			}
			if !ok {
				break
			}
			data = rest
			number++
			if err := parts.Write(part); err != nil {
				if sink.err != nil {
					return number, sink.err
				}
				return number, partFault(err, index, number)
			}
			s.countPath(parts)
			if index%ctxInterval == ctxInterval-1 {
				if err := in.session.goesOn(); err != nil {
					return number, err
				}
			}
		}
		if data, more, err = in.following(); err != nil {
			return number, err
		}
	}
	return number, nil
}

// endFault says of the fault of a stream that ends too early how far it came.
func endFault(err error, number int64) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	placed := *f
	placed.Detail = fmt.Sprintf("%s, after %d parts", f.Detail, number)
	return &placed
}

// partsSink is a drainingSink that remembers its error, which is not the fault of any part.
type partsSink struct {
	drainingSink
	err error
}

// Next sends what is filled and lends the next chunk.
func (s *partsSink) Next(filled int) ([]byte, error) {
	room, err := s.drainingSink.Next(filled)
	if err != nil {
		s.err = err
	}
	return room, err
}
