package oracle

import (
	"bufio"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// Vector is a value with its bytes, as several Apache implementations write them. See testdata/README.md.
type Vector struct {
	Name string
	// IDL is the file and Type the struct in it; both are "" for values without a type. JSON is the value by its field names; see
	// WithEntries.
	IDL, Type string
	JSON      json.RawMessage `json:"value"`
	Message   *struct {
		Name, Type string
		SeqID      int32
	}
	Tree            json.RawMessage
	Compact, Binary Hex
	Tags            []string
}

// Value returns the vector's value.
func (v *Vector) Value() (*thriftpackv1.Value, error) { return Tree(v.Tree) }

// Envelope returns the vector's message header, nil where it has none.
func (v *Vector) Envelope() *Message {
	if v.Message == nil {
		return nil
	}
	types := map[string]int32{"call": 1, "reply": 2, "exception": 3, "oneway": 4}
	return &Message{Name: v.Message.Name, Type: types[v.Message.Type], SeqID: v.Message.SeqID}
}

// Bytes returns the vector's bytes in the protocol.
func (v *Vector) Bytes(p Protocol) []byte {
	if p == Binary {
		return v.Binary
	}
	return v.Compact
}

// Invalid is an input that must be refused, or that only lenient readers accept.
type Invalid struct {
	Name       string
	Compact    Hex
	Message    bool
	Expect     string
	AlsoOK     []string `json:"also_ok"`
	Offset     *int64
	StrictOnly bool `json:"strict_only"`
}

// Prefixes is an input of which every proper prefix must be refused.
type Prefixes struct {
	Name    string
	Compact Hex
	Message bool `json:"message_envelope"`
}

// Noncanonical is a legal but unusual encoding of a tree.
type Noncanonical struct {
	Name      string
	Compact   Hex
	Message   bool            `json:"message_envelope"`
	Tree      json.RawMessage `json:"tree_raw"`
	Canonical *Hex
	Strict    *string
}

// Hex is bytes that JSON writes as hex digits.
type Hex []byte

// UnmarshalJSON implements json.Unmarshaler.
func (h *Hex) UnmarshalJSON(text []byte) error {
	var digits string
	if err := json.Unmarshal(text, &digits); err != nil {
		return err
	}
	var err error
	*h, err = hex.DecodeString(digits)
	return err
}

// Load reads a file of one JSON object a line, gzipped where its name says so.
func Load[T any](path string) (rows []*T, err error) {
	file, err := os.Open(path) //nolint:gosec // the tests name it
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	var r io.Reader = bufio.NewReader(file)
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(r); err != nil {
			return nil, err
		}
	}
	lines := json.NewDecoder(r)
	for {
		row := new(T)
		err := lines.Decode(row)
		switch {
		case err == nil:
			rows = append(rows, row)
		case errors.Is(err, io.EOF):
			return rows, nil
		default:
			return nil, fmt.Errorf("%s: row %d: %w", path, len(rows)+1, err)
		}
	}
}
