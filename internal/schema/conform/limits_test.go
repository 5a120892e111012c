package conform_test

import (
	"bytes"
	"errors"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/schema/conform"
)

// manyWrong returns compact bytes of Pairs with n elements, of which each has something to drop and something to put in order.
func manyWrong(n int) []byte {
	data := []byte{0xfc}
	data = encoder.AppendVarint(data, uint64(n))
	return append(data, bytes.Repeat([]byte{0x28, 1, 'b', 5, 2, 2, 0x95, 4, 0}, n)...)
}

// manyKeys returns compact bytes of All with a set of n numbers that are not in order.
func manyKeys(n int) []byte {
	data := encoder.AppendVarint([]byte{0xda, 0xf5}, uint64(n))
	for i := range n {
		data = encoder.AppendVarint(data, encoder.Zigzag64(int64(i^1)))
	}
	return append(data, 0)
}

// TestOffsets has faults in both protocols, in frames and in envelopes.
func TestOffsets(t *testing.T) {
	s, r := newTypes(t), reader{}
	for _, row := range []struct {
		name, data string
		from       decoder.Options
		want       string
	}{
		{
			"binary", "08 0001 00000001 08 0002 00000001 00",
			decoder.Options{Protocol: decoder.Binary},
			"TYPE_MISMATCH Pair.b: offset 7: kind is I32, but string is declared",
		},
		{"binary text", "0b 0002 00000001 ff 00", decoder.Options{Protocol: decoder.Binary}, "BAD_UTF8 Pair.b: offset 7: string is not valid UTF-8"},
		{"in a frame", "00000006 15 02 18 01 ff 00", decoder.Options{Framed: true}, "BAD_UTF8 Pair.b: offset 8: string is not valid UTF-8"},
		{"in a message", "82 21 01 04 70696e67 15 02 15 04 00", decoder.Options{Message: true}, "TYPE_MISMATCH Pair.b: offset 10: kind is I32, but string is declared"},
		{
			"in a message in a frame", "0000001c 80010001 00000004 70696e67 00000001 08 0001 00000001 02 0002 01 00",
			decoder.Options{Protocol: decoder.Binary, Framed: true, Message: true},
			"TYPE_MISMATCH Pair.b: offset 27: kind is BOOL, but string is declared",
		},
		{
			"after every kind", "31 13 7f 14 80 01 15 02 16 80 01 17 00 00 00 00 00 00 00 00 18 01 61 19 15 02 1a 18 01 61 1b 01 58 02 00 1b 00 1c 11 00 " +
				"1d 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 05 02 01 05 02 03 00",
			decoder.Options{},
			"DUPLICATE_FIELD Pair.a: offset 60: field 1 is set twice",
		},
		{"a long id", "08 04 01 ff 00", decoder.Options{}, "BAD_UTF8 Pair.b: offset 3: string is not valid UTF-8"},
		{"a bool", "11 00", decoder.Options{}, "TYPE_MISMATCH Pair.a: offset 0: kind is BOOL, but i32 is declared"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := r.value(unhex(t, row.data), s.of(t, "Pair"), row.from, conform.DecodeOptions{})
			wantFault(t, err, row.want)
		})
	}
	// Without a source, there is no offset.
	value := wire(t, thriftpackv1.StructValue(thriftpackv1.BoolField(1, true)))
	_, err := r.checker.Decoded(value, s.of(t, "Pair"), &conform.DecodeOptions{})
	wantFault(t, err, "TYPE_MISMATCH Pair.a: kind is BOOL, but i32 is declared")
}

func TestStopEnds(t *testing.T) {
	s, r := newTypes(t), reader{}
	stopped := errors.New("stopped")
	for _, row := range []struct {
		name, typ string
		data      []byte
		least     int // how often it is asked
	}{
		{"structs", "Pairs", manyWrong(20_000), 8},
		{"a set", "All", manyKeys(50_000), 20},
	} {
		asked := 0
		for asks := 1; ; asks++ {
			left := asks
			_, err := r.value(row.data, s.of(t, row.typ), decoder.Options{}, conform.DecodeOptions{JSON: true, Stop: func() error {
				if left--; left == 0 {
					return stopped
				}
				return nil
			}})
			if err == nil {
				break
			}
			if !errors.Is(err, stopped) {
				t.Fatal(err)
			}
			asked = asks
		}
		if asked < row.least {
			t.Errorf("%s: asked %d times, want %d at least", row.name, asked, row.least)
		}
	}
}

