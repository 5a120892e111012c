package suite

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/thriftpack/thriftpack/bench/peers/apachegen"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fixture"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// The families. The comment says where each starts from.
const (
	wire             = "tp"        // us, from the wire bytes of a Value (write), or to them (read): what the service does
	writerAny        = "tpw"       // us, encoder.Writer driven by Go values, into any io.Writer
	writerChunk      = "tpwchunk"  // the same, into our own chunks
	onePerByte       = "perbyte"   // a control of our Writer with one transport write for each byte of a varint, as before THRIFT-6153
	onePerVarint     = "pervarint" // the same control with one transport write for each varint
	apacheReady      = "apache"    // Apache's generated Go code, from (to) its own structs
	apacheFromWire   = "protobuf"  // proto.Unmarshal, then Apache's Go encoder; its decoder, then proto.Marshal
	segmentioReady   = "segmentio" // github.com/segmentio/encoding, from (to) structs with its tags
	segmentioMarshal = "marshal"   // the same, with a new encoder each time (thrift.Marshal)
	cpp              = "cpp"       // Apache's C++ library with the templated transport
	copied           = "memcpy"    // the finished bytes copied
)

// Families are all of them, in the order of the tables.
var Families = []string{
	wire, writerAny, writerChunk, onePerVarint, onePerByte, apacheReady, apacheFromWire, segmentioReady, segmentioMarshal, cpp, copied,
	tokens, sonicReady, stdReady,
}

// FamilyCPP is the family that may be missing.
const FamilyCPP = cpp

// The sizes that are no bulk.
const (
	small = "small"
	large = "large"
)

// source is a payload before it is built.
type source struct {
	// size is the last part of the scenario's id.
	size  string
	value func() *thriftpackv1.Value
	// fresh returns the empty struct of Apache's code, and peer that of segmentio's. Name is what the struct is called.
	fresh func() generated
	peer  func() any
	name  string
	// write and read are the goals of the two operations.
	write, read []Goal
}

// bulkSize is how many elements the bulk payloads have.
const bulkSize = 1_000_000

// structGoals are those of writing small and large.
var structGoals = []Goal{
	{wire, apacheReady, 3},
	{wire, apacheFromWire, 20},
	{writerAny, apacheReady, 2},
	{writerChunk, apacheReady, 3.5},
	{writerChunk, cpp, 1},
}

func sources() []source {
	read := []Goal{{wire, apacheReady, 3}}
	bulk := func(size string, value func() *thriftpackv1.Value, id int32, write ...Goal) source {
		read := read
		if size == "binary_64mib" {
			read = nil // nobody can be three times as fast as one copy
		}
		return source{
			size: size, value: func() *thriftpackv1.Value { return field(id, value()) },
			fresh: func() generated { return apachegen.NewBulk() }, peer: func() any { return new(bulkTags) }, name: "Bulk",
			write: write, read: read,
		}
	}
	return []source{
		{
			size: small, value: fixture.OneOfEach, name: "OneOfEach",
			fresh: func() generated { return apachegen.NewOneOfEach() }, peer: func() any { return new(oneOfEachTags) },
			write: append([]Goal{{onePerVarint, onePerByte, 1.25}, {writerAny, onePerByte, 1.25}}, structGoals...), read: read,
		},
		{
			size: large, value: fixture.Nested4, name: "Nested4",
			fresh: func() generated { return apachegen.NewNested4() }, peer: func() any { return new(nested4Tags) },
			write: structGoals, read: read,
		},
		bulk("list_i64", func() *thriftpackv1.Value { return fixture.ListI64(bulkSize) }, 1,
			Goal{wire, copied, 0.15}, Goal{onePerVarint, onePerByte, 2}, Goal{writerAny, onePerByte, 2}),
		bulk("list_i32", func() *thriftpackv1.Value { return fixture.ListI32(bulkSize) }, 2, Goal{wire, copied, 0.15}),
		bulk("list_double", func() *thriftpackv1.Value { return fixture.ListDouble(bulkSize) }, 3, Goal{wire, copied, 0.8}),
		bulk("list_string", func() *thriftpackv1.Value { return fixture.ListString(bulkSize, 20) }, 4, Goal{wire, copied, 0.12}),
		bulk("list_struct", func() *thriftpackv1.Value { return fixture.ListStruct(bulkSize / 10) }, 5, Goal{wire, apacheReady, 3}),
		bulk("map_string_i64", func() *thriftpackv1.Value { return fixture.MapStringI64(bulkSize / 10) }, 6, Goal{wire, apacheReady, 3}),
		bulk("binary_64mib", func() *thriftpackv1.Value { return fixture.Binary(64 << 20) }, 7, Goal{wire, copied, 0.8}),
	}
}

// Select says which scenarios to run, by their ids. Nil is all.
type Select func(id string) bool

