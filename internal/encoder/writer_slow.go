package encoder

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
)

// The long ways of the methods in writer_value.go. They are right for every value and every state of the Writer.

// header makes room for need bytes and writes a field header to the beginning of it. It returns the header's length.
func (w *Writer) header(id int16, code uint32, need int) (n int, err error) {
	if err := w.room(need); err != nil {
		return 0, err
	}
	step := uint32(int32(id) - int32(w.lastID))
	w.lastID = id
	b := w.buf[w.filled:]
	if step-1 < 15 {
		b[0] = byte(step<<4 | code)
		return 1, nil
	}
	word, n := varint32(Zigzag64(int64(id)))
	binary.LittleEndian.PutUint32(b, uint32(word)<<8|code)
	return 1 + n, nil
}

func (w *Writer) slowHeader(id int16, code uint32) error {
	n, err := w.header(id, code, roomHeader)
	if err != nil {
		return err
	}
	return w.commit(n)
}

func (w *Writer) slowFieldI8(id int16, v int8) error {
	n, err := w.header(id, codeI8, roomField)
	if err != nil {
		return err
	}
	w.buf[w.filled+n] = byte(v)
	return w.commit(n + 1)
}

func (w *Writer) slowField32(id int16, code uint32, v int32) error {
	n, err := w.header(id, code, roomField)
	if err != nil {
		return err
	}
	return w.commit(n + putVarint32((*[8]byte)(w.buf[w.filled+n:]), Zigzag32(v)))
}

// slowFieldI64 takes the value in zigzag form.
func (w *Writer) slowFieldI64(id int16, v uint64) error {
	n, err := w.header(id, codeI64, roomField)
	if err != nil {
		return err
	}
	return w.commit(n + PutVarint64((*[maxVarint64]byte)(w.buf[w.filled+n:]), v))
}

func (w *Writer) slowFieldDouble(id int16, v float64) error {
	n, err := w.header(id, codeDouble, roomField)
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(w.buf[w.filled+n:], math.Float64bits(v))
	return w.commit(n + 8)
}

func (w *Writer) slowFieldString(id int16, v string) error {
	if step := uint32(int32(id) - int32(w.lastID)); w.filled < w.limit && step-1 < 15 && len(v) <= mediumString {
		b := w.cursor()
		if !putText((*[mediumString + 1]byte)(b[1:]), v) {
			return w.badText(v)
		}
		w.lastID = id
		b[0] = byte(step<<4 | codeBinary)
		return w.commit(2 + len(v))
	}
	if err := w.checkString(v); err != nil {
		return err
	}
	n, err := w.header(id, codeBinary, roomLength)
	if err != nil {
		return err
	}
	n += putLength((*[8]byte)(w.buf[w.filled+n:]), len(v))
	return w.finishString(n, v)
}

func (w *Writer) slowByte(v byte) error {
	if err := w.room(1); err != nil {
		return err
	}
	w.buf[w.filled] = v
	return w.commit(1)
}

func (w *Writer) slowI32(v int32) error {
	if err := w.room(8); err != nil {
		return err
	}
	return w.commit(putVarint32((*[8]byte)(w.buf[w.filled:]), Zigzag32(v)))
}

// slowI64 takes the value in zigzag form.
func (w *Writer) slowI64(v uint64) error {
	if err := w.room(maxVarint64); err != nil {
		return err
	}
	return w.commit(PutVarint64((*[maxVarint64]byte)(w.buf[w.filled:]), v))
}

func (w *Writer) slowDouble(v float64) error {
	if err := w.room(8); err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(w.buf[w.filled:], math.Float64bits(v))
	return w.commit(8)
}

func (w *Writer) slowString(v string) error {
	if w.filled < w.limit && len(v) <= mediumString {
		if !putText((*[mediumString + 1]byte)(w.cursor()[:]), v) {
			return w.badText(v)
		}
		return w.commit(1 + len(v))
	}
	if err := w.checkString(v); err != nil {
		return err
	}
	if err := w.room(8); err != nil {
		return err
	}
	return w.finishString(putLength((*[8]byte)(w.buf[w.filled:]), len(v)), v)
}

// checkString refuses a string that is not UTF-8 or too long.
func (w *Writer) checkString(v string) error {
	if len(v) <= maxSize && utf8.ValidString(v) {
		return nil
	}
	if err := w.checkSize("string", len(v)); err != nil {
		return err
	}
	return w.badText(v)
}

func (w *Writer) badText(v string) error {
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

// badField refuses a type that WriteFieldBegin does not take.
func (w *Writer) badField(t thriftpackv1.Type) error {
	if t == thriftpackv1.Type_TYPE_BOOL {
		return w.fail(ErrFieldBool)
	}
	return w.fail(badType("field", t))
}

// containerCode returns the code that stands for a type in the header of a container, or 0 where there is no such type. The wire
// knows no string: it writes it as binary. A bool is 1 there, the code of a true field.
func containerCode(t thriftpackv1.Type) byte {
	if uint32(t) < uint32(len(compactElement)) {
		return compactElement[t]
	}
	return 0
}
