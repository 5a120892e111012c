package decoder_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/fault"
)

// usual are the limits that the service has by default, at its full depth.
var usual = decoder.Limits{Depth: 64, Elements: 16 << 20, StringBytes: 16 << 20, Nodes: 4 << 20}

// unhex returns the bytes of hex text with spaces and, in each line after "//", words.
func unhex(tb testing.TB, text string) []byte {
	tb.Helper()
	var digits strings.Builder
	for line := range strings.Lines(text) {
		code, _, _ := strings.Cut(line, "//")
		digits.WriteString(strings.Join(strings.Fields(code), ""))
	}
	b, err := hex.DecodeString(digits.String())
	if err != nil {
		tb.Fatalf("hex of the test: %v", err)
	}
	return b
}

// repeat returns hex text n times over.
func repeat(text string, n int) string { return strings.Repeat(text+" ", n) }

// chunks is a sink whose buffers have the given sizes, again and again. It checks that they come back full.
type chunks struct {
	tb    testing.TB
	sizes []int
	lent  []byte
	taken []byte
	calls int
	most  int // refuse the call after so many, where not 0
}

var errGone = errors.New("the peer is gone")

func (c *chunks) Next(filled int) ([]byte, error) {
	if filled != len(c.lent) {
		c.tb.Errorf("Next(%d): a buffer of %d was not filled", filled, len(c.lent))
	}
	if c.calls++; c.most > 0 && c.calls > c.most {
		return nil, errGone
	}
	c.taken = append(c.taken, c.lent...)
	c.lent = make([]byte, c.sizes[c.calls%len(c.sizes)])
	return c.lent, nil
}

// decode reads data and returns the Value's bytes, which it checks to be the same through sinks, and canonical; and whatever comes of
// it, to be the same in two passes.
func decode(tb testing.TB, d *decoder.Decoder, data []byte, o *decoder.Options) ([]byte, decoder.Info, error) {
	tb.Helper()
	wire, info, err := decodeOneWay(tb, d, data, o)
	d.TwoPasses(true)
	defer d.TwoPasses(false)
	againWire, againInfo, againErr := decodeOneWay(tb, d, data, o)
	if !bytes.Equal(againWire, wire) || againInfo != info || !cmp.Equal(againErr, err) {
		tb.Errorf("decode %x: %x, %+v, %v\nin two passes: %x, %+v, %v", cut(data), cut(wire), info, err, cut(againWire), againInfo, againErr)
	}
	return wire, info, err
}

// decodeOneWay is decode, without the comparison of one pass and two.
func decodeOneWay(tb testing.TB, d *decoder.Decoder, data []byte, o *decoder.Options) ([]byte, decoder.Info, error) {
	tb.Helper()
	defer d.Release()
	info, err := d.Prepare(data, o)
	if err != nil {
		if after := d.Append([]byte{7}); len(after) != 1 {
			tb.Errorf("after %v, Append still writes %x", err, after)
		}
		return nil, info, err
	}
	wire := d.Append(nil)
	if info.Size != int64(len(wire)) {
		tb.Errorf("Info.Size is %d, Append wrote %d bytes", info.Size, len(wire))
	}
	for _, sizes := range [][]int{{512}, {512, 513, 700, 1021}, {32 << 10}, {1 << 20}} {
		sink := &chunks{tb: tb, sizes: sizes}
		last, filled, err := d.WriteTo(sink, nil, 0)
		if joined := slices.Concat(sink.taken, last[:filled]); err != nil || !bytes.Equal(joined, wire) {
			tb.Errorf("WriteTo chunks of %v: %v, %x; Append wrote %x", sizes, err, cut(joined), cut(wire))
		}
		if !allZero(last[filled:]) {
			tb.Errorf("WriteTo chunks of %v left something behind what it filled", sizes)
		}
	}
	value := new(thriftpackv1.Value)
	if err := proto.Unmarshal(wire, value); err != nil {
		tb.Fatalf("not a Value: %v: %x", err, cut(wire))
	}
	if again := marshal(tb, value); !bytes.Equal(again, wire) {
		tb.Errorf("not canonical: %x\nprotobuf writes %x", cut(wire), cut(again))
	}
	return wire, info, nil
}

// allZero looks at the bytes that an overrun could reach.
func allZero(b []byte) bool {
	return len(bytes.Trim(b[:min(len(b), 64)], "\x00")) == 0
}

func cut(b []byte) []byte { return b[:min(len(b), 300)] }

func marshal(tb testing.TB, v *thriftpackv1.Value) []byte {
	tb.Helper()
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(v)
	if err != nil {
		tb.Fatalf("marshal: %v", err)
	}
	return b
}

// expect decodes data and compares it with want as protobuf itself writes it.
func expect(t *testing.T, data []byte, o *decoder.Options, want *thriftpackv1.Value) decoder.Info {
	t.Helper()
	wire, info, err := decode(t, new(decoder.Decoder), data, o)
	if err != nil {
		t.Errorf("decode %x: %v", cut(data), err)
		return info
	}
	if !bytes.Equal(wire, marshal(t, want)) {
		got := new(thriftpackv1.Value)
		if err := proto.Unmarshal(wire, got); err != nil {
			t.Fatal(err)
		}
		t.Errorf("decode %x: (-want +got)\n%s", cut(data), cmp.Diff(want, got, protocmp.Transform()))
	}
	return info
}

// refuse decodes data and compares the fault.
func refuse(t *testing.T, data []byte, o *decoder.Options, reason fault.Reason, offset int64, path string) *fault.Error {
	t.Helper()
	_, _, err := decode(t, new(decoder.Decoder), data, o)
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Errorf("decode %x: %v, want %s", cut(data), err, reason)
		return new(fault.Error)
	}
	if f.Reason != reason || f.Offset != offset || f.Path != path {
		t.Errorf("decode %x: %s at %d, path %q, want %s at %d, path %q: %v", cut(data), f.Reason, f.Offset, f.Path, reason, offset, path, err)
	}
	return f
}
