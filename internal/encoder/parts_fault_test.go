package encoder

import (
	"bytes"
	"fmt"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// TestPartsFaults has every way in which parts can be wrong, with the whole text of the error. The fault is in the last
// part; in none where it is the end of the stream that comes too early.
func TestPartsFaults(t *testing.T) {
	t.Parallel()
	begin := beginPart
	list2 := func() *thriftpackv1.Part { return openList(tI32, 2) }
	map2 := func() *thriftpackv1.Part { return openMap(tString, tStruct, 2) }
	rawBegin := func(members ...[]byte) []byte { return submessage(partBegin, members...) }
	isStruct := number(beginType, kindStruct)
	tests := []struct {
		name  string
		parts []any // *thriftpackv1.Part, or wire bytes
		text  string
	}{
		// The part as a whole.
		{"nothing", []any{[]byte(nil)}, "MISSING_KIND no part is set"},
		{"unknown member", []any{submessage(7)}, "BAD_PROTO malformed protobuf: no member has the number 7"},
		{"unknown large member", []any{submessage(1000)}, "BAD_PROTO malformed protobuf: no member has the number 1000"},
		{"a member that a value has", []any{submessage(kindStruct)}, "BAD_PROTO malformed protobuf: no member has the number 12"},
		{"wire type of begin", []any{number(partBegin, 1)}, "BAD_PROTO malformed protobuf: member 1 with wire type 0"},
		{"wire type of data", []any{number(partData, 1)}, "BAD_PROTO malformed protobuf: member 5 with wire type 0"},
		{"group", []any{unhex(t, "0b 0c")}, "BAD_PROTO malformed protobuf: member 1 with wire type 3"},
		{"cut off after the tag", []any{unhex(t, "0a")}, "BAD_PROTO malformed protobuf: ends inside of a member"},
		{"cut off in the member", []any{unhex(t, "0a 05 08")}, "BAD_PROTO malformed protobuf: ends inside of a member"},
		{"length of 11 bytes", []any{unhex(t, "0a ffffffffffffffffffff01")}, "BAD_PROTO malformed protobuf: a tag or length is not a varint of at most 64 bits"},
		{"bytes after the member", []any{unhex(t, "32 00 00 00")}, "BAD_PROTO malformed protobuf: no member has the number 0"},
		{"a fault in what another member takes away", []any{join(submessage(partElements, number(14, 1)), marshal(t, openStruct()))}, "BAD_PROTO elements: malformed protobuf: no member has the number 14"},
		{"a begin taken away", []any{join(rawBegin(number(beginType, 99)), marshal(t, openStruct()))}, "BAD_TYPE begin.type: type 99 does not exist"},
		{"an end taken away", []any{join(submessage(partEnd, number(1, 1)), marshal(t, openStruct()))}, "BAD_PROTO end: malformed protobuf: no member has the number 1"},

		// Begin by itself.
		{"no type", []any{begin(&thriftpackv1.Begin{Size: 1})}, "MISSING_KIND begin.type: no type"},
		{"type 1", []any{begin(&thriftpackv1.Begin{Type: 1})}, "BAD_TYPE begin.type: type 1 does not exist"},
		{"type 14", []any{begin(&thriftpackv1.Begin{Type: 14})}, "BAD_TYPE begin.type: type 14 does not exist"},
		{"type 16", []any{begin(&thriftpackv1.Begin{Type: 16})}, "BAD_TYPE begin.type: type 16 does not exist"},
		{"type 268", []any{begin(&thriftpackv1.Begin{Type: 256 + kindStruct})}, "BAD_TYPE begin.type: type 268 does not exist"},
		{"type -1", []any{begin(&thriftpackv1.Begin{Type: -1})}, "BAD_TYPE begin.type: type -1 does not exist"},
		{"type of 33 bits", []any{rawBegin(number(beginType, 1<<32+kindStruct))}, "VARINT_OVERFLOW begin.type: varint of more than 32 bits"},
		{"type of 65 bits", []any{rawBegin(unhex(t, "08 ffffffffffffffffff7f"))}, "VARINT_OVERFLOW begin: varint of more than 64 bits"},
		{"scalar", []any{begin(&thriftpackv1.Begin{Type: tI32})}, "TYPE_MISMATCH begin.type: I32 cannot be opened"},
		{"uuid", []any{begin(&thriftpackv1.Begin{Type: tUUID})}, "TYPE_MISMATCH begin.type: UUID cannot be opened"},
		{"unknown member of begin", []any{rawBegin(isStruct, number(7, 1))}, "BAD_PROTO begin: malformed protobuf: no member has the number 7"},
		{"wire type of size", []any{rawBegin(isStruct, text(beginSize, ""))}, "BAD_PROTO begin: malformed protobuf: member 6 with wire type 2"},
		{"wire type of key", []any{rawBegin(isStruct, number(beginKey, 1))}, "BAD_PROTO begin: malformed protobuf: member 3 with wire type 0"},
		{"begin cut off", []any{rawBegin(isStruct, []byte{beginSize << 3})}, "BAD_PROTO begin: malformed protobuf: ends inside of a member"},
		{"size -1", []any{openText(tString, -1)}, "NEGATIVE_SIZE begin.size: out of range: -1, want 0..2147483647"},
		{"size 2^31", []any{openList(tI8, 1<<31)}, "NEGATIVE_SIZE begin.size: out of range: 2147483648, want 0..2147483647"},
		{"list without element_type", []any{openList(tNone, 0)}, "MISSING_KIND begin.element_type: no element_type"},
		{"map without element_type", []any{openMap(tI8, tNone, 1)}, "MISSING_KIND begin.element_type: no element_type"},
		{"map without key_type", []any{openMap(tNone, tI8, 1)}, "MISSING_KIND begin.key_type: no key_type"},
		{"element_type 14", []any{openList(14, 0)}, "BAD_TYPE begin.element_type: type 14 does not exist"},
		{"key_type 1", []any{openMap(1, tI8, 0)}, "BAD_TYPE begin.key_type: type 1 does not exist"},
		{"element_type of a struct", []any{begin(&thriftpackv1.Begin{Type: tStruct, ElementType: tI8})}, "TYPE_MISMATCH begin.element_type: a STRUCT has no elements"},
		{"element_type of a string", []any{begin(&thriftpackv1.Begin{Type: tString, ElementType: tI8})}, "TYPE_MISMATCH begin.element_type: a STRING has no elements"},
		{"key_type of a list", []any{begin(&thriftpackv1.Begin{Type: tList, ElementType: tI8, KeyType: tI8})}, "TYPE_MISMATCH begin.key_type: a LIST has no keys"},

		// Begin in its place.
		{"field id 32768", []any{openStruct(), begin(&thriftpackv1.Begin{Type: tStruct, FieldId: 32768})}, "INT_RANGE begin.field_id: out of range: 32768, want -32768..32767"},
		{"field id -32769", []any{openStruct(), begin(&thriftpackv1.Begin{Type: tStruct, FieldId: -32769})}, "INT_RANGE begin.field_id: out of range: -32769, want -32768..32767"},
		{"field id of 33 bits", []any{openStruct(), rawBegin(isStruct, number(beginFieldID, 1<<33))}, "VARINT_OVERFLOW begin.field_id: varint of more than 32 bits"},
		{"field id at the root", []any{begin(&thriftpackv1.Begin{Type: tStruct, FieldId: 1})}, "TYPE_MISMATCH begin.field_id: a field id outside of a STRUCT"},
		{"field id in a list", []any{openList(tStruct, 1), begin(&thriftpackv1.Begin{Type: tStruct, FieldId: 1})}, "TYPE_MISMATCH begin.field_id: a field id outside of a STRUCT"},
		{"field id in a map", []any{map2(), begin(&thriftpackv1.Begin{Type: tStruct, FieldId: 1, Key: thriftpackv1.StringValue("")})}, "TYPE_MISMATCH begin.field_id: a field id outside of a STRUCT"},
		{"key at the root", []any{begin(&thriftpackv1.Begin{Type: tStruct, Key: thriftpackv1.I8Value(1)})}, "TYPE_MISMATCH begin.key: a key outside of a MAP"},
		{"key in a struct", []any{openStruct(), begin(&thriftpackv1.Begin{Type: tStruct, Key: thriftpackv1.I8Value(1)})}, "TYPE_MISMATCH begin.key: a key outside of a MAP"},
		{"key in a list", []any{openList(tStruct, 1), begin(&thriftpackv1.Begin{Type: tStruct, Key: thriftpackv1.I8Value(1)})}, "TYPE_MISMATCH begin.key: a key outside of a MAP"},
		{"no key in a map", []any{map2(), openStruct()}, "MISSING_KIND begin.key: no key"},
		{"key without a kind", []any{map2(), begin(&thriftpackv1.Begin{Type: tStruct, Key: &thriftpackv1.Value{}})}, "MISSING_KIND begin.key: no kind is set"},
		{"key of another type", []any{map2(), begin(&thriftpackv1.Begin{Type: tStruct, Key: thriftpackv1.BinaryValue(nil)})}, "TYPE_MISMATCH begin.key: a BINARY, want STRING as declared"},
		{"key not text", []any{map2(), rawBegin(isStruct, submessage(beginKey, text(kindString, "\xff")))}, "BAD_UTF8 begin.key.string: not valid UTF-8"},
		{"key not text, merged", []any{map2(), rawBegin(isStruct, submessage(beginKey, text(kindString, "a")), submessage(beginKey, text(kindString, "\xff")))}, "BAD_UTF8 begin.key.string: not valid UTF-8"},
		{"key with an unknown member", []any{map2(), rawBegin(isStruct, submessage(beginKey, number(14, 1)))}, "BAD_PROTO begin.key: malformed protobuf: no member has the number 14"},
		{"a fault deep in a key", []any{openMap(tStruct, tStruct, 1), rawBegin(isStruct, submessage(beginKey, structOf(number(kindBool, 1), number(kindI8, 900))))}, "INT_RANGE begin.key.struct.fields[1].i8: out of range: 450, want -128..127"},
		{"a fault deep in a key, merged", []any{openMap(tStruct, tStruct, 1), rawBegin(isStruct, submessage(beginKey, structOf(number(kindBool, 2), number(kindI8, 900))))}, "INT_RANGE begin.key.struct.fields[1].i8: out of range: 450, want -128..127"},
		{"element of another type", []any{openList(tStruct, 1), list2()}, "TYPE_MISMATCH begin.type: a LIST, want STRUCT as declared"},
		{"set is not list", []any{openList(tSet, 1), list2()}, "TYPE_MISMATCH begin.type: a LIST, want SET as declared"},
		{"string is not binary", []any{openList(tBinary, 1), openText(tString, 1)}, "TYPE_MISMATCH begin.type: a STRING, want BINARY as declared"},
		{"value of another type", []any{map2(), begin(&thriftpackv1.Begin{Type: tString, Key: thriftpackv1.StringValue("")})}, "TYPE_MISMATCH begin.type: a STRING, want STRUCT as declared"},
		{"container among scalars", []any{list2(), openStruct()}, "TYPE_MISMATCH begin.type: a STRUCT, want I32 as declared"},
		{"one element too many", []any{openList(tStruct, 1), openStruct(), endPart(), openStruct()}, "COUNT_MISMATCH begin: none of 1 is left"},
		{"element of an empty list", []any{openList(tStruct, 0), openStruct()}, "COUNT_MISMATCH begin: none of 0 is left"},
		{"one entry too many", []any{openMap(tI8, tStruct, 0), begin(&thriftpackv1.Begin{Type: tStruct, Key: thriftpackv1.I8Value(1)})}, "COUNT_MISMATCH begin: none of 0 is left"},
		{"begin in a string", []any{openText(tString, 1), openStruct()}, "TYPE_MISMATCH begin: no place for begin: open is a STRING"},
		{"begin in a binary", []any{openText(tBinary, 0), openText(tBinary, 0)}, "TYPE_MISMATCH begin: no place for begin: open is a BINARY"},

		// Whole fields.
		{"fields at the root", []any{fieldsPart()}, "TYPE_MISMATCH fields: no place for fields: nothing is open"},
		{"fields in a list", []any{openList(tStruct, 1), fieldsPart()}, "TYPE_MISMATCH fields: no place for fields: open is a LIST"},
		{"fields in a map", []any{map2(), fieldsPart()}, "TYPE_MISMATCH fields: no place for fields: open is a MAP"},
		{"fields in a binary", []any{openText(tBinary, 1), fieldsPart()}, "TYPE_MISMATCH fields: no place for fields: open is a BINARY"},
		{"i16 out of range", []any{openStruct(), fieldsPart(thriftpackv1.I16Field(1, 1), fieldOf(2, &thriftpackv1.Value{Kind: &thriftpackv1.Value_I16{I16: 40000}}))}, "INT_RANGE fields.fields[1].i16: out of range: 40000, want -32768..32767"},
		{"field id out of range", []any{openStruct(), fieldsPart(fieldOf(40000, thriftpackv1.I8Value(1)))}, "INT_RANGE fields.fields[0].id: out of range: 40000, want -32768..32767"},
		{"field without a kind", []any{openStruct(), fieldsPart(&thriftpackv1.Field{Id: 1})}, "MISSING_KIND fields.fields[0]: no kind is set"},
		{"i16 out of range, merged", []any{openStruct(), submessage(partFields, submessage(1, number(kindBool, 2)), submessage(1, number(kindI16, 80000)))}, "INT_RANGE fields.fields[1].i16: out of range: 40000, want -32768..32767"},
		{"unknown member, merged", []any{openStruct(), submessage(partFields, submessage(1, number(kindBool, 2)), submessage(1, number(14, 1)))}, "BAD_PROTO fields.fields[1]: malformed protobuf: no member has the number 14"},

		// Whole elements.
		{"elements in a struct", []any{openStruct(), elementsPart(thriftpackv1.I32List(1))}, "TYPE_MISMATCH elements: no place for elements: open is a STRUCT"},
		{"elements in a map", []any{map2(), elementsPart(thriftpackv1.StringList("a"))}, "TYPE_MISMATCH elements: no place for elements: open is a MAP"},
		{"elements in a string", []any{openText(tString, 1), elementsPart(thriftpackv1.StringList("a"))}, "TYPE_MISMATCH elements: no place for elements: open is a STRING"},
		{"no element at the root", []any{elementsPart(thriftpackv1.EmptyList(tI8))}, "COUNT_MISMATCH elements: 0 values, want one: nothing is open"},
		{"two elements at the root", []any{elementsPart(thriftpackv1.I8List(1, 2))}, "COUNT_MISMATCH elements: 2 values, want one: nothing is open"},
		{"elements of another type", []any{list2(), elementsPart(thriftpackv1.I64List(1))}, "TYPE_MISMATCH elements: I64, want I32 as declared"},
		{"no elements, but another type", []any{list2(), elementsPart(thriftpackv1.EmptyList(tI64))}, "TYPE_MISMATCH elements: I64, want I32 as declared"},
		{"strings for binaries", []any{openList(tBinary, 1), elementsPart(thriftpackv1.StringList("a"))}, "TYPE_MISMATCH elements: STRING, want BINARY as declared"},
		{"too many elements", []any{list2(), elementsPart(thriftpackv1.I32List(1)), elementsPart(thriftpackv1.I32List(2, 3))}, "COUNT_MISMATCH elements: 2, but only 1 of 2 are left"},
		{"two columns", []any{list2(), elementsPart(&thriftpackv1.List{I32S: []int32{1}, I64S: []int64{1}})}, "TYPE_MISMATCH elements: elements in two columns: i32s and i64s"},
		{"element out of range", []any{openList(tI16, 5), submessage(partElements, text(kindI16, "\x02\x04\x80\x80\x08"))}, "INT_RANGE elements.i16s[2]: out of range: 65536, want -32768..32767"},
		{"element out of range, merged", []any{openList(tI16, 5), submessage(partElements, text(kindI16, "\x02\x04"), text(kindI16, "\x80\x80\x08"))}, "INT_RANGE elements.i16s[2]: out of range: 65536, want -32768..32767"},
		{"element not text", []any{openList(tString, 5), submessage(partElements, text(kindString, "a"), text(kindString, "\xc3"))}, "BAD_UTF8 elements.strings[1]: not valid UTF-8"},
		{"uuid of 15 bytes", []any{openList(tUUID, 5), elementsPart(&thriftpackv1.List{Uuids: [][]byte{make([]byte, 15)}})}, "COUNT_MISMATCH elements.uuids[0]: 15 bytes, want 16"},
		{"a fault deep in an element", []any{openList(tStruct, 5), elementsPart(thriftpackv1.StructList(thriftpackv1.StructOf(), thriftpackv1.StructOf(thriftpackv1.ListField(1, &thriftpackv1.List{}))))}, "MISSING_KIND elements.structs[1].fields[0].list: no elements and no element_type"},

		// Whole entries.
		{"entries at the root", []any{entriesPart(nil, nil)}, "TYPE_MISMATCH entries: no place for entries: nothing is open"},
		{"entries in a struct", []any{openStruct(), entriesPart(nil, nil)}, "TYPE_MISMATCH entries: no place for entries: open is a STRUCT"},
		{"entries in a set", []any{begin(&thriftpackv1.Begin{Type: tSet, ElementType: tMap, Size: 1}), entriesPart(nil, nil)}, "TYPE_MISMATCH entries: no place for entries: open is a SET"},
		{"keys of another type", []any{map2(), entriesPart(thriftpackv1.I8List(1), thriftpackv1.StructList(thriftpackv1.StructOf()))}, "TYPE_MISMATCH entries.keys: I8, want STRING as declared"},
		{"values of another type", []any{map2(), entriesPart(thriftpackv1.StringList("a"), thriftpackv1.I8List(1))}, "TYPE_MISMATCH entries.values: I8, want STRUCT as declared"},
		{"types in a map without", []any{openMap(tNone, tNone, 0), entriesPart(thriftpackv1.EmptyList(tI8), nil)}, "TYPE_MISMATCH entries.keys: I8, want UNSPECIFIED as declared"},
		{"too many entries", []any{openMap(tI8, tI8, 1), entriesPart(thriftpackv1.I8List(1, 2), thriftpackv1.I8List(1, 2))}, "COUNT_MISMATCH entries: 2, but only 1 of 1 are left"},
		{"keys without values", []any{openMap(tI8, tI8, 2), entriesPart(thriftpackv1.I8List(1, 2), thriftpackv1.I8List(1))}, "COUNT_MISMATCH entries: 2 keys, but 1 values"},
		{"a fault in a key", []any{openMap(tString, tI8, 2), submessage(partEntries, submessage(1, text(kindString, "\xff")), submessage(2, text(kindI8, "a")))}, "BAD_UTF8 entries.keys.strings[0]: not valid UTF-8"},
		{"a fault in a value, merged", []any{openMap(tI8, tString, 2), submessage(partEntries, submessage(1, text(kindI8, "a")), submessage(1, text(kindI8, "a")), submessage(2, text(kindString, "\xff")))}, "BAD_UTF8 entries.values.strings[0]: not valid UTF-8"},

		// Data.
		{"data at the root", []any{dataPart(nil)}, "TYPE_MISMATCH data: no place for data: nothing is open"},
		{"data in a list", []any{openList(tBinary, 1), dataPart(nil)}, "TYPE_MISMATCH data: no place for data: open is a LIST"},
		{"too much data", []any{openText(tBinary, 3), dataPart([]byte("ab")), dataPart([]byte("cd"))}, "COUNT_MISMATCH data: 2 bytes, but only 1 of 3 are left"},
		{"not text", []any{openText(tString, 3), dataPart([]byte("a\xff"))}, "BAD_UTF8 data: not valid UTF-8"},
		{"not text in the middle", []any{openText(tString, 30), dataPart([]byte("aaaaaaaaaaaaaaaaaaaa\xffbbbb"))}, "BAD_UTF8 data: not valid UTF-8"},
		{"not text across parts", []any{openText(tString, 3), dataPart([]byte("\xe2\x82")), dataPart([]byte("a"))}, "BAD_UTF8 data: not valid UTF-8"},
		{"surrogate across parts", []any{openText(tString, 3), dataPart([]byte("\xed")), dataPart([]byte("\xa0\x80"))}, "BAD_UTF8 data: not valid UTF-8"},
		{"character longer than needed", []any{openText(tString, 5), dataPart([]byte("\xe0")), dataPart([]byte("\x9f"))}, "BAD_UTF8 data: not valid UTF-8"},
		{"above U+10FFFF", []any{openText(tString, 5), dataPart([]byte("\xf4")), dataPart([]byte("\x90"))}, "BAD_UTF8 data: not valid UTF-8"},
		{"text ends in a character", []any{openText(tString, 3), dataPart([]byte("a")), dataPart([]byte("\xe2\x82"))}, "BAD_UTF8 data: not valid UTF-8"},

		// End.
		{"end of nothing", []any{endPart()}, "TYPE_MISMATCH end: no place for end: nothing is open"},
		{"end of a root twice", []any{openStruct(), endPart(), endPart()}, "TYPE_MISMATCH end: no place for end: nothing is open"},
		{"elements missing", []any{list2(), elementsPart(thriftpackv1.I32List(1)), endPart()}, "COUNT_MISMATCH end: 1 of 2 are missing"},
		{"entries missing", []any{map2(), endPart()}, "COUNT_MISMATCH end: 2 of 2 are missing"},
		{"bytes missing", []any{openText(tString, 9), dataPart([]byte("aé")), endPart()}, "COUNT_MISMATCH end: 6 of 9 are missing"},
		{"end with a member", []any{openStruct(), submessage(partEnd, number(1, 1))}, "BAD_PROTO end: malformed protobuf: no member has the number 1"},

		// The end of the stream.
		{"no part", nil, "MISSING_KIND no value: the stream of parts is empty"},
		{"ends in a struct", []any{openStruct()}, "TRUNCATED the stream ends inside of a STRUCT, 1 open"},
		{"ends in a list", []any{openStruct(), begin(&thriftpackv1.Begin{Type: tList, ElementType: tI8, Size: 3}), elementsPart(thriftpackv1.I8List(1))}, "TRUNCATED the stream ends inside of a LIST, 2 of 3 missing, 2 open"},
		{"ends before the end", []any{openText(tString, 1), dataPart([]byte("a"))}, "TRUNCATED the stream ends inside of a STRING, 0 of 1 missing, 1 open"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			parts := make([][]byte, len(test.parts))
			for i, part := range test.parts {
				switch part := part.(type) {
				case *thriftpackv1.Part:
					parts[i] = marshal(t, part)
				case []byte:
					parts[i] = part
				}
			}
			checkPartsFault(t, &Options{Limits: testLimits}, test.text, parts)
		})
	}
}

