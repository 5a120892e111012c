package jsonvalue

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/thriftpack/thriftpack/internal/schema"
)

var errStop = errors.New("enough")

// busy are texts that keep every loop busy and take every kind of memory.
func busy() []struct {
	name string
	typ  *schema.Type
	text string
} {
	const many = 20_000
	repeat := func(element string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(element+",", many), ",") + "]"
	}
	var distinct, keys strings.Builder
	for i := range many {
		fmt.Fprintf(&distinct, "%d,", i)
		fmt.Fprintf(&keys, `"%d":%d,`, i, i&1)
	}
	small := structOf("T", field(1, "a", tI8), field(2, "b", tI8))
	return []struct {
		name string
		typ  *schema.Type
		text string
	}{
		{"integers", listOf(tI64), repeat("5")},
		{"bytes", listOf(tI8), repeat("5")},
		{"doubles", listOf(tDouble), repeat("1.5")},
		{"strings", listOf(tString), repeat(`"text"`)},
		{"long strings", listOf(tString), repeat(`"` + strings.Repeat("x", 100) + `"`)},
		{"escapes", listOf(tBinary), repeat(`"AAH\/"`)},
		{"structs", listOf(small), repeat(`{"a":1,"b":2}`)},
		{"structs out of order", listOf(small), repeat(`{"b":1,"a":2}`)},
		{"empty structs", listOf(small), repeat(`{}`)},
		{"lists", listOf(listOf(tI8)), repeat("[]")},
		{"long lists", listOf(listOf(tI8)), repeat("[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]")},
		{"a set", setOf(tI32), "[" + strings.TrimSuffix(distinct.String(), ",") + "]"},
		{"sets", listOf(setOf(small)), repeat(`[{"a":1},{"b":1,"a":1}]`)},
		{"a map", mapOf(tString, tI8), "{" + strings.TrimSuffix(keys.String(), ",") + "}"},
		{"entries", listOf(mapOf(tDouble, tI8)), repeat(`[{"value":1,"key":2}]`)},
		{"fields without a name", listOf(small), repeat(`{"7":{"list":{"elem":"i8","values":[1]}},"5":{"i8":2}}`)},
	}
}

// TestReserve shows that Reserve is asked for all memory that a call takes, before it is taken, and that its refusal ends the call.
func TestReserve(t *testing.T) {
	t.Parallel()
	for _, test := range busy() {
		var e Encoder
		var asked []int64
		o := compactOptions()
		o.Reserve = func(bytes int64) error { asked = append(asked, bytes); return nil }
		if _, err := e.Prepare([]byte(test.text), test.typ, o); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		taken := int64(cap(e.out) + cap(e.marks)*markBytes + cap(e.moves)*moveBytes + cap(e.members)*memberBytes +
			cap(e.seen.items)*itemBytes + cap(e.seen.slots)*slotBytes + cap(e.plain) + cap(e.flat))
		if len(asked) == 0 || taken > asked[len(asked)-1]+1024 { // of the very first ones
			t.Errorf("%s: %d bytes taken, asked for %d", test.name, taken, asked)
		}
		if most := int64(24*len(test.text)) + 64<<10; len(asked) > 0 && asked[len(asked)-1] > most {
			t.Errorf("%s: asked for %d bytes for a text of %d", test.name, asked[len(asked)-1], len(test.text))
		}
		e.Release()
		for refused := range asked {
			var e Encoder
			calls := 0
			o.Reserve = func(int64) error {
				if calls++; calls > refused {
					return errStop
				}
				return nil
			}
			if _, err := e.Prepare([]byte(test.text), test.typ, o); err != errStop { //nolint:errorlint // as it is
				t.Errorf("%s: Prepare = %v where question %d is refused", test.name, err, refused)
			}
			o.Reserve = nil
			if _, err := encodeWith(t, &e, `{"by":1}`, tS, o); err != nil {
				t.Errorf("%s: after it was refused: %v", test.name, err)
			}
		}
	}
}

