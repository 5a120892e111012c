package decoder_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/fault"
)

func begin(b *thriftpackv1.Begin) *thriftpackv1.Part {
	return &thriftpackv1.Part{Part: &thriftpackv1.Part_Begin{Begin: b}}
}

func beginStruct() *thriftpackv1.Part {
	return begin(&thriftpackv1.Begin{Type: thriftpackv1.Type_TYPE_STRUCT})
}

func fieldsPart(f ...*thriftpackv1.Field) *thriftpackv1.Part {
	return &thriftpackv1.Part{Part: &thriftpackv1.Part_Fields{Fields: thriftpackv1.StructOf(f...)}}
}

func elementsPart(l *thriftpackv1.List) *thriftpackv1.Part {
	return &thriftpackv1.Part{Part: &thriftpackv1.Part_Elements{Elements: l}}
}

func entriesPart(keys, values *thriftpackv1.List) *thriftpackv1.Part {
	return &thriftpackv1.Part{Part: &thriftpackv1.Part_Entries{Entries: thriftpackv1.MapOf(keys, values)}}
}

func dataPart(s string) *thriftpackv1.Part {
	return &thriftpackv1.Part{Part: &thriftpackv1.Part_Data{Data: []byte(s)}}
}

func end() *thriftpackv1.Part {
	return &thriftpackv1.Part{Part: &thriftpackv1.Part_End{End: &thriftpackv1.End{}}}
}

