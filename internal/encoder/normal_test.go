package encoder

import (
	"bytes"
	"testing"
)

func TestNormalise(t *testing.T) {
	o := Options{Limits: Limits{Depth: 64, Elements: 1 << 20, StringBytes: 1 << 20, SlowNodes: 100}}
	var e Encoder
	for _, row := range []struct{ name, value, want, fault string }{
		{"as it is", "62 04 0a 02 28 02", "", ""},
		{"any order", "62 06 0a 04 28 02 08 02", "", ""},
		{"an empty list without its type", "62 04 0a 02 4a 00", "", ""},
		{"a run in two parts", "4a 06 2a 01 02 2a 01 04", "4a 04 2a 02 02 04", ""},
		{"a run in two parts, and an empty list without its type", "62 0c 0a 02 4a 00 0a 06 4a 04 2a 00 2a 00", "", ""},
		{"no kind", "62 02 0a 00", "", "value.struct.fields[0]: no kind is set"},
		{"two columns", "4a 06 2a 01 02 32 01 04", "", "value.list: elements in two columns: i32s and i64s"},
		{"out of range", "18 80 04", "", "value.i8: out of range: 256, want -128..127"},
	} {
		t.Run(row.name, func(t *testing.T) {
			value := unhex(t, row.value)
			got, err := e.Normalise(value, &o)
			if row.fault != "" {
				if err == nil || err.Error() != row.fault {
					t.Errorf("%v, want %s", err, row.fault)
				}
				return
			}
			want := value
			if row.want != "" {
				want = unhex(t, row.want)
			}
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%v, %x, want %x", err, got, want)
			}
			if _, _, err := e.WriteTo(nil, nil, 0); err == nil {
				t.Error("what was normalised can be written, though it may have no types")
			}
			e.Release()
			if _, err := e.Append(nil, unhex(t, "4a 00"), &o); err == nil {
				t.Error("an empty list without its type is encoded afterwards")
			}
		})
	}
}

func TestLocate(t *testing.T) {
	value := unhex(t, "62 0c 0a 04 08 02 28 02 0a 04 4a 02 2a 00")
	for _, row := range []struct {
		start, end int
		want       string
	}{
		{0, 14, "value"},
		{2, 14, "value.struct"},
		{4, 8, "value.struct.fields[0]"},
		{7, 8, "value.struct.fields[0].i32"},
		{12, 14, "value.struct.fields[1].list"},
	} {
		if got := Locate(value, row.start, row.end); got != row.want {
			t.Errorf("%d:%d is %s, want %s", row.start, row.end, got, row.want)
		}
	}
}
