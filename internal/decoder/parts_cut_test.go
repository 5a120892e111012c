package decoder_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

var protocols = []decoder.Protocol{decoder.Compact, decoder.Binary}

// windows are small ones, so that small values are opened, and one that most fit.
var windows = []int{64, 65, 100, 333, 1000, 4096}

// For random values: the same parts come out wherever the input is cut, and they encode to the very bytes that came in.
func TestPartsOfRandomValues(t *testing.T) {
	seeds := uint64(300)
	if raceEnabled {
		seeds = 30
	}
	var p decoder.Parts
	opened, refused := 0, 0
	for seed := range seeds {
		m := &maker{rand.New(rand.NewPCG(seed, 4)), 1500}
		value := m.value(8)
		if seed%4 > 0 { // larger
			var fields []*thriftpackv1.Field
			for range 1 + m.IntN(60) {
				fields = append(fields, m.field(8))
			}
			value = thriftpackv1.StructValue(fields...)
		}
		for _, protocol := range protocols {
			data := thriftOf(t, value, encoder.Protocol(protocol))
			o := &decoder.Options{Protocol: protocol, Root: rootOf(value), Limits: deep}
			for _, window := range windows {
				want := push(t, &p, data, o, false, window, whole)
				again, err := back(t, want, protocol, nil)
				if keyTooLarge(want.err, window) {
					refused++
				} else if want.err != nil || err != nil || !bytes.Equal(again, data) || want.read != int64(len(data)) {
					t.Fatalf("seed %d, protocol %d, window %d: %v, %v\n  bytes %x\n  parts\n%s\n  back %x", seed, protocol, window, want.err, err, cut(data), want.text(), cut(again))
				}
				opened += bytes.Count(bytes.Join(want.parts, nil), []byte{0x32, 0})
				cuts := []func(int) int{every(1), every(7), randomly(m.Rand), randomly(m.Rand), randomly(m.Rand)}
				if len(data) > 1<<14 {
					cuts = cuts[2:]
				}
				for i, c := range cuts {
					if got := push(t, &p, data, o, false, window, c); !same(got, want) {
						t.Fatalf("seed %d, protocol %d, window %d, cut %d: %v, %d parts of %d bytes, want %v, %d of %d", seed, protocol, window, i, got.err, len(got.parts), got.read, want.err, len(want.parts), want.read)
					}
				}
			}
		}
	}
	if opened < 15*int(seeds) || refused > opened/10 {
		t.Errorf("%d containers and strings were opened, %d values refused for large keys", opened, refused)
	}
}

// Small values, cut in two at every byte.
func TestPartsAtEverySplit(t *testing.T) {
	var p decoder.Parts
	for seed := range uint64(40) {
		m := &maker{rand.New(rand.NewPCG(seed, 5)), 60}
		value := m.value(5)
		for _, protocol := range protocols {
			data := thriftOf(t, value, encoder.Protocol(protocol))
			if len(data) > 1500 {
				continue
			}
			o := &decoder.Options{Protocol: protocol, Root: rootOf(value), Limits: deep}
			for _, window := range []int{64, 150} {
				want := push(t, &p, data, o, false, window, whole)
				for n := range data {
					if got := push(t, &p, data, o, false, window, at(n)); !same(got, want) {
						t.Fatalf("seed %d, protocol %d, window %d, cut after %d of %x: %v\n%s\nwant %v\n%s", seed, protocol, window, n, data, got.err, got.text(), want.err, want.text())
					}
				}
			}
		}
	}
}

