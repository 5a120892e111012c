package jsonvalue

import (
	"encoding/binary"
	"unicode/utf8"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
)

// itemRoom is the room that is made before a field or an element: for its header, its scalar or the header of its container, and for
// what wide stores write beyond the end.
const itemRoom = 64

// room makes room for n bytes, and for itemRoom behind them.
func (e *Encoder) room(n int) bool {
	return len(e.out)-e.written >= n+itemRoom || e.grow(n)
}

// grow makes the scratch memory larger. What the text so far has become says how much the rest may need; but no more is believed than that it
// gets no longer. Otherwise the memory doubles.
//
//go:noinline
func (e *Encoder) grow(n int) bool {
	const slack = 256 // beyond the limit, where an item begins at the limit itself
	need := int64(e.written) + int64(n) + itemRoom
	if int64(e.written)+int64(n) > e.maxEncoded+slack {
		return e.failEncoded(int64(e.written) + int64(n))
	}
	size := max(2*int64(len(e.out)), need, 4*itemRoom)
	if e.at > 0 {
		guess := int64(float64(e.written)/float64(e.at)*float64(len(e.in))*1.125) + 2*itemRoom
		size = max(size, min(guess, int64(len(e.in))))
	}
	size = max(min(size, e.maxEncoded+slack+2*itemRoom), need)
	if !e.reserve(size) {
		return false
	}
	if size <= keptBytes || e.options.Buffers == nil {
		grown := make([]byte, size)
		copy(grown, e.out[:e.written])
		e.out = grown
		if size <= keptBytes {
			e.own = grown
		}
		return true
	}
	buffer := e.options.Buffers.Get(int(size))                // at most 2^32 and some
	if more := int64(cap(*buffer)) - size; !e.reserve(more) { // pools lend what they have
		e.options.Buffers.Put(buffer)
		return false
	}
	copy(*buffer, e.out[:e.written])
	if e.lent != nil {
		e.options.Buffers.Put(e.lent)
	}
	e.out, e.lent = *buffer, buffer
	return true
}

// push appends to a list of the encoder's. A list that has to grow asks for the memory first.
func push[T any](e *Encoder, list []T, item T, size int64) ([]T, bool) {
	if len(list) == cap(list) {
		room := max(2*cap(list), 16)
		if cap(list) < 8192 {
			room *= 2 // so that most of the time nothing is copied
		}
		if !e.reserve(int64(room) * size) {
			return list, false
		}
		grown := make([]T, len(list), room)
		copy(grown, list)
		list = grown
	}
	return append(list, item), true
}

// reserve asks for so many bytes more.
func (e *Encoder) reserve(bytes int64) bool {
	if e.reserved += bytes; e.options.Reserve == nil {
		return true
	}
	if err := e.options.Reserve(e.reserved); err != nil {
		e.err = err
		return false
	}
	return true
}

// stopEvery is how many values are read between two questions whether to go on. The slowest take about 100 ns.
const stopEvery = 4096

// tick counts a value. It returns false when Stop says so.
func (e *Encoder) tick() bool {
	e.ticks--
	return e.ticks >= 0 || e.goOn()
}

// goOn asks Stop.
//
//go:noinline
func (e *Encoder) goOn() bool {
	e.ticks = stopEvery
	if e.options.Stop == nil {
		return true
	}
	if err := e.options.Stop(); err != nil {
		e.err = err
		return false
	}
	return true
}

// putByte writes one byte into the room made before.
func (e *Encoder) putByte(b byte) {
	e.out[e.written] = b
	e.written++
}

// putVarint writes an unsigned varint into the room made before.
func (e *Encoder) putVarint(v uint64) {
	e.written += encoder.PutVarint64((*[10]byte)(e.out[e.written:]), v)
}

// putUint32 writes four big-endian bytes into the room made before.
func (e *Encoder) putUint32(v uint32) {
	binary.BigEndian.PutUint32(e.out[e.written:], v)
	e.written += 4
}

// putSize writes the length of a string or binary into the room made before.
func (e *Encoder) putSize(n int) {
	switch {
	case e.binary:
		e.putUint32(uint32(n)) // maxString is at most 2^31-1
	case n < 0x80:
		e.putByte(byte(n))
	default:
		e.putVarint(uint64(n)) // not negative
	}
}

// envelope writes the header of a message around the value, whose type must be a struct.
//
//	compact  82, ttt00001 (type, version), varint seqid, varint length, name      seqid: as unsigned, not zigzag
//	binary   80 01 00 type, 4 bytes length, name, 4 bytes seqid
func (e *Encoder) envelope(m *encoder.Message) bool {
	const (
		compactProtocol, compactVersion = 0x82, 1
		strictVersion                   = 0x80010000
	)
	switch {
	case e.root.Kind != thriftpackv1.Type_TYPE_STRUCT:
		return e.fail(0, fault.TypeMismatch, "a message needs a struct, not %s", e.root.Name)
	case m.Type < 1 || m.Type > 4:
		return e.failOption("options.message.type", fault.New(fault.BadHeader, "message type %d, want 1..4", m.Type))
	case len(m.Name) > e.maxString:
		return e.failOption("options.message.name",
			sizeFault("number of bytes", "--max-string-bytes", e.options.Limits.StringBytes, int64(len(m.Name))))
	case !utf8.ValidString(m.Name):
		return e.failOption("options.message.name", fault.New(fault.BadUTF8, "not valid UTF-8"))
	case !e.room(len(m.Name)):
		return false
	}
	if e.binary {
		e.putUint32(strictVersion | uint32(m.Type)) // 1..4
		e.putUint32(uint32(len(m.Name)))            // maxString is at most 2^31-1
		e.written += copy(e.out[e.written:], m.Name)
		e.putUint32(uint32(m.SeqID)) // two's complement
		return true
	}
	e.putByte(compactProtocol)
	e.putByte(byte(m.Type)<<5 | compactVersion) // 1..4
	e.putVarint(uint64(uint32(m.SeqID)))
	e.putVarint(uint64(len(m.Name)))
	e.written += copy(e.out[e.written:], m.Name)
	return true
}
