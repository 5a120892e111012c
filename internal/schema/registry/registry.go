// Package registry is where the server finds compiled schemas by name. It compiles what the directory and the store of
// package store have, keeps as much of it as fits, follows their changes, and takes pushes, for which it decides what may
// follow what. A schema that it has is found without a lock. It knows nothing of gRPC.
package registry

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/store"
)

// Store is where schemas that are pushed are kept. See store.File and store.Etcd.
type Store interface {
	// Follow tells of all schemas and then of every change, until ctx is done.
	Follow(ctx context.Context, follower store.Follower)
	// Record returns what there is of a schema; one that does not exist has no revisions.
	Record(ctx context.Context, name string) (store.Record, error)
	// Sources returns the files of a revision; ok is false where there is no such.
	Sources(ctx context.Context, name, revision string) (sources store.Sources, ok bool, err error)
	// Swap replaces a record by another unless it has changed.
	Swap(ctx context.Context, name string, from, to store.Record, put *store.Sources) (current store.Record, swapped bool, err error)
	// Close ends it. Nothing is under way then.
	Close() error
}

// Config is what a Registry works with.
type Config struct {
	// Store is where pushed schemas are kept, or nil: then nothing can be pushed. The registry closes it.
	Store Store
	// Directory is where further schemas are, or nil.
	Directory *store.Directory
	// Accept, unless nil, checks a compiled schema before it is kept.
	Accept func(*schema.Schema) error
	// LookEvery is how often the directory is looked at; 0 is the constant LookEvery.
	LookEvery time.Duration
	// Fixed are schemas that are there from the start and for good, as those of a directory.
	Fixed []*schema.Schema
	// Limits bounds what is compiled.
	Limits schema.Limits
	// Compilations is how many schemas are compiled or compared at a time, and Pushes and Checks how many are pushed and checked.
	Compilations, Pushes, Checks int
	// WaitingBytes bounds the sources of those that are pushed or wait for it, and likewise of those that are checked. Each counts for at least
	// 64 KiB.
	WaitingBytes int64
	// CacheBytes bounds the compiled schemas that are kept, by their Cost, in bytes.
	CacheBytes int64
	// Schemas and Revisions bound how many schemas the store may have, and how many revisions each.
	Schemas, Revisions int
	// Logger gets what is wrong with schemas that nobody waits for.
	Logger *slog.Logger

	working func(n int64) // unless nil is told when compiling or comparing begins, 1, and ends, -1
}