// Every proper prefix is TRUNCATED, at the byte and path that Decoder says, wherever it is cut.
func TestPartsTruncated(t *testing.T) {
	var p decoder.Parts
	var d decoder.Decoder
	check := func(name string, data []byte, o *decoder.Options) {
		for _, window := range []int{64, 100, 4096} {
			for n := range data {
				_, err := d.Prepare(data[:n], o)
				got := push(t, &p, data[:n], o, false, window, every(1+n%70))
				if keyTooLarge(got.err, window) {
					continue
				}
				if !sameVerdict(got.err, err) {
					t.Fatalf("%s, window %d, %d of %d bytes:\n got %v\nwant %v", name, window, n, len(data), got.err, err)
				}
				var f *fault.Error
				if !errors.As(got.err, &f) || f.Reason != fault.Truncated && f.Reason != fault.BadVersion {
					t.Fatalf("%s, window %d, %d of %d bytes: %v, want TRUNCATED", name, window, n, len(data), got.err)
				}
			}
		}
	}
	seeds := uint64(40)
	if raceEnabled {
		seeds = 8
	}
	for seed := range seeds {
		m := &maker{rand.New(rand.NewPCG(seed, 6)), 60}
		value := m.value(6)
		for _, protocol := range protocols {
			data := thriftOf(t, value, encoder.Protocol(protocol))
			if len(data) < 1500 {
				check("random value", data, &decoder.Options{Protocol: protocol, Root: rootOf(value), Limits: usual})
			}
		}
	}
	check("OneOfEach", thriftOf(t, fixture.OneOfEach(), encoder.Compact), &decoder.Options{Limits: usual})
	check("message", unhex(t, "82 21 01 04 70 69 6e 67 15 02 00"), &decoder.Options{Message: true, Limits: usual})
	check("strict message", unhex(t, "80 01 00 01 00000004 70696e67 ffffffff 02 0001 01 00"), &decoder.Options{Message: true, Protocol: decoder.Binary, Limits: usual})
	check("old message", unhex(t, "00000004 70696e67 01 ffffffff 02 0001 01 00"), &decoder.Options{Message: true, Protocol: decoder.Binary, Limits: usual})
}

// keyTooLarge says whether err is about a map key, or an envelope's name, which must fit the window.
func keyTooLarge(err error, window int) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Reason == fault.SizeLimit && f.Limit == int64(window)
}

// sameVerdict compares the fault of Parts with that of Decoder. Words may differ, and what else the bytes look like.
func sameVerdict(got, want error) bool {
	var f, g *fault.Error
	if !errors.As(got, &f) || !errors.As(want, &g) {
		return got == nil && want == nil
	}
	return f.Reason == g.Reason && f.Offset == g.Offset && f.Path == g.Path
}

// FuzzParts reads anything, in any pieces. What Decoder accepts comes out and encodes to the canonical bytes; what it refuses is
// refused for the same reason at the same byte. Only where a size claims more than there is may another fault be
// found first, behind it: how much there is shows at the end.
func FuzzParts(f *testing.F) {
	for _, p := range []encoder.Protocol{encoder.Compact, encoder.Binary} {
		f.Add(thriftOf(f, fixture.OneOfEach(), p), uint8(p)<<7, uint8(0), uint16(0), uint64(1))
		f.Add(thriftOf(f, fixture.ListStruct(9), p), uint8(p)<<7, uint8(1), uint16(0), uint64(2))
		f.Add(thriftOf(f, fixture.MapStringI64(9), p), uint8(p)<<7, uint8(2), uint16(40), uint64(3))
		f.Add(thriftOf(f, fixture.Binary(300), p), uint8(p)<<7, uint8(10), uint16(20), uint64(4))
		f.Add(thriftOf(f, fixture.ListI64(99), p), uint8(p)<<7, uint8(1), uint16(0), uint64(5))
		for seed := range uint64(8) {
			m := &maker{rand.New(rand.NewPCG(seed, 7)), 100}
			f.Add(thriftOf(f, thriftpackv1.StructValue(m.field(6), m.field(6), m.field(6)), p), uint8(p)<<7, uint8(0), uint16(seed), seed)
		}
	}
	for _, code := range []string{
		"19 39 11 01 21 02 02 01 00", "1b 02 b9 01 33 01 02 15 02 00 05 00", "05 ff ff 03 02 05 fe ff 03 02 00", "29 fc ff ff ff 0f",
		"16 80 80 80 80 80 80 80 80 80 02 00", "1e 00", "f0", "19 00 00", "1c 1c 1c 1c 00 00 00 00 00", "82 21 ac 02 04 70 69 6e 67 15 02 00",
	} {
		f.Add(unhex(f, code), uint8(0), uint8(0), uint16(0), uint64(1))
		f.Add(unhex(f, code), uint8(18), uint8(0), uint16(9), uint64(2))
	}
	f.Fuzz(func(t *testing.T, data []byte, flags, root uint8, more uint16, seed uint64) {
		o := &decoder.Options{
			AllowTrailing: flags&1 != 0, Lenient: flags&2 != 0, Message: flags&16 != 0,
			Protocol: decoder.Protocol(flags >> 7), Root: roots[int(root)%len(roots)],
			Limits: decoder.Limits{Depth: 40, Elements: 1<<31 - 1, StringBytes: 1<<31 - 1, Nodes: 1 << 40},
		}
		if o.Message {
			o.Root = thriftpackv1.Type_TYPE_UNSPECIFIED
		}
		window := decoder.PartsWindowLeast + int(more)%1000
		records := flags&32 != 0 && !o.Message
		var p, q decoder.Parts
		got := push(t, &p, data, o, records, window, whole)
		random := rand.New(rand.NewPCG(seed, 0))
		if again := push(t, &q, data, o, records, window, randomly(random)); !same(again, got) {
			t.Fatalf("cut by %d, window %d: %v\n%s\nwhole: %v\n%s", seed, window, again.err, again.text(), got.err, got.text())
		}
		if records {
			return
		}
		var d decoder.Decoder
		info, err := d.Prepare(data, o)
		if !sameVerdict(got.err, err) && !excused(got.err, err, len(data), window) {
			t.Fatalf("window %d of %d bytes:\n got %v\nwant %v", window, len(data), got.err, err)
		}
		if err != nil || got.err != nil {
			return
		}
		if got.read != info.BytesRead {
			t.Errorf("%d bytes read, want %d", got.read, info.BytesRead)
		}
		var m *decoder.Message
		if message, has := p.Message(); has {
			m = &message
		}
		again, err := back(t, got, o.Protocol, m)
		if errors.Is(err, fault.New(fault.MissingKind, "")) {
			return // an empty list of no type: lenient, or in the binary protocol
		}
		var e encoder.Encoder
		eo := &encoder.Options{Protocol: encoder.Protocol(o.Protocol), Limits: encoder.Limits{Depth: 40, Elements: 1 << 30, StringBytes: 1 << 30, SlowNodes: 1}}
		if m != nil {
			eo.Message = &encoder.Message{Name: m.Name, Type: m.Type, SeqID: m.SeqID}
		}
		want, err2 := e.Append(nil, d.Append(nil), eo)
		if err != nil || err2 != nil || !bytes.Equal(again, want) {
			t.Errorf("window %d, back to\n %x, %v\nwant\n %x, %v\n%s", window, again, err, want, err2, got.text())
		}
	})
}

