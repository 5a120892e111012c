package stream

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// window is how many bytes gRPC queues for one stream before it makes the sender wait (its write quota).
const window = 64 << 10

// Cost returns the bytes to admit a stream with: what gRPC queues for it while its peer does not read, one chunk that
// waits to be queued and one that is being filled.
func Cost(chunkSize int) int64 {
	return window + 2*int64(Capacity(chunkSize))
}

// Budget bounds the memory of all streams of the process. Streams that do not fit wait in the order in which they
// came, for a bounded time. It is held by handlers, not by chunks: a handler that ends gives its part back whether or
// not gRPC has given back its chunks. A Budget is safe for concurrent use.
type Budget struct {
	total     int64
	wait      time.Duration
	semaphore *semaphore.Weighted
	held      atomic.Int64
	waiting   atomic.Int64
}

// NewBudget returns a budget of total bytes (--stream-budget) for which a stream waits at most wait (--stream-wait). A
// budget of 0 admits nothing, and a wait of 0 refuses at once what does not fit.
func NewBudget(total int64, wait time.Duration) *Budget {
	return &Budget{total: total, wait: wait, semaphore: semaphore.NewWeighted(total)}
}

// Admit takes n bytes of the budget and returns the function that gives them back, which may be called more than once.
// When they do not fit within the wait the error is a *fault.Error with reason BudgetExhausted; n larger than the whole
// budget fails at once. When ctx ends first the error is that of ctx.
func (b *Budget) Admit(ctx context.Context, n int64) (release func(), err error) {
	g := b.Grant()
	if err := g.Wait(ctx, n); err != nil {
		return nil, err
	}
	return sync.OnceFunc(g.Release), nil
}

// Grant returns a grant of nothing yet.
func (b *Budget) Grant() Grant { return Grant{budget: b} }

// Grant is what one stream has of a Budget, where that changes while it runs. It is for one goroutine. It must be released.
type Grant struct {
	budget *Budget
	held   int64
}

// Wait takes n bytes more, as Budget.Admit does.
func (g *Grant) Wait(ctx context.Context, n int64) error {
	b := g.budget
	if err := ctx.Err(); err != nil {
		return err
	}
	if n > b.total {
		return fault.OverLimit(fault.BudgetExhausted, "stream of bytes", "--stream-budget", b.total, n)
	}
	n = max(n, 0)
	if !b.semaphore.TryAcquire(n) {
		if err := b.acquire(ctx, n); err != nil {
			return err
		}
	}
	g.add(n)
	return nil
}

// Resize makes the grant one of n bytes, or of the whole budget where n is more. What it has too much is given back. What it needs
// more is taken without waiting: a stream that waits while it holds something could wait for another one that does the
// same. Where that is not free the error is a *fault.Error with reason BudgetExhausted, and the grant is as before.
func (g *Grant) Resize(n int64) error {
	b := g.budget
	n = min(n, b.total)
	more := n - g.held
	switch {
	case more < 0:
		g.add(more)
		b.semaphore.Release(-more)
	case more > 0 && !b.semaphore.TryAcquire(more):
		return fault.New(fault.BudgetExhausted,
			"memory for a stream under way: %d more bytes are not free, the budget is %d (--stream-budget)", more, b.total)
	default:
		g.add(more)
	}
	return nil
}

// Held returns the bytes that the grant has.
func (g *Grant) Held() int64 { return g.held }

// Release gives everything back. It may be called twice.
func (g *Grant) Release() {
	n := g.held
	g.add(-n)
	g.budget.semaphore.Release(n)
}

// add notes n bytes more.
func (g *Grant) add(n int64) {
	g.held += n
	g.budget.held.Add(n)
}

// acquire waits for n bytes.
func (b *Budget) acquire(ctx context.Context, n int64) error {
	waitCtx, cancel := context.WithTimeout(ctx, b.wait)
	defer cancel()
	b.waiting.Add(1)
	defer b.waiting.Add(-1)
	if b.semaphore.Acquire(waitCtx, n) == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return fault.New(fault.BudgetExhausted,
		"memory for streams: %d bytes not free within %s, the budget is %d (--stream-budget, --stream-wait)", n, b.wait, b.total)
}

// Held returns the bytes that are given out.
func (b *Budget) Held() int64 {
	return b.held.Load()
}

// Waiting returns how many streams wait for budget.
func (b *Budget) Waiting() int64 {
	return b.waiting.Load()
}
