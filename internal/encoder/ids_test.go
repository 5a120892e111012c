package encoder

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// TestFieldIDs has all pairs of ids around 0 and around where their varints grow, in front of enough bytes for the short paths. Each
// must be written as if alone. Of ids around 3648 and 4736 the second byte looks like the tag of a double or list.
func TestFieldIDs(t *testing.T) {
	t.Parallel()
	var ids []int16
	for _, middle := range []int16{-8193, -65, 0, 63, 127, 3648, 4736, 8191} {
		for id := middle - 17; id <= middle+17; id++ {
			ids = append(ids, id)
		}
	}
	sixtyFive := bytes.Repeat([]byte("b"), 65)
	kinds := []struct {
		member            []byte
		code, typeByte    byte
		compact, binaries []byte
	}{
		{number(kindBool, 0), 2, 2, nil, []byte{0}},
		{number(kindI8, 1), 3, 3, []byte{0xff}, []byte{0xff}},
		{number(kindI32, 4), 5, 8, []byte{4}, []byte{0, 0, 0, 2}},
		{text(kindString, "a"), 8, 11, []byte{1, 'a'}, []byte{0, 0, 0, 1, 'a'}},
		{text(kindString, "double"), 8, 11, []byte("\x06double"), []byte("\x00\x00\x00\x06double")},                             // 8 bytes with its tag, as a double
		{submessage(kindBinary, sixtyFive), 8, 11, append([]byte{65}, sixtyFive...), append([]byte{0, 0, 0, 65}, sixtyFive...)}, // as many as its tag
		{submessage(kindList, text(kindI8, "b")), 9, 15, []byte{0x13, 'b'}, []byte{3, 0, 0, 0, 1, 'b'}},
		{submessage(kindStruct), 12, 12, []byte{0}, []byte{0}},
	}
	tail := structOf(text(kindBinary, "more bytes than the short path of a field looks at"))[2:]
	compactTail := append([]byte{8, 0, 50}, "more bytes than the short path of a field looks at\x00"...)
	binaryTail := append([]byte{11, 0, 0, 0, 0, 0, 50}, "more bytes than the short path of a field looks at\x00"...)
	var e Encoder
	check := func(wire, want []byte, protocol Protocol, last, next int16) {
		t.Helper()
		if got, err := e.Append(nil, wire, &Options{Limits: testLimits, Protocol: protocol}); string(got) != string(want) || err != nil || e.SlowPath() {
			t.Errorf("ids %d, %d in protocol %d: Append(%x) = %x, %v, slow path %t, want %x", last, next, protocol, wire, got, err, e.SlowPath(), want)
		}
	}
	for i, last := range ids {
		for j, next := range ids {
			first, second := &kinds[(i+j)%len(kinds)], &kinds[j%len(kinds)]
			wire := submessage(kindStruct, submessage(1, id(int64(last)), first.member), submessage(1, id(int64(next)), second.member), tail)
			compact := join(AppendFieldHeader(nil, 0, last, first.code), first.compact)
			compact = join(AppendFieldHeader(compact, last, next, second.code), second.compact)
			if step := -int(next); step >= 1 && step <= 15 {
				compact = append(append(compact, byte(step)<<4|8), compactTail[2:]...)
			} else {
				compact = append(compact, compactTail...)
			}
			check(wire, compact, Compact, last, next)
			binaries := append(binary.BigEndian.AppendUint16([]byte{first.typeByte}, uint16(last)), first.binaries...) // two's complement
			binaries = append(binary.BigEndian.AppendUint16(append(binaries, second.typeByte), uint16(next)), second.binaries...)
			check(wire, append(binaries, binaryTail...), Binary, last, next)
		}
	}
}
