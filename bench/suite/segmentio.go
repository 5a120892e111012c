package suite

import (
	"bytes"
	"fmt"

	segmentio "github.com/segmentio/encoding/thrift"
)

// The structs with segmentio's tags. It leaves out fields that are zero unless they are required.
type (
	oneOfEachTags struct {
		Truth    bool    `thrift:"1,required"`
		Lie      bool    `thrift:"2,required"`
		Octet    int8    `thrift:"3,required"`
		Short    int16   `thrift:"4,required"`
		Integer  int32   `thrift:"5,required"`
		Long     int64   `thrift:"6,required"`
		Fraction float64 `thrift:"7,required"`
		Text     string  `thrift:"8,required"`
		Other    string  `thrift:"9,required"`
	}
	// level is a struct with a list of the struct below, and maps to it.
	level[T any] struct {
		Elements []T           `thrift:"1,required"`
		ByI32    map[int32]T   `thrift:"2,required"`
		ByI64    map[int64]T   `thrift:"3,required"`
		ByDouble map[float64]T `thrift:"4,required"`
		ByString map[string]T  `thrift:"5,required"`
	}
	nested4Tags level[*level[*level[*level[*oneOfEachTags]]]]
	recordTags  struct {
		Number  int32   `thrift:"1,required"`
		Time    int64   `thrift:"2,required"`
		Measure float64 `thrift:"3,required"`
		Name    string  `thrift:"4,required"`
		Good    bool    `thrift:"5,required"`
	}
	bulkTags struct {
		I64s    []int64          `thrift:"1"`
		I32s    []int32          `thrift:"2"`
		Doubles []float64        `thrift:"3"`
		Strings []string         `thrift:"4"`
		Records []*recordTags    `thrift:"5"`
		Counts  map[string]int64 `thrift:"6"`
		Blob    []byte           `thrift:"7"`
	}
)

// segmentioProtocol is the only one that is compared: in v0.5.4 its binary protocol does not read what Apache's writes.
func segmentioProtocol() segmentio.Protocol { return new(segmentio.CompactProtocol) }

// tagged is the payload as a struct of segmentio's, read by its own reader. Doubles come out wrong where it reads them in
// the other byte order; writing them takes as long.
func (p payload) tagged() (any, error) {
	value := p.peer()
	if err := segmentio.Unmarshal(segmentioProtocol(), p.compact, value); err != nil {
		return nil, fmt.Errorf("segmentio: %w", err)
	}
	return value, nil
}

// segmentioWriters write a ready struct: with an encoder that is reused, and with a new one each time.
func segmentioWriters(value any, room int) []Contender {
	p := segmentioProtocol()
	transport := bytes.NewBuffer(make([]byte, 0, room+bytes.MinRead))
	enc := segmentio.NewEncoder(p.NewWriter(transport))
	return []Contender{
		{Family: segmentioReady, Run: func(runs int) error {
			for range runs {
				transport.Reset()
				if err := enc.Encode(value); err != nil {
					return fmt.Errorf("segmentio: %w", err)
				}
			}
			return nil
		}},
		{Family: segmentioMarshal, Run: func(runs int) error {
			for range runs {
				if _, err := segmentio.Marshal(p, value); err != nil {
					return fmt.Errorf("segmentio: %w", err)
				}
			}
			return nil
		}},
	}
}

func segmentioReader(data []byte, fresh func() any) func(runs int) error {
	p := segmentioProtocol()
	return func(runs int) error {
		for range runs {
			if err := segmentio.Unmarshal(p, data, fresh()); err != nil {
				return fmt.Errorf("segmentio: %w", err)
			}
		}
		return nil
	}
}
