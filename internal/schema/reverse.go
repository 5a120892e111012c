package schema

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// Protobuf's wire types, as this package writes them.
const (
	wireVarint = protowire.VarintType
	wireFixed  = protowire.Fixed64Type
	wireBytes  = protowire.BytesType
)

// number returns the number of the member of Value, Field or List for a kind: its own.
func number(kind thriftpackv1.Type) protowire.Number { return protowire.Number(kind) }

// wireOf returns the wire type of a kind's member of Value.
func wireOf(kind thriftpackv1.Type) protowire.Type {
	switch kind {
	case thriftpackv1.Type_TYPE_BOOL, thriftpackv1.Type_TYPE_I8, thriftpackv1.Type_TYPE_I16, thriftpackv1.Type_TYPE_I32,
		thriftpackv1.Type_TYPE_I64:
		return wireVarint
	case thriftpackv1.Type_TYPE_DOUBLE:
		return wireFixed
	default:
		return wireBytes
	}
}

// reverse is protobuf wire bytes that are written from their end to their beginning, so that the length of what was written
// is known when it is to stand before it, and no byte is moved but when room runs out. The zero value is empty.
type reverse struct {
	buf []byte // filled at its end
	at  int    // where the filled part begins
}

// size returns how much is written. What begins at a size that was noted before ends there.
func (r *reverse) size() int { return len(r.buf) - r.at }

// taken returns what is written. The caller owns it.
func (r *reverse) taken() []byte { return append(make([]byte, 0, r.size()), r.buf[r.at:]...) }

// room makes room for n bytes and returns it.
func (r *reverse) room(n int) []byte {
	if r.at < n {
		grown := make([]byte, max(2*len(r.buf), r.size()+n, 64))
		at := len(grown) - r.size()
		copy(grown[at:], r.buf[r.at:])
		r.buf, r.at = grown, at
	}
	r.at -= n
	return r.buf[r.at : r.at+n]
}

func (r *reverse) byte(b byte)      { r.room(1)[0] = b }
func (r *reverse) bytes(b []byte)   { copy(r.room(len(b)), b) }
func (r *reverse) text(s string)    { copy(r.room(len(s)), s) }
func (r *reverse) fixed64(v uint64) { binary.LittleEndian.PutUint64(r.room(8), v) }

func (r *reverse) varint(v uint64) {
	var scratch [binary.MaxVarintLen64]byte
	r.bytes(protowire.AppendVarint(scratch[:0], v))
}

func (r *reverse) tag(n protowire.Number, t protowire.Type) { r.varint(protowire.EncodeTag(n, t)) }

// head puts the tag and the length before what was written since the size was end.
func (r *reverse) head(n protowire.Number, end int) {
	r.varint(uint64(r.size() - end)) //nolint:gosec // not negative
	r.tag(n, wireBytes)
}

// close puts before what was written since the size was end what makes it the member of Value that a kind has.
func (r *reverse) close(kind thriftpackv1.Type, end int) {
	if wireOf(kind) == wireBytes {
		r.head(number(kind), end)
	} else {
		r.tag(number(kind), wireOf(kind))
	}
}
