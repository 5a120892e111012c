package oracle_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
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
				read, message, n, err := oracle.Decode(data, protocol, vector.Message != nil)
				if err != nil || n != len(data) || vector.Message != nil && message != *vector.Envelope() {
					t.Errorf("%s: %s: Apache reads %d of %d bytes, message %v, error %v", vector.Name, protocol, n, len(data), message, err)
				}
				if diff := oracle.Diff(oracle.Canonical(value), read); diff != "" {
					t.Errorf("%s: %s: Apache reads another value: %s", vector.Name, protocol, diff)
				}
			}
		}
	}
}

// TestRandomValues shows that random values reach what they are meant to reach, and that Apache takes them.
func TestRandomValues(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // repeatable on purpose
	var sizes []int
	for range 300 {
		value := oracle.Random(random)
		data, err := oracle.Encode(value, oracle.Compact, nil)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(data))
		read, _, _, err := oracle.Decode(data, oracle.Compact, false)
		if err != nil {
			t.Fatal(err)
		}
		if diff := oracle.Diff(oracle.Canonical(value), read); diff != "" {
			t.Fatalf("Apache reads another value than it wrote: %s", diff)
		}
	}
	slices.Sort(sizes)
	if median, largest := sizes[len(sizes)/2], sizes[len(sizes)-1]; median < 50 || largest < 2_000 {
		t.Errorf("random values take %d bytes in the median and %d at most: too small to find anything", median, largest)
	}
}
