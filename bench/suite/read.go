package suite

import (
	"fmt"

	"github.com/thriftpack/thriftpack/internal/decoder"
)

// generous limits, as in encoderLimits.
var decoderLimits = decoder.Limits{Depth: 64, Elements: 1 << 27, StringBytes: 1 << 30, Nodes: 1 << 30}

// readers are the ways to read the payload's bytes.
func (p payload) readers(protocol string, data []byte) []Contender {
	options := &decoder.Options{Limits: decoderLimits}
	if protocol == "bin" {
		options.Protocol = decoder.Binary
	}
	return []Contender{
		{wire, wireDecoder(data, options, len(p.wire))},
		{apacheReady, newApache(protocol).reader(data, p.fresh)},
		{apacheFromWire, newApache(protocol).toWire(data)},
		{copied, memcpy(data)},
	}
}

// wireDecoder reads data to the wire bytes of a Value, as the service does.
func wireDecoder(data []byte, options *decoder.Options, room int) func(runs int) error {
	dec, out := new(decoder.Decoder), make([]byte, 0, room)
	return func(runs int) error {
		for range runs {
			if _, err := dec.Prepare(data, options); err != nil {
				return fmt.Errorf("wire decoder: %w", err)
			}
			dec.Append(out)
			dec.Release()
		}
		return nil
	}
}
