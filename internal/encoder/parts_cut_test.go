package encoder

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// cutter takes values apart into parts. Where there is a choice, choose makes it.
type cutter struct {
	choose func(n int) int // 0..n-1
	parts  []*thriftpackv1.Part
}

// root cuts a value.
func (c *cutter) root(v *thriftpackv1.Value) {
	if begin := beginOf(v); begin != nil && c.choose(2) == 0 {
		c.opened(begin, v)
		return
	}
	c.parts = append(c.parts, elementsPart(listOf(kindOf(v), v)))
}

// opened cuts a value that begins with begin.
func (c *cutter) opened(begin *thriftpackv1.Begin, v *thriftpackv1.Value) {
	c.parts = append(c.parts, beginPart(begin))
	switch kind := v.GetKind().(type) {
	case *thriftpackv1.Value_Struct:
		c.fields(kind.Struct.GetFields())
	case *thriftpackv1.Value_List:
		c.elements(kindOfElements(kind.List), valuesOf(kind.List))
	case *thriftpackv1.Value_Set:
		c.elements(kindOfElements(kind.Set), valuesOf(kind.Set))
	case *thriftpackv1.Value_Map:
		c.entries(kind.Map)
	case *thriftpackv1.Value_String_:
		c.data([]byte(kind.String_))
	case *thriftpackv1.Value_Binary:
		c.data(kind.Binary)
	}
	c.parts = append(c.parts, endPart())
}

// next chooses how many of n come whole; 0 means that the first one is opened.
func (c *cutter) next(n int, first *thriftpackv1.Value) int {
	if beginOf(first) == nil {
		return 1 + c.choose(n)
	}
	return c.choose(n + 1)
}

func (c *cutter) fields(fields []*thriftpackv1.Field) {
	for len(fields) > 0 {
		first := valueOf(fields[0])
		n := c.next(len(fields), first)
		if n == 0 {
			begin := beginOf(first)
			begin.FieldId = fields[0].GetId()
			c.opened(begin, first)
			n = 1
		} else {
			c.parts = append(c.parts, fieldsPart(fields[:n]...))
		}
		fields = fields[n:]
	}
}

func (c *cutter) elements(kind uint8, values []*thriftpackv1.Value) {
	for len(values) > 0 {
		n := c.next(len(values), values[0])
		if n == 0 {
			c.opened(beginOf(values[0]), values[0])
			n = 1
		} else {
			c.parts = append(c.parts, elementsPart(listOf(kind, values[:n]...)))
		}
		values = values[n:]
	}
}

func (c *cutter) entries(m *thriftpackv1.Map) {
	keyKind, valueKind := kindOfElements(m.GetKeys()), kindOfElements(m.GetValues())
	keys, values := valuesOf(m.GetKeys()), valuesOf(m.GetValues())
	for len(values) > 0 {
		n := c.next(len(values), values[0])
		if n == 0 {
			begin := beginOf(values[0])
			begin.Key = keys[0]
			c.opened(begin, values[0])
			n = 1
		} else {
			c.parts = append(c.parts, entriesPart(listOf(keyKind, keys[:n]...), listOf(valueKind, values[:n]...)))
		}
		keys, values = keys[n:], values[n:]
	}
}

func (c *cutter) data(b []byte) {
	for len(b) > 0 {
		n := 1 + c.choose(len(b))
		c.parts = append(c.parts, dataPart(b[:n]))
		b = b[n:]
	}
}

// beginOf returns the Begin of a value that can be opened, or nil.
func beginOf(v *thriftpackv1.Value) *thriftpackv1.Begin {
	begin := &thriftpackv1.Begin{Type: thriftpackv1.Type(kindOf(v))}
	switch kind := v.GetKind().(type) {
	case *thriftpackv1.Value_Struct:
	case *thriftpackv1.Value_List:
		begin.ElementType, begin.Size = thriftpackv1.Type(kindOfElements(kind.List)), int64(elements(kind.List))
	case *thriftpackv1.Value_Set:
		begin.ElementType, begin.Size = thriftpackv1.Type(kindOfElements(kind.Set)), int64(elements(kind.Set))
	case *thriftpackv1.Value_Map:
		begin.KeyType, begin.ElementType = thriftpackv1.Type(kindOfElements(kind.Map.GetKeys())), thriftpackv1.Type(kindOfElements(kind.Map.GetValues()))
		begin.Size = int64(elements(kind.Map.GetKeys()))
	case *thriftpackv1.Value_String_:
		begin.Size = int64(len(kind.String_))
	case *thriftpackv1.Value_Binary:
		begin.Size = int64(len(kind.Binary))
	default:
		return nil
	}
	return begin
}

