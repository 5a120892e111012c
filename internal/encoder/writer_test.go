package encoder

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// all returns the first error of the calls.
func all(calls ...error) error {
	for _, err := range calls {
		if err != nil {
			return err
		}
	}
	return nil
}

// writes is what the tests write: calls of a Writer, and the bytes they stand for, by hand from the specification.
var writes = []struct {
	name  string
	write func(w *Writer) error
	want  string
}{
	{"struct without fields", func(w *Writer) error { return all(w.WriteStructBegin(), w.WriteFieldStop(), w.WriteStructEnd()) }, "00"},
	{"bool fields are headers", func(w *Writer) error { return all(w.WriteFieldBool(1, true), w.WriteFieldBool(2, false)) }, "11 12"},
	{"i8 is a raw byte", func(w *Writer) error { return all(w.WriteFieldI8(1, -1), w.WriteFieldI8(8, math.MinInt8)) }, "13ff 7380"},
	{"i16 is zigzag", func(w *Writer) error { return all(w.WriteFieldI16(1, math.MinInt16), w.WriteFieldI16(2, 1)) }, "14ffff03 1402"},
	{"i32 of all bits", func(w *Writer) error {
		return all(w.WriteFieldI32(1, math.MinInt32), w.WriteFieldI32(2, math.MaxInt32))
	}, "15ffffffff0f 15feffffff0f"},
	{
		"i64 of all bits",
		func(w *Writer) error {
			return all(w.WriteFieldI64(1, math.MinInt64), w.WriteFieldI64(2, math.MaxInt64))
		},
		"16ffffffffffffffffff01 16feffffffffffffffff01",
	},
	{"double is little-endian", func(w *Writer) error { return w.WriteFieldDouble(1, 1) }, "17000000000000f03f"},
	{"minus zero keeps its sign", func(w *Writer) error { return w.WriteFieldDouble(1, math.Copysign(0, -1)) }, "170000000000000080"},
	{"bits of a NaN are kept", func(w *Writer) error { return w.WriteFieldDouble(1, math.Float64frombits(0x7ff8000000000abc)) }, "17bc0a00000000f87f"},
	{"string is length and bytes", func(w *Writer) error { return all(w.WriteFieldString(1, "é😀"), w.WriteFieldString(2, "")) }, "1806c3a9f09f9880 1800"},
	{"binary of any bytes", func(w *Writer) error {
		return all(w.WriteFieldBinary(1, []byte{0xc3, 0x28}), w.WriteFieldBinary(2, nil))
	}, "1802c328 1800"},
	{"uuid is sixteen bytes", func(w *Writer) error { return w.WriteFieldUUID(1, [16]byte{0: 0x11, 15: 0xff}) }, "1d110000000000000000000000000000ff"},
	{"largest short step", func(w *Writer) error { return w.WriteFieldI32(15, 1) }, "f502"},
	{"step of 16", func(w *Writer) error { return w.WriteFieldI32(16, 1) }, "052002"},
	{"ids backwards", func(w *Writer) error { return all(w.WriteFieldI32(5, 1), w.WriteFieldI32(1, 2)) }, "5502 050204"},
	{"id 0 as bool", func(w *Writer) error { return w.WriteFieldBool(0, true) }, "0100"},
	{"negative ids", func(w *Writer) error { return all(w.WriteFieldI32(-2, 1), w.WriteFieldI32(-1, 1)) }, "050302 1502"},
	{"short step across zero", func(w *Writer) error { return all(w.WriteFieldI32(-1, 1), w.WriteFieldI32(14, 1)) }, "050102 f502"},
	{
		"smallest and largest id",
		func(w *Writer) error {
			return all(w.WriteFieldI32(math.MinInt16, 1), w.WriteFieldI32(math.MaxInt16, 1))
		},
		"05ffff0302 05feff0302",
	},
	{
		"smallest id after the largest: no short step by wrapping",
		func(w *Writer) error {
			return all(w.WriteFieldBool(math.MaxInt16, true), w.WriteFieldBool(math.MinInt16, true))
		},
		"01feff03 01ffff03",
	},
	{"id base returns after a struct", func(w *Writer) error {
		return all(w.WriteStructBegin(), w.WriteFieldBool(1, true),
			w.WriteFieldBegin(2, thriftpackv1.Type_TYPE_STRUCT), w.WriteStructBegin(), w.WriteFieldBool(1, false), w.WriteFieldStop(), w.WriteStructEnd(),
			w.WriteFieldBool(3, true), w.WriteFieldStop(), w.WriteStructEnd())
	}, "11 1c 12 00 11 00"},
	{"list header, short", func(w *Writer) error { return w.WriteListBegin(thriftpackv1.Type_TYPE_I32, 14) }, "e5"},
	{"list header, long", func(w *Writer) error { return w.WriteListBegin(thriftpackv1.Type_TYPE_STRING, 15) }, "f80f"},
	{"list header, largest", func(w *Writer) error { return w.WriteListBegin(thriftpackv1.Type_TYPE_STRUCT, math.MaxInt32) }, "fcffffffff07"},
	{"empty set keeps its type", func(w *Writer) error { return w.WriteSetBegin(thriftpackv1.Type_TYPE_STRING, 0) }, "08"},
	{
		"map header",
		func(w *Writer) error {
			return all(w.WriteMapBegin(thriftpackv1.Type_TYPE_STRING, thriftpackv1.Type_TYPE_I32, 1), w.WriteString("a"), w.WriteI32(1))
		},
		"0185 0161 02",
	},
	{"empty map is one byte", func(w *Writer) error { return w.WriteMapBegin(0, 0, 0) }, "00"},
	{
		"bools of a container",
		func(w *Writer) error {
			return all(w.WriteListBegin(thriftpackv1.Type_TYPE_BOOL, 2), w.WriteBool(true), w.WriteBool(false))
		},
		"21 01 02",
	},
	{
		"elements of every type",
		func(w *Writer) error {
			return all(w.WriteI8(-2), w.WriteI16(-2), w.WriteI32(64), w.WriteI64(-1<<40), w.WriteDouble(1), w.WriteBinary([]byte{9}),
				w.WriteString("ab"), w.WriteUUID([16]byte{1}))
		},
		"fe 03 8001 ffffffffff3f 000000000000f03f 0109 026162 01000000000000000000000000000000",
	},
	{"every type as a field's header", func(w *Writer) error {
		var err error
		for id, t := range []thriftpackv1.Type{
			thriftpackv1.Type_TYPE_I8, thriftpackv1.Type_TYPE_I16, thriftpackv1.Type_TYPE_I32, thriftpackv1.Type_TYPE_I64,
			thriftpackv1.Type_TYPE_DOUBLE, thriftpackv1.Type_TYPE_BINARY, thriftpackv1.Type_TYPE_LIST, thriftpackv1.Type_TYPE_SET,
			thriftpackv1.Type_TYPE_MAP, thriftpackv1.Type_TYPE_STRUCT, thriftpackv1.Type_TYPE_UUID, thriftpackv1.Type_TYPE_STRING,
		} {
			err = all(err, w.WriteFieldBegin(int16(id+1), t))
		}
		return err
	}, "13 14 15 16 17 18 19 1a 1b 1c 1d 18"},
	{"call", func(w *Writer) error { return w.WriteMessageBegin(Message{Name: "ping", Type: 1}) }, "8221 00 0470696e67"},
	{"seqid is not zigzag", func(w *Writer) error { return w.WriteMessageBegin(Message{Name: "ping", Type: 1, SeqID: 300}) }, "8221 ac02 0470696e67"},
	{"negative seqid", func(w *Writer) error { return w.WriteMessageBegin(Message{Name: "", Type: 2, SeqID: -1}) }, "8241 ffffffff0f 00"},
	{"oneway", func(w *Writer) error { return w.WriteMessageBegin(Message{Name: "e", Type: 4, SeqID: 1}) }, "8281 01 0165"},
	{
		"string longer than the scratch array",
		func(w *Writer) error { return w.WriteFieldString(1, strings.Repeat("x", 1000)) },
		"18e807" + strings.Repeat("78", 1000),
	},
	{
		"binary longer than the scratch array",
		func(w *Writer) error { return all(w.WriteBinary(bytes.Repeat([]byte{0xfe}, 1000)), w.WriteI8(1)) },
		"e807" + strings.Repeat("fe", 1000) + "01",
	},
	{"OneOfEach", func(w *Writer) error { return newOneOfEach().write(w) }, fixture.OneOfEachCompact},
}

