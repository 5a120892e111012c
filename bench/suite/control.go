package suite

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"unsafe"

	"github.com/thriftpack/thriftpack/bench/peers/apachegen"
)

// control is a writer of the compact protocol to any io.Writer that is laid out as encoder.Writer is, without what that
// does beyond THRIFT-6153: each header, varint, double and string is passed on by itself. It exists in two forms, told apart
// by perByte: with a transport write for each byte of a varint, as Apache's Ruby library had it before that change, and
// with one for each varint, as after it. It is a measure for benchmarks and checks nothing.
type control struct {
	writer  io.Writer
	text    io.StringWriter
	perByte bool
	lastID  int16
	err     error
	scratch [binary.MaxVarintLen64]byte
}

func newControl(transport io.Writer, perByte bool) *control {
	c := &control{writer: transport, perByte: perByte}
	c.text, _ = transport.(io.StringWriter)
	return c
}

// put passes the first n bytes of scratch on.
func (c *control) put(n int) {
	if c.err != nil {
		return
	}
	_, c.err = c.writer.Write(c.scratch[:n])
}

func (c *control) byte(v byte) {
	c.scratch[0] = v
	c.put(1)
}

func (c *control) varint(v uint64) {
	if c.perByte {
		for ; v >= 0x80; v >>= 7 {
			c.byte(byte(v) | 0x80)
		}
		c.byte(byte(v))
		return
	}
	n := 0
	for ; v >= 0x80; v >>= 7 {
		c.scratch[n] = byte(v) | 0x80
		n++
	}
	c.scratch[n] = byte(v)
	c.put(n + 1)
}

func (c *control) i32(v int32) { c.varint(uint64(uint32(v)<<1 ^ uint32(v>>31))) } //nolint:gosec // zigzag
func (c *control) i64(v int64) { c.varint(uint64(v)<<1 ^ uint64(v>>63)) }         //nolint:gosec // zigzag

func (c *control) double(v float64) {
	binary.LittleEndian.PutUint64(c.scratch[:], math.Float64bits(v))
	c.put(8)
}

func (c *control) string(v string) {
	c.varint(uint64(len(v)))
	if c.err != nil {
		return
	}
	if c.text != nil {
		_, c.err = c.text.WriteString(v)
		return
	}
	_, c.err = c.writer.Write(unsafe.Slice(unsafe.StringData(v), len(v))) //nolint:gosec // an io.Writer must not write to it
}

// field writes a header in its short form: the ids of the payloads are close to each other.
func (c *control) field(id int16, code byte) {
	c.byte(byte(id-c.lastID)<<4 | code) //nolint:gosec // see above
	c.lastID = id
}

// The codes of the compact protocol.
const (
	codeTrue   = 1
	codeFalse  = 2
	codeI8     = 3
	codeI16    = 4
	codeI32    = 5
	codeI64    = 6
	codeDouble = 7
	codeBinary = 8
	codeList   = 9
)

func (c *control) boolean(id int16, v bool) {
	if v {
		c.field(id, codeTrue)
	} else {
		c.field(id, codeFalse)
	}
}

func (c *control) oneOfEach(v *apachegen.OneOfEach) {
	c.lastID = 0
	c.boolean(1, v.Truth)
	c.boolean(2, v.Lie)
	c.field(3, codeI8)
	c.byte(byte(v.Octet)) //nolint:gosec // its two's complement
	c.field(4, codeI16)
	c.i32(int32(v.ShortInteger))
	c.field(5, codeI32)
	c.i32(v.Integer)
	c.field(6, codeI64)
	c.i64(v.LongInteger)
	c.field(7, codeDouble)
	c.double(v.Fraction)
	c.field(8, codeBinary)
	c.string(v.Text)
	c.field(9, codeBinary)
	c.string(v.UnicodeText)
	c.byte(0)
}

// integers writes a struct with a list<i64> of at least 15 elements.
func (c *control) integers(values []int64) {
	c.lastID = 0
	c.field(1, codeList)
	c.byte(0xf0 | codeI64)
	c.varint(uint64(len(values)))
	for _, v := range values {
		c.i64(v)
	}
	c.byte(0)
}

func (c *control) write(value generated) error {
	switch v := value.(type) {
	case *apachegen.OneOfEach:
		c.oneOfEach(v)
	case *apachegen.Bulk:
		c.integers(v.I64s)
	default:
		return fmt.Errorf("control: no writer for %T", value)
	}
	return c.err
}

// controls are the two forms, for the payloads that THRIFT-6153 is told by.
func controls(ready generated, room int) []Contender {
	switch v := ready.(type) {
	case *apachegen.OneOfEach:
	case *apachegen.Bulk:
		if v.I64s == nil {
			return nil
		}
	default:
		return nil
	}
	contender := func(family string, perByte bool) Contender {
		transport := &plainTransport{data: make([]byte, 0, room)}
		c := newControl(transport, perByte)
		return Contender{Family: family, Run: func(runs int) error {
			for range runs {
				transport.data = transport.data[:0]
				if err := c.write(ready); err != nil {
					return fmt.Errorf("control: %w", err)
				}
			}
			return nil
		}}
	}
	return []Contender{contender(onePerVarint, false), contender(onePerByte, true)}
}

// countingTransport counts writes, and keeps what they wrote.
type countingTransport struct {
	plainTransport

	writes int64
}

func (t *countingTransport) Write(p []byte) (int, error) {
	t.writes++
	return t.plainTransport.Write(p)
}
