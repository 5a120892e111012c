package jsonvalue_test

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/jsonvalue"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/conform"
	"github.com/thriftpack/thriftpack/internal/schema/schematest"
)

// writeSource is the IDL of the writer's tests.
const writeSource = `
enum Mood { CALM = 1, LOUD = 2, SAME = 2 }
struct Pair { 1: i32 a, 2: string b }
union Either { 1: i32 number, 2: string text, 3: Pair pair }
struct Node { 1: optional string name, 2: optional list<Node> children }
struct Kinds {
  1: optional bool flag
  2: optional i8 tiny
  3: optional i16 small
  4: optional i32 number
  5: optional i64 large
  6: optional double ratio
  7: optional string text
  8: optional binary raw
  9: optional uuid id
  10: optional Mood mood
  11: optional Either either
  12: optional Pair pair
}
struct Lists {
  1: optional list<bool> flags
  2: optional list<i8> tinies
  3: optional list<i16> smalls
  4: optional list<i32> numbers
  5: optional list<i64> larges
  6: optional list<double> ratios
  7: optional list<string> texts
  8: optional list<binary> raws
  9: optional list<uuid> ids
  10: optional list<Mood> moods
  11: optional list<Pair> pairs
  12: optional list<list<i32>> grid
  13: optional list<map<string, i32>> maps
  14: optional set<string> words
}
struct Maps {
  1: optional map<bool, i32> byFlag
  2: optional map<i8, i32> byTiny
  3: optional map<i16, i32> bySmall
  4: optional map<i32, i32> byNumber
  5: optional map<i64, i64> byLarge
  6: optional map<double, i32> byRatio
  7: optional map<string, i32> byText
  8: optional map<binary, i32> byRaw
  9: optional map<uuid, i32> byID
  10: optional map<Mood, Mood> byMood
  11: optional map<Pair, Pair> byPair
  12: optional map<list<i32>, list<i32>> byList
}
struct Defaults {
  -3: i32 minus = -3
  1: i32 number = 42
  2: optional string text = "hive"
  3: required bool flag = true
  4: i64 none
  5: list<i32> items = [1, 2]
  6: map<string, i32> prices = {"jar": 5}
  7: Pair pair = {"a": 1}
  8: Mood mood = Mood.LOUD
  9: double ratio = 0.5
  300: binary raw = "a"
}
struct Inner { 1: optional i32 shown = 1, 2: i32 given = 2 }
struct Nests { 1: optional Inner inner = {}, 2: optional Inner other }
struct Outer { 1: optional Defaults inner, 2: list<Defaults> all }
typedef list<i64> Larges
typedef list<string> Texts
typedef map<string, i64> LargeByText
typedef string Text
typedef binary Raw
typedef double Ratio
typedef bool Flag
typedef Mood Temper
typedef map<string, i32> ByText
struct A_long_name_of_a_struct {
  1: optional i32 a_name_of_a_field_that_is_a_good_deal_longer_than_what_is_copied_in_one_go_and_longer_than_the_room_for_an_item
  2: optional string x
  3: optional bool y
  4: optional i32 exactly8
}
`

// writeTypes compiles the source.
func writeTypes(tb testing.TB) func(name string) *schema.Type {
	tb.Helper()
	s := schematest.Compile(tb, writeSource)
	return func(name string) *schema.Type { return schematest.TypeOf(tb, s, name) }
}

// most is a limit that bounds nothing here.
const most = math.MaxInt32

// wide are options that bound nothing.
var wide = jsonvalue.WriteOptions{Depth: 64, MaxBytes: most}

// checkedValue returns the value that compact bytes are, checked as for JSON.
func checkedValue(tb testing.TB, data []byte, t *schema.Type, o conform.DecodeOptions) []byte {
	tb.Helper()
	return checkedFrom(tb, decoder.Compact, data, t, o)
}

// checkedFrom is checkedValue from the bytes of a protocol.
func checkedFrom(tb testing.TB, protocol decoder.Protocol, data []byte, t *schema.Type, o conform.DecodeOptions) []byte {
	tb.Helper()
	var d decoder.Decoder
	if _, err := d.Prepare(data, &decoder.Options{
		Protocol: protocol, Root: thriftpackv1.Type(conform.RootKind(t)), Lenient: o.Lenient,
		Limits: decoder.Limits{Depth: 64, Elements: most, StringBytes: most, Nodes: most},
	}); err != nil {
		tb.Fatal(err)
	}
	var c conform.Checker
	o.JSON, o.Source = true, &d
	value, err := c.Decoded(d.Append(nil), t, &o)
	if err != nil {
		tb.Fatal(err)
	}
	return value
}

// unhex reads hexadecimal text with blanks.
func unhex(tb testing.TB, text string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}
