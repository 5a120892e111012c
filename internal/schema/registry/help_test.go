package registry

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/leaks"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/store"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// patience bounds every wait of a test; what it waits for usually takes milliseconds.
const patience = 30 * time.Second

// remoteStore is a store that several replicas could share: it can be away, and late with its news. What it keeps, a store.File keeps.
type remoteStore struct {
	*store.File

	mu       sync.Mutex
	away     bool
	late     bool
	held     []func() // news that is late
	follower store.Follower
	records  int    // how often a record was asked for
	sources  int    // how often sources were asked for
	before   func() // called before a swap, unless nil
}

var errTestAway = fault.New(fault.SchemaStoreUnavailable, "the schema store is away: a test says so")

func (s *remoteStore) Follow(ctx context.Context, follower store.Follower) {
	s.mu.Lock()
	s.follower = follower
	s.mu.Unlock()
	s.File.Follow(ctx, store.Follower{
		Reset: func(records map[string]store.Record, version int64) {
			s.tell(func() { follower.Reset(records, version) })
		},
		Changed: func(name string, record store.Record) {
			s.tell(func() { follower.Changed(name, record) })
		},
		Reachable: follower.Reachable,
	})
}

// tell tells news, at once or later.
func (s *remoteStore) tell(news func()) {
	s.mu.Lock()
	if s.late {
		s.held = append(s.held, news)
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	news()
}

// setLate holds news back, or tells all that was held back.
func (s *remoteStore) setLate(late bool) {
	s.mu.Lock()
	held := s.held
	s.late, s.held = late, nil
	s.mu.Unlock()
	for _, news := range held {
		news()
	}
}

// setAway takes the store away, or brings it back.
func (s *remoteStore) setAway(away, told bool) {
	s.mu.Lock()
	s.away = away
	follower := s.follower
	s.mu.Unlock()
	if told {
		follower.Reachable(!away)
	}
}

func (s *remoteStore) isAway(count *int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	*count++
	return s.away
}

func (s *remoteStore) Record(ctx context.Context, name string) (store.Record, error) {
	if s.isAway(&s.records) {
		return store.Record{}, errTestAway
	}
	return s.File.Record(ctx, name)
}

func (s *remoteStore) Sources(ctx context.Context, name, revision string) (store.Sources, bool, error) {
	if s.isAway(&s.sources) {
		return store.Sources{}, false, errTestAway
	}
	return s.File.Sources(ctx, name, revision)
}

func (s *remoteStore) Swap(ctx context.Context, name string, from, to store.Record, put *store.Sources) (store.Record, bool, error) {
	if s.isAway(new(int)) {
		return store.Record{}, false, errTestAway
	}
	if s.before != nil {
		s.before()
	}
	return s.File.Swap(ctx, name, from, to, put)
}

// counts returns how often records and sources were asked for.
func (s *remoteStore) counts() (records, sources int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records, s.sources
}

// newStore returns a store in a new file.
func newStore(t *testing.T) *remoteStore {
	t.Helper()
	return reopen(t, filepath.Join(t.TempDir(), "schemas.db"))
}

func reopen(t *testing.T, path string) *remoteStore {
	t.Helper()
	file, err := store.OpenFile(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return &remoteStore{File: file}
}

// start starts a registry, with the store unless that is nil, and waits until it has loaded. It is closed at the end of the test.
func start(t *testing.T, s *remoteStore, changes ...func(*Config)) *Registry {
	t.Helper()
	cfg := Config{
		Limits: schema.DefaultLimits(), Compilations: 2, Pushes: 4, Checks: 2, WaitingBytes: 8 << 20, CacheBytes: 128 << 20, Schemas: 100, Revisions: 10,
		Logger: slog.New(slog.DiscardHandler),
	}
	if s != nil {
		cfg.Store = s
	}
	for _, change := range changes {
		change(&cfg)
	}
	r := New(cfg)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	select {
	case <-r.Loaded():
	case <-time.After(patience):
		t.Fatal("not loaded")
	}
	return r
}

func files(text string) store.Sources {
	return store.Sources{Files: map[string]string{"main.thrift": text}, Root: "main.thrift"}
}

// Three revisions of a schema: two may follow one, and two has what breaks both directions for three.
const (
	one   = "struct S { 1: i32 a }"
	two   = "struct S { 1: i32 a, 2: optional string b }"
	three = "struct S { 1: string a }"
)

// push pushes, and fails where that does.
func push(t *testing.T, r *Registry, name, text string) *Pushed {
	t.Helper()
	pushed, err := r.Push(t.Context(), Push{Name: name, Sources: files(text)})
	if err != nil {
		t.Fatalf("Push %s: %v", name, err)
	}
	return pushed
}

// wantResolved fails unless ref leads to a schema of that text, or "" to none.
func wantResolved(t *testing.T, r *Registry, ref, text string) {
	t.Helper()
	s, err := r.Resolve(t.Context(), []byte(ref))
	switch {
	case text == "":
		wantReason(t, err, fault.SchemaNotFound)
	case err != nil:
		t.Errorf("Resolve(%q): %v, want %q", ref, err, text)
	case s.Files["main.thrift"] != text:
		t.Errorf("Resolve(%q) has %q, want %q", ref, s.Files["main.thrift"], text)
	}
}

// wantReason fails unless err has the reason, and its text the words.
func wantReason(t *testing.T, err error, reason fault.Reason, words ...string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Reason != reason {
		t.Errorf("error: %v, want %s", err, reason)
		return
	}
	for _, word := range words {
		if !strings.Contains(f.Error(), word) {
			t.Errorf("error %q: want %q in it", f.Error(), word)
		}
	}
}

// eventually waits until ok reports true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience, what)
		}
		select {
		case <-time.After(time.Millisecond):
		case <-t.Context().Done():
		}
	}
}