// expectParts compares the parts that came out.
func expectParts(t *testing.T, got taken, want ...*thriftpackv1.Part) {
	t.Helper()
	parts := make([]*thriftpackv1.Part, len(got.parts))
	for i, wire := range got.parts {
		parts[i] = new(thriftpackv1.Part)
		if err := proto.Unmarshal(wire, parts[i]); err != nil {
			t.Fatalf("part %d: %v: %x", i, err, wire)
		}
	}
	if got.err != nil {
		t.Errorf("%v", got.err)
	}
	if diff := cmp.Diff(want, parts, protocmp.Transform(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// What comes out for what goes in, with the smallest window: 64 bytes.
func TestParts(t *testing.T) {
	const (
		boolean, i8, i32, i64, double = thriftpackv1.Type_TYPE_BOOL, thriftpackv1.Type_TYPE_I8, thriftpackv1.Type_TYPE_I32, thriftpackv1.Type_TYPE_I64, thriftpackv1.Type_TYPE_DOUBLE
		binary, text                  = thriftpackv1.Type_TYPE_BINARY, thriftpackv1.Type_TYPE_STRING
		list, set, dict, structure    = thriftpackv1.Type_TYPE_LIST, thriftpackv1.Type_TYPE_SET, thriftpackv1.Type_TYPE_MAP, thriftpackv1.Type_TYPE_STRUCT
	)
	type parts = []*thriftpackv1.Part
	a := func(n int) string { return strings.Repeat("a", n) }
	bytesOf := func(n int) []byte { return []byte(a(n)) }
	tests := []struct {
		name, hex string
		root      thriftpackv1.Type
		want      parts
	}{
		{"an empty struct", "00", structure, parts{beginStruct(), end()}},
		{"a small struct", "15 02 1c 11 00 00", structure, parts{beginStruct(), fieldsPart(thriftpackv1.I32Field(1, 1), thriftpackv1.StructField(2, thriftpackv1.StructOf(thriftpackv1.BoolField(1, true)))), end()}},
		{"an empty list", "05", list, parts{begin(&thriftpackv1.Begin{Type: list, ElementType: i32}), end()}},
		{"a small list", "25 02 04", list, parts{begin(&thriftpackv1.Begin{Type: list, ElementType: i32, Size: 2}), elementsPart(thriftpackv1.I32List(1, 2)), end()}},
		{"a small set", "12 00", set, parts{begin(&thriftpackv1.Begin{Type: set, ElementType: boolean, Size: 1}), elementsPart(thriftpackv1.BoolList(false)), end()}},
		{"an empty map", "00", dict, parts{begin(&thriftpackv1.Begin{Type: dict}), end()}},
		{
			"a small map", "01 33 01 02", dict,
			parts{begin(&thriftpackv1.Begin{Type: dict, KeyType: i8, ElementType: i8, Size: 1}), entriesPart(thriftpackv1.I8List(1), thriftpackv1.I8List(2)), end()},
		},

		{"a bool", "01", boolean, parts{elementsPart(thriftpackv1.BoolList(true))}},
		{"a padded i32", "82 80 00", i32, parts{elementsPart(thriftpackv1.I32List(1))}},
		{"an i64", "d0 f7 c3 bf 89 55", i64, parts{elementsPart(thriftpackv1.I64List(1461563457000))}},
		{"a double", "000000000000f03f", double, parts{elementsPart(thriftpackv1.DoubleList(1))}},
		{"a uuid", "00112233445566778899aabbccddeeff", thriftpackv1.Type_TYPE_UUID, parts{elementsPart(thriftpackv1.UUIDList(uuid))}},
		{"an empty string", "00", text, parts{elementsPart(thriftpackv1.StringList(""))}},
		{"a string that fits", "3e" + repeat("61", 62), text, parts{elementsPart(thriftpackv1.StringList(a(62)))}},
		{"a string that does not", "3f" + repeat("61", 63), text, parts{begin(&thriftpackv1.Begin{Type: text, Size: 63}), dataPart(a(63)), end()}},
		{"a binary of two pieces", "8001" + repeat("61", 128), binary, parts{begin(&thriftpackv1.Begin{Type: binary, Size: 128}), dataPart(a(64)), dataPart(a(64)), end()}},
		{"and one byte more", "8101" + repeat("61", 129), binary, parts{begin(&thriftpackv1.Begin{Type: binary, Size: 129}), dataPart(a(64)), dataPart(a(64)), dataPart(a(1)), end()}},

		{"a list of 64 bytes", "f3 40" + repeat("07", 64), list, parts{
			begin(&thriftpackv1.Begin{Type: list, ElementType: i8, Size: 64}), elementsPart(&thriftpackv1.List{I8S: bytes.Repeat([]byte{7}, 64)}), end(),
		}},
		{"and of one more", "f3 41" + repeat("07", 65), list, parts{
			begin(&thriftpackv1.Begin{Type: list, ElementType: i8, Size: 65}), elementsPart(&thriftpackv1.List{I8S: bytes.Repeat([]byte{7}, 64)}), elementsPart(thriftpackv1.I8List(7)), end(),
		}},
		{"an i32 across the window", "f5 0e" + repeat("fe ff ff ff 0f", 14), list, parts{
			begin(&thriftpackv1.Begin{Type: list, ElementType: i32, Size: 14}), elementsPart(thriftpackv1.I32List(slices.Repeat([]int32{1<<31 - 1}, 12)...)), elementsPart(thriftpackv1.I32List(1<<31-1, 1<<31-1)), end(),
		}},
		{"a field that is opened, and its neighbours", "15 02 28 3e" + repeat("61", 62) + "15 04 00", structure, parts{
			beginStruct(), fieldsPart(thriftpackv1.I32Field(1, 1)), begin(&thriftpackv1.Begin{Type: binary, FieldId: 3, Size: 62}), dataPart(a(62)), end(), fieldsPart(thriftpackv1.I32Field(4, 2)), end(),
		}},
		{"fields in two batches", "18 1e" + repeat("61", 30) + "18 1e" + repeat("61", 30) + "11 00", structure, parts{
			beginStruct(), fieldsPart(thriftpackv1.BinaryField(1, bytesOf(30))), fieldsPart(thriftpackv1.BinaryField(2, bytesOf(30)), thriftpackv1.BoolField(3, true)), end(),
		}},
		{"a negative field id", "0c 05 18 40" + repeat("61", 64) + "00 00", structure, parts{
			beginStruct(), begin(&thriftpackv1.Begin{Type: structure, FieldId: -3}), begin(&thriftpackv1.Begin{Type: binary, FieldId: 1, Size: 64}), dataPart(a(64)), end(), end(), end(),
		}},
		{"few bytes whose fields take many", repeat("01 01", 12) + "00", structure, parts{
			beginStruct(),
			fieldsPart(slices.Repeat([]*thriftpackv1.Field{thriftpackv1.BoolField(-1, true)}, 10)...), fieldsPart(slices.Repeat([]*thriftpackv1.Field{thriftpackv1.BoolField(-1, true)}, 2)...), end(),
		}},
		{"lists in a list, one of them opened", "39 05 f3 50" + repeat("01", 80) + "13 02", list, parts{
			begin(&thriftpackv1.Begin{Type: list, ElementType: list, Size: 3}), elementsPart(thriftpackv1.ListList(thriftpackv1.EmptyList(i32))),
			begin(&thriftpackv1.Begin{Type: list, ElementType: i8, Size: 80}), elementsPart(&thriftpackv1.List{I8S: bytes.Repeat([]byte{1}, 64)}), elementsPart(&thriftpackv1.List{I8S: bytes.Repeat([]byte{1}, 16)}), end(),
			elementsPart(thriftpackv1.ListList(thriftpackv1.I8List(2))), end(),
		}},
		{"a map with a large value", "02 38 01 01 61 02 41" + repeat("61", 65), dict, parts{
			begin(&thriftpackv1.Begin{Type: dict, KeyType: i8, ElementType: binary, Size: 2}), entriesPart(thriftpackv1.I8List(1), thriftpackv1.BinaryList([]byte("a"))),
			begin(&thriftpackv1.Begin{Type: binary, Key: thriftpackv1.I8Value(2), Size: 65}), dataPart(a(64)), dataPart(a(1)), end(), end(),
		}},
		{"a key that fills the window", "01 8d 3e" + repeat("61", 62) + "00112233445566778899aabbccddeeff", dict, parts{
			begin(&thriftpackv1.Begin{Type: dict, KeyType: binary, ElementType: thriftpackv1.Type_TYPE_UUID, Size: 1}), entriesPart(thriftpackv1.BinaryList(bytesOf(62)), thriftpackv1.UUIDList(uuid)), end(),
		}},
		{"and one whose value can be opened", "01 89 3e" + repeat("61", 62) + "03", dict, parts{
			begin(&thriftpackv1.Begin{Type: dict, KeyType: binary, ElementType: list, Size: 1}), begin(&thriftpackv1.Begin{Type: list, Key: thriftpackv1.BinaryValue(bytesOf(62)), ElementType: i8}), end(), end(),
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, c := range []func(int) int{whole, every(1)} {
				var p decoder.Parts
				expectParts(t, push(t, &p, unhex(t, test.hex), &decoder.Options{Root: test.root, Limits: deep}, false, 64, c), test.want...)
			}
		})
	}
}

// Several values follow each other, until the input ends.
func TestPartsOfRecords(t *testing.T) {
	var p decoder.Parts
	o := &decoder.Options{Limits: deep}
	one := []*thriftpackv1.Part{beginStruct(), fieldsPart(thriftpackv1.I32Field(1, 1)), end()}
	expectParts(t, push(t, &p, nil, o, true, 64, whole))
	expectParts(t, push(t, &p, unhex(t, "15 02 00"), o, true, 64, whole), one...)
	expectParts(t, push(t, &p, unhex(t, "15 02 00 00 15 02 00"), o, true, 64, every(1)), slices.Concat(one, []*thriftpackv1.Part{beginStruct(), end()}, one)...)
	expectParts(t, push(t, &p, unhex(t, "01 02"), &decoder.Options{Root: thriftpackv1.Type_TYPE_BOOL, Limits: deep}, true, 64, whole),
		elementsPart(thriftpackv1.BoolList(true)), elementsPart(thriftpackv1.BoolList(false)))

	record := unhex(t, oneOfEach)
	data := bytes.Repeat(record, 1000)
	got := push(t, &p, data, o, true, 1000, every(333))
	if again, err := back(t, got, decoder.Compact, nil); got.err != nil || err != nil || !bytes.Equal(again, data) || got.read != int64(len(data)) {
		t.Errorf("1,000 records: %v, %v, %d bytes of %d", got.err, err, got.read, len(data))
	}
	got = push(t, &p, data[:len(data)-1], o, true, 1000, every(333))
	expectFault(t, got.err, fault.Truncated, int64(len(data)-1), "")
	if want := int64(len(data) - len(record)); len(got.parts) != 999*3+2 || got.read < want {
		t.Errorf("a cut record after 999 whole ones: %d parts, %d bytes read", len(got.parts), got.read)
	}
}

func expectFault(t *testing.T, err error, reason fault.Reason, offset int64, path string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Errorf("%v, want %s", err, reason)
		return
	}
	if f.Reason != reason || f.Offset != offset || f.Path != path {
		t.Errorf("%s at %d, path %q, want %s at %d, path %q: %v", f.Reason, f.Offset, f.Path, reason, offset, path, err)
	}
}

// The envelope is there before the first part.
func TestPartsOfMessages(t *testing.T) {
	tests := []struct {
		name, hex string
		protocol  decoder.Protocol
		want      decoder.Message
	}{
		{"compact", "82 21 01 04 70 69 6e 67 15 02 00", decoder.Compact, decoder.Message{Name: "ping", Type: 1, SeqID: 1}},
		{"strict", "80 01 00 04 00000004 70696e67 ffffffff 08 0001 00000001 00", decoder.Binary, decoder.Message{Name: "ping", Type: 4, SeqID: -1}},
		{"unversioned", "00000004 70696e67 02 00000007 08 0001 00000001 00", decoder.Binary, decoder.Message{Name: "ping", Type: 2, SeqID: 7}},
	}
	for _, test := range tests {
		for _, c := range []func(int) int{whole, every(1)} {
			var p decoder.Parts
			data := unhex(t, test.hex)
			got := push(t, &p, data, &decoder.Options{Protocol: test.protocol, Message: true, Limits: deep}, false, 64, c)
			expectParts(t, got, beginStruct(), fieldsPart(thriftpackv1.I32Field(1, 1)), end())
			if m, has := p.Message(); !has || m != test.want || got.read != int64(len(data)) {
				t.Errorf("%s: %v, %v, %d bytes read, want %v", test.name, m, has, got.read, test.want)
			}
		}
	}
}
