package registry

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/store"
)

// TestStoreAway takes the store away: what is known is served, pushes say so, and when it is back everything goes on.
func TestStoreAway(t *testing.T) {
	for _, told := range []bool{true, false} { // whether the store has noticed, or calls fail first
		t.Run(fmt.Sprintf("noticed %v", told), func(t *testing.T) {
			s := newStore(t)
			r := start(t, s)
			first := push(t, r, "a", one)
			s.setAway(true, told)
			wantResolved(t, r, "a", one)
			wantResolved(t, r, "a@"+first.Revision, one)
			_, err := r.Resolve(t.Context(), []byte("b"))
			wantReason(t, err, fault.SchemaStoreUnavailable)
			_, err = r.Push(t.Context(), Push{Name: "a", Sources: files(two)})
			wantReason(t, err, fault.SchemaStoreUnavailable)
			_, err = r.Delete(t.Context(), "a")
			wantReason(t, err, fault.SchemaStoreUnavailable)
			if _, item, err := r.Get(t.Context(), "a"); err != nil || item.Revision != first.Revision {
				t.Errorf("Get: %+v, %v", item, err)
			}
			if items, err := r.Revisions(t.Context(), "a"); err != nil || len(items) != 1 {
				t.Errorf("Revisions: %+v, %v", items, err)
			}
			if items, _ := r.List("", "", 10); len(items) != 1 {
				t.Errorf("List: %+v", items)
			}
			checked, err := r.Check(t.Context(), "a", files(two), 0)
			if err != nil || checked.Against == nil {
				t.Errorf("Check: %+v, %v", checked, err)
			}
			if status := r.Status(); status.Reachable == told || !status.Store {
				t.Errorf("Status: %+v", status)
			}
			select {
			case <-r.Loaded():
			default:
				t.Error("not loaded any more")
			}

			s.setAway(false, told)
			push(t, r, "a", two)
			wantResolved(t, r, "a", two)
			wantResolved(t, r, "b", "")
		})
	}
}

// TestNewestOfAStoreThatIsAway knows that there is a newer revision and cannot have it: it serves the last that it has.
func TestNewestOfAStoreThatIsAway(t *testing.T) {
	s := newStore(t)
	r := start(t, s, func(c *Config) { c.CacheBytes = 40 << 10 })
	first := push(t, r, "a", one)
	s.setAway(true, false)
	// Another replica has pushed a revision, and the store told of it and went.
	record := store.Record{Revisions: []store.Revision{{ID: first.Revision}, {ID: "0123456789abcdef"}}, Version: 100}
	s.follower.Changed("a", record)
	wantResolved(t, r, "a", one)
	_, err := r.Resolve(t.Context(), []byte("a@0123456789abcdef"))
	wantReason(t, err, fault.SchemaStoreUnavailable)
}

// TestReadThrough asks for what the store has and has not told of yet.
func TestReadThrough(t *testing.T) {
	s := newStore(t)
	r := start(t, s)
	s.setLate(true)
	began := time.Now()
	first := push(t, r, "a", one)
	second := push(t, r, "a", two)
	if took := time.Since(began); took < ownWait {
		t.Errorf("two pushes that the store does not tell of took %v, want %v of waiting for it at least", took, ownWait)
	}
	wantResolved(t, r, "a", two)
	wantResolved(t, r, "a@"+first.Revision, one)
	wantResolved(t, r, "a@"+second.Revision, two)
	if items, err := r.Revisions(t.Context(), "a"); err != nil || len(items) != 2 {
		t.Errorf("Revisions: %+v, %v", items, err)
	}
	if _, item, err := r.Get(t.Context(), "a"); err != nil || item.Revision != second.Revision {
		t.Errorf("Get: %+v, %v", item, err)
	}
	// What is not there is not asked for again and again.
	before, sourcesBefore := s.counts()
	for range 100 {
		wantResolved(t, r, "gone", "")
		wantResolved(t, r, "a@0123456789abcdef", "")
	}
	if records, sources := s.counts(); records-before > 10 || sources-sourcesBefore > 10 {
		t.Errorf("the store was asked %d times for a record and %d times for sources", records-before, sources-sourcesBefore)
	}
	if len(r.missing) != 2 {
		t.Errorf("%d references are noted as missing, want 2", len(r.missing))
	}
	for i := range 3 * maxMissing {
		wantResolved(t, r, fmt.Sprintf("gone-%d", i), "")
	}
	if len(r.missing) > maxMissing {
		t.Errorf("%d references are noted as missing", len(r.missing))
	}
	s.setLate(false)
	wantResolved(t, r, "a", two)
	if r.table.Load().byRef["a"].served == nil {
		t.Error("not in memory once the store has told of it")
	}
}

