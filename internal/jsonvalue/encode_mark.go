package jsonvalue

import (
	"encoding/binary"

	"github.com/thriftpack/thriftpack/internal/encoder"
)

// encodeMark is a place in the scratch memory where its bytes are not copied as they follow each other. The marks are a linked list in the
// order of their places: a container gets its mark when it ends, after those inside of it, and yet before them.
//
// A mark either puts a varint in at its place, or has moves.
type encodeMark struct {
	at    uint32
	value uint32 // the varint, where moves is 0
	next  uint32 // the index of the next mark, or 0
	moves uint32 // how many moves there are
	first uint32 // the index of the first one
}

// encodeMove is one of the pieces of a struct or of an entry of a map, in the order in which they are wanted. Behind the last there is one
// more, that says where to go on.
type encodeMove struct {
	start, end uint32 // of the payload in the scratch memory
	mark       uint32 // the index of the last mark before it
	header     bool   // whether a field header goes before it
	code       uint8  // the type in that header
	id         int16
}

const (
	markBytes = 20
	moveBytes = 16
)

// insertMark puts a mark into the list behind that with the index before.
func (e *Encoder) insertMark(before uint32, m encodeMark) bool {
	index := uint32(len(e.marks)) // there are fewer than bytes
	m.next = e.marks[before].next
	var ok bool
	if e.marks, ok = push(e, e.marks, m, markBytes); !ok {
		return false
	}
	e.marks[before].next = index
	if e.last == before {
		e.last = index
	}
	return true
}

// insertVarint notes that a varint goes to the place at, behind the mark before.
func (e *Encoder) insertVarint(before uint32, at int, value uint64) bool {
	e.extra += int64(encoder.SizeVarint(value))
	return e.insertMark(before, encodeMark{at: uint32(at), value: uint32(value)}) // both are at most 2^32-1
}

// addMove adds a piece to the moves, and to what they make of the scratch memory.
func (e *Encoder) addMove(m encodeMove) (ok bool) {
	e.moves, ok = push(e, e.moves, m, moveBytes)
	return ok
}

// encodeSpot is a state of the scratch memory that flatten goes back to.
type encodeSpot struct {
	written, marks, moves int
	last                  uint32
	extra                 int64
}

// spot returns the present state.
func (e *Encoder) spot() encodeSpot {
	return encodeSpot{e.written, len(e.marks), len(e.moves), e.last, e.extra}
}

// flatten puts all bytes that were written since the spot in their final order, so that they can be compared.
func (e *Encoder) flatten(s encodeSpot) bool {
	if len(e.marks) == s.marks {
		return true
	}
	size := int64(e.written-s.written) + e.extra - s.extra
	if size > e.maxEncoded {
		return e.failEncoded(size)
	}
	if int64(cap(e.flat)) < size {
		if !e.reserve(size) {
			return false
		}
		e.flat = make([]byte, size)
	}
	e.target = encodeTarget{buf: e.flat[:size]}
	ok := e.emit(s.written, e.written, s.last)
	e.target = encodeTarget{}
	e.written = s.written
	if !ok || !e.room(int(size)) {
		return false
	}
	e.written += copy(e.out[e.written:], e.flat[:size])
	e.marks, e.moves = e.marks[:s.marks], e.moves[:s.moves]
	e.marks[s.last].next, e.last, e.extra = 0, s.last, s.extra
	e.ticks -= int(size) / 64
	return true
}

// encodeTarget is where finished bytes go: to the buffer from filled on, and to those that the sink lends when it is full.
type encodeTarget struct {
	sink   encoder.Sink
	buf    []byte
	filled int
}

// writeFrame writes the length of all that follows, where it is wanted.
func (e *Encoder) writeFrame() bool {
	if !e.options.Framed {
		return true
	}
	var frame [frameSize]byte
	binary.BigEndian.PutUint32(frame[:], uint32(e.size-frameSize)) // Prepare saw that it fits
	return e.copyOut(frame[:])
}

// emit writes the bytes out[start:end] to the target as the marks behind the one with the index before want them. It goes down into what is
// moved, as deep as structs and maps are nested.
func (e *Encoder) emit(start, end int, before uint32) bool {
	mark := e.marks[before].next
	for mark != 0 && int(e.marks[mark].at) < end {
		m := e.marks[mark]
		if !e.copyOut(e.out[start:m.at]) {
			return false
		}
		if m.moves == 0 {
			var b [10]byte
			if !e.copyOut(b[:encoder.PutVarint64(&b, uint64(m.value))]) {
				return false
			}
			start, mark = int(m.at), m.next
			continue
		}
		lastID := int16(0)
		moves := e.moves[m.first : m.first+m.moves+1]
		for _, piece := range moves[:m.moves] {
			if piece.header {
				var b [16]byte
				if !e.copyOut(e.appendHeader(b[:0], lastID, piece.id, piece.code)) {
					return false
				}
				lastID = piece.id
			}
			if !e.emit(int(piece.start), int(piece.end), piece.mark) {
				return false
			}
		}
		start, mark = int(moves[m.moves].start), e.marks[moves[m.moves].mark].next
	}
	return e.copyOut(e.out[start:end])
}

// appendHeader appends the header of a field.
func (e *Encoder) appendHeader(b []byte, lastID, id int16, code uint8) []byte {
	if e.binary {
		return append(b, code, byte(uint16(id)>>8), byte(id)) // two's complement
	}
	return encoder.AppendFieldHeader(b, lastID, id, code)
}

// headerSize returns how many bytes appendHeader appends.
func (e *Encoder) headerSize(lastID, id int16) int64 {
	switch step := int32(id) - int32(lastID); {
	case e.binary:
		return 3
	case step >= 1 && step <= 15:
		return 1
	default:
		return 1 + int64(encoder.SizeVarint(uint64(encoder.Zigzag32(int32(id)))))
	}
}

// copyPiece is the most bytes that are copied at once. Go copies 2 MiB and more past the caches, which takes half as long again
// where the target is not aligned, as behind a header it never is.
const copyPiece = 256 << 10

// copyOut writes b to the target. It returns false after an error of the sink or of Stop.
func (e *Encoder) copyOut(b []byte) bool {
	t := &e.target
	for {
		n := copy(t.buf[t.filled:], b[:min(len(b), copyPiece)])
		t.filled += n
		if b = b[n:]; len(b) == 0 {
			return true
		}
		if t.filled == len(t.buf) && !e.nextBuffer() {
			return false
		}
	}
}

// nextBuffer hands the filled buffer to the sink and takes the next one.
func (e *Encoder) nextBuffer() bool {
	if e.ticks -= e.target.filled / 8; e.ticks < 0 && !e.goOn() {
		return false
	}
	t := &e.target
	if t.sink == nil {
		e.err = errTooLarge
		return false
	}
	buf, err := t.sink.Next(t.filled)
	t.buf, t.filled = buf, 0
	if err == nil && len(buf) < minBuffer {
		err = errSmallBuffer
	}
	if err != nil {
		t.buf, e.err = nil, err
		return false
	}
	return true
}
