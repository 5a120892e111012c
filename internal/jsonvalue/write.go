package jsonvalue

import (
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/valuewire"
)

// WriteOptions say how a value is written as JSON. They are only read; the same WriteOptions may serve many Writers at once.
type WriteOptions struct {
	// I64AsNumber writes i64 as numbers. Otherwise they are strings, as in protobuf's JSON, because many readers of JSON round
	// numbers beyond 2^53.
	I64AsNumber bool
	// EmitDefaults also writes fields that are absent and have a default value in the IDL, with that.
	EmitDefaults bool
	// Lenient says that the value was checked leniently: kept fields may have other kinds than the type's of that id, and are written as
	// fields without a name.
	Lenient bool
	// Depth is the largest nesting of structs, lists, sets and maps; the root counts as 1. Above encoder.MaxDepth it has no effect.
	Depth int
	// MaxBytes is the most that Append appends.
	MaxBytes int
	// MaxSetting says in errors which setting MaxBytes comes from, and what else to do about it.
	MaxSetting string
	// Stop, when set, is asked every few thousand values whether to go on, such as Err of a context. Its error ends the call, which
	// returns it as it is.
	Stop func() error
}

// Writer writes values as JSON, one at a time. The zero value is ready for use. It has no memory but its own few hundred bytes; it
// must not be used concurrently.
//
// What it takes are the wire bytes of a Value that package conform has checked against the same type for JSON. Errors are of
// type *fault.Error, or those of a sink and of WriteOptions.Stop, as they were.
type Writer struct {
	in    []byte
	out   writeOutput
	ticks int
	stop  func() error

	i64AsNumber, emitDefaults, lenient bool
	maxDepth                           int
}

// Append appends the JSON text of value, of type t, to dst. It aliases value only during the call. On an error it returns
// dst as it was; what is longer than o.MaxBytes is SIZE_LIMIT. Room of dst beyond the result is
// left as it was, or zero.
func (w *Writer) Append(dst, value []byte, t *schema.Type, o *WriteOptions) ([]byte, error) {
	w.start(value, o)
	w.out.begin(dst[:cap(dst)], len(dst), nil)
	w.out.most, w.out.setting = o.MaxBytes, o.MaxSetting
	w.root(t)
	w.out.settle()
	if n := w.out.n - w.out.from; w.out.err == nil && n > w.out.most {
		w.out.tooLong(n)
	}
	w.out.finish()
	text, err := w.out.buf[:w.out.n], w.out.err
	w.release()
	if err != nil {
		return dst, err
	}
	return text, nil
}

// WriteTo writes the JSON text of value, of type t, starting at buf[filled:], and takes further buffers from the sink as they
// fill; buf may be nil. It aliases value only during the call. Buffers are handed over full; the last one, with lastFilled bytes of
// it in use, is left to the caller, after an error of the sink as nil; the rest of it is left as it was, or zero.
func (w *Writer) WriteTo(sink encoder.Sink, buf []byte, filled int, value []byte, t *schema.Type, o *WriteOptions) (
	lastBuf []byte, lastFilled int, err error,
) {
	w.start(value, o)
	w.out.begin(buf, filled, sink)
	w.root(t)
	w.out.finish()
	lastBuf, lastFilled, err = w.out.buf, w.out.n, w.out.err
	w.release()
	return lastBuf, lastFilled, err
}

// start resets all state for a new value, but for out.
func (w *Writer) start(value []byte, o *WriteOptions) {
	w.in, w.ticks, w.stop = value, writeStopEvery, o.Stop
	w.i64AsNumber, w.emitDefaults, w.lenient = o.I64AsNumber, o.EmitDefaults, o.Lenient
	w.maxDepth = min(o.Depth, encoder.MaxDepth)
}

// release drops every reference and all text.
func (w *Writer) release() {
	w.in, w.stop = nil, nil
	w.out.end()
}

// writeStopEvery is how many steps lie between two questions whether to go on.
const writeStopEvery = 4096

// tick counts a step and reports whether to go on: false after an error, or when Stop says so.
func (w *Writer) tick() bool {
	w.ticks--
	return w.out.err == nil && (w.ticks >= 0 || w.goOn())
}

// goOn asks Stop.
//
//go:noinline
func (w *Writer) goOn() bool {
	w.ticks = writeStopEvery
	if w.stop != nil {
		w.out.fail(w.stop())
	}
	return w.out.err == nil
}

// malformed ends the call: value is not what its check makes of one.
//
//go:noinline
func (w *Writer) malformed() {
	w.out.fail(fault.New(fault.Internal, "a value does not conform to its type"))
}

// tooDeep ends the call.
func (w *Writer) tooDeep(depth int) {
	w.out.fail(fault.OverLimit(fault.DepthLimit, "depth", "--max-depth", int64(w.maxDepth), int64(depth)))
}

// root writes the Value in.
func (w *Writer) root(t *schema.Type) { w.whole(t, 0) }

// whole writes the Value in, inside of so many structs and containers.
func (w *Writer) whole(t *schema.Type, depth int) {
	m, ok := valuewire.Root(w.in)
	if !ok || !writeAllows(t, m.Kind) {
		w.malformed()
		return
	}
	w.payload(t, m.Kind, m.Start, m.End, depth)
}

// writeAllows reports whether a value of type t may be of the kind: text that is not UTF-8 is left binary by a lenient check.
func writeAllows(t *schema.Type, kind uint8) bool {
	declared := uint8(t.Kind)
	return kind == declared || declared == valuewire.String && kind == valuewire.Binary
}

// payload writes a value of type t, or of any type where t is nil, whose payload is in[start:end], without the length of what has
// one. depth is that of what it is in.
func (w *Writer) payload(t *schema.Type, kind uint8, start, end, depth int) {
	switch kind {
	case valuewire.Struct:
		if t == nil {
			w.untypedFields(start, end, depth+1)
		} else {
			w.fields(t.Struct, start, end, depth+1)
		}
	case valuewire.List, valuewire.Set:
		if t == nil {
			w.untypedList(start, end, depth+1)
		} else {
			w.list(t, start, end, depth+1)
		}
	case valuewire.Map:
		if t == nil {
			w.untypedMap(start, end, depth+1)
		} else {
			w.pairs(t, start, end, depth+1)
		}
	default:
		w.scalar(t, kind, start, end)
	}
}
