package jsonvalue

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// varint returns v as an unsigned varint, one group of seven bits after the other.
func varint(v int) []byte {
	var b []byte
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// sizes are those at which the header of a list or a map gets longer.
var sizes = []int{0, 1, 2, 14, 15, 16, 127, 128, 129, 16383, 16384}

// listBytes returns a list or set of n elements, each of the bytes.
func listBytes(code byte, n int, element []byte) []byte {
	header := []byte{byte(n)<<4 | code}
	if n > 14 {
		header = append([]byte{0xf0 | code}, varint(n)...)
	}
	return append(header, bytes.Repeat(element, n)...)
}

// TestListSizes shows the header of lists of every kind of element, at the sizes where it gets longer, alone and inside of others.
func TestListSizes(t *testing.T) {
	t.Parallel()
	for _, elem := range []struct {
		typ     *schema.Type
		text    string
		code    byte
		compact string
		binary  string
	}{
		{tBool, "false", 1, "02", "00"},
		{tI8, "-1", 3, "ff", "ff"},
		{tI16, "-2", 4, "03", "fffe"},
		{tI32, "300", 5, "d804", "0000012c"},
		{tI64, "-9223372036854775808", 6, "ffffffffffffffffff01", "8000000000000000"},
		{tEnum, `"Y"`, 5, "04", "00000002"},
		{tDouble, "1.0", 7, "000000000000f03f", "3ff0000000000000"},
		{tString, `"ab"`, 8, "026162", "000000026162"},
		{tBinary, `"_w"`, 8, "01ff", "00000001ff"},
		{tUUID, `"00112233-4455-6677-8899-AABBCCDDEEFF"`, 13, "00112233445566778899aabbccddeeff", "00112233445566778899aabbccddeeff"},
		{listOf(tI8), "[1]", 9, "1301", "030000000101"},
		{setOf(tI8), "[1]", 10, "1301", "030000000101"},
		{mapOf(tI8, tI8), `{"1":2}`, 11, "01330102", "0303000000010102"},
		{structOf("T", field(1, "a", tI8)), `{"a":1}`, 12, "130100", "0300010100"},
	} {
		for _, n := range sizes {
			if n > 200 && len(elem.compact) > 4 {
				continue
			}
			text := "[" + strings.TrimSuffix(strings.Repeat(elem.text+",", n), ",") + "]"
			want := listBytes(elem.code, n, unhex(t, elem.compact))
			got, err := encode(t, text, listOf(elem.typ), compactOptions())
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d of %s is %x, %v, want %x", n, elem.typ.Name, got, err, want)
			}
			got, err = encode(t, "["+text+","+text+"]", listOf(listOf(elem.typ)), compactOptions())
			if want := listBytes(9, 2, want); err != nil || !bytes.Equal(got, want) {
				t.Errorf("two lists of %d of %s are %x, %v, want %x", n, elem.typ.Name, got, err, want)
			}
			got, err = encode(t, strings.ReplaceAll(text, ",", " ,\n\t"), listOf(elem.typ), binaryOptions())
			want = append([]byte{binaryCodes[elem.typ.Kind], 0, 0, byte(n >> 8), byte(n)}, bytes.Repeat(unhex(t, elem.binary), n)...)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d of %s in binary is %x, %v, want %x", n, elem.typ.Name, got, err, want)
			}
		}
	}
}