// transports are all the ways a Writer can be given: each returns it, and what was written.
var transports = []struct {
	name string
	open func() (w *Writer, written func() []byte)
}{
	{"io.Writer", func() (*Writer, func() []byte) {
		transport := new(plainTransport)
		return NewWriter(transport), func() []byte { return transport.data }
	}},
	{"io.StringWriter", func() (*Writer, func() []byte) {
		var b strings.Builder
		return NewWriter(&b), func() []byte { return []byte(b.String()) }
	}},
	{"bytes.Buffer, which lends room", func() (*Writer, func() []byte) {
		var b bytes.Buffer
		return NewWriter(&b), b.Bytes
	}},
	{"bufio.Writer, smaller than the largest varint", func() (*Writer, func() []byte) {
		var b bytes.Buffer
		buffered := bufio.NewWriterSize(&b, 16)
		return NewWriter(buffered), func() []byte { _ = buffered.Flush(); return b.Bytes() }
	}},
	{"bufio.Writer", func() (*Writer, func() []byte) {
		var b bytes.Buffer
		buffered := bufio.NewWriterSize(&b, 600)
		return NewWriter(buffered), func() []byte { _ = buffered.Flush(); return b.Bytes() }
	}},
	{"chunks", func() (*Writer, func() []byte) {
		sink, w := new(chunkSink), new(Writer)
		w.ResetSink(sink, nil, 0)
		return w, func() []byte { return sink.joined(w.Lent()) }
	}},
	{"chunks, the first half full", func() (*Writer, func() []byte) {
		sink, w := &chunkSink{chunk: make([]byte, 40)}, new(Writer)
		w.ResetSink(sink, sink.chunk, 20)
		return w, func() []byte { return sink.joined(w.Lent())[20:] }
	}},
}

