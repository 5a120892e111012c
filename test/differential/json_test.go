package differential

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/go-json-experiment/json/jsontext"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/jsonvalue"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// The types that texts are read as.
var (
	textType    = &schema.Type{Kind: thriftpackv1.Type_TYPE_STRING, Name: "string"}
	i64Type     = &schema.Type{Kind: thriftpackv1.Type_TYPE_I64, Name: "i64"}
	doubleType  = &schema.Type{Kind: thriftpackv1.Type_TYPE_DOUBLE, Name: "double"}
	texts       = listOf(textType)
	i64s        = listOf(i64Type)
	doubles     = listOf(doubleType)
	textsByText = &schema.Type{Kind: thriftpackv1.Type_TYPE_MAP, Name: "map<string,string>", Key: textType, Elem: textType}
	// nothing is a struct without fields, so that all its members are ignored.
	nothing = func() *schema.Type {
		s := &schema.Struct{Name: "Nothing"}
		s.SetFields(nil)
		return &schema.Type{Kind: thriftpackv1.Type_TYPE_STRUCT, Name: s.Name, Struct: s}
	}()
)

var types = []*schema.Type{nothing, texts, i64s, doubles, textsByText, textType, i64Type, doubleType}

func listOf(elem *schema.Type) *schema.Type {
	return &schema.Type{Kind: thriftpackv1.Type_TYPE_LIST, Name: "list<" + elem.Name + ">", Elem: elem}
}

var jsonOptions = &jsonvalue.Options{
	IgnoreUnknown: true,
	Limits:        jsonvalue.Limits{Depth: 10_000, Elements: 1 << 20, StringBytes: 1 << 20, EncodedBytes: 1 << 24},
}

// checkText compares what we say of a text with what jsontext says, and returns the types that took it.
func checkText(t *testing.T, e *jsonvalue.Encoder, text []byte) (taken []string) {
	t.Helper()
	strict := readTokens(text)
	loose := readTokens(text, jsontext.AllowDuplicateNames(true))
	// As a value that is ignored, any text is taken that is JSON. Names in it may come twice.
	wrapped := append(append([]byte(`{"x":`), text...), '}')
	if _, err := e.Append(nil, wrapped, nothing, jsonOptions); (err == nil) != (loose == nil) {
		t.Fatalf("%q is ignored: %v; jsontext: %v", text, err, loose)
	}
	for _, typ := range types {
		got, err := e.Append(nil, text, typ, jsonOptions)
		if f := new(fault.Error); err != nil && (!errors.As(err, &f) || f.Offset < 0 || f.Offset > int64(len(text))) {
			t.Fatalf("%q as %s: %v", text, typ.Name, err)
		}
		if err == nil && strict != nil && (loose != nil || typ != nothing) {
			t.Fatalf("%q is %x as %s; jsontext: %v", text, got, typ.Name, strict)
		}
		if err != nil {
			if f := new(fault.Error); errors.As(err, &f) && f.Reason == fault.JSONSyntax && loose == nil {
				t.Fatalf("%q as %s: %v, and jsontext takes it", text, typ.Name, err)
			}
			continue
		}
		checkValue(t, text, typ, got)
		taken = append(taken, typ.Name)
	}
	return taken
}

// readTokens reads one value, and returns what jsontext finds wrong with the text.
func readTokens(text []byte, options ...jsontext.Options) error {
	d := jsontext.NewDecoder(bytes.NewReader(text), options...)
	if _, err := d.ReadValue(); err != nil {
		return err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("text behind the value")
	}
	return nil
}

// checkValue compares the bytes, as Apache's reader sees them, with the tokens, as jsontext and strconv do.
func checkValue(t *testing.T, text []byte, typ *schema.Type, encoded []byte) {
	t.Helper()
	transport := thrift.NewTMemoryBuffer()
	transport.Write(encoded)
	protocol := thrift.NewTCompactProtocolConf(transport, nil)
	d := jsontext.NewDecoder(bytes.NewReader(text))
	ctx := context.Background()
	fail := func(want string, got any, err error) {
		t.Helper()
		t.Fatalf("%q as %s: %v, %v, want %s", text, typ.Name, got, err, want)
	}
	element := typ
	count := 1
	switch {
	case typ.Struct != nil:
		return
	case typ.Key != nil:
		_, _, n, err := protocol.ReadMapBegin(ctx)
		if err != nil {
			fail("a map", n, err)
		}
		count, element = 2*n, typ.Elem
	case typ.Elem != nil:
		_, n, err := protocol.ReadListBegin(ctx)
		if err != nil {
			fail("a list", n, err)
		}
		count, element = n, typ.Elem
	}
	if typ.Elem != nil {
		if _, err := d.ReadToken(); err != nil {
			t.Fatal(err)
		}
	}
	for range count {
		token, err := d.ReadToken()
		if err != nil {
			fail("as many elements", count, err)
		}
		want := token.String()
		switch element.Kind {
		case thriftpackv1.Type_TYPE_STRING:
			if got, err := protocol.ReadString(ctx); err != nil || got != want {
				fail(want, got, err)
			}
		case thriftpackv1.Type_TYPE_I64:
			number, good := new(big.Rat).SetString(want)
			if got, err := protocol.ReadI64(ctx); err != nil || !good || !number.IsInt() || number.Num().Cmp(big.NewInt(got)) != 0 {
				fail(want, got, err)
			}
		default:
			got, err := protocol.ReadDouble(ctx)
			if number, parseErr := strconv.ParseFloat(want, 64); err != nil || parseErr != nil || math.Float64bits(number) != math.Float64bits(got) && !(math.IsNaN(got) && math.IsNaN(number)) {
				fail(want, got, err)
			}
		}
	}
	if transport.Len() != 0 {
		t.Fatalf("%q as %s: %d bytes are left of %x", text, typ.Name, transport.Len(), encoded)
	}
}

