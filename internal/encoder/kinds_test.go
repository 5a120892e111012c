package encoder

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// TestEveryKind walks the messages of the API, so that no kind can be added there and forgotten here: each must be encoded as
// a root, a field, an element of a list and a set, a key and a value, in both protocols.
func TestEveryKind(t *testing.T) {
	t.Parallel()
	// The wire of one value of each kind as a payload without length, and its bytes as an element.
	samples := map[string]struct {
		content                       []byte
		compact, binary               string
		compactElement, binaryElement byte
	}{
		"bool":   {number(0, 1)[1:], "01", "01", 1, 2},
		"i8":     {number(0, 1)[1:], "ff", "ff", 3, 3},
		"i16":    {number(0, 1)[1:], "01", "ffff", 4, 6},
		"i32":    {number(0, 1)[1:], "01", "ffffffff", 5, 8},
		"i64":    {number(0, 1)[1:], "01", "ffffffffffffffff", 6, 10},
		"double": {[]byte("12345678"), "3132333435363738", "3837363534333231", 7, 4},
		"binary": {[]byte("\xff"), "01ff", "00000001ff", 8, 11},
		"list":   {number(1, kindI8), "03", "0300000000", 9, 15},
		"set":    {number(1, kindI8), "03", "0300000000", 10, 14},
		"map":    {nil, "00", "000000000000", 11, 13},
		"struct": {nil, "00", "00", 12, 12},
		"uuid":   {[]byte("1234567890123456"), "31323334353637383930313233343536", "31323334353637383930313233343536", 13, 16},
		"string": {[]byte("a"), "0161", "0000000161", 8, 11},
	}
	value, field, list := valueDescriptor.Fields(), (&thriftpackv1.Field{}).ProtoReflect().Descriptor().Fields(), (&thriftpackv1.List{}).ProtoReflect().Descriptor().Fields()
	if value.Len() != len(samples) || field.Len() != len(samples)+1 || list.Len() != len(samples)+1 {
		t.Fatalf("%d kinds of Value, %d members of Field, %d of List, but %d samples", value.Len(), field.Len(), list.Len(), len(samples))
	}
	for i := range value.Len() {
		d := value.Get(i)
		name, kind := string(d.Name()), d.Number()
		sample, ok := samples[name]
		if !ok {
			t.Errorf("no sample of kind %s", name)
			continue
		}
		inList := list.ByNumber(kind)
		if f := field.ByNumber(kind); f == nil || f.Name() != d.Name() || f.Kind() != d.Kind() {
			t.Errorf("member %d of Field is not that of Value", kind)
		}
		if kindNames[kind] != name || inList == nil || columnNames[kind] != string(inList.Name()) {
			t.Errorf("names of kind %d are %s and %s, want %s and %v", kind, kindNames[kind], columnNames[kind], name, inList)
		}
		if got := typeName(int64(kind)); got != strings.ToUpper(name) || thriftpackv1.Type_value["TYPE_"+got] != int32(kind) {
			t.Errorf("name of type %d is %s, want %s", kind, got, strings.ToUpper(name))
		}
		member := sample.content
		if d.Kind() == protoreflect.BytesKind || d.Kind() == protoreflect.StringKind || d.Kind() == protoreflect.MessageKind {
			member = submessage(kind, sample.content)
		} else {
			member = append([]byte{byte(kind)<<3 | kindWire[kind]}, member...)
		}
		element := submessage(kind, sample.content)
		if kind == kindI8 {
			element = submessage(kind, []byte{0xff})
		}
		compactField := append([]byte{0x10 | compactType[kind]}, unhex(t, sample.compact)...)
		if kind == kindBool {
			compactField = []byte{0x11}
		}
		pair := submessage(kindMap, submessage(1, element), submessage(2, element))
		c, b := sample.compactElement, sample.binaryElement
		for _, test := range []struct {
			place           string
			wire            []byte
			compact, binary []byte
		}{
			{"root", member, unhex(t, sample.compact), unhex(t, sample.binary)},
			{"field", structOf(join(id(1), member)), append(compactField, 0), join([]byte{b, 0, 1}, unhex(t, sample.binary), []byte{0})},
			{"list", submessage(kindList, element), join([]byte{0x10 | c}, unhex(t, sample.compact)), join([]byte{b, 0, 0, 0, 1}, unhex(t, sample.binary))},
			{"set", submessage(kindSet, element), join([]byte{0x10 | c}, unhex(t, sample.compact)), join([]byte{b, 0, 0, 0, 1}, unhex(t, sample.binary))},
			{"empty list", submessage(kindList, number(1, uint64(kind))), []byte{c}, []byte{b, 0, 0, 0, 0}},
			{"map", pair, join([]byte{1, c<<4 | c}, unhex(t, sample.compact+sample.compact)), join([]byte{b, b, 0, 0, 0, 1}, unhex(t, sample.binary+sample.binary))},
		} {
			isFast(t, test.wire)
			if got := mustEncode(t, test.wire, &Options{Limits: testLimits}); string(got) != string(test.compact) {
				t.Errorf("%s as %s = %x, want %x", name, test.place, got, test.compact)
			}
			if got := mustEncode(t, test.wire, &Options{Limits: testLimits, Protocol: Binary}); string(got) != string(test.binary) {
				t.Errorf("%s as %s in binary = %x, want %x", name, test.place, got, test.binary)
			}
		}
	}
}