// TestMapSizes shows the header of maps at the sizes where it gets longer, in both forms that maps have.
func TestMapSizes(t *testing.T) {
	t.Parallel()
	for _, n := range sizes {
		var object, array strings.Builder
		compact, binary := append(varint(n), 0x48), []byte{6, 11, 0, 0, byte(n >> 8), byte(n)}
		doubles := append(varint(n), 0x7b)
		if n == 0 {
			compact, doubles = compact[:1], doubles[:1]
		}
		for i := range n {
			fmt.Fprintf(&object, `,"%d":"x"`, i)
			compact = append(append(compact, varint(2*i)...), 1, 'x')
			binary = append(binary, byte(i>>8), byte(i), 0, 0, 0, 1, 'x')
			if i == n/2 {
				fmt.Fprintf(&array, `,{"value":{}, "key":0}`) // the one in the middle has its value first
				doubles = append(doubles, 0, 0, 0, 0, 0, 0, 0, 0, 0)
				continue
			}
			fmt.Fprintf(&array, `,{"key":%d, "value":{}}`, 1<<(i%20)+i)
			doubles = append(append(doubles, unhex(t, doubleHex(float64(1<<(i%20)+i)))...), 0)
		}
		text := strings.TrimPrefix(object.String(), ",")
		for _, test := range []struct {
			o    *Options
			want []byte
		}{{compactOptions(), compact}, {binaryOptions(), binary}} {
			got, err := encode(t, "{"+text+"}", mapOf(tI16, tString), test.o)
			if err != nil || !bytes.Equal(got, test.want) {
				t.Errorf("%d entries are %x, %v, want %x", n, got, err, test.want)
			}
		}
		if n > 300 {
			continue // 1<<(i%20)+i is not distinct for so many
		}
		got, err := encode(t, "["+strings.TrimPrefix(array.String(), ",")+"]", mapOf(tDouble, mapOf(tI8, tI8)), compactOptions())
		if err != nil || !bytes.Equal(got, doubles) {
			t.Errorf("%d entries with keys of double are %x, %v, want %x", n, got, err, doubles)
		}
	}
}

// doubleHex returns a double in the compact protocol.
func doubleHex(d float64) string {
	var e Encoder
	b, _ := e.Append(nil, strconv.AppendFloat(nil, d, 'g', -1, 64), tDouble, compactOptions())
	return hex.EncodeToString(b)
}

// TestMapKeys shows the text that keys of each kind have, and which texts they have not.
func TestMapKeys(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		key     *schema.Type
		text    string
		compact string // of the key
		reason  fault.Reason
	}{
		{tString, `""`, "00", ""},
		{tString, `"é\n"`, "03c3a90a", ""},
		{tBool, `"true"`, "01", ""},
		{tBool, `"false"`, "02", ""},
		{tBool, `"True"`, "", fault.TypeMismatch},
		{tBool, `"1"`, "", fault.TypeMismatch},
		{tI8, `"-128"`, "80", ""},
		{tI8, `"128"`, "", fault.IntRange},
		{tI16, `"-32768"`, "ffff03", ""},
		{tI16, `"32768"`, "", fault.IntRange},
		{tI32, `"2147483647"`, "feffffff0f", ""},
		{tI32, `"\u002d1"`, "01", ""},
		{tI64, `"-9223372036854775808"`, "ffffffffffffffffff01", ""},
		{tI64, `"9223372036854775808"`, "", fault.IntRange},
		{tI64, `"1e3"`, "", fault.TypeMismatch},
		{tI64, `"+1"`, "", fault.TypeMismatch},
		{tI64, `" 1"`, "", fault.TypeMismatch},
		{tI64, `"1 "`, "", fault.TypeMismatch},
		{tI64, `"00"`, "", fault.TypeMismatch},
		{tEnum, `"X"`, "02", ""},
		{tEnum, `"1"`, "02", ""},
		{tEnum, `"99"`, "c601", ""},
		{tEnum, `"x"`, "", fault.UnknownName},
		{tEnum, `"01"`, "", fault.UnknownName},
		{tEnum, `"2147483648"`, "", fault.IntRange},
		{tUUID, `"00112233-4455-6677-8899-aabbccddeeff"`, "00112233445566778899aabbccddeeff", ""},
		{tUUID, `"00112233-4455-6677-8899-AABBCCDDEEFF"`, "", fault.TypeMismatch},
		{tUUID, `"00112233-4455-6677-8899-aabbccddeef"`, "", fault.TypeMismatch},
		{tI32, `1`, "", fault.JSONSyntax},
		{tString, `null`, "", fault.NullElement},
	} {
		text := "{" + test.text + ":true}"
		typ := mapOf(test.key, tBool)
		if test.reason != "" {
			path := typ.Name + "[0]"
			if test.text[0] == '"' {
				path += ".key"
			}
			checkFault(t, text, typ, compactOptions(), test.reason, path, 1)
			continue
		}
		check(t, text, typ, compactOptions(), fmt.Sprintf("01 %x1 %s 01", compactCodes[test.key.Kind], test.compact))
	}
}

