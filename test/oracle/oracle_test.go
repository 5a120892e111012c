package oracle_test

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/thriftpack/thriftpack/test/oracle"
)

// TestApacheWritesTheVectors shows that the oracle itself is right: Apache's writer, driven by a vector's tree, gives
// the vector's bytes, and Apache's reader gives the tree back.
func TestApacheWritesTheVectors(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"vectors.jsonl.gz", "large.jsonl.gz"} {
		vectors, err := oracle.Load[oracle.Vector]("../testdata/vectors/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, vector := range vectors {
			value, err := vector.Value()
			if err != nil {
				t.Fatalf("%s: %v", vector.Name, err)
			}
			for _, protocol := range oracle.Protocols {
				data, err := oracle.Encode(value, protocol, vector.Envelope())
				if err != nil || !bytes.Equal(data, vector.Bytes(protocol)) {
					t.Errorf("%s: %s: error %v, Apache writes %x, want %x", vector.Name, protocol, err, data, vector.Bytes(protocol))
				}
				read, err := oracle.Decode(data, protocol, vector.Message != nil)
				if err != nil {
					t.Errorf("%s: %s: Apache reads: %v", vector.Name, protocol, err)
					continue
				}
				if read.BytesRead != len(data) || vector.Message != nil && read.Message != *vector.Envelope() || read.Wrapped || read.Unnamed {
					t.Errorf("%s: %s: Apache reads %+v, want all of %d bytes and message %v", vector.Name, protocol, read, len(data), vector.Envelope())
				}
				if diff := oracle.Diff(oracle.Canonical(value), read.Value); diff != "" {
					t.Errorf("%s: %s: Apache reads another value: %s", vector.Name, protocol, diff)
				}
			}
		}
	}
}

// TestRandomValues shows that random values reach what they are meant to reach, and that Apache takes them.
func TestRandomValues(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	var sizes []int
	for range 300 {
		value := oracle.Random(random)
		data, err := oracle.Encode(value, oracle.Compact, nil)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(data))
		read, err := oracle.Decode(data, oracle.Compact, false)
		if err != nil {
			t.Fatal(err)
		}
		if diff := oracle.Diff(oracle.Canonical(value), read.Value); diff != "" {
			t.Fatalf("Apache reads another value than it wrote: %s", diff)
		}
	}
	slices.Sort(sizes)
	if median, largest := sizes[len(sizes)/2], sizes[len(sizes)-1]; median < 50 || largest < 2_000 {
		t.Errorf("random values take %d bytes in the median and %d at most: too small to find anything", median, largest)
	}
}

// TestWrapped shows that the watcher notices every number that Apache's reader cuts, and no other.
func TestWrapped(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, data string
		want       bool
	}{
		{"largest i16", "14feff0300", false},
		{"i16 of 17 bits", "1480800800", true},
		{"largest i32", "15feffffff0f00", false},
		{"i32 of 33 bits", "15808080801000", true},
		{"i32 in ten bytes, padded", "158280808080808080800000", false},
		{"smallest i64", "16ffffffffffffffffff0100", false},
		{"i64 of 65 bits", "168080808080808080800200", true},
		{"id of 17 bits", "058080080200", true},
		{"largest id", "05feff030200", false},
		{"largest id and a step", "05feff0302150200", true},
		{"step in a struct after one with the largest id", "0cfeff03150200 00", false},
		{"string length 2^32+1", "1881808080106100", true},
		{"list size 2^32+1", "19f581808080100200", true},
		{"map size 2^32", "1b808080801000", true},
		{"list size padded", "19f58180000200", false},
	}
	for _, test := range tests {
		data, err := hex.DecodeString(strings.ReplaceAll(test.data, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		read, err := oracle.Decode(data, oracle.Compact, false)
		if err != nil || read.Wrapped != test.want {
			t.Errorf("%s: Apache reads %+v, %v, want wrapped: %v", test.name, read, err, test.want)
		}
	}
}
