package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/store"
)

// largeText is IDL of so many structs.
func largeText(structs int) string {
	var text strings.Builder
	for i := range structs {
		fmt.Fprintf(&text, "struct S%d { 1: i32 a }\n", i)
	}
	return text.String()
}

// TestOneTurnForAll pushes, checks and asks for old revisions from many sides: no more are worked on than may be at a time.
func TestOneTurnForAll(t *testing.T) {
	const most, revisions = 1, 5
	var running, largest atomic.Int64
	working := func(n int64) {
		now := running.Add(n)
		for seen := largest.Load(); now > seen; seen = largest.Load() {
			largest.CompareAndSwap(seen, now)
		}
	}
	s := newStore(t)
	// No room for two, so that each old revision is compiled anew.
	r := start(t, s, func(c *Config) { c.Compilations, c.CacheBytes, c.working = most, 140<<10, working })
	text := largeText(200)
	var refs []string
	for i := range revisions {
		refs = append(refs, "a@"+push(t, r, "a", fmt.Sprintf("// %d\n%s", i, text)).Revision)
	}
	_, before := s.counts()
	var group sync.WaitGroup
	run := func(name string, call func(i int) error) {
		group.Go(func() {
			for i := range 10 {
				if err := call(i); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	for from := range 2 {
		run("Push", func(i int) error {
			_, err := r.Push(t.Context(), Push{Name: fmt.Sprintf("p%d-%d", from, i), Sources: files(text)})
			return err
		})
		run("Check", func(int) error { _, err := r.Check(t.Context(), "a", files(text), 0); return err })
		run("Resolve", func(i int) error { _, err := r.Resolve(t.Context(), []byte(refs[(i+from)%revisions])); return err })
	}
	group.Wait()
	if got := largest.Load(); got != most {
		t.Errorf("%d were worked on at a time, want %d", got, most)
	}
	if _, after := s.counts(); after == before {
		t.Error("no old revision was compiled")
	}
}

// TestPurposesTakeTurns has many wait for one purpose and then one for each other: those come next but one at the latest.
func TestPurposesTakeTurns(t *testing.T) {
	turns := turns{free: 1}
	if err := turns.take(t.Context(), forPush); err != nil {
		t.Fatal(err)
	}
	var order []purpose
	var mu sync.Mutex
	var group sync.WaitGroup
	wait := func(of purpose) {
		waiting := func() (n int) {
			turns.mu.Lock()
			defer turns.mu.Unlock()
			for _, some := range turns.waiting {
				n += len(some)
			}
			return n
		}
		before := waiting()
		group.Go(func() {
			if err := turns.take(t.Context(), of); err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			order = append(order, of)
			mu.Unlock()
			turns.give()
		})
		eventually(t, "one waits", func() bool { return waiting() > before })
	}
	for range 5 {
		wait(forPush)
	}
	wait(forCheck)
	wait(forCalls)
	turns.give()
	group.Wait()
	if at := slices.Index(order, forCalls); at > 2 {
		t.Errorf("the call is number %d of %v", at, order)
	}
	if at := slices.Index(order, forCheck); at > 2 {
		t.Errorf("the check is number %d of %v", at, order)
	}
	if turns.free != 1 {
		t.Errorf("%d are free at the end, want 1", turns.free)
	}
}

// TestTurnThatNobodyWaitsFor ends waits: the turn is not lost.
func TestTurnThatNobodyWaitsFor(t *testing.T) {
	turns := turns{free: 1}
	if err := turns.take(t.Context(), forCalls); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	var taken atomic.Int64
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		group.Go(func() {
			if err := turns.take(ctx, forCheck); err == nil {
				taken.Add(1)
				turns.give()
			} else if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		group.Go(cancel)
	}
	turns.give()
	group.Wait()
	if turns.free != 1 || len(turns.waiting[forCheck]) != 0 {
		t.Errorf("after %d turns %d are free and %d wait, want 1 and 0", taken.Load(), turns.free, len(turns.waiting[forCheck]))
	}
}

// TestQueueIsBounded has more wait than may: they are refused at once, and not kept.
func TestQueueIsBounded(t *testing.T) {
	r := start(t, newStore(t), func(c *Config) { c.WaitingBytes = 4 * leastBytes })
	for range cap(r.pushes.slots) {
		r.pushes.slots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() { _, _ = r.Push(ctx, Push{Name: "a", Sources: files(one)}) })
	}
	eventually(t, "three wait", func() bool { return r.pushes.bytes.Load() > 3*leastBytes })
	_, err := r.Push(t.Context(), Push{Name: "a", Sources: files(one)})
	wantReason(t, err, fault.RateLimited, "too many schemas")
	// Checks have a queue of their own.
	if _, err := r.Check(t.Context(), "", files(one), 0); err != nil {
		t.Errorf("Check: %v", err)
	}
	cancel()
	group.Wait()
	for range cap(r.pushes.slots) {
		<-r.pushes.slots
	}
	if left := r.pushes.bytes.Load(); left != 0 {
		t.Errorf("%d bytes wait, and nobody does", left)
	}
	push(t, r, "a", one)
}

// TestMadeUpRevisions asks for revisions that never were, of a schema that there is: the store is asked for the schema now and then, and
// not for each of them.
func TestMadeUpRevisions(t *testing.T) {
	s := newStore(t)
	r := start(t, s)
	push(t, r, "a", one)
	records, sources := s.counts()
	began := time.Now()
	var group sync.WaitGroup
	for from := range 8 {
		group.Go(func() {
			for i := range 200 {
				_, err := r.Resolve(t.Context(), fmt.Appendf(nil, "a@%08x%08x", from, i))
				wantReason(t, err, fault.SchemaNotFound, "has no revision")
			}
		})
	}
	group.Wait()
	most := 1 + int(time.Since(began)/currentFor)
	if recordsNow, sourcesNow := s.counts(); sourcesNow != sources || recordsNow-records > most {
		t.Errorf("the store was asked %d times for the schema and %d times for files, want %d and 0 at most", recordsNow-records, sourcesNow-sources, most)
	}
	// What another replica has pushed is found although the store has not told of it.
	s.setLate(true)
	record, err := s.File.Record(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	other := files(two)
	id := schema.Revision(other.Files, other.Root)
	to := record
	to.Revisions = append(slices.Clone(record.Revisions), store.Revision{ID: id, Root: other.Root})
	if _, swapped, err := s.File.Swap(t.Context(), "a", record, to, &other); err != nil || !swapped {
		t.Fatal(swapped, err)
	}
	eventually(t, "the store is asked again", func() bool {
		_, err := r.Resolve(t.Context(), []byte("a@"+id))
		return err == nil
	})
	s.setLate(false)
}

// TestStrangersDoNotHoldUpOthers has a store that is slow to answer for what it has not told of, and many who ask for that.
func TestStrangersDoNotHoldUpOthers(t *testing.T) {
	s := newStore(t)
	r := start(t, s)
	first := push(t, r, "a", one)
	push(t, r, "a", two)
	r.mu.Lock()
	r.cache.remove("a@" + first.Revision)
	r.publish()
	r.mu.Unlock()
	for range cap(r.untold.slots) {
		r.untold.slots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for i := range 2 * maxAsks {
		group.Go(func() { _, _ = r.Resolve(ctx, fmt.Appendf(nil, "gone-%d", i)) })
	}
	wantResolved(t, r, "a@"+first.Revision, one)
	cancel()
	group.Wait()
	for range cap(r.untold.slots) {
		<-r.untold.slots
	}
}

// TestOldRevisionsMakeRoomFirst asks for old revisions, more than there is room for: the newest of each schema stays, and old ones that are
// in use do where they are few.
func TestOldRevisionsMakeRoomFirst(t *testing.T) {
	const schemas, revisions = 8, 10
	s := newStore(t)
	cost := int64(0)
	r := start(t, s, func(c *Config) { c.CacheBytes = 8 << 20 })
	var old []string
	for i := range schemas {
		for n := range revisions {
			pushed := push(t, r, fmt.Sprintf("s%d", i), fmt.Sprintf("struct S%d { 1: i32 a }", n))
			cost = pushed.Schema.Cost + fixedCost
			if n < revisions-1 {
				old = append(old, refOf(pushed.Name, pushed.Revision))
			}
		}
	}
	r.mu.Lock()
	r.cache.limit = 3 * schemas * cost / 2
	r.cache.fit(0, 0, 0)
	r.publish()
	r.mu.Unlock()
	used := old[:2]
	for _, ref := range old {
		if _, err := r.Resolve(t.Context(), []byte(ref)); err != nil {
			t.Fatal(err)
		}
		for _, ref := range used {
			if _, err := r.Resolve(t.Context(), []byte(ref)); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range schemas {
		name := fmt.Sprintf("s%d", i)
		record := r.records[name]
		if r.cache.entries[refOf(name, record.Newest().ID)] == nil {
			t.Errorf("the newest revision of %s has made room for old ones", name)
		}
	}
	for _, ref := range used {
		if r.cache.entries[ref] == nil {
			t.Errorf("%s was in use and is gone", ref)
		}
	}
	var held int64
	for _, s := range r.cache.entries {
		held += s.cost
	}
	if held != r.cache.bytes() || held > r.cache.limit {
		t.Errorf("%d bytes in memory, counted %d, limit %d", held, r.cache.bytes(), r.cache.limit)
	}
}
