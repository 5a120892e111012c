package conformance

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/jsonvalue"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/test/oracle"
)

// compileAll compiles every file of the vectors' IDL, each as a root of its own.
func compileAll(t *testing.T) map[string]*schema.Schema {
	t.Helper()
	files := map[string]string{}
	paths, err := filepath.Glob("../testdata/vectors/idl/*.thrift")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no IDL: %v", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = string(text)
	}
	schemas := map[string]*schema.Schema{}
	for name := range files {
		if schemas[name], err = schema.Compile("vectors", files, name, schema.DefaultLimits()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return schemas
}

// TestJSONToThrift encodes the JSON of every vector that has a type. None may be left out but for a reason that is in the row: bytes that no
// writer with a type makes.
func TestJSONToThrift(t *testing.T) {
	t.Parallel()
	schemas := compileAll(t)
	var e jsonvalue.Encoder
	unsorted := 0
	for _, vector := range vectors(t) {
		if vector.Type == "" {
			continue
		}
		if slices.Contains(vector.Tags, "unsorted-ids") { // written by hand; one with a type writes ascending ids
			unsorted++
			continue
		}
		name, _ := strings.CutPrefix(vector.Type, strings.TrimSuffix(vector.IDL, "thrift")) // those of the file itself have no prefix
		typ, found := schemas[vector.IDL].Type(name)
		if !found {
			t.Errorf("%s: %s has no type %s", vector.Name, vector.IDL, vector.Type)
			continue
		}
		text, err := oracle.WithEntries(vector.JSON, typ)
		if err != nil {
			t.Errorf("%s: %v", vector.Name, err)
			continue
		}
		for _, protocol := range oracle.Protocols {
			o := &jsonvalue.Options{Limits: jsonvalue.Limits{Depth: 64, Elements: 1 << 24, StringBytes: 1 << 24, EncodedBytes: 1 << 30}}
			if protocol == oracle.Binary {
				o.Protocol = encoder.Binary
			}
			if m := vector.Envelope(); m != nil {
				o.Message = &encoder.Message{Name: m.Name, Type: m.Type, SeqID: m.SeqID}
			}
			got, err := e.Append(nil, text, typ, o)
			if want := vector.Bytes(protocol); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s %s: %s: %s = %s, %v, want %s", vector.Name, vector.Tags, protocol, short(text), short(got), err, short(want))
			}
		}
	}
	if unsorted != 4 {
		t.Errorf("%d values were left out, want 4", unsorted)
	}
}
