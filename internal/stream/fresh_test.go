package stream

import "testing"

func TestFreshPoolNeverLendsTwice(t *testing.T) {
	pool := NewFreshPool()
	for range 3 {
		chunk := pool.Get(MinChunkSize)
		data := chunk.Bytes()
		if !filledWith(data, 0) {
			t.Error("a fresh chunk is not all zero")
		}
		data[0] = 1
		chunk.Buffer(0, len(data)).Free()
		if data[0] != 1 {
			t.Error("a chunk that is not reused was cleared")
		}
	}
	if got := pool.Stats(); got.Got != 3 || got.Allocated != 3 || got.Returned != 3 || got.Faults != 0 {
		t.Errorf("Stats = %+v, want 3 chunks got, allocated and returned", got)
	}
}
