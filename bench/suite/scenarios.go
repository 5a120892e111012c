package suite

import (
	"fmt"
	"iter"
	"math"

	"github.com/thriftpack/thriftpack/bench/peers/apachegen"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fixture"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// source is a payload before it is built.
type source struct {
	// name is the last part of the scenario's id.
	name  string
	value func() *thriftpackv1.Value
	fresh func() generated
	// write and read are the goals of the two operations.
	write, read []Goal
}

// bulkSize is how many elements the bulk payloads have.
const bulkSize = 1_000_000

func sources() []source {
	return []source{
		{
			"small", fixture.OneOfEach, func() generated { return apachegen.NewOneOfEach() },
			[]Goal{
				{wire, apacheFromWire, 15},
				{wire, apacheReady, 2},
				{writerAny, apacheReady, 2},
				{writerChunk, apacheReady, 3.5},
			},
			[]Goal{{wire, apacheReady, 2}, {wire, apacheFromWire, 10}},
		},
		{
			"large", fixture.Nested4, func() generated { return apachegen.NewNested4() },
			[]Goal{{wire, apacheFromWire, 15}, {wire, apacheReady, 2}},
			[]Goal{{wire, apacheReady, 2}, {wire, apacheFromWire, 10}},
		},
		{
			"list-i64", func() *thriftpackv1.Value { return field(1, fixture.ListI64(bulkSize)) }, bulk,
			[]Goal{{wire, apacheReady, 8}, {wire, copied, 0.15}},
			[]Goal{{wire, apacheReady, 8}},
		},
		{
			"list-i32", func() *thriftpackv1.Value { return field(2, fixture.ListI32(bulkSize)) }, bulk,
			[]Goal{{wire, copied, 0.15}},
			nil,
		},
		{
			"list-double", func() *thriftpackv1.Value { return field(3, fixture.ListDouble(bulkSize)) }, bulk,
			[]Goal{{wire, apacheReady, 5}, {wire, copied, 0.8}},
			nil,
		},
		{
			"list-string", func() *thriftpackv1.Value { return field(4, fixture.ListString(bulkSize, 20)) }, bulk,
			[]Goal{{wire, copied, 0.12}},
			nil,
		},
		{
			"list-struct", func() *thriftpackv1.Value { return field(5, fixture.ListStruct(bulkSize/10)) }, bulk,
			[]Goal{{wire, apacheReady, 3}},
			nil,
		},
		{
			"map-string-i64", func() *thriftpackv1.Value { return field(6, fixture.MapStringI64(bulkSize/10)) }, bulk,
			[]Goal{{wire, apacheReady, 3}},
			nil,
		},
		{
			"binary-64MiB", func() *thriftpackv1.Value { return field(7, fixture.Binary(64<<20)) }, bulk,
			[]Goal{{wire, copied, 0.8}},
			nil,
		},
	}
}

// The names of the contenders. The first part says where they start from.
const (
	wire           = "tp"              // us, from the wire bytes of a Value (write), or to them (read)
	writerAny      = "tpw"             // us, encoder.Writer driven by Go values, into any io.Writer
	writerChunk    = "tpw-chunk"       // the same, into our own chunks
	apacheReady    = "apache"          // Apache's generated code, from (to) its own structs
	apacheFromWire = "apache-protobuf" // proto.Unmarshal, then Apache's encoder; its decoder, then proto.Marshal
	copied         = "memcpy"          // the finished bytes copied
)

// Build makes the scenario named by protocol ("cmp" or "bin"), operation ("write" or "read") and payload.
func (s source) Build(protocol, operation string) (Scenario, error) {
	p, err := newPayload(s.value(), s.fresh)
	if err != nil {
		return Scenario{}, fmt.Errorf("%s: %w", s.name, err)
	}
	encoded, options := p.compact, encoder.Options{Limits: encoderLimits}
	if protocol == "bin" {
		encoded, options.Protocol = p.binary, encoder.Binary
	}
	scenario := Scenario{Name: protocol + "/" + operation + "/" + s.name, Bytes: len(encoded), Goals: s.goals(protocol, operation)}
	if operation == "read" {
		scenario.Contenders = p.readers(protocol, encoded)
		return scenario, nil
	}
	ready, err := p.ready()
	if err != nil {
		return Scenario{}, fmt.Errorf("%s: %w", s.name, err)
	}
	room := max(encoder.Bound(len(p.wire), &options), len(encoded))
	scenario.Contenders = []Contender{
		{wire, wireEncoder(p.wire, &options, room)},
		{apacheReady, newApache(protocol).writer(ready)},
		{apacheFromWire, newApache(protocol).fromWire(p.wire)},
		{copied, memcpy(encoded)},
	}
	if s.name == "small" && protocol == "cmp" {
		scenario.Contenders = append(scenario.Contenders, writers()...)
	}
	return scenario, nil
}

// goals are for the compact protocol, which is what the service is for.
func (s source) goals(protocol, operation string) []Goal {
	switch {
	case protocol != "cmp":
		return nil
	case operation == "read":
		return s.read
	default:
		return s.write
	}
}

// oneOfEach is the small struct as a Go program has it.
var oneOfEach = struct {
	truth, lie  bool
	octet       int8
	short       int16
	integer     int32
	long        int64
	fraction    float64
	text, other string
}{true, false, -42, 27000, 1 << 24, 6_000_000_000, math.Pi, "Debug THIS!", "\u00d7\n\a\t"}

// All builds the scenarios whose id matches, one after the other, so that only one of them holds memory at a time.
func All(match func(name string) bool) iter.Seq2[Scenario, error] {
	return func(yield func(Scenario, error) bool) {
		for _, protocol := range []string{"cmp", "bin"} {
			for _, operation := range []string{"write", "read"} {
				for _, s := range sources() {
					if !match(protocol + "/" + operation + "/" + s.name) {
						continue
					}
					if !yield(s.Build(protocol, operation)) {
						return
					}
				}
			}
		}
	}
}
