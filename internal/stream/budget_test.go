package stream

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/thriftpack/thriftpack/internal/fault"
)

func TestCost(t *testing.T) {
	tests := []struct {
		name      string
		chunkSize int
		want      int64
	}{
		{"smallest", MinChunkSize, 64<<10 + 2*4<<10},
		{"default", DefaultChunkSize, 64<<10 + 2*32<<10},
		{"not a power of two", 40_000, 64<<10 + 2*64<<10},
		{"largest", MaxChunkSize, 64<<10 + 2*1<<20},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := Cost(test.chunkSize); got != test.want {
				t.Errorf("Cost(%d) = %d, want %d", test.chunkSize, got, test.want)
			}
		})
	}
}

func TestBudgetAdmit(t *testing.T) {
	exhausted := fault.New(fault.BudgetExhausted, "")
	tests := []struct {
		name        string
		total, held int64
		wait        time.Duration
		n           int64
		cancelAfter time.Duration // 0: never
		freeAfter   time.Duration // 0: never
		want        error
		wantAfter   time.Duration
	}{
		{name: "fits", total: 100, n: 100},
		{name: "nothing asked", total: 100, n: 0},
		{name: "less than nothing asked", total: 100, n: -5},
		{name: "larger than the whole fails at once", total: 100, wait: time.Hour, n: 101, want: exhausted},
		{name: "a budget of 0 admits nothing", total: 0, wait: time.Hour, n: 1, want: exhausted},
		{name: "no wait", total: 100, held: 1, n: 100, want: exhausted},
		{
			name: "waits and fails", total: 100, held: 1, wait: 5 * time.Second, n: 100,
			want: exhausted, wantAfter: 5 * time.Second,
		},
		{
			name: "waits and fits", total: 100, held: 1, wait: 5 * time.Second, n: 100, freeAfter: 3 * time.Second,
			wantAfter: 3 * time.Second,
		},
		{
			name: "cancelled while it waits", total: 100, held: 1, wait: 5 * time.Second, n: 100, cancelAfter: time.Second,
			want: context.Canceled, wantAfter: time.Second,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				budget := NewBudget(test.total, 0, test.wait)
				free, err := budget.Admit(t.Context(), test.held)
				if err != nil {
					t.Fatalf("Admit(%d) of an empty budget: %v", test.held, err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.cancelAfter > 0 {
					time.AfterFunc(test.cancelAfter, cancel)
				}
				if test.freeAfter > 0 {
					time.AfterFunc(test.freeAfter, free)
				}
				began := time.Now()
				release, err := budget.Admit(ctx, test.n)
				if took := time.Since(began); took != test.wantAfter {
					t.Errorf("Admit(%d) took %s, want %s", test.n, took, test.wantAfter)
				}
				if !errors.Is(err, test.want) {
					t.Errorf("Admit(%d) = %v, want %v", test.n, err, test.want)
				}
				if (release == nil) != (err != nil) {
					t.Errorf("Admit(%d): release is nil: %t, error is %v", test.n, release == nil, err)
				}
				if release != nil {
					if got, want := budget.Held(), max(test.n, 0); test.held == 0 && got != want {
						t.Errorf("Held() = %d, want %d", got, want)
					}
					release()
					release()
				}
				free()
				if got := budget.Held(); got != 0 {
					t.Errorf("Held() after all was released = %d, want 0", got)
				}
				if got := budget.Waiting(); got != 0 {
					t.Errorf("Waiting() = %d, want 0", got)
				}
				if release, err := budget.Admit(t.Context(), test.total); err != nil {
					t.Errorf("Admit of the whole after all was released: %v", err)
				} else {
					release()
				}
			})
		})
	}
}

func TestBudgetRefusesDeadContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewBudget(100, 0, time.Second).Admit(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Admit with a cancelled context = %v, want %v", err, context.Canceled)
	}
}

// Streams are admitted in the order in which they came: a small one does not overtake a large one.
func TestBudgetIsFirstInFirstOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := NewBudget(100, 0, time.Hour)
		free, err := budget.Admit(t.Context(), 50)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []int64
		var waiting sync.WaitGroup
		for _, n := range []int64{80, 10, 90, 1} {
			waiting.Go(func() {
				release, err := budget.Admit(t.Context(), n)
				if err != nil {
					t.Errorf("Admit(%d): %v", n, err)
					return
				}
				mu.Lock()
				order = append(order, n)
				mu.Unlock()
				time.Sleep(time.Second) //nolint:forbidigo // synctest's clock: all that can be admitted is, before it moves
				release()
			})
			synctest.Wait()
		}
		if got := budget.Waiting(); got != 4 {
			t.Errorf("Waiting() = %d, want 4", got)
		}
		free()
		waiting.Wait()
		// 80 and 10 fit together, in either order of their goroutines; so do 90 and 1, after them.
		slices.Sort(order[:2])
		slices.Sort(order[2:])
		if want := []int64{10, 80, 1, 90}; !slices.Equal(order, want) {
			t.Errorf("admitted in pairs %v, want %v", order, want)
		}
	})
}

