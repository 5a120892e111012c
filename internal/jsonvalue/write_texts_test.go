package jsonvalue_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fixture"
	"github.com/thriftpack/thriftpack/internal/jsonvalue"
)

// quoted is a string as encoding/json has it, of texts that it escapes as we do.
func quoted(tb testing.TB, text string) string {
	tb.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// columnTexts are strings of each length around those that are written many at once, each of them once, with something special in the
// midst of plain ones, which is where another loop takes over and gives back.
func columnTexts() []string {
	var texts []string
	for length := range 140 {
		plain := strings.Repeat("#!0a~\x7f[]", 20)[:length]
		texts = append(texts, plain)
		for _, special := range []string{"\"", "\\", "\x1f", "\x00", "é", "😀"} {
			for _, at := range []int{0, length / 2, max(0, length-1), length} {
				texts = append(texts, fmt.Sprint(len(texts), plain[:at], special, plain[at:]))
			}
		}
	}
	return texts
}

// TestWriterColumnsOfTexts compares lists and maps of texts with encoding/json, as a whole and in chunks that end anywhere.
func TestWriterColumnsOfTexts(t *testing.T) {
	typ, texts := writeTypes(t), columnTexts()
	numbers := make([]int64, len(texts))
	var array, object []string
	for i, text := range texts {
		numbers[i] = int64(math.MinInt64) >> (i % 64)
		if i%3 == 0 {
			numbers[i] = ^numbers[i]
		}
		array = append(array, quoted(t, text))
		object = append(object, fmt.Sprintf(`%s:"%d"`, quoted(t, text), numbers[i]))
	}
	list, keys, values := thriftpackv1.StringList(texts...), thriftpackv1.StringList(texts...), thriftpackv1.I64List(numbers...)
	for _, row := range []struct {
		typ, want string
		value     *thriftpackv1.Value
	}{
		{"Texts", "[" + strings.Join(array, ",") + "]", &thriftpackv1.Value{Kind: &thriftpackv1.Value_List{List: list}}},
		{
			"LargeByText", "{" + strings.Join(object, ",") + "}",
			&thriftpackv1.Value{Kind: &thriftpackv1.Value_Map{Map: thriftpackv1.MapOf(keys, values)}},
		},
	} {
		t.Run(row.typ, func(t *testing.T) {
			var w jsonvalue.Writer
			value := fixture.Wire(row.value)
			got, err := w.Append(nil, value, typ(row.typ), &wide)
			if err != nil || string(got) != row.want {
				t.Fatalf("%v\ngot  %s\nwant %s", err, got, row.want)
			}
			// In all of the room that there is, it does not have to grow.
			if got, err = w.Append(got[:0], value, typ(row.typ), &wide); err != nil || string(got) != row.want {
				t.Errorf("again: %v\ngot  %s\nwant %s", err, got, row.want)
			}
			for size := 512; size < 700; size++ {
				s := &sink{tb: t, sizes: []int{size, 512 + size%7, 4096}}
				last, filled, err := w.WriteTo(s, nil, 0, value, typ(row.typ), &wide)
				if err != nil || string(append(s.joined, last[:filled]...)) != row.want {
					t.Fatalf("size %d: %v: the chunks joined are not the text", size, err)
				}
				if behind := last[filled:]; !bytes.Equal(behind, make([]byte, len(behind))) {
					t.Fatalf("size %d: there is something behind the text", size)
				}
			}
		})
	}
}

// TestWriterStopsAmongTexts sees that long columns of texts ask whether to go on, as all others do.
func TestWriterStopsAmongTexts(t *testing.T) {
	typ := writeTypes(t)("Texts")
	value := fixture.Wire(&thriftpackv1.Value{Kind: &thriftpackv1.Value_List{List: thriftpackv1.StringList(make([]string, 100_000)...)}})
	asked, o := 0, wide
	o.Stop = func() error {
		asked++
		return nil
	}
	var w jsonvalue.Writer
	if _, err := w.Append(make([]byte, 0, 1<<20), value, typ, &o); err != nil {
		t.Fatal(err)
	}
	if least := 100_000 / 4096 / 2; asked < least {
		t.Errorf("asked %d times, want %d at least", asked, least)
	}
}
