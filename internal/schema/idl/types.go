package idl

import (
	"slices"
	"strings"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// typeMeter looks through typedefs: what is behind them, whether that ends, and how large it is. A chain of
// map<A, A> doubles with every typedef, so that sizes are found without walking what is counted.
type typeMeter struct {
	report   *reporter
	typedefs map[*Typedef]*typeSize
	// open are the typedefs that are being looked through.
	open []*Typedef
	// total counts the types of all uses.
	total int
}

// mostOpen is the most typedefs that are looked through at once. The default of Limits.Definitions is far below; with a larger
// one it is what keeps the stack small.
const mostOpen = 1 << 16

// typeSize is how large a type is.
type typeSize struct {
	// levels is how deep its types are in each other, and size how many they are.
	levels, size int
	// open says that the typedef is being looked through: one that comes back to it never ends.
	open bool
	// broken says that it does not end, or is not defined; that was reported.
	broken bool
}

// typedef looks through a typedef.
func (m *typeMeter) typedef(d *Typedef) *typeSize {
	size := m.typedefs[d]
	switch {
	case size == nil:
	case size.open:
		m.cycle(d)
		return &typeSize{broken: true}
	default:
		return size
	}
	if len(m.open) >= mostOpen {
		m.report.overLimit(d.Position, fault.DepthLimit, "typedefs of typedefs", mostOpen, len(m.open)+1)
		return &typeSize{broken: true}
	}
	size = &typeSize{open: true}
	m.typedefs[d] = size
	m.open = append(m.open, d)
	*size = m.measure(d.Type)
	m.open = m.open[:len(m.open)-1]
	if !size.broken {
		d.Final = d.Type.Final()
	}
	return size
}

// use measures a type that is no part of another.
func (m *typeMeter) use(t *Type) {
	if m.report.full {
		return
	}
	size := m.measure(t)
	if m.total += size.size; m.total > m.report.limits.Types {
		m.report.overLimit(t.Position, fault.SizeLimit, "types of a program", m.report.limits.Types, m.total)
	}
}

// measure returns how large a type is.
func (m *typeMeter) measure(t *Type) typeSize {
	m.report.limits.pause()
	size := typeSize{levels: 1, size: 1}
	switch t.Kind {
	case 0:
		size.broken = true // its name means nothing
	case KindTypedef:
		return *m.typedef(t.Typedef)
	case KindMap:
		size.add(m.measure(t.Key))
		size.add(m.measure(t.Elem))
	case KindList, KindSet:
		size.add(m.measure(t.Elem))
	default: // it has no parts: structs do not count, as they are where types may be recursive
	}
	limits := &m.report.limits
	if size.levels > limits.Nesting {
		m.report.overLimit(t.Position, fault.DepthLimit, "types in types", limits.Nesting, size.levels)
		size.broken = true
	}
	if size.size > limits.TypeSize {
		m.report.overLimit(t.Position, fault.SizeLimit, "types in a type", limits.TypeSize, size.size)
		size.broken = true
	}
	return size
}

// add adds a part of a container.
func (s *typeSize) add(part typeSize) {
	s.levels = max(s.levels, 1+part.levels)
	s.size += part.size
	s.broken = s.broken || part.broken
}

// cycle reports a typedef that comes back to itself.
func (m *typeMeter) cycle(d *Typedef) {
	const most = 10
	names := []string{clip(d.Name)}
	for _, open := range m.open[slices.Index(m.open, d)+1:] {
		if len(names) == most {
			names = append(names, "…")
			break
		}
		names = append(names, clip(open.Name))
	}
	names = append(names, names[0])
	m.report.fault(d.Position, fault.SchemaTypedefCycle, "a typedef that never ends: %s", strings.Join(names, " -> "))
}

// sameType reports whether two types are the same behind all typedefs. Both are sound.
func sameType(a, b *Type) bool {
	a, b = a.Final(), b.Final()
	if a == b {
		return true
	}
	if a.Kind != b.Kind || a.Struct != b.Struct || a.Enum != b.Enum {
		return false
	}
	return (a.Key == nil || sameType(a.Key, b.Key)) && (a.Elem == nil || sameType(a.Elem, b.Elem))
}
