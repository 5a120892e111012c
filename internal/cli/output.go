package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// bytesWriter writes bytes to w as formRaw, formHex or formBase64. Close ends the text forms with a line break.
type bytesWriter struct {
	io.Writer

	closers []io.Closer
	end     io.Writer
}

func newBytesWriter(w io.Writer, form string) *bytesWriter {
	switch form {
	case formHex:
		return &bytesWriter{Writer: hex.NewEncoder(w), end: w}
	case formBase64:
		encoder := base64.NewEncoder(base64.StdEncoding, w)
		return &bytesWriter{Writer: encoder, closers: []io.Closer{encoder}, end: w}
	default:
		return &bytesWriter{Writer: w}
	}
}

// Close writes what is left. It does not close the writer below.
func (b *bytesWriter) Close() error {
	for _, c := range b.closers {
		if err := c.Close(); err != nil {
			return err
		}
	}
	if b.end == nil {
		return nil
	}
	_, err := b.end.Write([]byte("\n"))
	return err
}

// bytesForm resolves formAuto: a person sees hex, a pipe or file gets the bytes.
func (s *IO) bytesForm(form string) string {
	if form != formAuto {
		return form
	}
	if s.OutTerminal {
		return formHex
	}
	return formRaw
}

// writeBytes writes data in one of the forms of bytes.
func writeBytes(w io.Writer, data []byte, form string) error {
	out := newBytesWriter(w, form)
	if _, err := out.Write(data); err != nil {
		return err
	}
	return out.Close()
}

// writeJSON writes m as JSON, indented. Package protojson varies its white space on purpose; this does not.
func (s *IO) writeJSON(m proto.Message) error {
	text, err := protojson.Marshal(m)
	if err != nil {
		return err
	}
	return s.writeText(text)
}

// writeText writes JSON text, indented, and printable on a terminal.
func (s *IO) writeText(text []byte) error {
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	indented := b.Bytes()
	if s.OutTerminal {
		indented = printableJSON(indented)
	}
	_, err := s.Out.Write(indented)
	return err
}

// printable replaces what a terminal may take for a command, or shows as something else than it is, by escapes: control characters, marks
// that turn the direction of writing, and bytes that are not UTF-8. Line breaks and tabs are among them.
func printable(text string) string {
	if strings.IndexFunc(text, isUnprintable) < 0 {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch _, size := utf8.DecodeRuneInString(text[i:]); {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

// printableLines does what printable does, and leaves line breaks and tabs as they are.
func printableLines(text string) string {
	var b strings.Builder
	for part := range strings.SplitAfterSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		line, ended := strings.CutSuffix(part, "\n")
		for i, cell := range strings.Split(line, "\t") {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(printable(cell))
		}
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func isUnprintable(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }

// printableJSON does for JSON text what printable does for text, in JSON's own way: what it escapes is inside of strings, since control
// characters below space are escaped there already, and outside of them they are line breaks and spaces.
func printableJSON(text []byte) []byte {
	if !bytes.ContainsFunc(text, isUnprintableInJSON) {
		return text
	}
	var b []byte
	for _, r := range string(text) {
		if !isUnprintableInJSON(r) {
			b = utf8.AppendRune(b, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			b = fmt.Appendf(b, `\u%04x`, unit)
		}
	}
	return b
}

func isUnprintableInJSON(r rune) bool { return r > ' ' && !unicode.IsPrint(r) }
