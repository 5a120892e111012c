// Package conformance holds the encoder, the decoder and the running server to the golden vectors, to the inputs that must be
// refused, and to Parquet's footers.
package conformance

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/test/oracle"
)

// vectorFiles are the files of values that have bytes in both protocols.
var vectorFiles = []string{"vectors.jsonl.gz", "large.jsonl.gz"}

// load reads a file of golden rows and checks that none is missing.
func load[T any](t *testing.T, file string, rows int) []*T {
	t.Helper()
	loaded, err := oracle.Load[T]("../testdata/vectors/" + file)
	if err != nil {
		t.Fatal(err)
	}
	if len(loaded) != rows {
		t.Fatalf("%s has %d rows, want %d", file, len(loaded), rows)
	}
	return loaded
}

// vectors returns all values that have bytes in both protocols; -short leaves out the large ones.
func vectors(t *testing.T) []*oracle.Vector {
	t.Helper()
	if testing.Short() {
		return load[oracle.Vector](t, vectorFiles[0], 858)
	}
	return append(load[oracle.Vector](t, vectorFiles[0], 858), load[oracle.Vector](t, vectorFiles[1], 16)...)
}

// wire returns the vector's value as a Go client sends it.
func wire(t *testing.T, vector *oracle.Vector) []byte {
	t.Helper()
	value, err := vector.Value()
	if err != nil {
		t.Fatalf("%s: %v", vector.Name, err)
	}
	b, err := proto.Marshal(value)
	if err != nil {
		t.Fatalf("%s: %v", vector.Name, err)
	}
	return b
}

// encoderOptions returns options that admit all vectors.
func encoderOptions(p oracle.Protocol, m *oracle.Message) *encoder.Options {
	o := &encoder.Options{Limits: encoder.Limits{Depth: 64, Elements: 1 << 24, StringBytes: 1 << 24, SlowNodes: 1 << 16}}
	if p == oracle.Binary {
		o.Protocol = encoder.Binary
	}
	if m != nil {
		o.Message = &encoder.Message{Name: m.Name, Type: m.Type, SeqID: m.SeqID}
	}
	return o
}

// TestEncoder encodes every vector, in one piece and through chunks, framed and not, by the fast path.
func TestEncoder(t *testing.T) {
	t.Parallel()
	var e encoder.Encoder
	for _, vector := range vectors(t) {
		value := wire(t, vector)
		for _, protocol := range oracle.Protocols {
			o, want := encoderOptions(protocol, vector.Envelope()), vector.Bytes(protocol)
			got, err := e.Append(nil, value, o)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %s: Append = %s, %v, want %s", vector.Name, protocol, short(got), err, short(want))
			}
			if e.SlowPath() {
				t.Errorf("%s: %s: took the slow path", vector.Name, protocol)
			}
			size, err := e.Prepare(value, o)
			if err != nil || size != int64(len(want)) {
				t.Errorf("%s: %s: Prepare = %d, %v, want %d", vector.Name, protocol, size, err, len(want))
				continue
			}
			sink := new(sink)
			if buf, filled, err := e.WriteTo(sink, nil, 0); err != nil || !bytes.Equal(sink.joined(buf, filled), want) {
				t.Errorf("%s: %s: WriteTo: %v, wrote %s, want %s", vector.Name, protocol, err, short(sink.data), short(want))
			}
			o.Framed = true
			framed, err := e.Append(nil, value, o)
			if wantFramed := frame(want); err != nil || !bytes.Equal(framed, wantFramed) {
				t.Errorf("%s: %s: framed: Append = %s, %v, want %s", vector.Name, protocol, short(framed), err, short(wantFramed))
			}
			e.Release()
		}
	}
}

// frame puts the length of data before it, as TFramedTransport does.
func frame(data []byte) []byte {
	n := len(data)
	return append([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, data...)
}

// sink lends chunks of the smallest size and joins them.
type sink struct{ data, chunk []byte }

func (s *sink) Next(filled int) ([]byte, error) {
	s.data = append(s.data, s.chunk[:filled]...)
	s.chunk = bytes.Repeat([]byte{0xee}, 512)
	return s.chunk, nil
}

func (s *sink) joined(buf []byte, filled int) []byte {
	s.data = append(s.data, buf[:filled]...)
	return s.data
}
