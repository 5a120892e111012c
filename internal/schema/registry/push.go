package registry

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/store"
)

const (
	// pushTimeout bounds a push that others are always faster than.
	pushTimeout = 15 * time.Second
	// ownWait is how long a push waits for the store to tell of it, so that the next call finds it.
	ownWait = time.Second
)

// Push is a revision to keep.
type Push struct {
	// Name is the schema's name.
	Name string
	// Sources are its files. They must not be changed any more.
	Sources store.Sources
	// Compatibility is the policy of the schema from now on; unspecified leaves it as it is.
	Compatibility thriftpackv1.Compatibility
}

// Pushed is the outcome of a push.
type Pushed struct {
	// Item is the revision, which is the newest.
	Item
	// Schema is the revision, compiled.
	Schema *schema.Schema
	// New says that the store did not have it.
	New bool
	// Changes are those from the revision that was the newest before.
	Changes []schema.Change
}

// IncompatibleError is a revision that its schema's policy does not allow.
type IncompatibleError struct {
	// Fault says it in words.
	Fault *fault.Error
	// Changes are those that the policy does not allow.
	Changes []schema.Change
}

// Error is the text of the fault.
func (e *IncompatibleError) Error() string { return e.Fault.Error() }

// Unwrap returns the fault.
func (e *IncompatibleError) Unwrap() error { return e.Fault }

// mayChange returns why a schema cannot be changed, or nil.
func (r *Registry) mayChange(ctx context.Context, name string) error {
	if err := r.awaitDirectory(ctx); err != nil {
		return err
	}
	switch {
	case r.cfg.Store == nil:
		return fault.New(fault.NoSchemaStore, "this server keeps no schemas: it was started with --schema-store=none")
	case r.isFixed(name):
		return fault.New(fault.SchemaReadOnly, "schema %q is of the server's --schema-dir", name)
	case !r.reachable.Load():
		return errAway
	}
	return nil
}

// Push compiles a revision and keeps it in the store as the newest of its schema, unless it is that already. When it
// returns without an error the store has it for good. After one that says that the store is away it may have it or not. Errors of
// the sources are those of Config.Compile.
func (r *Registry) Push(ctx context.Context, p Push) (*Pushed, error) {
	if !store.ValidName(p.Name) {
		return nil, errName()
	}
	if err := r.mayChange(ctx, p.Name); err != nil {
		return nil, err
	}
	leave, err := r.pushes.enter(ctx, p.Sources)
	if err != nil {
		return nil, err
	}
	defer leave()
	compiled, err := r.compile(ctx, forPush, p.Name, p.Sources)
	if err != nil {
		return nil, err
	}
	if err := r.fits(compiled); err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, pushTimeout)
	defer cancel()
	r.offer(compiled)
	defer r.withdraw(compiled)
	pushed, err := r.swapIn(within, &p, compiled)
	if err != nil {
		return nil, r.loadError(ctx, err)
	}
	r.await(within, pushed.version)
	r.keep(compiled, true)
	return pushed, nil
}

// fits checks that a schema can be kept and served at all.
func (r *Registry) fits(s *schema.Schema) error {
	if r.cfg.Accept != nil {
		if err := r.cfg.Accept(s); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if most := r.cache.limit - r.fixedBytes(); s.Cost+fixedCost > most {
		return fault.OverLimit(fault.SizeLimit, "bytes of compiled types", "what --schema-dir leaves of --schema-cache-bytes", most, s.Cost+fixedCost)
	}
	return nil
}

// offer lets others have a revision that is being pushed, rather than compile it.
func (r *Registry) offer(s *schema.Schema) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pushed[refOf(s.Name, s.Revision)] = s
}

func (r *Registry) withdraw(s *schema.Schema) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pushed, refOf(s.Name, s.Revision))
}

// known returns what is known here of a schema, which the store may have changed.
func (r *Registry) known(name string) store.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.records[name]
}

