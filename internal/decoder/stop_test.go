package decoder_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
)

var errStop = errors.New("enough")

// stopAfter returns a Stop that fails after n calls, and counts all calls in asked.
func stopAfter(n int, asked *int) func() error {
	return func() error {
		if *asked++; *asked == n+1 { // once: nothing may come after it
			return errStop
		}
		return nil
	}
}

// TestStop shows that Stop is asked in every loop that a large input keeps busy, also while the decoder guesses at what else a bad
// one may be, that its error comes back as it is, and that the decoder is as good as new afterwards.
func TestStop(t *testing.T) {
	const many = 20_000
	size := []byte{0xa0, 0x9c, 0x01}        // many, a varint
	fixed := []byte{0x00, 0x00, 0x4e, 0x20} // many, four bytes
	repeat := func(s string) []byte { return bytes.Repeat(unhex(t, s), many) }
	compact := func(elem byte, element string) []byte {
		return slices.Concat([]byte{0xf0 | elem}, size, repeat(element))
	}
	binary := func(elem byte, element string) []byte { return slices.Concat([]byte{elem}, fixed, repeat(element)) }
	stop := []byte{0}
	const list, structure, dict = thriftpackv1.Type_TYPE_LIST, thriftpackv1.Type_TYPE_STRUCT, thriftpackv1.Type_TYPE_MAP
	for _, test := range []struct {
		name     string
		protocol decoder.Protocol
		root     thriftpackv1.Type
		data     []byte
		bad      bool
	}{
		{"fields", decoder.Compact, structure, slices.Concat(repeat("05 02 02"), stop), false},
		{"fields", decoder.Binary, structure, slices.Concat(repeat("08 0001 00000001"), stop), false},
		{"empty structs", decoder.Compact, list, compact(12, "00"), false},
		{"empty structs", decoder.Binary, list, binary(12, "00"), false},
		{"structs", decoder.Compact, list, compact(12, "15 02 00"), false},
		{"structs", decoder.Binary, list, binary(12, "08 0001 00000001 00"), false},
		{"empty lists", decoder.Compact, list, compact(9, "05"), false},
		{"lists", decoder.Compact, list, compact(9, "15 02"), false},
		{"maps", decoder.Compact, list, compact(11, "01 55 02 02"), false},
		{"strings", decoder.Compact, list, compact(8, "01 61"), false},
		{"padded integers", decoder.Compact, list, compact(5, "80 00"), false},
		{"entries", decoder.Compact, dict, slices.Concat(size, []byte{0x5c}, repeat("02 00")), false},
		{"entries", decoder.Binary, dict, slices.Concat([]byte{8, 12}, fixed, repeat("00000001 00")), false},
		{"fields and a bad one", decoder.Compact, structure, slices.Concat(repeat("05 02 02"), []byte{0x1e}), true},
		{"bytes of the other protocol", decoder.Compact, structure, slices.Concat(repeat("0f 0001 08 00000001 00000007"), stop), true},
	} {
		var d decoder.Decoder
		asked := 0
		o := &decoder.Options{Protocol: test.protocol, Root: test.root, Limits: roomy, Stop: stopAfter(1<<30, &asked)}
		run := func() error { _, err := d.Prepare(test.data, o); return err }
		if err := run(); (err != nil) != test.bad {
			t.Errorf("%s, protocol %d: %v", test.name, test.protocol, err)
		}
		if asked < 2 {
			t.Errorf("%s, protocol %d: asked %d times", test.name, test.protocol, asked)
		}
		for n := range asked {
			again := 0
			o.Stop = stopAfter(n, &again)
			if err := run(); err != errStop || again != n+1 { //nolint:errorlint // as it is
				t.Fatalf("%s, protocol %d: stopped after %d calls: %v after %d", test.name, test.protocol, n, err, again)
			}
			if got := d.Append(nil); got != nil {
				t.Errorf("%s, protocol %d: %d bytes are written after it was stopped", test.name, test.protocol, len(got))
			}
		}
		o.Stop = nil
		if err := run(); (err != nil) != test.bad {
			t.Errorf("%s, protocol %d, after it was stopped: %v", test.name, test.protocol, err)
		}
	}
}

// TestPartsStop shows that Parts ask Stop between steps, wherever the input keeps them busy, and end with its error.
func TestPartsStop(t *testing.T) {
	const list, structure, dict = thriftpackv1.Type_TYPE_LIST, thriftpackv1.Type_TYPE_STRUCT, thriftpackv1.Type_TYPE_MAP
	size := 1 << 20
	if raceEnabled {
		size >>= 2 // ten times as slow
	}
	for _, test := range []struct {
		name   string
		root   thriftpackv1.Type
		before string
		unit   string
	}{
		{"fields", structure, "", "150202"},
		{"structs", list, "fcffffff07", "150200"},
		{"numbers", list, "f6ffffff07", "80808001"},
		{"lists", list, "f9ffffff07", "1502"},
		{"opened lists", list, "f9ffffff07", "f5d804" + strings.Repeat("02", 600)},
		{"entries", dict, "ffffff0755", "0202"},
		{"records", structure, "", "150200"},
	} {
		var p decoder.Parts
		asked := 0
		o := &decoder.Options{Root: test.root, Limits: deep, Stop: stopAfter(1<<30, &asked)}
		data := append(unhex(t, test.before), bytes.Repeat(unhex(t, test.unit), size/(len(test.unit)/2))...)
		_ = push(t, &p, data, o, test.name == "records", 500, whole) // TRUNCATED, at the end
		if least := len(data)>>16 - 1; asked < least {
			t.Errorf("%s: asked %d times in %d bytes, want %d", test.name, asked, len(data), least)
		}
		for n := range asked {
			again := 0
			o.Stop = stopAfter(n, &again)
			if got := push(t, &p, data, o, test.name == "records", 500, every(100_000)); got.err != errStop || again != n+1 { //nolint:errorlint // as it is
				t.Fatalf("%s: stopped after %d calls: %v after %d", test.name, n, got.err, again)
			}
		}
	}
}