// excused says whether Parts may report another fault than Decoder.
func excused(got, want error, size, window int) bool {
	var f, g *fault.Error
	if !errors.As(got, &f) {
		return false
	}
	if keyTooLarge(got, window) {
		return true
	}
	if size < window+64 || !errors.As(want, &g) {
		return false
	}
	if g.Reason == fault.BadVersion { // what the whole input would read as is not known
		return true
	}
	return g.Reason == fault.Truncated && f.Offset >= g.Offset
}

// Random values with bytes changed, taken out and put in: Parts and Decoder find the same fault, or none.
func TestPartsOfDamagedValues(t *testing.T) {
	seeds := uint64(400)
	if raceEnabled {
		seeds = 100
	}
	var p decoder.Parts
	var d decoder.Decoder
	faults, excuses := 0, 0
	for seed := range seeds {
		m := &maker{rand.New(rand.NewPCG(seed, 8)), 200}
		value := thriftpackv1.StructValue(m.field(7), m.field(7), m.field(7))
		if seed%4 == 0 {
			value = m.value(7)
		}
		protocol := protocols[seed%2]
		data := thriftOf(t, value, encoder.Protocol(protocol))
		o := &decoder.Options{Protocol: protocol, Root: rootOf(value), Lenient: seed%3 == 0, Limits: usual}
		for range 20 {
			bad := bytes.Clone(data)
			for range 1 + m.IntN(2) {
				switch i := m.IntN(len(bad) + 1); {
				case i == len(bad) || m.IntN(3) == 0:
					bad = append(bad[:i], append([]byte{byte(m.Uint32() >> m.IntN(8))}, bad[i:]...)...)
				case m.IntN(2) == 0:
					bad = append(bad[:i], bad[i+1:]...)
				default:
					bad[i] ^= 1 << m.IntN(8)
				}
			}
			window := windows[m.IntN(4)]
			got := push(t, &p, bad, o, false, window, randomly(m.Rand))
			if again := push(t, &p, bad, o, false, window, whole); !same(got, again) {
				t.Fatalf("seed %d, window %d, %x: cut\n%v\n%swhole\n%v\n%s", seed, window, bad, got.err, got.text(), again.err, again.text())
			}
			_, err := d.Prepare(bad, o)
			if err != nil {
				faults++
			}
			if sameVerdict(got.err, err) {
				continue
			}
			if excuses++; !excused(got.err, err, len(bad), window) {
				t.Fatalf("seed %d, protocol %d, window %d of %d bytes %x:\n got %v\nwant %v", seed, protocol, window, len(bad), bad, got.err, err)
			}
		}
	}
	if excuses > faults/4 {
		t.Errorf("of %d faults, %d were others than Decoder's", faults, excuses)
	}
}
