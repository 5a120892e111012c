package suite

import (
	"fmt"

	"github.com/thriftpack/thriftpack/bench/peers/apachegen"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fixture"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// generous limits, so that no scenario is refused.
var encoderLimits = encoder.Limits{Depth: 64, Elements: 1 << 27, StringBytes: 1 << 30, SlowNodes: 100_000}

// payload is a value in the three forms that the contenders start from.
type payload struct {
	value   *thriftpackv1.Value
	wire    []byte // of the value
	compact []byte
	binary  []byte
	// fresh returns the empty struct of Apache's generated code that reads the bytes.
	fresh func() generated
}

func newPayload(value *thriftpackv1.Value, fresh func() generated) (payload, error) {
	p := payload{value: value, wire: fixture.Wire(value), fresh: fresh}
	var err error
	if p.compact, err = new(encoder.Encoder).Append(nil, p.wire, &encoder.Options{Limits: encoderLimits}); err != nil {
		return payload{}, fmt.Errorf("payload: %w", err)
	}
	options := &encoder.Options{Protocol: encoder.Binary, Limits: encoderLimits}
	if p.binary, err = new(encoder.Encoder).Append(nil, p.wire, options); err != nil {
		return payload{}, fmt.Errorf("payload: %w", err)
	}
	return p, nil
}

// ready is the payload as the struct of Apache's generated code, read by Apache's own reader.
func (p payload) ready() (generated, error) {
	value := p.fresh()
	err := newApache("cmp").reader(p.compact, func() generated { return value })(1)
	return value, err
}

// wireEncoder writes the value from its wire bytes, as the service does.
func wireEncoder(wire []byte, options *encoder.Options, room int) func(runs int) error {
	enc, out := new(encoder.Encoder), make([]byte, 0, room)
	return func(runs int) error {
		for range runs {
			if _, err := enc.Append(out, wire, options); err != nil {
				return fmt.Errorf("wire encoder: %w", err)
			}
		}
		return nil
	}
}

// memcpy copies the finished bytes: what writing them costs at the very least.
func memcpy(data []byte) func(runs int) error {
	out := make([]byte, len(data))
	return func(runs int) error {
		for range runs {
			copy(out, data)
		}
		return nil
	}
}

// field1 wraps a container into a struct whose only field it is, which is how Apache's code has it.
func field(id int32, v *thriftpackv1.Value) *thriftpackv1.Value {
	f := &thriftpackv1.Field{Id: id}
	switch kind := v.GetKind().(type) {
	case *thriftpackv1.Value_List:
		f.Kind = &thriftpackv1.Field_List{List: kind.List}
	case *thriftpackv1.Value_Map:
		f.Kind = &thriftpackv1.Field_Map{Map: kind.Map}
	case *thriftpackv1.Value_Binary:
		f.Kind = &thriftpackv1.Field_Binary{Binary: kind.Binary}
	}
	return &thriftpackv1.Value{Kind: &thriftpackv1.Value_Struct{Struct: &thriftpackv1.Struct{Fields: []*thriftpackv1.Field{f}}}}
}

func bulk() generated { return apachegen.NewBulk() }
