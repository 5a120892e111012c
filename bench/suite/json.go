package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/bytedance/sonic"
	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/grpc/mem"

	"github.com/thriftpack/thriftpack/bench/peers/apachegen"
	"github.com/thriftpack/thriftpack/bench/peers/idl"
	"github.com/thriftpack/thriftpack/internal/fixture"
	"github.com/thriftpack/thriftpack/internal/jsonvalue"
	"github.com/thriftpack/thriftpack/internal/schema"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// The families that start from JSON text, beside ours.
const (
	tokens     = "jsontext" // github.com/go-json-experiment/json/jsontext reads the tokens of the text, and makes nothing of them
	sonicReady = "sonic"    // github.com/bytedance/sonic unmarshals into Apache's struct, which Apache's code then writes
	stdReady   = "stdjson"  // encoding/json does
)

// The operations between JSON text and Thrift bytes, both with a type.
const (
	fromJSON = "fromjson"
	toJSON   = "tojson"
)

// mapStringI64 is the size of the payload whose names come from the data.
const mapStringI64 = "map_string_i64"

// jsonSource is a payload of JSON text.
type jsonSource struct {
	size string
	// typ is its type in the IDL, and fresh the empty struct of Apache's code.
	typ   string
	fresh func() generated
	value func() *thriftpackv1.Value
	goals []Goal
}

func jsonSources() []jsonSource {
	goals := []Goal{{wire, tokens, 0.9}, {wire, sonicReady, 1.5}}
	bulk := func(size string, id int32, value func() *thriftpackv1.Value, goals ...Goal) jsonSource {
		return jsonSource{
			size: size, typ: "Bulk", fresh: func() generated { return apachegen.NewBulk() },
			value: func() *thriftpackv1.Value { return field(id, value()) }, goals: goals,
		}
	}
	return []jsonSource{
		{small, "OneOfEach", func() generated { return apachegen.NewOneOfEach() }, fixture.OneOfEach, goals},
		bulk("list_i64", 1, func() *thriftpackv1.Value { return fixture.ListI64(100_000) }, goals...),
		bulk("list_double", 3, func() *thriftpackv1.Value { return fixture.ListDouble(100_000) }),
		bulk("list_string", 4, func() *thriftpackv1.Value { return fixture.ListString(100_000, 20) }),
		bulk("list_struct", 5, func() *thriftpackv1.Value { return fixture.ListStruct(10_000) }, goals...),
		bulk(mapStringI64, 6, func() *thriftpackv1.Value { return fixture.MapStringI64(10_000) }),
		bulk("binary_1mib", 7, func() *thriftpackv1.Value { return fixture.Binary(1 << 20) }),
	}
}

// group is the name of the group of an operation.
func (jsonSource) group(operation, size string) string { return "cmp-" + operation + "-" + size }

// jsonGroups builds the groups of JSON that have a scenario selected.
func jsonGroups(keep Select) iter.Seq2[*Group, error] {
	return func(yield func(*Group, error) bool) {
		for _, operation := range []string{fromJSON, toJSON} {
			for _, s := range jsonSources() {
				name := s.group(operation, s.size)
				if !selected(keep, name) {
					continue
				}
				g, err := s.build(operation)
				if err != nil {
					err = fmt.Errorf("%s: %w", name, err)
				} else if g.filter(keep); len(g.Contenders) == 0 {
					continue // the family has nothing to do with it
				}
				if !yield(g, err) {
					return
				}
			}
		}
	}
}

// build makes the contenders of an operation, after all of them that write have written the same.
func (s jsonSource) build(operation string) (*Group, error) {
	p, err := newPayload(s.value(), source{})
	if err != nil {
		return nil, err
	}
	ready := s.fresh()
	if err := newApache("cmp").reader(p.compact, func() generated { return ready })(1); err != nil {
		return nil, err
	}
	text, err := json.Marshal(ready)
	if err != nil {
		return nil, err
	}
	compiled, err := schema.Compile("bench", map[string]string{idl.Name: idl.Source}, idl.Name, schema.DefaultLimits())
	if err != nil {
		return nil, err
	}
	typ, found := compiled.Type(s.typ)
	if !found {
		return nil, fmt.Errorf("%w: %s", errID, s.typ)
	}
	if operation == toJSON {
		return s.buildToJSON(p.compact, typ)
	}
	ours := fromText(text, typ, len(p.compact))
	for _, write := range []func() ([]byte, error){ours, s.unmarshalled(text, sonic.Unmarshal), s.unmarshalled(text, json.Unmarshal)} {
		got, err := write()
		if err != nil {
			return nil, err
		}
		if len(got) != len(p.compact) || !bytes.Equal(got, p.compact) && s.size != mapStringI64 { // Go's maps have no order
			return nil, errors.New("the contenders write other bytes")
		}
	}
	return &Group{
		Name: s.group(operation, s.size), Bytes: len(text),
		Contenders: []Contender{
			{Family: wire, Run: repeated(ours)},
			{Family: tokens, Run: readTokens(text)},
			{Family: sonicReady, Run: repeated(s.unmarshalled(text, sonic.Unmarshal))},
			{Family: stdReady, Run: repeated(s.unmarshalled(text, json.Unmarshal))},
		},
		Goals: s.goals,
	}, nil
}

// repeated calls a function many times.
func repeated(once func() ([]byte, error)) func(runs int) error {
	return func(runs int) error {
		for range runs {
			if _, err := once(); err != nil {
				return err
			}
		}
		return nil
	}
}

// fromText encodes text as the service does, into a buffer that is used again.
func fromText(text []byte, typ *schema.Type, room int) func() ([]byte, error) {
	limits := jsonvalue.Limits{Depth: 64, Elements: 1 << 27, StringBytes: 1 << 30, EncodedBytes: 1 << 30}
	enc, out, options := new(jsonvalue.Encoder), make([]byte, 0, room), &jsonvalue.Options{Limits: limits, Buffers: mem.DefaultBufferPool()}
	return func() ([]byte, error) { return enc.Append(out, text, typ, options) }
}

// unmarshalled fills a new struct and has Apache's code write it.
func (s jsonSource) unmarshalled(text []byte, unmarshal func([]byte, any) error) func() ([]byte, error) {
	transport := thrift.NewTMemoryBufferLen(1 << 20)
	protocol := thrift.NewTCompactProtocolConf(transport, apacheConfiguration())
	return func() ([]byte, error) {
		value := s.fresh()
		if err := unmarshal(text, value); err != nil {
			return nil, fmt.Errorf("unmarshal: %w", err)
		}
		transport.Reset()
		if err := value.Write(context.Background(), protocol); err != nil {
			return nil, fmt.Errorf("apache write: %w", err)
		}
		return transport.Bytes(), nil
	}
}

// readTokens reads all tokens of the text, which checks that it is JSON.
func readTokens(text []byte) func(runs int) error {
	buffer := new(bytes.Buffer)
	decoder := jsontext.NewDecoder(buffer)
	return func(runs int) error {
		for range runs {
			*buffer = *bytes.NewBuffer(text) // the decoder reads in place
			decoder.Reset(buffer)
			for {
				if _, err := decoder.ReadToken(); err == io.EOF { //nolint:errorlint // as it is documented
					break
				} else if err != nil {
					return fmt.Errorf("jsontext: %w", err)
				}
			}
		}
		return nil
	}
}
