package decoder_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// maker makes random values without strings, which decode as binary.
type maker struct {
	*rand.Rand
	left int // how many more values
}

func (m *maker) value(depth int) *thriftpackv1.Value {
	m.left--
	kind := m.IntN(13)
	if depth <= 0 || m.left <= 0 {
		kind = m.IntN(8)
	}
	switch kind {
	case 0:
		return thriftpackv1.BoolValue(m.IntN(2) == 0)
	case 1:
		return thriftpackv1.I8Value(int8(m.Uint32())) // any
	case 2:
		return thriftpackv1.I16Value(int16(m.Uint32() >> m.UintN(32))) // any
	case 3:
		return thriftpackv1.I32Value(int32(m.Uint32() >> m.UintN(32))) // any
	case 4:
		return thriftpackv1.I64Value(int64(m.Uint64() >> m.UintN(64))) // any
	case 5:
		return thriftpackv1.DoubleValue(math.Float64frombits(m.Uint64()))
	case 6:
		return thriftpackv1.BinaryValue(m.bytes())
	case 7:
		return thriftpackv1.UUIDValue([16]byte(bytes.Repeat([]byte{byte(m.IntN(256))}, 16)))
	case 8:
		return thriftpackv1.ListValue(m.list(depth - 1))
	case 9:
		return thriftpackv1.SetValue(m.list(depth - 1))
	case 10:
		n := m.count()
		if n == 0 {
			return thriftpackv1.MapValue(&thriftpackv1.Map{})
		}
		return thriftpackv1.MapValue(thriftpackv1.MapOf(m.column(n, depth-1), m.column(n, depth-1)))
	default:
		s := &thriftpackv1.Struct{}
		for range m.IntN(8) {
			s.Fields = append(s.Fields, m.field(depth-1))
		}
		return &thriftpackv1.Value{Kind: &thriftpackv1.Value_Struct{Struct: s}}
	}
}

func (m *maker) count() int {
	switch m.IntN(8) {
	case 0:
		return 0
	case 1, 2, 3:
		return 1
	case 4:
		return m.IntN(40)
	default:
		return m.IntN(4)
	}
}

func (m *maker) bytes() []byte {
	b := make([]byte, m.IntN(1<<m.IntN(9)))
	for i := range b {
		b[i] = byte(m.Uint32())
	}
	return b
}

func (m *maker) field(depth int) *thriftpackv1.Field {
	id := int16(m.IntN(20)) // small
	if m.IntN(6) == 0 {
		id = int16(m.Uint32()) // any
	}
	f := &thriftpackv1.Field{Id: int32(id)}
	switch k := m.value(depth).GetKind().(type) {
	case *thriftpackv1.Value_Bool:
		f.Kind = &thriftpackv1.Field_Bool{Bool: k.Bool}
	case *thriftpackv1.Value_I8:
		f.Kind = &thriftpackv1.Field_I8{I8: k.I8}
	case *thriftpackv1.Value_I16:
		f.Kind = &thriftpackv1.Field_I16{I16: k.I16}
	case *thriftpackv1.Value_I32:
		f.Kind = &thriftpackv1.Field_I32{I32: k.I32}
	case *thriftpackv1.Value_I64:
		f.Kind = &thriftpackv1.Field_I64{I64: k.I64}
	case *thriftpackv1.Value_Double:
		f.Kind = &thriftpackv1.Field_Double{Double: k.Double}
	case *thriftpackv1.Value_Binary:
		f.Kind = &thriftpackv1.Field_Binary{Binary: k.Binary}
	case *thriftpackv1.Value_Uuid:
		f.Kind = &thriftpackv1.Field_Uuid{Uuid: k.Uuid}
	case *thriftpackv1.Value_List:
		f.Kind = &thriftpackv1.Field_List{List: k.List}
	case *thriftpackv1.Value_Set:
		f.Kind = &thriftpackv1.Field_Set{Set: k.Set}
	case *thriftpackv1.Value_Map:
		f.Kind = &thriftpackv1.Field_Map{Map: k.Map}
	case *thriftpackv1.Value_Struct:
		f.Kind = &thriftpackv1.Field_Struct{Struct: k.Struct}
	}
	return f
}

