package decoder_test

import (
	"encoding/hex"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
)

// encodeAgain writes what was decoded.
func encodeAgain(value []byte, protocol decoder.Protocol) ([]byte, error) {
	return new(encoder.Encoder).Append(nil, value, &encoder.Options{
		Protocol: encoder.Protocol(protocol), Limits: encoder.Limits{Depth: 64, Elements: 1000, StringBytes: 1000, SlowNodes: 1},
	})
}

// Without a schema no field is unknown, and none is given too often: fields come back as they were, in their order, and give the
// same bytes again.
func TestUnknownAndDuplicateFields(t *testing.T) {
	tests := []struct {
		name     string
		protocol decoder.Protocol
		hex      string
		want     *thriftpackv1.Value
	}{
		{
			"a field that a reader need not know", decoder.Compact, "15 02 28 01 61 00",
			thriftpackv1.StructValue(thriftpackv1.I32Field(1, 1), thriftpackv1.BinaryField(3, []byte("a"))),
		},
		{
			"the same in binary", decoder.Binary, "08 0001 00000001 0b 0003 00000001 61 00",
			thriftpackv1.StructValue(thriftpackv1.I32Field(1, 1), thriftpackv1.BinaryField(3, []byte("a"))),
		},
		{
			"an id twice", decoder.Compact, "15 02 05 02 04 00",
			thriftpackv1.StructValue(thriftpackv1.I32Field(1, 1), thriftpackv1.I32Field(1, 2)),
		},
		{
			"an id twice, of two types", decoder.Compact, "15 02 08 02 01 61 15 06 00",
			thriftpackv1.StructValue(thriftpackv1.I32Field(1, 1), thriftpackv1.BinaryField(1, []byte("a")), thriftpackv1.I32Field(2, 3)),
		},
		{
			"an id twice in binary", decoder.Binary, "08 0001 00000001 08 0001 00000002 00",
			thriftpackv1.StructValue(thriftpackv1.I32Field(1, 1), thriftpackv1.I32Field(1, 2)),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := &decoder.Options{Protocol: test.protocol, Limits: usual}
			data := unhex(t, test.hex)
			expect(t, data, o, test.want)
			value, _, err := decode(t, new(decoder.Decoder), data, o)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := encodeAgain(value, test.protocol); err != nil || hex.EncodeToString(again) != hex.EncodeToString(data) {
				t.Errorf("encoded again: %x, %v, want %x", again, err, data)
			}
		})
	}
}

// An empty list whose element type is 0 says no type, which the encoder has no way to write.
func TestListsWithoutATypeCannotBeEncoded(t *testing.T) {
	tests := []struct {
		name    string
		options decoder.Options
		hex     string
	}{
		{"a list in binary", decoder.Options{Protocol: decoder.Binary}, "0f 0001 00 00000000 00"},
		{"a set in binary", decoder.Options{Protocol: decoder.Binary}, "0e 0001 00 00000000 00"},
		{"a list, lenient", decoder.Options{Lenient: true}, "19 00 00"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.options.Limits = usual
			value, _, err := decode(t, new(decoder.Decoder), unhex(t, test.hex), &test.options)
			if err != nil {
				t.Fatal(err)
			}
			for _, protocol := range []decoder.Protocol{decoder.Compact, decoder.Binary} {
				_, err := encodeAgain(value, protocol)
				if err == nil || !strings.Contains(err.Error(), "no elements and no element_type") {
					t.Errorf("encoded again: %v, want %s", err, fault.MissingKind)
				}
			}
		})
	}
	value, _, err := decode(t, new(decoder.Decoder), unhex(t, "0d 0001 00 00 00000000 00"), &decoder.Options{Protocol: decoder.Binary, Limits: usual})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := encodeAgain(value, decoder.Compact); err != nil || hex.EncodeToString(again) != "1b0000" {
		t.Errorf("a map without types: %x, %v", again, err)
	}
}