// Registry has the schemas of a server. Make one with New; it must be closed.
type Registry struct {
	cfg   Config
	table atomic.Pointer[table]

	mu       sync.Mutex // guards the members below
	fixed    map[string]*served
	broken   []string // what of the directory cannot be served
	lastLoad time.Time
	records  map[string]store.Record
	version  int64         // of the store, that records are of
	advanced chan struct{} // closed when version grows
	cache    cache
	cold     map[string]bool      // names whose newest revision is to be compiled
	warm     chan struct{}        // has an element when cold may have one
	missing  map[string]time.Time // references that the store did not have, and since when
	asked    map[string]asked     // schemas that the store was asked for, by name
	// unservable are stored revisions that could not be served a moment ago, by reference.
	unservable map[string]*unservableError
	pushed     map[string]*schema.Schema // what is being pushed, by reference
	closed     bool

	reachable atomic.Bool        // the store
	loads     singleflight.Group // by reference
	asks      singleflight.Group // by name
	told      lane               // loads of what the store has told of
	untold    lane               // and of what it has not
	turns     turns              // to compile and compare
	pushes    queue
	checks    queue

	listed  chan struct{}   // closed when the directory was read once, or there is none
	loaded  chan struct{}   // closed when everything was loaded once
	loading atomic.Int32    // what has not been loaded yet
	ctx     context.Context //nolint:containedctx // what goes on between calls ends with it
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// New returns a registry. It has loaded nothing yet, see Loaded.
func New(cfg Config) *Registry {
	r := &Registry{
		cfg:      cfg,
		fixed:    map[string]*served{},
		records:  map[string]store.Record{},
		advanced: make(chan struct{}),
		cache:    cache{limit: cfg.CacheBytes, entries: map[string]*served{}},
		cold:     map[string]bool{},
		warm:     make(chan struct{}, 1),
		missing:  map[string]time.Time{},
		asked:    map[string]asked{},

		unservable: map[string]*unservableError{},

		pushed: map[string]*schema.Schema{},
		told:   lane{slots: make(chan struct{}, readsAtOnce), most: maxLoads},
		untold: lane{slots: make(chan struct{}, asksAtOnce), most: maxAsks},
		turns:  turns{free: cfg.Compilations},
		pushes: queue{slots: make(chan struct{}, cfg.Pushes), most: cfg.WaitingBytes},
		checks: queue{slots: make(chan struct{}, cfg.Checks), most: cfg.WaitingBytes},
		listed: make(chan struct{}),
		loaded: make(chan struct{}),
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	for _, s := range cfg.Fixed {
		r.fixed[s.Name] = newServed(s, time.Now())
	}
	r.publish()
	r.loading.Store(1)
	if cfg.Directory != nil {
		r.loading.Add(1)
		r.running.Go(r.followDirectory)
	} else {
		close(r.listed)
	}
	if cfg.Store != nil {
		r.loading.Add(1)
		r.running.Go(func() { cfg.Store.Follow(r.ctx, r.follower()) })
		r.running.Go(r.compileCold)
	}
	r.loadedOne()
	return r
}

// loadedOne notes that the directory or the store was loaded for the first time, or that New is done.
func (r *Registry) loadedOne() {
	if r.loading.Add(-1) == 0 {
		close(r.loaded)
	}
}

// Loaded is closed when the directory and the store have been loaded once. What happens to them after that does not open it again.
func (r *Registry) Loaded() <-chan struct{} { return r.loaded }

// Close ends what goes on in the background, and the store. Schemas that were found stay valid.
func (r *Registry) Close() error {
	r.cancel()
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.running.Wait()
	if r.cfg.Store == nil {
		return nil
	}
	return r.cfg.Store.Close()
}

// begin notes that something goes on that Close waits for, and reports whether it may. It ends with r.running.Done.
func (r *Registry) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.running.Add(1)
	return true
}

// served is a compiled schema in memory.
type served struct {
	schema  *schema.Schema
	cost    int64
	created time.Time // of a fixed one: when it was loaded
	// used is set by whoever finds it, and cleared by whoever looks for what to drop.
	used atomic.Bool
	// old says that it is not the newest of its schema. The registry's mu guards it, and it is of no use outside of the cache.
	old bool
}

// isNewest reports whether a revision of the store is the newest of its schema. The caller holds r.mu.
func (r *Registry) isNewest(s *schema.Schema) bool {
	record := r.records[s.Name]
	return record.Exists() && record.Newest().ID == s.Revision
}

// fixedCost is what a schema in memory takes beside its plans.
const fixedCost = 4 << 10

func newServed(s *schema.Schema, created time.Time) *served {
	return &served{schema: s, cost: s.Cost + fixedCost, created: created}
}

// table is what is found without a lock. It is never changed but replaced.
type table struct {
	byRef map[string]entry // by "name" and by "name@revision"
}

// entry is what a reference leads to.
type entry struct {
	*served
	// stale says that the store has a newer revision.
	stale bool
}

// publish makes the table anew. The caller holds r.mu, or is New.
func (r *Registry) publish() {
	old := r.table.Load()
	t := &table{byRef: make(map[string]entry, 2*(len(r.cache.entries)+len(r.fixed)))}
	for ref, s := range r.cache.entries {
		if _, hidden := r.fixed[s.schema.Name]; !hidden {
			t.byRef[ref] = entry{served: s}
		}
	}
	for name := range r.records {
		if _, hidden := r.fixed[name]; hidden {
			continue
		}
		record := r.records[name]
		if s, ok := r.cache.entries[refOf(name, record.Newest().ID)]; ok {
			t.byRef[name] = entry{served: s}
		} else if last, ok := old.byRef[name]; ok && r.cache.has(last.served) {
			t.byRef[name] = entry{served: last.served, stale: true}
		}
	}
	for name, s := range r.fixed {
		t.byRef[name] = entry{served: s}
		t.byRef[refOf(name, s.schema.Revision)] = entry{served: s}
	}
	r.table.Store(t)
}

// refOf returns the reference of a revision.
func refOf(name, revision string) string { return name + "@" + revision }

// splitRef takes a reference apart. The revision is "" where there is none.
func splitRef(ref string) (name, revision string, ok bool) {
	name, revision, has := strings.Cut(ref, "@")
	return name, revision, store.ValidName(name) && (!has || store.ValidRevision(revision))
}

// Resolve returns the schema that ref names: the newest revision of "name", or "name@revision". It keeps no reference to ref. A
// schema in memory is found without a lock and without an allocation; others are loaded, and ctx bounds the wait.
func (r *Registry) Resolve(ctx context.Context, ref []byte) (*schema.Schema, error) {
	found, ok := r.table.Load().byRef[string(ref)]
	if ok && !found.stale {
		return found.touch(), nil
	}
	s, err := r.load(ctx, string(ref))
	if err != nil && ok && ctx.Err() == nil && isUnavailable(err) {
		return found.touch(), nil // the newest that there is
	}
	return s, err
}

// touch returns the schema and notes that it is in use.
func (s *served) touch() *schema.Schema {
	if !s.used.Load() { // not to write into a cache line that all calls read
		s.used.Store(true)
	}
	return s.schema
}

// errNotFound is the fault of a reference that leads nowhere.
func errNotFound(name, revision string) error {
	if revision == "" {
		return fault.New(fault.SchemaNotFound, "no schema %q", name)
	}
	return fault.New(fault.SchemaNotFound, "schema %q has no revision %s", name, revision)
}

// errRef is the fault of a reference that cannot lead anywhere. It may be anything, so it is not repeated.
func errRef() error {
	return fault.New(fault.SchemaNotFound, "not a schema: want a name of 1 to 64 of a-z, 0-9, \".\", \"_\" and \"-\", and perhaps \"@\" and a revision of 16 hexadecimal digits")
}

// errName is the fault of a name that no schema may have.
func errName() error {
	f := fault.New(fault.BadOption, "want 1 to 64 of a-z, 0-9, \".\", \"_\" and \"-\"")
	f.Path = "name"
	return f
}
