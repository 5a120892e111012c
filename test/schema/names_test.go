package schema

import (
	"bytes"
	"testing"

	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/jsonvalue"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/conform"
	"github.com/thriftpack/thriftpack/internal/schema/schematest"
)

// Each row has JSON text that somebody writes by the type S of the old revision.
var nameRows = []struct {
	rule         schema.Rule
	old, updated string
	json         string
}{
	{schema.FieldAdded, "struct S {1: i32 a}", "struct S {1: i32 a, 2: i32 b}", `{"a": 1}`},
	{schema.FieldRemoved, "struct S {1: i32 a, 2: i32 b}", "struct S {1: i32 a}", `{"a": 1}`},
	{schema.FieldRenamed, "struct S {1: i32 a}", "struct S {1: i32 b}", `{"a": 1}`},
	{schema.FieldRequirementChanged, "struct S {1: optional i32 a}", "struct S {1: i32 a}", `{"a": 1}`},
	{schema.BinaryMadeString, "struct S {1: binary a}", "struct S {1: string a}", `{"a": "AAEC"}`},
	{schema.StringMadeBinary, "struct S {1: string a}", "struct S {1: binary a}", `{"a": "text"}`},
	{schema.StringMadeBinary, "struct S {1: string a}", "struct S {1: binary a}", `{"a": "no base64"}`},
	{schema.EnumMadeInteger, "enum E {A = 1} struct S {1: E a}", "enum E {A = 1} struct S {1: i32 a}", `{"a": "A"}`},
	{schema.IntegerMadeEnum, "enum E {A = 1} struct S {1: i32 a}", "enum E {A = 1} struct S {1: E a}", `{"a": 1}`},
	{schema.RequiredDefaultChanged, "struct S {1: required i32 a = 1}", "struct S {1: required i32 a = 2}", `{}`},
	{schema.RequiredDefaultChanged, "struct S {1: required i32 a = 1}", "struct S {1: required i32 a}", `{}`},
	{schema.EnumValueAdded, "enum E {A = 1} struct S {1: E a}", "enum E {A = 1, B = 2} struct S {1: E a}", `{"a": "A"}`},
	{schema.EnumValueRemoved, "enum E {A = 1, B = 2} struct S {1: E a}", "enum E {A = 1} struct S {1: E a}", `{"a": "B"}`},
	{schema.EnumValueRenamed, "enum E {A = 1} struct S {1: E a}", "enum E {B = 1} struct S {1: E a}", `{"a": "A"}`},
	{schema.TypeAdded, "struct S {1: i32 a}", "struct S {1: i32 a} struct T {}", `{"a": 1}`},
	{schema.TypeRemoved, "struct S {1: i32 a}", "struct T {1: i64 b}", `{"a": 1}`},
	{schema.TypeRenamed, "struct S {1: i32 a}", "struct T {1: i32 a}", `{"a": 1}`},
}

// encoded returns the bytes of JSON text with unknown names ignored, or nil where the type or the text is refused.
func encoded(t *testing.T, s *schema.Schema, text string) []byte {
	t.Helper()
	plan, ok := s.Type("S")
	if !ok {
		return nil
	}
	var e jsonvalue.Encoder
	data, err := e.Append(nil, []byte(text), plan, &jsonvalue.Options{
		IgnoreUnknown: true, Limits: jsonvalue.Limits{Depth: 64, Elements: 1000, StringBytes: 1000, EncodedBytes: 1000},
	})
	if err != nil {
		return nil
	}
	return data
}

// decoded returns the JSON text of bytes, or "" where they are refused.
func decoded(t *testing.T, s *schema.Schema, data []byte) string {
	t.Helper()
	plan, ok := s.Type("S")
	if !ok {
		return ""
	}
	var d decoder.Decoder
	if _, err := d.Prepare(data, &decoder.Options{Limits: decodeLimits}); err != nil {
		t.Fatal(err)
	}
	var c conform.Checker
	value, err := c.Decoded(d.Append(nil), plan, &conform.DecodeOptions{JSON: true, Source: &d})
	if err != nil {
		return ""
	}
	var w jsonvalue.Writer
	text, err := w.Append(nil, value, plan, &jsonvalue.WriteOptions{Depth: 64, MaxBytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// JSON text of an old revision is refused or means something else, or its bytes come out as other text, where the rule says that names
// break, and nowhere else.
func TestRulesAreWhatHappensToNames(t *testing.T) {
	rows := map[schema.Rule]bool{schema.MethodRemoved: true} // the names of its types go as those of a type do
	for _, row := range nameRows {
		rows[row.rule] = true
		old, updated := schematest.Compile(t, row.old), schematest.Compile(t, row.updated)
		found := false
		for _, c := range schema.Compare(old, updated) {
			found = found || c.Rule == row.rule
		}
		before, after := encoded(t, old, row.json), encoded(t, updated, row.json)
		if !found || before == nil {
			t.Errorf("%s: found %t, bytes %x: the row is wrong", row.rule, found, before)
		}
		was, is := decoded(t, old, before), decoded(t, updated, before)
		if got, want := !bytes.Equal(before, after) || was != is, row.rule.Breaks()&schema.BreaksNames != 0; got != want {
			t.Errorf("%s: %s becomes %x, was %x, which comes out as %s, was %s: breaks %t, want %t",
				row.rule, row.json, after, before, is, was, got, want)
		}
	}
	for _, rule := range schema.Rules() {
		if rule.Breaks()&schema.BreaksNames != 0 && !rows[rule] {
			t.Errorf("%s breaks names, and is in no row", rule)
		}
	}
}