// TestMapEntries shows maps whose keys are no texts.
func TestMapEntries(t *testing.T) {
	t.Parallel()
	key := structOf("K", field(1, "a", tI8), field(2, "b", tI8), field(3, "l", listOf(tI8)))
	long := "[" + strings.Repeat("1,", 14) + "1]" // its header has a size behind it
	longBytes := "f30f" + strings.Repeat("01", 15)
	typ := mapOf(key, key)
	for _, test := range []struct{ name, text, want string }{
		{"none", `[]`, "00"},
		{"key first", `[{"key":{"a":1},"value":{"b":2}}]`, "01cc 130100 230200"},
		{"value first", `[{"value":{"b":2},"key":{"a":1}}]`, "01cc 130100 230200"},
		{"both out of order", `[{"value":{"b":2,"a":1},"key":{"b":4,"a":3}}]`, "01cc 1303130400 1301130200"},
		{
			"both long", `[{"value":{"l":` + long + `},"key":{"l":` + long + `,"a":1}},{"key":{},"value":{}}]`,
			"02cc 130129" + longBytes + "00 39" + longBytes + "00 00 00",
		},
		{"white space", "[ {\n\"key\" : { } , \"value\" :\t{} } ]", "01cc 00 00"},
		{"names in escapes", `[{"k\u0065y":{},"v\u0061lue":{}}]`, "01cc 00 00"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			check(t, test.text, typ, compactOptions(), test.want)
		})
	}
	for _, test := range []struct {
		name, text string
		reason     fault.Reason
		path       string
		offset     int64
	}{
		{"an object", `{}`, fault.TypeMismatch, "map<K,K>", 0},
		{"a pair", `[[{},{}]]`, fault.TypeMismatch, "map<K,K>[0]", 1},
		{"no key", `[{"value":{}}]`, fault.MissingField, "map<K,K>[0]", 1},
		{"no value", `[{"key":{}}]`, fault.MissingField, "map<K,K>[0]", 1},
		{"nothing", `[{}]`, fault.MissingField, "map<K,K>[0]", 1},
		{"two keys", `[{"key":{},"key":{},"value":{}}]`, fault.DuplicateField, "map<K,K>[0]", 11},
		{"two values", `[{"key":{},"value":{},"value":{}}]`, fault.DuplicateField, "map<K,K>[0]", 22},
		{"another name", `[{"key":{},"value":{},"x":1}]`, fault.UnknownName, "map<K,K>[0]", 22},
		{"a null for a key", `[{"key":null,"value":{}}]`, fault.NullElement, "map<K,K>[0].key", 8},
		{"a null for a value", `[{"key":{},"value":null}]`, fault.NullElement, "map<K,K>[0].value", 19},
		{"a null for an entry", `[null]`, fault.NullElement, "map<K,K>[0]", 1},
		{"inside of a key", `[{"key":{"a":128},"value":{}}]`, fault.IntRange, "map<K,K>[0].key.a", 13},
		{"inside of a value", `[{"key":{},"value":{"l":[1,""]}}]`, fault.TypeMismatch, "map<K,K>[0].value.l[1]", 27},
		{"a key twice", `[{"key":{"a":1},"value":{}},{"value":{},"key":{"a":1}}]`, fault.DuplicateKey, "map<K,K>[1].key", 40},
		{"a key twice, in another order", `[{"key":{"a":1,"b":2},"value":{}},{"key":{"b":2,"a":1},"value":{}}]`, fault.DuplicateKey, "map<K,K>[1].key", 35},
		{"a long key twice", `[{"key":{"l":` + long + `,"a":1},"value":{}},{"key":{"a":1,"l":` + long + `},"value":{}}]`, fault.DuplicateKey, "map<K,K>[1].key", 65},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, o := range []*Options{compactOptions(), binaryOptions()} {
				checkFault(t, test.text, typ, o, test.reason, test.path, test.offset)
			}
		})
	}
	o := compactOptions()
	o.IgnoreUnknown = true
	check(t, `[{"x":{"y":[1]},"key":{},"value":{}}]`, typ, o, "01cc 00 00")
}

