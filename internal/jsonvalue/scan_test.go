package jsonvalue

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// random returns numbers that are the same on every run.
func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// behind are texts that may follow a scalar: nothing, and so much that words can be read.
var behind = []string{"", ",", "]", "}  ", ",1234567", ", 12345678901234567890123456789"}

// TestScanSpace shows where white space ends, in pieces that cross the ends of words.
func TestScanSpace(t *testing.T) {
	t.Parallel()
	for _, space := range []string{"", " ", "\n", "\r\n\t ", strings.Repeat(" ", 7), strings.Repeat(" ", 8), strings.Repeat(" ", 33), "\n" + strings.Repeat(" ", 20) + "\t"} {
		for _, rest := range []string{"", "x", "\v", "\f ", "\u00a0", "        x"[8:], "\x00"} {
			if got := scanSpace([]byte("a"+space+rest), 1); got != 1+len(space) {
				t.Errorf("scanSpace(%q) = %d, want %d", space+rest, got, 1+len(space))
			}
		}
	}
}

// TestScanString compares with a search byte by byte, with every byte at every place of a word.
func TestScanString(t *testing.T) {
	t.Parallel()
	check := func(text string) {
		t.Helper()
		end, seen := 0, uint8(0)
		for end < len(text) && text[end] != '"' && text[end] >= ' ' {
			switch {
			case text[end] == '\\':
				seen |= scanEscaped
				end++
			case text[end] >= utf8.RuneSelf:
				seen |= scanWide
			}
			end++
		}
		end = min(end, len(text))
		if gotEnd, gotSeen := scanString([]byte("\""+text), 1); gotEnd != 1+end || gotSeen != seen {
			t.Errorf("scanString(%q) = %d, %b, want %d, %b", text, gotEnd, gotSeen, 1+end, seen)
		}
	}
	for size := range 20 {
		for at := range size {
			for c := range 256 {
				text := []byte(strings.Repeat("a", size))
				text[at] = byte(c)
				check(string(text))
				check(string(text) + `"`)
				check(string(text) + `\"éü"`)
			}
		}
	}
	alphabet := []string{"a", "~", "!", "\"", `\`, "\x1f", "\x7f", "\x80", "\xff", "é", " ", "#", "["}
	r := random(1)
	for range 20_000 {
		var text strings.Builder
		for range r.IntN(30) {
			text.WriteString(alphabet[min(r.IntN(60), len(alphabet)-1)])
		}
		check(text.String())
	}
}

// TestScanDigits reads digits of every number, before everything.
func TestScanDigits(t *testing.T) {
	t.Parallel()
	digits := "9876543210987654321098765"
	for n := range len(digits) + 1 {
		want, err := strconv.ParseUint("0"+digits[:n], 10, 64)
		for c := range 256 {
			if c >= '0' && c <= '9' {
				continue
			}
			for _, rest := range []string{"", string([]byte{byte(c)}), string([]byte{byte(c)}) + "1234567890"} {
				got, count := scanDigits([]byte(digits[:n]+rest), 0)
				switch {
				case n > 19:
					if count != 20 {
						t.Errorf("scanDigits of %d digits counts %d, want 20", n, count)
					}
				case err != nil || got != want || count != n:
					t.Errorf("scanDigits(%q) = %d, %d, want %d, %d", digits[:n]+rest, got, count, want, n)
				}
			}
		}
	}
}

// TestScanInteger reads integers around every power of two and of ten, before everything that may follow.
func TestScanInteger(t *testing.T) {
	t.Parallel()
	check := func(number *big.Int) {
		t.Helper()
		for _, rest := range behind {
			text := number.String()
			got, next, ok := scanInteger([]byte(text+rest), 0)
			if ok != number.IsInt64() || ok && (got != number.Int64() || next != len(text)) {
				t.Fatalf("scanInteger(%q) = %d, %d, %v", text+rest, got, next, ok)
			}
			exact, is := scanExactly([]byte(text))
			if (is == scanIsInteger) != number.IsInt64() || is == scanIsInteger && exact != number.Int64() || is == scanIsFraction {
				t.Fatalf("scanExactly(%q) = %d, %d", text, exact, is)
			}
		}
	}
	for _, base := range []int64{2, 10} {
		for exponent := range int64(70) {
			power := new(big.Int).Exp(big.NewInt(base), big.NewInt(exponent), nil)
			for add := int64(-2); add <= 2; add++ {
				number := new(big.Int).Add(power, big.NewInt(add))
				check(number)
				check(number.Neg(number))
			}
		}
	}
	r := random(2)
	for range 100_000 {
		check(big.NewInt(int64(r.Uint64() >> r.UintN(64))))
	}
	for _, text := range []string{"", "-", "--1", "+1", "01", "-01", "00", "1.0", "1e3", "1E3", ".1", "x", "1.", "-x", "123456789012345678901"} {
		for _, rest := range behind {
			if got, _, ok := scanInteger([]byte(text+rest), 0); ok {
				t.Errorf("scanInteger(%q) = %d", text+rest, got)
			}
		}
	}
}

// TestScanExactly reads integers in all their forms, and what is none.
func TestScanExactly(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		want int64
		is   scanWhole
	}{
		{"0", 0, scanIsInteger},
		{"-0", 0, scanIsInteger},
		{"0.000", 0, scanIsInteger},
		{"0e999999999999999999999", 0, scanIsInteger},
		{"0e-1", 0, scanIsInteger},
		{"1.0", 1, scanIsInteger},
		{"1e3", 1000, scanIsInteger},
		{"1E+3", 1000, scanIsInteger},
		{"1.5e1", 15, scanIsInteger},
		{"-1.50e1", -15, scanIsInteger},
		{"1000e-3", 1, scanIsInteger},
		{"10.0e-1", 1, scanIsInteger},
		{"0.001e3", 1, scanIsInteger},
		{"0.001e4", 10, scanIsInteger},
		{"100.001e3", 100001, scanIsInteger},
		{"9223372036854775807.0", math.MaxInt64, scanIsInteger},
		{"922337203685477580.7e1", math.MaxInt64, scanIsInteger},
		{"-9223372036854775808.0", math.MinInt64, scanIsInteger},
		{"0.00000000000000000000000009223372036854775807e44", math.MaxInt64, scanIsInteger},
		{"1e18", 1e18, scanIsInteger},
		{"9e18", 9e18, scanIsInteger},
		{"1" + strings.Repeat("0", 1000) + "e-1000", 1, scanIsInteger},
		{"0." + strings.Repeat("0", 1000) + "1e1001", 1, scanIsInteger},
		{"9223372036854775808.0", 0, scanIsTooLarge},
		{"-9223372036854775809.0", 0, scanIsTooLarge},
		{"1e19", 0, scanIsTooLarge},
		{"-1e19", 0, scanIsTooLarge},
		{"1e20", 0, scanIsTooLarge},
		{"1e99999999999999999999999999", 0, scanIsTooLarge},
		{"1.5", 0, scanIsFraction},
		{"1.05e1", 0, scanIsFraction},
		{"1e-1", 0, scanIsFraction},
		{"1e-99999999999999999999999999", 0, scanIsFraction},
		{"-0.1", 0, scanIsFraction},
		{"10000000000000000000000.5", 0, scanIsFraction},
	} {
		got, is := scanExactly([]byte(test.text))
		if got != test.want || is != test.is {
			t.Errorf("scanExactly(%.40s) = %d, %d, want %d, %d", test.text, got, is, test.want, test.is)
		}
		if end, ok := scanNumber([]byte(test.text), 0); !ok || end != len(test.text) {
			t.Errorf("scanNumber(%.40s) = %d, %v", test.text, end, ok)
		}
	}
	r := random(3)
	for range 100_000 {
		text := fmt.Sprintf("%d.%0*de%d", r.IntN(100)-50, 1+r.IntN(4), r.IntN(20), r.IntN(30)-10)
		want, good := new(big.Rat).SetString(text)
		if !good {
			t.Fatal(text)
		}
		is := scanIsInteger
		if !want.IsInt() {
			is = scanIsFraction
		} else if !want.Num().IsInt64() {
			is = scanIsTooLarge
		}
		got, gotIs := scanExactly([]byte(text))
		if gotIs != is || is == scanIsInteger && got != want.Num().Int64() {
			t.Fatalf("scanExactly(%s) = %d, %d, want %s", text, got, gotIs, want)
		}
	}
}

// TestScanNumber shows which form a number has, and the byte at which another one is at fault.
func TestScanNumber(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		end  int
		ok   bool
	}{
		{"0", 1, true},
		{"-0.0", 4, true},
		{"10", 2, true},
		{"1e5", 3, true},
		{"1E-05", 5, true},
		{"1.25e+10", 8, true},
		{"123456789012345678901234567890", 30, true},
		{"1x", 1, true},
		{"", 0, false},
		{"-", 1, false},
		{"-x", 1, false},
		{"+1", 0, false},
		{"01", 1, false},
		{"-00", 2, false},
		{"1.", 2, false},
		{"1.x", 2, false},
		{".5", 0, false},
		{"1e", 2, false},
		{"1e+", 3, false},
		{"1e-x", 3, false},
		{"1.5e", 4, false},
		{"Infinity", 0, false},
	} {
		if end, ok := scanNumber([]byte(test.text), 0); end != test.end || ok != test.ok {
			t.Errorf("scanNumber(%q) = %d, %v, want %d, %v", test.text, end, ok, test.end, test.ok)
		}
	}
}

// TestScanDouble compares with strconv: numbers as shortest printers write them, halves between two doubles, and anything else.
func TestScanDouble(t *testing.T) {
	t.Parallel()
	short := 0
	check := func(text string) {
		t.Helper()
		want, err := strconv.ParseFloat(text, 64)
		for _, rest := range behind[:3] {
			got, next, ok := scanDouble([]byte(text+rest), 0)
			if ok && (math.Float64bits(got) != math.Float64bits(want) || next != len(text) || err != nil) {
				t.Fatalf("scanDouble(%q) = %v, %d, want %v, %v", text+rest, got, next, want, err)
			}
			if ok {
				short++
			}
		}
		got, ok := scanDoubleExactly([]byte(text))
		if math.Float64bits(got) != math.Float64bits(want) || ok != (err == nil) {
			t.Fatalf("scanDoubleExactly(%s) = %v, %v, want %v, %v", text, got, ok, want, err)
		}
	}
	for _, text := range []string{
		"0", "-0", "0.0", "-0.0", "0e5", "1", "-1", "0.1", "0.3", "1e22", "1e23", "1e-22", "1e-23", "1e27", "1e28", "1e-27", "1e-28",
		"9007199254740991", "9007199254740992", "9007199254740993", "9007199254740993e1", "9007199254740995", "18446744073709551615e3",
		"9999999999999999999", "9999999999999999999e27", "9999999999999999999e-27", "1.7976931348623157e308", "1.7976931348623159e308",
		"1e400", "-1e400", "1e-400", "5e-324", "2e-324", "4.9406564584124654e-324", "0.000000000000000000000000000000000000001",
		"9007199254740993.5", "9007199254740992.5", "10000000000000000000", "0.30000000000000004", "8.5e00", "1e05",
		strings.Repeat("9", 400), "0." + strings.Repeat("0", 400) + "1", "1" + strings.Repeat("0", 300) + "e-300",
	} {
		check(text)
	}
	r := random(4)
	for range 50_000 {
		check(strconv.FormatFloat(math.Float64frombits(r.Uint64()&^(0x7ff<<52)|uint64(1023-70+r.UintN(140))<<52), 'g', -1, 64))
		check(strconv.FormatFloat(r.NormFloat64(), 'f', -1, 64))
		check(fmt.Sprintf("%d.%de%d", r.IntN(1000), r.Uint64()>>r.UintN(64), r.IntN(60)-30))
	}
	for range 50_000 {
		// The decimal form of the middle between two doubles, where it is short enough: it must go to the even one.
		low := math.Float64frombits(uint64(1023+50+r.UintN(10))<<52 | r.Uint64()>>12)
		middle := new(big.Float).SetPrec(200).Add(big.NewFloat(low), big.NewFloat(math.Nextafter(low, math.Inf(1))))
		check(middle.Quo(middle, big.NewFloat(2)).Text('f', -1))
	}
	if short < 350_000 {
		t.Errorf("%d numbers went the short way", short)
	}
	for _, text := range []string{"", "-", "x", "01", "00.5", "1.", "1.e5", ".5", "1e", "1e+", "-x", "NaN", "Inf", "0x10"} {
		if got, next, ok := scanDouble([]byte(text), 0); ok && next == len(text) {
			t.Errorf("scanDouble(%q) = %v", text, got)
		}
	}
}

// TestScanBase64 compares with encoding/base64, strictly: every length, both alphabets, with and without padding, and one wrong byte anywhere.
func TestScanBase64(t *testing.T) {
	t.Parallel()
	read := func(text []byte) (data []byte, ok bool) {
		digits, size, ok := scanBase64Size(text)
		if !ok {
			return nil, false
		}
		out := bytes.Repeat([]byte{0xcc}, size+8)
		ok = scanBase64Bytes(out, digits)
		return out[:size], ok
	}
	encodings := []*base64.Encoding{base64.StdEncoding.Strict(), base64.URLEncoding.Strict(), base64.RawStdEncoding.Strict(), base64.RawURLEncoding.Strict()}
	check := func(text []byte) {
		t.Helper()
		var want []byte
		good := false
		if !bytes.ContainsAny(text, "\r\n") { // which the library leaves out
			for _, encoding := range encodings {
				if data, err := encoding.DecodeString(string(text)); err == nil {
					want, good = data, true
				}
			}
		}
		if got, ok := read(text); ok != good || good && !bytes.Equal(got, want) {
			t.Fatalf("%q is %x, %v, want %x, %v", text, got, ok, want, good)
		}
	}
	r := random(6)
	for size := range 70 {
		data := make([]byte, size)
		for range 20 {
			for i := range data {
				data[i] = byte(r.Uint64())
			}
			for _, encoding := range encodings {
				text := []byte(encoding.EncodeToString(data))
				check(text)
				if len(text) == 0 {
					continue
				}
				for _, c := range []byte("A/+-_= \n\x00\x80\xff") {
					wrong := bytes.Clone(text)
					wrong[r.IntN(len(wrong))] = c
					check(wrong)
					wrong[len(wrong)-1] = c
					check(wrong)
				}
				check(text[:len(text)-1])
				check(append(text, '='))
			}
		}
	}
}

// TestScanEscapes compares with encoding/json.
func TestScanEscapes(t *testing.T) {
	t.Parallel()
	r := random(8)
	pieces := []string{
		"a", "é", "😀", "日本", `\n`, `\"`, `\\`, `\/`, `\b`, `\f`, `\r`, `\t`, `\u0000`, `\u0041`, `\u00e9`, `\u07FF`, `\u0800`, `\uffff`, `\ud83d\ude00`, `\uDBFF\uDFFF`, "a longer piece of text",
	}
	for range 20_000 {
		var text strings.Builder
		for range r.IntN(20) {
			text.WriteString(pieces[r.IntN(len(pieces))])
		}
		raw := []byte(text.String())
		var want string
		if err := json.Unmarshal([]byte(`"`+text.String()+`"`), &want); err != nil {
			t.Fatal(err)
		}
		size, wrong, _ := scanEscapes(raw)
		out := bytes.Repeat([]byte{0xcc}, size+1)
		if wrong >= 0 || size != len(want) || scanUnescape(out[:size], raw) != size || string(out[:size]) != want || out[size] != 0xcc {
			t.Fatalf("%s is %q, %d bytes, %d, want %q", raw, out[:size], size, wrong, want)
		}
	}
}

// TestDoublesWithoutDigits has numbers of no form where enough text follows to read by words.
func TestDoublesWithoutDigits(t *testing.T) {
	behind := strings.Repeat(" ", 64)
	for _, text := range []string{".5", "-.5", "-", ".", "-.", "5.", "01.5", "-01.5", "1.5e", "1.e5", "", "+1.5"} {
		if number, next, ok := scanDouble([]byte(text+","+behind), 0); ok {
			t.Errorf("scanDouble(%q) = %v, %d, want none", text, number, next)
		}
	}
	for text, want := range map[string]float64{"0.5": 0.5, "-0.5": -0.5, "1234567.5": 1234567.5, "1.5e1": 15, "7": 7} {
		if number, next, ok := scanDouble([]byte(text+","+behind), 0); !ok || number != want || next != len(text) {
			t.Errorf("scanDouble(%q) = %v, %d, %t, want %v", text, number, next, ok, want)
		}
	}
}