// kindOf returns the kind of a value.
func kindOf(v *thriftpackv1.Value) uint8 {
	r := v.ProtoReflect()
	return uint8(r.WhichOneof(r.Descriptor().Oneofs().Get(0)).Number()) // at most 15
}

// valueOf returns the value of a field. It shares what that has.
func valueOf(f *thriftpackv1.Field) *thriftpackv1.Value {
	v, from := &thriftpackv1.Value{}, f.ProtoReflect()
	set := from.WhichOneof(from.Descriptor().Oneofs().Get(0))
	v.ProtoReflect().Set(v.ProtoReflect().Descriptor().Fields().ByNumber(set.Number()), from.Get(set))
	return v
}

// fieldOf returns a field with a value.
func fieldOf(id int32, v *thriftpackv1.Value) *thriftpackv1.Field {
	f, from := &thriftpackv1.Field{Id: id}, v.ProtoReflect()
	set := from.WhichOneof(from.Descriptor().Oneofs().Get(0))
	f.ProtoReflect().Set(f.ProtoReflect().Descriptor().Fields().ByNumber(set.Number()), from.Get(set))
	return f
}

// randomValues makes values of every shape.
type randomValues struct{ *rand.Rand }

var allKinds = []uint8{kindBool, kindI8, kindI16, kindI32, kindI64, kindDouble, kindBinary, kindList, kindSet, kindMap, kindStruct, kindUUID, kindString}

// value returns a value of any kind, nested at most depth deep.
func (r randomValues) value(depth int) *thriftpackv1.Value {
	return r.ofKind(allKinds[r.IntN(len(allKinds))], depth)
}

// kind returns a kind that may stand in a container.
func (r randomValues) kind() uint8 { return allKinds[r.IntN(len(allKinds))] }

// size returns a number of elements.
func (r randomValues) size(depth int) int {
	switch {
	case depth <= 0:
		return 0
	case r.IntN(40) == 0:
		return r.IntN(300) / depth
	}
	return r.IntN(5)
}

// number returns an integer of any size in bits up to that.
func (r randomValues) number(bits int) int64 {
	v := int64(r.Uint64()) >> (64 - bits) // the bits are meant
	return v >> r.IntN(bits)
}

func (r randomValues) bytes() []byte {
	b := make([]byte, r.IntN(20))
	if r.IntN(20) == 0 {
		b = make([]byte, r.IntN(2000))
	}
	for i := range b {
		b[i] = byte(r.Uint32()) // the low bits
	}
	return b
}

func (r randomValues) text() string {
	runes := make([]rune, r.IntN(12))
	if r.IntN(20) == 0 {
		runes = make([]rune, r.IntN(1000))
	}
	for i := range runes {
		for _, limit := range []int32{0x80, 0x800, 0xd800, 0x110000} {
			if runes[i] = r.Int32N(limit); r.IntN(2) == 0 {
				break
			}
		}
	}
	return string(runes) // surrogates become U+FFFD
}

func (r randomValues) ofKind(kind uint8, depth int) *thriftpackv1.Value {
	switch kind {
	case kindBool:
		return thriftpackv1.BoolValue(r.IntN(2) == 0)
	case kindI8:
		return thriftpackv1.I8Value(int8(r.number(8))) // fits
	case kindI16:
		return thriftpackv1.I16Value(int16(r.number(16))) // fits
	case kindI32:
		return thriftpackv1.I32Value(int32(r.number(32))) // fits
	case kindI64:
		return thriftpackv1.I64Value(r.number(64))
	case kindDouble:
		return thriftpackv1.DoubleValue(math.Float64frombits(r.Uint64()))
	case kindBinary:
		return thriftpackv1.BinaryValue(r.bytes())
	case kindList:
		return thriftpackv1.ListValue(r.list(r.kind(), r.size(depth), depth))
	case kindSet:
		return thriftpackv1.SetValue(r.list(r.kind(), r.size(depth), depth))
	case kindMap:
		n := r.size(depth)
		return thriftpackv1.MapValue(thriftpackv1.MapOf(r.list(r.kind(), n, depth), r.list(r.kind(), n, depth)))
	case kindUUID:
		return thriftpackv1.UUIDValue([16]byte(binaryOf(r.Uint64(), r.Uint64())))
	case kindString:
		return thriftpackv1.StringValue(r.text())
	}
	var fields []*thriftpackv1.Field
	id := int32(0)
	for range r.size(depth) {
		if id += r.Int32N(20) - 2; r.IntN(10) == 0 {
			id = int32(r.number(16)) // fits
		}
		fields = append(fields, fieldOf(int32(int16(id)), r.value(depth-1))) // wraps on purpose
	}
	return thriftpackv1.StructValue(fields...)
}

