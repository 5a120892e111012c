package jsonvalue

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// TestLimits shows each limit: at it a value passes, and one more does not.
func TestLimits(t *testing.T) {
	t.Parallel()
	typ := structOf("T")
	typ.Struct.SetFields([]schema.Field{
		field(1, "s", tString), field(2, "b", tBinary), field(3, "l", listOf(tI32)), field(4, "u", setOf(tString)), field(5, "m", mapOf(tString, tI8)),
		field(6, "e", mapOf(tDouble, tI8)), field(7, "t", typ), field(8, "d", listOf(tDouble)),
	})
	for _, test := range []struct {
		name     string
		limit    func(l *Limits, most int64)
		most     int64
		at, over string
		reason   fault.Reason
		path     string
		actual   int64
		setting  string
	}{
		{"bytes of a string", stringBytes, 5, `{"s":"abcde"}`, `{"s":"abcdef"}`, fault.SizeLimit, "T.s", 6, "--max-string-bytes"},
		{"bytes of a long string", stringBytes, 100, `{"s":"` + strings.Repeat("é", 50) + `"}`, `{"s":"` + strings.Repeat("é", 50) + `a"}`, fault.SizeLimit, "T.s", 101, "--max-string-bytes"},
		{"bytes behind escapes", stringBytes, 4, `{"s":"\ud83d\ude00"}`, `{"s":"\ud83d\ude00a"}`, fault.SizeLimit, "T.s", 5, "--max-string-bytes"},
		{"bytes of a binary", stringBytes, 5, `{"b":"AAAAAAA="}`, `{"b":"AAAAAAAA"}`, fault.SizeLimit, "T.b", 6, "--max-string-bytes"},
		{"bytes of a key", stringBytes, 5, `{"m":{"abcde":1}}`, `{"m":{"abcdef":1}}`, fault.SizeLimit, "T.m[0].key", 6, "--max-string-bytes"},
		{"bytes of a field without a name", stringBytes, 5, `{"9":{"string":"abcde"}}`, `{"9":{"string":"abcdef"}}`, fault.SizeLimit, "T.9", 6, "--max-string-bytes"},
		{"elements of a list", elements, 3, `{"l":[1,2,3]}`, `{"l":[1,2,3,4]}`, fault.SizeLimit, "T.l", 4, "--max-elements"},
		{"elements of a long list", elements, 300, `{"l":[` + strings.Repeat("1,", 299) + `1]}`, `{"l":[` + strings.Repeat("1,", 300) + `1]}`, fault.SizeLimit, "T.l", 301, "--max-elements"},
		{"elements of a list of doubles", elements, 3, `{"d":[1,2,3]}`, `{"d":[1,2,3,4]}`, fault.SizeLimit, "T.d", 4, "--max-elements"},
		{"elements of a set", elements, 2, `{"u":["a","b"]}`, `{"u":["a","b","c"]}`, fault.SizeLimit, "T.u", 3, "--max-elements"},
		{"members of a map", elements, 2, `{"m":{"a":1,"b":1}}`, `{"m":{"a":1,"b":1,"c":1}}`, fault.SizeLimit, "T.m", 3, "--max-elements"},
		{"entries of a map", elements, 1, `{"e":[{"key":1,"value":1}]}`, `{"e":[{"key":1,"value":1},{"key":2,"value":1}]}`, fault.SizeLimit, "T.e", 2, "--max-elements"},
		{"elements without a name", elements, 1, `{"9":{"list":{"elem":"i8","values":[1]}}}`, `{"9":{"list":{"elem":"i8","values":[1,2]}}}`, fault.SizeLimit, "T.9", 2, "--max-elements"},
		{"nested structs", depth, 3, `{"t":{"t":{}}}`, `{"t":{"t":{"t":{}}}}`, fault.DepthLimit, "T.t.t.t", 4, "--max-depth"},
		{"a list at the end", depth, 3, `{"t":{"l":[]}}`, `{"t":{"t":{"l":[]}}}`, fault.DepthLimit, "T.t.t.l", 4, "--max-depth"},
		{"a map at the end", depth, 3, `{"t":{"m":{}}}`, `{"t":{"t":{"m":{}}}}`, fault.DepthLimit, "T.t.t.m", 4, "--max-depth"},
		{"entries at the end", depth, 3, `{"t":{"e":[{"key":1,"value":1}]}}`, `{"t":{"t":{"e":[]}}}`, fault.DepthLimit, "T.t.t.e", 4, "--max-depth"},
		{"encoded bytes", encodedBytes, 8, `{"s":"abcde"}`, `{"s":"abcdef"}`, fault.SizeLimit, "T", 9, "--max-unary-reply-bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := compactOptions()
			test.limit(&o.Limits, test.most)
			if got, err := encode(t, test.at, typ, o); err != nil {
				t.Errorf("at the limit: %x, %v", got, err)
			}
			f := checkFault(t, test.over, typ, o, test.reason, test.path, -1)
			if f.Limit != test.most || f.Actual != test.actual || !strings.Contains(f.Detail, test.setting) {
				t.Errorf("limit %d, actual %d, want %d and %d: %s", f.Limit, f.Actual, test.most, test.actual, f.Detail)
			}
			test.limit(&o.Limits, 0)
			if got, err := encode(t, test.at, typ, o); err == nil {
				t.Errorf("a limit of zero: %x", got)
			}
		})
	}
}

