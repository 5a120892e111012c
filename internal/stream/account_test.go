package stream

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/mem"
)

func TestAccount(t *testing.T) {
	pool := NewPool()
	account := newAccount(pool)
	hand := func(size int) mem.Buffer {
		t.Helper()
		chunk := pool.Get(size)
		charge(t, chunk, account)
		return chunk.Buffer(0, 1)
	}
	check := func(what string, owed int64) {
		t.Helper()
		if got := account.Owed(); got != owed {
			t.Errorf("%s: Owed() = %d, want %d", what, got, owed)
		}
	}
	check("at first", 0)
	small, large := hand(4096), hand(8192)
	check("two chunks handed over", 4096+8192)
	small.Free()
	check("one came back", 8192)

	chunk := pool.Get(4096)
	charge(t, chunk, account)
	check("a chunk that is charged", 8192+4096)
	chunk.Release()
	check("and was released", 8192)
	lost := hand(4096)
	check("one more", 8192+4096)

	if got := account.Close(); got != 8192+4096 {
		t.Errorf("Close() = %d, want %d", got, 8192+4096)
	}
	check("after Close", 0)
	large.Free()
	check("a late chunk", 0)
	after := hand(4096)
	check("a chunk handed over after Close", 0)
	after.Free()
	check("and given back", 0)
	if got := account.Close(); got != 0 {
		t.Errorf("second Close() = %d, want 0", got)
	}
	want := Stats{Got: 5, Returned: 4, WrittenOff: 2, Late: 1}
	got := pool.Stats()
	got.Allocated = 0
	if got != want {
		t.Errorf("Stats() = %+v, want %+v", got, want)
	}
	lost.Free()
	if got := pool.Stats(); got.Late != 2 || got.Returned != 5 {
		t.Errorf("Stats() after the last one = %+v, want 2 late and 5 returned", got)
	}
}

// A loan that another connection had before leaves nothing behind for the next borrower.
func TestChunkChargesOnlyItsBorrower(t *testing.T) {
	pool := NewPool()
	account := newAccount(pool)
	chunk := pool.Get(4096)
	charge(t, chunk, account)
	chunk.Release()
	next := chunk.block.lend()
	buffer := next.Buffer(0, 10)
	if got := account.Owed(); got != 0 {
		t.Errorf("Owed() = %d after somebody else handed the chunk over, want 0", got)
	}
	buffer.Free()
}

// What gRPC has dropped without giving it back is owed until the garbage collector finds it.
func TestAccountForgivesWhatWasDropped(t *testing.T) {
	pool := NewPool()
	account := newAccount(pool)
	func() {
		chunk := pool.Get(4096)
		charge(t, chunk, account)
		_ = chunk.Buffer(0, 10)
		pool.Get(4096).Bytes()[0] = 1 // lent, and dropped by whoever forgot to release it
	}()
	if got := account.Owed(); got != 4096 {
		t.Errorf("Owed() = %d, want 4096", got)
	}
	eventually(t, "dropped chunks are found", func() bool {
		runtime.GC()
		return account.Owed() == 0 && pool.Stats().Lost == 2
	})
	if stats := pool.Stats(); stats.Returned != 0 || stats.WrittenOff != 0 {
		t.Errorf("Stats() = %+v, want 2 lost and nothing else", stats)
	}
	account.Close()
}

// A chunk that was given back and then collected is not lost.
func TestPoolDoesNotLoseIdleChunks(t *testing.T) {
	pool := NewPool()
	for range 100 {
		pool.Get(4096).Release()
		runtime.GC()
		runtime.GC()
	}
	if stats := pool.Stats(); stats.Lost != 0 || stats.Allocated < 2 {
		t.Errorf("Stats() = %+v, want chunks allocated anew and none lost", stats)
	}
}

func TestCloseUnlessPaid(t *testing.T) {
	const grace = 10 * time.Second
	tests := []struct {
		name      string
		payAfter  time.Duration // 0: never
		endAfter  time.Duration // 0: never
		wantClose bool
	}{
		{name: "never paid", wantClose: true},
		{name: "paid in time", payAfter: 9 * time.Second},
		{name: "paid just in time", payAfter: grace + collections*settling - time.Second},
		{name: "paid too late", payAfter: grace + collections*settling + time.Second, wantClose: true},
		{name: "connection ended by itself", endAfter: 9 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := NewPool()
				account := newAccount(pool)
				other := pool.Get(4096) // of another stream, which keeps moving
				charge(t, other, account)
				otherBuffer := other.Buffer(0, 1)

				debt := account.debt()
				chunk := pool.Get(4096)
				chunk.block.loan.debt = debt
				buffer := chunk.Buffer(0, 1)
				began := time.Now()
				var closed []time.Duration
				closeConnection := func() { closed = append(closed, time.Since(began)) }
				settled := 0
				debt.closeUnlessPaid(grace, closeConnection, func() { settled++ })
				if test.payAfter > 0 {
					time.AfterFunc(test.payAfter, buffer.Free)
				}
				if test.endAfter > 0 {
					time.AfterFunc(test.endAfter, func() { account.Close() })
				}
				time.Sleep(time.Minute) //nolint:forbidigo // synctest's clock
				synctest.Wait()
				switch {
				case test.wantClose && (len(closed) != 1 || closed[0] != grace+collections*settling):
					t.Errorf("connection closed at %v, want once at %s", closed, grace+collections*settling)
				case !test.wantClose && len(closed) != 0:
					t.Errorf("connection closed at %v, want never", closed)
				}
				account.mu.Lock()
				defer account.mu.Unlock()
				if len(account.timers) != 0 {
					t.Errorf("%d timers are left", len(account.timers))
				}
				if settled != 1 {
					t.Errorf("settled %d times, want once", settled)
				}
				runtime.KeepAlive(buffer)
				runtime.KeepAlive(otherBuffer)
			})
		})
	}
	t.Run("nothing owed", func(t *testing.T) {
		account := newAccount(NewPool())
		settled := false
		account.debt().closeUnlessPaid(0, func() { t.Error("connection closed") }, func() { settled = true })
		if len(account.timers) != 0 || !settled {
			t.Errorf("%d timers were started, settled: %v; want none, and settled at once", len(account.timers), settled)
		}
	})
	t.Run("account closed", func(t *testing.T) {
		account := newAccount(NewPool())
		debt := account.debt()
		debt.charge(10)
		account.Close()
		settled := false
		debt.closeUnlessPaid(0, func() { t.Error("connection closed") }, func() { settled = true })
		if !settled {
			t.Error("not settled")
		}
	})
}
