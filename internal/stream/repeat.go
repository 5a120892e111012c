package stream

// repetition is data that is one record again and again, whose CRC follows from that of the record.
type repetition struct {
	record []byte // aliases the caller's
	crc    uint32 // of the record
}

// Repeat says that from now on all data is record, from its first byte to its last, again and again, until RepeatEnd. So the CRC-32C of what
// is sent need not be computed byte for byte. It is called before anything is sent. record must not change before RepeatEnd.
func (s *Sender) Repeat(record []byte) {
	s.repeated = &repetition{record: record, crc: UpdateCRC32C(0, record)}
}

// RepeatEnd says that no more will be sent, and lets go of the record. It may be called when nothing is repeated.
func (s *Sender) RepeatEnd() {
	s.crc = s.CRC32C()
	s.repeated = nil
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
