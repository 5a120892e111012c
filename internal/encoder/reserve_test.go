package encoder

import (
	"bytes"
	"testing"
)

// TestReserve shows that Reserve is asked for all memory that normalising takes, and for nothing where the fast path does.
func TestReserve(t *testing.T) {
	t.Parallel()
	const many = 30_000
	limits := testLimits
	limits.SlowNodes = 1 << 30
	repeat := func(b []byte) []byte { return bytes.Repeat(b, many) }
	for _, test := range []struct {
		name string
		wire []byte
		slow bool
	}{
		{"short fields", submessage(kindStruct, repeat(submessage(1, id(1), number(kindI32, 2)))), false},
		{"not packed", submessage(kindList, repeat(number(kindI32, 2))), true},
		{"lists of one that is not packed", submessage(kindList, repeat(submessage(kindList, number(kindBool, 1)))), true},
		{"messages again and again", repeat(submessage(kindStruct)), true},
		{"structs again and again", submessage(kindStruct, repeat(submessage(1, submessage(kindStruct), submessage(kindStruct)))), true},
		{"maps in pieces", submessage(kindMap, submessage(1, number(kindI32, 2)), submessage(2, number(kindI32, 2)), repeat(submessage(1)), repeat(submessage(2))), true},
		{"a long string beside a slow member", append(text(kindString, "a"), text(kindString, string(make([]byte, 1<<20)))...), true},
	} {
		var e Encoder
		var asked []int64
		o := &Options{Limits: limits, Reserve: func(bytes int64) error { asked = append(asked, bytes); return nil }}
		if _, err := e.Prepare(test.wire, o); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		n := &e.normal
		if e.SlowPath() != test.slow || len(asked) > 0 != test.slow {
			t.Errorf("%s: slow path %v, asked for %d", test.name, e.SlowPath(), asked)
		}
		if !test.slow {
			continue
		}
		taken := int64(cap(n.out) + 8*cap(n.sizes) + 16*cap(n.spans))
		if last := asked[len(asked)-1]; taken > last {
			t.Errorf("%s: %d bytes taken, asked for %d", test.name, taken, asked)
		}
		for refused := range asked {
			calls := 0
			o.Reserve = func(int64) error {
				if calls++; calls > refused {
					return errStop
				}
				return nil
			}
			if _, err := e.Prepare(test.wire, o); err != errStop { //nolint:errorlint // as it is
				t.Errorf("%s: Prepare = %v where question %d is refused", test.name, err, refused)
			}
			if _, err := e.Append(nil, test.wire, o); err == nil {
				t.Errorf("%s: Append succeeded where all is refused", test.name)
			}
		}
	}
}
