package decoder_test

import (
	"bytes"
	"runtime"
	"strings"
	"sync"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// A warm decoder does not allocate.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	tests := []struct {
		name string
		data []byte
		o    decoder.Options
	}{
		{"OneOfEach", thriftOf(t, fixture.OneOfEach(), encoder.Compact), decoder.Options{}},
		{"OneOfEach, binary", thriftOf(t, fixture.OneOfEach(), encoder.Binary), decoder.Options{Protocol: decoder.Binary}},
		{"list of 1,000 structs", thriftOf(t, fixture.ListStruct(1000), encoder.Compact), decoder.Options{Root: thriftpackv1.Type_TYPE_LIST}},
		{"map of 1,000 entries", thriftOf(t, fixture.MapStringI64(1000), encoder.Compact), decoder.Options{Root: thriftpackv1.Type_TYPE_MAP}},
		{"message", unhex(t, "82 21 01 04 70 69 6e 67 15 02 00"), decoder.Options{Message: true}},
	}
	for _, test := range tests {
		test.o.Limits = usual
		var d decoder.Decoder
		out := make([]byte, 0, 1<<20)
		sink := &reused{buf: make([]byte, 1000)}
		run := func() {
			if _, err := d.Prepare(test.data, &test.o); err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
			d.Append(out)
			if _, _, err := d.WriteTo(sink, nil, 0); err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
			d.Release()
		}
		if allocs := testing.AllocsPerRun(1000, run); allocs != 0 {
			t.Errorf("%s: %v allocations in a warm decoder", test.name, allocs)
		}
	}
}

// reused lends the same buffer again and again.
type reused struct{ buf []byte }

func (r *reused) Next(int) ([]byte, error) { return r.buf, nil }

// allocated returns how many bytes f allocates.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc) // small
}

// slack is what a cold decoder may allocate beyond three times its input.
const slack = 64 << 10

// No number that an input merely claims costs memory.
func TestClaimsCostNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, code := range []string{
		"29 fc ff ff ff 0f", "29 fc ff ff ff 07", "29 fc ff ff ff 1f", "18 ff ff ff 7f 61", "18 ff ff ff ff 07 61", "19 f5 ff ff ff 3f", "19 f3 ff ff ff 7f",
		"1a f8 ff ff ff 7f", "1b ff ff ff 7f 88", "1b ff ff ff ff 07 cc", "19 f9 ff ff ff ff 07 f9 ff ff ff ff 07",
	} {
		data := unhex(t, code)
		cost := allocated(func() {
			if _, err := new(decoder.Decoder).Prepare(data, &decoder.Options{Limits: usual}); err == nil {
				t.Errorf("%s is accepted", code)
			}
		})
		if cost > slack {
			t.Errorf("%s: %d bytes allocated", code, cost)
		}
	}
	message := unhex(t, "82 21 01 ff ff ff ff 07 61")
	if cost := allocated(func() {
		_, _ = new(decoder.Decoder).Prepare(message, &decoder.Options{Message: true, Limits: usual}) // only its cost counts
	}); cost > slack {
		t.Errorf("a long name: %d bytes allocated", cost)
	}
}