// TestDeletedWhileItIsLoaded deletes a revision while a call loads it: it must not stay in memory.
func TestDeletedWhileItIsLoaded(t *testing.T) {
	s := newStore(t)
	r := start(t, s)
	first := push(t, r, "a", one)
	compiled, err := r.Resolve(t.Context(), []byte("a"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	r.keep(compiled, true) // as the load does at its end
	wantResolved(t, r, "a@"+first.Revision, "")
}

// TestStoredThatCannotBeServed has a store with revisions that another version of the server took.
func TestStoredThatCannotBeServed(t *testing.T) {
	s := newStore(t)
	r := start(t, s)
	push(t, r, "good", one)
	put := func(name, id string, sources store.Sources) {
		t.Helper()
		record := store.Record{Compatibility: 1, Revisions: []store.Revision{{ID: id}}}
		if _, swapped, err := s.Swap(t.Context(), name, store.Record{}, record, &sources); err != nil || !swapped {
			t.Fatal(swapped, err)
		}
	}
	bad := files("struct {")
	put("bad", schema.Revision(bad.Files, bad.Root), bad)
	put("other", "0123456789abcdef", files(one))
	for _, name := range []string{"bad", "other"} {
		_, err := r.Resolve(t.Context(), []byte(name))
		wantReason(t, err, fault.SchemaStoreUnavailable, "cannot be served here; the server's log says why")
		_, err = r.Push(t.Context(), Push{Name: name, Sources: files(two), Compatibility: 2})
		wantReason(t, err, fault.SchemaStoreUnavailable)
		// With the policy that there is, it can be replaced.
		push(t, r, name, two)
		wantResolved(t, r, name, two)
	}
	wantResolved(t, r, "good", one)
}

// TestPushesAtOnce pushes from many sides: none is lost, whoever comes between.
func TestPushesAtOnce(t *testing.T) {
	const pushes = 40
	s := newStore(t)
	r := start(t, s, func(c *Config) { c.Revisions, c.Schemas = pushes, pushes+1 })
	var others atomic.Int64
	s.before = func() { // another replica is faster, every third time
		if others.Add(1)%3 != 0 {
			return
		}
		record, err := s.File.Record(context.Background(), "same")
		if err != nil || !record.Exists() {
			return
		}
		record.Compatibility = 1 + record.Compatibility%2
		if _, _, err := s.File.Swap(context.Background(), "same", record, record, nil); err != nil {
			t.Error(err)
		}
	}
	var group sync.WaitGroup
	revisions := make([]string, pushes)
	for i := range pushes {
		group.Go(func() {
			pushed, err := r.Push(t.Context(), Push{Name: "same", Sources: files(fmt.Sprintf("struct S%d { 1: i32 a }", i)), Compatibility: 1})
			if err != nil {
				t.Errorf("push %d: %v", i, err)
				return
			}
			revisions[i] = pushed.Revision
		})
		group.Go(func() {
			if _, err := r.Push(t.Context(), Push{Name: fmt.Sprintf("s%d", i), Sources: files(one)}); err != nil {
				t.Errorf("push of s%d: %v", i, err)
			}
		})
	}
	group.Wait()
	items, err := r.Revisions(t.Context(), "same")
	if err != nil || len(items) != pushes {
		t.Errorf("%d revisions, %v; want %d", len(items), err, pushes)
	}
	for i, revision := range revisions {
		wantResolved(t, r, "same@"+revision, fmt.Sprintf("struct S%d { 1: i32 a }", i))
	}
}

// TestEviction has room for a few schemas and uses many, from many sides: each is right every time, and memory stays within its bound.
func TestEviction(t *testing.T) {
	const schemas = 12
	s := newStore(t)
	r := start(t, s, func(c *Config) { c.CacheBytes = 30 << 10 })
	text := func(i int) string { return fmt.Sprintf("struct S%d { 1: i32 a }", i) }
	for i := range schemas {
		push(t, r, fmt.Sprintf("s%d", i), text(i))
	}
	if held := len(r.cache.entries); held < 2 || held >= schemas {
		t.Fatalf("%d schemas in memory, want some of %d", held, schemas)
	}
	var group sync.WaitGroup
	for from := range 4 {
		group.Go(func() {
			for i := range 30 * schemas {
				n := (i*7 + from) % schemas
				found, err := r.Resolve(t.Context(), fmt.Appendf(nil, "s%d", n))
				if err != nil {
					t.Errorf("s%d: %v", n, err)
				} else if found.Files["main.thrift"] != text(n) {
					t.Errorf("s%d is another", n)
				}
			}
		})
	}
	group.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	var held int64
	for ref, s := range r.cache.entries {
		held += s.cost
		if order := len(r.cache.newest.refs) + len(r.cache.old.refs); order != len(r.cache.entries) {
			t.Fatalf("%s: %d in order, %d in memory", ref, order, len(r.cache.entries))
		}
	}
	if held != r.cache.bytes() || held > r.cache.limit {
		t.Errorf("%d bytes in memory, counted %d, limit %d", held, r.cache.bytes(), r.cache.limit)
	}
}

// TestUsedStays uses one schema all the time while others come and go.
func TestUsedStays(t *testing.T) {
	s := newStore(t)
	r := start(t, s, func(c *Config) { c.CacheBytes = 30 << 10 })
	push(t, r, "used", one)
	for i := range 20 {
		wantResolved(t, r, "used", one)
		push(t, r, fmt.Sprintf("s%d", i), one)
	}
	_, before := s.counts()
	wantResolved(t, r, "used", one)
	if _, after := s.counts(); after != before {
		t.Error("a schema in use was dropped")
	}
}

// TestCallerLeaves ends the context of a call that waits.
func TestCallerLeaves(t *testing.T) {
	s := newStore(t)
	r := start(t, s)
	for range cap(r.untold.slots) {
		r.untold.slots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { _, err := r.Resolve(ctx, []byte("a")); ended <- err }()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Resolve: %v", err)
	}
	for range cap(r.pushes.slots) {
		r.pushes.slots <- struct{}{}
	}
	if _, err := r.Push(ctx, Push{Name: "a", Sources: files(one)}); !errors.Is(err, context.Canceled) {
		t.Errorf("Push: %v", err)
	}
	if _, err := r.Delete(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("Delete: %v", err)
	}
	for range cap(r.untold.slots) {
		<-r.untold.slots
	}
}

// TestNotLoaded has a store that is away from the start.
func TestNotLoaded(t *testing.T) {
	s := reopen(t, filepath.Join(t.TempDir(), "schemas.db"))
	s.setLate(true) // nothing is told, and so nothing loaded
	cfg := Config{Store: &silentStore{s}, Limits: schema.DefaultLimits(), Compilations: 1, Pushes: 1, Checks: 1, WaitingBytes: 1 << 20, CacheBytes: 1 << 20, Schemas: 1, Revisions: 1}
	r := New(cfg)
	select {
	case <-r.Loaded():
		t.Error("loaded although the store has not told of anything")
	default:
	}
	_, err := r.Resolve(t.Context(), []byte("a"))
	wantReason(t, err, fault.SchemaStoreUnavailable)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// silentStore is a store that cannot be reached.
type silentStore struct{ *remoteStore }

func (s *silentStore) Follow(ctx context.Context, _ store.Follower) { <-ctx.Done() }
