package decoder_test

import (
	"errors"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/fault"
)

// Faults, their offsets from the first byte of the stream, and their paths through what is open.
func TestPartsRefused(t *testing.T) {
	const text = thriftpackv1.Type_TYPE_STRING
	a := func(n int) string { return repeat("61", n) }
	tests := []struct {
		name, hex string
		o         decoder.Options
		reason    fault.Reason
		offset    int64
		path      string
		parts     int // that come out before
	}{
		{"nothing", "", decoder.Options{}, fault.Truncated, 0, "", 1},
		{"an unknown type after whole fields", "15 02 1e 00", decoder.Options{}, fault.BadType, 2, "", 2},
		{"behind a large field", "18 64" + a(100) + "16 02 1e 00", decoder.Options{}, fault.BadType, 104, "", 6},
		{"inside of what is open", "2c 19 f8 03 64" + a(100) + "01 61 ff ff ff ff 0f", decoder.Options{}, fault.NegativeSize, 107, "2.1[2]", 8},
		{"a bool of a list, after many", "19 f1 c8 01" + repeat("01", 150) + "07" + repeat("01", 49), decoder.Options{}, fault.BadHeader, 154, "1[150]", 5},
		{"a value of a map", "1b 02 38 01 64" + a(100) + "02 ff ff ff ff 7f", decoder.Options{}, fault.VarintOverflow, 106, "1[1].value", 6},
		{"a key of a map", "1b 02 58 02 64" + a(100) + "ff ff ff ff 7f", decoder.Options{}, fault.VarintOverflow, 105, "1[1].key", 6},
		{"an i32 of a list", "19 f5 64" + repeat("02", 90) + "ff ff ff ff 7f" + repeat("02", 9), decoder.Options{}, fault.VarintOverflow, 93, "1[90]", 4},
		{"a list that claims more", "19 f5 65" + repeat("02", 100), decoder.Options{}, fault.Truncated, 2, "1", 1},
		{"a long list that claims more", "19 f5 c9 01" + repeat("02", 200), decoder.Options{}, fault.Truncated, 2, "1", 4},
		{"a string that claims more", "19 18 64" + a(99), decoder.Options{}, fault.Truncated, 2, "1[0]", 2},
		{"a string cut off late", "18 e8 07" + a(999), decoder.Options{}, fault.Truncated, 1, "1", 17},
		{"an i32 cut off", "19 f5 64" + repeat("82 01", 99) + "82", decoder.Options{}, fault.Truncated, 202, "1[99]", 6},
		{"text cut inside a character", "42" + a(65) + "c3", decoder.Options{Root: text}, fault.BadUTF8, 1, "", 2},
		{"a broken character across pieces", "42" + a(63) + "c3 28 61", decoder.Options{Root: text}, fault.BadUTF8, 1, "", 2},
		{"bytes after the value", "15 02 00 ff", decoder.Options{}, fault.TrailingBytes, 3, "", 3},
		{"many bytes after the value", "15 02 00" + repeat("ff", 200), decoder.Options{}, fault.TrailingBytes, 3, "", 3},
		{"a key larger than the window", "1b 01 85 64" + a(100) + "02 00", decoder.Options{}, fault.SizeLimit, 3, "1[0].key", 2},
		{"a strict message, not asked for", "80 01 00 01 00000004 70696e67 ffffffff" + repeat("02 0001 01", 40), decoder.Options{}, fault.BadVersion, 0, "", 1},
		{"a small struct of the other protocol", "0b 0001 00000004 70696e67 08 0002 00000001 00", decoder.Options{}, fault.BadVersion, 0, "", 1},
		{"a name larger than the window", "82 21 01 64" + a(100) + "00", decoder.Options{Message: true}, fault.SizeLimit, 3, "", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.o.Limits = deep
			for _, c := range []func(int) int{whole, every(1), every(50)} {
				var p decoder.Parts
				got := push(t, &p, unhex(t, test.hex), &test.o, false, 64, c)
				expectFault(t, got.err, test.reason, test.offset, test.path)
				if len(got.parts) != test.parts {
					t.Errorf("%d parts before %v, want %d:\n%s", len(got.parts), got.err, test.parts, got.text())
				}
			}
		})
	}
}