// The inputs that have most containers for their bytes, and a cold decoder: what Prepare allocates, and what WriteTo adds.
func TestScratchIsBounded(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const size = 1 << 19
	tree := func(leaf, node string, levels int) string { // node with two below, again and again
		for range levels {
			leaf = node + leaf + leaf
		}
		return leaf
	}
	fill := func(unit string) string { // a list of lists of structs' worth of units, as many as fit
		n := size / len(strings.ReplaceAll(unit, " ", "")) * 2
		return "f9" + varintHex(n) + strings.Repeat(unit, n)
	}
	tests := []struct{ name, hex string }{
		{"empty structs", "fc" + varintHex(size) + strings.Repeat("00", size)},
		{"structs of one bool", "fc" + varintHex(size/2) + strings.Repeat("1100", size/2)},
		{"structs in structs", "fc" + varintHex(size/120) + strings.Repeat(strings.Repeat("1c", 60)+strings.Repeat("00", 61), size/120)},
		{"empty lists", fill("05")},
		{"lists of one bool", fill("1101")},
		{"lists of one list", fill(strings.Repeat("19", 60) + "05")},
		{"lists of one list of one", fill(strings.Repeat("19", 60) + "1101")},
		{"two lists in two lists", fill(tree("1101", "29", 12))},
		{"two lists with one empty map each", fill(tree("1b00", "29", 12))},
		{"maps of two maps", "fb" + varintHex(size/6000) + strings.Repeat(tree("00", "01bb", 10), size/6000*2)},
		{"maps in maps", "fb" + varintHex(size/180) + strings.Repeat(strings.Repeat("013b01", 59)+"00", size/180)},
		{"maps of lists", "fb" + varintHex(size/6) + strings.Repeat("019911011101", size/6)},
		{"maps of two lists", "fb" + varintHex(size/10) + strings.Repeat("02991101110111011101", size/10)},
		{"map of lists", varintHex(size/3) + "39" + strings.Repeat("011101", size/3)},
		{"one string", varintHex(size) + strings.Repeat("61", size)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			data := unhex(t, test.hex)
			o := &decoder.Options{Root: thriftpackv1.Type_TYPE_LIST, AllowTrailing: true, Limits: usual}
			switch test.name {
			case "map of lists":
				o.Root = thriftpackv1.Type_TYPE_MAP
			case "one string":
				o.Root = thriftpackv1.Type_TYPE_BINARY
			}
			o.Limits.Nodes = 1 << 30
			var d decoder.Decoder
			var info decoder.Info
			var err error
			cost := allocated(func() { info, err = d.Prepare(data, o) })
			if err != nil {
				t.Fatalf("refused: %v", err)
			}
			if info.BytesRead < int64(len(data))/2 {
				t.Fatalf("the test is wrong: %d of %d bytes read", info.BytesRead, len(data))
			}
			if most := 3*info.BytesRead + slack; cost > most {
				t.Errorf("Prepare allocated %d bytes for %d, want at most %d", cost, info.BytesRead, most)
			}
			sink := &reused{buf: make([]byte, 1000)}
			cost += allocated(func() { _, _, err = d.WriteTo(sink, nil, 0) })
			if most := 3*info.BytesRead + slack; err != nil || cost > most {
				t.Errorf("with WriteTo %d bytes for %d, %v, want at most %d", cost, info.BytesRead, err, most)
			}
			out := make([]byte, 0, info.Size)
			for range 100 { // the runtime itself allocates a few bytes now and then, on a busy machine often
				if cost = allocated(func() { out = d.Append(out[:0]) }); cost == 0 {
					break
				}
			}
			if cost > 0 || int64(len(out)) != info.Size {
				t.Errorf("Append allocated %d bytes and wrote %d, want %d", cost, len(out), info.Size)
			}
		})
	}
}

// varintHex returns n as a varint in hex.
func varintHex(n int) string {
	var b strings.Builder
	for ; n >= 0x80; n >>= 7 {
		b.WriteString(hexByte(byte(n) | 0x80))
	}
	b.WriteString(hexByte(byte(n)))
	return b.String()
}

func hexByte(b byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[b>>4], digits[b&15]})
}

// After any failed decode the next one is right, whoever else decodes at the time.
func TestDecoderAfterFaults(t *testing.T) {
	right := unhex(t, oneOfEach)
	o := &decoder.Options{Limits: usual}
	want, _, err := decode(t, new(decoder.Decoder), right, o)
	if err != nil {
		t.Fatal(err)
	}
	wrong := [][]byte{
		nil, unhex(t, "1e"), unhex(t, "19 2c 11 00 1e"), unhex(t, "1b 02 33 01 02 03"), unhex(t, repeat("1c", 100)), unhex(t, "59 1c 29 1c 1e"),
		unhex(t, "82 21 01 01 61 00"), unhex(t, "08 0001 00000001 0b 0002 00000003 616263 00"), right[:30],
	}
	pool := sync.Pool{New: func() any { return new(decoder.Decoder) }}
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for round := range 200 {
				d := pool.Get().(*decoder.Decoder) // the pool holds nothing else
				options := decoder.Options{Message: round%3 == 0, Protocol: decoder.Protocol(round % 2), Framed: round%5 == 0, Lenient: round%7 == 0, Limits: usual}
				_, _ = d.Prepare(wrong[(round+worker)%len(wrong)], &options) // right for some options, wrong for most
				if round%2 == 0 {
					d.Release()
				}
				if _, err := d.Prepare(right, o); err != nil {
					t.Errorf("after a fault: %v", err)
				}
				if got := d.Append(nil); !bytes.Equal(got, want) {
					t.Errorf("after a fault: %x, want %x", got, want)
				}
				d.Release()
				pool.Put(d)
			}
		})
	}
	group.Wait()
}

// Release drops the input: nothing can be written any more.
func TestRelease(t *testing.T) {
	var d decoder.Decoder
	if _, err := d.Prepare(unhex(t, oneOfEach), &decoder.Options{Limits: usual}); err != nil {
		t.Fatal(err)
	}
	d.Release()
	if got := d.Append(nil); len(got) != 0 {
		t.Errorf("Append after Release wrote %x", got)
	}
	if buf, filled, err := d.WriteTo(&chunks{tb: t}, nil, 0); buf != nil || filled != 0 || err != nil {
		t.Errorf("WriteTo after Release: %x, %d, %v", buf, filled, err)
	}
}
