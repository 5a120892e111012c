package stream

import (
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"
	"weak"
)

func TestBuffersCapacity(t *testing.T) {
	tests := []struct {
		name         string
		length, want int
	}{
		{"nothing", 0, 256},
		{"the smallest", 256, 256},
		{"the smallest, one more", 257, 512},
		{"a frame", 16 << 10, 16 << 10},
		{"the largest of the small", 128 << 10, 128 << 10},
		{"one more", 128<<10 + 1, 132 << 10},
		{"the first shelf, full", 132 << 10, 132 << 10},
		{"the first shelf, one more", 132<<10 + 1, 260 << 10},
		{"a payload of 1 MiB with what surrounds it", 1<<20 + 20, 1<<20 + 4<<10},
		{"1 MiB and slack, one more", 1<<20 + 4<<10 + 1, 2<<20 + 4<<10},
		{"the last shelf, full", 32<<20 + 4<<10, 32<<20 + 4<<10},
		{"the last shelf, one more", 32<<20 + 4<<10 + 1, 32<<20 + 4<<10 + 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			buffers := NewBuffers()
			data := buffers.Get(test.length)
			if len(*data) != test.length || cap(*data) != test.want {
				t.Errorf("Get(%d) has length %d and capacity %d, want %d and %d", test.length, len(*data), cap(*data), test.length, test.want)
			}
			buffers.Put(data)
		})
	}
}

// A large buffer that one goroutine gave back is what the next takes, wherever it runs; a sync.Pool would have one for each
// processor.
func TestBuffersAreSharedByAllProcessors(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // collections drop what is idle
	buffers := NewBuffers()
	first := buffers.Get(1 << 20)
	buffers.Put(first)
	for range 64 {
		var data *[]byte
		taken := make(chan struct{})
		go func() {
			data = buffers.Get(1 << 20)
			buffers.Put(data)
			close(taken)
		}()
		<-taken
		if data != first {
			t.Fatal("Get made a new buffer while one was idle")
		}
	}
}

func TestBuffersLendZeroes(t *testing.T) {
	buffers := NewBuffers()
	for _, size := range []int{1000, 16 << 10, 300 << 10} {
		for range 3 {
			data := buffers.Get(size)
			if !filledWith(*data, 0) {
				t.Fatalf("a lent buffer of %d bytes is not all zero", size)
			}
			fill(*data, 0xff)
			*data = (*data)[:100] // as a reader that filled less of it
			buffers.Put(data)
		}
		if data := buffers.GetUncleared(size); len(*data) != size {
			t.Errorf("GetUncleared(%d) has length %d", size, len(*data))
		}
	}
}

// What did not come from a shelf is not put on one.
func TestBuffersLeaveForeignOnesAlone(t *testing.T) {
	buffers := NewBuffers()
	foreign := make([]byte, 1<<20)
	buffers.Put(&foreign)
	if data := buffers.Get(1<<20 - 1); cap(*data) != 1<<20+slack {
		t.Errorf("Get lends a buffer of capacity %d", cap(*data))
	}
}

// A tidying drops what nobody has taken since the one before.
func TestShelfTidies(t *testing.T) {
	var row shelf
	first, second := make([]byte, 1), make([]byte, 2)
	row.put(&first)
	row.put(&second)
	row.tidy()
	if len(row.idle) != 2 {
		t.Fatalf("%d buffers after the first tidying, want both", len(row.idle))
	}
	row.put(row.take())
	row.tidy()
	if len(row.idle) != 1 || row.idle[0] != &second {
		t.Fatalf("%d buffers after the second tidying, want the one that was taken in between", len(row.idle))
	}
	row.tidy()
	if len(row.idle) != 0 || row.take() != nil {
		t.Errorf("%d buffers after the third tidying, want none", len(row.idle))
	}
}

func TestBuffersGiveIdleMemoryBack(t *testing.T) {
	buffers := NewBuffers()
	buffers.Put(buffers.Get(1 << 20))
	row := &buffers.shelves[shelfOf(1<<20)]
	for deadline := time.Now().Add(time.Minute); ; runtime.GC() {
		row.mu.Lock()
		left := len(row.idle)
		row.mu.Unlock()
		if left == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("an idle buffer is kept for good")
		}
	}
}

