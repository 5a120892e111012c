package encoder

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
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

// WriteFieldBegin writes the header of a field whose value one of the methods below writes next: a container, a struct, or any
// scalar but a bool. Values that have a WriteField method of their own share a Write with their header there.
func (w *Writer) WriteFieldBegin(id int16, t thriftpackv1.Type) error {
	if t == thriftpackv1.Type_TYPE_BOOL {
		return w.fail(ErrFieldBool)
	}
	code := containerCode(t)
	if code == 0 {
		return w.fail(badType("field", t))
	}
	return w.fieldHeader(id, uint32(code))
}

// WriteFieldStop ends the fields of a struct: one byte 00.
func (w *Writer) WriteFieldStop() error { return w.byte(codeStop) }

// WriteFieldBool writes a bool field, which is its header alone: the type says which of the two it is.
func (w *Writer) WriteFieldBool(id int16, v bool) error {
	code := uint32(codeFalse)
	if v {
		code = codeTrue
	}
	return w.fieldHeader(id, code)
}

// WriteFieldI8 writes an i8 field: header and one byte.
func (w *Writer) WriteFieldI8(id int16, v int8) error {
	if err := w.room(roomField); err != nil {
		return err
	}
	b := w.buf[w.filled:]
	header, n := w.step(id)<<4|codeI8, 1
	if header>>4-1 >= 15 {
		header, n = longHeader(id, codeI8)
	}
	binary.LittleEndian.PutUint32(b, header)
	b[n] = byte(v)
	return w.commit(n + 1)
}

// WriteFieldI16 writes an i16 field: header and zigzag varint.
func (w *Writer) WriteFieldI16(id, v int16) error { return w.field32(id, codeI16, int32(v)) }

// WriteFieldI32 writes an i32 field: header and zigzag varint.
func (w *Writer) WriteFieldI32(id int16, v int32) error { return w.field32(id, codeI32, v) }

func (w *Writer) field32(id int16, code uint32, v int32) error {
	if err := w.room(roomField); err != nil {
		return err
	}
	b := w.buf[w.filled:]
	header, n := w.step(id)<<4|code, 1
	if header>>4-1 >= 15 {
		header, n = longHeader(id, code)
	}
	binary.LittleEndian.PutUint32(b, header)
	return w.commit(n + putVarint32((*[8]byte)(b[n:]), Zigzag32(v)))
}

// WriteFieldI64 writes an i64 field: header and zigzag varint.
func (w *Writer) WriteFieldI64(id int16, v int64) error {
	if err := w.room(roomField); err != nil {
		return err
	}
	b := w.buf[w.filled:]
	header, n := w.step(id)<<4|codeI64, 1
	if header>>4-1 >= 15 {
		header, n = longHeader(id, codeI64)
	}
	binary.LittleEndian.PutUint32(b, header)
	return w.commit(n + PutVarint64((*[maxVarint64]byte)(b[n:]), Zigzag64(v)))
}

// WriteFieldDouble writes a double field: header and eight bytes, the lowest first. All bits are kept, also those of a NaN.
func (w *Writer) WriteFieldDouble(id int16, v float64) error {
	if err := w.room(roomField); err != nil {
		return err
	}
	b := w.buf[w.filled:]
	header, n := w.step(id)<<4|codeDouble, 1
	if header>>4-1 >= 15 {
		header, n = longHeader(id, codeDouble)
	}
	binary.LittleEndian.PutUint32(b, header)
	binary.LittleEndian.PutUint64(b[n:], math.Float64bits(v))
	return w.commit(n + 8)
}

// WriteFieldUUID writes a uuid field: header and the sixteen bytes, in the order of its text.
func (w *Writer) WriteFieldUUID(id int16, v [16]byte) error {
	if err := w.room(roomField); err != nil {
		return err
	}
	b := w.buf[w.filled:]
	header, n := w.step(id)<<4|codeUUID, 1
	if header>>4-1 >= 15 {
		header, n = longHeader(id, codeUUID)
	}
	binary.LittleEndian.PutUint32(b, header)
	return w.commit(n + copy(b[n:], v[:]))
}