func (m *maker) list(depth int) *thriftpackv1.List {
	n := m.count()
	if n == 0 {
		return thriftpackv1.EmptyList(thriftpackv1.Type(2 + m.IntN(12))) // small
	}
	return m.column(n, depth)
}

// column makes n elements of the kind of a first one.
func (m *maker) column(n, depth int) *thriftpackv1.List {
	l := &thriftpackv1.List{}
	first := m.value(depth)
	for range n {
		v := m.like(first, depth)
		switch k := v.GetKind().(type) {
		case *thriftpackv1.Value_Bool:
			l.Bools = append(l.Bools, k.Bool)
		case *thriftpackv1.Value_I8:
			l.I8S = append(l.I8S, byte(k.I8)) // two's complement
		case *thriftpackv1.Value_I16:
			l.I16S = append(l.I16S, k.I16)
		case *thriftpackv1.Value_I32:
			l.I32S = append(l.I32S, k.I32)
		case *thriftpackv1.Value_I64:
			l.I64S = append(l.I64S, k.I64)
		case *thriftpackv1.Value_Double:
			l.Doubles = append(l.Doubles, k.Double)
		case *thriftpackv1.Value_Binary:
			l.Binaries = append(l.Binaries, k.Binary)
		case *thriftpackv1.Value_Uuid:
			l.Uuids = append(l.Uuids, k.Uuid)
		case *thriftpackv1.Value_List:
			l.Lists = append(l.Lists, k.List)
		case *thriftpackv1.Value_Set:
			l.Sets = append(l.Sets, k.Set)
		case *thriftpackv1.Value_Map:
			l.Maps = append(l.Maps, k.Map)
		case *thriftpackv1.Value_Struct:
			l.Structs = append(l.Structs, k.Struct)
		}
	}
	return l
}

// like makes another value of the same kind, or after some attempts returns the same one.
func (m *maker) like(v *thriftpackv1.Value, depth int) *thriftpackv1.Value {
	for range 8 {
		if w := m.value(depth); sameKind(v, w) {
			return w
		}
	}
	return v
}

func sameKind(v, w *thriftpackv1.Value) bool {
	return v.ProtoReflect().WhichOneof(v.ProtoReflect().Descriptor().Oneofs().Get(0)) ==
		w.ProtoReflect().WhichOneof(w.ProtoReflect().Descriptor().Oneofs().Get(0))
}

// rootOf returns the root type of a value.
func rootOf(v *thriftpackv1.Value) thriftpackv1.Type {
	return thriftpackv1.Type(v.ProtoReflect().WhichOneof(v.ProtoReflect().Descriptor().Oneofs().Get(0)).Number())
}

// For random values the decoder gives back the very bytes that protobuf writes for them, in both protocols, in any chunks.
func TestCanonical(t *testing.T) {
	var e encoder.Encoder
	var d decoder.Decoder
	limits := encoder.Limits{Depth: 64, Elements: 1 << 20, StringBytes: 1 << 20, SlowNodes: 1}
	seeds := uint64(500)
	if raceEnabled {
		seeds = 50 // ten times as slow
	}
	for seed := range seeds {
		m := &maker{rand.New(rand.NewPCG(seed, 1)), 2000}
		value := m.value(8)
		want := marshal(t, value)
		for _, protocol := range []encoder.Protocol{encoder.Compact, encoder.Binary} {
			data, err := e.Append(nil, want, &encoder.Options{Protocol: protocol, Limits: limits})
			if err != nil {
				t.Fatalf("seed %d: encode: %v", seed, err)
			}
			got, _, err := decode(t, &d, data, &decoder.Options{Protocol: decoder.Protocol(protocol), Root: rootOf(value), Limits: usual})
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("seed %d, protocol %d: decode %x: %v\n got %x\nwant %x", seed, protocol, cut(data), err, cut(got), cut(want))
			}
		}
	}
}

