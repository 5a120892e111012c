package registry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/store"
)

// TestCallersThatLeaveAtOnce asks for ever other revisions and does not wait: what goes on without the callers is bounded.
func TestCallersThatLeaveAtOnce(t *testing.T) {
	s := newStore(t)
	r := start(t, s)
	push(t, r, "a", one)
	for range cap(r.untold.slots) {
		r.untold.slots <- struct{}{} // a slow store
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	before := runtime.NumGoroutine()
	const calls = 5 * maxAsks
	for i := range calls {
		if _, err := r.Resolve(gone, fmt.Appendf(nil, "a@%016x", i)); !errors.Is(err, context.Canceled) && !isBusy(err) {
			t.Fatal(err)
		}
	}
	eventually(t, "few loads go on", func() bool { return runtime.NumGoroutine() <= before+maxAsks })
	_, err := r.Resolve(t.Context(), []byte("a@ffffffffffffffff"))
	wantReason(t, err, fault.RateLimited)
	wantResolved(t, r, "a", one)
	for range cap(r.untold.slots) {
		<-r.untold.slots
	}
	eventually(t, "loads go on", func() bool {
		_, err := r.Resolve(t.Context(), []byte("a@ffffffffffffffff"))
		return isNotFound(err)
	})
}

// TestUnservableIsNotTriedByEachCall asks again and again for a stored revision that does not compile.
func TestUnservableIsNotTriedByEachCall(t *testing.T) {
	var log lockedBuffer
	s := newStore(t)
	r := start(t, s, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	bad := files("struct {")
	id := schema.Revision(bad.Files, bad.Root)
	record := store.Record{Compatibility: thriftpackv1.Compatibility_COMPATIBILITY_NONE, Revisions: []store.Revision{{ID: id}}}
	if _, swapped, err := s.Swap(t.Context(), "bad", store.Record{}, record, &bad); err != nil || !swapped {
		t.Fatal(swapped, err)
	}
	const calls = 100
	for range calls {
		_, err := r.Resolve(t.Context(), []byte("bad"))
		wantReason(t, err, fault.SchemaStoreUnavailable, "cannot be served here")
	}
	const most = 2 // compiled ahead at the same time
	if _, sources := s.counts(); sources > most {
		t.Errorf("%d calls read the files %d times", calls, sources)
	}
	if lines := strings.Count(log.String(), "stored schema cannot be served"); lines > most {
		t.Errorf("%d calls wrote %d lines to the log", calls, lines)
	}
}

// TestRefusedIsNeverServed looks for a revision while it is being pushed, which its policy refuses.
func TestRefusedIsNeverServed(t *testing.T) {
	s := newStore(t)
	r := start(t, s)
	push(t, r, "a", one)
	refused, err := schema.Compile("a", files(three).Files, "main.thrift", r.cfg.Limits)
	if err != nil {
		t.Fatal(err)
	}
	r.offer(refused) // as the push does at its beginning
	defer r.withdraw(refused)
	wantResolved(t, r, "a@"+refused.Revision, "")
}

// lostStore has lost the files of all revisions, or finds them damaged.
type lostStore struct {
	*remoteStore
	err error
}

func (s lostStore) Sources(context.Context, string, string) (sources store.Sources, ok bool, err error) {
	return store.Sources{}, false, s.err
}

// TestLostFiles pushes what breaks the newest revision, of whose files the store has nothing that can be read.
func TestLostFiles(t *testing.T) {
	for _, damage := range []error{nil, fault.New(fault.Internal, "stored sources are damaged")} {
		s := newStore(t)
		r := start(t, s, func(c *Config) { c.Store = lostStore{s, damage} })
		first := push(t, r, "a", one)
		r.mu.Lock()
		r.cache.remove("a@" + first.Revision) // as after a restart
		r.mu.Unlock()
		_, err := r.Push(t.Context(), Push{Name: "a", Sources: files(three)})
		wantReason(t, err, fault.SchemaStoreUnavailable, "cannot be served here")
		none := Push{Name: "a", Sources: files(three), Compatibility: thriftpackv1.Compatibility_COMPATIBILITY_NONE}
		if _, err := r.Push(t.Context(), none); err != nil {
			t.Errorf("Push without a policy: %v", err)
		}
		wantResolved(t, r, "a", three)
	}
}

// racedStore has something happen between when it reads and when it answers.
type racedStore struct {
	*remoteStore
	between func()
}

func (s *racedStore) happen() {
	if between := s.between; between != nil {
		s.between = nil
		between()
	}
}

func (s *racedStore) Record(ctx context.Context, name string) (store.Record, error) {
	defer s.happen()
	return s.remoteStore.Record(ctx, name)
}

func (s *racedStore) Sources(ctx context.Context, name, revision string) (store.Sources, bool, error) {
	defer s.happen()
	return s.remoteStore.Sources(ctx, name, revision)
}

// TestCreatedWhileAsked creates a revision elsewhere while the store is asked for it: that it was not there is not remembered.
func TestCreatedWhileAsked(t *testing.T) {
	id := schema.Revision(files(one).Files, files(one).Root)
	for _, ref := range []string{"a", "a@" + id} {
		s := &racedStore{remoteStore: newStore(t)}
		// Nothing has room in memory, so each call asks.
		r := start(t, s.remoteStore, func(c *Config) { c.Store, c.CacheBytes = s, 1 })
		s.between = func() {
			sources := files(one)
			record := store.Record{Compatibility: thriftpackv1.Compatibility_COMPATIBILITY_NONE, Revisions: []store.Revision{{ID: id}}}
			if _, swapped, err := s.Swap(t.Context(), "a", store.Record{}, record, &sources); err != nil || !swapped {
				t.Error(swapped, err)
			}
			eventually(t, "the store has told", func() bool {
				told, _ := r.toldOf("a", id)
				return told
			})
		}
		wantResolved(t, r, ref, "")
		wantResolved(t, r, ref, one)
	}
}