// checkPartsFault expects the fault in the last part, or at the end of the stream.
func checkPartsFault(t testing.TB, o *Options, want string, parts [][]byte) {
	t.Helper()
	var texts []string
	for _, protocol := range []Protocol{Compact, Binary} {
		o.Protocol = protocol
		var r partsRun
		got, err := r.run(o, minBuffer, parts...)
		if err == nil {
			t.Fatalf("parts = %x, want %s", got, want)
		}
		texts = append(texts, fmt.Sprint(reason(t, err), " ", err))
		if at := len(parts) - 1; r.at != at && r.at != at+1 {
			t.Errorf("the fault is in part %d, want %d", r.at, at)
		}
		if r.at < len(parts) {
			if before, err := r.run(o, minBuffer, parts[:r.at]...); string(before) != string(got) {
				t.Errorf("with the fault %x was written, without its part %x, %v", got, before, err)
			}
		}
	}
	for _, text := range texts {
		if text != want {
			t.Errorf("error = %q, want %q", text, want)
		}
	}
}

// TestPartsMessageFaults has what an envelope does not allow.
func TestPartsMessageFaults(t *testing.T) {
	t.Parallel()
	o := func() *Options { return &Options{Limits: testLimits, Message: &Message{"m", 1, 1}} }
	checkPartsFault(t, o(), "TYPE_MISMATCH begin: a message needs a STRUCT, not LIST", partsWire(t, openList(tI8, 1)))
	checkPartsFault(t, o(), "TYPE_MISMATCH elements: a message needs a STRUCT, not I8", partsWire(t, elementsPart(thriftpackv1.I8List(1))))
	checkPartsFault(t, o(), "COUNT_MISMATCH begin: a message holds one value", partsWire(t, openStruct(), endPart(), openStruct()))
	checkPartsFault(t, o(), "COUNT_MISMATCH elements: a message holds one value", partsWire(t, openStruct(), endPart(), elementsPart(thriftpackv1.StructList(thriftpackv1.StructOf()))))
	checkPartsFault(t, o(), "MISSING_KIND no value: the stream of parts is empty", nil)
}

