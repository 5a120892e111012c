package schema

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/conform"
	"github.com/thriftpack/thriftpack/internal/schema/schematest"
	"github.com/thriftpack/thriftpack/test/oracle"
)

// decodeLimits let all pass that the tests make.
var decodeLimits = decoder.Limits{Depth: 64, Elements: 1 << 20, StringBytes: 1 << 20, Nodes: 1 << 20}

// valueFor returns a random value that a writer with this type may write.
func valueFor(random *rand.Rand, t *schema.Type, depth int) *thriftpackv1.Value {
	switch t.Kind {
	case thriftpackv1.Type_TYPE_BOOL:
		return thriftpackv1.BoolValue(random.IntN(2) == 0)
	case thriftpackv1.Type_TYPE_I8:
		return thriftpackv1.I8Value(int8(random.IntN(100)))
	case thriftpackv1.Type_TYPE_I32:
		if t.Enum != nil {
			return thriftpackv1.I32Value(t.Enum.Values[random.IntN(len(t.Enum.Values))].Number)
		}
		return thriftpackv1.I32Value(int32(random.IntN(1000)))
	case thriftpackv1.Type_TYPE_I64:
		return thriftpackv1.I64Value(int64(random.IntN(1000)))
	case thriftpackv1.Type_TYPE_DOUBLE:
		return thriftpackv1.DoubleValue(float64(random.IntN(9)) / 2)
	case thriftpackv1.Type_TYPE_STRING:
		return thriftpackv1.StringValue([]string{"", "text", "é"}[random.IntN(3)])
	case thriftpackv1.Type_TYPE_BINARY:
		return thriftpackv1.BinaryValue([]byte{0xff, byte(random.IntN(256))}) // no text
	case thriftpackv1.Type_TYPE_STRUCT:
		return thriftpackv1.StructValue(fieldsFor(random, t.Struct, depth)...)
	case thriftpackv1.Type_TYPE_MAP:
		keys, values := elementsFor(random, t.Key, depth), elementsFor(random, t.Elem, depth)
		n := min(len(keys), len(values))
		return thriftpackv1.MapValue(thriftpackv1.MapOf(listOf(t.Key, keys[:n]), listOf(t.Elem, values[:n])))
	case thriftpackv1.Type_TYPE_SET:
		return thriftpackv1.SetValue(listOf(t.Elem, elementsFor(random, t.Elem, depth)))
	default:
		return thriftpackv1.ListValue(listOf(t.Elem, elementsFor(random, t.Elem, depth)))
	}
}

// elementsFor returns up to three values of which none repeats.
func elementsFor(random *rand.Rand, t *schema.Type, depth int) []*thriftpackv1.Value {
	var values []*thriftpackv1.Value
	for range random.IntN(4) {
		v := valueFor(random, t, depth+1)
		if !slices.ContainsFunc(values, func(w *thriftpackv1.Value) bool { return proto.Equal(v, w) }) {
			values = append(values, v)
		}
	}
	return values
}

// listOf returns a List of values of one kind.
func listOf(t *schema.Type, values []*thriftpackv1.Value) *thriftpackv1.List {
	list := new(thriftpackv1.List)
	if len(values) == 0 {
		return thriftpackv1.EmptyList(t.Kind)
	}
	m := list.ProtoReflect()
	column := m.Descriptor().Fields().ByNumber(protoreflect.FieldNumber(t.Kind))
	if t.Kind == thriftpackv1.Type_TYPE_I8 {
		for _, v := range values {
			list.I8S = append(list.I8S, byte(v.GetI8()))
		}
		return list
	}
	elements := m.Mutable(column).List()
	for _, v := range values {
		_, payload := oracle.Kind(v.ProtoReflect())
		elements.Append(payload)
	}
	return list
}