// swapIn makes a revision the newest. Others may push at the same time, so it tries until nobody came between.
func (r *Registry) swapIn(ctx context.Context, p *Push, compiled *schema.Schema) (*Pushed, error) {
	record := r.known(p.Name)
	for attempt, sure := 0, false; ; attempt++ {
		to, put, err := r.follow(p, compiled, &record)
		if err != nil {
			return nil, err
		}
		if to == nil && !sure {
			// Nothing to do, as far as is known here. The store knows.
			if record, err = r.cfg.Store.Record(ctx, p.Name); err != nil {
				return nil, err
			}
			sure = true
			continue
		}
		changes, err := r.check(ctx, p.Name, compiled, &record, policyOf(p.Compatibility, &record))
		if err != nil {
			return nil, err
		}
		pushed := &Pushed{Schema: compiled, New: put != nil, Changes: changes}
		if to == nil {
			pushed.Item = itemOf(p.Name, &record, record.Newest())
			return pushed, nil
		}
		current, swapped, err := r.cfg.Store.Swap(ctx, p.Name, record, *to, put)
		if err != nil {
			return nil, err
		}
		if swapped {
			pushed.Item = itemOf(p.Name, &current, current.Newest())
			return pushed, nil
		}
		record, sure = current, true
		if err := pause(ctx, attempt); err != nil {
			return nil, err
		}
	}
}