// TestPartsLimits has both sides of every limit that counts, and shows that the others do not.
func TestPartsLimits(t *testing.T) {
	t.Parallel()
	nested := func(depth int) *thriftpackv1.Struct {
		s := thriftpackv1.StructOf()
		for range depth - 1 {
			s = thriftpackv1.StructOf(thriftpackv1.StructField(1, s))
		}
		return s
	}
	merged := func(s *thriftpackv1.Struct) []byte { // s as a field, in need of merging
		return submessage(partFields, submessage(1, id(1), id(1), submessage(kindStruct, marshal(t, s))))
	}
	const deep = "depth 5 exceeds the limit of 4 (--max-depth)"
	open2 := partsWire(t, openStruct(), openStruct())
	map2 := partsWire(t, openStruct(), openMap(tStruct, tStruct, 5))
	list2 := partsWire(t, openStruct(), openList(tStruct, 5))
	key := func(depth int) []byte {
		return marshal(t, beginPart(&thriftpackv1.Begin{Type: tStruct, Key: thriftpackv1.StructValue(nested(depth).GetFields()...)}))
	}
	mergedKey := func(s *thriftpackv1.Struct) []byte {
		return submessage(partBegin, number(beginType, kindStruct), submessage(beginKey), submessage(beginKey, submessage(kindStruct, marshal(t, s))))
	}
	tests := []struct {
		name       string
		before     [][]byte
		good, over []byte
		text       string
	}{
		{"begin", open2, partsWire(t, openStruct())[0], nil, ""},
		{"begin, one more", partsWire(t, openStruct(), openStruct(), openStruct()), partsWire(t, openStruct())[0], nil, ""},
		{"begin, too deep", partsWire(t, openStruct(), openStruct(), openStruct(), openStruct()), marshal(t, openText(tString, 3)), marshal(t, openStruct()), "DEPTH_LIMIT begin: " + deep},
		{"fields", open2, marshal(t, fieldsPart(thriftpackv1.StructField(1, nested(2)))), marshal(t, fieldsPart(thriftpackv1.StructField(1, nested(3)))), "DEPTH_LIMIT fields.fields[0].struct.fields[0].struct.fields[0].struct: " + deep},
		{"fields, merged", open2, merged(nested(2)), merged(nested(3)), "DEPTH_LIMIT fields.fields[0].struct.fields[0].struct.fields[0].struct: " + deep},
		{"elements", list2, marshal(t, elementsPart(thriftpackv1.StructList(nested(2)))), marshal(t, elementsPart(thriftpackv1.StructList(nested(3)))), "DEPTH_LIMIT elements.structs[0].fields[0].struct.fields[0].struct: " + deep},
		{
			"entries", map2, marshal(t, entriesPart(thriftpackv1.StructList(nested(2)), thriftpackv1.StructList(nested(2)))),
			marshal(t, entriesPart(thriftpackv1.StructList(nested(2)), thriftpackv1.StructList(nested(3)))), "DEPTH_LIMIT entries.values.structs[0].fields[0].struct.fields[0].struct: " + deep,
		},
		{"key", map2, key(2), key(3), "DEPTH_LIMIT begin.key.struct.fields[0].struct.fields[0].struct: " + deep},
		{"key, merged", map2, mergedKey(nested(2)), mergedKey(nested(3)), "DEPTH_LIMIT begin.key.struct.fields[0].struct.fields[0].struct: " + deep},
		{
			"nodes of the slow path", open2, submessage(partFields, bytes.Repeat(submessage(1, number(kindBool, 2)), 6)),
			submessage(partFields, bytes.Repeat(submessage(1, number(kindBool, 2)), 7)),
			"SIZE_LIMIT fields: number of members to normalise 15 exceeds the limit of 14 (--max-slow-nodes)",
		},
		{"strings and lists of any size", open2, marshal(t, fieldsPart(thriftpackv1.StringField(1, "long"), thriftpackv1.ListField(2, thriftpackv1.I8List(1, 2, 3)))), nil, ""},
		{"begin of any size", open2, marshal(t, openList(tI8, 1<<31-1)), nil, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := &Options{Limits: Limits{Depth: 4, Elements: 1, StringBytes: 1, SlowNodes: 14}}
			before := test.before[:len(test.before):len(test.before)]
			var r partsRun
			if _, err := r.run(o, minBuffer, append(before, test.good)...); r.at != len(before)+1 {
				t.Errorf("at the limit: %v", err)
			}
			if test.over != nil {
				checkPartsFault(t, o, test.text, append(before, test.over))
			}
		})
	}
	checkPartsFault(t, &Options{}, "DEPTH_LIMIT begin: depth 1 exceeds the limit of 0 (--max-depth)", partsWire(t, openStruct()))
}
