package schema

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/schematest"
	"github.com/thriftpack/thriftpack/test/oracle"
	"github.com/thriftpack/thriftpack/test/schema/gen/defaults"
)

// protocolOf returns Apache's protocol over some bytes.
func protocolOf(t *testing.T, p oracle.Protocol, transport thrift.TTransport) thrift.TProtocol {
	t.Helper()
	if p == oracle.Binary {
		return thrift.NewTBinaryProtocolConf(transport, nil)
	}
	return thrift.NewTCompactProtocolConf(transport, nil)
}

// written returns what generated code writes for a struct.
func written(t *testing.T, s thrift.TStruct, p oracle.Protocol) []byte {
	t.Helper()
	transport := thrift.NewTMemoryBuffer()
	out := protocolOf(t, p, transport)
	if err := s.Write(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	if err := out.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	return transport.Bytes()
}

// valueOf returns a default value as a Value.
func valueOf(t *testing.T, c *schema.Constant) *thriftpackv1.Value {
	t.Helper()
	v := new(thriftpackv1.Value)
	if err := proto.Unmarshal(c.Value, v); err != nil {
		t.Fatal(err)
	}
	return v
}

// untouched returns the struct that is written where no field is given: all fields with their defaults but for optional ones.
func untouched(t *testing.T, s *schema.Struct) *thriftpackv1.Value {
	t.Helper()
	out := new(thriftpackv1.Struct)
	for i := range s.Fields {
		if f := &s.Fields[i]; f.WrittenByDefault() {
			// A Value's member is the member of a Field, too.
			field := new(thriftpackv1.Field)
			if err := proto.Unmarshal(f.Default.Value, field); err != nil {
				t.Fatal(err)
			}
			field.Id = int32(f.ID)
			out.Fields = append(out.Fields, field)
		}
	}
	return thriftpackv1.StructValue(out.GetFields()...)
}

// What nobody touched is written by generated code with the defaults that its compiler read from the same IDL. Code for Go
// forgets default values that are structs (code for other languages has them), so field 10 of WithDefaults stays out of it.
func TestDefaultsAreThoseOfGeneratedCode(t *testing.T) {
	s := schematest.Vectors(t, "defaults.thrift")
	for name, generated := range map[string]thrift.TStruct{
		"WithDefaults":     defaults.NewWithDefaults(),
		"OptionalDefaults": defaults.NewOptionalDefaults(),
		"MustWithDefault":  defaults.NewMustWithDefault(),
	} {
		want := oracle.Canonical(untouched(t, schematest.TypeOf(t, s, name).Struct))
		for _, protocol := range oracle.Protocols {
			read, err := oracle.Decode(written(t, generated, protocol), protocol, false)
			if err != nil {
				t.Fatal(err)
			}
			// Go's maps have no order; the one map here has two entries.
			sortEntries(read.Value)
			dropStructs(read.Value)
			sorted := proto.Clone(want).(*thriftpackv1.Value)
			sortEntries(sorted)
			dropStructs(sorted)
			if diff := oracle.Diff(read.Value, sorted); diff != "" {
				t.Errorf("%s, %s: %s", name, protocol, diff)
			}
		}
	}
}

// sortEntries sorts the entries of maps from strings to i32 that are fields of a struct.
func sortEntries(v *thriftpackv1.Value) {
	for _, field := range v.GetStruct().GetFields() {
		m := field.GetMap()
		keys, values := m.GetKeys().GetBinaries(), m.GetValues().GetI32S()
		if len(keys) == 2 && len(values) == 2 && bytes.Compare(keys[0], keys[1]) > 0 {
			keys[0], keys[1] = keys[1], keys[0]
			values[0], values[1] = values[1], values[0]
		}
	}
}

// dropStructs drops the fields that are structs.
func dropStructs(v *thriftpackv1.Value) {
	fields := v.GetStruct().GetFields()
	v.GetStruct().Fields = slices.DeleteFunc(fields, func(f *thriftpackv1.Field) bool { return f.GetStruct() != nil })
}

// Each default value, in all of its forms, against Apache's writers.
func TestDefaultsAreAsApacheWritesThem(t *testing.T) {
	const source = `
		include "defaults.thrift"
		enum E {A = 1, B = -2}
		union U {1: i32 a, 2: string b}
		struct P {1: i32 x = 1, 2: optional i32 y = 2, 3: required i32 z = 3, -1: bool low = true, 0: bool zero = false}
		struct Bulk {
			1: list<bool> bools = [true, false], 2: set<i8> tiny = [1, -1], 3: list<i16> small = [-300, 0, 300],
			4: map<E, list<string>> byEnum = {E.A: ["a"], E.B: []}, 5: list<map<i64, double>> maps = [{}, {-1: 0.5}],
			6: map<bool, P> structs = {true: {}, false: {"y": 9}}, 7: set<list<binary>> sets = [["x"], []],
			8: U u = {"b": "both"}, 9: list<P> more = [{}, {"low": false}], 10: i64 least = -9223372036854775808,
			11: double whole = 3, 12: uuid id = "00112233-4455-6677-8899-aabbccddeeff", 13: list<double> doubles = [-0.5, 1e300]
			300: P far = {}
		}`
	files := schematest.VectorFiles(t)
	files[schematest.Root] = source
	s := schematest.CompileFiles(t, files, schematest.Root)
	checked := 0
	for _, name := range s.Types() {
		plan := schematest.TypeOf(t, s, name)
		if plan.Struct == nil {
			continue
		}
		for i := range plan.Struct.Fields {
			f := &plan.Struct.Fields[i]
			if f.Default == nil {
				continue
			}
			checked++
			value := valueOf(t, f.Default)
			for protocol, got := range map[oracle.Protocol][]byte{oracle.Compact: f.Default.Compact, oracle.Binary: f.Default.Binary} {
				want, err := oracle.Encode(value, protocol, nil)
				if err != nil {
					t.Fatal(err)
				}
				if f.Type.Kind == thriftpackv1.Type_TYPE_BOOL && protocol == oracle.Compact {
					// Apache's writer keeps a bool for the header of its field, and writes it at once in a list alone.
					want = want[len(want)-1:]
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s.%s, %s: %x, want %x", name, f.Name, protocol, got, want)
				}
			}
		}
	}
	if checked < 38 {
		t.Errorf("%d defaults checked in %s, want at least 38", checked, strings.Join(s.Types(), ", "))
	}
}
