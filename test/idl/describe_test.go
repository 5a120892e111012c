package idl

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/thriftpack/thriftpack/internal/schema/idl"
)

// simplify leaves of the compiler's JSON what the parser knows as well.
func simplify(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, member := range v {
			switch key {
			case "annotations", "doc", "namespaces", "includes":
			default:
				out[key] = simplify(member)
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, element := range v {
			out = append(out, simplify(element))
		}
		return out
	case json.Number:
		return number(v.String())
	default:
		return v
	}
}

// number is a number as both write it: by its value.
func number(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	d, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	return double(d)
}

// double is a double, to as many digits as the compiler writes.
func double(d float64) any {
	if d == float64(int64(d)) && d < 1<<53 && d > -1<<53 {
		return int64(d)
	}
	return strconv.FormatFloat(d, 'g', 6, 64)
}

// describe describes a file as the compiler's generator of JSON does.
func describe(f *idl.File) any {
	out := map[string]any{"name": f.Name}
	list := func(key string, count int, describe func(i int) map[string]any) {
		elements := make([]any, 0, count)
		for i := range count {
			elements = append(elements, describe(i))
		}
		out[key] = elements
	}
	list("enums", len(f.Enums), func(i int) map[string]any {
		members := make([]any, 0, len(f.Enums[i].Values))
		for _, v := range f.Enums[i].Values {
			members = append(members, map[string]any{"name": v.Name, "value": int64(v.Number)})
		}
		return map[string]any{"name": f.Enums[i].Name, "members": members}
	})
	list("typedefs", len(f.Typedefs), func(i int) map[string]any {
		return typed(f, map[string]any{"name": f.Typedefs[i].Name}, "type", f.Typedefs[i].Type)
	})
	list("structs", len(f.Structs), func(i int) map[string]any {
		s := f.Structs[i]
		return map[string]any{
			"name": s.Name, "isException": s.Kind == idl.Exception, "isUnion": s.Kind == idl.Union, "fields": fields(f, s.Fields),
		}
	})
	list("constants", len(f.Consts), func(i int) map[string]any {
		return typed(f, map[string]any{"name": f.Consts[i].Name, "value": value(f.Consts[i].Value)}, "type", f.Consts[i].Type)
	})
	list("services", len(f.Services), func(i int) map[string]any {
		s := f.Services[i]
		functions := make([]any, 0, len(s.Functions))
		for _, function := range s.Functions {
			member := map[string]any{
				"name": function.Name, "oneway": function.Oneway, "arguments": fields(f, function.Args), "exceptions": fields(f, function.Throws),
			}
			functions = append(functions, typed(f, member, "returnType", function.Returns))
		}
		member := map[string]any{"name": s.Name, "functions": functions}
		if s.Extends != nil {
			member["extends"] = named(f, s.Extends.File, s.Extends.Name)
		}
		return member
	})
	return out
}

func fields(f *idl.File, list []*idl.Field) []any {
	out := make([]any, 0, len(list))
	for _, field := range list {
		member := map[string]any{
			"key": int64(field.ID), "name": field.Name,
			"required": [...]string{idl.Default: "req_out", idl.Required: "required", idl.Optional: "optional"}[field.Requirement],
		}
		if field.Default != nil {
			member["default"] = value(field.Default)
		}
		out = append(out, typed(f, member, "type", field.Type))
	}
	return out
}

// named is a name as another file has it.
func named(f, of *idl.File, name string) string {
	if f != of {
		return of.Name + "." + name
	}
	return name
}

// typed adds a type to a member of the JSON: its word under the key and "Id", and what is in it under the key.
func typed(f *idl.File, member map[string]any, key string, t *idl.Type) map[string]any {
	if t == nil {
		member[key+"Id"] = "void"
		return member
	}
	t = t.Final()
	word := map[idl.Kind]string{
		idl.KindBool: "bool", idl.KindI8: "i8", idl.KindI16: "i16", idl.KindI32: "i32", idl.KindI64: "i64", idl.KindDouble: "double",
		idl.KindString: "string", idl.KindBinary: "binary", idl.KindEnum: "i32", idl.KindList: "list", idl.KindSet: "set", idl.KindMap: "map",
		idl.KindStruct: "struct",
	}[t.Kind]
	inner := map[string]any{}
	switch t.Kind {
	case idl.KindList, idl.KindSet:
		typed(f, inner, "elemType", t.Elem)
	case idl.KindMap:
		typed(f, inner, "keyType", t.Key)
		typed(f, inner, "valueType", t.Elem)
	case idl.KindStruct:
		if word = "struct"; t.Struct.Kind == idl.Union {
			word = "union"
		} else if t.Struct.Kind == idl.Exception {
			word = "exception"
		}
		inner["class"] = named(f, t.Struct.File, t.Struct.Name)
	default:
	}
	member[key+"Id"] = word
	if len(inner) > 0 {
		inner["typeId"] = word
		member[key] = inner
	}
	return member
}

// value is a constant as the generator writes it.
func value(v *idl.Value) any {
	switch v.Type.Kind {
	case idl.KindDouble:
		return double(v.Double)
	case idl.KindString, idl.KindBinary, idl.KindUUID:
		return v.Text
	case idl.KindList, idl.KindSet:
		out := make([]any, 0, len(v.Elements))
		for _, element := range v.Elements {
			out = append(out, value(element))
		}
		return out
	case idl.KindMap:
		out := make(map[string]any, len(v.Entries))
		for _, entry := range v.Entries {
			out[fmt.Sprint(value(entry.Key))] = value(entry.Value)
		}
		return out
	case idl.KindStruct:
		out := make(map[string]any, len(v.Fields))
		for _, field := range v.Fields {
			out[field.Field.Name] = value(field.Value)
		}
		return out
	default:
		return v.Int
	}
}