func (r randomValues) list(kind uint8, n, depth int) *thriftpackv1.List {
	values := make([]*thriftpackv1.Value, n)
	for i := range values {
		values[i] = r.ofKind(kind, depth-1)
	}
	return listOf(kind, values...)
}

func binaryOf(a, b uint64) []byte { return fmt.Appendf(nil, "%08x%08x", uint32(a), uint32(b)) } // any bits do

// TestPartsEveryCut cuts small values in every way there is.
func TestPartsEveryCut(t *testing.T) {
	t.Parallel()
	uuid := [16]byte([]byte("0123456789abcdef"))
	values := map[string]*thriftpackv1.Value{
		"struct": thriftpackv1.StructValue(thriftpackv1.BoolField(1, true), thriftpackv1.StringField(20, "aß"), thriftpackv1.I8Field(3, -1), thriftpackv1.StructField(3, thriftpackv1.StructOf(thriftpackv1.I16Field(-1, 5)))),
		"text":   thriftpackv1.StringValue("aé€😀z"),
		"binary": thriftpackv1.BinaryValue([]byte{0xff, 0xc3, 0x28, 0, 0x80}),
		"lists":  thriftpackv1.ListValue(thriftpackv1.ListList(thriftpackv1.I32List(1, -1, 300), thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_UUID), thriftpackv1.I32List(7))),
		"sets":   thriftpackv1.ListValue(thriftpackv1.SetList(thriftpackv1.StringList("a", "é"), thriftpackv1.BoolList(true, false, true))),
		"maps": thriftpackv1.MapValue(thriftpackv1.MapOf(thriftpackv1.StringList("", "ü"), thriftpackv1.MapList(
			thriftpackv1.MapOf(thriftpackv1.I64List(1, 2), thriftpackv1.DoubleList(1, 2)), thriftpackv1.MapOf(nil, thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_I8))))),
		"structs as keys": thriftpackv1.MapValue(thriftpackv1.MapOf(thriftpackv1.StructList(thriftpackv1.StructOf(thriftpackv1.UUIDField(1, uuid)), thriftpackv1.StructOf()), thriftpackv1.ListList(thriftpackv1.UUIDList(uuid), thriftpackv1.BinaryList([]byte{1}, nil)))),
		"i8":              thriftpackv1.I8Value(-1),
		"uuid":            thriftpackv1.UUIDValue(uuid),
		"bools":           thriftpackv1.SetValue(thriftpackv1.BoolList(true, false)),
	}
	for name, v := range values {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wire := marshal(t, v)
			wants := [2][]byte{mustEncode(t, wire, &Options{Limits: testLimits}), mustEncode(t, wire, &Options{Limits: testLimits, Protocol: Binary})}
			// The choices are counted up like the digits of a number.
			var digits, bases []int
			cuts := 0
			for more := true; more; cuts++ {
				at := 0
				c := cutter{choose: func(n int) int {
					if at == len(digits) {
						digits, bases = append(digits, 0), append(bases, n)
					}
					at++
					return digits[at-1]
				}}
				c.root(v)
				for protocol, want := range wants {
					got, err := encodeParts(t, &Options{Limits: testLimits, Protocol: Protocol(protocol)}, minBuffer, c.wire(t)...) // 0 or 1
					if err != nil || !bytes.Equal(got, want) {
						t.Fatalf("%v = %x, %v, want %x", c.parts, got, err, want)
					}
				}
				digits, bases = digits[:at], bases[:at]
				for more = false; len(digits) > 0 && !more; {
					last := len(digits) - 1
					if digits[last]++; digits[last] < bases[last] {
						more = true
					} else {
						digits, bases = digits[:last], bases[:last]
					}
				}
			}
			t.Logf("%d cuts", cuts)
		})
	}
}

