package stream

import (
	"context"
	"runtime"
	"sync/atomic"

	"google.golang.org/grpc/mem"
)

// Chunk is a loan of memory from a Pool. It ends once, by Release or by Buffer, and from then on the Chunk is void:
// Release does nothing, Bytes and Room return nil, also when the same memory has long been lent to somebody else. So
// `defer chunk.Release()` right after Get is correct on every path. A Chunk may be copied; all copies are the same
// loan. It is not for concurrent use. The zero Chunk is void.
type Chunk struct {
	block   *block
	lending uint64
}

// block is the memory behind chunks. It is lent many times, each time under another number, so that what is left of an
// older loan cannot touch it.
type block struct {
	pool *Pool
	tier int
	data []byte
	// view is the part that gRPC was handed; it outlives the mem.Buffer that points to it.
	view []byte
	// lent is how much of data was lent since it was last all zero, and so may not be zero now.
	lent int
	// loan is what is known of the current loan when the block is gone.
	loan *loan
	// state is the number of the loan, shifted by two, and one of the phases below.
	state atomic.Uint64
}

// loan outlives its block: it is how the garbage collector tells that a block will never come back. It is touched by
// whoever has the block, and once nobody has, by its cleanup.
type loan struct {
	pool     *Pool
	capacity int
	// out is set while the block is lent or handed over. It is set again after what is below was changed, which makes that visible
	// to the cleanup.
	out atomic.Bool
	// debt is what is released when the block comes back, or nil.
	debt *Debt
	// charged is whether debt was charged before the block was handed over.
	charged bool
}

// settle pays the debt of the loan, where there is one, and tells whether its account was still open.
func (l *loan) settle() bool {
	debt := l.debt
	l.debt, l.charged = nil, false
	return debt == nil || debt.pay(l.capacity)
}

// collected settles the loan of a block that was dropped instead of given back.
func (l *loan) collected() {
	if !l.out.Load() {
		return
	}
	l.pool.lost.Add(1)
	l.settle()
}

// The phases of a block.
const (
	phaseIdle   = 0 // in the pool
	phaseLent   = 1 // somebody holds the Chunk
	phaseHanded = 2 // gRPC holds a mem.Buffer
	phaseBits   = 2
	phaseMask   = 1<<phaseBits - 1
)

func newBlock(p *Pool, tier, size int) *block {
	b := &block{pool: p, tier: tier, data: make([]byte, Capacity(size))}
	b.loan = &loan{pool: p, capacity: len(b.data)}
	runtime.AddCleanup(b, (*loan).collected, b.loan)
	return b
}

// lend starts the next loan of an idle block.
func (b *block) lend() Chunk {
	lending := b.state.Load()>>phaseBits + 1
	b.state.Store(lending<<phaseBits | phaseLent)
	b.loan.out.Store(true)
	return Chunk{block: b, lending: lending}
}

// lent tells whether the loan still runs.
func (c Chunk) lent() bool {
	return c.block != nil && c.block.state.Load() == c.lending<<phaseBits|phaseLent
}

// end ends the loan with a phase, and tells whether it was still running.
func (c Chunk) end(phase uint64) bool {
	return c.block != nil &&
		c.block.state.CompareAndSwap(c.lending<<phaseBits|phaseLent, c.lending<<phaseBits|phase)
}

// Bytes returns the whole capacity of the chunk, all zero when it was not written to since Get. The slice aliases the
// chunk: it must not be touched after Release or Buffer. It is nil when the loan has ended.
func (c Chunk) Bytes() []byte {
	if !c.lent() {
		return nil
	}
	return c.Room(len(c.block.data))
}

// Room returns the first n bytes of the chunk, capped, like Bytes. Only what was lent is cleared when the chunk comes
// back, so asking for less than the whole is cheaper. n must not exceed the capacity.
func (c Chunk) Room(n int) []byte {
	if !c.lent() {
		return nil
	}
	c.block.lent = max(c.block.lent, n)
	return c.block.data[:n:n]
}

// ChargeTo makes the connection's account owe the chunk from now on until gRPC gives it back, or until Release. It is for chunks
// that go out without a Sender, such as unary replies. It waits like Account.Await until the account may owe so much; after
// an error the chunk is charged to nobody, and still the caller's. A nil account charges nobody.
func (c Chunk) ChargeTo(ctx context.Context, a *Account) error {
	if a == nil || !c.lent() {
		return nil
	}
	charged, err := a.await(ctx, int64(len(c.block.data)))
	if charged {
		c.block.loan.debt, c.block.loan.charged = a.unary, true
		c.block.loan.out.Store(true)
	}
	return err
}

// Buffer ends the loan by handing bytes [start:end) to gRPC: whoever frees the last reference of the buffer gives the
// chunk back to its pool, cleared. The buffer aliases the chunk and belongs to the caller until gRPC has it; its
// wrapper is recycled too, so it must not be touched once it was handed over or freed. Like slicing, Buffer panics when
// the range is outside of the capacity, and when the loan has ended.
func (c Chunk) Buffer(start, end int) mem.Buffer {
	if !c.lent() {
		panic("stream: Buffer of a chunk that is not lent any longer")
	}
	b := c.block
	b.view = b.data[start:end]
	if mem.IsBelowBufferPoolingThreshold(cap(b.view)) {
		// gRPC would never give so small a buffer back.
		small := mem.SliceBuffer(append([]byte(nil), b.view...))
		c.Release()
		return small
	}
	if debt := b.loan.debt; debt != nil && !b.loan.charged && !debt.charge(len(b.data)) {
		b.loan.debt = nil
	}
	b.loan.out.Store(true)
	if !c.end(phaseHanded) {
		panic("stream: Buffer of a chunk that is not lent any longer")
	}
	return mem.NewBuffer(&b.view, (*returner)(b))
}

// Release ends the loan by giving the chunk back to its pool, cleared. It does nothing when the loan has ended.
func (c Chunk) Release() {
	if !c.end(phaseIdle) {
		return
	}
	if c.block.loan.charged {
		c.block.loan.settle()
	}
	c.block.loan.debt = nil
	c.block.pool.put(c.block)
}

// returner is a block as the mem.BufferPool of its own buffer: gRPC calls Put with it when the last reference is freed,
// so that no lookup is needed and nobody else can give a block back.
type returner block

var _ mem.BufferPool = (*returner)(nil)

// Get returns new memory that belongs to the caller. gRPC does not call it on the pool of a buffer.
func (*returner) Get(length int) *[]byte {
	data := make([]byte, length)
	return &data
}

// Put gives the block back. It never blocks. A second call for the same loan is counted and does nothing.
func (r *returner) Put(*[]byte) {
	b := (*block)(r)
	state := b.state.Load()
	if state&phaseMask != phaseHanded || !b.state.CompareAndSwap(state, state&^phaseMask|phaseIdle) {
		b.pool.faults.Add(1)
		return
	}
	b.view = nil
	if !b.loan.settle() {
		b.pool.late.Add(1)
	}
	b.pool.put(b)
}