// randomText returns text that is JSON, or nearly so.
func randomText(r *rand.Rand, depth int) string {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	space := func() string { return pick("", "", "", "", " ", "\n", "\t\r ", "          ") }
	switch kind := r.IntN(10); {
	case kind < 3:
		return space() + randomString(r) + space()
	case kind < 7 || depth == 0:
		return space() + randomNumber(r) + space()
	case kind == 7:
		return space() + pick("true", "false", "null", `"NaN"`, `"-Infinity"`) + space()
	case kind == 8:
		elements := make([]string, r.IntN(20))
		same := r.IntN(4) // lists of one kind are what types take
		for i := range elements {
			switch same {
			case 0:
				elements[i] = randomText(r, depth-1)
			case 1:
				elements[i] = space() + randomString(r)
			default:
				elements[i] = space() + randomNumber(r)
			}
		}
		return space() + "[" + strings.Join(elements, ",") + space() + "]"
	default:
		members := make([]string, r.IntN(10))
		for i := range members {
			value := randomString(r)
			if r.IntN(2) == 0 {
				value = randomText(r, depth-1)
			}
			members[i] = space() + randomString(r) + space() + ":" + space() + value
		}
		return space() + "{" + strings.Join(members, ",") + "}"
	}
}

func randomString(r *rand.Rand) string {
	var text strings.Builder
	pieces := []string{
		"a", "abc", "0123456789", "é", "😀", "\u2028", `\n`, `\"`, `\\`, `\/`, `\u0000`, `\u00e9`, `\uD83D\uDE00`, `\ud800`, `\udc00`, "\x7f", "\x1f", "\xff", "\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", `\x`, `\u12g4`, "\ufffd",
	}
	likely := 6 + r.IntN(len(pieces)-5) // mostly such that are good
	for range r.IntN(12) {
		text.WriteString(pieces[r.IntN(likely)])
	}
	return `"` + text.String() + `"`
}

func randomNumber(r *rand.Rand) string {
	switch r.IntN(6) {
	case 0:
		return strconv.FormatInt(int64(r.Uint64()>>r.UintN(64)), 10)
	case 1:
		return strconv.FormatInt(-int64(r.Uint64()>>r.UintN(64)), 10)
	case 2:
		return strconv.FormatFloat(math.Float64frombits(r.Uint64()>>2), 'g', 1+r.IntN(20), 64)
	case 3:
		return strconv.FormatFloat(r.NormFloat64(), 'f', -1, 64)
	case 4:
		return strconv.Itoa(r.IntN(200)-100) + "." + strings.Repeat("0", r.IntN(4)) + strconv.Itoa(r.IntN(2)) + "e" + strconv.Itoa(r.IntN(30)-5)
	default:
		return []string{"0", "-0", "01", "-", "1.", ".5", "1e", "1e+", "+1", "0x1", "1_0", "NaN", "1E5", "1e-5", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e400", "123456789012345678901234567890"}[r.IntN(19)]
	}
}

// mutate changes a few bytes of a text.
func mutate(r *rand.Rand, text string) []byte {
	b := []byte(text)
	const alphabet = "\"\\{}[]:,.-+0123456789eEutfna \n\x00\x1f\x80\xc3\xff"
	for range r.IntN(3) {
		if len(b) == 0 {
			break
		}
		at, c := r.IntN(len(b)), alphabet[r.IntN(len(alphabet))]
		switch r.IntN(3) {
		case 0:
			b[at] = c
		case 1:
			b = append(b[:at], b[at+1:]...)
		default:
			b = append(b[:at], append([]byte{c}, b[at:]...)...)
		}
	}
	return b
}

// TestJSONAgainstJSONText compares many random texts, good and bad.
func TestJSONAgainstJSONText(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var e jsonvalue.Encoder
	taken := map[string]int{}
	for range 40_000 {
		for _, name := range checkText(t, &e, mutate(r, randomText(r, 3))) {
			taken[name]++
		}
	}
	for _, typ := range types {
		if taken[typ.Name] < 100 {
			t.Errorf("%s took %d texts: too few", typ.Name, taken[typ.Name])
		}
	}
	t.Log(taken)
}

// FuzzJSONAgainstJSONText looks for texts of which jsontext has another opinion.
func FuzzJSONAgainstJSONText(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		f.Add([]byte(randomText(r, 3)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var e jsonvalue.Encoder
		checkText(t, &e, text)
	})
}
