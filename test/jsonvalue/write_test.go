package jsonvalue_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/jsonvalue"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/conform"
	"github.com/thriftpack/thriftpack/internal/schema/schematest"
	"github.com/thriftpack/thriftpack/test/oracle"
)

// typedVector is a golden value with a type: by names, and as bytes.
type typedVector struct {
	Name, IDL, Type string
	Message         *struct{ Name string }
	Value           any
	Compact, Binary oracle.Hex
}

// most is a limit that bounds nothing here.
const most = math.MaxInt32

// reader is the way from Thrift bytes to JSON.
type reader struct {
	decoder decoder.Decoder
	checker conform.Checker
	writer  jsonvalue.Writer
}

// text returns the JSON of the bytes of a value of type t, with i64 as numbers.
func (r *reader) text(data []byte, protocol decoder.Protocol, message bool, t *schema.Type) ([]byte, error) {
	_, err := r.decoder.Prepare(data, &decoder.Options{
		Protocol: protocol, Message: message, Root: thriftpackv1.Type(conform.RootKind(t)),
		Limits: decoder.Limits{Depth: 64, Elements: most, StringBytes: most, Nodes: most},
	})
	if err != nil {
		return nil, err
	}
	value, err := r.checker.Decoded(r.decoder.Append(nil), t, &conform.DecodeOptions{JSON: true, Source: &r.decoder})
	if err != nil {
		return nil, err
	}
	return r.writer.Append(nil, value, t, &jsonvalue.WriteOptions{I64AsNumber: true, Depth: 64, MaxBytes: most})
}

// TestVectorsToJSON holds the JSON of golden bytes against the values that others made them of, from both protocols.
func TestVectorsToJSON(t *testing.T) {
	var r reader
	schemas := map[string]*schema.Schema{}
	compared := 0
	for _, file := range []string{"vectors.jsonl.gz", "large.jsonl.gz"} {
		lines, err := oracle.Load[json.RawMessage]("../testdata/vectors/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			var v typedVector
			d := json.NewDecoder(bytes.NewReader(*line))
			d.UseNumber()
			if err := d.Decode(&v); err != nil {
				t.Fatal(err)
			}
			if v.Type == "" {
				continue
			}
			if schemas[v.IDL] == nil {
				schemas[v.IDL] = schematest.Vectors(t, v.IDL)
			}
			plan := schematest.TypeOf(t, schemas[v.IDL], strings.TrimPrefix(v.Type, strings.TrimSuffix(v.IDL, "thrift")))
			for protocol, data := range []oracle.Hex{v.Compact, v.Binary} {
				got, err := r.text(data, decoder.Protocol(protocol), v.Message != nil, plan)
				if err != nil {
					t.Errorf("%s: %v", v.Name, err)
					continue
				}
				if err := same(plan, got, v.Value); err != nil {
					t.Errorf("%s: %v\n%.400s", v.Name, err, got)
				}
				compared++
			}
		}
	}
	t.Logf("%d values compared", compared)
	if compared < 1500 {
		t.Errorf("only %d values have a type and were compared", compared)
	}
}

// same compares JSON text with a vector's value, which has i64 as numbers, and maps that are no objects as arrays of pairs.
func same(t *schema.Type, text []byte, want any) error {
	if !json.Valid(text) {
		return errors.New("not JSON")
	}
	var got any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&got); err != nil {
		return err
	}
	return compare(t, got, want, "")
}

// compare compares values by their type.
func compare(t *schema.Type, got, want any, path string) error {
	differ := fmt.Errorf("%s: %v, want %v", path, got, want)
	switch t.Kind {
	case thriftpackv1.Type_TYPE_STRUCT:
		object, ok := got.(map[string]any)
		members := want.(map[string]any)
		if !ok || len(object) != len(members) {
			return differ
		}
		for name, member := range members {
			value, ok := object[name]
			f := t.Struct.FieldByName([]byte(name))
			if !ok || f == nil {
				return differ
			}
			if err := compare(f.Type, value, member, path+"."+name); err != nil {
				return err
			}
		}
		return nil
	case thriftpackv1.Type_TYPE_LIST, thriftpackv1.Type_TYPE_SET:
		array, ok := got.([]any)
		elements := want.([]any)
		if !ok || len(array) != len(elements) {
			return differ
		}
		for i := range elements {
			if err := compare(t.Elem, array[i], elements[i], path+"["+strconv.Itoa(i)+"]"); err != nil {
				return err
			}
		}
		return nil
	case thriftpackv1.Type_TYPE_MAP:
		if object, ok := got.(map[string]any); ok {
			members, ok := want.(map[string]any)
			if pairs, isPairs := want.([]any); isPairs && t.Key.Kind == thriftpackv1.Type_TYPE_UUID {
				members, ok = map[string]any{}, true // vectors have uuids as keys of pairs
				for _, pair := range pairs {
					members[pair.([]any)[0].(string)] = pair.([]any)[1]
				}
			}
			if !ok || len(object) != len(members) {
				return differ
			}
			for key, member := range members {
				value, ok := object[key]
				if !ok {
					return fmt.Errorf("%s: no key %q", path, key)
				}
				if err := compare(t.Elem, value, member, path+"[]"); err != nil {
					return err
				}
			}
			return nil
		}
		array, ok := got.([]any)
		pairs, isPairs := want.([]any)
		if !ok || !isPairs || len(array) != len(pairs) {
			return differ
		}
		for i, pair := range pairs {
			entry, ok := array[i].(map[string]any)
			if !ok || len(entry) != 2 {
				return differ
			}
			if err := compare(t.Key, entry["key"], pair.([]any)[0], path+"[].key"); err != nil {
				return err
			}
			if err := compare(t.Elem, entry["value"], pair.([]any)[1], path+"[].value"); err != nil {
				return err
			}
		}
		return nil
	case thriftpackv1.Type_TYPE_DOUBLE:
		number, isNumber := got.(json.Number)
		wanted, isWanted := want.(json.Number)
		if !isNumber || !isWanted {
			if got != want { // "NaN" and the infinities
				return differ
			}
			return nil
		}
		a, err := number.Float64()
		b, wrong := wanted.Float64()
		if err != nil || wrong != nil || math.Float64bits(a) != math.Float64bits(b) {
			return differ
		}
		return nil
	default:
		if got != want {
			return differ
		}
		return nil
	}
}
