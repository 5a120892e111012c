package oracle

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"

	"github.com/apache/thrift/lib/go/thrift"
)

// watcher is Apache's compact reader, watched: it notices when the reader cuts a number to its type without a word. It looks at the bytes
// that each call took, so it shares no code with Apache's reader nor with ours.
type watcher struct {
	thrift.TProtocol
	data    []byte
	buffer  *bytes.Buffer
	lastID  []int32 // of the structs open, the innermost last
	wrapped bool
}

func (w *watcher) position() int { return len(w.data) - w.buffer.Len() }

// varint looks at the varint that starts at a position: wrapped where it has more than 64 bits or is above limit.
func (w *watcher) varint(at int, limit uint64) uint64 {
	v, n := binary.Uvarint(w.data[min(at, len(w.data)):])
	if n < 0 || n > 0 && v > limit {
		w.wrapped = true
	}
	return v
}

// zigzag16 is the limit of a varint that is a zigzag number of 16 bits.
const zigzag16 = math.MaxUint16

func (w *watcher) ReadStructBegin(ctx context.Context) (string, error) {
	w.lastID = append(w.lastID, 0)
	return w.TProtocol.ReadStructBegin(ctx)
}

func (w *watcher) ReadStructEnd(ctx context.Context) error {
	w.lastID = w.lastID[:len(w.lastID)-1]
	return w.TProtocol.ReadStructEnd(ctx)
}

func (w *watcher) ReadFieldBegin(ctx context.Context) (string, thrift.TType, int16, error) {
	at := w.position()
	name, t, id, err := w.TProtocol.ReadFieldBegin(ctx)
	if err != nil || t == thrift.STOP {
		return name, t, id, err
	}
	last := &w.lastID[len(w.lastID)-1]
	if step := int32(w.data[at] >> 4); step == 0 {
		w.varint(at+1, zigzag16)
	} else if *last+step > math.MaxInt16 {
		w.wrapped = true
	}
	*last = int32(id)
	return name, t, id, nil
}

func (w *watcher) ReadListBegin(ctx context.Context) (thrift.TType, int, error) {
	at := w.position()
	t, size, err := w.TProtocol.ReadListBegin(ctx)
	if err == nil && w.data[at]>>4 == 15 {
		w.varint(at+1, math.MaxInt32)
	}
	return t, size, err
}

func (w *watcher) ReadSetBegin(ctx context.Context) (thrift.TType, int, error) {
	return w.ReadListBegin(ctx)
}

func (w *watcher) ReadMapBegin(ctx context.Context) (key, value thrift.TType, size int, err error) {
	w.varint(w.position(), math.MaxInt32)
	return w.TProtocol.ReadMapBegin(ctx)
}

func (w *watcher) ReadBinary(ctx context.Context) ([]byte, error) {
	w.varint(w.position(), math.MaxInt32)
	return w.TProtocol.ReadBinary(ctx)
}

func (w *watcher) ReadI16(ctx context.Context) (int16, error) {
	w.varint(w.position(), zigzag16)
	return w.TProtocol.ReadI16(ctx)
}

func (w *watcher) ReadI32(ctx context.Context) (int32, error) {
	w.varint(w.position(), math.MaxUint32)
	return w.TProtocol.ReadI32(ctx)
}

func (w *watcher) ReadI64(ctx context.Context) (int64, error) {
	w.varint(w.position(), math.MaxUint64)
	return w.TProtocol.ReadI64(ctx)
}
