package jsonvalue_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fixture"
	"github.com/thriftpack/thriftpack/internal/jsonvalue"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/conform"
)

func TestWriter(t *testing.T) {
	typ, w := writeTypes(t), jsonvalue.Writer{}
	for _, row := range []struct{ name, typ, compact, want string }{
		{"nothing", "Kinds", "00", `{}`},
		{
			"each kind", "Kinds",
			"11 13 85 14 03 15 04 16 06 17 00 00 00 00 00 00 f8 3f 18 02 c3 a9 18 03 de ad 00 1d 00 11 22 33 44 55 66 77 88 99 aa bb cc dd ee ff 15 04 1c 28 01 78 00 1c 15 02 00 00",
			`{"flag":true,"tiny":-123,"small":-2,"number":2,"large":"3","ratio":1.5,"text":"é","raw":"3q0A",` +
				`"id":"00112233-4455-6677-8899-aabbccddeeff","mood":"LOUD","either":{"text":"x"},"pair":{"a":1}}`,
		},
		{"false", "Kinds", "12 00", `{"flag":false}`},
		{"an enum's number without a name", "Kinds", "a5 0e 00", `{"mood":7}`},
		{
			"the smallest and the largest", "Kinds", "23 80 14 ff ff 03 15 ff ff ff ff 0f 16 fe ff ff ff ff ff ff ff ff 01 00",
			`{"tiny":-128,"small":-32768,"number":-2147483648,"large":"9223372036854775807"}`,
		},
		{"no bytes and no text", "Kinds", "78 00 18 00 00", `{"text":"","raw":""}`},

		{
			"lists", "Lists", "19 31 01 02 01 19 23 01 ff 19 24 02 03 19 25 02 03 19 26 02 03 00",
			`{"flags":[true,false,true],"tinies":[1,-1],"smalls":[1,-2],"numbers":[1,-2],"larges":["1","-2"]}`,
		},
		{
			"more lists", "Lists", "69 17 00 00 00 00 00 00 00 80 19 28 01 61 00 19 18 01 ff 19 1d 00 11 22 33 44 55 66 77 88 99 aa bb cc dd ee ff 19 25 02 06 00",
			`{"ratios":[-0],"texts":["a",""],"raws":["/w=="],"ids":["00112233-4455-6677-8899-aabbccddeeff"],"moods":["CALM",3]}`,
		},
		{
			"lists of containers", "Lists", "b9 2c 00 15 02 00 19 29 05 15 02 19 2b 00 01 85 01 61 02 1a 18 01 62 00",
			`{"pairs":[{},{"a":1}],"grid":[[],[1]],"maps":[{},{"a":1}],"words":["b"]}`,
		},
		{"empty lists", "Lists", "19 01 39 05 49 08 00", `{"flags":[],"numbers":[],"raws":[]}`},

		{
			"maps", "Maps", "1b 02 15 01 02 02 04 1b 01 35 ff 02 1b 01 45 03 02 1b 01 55 03 02 1b 01 66 03 02 00",
			`{"byFlag":{"true":1,"false":2},"byTiny":{"-1":1},"bySmall":{"-2":1},"byNumber":{"-2":1},"byLarge":{"-2":"1"}}`,
		},
		{
			"maps that are no objects", "Maps", "6b 01 75 00 00 00 00 00 00 f0 3f 02 2b 01 85 01 ff 02 3b 01 cc 15 02 00 00 1b 01 99 15 02 05 00",
			`{"byRatio":[{"key":1,"value":1}],"byRaw":[{"key":"/w==","value":1}],"byPair":[{"key":{"a":1},"value":{}}],"byList":[{"key":[1],"value":[]}]}`,
		},
		{
			"more maps that are objects", "Maps", "7b 01 85 02 22 0a 02 2b 01 d5 00 11 22 33 44 55 66 77 88 99 aa bb cc dd ee ff 02 1b 02 55 02 04 0e 0e 00",
			`{"byText":{"\"\n":1},"byID":{"00112233-4455-6677-8899-aabbccddeeff":1},"byMood":{"CALM":"LOUD","7":7}}`,
		},
		{"empty maps", "Maps", "1b 00 5b 00 1b 00 00", `{"byFlag":{},"byRatio":[],"byText":{}}`},

		{"root text", "Text", "03 61 22 62", `"a\"b"`},
		{"root bytes", "Raw", "02 ff 00", `"/wA="`},
		{"root double", "Ratio", "00 00 00 00 00 00 f8 7f", `"NaN"`},
		{"root bool", "Flag", "02", `false`},
		{"root enum", "Temper", "04", `"LOUD"`},
		{"root map", "ByText", "01 85 01 61 02", `{"a":1}`},
		{"root list", "Larges", "36 01 00 02", `["-1","0","1"]`},
		{
			"long names", "A_long_name_of_a_struct", "15 02 18 01 61 11 15 04 00",
			`{"a_name_of_a_field_that_is_a_good_deal_longer_than_what_is_copied_in_one_go_and_longer_than_the_room_for_an_item":1,` +
				`"x":"a","y":true,"exactly8":2}`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			value := checkedValue(t, unhex(t, row.compact), typ(row.typ), conform.DecodeOptions{})
			got, err := w.Append([]byte("before"), value, typ(row.typ), &wide)
			if err != nil {
				t.Fatal(err)
			}
			if want := "before" + row.want; string(got) != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if !json.Valid(got[len("before"):]) {
				t.Error("not JSON")
			}
		})
	}
}

