package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// read returns all of the file named by the first argument, or of the standard input without one or with "-".
func read(s *IO, args []string) ([]byte, error) {
	if len(args) > 0 && args[0] != "-" {
		return os.ReadFile(args[0])
	}
	if s.InTerminal {
		s.note("reading from the terminal; end with Ctrl-D")
	}
	data, err := io.ReadAll(s.In)
	if err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	return data, nil
}

// Forms of Thrift bytes as input and output, and of values.
const (
	formAuto     = "auto"
	formHex      = "hex"
	formBase64   = "base64"
	formRaw      = "raw"
	formJSON     = "json"
	formValue    = "value"
	formWire     = "wire"
	formResponse = "response"
)

var errOddHex = errors.New("hex: an odd number of digits")

// thriftBytes turns the text form of Thrift bytes into the bytes. With formAuto, text of hex digits and white space alone is
// hex, and everything else is the bytes themselves. The result may alias data.
func thriftBytes(data []byte, form string) ([]byte, error) {
	switch form {
	case formRaw:
		return data, nil
	case formBase64:
		return parseBase64(data)
	case formHex:
		return parseHex(data)
	default:
		if looksLikeHex(data) {
			return parseHex(data)
		}
		return data, nil
	}
}

// looksLikeHex reports whether data is hex digits and white space, perhaps after 0x, and not empty.
func looksLikeHex(data []byte) bool {
	text := bytes.TrimPrefix(bytes.TrimSpace(data), []byte("0x"))
	for _, c := range text {
		if !isHexDigit(c) && !isSpace(c) {
			return false
		}
	}
	return len(text) > 0
}

func isHexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// parseHex reads hex digits with any white space between them, perhaps after 0x.
func parseHex(data []byte) ([]byte, error) {
	text := bytes.TrimPrefix(bytes.TrimSpace(data), []byte("0x"))
	digits := make([]byte, 0, len(text))
	for i, c := range text {
		switch {
		case isHexDigit(c):
			digits = append(digits, c)
		case !isSpace(c):
			return nil, fmt.Errorf("hex: byte %q at position %d is no hex digit", c, i)
		}
	}
	if len(digits)%2 != 0 {
		return nil, errOddHex
	}
	return hex.AppendDecode(nil, digits)
}

// parseBase64 reads standard or URL-safe base64, padded or not, with any white space.
func parseBase64(data []byte) ([]byte, error) {
	text := strings.TrimRight(strings.Join(strings.Fields(string(data)), ""), "=")
	text = strings.NewReplacer("-", "+", "_", "/").Replace(text)
	out, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("base64: %w", err)
	}
	return out, nil
}

// parseValue reads a Value in the form formJSON or formWire.
func parseValue(data []byte, form string) (*thriftpackv1.Value, error) {
	value := &thriftpackv1.Value{}
	unmarshal := proto.Unmarshal
	if form != formWire {
		unmarshal = protojson.Unmarshal
		if len(bytes.TrimSpace(data)) == 0 {
			return nil, errors.New("input: empty, want a Value as JSON such as {\"i32\": 42}")
		}
	}
	if err := unmarshal(data, value); err != nil {
		return nil, newInputError(form, flatten(err.Error()))
	}
	return value, nil
}

// inputError is the error of an input that is no Value. It says nothing of what the input holds, which package protobuf quotes.
type inputError struct {
	form         string
	line, column string // of JSON, where they are known
	what         string
}

// What package protobuf says of wrong input, up to where it quotes the input.
var (
	inputPlace = regexp.MustCompile(`\(line (\d+):(\d+)\)`)
	inputFault = regexp.MustCompile(`syntax error|unexpected EOF|unknown field|duplicate field|invalid value for \w+ field \w+|` +
		`oneof [\w.]+ is already set|exceeded max recursion depth|invalid UTF-8|cannot parse invalid wire-format data`)
)

// newInputError takes from an error's text what is known not to be of the input.
func newInputError(form, text string) *inputError {
	e := &inputError{form: form, what: inputFault.FindString(text)}
	if at := inputPlace.FindStringSubmatch(text); at != nil {
		e.line, e.column = at[1], at[2]
	}
	return e
}

// Error is the error in words.
func (e *inputError) Error() string {
	place := ""
	if e.line != "" {
		place = "line " + e.line + ", column " + e.column + ": "
	}
	return "input: " + place + e.inLine()
}

// inLine is the error of a line whose number the caller tells.
func (e *inputError) inLine() string {
	if e.what == "" {
		return "not a Value as " + e.form
	}
	return "not a Value as " + e.form + ": " + e.what
}
