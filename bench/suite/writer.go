package suite

import (
	"fmt"

	"github.com/thriftpack/thriftpack/internal/encoder"
)

// plainTransport is an io.Writer and nothing else: it lends no room, so every Write copies.
type plainTransport struct{ data []byte }

func (t *plainTransport) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	return len(p), nil
}

// reusedChunk is a sink that lends the same chunk again and again.
type reusedChunk struct{ chunk []byte }

func (s *reusedChunk) Next(int) ([]byte, error) { return s.chunk, nil }

// chunkSize is the server's default.
const chunkSize = 32 << 10

// writers drive encoder.Writer with the fields of OneOfEach.
func writers() []Contender {
	return []Contender{
		{writerAny, func(runs int) error {
			transport := &plainTransport{data: make([]byte, 0, 64)}
			w := encoder.NewWriter(transport)
			for range runs {
				transport.data = transport.data[:0]
				if err := writeOneOfEach(w); err != nil {
					return fmt.Errorf("writer: %w", err)
				}
			}
			return nil
		}},
		{writerChunk, func(runs int) error {
			sink := &reusedChunk{chunk: make([]byte, chunkSize)}
			w := new(encoder.Writer)
			w.ResetSink(sink, nil, 0)
			for range runs {
				if err := writeOneOfEach(w); err != nil {
					return fmt.Errorf("writer: %w", err)
				}
			}
			return nil
		}},
	}
}

// writeOneOfEach is what generated code would do: each error stays in the writer, so it is looked at once.
//
//nolint:errcheck // see above
func writeOneOfEach(w *encoder.Writer) error {
	v := &oneOfEach
	w.WriteStructBegin()
	w.WriteFieldBool(1, v.truth)
	w.WriteFieldBool(2, v.lie)
	w.WriteFieldI8(3, v.octet)
	w.WriteFieldI16(4, v.short)
	w.WriteFieldI32(5, v.integer)
	w.WriteFieldI64(6, v.long)
	w.WriteFieldDouble(7, v.fraction)
	w.WriteFieldString(8, v.text)
	w.WriteFieldString(9, v.other)
	w.WriteFieldStop()
	w.WriteStructEnd()
	return w.Err()
}
