package jsonvalue

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// testLimits are wide enough for every test that is about something else.
var testLimits = Limits{Depth: 64, Elements: 1 << 30, StringBytes: 1 << 30, EncodedBytes: 1 << 40}

// Types, by hand.
var (
	tBool   = &schema.Type{Kind: thriftpackv1.Type_TYPE_BOOL, Name: "bool"}
	tI8     = &schema.Type{Kind: thriftpackv1.Type_TYPE_I8, Name: "i8"}
	tI16    = &schema.Type{Kind: thriftpackv1.Type_TYPE_I16, Name: "i16"}
	tI32    = &schema.Type{Kind: thriftpackv1.Type_TYPE_I32, Name: "i32"}
	tI64    = &schema.Type{Kind: thriftpackv1.Type_TYPE_I64, Name: "i64"}
	tDouble = &schema.Type{Kind: thriftpackv1.Type_TYPE_DOUBLE, Name: "double"}
	tBinary = &schema.Type{Kind: thriftpackv1.Type_TYPE_BINARY, Name: "binary"}
	tString = &schema.Type{Kind: thriftpackv1.Type_TYPE_STRING, Name: "string"}
	tUUID   = &schema.Type{Kind: thriftpackv1.Type_TYPE_UUID, Name: "uuid"}
	tEnum   = &schema.Type{Kind: thriftpackv1.Type_TYPE_I32, Name: "E", Enum: schema.NewEnum("E", []schema.EnumValue{{Name: "X", Number: 1}, {Name: "Y", Number: 2}})}
)

func listOf(elem *schema.Type) *schema.Type {
	return &schema.Type{Kind: thriftpackv1.Type_TYPE_LIST, Name: "list<" + elem.Name + ">", Elem: elem}
}

func setOf(elem *schema.Type) *schema.Type {
	return &schema.Type{Kind: thriftpackv1.Type_TYPE_SET, Name: "set<" + elem.Name + ">", Elem: elem}
}

func mapOf(key, value *schema.Type) *schema.Type {
	return &schema.Type{Kind: thriftpackv1.Type_TYPE_MAP, Name: "map<" + key.Name + "," + value.Name + ">", Key: key, Elem: value}
}

// field returns an optional field.
func field(id int16, name string, t *schema.Type) schema.Field {
	return schema.Field{ID: id, Name: name, Type: t, Requirement: schema.Optional}
}

// required returns a required field.
func required(id int16, name string, t *schema.Type) schema.Field {
	return schema.Field{ID: id, Name: name, Type: t, Requirement: schema.Required}
}

// defaulted returns a field with a default value, whose bytes are in hex.
func defaulted(id int16, name string, t *schema.Type, compact, binary string) schema.Field {
	c, err := hex.DecodeString(compact)
	b, berr := hex.DecodeString(binary)
	if err != nil || berr != nil {
		panic(compact + " " + binary)
	}
	return schema.Field{ID: id, Name: name, Type: t, Default: &schema.Constant{Compact: c, Binary: b}}
}

func structOf(name string, fields ...schema.Field) *schema.Type {
	s := &schema.Struct{Name: name}
	s.SetFields(fields)
	return &schema.Type{Kind: thriftpackv1.Type_TYPE_STRUCT, Name: name, Struct: s}
}

func unionOf(name string, fields ...schema.Field) *schema.Type {
	s := &schema.Struct{Name: name, Union: true}
	s.SetFields(fields)
	return &schema.Type{Kind: thriftpackv1.Type_TYPE_STRUCT, Name: name, Struct: s}
}

