package registry

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/store"
)

// Bounds of what clients can make a registry do.
const (
	// readsAtOnce is how many schemas are being read from the store at a time, and asksAtOnce how many more of which it has not told.
	readsAtOnce, asksAtOnce = 16, 4
	// loadTimeout bounds the loading of a schema.
	loadTimeout = 10 * time.Second
	// maxLoads is how many loads are under way, those included that wait for their turn. A load goes on when its callers leave, so calls
	// that end at once would leave any number of them behind. maxAsks is how many more may be of what the store has not told of.
	maxLoads, maxAsks = 1024, 256
	// missingFor is how long the store is not asked again for what it did not have, and maxMissing how many such references are kept.
	missingFor = time.Second
	maxMissing = 1024
	// currentFor is how long the store is not asked again for further revisions of a schema when it had none that it has not told of. It is
	// short, since what is pushed elsewhere meanwhile is not found until the store tells of it.
	currentFor = 100 * time.Millisecond
)

// lane is what loads of one kind may take. Those that the store is known to have do not wait behind those that it may never have heard of.
type lane struct {
	slots    chan struct{} // being read from the store
	underWay atomic.Int64
	most     int64 // under way
}

// isUnavailable reports whether err is that of a store that is away.
func isUnavailable(err error) bool {
	return errors.Is(err, fault.New(fault.SchemaStoreUnavailable, ""))
}

func isBusy(err error) bool { return errors.Is(err, fault.New(fault.RateLimited, "")) }

func isNotFound(err error) bool { return errors.Is(err, fault.New(fault.SchemaNotFound, "")) }

var errAway = fault.New(fault.SchemaStoreUnavailable, "the schema store is away: it does not answer")

// load finds a schema that is not in memory, or is not the newest there.
func (r *Registry) load(ctx context.Context, ref string) (*schema.Schema, error) {
	name, revision, ok := splitRef(ref)
	if !ok {
		return nil, errRef()
	}
	if err := r.awaitDirectory(ctx); err != nil {
		return nil, err
	}
	if found, ok := r.table.Load().byRef[ref]; ok && !found.stale {
		return found.touch(), nil // it came a moment ago
	}
	if r.cfg.Store == nil || r.isFixed(name) {
		return nil, errNotFound(name, revision)
	}
	if !r.reachable.Load() {
		return nil, errAway
	}
	if r.isMissing(ref) {
		return nil, errNotFound(name, revision)
	}
	lane := &r.told
	told, exists := r.toldOf(name, revision)
	if !told {
		lane = &r.untold
		if record, recently := r.askedOf(name); recently && !has(&record, revision) {
			return nil, errNotFound(name, revision)
		}
	}
	// Those who ask for the same share the work, which goes on when one of them leaves.
	result := r.loads.DoChan(ref, func() (any, error) {
		if !r.begin() {
			return nil, context.Canceled
		}
		defer r.running.Done()
		defer lane.underWay.Add(-1)
		if lane.underWay.Add(1) > lane.most {
			return nil, errBusy
		}
		within, cancel := context.WithTimeout(r.ctx, loadTimeout)
		defer cancel()
		if err := acquire(within, lane.slots); err != nil {
			return nil, err
		}
		defer func() { <-lane.slots }()
		if exists && !told {
			record, err := r.ask(within, name)
			if err != nil {
				return nil, err
			}
			if !has(&record, revision) {
				return nil, errNotFound(name, revision)
			}
		}
		return r.fetch(within, name, revision)
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case got := <-result:
		if got.Err != nil {
			return nil, r.loadError(ctx, got.Err)
		}
		return got.Val.(*schema.Schema), nil //nolint:errcheck,forcetypeassert // fetch returns nothing else
	}
}

// loadError is the error of a load for those who wait: its end is not theirs.
func (r *Registry) loadError(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return errAway
	}
	return err
}

// isMissing reports whether the store did not have ref a moment ago.
func (r *Registry) isMissing(ref string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	since, ok := r.missing[ref]
	return ok && time.Since(since) < missingFor
}

// has reports whether a record has a revision.
func has(record *store.Record, revision string) bool {
	_, ok := record.Revision(revision)
	return ok
}

// toldOf reports whether the store has told of a schema's revision, or of any where revision is "", and whether it has of the schema.
func (r *Registry) toldOf(name, revision string) (told, exists bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	record, exists := r.records[name]
	if revision == "" {
		return exists, exists
	}
	return has(&record, revision), exists
}

// asked is what the store said of a schema, and until when it is not asked again.
type asked struct {
	record store.Record
	until  time.Time
}

// askedOf returns what the store said of a schema a moment ago.
func (r *Registry) askedOf(name string) (record store.Record, recently bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	said := r.asked[name]
	return said.record, time.Now().Before(said.until)
}

