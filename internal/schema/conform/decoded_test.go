package conform_test

import (
	"errors"
	"testing"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema/conform"
)

// Rows of TestDecoded: compact bytes, a type, and what they are as JSON, strictly and leniently; or the fault, where it begins with
// its reason.
var decodedRows = []struct {
	name, typ, compact string
	strict             string
	lenient            string // "" where it is as strict
}{
	{"text", "Pair", "15 02 18 01 61 00", `{"a":1,"b":"a"}`, ""},
	{"nothing", "Pair", "00", `{}`, ""},
	{"a root of text", "Text", "02 c3 a9", `"é"`, ""},
	{"a root of texts", "Texts", "28 01 61 00", `["a",""]`, ""},
	{"a root map", "ByText", "01 85 01 61 02", `{"a":1}`, ""},
	{"a root enum", "Temper", "04", `"LOUD"`, ""},
	{"an enum's number without a name", "All", "95 54 00", `{"mood":42}`, ""},
	{"binary", "All", "78 01 61 00", `{"raw":"YQ=="}`, ""},
	{"a negative id and a far one", "All", "05 01 02 05 d8 04 04 00", `{"minus":1,"far":2}`, ""},
	{"fields out of order", "Pair", "28 01 61 05 02 02 00", `{"a":1,"b":"a"}`, ""},
	{
		"fields out of order, inside", "All", "f9 2c 28 01 61 05 02 02 00 28 01 62 05 02 04 00 00",
		`{"pairs":[{"a":1,"b":"a"},{"a":2,"b":"b"}]}`, "",
	},
	{
		"a map, out of order inside", "All", "0b 22 01 58 02 01 61 08 0c 02 78 79 00",
		`{"text":"xy","byNumber":{"1":"a"}}`, "",
	},
	{"keys that are structs", "All", "0b 2a 01 cc 15 02 00 15 04 00 00", `{"byPair":[{"key":{"a":1},"value":{"a":2}}]}`, ""},
	{
		"deep text", "All", "0b 32 01 89 01 6b 1b 01 58 02 01 76 00",
		`{"deep":{"k":[{"1":"v"}]}}`, "",
	},

	// Wrong kinds: cases 17.
	{"text for a number", "Pair", "18 01 61 18 01 62 00", "TYPE_MISMATCH Pair.a: offset 0: kind is BINARY, but i32 is declared", `{"b":"b"}`},
	{"a number for text", "Pair", "15 02 15 04 00", "TYPE_MISMATCH Pair.b: offset 2: kind is I32, but string is declared", `{"a":1}`},
	{
		"a struct for a list", "All", "fc 15 02 00 00",
		"TYPE_MISMATCH All.pairs: offset 0: kind is STRUCT, but list<Pair> is declared", `{}`,
	},
	{"a list for a struct", "All", "09 24 15 02 00", "TYPE_MISMATCH All.either: offset 0: kind is LIST, but Either (STRUCT) is declared", `{}`},
	{"a bool for an enum", "All", "91 00", "TYPE_MISMATCH All.mood: offset 0: kind is BOOL, but Mood (I32) is declared", `{}`},
	{
		"a list of other elements", "All", "c9 18 01 61 05 d8 04 02 00",
		"TYPE_MISMATCH All.numbers: offset 1: kind is BINARY, but i32 is declared", `{"far":1}`,
	},
	{
		"a list of lists of other elements", "All", "09 28 29 15 02 18 01 61 00",
		"TYPE_MISMATCH All.grid[1]: offset 5: kind is BINARY, but i32 is declared", `{}`,
	},
	{
		"other keys, and values of text", "All", "0b 20 01 55 02 04 00",
		"TYPE_MISMATCH All.byText: offset 2: kind is I32, but string is declared", `{}`,
	},
	{
		"keys of text, and other values", "All", "0b 20 01 88 01 6b 01 76 00",
		"TYPE_MISMATCH All.byText: offset 2: kind is BINARY, but i32 is declared", `{}`,
	},
	{
		"other values, deep inside", "All", "0b 32 01 89 01 6b 1b 01 55 02 04 35 02 00",
		"TYPE_MISMATCH All.deep[0].value[0]: offset 7: kind is I32, but string is declared", `{}`,
	},
	{
		"a root list of other elements", "Pairs", "15 02",
		"TYPE_MISMATCH list<Pair>: offset 0: kind is I32, but Pair (STRUCT) is declared",
		"TYPE_MISMATCH list<Pair>: offset 0: kind is I32, but Pair (STRUCT) is declared",
	},
	{"an empty list of other elements", "All", "c9 08 00", "TYPE_MISMATCH All.numbers: offset 1: kind is BINARY, but i32 is declared", `{"numbers":[]}`},
	{"an empty list", "All", "c9 05 00", `{"numbers":[]}`, ""},

	// Unknown and repeated fields: cases 18.
	{"an unknown field", "Pair", "15 02 18 01 61 15 04 00", `{"a":1,"b":"a"}`, ""},
	{"only unknown fields", "Nothing", "11 13 7f 1c 15 02 00 1b 01 58 02 01 61 00", `{}`, ""},
	{"a repeated field", "Pair", "15 02 05 02 04 00", "DUPLICATE_FIELD Pair.a: offset 2: field 1 is set twice", `{"a":2}`},
	{
		"several repeated fields", "Pair", "15 02 18 01 61 05 02 04 18 01 62 05 02 06 00",
		"DUPLICATE_FIELD Pair.a: offset 5: field 1 is set twice", `{"a":3,"b":"b"}`,
	},
	{
		"a repeated field, the last of another kind", "Pair", "15 02 08 02 01 61 00",
		"TYPE_MISMATCH Pair.a: offset 2: kind is BINARY, but i32 is declared", `{"a":1}`,
	},
	{
		"repeated containers", "All", "a9 18 01 61 09 14 18 01 62 00",
		"DUPLICATE_FIELD All.texts: offset 4: field 10 is set twice", `{"texts":["b"]}`,
	},
	{"a repeated unknown field", "Nothing", "15 02 05 02 04 00", `{}`, ""},

	// Text that is not UTF-8: cases 19.
	{"bad text", "Pair", "28 02 c3 28 00", "BAD_UTF8 Pair.b: offset 2: string is not valid UTF-8", `{"b":{"binary":"wyg="}}`},
	{
		"bad text in a list", "All", "a9 38 01 61 02 c3 28 01 62 00",
		"BAD_UTF8 All.texts[1]: offset 5: string is not valid UTF-8", `{"texts":["a",{"binary":"wyg="},"b"]}`,
	},
	{
		"a bad key", "All", "0b 20 02 85 01 61 02 01 ff 04 00",
		"BAD_UTF8 All.byText[1].key: offset 8: string is not valid UTF-8",
		`{"byText":[{"key":"a","value":1},{"key":{"binary":"/w=="},"value":2}]}`,
	},
	{
		"a bad value", "All", "0b 22 02 58 02 01 61 04 01 ff 00",
		"BAD_UTF8 All.byNumber[1].value: offset 9: string is not valid UTF-8",
		`{"byNumber":{"1":"a","2":{"binary":"/w=="}}}`,
	},
	{"a bad root", "Text", "01 ff", "BAD_UTF8 string: offset 1: string is not valid UTF-8", `{"binary":"/w=="}`},

	// Required fields: cases 32.
	{"both required fields", "Must", "15 02 18 00 00", `{"number":1,"text":""}`, ""},
	{"no required field", "Must", "00", "MISSING_FIELD Must.number: offset 0: required field is missing", "-"},
	{"one required field", "Must", "15 02 18 01 61 00", `{"number":1,"text":"a"}`, ""},
	{"the second is missing", "Must", "15 02 28 01 61 00", "MISSING_FIELD Must.text: offset 0: required field is missing", "-"},
	{
		"missing in an element", "All", "09 26 2c 15 02 18 00 00 15 02 00 00",
		"MISSING_FIELD All.musts[1].text: offset 8: required field is missing", "-",
	},
	{
		"required, of another kind", "Must", "18 01 61 18 01 61 00",
		"TYPE_MISMATCH Must.number: offset 0: kind is BINARY, but i32 is declared",
		"MISSING_FIELD Must.number: offset 0: required field is missing",
	},

	// Unions: cases 31.
	{"one member", "Either", "28 01 61 00", `{"text":"a"}`, ""},
	{"no member", "Either", "00", "UNION_ARITY Either: offset 0: 0 members of a union are set, want 1", `{}`},
	{"two members", "Either", "15 02 18 01 61 00", "UNION_ARITY Either: offset 2: 2 members of a union are set, want 1", "-"},
	{"three members, not in a row", "Either", "15 02 29 15 02 1c 00 00", "UNION_ARITY Either: offset 2: 3 members of a union are set, want 1", "-"},
	{"one that is not known", "Either", "95 02 00", `{}`, ""},
	{"two that are not known", "Either", "95 02 15 02 00", "UNION_ARITY Either: offset 2: 2 members of a union are set, want 1", `{}`},
	{
		"one that is known, one that is not", "Either", "15 02 85 02 00",
		"UNION_ARITY Either: offset 2: 2 members of a union are set, want 1", `{"number":1}`,
	},
	{"the same member twice", "Either", "15 02 05 02 04 00", "DUPLICATE_FIELD Either.number: offset 2: field 1 is set twice", `{"number":2}`},
	{
		"a member of another kind", "Either", "18 01 61 00",
		"TYPE_MISMATCH Either.number: offset 0: kind is BINARY, but i32 is declared", `{}`,
	},
	{"a member's list of other elements", "Either", "39 18 01 61 00", "TYPE_MISMATCH Either.numbers: offset 1: kind is BINARY, but i32 is declared", `{}`},

	// Repeated elements and keys: cases 33.
	{"a set in order", "All", "da 35 02 04 06 00", `{"set":[1,2,3]}`, ""},
	{"a set out of order", "All", "da 35 06 02 04 00", `{"set":[3,1,2]}`, ""},
	{"an element again", "All", "da 45 02 04 02 04 00", "DUPLICATE_ELEMENT All.set[2]: offset 4: element 0 again", `{"set":[1,2]}`},
	{
		"a word again", "All", "ea 38 01 62 01 61 01 62 00",
		"DUPLICATE_ELEMENT All.words[2]: offset 6: element 0 again", `{"words":["b","a"]}`,
	},
	{"a bool again", "All", "0a 2c 31 01 02 01 00", "DUPLICATE_ELEMENT All.flags[2]: offset 5: element 0 again", `{"flags":[true,false]}`},
	{
		"a NaN with other bits again", "All", "0a 2e 37 00 00 00 00 00 00 f8 7f 00 00 00 00 00 00 f0 3f 01 00 00 00 00 00 f8 ff 00",
		"DUPLICATE_ELEMENT All.doubles[2]: offset 19: element 0 again", `{"doubles":["NaN",1]}`,
	},
	{"an i8 again", "All", "0a 30 33 ff 01 ff 00", "DUPLICATE_ELEMENT All.bytes[2]: offset 5: element 0 again", `{"bytes":[-1,1]}`},
	{"i8s in order", "All", "0a 30 33 80 ff 01 00", `{"bytes":[-128,-1,1]}`, ""},
	{
		"a list again", "All", "0a 34 39 15 02 15 04 15 02 00",
		"DUPLICATE_ELEMENT All.lists[2]: offset 7: element 0 again", `{"lists":[[1],[2]]}`,
	},
	{"the two zeros", "All", "0a 2e 27 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 80 00", `{"doubles":[0,-0]}`, ""},
	{
		"a key again", "All", "0b 20 03 85 01 61 02 01 62 04 01 61 06 00",
		"DUPLICATE_KEY All.byText[2].key: offset 10: the key of entry 0 again", `{"byText":{"b":2,"a":3}}`,
	},
	{
		"a key thrice", "All", "0b 22 03 58 02 01 61 02 01 62 02 01 63 00",
		"DUPLICATE_KEY All.byNumber[1].key: offset 7: the key of entry 0 again", `{"byNumber":{"1":"c"}}`,
	},
	{
		"a struct as key again", "All", "0b 2a 02 cc 15 02 00 00 15 02 00 28 01 78 00 00",
		"DUPLICATE_KEY All.byPair[1].key: offset 8: the key of entry 0 again", `{"byPair":[{"key":{"a":1},"value":{"b":"x"}}]}`,
	},
}

func TestDecoded(t *testing.T) {
	s, r := newTypes(t), reader{}
	for _, row := range decodedRows {
		if row.lenient == "" || row.lenient == "-" {
			row.lenient = row.strict
		}
		for _, mode := range []struct {
			name, want string
			lenient    bool
		}{{"strict", row.strict, false}, {"lenient", row.lenient, true}} {
			t.Run(row.name+"/"+mode.name, func(t *testing.T) {
				got, err := r.text(unhex(t, row.compact), s.of(t, row.typ), conform.DecodeOptions{Lenient: mode.lenient})
				if f := new(fault.Error); errors.As(err, &f) {
					got = string(f.Reason) + " " + f.Error()
				}
				if got != mode.want {
					t.Errorf("%s as %s:\n got %s\nwant %s", row.compact, row.typ, got, mode.want)
				}
			})
		}
	}
}
