package stream

import (
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// The tiers of a Pool hold chunks of 2 KiB, 4 KiB, … 32 MiB.
const (
	// smallestTier is the exponent of the smallest capacity. gRPC ignores the pool of a buffer of 1 KiB or less, so
	// chunks are larger than that.
	smallestTier = 11
	// largestTier is the exponent of the largest capacity that is kept for reuse.
	largestTier = 25
	tiers       = largestTier - smallestTier + 1
	// notKept is the tier of a chunk that is too large to be kept.
	notKept = -1
)

// Pool lends chunks of memory and takes them back. A chunk that was given back is zeroed over all that was lent of it
// before it can be lent again, so that no borrower ever sees what another wrote. Nothing in it blocks: a chunk that
// never comes back is the garbage collector's, and the next borrower gets a new one.
//
// Idle chunks are kept in one sync.Pool for each capacity: what is idle was in use at once at some time since the
// garbage collection before the last, and memory that stays idle for two collections is freed. A Pool is safe for
// concurrent use.
type Pool struct {
	idle    [tiers]sync.Pool
	checked bool
	fresh   bool

	got, returned, allocated, lost, late, writtenOff, faults atomic.Int64

	collection sync.Mutex // guards collectedAt
	// collectedAt is when collect last began.
	collectedAt time.Time
}

// NewPool returns an empty pool.
func NewPool() *Pool {
	return &Pool{}
}

// NewCheckedPool returns a pool for tests that proves, at a price, what Pool promises. A chunk that is given back is
// cleared as ever, then seen to be zero over its whole capacity, then filled with Poison; when it is lent again it is
// seen to be still all Poison, then cleared. Whoever reads memory after giving it back reads Poison, whoever writes to
// it is counted in Stats.Faults.
func NewCheckedPool() *Pool {
	return &Pool{checked: true}
}

// NewFreshPool returns a pool for benchmarks that never lends a chunk again: each Get is new memory, and what comes back
// is left to the garbage collector, not cleared; nor do messages refer to a record. It shows what reuse is worth.
func NewFreshPool() *Pool {
	return &Pool{fresh: true}
}

// Stats counts what happened to the chunks of a Pool since it was made. The numbers are read one after the other, so
// that under load they need not add up. A chunk that gRPC has dropped without giving it back counts nowhere but in Got
// until the garbage collector finds it, so Got less Returned is not a gauge of memory in use.
type Stats struct {
	// Got counts the chunks lent.
	Got int64
	// Returned counts the chunks given back, late ones included.
	Returned int64
	// Allocated counts the chunks lent that were new memory.
	Allocated int64
	// Lost counts the chunks that were never given back and that the garbage collector has found.
	Lost int64
	// WrittenOff counts the chunks that were still owed when their connection ended.
	WrittenOff int64
	// Late counts the chunks that came back after they were written off.
	Late int64
	// Faults counts chunks that were given back twice and, in a checked pool, chunks found changed while idle.
	Faults int64
}

// Stats returns the counts up to now.
func (p *Pool) Stats() Stats {
	return Stats{
		Got:        p.got.Load(),
		Returned:   p.returned.Load(),
		Allocated:  p.allocated.Load(),
		Lost:       p.lost.Load(),
		WrittenOff: p.writtenOff.Load(),
		Late:       p.late.Load(),
		Faults:     p.faults.Load(),
	}
}

// Get lends a chunk of at least size bytes, all zero. Its capacity is the next power of two from 2 KiB; above 32 MiB it
// is size itself, and the chunk is not kept for reuse. The caller gives it back by Release or hands it on by Buffer.
func (p *Pool) Get(size int) Chunk {
	p.got.Add(1)
	tier := tierOf(size)
	b := p.take(tier)
	if b == nil {
		p.allocated.Add(1)
		b = newBlock(p, tier, size)
	}
	return b.lend()
}

// take returns an idle block of a tier, all zero, or nil.
func (p *Pool) take(tier int) *block {
	if tier == notKept || p.fresh {
		return nil
	}
	b, ok := p.idle[tier].Get().(*block)
	if !ok {
		return nil
	}
	if p.checked {
		p.unpoison(b)
	}
	return b
}

// put clears a block and keeps it for reuse.
func (p *Pool) put(b *block) {
	if p.fresh {
		b.loan.out.Store(false)
		p.returned.Add(1)
		return
	}
	clear(b.data[:b.lent])
	b.lent = 0
	b.loan.out.Store(false)
	p.returned.Add(1)
	if p.checked {
		p.poison(b)
	}
	if b.tier != notKept {
		p.idle[b.tier].Put(b)
	}
}

// collect sees to it that a garbage collection has run that began after since, so that what gRPC had dropped by then is
// found out. There is at most one in a second, however many connections are in question: when it is too early for the
// next, collect does nothing and returns how long to wait before calling it again.
func (p *Pool) collect(since time.Time) (wait time.Duration) {
	p.collection.Lock()
	defer p.collection.Unlock()
	if p.collectedAt.After(since) {
		return 0
	}
	if wait = time.Second - time.Since(p.collectedAt); wait > 0 {
		return wait
	}
	p.collectedAt = time.Now()
	runtime.GC()
	return 0
}

// tierOf returns the index of the smallest tier that holds size bytes, or notKept.
func tierOf(size int) int {
	if size <= 1<<smallestTier {
		return 0
	}
	exponent := bits.Len(uint(size - 1))
	if exponent > largestTier {
		return notKept
	}
	return exponent - smallestTier
}

// Capacity returns the capacity of the chunk that Get(size) lends, in bytes.
func Capacity(size int) int {
	tier := tierOf(size)
	if tier == notKept {
		return size
	}
	return 1 << (tier + smallestTier)
}
