package encoder

import (
	"math/rand/v2"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// member of a message, as tests take it apart: the tag and all that follows it.
type testMember struct {
	number  protowire.Number
	kind    protowire.Type
	payload []byte // without the length
}

func takeApart(t testing.TB, wire []byte) []testMember {
	t.Helper()
	var members []testMember
	for len(wire) > 0 {
		number, kind, n := protowire.ConsumeTag(wire)
		if n < 0 {
			t.Fatalf("tag: %v", protowire.ParseError(n))
		}
		size := protowire.ConsumeFieldValue(number, kind, wire[n:])
		if size < 0 {
			t.Fatalf("value: %v", protowire.ParseError(size))
		}
		payload := wire[n : n+size]
		if kind == protowire.BytesType {
			payload, _ = protowire.ConsumeBytes(payload)
		}
		members = append(members, testMember{number, kind, payload})
		wire = wire[n+size:]
	}
	return members
}

// mutator rewrites wire bytes into others of the same meaning.
type mutator struct {
	random *rand.Rand
	merges bool // also what protobuf merges; otherwise only the order of members
}

// message rewrites a message.
func (m *mutator) message(t testing.TB, d protoreflect.MessageDescriptor, wire []byte) []byte {
	t.Helper()
	members := takeApart(t, wire)
	if m.merges {
		members = m.split(t, d, members)
	}
	// Members of one number keep their order, and in a oneof all do; where the others stand is free.
	for range 2 * len(members) {
		i := m.random.IntN(len(members))
		if i+1 < len(members) {
			a, b := d.Fields().ByNumber(members[i].number), d.Fields().ByNumber(members[i+1].number)
			if a != b && (a.ContainingOneof() == nil || a.ContainingOneof() != b.ContainingOneof()) {
				members[i], members[i+1] = members[i+1], members[i]
			}
		}
	}
	var out []byte
	for _, member := range members {
		payload := member.payload
		if child := d.Fields().ByNumber(member.number).Message(); child != nil {
			payload = m.message(t, child, payload)
		}
		out = m.varint(out, protowire.EncodeTag(member.number, member.kind))
		switch member.kind {
		case protowire.BytesType:
			out = append(m.varint(out, uint64(len(payload))), payload...)
		case protowire.VarintType:
			v, _ := protowire.ConsumeVarint(payload)
			out = m.varint(out, v)
		default:
			out = append(out, payload...)
		}
	}
	return out
}

// varint appends a varint, sometimes a longer one than needed.
func (m *mutator) varint(b []byte, v uint64) []byte {
	b = protowire.AppendVarint(b, v)
	if m.merges && m.random.IntN(20) == 0 && protowire.SizeVarint(v) < 8 {
		b[len(b)-1] |= 0x80
		for range m.random.IntN(2) {
			b = append(b, 0x80)
		}
		b = append(b, 0)
	}
	return b
}

// split makes members that protobuf merges into those that were given.
func (m *mutator) split(t testing.TB, d protoreflect.MessageDescriptor, members []testMember) []testMember {
	t.Helper()
	var out []testMember
	for _, member := range members {
		field := d.Fields().ByNumber(member.number)
		if m.random.IntN(4) != 0 {
			out = append(out, member)
			continue
		}
		switch {
		case field.IsList() && field.IsPacked():
			out = append(out, m.splitRun(field, member)...)
		case field.IsList():
			out = append(out, member)
		case field.Message() != nil:
			inner := takeApart(t, member.payload)
			at := m.random.IntN(len(inner) + 1)
			for _, part := range [][]testMember{inner[:at], inner[at:]} {
				var payload []byte
				for _, p := range part {
					payload = protowire.AppendTag(payload, p.number, p.kind)
					if p.kind == protowire.BytesType {
						payload = protowire.AppendVarint(payload, uint64(len(p.payload)))
					}
					payload = append(payload, p.payload...)
				}
				out = append(out, testMember{member.number, member.kind, payload})
			}
		default:
			// Something that the member takes away: of its own number, or of another kind of the same oneof.
			earlier := testMember{member.number, member.kind, member.payload}
			if field.ContainingOneof() != nil {
				others := []testMember{
					{kindI8, protowire.VarintType, []byte{0xff, 0x7f}},
					{kindString, protowire.BytesType, []byte("gone")},
					{kindStruct, protowire.BytesType, structOf()[2:]},
					{kindList, protowire.BytesType, number(1, 14)},
					{kindUUID, protowire.BytesType, nil},
				}
				earlier = others[m.random.IntN(len(others))]
			}
			out = append(out, earlier, member)
		}
	}
	return out
}

// splitRun cuts a packed run in parts, some of them not packed.
func (m *mutator) splitRun(field protoreflect.FieldDescriptor, member testMember) []testMember {
	var out []testMember
	kind := protowire.VarintType
	if field.Kind() == protoreflect.DoubleKind {
		kind = protowire.Fixed64Type
	}
	rest := member.payload
	for len(rest) > 0 && m.random.IntN(3) != 0 {
		n := protowire.ConsumeFieldValue(member.number, kind, rest)
		if m.random.IntN(3) == 0 {
			out = append(out, testMember{member.number, kind, rest[:n]})
		} else {
			out = append(out, testMember{member.number, protowire.BytesType, rest[:n]})
		}
		rest = rest[n:]
	}
	return append(out, testMember{member.number, protowire.BytesType, rest})
}

var valueDescriptor = (&thriftpackv1.Value{}).ProtoReflect().Descriptor()

// TestOrder shows that members may come in any order without the slow path, and mean the same.
func TestOrder(t *testing.T) {
	t.Parallel()
	wire := marshal(t, rich())
	o := &Options{Limits: testLimits}
	want := mustEncode(t, wire, o)
	for seed := range uint64(300) {
		m := mutator{random: rand.New(rand.NewPCG(seed, 1))} // repeatable on purpose
		moved := m.message(t, valueDescriptor, wire)
		isFast(t, moved)
		if got := mustEncode(t, moved, o); string(got) != string(want) {
			t.Fatalf("seed %d: encode(%x) = %x, want %x", seed, moved, got, want)
		}
	}
}

// TestOrders has the orders of single messages one by one.
func TestOrders(t *testing.T) {
	t.Parallel()
	keys, values := submessage(1, text(kindI8, "a")), submessage(2, text(kindBool, "\x01"))
	tests := []struct {
		name string
		wire []byte
		want string
	}{
		{"id before the kind", structOf(join(id(5), number(kindI32, 4))), "55 04 00"},
		{"id after the kind", structOf(join(number(kindI32, 4), id(5))), "55 04 00"},
		{"id after a struct", structOf(join(submessage(kindStruct), id(5))), "5c 00 00"},
		{"id after a string", structOf(join(text(kindString, "a"), id(5))), "58 01 61 00"},
		{"no id is id 0", structOf(number(kindI32, 4)), "05 00 04 00"},
		{"id 0 as such", structOf(join(id(0), number(kindI32, 4))), "05 00 04 00"},
		{"id 0 as such after id -1", structOf(join(id(-1), number(kindI32, 4)), join(id(0), number(kindI32, 2))), "05 01 04 15 02 00"},
		{"element_type before", submessage(kindList, number(1, kindI8), text(kindI8, "a")), "13 61"},
		{"element_type after", submessage(kindList, text(kindI8, "a"), number(1, kindI8)), "13 61"},
		{"element_type between", submessage(kindList, text(kindString, "a"), number(1, kindString), text(kindString, "b")), "28 01 61 01 62"},
		{"element_type between structs", submessage(kindList, submessage(kindStruct), number(1, kindStruct), submessage(kindStruct)), "2c 00 00"},
		{"element_type 0 is none", submessage(kindList, number(1, 0), text(kindI8, "a")), "13 61"},
		{"empty run of another kind", submessage(kindList, text(kindI8, "a"), text(kindI32, "")), "13 61"},
		{"empty runs between strings", submessage(kindList, text(kindString, "a"), text(kindI32, ""), text(kindI8, ""), text(kindString, "b")), "28 01 61 01 62"},
		{"empty run of the same kind", submessage(kindList, text(kindI32, "\x02"), text(kindI32, "")), "15 02"},
		{"keys before values", submessage(kindMap, keys, values), "01 31 61 01"},
		{"values before keys", submessage(kindMap, values, keys), "01 31 61 01"},
		{"empty keys and no values", submessage(kindMap, submessage(1)), "00"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			isFast(t, test.wire)
			if got, want := mustEncode(t, test.wire, &Options{Limits: testLimits}), unhex(t, test.want); string(got) != string(want) {
				t.Errorf("encode(%x) = %x, want %x", test.wire, got, want)
			}
		})
	}
}