// Maps that do not fit into one buffer are walked twice, and what is stepped over is found again, however they are nested.
func TestLargeMaps(t *testing.T) {
	i64s := make([]int64, 3000)
	for i := range i64s {
		i64s[i] = int64(i) << (i % 40)
	}
	large, small := thriftpackv1.I64List(i64s...), thriftpackv1.I64List(i64s[:300]...)
	// Values of 10 KB and of some hundred bytes, below keys of all sorts.
	value := thriftpackv1.MapValue(thriftpackv1.MapOf(thriftpackv1.I32List(1, 2, 3), thriftpackv1.ListList(large, small, large)))
	for range 6 {
		inner := value.GetMap()
		value = thriftpackv1.MapValue(thriftpackv1.MapOf(thriftpackv1.ListList(small, large, thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_BOOL)), thriftpackv1.MapList(inner, &thriftpackv1.Map{}, inner)))
		value = thriftpackv1.MapValue(thriftpackv1.MapOf(thriftpackv1.MapList(inner, &thriftpackv1.Map{}), thriftpackv1.StructList(thriftpackv1.StructOf(thriftpackv1.MapField(1, value.GetMap())), thriftpackv1.StructOf())))
		if len(marshal(t, value)) > 8<<20 {
			break
		}
	}
	var e encoder.Encoder
	want := marshal(t, value)
	for _, protocol := range []encoder.Protocol{encoder.Compact, encoder.Binary} {
		data, err := e.Append(nil, want, &encoder.Options{
			Protocol: protocol, Limits: encoder.Limits{Depth: 64, Elements: 1 << 20, StringBytes: 1 << 20, SlowNodes: 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		o := &decoder.Options{Protocol: decoder.Protocol(protocol), Root: thriftpackv1.Type_TYPE_MAP, Limits: usual}
		o.Limits.Nodes = 1 << 30
		got, _, err := decode(t, new(decoder.Decoder), data, o)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("protocol %d: %v, %d bytes, want %d", protocol, err, len(got), len(want))
		}
	}
}

func TestFixtures(t *testing.T) {
	for _, value := range []*thriftpackv1.Value{
		fixture.OneOfEach(), fixture.Nested4(), fixture.ListBool(1000), fixture.ListI16(1000), fixture.ListI32(1000), fixture.ListI64(1000),
		fixture.ListDouble(1000), fixture.ListString(1000, 20), fixture.ListStruct(1000), fixture.MapStringI64(1000), fixture.Binary(100_000),
	} {
		for _, protocol := range []encoder.Protocol{encoder.Compact, encoder.Binary} {
			o := &decoder.Options{Protocol: decoder.Protocol(protocol), Root: rootOf(value), DetectText: true, Limits: usual}
			expect(t, thriftOf(t, value, protocol), o, value)
		}
	}
}

// Values follow each other in one buffer, and dst is grown only when it must be.
func TestAppendAndWriteToGoOn(t *testing.T) {
	var d decoder.Decoder
	info, err := d.Prepare(unhex(t, oneOfEach), &decoder.Options{Limits: usual})
	if err != nil {
		t.Fatal(err)
	}
	one := d.Append(nil)
	size := int(info.Size)
	room := bytes.Repeat([]byte{0xee}, 3+size+40)
	for free := range 40 { // any room behind the result
		dst := room[: 3 : 3+size+free]
		got := d.Append(dst)
		if !bytes.Equal(got[3:], one) || &got[0] != &room[0] {
			t.Errorf("Append with %d bytes more room than needed: %x, moved: %v", free, got, &got[0] != &room[0])
		}
		for i, b := range room[3+size:] {
			if b != 0xee && (b != 0 || i >= free) {
				t.Errorf("Append with %d bytes more room left %02x at %d behind the result", free, b, i)
			}
			room[3+size+i] = 0xee
		}
	}
	sink := &chunks{tb: t, sizes: []int{512}}
	var buf []byte
	filled := 0
	for range 20 {
		if buf, filled, err = d.WriteTo(sink, buf, filled); err != nil {
			t.Fatal(err)
		}
	}
	if got := slices.Concat(sink.taken, buf[:filled]); !bytes.Equal(got, bytes.Repeat(one, 20)) {
		t.Errorf("twenty values through one sink: %x", got)
	}
}

// The sink's error comes back as it was, and nothing more is asked of it.
func TestSinkFails(t *testing.T) {
	data := thriftOf(t, fixture.Nested4(), encoder.Compact)
	list := thriftOf(t, fixture.ListI64(10_000), encoder.Binary)
	for most := range 12 {
		var d decoder.Decoder
		if _, err := d.Prepare(data, &decoder.Options{Limits: usual}); err != nil {
			t.Fatal(err)
		}
		sink := &chunks{tb: t, sizes: []int{4096, 512}, most: most + 1}
		if buf, filled, err := d.WriteTo(sink, nil, 0); !errors.Is(err, errGone) || buf != nil || filled != 0 || sink.calls != most+2 {
			t.Errorf("after %d calls: %v, %d bytes of %d, %d calls", most+1, err, filled, len(buf), sink.calls)
		}
		again := &chunks{tb: t, sizes: []int{4096}}
		if _, _, err := d.WriteTo(again, nil, 0); err != nil {
			t.Errorf("again: %v", err)
		}
		if _, err := d.Prepare(list, &decoder.Options{Protocol: decoder.Binary, Root: thriftpackv1.Type_TYPE_LIST, Limits: usual}); err != nil {
			t.Fatal(err)
		}
		sink = &chunks{tb: t, sizes: []int{512}, most: most + 1}
		if _, _, err := d.WriteTo(sink, nil, 0); !errors.Is(err, errGone) || sink.calls != most+2 {
			t.Errorf("a list, after %d calls: %v, %d calls", most+1, err, sink.calls)
		}
	}
}

// A sink may fail in the head of a map as anywhere else; nothing more is written then. What stands before the map, and the room of the
// buffer lent first, let it fail at each place.
func TestSinkFailsInMaps(t *testing.T) {
	const (
		entry   = " 15 02 00 0000000000000000"
		structs = "03 c7" + entry + entry + entry             // map<struct, double>
		lists   = "03 99 15 02 15 04 15 02 15 04 15 02 15 04" // map<list<i32>, list<i32>>
		nested  = "02 bb 01 5b 02 " + structs + lists + "01 5b 02 " + structs + lists
	)
	var d decoder.Decoder
	defer d.Release()
	d.TwoPasses(true) // so that all is written by WriteTo
	for _, dict := range []string{structs, lists, nested} {
		for before := range 32 {
			code := repeat("15 02", before) + "1b" + dict + "00"
			info, err := d.Prepare(unhex(t, code), &decoder.Options{Limits: usual})
			if err != nil {
				t.Fatal(err)
			}
			want := d.Append(nil)
			for room := range int(info.Size) {
				buf := make([]byte, 512)
				sink := &chunks{tb: t, lent: buf, calls: 1, most: 1}
				if _, _, err := d.WriteTo(sink, buf, len(buf)-room); !errors.Is(err, errGone) {
					t.Errorf("%s with room for %d bytes: %v, want the sink's error", code, room, err)
				}
			}
			if got := d.Append(nil); !bytes.Equal(got, want) {
				t.Errorf("%s after the failures: %x, want %x", code, got, want)
			}
		}
	}
}
