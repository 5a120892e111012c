package encoder

import (
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

var partDescriptor = (&thriftpackv1.Part{}).ProtoReflect().Descriptor()

func beginPart(b *thriftpackv1.Begin) *thriftpackv1.Part {
	return &thriftpackv1.Part{Part: &thriftpackv1.Part_Begin{Begin: b}}
}

func fieldsPart(fields ...*thriftpackv1.Field) *thriftpackv1.Part {
	return &thriftpackv1.Part{Part: &thriftpackv1.Part_Fields{Fields: thriftpackv1.StructOf(fields...)}}
}

func elementsPart(l *thriftpackv1.List) *thriftpackv1.Part {
	return &thriftpackv1.Part{Part: &thriftpackv1.Part_Elements{Elements: l}}
}

func entriesPart(keys, values *thriftpackv1.List) *thriftpackv1.Part {
	return &thriftpackv1.Part{Part: &thriftpackv1.Part_Entries{Entries: thriftpackv1.MapOf(keys, values)}}
}

func dataPart(b []byte) *thriftpackv1.Part {
	return &thriftpackv1.Part{Part: &thriftpackv1.Part_Data{Data: b}}
}

func endPart() *thriftpackv1.Part {
	return &thriftpackv1.Part{Part: &thriftpackv1.Part_End{End: &thriftpackv1.End{}}}
}

// wire returns the wire bytes of the parts that were cut.
func (c *cutter) wire(t testing.TB) [][]byte {
	t.Helper()
	return partsWire(t, c.parts...)
}

func partsWire(t testing.TB, parts ...*thriftpackv1.Part) [][]byte {
	t.Helper()
	wire := make([][]byte, len(parts))
	for i, part := range parts {
		wire[i] = marshal(t, part)
	}
	return wire
}

// partsRun writes parts through buffers of one size, and takes the buffer away between some of them.
type partsRun struct {
	parts Parts
	sink  collector
	at    int // the part that failed, or the number of parts
}

// run returns the bytes that came out, also with an error.
func (r *partsRun) run(o *Options, chunk int, parts ...[]byte) ([]byte, error) {
	r.sink = collector{size: chunk}
	r.at = 0
	if err := r.parts.Start(o, &r.sink); err != nil {
		return nil, err
	}
	for i, part := range parts {
		r.at = i
		if r.parts.Write(part) != nil {
			break
		}
		if i%7 == 5 {
			if buf, filled := r.parts.Flush(); buf != nil {
				r.sink.take(filled)
				r.sink.buf = nil
			}
		}
		r.at = i + 1
	}
	written := r.parts.Written()
	buf, filled, err := r.parts.Finish()
	if buf != nil {
		r.sink.take(filled)
	}
	if err == nil && written != int64(len(r.sink.all)) {
		panic("Written differs from what came out")
	}
	return r.sink.all, err
}

// encodeParts encodes parts and returns the bytes.
func encodeParts(t testing.TB, o *Options, chunk int, parts ...[]byte) ([]byte, error) {
	t.Helper()
	var r partsRun
	return r.run(o, chunk, parts...)
}

// isSlowPart reports whether a part is more than one member with a minimal length.
func isSlowPart(part []byte) bool {
	var p thriftpackv1.Part
	if proto.Unmarshal(part, &p) != nil {
		return true
	}
	canonical, err := proto.Marshal(&p)
	return err != nil || len(canonical) != len(part)
}

// kindOfElements returns the element type of a List, 0 where it says none.
func kindOfElements(l *thriftpackv1.List) uint8 {
	kind := uint8(l.GetElementType()) // at most 15
	for _, v := range valuesOf(l) {
		kind = kindOf(v)
	}
	return kind
}

// valuesOf returns the elements of a List.
func valuesOf(l *thriftpackv1.List) []*thriftpackv1.Value {
	var values []*thriftpackv1.Value
	for _, v := range l.GetI8S() {
		values = append(values, thriftpackv1.I8Value(int8(v))) // two's complement
	}
	r := l.ProtoReflect()
	if !r.IsValid() {
		return nil
	}
	fields := r.Descriptor().Fields()
	for i := range fields.Len() {
		column := fields.Get(i)
		if !column.IsList() {
			continue
		}
		for j := range r.Get(column).List().Len() {
			v := &thriftpackv1.Value{}
			v.ProtoReflect().Set(v.ProtoReflect().Descriptor().Fields().ByNumber(column.Number()), r.Get(column).List().Get(j))
			values = append(values, v)
		}
	}
	return values
}

// listOf returns a List of values of one kind.
func listOf(kind uint8, values ...*thriftpackv1.Value) *thriftpackv1.List {
	l := &thriftpackv1.List{}
	if len(values) == 0 {
		l.ElementType = thriftpackv1.Type(kind)
	}
	column := l.ProtoReflect().Descriptor().Fields().ByNumber(protowire.Number(kind))
	for _, v := range values {
		if kind == kindI8 {
			l.I8S = append(l.I8S, byte(v.GetI8())) // two's complement
			continue
		}
		from := v.ProtoReflect()
		l.ProtoReflect().Mutable(column).List().Append(from.Get(from.Descriptor().Fields().ByNumber(protowire.Number(kind))))
	}
	return l
}
