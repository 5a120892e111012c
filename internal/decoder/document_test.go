package decoder_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
)

// The tables of docs/wire-format.md are true in both directions, and the tests that it names exist.
func TestWireFormatDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/wire-format.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 6 {
			continue
		}
		root, known := thriftpackv1.Type_value["TYPE_"+strings.TrimSpace(cells[2])]
		if !known {
			continue
		}
		rows++
		wire, compact := unhex(t, strings.ReplaceAll(cells[3], "`", "")), unhex(t, strings.ReplaceAll(cells[4], "`", ""))
		got, _, err := decode(t, new(decoder.Decoder), compact, &decoder.Options{Root: thriftpackv1.Type(root), Limits: usual})
		if err != nil || !bytes.Equal(got, wire) {
			t.Errorf("%s: decode(%x) = %x, %v, the document says %x", strings.TrimSpace(cells[1]), compact, got, err, wire)
		}
		written, err := new(encoder.Encoder).Append(nil, wire, &encoder.Options{Limits: encoder.Limits{Depth: 9, Elements: 99, StringBytes: 99}})
		if err != nil || !bytes.Equal(written, compact) {
			t.Errorf("%s: encode(%x) = %x, %v, the document says %x", strings.TrimSpace(cells[1]), wire, written, err, compact)
		}
	}
	if rows < 30 {
		t.Errorf("%d rows found, want all of them", rows)
	}
	for _, name := range regexp.MustCompile("`(decoder|encoder)\\.(Test\\w+)`").FindAllStringSubmatch(string(text), -1) {
		if !declares(t, name[1], name[2]) {
			t.Errorf("the document names %s.%s, which does not exist", name[1], name[2])
		}
	}
}

// declares says whether a package under internal has a test of the name.
func declares(t *testing.T, pkg, name string) bool {
	t.Helper()
	files, err := filepath.Glob("../" + pkg + "/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(source, []byte("func "+name+"(")) {
			return true
		}
	}
	return false
}