// TestStop shows that Stop is asked in every loop that a large value keeps busy, that its error comes back as it is, and that the encoder is as
// good as new afterwards.
func TestStop(t *testing.T) {
	t.Parallel()
	for _, test := range busy() {
		for _, o := range []*Options{compactOptions(), binaryOptions()} {
			var e Encoder
			asked, allowed := 0, 1<<30
			o.Stop = func() error {
				if asked++; asked > allowed {
					return errStop
				}
				return nil
			}
			if _, err := e.Prepare([]byte(test.text), test.typ, o); err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
			all := asked
			if all < 3 {
				t.Errorf("%s: asked %d times", test.name, all)
			}
			for allowed = 0; allowed < all; allowed += 1 + all/5 {
				asked = 0
				if _, err := e.Prepare([]byte(test.text), test.typ, o); err != errStop || asked != allowed+1 { //nolint:errorlint // as it is
					t.Errorf("%s: stopped after %d calls: %v after %d", test.name, allowed, err, asked)
				}
			}
			o.Stop = nil
			if _, err := encodeWith(t, &e, `{"by":1}`, tS, o); err != nil {
				t.Errorf("%s: after it was stopped: %v", test.name, err)
			}
		}
	}
	// What is ignored, and what is written, too.
	ignore := compactOptions()
	ignore.IgnoreUnknown = true
	asked := 0
	ignore.Stop = func() error { asked++; return nil }
	var e Encoder
	text := []byte(`{"x":[` + strings.Repeat("1,", 20_000) + `1],"s":"` + strings.Repeat("x", 1<<20) + `"}`)
	if _, err := e.Prepare(text, tS, ignore); err != nil || asked < 3 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	asked = 0
	if _, _, err := e.WriteTo(&collector{size: 4096}, nil, 0); err != nil || asked < 3 {
		t.Errorf("WriteTo asked %d times, %v", asked, err)
	}
	ignore.Stop = func() error { return errStop }
	if buf, _, err := e.WriteTo(&collector{size: 4096}, nil, 0); err != errStop || buf == nil { //nolint:errorlint // as it is
		t.Errorf("WriteTo = %v", err)
	}
}

// failing is a Sink that fails after some buffers.
type failing struct {
	left int
	size int
}

func (f *failing) Next(int) ([]byte, error) {
	if f.left--; f.left < 0 {
		return nil, errStop
	}
	return make([]byte, f.size), nil
}

