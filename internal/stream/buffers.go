package stream

import (
	"fmt"
	"math/bits"
	"runtime"
	"sync"
	"weak"

	"google.golang.org/grpc/mem"
)

// The sizes of a Buffers.
const (
	// smallestShelf and largestShelf are the exponents of the sizes that are kept on shelves.
	smallestShelf = 17
	largestShelf  = 25
	// slack is what a shelf's buffers have beyond a power of two, since what surrounds a payload of just that size is a few
	// bytes.
	slack = 4 << 10
)

// smallTiers are the exponents of the sizes below: gRPC's own pool goes from 32 KiB straight to 1 MiB, and clears all of it.
var smallTiers = []uint8{8, 10, 11, 12, 13, 14, 15, 16, 17}

// Buffers is the mem.BufferPool that messages are received into. Small buffers lie in gRPC's own pools, which are sync.Pools
// and so keep some idle memory for each processor. Large ones lie on shelves that all processors share: a buffer that was given
// back is what the next Get takes, wherever it runs, and one that nobody took between two garbage collections is freed. It
// is safe for concurrent use.
type Buffers struct {
	small   mem.BufferPool
	shelves [largestShelf - smallestShelf + 1]shelf
}

var _ mem.BufferPool = (*Buffers)(nil)

// NewBuffers returns an empty pool.
func NewBuffers() (*Buffers, error) {
	small, err := mem.NewBinaryTieredBufferPool(smallTiers...)
	if err != nil {
		return nil, fmt.Errorf("buffer pool: %w", err)
	}
	b := &Buffers{small: small}
	tidyAfterCollection(weak.Make(b))
	return b, nil
}

// Get lends a buffer of a length, all zero.
func (b *Buffers) Get(length int) *[]byte {
	data := b.GetUncleared(length)
	if length > 1<<smallestShelf {
		clear(*data) // small ones are
	}
	return data
}

// GetUncleared lends a buffer of a length to a caller who is going to fill all of it before anything is read: what others wrote may
// still be in it.
func (b *Buffers) GetUncleared(length int) *[]byte {
	if length <= 1<<smallestShelf {
		return b.small.Get(length)
	}
	i := shelfOf(length)
	if i == len(b.shelves) {
		data := make([]byte, length)
		return &data
	}
	if data := b.shelves[i].take(); data != nil {
		*data = (*data)[:length]
		return data
	}
	data := make([]byte, length, 1<<(smallestShelf+i)+slack)
	return &data
}

// Put takes a buffer back, whatever Get it came from.
func (b *Buffers) Put(data *[]byte) {
	switch i := shelfOf(cap(*data)); {
	case cap(*data) <= 1<<smallestShelf:
		b.small.Put(data)
	case i < len(b.shelves) && cap(*data) == 1<<(smallestShelf+i)+slack:
		b.shelves[i].put(data)
	}
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
