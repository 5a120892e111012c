package schema

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// declared is a schema as text in the making: a few enums, structs and unions, of which the struct S0 holds the others.
type declared struct {
	enums   []enum
	structs []structure
}

type enum struct {
	name   string
	values []enumValue
}

type enumValue struct {
	name   string
	number int
}

type structure struct {
	name   string
	union  bool
	fields []field
}

type field struct {
	id          int
	name        string
	requirement string
	typ         string
	value       string // its default, or ""
}

// String returns the IDL.
func (d declared) String() string {
	var b strings.Builder
	for _, e := range d.enums {
		fmt.Fprintf(&b, "enum %s {", e.name)
		for _, v := range e.values {
			fmt.Fprintf(&b, " %s = %d", v.name, v.number)
		}
		b.WriteString(" }\n")
	}
	for _, s := range d.structs {
		word := "struct"
		if s.union {
			word = "union"
		}
		fmt.Fprintf(&b, "%s %s {", word, s.name)
		for _, f := range s.fields {
			requirement, value := f.requirement, ""
			if s.union {
				requirement = ""
			}
			if f.value != "" && !s.union {
				value = " = " + f.value
			}
			fmt.Fprintf(&b, " %d: %s %s %s%s;", f.id, requirement, f.typ, f.name, value)
		}
		b.WriteString(" }\n")
	}
	return b.String()
}

// copied returns a copy that can be edited.
func (d declared) copied() declared {
	out := declared{enums: slices.Clone(d.enums), structs: slices.Clone(d.structs)}
	for i := range out.enums {
		out.enums[i].values = slices.Clone(out.enums[i].values)
	}
	for i := range out.structs {
		out.structs[i].fields = slices.Clone(out.structs[i].fields)
	}
	return out
}

// A default value of each type that can have one here.
var presets = map[string][]string{
	"bool": {"true", "false"}, "i8": {"1", "-1"}, "i32": {"0", "7", "300"}, "i64": {"0", "7"}, "double": {"0.5", "2"},
	"string": {`""`, `"text"`}, "list<i32>": {"[]", "[1, 2]"}, "S1": {"{}"},
}

// typeFor returns a type for a field of the struct of that number, which holds those of higher numbers alone.
func typeFor(random *rand.Rand, number int) string {
	types := []string{
		"bool", "i8", "i32", "i64", "double", "string", "binary", "E0", "E1", "i32", "string", "list<i32>", "list<i64>", "set<i32>",
		"list<string>", "list<binary>", "map<string, i32>", "map<E0, binary>", "map<i32, bool>",
	}
	for above := number + 1; above <= 3; above++ {
		types = append(types, fmt.Sprintf("S%d", above), fmt.Sprintf("list<S%d>", above), fmt.Sprintf("map<i32, S%d>", above))
	}
	return types[random.IntN(len(types))]
}

// fieldFor returns a field whose id and name the struct does not have.
func fieldFor(random *rand.Rand, s *structure, number int) (field, bool) {
	f := field{
		id: 1 + random.IntN(6), name: string(rune('a' + random.IntN(8))), typ: typeFor(random, number),
		requirement: []string{"", "optional", "required"}[random.IntN(3)],
	}
	if values := presets[f.typ]; len(values) > 0 && random.IntN(3) == 0 {
		f.value = values[random.IntN(len(values))]
	}
	return f, !slices.ContainsFunc(s.fields, func(g field) bool { return g.id == f.id || g.name == f.name })
}

// randomSchema returns a schema whose values can always be made.
func randomSchema(random *rand.Rand) declared {
	d := declared{}
	for i := range 2 {
		e := enum{name: fmt.Sprintf("E%d", i)}
		for j := range 1 + random.IntN(3) {
			e.values = append(e.values, enumValue{string(rune('A' + j)), j * (1 + random.IntN(2))})
		}
		d.enums = append(d.enums, e)
	}
	for i := range 4 {
		s := structure{name: fmt.Sprintf("S%d", i), union: i == 3}
		for range 1 + random.IntN(5) {
			if f, ok := fieldFor(random, &s, i); ok {
				s.fields = append(s.fields, f)
			}
		}
		d.structs = append(d.structs, s)
	}
	return d
}

// edited returns the schema with one change, which may come to nothing.
func edited(random *rand.Rand, d declared) declared {
	d = d.copied()
	if random.IntN(5) == 0 {
		editEnum(random, &d.enums[random.IntN(len(d.enums))])
		return d
	}
	number := random.IntN(len(d.structs))
	s := &d.structs[number]
	if random.IntN(12) == 0 && number > 0 {
		s.union = !s.union
		return d
	}
	if f, ok := fieldFor(random, s, number); ok && random.IntN(4) == 0 {
		s.fields = append(s.fields, f)
		return d
	}
	at := random.IntN(len(s.fields))
	f := &s.fields[at]
	other, fits := fieldFor(random, s, number)
	switch random.IntN(8) {
	case 0:
		if len(s.fields) > 1 {
			s.fields = slices.Delete(s.fields, at, at+1)
		}
	case 1:
		if fits {
			f.name = other.name
		}
	case 2:
		if fits {
			f.id = other.id
		}
	case 3:
		f.typ, f.value = other.typ, ""
	case 4:
		f.typ, f.value = neighbour(f.typ), ""
	case 5:
		f.requirement = other.requirement
	case 6:
		if values := presets[f.typ]; len(values) > 0 {
			f.value = append(values, "")[random.IntN(len(values)+1)]
		}
	default:
		with := &s.fields[random.IntN(len(s.fields))]
		f.id, with.id = with.id, f.id
	}
	return d
}

// neighbour returns a type that has the same bytes, or nearly.
func neighbour(typ string) string {
	if other, ok := map[string]string{
		"string": "binary", "binary": "string", "E0": "i32", "E1": "E0", "i32": "E0", "i64": "i32", "list<i32>": "set<i32>",
		"list<string>": "list<binary>", "list<binary>": "list<string>", "list<i64>": "list<i32>", "set<i32>": "list<i32>",
		"map<E0, binary>": "map<i32, binary>", "list<S2>": "list<S3>", "S2": "S3", "S1": "S2",
	}[typ]; ok {
		return other
	}
	return typ
}

func editEnum(random *rand.Rand, e *enum) {
	at := random.IntN(len(e.values))
	switch random.IntN(4) {
	case 0:
		e.values = append(e.values, enumValue{string(rune('M' + random.IntN(3))), 20 + random.IntN(3)})
	case 1:
		if len(e.values) > 1 {
			e.values = slices.Delete(e.values, at, at+1)
		}
	case 2:
		e.values[at].name = "R"
	default:
		e.values[at].number = 40 + at
	}
}
