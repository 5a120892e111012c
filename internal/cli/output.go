package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"

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
func writeJSON(w io.Writer, m proto.Message) error {
	text, err := protojson.Marshal(m)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = w.Write(b.Bytes())
	return err
}