func stringBytes(l *Limits, most int64) { l.StringBytes = int(most) }
func elements(l *Limits, most int64)    { l.Elements = int(most) }
func depth(l *Limits, most int64)       { l.Depth = int(most) }
func encodedBytes(l *Limits, most int64) {
	l.EncodedBytes, l.EncodedSetting = most, "--max-unary-reply-bytes"
}

// TestDefaultsAreBounded shows that short text cannot make more bytes of default values than the limit allows.
func TestDefaultsAreBounded(t *testing.T) {
	t.Parallel()
	typ := listOf(structOf("D", defaulted(1, "s", tString, "80 80 04"[:2]+"8004"+strings.Repeat("78", 1<<16), "")))
	o := compactOptions()
	o.Limits.EncodedBytes = 1 << 20
	var e Encoder
	var asked int64
	o.Reserve = func(bytes int64) error { asked = bytes; return nil }
	_, err := e.Prepare([]byte("["+strings.Repeat("{},", 1<<16)+"{}]"), typ, o)
	if f := new(fault.Error); !errors.As(err, &f) || f.Reason != fault.SizeLimit || f.Limit != 1<<20 || asked > 4<<20 {
		t.Errorf("%v, with %d bytes asked for", err, asked)
	}
}

// TestHostileText shows that huge and deep text is refused or read without a panic, with bounded memory.
func TestHostileText(t *testing.T) {
	t.Parallel()
	ignore := compactOptions()
	ignore.IgnoreUnknown = true
	deep := listOf(tI8)
	deep.Elem = deep
	million := strings.Repeat("1234567890", 100_000)
	for _, test := range []struct {
		name, text string
		typ        *schema.Type
		o          *Options
		reason     fault.Reason
	}{
		{"10,000 arrays", strings.Repeat("[", 10_000), deep, compactOptions(), fault.DepthLimit},
		{"10,000 arrays that are ignored", `{"x":` + strings.Repeat("[", 10_000), tS, ignore, fault.DepthLimit},
		{"10,000 objects that are ignored", strings.Repeat(`{"x":`, 10_000), tS, ignore, fault.DepthLimit},
		{"10,000 objects without a name", `{"70":` + strings.Repeat(`{"struct":{"1":`, 10_000), tS, compactOptions(), fault.DepthLimit},
		{"a million digits for an i64", `{"l":` + million + `}`, tS, compactOptions(), fault.IntRange},
		{"a million digits for a double", `{"d":` + million + `}`, tS, compactOptions(), fault.IntRange},
		{"a million digits for an i64, in a string", `{"l":"` + million + `"}`, tS, compactOptions(), fault.IntRange},
		{"a million digits behind a point", `{"l":1.` + million + `}`, tS, compactOptions(), fault.TypeMismatch},
		{"a million zeros behind a point", `{"l":1.` + strings.Repeat("0", 1<<20) + `}`, tS, compactOptions(), ""},
		{"a million digits of a double", `{"d":0.` + million + `}`, tS, compactOptions(), ""},
		{"a million digits of an exponent", `{"l":1e` + million + `}`, tS, compactOptions(), fault.IntRange},
		{"a million digits of an exponent of a double", `{"d":1e-` + million + `}`, tS, compactOptions(), ""},
		{"a million digits for a key", `{"m":{"` + million + `":"x"}}`, tS, compactOptions(), fault.IntRange},
		{"a million digits that are ignored", `{"x":` + million + `}`, tS, ignore, ""},
		{"a name of a million letters", `{"` + million + `":1}`, tS, compactOptions(), fault.UnknownName},
		{"a million escapes", `{"s":"` + strings.Repeat(`\u0041`, 1<<18) + `"}`, tS, compactOptions(), ""},
		{"white space", strings.Repeat(" \n", 1<<20) + "{}", tS, compactOptions(), ""},
		{"a million members", "{" + strings.Repeat(`"l":1,`, 1<<18) + `"l":1}`, tS, compactOptions(), fault.DuplicateField},
		{"a million nulls", "{" + strings.Repeat(`"l":null,`, 1<<18) + `"l":1}`, tS, compactOptions(), fault.DuplicateField},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var e Encoder
			var asked int64
			o := *test.o
			o.Reserve = func(bytes int64) error { asked = bytes; return nil }
			_, err := e.Prepare([]byte(test.text), test.typ, &o)
			f := new(fault.Error)
			switch {
			case test.reason == "" && err != nil:
				t.Error(err)
			case test.reason != "" && (!errors.As(err, &f) || f.Reason != test.reason):
				t.Errorf("%v, want %s", err, test.reason)
			case f.Detail != "" && len(f.Detail) > 300:
				t.Errorf("the fault has %d bytes", len(f.Detail))
			case asked > int64(16*len(test.text))+64<<10:
				t.Errorf("%d bytes asked for, for text of %d", asked, len(test.text))
			}
		})
	}
}