// TestRuntimesAreFast shows that what Go's runtimes write never takes the slow path.
func TestRuntimesAreFast(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]*thriftpackv1.Value{"rich": rich(), "OneOfEach": fixture.OneOfEach(), "structs": fixture.ListStruct(100), "map": fixture.MapStringI64(100)} {
		wire := marshal(t, v)
		want := mustEncode(t, wire, &Options{Limits: testLimits})
		dynamic := dynamicpb.NewMessage(valueDescriptor)
		if err := proto.Unmarshal(wire, dynamic); err != nil {
			t.Fatal(err)
		}
		for range 20 { // dynamicpb writes members in random order
			for _, wire := range [][]byte{wire, marshal(t, v), marshal(t, dynamic)} {
				isFast(t, wire)
				if got := mustEncode(t, wire, &Options{Limits: testLimits}); string(got) != string(want) {
					t.Fatalf("%s: encode(%x) = %x, want %x", name, wire, got, want)
				}
			}
		}
	}
}

// TestSlowPath has what protobuf merges, one by one.
func TestSlowPath(t *testing.T) {
	t.Parallel()
	field := func(content ...[]byte) []byte { return submessage(1, content...) }
	one, two := join(id(1), number(kindI32, 2)), join(id(2), number(kindI32, 4))
	tests := []struct {
		name string
		wire []byte
		want string
	}{
		{"struct twice is joined", join(structOf(one), structOf(two)), "15 02 15 04 00"},
		{"struct after another kind", join(structOf(one), number(kindI64, 1), structOf(two)), "25 04 00"},
		{"the last kind wins", join(structOf(one), text(kindString, "a")), "01 61"},
		{"the last scalar wins", join(number(kindI32, 2), number(kindI32, 4)), "04"},
		{"id twice", structOf(join(id(1), number(kindBool, 1), id(2))), "21 00"},
		{"id out of range, then not", structOf(join(id(1<<20), number(kindBool, 1), id(2))), "21 00"},
		{"i8 out of range, then a good one", join(number(kindI8, 999), number(kindI8, 2)), "01"},
		{"list twice: columns are joined", join(submessage(kindList, text(kindI32, "\x02")), submessage(kindList, text(kindI32, "\x04"))), "25 02 04"},
		{"set after list", join(submessage(kindList, text(kindI32, "\x02")), submessage(kindSet, text(kindI32, "\x04"))), "15 04"},
		{"list twice: the last element_type wins", join(submessage(kindList, number(1, kindI8)), submessage(kindList, number(1, kindUUID))), "0d"},
		{"list twice: nested lists are not joined", join(submessage(kindList, submessage(kindList, text(kindI8, "a"))), submessage(kindList, submessage(kindList, text(kindI8, "b")))), "29 13 61 13 62"},
		{"map twice: keys and values are joined", join(
			submessage(kindMap, submessage(1, text(kindI16, "\x02")), submessage(2, text(kindBool, "\x01"))),
			submessage(kindMap, submessage(2, text(kindBool, "\x00")), submessage(1, text(kindI16, "\x04"))),
		), "02 41 02 01 04 02"},
		{"keys twice in one map", submessage(kindMap, submessage(1, text(kindI16, "\x02")), submessage(1, text(kindI16, "\x04")), submessage(2, text(kindBool, "\x01\x01"))), "02 41 02 01 04 01"},
		{"i8s twice: the last wins", submessage(kindList, text(kindI8, "abc"), text(kindI8, "d")), "13 64"},
		{"i8s twice: the last is empty", submessage(kindList, text(kindI8, "abc"), text(kindI8, ""), number(1, kindI32)), "05"},
		{"i8s emptied beside strings", submessage(kindList, text(kindI8, "abc"), text(kindString, "a"), text(kindI8, "")), "18 01 61"},
		{"run in two parts", submessage(kindList, text(kindI64, "\x02"), text(kindI64, "\x04\x06")), "36 02 04 06"},
		{"run in parts with element_type between", submessage(kindList, text(kindBool, "\x01"), number(1, kindBool), text(kindBool, "\x00")), "21 01 02"},
		{"not packed", submessage(kindList, number(kindI16, 2), number(kindI16, 4)), "24 02 04"},
		{"one element, not packed", submessage(kindList, number(kindI32, 1<<32-1)), "15 ffffffff0f"},
		{"packed and not", submessage(kindList, text(kindI32, "\x02"), number(kindI32, 4), text(kindI32, "\x06")), "35 02 04 06"},
		{"doubles, packed and not", submessage(kindList, text(kindDouble, "12345678"), unhex(t, "39 4142434445464748")), "27 3132333435363738 4142434445464748"},
		{"bools, not packed, of any value", submessage(kindList, number(kindBool, 2), number(kindBool, 0), number(kindBool, 1<<63)), "31 01 02 01"},
		{"bool 2 is true", structOf(join(id(1), number(kindBool, 2))), "11 00"},
		{"bool elements above 1", submessage(kindList, text(kindBool, "\x00\x02\x80\x01")), "31 02 01 01"},
		{"varint longer than needed", unhex(t, "28 80 00"), "00"},
		{"varint much longer than needed", unhex(t, "30 8480808080808080 80 00"), "04"},
		{"i32 longer than five bytes", unhex(t, "28 8480808080808080 80 00"), "04"},
		{"tag longer than needed", unhex(t, "a800 04"), "04"},
		{"length longer than needed", unhex(t, "7a 8100 61"), "01 61"},
		{"length of a field longer than needed", submessage(kindStruct, unhex(t, "0a 8400 0802 2802")), "15 02 00"},
		{"id longer than needed", structOf(unhex(t, "08 8200 2802")), "15 02 00"},
		{"element of a run longer than needed", submessage(kindList, text(kindI32, "\x02\x84\x00")), "25 02 04"},
		{"length of a run longer than needed", submessage(kindList, unhex(t, "2a 8200 0204")), "25 02 04"},
		{"element_type longer than needed", submessage(kindList, unhex(t, "08 8d00")), "0d"},
		{"field of two structs", submessage(kindStruct, field(id(3), structOf(one), structOf(two))), "3c 15 02 15 04 00 00"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			checkMerge(t, test.wire)
			var e Encoder
			got, err := e.Append(nil, test.wire, &Options{Limits: testLimits})
			if want := unhex(t, test.want); string(got) != string(want) || err != nil || !e.SlowPath() {
				t.Errorf("Append(%x) = %x, %v, slow path %t, want %x", test.wire, got, err, e.SlowPath(), want)
			}
		})
	}
}

