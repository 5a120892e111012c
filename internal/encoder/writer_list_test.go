package encoder

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// lists are elements of all lengths, in an order that nothing can learn.
type lists struct {
	i32s    []int32
	i64s    []int64
	doubles []float64
	strings []string
}

func newLists(count int) *lists {
	random := rand.New(rand.NewPCG(6153, uint64(count))) // repeatable on purpose
	l := new(lists)
	for range count {
		l.i32s = append(l.i32s, int32(random.Uint32())>>random.IntN(32))
		l.i64s = append(l.i64s, int64(random.Uint64())>>random.IntN(64))
		l.doubles = append(l.doubles, math.Float64frombits(random.Uint64()))
		text := strings.Repeat("x", random.IntN(mediumString+4))
		if random.IntN(3) == 0 {
			text = strings.Repeat("é", random.IntN(mediumString/2+2))
		}
		if random.IntN(20) == 0 {
			text = strings.Repeat("y", 600)
		}
		l.strings = append(l.strings, text)
	}
	return l
}

func (l *lists) whole(w *Writer) error {
	return all(w.WriteI32s(l.i32s), w.WriteI64s(l.i64s), w.WriteDoubles(l.doubles), w.WriteStrings(l.strings))
}

func (l *lists) each(w *Writer) error {
	var err error
	for _, e := range l.i32s {
		err = all(err, w.WriteI32(e))
	}
	for _, e := range l.i64s {
		err = all(err, w.WriteI64(e))
	}
	for _, e := range l.doubles {
		err = all(err, w.WriteDouble(e))
	}
	for _, e := range l.strings {
		err = all(err, w.WriteString(e))
	}
	return err
}

func TestWriterWholeLists(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		write func(w *Writer) error
		want  string
	}{
		{"no elements", func(w *Writer) error { return new(lists).whole(w) }, ""},
		{"i32 of all lengths", func(w *Writer) error {
			return w.WriteI32s([]int32{0, -1, 63, -64, 64, 8192, 1 << 20, 1 << 27, math.MaxInt32, math.MinInt32})
		}, "00 01 7e 7f 8001 808001 80808001 8080808001 feffffff0f ffffffff0f"},
		{"i64 of all lengths", func(w *Writer) error {
			return w.WriteI64s([]int64{0, -1, 1 << 34, 1<<55 - 1, -1 << 55, 1 << 55, -1 << 62, math.MaxInt64, math.MinInt64})
		}, "00 01 808080808001 feffffffffffff7f ffffffffffffff7f 808080808080808001 ffffffffffffffff7f feffffffffffffffff01 ffffffffffffffffff01"},
		{"doubles are little-endian", func(w *Writer) error {
			return w.WriteDoubles([]float64{1, math.Copysign(0, -1), math.Float64frombits(0x7ff8000000000abc)})
		}, "000000000000f03f 0000000000000080 bc0a00000000f87f"},
		{"strings of few bytes, of none, and of more than the scratch array", func(w *Writer) error {
			return w.WriteStrings([]string{"a", "", "é😀", strings.Repeat("x", 300), "b"})
		}, "0161 00 06c3a9f09f9880 ac02" + strings.Repeat("78", 300) + "0162"},
	}
	for _, transport := range transports {
		t.Run(transport.name, func(t *testing.T) {
			t.Parallel()
			for _, test := range tests {
				w, written := transport.open()
				if err := test.write(w); err != nil {
					t.Errorf("%s: %v", test.name, err)
				}
				if got, want := hex.EncodeToString(written()), strings.ReplaceAll(test.want, " ", ""); got != want {
					t.Errorf("%s: wrote %s, want %s", test.name, got, want)
				}
			}
			for _, count := range []int{1, 15, 100, 2000} {
				l, element := newLists(count), new(plainTransport)
				if err := l.each(NewWriter(element)); err != nil {
					t.Fatal(err)
				}
				w, written := transport.open()
				if err := l.whole(w); err != nil || !bytes.Equal(written(), element.data) {
					t.Errorf("lists of %d: %v, other bytes than by a call for each element", count, err)
				}
			}
		})
	}
}

