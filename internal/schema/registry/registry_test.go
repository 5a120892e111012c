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

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
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

func TestPushAndResolve(t *testing.T) {
	s := newStore(t)
	r := start(t, s)
	first := push(t, r, "a", one)
	if !first.New || first.Compatibility != thriftpackv1.Compatibility_COMPATIBILITY_BACKWARD || first.Revision != first.Schema.Revision {
		t.Errorf("the first push: %+v", first)
	}
	if again := push(t, r, "a", one); again.New || len(again.Changes) != 0 || !again.Created.Equal(first.Created) {
		t.Errorf("the same again: %+v", again)
	}
	second := push(t, r, "a", two)
	if !second.New || len(second.Changes) != 1 || second.Changes[0].Rule != schema.FieldAdded {
		t.Errorf("the second revision: %+v", second)
	}
	wantResolved(t, r, "a", two)
	wantResolved(t, r, "a@"+first.Revision, one)
	wantResolved(t, r, "a@"+second.Revision, two)
	wantResolved(t, r, "a@0123456789abcdef", "")
	wantResolved(t, r, "b", "")

	// The first again is the newest again, and no new revision.
	if back := push(t, r, "a", one); back.New || !back.Created.Equal(first.Created) {
		t.Errorf("the first revision again: %+v", back)
	}
	wantResolved(t, r, "a", one)
	items, err := r.Revisions(t.Context(), "a")
	if err != nil || len(items) != 2 || items[0].Revision != first.Revision || items[1].Revision != second.Revision {
		t.Errorf("Revisions: %+v, %v", items, err)
	}

	for _, ref := range []string{"", "@", "a@", "a@b", "A", "..", "a@" + strings.ToUpper(first.Revision) + "0", "a b", "secret/../x"} {
		_, err := r.Resolve(t.Context(), []byte(ref))
		wantReason(t, err, fault.SchemaNotFound, "not a schema: want a name")
	}
	_, err = r.Push(t.Context(), Push{Name: "A", Sources: files(one)})
	wantReason(t, err, fault.BadOption)
	_, err = r.Push(t.Context(), Push{Name: "a", Sources: files("struct {")})
	wantReason(t, err, fault.SchemaSyntax)
	wantResolved(t, r, "a", one)
}

// TestWhatIsKept starts anew, as a server does: everything is there, compiled before it says that it has loaded.
func TestWhatIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schemas.db")
	r := start(t, reopen(t, path))
	first := push(t, r, "a", one)
	push(t, r, "a", two)
	push(t, r, "b", three)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	s := reopen(t, path)
	r = start(t, s)
	_, loaded := s.counts()
	wantResolved(t, r, "a", two)
	wantResolved(t, r, "b", three)
	if _, now := s.counts(); loaded != 2 || now != 2 {
		t.Errorf("sources were read %d times to begin with and %d in all, want 2 and 2", loaded, now)
	}
	wantResolved(t, r, "a@"+first.Revision, one)
}

