package differential

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fixture"
	"github.com/thriftpack/thriftpack/test/oracle"
)

// driver calls a Writer for each part of a value, as generated code would. Errors stay in the Writer.
type driver struct {
	*encoder.Writer

	// whole has the elements of lists written by one call where there is one for their type.
	whole bool
}

func (w driver) drive(t thriftpackv1.Type, v protoreflect.Value) {
	switch t {
	case thriftpackv1.Type_TYPE_BOOL:
		_ = w.WriteBool(v.Bool())
	case thriftpackv1.Type_TYPE_I8:
		_ = w.WriteI8(int8(v.Int()))
	case thriftpackv1.Type_TYPE_I16:
		_ = w.WriteI16(int16(v.Int()))
	case thriftpackv1.Type_TYPE_I32:
		_ = w.WriteI32(int32(v.Int()))
	case thriftpackv1.Type_TYPE_I64:
		_ = w.WriteI64(v.Int())
	case thriftpackv1.Type_TYPE_DOUBLE:
		_ = w.WriteDouble(v.Float())
	case thriftpackv1.Type_TYPE_BINARY:
		_ = w.WriteBinary(v.Bytes())
	case thriftpackv1.Type_TYPE_STRING:
		_ = w.WriteString(v.String())
	case thriftpackv1.Type_TYPE_UUID:
		_ = w.WriteUUID([16]byte(v.Bytes()))
	case thriftpackv1.Type_TYPE_LIST, thriftpackv1.Type_TYPE_SET:
		element, values := oracle.Elements(v.Message().Interface().(*thriftpackv1.List))
		if t == thriftpackv1.Type_TYPE_LIST {
			_ = w.WriteListBegin(element, len(values))
		} else {
			_ = w.WriteSetBegin(element, len(values))
		}
		if w.whole && w.elements(v.Message().Interface().(*thriftpackv1.List)) {
			return
		}
		for _, value := range values {
			w.drive(element, value)
		}
	case thriftpackv1.Type_TYPE_MAP:
		m := v.Message().Interface().(*thriftpackv1.Map)
		keyType, keys := oracle.Elements(m.GetKeys())
		valueType, values := oracle.Elements(m.GetValues())
		_ = w.WriteMapBegin(keyType, valueType, len(keys))
		for i, key := range keys {
			w.drive(keyType, key)
			w.drive(valueType, values[i])
		}
	case thriftpackv1.Type_TYPE_STRUCT:
		_ = w.WriteStructBegin()
		for _, field := range v.Message().Interface().(*thriftpackv1.Struct).GetFields() {
			w.driveField(field)
		}
		_ = w.WriteFieldStop()
		_ = w.WriteStructEnd()
	case thriftpackv1.Type_TYPE_UNSPECIFIED:
	}
}

// elements writes the elements of a list whole, and returns false where no method does.
func (w driver) elements(l *thriftpackv1.List) bool {
	switch {
	case len(l.GetI32S()) > 0:
		_ = w.WriteI32s(l.GetI32S())
	case len(l.GetI64S()) > 0:
		_ = w.WriteI64s(l.GetI64S())
	case len(l.GetDoubles()) > 0:
		_ = w.WriteDoubles(l.GetDoubles())
	case len(l.GetStrings()) > 0:
		_ = w.WriteStrings(l.GetStrings())
	default:
		return false
	}
	return true
}

// driveField uses the method of the field's type where there is one.
func (w driver) driveField(field *thriftpackv1.Field) {
	id := int16(field.GetId())
	t, v := oracle.Kind(field.ProtoReflect())
	switch t {
	case thriftpackv1.Type_TYPE_BOOL:
		_ = w.WriteFieldBool(id, v.Bool())
	case thriftpackv1.Type_TYPE_I8:
		_ = w.WriteFieldI8(id, int8(v.Int()))
	case thriftpackv1.Type_TYPE_I16:
		_ = w.WriteFieldI16(id, int16(v.Int()))
	case thriftpackv1.Type_TYPE_I32:
		_ = w.WriteFieldI32(id, int32(v.Int()))
	case thriftpackv1.Type_TYPE_I64:
		_ = w.WriteFieldI64(id, v.Int())
	case thriftpackv1.Type_TYPE_DOUBLE:
		_ = w.WriteFieldDouble(id, v.Float())
	case thriftpackv1.Type_TYPE_BINARY:
		_ = w.WriteFieldBinary(id, v.Bytes())
	case thriftpackv1.Type_TYPE_STRING:
		_ = w.WriteFieldString(id, v.String())
	case thriftpackv1.Type_TYPE_UUID:
		_ = w.WriteFieldUUID(id, [16]byte(v.Bytes()))
	case thriftpackv1.Type_TYPE_LIST, thriftpackv1.Type_TYPE_SET, thriftpackv1.Type_TYPE_MAP, thriftpackv1.Type_TYPE_STRUCT,
		thriftpackv1.Type_TYPE_UNSPECIFIED:
		_ = w.WriteFieldBegin(id, t)
		w.drive(t, v)
	}
}

// plainTransport has no method but Write.
type plainTransport struct{ data []byte }

func (t *plainTransport) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	return len(p), nil
}

// chunks is a Sink of the smallest chunks.
type chunks struct{ data, chunk []byte }

func (s *chunks) Next(filled int) ([]byte, error) {
	s.data = append(s.data, s.chunk[:filled]...)
	s.chunk = make([]byte, 512)
	return s.chunk, nil
}

// write returns what a Writer makes of the value, through a transport, one that lends room, and chunks: with a call for each element of a
// list, and with one for all.
func write(t *testing.T, v *thriftpackv1.Value) (written [][]byte) {
	t.Helper()
	kind, payload := oracle.Kind(v.ProtoReflect())
	for _, whole := range []bool{false, true} {
		plain, lending, sink := new(plainTransport), new(bytes.Buffer), new(chunks)
		w := driver{encoder.NewWriter(plain), whole}
		w.drive(kind, payload)
		if w.Err() != nil {
			t.Error(w.Err())
		}
		w.Reset(lending)
		w.drive(kind, payload)
		if w.Err() != nil {
			t.Error(w.Err())
		}
		w.ResetSink(sink, nil, 0)
		w.drive(kind, payload)
		if w.Err() != nil {
			t.Error(w.Err())
		}
		buf, filled := w.Lent()
		written = append(written, plain.data, lending.Bytes(), append(sink.data, buf[:filled]...))
	}
	return written
}

// FuzzWriter compares encoder.Writer with Apache's writer.
func FuzzWriter(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64) {
		v := value(seed)
		want, err := oracle.Encode(v, oracle.Compact, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range write(t, v) {
			if !bytes.Equal(got, want) {
				t.Errorf("seed %d: way %d: wrote %x, Apache writes %x", seed, i, got, want)
			}
		}
	})
}

// TestFixtures writes the values of the benchmarks with the Writer, with the wire encoder and with Apache: the same bytes.
func TestFixtures(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]*thriftpackv1.Value{"OneOfEach": fixture.OneOfEach(), "Nested4": fixture.Nested4()} {
		want, err := oracle.Encode(v, oracle.Compact, nil)
		if err != nil {
			t.Fatal(err)
		}
		wire, err := proto.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var e encoder.Encoder
		if got, err := e.Append(nil, wire, encoderOptions(oracle.Compact)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: Encoder: %v, %d bytes, Apache writes %d others", name, err, len(got), len(want))
		}
		for i, got := range write(t, v) {
			if !bytes.Equal(got, want) {
				t.Errorf("%s: Writer, way %d: %d bytes, Apache writes %d others", name, i, len(got), len(want))
			}
		}
	}
}
