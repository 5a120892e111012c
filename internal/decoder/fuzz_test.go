package decoder_test

import (
	"bytes"
	"errors"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// roots are the types that a root can have.
var roots = []thriftpackv1.Type{
	thriftpackv1.Type_TYPE_STRUCT, thriftpackv1.Type_TYPE_LIST, thriftpackv1.Type_TYPE_MAP, thriftpackv1.Type_TYPE_SET, thriftpackv1.Type_TYPE_BOOL, thriftpackv1.Type_TYPE_I8, thriftpackv1.Type_TYPE_I16, thriftpackv1.Type_TYPE_I32,
	thriftpackv1.Type_TYPE_I64, thriftpackv1.Type_TYPE_DOUBLE, thriftpackv1.Type_TYPE_BINARY, thriftpackv1.Type_TYPE_STRING, thriftpackv1.Type_TYPE_UUID,
}

// FuzzDecode reads anything, in all ways. What is accepted must be canonical protobuf, the same through any sink, and encode
// to bytes that decode to it again; what is refused must say why and where.
func FuzzDecode(f *testing.F) {
	for _, p := range []encoder.Protocol{encoder.Compact, encoder.Binary} {
		f.Add(thriftOf(f, fixture.OneOfEach(), p), uint8(p)<<7, uint8(0))
		f.Add(thriftOf(f, fixture.ListStruct(3), p), uint8(p)<<7, uint8(1))
		f.Add(thriftOf(f, fixture.MapStringI64(3), p), uint8(p)<<7, uint8(2))
	}
	for _, code := range []string{
		"19 39 11 01 21 02 02 01 00", "1b 02 b9 01 33 01 02 15 02 00 05 00", "05 ff ff 03 02 05 fe ff 03 02 00", "19 f5 0a 02 02 02 02 82 00 02 02 02 02 02 00",
		"29 fc ff ff ff 0f", "16 80 80 80 80 80 80 80 80 80 02 00", "1d 00112233445566778899aabbccddeeff 00", "1e 00", "f0", "19 00 00",
		"82 21 ac 02 04 70 69 6e 67 15 02 00", "00000003 15 02 00", "1c 1c 1c 1c 00 00 00 00 00",
	} {
		f.Add(unhex(f, code), uint8(0), uint8(0))
		f.Add(unhex(f, code), uint8(7), uint8(0))
	}
	f.Add(unhex(f, "80 01 00 01 00000004 70696e67 ffffffff 0d 0001 0b 06 00000000 00"), uint8(0x90), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, flags, root uint8) {
		o := &decoder.Options{
			AllowTrailing: flags&1 != 0, Lenient: flags&2 != 0, DetectText: flags&4 != 0, Framed: flags&8 != 0, Message: flags&16 != 0,
			Protocol: decoder.Protocol(flags >> 7), Root: roots[int(root)%len(roots)],
			Limits: decoder.Limits{Depth: 40, Elements: 1 << 20, StringBytes: 1 << 20, Nodes: 1 << 20},
		}
		if o.Message {
			o.Root = thriftpackv1.Type_TYPE_UNSPECIFIED
		}
		var d decoder.Decoder
		wire, info, err := decode(t, &d, data, o)
		if err != nil {
			var fe *fault.Error
			if !errors.As(err, &fe) || fe.Reason == "" || fe.Detail == "" || fe.Offset < 0 || fe.Offset > int64(len(data)) {
				t.Errorf("decode %x: %#v", data, err)
			}
			return
		}
		if info.BytesRead > int64(len(data)) || !o.AllowTrailing && info.BytesRead != int64(len(data)) {
			t.Errorf("read %d of %d bytes", info.BytesRead, len(data))
		}
		var e encoder.Encoder
		again, err := e.Append(nil, wire, &encoder.Options{
			Protocol: encoder.Protocol(o.Protocol), Limits: encoder.Limits{Depth: 40, Elements: 1 << 20, StringBytes: 1 << 20, SlowNodes: 1},
		})
		if errors.Is(err, fault.New(fault.MissingKind, "")) {
			return // an empty list of no type: lenient, or in the binary protocol
		}
		if err != nil {
			t.Fatalf("decoded %x does not encode: %v", wire, err)
		}
		o.Framed, o.Message, o.AllowTrailing = false, false, false
		back, _, err := decode(t, &d, again, o)
		if err != nil || !bytes.Equal(back, wire) {
			t.Errorf("decode %x\n  -> %x\n  -> %x\n  -> %x, %v", data, wire, again, back, err)
		}
	})
}
