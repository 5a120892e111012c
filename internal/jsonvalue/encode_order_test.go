package jsonvalue

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// TestOrder shows that fields are written in ascending order of their ids, with the headers that belong to it, whatever the order in the text.
func TestOrder(t *testing.T) {
	t.Parallel()
	far := structOf("Far", field(-3, "n", tI8), field(0, "z", tBool), field(1, "a", tI8), field(17, "b", tBool), field(300, "c", tString), field(32767, "d", tI8))
	for _, test := range []struct {
		name    string
		typ     *schema.Type
		text    string
		compact string
		binary  string
	}{
		{
			"in order", far, `{"n":1,"z":true,"a":2,"b":false,"c":"x","d":3}`,
			"03 05 01  31  13 02  02 22  08 d8 04 01 78  03 fe ff 03 03  00",
			"03 fffd 01  02 0000 01  03 0001 02  02 0011 00  0b 012c 00000001 78  03 7fff 03  00",
		},
		{
			"backwards", far, `{"d":3,"c":"x","b":false,"a":2,"z":true,"n":1}`,
			"03 05 01  31  13 02  02 22  08 d8 04 01 78  03 fe ff 03 03  00",
			"03 fffd 01  02 0000 01  03 0001 02  02 0011 00  0b 012c 00000001 78  03 7fff 03  00",
		},
		{
			"the lowest id", structOf("L", field(-32768, "a", tI8), field(-32767, "b", tI8)), `{"b":2,"a":1}`,
			"03 ff ff 03 01  13 02  00", "03 8000 01  03 8001 02  00",
		},
		{"a null out of order", far, `{"d":3,"c":null,"a":2,"n":null}`, "13 02 03 fe ff 03 03 00", "03 0001 02 03 7fff 03 00"},
		{"nulls alone", far, `{"d":null,"a":null}`, "00", "00"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			check(t, test.text, test.typ, compactOptions(), test.compact)
			check(t, test.text, test.typ, binaryOptions(), test.binary)
		})
	}
}

// TestDefaults shows which absent fields are written.
func TestDefaults(t *testing.T) {
	t.Parallel()
	yes := defaulted(3, "yes", tBool, "01", "01")
	must := defaulted(5, "must", tI8, "09", "09")
	must.Requirement = schema.Required
	maybe := defaulted(6, "maybe", tI8, "08", "08")
	maybe.Requirement = schema.Optional
	typ := structOf("D", field(1, "a", tI8), defaulted(2, "text", tString, "026869", "000000026869"), yes, required(4, "r", tI8), must, maybe,
		defaulted(40, "no", tBool, "02", "00"), field(41, "z", tI8))
	omit := compactOptions()
	omit.OmitDefaults = true
	for _, test := range []struct {
		name, text, want, omitted string
	}{
		{"all absent", `{"r":1}`, "28 02 68 69 11 13 01 13 09 02 50 00", "43 01 13 09 00"},
		{"one before", `{"a":7,"r":1}`, "13 07 18 02 68 69 11 13 01 13 09 02 50 00", "13 07 33 01 13 09 00"},
		{"one behind", `{"r":1,"z":7}`, "28 02 68 69 11 13 01 13 09 02 50 13 07 00", "43 01 13 09 03 52 07 00"},
		{"given", `{"text":"","yes":false,"r":1,"must":2,"no":true}`, "28 00 12 13 01 13 02 01 50 00", "28 00 12 13 01 13 02 01 50 00"},
		{"given late", `{"r":1,"no":true,"must":2,"yes":false,"text":""}`, "28 00 12 13 01 13 02 01 50 00", "28 00 12 13 01 13 02 01 50 00"},
		{"one given late", `{"r":1,"z":7,"yes":false}`, "28 02 68 69 12 13 01 13 09 02 50 13 07 00", "32 13 01 13 09 03 52 07 00"},
		{"null", `{"text":null,"yes":null,"r":1,"must":null,"maybe":null}`, "28 02 68 69 11 13 01 13 09 02 50 00", "43 01 13 09 00"},
		{"null late", `{"z":7,"no":null,"must":null,"r":1,"yes":null,"text":null}`, "28 02 68 69 11 13 01 13 09 02 50 13 07 00", "43 01 13 09 03 52 07 00"},
		{"an optional one", `{"r":1,"maybe":1}`, "28 02 68 69 11 13 01 13 09 13 01 02 50 00", "43 01 13 09 13 01 00"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			check(t, test.text, typ, compactOptions(), test.want)
			check(t, test.text, typ, omit, test.omitted)
		})
	}
	check(t, `{"z":7,"r":1}`, typ, binaryOptions(),
		"0b 0002 00000002 6869 02 0003 01 03 0004 01 03 0005 09 02 0028 00 03 0029 07 00")
	checkFault(t, `{"must":1,"z":1,"a":1}`, typ, compactOptions(), fault.MissingField, "D.r", 0)
	checkFault(t, `{"text":"","text":null,"r":1}`, typ, compactOptions(), fault.DuplicateField, "D.text", 11)
	checkFault(t, `{"z":7,"text":null,"r":1,"text":""}`, typ, compactOptions(), fault.DuplicateField, "D.text", 25)
	checkFault(t, `[{"r":1},{"z":7}]`, listOf(typ), compactOptions(), fault.MissingField, "list<D>[1].r", 9)
}

