package encoder

import (
	"encoding/binary"

	"github.com/thriftpack/thriftpack/internal/fault"
)

const (
	// minBuffer is the least room that a Sink lends.
	minBuffer = 512
	// itemRoom is the room that the walk asks for before a field or an element: its header, its scalar, and the bytes that
	// wide stores write beyond the end. It is below minBuffer.
	itemRoom = 64
	// spill is how many bytes beyond the end wide stores may touch. They are cleared before a buffer leaves this package.
	spill = 32
)

// more makes room for at least n bytes, n <= minBuffer where there is a sink, and returns false after an error of the sink or of Stop.
//
//go:noinline
func (e *Encoder) more(n int) bool {
	if e.ticks -= e.written / 8; e.ticks < 0 && !e.goOn() { // a fast loop may have written it all without a step
		return false
	}
	switch {
	case e.measuring:
		e.passed += int64(e.written)
		e.out, e.written = e.scratch[:], 0
	case e.sink != nil:
		e.clearSpill()
		e.passed += int64(e.written)
		buf, err := lend(e.sink, e.written)
		e.out, e.written = buf, 0
		if err != nil {
			e.sinkErr = err
			return e.fail(causeSink, 0, 0, 0, 0)
		}
	default:
		grown := make([]byte, max(2*len(e.out), e.written+n+itemRoom))
		copy(grown, e.out[:e.written])
		e.out = grown
	}
	return true
}

// lend hands the first filled bytes of the buffer lent last to the sink and returns the next one.
func lend(sink Sink, filled int) ([]byte, error) {
	buf, err := sink.Next(filled)
	if err != nil {
		return nil, err
	}
	if len(buf) < minBuffer {
		return nil, fault.New(fault.Internal, "sink lent %d bytes, want at least %d", len(buf), minBuffer)
	}
	return buf, nil
}

// clearSpill clears what wide stores left beyond the end, so that a buffer holds nothing but what was announced.
func (e *Encoder) clearSpill() {
	if e.written+spill <= len(e.out) {
		*(*[spill]byte)(e.out[e.written:]) = [spill]byte{} // two stores, where clear would be a call
		return
	}
	clear(e.out[e.written:])
}

// room makes room for one item.
func (e *Encoder) room() bool {
	return len(e.out)-e.written >= itemRoom || e.more(itemRoom)
}

// copyPiece is the most bytes that are copied at once. Go copies 2 MiB and more past the caches, which takes half as long again
// where the target is not aligned, as behind a header it never is; pieces go at full speed (BenchmarkAppend/double).
const copyPiece = 256 << 10

// copyInput writes in[at:end], however long, in pieces where the sink's buffers are smaller.
func (e *Encoder) copyInput(at, end int) bool {
	if e.measuring {
		e.passed += int64(end - at)
		return true
	}
	for {
		n := copy(e.out[e.written:], e.in[at:min(at+copyPiece, end)])
		e.written += n
		at += n
		if at == end {
			return true
		}
		if e.written == len(e.out) && !e.more(end-at) {
			return false
		}
	}
}

// putByte writes one byte into the room made before.
func (e *Encoder) putByte(b byte) {
	e.out[e.written] = b
	e.written++
}

// putVarint writes an unsigned varint into the room made before.
func (e *Encoder) putVarint(v uint64) {
	e.written = putVarint(e.out, e.written, v)
}

// putUint32 writes four big-endian bytes into the room made before.
func (e *Encoder) putUint32(v uint32) {
	binary.BigEndian.PutUint32(e.out[e.written:], v)
	e.written += 4
}

// putUint64 writes eight big-endian bytes into the room made before.
func (e *Encoder) putUint64(v uint64) {
	binary.BigEndian.PutUint64(e.out[e.written:], v)
	e.written += 8
}

// putVarint writes an unsigned varint at out[at:] and returns the position behind it.
func putVarint(out []byte, at int, v uint64) int {
	for v >= 0x80 {
		out[at] = byte(v) | 0x80
		v >>= 7
		at++
	}
	out[at] = byte(v)
	return at + 1
}

// unzigzag is the inverse of Zigzag64.
func unzigzag(v uint64) int64 {
	return int64(v>>1) ^ -int64(v&1) // the bits are meant
}

// load64 returns the eight bytes at in[at:], which must be there, as a little-endian word.
func load64(in []byte, at int) uint64 {
	return binary.LittleEndian.Uint64(in[at:])
}