// TestDeepest shows that as much nesting as the limit ever allows goes through the stack.
func TestDeepest(t *testing.T) {
	t.Parallel()
	typ := structOf("T")
	typ.Struct.SetFields([]schema.Field{field(1, "a", tI8), field(2, "t", typ)})
	o := compactOptions()
	o.Limits.Depth = 1 << 20
	const most = encoder.MaxDepth
	text := strings.Repeat(`{"t":`, most-1) + "{}" + strings.Repeat(`,"a":1}`, most-1) // out of order at every level
	got, err := encode(t, text, typ, o)
	if want := 4*(most-1) + 1; err != nil || len(got) != want {
		t.Errorf("%d levels have %d bytes, %v, want %d", most, len(got), err, want)
	}
	f := checkFault(t, `{"t":`+text+`}`, typ, o, fault.DepthLimit, "T"+strings.Repeat(".t", most), -1)
	if f.Limit != most || f.Actual != most+1 {
		t.Errorf("limit %d, actual %d", f.Limit, f.Actual)
	}
}

// TestTruncated shows that no text is taken that ends too early.
func TestTruncated(t *testing.T) {
	t.Parallel()
	ordered, shuffled := orderText(random(11), 1)
	typ := orderType()
	for _, text := range []string{
		ordered, shuffled,
		` { "bool" : true , "string" : "a\u00e9\ud83d\ude00\n" , "7" : { "map" : { "key" : "i8" , "value" : "list" , "entries" : [ { "key" : 1 , "value" : { "elem" : "i8" , "values" : [ 2 ] } } ] } } , "uuid" : "00112233-4455-6677-8899-aabbccddeeff" }`,
	} {
		if _, err := encode(t, text, typ, compactOptions()); err != nil {
			t.Fatal(err)
		}
		var e Encoder
		for n := range len(text) {
			got, err := e.Append(nil, []byte(text[:n]), typ, compactOptions())
			f := new(fault.Error)
			if !errors.As(err, &f) || f.Offset > int64(n) { // of a set, part of a number may be there already
				t.Fatalf("%s is %x, %v", shorten(text[:n]), got, err)
			}
		}
	}
}

