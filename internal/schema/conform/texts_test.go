package conform_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/schema/conform"
)

// TestColumnsOfTexts checks columns of strings of all lengths with one among them that is no ASCII, and maybe not even text. Which one it
// is, is told by its number; a lenient check leaves all of them binary.
func TestColumnsOfTexts(t *testing.T) {
	s, r := newTypes(t), reader{}
	for length := range 140 {
		plain := strings.Repeat("#!0a~\x7f[]", 20)[:length]
		for _, special := range []string{"", "é", "\xff", "\x80"} {
			for _, at := range []int{0, length / 2, length} {
				odd := plain[:at] + special + plain[at:]
				texts := [][]byte{[]byte(plain), {}, []byte(plain), []byte(odd), []byte(plain)}
				data := encode(t, wire(t, thriftpackv1.ListValue(thriftpackv1.BinaryList(texts...))))
				got, err := r.text(data, s.of(t, "Texts"), conform.DecodeOptions{})
				if utf8.ValidString(odd) {
					want := []string{plain, "", plain, odd, plain}
					var read []string
					if wrong := json.Unmarshal([]byte(got), &read); err != nil || wrong != nil || strings.Join(read, "|") != strings.Join(want, "|") {
						t.Fatalf("%q: %v, %v, %s", odd, err, wrong, got)
					}
					continue
				}
				offset := strings.LastIndex(string(data[:len(data)-1-length]), odd)
				wantFault(t, err, fmt.Sprintf("BAD_UTF8 list<string>[3]: offset %d: string is not valid UTF-8", offset))
				if t.Failed() {
					return
				}
				got, err = r.text(data, s.of(t, "Texts"), conform.DecodeOptions{Lenient: true})
				var read []struct{ Binary []byte }
				_ = json.Unmarshal([]byte(got), &read) // of its strings, what is text has no bytes
				if err != nil || len(read) != len(texts) || string(read[3].Binary) != odd {
					t.Fatalf("%q, leniently: %v, %s", odd, err, got)
				}
			}
		}
	}
}

// TestStopEndsAmongTexts sees that a long column of texts asks whether to go on.
func TestStopEndsAmongTexts(t *testing.T) {
	s, r := newTypes(t), reader{}
	data := encode(t, wire(t, thriftpackv1.ListValue(thriftpackv1.BinaryList(make([][]byte, 100_000)...))))
	stopped, asked := errors.New("stopped"), 0
	_, err := r.value(data, s.of(t, "Texts"), decoder.Options{}, conform.DecodeOptions{Stop: func() error {
		if asked++; asked == 10 {
			return stopped
		}
		return nil
	}})
	if !errors.Is(err, stopped) {
		t.Errorf("asked %d times: %v", asked, err)
	}
}
