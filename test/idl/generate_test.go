package idl

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// generator makes programs at random, most of them sound.
type generator struct {
	*rand.Rand
	text strings.Builder
	// types, enums, structs, exceptions, consts and services are the names that were defined.
	types, enums, structs, exceptions, services []string
	// consts has a constant of each type.
	consts map[string]string
	names  int
}

// newProgram returns a program of about so many definitions.
func newProgram(seed uint64, definitions int) map[string]string {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 4711)), consts: make(map[string]string)}
	g.text.WriteString("include \"sub/other.thrift\"\nnamespace go a.b # header\n")
	g.types, g.structs = []string{"other.Os", "other.Oe", "other.Ot"}, nil
	g.exceptions, g.services = []string{"other.Ox"}, []string{"other.Ov"}
	g.consts["i32"], g.consts["i64"] = "other.Oc", "other.Oc"
	for range definitions {
		g.definition()
	}
	return program(g.text.String())
}

// program returns a source with those that it may include.
func program(main string) map[string]string {
	return map[string]string{
		"main.thrift": main,
		"sub/other.thrift": "struct Os { 1: i32 x }\nenum Oe { P = 3, Q }\nconst i32 Oc = 12\ntypedef list<Oe> Ot\nexception Ox { 1: Ot t }\n" +
			"service Ov { Os of() }\n",
		"sub/deep.thrift": "include \"other.thrift\"\n",
	}
}