// pause waits a while, longer after more attempts, so that one of those who push at the same time comes through.
func pause(ctx context.Context, attempt int) error {
	most := time.Millisecond << min(attempt, 6)
	timer := time.NewTimer(rand.N(most)) //nolint:gosec // to spread attempts needs no secret
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// follow returns the record after a push, nil where it changes nothing, and the sources to put, nil where the store has them.
func (r *Registry) follow(p *Push, compiled *schema.Schema, record *store.Record) (to *store.Record, put *store.Sources, err error) {
	policy := policyOf(p.Compatibility, record)
	at := slices.IndexFunc(record.Revisions, func(known store.Revision) bool { return known.ID == compiled.Revision })
	if at >= 0 && at == len(record.Revisions)-1 && policy == record.Compatibility {
		return nil, nil, nil
	}
	to = &store.Record{Compatibility: policy, Revisions: slices.Clone(record.Revisions)}
	if at >= 0 {
		again := to.Revisions[at]
		to.Revisions = append(slices.Delete(to.Revisions, at, at+1), again)
		return to, nil, nil
	}
	if len(record.Revisions) >= r.cfg.Revisions {
		return nil, nil, fault.OverLimit(fault.SizeLimit, "revisions of the schema:", "--max-schema-revisions; delete some",
			int64(r.cfg.Revisions), int64(len(record.Revisions)+1))
	}
	if !record.Exists() {
		if err := r.another(p.Name); err != nil {
			return nil, nil, err
		}
	}
	to.Revisions = append(to.Revisions, store.Revision{
		ID: compiled.Revision, Root: compiled.Root, Created: time.Now().UTC().Truncate(time.Millisecond),
	})
	return to, &p.Sources, nil
}

// another checks that there may be one more schema. Replicas that push at the same moment may exceed the limit by a few.
func (r *Registry) another(name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.records[name]; !ok && len(r.records) >= r.cfg.Schemas {
		return fault.OverLimit(fault.SizeLimit, "number of schemas:", "--max-schemas; delete some", int64(r.cfg.Schemas), int64(len(r.records)+1))
	}
	return nil
}

// policyOf is the policy that holds for a push.
func policyOf(asked thriftpackv1.Compatibility, record *store.Record) thriftpackv1.Compatibility {
	switch {
	case asked != thriftpackv1.Compatibility_COMPATIBILITY_UNSPECIFIED:
		return asked
	case record.Exists():
		return record.Compatibility
	default:
		return thriftpackv1.Compatibility_COMPATIBILITY_BACKWARD
	}
}

// check compares a revision with the newest of a record. The error is an IncompatibleError where the policy does not allow it.
func (r *Registry) check(
	ctx context.Context, name string, compiled *schema.Schema, record *store.Record, policy thriftpackv1.Compatibility,
) ([]schema.Change, error) {
	if !record.Exists() || record.Newest().ID == compiled.Revision {
		return nil, nil
	}
	newest, err := r.revision(ctx, name, record.Newest().ID, true)
	switch {
	case err != nil && policy == thriftpackv1.Compatibility_COMPATIBILITY_NONE && isUnservable(err):
		return nil, nil // what cannot be served any more must be possible to replace
	case err != nil:
		return nil, err
	case newest == nil:
		return nil, r.checkLost(ctx, name, record, policy)
	}
	changes, err := r.compare(ctx, forPush, newest, compiled)
	if err != nil {
		return nil, err
	}
	broken := breaking(changes, policy)
	if len(broken) == 0 {
		return changes, nil
	}
	return changes, &IncompatibleError{Changes: broken, Fault: fault.New(fault.SchemaIncompatible,
		"schema %q: not %s compatible with revision %s: breaking changes: %d, the first: %s: %s",
		name, policyWord(policy), newest.Revision, len(broken), broken[0].Path, broken[0].Detail)}
}

// checkLost decides about a push where the store has no files of the newest revision of a record: that was deleted between, which the swap
// will show, or its files are lost. Then nobody can say what may follow it, so that nothing may, unless the policy asks for nothing.
func (r *Registry) checkLost(ctx context.Context, name string, record *store.Record, policy thriftpackv1.Compatibility) error {
	if policy == thriftpackv1.Compatibility_COMPATIBILITY_NONE {
		return nil
	}
	current, err := r.cfg.Store.Record(ctx, name)
	if err != nil || current.Version != record.Version {
		return err
	}
	return r.errStored(ctx, name, record.Newest().ID, errors.New("the store has no files of the revision"))
}

// breaking returns the changes that a policy does not allow.
func breaking(changes []schema.Change, policy thriftpackv1.Compatibility) []schema.Change {
	switch policy {
	case thriftpackv1.Compatibility_COMPATIBILITY_BACKWARD:
		return schema.Backward.Refused(changes)
	case thriftpackv1.Compatibility_COMPATIBILITY_FORWARD:
		return schema.Forward.Refused(changes)
	case thriftpackv1.Compatibility_COMPATIBILITY_FULL:
		return schema.Full.Refused(changes)
	default:
		return nil
	}
}

// policyWord is a policy as people name it.
func policyWord(policy thriftpackv1.Compatibility) string {
	switch policy {
	case thriftpackv1.Compatibility_COMPATIBILITY_BACKWARD:
		return "BACKWARD"
	case thriftpackv1.Compatibility_COMPATIBILITY_FORWARD:
		return "FORWARD"
	case thriftpackv1.Compatibility_COMPATIBILITY_FULL:
		return "FULL"
	default:
		return "NONE"
	}
}

// await waits until the store has told of a version, within bounds.
func (r *Registry) await(ctx context.Context, version int64) {
	within, cancel := context.WithTimeout(ctx, ownWait)
	defer cancel()
	for {
		r.mu.Lock()
		told, advanced := r.version >= version, r.advanced
		r.mu.Unlock()
		if told {
			return
		}
		select {
		case <-advanced:
		case <-within.Done():
			return
		}
	}
}

// Delete removes a revision of a schema, or all of them where revision is "", and returns how many those were.
func (r *Registry) Delete(ctx context.Context, ref string) (int, error) {
	name, revision, ok := splitRef(ref)
	if !ok {
		return 0, errRef()
	}
	if err := r.mayChange(ctx, name); err != nil {
		return 0, err
	}
	leave, err := r.pushes.enter(ctx, store.Sources{})
	if err != nil {
		return 0, err
	}
	defer leave()
	within, cancel := context.WithTimeout(ctx, pushTimeout)
	defer cancel()
	removed, version, err := r.swapOut(within, name, revision)
	if err != nil {
		return 0, r.loadError(ctx, err)
	}
	r.await(within, version)
	return removed, nil
}

// swapOut removes a revision, or all, and returns their number and the version of the store after it.
func (r *Registry) swapOut(ctx context.Context, name, revision string) (removed int, version int64, err error) {
	record, err := r.cfg.Store.Record(ctx, name)
	for attempt := 0; err == nil; attempt++ {
		if !record.Exists() {
			return 0, 0, errNotFound(name, "")
		}
		to := store.Record{Compatibility: record.Compatibility}
		if revision != "" {
			if _, ok := record.Revision(revision); !ok {
				return 0, 0, errNotFound(name, revision)
			}
			to.Revisions = slices.DeleteFunc(slices.Clone(record.Revisions), func(known store.Revision) bool { return known.ID == revision })
		}
		current, swapped, err := r.cfg.Store.Swap(ctx, name, record, to, nil)
		switch {
		case err != nil:
			return 0, 0, err
		case swapped:
			return len(record.Revisions) - len(to.Revisions), current.Version, nil
		}
		record = current
		if err := pause(ctx, attempt); err != nil {
			return 0, 0, err
		}
	}
	return 0, 0, err
}