// chunkSink is a Sink that keeps what it took, and fills each chunk it lends with rubbish first.
type chunkSink struct {
	data, chunk []byte
	fail        error
}

func (s *chunkSink) Next(filled int) ([]byte, error) {
	if s.fail != nil {
		return nil, s.fail
	}
	s.data = append(s.data, s.chunk[:filled]...)
	s.chunk = bytes.Repeat([]byte{0xee}, 512)
	return s.chunk, nil
}

func (s *chunkSink) joined(buf []byte, filled int) []byte { return append(s.data, buf[:filled]...) }

func TestWriter(t *testing.T) {
	t.Parallel()
	for _, transport := range transports {
		t.Run(transport.name, func(t *testing.T) {
			t.Parallel()
			for _, test := range writes {
				w, written := transport.open()
				if err := test.write(w); err != nil {
					t.Errorf("%s: %v", test.name, err)
				}
				want := strings.ReplaceAll(test.want, " ", "")
				if got := hex.EncodeToString(written()); got != want {
					t.Errorf("%s: wrote %s, want %s", test.name, got, want)
				}
			}
		})
	}
}

// countingTransport counts the calls of Write and keeps what each of them got.
type countingTransport struct{ writes [][]byte }

func (t *countingTransport) Write(p []byte) (int, error) {
	t.writes = append(t.writes, bytes.Clone(p))
	return len(p), nil
}