func TestPolicies(t *testing.T) {
	const (
		none     = thriftpackv1.Compatibility_COMPATIBILITY_NONE
		backward = thriftpackv1.Compatibility_COMPATIBILITY_BACKWARD
		forward  = thriftpackv1.Compatibility_COMPATIBILITY_FORWARD
		full     = thriftpackv1.Compatibility_COMPATIBILITY_FULL
		asIs     = thriftpackv1.Compatibility_COMPATIBILITY_UNSPECIFIED
	)
	const (
		less = "struct S { }"
		must = "struct S { 1: required i32 a }"
	)
	for _, tt := range []struct {
		name         string
		policy       thriftpackv1.Compatibility // of the first push
		older, newer string
		then         thriftpackv1.Compatibility // of the second
		ok           bool
		ends         thriftpackv1.Compatibility
	}{
		{"nothing said is backward: a new required field", asIs, less, must, asIs, false, backward},
		{"nothing said is backward: a required field gone", asIs, must, less, asIs, true, backward},
		{"backward", backward, less, must, asIs, false, backward},
		{"forward: a new required field", forward, less, must, asIs, true, forward},
		{"forward: a required field gone", forward, must, less, asIs, false, forward},
		{"full: a new required field", full, less, must, asIs, false, full},
		{"full: a required field gone", full, must, less, asIs, false, full},
		{"backward: another name", backward, one, "struct S { 1: i32 b }", asIs, true, backward},
		{"full: another name", full, one, "struct S { 1: i32 b }", asIs, false, full},
		{"full: an optional field", full, one, two, asIs, true, full},
		{"full: a new name", full, "struct S { 1: i32 a }", "struct S { 1: i32 b }", asIs, false, full},
		{"backward: a new name", backward, "struct S { 1: i32 a }", "struct S { 1: i32 b }", asIs, true, backward},
		{"none: another type", none, one, three, asIs, true, none},
		{"a policy that is changed by the push which needs it", full, one, three, none, true, none},
		{"a policy that is changed by a push which does not meet it", none, one, three, full, false, none},
		{"a policy that is changed without another revision", none, one, one, full, true, full},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, newStore(t))
			first, err := r.Push(t.Context(), Push{Name: "a", Sources: files(tt.older), Compatibility: tt.policy})
			if err != nil {
				t.Fatal(err)
			}
			_, err = r.Push(t.Context(), Push{Name: "a", Sources: files(tt.newer), Compatibility: tt.then})
			checked, errCheck := r.Check(t.Context(), "a@"+first.Revision, files(tt.newer), tt.then)
			if errCheck != nil {
				t.Fatal(errCheck)
			}
			if tt.ok && err != nil {
				t.Errorf("the second push: %v", err)
			}
			newest := tt.newer
			if !tt.ok {
				newest = tt.older
				wantReason(t, err, fault.SchemaIncompatible, `schema "a": not `+
					policyWord(policyOf(tt.then, &store.Record{Compatibility: tt.ends, Revisions: []store.Revision{{}}}))+
					" compatible with revision "+first.Revision+": breaking changes: 1, the first: S.a: ")
				var incompatible *IncompatibleError
				if !errors.As(err, &incompatible) || len(incompatible.Changes) != 1 {
					t.Errorf("changes that break it: %v", err)
				}
			}
			if got := len(checked.Breaking) == 0; got != tt.ok && tt.older != tt.newer {
				t.Errorf("Check says %v, the push %v", got, tt.ok)
			}
			wantResolved(t, r, "a", newest)
			if _, item, err := r.Get(t.Context(), "a"); err != nil || item.Compatibility != tt.ends {
				t.Errorf("the policy is %v, %v; want %v", item.Compatibility, err, tt.ends)
			}
		})
	}
}

func TestDelete(t *testing.T) {
	s := newStore(t)
	r := start(t, s)
	first, second := push(t, r, "a", one), push(t, r, "a", two)
	push(t, r, "b", one)
	removed := func(ref string, want int) {
		t.Helper()
		if got, err := r.Delete(t.Context(), ref); err != nil || got != want {
			t.Errorf("Delete(%s) = %d, %v; want %d", ref, got, err, want)
		}
	}
	held, err := r.Resolve(t.Context(), []byte("a"))
	if err != nil {
		t.Fatal(err)
	}
	removed("a@"+second.Revision, 1)
	wantResolved(t, r, "a", one)
	wantResolved(t, r, "a@"+second.Revision, "")
	if _, ok := held.Type("S"); !ok {
		t.Error("a schema that was found before it was deleted has lost its types")
	}
	removed("a@"+first.Revision, 1)
	wantResolved(t, r, "a", "")
	for _, ref := range []string{"a", "a@" + first.Revision, "b@" + second.Revision, "c"} {
		_, err := r.Delete(t.Context(), ref)
		wantReason(t, err, fault.SchemaNotFound)
	}
	if again := push(t, r, "a", one); !again.New {
		t.Error("a revision that was deleted is not new")
	}
	push(t, r, "a", two)
	removed("a", 2)
	wantResolved(t, r, "a", "")
	wantResolved(t, r, "b", one)
	if items, more := r.List("", "", 10); len(items) != 1 || more {
		t.Errorf("List: %+v, %v; want b alone", items, more)
	}
}