// TestSinks shows that errors of sinks come back as they are, and that records follow each other in a buffer.
func TestSinks(t *testing.T) {
	t.Parallel()
	var e Encoder
	if _, _, err := e.WriteTo(&collector{size: minBuffer}, nil, 0); err == nil {
		t.Error("WriteTo without Prepare succeeded")
	}
	text := []byte(`{"s":"` + strings.Repeat("x", 5000) + `","by":1}`)
	if _, err := e.Prepare(text, tS, compactOptions()); err != nil {
		t.Fatal(err)
	}
	for left := range 4 {
		if buf, _, err := e.WriteTo(&failing{left, 1024}, nil, 0); err != errStop || buf != nil { //nolint:errorlint // as it is
			t.Errorf("a sink that fails after %d buffers: %v", left, err)
		}
	}
	if _, _, err := e.WriteTo(&failing{10, minBuffer - 1}, nil, 0); err == nil {
		t.Error("a small buffer was taken")
	}
	whole, err := encode(t, string(text), tS, compactOptions())
	if err != nil {
		t.Fatal(err)
	}
	c := &collector{size: 700}
	var buf []byte
	filled := 0
	for range 3 {
		if buf, filled, err = e.WriteTo(c, buf, filled); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := append(c.all, buf[:filled]...), bytes.Repeat(whole, 3); !bytes.Equal(got, want) { //nolint:gocritic // it ends here
		t.Errorf("three records are %d bytes, want %d", len(got), len(want))
	}
	if rest := buf[filled:]; !bytes.Equal(rest, bytes.Repeat([]byte{0xee}, len(rest))) {
		t.Error("bytes behind the last were changed")
	}
	e.Release()
	if _, _, err := e.WriteTo(c, nil, 0); err == nil {
		t.Error("WriteTo after Release succeeded")
	}
}

// lender is a Buffers that counts, and spoils what comes back.
type lender struct{ lent, gets int }

func (l *lender) Get(length int) *[]byte {
	l.lent++
	l.gets++
	b := bytes.Repeat([]byte{0xdd}, length)
	return &b
}

func (l *lender) Put(buffer *[]byte) {
	l.lent--
	for i := range *buffer {
		(*buffer)[i] = 0xaa
	}
}

// TestBuffers shows that large values borrow their memory and give it back, whatever happens, and that an encoder keeps little.
func TestBuffers(t *testing.T) {
	t.Parallel()
	large := `{"li":[` + strings.Repeat("1000000,", 200_000) + `1],"by":1`
	var l lender
	o := compactOptions()
	o.Buffers = &l
	var e Encoder
	for range 2 {
		got, err := encodeWith(t, &e, large+"}", tS, o)
		want, wantErr := encode(t, large+"}", tS, compactOptions())
		if err != nil || wantErr != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, %v, want %d, %v", len(got), err, len(want), wantErr)
		}
		if _, err = e.Prepare([]byte(large), tS, o); err == nil {
			t.Fatal("text that ends early was taken")
		}
		if l.lent != 0 || l.gets == 0 {
			t.Errorf("%d of %d buffers are still lent", l.lent, l.gets)
		}
	}
	if _, err := e.Prepare([]byte(large+"}"), tS, o); err != nil { // not released: the next call does
		t.Fatal(err)
	}
	if got, err := encodeWith(t, &e, `{"by":1}`, tS, compactOptions()); err != nil || l.lent != 0 {
		t.Errorf("%x, %v, %d buffers lent", got, err, l.lent)
	}
	for _, test := range busy() {
		if _, err := e.Append(nil, []byte(test.text), test.typ, compactOptions()); err != nil {
			t.Fatal(err)
		}
		if kept := cap(e.own) + cap(e.plain) + cap(e.flat); kept > 3*keptBytes || e.out != nil {
			t.Errorf("%s: %d bytes are kept", test.name, kept)
		}
		if kept := cap(e.marks)*markBytes + cap(e.moves)*moveBytes + cap(e.members)*memberBytes + cap(e.seen.items)*itemBytes + cap(e.seen.slots)*slotBytes; kept > 512<<10 {
			t.Errorf("%s: %d bytes are kept for lists", test.name, kept)
		}
	}
}

// TestAllocations shows that a warm encoder allocates nothing, whatever the value.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	_, shuffled := orderText(random(3), 2)
	tests := []struct {
		name string
		typ  *schema.Type
		text string
	}{
		{"every kind, out of order", orderType(), shuffled},
		{"one of each", oneOfEach, oneOfEachText},
		{"1,000 records", listOf(record), records(1000)},
		{"10,000 integers", listOf(tI64), integers(10_000)},
		{"escapes, base64 and numbers in strings", tS, `{"l":"12","b":"AAH\/","d":"1.5","s":"a\n\u00e9","e":"X","m":{"1":"x","\u0032":"y"},"st":[1,2,3,4,5,6,7,8,9,10,11,12]}`},
		{"without names", tS, `{"70":{"map":{"key":"i8","value":"struct","entries":[{"key":1,"value":{"1":{"list":{"elem":"i8","values":[1]}}}}]}}}`},
	}
	for _, test := range tests {
		for _, o := range []*Options{compactOptions(), binaryOptions()} {
			var e Encoder
			text, sink := []byte(test.text), &counter{buf: make([]byte, 4096)}
			dst, err := e.Append(nil, text, test.typ, o)
			if err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
			allocations := testing.AllocsPerRun(100, func() {
				if dst, err = e.Append(dst[:0], text, test.typ, o); err != nil {
					t.Fatal(err)
				}
				if _, err = e.Prepare(text, test.typ, o); err != nil {
					t.Fatal(err)
				}
				if _, _, err = e.WriteTo(sink, sink.buf, 0); err != nil {
					t.Fatal(err)
				}
				e.Release()
			})
			if allocations != 0 {
				t.Errorf("%s: %v allocations", test.name, allocations)
			}
		}
	}
}