// TestMembers holds the tables of members to the API.
func TestMembers(t *testing.T) {
	t.Parallel()
	for m, message := range map[message]protoreflect.ProtoMessage{
		messageValue: &thriftpackv1.Value{}, messageField: &thriftpackv1.Field{}, messageStruct: &thriftpackv1.Struct{}, messageList: &thriftpackv1.List{}, messageMap: &thriftpackv1.Map{},
	} {
		members := map[string]uint16{"Value": valueMembers, "Field": fieldMembers, "Struct": structMembers, "List": listMembers, "Map": mapMembers}
		d := message.ProtoReflect().Descriptor()
		for number := range uint64(20) {
			f := d.Fields().ByNumber(protoreflect.FieldNumber(number)) // small
			known := number < 16 && members[string(d.Name())]>>number&1 == 1
			if known != (f != nil) {
				t.Errorf("member %d of %s: known %t, want %t", number, d.Name(), known, f != nil)
			}
			if f == nil {
				continue
			}
			child, name := m.child(number)
			if name != string(f.Name()) || (child != messageNone) != (f.Message() != nil) || m.isRepeated(number) != f.IsList() {
				t.Errorf("member %d of %s: %s, message %d, repeated %t, want %v", number, d.Name(), name, child, m.isRepeated(number), f)
			}
		}
	}
}

// TestText compares both ways of checking text with the standard library's.
func TestText(t *testing.T) {
	t.Parallel()
	check := func(text string) {
		t.Helper()
		want := utf8.ValidString(text)
		if got := isShortText([]byte(text)); got != want {
			t.Errorf("isShortText(%q) = %t", text, got)
		}
		for _, pad := range []int{0, 1, 40} { // what is behind the end does not matter
			padded := []byte("\xff" + text + strings.Repeat("\xff", pad))
			if got := isText(padded, 1, 1+len(text)); got != want {
				t.Errorf("isText(%q) = %t", text, got)
			}
		}
	}
	for first := range 256 {
		check(string([]byte{byte(first)}))
		for second := range 256 {
			check(string([]byte{byte(first), byte(second)}))
			if first < 0xe0 {
				continue
			}
			for _, third := range []byte{0x00, 0x7f, 0x80, 0xbf, 0xc0} {
				check(string([]byte{byte(first), byte(second), third}))
				check(string([]byte{byte(first), byte(second), third, 0x80}))
			}
		}
	}
	for length := range 80 {
		for at := range length {
			for _, part := range []string{"é", "€", "😀", "\xff", "\x80", "\xe2\x82", "\xf0\x9f\x98"} {
				text := strings.Repeat("a", at) + part
				check(text)
				check(text + strings.Repeat("b", length-at))
			}
		}
	}
}

// TestEntries has maps of every two kinds, of sizes that end a block and with entries that the short way leaves to the long one.
func TestEntries(t *testing.T) {
	t.Parallel()
	columns := map[string]func(i int) []byte{ // the wire of entry i without its tag
		"i16": func(i int) []byte { return zigzagBytes(int64(i%65536 - 32768)) },
		"i64": func(i int) []byte { return zigzagBytes(int64(i) << (i % 64)) },
		"string": func(i int) []byte {
			return submessage(kindString, []byte(strings.Repeat("é", i%17)+strings.Repeat("a", i%5)))[1:]
		},
		"long string": func(i int) []byte { return submessage(kindString, bytes.Repeat([]byte("b"), i%150))[1:] },
		"bool":        func(i int) []byte { return []byte{byte(i & 1)} },
		"i8":          func(i int) []byte { return []byte{byte(i)} },
		"double":      func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, 8) },
		"uuid":        func(i int) []byte { return submessage(kindUUID, bytes.Repeat([]byte{byte(i)}, 16))[1:] },
	}
	kinds := map[string]protowire.Number{"i16": kindI16, "i64": kindI64, "string": kindString, "long string": kindString, "bool": kindBool, "i8": kindI8, "double": kindDouble, "uuid": kindUUID}
	list := func(name string, n int) []byte {
		var all []byte
		tagged := name == "string" || name == "long string" || name == "uuid"
		for i := range n {
			if tagged {
				all = append(all, byte(kinds[name])<<3|wireBytes)
			}
			all = append(all, columns[name](i)...)
		}
		if tagged {
			return all
		}
		return submessage(kinds[name], all)
	}
	for key := range columns {
		for value := range columns {
			for _, n := range []int{1, 40, 1023, 1024, 1025, 2500} {
				wire := submessage(kindMap, submessage(1, list(key, n)), submessage(2, list(value, n)))
				got := mustEncode(t, wire, &Options{Limits: testLimits})
				want := append(AppendVarint(nil, uint64(n)), compactElement[kinds[key]]<<4|compactElement[kinds[value]])
				for i := range n {
					for _, name := range []string{key, value} {
						entry := columns[name](i)
						switch name {
						case "bool":
							entry = []byte{2 - entry[0]}
						case "uuid":
							entry = entry[1:]
						}
						want = append(want, entry...)
					}
				}
				if !bytes.Equal(got, want) {
					t.Fatalf("map of %d %s to %s = %x,\nwant %x", n, key, value, got, want)
				}
			}
		}
	}
}

// zigzagBytes returns the varint of v.
func zigzagBytes(v int64) []byte { return AppendVarint(nil, Zigzag64(v)) }
