package jsonwrite

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fixture"
	"github.com/thriftpack/thriftpack/internal/jsonvalue"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/conform"
)

func scalar(kind thriftpackv1.Type) *schema.Type {
	return &schema.Type{Kind: kind, Name: strings.ToLower(strings.TrimPrefix(kind.String(), "TYPE_"))}
}

func structure(name string, fields ...schema.Field) *schema.Type {
	s := &schema.Struct{Name: name}
	s.SetFields(fields)
	return &schema.Type{Kind: thriftpackv1.Type_TYPE_STRUCT, Name: name, Struct: s}
}

func list(elem *schema.Type) *schema.Type {
	return &schema.Type{Kind: thriftpackv1.Type_TYPE_LIST, Name: "list<" + elem.Name + ">", Elem: elem}
}

var oneOfEach = structure("OneOfEach",
	schema.Field{ID: 1, Name: "im_true", Type: scalar(2)}, schema.Field{ID: 2, Name: "im_false", Type: scalar(2)},
	schema.Field{ID: 3, Name: "a_bite", Type: scalar(3)}, schema.Field{ID: 4, Name: "integer16", Type: scalar(4)},
	schema.Field{ID: 5, Name: "integer32", Type: scalar(5)}, schema.Field{ID: 6, Name: "integer64", Type: scalar(6)},
	schema.Field{ID: 7, Name: "double_precision", Type: scalar(7)}, schema.Field{ID: 8, Name: "some_characters", Type: scalar(15)},
	schema.Field{ID: 9, Name: "zomg_unicode", Type: scalar(15)})

var row = structure("Row",
	schema.Field{ID: 1, Name: "count", Type: scalar(5)}, schema.Field{ID: 2, Name: "time", Type: scalar(6)},
	schema.Field{ID: 3, Name: "ratio", Type: scalar(7)}, schema.Field{ID: 4, Name: "name", Type: scalar(15)},
	schema.Field{ID: 5, Name: "flag", Type: scalar(2)})

const most = 1 << 30

// path is the way from Thrift bytes to JSON text, and what it keeps.
type path struct {
	decoder decoder.Decoder
	checker conform.Checker
	writer  jsonvalue.Writer
	value   []byte
	text    []byte
}

func (p *path) decode(data []byte, t *schema.Type) ([]byte, error) {
	_, err := p.decoder.Prepare(data, &decoder.Options{
		Root:   thriftpackv1.Type(conform.RootKind(t)),
		Limits: decoder.Limits{Depth: 64, Elements: most, StringBytes: most, Nodes: most},
	})
	if err != nil {
		return nil, err
	}
	p.value = p.decoder.Append(p.value[:0])
	return p.value, nil
}

func (p *path) check(value []byte, t *schema.Type) ([]byte, error) {
	return p.checker.Decoded(value, t, &conform.DecodeOptions{JSON: true, Source: &p.decoder})
}

func (p *path) write(value []byte, t *schema.Type) (err error) {
	p.text, err = p.writer.Append(p.text[:0], value, t, &jsonvalue.WriteOptions{Depth: 64, MaxBytes: most})
	return err
}

// whole is all of the way.
func (p *path) whole(data []byte, t *schema.Type) error {
	value, err := p.decode(data, t)
	if err != nil {
		return err
	}
	if value, err = p.check(value, t); err != nil {
		return err
	}
	return p.write(value, t)
}

// tokensOf returns the tokens of JSON text as a program has them that makes JSON: numbers as numbers, texts as strings.
func tokensOf(tb testing.TB, text []byte) []jsontext.Token {
	tb.Helper()
	var tokens []jsontext.Token
	d := jsontext.NewDecoder(bytes.NewReader(text))
	for {
		token, err := d.ReadToken()
		if errors.Is(err, io.EOF) {
			return tokens
		}
		if err != nil {
			tb.Fatal(err)
		}
		switch token.Kind() {
		case '0':
			number, err := token.Float()
			if err != nil {
				tb.Fatal(err)
			}
			if number == float64(int64(number)) {
				token = jsontext.Int(int64(number))
			} else {
				token = jsontext.Float(number)
			}
		case '"':
			token = jsontext.String(token.String())
		default: // it is as it would be made
		}
		tokens = append(tokens, token)
	}
}

func encoded(tb testing.TB, v *thriftpackv1.Value) []byte {
	tb.Helper()
	var e encoder.Encoder
	data, err := e.Append(nil, fixture.Wire(v), &encoder.Options{Limits: encoder.Limits{Depth: 64, Elements: most, StringBytes: most}})
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// cases are the values that are measured.
func cases(tb testing.TB) []measured {
	tb.Helper()
	small, err := hex.DecodeString(fixture.OneOfEachCompact)
	if err != nil {
		tb.Fatal(err)
	}
	return []measured{
		{"small", small, oneOfEach},
		{"structs", encoded(tb, fixture.ListStruct(10_000)), list(row)},
		{"i64s", encoded(tb, fixture.ListI64(100_000)), list(scalar(6))},
	}
}

type measured struct {
	name string
	data []byte
	t    *schema.Type
}

// BenchmarkRatio measures the way from compact bytes to JSON text beside jsontext, which writes the tokens of the same text and
// nothing else. The two and the steps of the first take turns of about a millisecond; each counts with its fastest turn, which
// no other process disturbed.
func BenchmarkRatio(b *testing.B) {
	for _, c := range cases(b) {
		b.Run(c.name, func(b *testing.B) {
			var p path
			if err := p.whole(c.data, c.t); err != nil {
				b.Fatal(err)
			}
			tokens, want := tokensOf(b, p.text), bytes.Clone(p.text)
			value := bytes.Clone(p.value)
			var out bytes.Buffer
			e := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true))
			contenders := []struct {
				name string
				run  func() error
				best time.Duration
			}{
				{name: "whole", run: func() error { return p.whole(c.data, c.t) }},
				{name: "decode", run: func() error { _, err := p.decode(c.data, c.t); return err }},
				{name: "check", run: func() error { _, err := p.check(value, c.t); return err }},
				{name: "write", run: func() error { return p.write(value, c.t) }},
				{name: "jsontext", run: func() error {
					out.Reset()
					e.Reset(&out, jsontext.AllowDuplicateNames(true))
					for _, token := range tokens {
						if err := e.WriteToken(token); err != nil {
							return err
						}
					}
					return nil
				}},
			}
			times := max(1, 200_000/len(want))
			for b.Loop() {
				for i := range contenders {
					contender := &contenders[i]
					start := time.Now()
					for range times {
						if err := contender.run(); err != nil {
							b.Fatal(err)
						}
					}
					if took := time.Since(start) / time.Duration(times); contender.best == 0 || took < contender.best {
						contender.best = took
					}
				}
			}
			if got := bytes.TrimSpace(out.Bytes()); !bytes.Equal(got, want) || !bytes.Equal(p.text, want) {
				b.Fatalf("jsontext writes\n%.300s\nand not\n%.300s", got, want)
			}
			for i := range contenders {
				b.ReportMetric(float64(contenders[i].best.Nanoseconds()), contenders[i].name+"-ns")
			}
			b.ReportMetric(float64(contenders[4].best)/float64(contenders[0].best), "ratio")
		})
	}
}
