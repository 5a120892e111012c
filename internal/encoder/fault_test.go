package encoder

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
)

// TestFaults has every way in which a value can be wrong, with the whole text of the error.
func TestFaults(t *testing.T) {
	t.Parallel()
	list := func(content ...[]byte) []byte { return submessage(kindList, content...) }
	// inField returns the value as field 1 of a struct, after three good ones.
	good := join(id(1), number(kindBool, 1))
	inField := func(member []byte) []byte { return structOf(good, good, good, join(id(2), member)) }
	run := func(values ...uint64) []byte {
		var b []byte
		for _, v := range values {
			b = protowire.AppendVarint(b, v)
		}
		return b
	}
	tests := []struct {
		name   string
		wire   []byte
		reason fault.Reason
		text   string
	}{
		{"no bytes", nil, fault.MissingKind, "value: no kind is set"},
		{"field without kind", structOf(good, id(7)), fault.MissingKind, "value.struct.fields[1]: no kind is set"},
		{"field without anything", structOf(good, good, nil), fault.MissingKind, "value.struct.fields[2]: no kind is set"},
		{"empty list without type", inField(list()), fault.MissingKind, "value.struct.fields[3].list: no elements and no element_type"},
		{"list of an empty list without type", list(submessage(kindList)), fault.MissingKind, "value.list.lists[0]: no elements and no element_type"},
		{"only an empty run", inField(list(text(kindI32, ""))), fault.MissingKind, "value.struct.fields[3].list: no elements and no element_type"},
		{"empty i8s", submessage(kindSet, text(kindI8, "")), fault.MissingKind, "value.set: no elements and no element_type"},
		{"element_type 0", list(number(1, 0)), fault.MissingKind, "value.list: no elements and no element_type"},

		{"two columns", inField(list(text(kindI32, "\x02"), text(kindString, "a"))), fault.TypeMismatch, "value.struct.fields[3].list: elements in two columns: i32s and strings"},
		{"two columns, again the first", list(text(kindString, "a"), text(kindBinary, "b"), text(kindString, "c")), fault.TypeMismatch, "value.list: elements in two columns: strings and binaries"},
		{"element_type of another column", list(number(1, kindBinary), text(kindString, "a")), fault.TypeMismatch, "value.list: element_type is BINARY, but the elements are STRING"},
		{"element_type after the column", list(text(kindBool, "\x01"), number(1, kindI8)), fault.TypeMismatch, "value.list: element_type is I8, but the elements are BOOL"},
		{"element_type 1", list(number(1, 1)), fault.BadType, "value.list: element_type 1 does not exist"},
		{"element_type 14", list(number(1, 14)), fault.BadType, "value.list: element_type 14 does not exist"},
		{"element_type 16", list(number(1, 16)), fault.BadType, "value.list: element_type 16 does not exist"},
		{"element_type 14 with elements", list(number(1, 14), text(kindBool, "\x01")), fault.BadType, "value.list: element_type 14 does not exist"},
		{"element_type -1", list(number(1, 1<<64-1)), fault.BadType, "value.list: element_type -1 does not exist"},
		{"element_type of 33 bits", list(number(1, 1<<32+kindI8)), fault.VarintOverflow, "value.list: varint of more than 32 bits"},
		{"wrong element_type of keys", submessage(kindMap, submessage(1, number(1, 99))), fault.BadType, "value.map.keys: element_type 99 does not exist"},

		{"more keys", submessage(kindMap, submessage(1, text(kindI8, "abc")), submessage(2, text(kindI8, "ab"))), fault.CountMismatch, "value.map: 3 keys, but 2 values"},
		{"no values", inField(submessage(kindMap, submessage(1, text(kindI8, "abc")))), fault.CountMismatch, "value.struct.fields[3].map: 3 keys, but 0 values"},
		{"no keys", submessage(kindMap, submessage(2, text(kindString, ""))), fault.CountMismatch, "value.map: 0 keys, but 1 values"},
		{"uuid of 15 bytes", inField(text(kindUUID, "123456789012345")), fault.CountMismatch, "value.struct.fields[3].uuid: 15 bytes, want 16"},
		{"uuid of 17 bytes", text(kindUUID, "12345678901234567"), fault.CountMismatch, "value.uuid: 17 bytes, want 16"},
		{"empty uuid in a list", list(text(kindUUID, "1234567890123456"), text(kindUUID, "")), fault.CountMismatch, "value.list.uuids[1]: 0 bytes, want 16"},

		{"string not UTF-8", inField(text(kindString, "secret\xc3(")), fault.BadUTF8, "value.struct.fields[3].string: not valid UTF-8"},
		{"long string not UTF-8", inField(text(kindString, strings.Repeat("x", 200)+"\xff")), fault.BadUTF8, "value.struct.fields[3].string: not valid UTF-8"},
		{"string cut in a character", text(kindString, "\xc3"), fault.BadUTF8, "value.string: not valid UTF-8"},
		{"string element", list(text(kindString, "a"), text(kindString, "b"), text(kindString, "\xed\xa0\x80")), fault.BadUTF8, "value.list.strings[2]: not valid UTF-8"},
		{"string key", submessage(kindMap, submessage(2, text(kindI8, "a")), submessage(1, text(kindString, "\xff"))), fault.BadUTF8, "value.map.keys.strings[0]: not valid UTF-8"},

		{"i8 above", inField(number(kindI8, protowire.EncodeZigZag(128))), fault.IntRange, "value.struct.fields[3].i8: out of range: 128, want -128..127"},
		{"i8 below", inField(number(kindI8, protowire.EncodeZigZag(-129))), fault.IntRange, "value.struct.fields[3].i8: out of range: -129, want -128..127"},
		{"i16 above", inField(number(kindI16, protowire.EncodeZigZag(40000))), fault.IntRange, "value.struct.fields[3].i16: out of range: 40000, want -32768..32767"},
		{"i16 below", inField(number(kindI16, protowire.EncodeZigZag(-32769))), fault.IntRange, "value.struct.fields[3].i16: out of range: -32769, want -32768..32767"},
		{"i16 root", number(kindI16, protowire.EncodeZigZag(32768)), fault.IntRange, "value.i16: out of range: 32768, want -32768..32767"},
		{"i16 element", inField(list(text(kindI16, string(run(1, 2, 65535, 65536, 3))))), fault.IntRange, "value.struct.fields[3].list.i16s[3]: out of range: 32768, want -32768..32767"},
		{"i32 of 33 bits", inField(number(kindI32, 1<<32+10)), fault.VarintOverflow, "value.struct.fields[3].i32: varint of more than 32 bits"},
		{"i32 of 64 bits", inField(number(kindI32, 1<<63)), fault.VarintOverflow, "value.struct.fields[3].i32: varint of more than 32 bits"},
		{"i8 of 33 bits", number(kindI8, 1<<32), fault.VarintOverflow, "value.i8: varint of more than 32 bits"},
		{"i32 element of 33 bits", inField(list(text(kindI32, string(append(run(make([]uint64, 17)...), run(1<<32, 1)...))))), fault.VarintOverflow, "value.struct.fields[3].list.i32s[17]: varint of more than 32 bits"},
		{"i64 of 65 bits", inField(join(unhex(t, "30 8080808080808080 80 02"))), fault.VarintOverflow, "value.struct.fields[3].i64: varint of more than 64 bits"},
		{"i64 of eleven bytes", join(unhex(t, "30 8080808080808080 80 80 01")), fault.VarintOverflow, "value.i64: varint of more than 64 bits"},
		{"i64 element of 65 bits", list(text(kindI64, string(unhex(t, "02 ffffffffffffffffff02")))), fault.VarintOverflow, "value.list.i64s[1]: varint of more than 64 bits"},
		{"id above", structOf(join(id(32768), number(kindBool, 1))), fault.IntRange, "value.struct.fields[0].id: out of range: 32768, want -32768..32767"},
		{"id below, after the kind", structOf(good, join(number(kindBool, 1), id(-32769))), fault.IntRange, "value.struct.fields[1].id: out of range: -32769, want -32768..32767"},
		{"id below", structOf(join(id(-32769), number(kindBool, 1))), fault.IntRange, "value.struct.fields[0].id: out of range: -32769, want -32768..32767"},
		{"id above, after the kind", structOf(good, join(number(kindBool, 1), id(32768))), fault.IntRange, "value.struct.fields[1].id: out of range: 32768, want -32768..32767"},
		{"largest id of 32 bits", structOf(join(number(1, 1<<32-2), number(kindBool, 1))), fault.IntRange, "value.struct.fields[0].id: out of range: 2147483647, want -32768..32767"},
		{"smallest id of 32 bits", structOf(join(number(1, 1<<32-1), number(kindBool, 1))), fault.IntRange, "value.struct.fields[0].id: out of range: -2147483648, want -32768..32767"},
		{"smallest number of 33 bits as an id", structOf(join(number(1, 1<<32), number(kindBool, 1))), fault.VarintOverflow, "value.struct.fields[0].id: varint of more than 32 bits"},
		{"id of 33 bits", structOf(join(number(1, 1<<32+2), number(kindBool, 1))), fault.VarintOverflow, "value.struct.fields[0].id: varint of more than 32 bits"},
		{"id of 64 bits", structOf(good, join(number(kindBool, 1), number(1, 1<<64-1))), fault.VarintOverflow, "value.struct.fields[1].id: varint of more than 32 bits"},
		{"id of 65 bits", structOf(join(unhex(t, "08 ffffffffffffffffff02"), number(kindBool, 1))), fault.VarintOverflow, "value.struct.fields[0].id: varint of more than 64 bits"},

		{"unknown member of Value", join(number(kindBool, 1), number(16, 1)), fault.BadProto, "value: malformed protobuf: no member has the number 16"},
		{"reserved member of Value", number(1, 1), fault.BadProto, "value: malformed protobuf: no member has the number 1"},
		{"unknown member of Field", structOf(good, join(good, number(14, 1))), fault.BadProto, "value.struct.fields[1]: malformed protobuf: no member has the number 14"},
		{"unknown member of Struct", submessage(kindStruct, number(2, 1)), fault.BadProto, "value.struct: malformed protobuf: no member has the number 2"},
		{"unknown member of List", list(text(14, "")), fault.BadProto, "value.list: malformed protobuf: no member has the number 14"},
		{"unknown member of Map", submessage(kindMap, text(3, "")), fault.BadProto, "value.map: malformed protobuf: no member has the number 3"},
		{"large unknown number", structOf(join(good, number(1000, 1))), fault.BadProto, "value.struct.fields[0]: malformed protobuf: no member has the number 1000"},
		{"member 0", []byte{0, 0}, fault.BadProto, "value: malformed protobuf: no member has the number 0"},
		{"i32 as bytes", inField(text(kindI32, "a")), fault.BadProto, "value.struct.fields[3]: malformed protobuf: member 5 with wire type 2"},
		{"string as varint", number(kindString, 1), fault.BadProto, "value: malformed protobuf: member 15 with wire type 0"},
		{"strings as varint", list(number(kindString, 1)), fault.BadProto, "value.list: malformed protobuf: member 15 with wire type 0"},
		{"i8s as varint", list(number(kindI8, 1)), fault.BadProto, "value.list: malformed protobuf: member 3 with wire type 0"},
		{"double of four bytes", unhex(t, "3d 00000000"), fault.BadProto, "value: malformed protobuf: member 7 with wire type 5"},
		{"group", unhex(t, "63 64"), fault.BadProto, "value: malformed protobuf: member 12 with wire type 3"},
		{"fields as a group", submessage(kindStruct, unhex(t, "0b 0c")), fault.BadProto, "value.struct: malformed protobuf: member 1 with wire type 3"},
		{"id as bytes", structOf(text(1, "")), fault.BadProto, "value.struct.fields[0]: malformed protobuf: member 1 with wire type 2"},
		{"wire type 7", unhex(t, "67"), fault.BadProto, "value: malformed protobuf: member 12 with wire type 7"},

		{"tag only", []byte{kindStruct<<3 | 2}, fault.BadProto, "value: malformed protobuf: ends inside of a member"},
		{"length beyond the end", []byte{kindStruct<<3 | 2, 5, 0}, fault.BadProto, "value: malformed protobuf: ends inside of a member"},
		{"length of 64 bits", unhex(t, "62 ffffffffffffffffff01"), fault.BadProto, "value: malformed protobuf: ends inside of a member"},
		{"length of 65 bits", unhex(t, "62 ffffffffffffffffff02"), fault.BadProto, "value: malformed protobuf: a tag or length is not a varint of at most 64 bits"},
		{"tag of 65 bits", unhex(t, "ffffffffffffffffff02"), fault.BadProto, "value: malformed protobuf: a tag or length is not a varint of at most 64 bits"},
		{"varint without end", structOf(good, unhex(t, "08 02 28 ff")), fault.BadProto, "value.struct.fields[1].i32: malformed protobuf: ends inside of a member"},
		{"double cut off", inField(unhex(t, "39 00000000000000")), fault.BadProto, "value.struct.fields[3]: malformed protobuf: ends inside of a member"},
		{"run of doubles cut off", inField(list(text(kindDouble, "1234567"))), fault.BadProto, "value.struct.fields[3].list: malformed protobuf: ends inside of a member"},
		{"run of i32 cut off", list(text(kindI32, "\x01\x80")), fault.BadProto, "value.list.i32s[1]: malformed protobuf: ends inside of a member"},
		{"element cut off", list(text(kindString, "a"), []byte{kindString<<3 | 2, 9}), fault.BadProto, "value.list: malformed protobuf: ends inside of a member"},
		{"element without length", list(text(kindString, "a"), []byte{kindString<<3 | 2}), fault.BadProto, "value.list: malformed protobuf: ends inside of a member"},
		{"keys cut off", submessage(kindMap, []byte{10, 1}), fault.BadProto, "value.map: malformed protobuf: ends inside of a member"},

		{
			"deep path", structOf(good, join(id(1), submessage(kindMap, submessage(1, text(kindI8, "ab")), submessage(2, submessage(kindList, submessage(kindSet, submessage(kindStruct))), submessage(kindList, submessage(kindSet, submessage(kindStruct), submessage(kindStruct, submessage(1)))))))),
			fault.MissingKind, "value.struct.fields[1].map.values.lists[1].sets[0].structs[1].fields[0]: no kind is set",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, p := range []Protocol{Compact, Binary} {
				_, err := encode(t, test.wire, &Options{Limits: testLimits, Protocol: p})
				if reason(t, err) != test.reason || err.Error() != test.text {
					t.Errorf("protocol %d: error = %s %q,\nwant %s %q", p, reason(t, err), err, test.reason, test.text)
				}
				if !errors.Is(err, fault.New(test.reason, "")) {
					t.Errorf("errors.Is does not match %s", test.reason)
				}
			}
		})
	}
}

