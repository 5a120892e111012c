package schema_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/schematest"
)

// vector is a golden value: as a tree by ids and kinds, as Apache's implementations see it on the wire, and by names.
type vector struct {
	Name, IDL, Type string
	Tree, Value     any
}

// TestPlansFitTheVectors holds plans against values that others wrote by types that others compiled: each id has the name, kind
// and structure that it has there, and each enum's name its number.
func TestPlansFitTheVectors(t *testing.T) {
	file, err := os.Open("../../test/testdata/vectors/vectors.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*schema.Schema{}
	checked := 0
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var v vector
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		if v.Type == "" || v.Value == nil {
			continue
		}
		s := schemas[v.IDL]
		if s == nil {
			s = schematest.Vectors(t, v.IDL)
			schemas[v.IDL] = s
		}
		plan := schematest.TypeOf(t, s, strings.TrimPrefix(v.Type, strings.TrimSuffix(v.IDL, "thrift")))
		tree := v.Tree.(map[string]any)
		if err := fits(plan, tree["struct"], v.Value); err != nil {
			t.Errorf("%s: %v", v.Name, err)
		}
		checked++
	}
	if err := lines.Err(); err != nil || checked < 700 {
		t.Errorf("%d values checked (%v), want at least 700", checked, err)
	}
}

// kindName is how the trees spell a kind.
func kindName(t *schema.Type) string {
	if t.Kind == thriftpackv1.Type_TYPE_I8 {
		return "i8"
	}
	return strings.ToLower(strings.TrimPrefix(t.Kind.String(), "TYPE_"))
}

// fits reports where a value does not fit a type: tree is the value by ids, named the same by names.
func fits(t *schema.Type, tree, named any) error {
	switch t.Kind {
	case thriftpackv1.Type_TYPE_STRUCT:
		return structFits(t.Struct, tree.([]any), named.(map[string]any))
	case thriftpackv1.Type_TYPE_LIST, thriftpackv1.Type_TYPE_SET:
		of, elements := tree.(map[string]any), named.([]any)
		if of["elem"] != kindName(t.Elem) {
			return fmt.Errorf("%s has elements of %s", t.Name, of["elem"])
		}
		for i, element := range of["values"].([]any) {
			if err := fits(t.Elem, element, elements[i]); err != nil {
				return fmt.Errorf("[%d]%w", i, err)
			}
		}
	case thriftpackv1.Type_TYPE_MAP:
		return mapFits(t, tree.(map[string]any), named)
	default:
		if name, ok := named.(string); ok && t.Enum != nil {
			if number, ok := t.Enum.Number([]byte(name)); !ok || json.Number(strconv.Itoa(int(number))) != tree {
				return fmt.Errorf("%s.%s is %d, want %v", t.Name, name, number, tree)
			}
		}
	}
	return nil
}

func structFits(s *schema.Struct, fields []any, named map[string]any) error {
	if len(fields) != len(named) {
		return fmt.Errorf("%s: %d ids, %d names", s.Name, len(fields), len(named))
	}
	for _, one := range fields {
		field := one.(map[string]any)
		id, err := field["id"].(json.Number).Int64()
		if err != nil {
			return err
		}
		f := s.FieldByID(int16(id))
		if f == nil {
			return fmt.Errorf("%s has no field %d", s.Name, id)
		}
		payload, ok := field[kindName(f.Type)]
		if !ok {
			return fmt.Errorf("%s.%s is %s, and not what is in %v", s.Name, f.Name, f.Type.Name, field)
		}
		value, ok := named[f.Name]
		if !ok {
			return fmt.Errorf("%s.%s has the id %d, whose name is another", s.Name, f.Name, id)
		}
		if err := fits(f.Type, payload, value); err != nil {
			return fmt.Errorf("%s.%s: %w", s.Name, f.Name, err)
		}
	}
	return nil
}

func mapFits(t *schema.Type, of map[string]any, named any) error {
	entries := of["entries"].([]any)
	if len(entries) > 0 && (of["key"] != kindName(t.Key) || of["value"] != kindName(t.Elem)) {
		return fmt.Errorf("%s holds %s and %s", t.Name, of["key"], of["value"])
	}
	for i, one := range entries {
		entry := one.([]any)
		switch all := named.(type) {
		case map[string]any:
			if !t.Key.ObjectKey() {
				return fmt.Errorf("%s is an object", t.Name)
			}
			key := fmt.Sprint(entry[0])
			if t.Key.Enum != nil {
				number, err := entry[0].(json.Number).Int64()
				if err != nil {
					return err
				}
				if name, ok := t.Key.Enum.NameOf(int32(number)); ok {
					key = name
				}
			}
			value, ok := all[key]
			if !ok {
				return fmt.Errorf("%s: no key %s", t.Name, key)
			}
			if err := fits(t.Elem, entry[1], value); err != nil {
				return fmt.Errorf("[%s]%w", key, err)
			}
		case []any:
			pair := all[i].([]any)
			if err := fits(t.Key, entry[0], pair[0]); err != nil {
				return fmt.Errorf("key %d: %w", i, err)
			}
			if err := fits(t.Elem, entry[1], pair[1]); err != nil {
				return fmt.Errorf("value %d: %w", i, err)
			}
		}
	}
	return nil
}