// TestSets shows that sets of any size and of any elements notice one that comes twice, wherever it is.
func TestSets(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, few - 1, few, few + 1, 2 * few, 33, 1000} {
		for _, elem := range []struct {
			typ  *schema.Type
			text func(i int) string
		}{
			{tI32, strconv.Itoa},
			{tString, func(i int) string { return `"` + strings.Repeat("x", i%50) + strconv.Itoa(i) + `"` }},
			{listOf(tI16), func(i int) string { return "[" + strings.Repeat("7,", i%40) + strconv.Itoa(i) + "]" }},
			{setOf(tI32), func(i int) string { return "[" + strconv.Itoa(i) + "," + strconv.Itoa(-1-i) + "]" }},
			{structOf("T", field(1, "a", tI32), field(2, "b", tI32)), func(i int) string {
				if i%2 == 0 {
					return fmt.Sprintf(`{"a":%d,"b":1}`, i/2)
				}
				return fmt.Sprintf(`{"b":%d,"a":1000}`, i)
			}},
		} {
			texts := make([]string, n)
			for i := range texts {
				texts[i] = elem.text(i)
			}
			typ := setOf(elem.typ)
			if got, err := encode(t, "["+strings.Join(texts, ",")+"]", typ, compactOptions()); err != nil {
				t.Errorf("%d of %s: %x, %v", n, elem.typ.Name, got, err)
			}
			for _, twice := range []int{0, n / 2, n - 2} {
				text := "[" + strings.Join(texts, ",") + ","
				at := int64(len(text))
				text += strings.ReplaceAll(texts[twice], `"b":1}`, `"b":1 }`) + "]"
				checkFault(t, text, typ, compactOptions(), fault.DuplicateElement, typ.Name+"["+strconv.Itoa(n)+"]", at)
			}
		}
	}
}

// TestManyKeys shows that keys are told apart in time that grows with their number: half a million of the same length, and sets inside of sets.
func TestManyKeys(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteByte('{')
	n := 500_000
	if raceEnabled {
		n /= 10 // ten times as slow
	}
	for i := range n {
		fmt.Fprintf(&text, `"%010d":%d,`, i*7919%n, i&0x7f)
	}
	object := strings.TrimSuffix(text.String(), ",") + "}"
	var e Encoder
	if _, err := e.Prepare([]byte(object), mapOf(tString, tI8), compactOptions()); err != nil {
		t.Fatal(err)
	}
	_, err := e.Prepare([]byte(strings.TrimSuffix(object, "}")+`,"0000000007":1}`), mapOf(tString, tI8), compactOptions())
	if f := new(fault.Error); !errors.As(err, &f) || f.Reason != fault.DuplicateKey || f.Path != fmt.Sprintf("map<string,i8>[%d].key", n) {
		t.Errorf("a key twice among many: %v", err)
	}
}

// TestDeepSets shows sets in sets whose elements are long, each of them put in order and compared at every level.
func TestDeepSets(t *testing.T) {
	t.Parallel()
	typ := structOf("T")
	set := setOf(typ)
	typ.Struct.SetFields([]schema.Field{field(1, "s", set), field(2, "i", tI32)})
	text, want := `{"i":1}`, unhex(t, "250200")
	for range 20 {
		text = `{"i":2,"s":[` + text + `,{"i":3}]}`
		want = bytes.Join([][]byte{{0x1a, 0x2c}, want, {0x25, 6, 0, 0x15, 4, 0}}, nil)
	}
	got, err := encode(t, text, typ, compactOptions())
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("sets in sets are %x, %v, want %x", got, err, want)
	}
}