// The types of the cases that broke others.
var (
	tU = unionOf("U", field(1, "a", tI32), field(2, "b", tString))
	tS = structOf("S",
		field(1, "l", tI64), field(2, "b", tBinary), field(3, "m", mapOf(tI32, tString)), field(4, "e", tEnum), field(5, "d", tDouble),
		field(6, "u", tU), field(7, "by", tI8), field(8, "s", tString), field(9, "st", setOf(tI32)), field(11, "i", tI32),
		field(12, "bo", tBool), field(13, "li", listOf(tI32)))
	tR = structOf("R", required(1, "r", tI32), defaulted(2, "d", tI32, "0e", "00000007"), field(3, "o", tI32))
)

// unhex returns the bytes of hex with spaces.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatalf("hex %q: %v", s, err)
	}
	return b
}

// collector is a Sink that lends buffers of one size and keeps what they were filled with.
type collector struct {
	size int
	buf  []byte
	all  []byte
}

func (c *collector) Next(filled int) ([]byte, error) {
	c.all = append(c.all, c.buf[:filled]...)
	c.buf = bytes.Repeat([]byte{0xee}, c.size)
	return c.buf, nil
}

// encode encodes text in all ways, which must agree, and returns the result.
func encode(t testing.TB, text string, typ *schema.Type, o *Options) ([]byte, error) {
	t.Helper()
	var e Encoder
	return encodeWith(t, &e, text, typ, o)
}

func encodeWith(t testing.TB, e *Encoder, text string, typ *schema.Type, o *Options) ([]byte, error) {
	t.Helper()
	in := []byte(text)
	got, err := e.Append([]byte("before"), in, typ, o)
	size, prepareErr := e.Prepare(in, typ, o)
	if string(in) != text {
		t.Fatalf("the text was changed")
	}
	if err != nil || prepareErr != nil {
		if err == nil || prepareErr == nil || err.Error() != prepareErr.Error() {
			t.Fatalf("Append: %v, Prepare: %v", err, prepareErr)
		}
		if string(got) != "before" {
			t.Fatalf("Append returned %q with an error", got)
		}
		return nil, err
	}
	if int64(len(got)-len("before")) != size {
		t.Fatalf("Append made %d bytes, Prepare said %d", len(got)-len("before"), size)
	}
	clear(in) // it is not needed any more
	for range 2 {
		c := collector{size: minBuffer}
		buf, filled, err := e.WriteTo(&c, nil, 0)
		if err != nil {
			t.Fatalf("WriteTo: %v", err)
		}
		if c.all = append(c.all, buf[:filled]...); !bytes.Equal(c.all, got[len("before"):]) {
			t.Fatalf("WriteTo wrote %x, Append %x", c.all, got[len("before"):])
		}
	}
	e.Release()
	return got[len("before"):], nil
}

// check fails unless text has this encoding, in hex.
func check(t testing.TB, text string, typ *schema.Type, o *Options, want string) {
	t.Helper()
	got, err := encode(t, text, typ, o)
	if err != nil {
		t.Errorf("%s: %v", shorten(text), err)
		return
	}
	if !bytes.Equal(got, unhex(t, want)) {
		t.Errorf("%s is %x, want %s", shorten(text), got, want)
	}
}

// checkFault fails unless text is at fault, with the reason, the path, and the offset unless that is negative.
func checkFault(t testing.TB, text string, typ *schema.Type, o *Options, reason fault.Reason, path string, offset int64) *fault.Error {
	t.Helper()
	got, err := encode(t, text, typ, o)
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Errorf("%s is %x, %v, want %s", shorten(text), got, err, reason)
		return &fault.Error{}
	}
	if f.Reason != reason || f.Path != path || offset >= 0 && f.Offset != offset {
		t.Errorf("%s: %s %v, want %s at %s, offset %d", shorten(text), f.Reason, err, reason, path, offset)
	}
	return f
}

func shorten(text string) string {
	if len(text) > 200 {
		return text[:150] + "…" + text[len(text)-40:]
	}
	return text
}

func compactOptions() *Options { return &Options{Limits: testLimits} }

func binaryOptions() *Options { return &Options{Limits: testLimits, Protocol: encoder.Binary} }
