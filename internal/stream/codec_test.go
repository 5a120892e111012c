package stream

import (
	"encoding/binary"
	"errors"
	"fmt"

	"google.golang.org/grpc/mem"
)

// What both ends of the harness agree on: the methods, an order, the bytes of an order, and the codec.

const (
	sendMethod    = "/test.Bytes/Send"    // order -> messages
	receiveMethod = "/test.Bytes/Receive" // messages -> messages, and the server only receives
	onceMethod    = "/test.Bytes/Once"    // order -> one message
)

// order is a request: which bytes, how many of them, and in what chunks.
type order struct {
	id        uint32
	total     uint64
	chunkSize uint32
}

func (o order) bytes() []byte {
	data := binary.LittleEndian.AppendUint32(nil, o.id)
	data = binary.LittleEndian.AppendUint64(data, o.total)
	return binary.LittleEndian.AppendUint32(data, o.chunkSize)
}

func parseOrder(data []byte) order {
	if len(data) < 16 {
		return order{}
	}
	return order{
		id:        binary.LittleEndian.Uint32(data),
		total:     binary.LittleEndian.Uint64(data[4:]),
		chunkSize: binary.LittleEndian.Uint32(data[12:]),
	}
}

// contentOf writes the bytes of an order from an offset. Any eight of them tell the order and the place.
func contentOf(dst []byte, id uint32, offset uint64) {
	for i := range dst {
		at := offset + uint64(i)
		word := (uint64(id)<<40 ^ at/8) * 0x9e3779b97f4a7c15
		word ^= word >> 29
		dst[i] = byte(word >> (at % 8 * 8))
	}
}

// rawCodec carries bytes as they are. Both ends use it.
type rawCodec struct{}

func (rawCodec) Name() string { return "raw" }

func (rawCodec) Marshal(message any) (mem.BufferSlice, error) {
	switch message := message.(type) {
	case *Message:
		data, ok := message.Take()
		if !ok {
			return nil, errors.New("message was taken before")
		}
		return data, nil
	case []byte:
		return mem.BufferSlice{mem.SliceBuffer(message)}, nil
	default:
		return nil, fmt.Errorf("cannot marshal %T", message)
	}
}

// discard is a message that is read and not looked at.
type discard struct{}

func (rawCodec) Unmarshal(data mem.BufferSlice, message any) error {
	if _, ok := message.(*discard); ok {
		return nil
	}
	out, ok := message.(*[]byte)
	if !ok {
		return fmt.Errorf("cannot unmarshal %T", message)
	}
	*out = data.Materialize()
	return nil
}
