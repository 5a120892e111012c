package conform

import (
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/valuewire"
)

// HasShape reports whether the value of the kind of t whose payload is in[start:end] also holds elements, keys and values of the kinds of t,
// at every depth but not inside of structs. Those of empty containers do not matter. in is a decoded Value. Where HasShape is false, a
// lenient check takes the field that the value is in for an unknown one. It calls tick for each element, and stops when that returns false.
func HasShape(in []byte, t *schema.Type, start, end int, tick func() bool) bool {
	switch kindOf(t) {
	case valuewire.List, valuewire.Set:
		column, ok := valuewire.Elements(in, start, end)
		return !ok || haveShape(in, t.Elem, column, tick)
	case valuewire.Map:
		keys, values, ok := valuewire.Sides(in, start, end)
		return !ok || haveShape(in, t.Key, keys.Column, tick) && haveShape(in, t.Elem, values.Column, tick)
	default:
		return true
	}
}

// haveShape is HasShape for all elements of a column. What is malformed is left to the check.
func haveShape(in []byte, t *schema.Type, column valuewire.Column, tick func() bool) bool {
	declared := kindOf(t)
	switch {
	case column.Kind == valuewire.None:
		return true
	case column.Kind != declared && !(valuewire.IsText(column.Kind) && valuewire.IsText(declared)):
		return false
	case !valuewire.IsContainer(declared) || declared == valuewire.Struct:
		return true
	}
	for {
		e, more, ok := column.Next(in)
		if !ok || !more || !tick() {
			return true
		}
		if !HasShape(in, t, e.Start, e.End, tick) {
			return false
		}
	}
}
