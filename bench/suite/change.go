package suite

import (
	"bytes"
	"fmt"

	"github.com/thriftpack/thriftpack/internal/encoder"
)

// Change is a row of the table that tells THRIFT-6153 in its own terms: what writing through any io.Writer costs with a
// transport write for each byte of a varint, with one for each varint, and with our Writer.
type Change struct {
	Measurement

	// WritesPerRun is how often the transport's Write is called in a run.
	WritesPerRun int64 `json:"writes_per_run"`
	// Units is how many things a run writes: one struct, or the elements of a list.
	Units int64 `json:"units"`
}

// Scaled is a figure of a run for RunsOfChange structs or elements.
func (c *Change) Scaled(perRun float64) float64 { return perRun * RunsOfChange / float64(c.Units) }

// RunsOfChange are the writes that THRIFT-6153 counts objects of: of a struct, or of an element of a list.
const RunsOfChange = 500_000

// changeFamilies are the rows: before, after, and ours.
var changeFamilies = []string{onePerByte, onePerVarint, writerAny}

// Before is the family that the others are compared with.
const Before = onePerByte

// ChangeSizes are the payloads that the change is told by.
var ChangeSizes = []string{small, "list_i64"}

// MeasureChange measures the change for one of ChangeSizes.
func MeasureChange(size string, trials, runs int) ([]Change, error) {
	for _, s := range sources() {
		if s.size != size {
			continue
		}
		name := s.group("cmp", "write")
		g, err := s.build("cmp", "write", nil, func(id string) bool {
			for _, family := range changeFamilies {
				if id == family+"-"+name {
					return true
				}
			}
			return false
		})
		if err != nil {
			return nil, err
		}
		measurements, err := Measure(g, trials, runs)
		if err != nil {
			return nil, err
		}
		return s.countWrites(measurements)
	}
	return nil, fmt.Errorf("%q: %w", size, errID)
}

// countWrites counts the writes of each family, and checks that all wrote the right bytes.
func (s source) countWrites(measurements []Measurement) ([]Change, error) {
	p, err := newPayload(s.value(), s)
	if err != nil {
		return nil, err
	}
	ready := p.fresh()
	if err := newApache("cmp").reader(p.compact, func() generated { return ready })(1); err != nil {
		return nil, err
	}
	changes := make([]Change, 0, len(changeFamilies))
	for _, family := range changeFamilies {
		m := Find(measurements, family)
		if m == nil {
			return nil, fmt.Errorf("%s: not measured", family)
		}
		transport := new(countingTransport)
		if family == writerAny {
			w := encoder.NewWriter(transport)
			writeStruct(w, ready, false)
			err = w.Err()
		} else {
			err = newControl(transport, family == onePerByte).write(ready)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Scenario, err)
		}
		if !bytes.Equal(transport.data, p.compact) {
			return nil, fmt.Errorf("%s: other bytes than the encoder's", m.Scenario)
		}
		changes = append(changes, Change{Measurement: *m, WritesPerRun: transport.writes, Units: s.units()})
	}
	return changes, nil
}

// units is how many things a run writes.
func (s source) units() int64 {
	if s.size == small {
		return 1
	}
	return bulkSize
}