// TestWriterWholeListsStop stops at an element that is not UTF-8, where calls for each element would.
func TestWriterWholeListsStop(t *testing.T) {
	t.Parallel()
	bad := fault.New(fault.BadUTF8, "")
	for _, text := range []string{"\xff", "twenty bytes and \xc3(", strings.Repeat("x", 300) + "\xff"} {
		for _, transport := range transports {
			w, written := transport.open()
			if err := w.WriteStrings([]string{"a", "b", text, "c"}); !errors.Is(err, bad) {
				t.Errorf("%s: error %v, want BAD_UTF8", transport.name, err)
			}
			if got := hex.EncodeToString(written()); got != "01610162" {
				t.Errorf("%s: wrote %s, want the two elements before", transport.name, got)
			}
			for name, err := range map[string]error{
				"WriteI32s": w.WriteI32s(nil), "WriteI64s": w.WriteI64s([]int64{1}), "WriteDoubles": w.WriteDoubles([]float64{1}),
				"WriteStrings": w.WriteStrings(nil),
			} {
				if !errors.Is(err, bad) {
					t.Errorf("%s: %s after it: error %v, want that of the first", transport.name, name, err)
				}
			}
			if got := hex.EncodeToString(written()); got != "01610162" {
				t.Errorf("%s: wrote %s after the error", transport.name, got)
			}
		}
	}
	var w Writer
	if err := w.WriteDoubles([]float64{1}); !errors.Is(err, ErrNoTransport) {
		t.Errorf("without a transport: %v, want %v", err, ErrNoTransport)
	}
}

// TestWriterWholeListsFail lets the transport fail at each byte.
func TestWriterWholeListsFail(t *testing.T) {
	t.Parallel()
	l, whole := newLists(30), new(plainTransport)
	if err := l.whole(NewWriter(whole)); err != nil {
		t.Fatal(err)
	}
	for position := range whole.data {
		for _, fails := range []error{errTransport, nil} {
			want := fails
			if want == nil {
				want = io.ErrShortWrite
			}
			transport := &failingTransport{t: t, room: position, err: fails}
			w := NewWriter(transport)
			if err := l.whole(w); !errors.Is(err, want) || !errors.Is(w.Err(), want) {
				t.Errorf("at byte %d: error %v, then %v, want %v", position, err, w.Err(), want)
			}
			if !bytes.Equal(transport.data, whole.data[:position]) {
				t.Errorf("at byte %d: transport has %x, want %x", position, transport.data, whole.data[:position])
			}
		}
	}
}

// TestWriterWholeListsShareWrites bounds the calls of Write.
func TestWriterWholeListsShareWrites(t *testing.T) {
	t.Parallel()
	doubles := make([]float64, 1000)
	plain := new(countingTransport)
	if err := NewWriter(plain).WriteDoubles(doubles); err != nil {
		t.Fatal(err)
	}
	if want := (8*len(doubles) + sizeBuffer - 1) / sizeBuffer; len(plain.writes) != want {
		t.Errorf("%d writes of 1,000 doubles, want %d: the scratch array full", len(plain.writes), want)
	}
	lending := &lendingTransport{data: make([]byte, 0, 8*len(doubles))}
	if err := NewWriter(lending).WriteDoubles(doubles); err != nil {
		t.Fatal(err)
	}
	if lending.inPlace != 1 || lending.copied != 0 {
		t.Errorf("%d writes in the room lent and %d of other bytes, want one in the room", lending.inPlace, lending.copied)
	}
}

func TestWriterWholeListsAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	l := newLists(100)
	plain := &plainTransport{data: make([]byte, 0, 1<<20)}
	var chunks Writer
	chunks.ResetSink(&reusedChunk{make([]byte, 1<<10)}, nil, 0)
	for name, w := range map[string]*Writer{"io.Writer": NewWriter(plain), "chunks": &chunks} {
		allocations := testing.AllocsPerRun(1, func() {
			for range 100 {
				plain.data = plain.data[:0]
				if err := l.whole(w); err != nil {
					t.Error(err)
				}
			}
		})
		if allocations > 50 { // of the runtime's own
			t.Errorf("%s: %v allocations for 400 lists, want about none", name, allocations)
		}
	}
}
