package decoder_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/thriftpack/thriftpack/internal/decoder"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// shortTexts are strings of each length around that of the longest that is copied with others.
func shortTexts() [][]byte {
	var texts [][]byte
	for length := range 140 {
		texts = append(texts, bytes.Repeat([]byte{byte('a' + length%26)}, length))
	}
	return texts
}

// compactTexts are the texts as a compact list has them, each behind its length.
func compactTexts(texts [][]byte) string {
	var b strings.Builder
	for _, text := range texts {
		b.WriteString(varintHex(len(text)) + hex.EncodeToString(text))
	}
	return b.String()
}

// TestColumnsOfShortTexts reads lists of strings whose last one is the end of the input, or is not.
func TestColumnsOfShortTexts(t *testing.T) {
	texts := shortTexts()
	for _, behind := range []int{0, 1, 20} {
		for last := 15; last < len(texts); last++ {
			some := texts[last-15 : last+1]
			data := unhex(t, "19 f8"+varintHex(len(some))+compactTexts(some)+strings.Repeat("11", behind)+"00")
			expect(t, data, &decoder.Options{Limits: usual}, thriftpackv1.StructValue(andBools(behind,
				thriftpackv1.ListField(1, thriftpackv1.BinaryList(some...)))...))
		}
	}
}

// andBools are fields with so many bools behind.
func andBools(count int, fields ...*thriftpackv1.Field) []*thriftpackv1.Field {
	for i := range count {
		fields = append(fields, thriftpackv1.BoolField(int16(2+i), true))
	}
	return fields
}

// TestMapsOfShortTexts reads maps from strings to integers, minimal and padded, at the bounds of what is copied at once.
func TestMapsOfShortTexts(t *testing.T) {
	varints := []struct {
		hex   string
		value int64
	}{
		{"00", 0},
		{"01", -1},
		{"8000", 0},
		{"818000", -1},
		{"fe ff ff ff ff ff ff 7f", 1<<55 - 1},
		{"feffffffffffffff7f", 1<<62 - 1},
		{"ffffffffffffffffff01", -1 << 63},
		{"8080808080808000", 0},
		{"808080808080808000", 0},
		{"feffffffffffffffff01", 1<<63 - 1},
		{"54", 42},
	}
	texts := shortTexts()
	for _, behind := range []int{0, 1, 20} {
		for last := len(varints); last < len(texts); last++ {
			keys := texts[last-len(varints) : last]
			var values []int64
			var body strings.Builder
			for i := range keys {
				v := varints[(last+i)%len(varints)]
				body.WriteString(compactTexts(keys[i:i+1]) + v.hex)
				values = append(values, v.value)
			}
			data := unhex(t, "1b"+varintHex(len(keys))+"86"+body.String()+strings.Repeat("11", behind)+"00")
			expect(t, data, &decoder.Options{Limits: usual}, thriftpackv1.StructValue(andBools(behind,
				thriftpackv1.MapField(1, thriftpackv1.MapOf(thriftpackv1.BinaryList(keys...), thriftpackv1.I64List(values...))))...))
		}
	}
}

// TestShortTextsAreDetected reads columns that are text, and columns that are not for one of them.
func TestShortTextsAreDetected(t *testing.T) {
	o := &decoder.Options{Limits: usual, DetectText: true}
	texts := shortTexts()
	words := make([]string, len(texts))
	for i, text := range texts {
		words[i] = string(text)
	}
	head := "19 f8" + varintHex(len(texts))
	expect(t, unhex(t, head+compactTexts(texts)+"00"), o, thriftpackv1.StructValue(thriftpackv1.ListField(1, thriftpackv1.StringList(words...))))
	texts[100] = []byte("\xff")
	expect(t, unhex(t, head+compactTexts(texts)+"00"), o, thriftpackv1.StructValue(thriftpackv1.ListField(1, thriftpackv1.BinaryList(texts...))))
}
