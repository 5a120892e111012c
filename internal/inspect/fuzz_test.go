package inspect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// FuzzInspect holds that no bytes make a listing panic, that each byte is in exactly one row, in order, and that what is
// shown or left out does not change what is found.
func FuzzInspect(f *testing.F) {
	for _, c := range listings {
		f.Add(unhex(f, c.hex), uint8(0), uint8(0), uint8(0), uint8(0), false)
		f.Add(unhex(f, c.hex), uint8(2), uint8(1), uint8(1), uint8(0), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, protocol, framing, message, root uint8, all bool) {
		o := Options{
			Protocol: Protocol(protocol % 3), Framing: Framing(framing % 3), Message: Message(message % 3),
			Root: thriftpackv1.Type(root % 16), MaxDepth: 20, MaxElements: 3, MaxRows: 50, MaxBytes: 16, All: all, DetectText: true,
		}
		l, err := Inspect(data, o)
		if err != nil {
			return
		}
		if err := checkCoverage(l); err != nil {
			t.Fatalf("%x: %v", data, err)
		}
		var text, machine bytes.Buffer
		if err := l.WriteText(&text, all); err != nil {
			t.Fatal(err)
		}
		if err := l.WriteJSON(&machine); err != nil || !json.Valid(machine.Bytes()) {
			t.Fatalf("WriteJSON: %v: %s", err, machine.Bytes())
		}
	})
}

// checkCoverage walks a listing.
func checkCoverage(l *Listing) error {
	at := 0
	var faults []string
	err := l.walk(func(r *row) error {
		if r.kind == kindFault {
			faults = append(faults, fmt.Sprint(r.offset, r.reason))
			return nil
		}
		if r.offset != at {
			return fmt.Errorf("a row %s at offset %d follows one that ends at %d", r.kind, r.offset, at)
		}
		at += len(r.bytes)
		return nil
	})
	if err != nil {
		return err
	}
	if at != len(l.data) {
		return fmt.Errorf("the rows end at offset %d, want %d", at, len(l.data))
	}
	var want []string
	for _, f := range l.best.faults {
		want = append(want, fmt.Sprint(f.offset, f.reason))
	}
	if got := fmt.Sprint(faults); got != fmt.Sprint(want) {
		return fmt.Errorf("faults shown: %s, found: %s", got, want)
	}
	return nil
}

// The golden listings cover their bytes, with everything shown and with little.
func TestEachByteIsInOneRow(t *testing.T) {
	for _, c := range listings {
		for _, all := range []bool{false, true} {
			o := Defaults()
			if c.change != nil {
				c.change(&o)
			}
			o.All = all
			l, err := Inspect(unhex(t, c.hex), o)
			if err != nil {
				t.Fatal(err)
			}
			if err := checkCoverage(l); err != nil {
				t.Errorf("%s, all %t: %v", c.name, all, err)
			}
		}
	}
}