// TestLimits shows that a value passes at each limit and fails above it, by name and with both numbers.
func TestLimits(t *testing.T) {
	t.Parallel()
	nested := func(n int) *thriftpackv1.Value { // n structs in each other
		s := thriftpackv1.StructOf()
		for range n - 1 {
			s = thriftpackv1.StructOf(thriftpackv1.StructField(1, s))
		}
		return &thriftpackv1.Value{Kind: &thriftpackv1.Value_Struct{Struct: s}}
	}
	mixed := func(list *thriftpackv1.List) *thriftpackv1.Value { // list, map, set, list: 4 levels and those of list
		return thriftpackv1.ListValue(thriftpackv1.MapList(thriftpackv1.MapOf(thriftpackv1.I8List(1), thriftpackv1.SetList(thriftpackv1.ListList(list)))))
	}
	limits := Limits{Depth: 5, Elements: 5, StringBytes: 5, SlowNodes: 5}
	slow := func(n int) []byte { // n members: the value, its struct in two parts, and a field of one or more
		return join(submessage(kindStruct, submessage(1, bytes.Repeat(id(1), n-5), number(kindBool, 1))), submessage(kindStruct))
	}
	numbers := func(n int) *thriftpackv1.List { return thriftpackv1.I32List(make([]int32, n)...) }
	tests := []struct {
		name   string
		wire   func(n int) []byte
		reason fault.Reason
		text   string
	}{
		{"structs", func(n int) []byte { return marshal(t, nested(n)) }, fault.DepthLimit, "value.struct.fields[0].struct.fields[0].struct.fields[0].struct.fields[0].struct.fields[0].struct: depth 6 exceeds the limit of 5 (--max-depth)"},
		{
			"containers", func(n int) []byte {
				if n == 5 {
					return marshal(t, mixed(thriftpackv1.ListList(numbers(1))))
				}
				return marshal(t, mixed(thriftpackv1.ListList(thriftpackv1.ListList(numbers(1)))))
			}, fault.DepthLimit, "value.list.maps[0].values.sets[0].lists[0].lists[0].lists[0]: depth 6 exceeds the limit of 5 (--max-depth)",
		},
		{"list", func(n int) []byte { return marshal(t, thriftpackv1.ListValue(numbers(n))) }, fault.SizeLimit, "value.list: number of elements 6 exceeds the limit of 5 (--max-elements)"},
		{"bools", func(n int) []byte {
			return marshal(t, thriftpackv1.ListValue(thriftpackv1.BoolList(make([]bool, n)...)))
		}, fault.SizeLimit, "value.list: number of elements 6 exceeds the limit of 5 (--max-elements)"},
		{"structs in a set", func(n int) []byte {
			return marshal(t, thriftpackv1.SetValue(&thriftpackv1.List{Structs: make([]*thriftpackv1.Struct, n)}))
		}, fault.SizeLimit, "value.set: number of elements 6 exceeds the limit of 5 (--max-elements)"},
		{"map", func(n int) []byte {
			return marshal(t, thriftpackv1.MapValue(thriftpackv1.MapOf(numbers(n), numbers(n))))
		}, fault.SizeLimit, "value.map.keys: number of elements 6 exceeds the limit of 5 (--max-elements)"},
		{"string", func(n int) []byte { return marshal(t, thriftpackv1.StringValue(strings.Repeat("x", n))) }, fault.SizeLimit, "value.string: number of bytes 6 exceeds the limit of 5 (--max-string-bytes)"},
		{"string field", func(n int) []byte {
			return marshal(t, thriftpackv1.StructValue(thriftpackv1.StringField(1, strings.Repeat("x", n))))
		}, fault.SizeLimit, "value.struct.fields[0].string: number of bytes 6 exceeds the limit of 5 (--max-string-bytes)"},
		{"binary field", func(n int) []byte {
			return marshal(t, thriftpackv1.StructValue(thriftpackv1.BinaryField(1, make([]byte, n))))
		}, fault.SizeLimit, "value.struct.fields[0].binary: number of bytes 6 exceeds the limit of 5 (--max-string-bytes)"},
		{"string element", func(n int) []byte {
			return marshal(t, thriftpackv1.ListValue(thriftpackv1.StringList("a", strings.Repeat("x", n))))
		}, fault.SizeLimit, "value.list.strings[1]: number of bytes 6 exceeds the limit of 5 (--max-string-bytes)"},
		{"slow nodes", slow, fault.SizeLimit, "value: number of members to normalise 6 exceeds the limit of 5 (--max-slow-nodes)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, p := range []Protocol{Compact, Binary} {
				o := &Options{Limits: limits, Protocol: p}
				if _, err := encode(t, test.wire(5), o); err != nil {
					t.Errorf("at the limit: %v", err)
				}
				_, err := encode(t, test.wire(6), o)
				if reason(t, err) != test.reason || err.Error() != test.text {
					t.Errorf("above the limit: %s %q,\nwant %s %q", reason(t, err), err, test.reason, test.text)
				}
				var f *fault.Error
				if errors.As(err, &f) && (f.Limit != 5 || f.Actual != 6) {
					t.Errorf("limit %d, actual %d, want 5 and 6", f.Limit, f.Actual)
				}
				// A limit that was forgotten refuses, and a scalar of nothing that is bounded passes.
				if _, err := encode(t, test.wire(5), &Options{Protocol: p}); err == nil {
					t.Errorf("with limits of zero: no error")
				}
			}
		})
	}
}

