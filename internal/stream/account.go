package stream

import (
	"sync"
	"time"
)

// Account is what one connection owes: the capacity of the chunks that were handed to gRPC for it and have not come
// back. It is opened when the connection begins and closed when it ends. gRPC drops part of what it has queued when a
// stream is cancelled and most of it when a connection dies. The garbage collector finds such chunks in the end, and the
// Account then owes them no longer; what is owed at Close is written off at once. So Owed is never too low, and too high
// by what was dropped since the last collection. An Account is safe for concurrent use.
type Account struct {
	pool  *Pool
	limit int64
	wait  time.Duration
	unary *Debt

	mu     sync.Mutex
	owed   int64
	ended  int64 // the part of owed that no handler has in hand any more
	chunks int64
	closed bool
	timers map[*Debt]*time.Timer

	// waiting are those that wait for ended to become less, first come, first served, and lessAt is when it last did so.
	waiting []*waiter
	lessAt  time.Time
}

// NewAccount opens the account of a connection whose chunks come from pool. What it owes for calls that have ended, unary
// replies included, is kept to limit bytes by making whoever would add to it wait: see Await.
func NewAccount(pool *Pool, limit int64, wait time.Duration) *Account {
	a := &Account{pool: pool, limit: limit, wait: wait}
	a.unary = a.debt()
	a.unary.ended = true
	return a
}

// Owed returns the bytes that the connection owes; 0 after Close.
func (a *Account) Owed() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.owed
}

// Close writes off what is owed and returns it. Chunks that come back later are reused as ever and change nothing here.
// Close stops all timers of the account; calling it again returns 0.
func (a *Account) Close() (writtenOff int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	writtenOff = a.owed
	a.pool.writtenOff.Add(a.chunks)
	a.owed, a.ended, a.chunks, a.closed = 0, 0, 0, true
	a.admit()
	for debt, timer := range a.timers {
		timer.Stop()
		debt.settle()
	}
	a.timers = nil
	return writtenOff
}

// Debt is the part of an Account that one stream owes.
type Debt struct {
	account *Account
	owed    int64  // guarded by account.mu
	ended   bool   // guarded by account.mu
	settled func() // what closeUnlessPaid was given, until it was called
}

// settle calls settled and lets go of it. It is called once: by whoever takes the timer out of the account.
func (d *Debt) settle() {
	d.settled()
	d.settled = nil
}

// held returns what is owed.
func (d *Debt) held() int64 {
	d.account.mu.Lock()
	defer d.account.mu.Unlock()
	return d.owed
}

// debt opens a part of the account.
func (a *Account) debt() *Debt {
	return &Debt{account: a}
}

// charge adds a chunk that is handed to gRPC. It tells whether the account was still open.
func (d *Debt) charge(capacity int) bool {
	a := d.account
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	d.add(int64(capacity), 1)
	return true
}

// add changes what is owed by so many bytes and chunks.
func (d *Debt) add(bytes, chunks int64) {
	a := d.account
	d.owed += bytes
	a.owed += bytes
	a.chunks += chunks
	if d.ended {
		a.ended += bytes
	}
}

// end says that the stream has ended: what it still owes nobody has in hand any more.
func (d *Debt) end() {
	a := d.account
	a.mu.Lock()
	defer a.mu.Unlock()
	if !d.ended && !a.closed {
		a.ended += d.owed
	}
	d.ended = true
}

// pay takes off a chunk that gRPC has given back. It tells whether the account was still open.
func (d *Debt) pay(capacity int) bool {
	a := d.account
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	d.add(-int64(capacity), -1)
	if d.ended && len(a.waiting) > 0 {
		a.lessAt = time.Now()
		a.admit()
	}
	if timer := a.timers[d]; timer != nil && d.owed == 0 {
		timer.Stop()
		delete(a.timers, d)
		d.settle()
	}
	return true
}

const (
	// collections is how often a collection looks for what was dropped. One is not enough: what a sync.Pool refers to
	// survives the first.
	collections = 2
	// settling is how long cleanups may take after a collection, on a busy machine.
	settling = 3 * time.Second
)

// closeUnlessPaid calls closeConnection when the debt is not paid after grace and the collections with the time to
// settle after each, and the account is still open. It calls settled when the debt is paid, the account closed, or the connection by
// closeConnection; settled must not call back, nor lead to the stream: the debt is what tells that it is garbage.
func (d *Debt) closeUnlessPaid(grace time.Duration, closeConnection, settled func()) {
	a := d.account
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || d.owed == 0 {
		settled()
		return
	}
	d.settled = settled
	if a.timers == nil {
		a.timers = make(map[*Debt]*time.Timer)
	}
	a.timers[d] = time.AfterFunc(grace, func() { d.review(time.Now(), collections, closeConnection) })
}

// review finds out what of a debt was dropped, in so many collections, for which it may have to come back later, and then
// closes the connection if the rest is still not paid.
func (d *Debt) review(since time.Time, left int, closeConnection func()) {
	a := d.account
	wait := a.pool.collect(since)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timers[d] == nil { // paid, or closed
		return
	}
	if wait > 0 {
		a.timers[d] = time.AfterFunc(wait, func() { d.review(since, left, closeConnection) })
		return
	}
	a.timers[d] = time.AfterFunc(settling, func() {
		if left > 1 {
			d.review(time.Now(), left-1, closeConnection)
			return
		}
		a.mu.Lock()
		unpaid := a.timers[d] != nil
		delete(a.timers, d)
		a.mu.Unlock()
		if unpaid {
			closeConnection()
			d.settle()
		}
	})
}
