package stream

import (
	"testing"

	"google.golang.org/grpc/mem"
)

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

// TestFreshPoolReferences shows that what is compared with a fresh pool refers to the record, and what is sent from one does not.
func TestFreshPoolReferences(t *testing.T) {
	for pool, want := range map[*Pool]bool{NewPool(): true, NewFreshPool(): false} {
		buffers := NewBuffers()
		sender, err := NewSender(t.Context(), SenderConfig{
			Pool: pool, ChunkSize: MinChunkSize, Tag: 0x0a,
			Send: func(m *Message) error {
				var data mem.BufferSlice
				data, _ = m.Take()
				data.Free()
				return nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		sender.Repeat(buffers.GetUncleared(1<<20), buffers)
		if got := sender.MayRefer(1 << 40); got != want {
			t.Errorf("fresh: %t; messages may refer to the record: %t", pool.fresh, got)
		}
		sender.RepeatEnd()
		sender.Close()
	}
}