// checkMerge encodes wire bytes both as they are and after protobuf has read and written them: the results must be the same,
// or both refused. It returns the first of the two.
func checkMerge(t testing.TB, wire []byte) ([]byte, error) {
	t.Helper()
	o := &Options{Limits: testLimits}
	got, err := encode(t, wire, o)
	var merged thriftpackv1.Value
	if protoErr := proto.Unmarshal(wire, &merged); protoErr != nil {
		if err == nil {
			t.Errorf("encode(%x) = %x, but protobuf says %v", wire, got, protoErr)
		}
		return got, err
	}
	canonical, marshalErr := proto.MarshalOptions{Deterministic: true}.Marshal(&merged)
	if marshalErr != nil {
		t.Fatalf("Marshal: %v", marshalErr)
	}
	want, wantErr := encode(t, canonical, o)
	switch r := reason(t, err); {
	case err == nil && (wantErr != nil || string(got) != string(want)):
		t.Errorf("encode(%x) = %x,\nwant %x, %v", wire, got, want, wantErr)
	case err == nil || wantErr != nil:
	case r == fault.VarintOverflow: // protobuf drops the bits that are too many
	case r == fault.BadProto && strings.Contains(err.Error(), " member"): // unknown ones, which protobuf keeps or drops
	case r == fault.DepthLimit || r == fault.SizeLimit: // in what another member takes away, or by the number of messages
	default:
		t.Errorf("encode(%x): %v,\nwant %x", wire, err, want)
	}
	return got, err
}

