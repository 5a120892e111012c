package apachevalue

import (
	"context"

	"github.com/apache/thrift/lib/go/thrift"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// Read reads a struct from an Apache protocol without knowing its type. Apache's readers cannot tell string from binary,
// so all are binary.
func Read(ctx context.Context, p thrift.TProtocol) (*thriftpackv1.Struct, error) {
	if _, err := p.ReadStructBegin(ctx); err != nil {
		return nil, err
	}
	s := new(thriftpackv1.Struct)
	for {
		_, t, id, err := p.ReadFieldBegin(ctx)
		if err != nil {
			return nil, err
		}
		if t == thrift.STOP {
			return s, p.ReadStructEnd(ctx)
		}
		f := &thriftpackv1.Field{Id: int32(id)}
		if err := readField(ctx, p, t, f); err != nil {
			return nil, err
		}
		if err := p.ReadFieldEnd(ctx); err != nil {
			return nil, err
		}
		s.Fields = append(s.Fields, f)
	}
}

func readField(ctx context.Context, p thrift.TProtocol, t thrift.TType, f *thriftpackv1.Field) error {
	switch t {
	case thrift.BOOL:
		v, err := p.ReadBool(ctx)
		f.Kind = &thriftpackv1.Field_Bool{Bool: v}
		return err
	case thrift.BYTE:
		v, err := p.ReadByte(ctx)
		f.Kind = &thriftpackv1.Field_I8{I8: int32(v)}
		return err
	case thrift.I16:
		v, err := p.ReadI16(ctx)
		f.Kind = &thriftpackv1.Field_I16{I16: int32(v)}
		return err
	case thrift.I32:
		v, err := p.ReadI32(ctx)
		f.Kind = &thriftpackv1.Field_I32{I32: v}
		return err
	case thrift.I64:
		v, err := p.ReadI64(ctx)
		f.Kind = &thriftpackv1.Field_I64{I64: v}
		return err
	case thrift.DOUBLE:
		v, err := p.ReadDouble(ctx)
		f.Kind = &thriftpackv1.Field_Double{Double: v}
		return err
	case thrift.STRING:
		v, err := p.ReadBinary(ctx)
		f.Kind = &thriftpackv1.Field_Binary{Binary: v}
		return err
	case thrift.LIST:
		v, err := readList(ctx, p)
		f.Kind = &thriftpackv1.Field_List{List: v}
		return err
	case thrift.MAP:
		v, err := readMap(ctx, p)
		f.Kind = &thriftpackv1.Field_Map{Map: v}
		return err
	case thrift.STRUCT:
		v, err := Read(ctx, p)
		f.Kind = &thriftpackv1.Field_Struct{Struct: v}
		return err
	}
	return errKind
}

func readList(ctx context.Context, p thrift.TProtocol) (*thriftpackv1.List, error) {
	t, n, err := p.ReadListBegin(ctx)
	if err != nil {
		return nil, err
	}
	l := new(thriftpackv1.List)
	for range n {
		if err := readElement(ctx, p, l, t, n); err != nil {
			return nil, err
		}
	}
	return l, p.ReadListEnd(ctx)
}

func readMap(ctx context.Context, p thrift.TProtocol) (*thriftpackv1.Map, error) {
	keyType, valueType, n, err := p.ReadMapBegin(ctx)
	if err != nil {
		return nil, err
	}
	m := &thriftpackv1.Map{Keys: new(thriftpackv1.List), Values: new(thriftpackv1.List)}
	for range n {
		if err := readElement(ctx, p, m.Keys, keyType, n); err != nil {
			return nil, err
		}
		if err := readElement(ctx, p, m.Values, valueType, n); err != nil {
			return nil, err
		}
	}
	return m, p.ReadMapEnd(ctx)
}

// readElement appends one element to the column of its type, which is made for n of them.
func readElement(ctx context.Context, p thrift.TProtocol, l *thriftpackv1.List, t thrift.TType, n int) error {
	switch t {
	case thrift.I32:
		return appendElement(ctx, &l.I32S, n, p.ReadI32)
	case thrift.I64:
		return appendElement(ctx, &l.I64S, n, p.ReadI64)
	case thrift.DOUBLE:
		return appendElement(ctx, &l.Doubles, n, p.ReadDouble)
	case thrift.STRING:
		return appendElement(ctx, &l.Binaries, n, p.ReadBinary)
	case thrift.STRUCT:
		return appendElement(ctx, &l.Structs, n, func(ctx context.Context) (*thriftpackv1.Struct, error) { return Read(ctx, p) })
	}
	return errKind
}

func appendElement[T any](ctx context.Context, elements *[]T, n int, read func(context.Context) (T, error)) error {
	if *elements == nil {
		*elements = make([]T, 0, n)
	}
	v, err := read(ctx)
	*elements = append(*elements, v)
	return err
}
