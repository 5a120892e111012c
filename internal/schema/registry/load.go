package registry

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/store"
)

// Bounds of what clients can make a registry do.
const (
	// readsAtOnce is how many schemas are being read from the store at a time.
	readsAtOnce = 16
	// loadTimeout bounds the loading of a schema.
	loadTimeout = 10 * time.Second
	// maxLoads is how many loads are under way, those included that wait for their turn. A load goes on when its callers leave, so calls
	// that end at once would leave any number of them behind.
	maxLoads = 1024
	// missingFor is how long the store is not asked again for what it did not have, and maxMissing how many such references are kept.
	missingFor = time.Second
	maxMissing = 1024
)

// isUnavailable reports whether err is that of a store that is away.
func isUnavailable(err error) bool {
	return errors.Is(err, fault.New(fault.SchemaStoreUnavailable, ""))
}

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
	// Those who ask for the same share the work, which goes on when one of them leaves.
	result := r.loads.DoChan(ref, func() (any, error) {
		if !r.begin() {
			return nil, context.Canceled
		}
		defer r.running.Done()
		defer r.underWay.Add(-1)
		if r.underWay.Add(1) > maxLoads {
			return nil, errBusy
		}
		within, cancel := context.WithTimeout(r.ctx, loadTimeout)
		defer cancel()
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

// noteMissing keeps that the store does not have ref.
func (r *Registry) noteMissing(ref string) {
	r.mu.Lock()
	defer r.mu.Unlock()
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
	if err := acquire(ctx, r.reads); err != nil {
		return nil, err
	}
	defer func() { <-r.reads }()
	id := revision
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
	r.noteMissing(ref)
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
	compiled, err := r.compile(ctx, name, sources)
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

// compile compiles sources when it is their turn.
func (r *Registry) compile(ctx context.Context, name string, sources store.Sources) (*schema.Schema, error) {
	if err := acquire(ctx, r.slots); err != nil {
		return nil, err
	}
	defer func() { <-r.slots }()
	return schema.Compile(name, sources.Files, sources.Root, r.cfg.Limits)
}

// turn is how long a call waits for others to be done.
const turn = 5 * time.Second

var errBusy = fault.New(fault.RateLimited, "too many schemas are being loaded, compiled or pushed")

func isBusy(err error) bool { return errors.Is(err, fault.New(fault.RateLimited, "")) }

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
	if !room && r.cache.bytes+kept.cost+other > r.cache.limit {
		return false
	}
	kept.used.Store(room)
	return r.cache.put(kept, other)
}

// fixedBytes is what schemas take that are never dropped. The caller holds r.mu.
func (r *Registry) fixedBytes() int64 {
	var bytes int64
	for _, s := range r.fixed {
		bytes += s.cost
	}
	return bytes
}

// follower returns what the store tells of changes.
func (r *Registry) follower() store.Follower {
	return store.Follower{
		Reset: r.reset, Changed: r.changed,
		Reachable: func(yes bool) {
			r.reachable.Store(yes)
			r.wake()
		},
	}
}

// reset takes everything that the store has.
func (r *Registry) reset(records map[string]store.Record, version int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.records = records
	r.lastLoad = time.Now()
	for ref, s := range r.cache.entries {
		record := records[s.schema.Name]
		if _, ok := record.Revision(s.schema.Revision); !ok {
			r.cache.remove(ref)
		}
	}
	for name := range records {
		r.cold[name] = true
	}
	r.advance(version)
}

// changed takes a change of one schema.
func (r *Registry) changed(name string, record store.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.records[name]
	for _, revision := range before.Revisions {
		if _, ok := record.Revision(revision.ID); !ok {
			r.cache.remove(refOf(name, revision.ID))
		}
	}
	if record.Exists() {
		r.records[name] = record
		if s := r.pushed[refOf(name, record.Newest().ID)]; s != nil {
			r.put(s, true)
		}
		r.cold[name] = true
	} else {
		delete(r.records, name)
	}
	r.lastLoad = time.Now()
	r.advance(record.Version)
}

// advance tells everyone of a new version of the store. The caller holds r.mu.
func (r *Registry) advance(version int64) {
	r.version = version
	close(r.advanced)
	r.advanced = make(chan struct{})
	clear(r.missing)
	r.publish()
	r.wake()
}

// wake lets compileCold look.
func (r *Registry) wake() {
	select {
	case r.warm <- struct{}{}:
	default:
	}
}

// compileCold compiles the newest revisions of schemas as long as there is room for them, so that they are there when the first call
// comes, and stay when the store goes.
func (r *Registry) compileCold() {
	first := true
	for {
		select {
		case <-r.warm:
		case <-r.ctx.Done():
			return
		}
		for {
			name, revision, ok := r.nextCold()
			if !ok {
				break
			}
			within, cancel := context.WithTimeout(r.ctx, loadTimeout)
			if _, err := r.revision(within, name, revision, false); err != nil && r.ctx.Err() == nil {
				r.cfg.Logger.LogAttrs(r.ctx, slog.LevelWarn, "schema not compiled ahead",
					slog.String("schema", name), slog.String("revision", revision), slog.String("error", firstLine(err)))
			}
			cancel()
		}
		if first && r.reachable.Load() {
			first = false
			r.loadedOne()
		}
	}
}

// nextCold takes a name whose newest revision is not compiled; ok is false when there is none, or no store to have it from.
func (r *Registry) nextCold() (name, revision string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.reachable.Load() {
		return "", "", false
	}
	for name := range r.cold {
		delete(r.cold, name)
		record, exists := r.records[name]
		if !exists {
			continue
		}
		if _, compiled := r.cache.entries[refOf(name, record.Newest().ID)]; !compiled {
			return name, record.Newest().ID, true
		}
	}
	return "", "", false
}

// firstLine is the first line of an error: those of sources may have many.
func firstLine(err error) string {
	text := err.Error()
	for i := range len(text) {
		if text[i] == '\n' {
			return text[:i] + " …"
		}
	}
	return text
}
