package jsonvalue

import (
	"strings"
	"testing"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// TestUnnamed shows fields that the type does not have, by their ids, of every kind.
func TestUnnamed(t *testing.T) {
	t.Parallel()
	typ := structOf("S", field(1, "a", tI8), defaulted(5, "d", tI8, "07", "07"), field(9, "z", tI8))
	for _, test := range []struct{ name, text, compact, binary string }{
		{"bool", `{"7":{"bool":true}}`, "5307 21 00", "030005 07 020007 01 00"},
		{"false", `{"7":{"bool":false}}`, "5307 22 00", "030005 07 020007 00 00"},
		{"i8", `{"7":{"i8":-5}}`, "5307 23fb 00", "030005 07 030007 fb 00"},
		{"i16", `{"7":{"i16":-5}}`, "5307 2409 00", "030005 07 060007 fffb 00"},
		{"i32", `{"7":{"i32":5}}`, "5307 250a 00", "030005 07 080007 00000005 00"},
		{"i64", `{"7":{"i64":"5"}}`, "5307 260a 00", "030005 07 0a0007 0000000000000005 00"},
		{"double", `{"7":{"double":1.5}}`, "5307 27 000000000000f83f 00", "030005 07 040007 3ff8000000000000 00"},
		{"string", `{"7":{"string":"h\u00e9"}}`, "5307 28 0368c3a9 00", "030005 07 0b0007 00000003 68c3a9 00"},
		{"binary", `{"7":{"binary":"3q2+7w=="}}`, "5307 28 04deadbeef 00", "030005 07 0b0007 00000004 deadbeef 00"},
		{"uuid", `{"7":{"uuid":"00112233-4455-6677-8899-aabbccddeeff"}}`, "5307 2d 00112233445566778899aabbccddeeff 00", "030005 07 100007 00112233445566778899aabbccddeeff 00"},
		{"struct", `{"7":{"struct":{"1":{"i32":5},"2":{"bool":true}}}}`, "5307 2c 150a 11 00 00", "030005 07 0c0007 080001 00000005 020002 01 00 00"},
		{"a struct in its own order", `{"7":{"struct":{"2":{"i8":5},"1":{"i8":6}}}}`, "5307 2c 2305 030206 00 00", "030005 07 0c0007 030002 05 030001 06 00 00"},
		{"empty struct", `{"7":{"struct":{}}}`, "5307 2c 00 00", "030005 07 0c0007 00 00"},
		{"list", `{"7":{"list":{"elem":"i32","values":[1,2]}}}`, "5307 29 25 02 04 00", "030005 07 0f0007 08 00000002 00000001 00000002 00"},
		{"empty list", `{"7":{"list":{"elem":"bool","values":[]}}}`, "5307 29 01 00", "030005 07 0f0007 02 00000000 00"},
		{"set", `{"7":{"set":{"elem":"i8","values":[1,2]}}}`, "5307 2a 23 01 02 00", "030005 07 0e0007 03 00000002 0102 00"},
		{
			"long list", `{"7":{"list":{"elem":"i8","values":[` + strings.Repeat("1,", 15) + `1]}}}`, "5307 29 f310 " + strings.Repeat("01", 16) + " 00",
			"030005 07 0f0007 03 00000010 " + strings.Repeat("01", 16) + " 00",
		},
		{"list of structs", `{"7":{"list":{"elem":"struct","values":[{"1":{"i8":5}},{}]}}}`, "5307 29 2c 1305 00 00 00", "030005 07 0f0007 0c 00000002 030001 05 00 00 00"},
		{"list of lists", `{"7":{"list":{"elem":"list","values":[{"elem":"i8","values":[1]}]}}}`, "5307 29 19 1301 00", "030005 07 0f0007 0f 00000001 03 00000001 01 00"},
		{"list of bools", `{"7":{"list":{"elem":"bool","values":[true,false]}}}`, "5307 29 21 0102 00", "030005 07 0f0007 02 00000002 0100 00"},
		{
			"map", `{"7":{"map":{"key":"string","value":"i8","entries":[{"key":"a","value":1},{"key":"b","value":2}]}}}`,
			"5307 2b 02 83 0161 01 0162 02 00", "030005 07 0d0007 0b 03 00000002 00000001 61 01 00000001 62 02 00",
		},
		{"empty map", `{"7":{"map":{"entries":[]}}}`, "5307 2b 00 00", "030005 07 0d0007 00 00 00000000 00"},
		{"empty map with kinds", `{"7":{"map":{"key":"string","value":"i8","entries":[]}}}`, "5307 2b 00 00", "030005 07 0d0007 0b 03 00000000 00"},
		{"first", `{"-5":{"i8":1}}`, "0309 01 a307 00", "03fffb 01 030005 07 00"},
		{"between", `{"a":1,"3":{"i8":2},"z":3}`, "1301 2302 2307 4303 00", "030001 01 030003 02 030005 07 030009 03 00"},
		{"out of order", `{"z":3,"12":{"i8":4},"3":{"i8":2},"a":1}`, "1301 2302 2307 4303 3304 00", "030001 01 030003 02 030005 07 030009 03 03000c 04 00"},
		{"null", `{"7":null,"3":null,"a":1}`, "1301 4307 00", "030001 01 030005 07 00"},
		{"white space", "{ \"7\" : { \"list\" : { \"elem\" : \"i8\" , \"values\" : [ 1 , 2 ] } } }", "5307 29 23 01 02 00", "030005 07 0f0007 03 00000002 0102 00"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			check(t, test.text, typ, compactOptions(), test.compact)
			check(t, test.text, typ, binaryOptions(), test.binary)
		})
	}
	check(t, `{"7":{"i32":5}}`, tU, compactOptions(), "75 0a 00")
}

