package stream

import (
	"encoding/binary"

	"google.golang.org/grpc/mem"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// repetition is data that is one record again and again, whose CRC follows from that of the record.
type repetition struct {
	record []byte // aliases held
	crc    uint32 // of the record
	held   *[]byte
	from   *Buffers
	// shared is the record as messages refer to it, and header what comes before the data of a full one; nil where the record is shorter
	// than that data.
	shared mem.Buffer
	header mem.Buffer
}

// Repeat says that from now on all data is record, from its first byte to its last, again and again, until RepeatEnd. So the CRC-32C of what
// is sent need not be computed byte for byte, and messages may refer to the record; see SendRepeated. It is called before anything is sent.
// The record, which comes from a Buffers, is the Sender's from here: it goes back there when gRPC has sent all that refers to it.
func (s *Sender) Repeat(record *[]byte, from *Buffers) {
	r := &repetition{record: *record, crc: UpdateCRC32C(0, *record), held: record, from: from}
	if room := s.dataRoom(); len(*record) >= room {
		r.header = mem.SliceBuffer(binary.AppendUvarint([]byte{s.config.Tag}, uint64(room))) //nolint:gosec // at most MaxChunkSize
		r.shared, s.shared = s.config.Pool.share(record, from, s.debt)
	}
	s.repeated = r
}

// RepeatEnd says that no more will be sent, and lets go of the record. It may be called when nothing is repeated.
func (s *Sender) RepeatEnd() {
	s.crc = s.CRC32C()
	switch r := s.repeated; {
	case r == nil:
	case r.shared != nil:
		r.shared.Free()
	default:
		r.from.Put(r.held)
	}
	s.repeated = nil
}

// dataRoom is how many bytes of data a full message has.
func (s *Sender) dataRoom() int { return s.config.ChunkSize - s.headroom }

// MayRefer reports whether the next of total bytes of repeated data may go by SendRepeated. At the end they may not: what gRPC has queued when
// a handler returns would keep the whole record for as long as the peer likes, and nobody watches it any more. So all that can be queued by
// then has memory of its own. Of a fresh pool every message has memory of its own.
func (s *Sender) MayRefer(total int64) bool {
	return s.repeated != nil && s.repeated.shared != nil && !s.config.Pool.fresh && total-s.bytes >= window+2*int64(s.config.ChunkSize)
}

// SendRepeated sends a full message of what is repeated. It refers to the record, so that nothing is copied for it and nothing
// cleared after it. It is called where MayRefer allows it, and where no buffer is lent.
func (s *Sender) SendRepeated() error {
	r := s.repeated
	switch {
	case s.err != nil:
		return s.err
	case r == nil || r.shared == nil || s.room != nil:
		return s.fail(fault.New(fault.Internal, "sender: there is nothing that a message could refer to"))
	}
	if err := s.ctx.Err(); err != nil {
		return s.fail(err)
	}
	room := s.dataRoom()
	start := int(s.bytes % int64(len(r.record)))
	end := min(start+room, len(r.record))
	data := append(make(mem.BufferSlice, 0, 3), r.header, r.shared.Slice(start, end))
	if rest := room - (end - start); rest > 0 {
		data = append(data, r.shared.Slice(0, rest))
	}
	s.message.data = data
	return s.dispatch(int64(room), 0)
}

// upTo returns the CRC-32C of the first n bytes.
func (r *repetition) upTo(n int64) uint32 {
	size := int64(len(r.record))
	if size == 0 {
		return 0
	}
	sum, power, length := uint32(0), r.crc, size // power is of a power of two of records, length bytes
	for times := n / size; times > 0; times >>= 1 {
		if times&1 == 1 {
			sum = combineCRC32C(sum, power, length)
		}
		if times > 1 {
			power = combineCRC32C(power, power, length)
			length *= 2
		}
	}
	return UpdateCRC32C(sum, r.record[:n%size])
}

// A CRC is a polynomial over GF(2), without its terms of degree 32 and up by division by the generator; the coefficient of x^0 is the top bit.
const (
	castagnoliGenerator = 0x82f63b78
	polynomialOne       = 1 << 31
	polynomialX         = 1 << 30
)

// combineCRC32C returns the CRC-32C of data of which first is that of the beginning and second that of the rest, of length bytes: to
// append bytes multiplies what came before by a power of x.
func combineCRC32C(first, second uint32, length int64) uint32 {
	shift, square := uint32(polynomialOne), uint32(polynomialX)
	for bits := uint64(length) * 8; bits > 0; bits >>= 1 { //nolint:gosec // a length is not negative
		if bits&1 == 1 {
			shift = multiplyPolynomials(shift, square)
		}
		square = multiplyPolynomials(square, square)
	}
	return multiplyPolynomials(first, shift) ^ second
}

// multiplyPolynomials returns a times b modulo the generator.
func multiplyPolynomials(a, b uint32) (product uint32) {
	for ; a != 0; a <<= 1 {
		if a&polynomialOne != 0 {
			product ^= b
		}
		lowest := b & 1 // the term of the highest degree
		b >>= 1
		b ^= castagnoliGenerator * lowest
	}
	return product
}
