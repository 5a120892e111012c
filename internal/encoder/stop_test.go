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

// TestSlowPathIsLinear counts the steps of hostile values, of 256 KiB and of 512: no more than a few for each member, however many kinds
// are mixed in a list and however deep it all is. It knows them by the calls of Stop.
func TestSlowPathIsLinear(t *testing.T) {
	t.Parallel()
	limits := testLimits
	limits.SlowNodes = 1 << 30
	twoLists := func(b []byte) []byte { return join(submessage(kindList, b), submessage(kindList)) }
	nest := func(wrap func([]byte) []byte, b []byte) []byte {
		for range 20 {
			b = wrap(b)
		}
		return b
	}
	all := join(number(kindBool, 1), number(kindI16, 1), number(kindI32, 1), number(kindI64, 1), text(kindBinary, ""),
		submessage(kindList), submessage(kindSet), submessage(kindMap), submessage(kindStruct), text(kindUUID, ""), text(kindString, ""))
	for _, test := range []struct {
		name  string
		piece []byte
		wrap  func([]byte) []byte
	}{
		{"one kind", number(kindI64, 1), twoLists},
		{"every kind", all, twoLists},
		{"every kind, to be taken away", all, func(b []byte) []byte { return join(submessage(kindList, b), number(kindI8, 1)) }},
		{"every kind, deep", all, func(b []byte) []byte {
			return nest(func(b []byte) []byte { return submessage(kindList, b, submessage(kindI32), number(kindI32, 1)) }, b)
		}},
		{"taken away at every level", all, func(b []byte) []byte {
			return nest(func(b []byte) []byte {
				return join(submessage(kindStruct, submessage(1, b)), submessage(kindList, number(1, kindI8)))
			}, submessage(kindList, b))
		}},
		{"keys in parts", number(kindI64, 1), func(b []byte) []byte {
			return submessage(kindMap, submessage(1, b), submessage(2, b), submessage(1, b), submessage(2, b))
		}},
	} {
		steps := func(count int) int {
			asked := 0
			var e Encoder
			_, _ = e.Prepare(test.wrap(bytes.Repeat(test.piece, count)), &Options{Limits: limits, Stop: stopAfter(1<<30, &asked)})
			if !e.SlowPath() {
				t.Errorf("%s: takes the fast path", test.name)
			}
			return asked * stopEvery
		}
		count := 1 << 18 / len(test.piece)
		members := 4 * count // of keys in parts; others have fewer
		if len(test.piece) > 2 {
			members = 11 * count
		}
		once, twice := steps(count), steps(2*count)
		if most := 8 * members; once > most || twice > 2*once+once/10+2*stopEvery {
			t.Errorf("%s: %d steps for %d members, %d for twice as many", test.name, once, members, twice)
		}
		t.Logf("%s: %d members, %d steps, %d for twice as many", test.name, members, once, twice)
	}
}