// TestMerge compares the slow path with protobuf's own merging on many random rewritings of a value.
func TestMerge(t *testing.T) {
	t.Parallel()
	wire := marshal(t, rich())
	want := mustEncode(t, wire, &Options{Limits: testLimits})
	slow := 0
	for seed := range uint64(300) {
		m := mutator{random: rand.New(rand.NewPCG(seed, 2)), merges: true} // repeatable on purpose
		got, err := checkMerge(t, m.message(t, valueDescriptor, wire))
		if err == nil && string(got) == string(want) {
			slow++
		}
	}
	if slow < 100 {
		t.Errorf("%d of 300 rewritings have kept their meaning, want most", slow)
	}
}

// TestSlowPathFaults shows where a fault is found in bytes that have to be normalised.
func TestSlowPathFaults(t *testing.T) {
	t.Parallel()
	good, bad := join(id(1), number(kindBool, 1)), join(id(1), number(kindBool, 2))
	tests := []struct {
		name   string
		wire   []byte
		reason fault.Reason
		text   string
	}{
		{"range, after normalising", structOf(bad, join(id(1), number(kindI8, 999))), fault.IntRange, "value.struct.fields[1].i8: out of range: -500, want -128..127"},
		{"unknown member", structOf(bad, good, unhex(t, "f000 00")), fault.BadProto, "value.struct.fields[2]: malformed protobuf: no member has the number 14"},
		{"unknown member of a part", join(structOf(bad), submessage(kindStruct, number(3, 1))), fault.BadProto, "value.struct: malformed protobuf: no member has the number 3"},
		{"wire type", join(structOf(good), structOf(good), number(kindString, 1)), fault.BadProto, "value: malformed protobuf: member 15 with wire type 0"},
		{"group", structOf(bad, unhex(t, "63 64")), fault.BadProto, "value.struct.fields[1]: malformed protobuf: member 12 with wire type 3"},
		{"cut off", structOf(bad, unhex(t, "28 ff")), fault.BadProto, "value.struct.fields[1]: malformed protobuf: ends inside of a member"},
		{"65 bits", structOf(bad, unhex(t, "28 ffffffffffffffffff02")), fault.VarintOverflow, "value.struct.fields[1].i32: varint of more than 64 bits"},
		{"65 bits in a run", structOf(bad, submessage(kindList, text(kindI64, string(unhex(t, "00 ffffffffffffffffff02"))))), fault.VarintOverflow, "value.struct.fields[1].list.i64s[1]: varint of more than 64 bits"},
		{"33 bits, not packed", submessage(kindList, number(kindI32, 0), number(kindI32, 1<<32)), fault.VarintOverflow, "value.list.i32s[1]: varint of more than 32 bits"},
		{"run of doubles cut off", submessage(kindList, text(kindDouble, "12345678"), text(kindDouble, "1234567")), fault.BadProto, "value.list.doubles[1]: malformed protobuf: ends inside of a member"},
		{"not UTF-8, taken away", structOf(join(text(kindString, "\xff"), id(1), number(kindBool, 1))), fault.BadUTF8, "value.struct.fields[0].string: not valid UTF-8"},
		{"not UTF-8, deep in what is taken away", join(submessage(kindList, submessage(kindStruct, submessage(1, text(kindString, "\xff")))), number(kindBool, 1)), fault.BadUTF8, "value.list.structs[0].fields[0].string: not valid UTF-8"},
		{"malformed, taken away", join(submessage(kindMap, submessage(1, text(14, ""))), number(kindBool, 1)), fault.BadProto, "value.map.keys: malformed protobuf: no member has the number 14"},
		{"cut off, taken away", join(submessage(kindMap, []byte{10, 1}), number(kindBool, 1)), fault.BadProto, "value.map: malformed protobuf: ends inside of a member"},
		{"two columns", join(submessage(kindList, text(kindI32, "\x02")), submessage(kindList, text(kindI64, "\x02"))), fault.TypeMismatch, "value.list: elements in two columns: i32s and i64s"},
		{"missing kind", structOf(bad, id(7)), fault.MissingKind, "value.struct.fields[1]: no kind is set"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			checkMerge(t, test.wire)
			_, err := encode(t, test.wire, &Options{Limits: testLimits})
			if reason(t, err) != test.reason || err.Error() != test.text {
				t.Errorf("error = %s %q,\nwant %s %q", reason(t, err), err, test.reason, test.text)
			}
		})
	}
}
