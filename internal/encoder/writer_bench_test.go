package encoder

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"testing"
)

// oneOfEach is fixture.OneOfEach as a Go value.
type oneOfEach struct {
	yes, no    bool
	i8         int8
	i16        int16
	i32        int32
	i64        int64
	double     float64
	text, more string
}

func newOneOfEach() *oneOfEach {
	return &oneOfEach{true, false, -42, 27000, 1 << 24, 6000 * 1000 * 1000, math.Pi, "Debug THIS!", "\u00d7\n\a\t"}
}

func (v *oneOfEach) write(w *Writer) error {
	if err := w.WriteStructBegin(); err != nil {
		return err
	}
	if err := w.WriteFieldBool(1, v.yes); err != nil {
		return err
	}
	if err := w.WriteFieldBool(2, v.no); err != nil {
		return err
	}
	if err := w.WriteFieldI8(3, v.i8); err != nil {
		return err
	}
	if err := w.WriteFieldI16(4, v.i16); err != nil {
		return err
	}
	if err := w.WriteFieldI32(5, v.i32); err != nil {
		return err
	}
	if err := w.WriteFieldI64(6, v.i64); err != nil {
		return err
	}
	if err := w.WriteFieldDouble(7, v.double); err != nil {
		return err
	}
	if err := w.WriteFieldString(8, v.text); err != nil {
		return err
	}
	if err := w.WriteFieldString(9, v.more); err != nil {
		return err
	}
	if err := w.WriteFieldStop(); err != nil {
		return err
	}
	return w.WriteStructEnd()
}

// appendTo writes the same bytes by hand: the ceiling.
func (v *oneOfEach) appendTo(b []byte) []byte {
	b = append(b, 0x11, 0x12, 0x13, byte(v.i8), 0x14)
	b = binary.AppendUvarint(b, uint64(Zigzag32(int32(v.i16))))
	b = append(b, 0x15)
	b = binary.AppendUvarint(b, uint64(Zigzag32(v.i32)))
	b = append(b, 0x16)
	b = binary.AppendUvarint(b, Zigzag64(v.i64))
	b = append(b, 0x17)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v.double))
	b = append(b, 0x18, byte(len(v.text)))
	b = append(b, v.text...)
	b = append(b, 0x18, byte(len(v.more)))
	return append(append(b, v.more...), 0)
}

// reusedChunk is a Sink that lends the same chunk again and again.
type reusedChunk struct{ chunk []byte }

func (s *reusedChunk) Next(int) ([]byte, error) { return s.chunk, nil }

// BenchmarkWriter writes OneOfEach: to a transport that takes bytes and no more, to one that lends room, to
// chunks; and by hand, as the ceiling.
func BenchmarkWriter(b *testing.B) {
	value := newOneOfEach()
	run := func(name string, w *Writer, again func()) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				again()
				if err := value.write(w); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	plain := new(plainTransport)
	run("io.Writer", NewWriter(plain), func() { plain.data = plain.data[:0] })
	buffer := new(bytes.Buffer)
	run("bytes.Buffer", NewWriter(buffer), buffer.Reset)
	run("bufio.Writer", NewWriter(bufio.NewWriterSize(io.Discard, 4096)), func() {})
	var chunks Writer
	chunks.ResetSink(&reusedChunk{make([]byte, 32<<10)}, nil, 0)
	run("chunks", &chunks, func() {})
	b.Run("append by hand", func(b *testing.B) {
		buf := make([]byte, 0, 64)
		for b.Loop() {
			buf = value.appendTo(buf[:0])
		}
	})
}

// plainTransport collects what is written, and has no method but Write.
type plainTransport struct{ data []byte }

func (t *plainTransport) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	return len(p), nil
}
