package encoder

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// oneByOne has a call of each method that writes.
var oneByOne = map[string]func(w *Writer) error{
	"WriteMessageBegin": func(w *Writer) error { return w.WriteMessageBegin(Message{Name: "a", Type: 1}) },
	"WriteStructBegin":  (*Writer).WriteStructBegin,
	"WriteStructEnd":    (*Writer).WriteStructEnd,
	"WriteFieldBegin":   func(w *Writer) error { return w.WriteFieldBegin(2, thriftpackv1.Type_TYPE_LIST) },
	"WriteFieldStop":    (*Writer).WriteFieldStop,
	"WriteFieldBool":    func(w *Writer) error { return w.WriteFieldBool(2, true) },
	"WriteFieldI8":      func(w *Writer) error { return w.WriteFieldI8(2, 1) },
	"WriteFieldI16":     func(w *Writer) error { return w.WriteFieldI16(2, 1) },
	"WriteFieldI32":     func(w *Writer) error { return w.WriteFieldI32(2, 1) },
	"WriteFieldI64":     func(w *Writer) error { return w.WriteFieldI64(2, 1) },
	"WriteFieldDouble":  func(w *Writer) error { return w.WriteFieldDouble(2, 1) },
	"WriteFieldUUID":    func(w *Writer) error { return w.WriteFieldUUID(2, [16]byte{1}) },
	"WriteFieldString":  func(w *Writer) error { return w.WriteFieldString(2, "a") },
	"WriteFieldBinary":  func(w *Writer) error { return w.WriteFieldBinary(2, []byte("a")) },
	"WriteListBegin":    func(w *Writer) error { return w.WriteListBegin(thriftpackv1.Type_TYPE_I8, 1) },
	"WriteSetBegin":     func(w *Writer) error { return w.WriteSetBegin(thriftpackv1.Type_TYPE_I8, 1) },
	"WriteMapBegin":     func(w *Writer) error { return w.WriteMapBegin(3, 3, 1) },
	"an empty map":      func(w *Writer) error { return w.WriteMapBegin(3, 3, 0) },
	"WriteBool":         func(w *Writer) error { return w.WriteBool(true) },
	"WriteI8":           func(w *Writer) error { return w.WriteI8(1) },
	"WriteI16":          func(w *Writer) error { return w.WriteI16(1) },
	"WriteI32":          func(w *Writer) error { return w.WriteI32(1) },
	"WriteI64":          func(w *Writer) error { return w.WriteI64(1) },
	"WriteDouble":       func(w *Writer) error { return w.WriteDouble(1) },
	"WriteUUID":         func(w *Writer) error { return w.WriteUUID([16]byte{1}) },
	"WriteString":       func(w *Writer) error { return w.WriteString("a") },
	"a longer string":   func(w *Writer) error { return w.WriteFieldString(2, strings.Repeat("a", mediumString)) },
	"WriteBinary":       func(w *Writer) error { return w.WriteBinary([]byte("a")) },
	"WriteI32s":         func(w *Writer) error { return w.WriteI32s([]int32{1}) },
	"WriteI64s":         func(w *Writer) error { return w.WriteI64s([]int64{1}) },
	"WriteDoubles":      func(w *Writer) error { return w.WriteDoubles([]float64{1}) },
	"WriteStrings":      func(w *Writer) error { return w.WriteStrings([]string{"a"}) },
}

// TestWriterKeepsItsError calls each method after an error, with much room in the buffer and with none.
func TestWriterKeepsItsError(t *testing.T) {
	t.Parallel()
	bad := fault.New(fault.BadUTF8, "")
	for name, call := range oneByOne {
		for _, transport := range transports {
			w, written := transport.open()
			if err := all(w.WriteStructBegin(), w.WriteI8(7), w.WriteFieldString(1, "\xff")); !errors.Is(err, bad) {
				t.Fatalf("%s: %v, want BAD_UTF8", transport.name, err)
			}
			if err := call(w); !errors.Is(err, bad) || !errors.Is(w.Err(), bad) {
				t.Errorf("%s: %s: %v, then %v, want the first error", transport.name, name, err, w.Err())
			}
			if got := written(); !bytes.Equal(got, []byte{7}) {
				t.Errorf("%s: %s: %x is written, want 07", transport.name, name, got)
			}
		}
		w := new(Writer)
		w.ResetSink(&chunkSink{fail: errTransport}, nil, 0)
		if err := w.WriteI8(1); !errors.Is(err, errTransport) {
			t.Fatalf("%v, want the sink's error", err)
		}
		if err := call(w); !errors.Is(err, errTransport) {
			t.Errorf("%s after an error of the sink: %v", name, err)
		}
	}
}

// TestWriterFindsBadText has a byte that is not UTF-8 at each place of texts of all lengths that are told apart.
func TestWriterFindsBadText(t *testing.T) {
	t.Parallel()
	bad := fault.New(fault.BadUTF8, "")
	for length := 1; length < mediumString+9; length++ {
		for at := range length {
			text := strings.Repeat("a", at) + "\xff" + strings.Repeat("a", length-at-1)
			for name, call := range map[string]func(w *Writer) error{
				"WriteString":           func(w *Writer) error { return w.WriteString(text) },
				"WriteFieldString":      func(w *Writer) error { return w.WriteFieldString(1, text) },
				"WriteFieldString, far": func(w *Writer) error { return w.WriteFieldString(100, text) },
				"WriteStrings":          func(w *Writer) error { return w.WriteStrings([]string{text}) },
			} {
				var chunks Writer
				chunks.ResetSink(new(chunkSink), make([]byte, 512), 0)
				plain := new(plainTransport)
				for _, w := range []*Writer{NewWriter(plain), &chunks} {
					if err := call(w); !errors.Is(err, bad) {
						t.Errorf("%s(%q): %v, want BAD_UTF8", name, text, err)
					}
				}
				if buf, filled := chunks.Lent(); filled != 0 || bytes.Count(buf, []byte{0}) != len(buf) || len(plain.data) > 0 {
					t.Errorf("%s(%q) wrote something", name, text)
				}
			}
		}
	}
}

