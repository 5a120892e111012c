package server

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/jsonvalue"
	"github.com/thriftpack/thriftpack/internal/schema/schematest"
)

// TestTextThatGrows writes JSON of many lengths, and sees that what was reserved is enough for its memory and for that which it was copied
// from.
func TestTextThatGrows(t *testing.T) {
	s := schematest.Compile(t, "struct S { 1: list<string> a }")
	typ := schematest.TypeOf(t, s, "S")
	for _, count := range []int{1, 10, 1_000, 30_000, 100_000} {
		values := make([]string, count)
		for i := range values {
			values[i] = strings.Repeat("a", 20)
		}
		value, err := proto.Marshal(thriftpackv1.StructValue(thriftpackv1.ListField(1, thriftpackv1.StringList(values...))))
		if err != nil {
			t.Fatal(err)
		}
		limit := int64(len(`{"a":[]}`) + count*len(`"",`) + count*20 - 1) // the text, and no more
		tools, reserved := &typedTools{}, int64(0)
		p := &decodePlan{typ: typ, write: jsonvalue.WriteOptions{Depth: 10, MaxSetting: "of the test"}}
		text, err := tools.write(p, value, limit, func(bytes int64) error { reserved = bytes; return nil })
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(text)) != limit {
			t.Fatalf("%d elements have %d bytes, want %d", count, len(text), limit)
		}
		// The memory before had at least half as many bytes, or it would not have been doubled.
		if took := int64(cap(text) + len(text)/2); reserved < took {
			t.Errorf("%d elements: %d bytes reserved, and %d taken at least", count, reserved, took)
		}
	}
}
