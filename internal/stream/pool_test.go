package stream

import (
	"bytes"
	"runtime"
	"sync"
	"testing"

	"google.golang.org/grpc/mem"
)

func TestPoolCapacity(t *testing.T) {
	tests := []struct {
		name       string
		size, want int
	}{
		{"negative", -1, 2 << 10},
		{"nothing", 0, 2 << 10},
		{"one byte", 1, 2 << 10},
		{"smallest tier, full", 2 << 10, 2 << 10},
		{"smallest tier, one more", 2<<10 + 1, 4 << 10},
		{"default chunk size", DefaultChunkSize, 32 << 10},
		{"largest chunk size", MaxChunkSize, 1 << 20},
		{"largest chunk size, one more", MaxChunkSize + 1, 2 << 20},
		{"largest tier, full", 32 << 20, 32 << 20},
		{"largest tier, one more", 32<<20 + 1, 32<<20 + 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pool := NewPool()
			chunk := pool.Get(test.size)
			defer chunk.Release()
			if got := len(chunk.Bytes()); got != test.want {
				t.Errorf("len(Get(%d).Bytes()) = %d, want %d", test.size, got, test.want)
			}
			if got := Capacity(test.size); got != test.want {
				t.Errorf("Capacity(%d) = %d, want %d", test.size, got, test.want)
			}
		})
	}
}

// Every way a loan can end leaves memory that is all zero, and in a checked pool no fault.
func TestPoolLendsZeroes(t *testing.T) {
	tests := []struct {
		name string
		use  func(chunk Chunk)
	}{
		{"whole, released", func(chunk Chunk) {
			fill(chunk.Bytes(), 0xff)
			chunk.Release()
		}},
		{"part, released", func(chunk Chunk) {
			fill(chunk.Room(700), 0xff)
			chunk.Release()
		}},
		{"large part then small part, released", func(chunk Chunk) {
			fill(chunk.Room(3000), 0xff)
			fill(chunk.Room(10), 0xfe)
			chunk.Release()
		}},
		{"part, handed to gRPC and freed", func(chunk Chunk) {
			fill(chunk.Room(3000), 0xff)
			chunk.Buffer(5, 100).Free()
		}},
		{"written beyond what was handed over", func(chunk Chunk) {
			fill(chunk.Bytes(), 0xff)
			chunk.Buffer(0, 1).Free()
		}},
		{"handed over with more references", func(chunk Chunk) {
			fill(chunk.Bytes(), 0xff)
			buffer := chunk.Buffer(0, 4096)
			buffer.Ref()
			part := buffer.Slice(100, 200)
			buffer.Free()
			buffer.Free()
			part.Free()
		}},
		{"never touched", func(chunk Chunk) { chunk.Release() }},
	}
	for _, checked := range []bool{false, true} {
		for _, test := range tests {
			name := test.name
			if checked {
				name += ", checked"
			}
			t.Run(name, func(t *testing.T) {
				pool := &Pool{checked: checked}
				for range 100 {
					chunk := pool.Get(4096)
					if got := chunk.Bytes(); !filledWith(got, 0) {
						t.Fatalf("Get lent bytes that are not zero: % x…", got[:16])
					}
					test.use(chunk)
				}
				stats := pool.Stats()
				if stats.Got != 100 || stats.Returned != 100 || stats.Faults != 0 {
					t.Errorf("Stats() = %+v, want 100 got, 100 returned, no faults", stats)
				}
				if stats.Allocated == stats.Got {
					t.Errorf("Stats() = %+v, want chunks to be reused", stats)
				}
			})
		}
	}
}

func fill(data []byte, value byte) {
	for i := range data {
		data[i] = value
	}
}

// A checked pool that finds nothing proves nothing unless it finds what is wrong.
func TestCheckedPoolFindsFaults(t *testing.T) {
	t.Run("write after release", func(t *testing.T) {
		pool := NewCheckedPool()
		for pool.Stats().Faults == 0 && pool.Stats().Got < 1000 {
			chunk := pool.Get(4096)
			data := chunk.Bytes()
			chunk.Release()
			data[17] = 1
			pool.Get(4096).Release()
		}
		if pool.Stats().Faults == 0 {
			t.Errorf("Stats() = %+v, want faults", pool.Stats())
		}
	})
	t.Run("read after release", func(t *testing.T) {
		chunk := NewCheckedPool().Get(4096)
		data := chunk.Bytes()
		fill(data, 7)
		chunk.Release()
		if !filledWith(data, Poison) {
			t.Errorf("data after Release = % x…, want all %x", data[:8], Poison)
		}
	})
	t.Run("write beyond the room", func(t *testing.T) {
		pool := NewCheckedPool()
		chunk := pool.Get(4096)
		_ = chunk.Room(100)
		chunk.block.data[100] = 1
		chunk.Release()
		if got := pool.Stats().Faults; got != 1 {
			t.Errorf("Faults = %d, want 1", got)
		}
	})
}