func TestLimits(t *testing.T) {
	r := start(t, newStore(t), func(c *Config) { c.Schemas, c.Revisions = 2, 2 })
	push(t, r, "a", one)
	push(t, r, "b", one)
	_, err := r.Push(t.Context(), Push{Name: "c", Sources: files(one)})
	wantReason(t, err, fault.SizeLimit, "number of schemas: 3 exceeds the limit of 2 (--max-schemas; delete some)")
	push(t, r, "a", two)
	_, err = r.Push(t.Context(), Push{Name: "a", Sources: files(two + "\n")})
	wantReason(t, err, fault.SizeLimit, "revisions of the schema: 3 exceeds the limit of 2 (--max-schema-revisions; delete some)")
	push(t, r, "a", one) // is there already
	if _, err := r.Delete(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	push(t, r, "c", one)

	cost := r.cache.entries["c@"+push(t, r, "c", one).Revision].cost
	r = start(t, newStore(t), func(c *Config) { c.CacheBytes = cost })
	push(t, r, "a", one)
	_, err = r.Push(t.Context(), Push{Name: "a", Sources: files(two)})
	wantReason(t, err, fault.SizeLimit, "(what --schema-dir leaves of --schema-cache-bytes)")
}

// TestNoStore has schemas that are there from the start, and no others.
func TestNoStore(t *testing.T) {
	fixed, err := schema.Compile("fixed", files(one).Files, "main.thrift", schema.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, nil, func(c *Config) { c.Fixed = []*schema.Schema{fixed} })
	wantResolved(t, r, "fixed", one)
	wantResolved(t, r, "fixed@"+fixed.Revision, one)
	wantResolved(t, r, "fixed@0123456789abcdef", "")
	wantResolved(t, r, "a", "")
	_, err = r.Push(t.Context(), Push{Name: "a", Sources: files(one)})
	wantReason(t, err, fault.NoSchemaStore, "--schema-store=none")
	_, err = r.Delete(t.Context(), "fixed")
	wantReason(t, err, fault.NoSchemaStore)
	checked, err := r.Check(t.Context(), "fixed", files(three), thriftpackv1.Compatibility_COMPATIBILITY_UNSPECIFIED)
	if err != nil || checked.Against != fixed || len(checked.Breaking) == 0 {
		t.Errorf("Check: %+v, %v", checked, err)
	}
	if checked, err = r.Check(t.Context(), "", files(three), 0); err != nil || checked.Against != nil {
		t.Errorf("Check of files alone: %+v, %v", checked, err)
	}
	if checked, err = r.Check(t.Context(), "a", files(three), 0); err != nil || checked.Against != nil {
		t.Errorf("Check of a name that is not there: %+v, %v", checked, err)
	}
	_, err = r.Check(t.Context(), "fixed@0123456789abcdef", files(three), 0)
	wantReason(t, err, fault.SchemaNotFound)
}

// TestFixedHidesStored has a name in both places: that of the directory is served, listed, and not to be changed.
func TestFixedHidesStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schemas.db")
	r := start(t, reopen(t, path))
	stored := push(t, r, "a", two)
	push(t, r, "b", two)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	fixed, err := schema.Compile("a", files(one).Files, "main.thrift", schema.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	r = start(t, reopen(t, path), func(c *Config) { c.Fixed = []*schema.Schema{fixed} })
	wantResolved(t, r, "a", one)
	wantResolved(t, r, "a@"+stored.Revision, "")
	wantResolved(t, r, "b", two)
	_, err = r.Push(t.Context(), Push{Name: "a", Sources: files(two)})
	wantReason(t, err, fault.SchemaReadOnly, `schema "a" is of the server's --schema-dir`)
	_, err = r.Delete(t.Context(), "a")
	wantReason(t, err, fault.SchemaReadOnly)
	items, _ := r.List("", "", 10)
	if len(items) != 2 || !items[0].ReadOnly || items[0].Revision != fixed.Revision || items[1].ReadOnly || r.Status().Schemas != 2 {
		t.Errorf("List: %+v", items)
	}
}

func TestList(t *testing.T) {
	r := start(t, newStore(t))
	for _, name := range []string{"b", "a.1", "a.2", "c", "a.3"} {
		push(t, r, name, one)
	}
	for _, tt := range []struct {
		prefix, after string
		limit         int
		want          string
		more          bool
	}{
		{"", "", 10, "a.1 a.2 a.3 b c", false},
		{"", "", 5, "a.1 a.2 a.3 b c", false},
		{"", "", 2, "a.1 a.2", true},
		{"", "a.2", 2, "a.3 b", true},
		{"", "a.25", 2, "a.3 b", true},
		{"", "b", 2, "c", false},
		{"", "c", 2, "", false},
		{"a.", "", 2, "a.1 a.2", true},
		{"a.", "a.2", 2, "a.3", false},
		{"d", "", 2, "", false},
	} {
		items, more := r.List(tt.prefix, tt.after, tt.limit)
		var names []string
		for _, item := range items {
			names = append(names, item.Name)
		}
		if got := strings.Join(names, " "); got != tt.want || more != tt.more {
			t.Errorf("List(%q, %q, %d) = %s, %v; want %s, %v", tt.prefix, tt.after, tt.limit, got, more, tt.want, tt.more)
		}
	}
}

func TestResolveAllocatesNothing(t *testing.T) {
	r := start(t, newStore(t))
	pushed := push(t, r, "a", one)
	for _, ref := range [][]byte{[]byte("a"), []byte("a@" + pushed.Revision)} {
		allocations := testing.AllocsPerRun(1000, func() {
			if _, err := r.Resolve(t.Context(), ref); err != nil {
				t.Fatal(err)
			}
		})
		if allocations != 0 {
			t.Errorf("Resolve(%s): %v allocations, want none", ref, allocations)
		}
	}
}
