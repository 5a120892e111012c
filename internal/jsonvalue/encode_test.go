package jsonvalue

import (
	"testing"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// TestCases are the inputs that converters of others were found to get wrong.
func TestCases(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		typ  *schema.Type
		text string
		want string
	}{
		{"nothing", tS, `{}`, "00"},
		{"i64 above 2^53", tS, `{"l":9007199254740993}`, "16 82 80 80 80 80 80 80 20 00"},
		{"i64 above 2^53 in a string", tS, `{"l":"9007199254740993"}`, "16 82 80 80 80 80 80 80 20 00"},
		{"smallest i64", tS, `{"l":-9223372036854775808}`, "16 ff ff ff ff ff ff ff ff ff 01 00"},
		{"largest i64", tS, `{"l":9223372036854775807}`, "16 fe ff ff ff ff ff ff ff ff 01 00"},
		{"fraction of zeros", tS, `{"l":1.0}`, "16 02 00"},
		{"exponent", tS, `{"l":1e3}`, "16 d0 0f 00"},
		{"exponent in a string", tS, `{"l":"1e3"}`, "16 d0 0f 00"},
		{"escaped digit in a string", tS, `{"l":"\u0031"}`, "16 02 00"},
		{"minus zero as an integer", tS, `{"l":-0}`, "16 00 00"},
		{"smallest i8", tS, `{"by":-128}`, "73 80 00"},
		{"largest i8", tS, `{"by":127}`, "73 7f 00"},
		{"smallest i32", tS, `{"i":-2147483648}`, "b5 ff ff ff ff 0f 00"},
		{"largest i32", tS, `{"i":2147483647}`, "b5 fe ff ff ff 0f 00"},
		{"i32 in a string", tS, `{"i":"-5"}`, "b5 09 00"},
		{"binary", tS, `{"b":"AAH/"}`, "28 03 00 01 ff 00"},
		{"binary, safe in URLs", tS, `{"b":"AAH_"}`, "28 03 00 01 ff 00"},
		{"binary with an escaped slash", tS, `{"b":"AAH\/"}`, "28 03 00 01 ff 00"},
		{"binary without padding", tS, `{"b":"AAE"}`, "28 02 00 01 00"},
		{"binary with padding", tS, `{"b":"AAE="}`, "28 02 00 01 00"},
		{"binary of one byte", tS, `{"b":"/w=="}`, "28 01 ff 00"},
		{"binary of one byte without padding", tS, `{"b":"_w"}`, "28 01 ff 00"},
		{"empty binary", tS, `{"b":""}`, "28 00 00"},
		{"list<i8>", structOf("L", field(1, "x", listOf(tI8))), `{"x":[1,-1]}`, "19 23 01 ff 00"},
		{"map with keys of i32", tS, `{"m":{"1":"x"}}`, "3b 01 58 02 01 78 00"},
		{"empty map", tS, `{"m":{}}`, "3b 00 00"},
		{"enum by name", tS, `{"e":"X"}`, "45 02 00"},
		{"enum by number", tS, `{"e":1}`, "45 02 00"},
		{"enum by number, another form", tS, `{"e":10e-1}`, "45 02 00"},
		{"enum by a number without a name", tS, `{"e":99}`, "45 c6 01 00"},
		{"NaN", tS, `{"d":"NaN"}`, "57 00 00 00 00 00 00 f8 7f 00"},
		{"Infinity", tS, `{"d":"Infinity"}`, "57 00 00 00 00 00 00 f0 7f 00"},
		{"-Infinity", tS, `{"d":"-Infinity"}`, "57 00 00 00 00 00 00 f0 ff 00"},
		{"a whole double", tS, `{"d":1}`, "57 00 00 00 00 00 00 f0 3f 00"},
		{"double in a string", tS, `{"d":"1.5"}`, "57 00 00 00 00 00 00 f8 3f 00"},
		{"-0.0", tS, `{"d":-0.0}`, "57 00 00 00 00 00 00 00 80 00"},
		{"-0", tS, `{"d":-0}`, "57 00 00 00 00 00 00 00 80 00"},
		{"tiny double", tS, `{"d":5e-324}`, "57 01 00 00 00 00 00 00 00 00"},
		{"double below the tiniest", tS, `{"d":1e-400}`, "57 00 00 00 00 00 00 00 00 00"},
		{"null is absent", tS, `{"l":null}`, "00"},
		{"null before a value", tS, `{"l":null,"by":1}`, "73 01 00"},
		{"union", tS, `{"u":{"a":1}}`, "6c 15 02 00 00"},
		{"union with a null", tS, `{"u":{"a":null,"b":"x"}}`, "6c 28 01 78 00 00"},
		{"required, and a default value", tR, `{"r":1}`, "15 02 15 0e 00"},
		{"a default value of null", tR, `{"r":1,"d":null}`, "15 02 15 0e 00"},
		{"a default value that is given", tR, `{"r":1,"d":8}`, "15 02 15 10 00"},
		{"optional", tR, `{"r":1,"o":9}`, "15 02 15 0e 15 12 00"},
		{"surrogates", tS, `{"s":"\ud83d\ude00"}`, "88 04 f0 9f 98 80 00"},
		{"surrogates in upper case", tS, `{"s":"\uD83D\uDE00"}`, "88 04 f0 9f 98 80 00"},
		{"escapes", tS, `{"s":"\"\\\/\b\f\n\r\t\u0000\u00e9\u20ac"}`, "88 0e 22 5c 2f 08 0c 0a 0d 09 00 c3 a9 e2 82 ac 00"},
		{"UTF-8", tS, `{"s":"é😀"}`, "88 06 c3 a9 f0 9f 98 80 00"},
		{"replacement character", tS, `{"s":"\ufffd` + "\ufffd" + `"}`, "88 06 ef bf bd ef bf bd 00"},
		{"empty string", tS, `{"s":""}`, "88 00 00"},
		{"bools", tS, `{"bo":true}`, "c1 00"},
		{"false", tS, `{"bo":false}`, "c2 00"},
		{"empty list", tS, `{"li":[]}`, "d9 05 00"},
		{"empty set", tS, `{"st":[ ]}`, "9a 05 00"},
		{"a name in escapes", tS, `{"\u006c":1}`, "16 02 00"},
		{"white space", tS, " \t\r\n{ \"l\" : 1 , \"by\" : 2 } \n", "16 02 63 02 00"},
		{"white space around elements", tS, `{"li": [ 1 ,2, 3 ] }`, "d9 35 02 04 06 00"},
		{"out of order", tS, `{"by":2,"l":1}`, "16 02 63 02 00"},
		{"out of order, bools", tS, `{"bo":true,"s":"x","l":1}`, "16 02 78 01 78 41 00"},
		{"a field without a name", tS, `{"7":null,"l":1}`, ""},
	} {
		if test.want == "" {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			check(t, test.text, test.typ, compactOptions(), test.want)
		})
	}
}

