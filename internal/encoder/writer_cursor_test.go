package encoder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// everyMethod calls all methods that write, with short headers and long ones, and with values of all lengths.
func everyMethod(w *Writer) error {
	var err error
	keep := func(got error) { err = errors.Join(err, got) }
	id := int16(0)
	keep(newLists(40).whole(w))
	for _, step := range []int16{1, 15, 16, -3} {
		next := func() int16 { id += step; return id }
		for length := range 10 {
			v := int64(1)<<(7*length) - 1
			keep(w.WriteFieldI64(next(), v))
			keep(w.WriteFieldI32(next(), int32(v)))
			keep(w.WriteFieldI16(next(), int16(v)))
			keep(w.WriteI64(^v))
			keep(w.WriteI32(int32(^v)))
		}
		keep(w.WriteFieldBegin(next(), thriftpackv1.Type_TYPE_LIST))
		keep(w.WriteListBegin(thriftpackv1.Type_TYPE_BOOL, 14))
		keep(w.WriteListBegin(thriftpackv1.Type_TYPE_BOOL, math.MaxInt32))
		keep(w.WriteMapBegin(thriftpackv1.Type_TYPE_BOOL, thriftpackv1.Type_TYPE_I8, math.MaxInt32))
		keep(w.WriteMapBegin(thriftpackv1.Type_TYPE_BOOL, thriftpackv1.Type_TYPE_I8, 0))
		keep(w.WriteFieldBool(next(), true))
		keep(w.WriteFieldI8(next(), -1))
		keep(w.WriteFieldDouble(next(), math.Pi))
		keep(w.WriteFieldUUID(next(), [16]byte{15: 1}))
		keep(w.WriteBool(false))
		keep(w.WriteI8(1))
		keep(w.WriteI16(-300))
		keep(w.WriteDouble(math.E))
		keep(w.WriteUUID([16]byte{1}))
		for _, length := range []int{0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 32, 40} {
			text := strings.Repeat("x", length)
			keep(w.WriteFieldString(next(), text))
			keep(w.WriteString(text))
			keep(w.WriteFieldBinary(next(), []byte(text)))
			keep(w.WriteBinary([]byte(text)))
		}
		keep(w.WriteMessageBegin(Message{Name: "name", Type: 1, SeqID: math.MinInt32}))
		keep(w.WriteFieldStop())
	}
	return err
}

// guardedSink lends chunks of one size that lie between bytes which nobody may touch.
type guardedSink struct {
	size, offset int
	memory       []byte
	data         []byte
}

const guard = 64

func (s *guardedSink) lend() []byte {
	s.memory = bytes.Repeat([]byte{0xa5}, guard+s.size+guard)
	return s.memory[guard : guard+s.size : guard+s.size]
}

func (s *guardedSink) keep(filled int) error {
	s.data = append(s.data, s.memory[guard+s.offset:guard+filled]...)
	s.offset = 0
	for i, b := range s.memory {
		if (i < guard || i >= guard+s.size) && b != 0xa5 {
			return fmt.Errorf("byte %d of a chunk of %d bytes was written", i-guard, s.size)
		}
	}
	return nil
}

func (s *guardedSink) Next(filled int) ([]byte, error) {
	if err := s.keep(filled); err != nil {
		return nil, err
	}
	return s.lend(), nil
}

// TestWriterStaysInChunks writes into chunks of many sizes that start anywhere in the first: the same bytes as through a transport, and none
// outside.
func TestWriterStaysInChunks(t *testing.T) {
	t.Parallel()
	whole := new(plainTransport)
	if err := everyMethod(NewWriter(whole)); err != nil {
		t.Fatal(err)
	}
	const least = roomField + 4 // a Sink lends no less than minBuffer; less shows more
	for size := least; size < least+2*cursorSize; size++ {
		for filled := 0; filled <= size; filled++ {
			sink := &guardedSink{size: size, offset: filled}
			var w Writer
			w.ResetSink(sink, sink.lend(), filled)
			if err := everyMethod(&w); err != nil {
				t.Fatalf("chunks of %d bytes, the first from %d on: %v", size, filled, err)
			}
			if _, filled := w.Lent(); sink.keep(filled) != nil {
				t.Errorf("chunks of %d bytes: wrote outside the last", size)
			}
			if !bytes.Equal(sink.data, whole.data) {
				t.Fatalf("chunks of %d bytes, the first from %d on: other bytes than through a transport", size, filled)
			}
		}
	}
}

// TestWriterTakesShortWay holds that the short ways are taken at all: they begin with this comparison.
func TestWriterTakesShortWay(t *testing.T) {
	t.Parallel()
	for _, transport := range transports {
		w, _ := transport.open()
		if err := w.WriteI8(1); err != nil {
			t.Fatal(err)
		}
		if want := len(w.buf)-w.filled >= cursorSize; w.filled < w.limit != want {
			t.Errorf("%s: filled %d, limit %d, %d bytes of buffer", transport.name, w.filled, w.limit, len(w.buf))
		}
	}
}

// TestWords compares varints and strings as words with the standard library.
func TestWords(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(6153, 1))
	bytesOf := func(words ...uint64) (b []byte) {
		for _, word := range words {
			b = binary.LittleEndian.AppendUint64(b, word)
		}
		return b
	}
	for shift := range 57 {
		for range 50 {
			v := random.Uint64() & (1<<shift - 1)
			want := binary.AppendUvarint(nil, v)
			if word, n := varint56(v); !bytes.Equal(bytesOf(word)[:n], want) || word>>(8*n) != 0 {
				t.Errorf("varint56(%d) = %x, %d, want %x", v, word, n, want)
			}
			if word, n := varint32(v); v <= math.MaxUint32 && (!bytes.Equal(bytesOf(word)[:n], want) || word>>(8*n) != 0) {
				t.Errorf("varint32(%d) = %x, %d, want %x", v, word, n, want)
			}
		}
	}
	for length := range shortString + 1 {
		for range 200 {
			text := make([]byte, length)
			for i := range text {
				text[i] = byte(random.Uint32()) >> random.IntN(2)
			}
			low, high := textWords(string(text))
			if want := append(bytes.Clone(text), make([]byte, shortString-length)...); !bytes.Equal(bytesOf(low, high), want) {
				t.Errorf("textWords(%q) = %x, %x", text, low, high)
			}
			if ascii := !strings.ContainsFunc(string(text), func(r rune) bool { return r >= utf8.RuneSelf }); isASCIIWords(low, high) != ascii {
				t.Errorf("isASCIIWords(%q) = %t", text, !ascii)
			}
		}
	}
	for length := range mediumString + 1 {
		for i := range 400 {
			text := []byte(strings.Repeat("é", length)[:length])
			if i%2 == 0 {
				text = bytes.Repeat([]byte("x"), length)
			}
			if length > 0 && i > 1 {
				text[random.IntN(length)] = byte(random.Uint32())
			}
			var b [mediumString + 1]byte
			want := append(append([]byte{byte(length)}, text...), make([]byte, mediumString-length)...)
			if !utf8.Valid(text) {
				want = make([]byte, len(b))
			}
			if got := putText(&b, string(text)); got != utf8.Valid(text) || !bytes.Equal(b[:], want) {
				t.Errorf("putText(%q) = %t, wrote %x, want %x", text, got, b, want)
			}
		}
	}
}