// TestUnnamedFaults shows what is refused of them.
func TestUnnamedFaults(t *testing.T) {
	t.Parallel()
	typ := structOf("S", field(1, "a", tI8), field(9, "z", tI8))
	for _, test := range []struct {
		name, text string
		reason     fault.Reason
		path       string
		offset     int64
	}{
		{"the id of a field with a name", `{"1":{"i8":1}}`, fault.TypeMismatch, "S", 1},
		{"twice", `{"7":{"i8":1},"7":{"i8":1}}`, fault.DuplicateField, "S.7", 14},
		{"twice, once null", `{"7":null,"7":{"i8":1}}`, fault.DuplicateField, "S.7", 10},
		{"leading zero", `{"07":{"i8":1}}`, fault.UnknownName, "S", 1},
		{"plus", `{"+7":{"i8":1}}`, fault.UnknownName, "S", 1},
		{"minus zero", `{"-0":{"i8":1}}`, fault.UnknownName, "S", 1},
		{"above 16 bits", `{"32768":{"i8":1}}`, fault.UnknownName, "S", 1},
		{"below 16 bits", `{"-32769":{"i8":1}}`, fault.UnknownName, "S", 1},
		{"no object", `{"7":1}`, fault.TypeMismatch, "S.7", 5},
		{"no kind", `{"7":{}}`, fault.JSONSyntax, "S.7", 6},
		{"no such kind", `{"7":{"i128":1}}`, fault.BadType, "S.7", 6},
		{"two kinds", `{"7":{"i8":1,"i16":1}}`, fault.UnknownName, "S.7", 13},
		{"null of a kind", `{"7":{"i8":null}}`, fault.NullElement, "S.7", 11},
		{"out of range", `{"7":{"i8":128}}`, fault.IntRange, "S.7", 11},
		{"list without elem", `{"7":{"list":{"values":[1]}}}`, fault.MissingKind, "S.7", 14},
		{"empty list without elem", `{"7":{"list":{"values":[]}}}`, fault.MissingKind, "S.7", 14},
		{"list without values", `{"7":{"list":{"elem":"i8"}}}`, fault.MissingField, "S.7", 13},
		{"list of nothing", `{"7":{"list":{}}}`, fault.MissingField, "S.7", 13},
		{"list with more", `{"7":{"list":{"elem":"i8","values":[],"x":1}}}`, fault.UnknownName, "S.7", 38},
		{"elem of no kind", `{"7":{"list":{"elem":"x","values":[]}}}`, fault.BadType, "S.7", 21},
		{"elem of a number", `{"7":{"list":{"elem":1,"values":[]}}}`, fault.TypeMismatch, "S.7", 21},
		{"a null element", `{"7":{"list":{"elem":"i8","values":[1,null]}}}`, fault.NullElement, "S.7[1]", 38},
		{"an element of another kind", `{"7":{"list":{"elem":"i8","values":[1,""]}}}`, fault.TypeMismatch, "S.7[1]", 38},
		{"map without kinds", `{"7":{"map":{"entries":[{"key":1,"value":1}]}}}`, fault.MissingKind, "S.7[0]", 24},
		{"map without value", `{"7":{"map":{"key":"i8"}}}`, fault.MissingField, "S.7", 12},
		{"map without entries", `{"7":{"map":{"key":"i8","value":"i8"}}}`, fault.MissingField, "S.7", 12},
		{"entry without value", `{"7":{"map":{"key":"i8","value":"i8","entries":[{"key":1}]}}}`, fault.MissingField, "S.7[0]", 48},
		{"a key in a string", `{"7":{"map":{"key":"bool","value":"i8","entries":[{"key":"true","value":1}]}}}`, fault.TypeMismatch, "S.7[0].key", 57},
		{"an element twice", `{"7":{"set":{"elem":"i8","values":[1,1]}}}`, fault.DuplicateElement, "S.7[1]", 37},
		{"a key twice", `{"7":{"map":{"key":"i8","value":"i8","entries":[{"key":1,"value":1},{"key":1,"value":1}]}}}`, fault.DuplicateKey, "S.7[1].key", 75},
		{"struct by a name", `{"7":{"struct":{"a":{"i8":1}}}}`, fault.UnknownName, "S.7", 16},
		{"struct with an id twice", `{"7":{"struct":{"1":{"i8":1},"2":{"i8":1},"1":{"i8":1}}}}`, fault.DuplicateField, "S.7.1", 42},
		{"deep", `{"7":{"struct":{"1":{"list":{"elem":"list","values":[{"elem":"i8","values":[300]}]}}}}}`, fault.IntRange, "S.7.1[0][0]", 76},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, o := range []*Options{compactOptions(), binaryOptions()} {
				checkFault(t, test.text, typ, o, test.reason, test.path, test.offset)
			}
		})
	}
	nested := `{"1":{"struct":` + strings.Repeat(`{"1":{"struct":`, 62) + "{}" + strings.Repeat("}}", 62) + "}}"
	wide := structOf("W", field(2, "x", tI8))
	if _, err := encode(t, nested, wide, compactOptions()); err != nil {
		t.Errorf("64 levels: %v", err)
	}
	checkFault(t, strings.Replace(nested, "{}", `{"1":{"struct":{}}}`, 1), wide, compactOptions(), fault.DepthLimit, "W"+strings.Repeat(".1", 64), -1)
	checkFault(t, `{"1":{"list":`+strings.Repeat(`{"elem":"list","values":[`, 70)+strings.Repeat("]}", 70)+"}}", wide, compactOptions(), fault.DepthLimit, "W.1"+strings.Repeat("[0]", 63), -1)
}

