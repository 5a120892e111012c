package idl

import (
	"encoding/hex"
	"math"
	"unicode/utf8"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// constants makes values of the types that they are declared with.
type constants struct {
	report *reporter
	// defined has what is known of the constants that were evaluated without a fault.
	defined map[*Const]*definedConst
	enums   map[*Enum]*enumIndex
	// fields are those of the structs that constants were made of.
	fields map[*Struct]map[string]*Field
	// spent counts bytes against Limits.ConstantBytes.
	spent int
	// scope is that of the file of the value that is evaluated.
	scope *scope
	// reference is where the file that is linked refers to the constant that the value is part of, or nil: a fault is there,
	// since it is for that use that the value is wrong.
	reference *Position
	key       []byte
	newValues slab[Value]
}

// definedConst is an evaluated constant.
type definedConst struct {
	scope *scope
	value *raw
	// bytes is what it counts against Limits.ConstantBytes wherever it is used.
	bytes int
}

// enumIndex finds the values of an enum.
type enumIndex struct {
	byName   map[string]int32
	byNumber map[int32]bool
}

func newConstants(report *reporter) constants {
	return constants{
		report: report, defined: make(map[*Const]*definedConst),
		enums: make(map[*Enum]*enumIndex), fields: make(map[*Struct]map[string]*Field),
	}
}

// define evaluates a constant, which later ones may then name. It returns nil where that cannot be.
func (e *constants) define(c *scope, constant *Const, value *raw) *Value {
	before := e.spent
	v, ok := e.evaluate(c, value, constant.Type)
	if !ok {
		return nil
	}
	e.defined[constant] = &definedConst{scope: c, value: value, bytes: e.spent - before}
	return v
}

// evaluate makes a value of a type.
func (e *constants) evaluate(c *scope, value *raw, t *Type) (*Value, bool) {
	e.scope, e.reference = c, nil
	return e.value(value, t, 1)
}

// place returns where a value is written.
func (e *constants) place(value *raw) Position {
	return Position{File: e.scope.file.Path, Line: value.line, Column: value.column}
}

// fail reports a fault of a value.
func (e *constants) fail(value *raw, reason fault.Reason, format string, args ...any) (*Value, bool) {
	place := e.place(value)
	if e.reference != nil {
		place = *e.reference
	}
	e.report.fault(place, reason, format, args...)
	return nil, false
}

// mismatch reports a value of another type.
func (e *constants) mismatch(value *raw, t *Type) (*Value, bool) {
	what := [...]string{
		rawInteger: "an integer", rawDouble: "a double", rawText: "a text", rawName: "a name",
		rawConst: "this constant", rawList: "a list", rawMap: "a map",
	}[value.kind]
	return e.fail(value, fault.SchemaConstType, "%s is no value of type %s", what, clip(t.Name))
}

// spend counts bytes of constants, and reports the first too many.
func (e *constants) spend(value *raw, bytes int) bool {
	e.spent += bytes
	if most := e.report.limits.ConstantBytes; e.spent > most {
		e.report.overLimit(e.place(value), fault.SizeLimit, "bytes of constants", most, e.spent)
		return false
	}
	return true
}

// value makes a value of a type, at a depth that counts from 1.
func (e *constants) value(value *raw, declared *Type, depth int) (*Value, bool) {
	e.report.limits.pause()
	if e.report.full || value.kind == rawWrong || e.report.failed && !sound(declared) {
		return nil, false
	}
	t := declared.Final()
	if value.kind == rawName && !e.resolve(value, t) {
		return nil, false
	}
	if value.kind == rawConst {
		return e.refer(value, t, depth)
	}
	if most := e.report.limits.Nesting; depth > most {
		e.report.overLimit(e.place(value), fault.DepthLimit, "values in values", most, depth)
		return nil, false
	}
	if !e.spend(value, valueBytes) {
		return nil, false
	}
	v := e.newValues.take()
	v.Position, v.Type = e.place(value), t
	switch t.Kind {
	case KindBool, KindI8, KindI16, KindI32, KindI64, KindEnum:
		return e.integer(v, value)
	case KindDouble:
		switch value.kind {
		case rawInteger:
			v.Double = float64(int64(value.number)) //nolint:gosec // the bits are those of an int64
		case rawDouble:
			v.Double = math.Float64frombits(value.number)
		default:
			return e.mismatch(value, t)
		}
	case KindString, KindBinary, KindUUID:
		return e.text(v, value)
	case KindList, KindSet:
		return e.list(v, value, depth)
	case KindMap:
		return e.mapping(v, value, depth)
	default:
		return e.structure(v, value, depth)
	}
	return v, true
}

// bits are the sizes of the integers.
var bits = map[Kind]uint{KindI8: 8, KindI16: 16, KindI32: 32, KindI64: 64}

// integer makes an integer, a bool or a value of an enum.
func (e *constants) integer(v *Value, value *raw) (*Value, bool) {
	if value.kind != rawInteger {
		return e.mismatch(value, v.Type)
	}
	v.Int = int64(value.number) //nolint:gosec // the bits are those of an int64
	switch v.Type.Kind {
	case KindBool:
		if v.Int != 0 && v.Int != 1 {
			return e.fail(value, fault.SchemaConstRange, "a bool is true, false, 1 or 0, not %d", v.Int)
		}
	case KindEnum:
		if v.Int < math.MinInt32 || v.Int > math.MaxInt32 || !e.enum(v.Type.Enum).byNumber[int32(v.Int)] {
			return e.fail(value, fault.SchemaConstRange, "no value of enum %s has the number %d", clip(v.Type.Enum.Name), v.Int)
		}
	default:
		if size := bits[v.Type.Kind]; v.Int>>(size-1) != v.Int>>63 {
			return e.fail(value, fault.SchemaConstRange, "%d is not in the range of %s", v.Int, v.Type.Name)
		}
	}
	return v, true
}

// text makes a string, a binary or a uuid.
func (e *constants) text(v *Value, value *raw) (*Value, bool) {
	if value.kind != rawText {
		return e.mismatch(value, v.Type)
	}
	v.Text = value.text
	switch v.Type.Kind {
	case KindString:
		if !utf8.ValidString(v.Text) {
			return e.fail(value, fault.SchemaConstType, "a string is UTF-8, and this text is not: declare it as binary")
		}
	case KindUUID:
		var ok bool
		if v.Text, ok = parseUUID(v.Text); !ok {
			return e.fail(value, fault.SchemaConstType, "a uuid is written as 00112233-4455-6677-8899-aabbccddeeff")
		}
	default:
	}
	return v, e.spend(value, len(v.Text))
}

// parseUUID returns the bytes of a uuid, which may be in braces.
func parseUUID(text string) (string, bool) {
	if len(text) == 38 && text[0] == '{' && text[37] == '}' {
		text = text[1:37]
	}
	if len(text) != 36 {
		return "", false
	}
	digits := make([]byte, 0, 32)
	for i := range len(text) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if text[i] != '-' {
				return "", false
			}
			continue
		}
		digits = append(digits, text[i])
	}
	id, err := hex.DecodeString(string(digits))
	return string(id), err == nil
}

// enum returns the index of an enum.
func (e *constants) enum(d *Enum) *enumIndex {
	index := e.enums[d]
	if index == nil {
		index = &enumIndex{byName: make(map[string]int32, len(d.Values)), byNumber: make(map[int32]bool, len(d.Values))}
		for i := range d.Values {
			index.byName[d.Values[i].Name] = d.Values[i].Number
			index.byNumber[d.Values[i].Number] = true
		}
		e.enums[d] = index
	}
	return index
}
