package jsonvalue_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/fixture"
	"github.com/thriftpack/thriftpack/internal/jsonvalue"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/conform"
)

// sink lends buffers of one size after the other, and joins what it takes.
type sink struct {
	tb     testing.TB
	sizes  []int
	lent   []byte
	joined []byte
	calls  int
	fails  int // which call fails, from 1 on; 0: none
	err    error
}

func (s *sink) Next(filled int) ([]byte, error) {
	if s.calls++; s.calls == s.fails {
		return nil, s.err
	}
	if filled != len(s.lent) {
		s.tb.Errorf("a buffer of %d bytes was handed over with %d of them filled", len(s.lent), filled)
	}
	s.joined = append(s.joined, s.lent[:filled]...)
	s.lent = make([]byte, s.sizes[s.calls%len(s.sizes)])
	return s.lent, nil
}

// large returns a value with everything in it, some of it longer than any buffer, and its type.
func large(tb testing.TB) ([]byte, *schema.Type) {
	tb.Helper()
	typ := writeTypes(tb)
	long := strings.Repeat("a\"é\n", 700)
	inner := thriftpackv1.StructOf(
		thriftpackv1.BoolField(1, true), thriftpackv1.I8Field(2, -5), thriftpackv1.I64Field(5, -1<<62), thriftpackv1.DoubleField(6, 1e-300),
		thriftpackv1.StringField(7, long), thriftpackv1.BinaryField(8, []byte(long+"x")), thriftpackv1.UUIDField(9, [16]byte{1}),
		thriftpackv1.I32Field(10, 2), thriftpackv1.StructField(11, thriftpackv1.StructOf(thriftpackv1.StringField(2, "é"))),
	)
	names := make([]string, 300)
	numbers := make([]int64, 3000)
	doubles := make([]float64, 500)
	for i := range numbers {
		numbers[i] = int64(i) * 1e15 / 7
		names[i%len(names)] = strings.Repeat("n", i%40)
		doubles[i%len(doubles)] = float64(i) / 7
	}
	value := thriftpackv1.StructOf(
		thriftpackv1.StructField(1000, inner), thriftpackv1.ListField(1001, thriftpackv1.I64List(numbers...)),
		thriftpackv1.ListField(1002, thriftpackv1.StringList(names...)), thriftpackv1.ListField(1003, thriftpackv1.DoubleList(doubles...)),
		thriftpackv1.MapField(1004, thriftpackv1.MapOf(thriftpackv1.StringList(names[:40]...), thriftpackv1.I64List(numbers[:40]...))),
	)
	return fixture.Wire(&thriftpackv1.Value{Kind: &thriftpackv1.Value_Struct{Struct: value}}), typ("Pair")
}

// TestWriterChunks writes into buffers of every size around the room that items take: joined they are the text, and each was full.
func TestWriterChunks(t *testing.T) {
	value, typ := large(t)
	var w jsonvalue.Writer
	want, err := w.Append(nil, value, typ, &wide)
	if err != nil {
		t.Fatal(err)
	}
	for size := 512; size < 700; size++ {
		s := &sink{tb: t, sizes: []int{size, 512 + size%7, 4096}}
		first := bytes.Repeat([]byte("#"), 600)
		last, filled, err := w.WriteTo(s.start(first), first, size-512, value, typ, &wide)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Concat(s.joined, last[:filled])
		if before := string(first[:size-512]); string(got) != before+string(want) {
			t.Fatalf("size %d: the chunks joined are not the text", size)
		}
	}
	s := &sink{tb: t, sizes: []int{512}}
	if last, filled, err := w.WriteTo(s, nil, 0, value, typ, &wide); err != nil || string(append(s.joined, last[:filled]...)) != string(want) {
		t.Errorf("without a first buffer: %v", err)
	}
}

// start makes the first buffer that which a caller has.
func (s *sink) start(buf []byte) *sink {
	s.lent = buf
	return s
}

func TestWriterSinkFails(t *testing.T) {
	value, typ := large(t)
	var w jsonvalue.Writer
	wrong := errors.New("wrong")
	for fails := 1; fails < 60; fails++ {
		s := &sink{tb: t, sizes: []int{512}, fails: fails, err: wrong}
		last, filled, err := w.WriteTo(s, nil, 0, value, typ, &wide)
		if !errors.Is(err, wrong) || last != nil || filled != 0 || s.calls != fails {
			t.Fatalf("call %d fails: %v, %d bytes left, %d filled, %d calls", fails, err, len(last), filled, s.calls)
		}
	}
	short := &sink{tb: t, sizes: []int{511}}
	if _, _, err := w.WriteTo(short, nil, 0, value, typ, &wide); !errors.Is(err, fault.New(fault.Internal, "")) {
		t.Errorf("a short buffer: %v", err)
	}
}

func TestWriterStop(t *testing.T) {
	value, typ := large(t)
	var w jsonvalue.Writer
	stopped := errors.New("stopped")
	var most, total int
	for asks := 1; ; asks++ {
		left, o := asks, wide
		o.Stop = func() error {
			if left--; left == 0 {
				return stopped
			}
			return nil
		}
		text, err := w.Append([]byte("before"), value, typ, &o)
		if err == nil {
			total = len(text)
			break
		}
		if !errors.Is(err, stopped) || string(text) != "before" {
			t.Fatalf("%v, %q", err, text)
		}
		left = asks
		s := &sink{tb: t, sizes: []int{600}}
		last, filled, err := w.WriteTo(s, nil, 0, value, typ, &o)
		if !errors.Is(err, stopped) || len(last) == 0 || filled > len(last) {
			t.Fatalf("%v, %d bytes left, %d filled", err, len(last), filled)
		}
		most = asks
	}
	if most < 1 || total/most > 64<<10 {
		t.Errorf("asked %d times in %d bytes of text", most, total)
	}
}