// orderType has fields of every kind, with far and negative ids, and itself inside.
func orderType() *schema.Type {
	typ := structOf("O")
	typ.Struct.SetFields([]schema.Field{
		field(-5, "bool", tBool), field(-1, "i8", tI8), field(0, "i16", tI16), field(1, "i32", tI32), field(2, "i64", tI64),
		defaulted(3, "double", tDouble, "0000000000000000", "0000000000000000"), field(18, "string", tString), field(19, "bools", listOf(tBool)), field(20, "set", setOf(tI32)),
		field(200, "map", mapOf(tI16, tI32)), field(201, "self", typ), field(202, "selves", listOf(typ)), field(300, "by", mapOf(tString, typ)),
		field(301, "entries", mapOf(typ, typ)), required(32767, "uuid", tUUID),
	})
	return typ
}

// orderText returns a struct of orderType, its members in the order of the ids and in any other one.
func orderText(r *rand.Rand, depth int) (ordered, shuffled string) {
	var names, inOrder, another []string
	add := func(name, one, other string) {
		if r.IntN(3) > 0 {
			names = append(names, name)
			inOrder, another = append(inOrder, one), append(another, other)
		}
	}
	same := func(name, text string) { add(name, text, text) }
	list := func(n int, element func(i int) string) string {
		elements := make([]string, n)
		for i := range elements {
			elements[i] = element(i)
		}
		return strings.Join(elements, ",")
	}
	same("bool", strconv.FormatBool(r.IntN(2) == 0))
	same("i8", strconv.Itoa(r.IntN(256)-128))
	same("i16", strconv.Itoa(r.IntN(1<<16)-1<<15))
	same("i32", strconv.Itoa(int(int32(r.Uint32()))))
	same("i64", strconv.Itoa(int(r.Uint64())))
	same("double", strconv.FormatFloat(r.NormFloat64(), 'g', -1, 64))
	same("string", strconv.Quote(strings.Repeat("é", r.IntN(100))))
	same("bools", "["+list(r.IntN(40), func(int) string { return strconv.FormatBool(r.IntN(2) == 0) })+"]")
	same("set", "["+list(r.IntN(40), strconv.Itoa)+"]")
	same("map", "{"+list(r.IntN(200), func(i int) string { return fmt.Sprintf(`"%d":%d`, i, r.Uint32()>>1) })+"}")
	if depth > 0 {
		one, other := orderText(r, depth-1)
		add("self", one, other)
		var ones, others, byOnes, byOthers, entries, entriesOther []string
		for i := range r.IntN(20) {
			one, other = orderText(r, 0)
			key, keyOther := orderText(r, 0)
			ones, others = append(ones, one), append(others, other)
			byOnes, byOthers = append(byOnes, fmt.Sprintf(`"%d":%s`, i, one)), append(byOthers, fmt.Sprintf(`"%d":%s`, i, other))
			key = fmt.Sprintf(`{"uuid":"00112233-4455-6677-8899-%012d","self":%s}`, i, key)
			keyOther = fmt.Sprintf(`{"self":%s,"uuid":"00112233-4455-6677-8899-%012d"}`, keyOther, i)
			entries = append(entries, fmt.Sprintf(`{"key":%s,"value":%s}`, key, one))
			entriesOther = append(entriesOther, fmt.Sprintf(`{"value":%s,"key":%s}`, other, keyOther))
		}
		add("selves", "["+strings.Join(ones, ",")+"]", "["+strings.Join(others, ",")+"]")
		add("by", "{"+strings.Join(byOnes, ",")+"}", "{"+strings.Join(byOthers, ",")+"}")
		add("entries", "["+strings.Join(entries, ",")+"]", "["+strings.Join(entriesOther, ",")+"]")
	}
	names = append(names, "uuid")
	id := fmt.Sprintf(`"00112233-4455-6677-8899-%012d"`, r.IntN(1000))
	inOrder, another = append(inOrder, id), append(another, id)
	for i := range names {
		inOrder[i] = fmt.Sprintf(`%q:%s`, names[i], inOrder[i])
		another[i] = fmt.Sprintf(`%q: %s`, names[i], another[i])
	}
	r.Shuffle(len(another), func(i, j int) { another[i], another[j] = another[j], another[i] })
	return "{" + strings.Join(inOrder, ",") + "}", "{" + strings.Join(another, " ,") + "}"
}

