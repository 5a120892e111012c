package conform_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/conform"
)

// maker makes random values of types, and a bit wrong.
type maker struct {
	*rand.Rand
	wrong float64 // how likely it is that something is wrong, at each place
	types types
}

func (m *maker) chance() bool { return m.Float64() < m.wrong }

// value returns a member of a Value for the type.
func (m *maker) value(t *schema.Type, depth int) *thriftpackv1.Value {
	if m.chance() {
		t = m.scalar()
		if m.IntN(3) == 0 {
			t = &schema.Type{Kind: thriftpackv1.Type(9 + m.IntN(2)), Elem: t}
		}
	}
	return m.ofKind(t, depth)
}

// ofKind is value of the right kind, but perhaps wrong inside.
func (m *maker) ofKind(t *schema.Type, depth int) *thriftpackv1.Value {
	switch t.Kind {
	case thriftpackv1.Type_TYPE_BOOL:
		return thriftpackv1.BoolValue(m.IntN(2) == 0)
	case thriftpackv1.Type_TYPE_I8:
		return thriftpackv1.I8Value(int8(m.IntN(4)))
	case thriftpackv1.Type_TYPE_I16:
		return thriftpackv1.I16Value(int16(m.IntN(4)))
	case thriftpackv1.Type_TYPE_I32:
		return thriftpackv1.I32Value(int32(m.Uint32() >> (24 + m.IntN(8))))
	case thriftpackv1.Type_TYPE_I64:
		return thriftpackv1.I64Value(int64(m.Uint64() >> m.IntN(64)))
	case thriftpackv1.Type_TYPE_DOUBLE:
		return thriftpackv1.DoubleValue(float64(m.IntN(4)) / 2)
	case thriftpackv1.Type_TYPE_UUID:
		return thriftpackv1.UUIDValue([16]byte{byte(m.IntN(3))})
	case thriftpackv1.Type_TYPE_STRUCT:
		return &thriftpackv1.Value{Kind: &thriftpackv1.Value_Struct{Struct: m.structure(t.Struct, depth+1)}}
	case thriftpackv1.Type_TYPE_LIST:
		return thriftpackv1.ListValue(m.list(t.Elem, m.IntN(4), depth+1))
	case thriftpackv1.Type_TYPE_SET:
		return thriftpackv1.SetValue(m.list(t.Elem, m.IntN(4), depth+1))
	case thriftpackv1.Type_TYPE_MAP:
		n := m.IntN(4)
		return thriftpackv1.MapValue(thriftpackv1.MapOf(m.list(t.Key, n, depth+1), m.list(t.Elem, n, depth+1)))
	default:
		return thriftpackv1.BinaryValue(m.text())
	}
}

func (m *maker) text() []byte {
	if m.chance() {
		return []byte("\xff\xfe"[:1+m.IntN(2)])
	}
	return []byte("abé\x00x😀"[:m.IntN(2)*m.IntN(5)])
}

func (m *maker) scalar() *schema.Type {
	kinds := []thriftpackv1.Type{2, 3, 4, 5, 6, 7, 8, 13}
	return &schema.Type{Kind: kinds[m.IntN(len(kinds))]}
}

// structure returns a struct with some of the fields of s.
func (m *maker) structure(s *schema.Struct, depth int) *thriftpackv1.Struct {
	out := &thriftpackv1.Struct{}
	if depth > 6 {
		return out
	}
	one := -1
	if s.Union && !m.chance() && len(s.Fields) > 0 {
		one = m.IntN(len(s.Fields))
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		if one >= 0 && i != one || one < 0 && m.IntN(4) == 0 && (f.Requirement != schema.Required || m.chance()) {
			continue
		}
		for again := true; again; again = m.chance() {
			out.Fields = append(out.Fields, m.field(int32(f.ID), m.value(f.Type, depth)))
		}
	}
	for m.chance() {
		t := m.scalar()
		if m.IntN(2) == 0 {
			t = m.types.of(discard{}, []string{"Pair", "All", "Pairs", "ByText"}[m.IntN(4)])
		}
		at := m.IntN(len(out.Fields) + 1)
		out.Fields = slices.Insert(out.Fields, at, m.field(int32(m.IntN(40)-3), m.value(t, depth+2)))
	}
	if m.chance() {
		m.Shuffle(len(out.Fields), func(i, j int) { out.Fields[i], out.Fields[j] = out.Fields[j], out.Fields[i] })
	}
	return out
}

