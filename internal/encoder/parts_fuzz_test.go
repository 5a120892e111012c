package encoder_test

import (
	"bytes"
	"errors"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
)

// FuzzParts shows that no parts make the encoder panic, and that what it accepts is whole: the decoder reads it to its end, root
// by root, and parts that protobuf has read and written again give the same bytes.
func FuzzParts(f *testing.F) {
	list := func(element thriftpackv1.Type, size int64) *thriftpackv1.Begin {
		return &thriftpackv1.Begin{Type: thriftpackv1.Type_TYPE_LIST, ElementType: element, Size: size}
	}
	end := &thriftpackv1.Part{Part: &thriftpackv1.Part_End{End: &thriftpackv1.End{}}}
	f.Add(joined(f,
		begin(&thriftpackv1.Begin{Type: thriftpackv1.Type_TYPE_STRUCT}), fields(thriftpackv1.I32Field(1, 5), thriftpackv1.StringField(-9, "é")),
		begin(&thriftpackv1.Begin{
			Type: thriftpackv1.Type_TYPE_MAP, FieldId: 3, KeyType: thriftpackv1.Type_TYPE_STRING, ElementType: thriftpackv1.Type_TYPE_LIST, Size: 2,
		}),
		entries(thriftpackv1.StringList("a"), thriftpackv1.ListList(thriftpackv1.I8List(1))),
		begin(&thriftpackv1.Begin{Type: thriftpackv1.Type_TYPE_LIST, Key: thriftpackv1.StringValue("b"), ElementType: thriftpackv1.Type_TYPE_I64, Size: 2}),
		elements(thriftpackv1.I64List(1, -1)), end, end, end,
	), false, true)
	f.Add(joined(f,
		begin(&thriftpackv1.Begin{Type: thriftpackv1.Type_TYPE_STRING, Size: 3}), data("\xe2"), data("\x82\xac"), end,
		elements(thriftpackv1.BoolList(true)), elements(thriftpackv1.UUIDList([16]byte{})),
		begin(list(thriftpackv1.Type_TYPE_STRUCT, 2)), begin(&thriftpackv1.Begin{Type: thriftpackv1.Type_TYPE_STRUCT}), end,
		elements(thriftpackv1.StructList(thriftpackv1.StructOf(thriftpackv1.BoolField(300, false)))), end,
	), true, false)
	f.Add(joined(f, begin(list(thriftpackv1.Type_TYPE_BINARY, 1<<31-1)), elements(thriftpackv1.BinaryList(nil))), false, false)
	// Members that protobuf merges, and a run in two parts.
	f.Add([]byte("\x06\x0a\x02\x08\x0c\x32\x00\x0a\x0a\x00\x0a\x06\x08\x09\x20\x06\x30\x02\x0a\x1a\x03\x32\x01\x02\x1a\x03\x32\x01\x04\x02\x32\x00"), false, false)
	f.Fuzz(func(t *testing.T, stream []byte, binary, message bool) {
		o := &encoder.Options{Limits: encoder.Limits{Depth: 32, SlowNodes: 500}}
		read := decoder.Options{
			Message: message, AllowTrailing: true, Root: thriftpackv1.Type_TYPE_STRUCT,
			Limits: decoder.Limits{Depth: 32, Elements: 1 << 30, StringBytes: 1 << 30, Nodes: 1 << 30},
		}
		if binary {
			o.Protocol, read.Protocol = encoder.Binary, decoder.Binary
		}
		if message {
			o.Message = &encoder.Message{Name: "name", Type: 1, SeqID: -1}
		}
		var parts, again [][]byte
		for len(stream) > 0 {
			part, n := protowire.ConsumeBytes(stream)
			if n < 0 {
				break
			}
			parts, stream = append(parts, part), stream[n:]
		}
		got, err := encode(t, o, parts)
		if err != nil {
			var known *fault.Error
			if !errors.As(err, &known) || known.Reason == fault.Internal || known.Detail == "" {
				t.Errorf("encode(%x): %v", parts, err)
			}
			return
		}
		var roots []thriftpackv1.Type
		depth := 0
		for _, part := range parts {
			var p thriftpackv1.Part
			if err := proto.Unmarshal(part, &p); err != nil {
				t.Fatalf("%x was accepted, but protobuf says %v", part, err)
			}
			switch kind := p.GetPart().(type) {
			case *thriftpackv1.Part_Begin:
				if depth++; depth == 1 {
					roots = append(roots, kind.Begin.GetType())
				}
			case *thriftpackv1.Part_End:
				depth--
			case *thriftpackv1.Part_Elements:
				if depth == 0 {
					roots = append(roots, typeOf(kind.Elements))
				}
			}
			canonical, err := proto.MarshalOptions{Deterministic: true}.Marshal(&p)
			if err != nil {
				t.Fatal(err)
			}
			again = append(again, canonical)
		}
		if same, err := encode(t, o, again); err != nil || !bytes.Equal(same, got) {
			t.Errorf("encode(%x) = %x, but as protobuf writes it %x, %v", parts, got, same, err)
		}
		var d decoder.Decoder
		for i, rest := 0, got; i < len(roots) || len(rest) > 0; i++ {
			if i == len(roots) {
				t.Fatalf("encode(%x) = %x: %d bytes after the last root", parts, got, len(rest))
			}
			read.Root = roots[i]
			info, err := d.Prepare(rest, &read)
			if err != nil {
				t.Fatalf("encode(%x) = %x: the decoder says %v", parts, got, err)
			}
			rest = rest[info.BytesRead:]
			d.Release()
		}
	})
}

