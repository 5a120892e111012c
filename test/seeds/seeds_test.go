// Package seeds holds the encoder to the wire bytes of several protobuf runtimes; see README.md.
package seeds

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fixture"
	"github.com/thriftpack/thriftpack/test/oracle"
)

const folder = "../testdata/seeds"

// runtimes are the writers, and how many files each leaves for a value.
var runtimes = []string{"go", "dynamicpb-0", "dynamicpb-1", "dynamicpb-2", "dynamicpb-3", "cpp", "python", "js"}

// values are what is written. Every type stands in a field, in a column and in a map, and messages have members on both sides of their oneof.
func values() map[string]*thriftpackv1.Value {
	empty := thriftpackv1.EmptyList
	types := thriftpackv1.StructOf(
		thriftpackv1.BoolField(-1, true), thriftpackv1.I8Field(2, -128), thriftpackv1.I16Field(1, math.MinInt16), thriftpackv1.I32Field(300, math.MinInt32),
		thriftpackv1.I64Field(4, math.MaxInt64), thriftpackv1.DoubleField(5, math.Inf(-1)), thriftpackv1.BinaryField(6, []byte{0, 0xff}),
		thriftpackv1.StringField(0, "zero id, ünïcode"), thriftpackv1.UUIDField(7, [16]byte{1, 15: 0xff}), thriftpackv1.BoolField(8, false),
		thriftpackv1.I32Field(9, 0), thriftpackv1.StringField(10, ""),
	)
	lists := thriftpackv1.StructOf(
		thriftpackv1.ListField(1, thriftpackv1.BoolList(true, false, true)), thriftpackv1.ListField(2, thriftpackv1.I8List(-1, 0, 1)),
		thriftpackv1.ListField(3, thriftpackv1.I16List(-300, 0, 300)), thriftpackv1.ListField(4, thriftpackv1.I32List(1, -1, math.MaxInt32)),
		thriftpackv1.ListField(5, thriftpackv1.I64List(math.MinInt64, 0, 1<<40)), thriftpackv1.ListField(6, thriftpackv1.DoubleList(0.5, -2)),
		thriftpackv1.SetField(7, thriftpackv1.BinaryList([]byte{1}, []byte{})), thriftpackv1.SetField(8, thriftpackv1.StringList("a", "")),
		thriftpackv1.ListField(9, thriftpackv1.UUIDList([16]byte{9})), thriftpackv1.ListField(10, thriftpackv1.ListList(thriftpackv1.I32List(1), empty(thriftpackv1.Type_TYPE_I32))),
		thriftpackv1.ListField(11, thriftpackv1.SetList(thriftpackv1.BoolList(false))), thriftpackv1.ListField(12, thriftpackv1.StructList(types, thriftpackv1.StructOf())),
		thriftpackv1.SetField(13, empty(thriftpackv1.Type_TYPE_STRING)),
	)
	lists.Fields[3].GetList().ElementType = thriftpackv1.Type_TYPE_I32 // allowed beside the column, and a member before it
	maps := thriftpackv1.StructOf(
		thriftpackv1.MapField(1, thriftpackv1.MapOf(thriftpackv1.StringList("k", "l"), thriftpackv1.I64List(7, -7))),
		thriftpackv1.MapField(2, thriftpackv1.MapOf(thriftpackv1.I32List(1), thriftpackv1.MapList(thriftpackv1.MapOf(thriftpackv1.BoolList(true), thriftpackv1.DoubleList(1))))),
		thriftpackv1.MapField(3, &thriftpackv1.Map{}),
		thriftpackv1.MapField(4, thriftpackv1.MapOf(empty(thriftpackv1.Type_TYPE_I8), empty(thriftpackv1.Type_TYPE_BOOL))),
	)
	return map[string]*thriftpackv1.Value{
		"one-of-each": fixture.OneOfEach(),
		"types":       thriftpackv1.StructValue(types.GetFields()...),
		"lists":       thriftpackv1.StructValue(lists.GetFields()...),
		"maps":        thriftpackv1.StructValue(maps.GetFields()...),
		"nested": thriftpackv1.StructValue(
			thriftpackv1.StructField(5, lists), thriftpackv1.StructField(2, maps), thriftpackv1.BoolField(3, true)),
		"ids": thriftpackv1.StructValue( // both sides of where the varint of an id grows
			thriftpackv1.I32Field(0, 1), thriftpackv1.I32Field(1, 1), thriftpackv1.I32Field(63, 1), thriftpackv1.I32Field(64, 1), thriftpackv1.I32Field(-64, 1),
			thriftpackv1.I32Field(-65, 1), thriftpackv1.I32Field(8191, 1), thriftpackv1.I32Field(8192, 1), thriftpackv1.I32Field(-8192, 1),
			thriftpackv1.I32Field(-8193, 1), thriftpackv1.I32Field(math.MaxInt16, 1), thriftpackv1.I32Field(math.MinInt16, 1)),
		"nothing": thriftpackv1.StructValue(),
	}
}

