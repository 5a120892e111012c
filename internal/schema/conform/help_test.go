package conform_test

import (
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/jsonvalue"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/conform"
	"github.com/thriftpack/thriftpack/internal/schema/schematest"
)

// source is the IDL of the tests.
const source = `
enum Mood { CALM = 1, LOUD = 2 }
struct Pair { 1: i32 a, 2: string b }
struct Must { 1: required i32 number, 2: required string text, 3: optional string note }
union Either { 1: i32 number, 2: string text, 3: list<i32> numbers, 4: Pair pair }
struct Node { 1: optional string name, 2: optional list<Node> children, 3: optional map<string, Node> named }
struct Nothing {}
struct All {
  -1: optional i32 minus
  1: optional bool flag
  2: optional i8 tiny
  3: optional i32 number
  4: optional i64 large
  5: optional double ratio
  6: optional string text
  7: optional binary raw
  8: optional uuid id
  9: optional Mood mood
  10: optional list<string> texts
  11: optional list<binary> raws
  12: optional list<i32> numbers
  13: optional set<i32> set
  14: optional set<string> words
  15: optional list<Pair> pairs
  16: optional map<string, i32> byText
  17: optional map<i32, string> byNumber
  18: optional Either either
  19: optional list<Must> musts
  20: optional list<list<i32>> grid
  21: optional map<Pair, Pair> byPair
  22: optional set<bool> flags
  23: optional set<double> doubles
  24: optional set<i8> bytes
  25: optional map<string, list<map<i32, string>>> deep
  26: optional set<list<i32>> lists
  300: optional i32 far
}
typedef list<Pair> Pairs
typedef list<string> Texts
typedef map<string, i32> ByText
typedef string Text
typedef Mood Temper
`

// The types of source.
type types struct{ *schema.Schema }

func newTypes(tb testing.TB) types {
	tb.Helper()
	return types{schematest.Compile(tb, source)}
}

func (s types) of(tb testing.TB, name string) *schema.Type {
	tb.Helper()
	return schematest.TypeOf(tb, s.Schema, name)
}

// most is a limit that bounds nothing here.
const most = math.MaxInt32

var limits = encoder.Limits{Depth: 64, Elements: most, StringBytes: most, SlowNodes: 1000}

// wire returns the wire bytes of a value, canonical.
func wire(tb testing.TB, v *thriftpackv1.Value) []byte {
	tb.Helper()
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return b
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

// reader decodes and checks.
type reader struct {
	decoder decoder.Decoder
	checker conform.Checker
	writer  jsonvalue.Writer
}

// value decodes bytes and checks them against t. The result is the caller's.
func (r *reader) value(data []byte, t *schema.Type, from decoder.Options, o conform.DecodeOptions) ([]byte, error) {
	from.Root, from.Lenient = thriftpackv1.Type(conform.RootKind(t)), o.Lenient
	from.Limits = decoder.Limits{Depth: 64, Elements: most, StringBytes: most, Nodes: most}
	if _, err := r.decoder.Prepare(data, &from); err != nil {
		return nil, err
	}
	o.Source = &r.decoder
	value, err := r.checker.Decoded(r.decoder.Append(nil), t, &o)
	return slices.Clone(value), err
}

// text is value of compact bytes, as JSON.
func (r *reader) text(data []byte, t *schema.Type, o conform.DecodeOptions) (string, error) {
	o.JSON = true
	value, err := r.value(data, t, decoder.Options{}, o)
	if err != nil {
		return "", err
	}
	text, err := r.writer.Append(nil, value, t, &jsonvalue.WriteOptions{Depth: 64, MaxBytes: most})
	return string(text), err
}

// wantFault compares an error's reason and its text, which has the place.
func wantFault(tb testing.TB, err error, want string) {
	tb.Helper()
	var f *fault.Error
	if !errors.As(err, &f) {
		tb.Fatalf("error %v, want %s", err, want)
	}
	if got := string(f.Reason) + " " + f.Error(); got != want {
		tb.Errorf("\n got %s\nwant %s", got, want)
	}
}

// encode returns the compact bytes of a value.
func encode(tb testing.TB, value []byte) []byte {
	tb.Helper()
	var e encoder.Encoder
	data, err := e.Append(nil, value, &encoder.Options{Limits: limits})
	if err != nil {
		tb.Fatal(err)
	}
	return data
}