// TestMaxDepth shows that the depth is bounded whatever is configured, without running out of stack.
func TestMaxDepth(t *testing.T) {
	t.Parallel()
	limits := testLimits
	limits.Depth, limits.SlowNodes = 1<<40, 1<<40
	nest := func(n int, inner []byte) []byte {
		wire := append(make([]byte, 6*n), inner...) // filled from its end
		at := 6 * n
		for range n {
			head := protowire.AppendVarint([]byte{kindList<<3 | 2}, uint64(len(wire)-at)) // not negative
			at -= len(head)
			copy(wire[at:], head)
		}
		return wire[at:]
	}
	leaf := number(1, kindI8)
	o := &Options{Limits: limits}
	if _, err := encode(t, nest(MaxDepth, leaf), o); err != nil {
		t.Errorf("%d levels: %v", MaxDepth, err)
	}
	_, err := encode(t, nest(MaxDepth+1, leaf), o)
	if reason(t, err) != fault.DepthLimit || len(err.Error()) > 2*maxPath {
		t.Errorf("%d levels: %.100v", MaxDepth+1, err)
	}
	_, err = encode(t, nest(5*MaxDepth, number(1, 1<<64-1)), o)
	if reason(t, err) != fault.DepthLimit {
		t.Errorf("%d levels: %.100v", 5*MaxDepth, err)
	}
	_, err = encode(t, nest(5*MaxDepth, unhex(t, "0883 00")), o) // not minimal
	if reason(t, err) != fault.DepthLimit {
		t.Errorf("%d levels on the slow path: %.100v", 5*MaxDepth, err)
	}
}

// TestEveryCauseHasWords shows that no cause is described as a fault of this package by mistake.
func TestEveryCauseHasWords(t *testing.T) {
	t.Parallel()
	e := Encoder{options: &Options{}}
	for c := causeEnds; c < causeUnprepared; c++ {
		if err := e.describe(&failure{cause: c, got: 1, want: 2}); err.Reason == fault.Internal {
			t.Errorf("cause %d: %v", c, err)
		}
	}
}