func TestWriterI64AsNumber(t *testing.T) {
	typ, w := writeTypes(t), jsonvalue.Writer{}
	o := wide
	o.I64AsNumber = true
	for _, row := range []struct{ typ, compact, want string }{
		{"Kinds", "56 01 00", `{"large":-1}`},
		{"Lists", "59 26 01 02 00", `{"larges":[-1,1]}`},
		{"Maps", "5b 01 66 01 02 00", `{"byLarge":{"-1":1}}`},
		{"Pair", "a6 02 00", `{"10":{"i64":1}}`},
	} {
		value := checkedValue(t, unhex(t, row.compact), typ(row.typ), conform.DecodeOptions{KeepUnknown: true})
		if got, err := w.Append(nil, value, typ(row.typ), &o); err != nil || string(got) != row.want {
			t.Errorf("%v, %s, want %s", err, got, row.want)
		}
	}
}

// TestWriterUntyped writes fields that the type does not have. The encoder of JSON makes the same bytes of the text.
func TestWriterUntyped(t *testing.T) {
	typ, w, e := writeTypes(t), jsonvalue.Writer{}, jsonvalue.Encoder{}
	for _, row := range []struct{ name, compact, want string }{
		{"before and behind", "05 01 02 15 04 15 06 18 01 61 15 02 00", `{"-1":{"i32":1},"0":{"i32":2},"a":3,"b":"a","3":{"i32":1}}`},
		{
			"scalars", "31 13 ff 14 03 15 05 16 07 17 00 00 00 00 00 00 f8 3f 18 01 ff 1d 00 11 22 33 44 55 66 77 88 99 aa bb cc dd ee ff 00",
			`{"3":{"bool":true},"4":{"i8":-1},"5":{"i16":-2},"6":{"i32":-3},"7":{"i64":"-4"},"8":{"double":1.5},"9":{"binary":"/w=="},` +
				`"10":{"uuid":"00112233-4455-6677-8899-aabbccddeeff"}}`,
		},
		{"a struct, in its order", "3c 25 02 05 02 04 00 00", `{"3":{"struct":{"2":{"i32":1},"1":{"i32":2}}}}`},
		{"lists", "39 25 02 03 1a 13 ff 19 1c 15 02 00 19 29 15 02 16 02 00", `{"3":{"list":{"elem":"i32","values":[1,-2]}},"4":{"set":{"elem":"i8","values":[-1]}},` +
			`"5":{"list":{"elem":"struct","values":[{"1":{"i32":1}}]}},"6":{"list":{"elem":"list","values":[{"elem":"i32","values":[1]},{"elem":"i64","values":["1"]}]}}}`},
		{
			"more lists", "39 21 01 02 19 17 00 00 00 00 00 00 f0 3f 19 18 01 61 19 1b 00 00",
			`{"3":{"list":{"elem":"bool","values":[true,false]}},"4":{"list":{"elem":"double","values":[1]}},"5":{"list":{"elem":"binary","values":["YQ=="]}},` +
				`"6":{"list":{"elem":"map","values":[{"entries":[]}]}}}`,
		},
		{"an empty list and an empty struct", "39 0d 1c 00 00", `{"3":{"list":{"elem":"uuid","values":[]}},"4":{"struct":{}}}`},
		{
			"maps", "3b 02 83 01 61 01 00 ff 1b 01 cb 15 02 00 00 00",
			`{"3":{"map":{"key":"binary","value":"i8","entries":[{"key":"YQ==","value":1},{"key":"","value":-1}]}},` +
				`"4":{"map":{"key":"struct","value":"map","entries":[{"key":{"1":{"i32":1}},"value":{"entries":[]}}]}}}`,
		},
		{"an empty map", "3b 00 00", `{"3":{"map":{"entries":[]}}}`},
		{"far ids", "05 ff ff 03 02 05 fe ff 03 02 00", `{"-32768":{"i32":1},"32767":{"i32":1}}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			data := unhex(t, row.compact)
			value := checkedValue(t, data, typ("Pair"), conform.DecodeOptions{KeepUnknown: true})
			got, err := w.Append(nil, value, typ("Pair"), &wide)
			if err != nil || string(got) != row.want {
				t.Fatalf("%v\ngot  %s\nwant %s", err, got, row.want)
			}
			again, err := e.Append(nil, got, typ("Pair"), &jsonvalue.Options{Limits: jsonvalue.Limits{
				Depth: 64, Elements: most, StringBytes: most, EncodedBytes: most,
			}})
			if err != nil || !bytes.Equal(again, data) {
				t.Errorf("encoded again: %v, %x, want %x", err, again, data)
			}
		})
	}
}

// TestWriterForeign writes what a lenient check left alone.
func TestWriterForeign(t *testing.T) {
	typ, w := writeTypes(t), jsonvalue.Writer{}
	for _, row := range []struct{ name, typ, compact, want string }{
		{"another kind", "Pair", "18 01 61 18 01 62 00", `{"1":{"binary":"YQ=="},"b":"b"}`},
		{"another kind, then the right one", "Pair", "18 01 61 05 02 02 18 01 62 00", `{"a":1,"1":{"binary":"YQ=="},"b":"b"}`},
		{"the right kind, then another one", "Pair", "15 02 08 02 01 61 18 01 62 00", `{"a":1,"1":{"binary":"YQ=="},"b":"b"}`},
		{"other elements", "Lists", "49 18 01 61 00", `{"4":{"list":{"elem":"binary","values":["YQ=="]}}}`},
	} {
		value := checkedValue(t, unhex(t, row.compact), typ(row.typ), conform.DecodeOptions{KeepUnknown: true, Lenient: true})
		o := wide
		o.Lenient = true
		if got, err := w.Append(nil, value, typ(row.typ), &o); err != nil || string(got) != row.want {
			t.Errorf("%s: %v, %s, want %s", row.name, err, got, row.want)
		}
	}
}

func TestWriterEmitDefaults(t *testing.T) {
	typ, w := writeTypes(t), jsonvalue.Writer{}
	o := wide
	o.EmitDefaults = true
	const (
		before = `{"minus":-3,"number":42,"text":"hive",`
		behind = `"items":[1,2],"prices":{"jar":5},"pair":{"a":1},"mood":"LOUD","ratio":0.5,"raw":"YQ=="}`
	)
	for _, row := range []struct{ name, typ, compact, want string }{
		{"all but the required one", "Defaults", "32 00", before + `"flag":false,` + behind},
		{"around fields", "Defaults", "28 01 61 11 16 02 00", `{"minus":-3,"number":42,"text":"a","flag":true,"none":"1",` + behind},
		{
			"with unknown fields among them", "Defaults", "05 00 02 32 45 02 e5 02 05 c2 03 02 00",
			`{"minus":-3,"0":{"i32":1},"number":42,"text":"hive","flag":false,"items":[1,2],"prices":{"jar":5},"pair":{"a":1},"7":{"i32":1},` +
				`"mood":"LOUD","ratio":0.5,"21":{"i32":1},"225":{"i32":1},"raw":"YQ=="}`,
		},
		{
			"inside", "Outer", "1c 31 00 19 1c 31 00 00",
			`{"inner":` + before + `"flag":true,` + behind + `,"all":[` + before + `"flag":true,` + behind + `]}`,
		},
		{"inside of a field, but not of a default value", "Nests", "2c 00 00", `{"inner":{"given":2},"other":{"shown":1,"given":2}}`},
		{"none in a union", "Either", "15 02 00", `{"number":1}`},
		{"none at all", "Pair", "00", `{}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			value := checkedValue(t, unhex(t, row.compact), typ(row.typ), conform.DecodeOptions{KeepUnknown: true, Lenient: true})
			got, err := w.Append(nil, value, typ(row.typ), &o)
			if err != nil || string(got) != row.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, row.want)
			}
		})
	}
}

