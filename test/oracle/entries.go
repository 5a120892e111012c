package oracle

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/thriftpack/thriftpack/internal/schema"
)

// WithEntries returns the JSON of a vector's value of the type in the form that the service reads: the vectors write maps whose keys are
// uuids, or no texts, as arrays of [key, value].
func WithEntries(text []byte, t *schema.Type) ([]byte, error) {
	var out bytes.Buffer
	in := jsontext.NewDecoder(bytes.NewReader(text))
	to := jsontext.NewEncoder(&out)
	if err := copyValue(to, in, t); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// copyValue copies the next value.
func copyValue(to *jsontext.Encoder, in *jsontext.Decoder, t *schema.Type) error {
	switch kind := in.PeekKind(); {
	case kind == '{' && t.Struct != nil:
		return copyMembers(to, in, func(name string) *schema.Type {
			if f := t.Struct.FieldByName([]byte(name)); f != nil {
				return f.Type
			}
			return nil
		})
	case kind == '{' && t.Key != nil:
		return copyMembers(to, in, func(string) *schema.Type { return t.Elem })
	case kind == '[' && t.Key != nil && t.Key.ObjectKey():
		return copyPairs(to, in, t)
	case kind == '[' && t.Key != nil:
		return copyElements(to, in, func() error { return copyPair(to, in, t) })
	case kind == '[' && t.Elem != nil:
		return copyElements(to, in, func() error { return copyValue(to, in, t.Elem) })
	default:
		value, err := in.ReadValue()
		if err != nil {
			return err
		}
		return to.WriteValue(value)
	}
}

// copyMembers copies an object whose values have types by their names.
func copyMembers(to *jsontext.Encoder, in *jsontext.Decoder, typeOf func(name string) *schema.Type) error {
	for first := true; first || in.PeekKind() != '}'; first = false {
		token, err := in.ReadToken()
		if err != nil {
			return err
		}
		if err := to.WriteToken(token); err != nil {
			return err
		}
		if first {
			continue
		}
		t := typeOf(token.String())
		if t == nil {
			return fmt.Errorf("no field %s", token)
		}
		if err := copyValue(to, in, t); err != nil {
			return err
		}
	}
	return copyToken(to, in)
}

// copyElements copies an array.
func copyElements(to *jsontext.Encoder, in *jsontext.Decoder, element func() error) error {
	if err := copyToken(to, in); err != nil {
		return err
	}
	for in.PeekKind() != ']' {
		if err := element(); err != nil {
			return err
		}
	}
	return copyToken(to, in)
}

// copyPairs makes an object of an array of [key, value].
func copyPairs(to *jsontext.Encoder, in *jsontext.Decoder, t *schema.Type) error {
	if _, err := in.ReadToken(); err != nil {
		return err
	}
	if err := to.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for in.PeekKind() != ']' {
		if _, err := in.ReadToken(); err != nil {
			return err
		}
		if err := copyToken(to, in); err != nil {
			return err
		}
		if err := copyValue(to, in, t.Elem); err != nil {
			return err
		}
		if _, err := in.ReadToken(); err != nil {
			return err
		}
	}
	if _, err := in.ReadToken(); err != nil {
		return err
	}
	return to.WriteToken(jsontext.EndObject)
}

// copyPair makes an entry of a [key, value].
func copyPair(to *jsontext.Encoder, in *jsontext.Decoder, t *schema.Type) error {
	if _, err := in.ReadToken(); err != nil {
		return err
	}
	if err := to.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, side := range []struct {
		name string
		t    *schema.Type
	}{{"key", t.Key}, {"value", t.Elem}} {
		if err := to.WriteToken(jsontext.String(side.name)); err != nil {
			return err
		}
		if err := copyValue(to, in, side.t); err != nil {
			return err
		}
	}
	if _, err := in.ReadToken(); err != nil {
		return err
	}
	return to.WriteToken(jsontext.EndObject)
}

func copyToken(to *jsontext.Encoder, in *jsontext.Decoder) error {
	token, err := in.ReadToken()
	if err != nil {
		return err
	}
	return to.WriteToken(token)
}
