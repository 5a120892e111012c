package stream

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// window is how many bytes gRPC queues for one stream before it makes the sender wait (its write quota).
const window = 64 << 10

// Cost returns the bytes to admit a stream with: what gRPC queues for it while its peer does not read, one chunk that
// waits to be queued and one that is being filled.
func Cost(chunkSize int) int64 {
	return window + 2*int64(Capacity(chunkSize))
}

// Budget bounds the memory of all streams of the process. Streams that do not fit wait for a bounded time, in two lines: those
// under way that need more for a while (Grant.Grow), and behind them new ones (Grant.Wait), each in the order in which they came.
//
// Who waits while it holds something may wait for another that does the same. So a part of the budget, the lane, is kept
// for the first in the line of those under way, one at a time: it waits for nobody but the one that has the lane, who waits for no budget.
// It is held by handlers, not by chunks: a handler that ends gives its part back whether or not gRPC has given back its
// chunks. A Budget is safe for concurrent use.
type Budget struct {
	total int64
	lane  int64
	wait  time.Duration

	mu      sync.Mutex
	shared  int64         // held, but for what lies in the lane
	inLane  int64         // held by the one in the lane
	lines   [2][]*request // who waits: those who grow, and those who arrive
	waiting atomic.Int64  // how many they are
}

// The lines of a Budget, the first one first.
const (
	growing = iota
	arriving
)

// request is what somebody waits for.
type request struct {
	grant *Grant
	bytes int64
	// granted is closed when grant has them.
	granted chan struct{}
}

// NewBudget returns a budget of total bytes (--stream-budget) for which a stream waits at most wait (--stream-wait). A
// budget of 0 admits nothing, and a wait of 0 refuses at once what does not fit. lane is the most that Grow is asked for; where that
// is more than half of the budget, half is kept for it, and what Grow grants is no more.
func NewBudget(total, lane int64, wait time.Duration) *Budget {
	return &Budget{total: total, lane: min(lane, total/2), wait: wait}
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
	shared int64
	inLane int64
}

// Wait takes n bytes more, as Budget.Admit does. What the grant has already, others may wait for: see Grow.
func (g *Grant) Wait(ctx context.Context, n int64) error {
	if n > g.budget.total {
		return fault.OverLimit(fault.BudgetExhausted, "stream of bytes", "--stream-budget", g.budget.total, n)
	}
	return g.acquire(ctx, max(n, 0), arriving)
}

// Grow takes n bytes more for a stream under way, or what there is beside what it has, for something that it gives back by Resize
// without waiting for its peer to send. It is served before all who arrive. Errors are those of Wait.
func (g *Grant) Grow(ctx context.Context, n int64) error {
	return g.acquire(ctx, max(min(n, g.budget.total-g.Held()), 0), growing)
}

// Resize makes the grant one of n bytes, or of the whole budget where n is more. What it has too much is given back, first that
// of the lane. What it needs more is taken without waiting. Where that is not free the error is a *fault.Error with reason
// BudgetExhausted, and the grant is as before.
func (g *Grant) Resize(n int64) error {
	b := g.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	n = min(n, b.total)
	switch more := n - g.Held(); {
	case more < 0:
		g.reduce(-more)
	case more > b.room() && g.Held() < b.shared+b.inLane: // and not alone
		return fault.New(fault.BudgetExhausted,
			"memory for a stream under way: %d more bytes are not free, the budget is %d (--stream-budget)", more, b.total)
	default:
		g.share(more)
	}
	return nil
}

// Held returns the bytes that the grant has.
func (g *Grant) Held() int64 { return g.shared + g.inLane }

// Release gives everything back. It may be called twice.
func (g *Grant) Release() {
	g.budget.mu.Lock()
	defer g.budget.mu.Unlock()
	g.reduce(g.Held())
}

// Held returns the bytes that are given out.
func (b *Budget) Held() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.shared + b.inLane
}

// Waiting returns how many streams wait for budget.
func (b *Budget) Waiting() int64 {
	return b.waiting.Load()
}

// acquire takes n bytes, or waits for them in a line.
func (g *Grant) acquire(ctx context.Context, n int64, line int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b := g.budget
	b.mu.Lock()
	if len(b.lines[line]) == 0 && b.give(g, n, line) {
		b.mu.Unlock()
		return nil
	}
	r := &request{grant: g, bytes: n, granted: make(chan struct{})}
	b.lines[line] = append(b.lines[line], r)
	b.waiting.Add(1)
	b.mu.Unlock()

	timer := time.NewTimer(b.wait)
	defer timer.Stop()
	var err error
	select {
	case <-r.granted:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = fault.New(fault.BudgetExhausted,
			"memory for streams: %d bytes not free within %s, the budget is %d (--stream-budget, --stream-wait)", n, b.wait, b.total)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.lines[line], r)
	if i < 0 {
		return nil // granted meanwhile
	}
	b.leave(line, i)
	b.serve()
	return err
}

// The methods below are called with the budget locked.

// room returns what is free beside the lane.
func (b *Budget) room() int64 { return b.total - b.lane - b.shared }

// give gives n bytes to whom stands first in a line, where that is possible.
func (b *Budget) give(g *Grant, n int64, line int) bool {
	switch {
	case line == arriving && len(b.lines[growing]) > 0:
		return false
	case n <= b.room(), b.shared+b.inLane == 0 && n <= b.total: // nobody is there for whom the lane is kept
		g.share(n)
	case line == growing && b.inLane == 0 && b.lane > 0:
		g.inLane = min(n, b.lane)
		b.inLane = g.inLane
	default:
		return false
	}
	return true
}

// share adds n bytes beside the lane to the grant.
func (g *Grant) share(n int64) {
	g.shared += n
	g.budget.shared += n
}

// reduce takes n bytes from the grant, and gives them to those who wait.
func (g *Grant) reduce(n int64) {
	b := g.budget
	if g.inLane > 0 {
		fromLane := min(n, g.inLane)
		g.inLane -= fromLane
		b.inLane = g.inLane
		n -= fromLane
	}
	g.shared -= n
	b.shared -= n
	b.serve()
}

// serve gives to those who wait what they can have, in their order.
func (b *Budget) serve() {
	for line := range b.lines {
		for len(b.lines[line]) > 0 {
			first := b.lines[line][0]
			if !b.give(first.grant, first.bytes, line) {
				break
			}
			close(first.granted)
			b.leave(line, 0)
		}
	}
}

// leave takes the one at i out of a line.
func (b *Budget) leave(line, i int) {
	b.lines[line] = slices.Delete(b.lines[line], i, i+1)
	b.waiting.Add(-1)
}