func TestWriterLimits(t *testing.T) {
	value, typ := large(t)
	var w jsonvalue.Writer
	text, err := w.Append(nil, value, typ, &wide)
	if err != nil {
		t.Fatal(err)
	}
	o := wide
	o.MaxBytes, o.MaxSetting = len(text), "--most"
	if _, err := w.Append([]byte("before"), value, typ, &o); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	for _, o.MaxBytes = range []int{len(text) - 1, len(text) / 2, 100, 1, 0} {
		got, err := w.Append([]byte("before"), value, typ, &o)
		var f *fault.Error
		if !errors.As(err, &f) || f.Reason != fault.SizeLimit || !strings.HasSuffix(f.Detail, " (--most)") || f.Limit != int64(o.MaxBytes) || f.Actual <= f.Limit || string(got) != "before" {
			t.Errorf("%d of %d bytes: %v, %.10q", o.MaxBytes, len(text), err, got)
		}
	}

	typ = writeTypes(t)("Node")
	node := thriftpackv1.StructOf()
	for range 9 {
		node = thriftpackv1.StructOf(thriftpackv1.ListField(2, thriftpackv1.StructList(node)))
	}
	value = fixture.Wire(&thriftpackv1.Value{Kind: &thriftpackv1.Value_Struct{Struct: node}})
	o = wide
	o.Depth = 19
	if _, err := w.Append(nil, value, typ, &o); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	o.Depth = 18
	var f *fault.Error
	if _, err := w.Append(nil, value, typ, &o); !errors.As(err, &f) || f.Reason != fault.DepthLimit || f.Limit != 18 || f.Actual != 19 {
		t.Errorf("above it: %v", err)
	}
}

// TestWriterAllocations counts what a warm writer allocates: nothing.
func TestWriterAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	value, typ := large(t)
	var w jsonvalue.Writer
	text, err := w.Append(nil, value, typ, &wide)
	if err != nil {
		t.Fatal(err)
	}
	room := make([]byte, 0, len(text)+128)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := w.Append(room, value, typ, &wide); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("Append: %v allocations", n)
	}
	lender := &lender{buf: make([]byte, 4096)}
	if n := testing.AllocsPerRun(100, func() {
		if _, _, err := w.WriteTo(lender, nil, 0, value, typ, &wide); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("WriteTo: %v allocations", n)
	}
}

// lender lends the same buffer again and again.
type lender struct{ buf []byte }

func (l *lender) Next(int) ([]byte, error) { return l.buf, nil }

// TestWriterLeavesNothing checks that a released writer refers to nothing of a value.
func TestWriterLeavesNothing(t *testing.T) {
	typ := writeTypes(t)("Pair")
	var w jsonvalue.Writer
	value := checkedValue(t, unhex(t, "18 06 73 65 63 72 65 74 00"), typ, conform.DecodeOptions{KeepUnknown: true, Lenient: true})
	s := &sink{tb: t, sizes: []int{512}}
	if _, _, err := w.WriteTo(s, nil, 0, value, typ, &wide); err != nil {
		t.Fatal(err)
	}
	if text := jsonvalue.SpillOf(&w); bytes.Contains(text, []byte("secret")) || len(bytes.Trim(text, "\x00")) > 0 {
		t.Errorf("the writer keeps %q", text)
	}
}

// TestWriterBehindTheEnd looks at the room behind what is announced: it is as it was, or zero.
func TestWriterBehindTheEnd(t *testing.T) {
	typ := writeTypes(t)
	var w jsonvalue.Writer
	stopped := errors.New("stopped")
	for name, compact := range map[string]string{
		"Ratio": "00 00 00 00 00 00 e0 3f", "Flag": "01", "Text": "01 61", "Larges": "16 02", "Temper": "04", "ByText": "01 85 01 61 02", "Kinds": "67 00 00 00 00 00 00 e0 3f 00",
	} {
		value := checkedValue(t, unhex(t, compact), typ(name), conform.DecodeOptions{})
		for _, stop := range []func() error{nil, func() error { return stopped }} {
			o := wide
			o.Stop = stop
			room := bytes.Repeat([]byte("#"), 1000)
			text, err := w.Append(room[:3], value, typ(name), &o)
			if behind := bytes.Trim(bytes.Trim(room[len(text):], "\x00"), "#"); err != nil && stop == nil || len(behind) > 0 {
				t.Errorf("%s: %v, %q", name, err, behind)
			}
			room = bytes.Repeat([]byte("#"), 1000)
			_, filled, _ := w.WriteTo(&sink{tb: t}, room, 3, value, typ(name), &o)
			if behind := bytes.Trim(bytes.Trim(room[filled:], "\x00"), "#"); len(behind) > 0 {
				t.Errorf("%s: %q", name, behind)
			}
		}
	}
	// After an error nothing of the text is left.
	value, pair := large(t)
	for asks := range 5 {
		o := wide
		o.Stop = func() error {
			if asks--; asks < 0 {
				return stopped
			}
			return nil
		}
		for _, size := range []int{200_000, 10_000} { // enough, and too small
			room := make([]byte, size)
			_, err := w.Append(room[:0], value, pair, &o)
			if left := bytes.Trim(room, "\x00"); (err != nil || size < 200_000) && len(left) > 0 {
				t.Errorf("%d bytes, %v: %.40q", size, err, left)
			}
		}
	}
}
