package stream

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/mem"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// line is a set of goroutines that wait for one account, and the order in which they were let in.
type line struct {
	account *Account
	pool    *Pool
	mu      sync.Mutex // of the rest, while goroutines run
	served  []string
	errs    map[string]error
	buffers map[string]mem.Buffer
}

// join lets a goroutine ask for size bytes, or with 0 for a stream, and returns when it waits or has an answer.
func (l *line) join(ctx context.Context, name string, size int) {
	go func() {
		var buffer mem.Buffer
		var err error
		if size == 0 {
			err = l.account.Await(ctx)
		} else {
			chunk := l.pool.Get(size)
			if err = chunk.ChargeTo(ctx, l.account); err == nil {
				buffer = chunk.Buffer(0, 1)
			} else {
				chunk.Release()
			}
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if err != nil {
			l.errs[name] = err
			return
		}
		l.buffers[name] = buffer
		l.served = append(l.served, name)
	}()
	synctest.Wait()
}

// failure is the error that a goroutine was answered with, if it was.
func (l *line) failure(name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.errs[name]
}

// pay frees what a goroutine was let in for.
func (l *line) pay(name string) {
	l.mu.Lock()
	buffer := l.buffers[name]
	l.mu.Unlock()
	buffer.Free()
}

// want checks who was served by now. Those that were let in together may come in any order.
func (l *line) want(t *testing.T, names ...string) {
	t.Helper()
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(slices.Sorted(slices.Values(l.served)), slices.Sorted(slices.Values(names))) {
		t.Errorf("served: %q, want %q", l.served, names)
	}
}

func newLine(limit int64) *line {
	pool := NewPool()
	return &line{account: NewAccount(pool, limit, time.Minute), pool: pool, errs: make(map[string]error), buffers: make(map[string]mem.Buffer)}
}

func TestAwaitServesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(3 * 4096)
		l.join(t.Context(), "a", 4096)
		l.join(t.Context(), "b", 4096)
		l.join(t.Context(), "large", 8192)
		l.join(t.Context(), "small", 4096) // would fit, but has to wait for its turn
		l.join(t.Context(), "stream", 0)
		l.want(t, "a", "b")
		l.pay("a")
		l.want(t, "a", "b", "large")
		if got := l.account.Owed(); got != 3*4096 {
			t.Errorf("Owed() = %d, want %d", got, 3*4096)
		}
		l.pay("b")
		l.want(t, "a", "b", "large", "small", "stream")
		l.account.Close()
	})
}

// TestAwaitIsPatientWhileThePeerReads has one who waits for hours behind others, each of which is paid just in time.
func TestAwaitIsPatientWhileThePeerReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(4096)
		names := make([]string, 30)
		for i := range names {
			names[i] = string(rune('A' + i))
			l.join(t.Context(), names[i], 4096)
		}
		for i, name := range names[:len(names)-1] {
			l.want(t, names[:i+1]...)
			time.Sleep(59 * time.Second) //nolint:forbidigo // synctest's clock
			l.pay(name)
		}
		l.want(t, names...)
		if len(l.errs) != 0 {
			t.Errorf("refused: %v", l.errs)
		}
		l.account.Close()
	})
}

func TestAwaitGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(4096)
		l.join(t.Context(), "first", 4096)
		began := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		l.join(ctx, "canceled", 4096)
		l.join(t.Context(), "refused", 4096)
		cancel()
		synctest.Wait()
		if !errors.Is(l.failure("canceled"), context.Canceled) {
			t.Errorf("canceled: %v", l.failure("canceled"))
		}
		for l.failure("refused") == nil && time.Since(began) < time.Hour {
			time.Sleep(time.Second) //nolint:forbidigo // synctest's clock
			synctest.Wait()
		}
		if took := time.Since(began); took < time.Minute || took > time.Minute+2*time.Second {
			t.Errorf("refused after %v, want a minute", took)
		}
		var f *fault.Error
		if !errors.As(l.failure("refused"), &f) || f.Reason != fault.BudgetExhausted || f.Limit != 4096 || f.Actual != 8192 {
			t.Errorf("refused: %v", l.failure("refused"))
		}
		// Those who left are not in the way.
		l.join(t.Context(), "next", 4096)
		l.pay("first")
		l.want(t, "first", "next")
		if got := l.account.Owed(); got != 4096 {
			t.Errorf("Owed() = %d, want 4096", got)
		}
		l.account.Close()
	})
}

func TestAwaitEndsWithTheAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(4096)
		l.join(t.Context(), "first", 4096)
		l.join(t.Context(), "second", 4096)
		l.account.Close()
		l.want(t, "first", "second")
		if got := l.account.Owed(); got != 0 {
			t.Errorf("Owed() = %d, want 0", got)
		}
		l.join(t.Context(), "late", 1<<20)
		l.want(t, "first", "second", "late")
	})
}

// TestAwaitCountsEndedStreams has a stream whose chunks count only once it has ended: until then the budget of streams bounds them.
func TestAwaitCountsEndedStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(4096)
		var sent []mem.BufferSlice
		sender, err := NewSender(t.Context(), SenderConfig{
			Pool: l.pool, Account: l.account, ChunkSize: MinChunkSize, Tag: 0x0a,
			Send: func(m *Message) error { data, _ := m.Take(); sent = append(sent, data); return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := sender.Next(0); err != nil {
				t.Fatal(err)
			}
			if err := sender.Flush(1000); err != nil {
				t.Fatal(err)
			}
		}
		l.join(t.Context(), "while it runs", 4096)
		l.want(t, "while it runs")
		l.pay("while it runs")
		sender.Close()
		l.join(t.Context(), "after it", 4096)
		l.join(t.Context(), "stream after it", 0)
		l.want(t, "while it runs")
		for _, data := range sent {
			data.Free()
		}
		l.want(t, "while it runs", "after it", "stream after it")
		l.account.Close()
	})
}

// TestAwaitLetsOneIn has a chunk that alone is more than the limit.
func TestAwaitLetsOneIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(4096)
		l.join(t.Context(), "huge", 1<<20)
		l.want(t, "huge")
		l.join(t.Context(), "next", 2048)
		l.want(t, "huge")
		l.pay("huge")
		l.want(t, "huge", "next")
		l.account.Close()
	})
}