func (g *generator) name(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

// one returns one of the choices.
func one[T any](g *generator, choices ...T) T { return choices[g.IntN(len(choices))] }

func (g *generator) space() string {
	return one(g, " ", " ", " ", "\n", "\t", " /* c */ ", " // c\n", " # c\n")
}

func (g *generator) separator() string { return one(g, ",", ";", "\n", " ") }

func (g *generator) annotations() string {
	return one(g, "", "", "", ` (a = "b")`, ` (a.b = 'c', d)`, " ()", ` (x = "1" y = "2";)`)
}

// typeOf returns a type at random.
func (g *generator) typeOf(depth int) string {
	base := []string{"bool", "byte", "i8", "i16", "i32", "i64", "double", "string", "binary"}
	switch n := g.IntN(10); {
	case n < 2 && depth < 4:
		return one(g, "list", "set") + "<" + g.typeOf(depth+1) + ">" + g.annotations()
	case n < 3 && depth < 4:
		return "map<" + g.typeOf(depth+1) + "," + g.space() + g.typeOf(depth+1) + ">"
	case n < 6 && len(g.types) > 0:
		return one(g, g.types...)
	default:
		return one(g, base...)
	}
}

// valueOf returns a value of a type that is no name.
func (g *generator) valueOf(t string) string {
	if name := g.consts[t]; name != "" && g.IntN(3) == 0 {
		return name
	}
	t, _, _ = strings.Cut(t, " (")
	inner, isList := strings.CutPrefix(t, "list<")
	switch {
	case isList && !strings.ContainsAny(inner, "<,"):
		inner = strings.TrimSuffix(inner, ">")
		if slices.Contains(g.types, inner) {
			return "[]"
		}
		return "[" + g.valueOf(inner) + "," + g.valueOf(inner) + "]"
	case slices.Contains(g.enums, t):
		return t + ".A"
	}
	switch t {
	case "bool":
		return one(g, "true", "false", "0", "1")
	case "byte", "i8":
		return one(g, "-128", "127", "0x7f", "+5")
	case "i16", "i32", "i64":
		return one(g, "-32768", "32767", "0", "010", "-0x10")
	case "double":
		return one(g, "1", "-1.5", ".25", "1e3", "2.5E-3", "+7.0")
	case "string", "binary":
		return one(g, `""`, `"a b"`, `'it\'s'`, `"say \"x\""`, `'"'`, `"tab\t"`)
	}
	return ""
}

// fields returns fields at random.
func (g *generator) fields(argument bool) string {
	var b strings.Builder
	for i := range g.IntN(6) {
		t := g.typeOf(0)
		b.WriteString(g.space())
		switch g.IntN(8) {
		case 0:
		case 1:
			fmt.Fprintf(&b, "0x%x: ", 100+i)
		case 2:
			fmt.Fprintf(&b, "-%d: ", 100+10*i)
		default:
			fmt.Fprintf(&b, "%d: ", i+1)
		}
		requirement := one(g, "", "required ", "optional ")
		if argument {
			requirement = one(g, "", "", "required ", "optional ")
		}
		b.WriteString(requirement + t + " " + one(g, "", "", "", "& ") + fmt.Sprintf("f%d", i))
		if value := g.valueOf(t); value != "" && g.IntN(3) == 0 {
			b.WriteString(" = " + value)
		}
		b.WriteString(one(g, "", "", "", " xsd_optional", " xsd_nillable") + g.annotations() + g.separator())
	}
	return b.String()
}

func (g *generator) definition() {
	w := &g.text
	w.WriteString(g.space())
	switch g.IntN(8) {
	case 0:
		name := g.name("E")
		fmt.Fprintf(w, "enum %s {%s A = %d%s%s B,%s C %s}%s", name, g.space(), g.IntN(10), g.annotations(), g.separator(), g.space(),
			one(g, "", "= -5", "; D = 0x1f"), g.annotations())
		g.enums, g.types = append(g.enums, name), append(g.types, name)
	case 1:
		name, t := g.name("T"), g.typeOf(0)
		fmt.Fprintf(w, "typedef %s %s%s%s", t, name, g.annotations(), g.separator())
		g.types = append(g.types, name)
	case 2:
		t := one(g, append([]string{"bool", "i8", "i32", "i64", "double", "string", "list<i32>", "list<string>", "list<bool> (a)"}, g.enums...)...)
		name := g.name("C")
		fmt.Fprintf(w, "const %s %s = %s%s", t, name, g.valueOf(t), g.separator())
		// The compiler's generator fails on references to lists, and makes those to 1 in a constant of doubles 0.
		if !slices.Contains(g.enums, t) && !strings.HasPrefix(t, "list") && t != "double" {
			g.consts[t] = name
		}
	case 3:
		name := g.name("X")
		fmt.Fprintf(w, "exception %s {%s}%s", name, g.fields(false), g.annotations())
		g.exceptions, g.types = append(g.exceptions, name), append(g.types, name)
	case 4:
		name := g.name("V")
		fmt.Fprintf(w, "service %s%s {", name, one(g, "", " extends "+one(g, g.services...)))
		for range g.IntN(4) {
			function := g.name("m")
			if g.IntN(4) == 0 {
				fmt.Fprintf(w, "%s void %s(%s)%s", one(g, "oneway", "async"), function, g.fields(true), g.separator())
				continue
			}
			throws := ""
			if g.IntN(2) == 0 {
				throws = fmt.Sprintf(" throws (1: %s x, 2: %s y)", one(g, g.exceptions...), one(g, g.exceptions...))
			}
			fmt.Fprintf(w, "%s%s %s(%s)%s%s%s", g.space(), one(g, "void", g.typeOf(0)), function, g.fields(true), throws, g.annotations(), g.separator())
		}
		fmt.Fprintf(w, "}%s", g.annotations())
		g.services = append(g.services, name)
	default:
		name := g.name("S")
		if g.IntN(2) == 0 {
			g.types = append(g.types, name) // it may refer to itself
		}
		fmt.Fprintf(w, "%s %s%s {%s}%s", one(g, "struct", "struct", "union"), name, one(g, "", "", " xsd_all"), g.fields(false), g.annotations())
		if !slices.Contains(g.types, name) {
			g.types = append(g.types, name)
		}
	}
	w.WriteString("\n")
}

var tokens = regexp.MustCompile(`[A-Za-z_][A-Za-z_0-9.]*|[-+]?[0-9][0-9A-Za-z.]*|"[^"\n]*"|'[^'\n]*'|//[^\n]*|#[^\n]*|(?s:/\*.*?\*/)|\s+|.`)

// vocabulary is what a mutation may put in the place of a token.
var vocabulary = []string{
	"struct", "enum", "const", "typedef", "service", "exception", "union", "include", "namespace", "required", "optional", "oneway", "throws", "extends",
	"void", "i32", "string", "list", "map", "set", "<", ">", "(", ")", "{", "}", "[", "]", ",", ";", ":", "=", "*", "&", "1", "-1", "0", "0x10", "1.5", ".5",
	"1e5", "99999", "3000000000", "99999999999999999999", "true", "'x'", `"y"`, "A", "x", "a.b", "\n", " ", "/*", "*/", "//", "#", "@", "$", "'", `"`, `\`, ".", "-", "e5",
	"S1", "f0", "E1", "E1.A", "xsd_attrs", "cpp_type", "slist", "senum", "uuid", "\x00", "é",
}

// mutate changes a few tokens of a source.
func mutate(r *rand.Rand, text string) string {
	list := tokens.FindAllString(text, -1)
	for range 1 + r.IntN(3) {
		if len(list) < 2 {
			break
		}
		i, j := r.IntN(len(list)), r.IntN(len(list))
		switch r.IntN(5) {
		case 0:
			list = slices.Delete(list, i, i+1)
		case 1:
			list = slices.Insert(list, i, list[j])
		case 2:
			list[i], list[j] = list[j], list[i]
		case 3:
			list[i] = vocabulary[r.IntN(len(vocabulary))]
		default:
			list = slices.Insert(list, i, vocabulary[r.IntN(len(vocabulary))])
		}
	}
	return strings.Join(list, "")
}
