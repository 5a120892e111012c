package idl

import (
	"strings"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// meaning is what a name in a value may mean: a constant, or a value of an enum.
type meaning struct {
	constant *Const
	enum     *Enum
	number   int32
	// count is how many meanings there are.
	count int
}

// find returns what a name may mean: NAME, include.NAME, ENUM.NAME or include.ENUM.NAME.
func (e *constants) find(name string) (m meaning) {
	prefix, last := split(name)
	if prefix == "" {
		if m.constant = e.scope.consts[last]; m.constant != nil {
			m.count = 1
		}
		return m
	}
	for _, inc := range e.scope.includes[prefix] {
		if c := inc.consts[last]; c != nil {
			m.constant = c
			m.count++
		}
	}
	if d, count := e.scope.findEnum(prefix); d != nil {
		if number, ok := e.enum(d).byName[last]; ok {
			m.enum, m.number = d, number
			m.count += count
		}
	}
	return m
}

// findEnum returns the enum of a name, also behind typedefs, or nil; the count is as findType's.
func (c *scope) findEnum(name string) (*Enum, int) {
	d, count := c.findType(name)
	if d.typedef != nil && d.typedef.Final != nil {
		return d.typedef.Final.Enum, count
	}
	return d.enum, count
}

// resolve replaces a name by what it means where a value of the type is wanted, so that no chain of names is followed twice.
func (e *constants) resolve(value *raw, t *Type) bool {
	m := e.find(value.text)
	if t.Kind == KindEnum && m.count <= 1 && m.constant == nil && m.enum != t.Enum {
		// Apache's compiler looks at the last part of the name alone where the type is known.
		number, ok := e.enum(t.Enum).byName[lastPart(value.text)]
		switch {
		case ok:
			e.report.warn(e.place(value), "%s is taken for the value of %s of that name", clip(value.text), clip(t.Enum.Name))
			m = meaning{enum: t.Enum, number: number, count: 1}
		case m.enum != nil:
			e.report.fault(e.place(value), fault.SchemaConstType, "%s is no value of enum %s", clip(value.text), clip(t.Enum.Name))
			return false
		}
	}
	switch {
	case m.count > 1:
		e.report.fault(e.place(value), fault.SchemaAmbiguous, "%s may be several values", clip(value.text))
		return false
	case m.enum != nil:
		value.kind, value.number = rawInteger, uint64(m.number) //nolint:gosec // the bits are kept
		return true
	case m.constant == nil:
		e.unknown(value, t)
		return false
	}
	value.kind, value.constant = rawConst, m.constant
	if d := e.defined[m.constant]; d != nil && d.value.kind == rawConst {
		value.constant = d.value.constant
	}
	return true
}

// lastPart returns what is behind the first dot of a name, or behind the second where there is one; "" where there is none.
func lastPart(name string) string {
	_, last, _ := strings.Cut(name, ".")
	if _, rest, ok := strings.Cut(last, "."); ok {
		return rest
	}
	return last
}

// unknown reports a name without a meaning, and why that may be.
func (e *constants) unknown(value *raw, t *Type) {
	place, name := e.place(value), clip(value.text)
	prefix, last := split(value.text)
	enum, _ := e.scope.findEnum(prefix)
	switch {
	case prefix == "" && t.Kind == KindEnum && e.hasName(t.Enum, last):
		e.report.fault(place, fault.SchemaUndefined, "%s is not defined: the value of the enum is written %s.%s",
			name, clip(t.Enum.Name), name)
	case prefix == "" && e.scope.declared[last] != nil:
		e.report.fault(place, fault.SchemaUndefined, "%s is not defined yet: constants come before what uses them", name)
	case enum != nil:
		e.report.fault(place, fault.SchemaUndefined, "enum %s has no value %s", clip(enum.Name), clip(last))
	case prefix != "" && len(e.scope.includes[prefix]) == 0:
		e.report.fault(place, fault.SchemaUndefined, "%s is not defined: no include or enum is named %s", name, clip(prefix))
	default:
		e.report.fault(place, fault.SchemaUndefined, "constant %s is not defined", name)
	}
}

func (e *constants) hasName(d *Enum, name string) bool {
	_, ok := e.enum(d).byName[name]
	return ok
}

// refer makes a value of a constant: the same where the types are the same, else anew from what was written.
func (e *constants) refer(value *raw, t *Type, depth int) (*Value, bool) {
	target := e.defined[value.constant]
	if target == nil {
		return nil, false // what is wrong with it was reported
	}
	from := value.constant.Type.Final()
	if sameType(from, t) {
		return value.constant.Value, e.spend(value, target.bytes)
	}
	if !converts(from, t) {
		return e.mismatch(value, t) // as written it might be of this type, as declared it is not
	}
	scope, reference := e.scope, e.reference
	if reference == nil {
		place := e.place(value)
		e.reference = &place
	}
	e.scope = target.scope
	v, ok := e.value(target.value, t, depth)
	e.scope, e.reference = scope, reference
	return v, ok
}

// converts reports whether a constant that is declared with one type may be used as another. Both are sound.
func converts(from, to *Type) bool {
	from, to = from.Final(), to.Final()
	switch from.Kind {
	case KindBool, KindI8, KindI16, KindI32, KindI64:
		return to.Kind <= KindI64 || to.Kind == KindDouble || to.Kind == KindEnum
	case KindEnum:
		return to.Kind <= KindI64 || to.Kind == KindDouble || from.Enum == to.Enum
	case KindString, KindBinary:
		return to.Kind == KindString || to.Kind == KindBinary || to.Kind == KindUUID
	case KindList, KindSet:
		return (to.Kind == KindList || to.Kind == KindSet) && converts(from.Elem, to.Elem)
	case KindMap:
		return to.Kind == KindMap && converts(from.Key, to.Key) && converts(from.Elem, to.Elem)
	default:
		return from.Kind == to.Kind && from.Struct == to.Struct
	}
}

// sound reports whether all names in a type are defined.
func sound(t *Type) bool {
	t = t.Final()
	return t != nil && t.Kind != 0 && (t.Key == nil || sound(t.Key)) && (t.Elem == nil || sound(t.Elem))
}