// Build makes the group named by protocol ("cmp" or "bin"), operation ("write" or "read") and size, with the contenders selected.
// The C++ peer may be nil; it is asked to load the payload.
func (s source) build(protocol, operation string, peer *CPP, keep Select) (*Group, error) {
	p, err := newPayload(s.value(), s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.size, err)
	}
	encoded, options := p.compact, encoder.Options{Limits: encoderLimits}
	if protocol == "bin" {
		encoded, options.Protocol = p.binary, encoder.Binary
	}
	g := &Group{Name: s.group(protocol, operation), Bytes: len(encoded), Goals: s.goals(protocol, operation)}
	if operation == "read" {
		g.Contenders = p.readers(protocol, encoded)
	} else if g.Contenders, err = p.writers(protocol, encoded, &options); err != nil {
		return nil, fmt.Errorf("%s: %w", s.size, err)
	}
	g.filter(keep)
	if keep != nil && !keep(g.ID(cpp)) {
		return g, nil
	}
	if peer == nil {
		g.Missing = append(g.Missing, fmt.Sprintf("%s: %v", g.ID(cpp), errMissing))
		return g, nil
	}
	if err := peer.load(s.name, protocol, encoded); err != nil {
		return nil, fmt.Errorf("%s: %w", s.size, err)
	}
	g.Contenders = append(g.Contenders, peer.contender(operation))
	return g, nil
}

func (s source) group(protocol, operation string) string {
	return protocol + "-" + operation + "-" + s.size
}

// filter leaves out what is not selected.
func (g *Group) filter(keep Select) {
	if keep == nil {
		return
	}
	var kept []Contender
	for _, c := range g.Contenders {
		if keep(g.ID(c.Family)) {
			kept = append(kept, c)
		}
	}
	g.Contenders = kept
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

// Groups builds the groups that have a scenario selected, one after the other, so that only one of them holds memory at a
// time. The C++ peer may be nil.
func Groups(keep Select, peer *CPP) iter.Seq2[*Group, error] {
	return func(yield func(*Group, error) bool) {
		for _, protocol := range []string{"cmp", "bin"} {
			for _, operation := range []string{"write", "read"} {
				for _, s := range sources() {
					if !selected(keep, s.group(protocol, operation)) {
						continue
					}
					g, err := s.build(protocol, operation, peer, keep)
					if err == nil && len(g.Contenders)+len(g.Missing) == 0 {
						continue
					}
					if !yield(g, err) {
						return
					}
				}
			}
		}
		for g, err := range jsonGroups(keep) {
			if !yield(g, err) {
				return
			}
		}
	}
}

// selected tells whether any family's scenario of a group is.
func selected(keep Select, group string) bool {
	if keep == nil {
		return true
	}
	for _, family := range Families {
		if keep(family + "-" + group) {
			return true
		}
	}
	return false
}

// errID is returned for a pattern that cannot match.
var errID = errors.New("no such scenario")

// ParseSelect reads ids, and patterns with * for any run of characters, with commas between them. Nothing, and "all", is everything.
func ParseSelect(text string) (Select, error) {
	if text == "" || text == "all" {
		return nil, nil //nolint:nilnil // documented: nil is all
	}
	patterns := strings.Split(text, ",")
	for i, pattern := range patterns {
		patterns[i] = strings.TrimSpace(pattern)
		if !anyMatches(patterns[i]) {
			return nil, fmt.Errorf("%q: %w; an id has four parts, family-protocol-operation-size, such as tp-cmp-write-small", pattern, errID)
		}
	}
	return func(id string) bool {
		for _, pattern := range patterns {
			if matches(pattern, id) {
				return true
			}
		}
		return false
	}, nil
}

func anyMatches(pattern string) bool {
	for _, id := range IDs() {
		if matches(pattern, id) {
			return true
		}
	}
	return false
}

// matches compares an id with a pattern.
func matches(pattern, id string) bool {
	parts := strings.Split(pattern, "*")
	rest, found := strings.CutPrefix(id, parts[0])
	if !found {
		return false
	}
	if len(parts) == 1 {
		return rest == ""
	}
	for _, part := range parts[1 : len(parts)-1] {
		if _, rest, found = strings.Cut(rest, part); !found {
			return false
		}
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

// IDs lists the ids that there may be. Not every family can do everything.
func IDs() []string {
	ids := make([]string, 0, 4*len(sources())*len(Families))
	for _, protocol := range []string{"cmp", "bin"} {
		for _, operation := range []string{"write", "read"} {
			for _, s := range sources() {
				for _, family := range Families {
					ids = append(ids, family+"-"+s.group(protocol, operation))
				}
			}
		}
	}
	for _, operation := range []string{fromJSON, toJSON} {
		for _, s := range jsonSources() {
			for _, family := range Families {
				ids = append(ids, family+"-"+s.group(operation, s.size))
			}
		}
	}
	return ids
}