// TestAnyOrder shows that the order of members changes nothing: at every level, around and inside of long lists and maps, keys and values.
func TestAnyOrder(t *testing.T) {
	t.Parallel()
	typ := orderType()
	r := random(7)
	var e Encoder
	rounds := 60
	if raceEnabled {
		rounds = 10 // ten times as slow
	}
	for range rounds {
		ordered, shuffled := orderText(r, 3)
		for _, o := range []*Options{compactOptions(), binaryOptions()} {
			want, err := encodeWith(t, &e, ordered, typ, o)
			if err != nil {
				t.Fatalf("%s: %v", ordered, err)
			}
			got, err := encodeWith(t, &e, shuffled, typ, o)
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s: %v\n%x, and in order\n%x", shuffled, err, got, want)
			}
		}
	}
}

// TestOrderIsLinear shows that structs out of order cost no more when they are inside of each other: the bytes of the innermost are moved once,
// not at every level.
func TestOrderIsLinear(t *testing.T) {
	t.Parallel()
	typ := structOf("T")
	typ.Struct.SetFields([]schema.Field{field(1, "a", tI8), field(2, "t", typ), field(3, "s", tString)})
	text := []byte(`{"s":"` + strings.Repeat("x", 1<<20) + `"}`)
	for range 60 {
		text = slices.Concat([]byte(`{"t":`), text, []byte(`,"a":1}`))
	}
	var e Encoder
	if _, err := e.Prepare(text, typ, compactOptions()); err != nil {
		t.Fatal(err)
	}
	c := &counter{buf: make([]byte, 4096)}
	if _, _, err := e.WriteTo(c, c.buf, 0); err != nil {
		t.Fatal(err)
	}
	if c.bytes > 1<<20+4096 || len(e.out) > 3<<20 {
		t.Errorf("%d bytes were written, with %d of scratch memory", c.bytes, len(e.out))
	}
}

// counter is a Sink that lends the same buffer again and again, and counts.
type counter struct {
	buf   []byte
	bytes int
}

func (c *counter) Next(filled int) ([]byte, error) {
	c.bytes += filled
	return c.buf, nil
}
