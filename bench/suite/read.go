package suite

import (
	"fmt"

	"github.com/thriftpack/thriftpack/internal/decoder"
)

// generous limits, as in encoderLimits.
var decoderLimits = decoder.Limits{Depth: 64, Elements: 1 << 27, StringBytes: 1 << 30, Nodes: 1 << 30}

// readers are the ways to read the payload's bytes that this process can do.
func (p payload) readers(protocol string, data []byte) []Contender {
	options := &decoder.Options{Limits: decoderLimits}
	if protocol == "bin" {
		options.Protocol = decoder.Binary
	}
	contenders := []Contender{
		{Family: wire, Run: wireDecoder(data, options, len(p.wire))},
		{Family: apacheReady, Run: newApache(protocol).reader(data, p.fresh)},
		{Family: apacheFromWire, Run: newApache(protocol).toWire(data)},
		{Family: copied, Run: memcpy(data)},
	}
	if protocol == "cmp" {
		contenders = append(contenders, Contender{Family: segmentioReady, Run: segmentioReader(data, p.peer)})
	}
	return contenders
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