// encode writes parts through small buffers.
func encode(t *testing.T, o *encoder.Options, parts [][]byte) ([]byte, error) {
	t.Helper()
	var p encoder.Parts
	var s sink
	if err := p.Start(o, &s); err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		if p.Write(part) != nil {
			break
		}
	}
	_, filled, err := p.Finish()
	s.take(t, filled)
	return s.all, err
}

// sink lends buffers of 512 bytes.
type sink struct{ buf, all []byte }

func (s *sink) Next(filled int) ([]byte, error) {
	s.all = append(s.all, s.buf[:filled]...)
	s.buf = make([]byte, 512)
	return s.buf, nil
}

// take takes the last buffer, which holds nothing behind what was filled.
func (s *sink) take(t *testing.T, filled int) {
	t.Helper()
	s.all = append(s.all, s.buf[:filled]...)
	if len(bytes.Trim(s.buf[filled:], "\x00")) > 0 {
		t.Errorf("bytes behind those that were filled")
	}
}

// typeOf returns the type of the elements of a List.
func typeOf(l *thriftpackv1.List) thriftpackv1.Type {
	if len(l.GetI8S()) > 0 {
		return thriftpackv1.Type_TYPE_I8
	}
	columns := l.ProtoReflect().Descriptor().Fields()
	for i := range columns.Len() {
		if column := columns.Get(i); column.IsList() && l.ProtoReflect().Get(column).List().Len() > 0 {
			return thriftpackv1.Type(column.Number())
		}
	}
	return thriftpackv1.Type_TYPE_UNSPECIFIED
}

// joined returns parts as the fuzzer keeps them: each after its length.
func joined(f *testing.F, parts ...*thriftpackv1.Part) []byte {
	f.Helper()
	var b []byte
	for _, part := range parts {
		wire, err := proto.Marshal(part)
		if err != nil {
			f.Fatal(err)
		}
		b = protowire.AppendBytes(b, wire)
	}
	return b
}

func begin(b *thriftpackv1.Begin) *thriftpackv1.Part {
	return &thriftpackv1.Part{Part: &thriftpackv1.Part_Begin{Begin: b}}
}

func fields(f ...*thriftpackv1.Field) *thriftpackv1.Part {
	return &thriftpackv1.Part{Part: &thriftpackv1.Part_Fields{Fields: thriftpackv1.StructOf(f...)}}
}

func elements(l *thriftpackv1.List) *thriftpackv1.Part {
	return &thriftpackv1.Part{Part: &thriftpackv1.Part_Elements{Elements: l}}
}

func entries(keys, values *thriftpackv1.List) *thriftpackv1.Part {
	return &thriftpackv1.Part{Part: &thriftpackv1.Part_Entries{Entries: thriftpackv1.MapOf(keys, values)}}
}

func data(s string) *thriftpackv1.Part {
	return &thriftpackv1.Part{Part: &thriftpackv1.Part_Data{Data: []byte(s)}}
}