// TestEnvelope shows the header of a message and the frame, in both protocols, and what they refuse.
func TestEnvelope(t *testing.T) {
	t.Parallel()
	message := func(o *Options, name string, kind, sequence int32) *Options {
		o.Message = &encoder.Message{Name: name, Type: kind, SeqID: sequence}
		return o
	}
	framed := func(o *Options) *Options {
		o.Framed = true
		return o
	}
	check(t, `{"by":1}`, tS, message(compactOptions(), "ping", 1, 300), "82 21 ac 02 04 70 69 6e 67 73 01 00")
	check(t, `{"by":1}`, tS, message(compactOptions(), "e", 4, -1), "82 81 ff ff ff ff 0f 01 65 73 01 00")
	check(t, `{"by":1}`, tS, message(binaryOptions(), "ping", 2, -2), "80 01 00 02 00 00 00 04 70 69 6e 67 ff ff ff fe 03 0007 01 00")
	check(t, `{"by":1}`, tS, framed(compactOptions()), "00 00 00 03 73 01 00")
	check(t, `{"by":1}`, tS, framed(message(binaryOptions(), "", 3, 0)), "00 00 00 11 80 01 00 03 00 00 00 00 00 00 00 00 03 0007 01 00")
	check(t, `true`, tBool, framed(compactOptions()), "00 00 00 01 01")
	long := strings.Repeat("n", 1000)
	got, err := encode(t, `{"li":[`+strings.Repeat("1,", 20)+`1],"by":1}`, tS, message(compactOptions(), long, 1, 0))
	if want := len("\x82\x21\x00\xe8\x07") + 1000 + len("\x73\x01\x69\xf5\x15") + 21 + 1; err != nil || len(got) != want {
		t.Errorf("a message with a long name has %d bytes, %v, want %d", len(got), err, want)
	}
	checkFault(t, `[]`, listOf(tI8), message(compactOptions(), "a", 1, 0), fault.TypeMismatch, "list<i8>", 0)
	checkFault(t, `{}`, tS, message(compactOptions(), "a", 0, 0), fault.BadHeader, "options.message.type", -1)
	checkFault(t, `{}`, tS, message(compactOptions(), "a", 5, 0), fault.BadHeader, "options.message.type", -1)
	checkFault(t, `{}`, tS, message(compactOptions(), "\xff", 1, 0), fault.BadUTF8, "options.message.name", -1)
	o := message(compactOptions(), "abcdef", 1, 0)
	o.Limits.StringBytes = 5
	checkFault(t, `{}`, tS, o, fault.SizeLimit, "options.message.name", -1)
}

// TestRoots shows values of every kind as the root.
func TestRoots(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		typ    *schema.Type
		text   string
		want   string
		binary string
	}{
		{tBool, "true", "01", "01"},
		{tBool, " false ", "02", "00"},
		{tI8, "-1", "ff", "ff"},
		{tI16, `"1"`, "02", "0001"},
		{tI32, "1e2", "c801", "00000064"},
		{tI64, "-1", "01", "ffffffffffffffff"},
		{tDouble, "-0", "0000000000000080", "8000000000000000"},
		{tString, `"a"`, "0161", "0000000161"},
		{tBinary, `"YQ"`, "0161", "0000000161"},
		{tUUID, `"00112233-4455-6677-8899-aabbccddeeff"`, "00112233445566778899aabbccddeeff", "00112233445566778899aabbccddeeff"},
		{tEnum, `"Y"`, "04", "00000002"},
		{listOf(tBool), "[true]", "1101", "020000000101"},
		{setOf(tI8), "[]", "03", "0300000000"},
		{mapOf(tI8, tString), "{}", "00", "030b00000000"},
		{tU, `{"b":""}`, "280000", "0b00020000000000"},
	} {
		check(t, test.text, test.typ, compactOptions(), test.want)
		check(t, test.text, test.typ, binaryOptions(), test.binary)
	}
}

// TestNoSecrets shows that faults say nothing of the contents of strings and of keys.
func TestNoSecrets(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for _, text := range []string{
		`{"l":"` + secret + `"}`, `{"d":"` + secret + `"}`, `{"b":"!` + secret + `"}`, `{"e":"` + secret + `"}`, `{"m":{"` + secret + `":"x"}}`, `{"s":"` + secret + `\q"}`,
		`{"s":"` + secret + "\xff\"}", `{"s":"` + secret + `\ud800"}`, `{"s":"` + secret, `{"s":` + secret + `}`, `{"l":` + secret + `}`, `{"li":["` + secret + `"]}`, `{"bo":"` + secret + `"}`,
		`{"u":"` + secret + `"}`, `{"st":{"` + secret + `":1}}`, `{"7":"` + secret + `"}`, `{"7":{"uuid":"` + secret + `"}}`, `{"s":"x"` + secret + `}`, `{} ` + secret,
	} {
		if _, err := encode(t, text, tS, compactOptions()); err == nil || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), strconv.Quote(secret)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
