package encoder

import (
	"bytes"
	"errors"
	"testing"
)

var errStop = errors.New("enough")

// stopAfter returns a Stop that fails after n calls, and counts all calls in asked.
func stopAfter(n int, asked *int) func() error {
	return func() error {
		if *asked++; *asked > n {
			return errStop
		}
		return nil
	}
}

// TestStop shows that Stop is asked in every loop that a large value keeps busy, that its error comes back as it is, and that
// the encoder is as good as new afterwards.
func TestStop(t *testing.T) {
	t.Parallel()
	const many = 20_000
	limits := testLimits
	limits.SlowNodes = 1 << 30
	repeat := func(b []byte) []byte { return bytes.Repeat(b, many) }
	long := text(kindString, string(bytes.Repeat([]byte("a"), 40)))
	for _, test := range []struct {
		name string
		wire []byte
	}{
		{"short fields", submessage(kindStruct, repeat(submessage(1, id(1), number(kindI32, 2))))},
		{"fields without an id", submessage(kindStruct, repeat(submessage(1, number(kindI32, 2))))},
		{"long strings", submessage(kindStruct, repeat(submessage(1, id(1), long)))},
		{"structs", submessage(kindList, repeat(submessage(kindStruct)))},
		{"lists", submessage(kindList, repeat(submessage(kindList, number(1, kindI32))))},
		{"maps", submessage(kindList, repeat(submessage(kindMap, submessage(1, number(1, kindI32)), submessage(2, number(1, kindI32)))))},
		{"uuids", submessage(kindList, repeat(text(kindUUID, "0123456789abcdef")))},
		{"strings", submessage(kindList, repeat(text(kindString, "text")))},
		{"strings of 40 bytes", submessage(kindList, repeat(long))},
		{"empty runs", submessage(kindList, repeat(submessage(kindI32)), text(kindI32, "\x02"))},
		{"entries", submessage(kindMap, submessage(1, submessage(kindI32, repeat([]byte{2}))), submessage(2, repeat(text(kindString, "a"))))},
		{"not packed", submessage(kindList, repeat(number(kindI32, 2)))},
		{"longer varints", submessage(kindList, submessage(kindI32, repeat([]byte{0x80, 0})))},
		{"a member again and again", repeat(number(kindI32, 2))},
		{"messages again and again", repeat(submessage(kindStruct, submessage(1, id(1), number(kindI32, 2))))},
		{"normalised strings", submessage(kindList, number(1, kindString), number(1, kindString), repeat(text(kindString, "text")))},
	} {
		for _, p := range []Protocol{Compact, Binary} {
			for stage, run := range map[string]func(*Encoder, *Options) error{
				"Append":  func(e *Encoder, o *Options) error { _, err := e.Append(nil, test.wire, o); return err },
				"Prepare": func(e *Encoder, o *Options) error { _, err := e.Prepare(test.wire, o); return err },
			} {
				var e Encoder
				asked := 0
				o := &Options{Protocol: p, Limits: limits, Stop: stopAfter(1<<30, &asked)}
				if err := run(&e, o); err != nil {
					t.Fatalf("%s: %s: %v", test.name, stage, err)
				}
				if fast := stage == "Append" && test.name == "short fields" || test.name == "strings"; !fast && asked < 2 {
					t.Errorf("%s: %s asked %d times", test.name, stage, asked)
				}
				for n := 0; n < asked; n += 1 + asked/5 {
					again := 0
					o.Stop = stopAfter(n, &again)
					if err := run(&e, o); err != errStop || again != n+1 { //nolint:errorlint // as it is
						t.Fatalf("%s: %s stopped after %d calls: %v after %d", test.name, stage, n, err, again)
					}
				}
				o.Stop = nil
				if err := run(&e, o); err != nil {
					t.Errorf("%s: %s after it was stopped: %v", test.name, stage, err)
				}
			}
		}
	}
}

// TestStopWhileWriting shows that WriteTo asks for each buffer.
func TestStopWhileWriting(t *testing.T) {
	t.Parallel()
	var e Encoder
	asked := 0
	o := &Options{Limits: testLimits}
	wire := submessage(kindList, submessage(kindI8, make([]byte, 1<<20)))
	if _, err := e.Prepare(wire, o); err != nil {
		t.Fatal(err)
	}
	o.Stop = stopAfter(3, &asked)
	c := collector{size: 64 << 10}
	if _, _, err := e.WriteTo(&c, nil, 0); err != errStop || len(c.all) > 4*64<<10 { //nolint:errorlint // as it is
		t.Errorf("WriteTo = %v after %d bytes", err, len(c.all))
	}
	o.Stop = nil
	if all, err := collect(&e, 64<<10); err != nil || len(all) < 1<<20 {
		t.Errorf("WriteTo again = %d bytes, %v", len(all), err)
	}
}
