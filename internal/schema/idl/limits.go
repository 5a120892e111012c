package idl

// Limits bounds what Parse takes. A zero refuses everything, so that a limit that was forgotten fails closed.
type Limits struct {
	// FileBytes and TotalBytes are the most of one source and of all in the map, also of those that are not included.
	FileBytes, TotalBytes int
	// Files is the most sources in the map.
	Files int
	// IncludeDepth is the most files on a chain of includes, the root being the first.
	IncludeDepth int
	// Nesting is the most levels of types in types, with typedefs looked through, and of values in values; a type or value
	// that holds no other is one level.
	Nesting int
	// Definitions is the most structs, enums, typedefs, constants, services and functions of a program.
	Definitions int
	// Members is the most fields of one struct or argument list, values of an enum, functions of a service.
	Members int
	// ConstantBytes is the most that all constants and defaults of a program take in all: 16 for each value
	// and the bytes of its text, with references followed and structs completed with the defaults of their fields.
	ConstantBytes int
	// Errors is the most errors that one run reports.
	Errors int
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
		ConstantBytes: 4 << 20,
		Errors:        20,
	}
}