func fieldsFor(random *rand.Rand, s *schema.Struct, depth int) []*thriftpackv1.Field {
	var fields []*thriftpackv1.Field
	only := -1
	if s.Union {
		only = random.IntN(len(s.Fields))
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		if s.Union && i != only || !s.Union && f.Requirement != schema.Required && random.IntN(3) == 0 {
			continue
		}
		member := valueFor(random, f.Type, depth+1)
		field := &thriftpackv1.Field{Id: int32(f.ID)}
		wire, err := proto.Marshal(member)
		if err == nil {
			err = proto.UnmarshalOptions{Merge: true}.Unmarshal(wire, field) // a Value's member is that of a Field, too
		}
		if err != nil {
			panic(err)
		}
		fields = append(fields, field)
	}
	return fields
}

// reading writes a value by one type and reads it by another, and says how that went wrong, or "".
func reading(t *testing.T, value *thriftpackv1.Value, written, read *schema.Type) string {
	t.Helper()
	wire, err := proto.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	limits := encoder.Limits{Depth: 64, Elements: 1 << 20, StringBytes: 1 << 20}
	var e encoder.Encoder
	data, err := e.Append(nil, wire, &encoder.Options{Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	var d decoder.Decoder
	if _, err := d.Prepare(data, &decoder.Options{Root: thriftpackv1.Type(conform.RootKind(read)), Limits: decodeLimits}); err != nil {
		return err.Error()
	}
	var c conform.Checker
	checked, err := c.Decoded(d.Append(nil), read, &conform.DecodeOptions{Source: &d})
	if err != nil {
		return err.Error()
	}
	got := new(thriftpackv1.Value)
	if err := proto.Unmarshal(checked, got); err != nil {
		t.Fatal(err)
	}
	return differs(written, read, value, got)
}

// differs says where a reader sees something else than the writer meant, by the names that both have for it.
func differs(was, is *schema.Type, wrote, saw *thriftpackv1.Value) string {
	switch {
	case was.Struct != nil && is.Struct != nil:
		return structsDiffer(was.Struct, is.Struct, wrote.GetStruct(), saw.GetStruct())
	case was.Enum != nil && is.Enum != nil:
		name, _ := was.Enum.NameOf(wrote.GetI32())
		if number, ok := is.Enum.Number([]byte(name)); ok && number != saw.GetI32() {
			return fmt.Sprintf("%s is %d, not %d", name, number, saw.GetI32())
		}
		return ""
	case was.Key != nil:
		return cmp(listsDiffer(was.Key, is.Key, wrote.GetMap().GetKeys(), saw.GetMap().GetKeys()),
			listsDiffer(was.Elem, is.Elem, wrote.GetMap().GetValues(), saw.GetMap().GetValues()))
	case was.Kind == thriftpackv1.Type_TYPE_SET:
		return listsDiffer(was.Elem, is.Elem, wrote.GetSet(), saw.GetSet())
	case was.Elem != nil:
		return listsDiffer(was.Elem, is.Elem, wrote.GetList(), saw.GetList())
	default:
		return oracle.Diff(oracle.Canonical(wrote), oracle.Canonical(saw))
	}
}

func cmp(first, second string) string {
	if first != "" {
		return first
	}
	return second
}

func listsDiffer(was, is *schema.Type, wrote, saw *thriftpackv1.List) string {
	_, before := oracle.Elements(wrote)
	_, after := oracle.Elements(saw)
	if len(before) != len(after) {
		return fmt.Sprintf("%d elements, not %d", len(after), len(before))
	}
	for i := range before {
		if how := differs(was, is, valueOfKind(was.Kind, before[i]), valueOfKind(is.Kind, after[i])); how != "" {
			return how
		}
	}
	return ""
}

// valueOfKind wraps what oracle.Elements returns.
func valueOfKind(kind thriftpackv1.Type, payload protoreflect.Value) *thriftpackv1.Value {
	v := new(thriftpackv1.Value)
	m := v.ProtoReflect()
	m.Set(m.Descriptor().Fields().ByNumber(protoreflect.FieldNumber(kind)), payload)
	return v
}

// fieldOf returns what a field is to whoever has this struct: its value, its default, or nil.
func fieldOf(f *schema.Field, s *thriftpackv1.Struct) *thriftpackv1.Value {
	at := slices.IndexFunc(s.GetFields(), func(g *thriftpackv1.Field) bool { return g.GetId() == int32(f.ID) })
	v := new(thriftpackv1.Value)
	var err error
	switch {
	case at >= 0:
		kind, payload := oracle.Kind(s.GetFields()[at].ProtoReflect())
		return valueOfKind(kind, payload)
	case f.Default != nil:
		err = proto.Unmarshal(f.Default.Value, v)
	default:
		return nil
	}
	if err != nil {
		panic(err)
	}
	return v
}

func structsDiffer(was, is *schema.Struct, wrote, saw *thriftpackv1.Struct) string {
	if was.Union && is.Union && len(wrote.GetFields()) == 1 && len(saw.GetFields()) == 0 {
		return is.Name + " has nothing set"
	}
	for i := range is.Fields {
		g := &is.Fields[i]
		f := was.FieldByName([]byte(g.Name))
		if f == nil {
			continue
		}
		before, after := fieldOf(f, wrote), fieldOf(g, saw)
		if before == nil && after == nil {
			continue
		}
		if before == nil || after == nil {
			return fmt.Sprintf("%s.%s is %v, not %v", is.Name, g.Name, after, before)
		}
		if how := differs(f.Type, g.Type, before, after); how != "" {
			return is.Name + "." + g.Name + ": " + how
		}
	}
	return ""
}

// What the comparison calls safe is read without a fault and means the same, whatever the values: both are tried at random. And
// each rule that breaks bytes is seen to break them.
func TestWhatIsCalledSafeIsRead(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{}
	pairs := 3000
	if testing.Short() {
		pairs = 300
	}
	for range pairs {
		from := randomSchema(random)
		to := from
		for range 1 + random.IntN(2) {
			to = edited(random, to)
		}
		before, errBefore := compiled(from)
		after, errAfter := compiled(to)
		if errBefore != nil || errAfter != nil {
			continue // such as a struct that may not hold itself by its defaults
		}
		changes := schema.Compare(before, after)
		was, is := schematest.TypeOf(t, before, "S0"), schematest.TypeOf(t, after, "S0")
		for _, direction := range []struct {
			breaks        schema.Breaks
			name          string
			written, read *schema.Type
		}{{schema.BreaksBackward, "backward", was, is}, {schema.BreaksForward, "forward", is, was}} {
			rules := map[schema.Rule]bool{}
			for _, c := range changes {
				if c.Breaks&direction.breaks != 0 {
					rules[c.Rule] = true
				}
			}
			for range 10 {
				value := valueFor(random, direction.written, 0)
				how := reading(t, value, direction.written, direction.read)
				if how != "" && len(rules) == 0 {
					t.Fatalf("%s: %s\nfrom %s\nto %s\nchanges %v\nvalue %v", direction.name, how, from, to, changes, value)
				}
				if how != "" && len(rules) == 1 {
					for rule := range rules {
						seen[direction.name+" "+string(rule)] = true
					}
				}
			}
		}
	}
	if testing.Short() {
		return
	}
	for _, rule := range schema.Rules() {
		if strings.HasPrefix(string(rule), "METHOD_") || strings.HasPrefix(string(rule), "TYPE_") {
			continue // they have rows of their own
		}
		for name, breaks := range map[string]schema.Breaks{"backward": schema.BreaksBackward, "forward": schema.BreaksForward} {
			if key := name + " " + string(rule); seen[key] != (rule.Breaks()&breaks != 0) {
				t.Errorf("%s: seen to break: %t, want %t", key, seen[key], rule.Breaks()&breaks != 0)
			}
		}
	}
}

func compiled(d declared) (*schema.Schema, error) {
	return schema.Compile("pair", map[string]string{schematest.Root: d.String()}, schematest.Root, schema.DefaultLimits())
}