// A pool that nobody refers to any more is not kept alive by its own tidying.
func TestBuffersAreCollected(t *testing.T) {
	pool := weak.Make(NewBuffers())
	for deadline := time.Now().Add(time.Minute); pool.Value() != nil; runtime.GC() {
		if time.Now().After(deadline) {
			t.Fatal("the pool is kept for good")
		}
	}
}

func TestBuffersConcurrently(t *testing.T) {
	buffers := NewBuffers()
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for round := range 200 {
				data := buffers.Get(150<<10 + i)
				if !filledWith((*data)[:64], 0) {
					t.Error("a lent buffer is not all zero")
					return
				}
				(*data)[round%64] = 0xff
				buffers.Put(data)
				if round%50 == 0 {
					runtime.GC()
				}
			}
		})
	}
	group.Wait()
}

// TestBuffersBoundWhatIsIdle gives back more than is kept.
func TestBuffersBoundWhatIsIdle(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // collections drop what is idle
	buffers := NewBuffers()
	const size, count = 4 << 20, 20
	var lent []*[]byte
	for range count {
		lent = append(lent, buffers.GetUncleared(size))
	}
	for _, data := range lent {
		buffers.Put(data)
	}
	idle, kept := buffers.idle.Load(), 0
	for i := range buffers.shelves {
		kept += len(buffers.shelves[i].idle)
	}
	if want := mostIdle / (size + slack); kept != want || idle != int64(kept)*(size+slack) {
		t.Errorf("%d of %d buffers and %d bytes are idle, want %d buffers", kept, count, idle, want)
	}
	if dropped := buffers.rest.dropped.Load(); dropped != int64(count-kept)*(size+slack) {
		t.Errorf("%d bytes are left to the collector, want those of %d buffers", dropped, count-kept)
	}
}

// TestBuffersRest has nobody use buffers for a while: nothing of them is kept, and what they left is collected, if that is worth it.
func TestBuffersRest(t *testing.T) {
	for _, tt := range []struct {
		name  string
		bytes int
		want  int // collections
	}{
		{"much", worthCollecting, 1},
		{"little", 1 << 20, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer debug.SetGCPercent(debug.SetGCPercent(-1))
			buffers, collections := NewBuffers(), 0
			buffers.rest.after, buffers.rest.collect = time.Hour, func() { collections++ }
			buffers.Put(buffers.GetUncleared(tt.bytes))
			buffers.look() // it was used since
			if idle := buffers.idle.Load(); idle == 0 || collections != 0 {
				t.Errorf("after use %d bytes are idle, %d collections", idle, collections)
			}
			buffers.look()
			if idle := buffers.idle.Load(); idle != 0 || collections != tt.want || buffers.rest.looking.Load() {
				t.Errorf("after a rest %d bytes are idle, %d collections, looks go on: %v; want 0, %d, false",
					idle, collections, buffers.rest.looking.Load(), tt.want)
			}
			buffers.Put(buffers.GetUncleared(1 << 20))
			if !buffers.rest.looking.Load() {
				t.Error("nobody looks after the next use")
			}
		})
	}
}

// TestBuffersAbandoned has somebody else leave memory to the collector.
func TestBuffersAbandoned(t *testing.T) {
	for _, tt := range []struct {
		name  string
		bytes int64
		want  int // collections
	}{
		{"much", worthCollecting / 2, 1},
		{"little", 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			buffers, collections := NewBuffers(), 0
			buffers.rest.after, buffers.rest.collect = time.Hour, func() { collections++ }
			buffers.Abandoned(0)
			if buffers.rest.looking.Load() {
				t.Error("somebody looks although nothing was left")
			}
			buffers.Abandoned(tt.bytes)
			buffers.Abandoned(tt.bytes)
			if !buffers.rest.looking.Load() {
				t.Error("nobody looks for what was left")
			}
			buffers.look() // something was left since
			buffers.look()
			if collections != tt.want {
				t.Errorf("%d collections, want %d", collections, tt.want)
			}
		})
	}
}

// TestBuffersLook has the look come by itself.
func TestBuffersLook(t *testing.T) {
	buffers, collected := NewBuffers(), make(chan struct{})
	buffers.rest.after, buffers.rest.collect = time.Millisecond, func() { close(collected) }
	buffers.Put(buffers.GetUncleared(worthCollecting))
	select {
	case <-collected:
	case <-time.After(30 * time.Second):
		t.Fatal("nothing was collected")
	}
}
