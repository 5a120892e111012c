package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
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
	if form == formJSON {
		unmarshal = protojson.Unmarshal
		if len(bytes.TrimSpace(data)) == 0 {
			return nil, errors.New("input: empty, want a Value as JSON such as {\"i32\": 42}")
		}
	}
	if err := unmarshal(data, value); err != nil {
		return nil, fmt.Errorf("input: not a Value as %s: %s", form, brief(strings.TrimPrefix(flatten(err.Error()), "proto: ")))
	}
	return value, nil
}

// brief cuts the middle out of a text that is too long for a line: an error may quote all of its input.
func brief(text string) string {
	const most = 300
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most/2], "") + " … " + strings.ToValidUTF8(text[len(text)-most/2:], "")
}
