package server

import (
	"errors"
	"strconv"

	"google.golang.org/grpc/metadata"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// encodeRecords sends the value as often as the request says. Where there is memory for a record that is sent more than once, it is
// encoded once.
func (s *service) encodeRecords(
	session *session, e *encoder.Encoder, raw *rawRequest, p *encodePlan, r *encodeStreamRequest, chunkSize int, done func(),
) error {
	record, size, err := s.encodeRecord(session, e, p, r.count)
	if err != nil {
		return err
	}
	if record == nil {
		return s.sendRecords(session, e, r.count, size, chunkSize)
	}
	e.Release()
	raw.free()
	p.value = nil
	done()
	sink, total, err := s.openRecords(session, r.count, size, chunkSize)
	if err != nil {
		s.buffers.Put(record)
		return err
	}
	record = s.fitRecord(session, record, total, chunkSize)
	session.keep(stream.Cost(chunkSize) + int64(cap(*record)))
	return replay(sink, s.buffers, record, total)
}

// encodeRecord encodes a record that is sent more than once, into a buffer that belongs to the caller. Where it is sent once or there is no
// memory for it, record is nil, and the value is prepared.
func (s *service) encodeRecord(session *session, e *encoder.Encoder, p *encodePlan, count int64) (record *[]byte, size int64, err error) {
	if count > 1 && p.options.Protocol == encoder.Compact {
		record, err := s.encodeAtOnce(session, e, p)
		if err != nil || record != nil {
			return record, recordSize(record), err
		}
	}
	size, err = e.Prepare(p.value, &p.options)
	s.countPath(e)
	if err != nil {
		return nil, 0, err
	}
	if count <= 1 || size > int64(encoder.Bound(len(p.value), &p.options)) || !session.hasMore(config.BufferMost(size+sinkRoom)) {
		return nil, size, nil
	}
	record = s.buffers.GetUncleared(int(size) + sinkRoom)
	_, end, err := e.WriteTo(fullSink{}, *record, 0)
	*record = (*record)[:end]
	if err != nil {
		s.buffers.Put(record)
		return nil, 0, err
	}
	return record, size, nil
}

// recordSize is the size of a record, 0 of none.
func recordSize(record *[]byte) int64 {
	if record == nil {
		return 0
	}
	return int64(len(*record))
}

// errNotAtOnce ends an encoding that would need more memory than was taken for it.
var errNotAtOnce = errors.New("the value must be normalised")

// encodeAtOnce encodes the value in one pass, where measuring it first would walk it twice, into a buffer that belongs to the caller. It is nil
// where the value has to be normalised, or where there is no memory for the longest that the encoding may be.
func (s *service) encodeAtOnce(session *session, e *encoder.Encoder, p *encodePlan) (*[]byte, error) {
	bound := encoder.Bound(len(p.value), &p.options)
	cost := config.BufferMost(int64(bound))
	if !session.hasMore(cost) {
		return nil, nil
	}
	options := p.options
	options.Reserve = func(int64) error { return errNotAtOnce }
	record := s.buffers.GetUncleared(bound)
	encoded, err := e.Append((*record)[:0], p.value, &options)
	if err == nil && &encoded[0] == &(*record)[0] {
		s.countPath(e)
		*record = encoded
		return record, nil
	}
	s.buffers.Put(record)
	session.shrink(cost)
	if err == nil || errors.Is(err, errNotAtOnce) {
		return nil, nil
	}
	s.countPath(e)
	return nil, err
}

// fitRecord returns a record as a buffer of the size that it needs, which is less than was needed to encode it; a short one several times over,
// so that messages can refer to it, where total bytes of it are that many. It takes over record.
func (s *service) fitRecord(session *session, record *[]byte, total int64, chunkSize int) *[]byte {
	size := len(*record)
	want := size
	if size < chunkSize && total > stream.Cost(chunkSize) {
		want = (chunkSize + size - 1) / size * size
	}
	cost := config.BufferMost(int64(want))
	switch {
	case want > size && !session.hasMore(cost):
		return record // and copied into each message
	case want == size && cost >= int64(cap(*record)):
		return record
	}
	fitted := s.buffers.GetUncleared(want)
	for filled := 0; filled < want; filled += size {
		copy((*fitted)[filled:], *record)
	}
	s.buffers.Put(record)
	return fitted
}

// openRecords announces count records of size bytes, and returns where they go and how many bytes they are.
func (s *service) openRecords(session *session, count, size int64, chunkSize int) (sink drainingSink, total int64, err error) {
	total, err = totalOf(count, size)
	if err != nil {
		return drainingSink{}, 0, err
	}
	if err := session.stream.SetHeader(metadata.Pairs(thriftpackv1.LengthHeader, strconv.FormatInt(total, 10))); err != nil {
		return drainingSink{}, 0, orEnd(session.ctx, err)
	}
	sender, err := session.newSender(chunkSize)
	return drainingSink{sender, session.registry}, total, err
}

// sendRecords writes what was prepared as often as the request says.
func (s *service) sendRecords(session *session, e recordWriter, count, size int64, chunkSize int) error {
	sink, _, err := s.openRecords(session, count, size, chunkSize)
	if err != nil {
		return err
	}
	var buf []byte
	filled := 0
	for range max(count, 1) {
		if buf, filled, err = e.WriteTo(sink, buf, filled); err != nil {
			return err
		}
	}
	return sink.sender.Flush(filled)
}

// replay sends a record, of which it takes over the buffer, again and again until it was total bytes. Messages refer to the record; the last
// ones have copies.
func replay(sink drainingSink, buffers *stream.Buffers, record *[]byte, total int64) error {
	data, sender := *record, sink.sender
	sender.Repeat(record, buffers)
	defer sender.RepeatEnd()
	for sender.MayRefer(total) {
		if err := sink.again(); err != nil {
			return err
		}
	}
	buf, err := sink.Next(0)
	if err != nil {
		return err
	}
	filled := 0
	for at := sender.Bytes(); at < total; {
		rest := data[at%int64(len(data)):]
		n := copy(buf[filled:], rest[:min(int64(len(rest)), total-at)])
		at, filled = at+int64(n), filled+n
		if filled < len(buf) {
			continue
		}
		if buf, err = sink.Next(filled); err != nil {
			return err
		}
		filled = 0
	}
	return sink.sender.Flush(filled)
}
