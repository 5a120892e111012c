package suite

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/jsonvalue"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/conform"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// buildToJSON makes the contenders from compact bytes to JSON text: ours, and jsontext, which writes the tokens of the same text. Where
// names come from the data, which are the keys of maps, both see that none comes twice. The members of structs have their names from the type:
// jsontext does not look for those that come twice, though we do by their ids.
func (s jsonSource) buildToJSON(compact []byte, typ *schema.Type) (*Group, error) {
	ours := toText(compact, typ)
	text, err := ours()
	if err != nil {
		return nil, err
	}
	text = bytes.Clone(text)
	values, err := tokensOf(text)
	if err != nil {
		return nil, err
	}
	written := new(bytes.Buffer)
	floor := writeTokens(values, written, s.size != mapStringI64)
	if err := floor(1); err != nil {
		return nil, err
	}
	if !bytes.Equal(bytes.TrimSpace(written.Bytes()), text) {
		return nil, errors.New("jsontext writes another text")
	}
	var goals []Goal
	if len(s.goals) > 0 {
		goals = []Goal{{wire, tokens, 0.9}}
	}
	return &Group{
		Name: s.group(toJSON, s.size), Bytes: len(text),
		Contenders: []Contender{{Family: wire, Run: repeated(ours)}, {Family: tokens, Run: floor}},
		Goals:      goals,
	}, nil
}

// toText goes from compact bytes to text as the service does: decode, check, write. The text is in a buffer that is used again.
func toText(compact []byte, typ *schema.Type) func() ([]byte, error) {
	dec, checker, writer := new(decoder.Decoder), new(conform.Checker), new(jsonvalue.Writer)
	options := &decoder.Options{Root: thriftpackv1.Type(conform.RootKind(typ)), Limits: decoderLimits}
	check := &conform.DecodeOptions{JSON: true, Source: dec}
	write := &jsonvalue.WriteOptions{Depth: 64, MaxBytes: 1 << 30}
	var value, text []byte
	return func() ([]byte, error) {
		if _, err := dec.Prepare(compact, options); err != nil {
			return nil, fmt.Errorf("decode: %w", err)
		}
		value = dec.Append(value[:0])
		checked, err := checker.Decoded(value, typ, check)
		if err != nil {
			return nil, fmt.Errorf("check: %w", err)
		}
		if text, err = writer.Append(text[:0], checked, typ, write); err != nil {
			return nil, fmt.Errorf("write: %w", err)
		}
		return text, nil
	}
}

// tokensOf are the tokens of JSON text as a program has them that makes JSON: numbers as numbers, texts as strings.
func tokensOf(text []byte) ([]jsontext.Token, error) {
	var all []jsontext.Token
	d := jsontext.NewDecoder(bytes.NewReader(text))
	for {
		token, err := d.ReadToken()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("jsontext: %w", err)
		}
		switch token.Kind() {
		case '0':
			number, err := token.Float()
			if err != nil {
				return nil, fmt.Errorf("jsontext: %w", err)
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
		all = append(all, token)
	}
}

// writeTokens writes tokens into a buffer that is used again. Unless duplicates are allowed, it sees that no name comes twice in an object.
func writeTokens(all []jsontext.Token, out *bytes.Buffer, duplicates bool) func(runs int) error {
	allow := jsontext.AllowDuplicateNames(duplicates)
	e := jsontext.NewEncoder(out, allow)
	return func(runs int) error {
		for range runs {
			out.Reset()
			e.Reset(out, allow)
			for _, token := range all {
				if err := e.WriteToken(token); err != nil {
					return fmt.Errorf("jsontext: %w", err)
				}
			}
		}
		return nil
	}
}
