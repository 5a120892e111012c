package decoder_test

import (
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
)

// TestHeld shows that Held counts all that a decoder allocates, and how much that is at most.
func TestHeld(t *testing.T) {
	limits := decoder.Limits{Depth: 64, Elements: 1 << 30, StringBytes: 1 << 30, Nodes: 1 << 30}
	many := func(pattern string) string { return strings.Repeat(pattern, 400_000) }
	for _, test := range []struct {
		name string
		data string
		root thriftpackv1.Type
		o    decoder.Options
	}{
		{"structs", "\xFC\x80\xB5\x18" + many("\x00"), thriftpackv1.Type_TYPE_LIST, decoder.Options{}},
		{"lists of two bools", "\xF9\x80\xB5\x18" + many("\x21\x01\x01"), thriftpackv1.Type_TYPE_LIST, decoder.Options{}},
		{"maps of one bool", "\xFB\x80\xB5\x18" + many("\x01\x11\x01\x01"), thriftpackv1.Type_TYPE_LIST, decoder.Options{}},
		{"structs of a bool", "\xFC\x80\xB5\x18" + many("\x11\x00"), thriftpackv1.Type_TYPE_LIST, decoder.Options{}},
		{
			"large keys", "\xA0\x1F\x88" + strings.Repeat("\x80\x20"+string(make([]byte, 4096))+"\x80\x20"+string(make([]byte, 4096)), 4000),
			thriftpackv1.Type_TYPE_MAP,
			decoder.Options{},
		},
		{
			"binary lists of two bools", "\x0F\x00\x06\x1A\x80" + many("\x02\x00\x00\x00\x02\x01\x01"), thriftpackv1.Type_TYPE_LIST,
			decoder.Options{Protocol: decoder.Binary},
		},
	} {
		var d decoder.Decoder
		test.o.Root, test.o.Limits, test.o.AllowTrailing = test.root, limits, true
		data := []byte(test.data)
		var info decoder.Info
		var err error
		taken := allocated(func() { info, err = d.Prepare(data, &test.o) })
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if _, _, err := d.WriteTo(&reused{buf: make([]byte, 1<<20)}, nil, 0); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		held, most := d.Held(), 3*int64(len(data))+64<<10
		t.Logf("%s: %d bytes of input, %d of a Value, %d held, %d allocated", test.name, len(data), info.Size, held, taken)
		if held > most {
			t.Errorf("%s: %d bytes held of %d, want %d at most", test.name, held, len(data), most)
		}
		if !raceEnabled && taken > 3*held+64<<10 { // what grew left its smaller forms behind
			t.Errorf("%s: %d bytes allocated, %d held", test.name, taken, held)
		}
	}
}