// TestReserve sees that all memory in proportion to a value is asked for before, and that it is in proportion.
func TestReserve(t *testing.T) {
	s := newTypes(t)
	refused := errors.New("refused")
	for _, row := range []struct {
		name, typ string
		data      []byte
	}{{"structs", "Pairs", manyWrong(50_000)}, {"a set", "All", manyKeys(100_000)}} {
		var d decoder.Decoder
		typ := s.of(t, row.typ)
		if _, err := d.Prepare(row.data, &decoder.Options{
			Root: thriftpackv1.Type(conform.RootKind(typ)), Limits: decoder.Limits{Depth: 64, Elements: most, StringBytes: most, Nodes: most},
		}); err != nil {
			t.Fatal(err)
		}
		value := d.Append(nil)
		var c conform.Checker
		var asked int64
		o := conform.DecodeOptions{JSON: true, Reserve: func(bytes int64) error {
			asked = max(asked, bytes)
			return nil
		}}
		if _, err := c.Decoded(bytes.Clone(value), typ, &o); err != nil {
			t.Fatal(err)
		}
		if held := c.Held(); held > asked+16<<10 || held < asked/4 || held > 8*int64(len(value)) {
			t.Errorf("%s: %d bytes asked for, %d held, for a value of %d", row.name, asked, held, len(value))
		}
		o.Reserve = func(bytes int64) error {
			if bytes > asked/2 {
				return refused
			}
			return nil
		}
		c.Release()
		if held := c.Held(); held > 600<<10 {
			t.Errorf("%s: %d bytes are held after Release", row.name, held)
		}
		if _, err := c.Decoded(bytes.Clone(value), typ, &o); !errors.Is(err, refused) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

// TestAllocations counts what a warm checker allocates: nothing, also where it rewrites.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	s := newTypes(t)
	for _, row := range []struct {
		name, typ string
		data      []byte
	}{
		{"nothing to change", "All", unhex(t, "68 01 61 39 18 01 63 3a 15 02 3b 01 85 01 61 02 00")},
		{"something to change", "Pairs", manyWrong(100)},
		{"a set", "All", manyKeys(1000)},
	} {
		var d decoder.Decoder
		typ := s.of(t, row.typ)
		if _, err := d.Prepare(row.data, &decoder.Options{
			Root: thriftpackv1.Type(conform.RootKind(typ)), Limits: decoder.Limits{Depth: 64, Elements: most, StringBytes: most, Nodes: most},
		}); err != nil {
			t.Fatal(err)
		}
		value := d.Append(nil)
		scratch := make([]byte, len(value))
		var c conform.Checker
		if n := testing.AllocsPerRun(100, func() {
			copy(scratch, value)
			if _, err := c.Decoded(scratch, typ, &conform.DecodeOptions{JSON: true, Lenient: true}); err != nil {
				t.Fatal(err)
			}
			c.Release()
		}); n != 0 {
			t.Errorf("%s: %v allocations", row.name, n)
		}
	}
}

// FuzzChecker gives the checker any bytes as a value: it may refuse them, but it does not panic, and what it returns for one that is to be
// encoded, it takes again.
func FuzzChecker(f *testing.F) {
	s := newTypes(f)
	names := []string{"All", "Node", "Pairs", "Either", "ByText", "Must"}
	for i, compact := range []string{
		"68 01 61 39 18 01 63 3a 15 02 3b 01 85 01 61 02 00", "18 01 61 19 1c 18 01 62 00 00", "2c 15 02 25 04 00 05 06 02 00",
	} {
		var d decoder.Decoder
		typ := s.of(f, names[i])
		if _, err := d.Prepare(unhex(f, compact), &decoder.Options{
			Root: typ.Kind, Limits: decoder.Limits{Depth: 64, Elements: most, StringBytes: most, Nodes: most},
		}); err == nil {
			f.Add(byte(i), d.Append(nil))
		}
	}
	f.Add(byte(0), unhex(f, "62 0d 0a 0b 08 18 4a 07 2a 01 02 2a 02 04 06"))
	var c conform.Checker
	f.Fuzz(func(t *testing.T, name byte, value []byte) {
		typ := s.of(t, names[int(name)%len(names)])
		for mode := range 8 {
			_, err := c.Decoded(bytes.Clone(value), typ, &conform.DecodeOptions{
				Lenient: mode&1 != 0, KeepUnknown: mode&2 != 0, JSON: mode&4 != 0, MaxUnknown: 3,
			})
			_ = err // what is not a decoded value may be refused, or not
		}
		got, err := c.Encode(value, typ, &conform.EncodeOptions{Limits: limits})
		if err != nil {
			return
		}
		got = bytes.Clone(got)
		var e encoder.Encoder
		if _, err := e.Append(nil, got, &encoder.Options{Limits: limits}); err != nil {
			return // ranges and UTF-8 are the encoder's
		}
		again, err := c.Encode(got, typ, &conform.EncodeOptions{Limits: limits})
		if err != nil || !bytes.Equal(again, got) {
			t.Errorf("%x became %x, and then %v, %x", value, got, err, again)
		}
	})
}
