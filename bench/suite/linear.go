package suite

import (
	"fmt"
	"iter"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fixture"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// Growth is what the encoder alone costs for one size of a payload, from wire bytes into a buffer of 32 KiB that is used again
// and again: checking and measuring it, then writing it.
type Growth struct {
	// Payload is what is encoded.
	Payload string `json:"payload"`
	// Size is how many Thrift bytes it has.
	Size int64 `json:"size"`
	// NanosecondsPerByte is process CPU time for a byte of Thrift, one entry a trial.
	NanosecondsPerByte []float64 `json:"nanoseconds_per_byte"`
	// ObjectsPerRun is what encoding it once allocates.
	ObjectsPerRun float64 `json:"objects_per_run"`
}

// Median is the middle one of the trials.
func (g *Growth) Median() float64 { return Median(g.NanosecondsPerByte) }

// listNumber is the number of a Value's list.
const listNumber = 9

// growing are the payloads: a list whose elements are repeated until the size is reached, with about how many bytes of Thrift
// an element has, and how many elements make a block that does not look regular.
var growing = []struct {
	name           string
	value          func(elements int) *thriftpackv1.Value
	element, block int64
}{
	{"list<i64>", fixture.ListI64, 5, 4096},
	{"list<struct>", fixture.ListStruct, 37, 1000},
}

// listBytes takes the List out of the wire bytes of a Value that is one.
func listBytes(value []byte) []byte {
	_, _, n := protowire.ConsumeTag(value)
	list, _ := protowire.ConsumeBytes(value[n:])
	return list
}

// MeasureGrowth measures sizes that double, or more, from least to most, each for at least runBytes a trial.
func MeasureGrowth(least, most int64, factor, trials int, runBytes int64) iter.Seq2[Growth, error] {
	return func(yield func(Growth, error) bool) {
		for _, payload := range growing {
			for size := least; size <= most; size *= int64(factor) {
				value := fixture.Wire(payload.value(int(min(max(size/payload.element, 1), payload.block))))
				encoded, err := new(encoder.Encoder).Append(nil, value, &encoder.Options{Limits: encoderLimits})
				if err != nil {
					yield(Growth{}, fmt.Errorf("growth: %w", err))
					return
				}
				times := max((size+int64(len(encoded))/2)/int64(len(encoded)), 1)
				g, err := measureGrowth(payload.name, repeat(listBytes(value), times), trials, runBytes)
				if !yield(g, err) || err != nil {
					return
				}
			}
		}
	}
}

// repeat makes the wire bytes of a Value that is a list of the elements of another one, times over. Packed elements become one run.
func repeat(list []byte, times int64) []byte {
	number, _, n := protowire.ConsumeTag(list)
	first, length := protowire.ConsumeBytes(list[n:])
	head, body := []byte(nil), list
	if n+length == len(list) { // one packed run
		body = first
		head = protowire.AppendTag(nil, number, protowire.BytesType)
		head = protowire.AppendVarint(head, uint64(int64(len(body))*times)) //nolint:gosec // positive
	}
	out := append(beginList(int64(len(head))+int64(len(body))*times), head...)
	for range times {
		out = append(out, body...)
	}
	return out
}

// beginList is the head of a Value that is a list of size wire bytes, with room for these.
func beginList(size int64) []byte {
	out := make([]byte, 0, size+32)
	out = protowire.AppendTag(out, listNumber, protowire.BytesType)
	return protowire.AppendVarint(out, uint64(size)) //nolint:gosec // positive
}

func measureGrowth(name string, value []byte, trials int, runBytes int64) (Growth, error) {
	limits := encoder.Limits{Depth: 64, Elements: math.MaxInt32, StringBytes: math.MaxInt32}
	options := &encoder.Options{Limits: limits}
	e, sink := new(encoder.Encoder), &reusedChunk{chunk: make([]byte, chunkSize)}
	g := Growth{Payload: name}
	encode := func(runs int) error {
		for range runs {
			size, err := e.Prepare(value, options)
			if err != nil {
				return fmt.Errorf("growth: %w", err)
			}
			sink.size = 0
			_, filled, err := e.WriteTo(sink, nil, 0)
			if err != nil {
				return fmt.Errorf("growth: %w", err)
			}
			if written := sink.size + int64(filled); written != size {
				return fmt.Errorf("growth: %d bytes written, want %d", written, size)
			}
			g.Size = size
			e.Release()
		}
		return nil
	}
	if err := encode(1); err != nil {
		return g, err
	}
	runs := int(max(runBytes/g.Size, 1))
	for range trials {
		sample, err := measure(Contender{Run: encode}, runs)
		if err != nil {
			return g, err
		}
		g.NanosecondsPerByte = append(g.NanosecondsPerByte, float64(sample.CPU)/float64(runs)/float64(g.Size))
		g.ObjectsPerRun = float64(sample.Objects) / float64(runs)
	}
	return g, nil
}
