// Package apachevalue drives Apache Thrift's protocols with the messages of the API: what a service does that has
// generated stubs and Apache's library, and nothing of ours. It is written for speed, unlike the oracle of the tests.
package apachevalue

import (
	"context"
	"errors"

	"github.com/apache/thrift/lib/go/thrift"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// errKind is returned for a value without a kind or a list without an element type.
var errKind = errors.New("apachevalue: no kind")

// Write writes a struct to an Apache protocol.
func Write(ctx context.Context, p thrift.TProtocol, s *thriftpackv1.Struct) error {
	if err := p.WriteStructBegin(ctx, ""); err != nil {
		return err
	}
	for _, f := range s.GetFields() {
		if err := writeField(ctx, p, f); err != nil {
			return err
		}
	}
	return errors.Join(p.WriteFieldStop(ctx), p.WriteStructEnd(ctx))
}

func writeField(ctx context.Context, p thrift.TProtocol, f *thriftpackv1.Field) error {
	begin := func(t thrift.TType) error {
		return p.WriteFieldBegin(ctx, "", t, int16(f.GetId())) //nolint:gosec // the ids of the fixtures are small
	}
	var err error
	switch kind := f.GetKind().(type) {
	case *thriftpackv1.Field_Bool:
		if err = begin(thrift.BOOL); err == nil {
			err = p.WriteBool(ctx, kind.Bool)
		}
	case *thriftpackv1.Field_I8:
		if err = begin(thrift.BYTE); err == nil {
			err = p.WriteByte(ctx, int8(kind.I8)) //nolint:gosec // as above
		}
	case *thriftpackv1.Field_I16:
		if err = begin(thrift.I16); err == nil {
			err = p.WriteI16(ctx, int16(kind.I16)) //nolint:gosec // as above
		}
	case *thriftpackv1.Field_I32:
		if err = begin(thrift.I32); err == nil {
			err = p.WriteI32(ctx, kind.I32)
		}
	case *thriftpackv1.Field_I64:
		if err = begin(thrift.I64); err == nil {
			err = p.WriteI64(ctx, kind.I64)
		}
	case *thriftpackv1.Field_Double:
		if err = begin(thrift.DOUBLE); err == nil {
			err = p.WriteDouble(ctx, kind.Double)
		}
	case *thriftpackv1.Field_Binary:
		if err = begin(thrift.STRING); err == nil {
			err = p.WriteBinary(ctx, kind.Binary)
		}
	case *thriftpackv1.Field_String_:
		if err = begin(thrift.STRING); err == nil {
			err = p.WriteString(ctx, kind.String_)
		}
	case *thriftpackv1.Field_List:
		if err = begin(thrift.LIST); err == nil {
			err = writeList(ctx, p, kind.List)
		}
	case *thriftpackv1.Field_Set:
		if err = begin(thrift.SET); err == nil {
			err = writeList(ctx, p, kind.Set)
		}
	case *thriftpackv1.Field_Map:
		if err = begin(thrift.MAP); err == nil {
			err = writeMap(ctx, p, kind.Map)
		}
	case *thriftpackv1.Field_Struct:
		if err = begin(thrift.STRUCT); err == nil {
			err = Write(ctx, p, kind.Struct)
		}
	default:
		err = errKind
	}
	if err != nil {
		return err
	}
	return p.WriteFieldEnd(ctx)
}

// writeList writes a list; a set has the same bytes.
func writeList(ctx context.Context, p thrift.TProtocol, l *thriftpackv1.List) error {
	t, n := column(l)
	if err := p.WriteListBegin(ctx, t, n); err != nil {
		return err
	}
	for i := range n {
		if err := writeElement(ctx, p, l, t, i); err != nil {
			return err
		}
	}
	return p.WriteListEnd(ctx)
}

func writeMap(ctx context.Context, p thrift.TProtocol, m *thriftpackv1.Map) error {
	keyType, n := column(m.GetKeys())
	valueType, _ := column(m.GetValues())
	if err := p.WriteMapBegin(ctx, keyType, valueType, n); err != nil {
		return err
	}
	for i := range n {
		if err := writeElement(ctx, p, m.GetKeys(), keyType, i); err != nil {
			return err
		}
		if err := writeElement(ctx, p, m.GetValues(), valueType, i); err != nil {
			return err
		}
	}
	return p.WriteMapEnd(ctx)
}

// column returns Apache's type and the length of the column that has elements, of those that the fixtures use.
func column(l *thriftpackv1.List) (thrift.TType, int) {
	switch {
	case len(l.GetI32S()) > 0:
		return thrift.I32, len(l.I32S)
	case len(l.GetI64S()) > 0:
		return thrift.I64, len(l.I64S)
	case len(l.GetDoubles()) > 0:
		return thrift.DOUBLE, len(l.Doubles)
	case len(l.GetStrings()) > 0:
		return thrift.STRING, len(l.Strings)
	case len(l.GetBinaries()) > 0:
		return thrift.STRING, len(l.Binaries)
	case len(l.GetStructs()) > 0:
		return thrift.STRUCT, len(l.Structs)
	}
	return thrift.STOP, 0
}

func writeElement(ctx context.Context, p thrift.TProtocol, l *thriftpackv1.List, t thrift.TType, i int) error {
	switch t {
	case thrift.I32:
		return p.WriteI32(ctx, l.I32S[i])
	case thrift.I64:
		return p.WriteI64(ctx, l.I64S[i])
	case thrift.DOUBLE:
		return p.WriteDouble(ctx, l.Doubles[i])
	case thrift.STRING:
		if len(l.Binaries) > 0 {
			return p.WriteBinary(ctx, l.Binaries[i])
		}
		return p.WriteString(ctx, l.Strings[i])
	case thrift.STRUCT:
		return Write(ctx, p, l.Structs[i])
	}
	return errKind
}