// TestCaseFaults are the inputs that converters of others took.
func TestCaseFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		typ    *schema.Type
		text   string
		reason fault.Reason
		path   string
		offset int64
	}{
		{"above i64", tS, `{"l":9223372036854775808}`, fault.IntRange, "S.l", 5},
		{"below i64", tS, `{"l":-9223372036854775809}`, fault.IntRange, "S.l", 5},
		{"above i64 in a string", tS, `{"l":"9223372036854775808"}`, fault.IntRange, "S.l", 5},
		{"above i8", tS, `{"by":128}`, fault.IntRange, "S.by", 6},
		{"below i8", tS, `{"by":-129}`, fault.IntRange, "S.by", 6},
		{"above i32", tS, `{"i":2147483648}`, fault.IntRange, "S.i", 5},
		{"above enum", tS, `{"e":2147483648}`, fault.IntRange, "S.e", 5},
		{"a fraction", tS, `{"l":1.5}`, fault.TypeMismatch, "S.l", 5},
		{"a fraction in a string", tS, `{"l":"1.5"}`, fault.TypeMismatch, "S.l", 5},
		{"space in a string", tS, `{"l":" 1"}`, fault.TypeMismatch, "S.l", 5},
		{"a huge exponent", tS, `{"l":1e999999999999}`, fault.IntRange, "S.l", 5},
		{"no base64", tS, `{"b":"!!"}`, fault.TypeMismatch, "S.b", 5},
		{"both alphabets", tS, `{"b":"+_aa"}`, fault.TypeMismatch, "S.b", 5},
		{"one digit", tS, `{"b":"AAAAA"}`, fault.TypeMismatch, "S.b", 5},
		{"padding too short", tS, `{"b":"AA="}`, fault.TypeMismatch, "S.b", 5},
		{"padding too long", tS, `{"b":"AAA=="}`, fault.TypeMismatch, "S.b", 5},
		{"padding alone", tS, `{"b":"===="}`, fault.TypeMismatch, "S.b", 5},
		{"padding inside", tS, `{"b":"AA==AAAA"}`, fault.TypeMismatch, "S.b", 5},
		{"bits of no byte", tS, `{"b":"AAF"}`, fault.TypeMismatch, "S.b", 5},
		{"a line end in base64", tS, `{"b":"AA\nAA"}`, fault.TypeMismatch, "S.b", 5},
		{"a key with a zero before it", tS, `{"m":{"01":"x"}}`, fault.TypeMismatch, "S.m[0].key", 6},
		{"a key that is no number", tS, `{"m":{"x":"x"}}`, fault.TypeMismatch, "S.m[0].key", 6},
		{"an empty key", tS, `{"m":{"":"x"}}`, fault.TypeMismatch, "S.m[0].key", 6},
		{"a key of minus zero", tS, `{"m":{"-0":"x"}}`, fault.TypeMismatch, "S.m[0].key", 6},
		{"a key with a fraction", tS, `{"m":{"1.0":"x"}}`, fault.TypeMismatch, "S.m[0].key", 6},
		{"a key out of range", tS, `{"m":{"1":"x","2147483648":"x"}}`, fault.IntRange, "S.m[1].key", 14},
		{"a key far out of range", tS, `{"m":{"99999999999999999999":"x"}}`, fault.IntRange, "S.m[0].key", 6},
		{"a key twice", tS, `{"m":{"1":"x","1":"y"}}`, fault.DuplicateKey, "S.m[1].key", 14},
		{"a key twice, once in escapes", tS, `{"m":{"1":"x","\u0031":"y"}}`, fault.DuplicateKey, "S.m[1].key", 14},
		{"a map as an array", tS, `{"m":[{"key":1,"value":"x"}]}`, fault.TypeMismatch, "S.m", 5},
		{"no name of the enum", tS, `{"e":"NOPE"}`, fault.UnknownName, "S.e", 5},
		{"a number as the name of an enum", tS, `{"e":"1"}`, fault.UnknownName, "S.e", 5},
		{"1e400", tS, `{"d":1e400}`, fault.IntRange, "S.d", 5},
		{"-1e400", tS, `{"d":-1e400}`, fault.IntRange, "S.d", 5},
		{"infinity in another form", tS, `{"d":"+Infinity"}`, fault.TypeMismatch, "S.d", 5},
		{"NaN without quotes", tS, `{"d":NaN}`, fault.JSONSyntax, "S.d", 5},
		{"a null in a list", tS, `{"li":[1,null]}`, fault.NullElement, "S.li[1]", 9},
		{"a null in a set", tS, `{"st":[null]}`, fault.NullElement, "S.st[0]", 7},
		{"a null in a map", tS, `{"m":{"1":null}}`, fault.NullElement, "S.m[0].value", 10},
		{"a union with two members", tS, `{"u":{"a":1,"b":"q"}}`, fault.UnionArity, "S.u", 5},
		{"a union with none", tS, `{"u":{}}`, fault.UnionArity, "S.u", 5},
		{"a union with a null", tS, `{"u":{"a":null}}`, fault.UnionArity, "S.u", 5},
		{"required", tR, `{}`, fault.MissingField, "R.r", 0},
		{"required, with others", tR, `{"d":1,"o":2}`, fault.MissingField, "R.r", 0},
		{"required, out of order", tR, `{"o":1,"d":2}`, fault.MissingField, "R.r", 0},
		{"required of null", tR, `{"r":null}`, fault.MissingField, "R.r", 0},
		{"an unknown name", tS, `{"nope":1}`, fault.UnknownName, "S", 1},
		{"a field twice", tS, `{"l":1,"l":2}`, fault.DuplicateField, "S.l", 7},
		{"a field twice, with one between", tS, `{"l":1,"by":2,"l":2}`, fault.DuplicateField, "S.l", 14},
		{"a field twice, of null", tS, `{"l":null,"l":2}`, fault.DuplicateField, "S.l", 10},
		{"a field twice, then null", tS, `{"l":1,"l":null}`, fault.DuplicateField, "S.l", 7},
		{"a default value twice", tR, `{"r":1,"o":1,"d":1,"d":2}`, fault.DuplicateField, "R.d", 19},
		{"an element twice", tS, `{"st":[1,1]}`, fault.DuplicateElement, "S.st[1]", 9},
		{"an element twice, in two forms", tS, `{"st":[1,2,1.0]}`, fault.DuplicateElement, "S.st[2]", 11},
		{"text behind", tS, `{"l":1} x`, fault.JSONSyntax, "S", 8},
		{"a value behind", tS, `{}{}`, fault.JSONSyntax, "S", 2},
		{"no text", tS, ``, fault.JSONSyntax, "S", 0},
		{"white space alone", tS, " \n", fault.JSONSyntax, "S", 2},
		{"a byte order mark", tS, "\ufeff{}", fault.JSONSyntax, "S", 0},
		{"half a surrogate pair", tS, `{"s":"a\ud800"}`, fault.BadUTF8, "S.s", 7},
		{"the other half", tS, `{"s":"\udc00"}`, fault.BadUTF8, "S.s", 6},
		{"two first halves", tS, `{"s":"\ud800\ud800"}`, fault.BadUTF8, "S.s", 6},
		{"half before a letter", tS, `{"s":"\ud800a"}`, fault.BadUTF8, "S.s", 6},
		{"no UTF-8", tS, "{\"s\":\"a\xc3(\"}", fault.BadUTF8, "S.s", 7},
		{"an overlong character", tS, "{\"s\":\"\xc0\x80\"}", fault.BadUTF8, "S.s", 6},
		{"a surrogate in UTF-8", tS, "{\"s\":\"\xed\xa0\x80\"}", fault.BadUTF8, "S.s", 6},
		{"no UTF-8 in a name", tS, "{\"\xff\":1}", fault.BadUTF8, "S", 2},
		{"a control character", tS, "{\"s\":\"a\x01\"}", fault.JSONSyntax, "S.s", 7},
		{"a line end", tS, "{\"s\":\"\n\"}", fault.JSONSyntax, "S.s", 6},
		{"no such escape", tS, `{"s":"\x41"}`, fault.JSONSyntax, "S.s", 6},
		{"a short escape", tS, `{"s":"\u12"}`, fault.JSONSyntax, "S.s", 6},
		{"an escape without digits", tS, `{"s":"\u+123"}`, fault.JSONSyntax, "S.s", 6},
		{"a comma behind the last", tS, `{"l":1,}`, fault.JSONSyntax, "S", 7},
		{"a comma behind the last element", tS, `{"li":[1,]}`, fault.JSONSyntax, "S.li[1]", 9},
		{"two commas", tS, `{"l":1,,"by":1}`, fault.JSONSyntax, "S", 7},
		{"no comma", tS, `{"l":1 "by":1}`, fault.JSONSyntax, "S", 7},
		{"no colon", tS, `{"l" 1}`, fault.JSONSyntax, "S", 5},
		{"no quotes", tS, `{l:1}`, fault.JSONSyntax, "S", 1},
		{"single quotes", tS, `{'l':1}`, fault.JSONSyntax, "S", 1},
		{"a comment", tS, `{/**/}`, fault.JSONSyntax, "S", 1},
		{"another end", tS, `{"li":[1}`, fault.JSONSyntax, "S.li", 8},
		{"a zero before a number", tS, `{"l":01}`, fault.JSONSyntax, "S.l", 6},
		{"a plus", tS, `{"l":+1}`, fault.JSONSyntax, "S.l", 5},
		{"no digits behind the point", tS, `{"l":1.}`, fault.JSONSyntax, "S.l", 7},
		{"a hexadecimal number", tS, `{"l":0x10}`, fault.JSONSyntax, "S", 6},
		{"a double with a letter", tS, `{"d":1.5f}`, fault.JSONSyntax, "S", 8},
		{"Nul", tS, `{"l":Null}`, fault.JSONSyntax, "S.l", 5},
		{"nul", tS, `{"l":nul}`, fault.JSONSyntax, "S.l", 8},
		{"truex", tS, `{"bo":truex}`, fault.JSONSyntax, "S", 10},
		{"True", tS, `{"bo":True}`, fault.JSONSyntax, "S.bo", 6},
		{"a string for a bool", tS, `{"bo":"true"}`, fault.TypeMismatch, "S.bo", 6},
		{"a number for a bool", tS, `{"bo":1}`, fault.TypeMismatch, "S.bo", 6},
		{"a number for a string", tS, `{"s":1}`, fault.TypeMismatch, "S.s", 5},
		{"a bool for an integer", tS, `{"l":true}`, fault.TypeMismatch, "S.l", 5},
		{"an object for a double", tS, `{"d":{}}`, fault.TypeMismatch, "S.d", 5},
		{"an array for a struct", tS, `[]`, fault.TypeMismatch, "S", 0},
		{"null for the root", tS, `null`, fault.TypeMismatch, "S", 0},
		{"an object for a list", tS, `{"li":{}}`, fault.TypeMismatch, "S.li", 6},
		{"a string for a list<i8>", structOf("L", field(1, "x", listOf(tI8))), `{"x":"AAE="}`, fault.TypeMismatch, "L.x", 5},
		{"no uuid", structOf("L", field(1, "x", tUUID)), `{"x":"00112233445566778899aabbccddeeff"}`, fault.TypeMismatch, "L.x", 5},
		{"a deep path", listOf(structOf("T", field(1, "a", mapOf(tString, listOf(tI8))))), `[{},{"a":{"x":[],"y":[1,2,300]}}]`, fault.IntRange, "list<T>[1].a[1].value[2]", 26},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, o := range []*Options{compactOptions(), binaryOptions()} {
				checkFault(t, test.text, test.typ, o, test.reason, test.path, test.offset)
			}
		})
	}
}
