package stream

import (
	"math/bits"
	"runtime"
	"sync"
	"weak"

	"google.golang.org/grpc/mem"
)

// The sizes of a Buffers.
const (
	// smallestSmall and smallestShelf are the exponents of the smallest buffers that are kept, in pools and on shelves. Those on
	// shelves are larger than the largest in pools.
	smallestSmall = 8
	smallestShelf = 17
	largestShelf  = 25
	// slack is what a shelf's buffers have beyond a power of two, since what surrounds a payload of just that size is a few
	// bytes.
	slack = 4 << 10
)

// Buffers is the mem.BufferPool that messages are received into. Small buffers lie in a sync.Pool for each power of two,
// which keep some idle memory for each processor; gRPC's own go from 32 KiB straight to 1 MiB. Large ones lie on shelves that all
// processors share: a buffer that was given back is what the next Get takes, wherever it runs, and one that nobody took between two
// garbage collections is freed. It is safe for concurrent use.
type Buffers struct {
	small   [smallestShelf - smallestSmall + 1]sync.Pool // of *[]byte
	shelves [largestShelf - smallestShelf + 1]shelf
}

var _ mem.BufferPool = (*Buffers)(nil)

// NewBuffers returns an empty pool.
func NewBuffers() *Buffers {
	b := &Buffers{}
	tidyAfterCollection(weak.Make(b))
	return b
}

// Get lends a buffer of a length, all zero.
func (b *Buffers) Get(length int) *[]byte {
	data, used := b.get(length)
	if used {
		clear(*data)
	}
	return data
}

// GetUncleared lends a buffer of a length to a caller who is going to fill all of it before anything is read: what others wrote may
// still be in it.
func (b *Buffers) GetUncleared(length int) *[]byte {
	data, _ := b.get(length)
	return data
}

// get lends a buffer, and tells whether it was used before.
func (b *Buffers) get(length int) (data *[]byte, used bool) {
	size := length
	if i := shelfOf(length); length <= 1<<smallestShelf {
		i = smallOf(length)
		data, used = b.small[i].Get().(*[]byte)
		size = 1 << (smallestSmall + i)
	} else if i < len(b.shelves) {
		data = b.shelves[i].take()
		used = data != nil
		size = 1<<(smallestShelf+i) + slack
	}
	if used {
		*data = (*data)[:length]
		return data, true
	}
	fresh := make([]byte, length, size)
	return &fresh, false
}

// Put takes a buffer back, whatever Get it came from.
func (b *Buffers) Put(data *[]byte) {
	switch size := cap(*data); {
	case size <= 1<<smallestShelf:
		if i := smallOf(size); size == 1<<(smallestSmall+i) {
			b.small[i].Put(data)
		}
	default:
		if i := shelfOf(size); i < len(b.shelves) && size == 1<<(smallestShelf+i)+slack {
			b.shelves[i].put(data)
		}
	}
}

// smallOf returns the index of the pool of the smallest buffers that hold n bytes.
func smallOf(n int) int {
	return max(bits.Len(uint(max(n, 1)-1)), smallestSmall) - smallestSmall
}

// shelfOf returns the index of the first shelf whose buffers hold n bytes, or one beyond the last.
func shelfOf(n int) int {
	if n <= 1<<smallestShelf+slack {
		return 0
	}
	return min(bits.Len(uint(n-slack-1)), largestShelf+1) - smallestShelf
}

// shelf keeps idle buffers of one size.
type shelf struct {
	mu   sync.Mutex
	idle []*[]byte
	// unused is how many of them, the first ones, nobody has taken since the last tidying.
	unused int
}

func (s *shelf) take() *[]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.idle) - 1
	if last < 0 {
		return nil
	}
	data := s.idle[last]
	s.idle[last] = nil
	s.idle = s.idle[:last]
	s.unused = min(s.unused, last)
	return data
}

func (s *shelf) put(data *[]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, data)
}

// tidy drops what nobody has taken since the last tidying.
func (s *shelf) tidy() {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := copy(s.idle, s.idle[s.unused:])
	clear(s.idle[kept:])
	s.idle = s.idle[:kept]
	s.unused = kept
}

// tidyAfterCollection tidies the shelves after each garbage collection for as long as the pool is in use: an object that
// nothing refers to is found by the next one.
func tidyAfterCollection(pool weak.Pointer[Buffers]) {
	type sentinel struct{ _ [32]byte }
	runtime.AddCleanup(&sentinel{}, func(pool weak.Pointer[Buffers]) {
		b := pool.Value()
		if b == nil {
			return
		}
		for i := range b.shelves {
			b.shelves[i].tidy()
		}
		tidyAfterCollection(pool)
	}, pool)
}
