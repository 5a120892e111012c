package conform_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/schema/conform"
)

// list spells what was dropped.
func list(unknown []conform.Unknown) string {
	words := make([]string, len(unknown))
	for i, u := range unknown {
		words[i] = fmt.Sprintf("%s %d %s", u.Path, u.ID, strings.TrimPrefix(thriftpackv1.Type(u.Kind).String(), "TYPE_"))
	}
	return strings.Join(words, ", ")
}

func TestUnknown(t *testing.T) {
	s, r := newTypes(t), reader{}
	for _, row := range []struct {
		name, typ, compact string
		lenient            bool
		dropped            string // the bytes encoded again
		listed             string
	}{
		{"none", "Pair", "15 02 18 01 61 00", false, "15 02 18 01 61 00", ""},
		{"one", "Pair", "15 02 28 01 61 00", false, "15 02 00", "Pair.3 3 BINARY"},
		{
			"all", "Nothing", "11 12 13 7f 14 02 15 02 16 02 17 00 00 00 00 00 00 00 00 00", false, "00",
			"Nothing.1 1 BOOL, Nothing.2 2 BOOL, Nothing.3 3 I8, Nothing.4 4 I16, Nothing.5 5 I32, Nothing.6 6 I64, Nothing.7 7 DOUBLE",
		},
		{"between", "Pair", "05 01 02 15 04 15 06 18 01 61 1c 15 02 00 00", false, "15 06 18 01 61 00", "Pair.-1 -1 I32, Pair.0 0 I32, Pair.3 3 STRUCT"},
		{"inside", "All", "f9 2c 15 02 25 04 00 35 02 00 00", false, "f9 2c 15 02 00 00 00", "All.pairs[0].3 3 I32, All.pairs[1].3 3 I32"},
		{
			"in keys and values", "All", "0b 2a 01 cc 15 02 25 02 00 35 02 00 00", false, "0b 2a 01 cc 15 02 00 00 00",
			"All.byPair[0].key.3 3 I32, All.byPair[0].value.3 3 I32",
		},
		{"of another kind", "Pair", "18 01 61 18 01 62 00", true, "28 01 62 00", "Pair.1 1 BINARY"},
		{"in a union", "Either", "95 02 00", false, "00", "Either.9 9 I32"},
		{"in another unknown field", "Nothing", "1c 15 02 00 00", false, "00", "Nothing.1 1 STRUCT"},
	} {
		t.Run(row.name, func(t *testing.T) {
			data := unhex(t, row.compact)
			typ := s.of(t, row.typ)
			value, err := r.value(data, typ, decoder.Options{}, conform.DecodeOptions{Lenient: row.lenient, MaxUnknown: 10})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := encode(t, value), unhex(t, row.dropped); !slices.Equal(got, want) {
				t.Errorf("without: %x, want %x", got, want)
			}
			listed, count := r.checker.Unknown()
			if got := list(listed); got != row.listed || count != len(listed) {
				t.Errorf("%d: %s, want %s", count, got, row.listed)
			}
			kept, err := r.value(data, typ, decoder.Options{}, conform.DecodeOptions{Lenient: row.lenient, MaxUnknown: 10, KeepUnknown: true})
			if err != nil {
				t.Fatal(err)
			}
			if got := encode(t, kept); !slices.Equal(got, data) {
				t.Errorf("with: %x, want %x", got, data)
			}
			if listed, count := r.checker.Unknown(); len(listed)+count > 0 {
				t.Errorf("kept ones are listed: %v", listed)
			}
		})
	}
}

// TestUnknownMost lists no more than is asked for, and counts all.
func TestUnknownMost(t *testing.T) {
	s, r := newTypes(t), reader{}
	var data []byte
	for range 200 {
		data = append(data, 0x95, 2) // nine ids further
	}
	data = append(data, 0)
	for _, most := range []int{0, 1, 100, 199, 200, 300} {
		if _, err := r.value(data, s.of(t, "Nothing"), decoder.Options{}, conform.DecodeOptions{MaxUnknown: most}); err != nil {
			t.Fatal(err)
		}
		if listed, count := r.checker.Unknown(); len(listed) != min(most, 200) || count != 200 {
			t.Errorf("%d listed of %d, want %d of 200", len(listed), count, min(most, 200))
		}
	}
}

