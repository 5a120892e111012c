package valuewire_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/thriftpack/thriftpack/internal/schema/valuewire"
)

func unhex(tb testing.TB, text string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// TestField reads fields as they stand, and with bytes behind them: a Head is read from eight bytes.
func TestField(t *testing.T) {
	for _, row := range []struct{ name, field, want string }{
		{"a bool", "0a 04 08 02 10 01", "id 1, kind 2, tag 4, 5:6"},
		{"an i8", "0a 05 08 02 18 80 01", "id 1, kind 3, tag 4, 5:7"},
		{"an i64 of eight bytes", "0a 0b 08 7e 30 80 80 80 80 80 80 80 01", "id 63, kind 6, tag 4, 5:13"},
		{"an i64 of ten bytes", "0a 0d 08 7e 30 ff ff ff ff ff ff ff ff ff 01", "id 63, kind 6, tag 4, 5:15"},
		{"a double", "0a 0b 08 02 39 00 00 00 00 00 00 00 00", "id 1, kind 7, tag 4, 5:13"},
		{"no text", "0a 04 08 02 7a 00", "id 1, kind 15, tag 4, 6:6"},
		{"text", "0a 05 08 02 7a 01 61", "id 1, kind 15, tag 4, 6:7"},
		{"a struct", "0a 0a 08 02 62 06 0a 04 08 02 10 01", "id 1, kind 12, tag 4, 6:12"},
		{"a negative id", "0a 04 08 01 10 01", "id -1, kind 2, tag 4, 5:6"},
		{"a large id", "0a 06 08 fe ff 03 10 01", "id 32767, kind 2, tag 6, 7:8"},
		{"the smallest id", "0a 06 08 ff ff 03 10 01", "id -32768, kind 2, tag 6, 7:8"},
		{"no id", "0a 02 10 01", "id 0, kind 2, tag 2, 3:4"},
		{"the kind first", "0a 04 10 01 08 02", "id 1, kind 2, tag 2, 3:4"},

		{"no kind", "0a 02 08 02", "refused"},
		{"nothing", "0a 00", "refused"},
		{"two kinds", "0a 06 08 02 10 01 10 01", "refused"},
		{"two kinds in one payload's length", "0a 06 08 02 10 01 18 02", "refused"},
		{"two ids", "0a 06 08 02 08 04 10 01", "refused"},
		{"an id out of range", "0a 06 08 80 80 04 10 01", "refused"},
		{"a longer id than needed", "0a 05 08 82 00 10 01", "refused"},
		{"a longer length than needed", "0a 84 00 08 02 10 01", "refused"},
		{"a number that does not end", "0a 04 08 02 28 82", "refused"},
		{"a number of eleven bytes", "0a 0e 08 02 30 80 80 80 80 80 80 80 80 80 80 01", "refused"},
		{"a short double", "0a 0a 08 02 39 00 00 00 00 00 00 00", "refused"},
		{"a long double", "0a 0c 08 02 39 00 00 00 00 00 00 00 00 00", "refused"},
		{"text that is cut off", "0a 05 08 02 7a 02 61", "refused"},
		{"text that is too short", "0a 05 08 02 7a 00 61", "refused"},
		{"a record that is cut off", "0a 06 08 02 7a 01 61", "refused"},
		{"another tag", "12 04 08 02 10 01", "refused"},
		{"a kind that does not exist", "0a 04 08 02 70 01", "refused"},
		{"a kind with another wire type", "0a 05 08 02 12 01 01", "refused"},
		{"no record", "0a", "refused"},
		{"no bytes", "", "refused"},
	} {
		for _, behind := range []int{0, 1, 7, 8, 16, 40} {
			data := unhex(t, row.field)
			in := append(append([]byte{0xff}, data...), make([]byte, behind)...)
			got := "refused"
			m, ok := valuewire.Field(in, 1, 1+len(data))
			if ok {
				got = fmt.Sprintf("id %d, kind %d, tag %d, %d:%d", m.ID, m.Kind, m.Tag-1, m.Start-1, m.End-1)
			}
			if got != row.want || ok && m.Next != 1+len(data) {
				t.Errorf("%s, %d bytes behind: %s, next %d, want %s", row.name, behind, got, m.Next, row.want)
			}
		}
	}
}

func TestElements(t *testing.T) {
	for _, row := range []struct{ name, list, want string }{
		{"nothing", "", "kind 0 of 0:"},
		{"a type", "08 05", "kind 0 of 5:"},
		{"a run", "2a 02 02 04", "kind 5 of 0: 2:3 3:4"},
		{"a run and its type", "08 05 2a 02 02 04", "kind 5 of 5: 4:5 5:6"},
		{"its type behind it", "2a 01 02 08 05", "kind 5 of 5: 2:3"},
		{"empty runs around it", "12 00 2a 01 02 32 00", "kind 5 of 0: 4:5"},
		{"only empty runs", "12 00 1a 00", "kind 0 of 0:"},
		{"i8s", "1a 02 ff 80", "kind 3 of 0: 2:3 3:4"},
		{"doubles", "3a 08 00 00 00 00 00 00 00 00", "kind 7 of 0: 2:10"},
		{"texts", "7a 01 61 7a 00", "kind 15 of 0: 2:3 5:5"},
		{"texts around their type", "7a 01 61 08 0f 7a 00", "kind 15 of 15: 2:3 7:7"},
		{"texts around an empty run", "7a 01 61 12 00 7a 00 12 00", "kind 15 of 0: 2:3 7:7"},
		{"long texts", "7a 80 01" + strings.Repeat("61", 128), "kind 15 of 0: 3:131"},

		{"two runs", "2a 01 02 2a 01 04", "refused"},
		{"two columns", "2a 01 02 7a 00", "refused"},
		{"two columns, the other way", "7a 00 2a 01 02", "kind 15 of 0: 2:2 refused"},
		{"two kinds of text", "7a 00 42 00", "kind 15 of 0: 2:2 refused"},
		{"two types", "08 05 08 05", "refused"},
		{"two types around an element", "08 0f 7a 00 08 0f", "kind 15 of 15: 4:4 refused"},
		{"i8s twice", "1a 00 1a 01 01", "refused"},
		{"one that is not packed", "28 02", "refused"},
		{"cut off", "2a 02 02", "refused"},
		{"cut off among texts", "7a 01 61 7a 02 61", "kind 15 of 0: 2:3 refused"},
		{"a varint that is cut off", "2a 02 02 80", "kind 5 of 0: 2:3 refused"},
		{"a double that is cut off", "3a 07 00 00 00 00 00 00 00", "kind 7 of 0: refused"},
	} {
		data := unhex(t, row.list)
		got := "refused"
		if column, ok := valuewire.Elements(data, 0, len(data)); ok {
			words := []string{fmt.Sprintf("kind %d of ", column.Kind)}
			for more := true; more; {
				var e valuewire.Element
				if valuewire.IsPacked(column.Kind) {
					if more = column.At < column.End; !more {
						break
					}
					e.Start, e.End, ok = column.NextScalar(data)
				} else {
					e, more, ok = column.Next(data)
				}
				if !ok {
					words = append(words, "refused")
					break
				}
				if more {
					words = append(words, fmt.Sprintf("%d:%d", e.Start, e.End))
				}
			}
			words[0] += fmt.Sprintf("%d:", column.ElementType) // which may stand behind elements
			got = strings.Join(words, " ")
		}
		if got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}

func TestSides(t *testing.T) {
	for _, row := range []struct{ name, pairs, want string }{
		{"nothing", "", "0@0 0@0"},
		{"both", "0a 03 2a 01 02 12 02 7a 00", "5@1 15@6"},
		{"both, the other way", "12 02 7a 00 0a 03 2a 01 02", "5@5 15@1"},
		{"one", "12 02 7a 00", "0@0 15@1"},
		{"types", "0a 02 08 05 12 02 08 0f", "0@1 0@5"},
		{"keys twice", "0a 00 0a 00", "refused"},
		{"another member", "1a 00", "refused"},
		{"cut off", "0a 03 2a 01", "refused"},
	} {
		data := unhex(t, row.pairs)
		got := "refused"
		if keys, values, ok := valuewire.Sides(data, 0, len(data)); ok {
			got = fmt.Sprintf("%d@%d %d@%d", keys.Kind, keys.Length, values.Kind, values.Length)
		}
		if got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}

func TestRoot(t *testing.T) {
	for _, row := range []struct{ name, value, want string }{
		{"a struct", "62 00", "kind 12, 2:2"},
		{"text", "7a 01 61", "kind 15, 2:3"},
		{"a long text", "7a 80 01" + strings.Repeat("61", 128), "kind 15, 3:131"},
		{"a number", "28 02", "kind 5, 1:2"},
		{"a double", "39 00 00 00 00 00 00 00 00", "kind 7, 1:9"},
		{"nothing", "", "refused"},
		{"two kinds", "28 02 30 02", "refused"},
		{"an id", "08 02 28 02", "refused"},
		{"cut off", "7a 02 61", "refused"},
	} {
		got := "refused"
		if m, ok := valuewire.Root(unhex(t, row.value)); ok {
			got = fmt.Sprintf("kind %d, %d:%d", m.Kind, m.Start, m.End)
		}
		if got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}

// TestVarints reads every length of varint, with few and with many bytes behind it.
func TestVarints(t *testing.T) {
	for shift := range 65 {
		for _, less := range []uint64{0, 1} {
			want := uint64(1)<<shift - less // 0 and all ones at 64, too
			if shift == 64 {
				want = math.MaxUint64 - less
			}
			data := binary.AppendUvarint([]byte{0}, want)
			for _, behind := range []int{0, 1, 20} {
				in := append(append([]byte{}, data...), make([]byte, behind)...)
				if v, next := valuewire.Varint(in, 1, len(data)); v != want || next != len(data) {
					t.Errorf("Varint of %d: %d, next %d of %d", want, v, next, len(data))
				}
				if v, next := valuewire.Quick(in, 1); v != want || next != len(data) {
					t.Errorf("Quick of %d: %d, next %d of %d", want, v, next, len(data))
				}
			}
			if size := len(data) - 1; size <= 8 {
				word := binary.LittleEndian.Uint64(append(data[1:], 0x99, 0x99, 0x99, 0x99, 0x99, 0x99, 0x99, 0x99)) // what is behind it
				if v := valuewire.VarintOf(word, size); v != want {
					t.Errorf("VarintOf %d: %d", want, v)
				}
			}
			if n := valuewire.LengthSize(int(want >> 1)); n != len(binary.AppendUvarint(nil, want>>1)) {
				t.Errorf("LengthSize of %d: %d", want>>1, n)
			}
		}
	}
	for _, v := range []int64{0, -1, 1, -2, math.MaxInt64, math.MinInt64} {
		if got := valuewire.Unzigzag(uint64(v)<<1 ^ uint64(v>>63)); got != v {
			t.Errorf("Unzigzag: %d, want %d", got, v)
		}
	}
}
