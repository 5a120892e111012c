package schema_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/schematest"
)

// FuzzCompileAndCompare compiles two sources. What compiles has to be consistent, and what breaks readers of old data from one to
// the other has to break old readers from the other to the one.
func FuzzCompileAndCompare(f *testing.F) {
	for _, c := range compareRows {
		f.Add(c.old, c.updated)
	}
	for _, text := range schematest.VectorFiles(f) {
		f.Add(text, declarations)
	}
	f.Fuzz(func(t *testing.T, old, updated string) {
		one, err := schema.Compile("fuzz", map[string]string{"a": old}, "a", schema.DefaultLimits())
		if err != nil {
			return
		}
		consistent(t, one)
		other, err := schema.Compile("fuzz", map[string]string{"a": updated}, "a", schema.DefaultLimits())
		if err != nil {
			other = one
		}
		var forth, back schema.Breaks
		there, home := schema.Compare(one, other), schema.Compare(other, one)
		for _, c := range there {
			forth |= mirrored(c)
		}
		for _, c := range home {
			back |= mirrored(c)
		}
		if (len(there) == 0) != (len(home) == 0) || other == one && len(there) > 0 {
			t.Errorf("changes %v and back %v", there, home)
		}
		if (forth&schema.BreaksBackward != 0) != (back&schema.BreaksForward != 0) ||
			(forth&schema.BreaksForward != 0) != (back&schema.BreaksBackward != 0) {
			t.Errorf("forth %v breaks %b, back %v breaks %b", there, forth, home, back)
		}
	})
}

// mirrored returns whom a change breaks, where undoing it would break those on the other side. What has nothing to be read by is
// broken; what is not yet there to be read breaks nobody.
func mirrored(c schema.Change) schema.Breaks {
	if c.Rule == schema.TypeRemoved || c.Rule == schema.MethodRemoved {
		return 0
	}
	return c.Breaks
}

// consistent looks at all that a schema has plans of.
func consistent(t *testing.T, s *schema.Schema) {
	t.Helper()
	seen := map[*schema.Type]bool{}
	var walk func(*schema.Type)
	walk = func(plan *schema.Type) {
		if plan == nil || seen[plan] {
			return
		}
		seen[plan] = true
		walk(plan.Key)
		walk(plan.Elem)
		if plan.Struct != nil {
			fieldsAreConsistent(t, plan.Struct)
			for i := range plan.Struct.Fields {
				walk(plan.Struct.Fields[i].Type)
			}
		}
		if of := plan.Enum; of != nil {
			for _, v := range of.Values {
				if number, ok := of.Number([]byte(v.Name)); !ok || number != v.Number {
					t.Errorf("%s.%s is %d, want %d", of.Name, v.Name, number, v.Number)
				}
			}
		}
	}
	for _, name := range s.Types() {
		plan, ok := s.Type(name)
		if !ok || plan == nil {
			t.Fatalf("%s has no type", name)
		}
		walk(plan)
	}
}

func fieldsAreConsistent(t *testing.T, s *schema.Struct) {
	t.Helper()
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Index != i || s.FieldByID(f.ID) != f || s.FieldByName([]byte(f.Name)) != f || f.Type == nil ||
			i > 0 && s.Fields[i-1].ID >= f.ID {
			t.Errorf("%s.%s is not where it should be", s.Name, f.Name)
		}
		if f.Default == nil {
			continue
		}
		var e encoder.Encoder
		limits := encoder.Limits{Depth: 64, Elements: 1 << 20, StringBytes: 1 << 20}
		for protocol, want := range map[encoder.Protocol][]byte{
			encoder.Compact: f.Default.Compact, encoder.Binary: f.Default.Binary,
		} {
			got, err := e.Append(nil, f.Default.Value, &encoder.Options{Protocol: protocol, Limits: limits})
			if err != nil || e.SlowPath() || string(got) != string(want) {
				t.Errorf("%s.%s: the default %x encodes to %x, want %x (%v)", s.Name, f.Name, f.Default.Value, got, want, err)
			}
		}
		if err := proto.Unmarshal(f.Default.Value, new(thriftpackv1.Value)); err != nil {
			t.Errorf("%s.%s: %v", s.Name, f.Name, err)
		}
	}
}
