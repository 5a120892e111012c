package stream

import (
	"runtime"

	"google.golang.org/grpc/mem"
)

// record is a buffer that the messages of a stream refer to, instead of each having a copy of its bytes. It goes back to its Buffers
// when the stream and gRPC have both let go of it. What gRPC drops is left to the garbage collector, as with a chunk, and like one it is
// owed by the connection until then, in full, however little of it is still queued.
type record struct {
	held *[]byte // owned
	from *Buffers
	view []byte // what there is of it; outlives the mem.Buffer that points to it
	loan *loan
}

// share returns a buffer of all of held, whose last reference gives held back, and ends the loan. Where debt is not nil it is charged until
// then.
func (p *Pool) share(held *[]byte, from *Buffers, debt *Debt) (mem.Buffer, *loan) {
	r := &record{held: held, from: from, view: *held, loan: &loan{pool: p, capacity: cap(*held)}}
	if debt != nil && debt.charge(r.loan.capacity) {
		r.loan.debt = debt
	}
	p.got.Add(1)
	r.loan.out.Store(true)
	runtime.AddCleanup(r, (*loan).collected, r.loan)
	return mem.NewBuffer(&r.view, r), r.loan
}

var _ mem.BufferPool = (*record)(nil)

// Get returns new memory that belongs to the caller. gRPC does not call it on the pool of a buffer.
func (*record) Get(length int) *[]byte {
	data := make([]byte, length)
	return &data
}

// Put gives the record back. It never blocks.
func (r *record) Put(*[]byte) {
	pool := r.loan.pool
	if !r.loan.settle() {
		pool.late.Add(1)
	}
	r.loan.out.Store(false)
	pool.returned.Add(1)
	r.from.Put(r.held)
	r.held, r.view = nil, nil
}
