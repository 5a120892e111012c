package decoder_test

import (
	"testing"

	"github.com/thriftpack/thriftpack/internal/decoder"
)

// TestLocate finds values of each kind of container, in both protocols, behind frames and envelopes.
func TestLocate(t *testing.T) {
	field := func(i int) decoder.Step { return decoder.Step{Kind: decoder.StepField, Index: i} }
	element := func(i int) decoder.Step { return decoder.Step{Kind: decoder.StepElement, Index: i} }
	key := func(i int) decoder.Step { return decoder.Step{Kind: decoder.StepKey, Index: i} }
	value := func(i int) decoder.Step { return decoder.Step{Kind: decoder.StepValue, Index: i} }
	none := decoder.Place{Header: -1}
	const rich = "15 02 28 01 61 19 3c 15 02 00 00 18 01 62 00 1b 02 5c 02 00 04 11 00 11 08 90 03 01 63 00"
	for _, row := range []struct {
		name, data string
		o          decoder.Options
		path       []decoder.Step
		want       decoder.Place
	}{
		{"the root", rich, decoder.Options{}, nil, decoder.Place{}},
		{"a field", rich, decoder.Options{}, []decoder.Step{field(0)}, decoder.Place{Header: 0, Start: 1, Data: 1}},
		{"text", rich, decoder.Options{}, []decoder.Step{field(1)}, decoder.Place{Header: 2, Start: 3, Data: 4}},
		{"a list", rich, decoder.Options{}, []decoder.Step{field(2)}, decoder.Place{Header: 5, Start: 6, Data: 6}},
		{"an element", rich, decoder.Options{}, []decoder.Step{field(2), element(1)}, decoder.Place{Header: 10, Start: 10, Data: 10}},
		{"text in an element", rich, decoder.Options{}, []decoder.Step{field(2), element(2), field(0)}, decoder.Place{Header: 11, Start: 12, Data: 13}},
		{"a key", rich, decoder.Options{}, []decoder.Step{field(3), key(1)}, decoder.Place{Header: 20, Start: 20, Data: 20}},
		{"a value", rich, decoder.Options{}, []decoder.Step{field(3), value(1)}, decoder.Place{Header: 21, Start: 21, Data: 21}},
		{"a bool in a value", rich, decoder.Options{}, []decoder.Step{field(3), value(1), field(0)}, decoder.Place{Header: 21, Start: 22, Data: 22}},
		{"a bool", rich, decoder.Options{}, []decoder.Step{field(4)}, decoder.Place{Header: 23, Start: 24, Data: 24}},
		{"a field with a long id", rich, decoder.Options{}, []decoder.Step{field(5)}, decoder.Place{Header: 24, Start: 27, Data: 28}},
		{"behind the last field", rich, decoder.Options{}, []decoder.Step{field(6)}, none},
		{"behind the last element", rich, decoder.Options{}, []decoder.Step{field(2), element(3)}, none},
		{"behind the last entry", rich, decoder.Options{}, []decoder.Step{field(3), key(2)}, none},
		{"an element of a struct", rich, decoder.Options{}, []decoder.Step{element(0)}, none},
		{"a field of a list", rich, decoder.Options{}, []decoder.Step{field(2), field(0)}, none},
		{"a key of a list", rich, decoder.Options{}, []decoder.Step{field(2), key(0)}, none},

		{"in a frame", "00000003 15 02 00", decoder.Options{Framed: true}, []decoder.Step{field(0)}, decoder.Place{Header: 4, Start: 5, Data: 5}},
		{"in a message", "82 21 00 01 61 18 01 62 00", decoder.Options{Message: true}, []decoder.Step{field(0)}, decoder.Place{Header: 5, Start: 6, Data: 7}},
		{
			"binary", "08 0001 00000001 0b 0002 00000001 61 00",
			decoder.Options{Protocol: decoder.Binary},
			[]decoder.Step{field(1)},
			decoder.Place{Header: 7, Start: 10, Data: 14},
		},
		{
			"a binary bool", "02 0001 01 02 0002 00 00",
			decoder.Options{Protocol: decoder.Binary},
			[]decoder.Step{field(1)},
			decoder.Place{Header: 4, Start: 7, Data: 7},
		},
		{
			"a binary map", "0d 0001 0b 0f 00000001 00000001 61 08 00000002 00000001 00000002 00",
			decoder.Options{Protocol: decoder.Binary},
			[]decoder.Step{field(0), value(0), element(1)},
			decoder.Place{Header: 23, Start: 23, Data: 23},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			var d decoder.Decoder
			row.o.Limits = usual
			if _, err := d.Prepare(unhex(t, row.data), &row.o); err != nil {
				t.Fatal(err)
			}
			got, ok := d.Locate(row.path)
			if ok != (row.want != none) || ok && got != row.want {
				t.Errorf("%v, %t, want %v", got, ok, row.want)
			}
			if again, ok := d.Locate(row.path); ok != (row.want != none) || ok && again != row.want {
				t.Errorf("again %v, %t, want %v", again, ok, row.want)
			}
			if after := d.Append(nil); after != nil {
				t.Errorf("afterwards a value is written: %x", after)
			}
			d.Release()
			if _, ok := d.Locate(row.path); ok {
				t.Error("a value was found after Release")
			}
		})
	}
}