// discard is a testing.TB for what cannot fail.
type discard struct{ testing.TB }

func (discard) Helper() {}

// field makes a Field of a Value.
func (m *maker) field(id int32, v *thriftpackv1.Value) *thriftpackv1.Field {
	f := &thriftpackv1.Field{Id: id}
	from, to := v.ProtoReflect(), f.ProtoReflect()
	member := from.WhichOneof(from.Descriptor().Oneofs().Get(0))
	to.Set(to.Descriptor().Fields().ByNumber(member.Number()), from.Get(member))
	return f
}

// list returns n elements of the type.
func (m *maker) list(t *schema.Type, n, depth int) *thriftpackv1.List {
	if m.chance() {
		t = m.scalar()
	}
	l := &thriftpackv1.List{ElementType: t.Kind}
	if t.Kind == thriftpackv1.Type_TYPE_STRING {
		l.ElementType = thriftpackv1.Type_TYPE_BINARY
	}
	for range n {
		from := m.ofKind(t, depth).ProtoReflect()
		member := from.WhichOneof(from.Descriptor().Oneofs().Get(0))
		to := l.ProtoReflect()
		column := to.Descriptor().Fields().ByNumber(member.Number())
		if column.Name() == "i8s" {
			l.I8S = append(l.I8S, byte(from.Get(member).Int()))
			continue
		}
		to.Mutable(column).List().Append(from.Get(member))
	}
	return l
}

// tally counts what the cases of a test came to, so that none is missing.
type tally map[string]int

// TestRandomValues holds the check of random values, right and wrong ones, against the same rules over trees.
func TestRandomValues(t *testing.T) {
	s, seen, r := newTypes(t), tally{}, reader{}
	for seed := range uint64(2400) {
		checkRandom(t, s, &r, seed, seen)
		if t.Failed() {
			return
		}
	}
	for _, name := range []string{
		"", string(fault.TypeMismatch), string(fault.BadUTF8), string(fault.DuplicateField), string(fault.DuplicateKey),
		string(fault.DuplicateElement), string(fault.MissingField), string(fault.UnionArity),
	} {
		if seen[name] < 10 {
			t.Errorf("%d cases came to %q: %v", seen[name], name, seen)
		}
	}
	t.Log(seen)
}

func FuzzRandomValues(f *testing.F) {
	s, r := newTypes(f), reader{}
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { checkRandom(t, s, &r, seed, tally{}) })
}

