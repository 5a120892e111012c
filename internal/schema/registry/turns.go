package registry

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/store"
)

// turn is how long a call waits for others to be done.
const turn = 5 * time.Second

var errBusy = fault.New(fault.RateLimited, "too many schemas are being loaded, compiled or pushed")

// purpose is what a schema is compiled or compared for.
type purpose uint8

const (
	forCalls purpose = iota // that wait for a schema which is not in memory, and what is compiled before they ask
	forPush
	forCheck
	purposes
)

// turns lets a few compile or compare at a time. To do so takes a processor for a tenth of a second where a schema is large, and calls need
// processors, too. Those who wait for the same purpose come one after the other, and purposes take turns: whoever floods one of them
// has the others wait for one schema more, and not for all of the flood.
type turns struct {
	mu      sync.Mutex
	free    int
	waiting [purposes][]chan struct{}
	next    purpose // which comes first when several wait
}

// take waits for a turn, which ends with give.
func (t *turns) take(ctx context.Context, of purpose) error {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return nil
	}
	granted := make(chan struct{})
	t.waiting[of] = append(t.waiting[of], granted)
	t.mu.Unlock()
	timer := time.NewTimer(turn)
	defer timer.Stop()
	err := errBusy
	select {
	case <-granted:
		return nil
	case <-timer.C:
		return t.leave(of, granted, err)
	case <-ctx.Done():
		return t.leave(of, granted, ctx.Err())
	}
}

// leave ends a wait and returns err. Where the turn came at the same moment somebody else has it.
func (t *turns) leave(of purpose, granted chan struct{}, err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := slices.Index(t.waiting[of], granted)
	if at < 0 {
		t.pass()
		return err
	}
	t.waiting[of] = slices.Delete(t.waiting[of], at, at+1)
	return err
}

// give ends a turn.
func (t *turns) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pass()
}

// pass gives a turn to the next who waits. The caller holds t.mu.
func (t *turns) pass() {
	for range purposes {
		of := t.next
		t.next = (t.next + 1) % purposes
		if len(t.waiting[of]) > 0 {
			close(t.waiting[of][0])
			t.waiting[of] = slices.Delete(t.waiting[of], 0, 1)
			return
		}
	}
	t.free++
}

// compile compiles sources when it is their turn.
func (r *Registry) compile(ctx context.Context, of purpose, name string, sources store.Sources) (compiled *schema.Schema, err error) {
	ended := r.inTurn(ctx, of, func(pause func()) {
		limits := r.cfg.Limits
		limits.Source.Pause = pause
		compiled, err = schema.Compile(name, sources.Files, sources.Root, limits)
	})
	if ended != nil {
		return nil, ended
	}
	return compiled, err
}

// compare compares two revisions when it is their turn: it takes as long as to compile them.
func (r *Registry) compare(ctx context.Context, of purpose, older, newer *schema.Schema) (changes []schema.Change, err error) {
	err = r.inTurn(ctx, of, func(pause func()) { changes = schema.ComparePausing(older, newer, pause) })
	return changes, err
}

// inTurn does work when it is its turn. The error is that of the wait.
func (r *Registry) inTurn(ctx context.Context, of purpose, work func(pause func())) error {
	if err := r.turns.take(ctx, of); err != nil {
		return err
	}
	defer r.turns.give()
	if r.cfg.working != nil {
		r.cfg.working(1)
		defer r.cfg.working(-1)
	}
	work(r.pauses())
	return nil
}

const (
	// slice is how long a schema is worked on before others may have the processor. Go itself would let them wait for 10 ms, at each of the
	// five or six steps that a call has.
	slice = 200 * time.Microsecond
	// looks is how many pauses there are for each look at the clock.
	looks = 16
	// breather is how long a processor is given up for that has nobody beside it. It must become idle, or nobody looks whether the network
	// has something.
	breather = 50 * time.Microsecond
)

// pauses returns what is to be called every few microseconds by work that is not urgent. Until everything was loaded once there are no calls
// to make way for.
func (r *Registry) pauses() func() {
	select {
	case <-r.loaded:
	default:
		return func() {}
	}
	calls, since := 0, time.Now()
	rest := runtime.Gosched
	if runtime.GOMAXPROCS(0) == 1 {
		timer := time.NewTimer(0)
		<-timer.C
		rest = func() {
			timer.Reset(breather)
			<-timer.C
		}
	}
	return func() {
		if calls++; calls%looks != 0 || time.Since(since) < slice {
			return
		}
		rest()
		since = time.Now()
	}
}

// queue is where those wait who bring sources: so many are worked on at a time, and so many bytes may wait.
type queue struct {
	slots chan struct{}
	most  int64
	bytes atomic.Int64
}

// leastBytes is what one who waits counts at least.
const leastBytes = 64 << 10

// enter waits for a place among those that are worked on, unless too many wait already. leave ends it.
func (q *queue) enter(ctx context.Context, sources store.Sources) (leave func(), err error) {
	bytes := int64(leastBytes)
	for path, text := range sources.Files {
		bytes += int64(len(path) + len(text))
	}
	if q.bytes.Add(bytes) > q.most {
		q.bytes.Add(-bytes)
		return nil, errBusy
	}
	if err := acquire(ctx, q.slots); err != nil {
		q.bytes.Add(-bytes)
		return nil, err
	}
	return func() { <-q.slots; q.bytes.Add(-bytes) }, nil
}

// acquire takes one of the elements that fit into slots.
func acquire(ctx context.Context, slots chan struct{}) error {
	select {
	case slots <- struct{}{}:
		return nil
	default:
	}
	timer := time.NewTimer(turn)
	defer timer.Stop()
	select {
	case slots <- struct{}{}:
		return nil
	case <-timer.C:
		return errBusy
	case <-ctx.Done():
		return ctx.Err()
	}
}