// textValue returns the value of a string.
func textValue(tb testing.TB, text []byte) []byte {
	tb.Helper()
	value, err := proto.Marshal(thriftpackv1.BinaryValue(text))
	if err != nil {
		tb.Fatal(err)
	}
	return value
}

// checkText compares what the writer makes of a text with what encoding/json reads.
func checkText(tb testing.TB, w *jsonvalue.Writer, text []byte) {
	tb.Helper()
	got, err := w.Append(nil, textValue(tb, text), &schema.Type{Kind: thriftpackv1.Type_TYPE_STRING, Name: "string"}, &wide)
	if err != nil {
		tb.Fatal(err)
	}
	if !utf8.Valid(text) {
		var binary struct{ Binary []byte }
		if err := json.Unmarshal(got, &binary); err != nil || !bytes.Equal(binary.Binary, text) {
			tb.Errorf("%q: %v, %s", text, err, got)
		}
		return
	}
	var read string
	if err := json.Unmarshal(got, &read); err != nil || read != string(text) {
		tb.Errorf("%q: %v, %s", text, err, got)
	}
	var shortest bytes.Buffer
	e := json.NewEncoder(&shortest)
	e.SetEscapeHTML(false)
	if err := e.Encode(string(text)); err != nil {
		tb.Fatal(err)
	}
	want := strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimSuffix(shortest.String(), "\n"))
	if string(got) != want && !strings.Contains(want, `\\u202`) {
		tb.Errorf("%q: %s, want %s", text, got, want)
	}
}