// A loan that has ended cannot touch the memory, not even when it has been lent to somebody else.
func TestChunkEndsOnce(t *testing.T) {
	ends := []struct {
		name string
		end  func(chunk Chunk)
	}{
		{"Release", func(chunk Chunk) { chunk.Release() }},
		{"Buffer and Free", func(chunk Chunk) { chunk.Buffer(0, 100).Free() }},
	}
	for _, test := range ends {
		t.Run(test.name, func(t *testing.T) {
			pool := NewPool()
			old := pool.Get(4096)
			test.end(old)
			next := old.block.lend() // the same memory, as the pool would lend it
			copy(next.Bytes(), "mine")

			old.Release()
			if got := old.Bytes(); got != nil {
				t.Errorf("Bytes() after the end = %d bytes, want nil", len(got))
			}
			if got := old.Room(10); got != nil {
				t.Errorf("Room(10) after the end = %d bytes, want nil", len(got))
			}
			charge(t, old, newAccount(pool))
			mustPanic(t, "Buffer after the end", func() { old.Buffer(0, 10) })
			if got := next.Bytes(); !bytes.HasPrefix(got, []byte("mine")) {
				t.Errorf("the next loan holds % x…, want what was written to it", got[:4])
			}
			next.Release()
			if stats := pool.Stats(); stats.Returned != 2 || stats.Faults != 0 {
				t.Errorf("Stats() = %+v, want 2 returned and no faults", stats)
			}
		})
	}
	t.Run("zero Chunk", func(t *testing.T) {
		var chunk Chunk
		chunk.Release()
		charge(t, chunk, nil)
		if chunk.Bytes() != nil {
			t.Error("Bytes() of the zero Chunk is not nil")
		}
		mustPanic(t, "Buffer of the zero Chunk", func() { chunk.Buffer(0, 0) })
	})
	t.Run("Put twice", func(t *testing.T) {
		pool := NewPool()
		chunk := pool.Get(4096)
		buffer := chunk.Buffer(0, 100)
		back := (*returner)(chunk.block)
		buffer.Free()
		back.Put(nil)
		if stats := pool.Stats(); stats.Returned != 1 || stats.Faults != 1 {
			t.Errorf("Stats() = %+v, want 1 returned and 1 fault", stats)
		}
	})
	t.Run("Buffer out of range leaves the loan", func(t *testing.T) {
		pool := NewPool()
		chunk := pool.Get(4096)
		mustPanic(t, "Buffer(0, 5000)", func() { chunk.Buffer(0, 5000) })
		chunk.Release()
		if stats := pool.Stats(); stats.Returned != 1 {
			t.Errorf("Stats() = %+v, want 1 returned", stats)
		}
	})
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s did not panic", what)
		}
	}()
	f()
}

// gRPC gives no buffer of 1 KiB or less back to its pool. Ours come back whatever part is handed over.
func TestChunkBufferAlwaysReturns(t *testing.T) {
	for _, test := range []struct{ start, end int }{
		{0, 0}, {0, 1}, {0, 1024}, {0, 2048}, {1023, 1024}, {1024, 1024}, {1024, 1100}, {2047, 2048}, {2048, 2048},
	} {
		pool := NewPool()
		chunk := pool.Get(2048)
		data := chunk.Bytes()
		for i := range data {
			data[i] = byte(i * 7)
		}
		want := bytes.Clone(data[test.start:test.end])
		buffer := chunk.Buffer(test.start, test.end)
		if got := buffer.ReadOnlyData(); !bytes.Equal(got, want) {
			t.Errorf("Buffer(%d, %d) = % x, want % x", test.start, test.end, got, want)
		}
		buffer.Free()
		if stats := pool.Stats(); stats.Returned != 1 {
			t.Errorf("Buffer(%d, %d): Stats() = %+v, want 1 returned", test.start, test.end, stats)
		}
	}
}

// Owners that overlap see their own bytes only, and no count is lost.
func TestPoolConcurrent(t *testing.T) {
	pool := NewCheckedPool()
	const owners, loans = 16, 500
	buffers := make(chan mem.Buffer, owners)
	var free sync.WaitGroup
	free.Go(func() {
		for buffer := range buffers {
			buffer.Free()
		}
	})
	var owning sync.WaitGroup
	for owner := range owners {
		owning.Go(func() {
			for i := range loans {
				size := 2048 << (i % 4)
				chunk := pool.Get(size)
				data := chunk.Room(size)
				if !filledWith(data, 0) {
					t.Errorf("owner %d: Get(%d) lent bytes that are not zero", owner, size)
				}
				fill(data, byte(owner+1))
				if !filledWith(data, byte(owner+1)) {
					t.Errorf("owner %d sees another's bytes", owner)
				}
				if i%3 == 0 {
					chunk.Release()
				} else {
					buffers <- chunk.Buffer(0, size)
				}
			}
		})
	}
	owning.Wait()
	close(buffers)
	free.Wait()
	stats := pool.Stats()
	if stats.Got != owners*loans || stats.Returned != owners*loans || stats.Faults != 0 {
		t.Errorf("Stats() = %+v, want %d got and returned, no faults", stats, owners*loans)
	}
}

// What is idle for two collections is freed, so that a burst does not stay in memory.
func TestPoolGivesIdleMemoryBack(t *testing.T) {
	pool := NewPool()
	const burst = 64
	var chunks [burst]Chunk
	for i := range chunks {
		chunks[i] = pool.Get(1 << 20)
	}
	during := heapInUse()
	for i := range chunks {
		chunks[i].Release()
		chunks[i] = Chunk{}
	}
	runtime.GC()
	// Less may be in use than before the burst: what other tests have left goes meanwhile.
	if after := heapInUse(); after+burst<<20*7/8 > during {
		t.Errorf("heap is %d bytes after two collections, and was %d with %d MiB lent", after, during, burst)
	}
	runtime.KeepAlive(pool)
}

// heapInUse collects garbage and returns the bytes that are reachable.
func heapInUse() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