// TestKeptRepeats finds fields without a type that are there twice, at every depth.
func TestKeptRepeats(t *testing.T) {
	s, r := newTypes(t), reader{}
	for _, row := range []struct{ name, compact, fault, lenient string }{
		{"a field", "35 02 05 06 04 00", "DUPLICATE_FIELD Pair.3: offset 2: field 3 is set twice", `{"3":{"i32":2}}`},
		{"in a struct", "3c 15 02 05 02 04 00 00", "DUPLICATE_FIELD Pair.3.1: offset 3: field 1 is set twice", `{"3":{"struct":{"1":{"i32":2}}}}`},
		{
			"in a list", "39 2c 00 15 02 05 02 04 00 00", "DUPLICATE_FIELD Pair.3[1].1: offset 5: field 1 is set twice",
			`{"3":{"list":{"elem":"struct","values":[{},{"1":{"i32":2}}]}}}`,
		},
		{
			"in a map's value", "3b 01 5c 02 15 02 05 02 04 00 00", "DUPLICATE_FIELD Pair.3[0].value.1: offset 6: field 1 is set twice",
			`{"3":{"map":{"key":"i32","value":"struct","entries":[{"key":1,"value":{"1":{"i32":2}}}]}}}`,
		},
		{
			"in a set", "3a 35 02 04 02 00", "DUPLICATE_ELEMENT Pair.3[2]: offset 4: element 0 again",
			`{"3":{"set":{"elem":"i32","values":[1,2]}}}`,
		},
		{
			"in a set of text", "3a 28 01 61 01 61 00", "DUPLICATE_ELEMENT Pair.3[1]: offset 4: element 0 again",
			`{"3":{"set":{"elem":"binary","values":["YQ=="]}}}`,
		},
		{
			"in a set of sets", "3a 2a 15 02 15 02 00", "DUPLICATE_ELEMENT Pair.3[1]: offset 4: element 0 again",
			`{"3":{"set":{"elem":"set","values":[{"elem":"i32","values":[1]}]}}}`,
		},
		{
			"a key of a map", "3b 02 55 02 04 02 06 00", "DUPLICATE_KEY Pair.3[1].key: offset 5: the key of entry 0 again",
			`{"3":{"map":{"key":"i32","value":"i32","entries":[{"key":1,"value":3}]}}}`,
		},
		{
			"in a set within a list", "39 1a 25 02 02 00", "DUPLICATE_ELEMENT Pair.3[0][1]: offset 4: element 0 again",
			`{"3":{"list":{"elem":"set","values":[{"elem":"i32","values":[1]}]}}}`,
		},
		{
			"a known one of another kind", "18 01 61 08 02 01 62 00", "TYPE_MISMATCH Pair.a: offset 0: kind is BINARY, but i32 is declared",
			`{"1":{"binary":"Yg=="}}`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			data, typ := unhex(t, row.compact), s.of(t, "Pair")
			_, err := r.text(data, typ, conform.DecodeOptions{KeepUnknown: true})
			wantFault(t, err, row.fault)
			got, err := r.text(data, typ, conform.DecodeOptions{KeepUnknown: true, Lenient: true})
			if err != nil || got != row.lenient {
				t.Errorf("%v, %s, want %s", err, got, row.lenient)
			}
			if row.name == "a known one of another kind" {
				return
			}
			if got, err := r.text(data, typ, conform.DecodeOptions{}); err != nil || got != `{}` {
				t.Errorf("dropped: %v, %s", err, got)
			}
		})
	}
}

// TestDetectedText takes text that the decoder has found, where the type says text and where it says binary.
func TestDetectedText(t *testing.T) {
	s, r := newTypes(t), reader{}
	data := unhex(t, "68 01 61 18 01 62 39 18 01 63 19 18 01 64 08 78 01 65 00")
	value, err := r.value(data, s.of(t, "All"), decoder.Options{DetectText: true}, conform.DecodeOptions{KeepUnknown: true})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{ 6:15(0"a") 7:8(0"b") 10:9<15>[15(0"c")] 11:9<8>[8(0"d")] 60:15(0"e") }`
	if got := treeOf(t, value).String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestEmptyContainers gives empty containers their types, in a Value.
func TestEmptyContainers(t *testing.T) {
	s, r := newTypes(t), reader{}
	for _, row := range []struct {
		name, data string
		binary     bool
		want       string
	}{
		{"compact", "a9 08 29 05 4b 00 1b 00 00", false, `{ 10:9<15>[] 12:9<5>[] 16:map<15,5>[][] 17:map<5,15>[][] }`},
		{"binary", "0f 000a 0b 00000000 0d 0010 0b 08 00000000 00", true, `{ 10:9<15>[] 16:map<15,5>[][] }`},
		{
			"binary without types", "0f 000a 00 00000000 0f 000c 00 00000000 0d 0010 00 00 00000000 0d 0011 08 00 00000000 00", true,
			`{ 10:9<15>[] 12:9<5>[] 16:map<15,5>[][] 17:map<5,15>[][] }`,
		},
	} {
		from := decoder.Options{}
		if row.binary {
			from.Protocol = decoder.Binary
		}
		value, err := r.value(unhex(t, row.data), s.of(t, "All"), from, conform.DecodeOptions{})
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		if got := treeOf(t, value).String(); got != row.want {
			t.Errorf("%s: got %s, want %s", row.name, got, row.want)
		}
	}
}
