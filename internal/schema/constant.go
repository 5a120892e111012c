package schema

import (
	"math"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema/idl"
)

// constant is a compiled default value.
type constant struct {
	Constant
	// lacking is a required field that a struct in the value has not, or "".
	lacking string
}

// constantCost is about what a constant takes beside its bytes, which are three slices.
var constantCost = sizeOf[constant]() + 3*8

// compileDefaults compiles the default values of all fields. A struct in a default value is completed as one in JSON is:
// with the defaults of those of its fields that are neither optional nor given.
func (c *compiler) compileDefaults() {
	for _, d := range c.defaults {
		c.values[d.field] = d.value
	}
	for i, d := range c.defaults {
		made := c.constantOf(d.field)
		if c.fault != nil {
			return
		}
		if made.lacking != "" {
			c.warn(d.value.Position, "the default of "+d.of.Name+"."+d.field.Name+" has no value for the required "+made.lacking+
				", and is left out")
		} else {
			d.field.Default = &made.Constant
		}
		if i+1 == len(c.defaults) || c.defaults[i+1].of != d.of {
			d.of.expect()
		}
	}
}

// constantOf returns the compiled default value of a field. It goes down by calls into the defaults that complete it: the
// linker saw to it that none contains itself, and bounded how deep and how large completed values are.
func (c *compiler) constantOf(f *Field) *constant {
	made, ok := c.constants[f]
	if !ok {
		c.charge(constantCost)
		made = &constant{}
		c.constants[f] = made
		w := valueWriter{c: c, of: made}
		w.member(c.values[f], f.Type)
		if c.fault == nil && made.lacking == "" {
			made.Value = w.out.taken()
			made.Compact = c.encode(made.Value, encoder.Compact)
			made.Binary = c.encode(made.Value, encoder.Binary)
		}
	}
	return made
}

// encode returns the Thrift bytes of a Value. Its limits let pass what the compiler has bounded already.
func (c *compiler) encode(value []byte, to encoder.Protocol) []byte {
	if !c.charge(2 * int64(len(value))) { // the binary protocol's bytes are at most about twice those of the Value
		return nil
	}
	encoded, err := c.encoder.Append(nil, value, &encoder.Options{Protocol: to, Limits: encoder.Limits{
		Depth: encoder.MaxDepth, Elements: math.MaxInt32, StringBytes: math.MaxInt32,
	}})
	if err != nil && c.fault == nil {
		c.fault = fault.New(fault.Internal, "a default value does not encode: %v", err)
	}
	return append(make([]byte, 0, len(encoded)), encoded...)
}

// valueWriter writes the wire bytes of a Value from its end to its beginning, since lengths stand before what they count.
type valueWriter struct {
	c   *compiler
	of  *constant
	out reverse
}

// valueCost is the most bytes that a value takes beside its text: as a Field, with its length, id, tag and number.
const valueCost = 24

// member writes a value as that member of Value, and likewise of Field, that its kind has.
func (w *valueWriter) member(v *idl.Value, t *Type) {
	end := w.out.size()
	w.payload(v, t)
	w.out.close(t.Kind, end)
}

// payload writes a value without its tag and length.
func (w *valueWriter) payload(v *idl.Value, t *Type) {
	if !w.c.charge(int64(len(v.Text)) + valueCost) {
		return
	}
	switch t.Kind {
	case thriftpackv1.Type_TYPE_BOOL:
		w.out.varint(uint64(v.Int)) //nolint:gosec // 0 or 1
	case thriftpackv1.Type_TYPE_I8, thriftpackv1.Type_TYPE_I16, thriftpackv1.Type_TYPE_I32, thriftpackv1.Type_TYPE_I64:
		w.out.varint(encoder.Zigzag64(v.Int))
	case thriftpackv1.Type_TYPE_DOUBLE:
		w.out.fixed64(math.Float64bits(v.Double))
	case thriftpackv1.Type_TYPE_STRING, thriftpackv1.Type_TYPE_BINARY, thriftpackv1.Type_TYPE_UUID:
		w.out.text(v.Text)
	default:
		w.nested(v, t)
	}
}

// nested writes a struct or container.
func (w *valueWriter) nested(v *idl.Value, t *Type) {
	switch t.Kind {
	case thriftpackv1.Type_TYPE_STRUCT:
		w.fields(v, t.Struct)
	case thriftpackv1.Type_TYPE_MAP:
		// Map { List keys = 1; List values = 2 }
		end := w.out.size()
		w.list(t.Elem, len(v.Entries), func(i int) *idl.Value { return v.Entries[i].Value })
		w.out.head(2, end)
		end = w.out.size()
		w.list(t.Key, len(v.Entries), func(i int) *idl.Value { return v.Entries[i].Key })
		w.out.head(1, end)
	default:
		w.list(t.Elem, len(v.Elements), func(i int) *idl.Value { return v.Elements[i] })
	}
}

// list writes a List, whose column has the number of the kind. One without elements says what they would be.
func (w *valueWriter) list(t *Type, n int, at func(int) *idl.Value) {
	if n == 0 {
		w.out.varint(uint64(t.Kind)) //nolint:gosec // kinds are 2..15
		w.out.tag(1, wireVarint)
		return
	}
	column := w.out.size()
	for i := n - 1; i >= 0 && w.c.fault == nil; i-- {
		switch wireOf(t.Kind) {
		case wireBytes:
			end := w.out.size()
			w.payload(at(i), t)
			w.out.head(number(t.Kind), end)
		default:
			if t.Kind == thriftpackv1.Type_TYPE_I8 {
				w.out.byte(byte(at(i).Int)) //nolint:gosec // two's complement
				continue
			}
			w.payload(at(i), t)
		}
	}
	if wireOf(t.Kind) != wireBytes {
		w.out.head(number(t.Kind), column)
	}
}

// fields writes a Struct: the fields that are given and those that are written by default, in ascending order of ids.
func (w *valueWriter) fields(v *idl.Value, s *Struct) {
	given := make(map[int16]*idl.Value, len(v.Fields))
	for _, f := range v.Fields {
		given[f.Field.ID] = f.Value
	}
	for i := len(s.Fields) - 1; i >= 0 && w.c.fault == nil; i-- {
		f := &s.Fields[i]
		end := w.out.size()
		if value, ok := given[f.ID]; ok {
			w.member(value, f.Type)
		} else if !w.byDefault(f, s) {
			continue
		}
		if f.ID != 0 {
			w.out.varint(encoder.Zigzag64(int64(f.ID)))
			w.out.tag(1, wireVarint)
		}
		w.out.head(1, end)
	}
}

// byDefault writes the default value of a field that is not given, and reports whether it has one to write.
func (w *valueWriter) byDefault(f *Field, s *Struct) bool {
	if f.Requirement == Optional {
		return false
	}
	if _, ok := w.c.values[f]; ok {
		made := w.c.constantOf(f)
		if made.lacking == "" {
			if w.c.charge(int64(len(made.Value)) + valueCost) {
				w.out.bytes(made.Value)
			}
			return true
		}
	}
	if f.Requirement == Required && w.of.lacking == "" {
		w.of.lacking = s.Name + "." + f.Name
	}
	return false
}