// TestIgnoreUnknown shows that names which the type does not have are left out when that is asked for, and are still JSON.
func TestIgnoreUnknown(t *testing.T) {
	t.Parallel()
	o := compactOptions()
	o.IgnoreUnknown = true
	typ := structOf("S", field(1, "a", tI8))
	for _, text := range []string{
		`{"x":1,"a":7}`, `{"a":7,"x":null}`, `{"x":{"y":[1,2,{"z":"\u00e9é"}],"":-1.5e10},"a":7}`, `{"x":[],"y":{},"z":[[]],"a":7}`, `{"x":true,"y":false,"x":null,"a":7}`,
		`{"x":"\ud83d\ude00","a":7}`, `{"x" : [ 1 , 2 ] , "a":7}`, `{"é":1,"a":7}`,
	} {
		check(t, text, typ, o, "13 07 00")
	}
	for _, test := range []struct {
		text   string
		reason fault.Reason
		offset int64
	}{
		{`{"x":01}`, fault.JSONSyntax, 6},
		{`{"x":}`, fault.JSONSyntax, 5},
		{`{"x":-}`, fault.JSONSyntax, 6},
		{`{"x":nul}`, fault.JSONSyntax, 8},
		{`{"x":[1,]}`, fault.JSONSyntax, 8},
		{`{"x":{"y"}}`, fault.JSONSyntax, 9},
		{`{"x":{"y":1,}}`, fault.JSONSyntax, 12},
		{`{"x":{1:1}}`, fault.JSONSyntax, 6},
		{`{"x":[1}}`, fault.JSONSyntax, 7},
		{`{"x":"\q"}`, fault.JSONSyntax, 6},
		{`{"x":"\udc00"}`, fault.BadUTF8, 6},
		{"{\"x\":\"\xff\"}", fault.BadUTF8, 6},
		{`{"x":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`, fault.DepthLimit, 68},
	} {
		checkFault(t, test.text, typ, o, test.reason, "S", test.offset)
	}
	check(t, `{"x":`+strings.Repeat("[", 63)+strings.Repeat("]", 63)+`}`, typ, o, "00")
	// Names of enums and ids of fields are no names of members.
	checkFault(t, `{"e":"Z"}`, structOf("S", field(1, "e", tEnum)), o, fault.UnknownName, "S.e", 5)
	checkFault(t, `{"u":{"x":1}}`, structOf("S", field(1, "u", tU)), o, fault.UnionArity, "S.u", 5)
	long := structOf("S", field(1, "a", tI8))
	f := checkFault(t, `{"`+strings.Repeat("n", 1000)+`":1}`, long, compactOptions(), fault.UnknownName, "S", 1)
	if len(f.Detail) > 120 || !strings.Contains(f.Detail, `"nnnnnnnn`) {
		t.Errorf("the name is not shown, or not shortened: %s", f.Detail)
	}
}