// TestWriterText writes each byte, and each length around the words that are looked at, with something special at each place.
func TestWriterText(t *testing.T) {
	var w jsonvalue.Writer
	for b := range 256 {
		for _, around := range []string{"", "1234567", "12345678", "é"} {
			checkText(t, &w, []byte(around+string([]byte{byte(b)})+around))
		}
	}
	for length := range 70 {
		plain := strings.Repeat("#!0a~\x7f", 20)[:length]
		checkText(t, &w, []byte(plain))
		for at := range length {
			for _, special := range []string{"\"", "\\", "\x1f", "\x00", "\xff", "é#", "\u2028"} {
				checkText(t, &w, []byte(plain[:at]+special+plain[at:]))
			}
		}
	}
	random := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		text := make([]byte, random.IntN(80))
		for i := range text {
			text[i] = byte(random.UintN(256) >> random.UintN(4))
		}
		checkText(t, &w, text)
	}
}

func FuzzWriterText(f *testing.F) {
	f.Add([]byte("a\"\\\n\x00é😀\u2028\xff"))
	var w jsonvalue.Writer
	f.Fuzz(func(t *testing.T, text []byte) { checkText(t, &w, text) })
}

// allOf returns the types of these names.
func allOf(typ func(string) *schema.Type, names []string) []*schema.Type {
	types := make([]*schema.Type, len(names))
	for i, name := range names {
		types[i] = typ(name)
	}
	return types
}