// TestGenerate is a step of generate.sh: it writes what the other runtimes read, and what Go writes.
func TestGenerate(t *testing.T) {
	out, work := os.Getenv("SEEDS_OUT"), os.Getenv("SEEDS_WORK")
	if out == "" || work == "" {
		t.Skip("a step of generate.sh")
	}
	save := func(path string, data []byte, err error) {
		t.Helper()
		if err == nil {
			err = os.WriteFile(path, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range values() {
		text, err := prototext.Marshal(value)
		save(filepath.Join(work, name+".txtpb"), text, err)
		json, err := protojson.Marshal(value)
		save(filepath.Join(work, name+".json"), json, err)
		wire, err := proto.Marshal(value)
		save(filepath.Join(out, name+".go.bin"), wire, err)
		compact, err := oracle.Encode(value, oracle.Compact, nil)
		save(filepath.Join(out, name+".hex"), []byte(hex.EncodeToString(compact)+"\n"), err)
		for i := range 4 {
			dynamic := dynamicpb.NewMessage(value.ProtoReflect().Descriptor())
			if err := proto.Unmarshal(wire, dynamic); err != nil {
				t.Fatal(err)
			}
			random, err := proto.Marshal(dynamic)
			save(filepath.Join(out, fmt.Sprintf("%s.dynamicpb-%d.bin", name, i)), random, err)
		}
	}
}

// TestSeeds encodes the bytes of every runtime to the same compact bytes, those of Apache, by the fast path.
func TestSeeds(t *testing.T) {
	t.Parallel()
	o := &encoder.Options{Limits: encoder.Limits{Depth: 64, Elements: 1000, StringBytes: 1000}} // no SlowNodes: the slow path is refused
	for name, value := range values() {
		text, err := os.ReadFile(filepath.Join(folder, name+".hex"))
		if err != nil {
			t.Fatal(err)
		}
		want, err := hex.DecodeString(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if compact, err := oracle.Encode(value, oracle.Compact, nil); err != nil || !bytes.Equal(compact, want) {
			t.Errorf("%s: Apache writes %x, %v, the file has %x: run generate.sh", name, compact, err, want)
		}
		wires := map[string]bool{}
		for _, runtime := range runtimes {
			wire, err := os.ReadFile(filepath.Join(folder, name+"."+runtime+".bin"))
			if err != nil {
				t.Fatal(err)
			}
			wires[string(wire)] = true
			var e encoder.Encoder
			got, err := e.Append(nil, wire, o)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s by %s: Append(%x) = %x, %v, want %x", name, runtime, wire, got, err, want)
			}
			if e.SlowPath() {
				t.Errorf("%s by %s: took the slow path: %x", name, runtime, wire)
			}
		}
		if len(wires) < 3 && name != "nothing" {
			t.Errorf("%s: %d different wire bytes from %d runtimes: the seeds test less than they should", name, len(wires), len(runtimes))
		}
	}
}
