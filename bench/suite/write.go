package suite

import (
	"fmt"

	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fixture"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// generous limits, so that no scenario is refused.
var encoderLimits = encoder.Limits{Depth: 64, Elements: 1 << 27, StringBytes: 1 << 30, SlowNodes: 100_000}

// payload is a value in the three forms that the contenders start from.
type payload struct {
	source

	wire    []byte // of the value
	compact []byte
	binary  []byte
}

func newPayload(value *thriftpackv1.Value, s source) (payload, error) {
	p := payload{source: s, wire: fixture.Wire(value)}
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

// writers are the ways to write the payload that this process can do.
func (p payload) writers(protocol string, encoded []byte, options *encoder.Options) ([]Contender, error) {
	ready := p.fresh()
	if err := newApache("cmp").reader(p.compact, func() generated { return ready })(1); err != nil {
		return nil, err
	}
	room := encoder.Bound(max(len(p.wire), len(encoded)), options)
	contenders := []Contender{
		{Family: wire, Run: wireEncoder(p.wire, options, room)},
		{Family: apacheReady, Run: newApache(protocol).writer(ready)},
		{Family: apacheFromWire, Run: newApache(protocol).fromWire(p.wire)},
		{Family: copied, Run: memcpy(encoded)},
	}
	if protocol == "cmp" {
		tagged, err := p.tagged()
		if err != nil {
			return nil, err
		}
		contenders = append(contenders, segmentioWriters(tagged, len(encoded))...)
		contenders = append(contenders, writers(ready, len(encoded))...)
		contenders = append(contenders, controls(ready, len(encoded))...)
	}
	return contenders, nil
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

// field wraps a container into a struct whose only field it is, which is how Apache's code has it.
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