var errTransport = errors.New("transport is gone")

// failingTransport takes a number of bytes and fails with err, or writes short when err is nil. It must not be called again then.
type failingTransport struct {
	t      *testing.T
	room   int
	err    error
	failed bool
	data   []byte
}

func (f *failingTransport) Write(p []byte) (int, error) {
	if f.failed {
		f.t.Errorf("Write called again after it failed")
	}
	n := min(len(p), f.room)
	f.room -= n
	f.data = append(f.data, p[:n]...)
	if n == len(p) {
		return n, nil
	}
	f.failed = true
	return n, f.err
}

// TestWriterTransportFails lets the transport fail at each byte of a value with strings short and long.
func TestWriterTransportFails(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	write := func(w *Writer) error {
		return all(newOneOfEach().write(w), w.WriteMessageBegin(Message{Name: "ping", Type: 1}), w.WriteFieldString(1, long), w.WriteBinary([]byte(long)))
	}
	whole := new(plainTransport)
	if err := write(NewWriter(whole)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name      string
		err, want error
	}{
		{"fails", errTransport, errTransport},
		{"writes short", nil, io.ErrShortWrite},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for position := range whole.data {
				transport := &failingTransport{t: t, room: position, err: test.err}
				w := NewWriter(transport)
				if err := write(w); !errors.Is(err, test.want) {
					t.Errorf("at byte %d: error %v, want %v", position, err, test.want)
				}
				if !errors.Is(w.Err(), test.want) {
					t.Errorf("at byte %d: Err() = %v, want %v", position, w.Err(), test.want)
				}
				if !bytes.Equal(transport.data, whole.data[:position]) {
					t.Errorf("at byte %d: transport has %x, want %x", position, transport.data, whole.data[:position])
				}
			}
		})
	}
}

func TestWriterRefuses(t *testing.T) {
	t.Parallel()
	deep := func(w *Writer) error {
		for range maxStructs {
			if err := w.WriteStructBegin(); err != nil {
				return err
			}
		}
		return w.WriteStructBegin()
	}
	tests := []struct {
		name  string
		write func(w *Writer) error
		want  error
	}{
		{"string that is not UTF-8", func(w *Writer) error { return w.WriteFieldString(1, "\xc3(") }, fault.New(fault.BadUTF8, "")},
		{"element that is not UTF-8", func(w *Writer) error { return w.WriteString("\xff") }, fault.New(fault.BadUTF8, "")},
		{"message name that is not UTF-8", func(w *Writer) error { return w.WriteMessageBegin(Message{Name: "\xff", Type: 1}) }, fault.New(fault.BadUTF8, "")},
		{"message type 0", func(w *Writer) error { return w.WriteMessageBegin(Message{Name: "a"}) }, fault.New(fault.BadHeader, "")},
		{"message type 5", func(w *Writer) error { return w.WriteMessageBegin(Message{Name: "a", Type: 5}) }, fault.New(fault.BadHeader, "")},
		{"negative list size", func(w *Writer) error { return w.WriteListBegin(thriftpackv1.Type_TYPE_I8, -1) }, fault.New(fault.NegativeSize, "")},
		{"list of 2^31", func(w *Writer) error { return w.WriteListBegin(thriftpackv1.Type_TYPE_I8, 1<<31) }, fault.New(fault.NegativeSize, "")},
		{"negative map size", func(w *Writer) error {
			return w.WriteMapBegin(thriftpackv1.Type_TYPE_I8, thriftpackv1.Type_TYPE_I8, -1)
		}, fault.New(fault.NegativeSize, "")},
		{"list of no type", func(w *Writer) error { return w.WriteListBegin(thriftpackv1.Type_TYPE_UNSPECIFIED, 0) }, fault.New(fault.BadType, "")},
		{"map key of type 14", func(w *Writer) error { return w.WriteMapBegin(14, thriftpackv1.Type_TYPE_I8, 1) }, fault.New(fault.BadType, "")},
		{"map value of type 16", func(w *Writer) error { return w.WriteMapBegin(thriftpackv1.Type_TYPE_I8, 16, 1) }, fault.New(fault.BadType, "")},
		{"field of type 1", func(w *Writer) error { return w.WriteFieldBegin(1, 1) }, fault.New(fault.BadType, "")},
		{"bool field without its value", func(w *Writer) error { return w.WriteFieldBegin(1, thriftpackv1.Type_TYPE_BOOL) }, ErrFieldBool},
		{"65 structs open", deep, fault.New(fault.DepthLimit, "")},
		{"struct end too many", (*Writer).WriteStructEnd, ErrUnbalanced},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			transport := new(plainTransport)
			w := NewWriter(transport)
			if err := test.write(w); !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
			if err := w.WriteI8(1); !errors.Is(err, test.want) {
				t.Errorf("next call: error %v, want that of the first", err)
			}
			if len(transport.data) != 0 {
				t.Errorf("wrote %x, want nothing", transport.data)
			}
			w.Reset(transport)
			if err := newOneOfEach().write(w); err != nil || hex.EncodeToString(transport.data) != fixture.OneOfEachCompact {
				t.Errorf("after Reset: %v, wrote %x, want OneOfEach", err, transport.data)
			}
		})
	}
}