// TestWriterWritesVarintsWhole is THRIFT-6153's promise: a varint of any length is one Write.
func TestWriterWritesVarintsWhole(t *testing.T) {
	t.Parallel()
	for length := 1; length <= maxVarint64; length++ {
		value := int64(math.MinInt64) // ten bytes
		if length < maxVarint64 {
			value = -1 << (7*length - 1) // zigzag: all of the 7*length bits set
		}
		calls := map[string]func(w *Writer) error{
			"WriteI64":      func(w *Writer) error { return w.WriteI64(value) },
			"WriteFieldI64": func(w *Writer) error { return w.WriteFieldI64(1000, value) },
		}
		if length <= maxVarint32 {
			small := int32(max(value, math.MinInt32))
			calls["WriteI32"] = func(w *Writer) error { return w.WriteI32(small) }
			calls["WriteFieldI32"] = func(w *Writer) error { return w.WriteFieldI32(1000, small) }
		}
		for name, call := range calls {
			transport := new(countingTransport)
			if err := call(NewWriter(transport)); err != nil {
				t.Fatal(err)
			}
			want := length
			if strings.HasPrefix(name, "WriteField") {
				want += 3 // type, and an id of two bytes
			}
			if len(transport.writes) != 1 || len(transport.writes[0]) != want {
				t.Errorf("%s(%d) called Write with %x, want once with %d bytes", name, value, transport.writes, want)
			}
		}
	}
}

// TestWriterCalls bounds the calls of Write. Byte-wise varints took 28 of them for OneOfEach.
func TestWriterCalls(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		write func(w *Writer) error
		want  int
	}{
		{"OneOfEach: nine fields and the stop", func(w *Writer) error { return newOneOfEach().write(w) }, 10},
		{"message header with its name", func(w *Writer) error { return w.WriteMessageBegin(Message{Name: "ping", Type: 1, SeqID: -1}) }, 1},
		{"long list header", func(w *Writer) error { return w.WriteListBegin(thriftpackv1.Type_TYPE_I64, 1<<30) }, 1},
		{"map header", func(w *Writer) error {
			return w.WriteMapBegin(thriftpackv1.Type_TYPE_I64, thriftpackv1.Type_TYPE_I64, 1<<30)
		}, 1},
		{"field with a short string", func(w *Writer) error { return w.WriteFieldString(1000, strings.Repeat("x", 100)) }, 1},
		{"field with a long string: header and length, then the string", func(w *Writer) error { return w.WriteFieldString(1000, strings.Repeat("x", 1<<20)) }, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			transport := new(countingTransport)
			if err := test.write(NewWriter(transport)); err != nil {
				t.Fatal(err)
			}
			if len(transport.writes) != test.want {
				t.Errorf("Write called %d times, want %d: %x", len(transport.writes), test.want, transport.writes)
			}
		})
	}
}

// TestWriterAllocations counts over 1,000 values through every kind of transport.
func TestWriterAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	value, long := newOneOfEach(), strings.Repeat("x", 300)
	plain := &plainTransport{data: make([]byte, 0, 1<<10)}
	buffered := bufio.NewWriterSize(io.Discard, 600)
	var chunks Writer
	chunks.ResetSink(&reusedChunk{make([]byte, 1<<10)}, nil, 0)
	for name, w := range map[string]*Writer{"io.Writer": NewWriter(plain), "bufio.Writer": NewWriter(buffered), "chunks": &chunks} {
		allocations := testing.AllocsPerRun(1, func() {
			for range 1_000 {
				plain.data = plain.data[:0]
				if err := all(value.write(w), w.WriteFieldString(1, long), w.WriteI64(math.MinInt64)); err != nil {
					t.Error(err)
				}
			}
		})
		if allocations > 200 { // of the runtime's own
			t.Errorf("%s: %v allocations for 1,000 values, want about none", name, allocations)
		}
	}
}