// checkRandom makes a value from the seed, and checks it in every way.
func checkRandom(t *testing.T, s types, r *reader, seed uint64, seen tally) {
	t.Helper()
	m := &maker{rand.New(rand.NewPCG(seed, 1)), []float64{0, 0.003, 0.02, 0.1}[seed%4], s}
	typ := s.of(t, []string{"All", "Node", "Pairs", "Either", "ByText", "Must"}[seed/4%6])
	var e encoder.Encoder
	data, err := e.Append(nil, wire(t, m.ofKind(typ, 0)), &encoder.Options{Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	var d decoder.Decoder
	if _, err := d.Prepare(data, &decoder.Options{
		Root: thriftpackv1.Type(conform.RootKind(typ)), Limits: decoder.Limits{Depth: 64, Elements: most, StringBytes: most, Nodes: most},
	}); err != nil {
		t.Fatal(err)
	}
	value := d.Append(nil)
	for mode := range 8 {
		p := plain{lenient: mode&1 != 0, keep: mode&2 != 0, json: mode&4 != 0}
		want, reason := p.tryCheck(typ, treeOf(t, value))
		got, err := r.checker.Decoded(slices.Clone(value), typ, &conform.DecodeOptions{
			Lenient: p.lenient, KeepUnknown: p.keep, JSON: p.json, MaxUnknown: most, Source: &d,
		})
		seen[string(reason)]++
		if reason != "" || err != nil {
			var fault *fault.Error
			switch {
			case reason == "":
				t.Fatalf("seed %d, %+v: %v, want\n%v", seed, p, err, want)
			case !errors.As(err, &fault):
				t.Fatalf("seed %d, %+v: no fault, want %s", seed, p, reason)
			case fault.Offset < 0 || fault.Offset >= int64(len(data)) || fault.Path == "":
				t.Fatalf("seed %d, %+v: %v: offset %d of %d", seed, p, err, fault.Offset, len(data))
			}
			continue
		}
		tree := treeOf(t, got)
		wanted := want
		if p.json {
			tree, wanted = tree.untyped(), want.untyped()
		}
		if !same(tree, wanted) {
			t.Fatalf("seed %d, %+v:\n got %v\nwant %v", seed, p, tree, wanted)
		}
		if listed, count := r.checker.Unknown(); count != p.dropped || len(listed) != count {
			t.Fatalf("seed %d, %+v: %d unknown fields, %d listed, want %d", seed, p, count, len(listed), p.dropped)
		}
		if !p.lenient && !p.keep {
			checkEncodes(t, r, typ, got, want)
		}
	}
}

// checkEncodes checks a value that conforms as one to be encoded: it does so, also where its members come in another order. The types of its
// empty containers are supplied where they are not there.
func checkEncodes(t *testing.T, r *reader, typ *schema.Type, value []byte, want node) {
	t.Helper()
	value = slices.Clone(value)
	reversed := reverse(thriftpackv1.File_thriftpack_v1_value_proto.Messages().ByName("Value"), value)
	for _, given := range [][]byte{value, reversed} {
		got, err := r.checker.Encode(given, typ, &conform.EncodeOptions{Limits: limits})
		if err != nil {
			t.Fatalf("%x: %v", given, err)
		}
		if len(got) == len(given) && !bytes.Equal(got, given) {
			t.Fatalf("%x became %x", given, got)
		}
		var v thriftpackv1.Value
		if err := proto.Unmarshal(got, &v); err != nil {
			t.Fatal(err)
		}
		if tree := nodeOf(v.ProtoReflect()); !same(tree, want) {
			t.Fatalf("encode %x:\n got %v\nwant %v", given, tree, want)
		}
	}
}

// reverse returns a message with its members in the reverse order of their numbers, at every depth. Repeated ones keep theirs.
func reverse(d protoreflect.MessageDescriptor, message []byte) []byte {
	members := map[protowire.Number][]byte{}
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if member := d.Fields().ByNumber(number); member.Message() != nil {
			inner, m := protowire.ConsumeBytes(message[n:])
			members[number] = protowire.AppendTag(members[number], number, kind)
			members[number] = protowire.AppendBytes(members[number], reverse(member.Message(), inner))
			message = message[n+m:]
			continue
		}
		n += protowire.ConsumeFieldValue(number, kind, message[n:])
		members[number] = append(members[number], message[:n]...)
		message = message[n:]
	}
	var out []byte
	for number := protowire.Number(15); number > 0; number-- {
		out = append(out, members[number]...)
	}
	return out
}

// tryCheck is check with the reason instead of a panic.
func (p *plain) tryCheck(t *schema.Type, n node) (checked node, reason fault.Reason) {
	defer func() {
		if r := recover(); r != nil {
			wrong, ok := r.(reasonError)
			if !ok {
				panic(r)
			}
			reason = fault.Reason(wrong)
		}
	}()
	return p.check(t, n), ""
}
