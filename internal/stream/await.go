package stream

import (
	"context"
	"slices"
	"time"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// waiter waits until the account may owe bytes more for calls that have ended.
type waiter struct {
	bytes int64
	// admitted is closed when it may, or when the account was closed.
	admitted chan struct{}
	charged  bool // guarded by Account.mu until then
}

// Await waits until the account owes no more than its limit for calls that have ended. It is called before a stream begins, which when it
// ends may leave behind what gRPC has queued of it. Those who wait are served in the order in which they came. As long as the
// peer reads, they wait; when nothing was paid for the account's wait, the error is a *fault.Error with reason
// BudgetExhausted, and when ctx ends first that of ctx. A nil account waits for nothing.
func (a *Account) Await(ctx context.Context) error {
	if a == nil {
		return nil
	}
	_, err := a.await(ctx, 0)
	return err
}

// await is Await for a chunk of that many bytes, or for a stream, which has 0 at its begin. It charges them as a unary reply,
// and tells whether it did: not when the account was closed.
func (a *Account) await(ctx context.Context, bytes int64) (charged bool, err error) {
	a.mu.Lock()
	if len(a.waiting) == 0 && a.allows(bytes) {
		charged = a.take(bytes)
		a.mu.Unlock()
		return charged, nil
	}
	w := &waiter{bytes: bytes, admitted: make(chan struct{})}
	a.waiting = append(a.waiting, w)
	a.mu.Unlock()

	since := time.Now()
	timer := time.NewTimer(min(a.wait/4, time.Second))
	defer timer.Stop()
	for looked := 0; ; {
		select {
		case <-w.admitted:
			return w.charged, nil
		case <-ctx.Done():
			return a.leave(w, ctx.Err())
		case <-timer.C:
		}
		idle := a.idleSince(since)
		if idle >= a.wait {
			return a.leave(w, nil)
		}
		if looked < collections && a.pool.collect(time.Now()) == 0 { // what gRPC has dropped is owed by nobody
			looked++
		}
		timer.Reset(min(a.wait-idle, max(a.wait/4, time.Millisecond), time.Second))
	}
}

// idleSince returns for how long nothing was paid, at most the time since.
func (a *Account) idleSince(since time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lessAt.After(since) {
		since = a.lessAt
	}
	return time.Since(since)
}

// allows reports whether so many bytes may be added. One chunk may always, and after Close all may. The account is locked.
func (a *Account) allows(bytes int64) bool {
	return a.closed || a.ended == 0 || a.ended <= a.limit-bytes
}

// take charges bytes as a unary reply, and tells whether there was anything to charge. The account is locked.
func (a *Account) take(bytes int64) (charged bool) {
	if charged = !a.closed && bytes > 0; charged {
		a.unary.add(bytes, 1)
	}
	return charged
}

// admit lets those in who may. The account is locked.
func (a *Account) admit() {
	for len(a.waiting) > 0 && a.allows(a.waiting[0].bytes) {
		w := a.waiting[0]
		w.charged = a.take(w.bytes)
		close(w.admitted)
		a.waiting = slices.Delete(a.waiting, 0, 1)
	}
}

// leave takes a waiter out of the line with an error, nil for that of an account that nobody pays. It is too late for that
// when the waiter was let in meanwhile.
func (a *Account) leave(w *waiter, err error) (charged bool, _ error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.Index(a.waiting, w)
	if i < 0 {
		return w.charged, nil
	}
	a.waiting = slices.Delete(a.waiting, i, i+1)
	if err == nil {
		err = fault.OverLimit(fault.BudgetExhausted, "bytes that this connection has not read:",
			"nothing was read of them for "+a.wait.String()+", --stall-timeout", a.limit, a.ended+w.bytes)
	}
	a.admit()
	return false, err
}
