package idl

import (
	"strings"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// Errors is what is wrong with a program: at least one error, at most Limits.Errors, in the order of the files' inclusion
// and of the places in them. The Path of each is its Position.String(), but for faults of the map of files as such.
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
