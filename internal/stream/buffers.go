package stream

import (
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
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
// garbage collections is freed. What lies on shelves has a bound, and when nobody has used any for a while they are cleared and what was left
// behind is collected: a process that has nothing to do collects once in two minutes of its own accord. It is safe for concurrent use.
type Buffers struct {
	small   [smallestShelf - smallestSmall + 1]sync.Pool // of *[]byte
	shelves [largestShelf - smallestShelf + 1]shelf
	idle    atomic.Int64 // bytes on shelves
	rest    rest
}

// rest is what a Buffers does when nobody uses large buffers.
type rest struct {
	after   time.Duration
	collect func()       // collects garbage
	uses    atomic.Int64 // counts buffers taken and given back, up to now and
	seen    atomic.Int64 // at the last look
	dropped atomic.Int64 // bytes that were left to the collector since the last rest
	looking atomic.Bool  // whether a look is to come
}

const (
	// mostIdle bounds what lies on shelves, in bytes.
	mostIdle = 64 << 20
	// restAfter is how long nobody has to use large buffers, and worthCollecting from how many bytes on what they left is collected then.
	restAfter       = 5 * time.Second
	worthCollecting = 16 << 20
)

var _ mem.BufferPool = (*Buffers)(nil)

// NewBuffers returns an empty pool.
func NewBuffers() *Buffers {
	b := &Buffers{rest: rest{after: restAfter, collect: func() {
		runtime.GC()
		runtime.GC() // pools of the standard library keep what is idle for one collection
	}}}
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
		if used {
			b.idle.Add(-int64(size))
		}
		b.rest.uses.Add(1)
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
		b.shelve(data, size)
		b.used()
	}
}

// shelve puts a buffer of a size onto its shelf, or leaves it to the collector where it has none, or there is too much on shelves.
func (b *Buffers) shelve(data *[]byte, size int) {
	i := shelfOf(size)
	switch {
	case i >= len(b.shelves) || size != 1<<(smallestShelf+i)+slack:
	case b.idle.Add(int64(size)) > mostIdle:
		b.idle.Add(-int64(size))
	default:
		b.shelves[i].put(data)
		return
	}
	b.rest.dropped.Add(int64(size))
}

// Abandoned notes that so many bytes of memory elsewhere were left to the collector, such as what gRPC had queued for a connection that has
// ended. They are collected like what is dropped here.
func (b *Buffers) Abandoned(bytes int64) {
	if bytes > 0 {
		b.rest.dropped.Add(bytes)
		b.used()
	}
}

// used notes that a large buffer was used, and sees to it that there is a rest some time later.
func (b *Buffers) used() {
	b.rest.uses.Add(1)
	if !b.rest.looking.Swap(true) {
		time.AfterFunc(b.rest.after, b.look)
	}
}

// look rests where nobody has used large buffers since the last look, or looks again later.
func (b *Buffers) look() {
	r := &b.rest
	if uses := r.uses.Load(); r.seen.Swap(uses) != uses {
		time.AfterFunc(r.after, b.look)
		return
	}
	b.tidy()
	b.tidy()
	if r.dropped.Load() >= worthCollecting {
		r.dropped.Store(0)
		r.collect()
	}
	r.looking.Store(false)
	if r.uses.Load() != r.seen.Load() && !r.looking.Swap(true) {
		time.AfterFunc(r.after, b.look) // somebody came meanwhile and saw that a look was to come
	}
}

// tidy drops the buffers that nobody has taken since it was last called.
func (b *Buffers) tidy() {
	for i := range b.shelves {
		bytes := int64(b.shelves[i].tidy()) * (1<<(smallestShelf+i) + slack)
		b.idle.Add(-bytes)
		b.rest.dropped.Add(bytes)
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

// tidy drops what nobody has taken since the last tidying, and returns how many these were.
func (s *shelf) tidy() (dropped int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	dropped = s.unused
	kept := copy(s.idle, s.idle[s.unused:])
	clear(s.idle[kept:])
	s.idle = s.idle[:kept]
	s.unused = kept
	return dropped
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
		b.tidy()
		tidyAfterCollection(pool)
	}, pool)
}
