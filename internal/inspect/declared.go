package inspect

import (
	"math"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// declare notes the type that is declared for the value that is read next, unless the bytes have another.
func (r *reader) declare(declared *schema.Type, t thriftpackv1.Type) {
	r.declared = nil
	if declared != nil && kindOnWire(declared.Kind) == kindOnWire(t) {
		r.declared = declared
	}
}

// kindOnWire is the type that the bytes have: text and binary are one.
func kindOnWire(t thriftpackv1.Type) thriftpackv1.Type {
	if t == thriftpackv1.Type_TYPE_STRING {
		return thriftpackv1.Type_TYPE_BINARY
	}
	return t
}

// fieldIn returns the field of that id, or nil.
func fieldIn(in *schema.Struct, id int32) *schema.Field {
	if in == nil || id < math.MinInt16 || id > math.MaxInt16 {
		return nil
	}
	return in.FieldByID(int16(id))
}

// nameNumber puts the name of an enum's number into its row.
func (*reader) nameNumber(w *row, enum *schema.Enum, v int64) {
	if name, ok := enum.NameOf(int32(v)); ok && v == int64(int32(v)) { //nolint:gosec // the range check itself
		w.name = name
		return
	}
	w.note += "; " + enum.Name + " has no such number"
}