func TestGrant(t *testing.T) {
	b := NewBudget(100, 0, 0)
	g, other := b.Grant(), b.Grant()
	exhausted := fault.New(fault.BudgetExhausted, "")
	check := func(what string, held, all int64) {
		t.Helper()
		if g.Held() != held || b.Held() != all {
			t.Errorf("%s: grant of %d, %d held in all; want %d and %d", what, g.Held(), b.Held(), held, all)
		}
	}
	check("at first", 0, 0)
	if err := g.Wait(t.Context(), 30); err != nil {
		t.Fatal(err)
	}
	if err := other.Resize(20); err != nil {
		t.Fatal(err)
	}
	check("taken", 30, 50)
	if err := g.Resize(80); err != nil {
		t.Fatal(err)
	}
	check("all that is left", 80, 100)
	if err := other.Resize(21); !errors.Is(err, exhausted) {
		t.Errorf("one byte too many: %v", err)
	}
	if err := g.Resize(1000); !errors.Is(err, exhausted) {
		t.Errorf("the whole, of which another has some: %v", err)
	}
	check("after what was refused", 80, 100)
	other.Release()
	if err := g.Resize(1000); err != nil {
		t.Errorf("the whole: %v", err)
	}
	check("the whole", 100, 100)
	if err := g.Resize(5); err != nil {
		t.Fatal(err)
	}
	check("less", 5, 5)
	g.Release()
	g.Release()
	check("released", 0, 0)
	if err := g.Wait(t.Context(), 101); !errors.Is(err, exhausted) {
		t.Errorf("more than the whole: %v", err)
	}
}

// Streams that grow come before those that arrive, and where nothing else is left, one after the other through the lane.
func TestGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const total, lane, each, more = 100, 20, 16, 15
		b := NewBudget(total, lane, time.Hour)
		grants := make([]Grant, (total-lane)/each)
		for i := range grants {
			grants[i] = b.Grant()
			if err := grants[i].Wait(t.Context(), each); err != nil {
				t.Fatal(err)
			}
		}
		// All is held but the lane, and all who hold some want more. So does somebody new.
		var mu sync.Mutex
		var order []int
		var waiting sync.WaitGroup
		waiting.Go(func() {
			release, err := b.Admit(t.Context(), 1)
			if err != nil {
				t.Errorf("Admit: %v", err)
				return
			}
			mu.Lock()
			order = append(order, len(grants))
			mu.Unlock()
			release()
		})
		synctest.Wait()
		for i := range grants {
			waiting.Go(func() {
				if err := grants[i].Grow(t.Context(), more); err != nil {
					t.Errorf("Grow: %v", err)
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				time.Sleep(time.Second) //nolint:forbidigo // synctest's clock: all that can be granted is, before it moves
				if held, most := b.Held(), int64(total-lane+more); held != most {
					t.Errorf("Held() = %d while one of many grows, want %d", held, most)
				}
				if err := grants[i].Resize(each); err != nil {
					t.Errorf("Resize: %v", err)
				}
			})
			synctest.Wait()
		}
		if got, want := b.Waiting(), int64(len(grants)); got != want {
			t.Errorf("Waiting() = %d, want all but one of those who grow, and the new one, %d", got, want)
		}
		for i := range grants {
			time.Sleep(time.Second) //nolint:forbidigo // as above
			synctest.Wait()
			if mu.Lock(); len(order) != min(i+2, len(grants)) {
				t.Errorf("%d were served after %d s, want one more in each", len(order), i+1)
			}
			mu.Unlock()
		}
		for i := range grants {
			grants[i].Release()
		}
		waiting.Wait()
		if want := []int{0, 1, 2, 3, 4, 5}; !slices.Equal(order, want) {
			t.Errorf("served in the order %v, want %v", order, want)
		}
		if held, waiting := b.Held(), b.Waiting(); held != 0 || waiting != 0 {
			t.Errorf("at the end %d bytes are held and %d wait", held, waiting)
		}
	})
}

func TestGrowLimits(t *testing.T) {
	exhausted := fault.New(fault.BudgetExhausted, "")
	tests := []struct {
		name                string
		total, lane, others int64
		held, n, want       int64
		err                 error
	}{
		{name: "fits beside the lane", total: 100, lane: 20, others: 50, held: 10, n: 20, want: 30},
		{name: "one more takes the lane", total: 100, lane: 20, others: 50, held: 10, n: 21, want: 30},
		{name: "all of the lane", total: 100, lane: 20, others: 70, held: 10, n: 20, want: 30},
		{name: "more than the lane is granted as the lane", total: 100, lane: 20, others: 70, held: 10, n: 30, want: 30},
		{name: "a lane is at most half", total: 100, lane: 1000, others: 40, held: 10, n: 80, want: 60},
		{name: "more than there is beside what it has", total: 100, lane: 20, held: 80, n: 1000, want: 100},
		{name: "nothing", total: 100, lane: 20, others: 70, held: 10, n: 0, want: 10},
		{name: "less than nothing", total: 100, lane: 20, others: 70, held: 10, n: -1, want: 10},
		{name: "no lane", total: 100, others: 90, held: 10, n: 1, want: 10, err: exhausted},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := NewBudget(test.total, test.lane, 0)
			other, g := b.Grant(), b.Grant()
			if err := errors.Join(other.Wait(t.Context(), test.others), g.Wait(t.Context(), test.held)); err != nil {
				t.Fatal(err)
			}
			if err := g.Grow(t.Context(), test.n); !errors.Is(err, test.err) || g.Held() != test.want {
				t.Errorf("Grow(%d) = %v, %d held; want %v, %d", test.n, err, g.Held(), test.err, test.want)
			}
			if err := g.Resize(test.held); err != nil || g.Held() != test.held || b.Held() != test.others+test.held {
				t.Errorf("Resize(%d) = %v, %d held, %d in all", test.held, err, g.Held(), b.Held())
			}
			g.Release()
			other.Release()
			if got := b.Held(); got != 0 {
				t.Errorf("%d held at the end", got)
			}
		})
	}
}