func TestWriterWithoutTransport(t *testing.T) {
	t.Parallel()
	var w Writer
	if err := w.WriteI32(1); !errors.Is(err, ErrNoTransport) {
		t.Errorf("WriteI32 of the zero Writer: %v, want %v", err, ErrNoTransport)
	}
}

// TestWriterGivesChunkBack checks who has the chunk after an error.
func TestWriterGivesChunkBack(t *testing.T) {
	t.Parallel()
	var w Writer
	w.ResetSink(new(chunkSink), make([]byte, 512), 0)
	if err := all(w.WriteI8(7), w.WriteString("\xff")); !errors.Is(err, fault.New(fault.BadUTF8, "")) {
		t.Fatalf("error %v, want BAD_UTF8", err)
	}
	if buf, filled := w.Lent(); len(buf) != 512 || filled != 1 || buf[0] != 7 {
		t.Errorf("after an error about a value, Lent() = %d bytes, %d filled; want the chunk with 1", len(buf), filled)
	}
	w.ResetSink(&chunkSink{fail: errTransport}, make([]byte, 4), 0)
	if err := w.WriteFieldI64(1, 1); !errors.Is(err, errTransport) {
		t.Fatalf("error %v, want the sink's", err)
	}
	if buf, filled := w.Lent(); buf != nil || filled != 0 {
		t.Errorf("after an error of the sink, Lent() = %x, %d; want none", buf, filled)
	}
}

// TestWriterKeepsNothing proves that binaries are aliased only during the call.
func TestWriterKeepsNothing(t *testing.T) {
	t.Parallel()
	for _, transport := range transports {
		w, written := transport.open()
		data := []byte{1, 2, 3}
		if err := w.WriteFieldBinary(1, data); err != nil {
			t.Fatal(err)
		}
		data[0] = 99
		if got := hex.EncodeToString(written()); got != "1803010203" {
			t.Errorf("%s: wrote %s, want 1803010203", transport.name, got)
		}
	}
}

// TestWriterCommitsInPlace puts strings that do not fit the scratch array into the room lent, with their header and length, and
// commits them by one Write.
func TestWriterCommitsInPlace(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200)
	for name, write := range map[string]func(w *Writer) error{
		"WriteFieldString": func(w *Writer) error { return w.WriteFieldString(1, long) },
		"WriteFieldBinary": func(w *Writer) error { return w.WriteFieldBinary(1, []byte(long)) },
	} {
		room := &lendingTransport{data: make([]byte, 0, 210)}
		w := NewWriter(room)
		if err := all(write(w), w.WriteFieldBool(2, true)); err != nil {
			t.Fatal(err)
		}
		if want := "18c801" + hex.EncodeToString([]byte(long)) + "11"; hex.EncodeToString(room.data) != want {
			t.Errorf("%s: wrote %x, want %s", name, room.data, want)
		}
		if room.inPlace != 1 || room.copied != 1 {
			t.Errorf("%s: %d writes in the room lent and %d of other bytes, want the string and the bool", name, room.inPlace, room.copied)
		}
		if err := write(w); err != nil { // the room is too small now: header and length, then the string
			t.Fatal(err)
		}
		if room.inPlace != 1 || room.copied != 3 {
			t.Errorf("%s without room: %d writes in the room lent and %d of other bytes, want two more of these", name, room.inPlace, room.copied)
		}
	}
}

// lendingTransport lends its spare room, and counts the writes that come from there and from elsewhere.
type lendingTransport struct {
	data            []byte
	inPlace, copied int
}

func (t *lendingTransport) AvailableBuffer() []byte { return t.data[len(t.data):] }

func (t *lendingTransport) Write(p []byte) (int, error) {
	n := len(t.data)
	if n+len(p) <= cap(t.data) && &t.data[:n+1][n] == &p[0] {
		t.inPlace++
	} else {
		t.copied++
	}
	t.data = append(t.data, p...)
	return len(p), nil
}
