package encoder

import (
	"encoding/binary"
	"math"
)

// The methods below write the elements of a whole list or set, whose header was written before, by one call. They write what a call for each
// element would, and leave off at the same element where there is an error. A transport that lends room is given its elements there;
// any other, as many by one Write as fit the scratch array.

// WriteI32s writes all elements of a list or set of i32. It aliases v only during the call.
func (w *Writer) WriteI32s(v []int32) error {
	for len(v) > 0 {
		b, err := w.roomForRun(8)
		if err != nil {
			return err
		}
		n, next := 0, 0
		for next < len(v) && len(b)-n >= 8 {
			word, size := varint32(Zigzag64(int64(v[next])))
			binary.LittleEndian.PutUint64(b[n:], word)
			n += size
			next++
		}
		if err := w.commitRun(n); err != nil {
			return err
		}
		v = v[next:]
	}
	return w.err
}

// WriteI64s writes all elements of a list or set of i64. It aliases v only during the call.
func (w *Writer) WriteI64s(v []int64) error {
	for len(v) > 0 {
		b, err := w.roomForRun(maxVarint64)
		if err != nil {
			return err
		}
		n, next := 0, 0
		for next < len(v) && len(b)-n >= maxVarint64 {
			if u := Zigzag64(v[next]); u < 1<<56 {
				word, size := varint56(u)
				binary.LittleEndian.PutUint64(b[n:], word)
				n += size
			} else {
				n += PutVarint64((*[maxVarint64]byte)(b[n:]), u)
			}
			next++
		}
		if err := w.commitRun(n); err != nil {
			return err
		}
		v = v[next:]
	}
	return w.err
}

// WriteDoubles writes all elements of a list or set of double. It aliases v only during the call.
func (w *Writer) WriteDoubles(v []float64) error {
	for len(v) > 0 {
		b, err := w.roomForRun(8)
		if err != nil {
			return err
		}
		count := min(len(v), len(b)/8)
		for i, e := range v[:count] {
			binary.LittleEndian.PutUint64(b[8*i:], math.Float64bits(e))
		}
		if err := w.commitRun(8 * count); err != nil {
			return err
		}
		v = v[count:]
	}
	return w.err
}

// WriteStrings writes all elements of a list or set of string. Text that is not UTF-8 is refused (BAD_UTF8); the elements before
// it are written.
func (w *Writer) WriteStrings(v []string) error {
	for len(v) > 0 {
		b, err := w.roomForRun(1)
		if err != nil {
			return err
		}
		n, next := 0, 0
		for next < len(v) && len(v[next]) <= mediumString && len(b)-n > mediumString {
			to := (*[mediumString + 1]byte)(b[n:])
			if !putText(to, v[next]) {
				break
			}
			n += 1 + len(v[next])
			next++
		}
		if n == 0 { // long, or no room, or not UTF-8
			w.giveBack()
			if err := w.WriteString(v[0]); err != nil {
				return err
			}
			next = 1
		} else if err := w.commitRun(n); err != nil {
			return err
		}
		v = v[next:]
	}
	return w.err
}

// roomForRun returns at least need bytes for elements: the rest of the chunk, what the transport lends, or the scratch array.
func (w *Writer) roomForRun(need int) ([]byte, error) {
	if err := w.room(need); err != nil {
		return nil, err
	}
	if w.lender != nil {
		w.lend(0, sizeBuffer)
	}
	return w.buf[w.filled:], nil
}

// commitRun commits n bytes of the room for elements.
func (w *Writer) commitRun(n int) error {
	if w.writer != nil {
		return w.commitLent(n)
	}
	w.filled += n
	return nil
}

// giveBack makes the buffer what it was before roomForRun, of which nothing was used.
func (w *Writer) giveBack() {
	if w.writer != nil {
		w.buf = w.scratch[:]
	}
}
