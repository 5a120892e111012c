package schema

import (
	"cmp"
	"slices"
	"strings"
)

// Change is a difference between two revisions that somebody may notice.
type Change struct {
	// Rule is what kind of change it is.
	Rule Rule
	// Breaks says whom it breaks: Rule.Breaks.
	Breaks Breaks
	// Path is what changed: "Type", "Type.field", "Enum.VALUE", "Service.method" or "Service.method.args.field". Below a type that
	// stands in another's place it goes on from there: "Type.field.field". Long names are cut.
	Path string
	// Detail is the change in words. It holds names, numbers and types but no default values.
	Detail string
	// Old and New are where it stood and where it stands; one of them is zero for what is new or gone.
	Old, New Position
}

// Compare returns what differs from an old revision to a new one, those first that break something, otherwise in the order of
// paths. It looks at the types that have names in either and at all that these refer to. It does not allow for renaming
// and renumbering in several steps: only two revisions are known. Its cost is in proportion to their size.
func Compare(old, updated *Schema) []Change { return ComparePausing(old, updated, func() {}) }

// ComparePausing is Compare, and calls pause every few microseconds of work.
func ComparePausing(old, updated *Schema, pause func()) []Change {
	c := comparison{
		pause:   pause,
		structs: map[[2]*Struct]bool{}, enums: map[[2]*Enum]bool{}, types: map[[2]*Type]difference{},
		company: map[any]int{}, shapes: map[*Type]shape{},
	}
	c.declared(old, updated)
	for len(c.queue) > 0 {
		first := c.queue[0]
		c.queue = c.queue[1:]
		first()
	}
	slices.SortStableFunc(c.changes, func(a, b Change) int {
		c.pause()
		breaking := func(c Change) int {
			if c.Breaks != 0 {
				return 0
			}
			return 1
		}
		return cmp.Or(
			cmp.Compare(breaking(a), breaking(b)), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Detail, b.Detail))
	})
	return c.changes
}

// comparison is one run of Compare.
type comparison struct {
	changes []Change
	// pause lets others have the processor.
	pause func()
	// queue has the pairs of structs and enums that are to be compared: a worklist, since types may be recursive.
	queue   []func()
	structs map[[2]*Struct]bool
	enums   map[[2]*Enum]bool
	types   map[[2]*Type]difference // of containers
	// company counts the pairs that a struct or enum is in beside those by name, see mostCompany.
	company map[any]int
	shapes  map[*Type]shape
}

// mostCompany is how many types of other names a type is compared with. Each comparison takes as long as the type is large, and the
// fields of hostile schemas could pair each type with each other. A pair more counts as a change of type.
const mostCompany = 8

// add adds a change.
func (c *comparison) add(rule Rule, path, detail string, old, updated Position) {
	c.changes = append(c.changes, Change{
		Rule: rule, Breaks: rule.Breaks(), Path: path, Detail: detail, Old: old, New: updated,
	})
}

// declared compares all names.
func (c *comparison) declared(from, to *Schema) {
	old, updated := from.declared, to.declared
	var gone, added []string
	for _, name := range from.types {
		was := old[name]
		is, ok := updated[name]
		if !ok {
			gone = append(gone, name)
			continue
		}
		if was.noun == nounArgs && is.noun == nounArgs && was.oneway != is.oneway {
			c.add(MethodOnewayChanged, briefly(methodOf(name)), onewayDetail(is.oneway), was.at, is.at)
		}
		c.declaration(name, was, is)
	}
	for _, name := range to.types {
		if old[name] == nil {
			added = append(added, name)
		}
	}
	renamed := c.renames(gone, added, old, updated)
	took := map[string]bool{} // new names of what had another
	for _, name := range gone {
		was := old[name]
		other, isRenamed := renamed[name]
		switch {
		case isRenamed:
			took[other] = true
			is := updated[other]
			c.add(TypeRenamed, briefly(name), "the "+string(was.noun)+" is called "+briefly(other), was.at, is.at)
			c.declaration(name, was, is)
		case was.noun == nounArgs:
			c.add(MethodRemoved, briefly(methodOf(name)), "the method is gone", was.at, Position{})
		case was.noun != nounResult: // with the arguments, or the method is oneway now
			c.add(TypeRemoved, briefly(name), "the "+string(was.noun)+" is gone", was.at, Position{})
		}
	}
	for _, name := range added {
		switch is := updated[name]; {
		case took[name]:
		case is.noun == nounArgs:
			c.add(MethodAdded, briefly(methodOf(name)), "the method is new", Position{}, is.at)
		case is.noun == nounResult: // with the arguments, or the method is no longer oneway
		default:
			c.add(TypeAdded, briefly(name), "the "+string(is.noun)+" is new", Position{}, is.at)
		}
	}
}

// methodOf returns the method of the name of its arguments.
func methodOf(name string) string { return strings.TrimSuffix(name, ".args") }

func onewayDetail(oneway bool) string {
	if oneway {
		return "the method is oneway now: it has no reply any more"
	}
	return "the method is no longer oneway: it has a reply now"
}

// declaration compares what stands behind a name that both have, or behind the two names of a type.
func (c *comparison) declaration(name string, was, is *declaration) {
	c.pause()
	path := briefly(name)
	switch {
	case was.t.Struct != nil && is.t.Struct != nil:
		c.pairStructs(structPair{
			old: was.t.Struct, updated: is.t.Struct, path: placeOf(was.t, is.t, path), result: was.noun == nounResult && is.noun == nounResult,
			byName: true,
		})
	case was.t.Enum != nil && is.t.Enum != nil:
		c.pairEnums(was.t.Enum, is.t.Enum, placeOf(was.t, is.t, path), true)
	default:
		c.typeChange(TypeChanged, path, c.difference(was.t, is.t, path), was.t, is.t, was.at, is.at)
	}
}
