package decoder_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

func ignore([]byte) error { return nil }

// A warm Parts does not allocate, whatever comes out.
func TestPartsAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	tests := []struct {
		name string
		data []byte
		o    decoder.Options
	}{
		{"OneOfEach", thriftOf(t, fixture.OneOfEach(), encoder.Compact), decoder.Options{}},
		{"list of 1,000 structs", thriftOf(t, fixture.ListStruct(1000), encoder.Compact), decoder.Options{Root: thriftpackv1.Type_TYPE_LIST}},
		{"list of i64", thriftOf(t, fixture.ListI64(1000), encoder.Binary), decoder.Options{Root: thriftpackv1.Type_TYPE_LIST, Protocol: decoder.Binary}},
		{"map of 1,000 entries", thriftOf(t, fixture.MapStringI64(1000), encoder.Compact), decoder.Options{Root: thriftpackv1.Type_TYPE_MAP}},
		{"a binary", thriftOf(t, fixture.Binary(100_000), encoder.Compact), decoder.Options{Root: thriftpackv1.Type_TYPE_BINARY}},
		{"large values in a map", unhex(t, "1b 02 58 02 64"+repeat("61", 100)+"04 64"+repeat("61", 100)+"00"), decoder.Options{}},
		{"message", unhex(t, "82 21 01 04 70 69 6e 67 15 02 00"), decoder.Options{Message: true}},
	}
	for _, test := range tests {
		test.o.Limits = deep
		var p decoder.Parts
		run := func() {
			if err := p.Start(&test.o, false, 128); err != nil {
				t.Fatal(err)
			}
			for piece := range slices.Chunk(test.data, 200) {
				if err := p.Write(piece, ignore); err != nil {
					t.Fatalf("%s: %v", test.name, err)
				}
			}
			if err := p.Finish(ignore); err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
			p.Release()
		}
		if allocs := testing.AllocsPerRun(1000, run); allocs != 0 {
			t.Errorf("%s: %v allocations in a warm Parts", test.name, allocs)
		}
	}
}

// No size that an input merely claims costs memory, not even where the input goes on.
func TestPartsClaimsCostNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const window = 1 << 20
	for _, code := range []string{
		"29 fc ff ff ff 07", "18 ff ff ff ff 07 61", "19 f5 ff ff ff ff 07", "19 f3 ff ff ff ff 07", "1a f8 ff ff ff ff 07", "1b ff ff ff ff 07 88",
		"19 f9 ff ff ff ff 07 f9 ff ff ff ff 07", "29 fc ff ff ff 7f", "18 ff ff ff ff 0f 61",
	} {
		data := unhex(t, code)
		cost := allocated(func() {
			var p decoder.Parts
			_ = p.Start(&decoder.Options{Limits: deep}, false, window)
			_ = p.Write(data, ignore) // faults show in Finish
			if err := p.Finish(ignore); err == nil {
				t.Errorf("%s is accepted", code)
			}
		})
		if cost > slack {
			t.Errorf("%s: %d bytes allocated", code, cost)
		}
	}
}

// 64 MiB flow through a cold Parts of 32 KiB windows: it allocates a few windows in all, so it never holds more.
func TestPartsMemoryIsBounded(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const window, total = 32 << 10, 64 << 20
	lists := repeat("19", 60) // each a list of one list
	tests := []struct {
		name       string
		root       thriftpackv1.Type
		head, body string // body comes again and again
		last       string
		size       int // of what an element of the innermost takes
	}{
		{"binary", thriftpackv1.Type_TYPE_BINARY, "size", repeat("61", 1<<10), "", 1},
		{"list<i64>", thriftpackv1.Type_TYPE_LIST, "f6 size", repeat("82 01 02 80 80 04", 100), "", 2},
		{"list<struct>", thriftpackv1.Type_TYPE_LIST, "fc size", repeat(oneOfEach, 20), "", 49},
		{"list of bools, below 60 lists", thriftpackv1.Type_TYPE_LIST, lists + "f1 size", repeat("01 02", 100), "", 1},
		{"map", thriftpackv1.Type_TYPE_MAP, "size 88", repeat("03 61 62 63 00", 100), "", 5},
		{"empty maps", thriftpackv1.Type_TYPE_LIST, "fb size", repeat("00", 100), "", 1},
		{"a struct without an end", thriftpackv1.Type_TYPE_STRUCT, "", repeat("15 02 0c 02 00", 100), "00", 0},
	}
	for _, test := range tests {
		body := unhex(t, test.body)
		rounds := total / len(body)
		head := ""
		if test.size > 0 {
			head = varintHex(rounds * len(body) / test.size)
		}
		start, last := unhex(t, strings.Replace(test.head, "size", head, 1)), unhex(t, test.last)
		var p decoder.Parts
		o := &decoder.Options{Root: test.root, Limits: deep}
		var live, before runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		if err := p.Start(o, false, window); err != nil {
			t.Fatal(err)
		}
		err := p.Write(start, ignore)
		for range rounds {
			if err == nil {
				err = p.Write(body, ignore)
			}
		}
		if err == nil {
			err = p.Write(last, ignore)
		}
		if err == nil {
			err = p.Finish(ignore)
		}
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		runtime.ReadMemStats(&live)
		if cost := live.TotalAlloc - before.TotalAlloc; cost > 16*window {
			t.Errorf("%s: %d bytes allocated for %d of input", test.name, cost, p.BytesRead())
		}
		if p.BytesRead() < total/2 {
			t.Errorf("%s: only %d bytes were read", test.name, p.BytesRead())
		}
	}
}

// Release clears what was kept of a stream, and what came out.
func TestPartsRelease(t *testing.T) {
	var p decoder.Parts
	var lent [][]byte
	if err := p.Start(&decoder.Options{Limits: deep}, false, 64); err != nil {
		t.Fatal(err)
	}
	keep := func(part []byte) error { //nolint:unparam // it is an emit
		lent = append(lent, part)
		return nil
	}
	data := unhex(t, "18 e8 07"+repeat("61", 500))
	for piece := range slices.Chunk(data, 100) {
		if err := p.Write(piece, keep); err != nil {
			t.Fatal(err)
		}
	}
	p.Release()
	for i, part := range lent {
		if !allZero(part) {
			t.Errorf("part %d is still there: %x", i, part)
		}
	}
	if m, has := p.Message(); has || m != (decoder.Message{}) || p.BytesRead() != 0 {
		t.Errorf("after Release: %v, %d bytes read", m, p.BytesRead())
	}
}
