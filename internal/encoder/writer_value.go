package encoder

import (
	"encoding/binary"
	"math"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// The type codes of the compact protocol. A bool field is one of two types; in containers a bool is codeTrue.
const (
	codeStop   = 0
	codeTrue   = 1
	codeFalse  = 2
	codeI8     = 3
	codeI16    = 4
	codeI32    = 5
	codeI64    = 6
	codeDouble = 7
	codeBinary = 8
	codeList   = 9
	codeSet    = 10
	codeMap    = 11
	codeStruct = 12
	codeUUID   = 13
)

// Each method has a short way: where filled is below limit, and the field's id is 1 to 15 above the last one, there is room for all that the
// method may store, and the header is one byte. Everything else (a long header, the end of a chunk, no buffer yet, an earlier error)
// is decided out of line, in the methods of writer_slow.go.

// WriteFieldBegin writes the header of a field whose value one of the methods below writes next: a container, a struct, or any
// scalar but a bool. Values that have a WriteField method of their own share a Write with their header there.
func (w *Writer) WriteFieldBegin(id int16, t thriftpackv1.Type) error {
	code := uint32(containerCode(t))
	if code <= codeTrue {
		return w.badField(t)
	}
	step := uint32(int32(id) - int32(w.lastID))
	if w.filled >= w.limit || step-1 >= 15 {
		return w.slowHeader(id, code)
	}
	w.lastID = id
	w.cursor()[0] = byte(step<<4 | code)
	return w.commit(1)
}

// WriteFieldStop ends the fields of a struct: one byte 00. It is just small enough to become part of its caller, which is why
// it knows chunks alone.
func (w *Writer) WriteFieldStop() error {
	if w.filled >= w.chunk {
		return w.byte(codeStop)
	}
	w.buf[w.filled] = codeStop
	w.filled++
	return nil
}

// WriteFieldBool writes a bool field, which is its header alone: the type says which of the two it is.
func (w *Writer) WriteFieldBool(id int16, v bool) error {
	code := uint32(codeFalse)
	if v {
		code = codeTrue
	}
	step := uint32(int32(id) - int32(w.lastID))
	if w.filled >= w.limit || step-1 >= 15 {
		return w.slowHeader(id, code)
	}
	w.lastID = id
	w.cursor()[0] = byte(step<<4 | code)
	return w.commit(1)
}

// WriteFieldI8 writes an i8 field: header and one byte.
func (w *Writer) WriteFieldI8(id int16, v int8) error {
	step := uint32(int32(id) - int32(w.lastID))
	if w.filled >= w.limit || step-1 >= 15 {
		return w.slowFieldI8(id, v)
	}
	w.lastID = id
	b := w.cursor()
	b[0], b[1] = byte(step<<4|codeI8), byte(v)
	return w.commit(2)
}

// WriteFieldI16 writes an i16 field: header and zigzag varint.
func (w *Writer) WriteFieldI16(id, v int16) error { return w.field32(id, codeI16, int32(v)) }

// WriteFieldI32 writes an i32 field: header and zigzag varint.
func (w *Writer) WriteFieldI32(id int16, v int32) error { return w.field32(id, codeI32, v) }

func (w *Writer) field32(id int16, code uint32, v int32) error {
	step := uint32(int32(id) - int32(w.lastID))
	if w.filled >= w.limit || step-1 >= 15 {
		return w.slowField32(id, code, v)
	}
	w.lastID = id
	b := w.cursor()
	b[0] = byte(step<<4 | code)
	word, n := varint32(Zigzag64(int64(v)))
	binary.LittleEndian.PutUint64(b[1:9], word)
	return w.commit(1 + n)
}

// WriteFieldI64 writes an i64 field: header and zigzag varint.
func (w *Writer) WriteFieldI64(id int16, v int64) error {
	step := uint32(int32(id) - int32(w.lastID))
	u := Zigzag64(v)
	if w.filled >= w.limit || step-1 >= 15 || u >= 1<<56 {
		return w.slowFieldI64(id, u)
	}
	w.lastID = id
	b := w.cursor()
	b[0] = byte(step<<4 | codeI64)
	word, n := varint56(u)
	binary.LittleEndian.PutUint64(b[1:9], word)
	return w.commit(1 + n)
}

// WriteFieldDouble writes a double field: header and eight bytes, the lowest first. All bits are kept, also those of a NaN.
func (w *Writer) WriteFieldDouble(id int16, v float64) error {
	step := uint32(int32(id) - int32(w.lastID))
	if w.filled >= w.limit || step-1 >= 15 {
		return w.slowFieldDouble(id, v)
	}
	w.lastID = id
	b := w.cursor()
	b[0] = byte(step<<4 | codeDouble)
	binary.LittleEndian.PutUint64(b[1:9], math.Float64bits(v))
	return w.commit(9)
}

// WriteFieldUUID writes a uuid field: header and the sixteen bytes, in the order of its text.
func (w *Writer) WriteFieldUUID(id int16, v [16]byte) error {
	n, err := w.header(id, codeUUID, roomField)
	if err != nil {
		return err
	}
	return w.commit(n + copy(w.buf[w.filled+n:], v[:]))
}

// WriteFieldString writes a string field: header, length and bytes. Text that is not UTF-8 is refused (BAD_UTF8); for other
// bytes there is WriteFieldBinary.
func (w *Writer) WriteFieldString(id int16, v string) error {
	step := uint32(int32(id) - int32(w.lastID))
	if w.filled >= w.limit || step-1 >= 15 || len(v) > shortString {
		return w.slowFieldString(id, v)
	}
	low, high := textWords(v)
	if !isASCIIWords(low, high) && !isShortText(stringBytes(v)) {
		return w.badText(v)
	}
	w.lastID = id
	b := w.cursor()
	b[0], b[1] = byte(step<<4|codeBinary), byte(len(v))
	putWords((*[shortString]byte)(b[2:]), low, high)
	return w.commit(2 + len(v))
}

// WriteFieldBinary writes a binary field: header, length and bytes. It aliases v only during the call.
func (w *Writer) WriteFieldBinary(id int16, v []byte) error {
	if err := w.checkSize("binary", len(v)); err != nil {
		return err
	}
	n, err := w.header(id, codeBinary, roomLength)
	if err != nil {
		return err
	}
	n += putLength((*[8]byte)(w.buf[w.filled+n:]), len(v))
	return w.finishBytes(n, v)
}

// WriteListBegin writes the header of a list of size elements, which follow.
//
//	ssss tttt                   up to 14 elements
//	1111 tttt, varint of size   more
func (w *Writer) WriteListBegin(element thriftpackv1.Type, size int) error {
	code := containerCode(element)
	if code == 0 {
		return w.fail(badType("list element", element))
	}
	if err := w.checkSize("list", size); err != nil {
		return err
	}
	if err := w.room(roomBegin); err != nil {
		return err
	}
	b := w.buf[w.filled:]
	if size < 15 {
		b[0] = byte(size)<<4 | code
		return w.commit(1)
	}
	b[0] = 0xf0 | code
	return w.commit(1 + putVarint32((*[8]byte)(b[1:]), uint32(size)))
}

// WriteSetBegin writes the header of a set, which is that of a list.
func (w *Writer) WriteSetBegin(element thriftpackv1.Type, size int) error {
	return w.WriteListBegin(element, size)
}

// WriteMapBegin writes the header of a map of size entries, which follow, each key before its value. An empty map has no
// types on the wire, so key and value are not looked at there.
//
//	00000000                   empty
//	varint of size, kkkk vvvv  otherwise
func (w *Writer) WriteMapBegin(key, value thriftpackv1.Type, size int) error {
	if size == 0 {
		return w.byte(0)
	}
	keyCode, valueCode := containerCode(key), containerCode(value)
	if keyCode == 0 {
		return w.fail(badType("map key", key))
	}
	if valueCode == 0 {
		return w.fail(badType("map value", value))
	}
	if err := w.checkSize("map", size); err != nil {
		return err
	}
	if err := w.room(roomBegin); err != nil {
		return err
	}
	b := w.buf[w.filled:]
	n := putVarint32((*[8]byte)(b), uint32(size))
	b[n] = keyCode<<4 | valueCode
	return w.commit(n + 1)
}

// WriteBool writes a bool of a container: one byte, 1 for true and 2 for false.
func (w *Writer) WriteBool(v bool) error {
	if v {
		return w.byte(codeTrue)
	}
	return w.byte(codeFalse)
}

// WriteI8 writes an i8 of a container, or of a field that was begun: one byte.
func (w *Writer) WriteI8(v int8) error { return w.byte(byte(v)) }

// WriteI16 writes an i16, as WriteI8: a zigzag varint.
func (w *Writer) WriteI16(v int16) error { return w.WriteI32(int32(v)) }

// WriteI32 writes an i32, as WriteI8: a zigzag varint.
func (w *Writer) WriteI32(v int32) error {
	if w.filled >= w.limit {
		return w.slowI32(v)
	}
	word, n := varint32(Zigzag64(int64(v)))
	binary.LittleEndian.PutUint64(w.cursor()[:8], word)
	return w.commit(n)
}

// WriteI64 writes an i64, as WriteI8: a zigzag varint.
func (w *Writer) WriteI64(v int64) error {
	u := Zigzag64(v)
	if w.filled >= w.limit || u >= 1<<56 {
		return w.slowI64(u)
	}
	word, n := varint56(u)
	binary.LittleEndian.PutUint64(w.cursor()[:8], word)
	return w.commit(n)
}

// WriteDouble writes a double, as WriteI8: eight bytes, the lowest first.
func (w *Writer) WriteDouble(v float64) error {
	if w.filled >= w.limit {
		return w.slowDouble(v)
	}
	binary.LittleEndian.PutUint64(w.cursor()[:8], math.Float64bits(v))
	return w.commit(8)
}

// WriteUUID writes a uuid, as WriteI8: its sixteen bytes.
func (w *Writer) WriteUUID(v [16]byte) error {
	if err := w.room(len(v)); err != nil {
		return err
	}
	return w.commit(copy(w.buf[w.filled:], v[:]))
}

// WriteString writes a string, as WriteI8: length and bytes. Text that is not UTF-8 is refused (BAD_UTF8).
func (w *Writer) WriteString(v string) error {
	if w.filled >= w.limit || len(v) > shortString {
		return w.slowString(v)
	}
	low, high := textWords(v)
	if !isASCIIWords(low, high) && !isShortText(stringBytes(v)) {
		return w.badText(v)
	}
	b := w.cursor()
	b[0] = byte(len(v))
	putWords((*[shortString]byte)(b[1:]), low, high)
	return w.commit(1 + len(v))
}

// WriteBinary writes a binary, as WriteI8: length and bytes. It aliases v only during the call.
func (w *Writer) WriteBinary(v []byte) error {
	if err := w.checkSize("binary", len(v)); err != nil {
		return err
	}
	if err := w.room(8); err != nil {
		return err
	}
	return w.finishBytes(putLength((*[8]byte)(w.buf[w.filled:]), len(v)), v)
}

// byte writes one byte.
func (w *Writer) byte(v byte) error {
	if w.filled >= w.limit {
		return w.slowByte(v)
	}
	w.cursor()[0] = v
	return w.commit(1)
}