// WriteFieldString writes a string field: header, length and bytes. Text that is not UTF-8 is refused (BAD_UTF8); for other
// bytes there is WriteFieldBinary.
func (w *Writer) WriteFieldString(id int16, v string) error {
	if err := w.checkString(v); err != nil {
		return err
	}
	if err := w.room(roomLength); err != nil {
		return err
	}
	b := w.buf[w.filled:]
	header, n := w.step(id)<<4|codeBinary, 1
	if header>>4-1 >= 15 {
		header, n = longHeader(id, codeBinary)
	}
	binary.LittleEndian.PutUint32(b, header)
	n += putLength((*[8]byte)(b[n:]), len(v))
	return w.finishString(n, v)
}

// WriteFieldBinary writes a binary field: header, length and bytes. It aliases v only during the call.
func (w *Writer) WriteFieldBinary(id int16, v []byte) error {
	if err := w.checkSize("binary", len(v)); err != nil {
		return err
	}
	if err := w.room(roomLength); err != nil {
		return err
	}
	b := w.buf[w.filled:]
	header, n := w.step(id)<<4|codeBinary, 1
	if header>>4-1 >= 15 {
		header, n = longHeader(id, codeBinary)
	}
	binary.LittleEndian.PutUint32(b, header)
	n += putLength((*[8]byte)(b[n:]), len(v))
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
	if err := w.room(8); err != nil {
		return err
	}
	return w.commit(putVarint32((*[8]byte)(w.buf[w.filled:]), Zigzag32(v)))
}

// WriteI64 writes an i64, as WriteI8: a zigzag varint.
func (w *Writer) WriteI64(v int64) error {
	if err := w.room(maxVarint64); err != nil {
		return err
	}
	return w.commit(PutVarint64((*[maxVarint64]byte)(w.buf[w.filled:]), Zigzag64(v)))
}

// WriteDouble writes a double, as WriteI8: eight bytes, the lowest first.
func (w *Writer) WriteDouble(v float64) error {
	if err := w.room(8); err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(w.buf[w.filled:], math.Float64bits(v))
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
	if err := w.checkString(v); err != nil {
		return err
	}
	if err := w.room(8); err != nil {
		return err
	}
	return w.finishString(putLength((*[8]byte)(w.buf[w.filled:]), len(v)), v)
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
	if err := w.room(1); err != nil {
		return err
	}
	w.buf[w.filled] = v
	return w.commit(1)
}

// fieldHeader writes a field header alone.
func (w *Writer) fieldHeader(id int16, code uint32) error {
	if err := w.room(roomField); err != nil {
		return err
	}
	header, n := w.step(id)<<4|code, 1
	if header>>4-1 >= 15 {
		header, n = longHeader(id, code)
	}
	binary.LittleEndian.PutUint32(w.buf[w.filled:], header)
	return w.commit(n)
}

// step returns the distance from the last field's id and makes id the last one.
func (w *Writer) step(id int16) uint32 {
	step := int32(id) - int32(w.lastID)
	w.lastID = id
	return uint32(step)
}

func longHeader(id int16, code uint32) (word uint32, n int) {
	var b [8]byte
	n = putVarint32(&b, Zigzag32(int32(id)))
	return binary.LittleEndian.Uint32(b[:])<<8 | code, 1 + n
}

// checkString refuses a string that is not UTF-8 or too long.
func (w *Writer) checkString(v string) error {
	if len(v) <= maxSize && utf8.ValidString(v) {
		return nil
	}
	if err := w.checkSize("string", len(v)); err != nil {
		return err
	}
	return w.fail(fault.New(fault.BadUTF8, "string of %d bytes is not UTF-8", len(v)))
}

// checkSize refuses what a reader would take for a negative size.
func (w *Writer) checkSize(what string, size int) error {
	if size < 0 || size > maxSize {
		return w.fail(fault.New(fault.NegativeSize, "%s of size %d, want 0..%d", what, size, maxSize))
	}
	return nil
}

func badType(what string, t thriftpackv1.Type) error {
	return fault.New(fault.BadType, "%s of type %d", what, int32(t))
}

// putLength is putVarint32 for the length of a string. Nearly all are below 128, which a branch predictor learns; without the
// branch OneOfEach takes a twentieth longer through chunks (BenchmarkWriter).
func putLength(b *[8]byte, n int) int {
	if n < 0x80 {
		b[0] = byte(n)
		return 1
	}
	return putVarint32(b, uint32(n))
}
