package oracle

import (
	"bytes"
	"context"
	"fmt"
	"math"

	"github.com/apache/thrift/lib/go/thrift"
	"google.golang.org/protobuf/reflect/protoreflect"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// Protocol is one of Apache's protocols.
type Protocol int

// The protocols under test.
const (
	Compact Protocol = iota
	Binary
)

// Protocols are all of them.
var Protocols = []Protocol{Compact, Binary}

// String names the protocol.
func (p Protocol) String() string { return [...]string{"compact", "binary"}[p] }

// Message is the envelope of a Thrift RPC message.
type Message struct {
	Name  string
	Type  int32
	SeqID int32
}

// open returns Apache's protocol over a transport, with a strict envelope in the binary one.
func (p Protocol) open(transport thrift.TTransport) thrift.TProtocol {
	strict := true
	config := &thrift.TConfiguration{
		MaxMessageSize: math.MaxInt32, MaxFrameSize: math.MaxInt32,
		TBinaryStrictRead: &strict, TBinaryStrictWrite: &strict,
	}
	if p == Binary {
		return thrift.NewTBinaryProtocolConf(transport, config)
	}
	return thrift.NewTCompactProtocolConf(transport, config)
}

// code is Apache's number of a type.
func code(t thriftpackv1.Type) thrift.TType {
	switch t {
	case typeBool:
		return thrift.BOOL
	case typeI8:
		return thrift.BYTE
	case typeI16:
		return thrift.I16
	case typeI32:
		return thrift.I32
	case typeI64:
		return thrift.I64
	case typeDouble:
		return thrift.DOUBLE
	case typeBinary, typeString:
		return thrift.STRING
	case typeList:
		return thrift.LIST
	case typeSet:
		return thrift.SET
	case typeMap:
		return thrift.MAP
	case typeStruct:
		return thrift.STRUCT
	case typeUUID:
		return thrift.UUID
	case thriftpackv1.Type_TYPE_UNSPECIFIED:
	}
	return thrift.STOP
}

// typeOf is the type of Apache's number, 0 where it has none. The wire cannot tell string from binary.
func typeOf(t thrift.TType) thriftpackv1.Type {
	for _, candidate := range Types {
		if code(candidate) == t {
			return candidate
		}
	}
	return 0
}

// Encode returns what Apache's writer makes of the value; m may be nil.
func Encode(v *thriftpackv1.Value, protocol Protocol, m *Message) ([]byte, error) {
	ctx := context.Background()
	transport := thrift.NewTMemoryBuffer()
	p := protocol.open(transport)
	if m != nil {
		if err := p.WriteMessageBegin(ctx, m.Name, thrift.TMessageType(m.Type), m.SeqID); err != nil {
			return nil, err
		}
	}
	t, payload := Kind(v.ProtoReflect())
	if err := write(ctx, p, t, payload); err != nil {
		return nil, err
	}
	if err := p.Flush(ctx); err != nil {
		return nil, err
	}
	return transport.Bytes(), nil
}

// steps runs calls until one fails.
func steps(calls ...func() error) error {
	for _, call := range calls {
		if err := call(); err != nil {
			return err
		}
	}
	return nil
}

func write(ctx context.Context, p thrift.TProtocol, t thriftpackv1.Type, v protoreflect.Value) error {
	switch t {
	case typeBool:
		return p.WriteBool(ctx, v.Bool())
	case typeI8:
		return p.WriteByte(ctx, int8(v.Int())) //nolint:gosec // values of the oracle are in range
	case typeI16:
		return p.WriteI16(ctx, int16(v.Int())) //nolint:gosec // as above
	case typeI32:
		return p.WriteI32(ctx, int32(v.Int())) //nolint:gosec // as above
	case typeI64:
		return p.WriteI64(ctx, v.Int())
	case typeDouble:
		return p.WriteDouble(ctx, v.Float())
	case typeBinary:
		return p.WriteBinary(ctx, v.Bytes())
	case typeString:
		return p.WriteString(ctx, v.String())
	case typeUUID:
		return p.WriteUUID(ctx, thrift.Tuuid(v.Bytes()))
	case typeList:
		return writeList(ctx, p, listOf(v), p.WriteListBegin, p.WriteListEnd)
	case typeSet:
		return writeList(ctx, p, listOf(v), p.WriteSetBegin, p.WriteSetEnd)
	case typeMap:
		return writeMap(ctx, p, mapOf(v))
	case typeStruct:
		return writeStruct(ctx, p, structOf(v))
	case thriftpackv1.Type_TYPE_UNSPECIFIED:
	}
	return unknownType(t)
}

func writeList(ctx context.Context, p thrift.TProtocol, list *thriftpackv1.List,
	begin func(context.Context, thrift.TType, int) error, end func(context.Context) error,
) error {
	t, values := Elements(list)
	if err := begin(ctx, code(t), len(values)); err != nil {
		return err
	}
	for _, v := range values {
		if err := write(ctx, p, t, v); err != nil {
			return err
		}
	}
	return end(ctx)
}

func writeMap(ctx context.Context, p thrift.TProtocol, m *thriftpackv1.Map) error {
	keyType, keys := Elements(m.GetKeys())
	valueType, values := Elements(m.GetValues())
	if err := p.WriteMapBegin(ctx, code(keyType), code(valueType), len(keys)); err != nil {
		return err
	}
	for i, key := range keys {
		if err := write(ctx, p, keyType, key); err != nil {
			return err
		}
		if err := write(ctx, p, valueType, values[i]); err != nil {
			return err
		}
	}
	return p.WriteMapEnd(ctx)
}

func writeStruct(ctx context.Context, p thrift.TProtocol, s *thriftpackv1.Struct) error {
	if err := p.WriteStructBegin(ctx, ""); err != nil {
		return err
	}
	for _, field := range s.GetFields() {
		t, v := Kind(field.ProtoReflect())
		err := steps(
			func() error { return p.WriteFieldBegin(ctx, "", code(t), int16(field.GetId())) }, //nolint:gosec // in range
			func() error { return write(ctx, p, t, v) },
			func() error { return p.WriteFieldEnd(ctx) },
		)
		if err != nil {
			return err
		}
	}
	return steps(
		func() error { return p.WriteFieldStop(ctx) },
		func() error { return p.WriteStructEnd(ctx) },
	)
}

// maxDepth ends the reading of inputs that nest without end.
const maxDepth = 64

// Reading is what Apache's reader made of some bytes.
type Reading struct {
	// Value is what it read, in canonical form.
	Value *thriftpackv1.Value
	// Message is the envelope, where one was asked for.
	Message Message
	// BytesRead is how many bytes it read.
	BytesRead int
	// Wrapped says that a number had more bits than its type, and that the reader cut it.
	Wrapped bool
	// Unnamed says that an empty container named a type that does not exist, which Apache's binary reader does not look at.
	Unnamed bool
}

// Decode reads a struct with Apache's reader, after an envelope where message is set. Nothing is checked that Apache does not
// check, but for the depth.
func Decode(data []byte, protocol Protocol, message bool) (*Reading, error) {
	ctx := context.Background()
	transport := &thrift.TMemoryBuffer{Buffer: bytes.NewBuffer(data)}
	watch := &watcher{TProtocol: protocol.open(transport), data: data, buffer: transport.Buffer}
	r := reader{TProtocol: watch}
	if protocol == Binary {
		r.TProtocol = watch.TProtocol // numbers have fixed sizes there
	}
	out := new(Reading)
	if message {
		name, messageType, seqID, err := r.ReadMessageBegin(ctx)
		if err != nil {
			return nil, err
		}
		out.Message = Message{Name: name, Type: int32(messageType), SeqID: seqID}
	}
	s, err := r.structure(ctx, 1)
	if err != nil {
		return nil, err
	}
	out.Value = thriftpackv1.StructValue(s.GetFields()...)
	out.BytesRead, out.Wrapped, out.Unnamed = len(data)-transport.Len(), watch.wrapped, r.unnamed
	return out, nil
}

// reader walks a value without a schema.
type reader struct {
	thrift.TProtocol
	unnamed bool
}

// typeOf is package oracle's type of Apache's number, in a container of size elements.
func (r *reader) typeOf(t thrift.TType, size int) thriftpackv1.Type {
	known := typeOf(t)
	if known == 0 && t != thrift.STOP && size == 0 {
		r.unnamed = true
	}
	return known
}

func (r *reader) value(ctx context.Context, t thriftpackv1.Type, depth int) (protoreflect.Value, error) {
	switch t {
	case typeBool:
		v, err := r.ReadBool(ctx)
		return protoreflect.ValueOfBool(v), err
	case typeI8:
		v, err := r.ReadByte(ctx)
		return protoreflect.ValueOfInt32(int32(v)), err
	case typeI16:
		v, err := r.ReadI16(ctx)
		return protoreflect.ValueOfInt32(int32(v)), err
	case typeI32:
		v, err := r.ReadI32(ctx)
		return protoreflect.ValueOfInt32(v), err
	case typeI64:
		v, err := r.ReadI64(ctx)
		return protoreflect.ValueOfInt64(v), err
	case typeDouble:
		v, err := r.ReadDouble(ctx)
		return protoreflect.ValueOfFloat64(v), err
	case typeBinary, typeString:
		v, err := r.ReadBinary(ctx)
		return protoreflect.ValueOfBytes(v), err
	case typeUUID:
		v, err := r.ReadUUID(ctx)
		return protoreflect.ValueOfBytes(v[:]), err
	case typeList:
		return r.list(ctx, r.ReadListBegin, r.ReadListEnd, depth)
	case typeSet:
		return r.list(ctx, r.ReadSetBegin, r.ReadSetEnd, depth)
	case typeMap:
		return r.entries(ctx, depth)
	case typeStruct:
		s, err := r.structure(ctx, depth)
		return protoreflect.ValueOfMessage(s.ProtoReflect()), err
	case thriftpackv1.Type_TYPE_UNSPECIFIED:
	}
	return protoreflect.Value{}, unknownType(t)
}

func (r *reader) list(ctx context.Context,
	begin func(context.Context) (thrift.TType, int, error), end func(context.Context) error, depth int,
) (protoreflect.Value, error) {
	if depth > maxDepth {
		return protoreflect.Value{}, errDepth
	}
	apacheType, size, err := begin(ctx)
	if err != nil {
		return protoreflect.Value{}, err
	}
	t := r.typeOf(apacheType, size)
	var values []protoreflect.Value
	for range size {
		v, err := r.value(ctx, t, depth+1)
		if err != nil {
			return protoreflect.Value{}, err
		}
		values = append(values, v)
	}
	return protoreflect.ValueOfMessage(newList(t, values).ProtoReflect()), end(ctx)
}

func (r *reader) entries(ctx context.Context, depth int) (protoreflect.Value, error) {
	if depth > maxDepth {
		return protoreflect.Value{}, errDepth
	}
	apacheKey, apacheValue, size, err := r.ReadMapBegin(ctx)
	if err != nil {
		return protoreflect.Value{}, err
	}
	keyType, valueType := r.typeOf(apacheKey, size), r.typeOf(apacheValue, size)
	var keys, values []protoreflect.Value
	for range size {
		key, err := r.value(ctx, keyType, depth+1)
		if err != nil {
			return protoreflect.Value{}, err
		}
		value, err := r.value(ctx, valueType, depth+1)
		if err != nil {
			return protoreflect.Value{}, err
		}
		keys, values = append(keys, key), append(values, value)
	}
	m := new(thriftpackv1.Map)
	if size > 0 {
		m.Keys, m.Values = newList(keyType, keys), newList(valueType, values)
	}
	return protoreflect.ValueOfMessage(m.ProtoReflect()), r.ReadMapEnd(ctx)
}

func (r *reader) structure(ctx context.Context, depth int) (*thriftpackv1.Struct, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	if _, err := r.ReadStructBegin(ctx); err != nil {
		return nil, err
	}
	s := new(thriftpackv1.Struct)
	for {
		_, apacheType, id, err := r.ReadFieldBegin(ctx)
		if err != nil {
			return nil, err
		}
		if apacheType == thrift.STOP {
			return s, r.ReadStructEnd(ctx)
		}
		t := typeOf(apacheType)
		v, err := r.value(ctx, t, depth+1)
		if err != nil {
			return nil, fmt.Errorf("field %d: %w", id, err)
		}
		field := &thriftpackv1.Field{Id: int32(id)}
		setKind(field.ProtoReflect(), t, v)
		s.Fields = append(s.Fields, field)
		if err := r.ReadFieldEnd(ctx); err != nil {
			return nil, err
		}
	}
}
