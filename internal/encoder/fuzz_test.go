package encoder

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/thriftpack/thriftpack/internal/fixture"
)

// FuzzEncode shows that no input makes the encoder panic or go beyond its bound, and that Append, Prepare and WriteTo agree
// on the bytes or on the fault, in chunks of random sizes.
func FuzzEncode(f *testing.F) {
	f.Add(fixture.Wire(fixture.OneOfEach()), uint64(1), false, false, false)
	f.Add(marshal(f, rich()), uint64(2), true, true, true)
	f.Add(fixture.Wire(fixture.ListStruct(10)), uint64(3), false, true, false)
	f.Add([]byte(nil), uint64(4), true, false, true)
	f.Fuzz(func(t *testing.T, wire []byte, seed uint64, binary, framed, message bool) {
		o := &Options{Limits: Limits{Depth: 16, Elements: 500, StringBytes: 500, SlowNodes: 500}, Framed: framed}
		if binary {
			o.Protocol = Binary
		}
		if message {
			o.Message = &Message{Name: "name", Type: 2, SeqID: -5}
		}
		want, err := encode(t, wire, o)
		if err != nil {
			return
		}
		var e Encoder
		if _, err := e.Prepare(wire, o); err != nil {
			t.Fatal(err)
		}
		sink := randomSink{random: rand.New(rand.NewPCG(seed, 0))} // repeatable on purpose
		buf, filled, err := e.WriteTo(&sink, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		sink.all = append(sink.all, buf[:filled]...)
		if !bytes.Equal(sink.all, want) {
			t.Errorf("chunks of random sizes joined = %x, want %x", sink.all, want)
		}
	})
}

// randomSink is a Sink of buffers of random sizes.
type randomSink struct {
	random   *rand.Rand
	buf, all []byte
}

func (s *randomSink) Next(filled int) ([]byte, error) {
	s.all = append(s.all, s.buf[:filled]...)
	s.buf = make([]byte, minBuffer+s.random.IntN(2*minBuffer))
	return s.buf, nil
}

// FuzzSlowPath compares the encoding of any bytes with that of the bytes which protobuf writes after reading them.
func FuzzSlowPath(f *testing.F) {
	wire := marshal(f, rich())
	f.Add(wire)
	for seed := range uint64(20) {
		m := mutator{random: rand.New(rand.NewPCG(seed, 3)), merges: true} // repeatable on purpose
		f.Add(m.message(f, valueDescriptor, wire))
		f.Add(m.message(f, valueDescriptor, fixture.Wire(fixture.OneOfEach())))
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		_, _ = checkMerge(t, wire)
	})
}

// TestSpoiled is FuzzSlowPath on values that were rewritten and then spoiled in a few bytes, which reaches deeper than bytes
// that know nothing of the messages.
func TestSpoiled(t *testing.T) {
	t.Parallel()
	bases := [][]byte{
		marshal(t, rich()), fixture.Wire(fixture.OneOfEach()), fixture.Wire(fixture.ListStruct(5)),
		fixture.Wire(fixture.MapStringI64(7)), fixture.Wire(fixture.ListI64(30)), fixture.Wire(fixture.ListString(9, 20)),
	}
	for seed := range uint64(4000) {
		random := rand.New(rand.NewPCG(seed, 4))
		m := mutator{random: random, merges: seed%2 == 0}
		wire := m.message(t, valueDescriptor, bases[random.IntN(len(bases))])
		for range random.IntN(3) {
			at := random.IntN(len(wire))
			length := random.IntN(min(8, len(wire)-at))
			switch random.IntN(4) {
			case 0:
				wire[at] ^= 1 << random.IntN(8)
			case 1:
				wire[at] = byte(random.Uint32())
			case 2:
				wire = append(wire[:at:at], wire[at+length:]...) // left out
			default:
				wire = append(wire[:at+length:at+length], wire[at:]...) // twice
			}
		}
		if _, _ = checkMerge(t, wire); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