// FuzzWriter gives the writer any bytes as a value: it may refuse them, but what it writes is JSON.
func FuzzWriter(f *testing.F) {
	typ := writeTypes(f)
	names := []string{"Kinds", "Lists", "Maps", "Defaults", "Outer", "Either", "Text", "Larges", "ByText", "Node", "Texts", "LargeByText"}
	for i, compact := range []string{
		"11 13 85 14 03 15 04 16 06 17 00 00 00 00 00 00 f8 3f 18 02 c3 a9 18 03 de ad 00 15 04 1c 28 01 78 00 1c 15 02 00 00",
		"19 31 01 02 01 19 23 01 ff 19 24 02 03 19 25 02 03 19 26 02 03 19 17 00 00 00 00 00 00 00 80 19 28 01 61 00 00",
		"1b 02 15 01 02 02 04 1b 01 35 ff 02 1b 01 45 03 02 1b 01 55 03 02 1b 01 66 03 02 00",
	} {
		value := checkedValue(f, unhex(f, compact), typ(names[i]), conform.DecodeOptions{KeepUnknown: true, Lenient: true})
		f.Add(byte(i), value)
	}
	f.Add(byte(0), unhex(f, "62 04 0a 02 08 7f"))
	for i, name := range names {
		switch name {
		case "Texts":
			f.Add(byte(i), fixture.Wire(&thriftpackv1.Value{Kind: &thriftpackv1.Value_List{List: thriftpackv1.StringList("a", "plain text", "\"é", "b", "another text")}}))
		case "LargeByText":
			f.Add(byte(i), fixture.Wire(&thriftpackv1.Value{Kind: &thriftpackv1.Value_Map{Map: thriftpackv1.MapOf(
				thriftpackv1.StringList("a", "plain text", "\"é", "b"), thriftpackv1.I64List(1, -1<<40, 1<<62, 0))}}))
		}
	}
	var w jsonvalue.Writer
	types := allOf(typ, names)
	f.Fuzz(func(t *testing.T, name byte, value []byte) {
		for _, set := range []bool{false, true} {
			o := wide
			o.EmitDefaults, o.Lenient = set, set
			text, err := w.Append(nil, value, types[int(name)%len(types)], &o)
			if err == nil && !json.Valid(text) {
				t.Errorf("%s is no JSON", text)
			}
		}
	})
}

// FuzzJSONRoundTrip reads JSON, and writes what it read: read again, that is the same.
func FuzzJSONRoundTrip(f *testing.F) {
	typ := writeTypes(f)
	names := []string{"Kinds", "Lists", "Maps", "Defaults", "Outer", "Either", "Text", "Larges", "ByText", "Node"}
	for i, text := range []string{
		`{"flag":true,"tiny":-123,"large":"3","ratio":1e-7,"text":"é","raw":"3q0A","mood":"LOUD","either":{"number":-60},"99":{"i32":5}}`,
		`{"tinies":[1],"ratios":["NaN",-0,1e300],"maps":[{},{"a":1}]}`,
		`{"byFlag":{"true":1},"byRatio":[{"key":1,"value":1}],"byMood":{"CALM":7}}`,
	} {
		f.Add(byte(i), text)
	}
	var w jsonvalue.Writer
	var e jsonvalue.Encoder
	o := jsonvalue.Options{Limits: jsonvalue.Limits{Depth: 64, Elements: most, StringBytes: most, EncodedBytes: most}}
	types := allOf(typ, names)
	f.Fuzz(func(t *testing.T, name byte, text string) {
		typ := types[int(name)%len(types)]
		for _, protocol := range []decoder.Protocol{decoder.Compact, decoder.Binary} {
			o.Protocol = encoder.Protocol(protocol)
			data, err := e.Append(nil, []byte(text), typ, &o)
			if err != nil {
				return
			}
			value := checkedFrom(t, protocol, data, typ, conform.DecodeOptions{KeepUnknown: true})
			written, err := w.Append(nil, value, typ, &wide)
			if err != nil || !json.Valid(written) {
				t.Fatalf("%v, %s", err, written)
			}
			again, err := e.Append(nil, written, typ, &o)
			if err != nil || !bytes.Equal(again, data) {
				t.Fatalf("%v\nread  %s: %x\nwrote %s: %x", err, text, data, written, again)
			}
		}
	})
}