// What Parts leaves alone or lets pass.
func TestPartsOptions(t *testing.T) {
	var p decoder.Parts
	data := unhex(t, "15 02 00"+repeat("ff", 300))
	got := push(t, &p, data, &decoder.Options{AllowTrailing: true, Limits: deep}, false, 64, every(10))
	expectParts(t, got, beginStruct(), fieldsPart(thriftpackv1.I32Field(1, 1)), end())
	if got.read != 3 {
		t.Errorf("%d bytes read before trailing ones, want 3", got.read)
	}
	got = push(t, &p, unhex(t, "19 12 07 f0"), &decoder.Options{Lenient: true, Limits: deep}, false, 64, whole)
	expectParts(t, got, beginStruct(), fieldsPart(thriftpackv1.ListField(1, thriftpackv1.BoolList(false))), end())

	for _, test := range []struct {
		name    string
		o       decoder.Options
		records bool
		window  int
		reason  fault.Reason
	}{
		{"framed", decoder.Options{Framed: true}, false, 64, fault.BadOption},
		{"detect_text", decoder.Options{DetectText: true}, false, 64, fault.BadOption},
		{"records of messages", decoder.Options{Message: true}, true, 64, fault.BadOption},
		{"a window too small", decoder.Options{}, false, decoder.PartsWindowLeast - 1, fault.BadOption},
		{"a window too large", decoder.Options{}, false, decoder.PartsWindowMost + 1, fault.BadOption},
		{"a protocol that does not exist", decoder.Options{Protocol: 2}, false, 64, fault.BadOption},
		{"a message of a list", decoder.Options{Message: true, Root: thriftpackv1.Type_TYPE_LIST}, false, 64, fault.TypeMismatch},
	} {
		if err := p.Start(&test.o, test.records, test.window); !errors.Is(err, fault.New(test.reason, "")) {
			t.Errorf("%s: %v, want %s", test.name, err, test.reason)
		}
		if err := p.Write([]byte{0}, nil); !errors.Is(err, fault.New(test.reason, "")) {
			t.Errorf("%s, then Write: %v, want %s", test.name, err, test.reason)
		}
	}
	if err := new(decoder.Parts).Write([]byte{0}, nil); !errors.Is(err, fault.New(fault.Internal, "")) {
		t.Errorf("Write without Start: %v", err)
	}
}

// The depth counts what is open and what is inside of whole values alike.
func TestPartsDepth(t *testing.T) {
	for _, window := range []int{64, 1000} {
		for limit := range 7 {
			// Five containers: struct, list, struct, list, struct, the first three larger than a small window.
			data := unhex(t, "19 2c 19 2c 11 00 11 00 18 64"+repeat("61", 100)+"00 00 00")
			o := &decoder.Options{Limits: deep}
			o.Limits.Depth = limit
			var p decoder.Parts
			var d decoder.Decoder
			got := push(t, &p, data, o, false, window, whole)
			o.Limits = usual
			o.Limits.Depth = limit
			if _, err := d.Prepare(data, o); !sameFault(got.err, err) || (limit >= 5) != (err == nil) {
				t.Errorf("window %d, depth %d: %v, want %v", window, limit, got.err, err)
			}
		}
	}
}

// An error of emit ends the stream, and is returned as it is.
func TestPartsEmitFails(t *testing.T) {
	data := unhex(t, "15 02 28 64"+repeat("61", 100)+"1b 02 38 01 64"+repeat("61", 100)+"02 00 00")
	var p decoder.Parts
	for most := range 13 {
		if err := p.Start(&decoder.Options{Limits: deep}, false, 64); err != nil {
			t.Fatal(err)
		}
		calls := 0
		emit := func([]byte) error {
			if calls++; calls > most {
				return errGone
			}
			return nil
		}
		err := p.Write(data, emit)
		if after := p.Finish(emit); err == nil {
			err = after
		}
		if err != errGone || calls != most+1 || p.Finish(emit) != errGone { //nolint:errorlint // it must be the very same
			t.Errorf("after %d parts: %v, %d calls", most, err, calls)
		}
	}
}
