package idl

// Limits bounds what Parse takes. A zero refuses everything, so that a limit that was forgotten fails closed. One that is
// exceeded is a fault SIZE_LIMIT, or DEPTH_LIMIT for IncludeDepth and Nesting.
type Limits struct {
	// FileBytes and TotalBytes are the most of one source and of all in the map, also of those that are not included.
	// FileBytes above 1 GiB are as 1 GiB.
	FileBytes, TotalBytes int
	// Files is the most sources in the map.
	Files int
	// IncludeDepth is the most files on a chain of includes, the root being the first.
	IncludeDepth int
	// Nesting is the most levels of types in types, with typedefs looked through, of values in values, with structs completed
	// by the defaults of their fields, of services that extend one another, and of fields in xsd_attrs. What holds no other is
	// one level.
	Nesting int
	// Definitions is the most structs, enums, typedefs, constants, services and functions of a program.
	Definitions int
	// Members is the most fields of one struct or argument list, values of an enum, functions of a service.
	Members int
	// NameBytes is the most of an identifier, with its dots.
	NameBytes int
	// TypeSize is the most types that one type consists of, with typedefs looked through: list<i32> is two.
	TypeSize int
	// Types is the most types that all uses of types in a program consist of, counted like that.
	Types int
	// ConstantBytes is the most that all constants and defaults of a program take in all: 16 for each value and the bytes of
	// its text. That holds as they are written, when the names of fields count as texts, and as they are, with references
	// followed and structs completed by the defaults of their fields.
	ConstantBytes int
	// Errors and Warnings are the most that one run reports. After as many errors it ends.
	Errors, Warnings int
	// Pause, unless nil, is called every few microseconds of work, here and by package schema for what it makes of a program. It may
	// wait: whoever has better use for the processor lets it.
	Pause func()
}

// pause calls Pause, if there is one.
func (l *Limits) pause() {
	if l.Pause != nil {
		l.Pause()
	}
}

// DefaultLimits returns the limits for schemas that clients send.
func DefaultLimits() Limits {
	return Limits{
		FileBytes:     1 << 20,
		TotalBytes:    1 << 20,
		Files:         256,
		IncludeDepth:  32,
		Nesting:       64,
		Definitions:   32_768,
		Members:       8_192,
		NameBytes:     512,
		TypeSize:      256,
		Types:         1 << 19,
		ConstantBytes: 1 << 20,
		Errors:        20,
		Warnings:      100,
	}
}

// valueBytes is what one value counts against ConstantBytes, besides its text.
const valueBytes = 16

// largestFile bounds FileBytes, so that lines and columns fit their types.
const largestFile = 1 << 30

// mostOfOneName is how many includes of one file may share a name. A name of theirs is looked up in each.
const mostOfOneName = 8
