package idl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// Errors is what is wrong with a program: at least one error, at most Limits.Errors, by file in the order in which they are
// first included, the root first, and by place. The Path of each is its Position.String(), but for faults of the map of
// files as such. Names of definitions and files are in the texts, contents of literals are not.
type Errors []*fault.Error

// Error has one error a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the errors, for errors.Is and errors.As.
func (e Errors) Unwrap() []error {
	list := make([]error, len(e))
	for i, err := range e {
		list[i] = err
	}
	return list
}

// reporter collects errors and warnings, up to the limits on their number.
type reporter struct {
	limits Limits
	// order numbers the files as they are first included.
	order    map[string]int
	faults   []placed[*fault.Error]
	warnings []placed[Warning]
	// full says that no more errors are taken, so that there is no use in going on.
	full bool
	// failed says that there were errors, and lost that definitions or files are missing for them: names of those would be
	// reported as not defined.
	failed, lost bool
	// unsaid counts the warnings that were over the limit.
	unsaid int
}

// placed is a finding and where it is.
type placed[T any] struct {
	place Position
	what  T
}

func newReporter(limits Limits) *reporter {
	return &reporter{limits: limits, order: make(map[string]int)}
}

// fault reports an error at a place.
func (r *reporter) fault(place Position, reason fault.Reason, format string, args ...any) {
	r.add(place, fault.New(reason, format, args...))
}

// overLimit reports that one of the Limits is exceeded. Nothing more is read then: what is over a limit is not worth it.
func (r *reporter) overLimit(place Position, reason fault.Reason, what string, limit, actual int) {
	err := fault.New(reason, "%s: %d, more than the limit of %d", what, actual, limit)
	err.Limit, err.Actual = int64(limit), int64(actual)
	r.add(place, err)
	r.full, r.lost = true, true
}

func (r *reporter) add(place Position, err *fault.Error) {
	r.failed = true
	switch err.Reason {
	case fault.SchemaSyntax, fault.SchemaUnsupported, fault.SchemaInclude, fault.SchemaIncludeCycle:
		r.lost = true
	default: // everything is there, though something of it is wrong
	}
	if r.full {
		return
	}
	if place.Line > 0 {
		err.Path = place.String()
	} else {
		err.Path = place.File
	}
	r.faults = append(r.faults, placed[*fault.Error]{place, err})
	r.full = len(r.faults) >= r.limits.Errors
}

// duplicate reports what is defined a second time, and where it is the first time.
func (r *reporter) duplicate(place Position, what string, first Position) {
	where := fmt.Sprintf("line %d, column %d", first.Line, first.Column)
	if first.File != place.File {
		where = first.String()
	}
	r.fault(place, fault.SchemaDuplicate, "%s is there twice, first at %s", what, where)
}

// warn reports a doubt about a place.
func (r *reporter) warn(place Position, format string, args ...any) {
	if len(r.warnings) >= r.limits.Warnings {
		r.unsaid++
		return
	}
	r.warnings = append(r.warnings, placed[Warning]{place, Warning{Position: place, Detail: fmt.Sprintf(format, args...)}})
}

// errors returns what was reported, in order, or nil.
func (r *reporter) errors() error {
	if !r.failed {
		return nil
	}
	sortPlaced(r, r.faults)
	list := make(Errors, len(r.faults))
	for i := range r.faults {
		list[i] = r.faults[i].what
	}
	return list
}

// warned returns the warnings, in order.
func (r *reporter) warned() []Warning {
	sortPlaced(r, r.warnings)
	list := make([]Warning, 0, len(r.warnings)+1)
	for i := range r.warnings {
		list = append(list, r.warnings[i].what)
	}
	if r.unsaid > 0 && len(list) > 0 {
		list = append(list, Warning{Position: list[len(list)-1].Position, Detail: fmt.Sprintf("and %d more warnings", r.unsaid)})
	}
	return list
}

func sortPlaced[T any](r *reporter, list []placed[T]) {
	slices.SortStableFunc(list, func(a, b placed[T]) int {
		return cmp.Or(
			cmp.Compare(r.order[a.place.File], r.order[b.place.File]),
			cmp.Compare(a.place.Line, b.place.Line), cmp.Compare(a.place.Column, b.place.Column))
	})
}

// longestName is how much of a name an error quotes.
const longestName = 64

// clip returns a name as errors have it.
func clip(name string) string {
	if len(name) <= longestName {
		return name
	}
	end := longestName
	for end > 0 && !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end] + "…"
}