// ask returns what the store has of a schema: now, or a moment ago. Revisions can be made up without end, so it is asked once for all who
// look for one of the same schema.
func (r *Registry) ask(ctx context.Context, name string) (store.Record, error) {
	record, err, _ := r.asks.Do(name, func() (any, error) {
		if record, recently := r.askedOf(name); recently {
			return record, nil
		}
		version := r.toldVersion()
		record, err := r.cfg.Store.Record(ctx, name)
		if err != nil {
			return record, err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.version != version {
			return record, nil // it may be older than what the store has told
		}
		if len(r.asked) >= maxMissing {
			clear(r.asked)
		}
		r.asked[name] = asked{record: record, until: time.Now().Add(currentFor)}
		return record, nil
	})
	return record.(store.Record), err //nolint:errcheck,forcetypeassert // nothing else is returned above
}

// toldVersion returns the version of the store that it has told of.
func (r *Registry) toldVersion() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.version
}

// noteMissing keeps that the store did not have ref, unless it has told of changes since it had told of version.
func (r *Registry) noteMissing(ref string, version int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.version != version {
		return
	}
	if len(r.missing) >= maxMissing {
		clear(r.missing)
	}
	r.missing[ref] = time.Now()
}

// newestOf returns the newest revision of a schema of the store: what is known here, or else what the store says, which may not
// have told of it yet. It is "" where there is none.
func (r *Registry) newestOf(ctx context.Context, name string) (string, error) {
	r.mu.Lock()
	record, ok := r.records[name]
	r.mu.Unlock()
	if !ok {
		var err error
		if record, err = r.cfg.Store.Record(ctx, name); err != nil {
			return "", err
		}
		if !record.Exists() {
			return "", nil
		}
	}
	return record.Newest().ID, nil
}

// fetch loads a revision from the store, or the newest, compiles it and keeps it.
func (r *Registry) fetch(ctx context.Context, name, revision string) (*schema.Schema, error) {
	id, version := revision, r.toldVersion()
	if id == "" {
		var err error
		if id, err = r.newestOf(ctx, name); err != nil {
			return nil, err
		}
	}
	if id != "" {
		if s, err := r.revision(ctx, name, id, true); s != nil || err != nil {
			return s, err
		}
	}
	ref := name
	if revision != "" {
		ref = refOf(name, revision)
	}
	r.noteMissing(ref, version)
	return nil, errNotFound(name, revision)
}

// revision returns a revision of the store, from memory where it is there; nil where it does not exist. With room, others make room
// for it there.
func (r *Registry) revision(ctx context.Context, name, id string, room bool) (*schema.Schema, error) {
	if s := r.inMemory(name, id); s != nil {
		r.keep(s, room)
		return s, nil
	}
	if err := r.knownUnservable(refOf(name, id)); err != nil {
		return nil, err
	}
	sources, ok, err := r.cfg.Store.Sources(ctx, name, id)
	switch {
	case errors.Is(err, fault.New(fault.Internal, "")): // they are damaged
		return nil, r.errStored(ctx, name, id, err)
	case err != nil || !ok:
		return nil, err
	}
	compiled, err := r.compile(ctx, forCalls, name, sources)
	if err != nil {
		return nil, r.errStored(ctx, name, id, err)
	}
	if compiled.Revision != id {
		return nil, r.errStored(ctx, name, id, errors.New("the files are not those of the revision"))
	}
	r.keep(compiled, room)
	return compiled, nil
}

// inMemory returns a revision that is in memory, or nil. One that is being pushed is there once the store has told of it: until then it
// may be refused.
func (r *Registry) inMemory(name, id string) *schema.Schema {
	r.mu.Lock()
	defer r.mu.Unlock()
	ref := refOf(name, id)
	if s, ok := r.cache.entries[ref]; ok {
		return s.touch()
	}
	record := r.records[name]
	if _, ok := record.Revision(id); !ok {
		return nil
	}
	return r.pushed[ref]
}

// keep puts a compiled revision of the store into memory, unless the store has removed it, or has not told of it yet. With room,
// others make room for it; otherwise it is kept where there is some, and where there is none nothing more is compiled ahead.
func (r *Registry) keep(s *schema.Schema, room bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	record := r.records[s.Name]
	if _, ok := record.Revision(s.Revision); !ok {
		return
	}
	delete(r.unservable, refOf(s.Name, s.Revision))
	if r.put(s, room) {
		r.publish()
	} else if !room {
		clear(r.cold)
	}
}

// put puts a compiled revision into the cache. The caller holds r.mu.
func (r *Registry) put(s *schema.Schema, room bool) bool {
	kept, other := newServed(s, time.Time{}), r.fixedBytes()
	if !room && r.cache.bytes()+kept.cost+other > r.cache.limit {
		return false
	}
	kept.used.Store(room)
	return r.cache.put(kept, r.isNewest(s), other)
}

// fixedBytes is what schemas take that are never dropped. The caller holds r.mu.
func (r *Registry) fixedBytes() int64 {
	var bytes int64
	for _, s := range r.fixed {
		bytes += s.cost
	}
	return bytes
}