// TestPartsRandomCuts cuts random values at random, and parts again in ways that protobuf merges.
func TestPartsRandomCuts(t *testing.T) {
	t.Parallel()
	rounds, slow := uint64(3000), 0
	if testing.Short() || raceEnabled {
		rounds = 300
	}
	for seed := range rounds {
		r := randomValues{rand.New(rand.NewPCG(seed, 7))} // repeatable on purpose
		v := r.value(5)
		wire := marshal(t, v)
		for _, protocol := range []Protocol{Compact, Binary} {
			o := &Options{Limits: testLimits, Protocol: protocol}
			if kindOf(v) == kindStruct && r.IntN(2) == 0 {
				o.Message = &Message{Name: "name", Type: 1, SeqID: 5}
			}
			var e Encoder
			want, err := e.Append(nil, wire, o)
			if err != nil {
				t.Fatal(err)
			}
			c := cutter{choose: r.IntN}
			c.root(v)
			parts := c.wire(t)
			chunk := minBuffer + r.IntN(3000)
			if got, err := encodeParts(t, o, chunk, parts...); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("seed %d: %v = %x, %v, want %x", seed, c.parts, got, err, want)
			}
			m := mutator{random: r.Rand, merges: true}
			for i := range parts {
				if parts[i] = m.part(t, parts[i]); isSlowPart(parts[i]) {
					slow++
				}
			}
			if got, err := encodeParts(t, o, chunk, parts...); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("seed %d: %x = %x, %v, want %x", seed, parts, got, err, want)
			}
		}
	}
	t.Logf("%d parts took the slow path by their own members", slow)
}

// part rewrites a part. Before its member may come others, which that takes away, and it may come in two pieces.
func (m *mutator) part(t testing.TB, part []byte) []byte {
	t.Helper()
	member := takeApart(t, part)[0]
	var out []byte
	appendMember := func(number protowire.Number, payload []byte) {
		out = m.varint(out, protowire.EncodeTag(number, protowire.BytesType))
		out = append(m.varint(out, uint64(len(payload))), payload...)
	}
	others := [7][]byte{
		partBegin: join(number(beginType, 99999)[:1], []byte{kindI8}, submessage(beginKey, number(kindI8, 5), number(kindI8, 700))), partFields: submessage(1, number(kindBool, 2)),
		partElements: number(1, 3), partEntries: nil, partData: []byte("gone"), partEnd: nil,
	}
	for range m.random.IntN(3) * m.random.IntN(2) {
		if number := protowire.Number(1 + m.random.IntN(6)); number != member.number {
			appendMember(number, others[number])
		}
	}
	d := partDescriptor.Fields().ByNumber(member.number).Message()
	if d == nil {
		if m.random.IntN(4) == 0 {
			appendMember(member.number, []byte("gone"))
		}
		appendMember(member.number, member.payload)
		return out
	}
	if m.random.IntN(3) > 0 {
		appendMember(member.number, m.message(t, d, member.payload))
		return out
	}
	members := takeApart(t, member.payload)
	at := m.random.IntN(len(members) + 1)
	for _, piece := range [][]testMember{members[:at], members[at:]} {
		var payload []byte
		for _, p := range piece {
			payload = protowire.AppendTag(payload, p.number, p.kind)
			if p.kind == protowire.BytesType {
				payload = protowire.AppendVarint(payload, uint64(len(p.payload)))
			}
			payload = append(payload, p.payload...)
		}
		appendMember(member.number, m.message(t, d, payload))
	}
	return out
}

// TestPartsOfFixtures cuts large values with buffers of many sizes.
func TestPartsOfFixtures(t *testing.T) {
	t.Parallel()
	values := []*thriftpackv1.Value{rich(), fixture.OneOfEach(), fixture.ListI64(5000), fixture.ListString(2000, 20), fixture.ListStruct(500), fixture.MapStringI64(900), fixture.ListBool(3000), fixture.ListDouble(1000)}
	for i, v := range values {
		wire := marshal(t, v)
		r := randomValues{rand.New(rand.NewPCG(uint64(i), 8))} // repeatable on purpose
		for _, protocol := range []Protocol{Compact, Binary} {
			o := &Options{Limits: testLimits, Protocol: protocol}
			want := mustEncode(t, wire, o)
			for range 10 {
				c := cutter{choose: func(n int) int { return n - 1 - r.IntN(n)*r.IntN(2) }}
				c.root(v)
				if got, err := encodeParts(t, o, minBuffer+r.IntN(5000), c.wire(t)...); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("value %d in %d parts: %d bytes, %v, want %d", i, len(c.parts), len(got), err, len(want))
				}
			}
		}
	}
}

// TestPartsRecords writes several roots one after the other.
func TestPartsRecords(t *testing.T) {
	t.Parallel()
	r := randomValues{rand.New(rand.NewPCG(1, 9))} // repeatable on purpose
	for _, protocol := range []Protocol{Compact, Binary} {
		o := &Options{Limits: testLimits, Protocol: protocol}
		c := cutter{choose: r.IntN}
		var want []byte
		for range 200 {
			v := r.value(3)
			c.root(v)
			want = append(want, mustEncode(t, marshal(t, v), o)...)
		}
		if got, err := encodeParts(t, o, 1000, c.wire(t)...); err != nil || !bytes.Equal(got, want) {
			t.Errorf("200 roots = %x, %v, want %x", got, err, want)
		}
	}
}
