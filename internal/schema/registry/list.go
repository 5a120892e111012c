package registry

import (
	"context"
	"slices"
	"strings"
	"time"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/store"
)

// Item is what lists have of a revision.
type Item struct {
	// Name, Revision and Root name it.
	Name, Revision, Root string
	// Created is when it was pushed first, or of one of the directory when it was loaded.
	Created time.Time
	// Compatibility is the policy of the schema; unspecified for one of the directory, where the operator says what follows.
	Compatibility thriftpackv1.Compatibility
	// ReadOnly says that it is of the directory.
	ReadOnly bool

	version int64 // of the store
}

func itemOf(name string, record *store.Record, revision store.Revision) Item {
	return Item{
		Name: name, Revision: revision.ID, Root: revision.Root, Created: revision.Created, Compatibility: record.Compatibility,
		version: record.Version,
	}
}

// fixedItem is the item of a schema of the directory.
func fixedItem(s *served) Item {
	return Item{Name: s.schema.Name, Revision: s.schema.Revision, Root: s.schema.Root, Created: s.created, ReadOnly: true}
}

// List returns the newest revisions of the schemas whose names begin with prefix and come after the name after, in the order of
// names, at most limit. more says that there are further ones.
func (r *Registry) List(prefix, after string, limit int) (items []Item, more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names []string
	wanted := func(name string) bool { return name > after && strings.HasPrefix(name, prefix) }
	for name := range r.fixed {
		if wanted(name) {
			names = append(names, name)
		}
	}
	for name := range r.records {
		if _, hidden := r.fixed[name]; !hidden && wanted(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) > limit {
		names, more = names[:limit], true
	}
	for _, name := range names {
		if s, ok := r.fixed[name]; ok {
			items = append(items, fixedItem(s))
			continue
		}
		record := r.records[name]
		items = append(items, itemOf(name, &record, record.Newest()))
	}
	return items, more
}

// Revisions returns the revisions of a schema, the newest first. It asks the store for a schema that it has not told of.
func (r *Registry) Revisions(ctx context.Context, name string) ([]Item, error) {
	if !store.ValidName(name) {
		return nil, errRef()
	}
	r.mu.Lock()
	fixed, isFixed := r.fixed[name]
	record := r.records[name]
	r.mu.Unlock()
	switch {
	case isFixed:
		return []Item{fixedItem(fixed)}, nil
	case !record.Exists():
		// As for any reference that is not known: the store is asked, and not too often.
		if _, err := r.load(ctx, name); err != nil {
			return nil, err
		}
		var err error
		if record, err = r.cfg.Store.Record(ctx, name); err != nil {
			return nil, err
		}
	}
	items := make([]Item, 0, len(record.Revisions))
	for _, revision := range slices.Backward(record.Revisions) {
		items = append(items, itemOf(name, &record, revision))
	}
	return items, nil
}

// Get returns the schema that ref names, with its item.
func (r *Registry) Get(ctx context.Context, ref string) (*schema.Schema, Item, error) {
	s, err := r.Resolve(ctx, []byte(ref))
	if err != nil {
		return nil, Item{}, err
	}
	r.mu.Lock()
	fixed, isFixed := r.fixed[s.Name]
	record := r.records[s.Name]
	r.mu.Unlock()
	switch {
	case isFixed && fixed.schema == s:
		return s, fixedItem(fixed), nil
	case isFixed || r.cfg.Store == nil:
		return nil, Item{}, errNotFound(s.Name, s.Revision) // it went a moment ago
	case !record.Exists():
		// The store has not told of it yet, or of its end.
		if record, err = r.cfg.Store.Record(ctx, s.Name); err != nil {
			return nil, Item{}, err
		}
	}
	revision, ok := record.Revision(s.Revision)
	if !ok {
		return nil, Item{}, errNotFound(s.Name, s.Revision)
	}
	return s, itemOf(s.Name, &record, revision), nil
}

// Checked is the outcome of a check.
type Checked struct {
	// Schema is the files, compiled.
	Schema *schema.Schema
	// Against is what they were compared with, or nil.
	Against *schema.Schema
	// Compatibility is the policy that was checked.
	Compatibility thriftpackv1.Compatibility
	// Changes are those from Against to Schema, and Breaking those of them that the policy does not allow.
	Changes, Breaking []schema.Change
}

// Check compiles sources and compares them with the schema that ref names; with nothing where ref is "" or names a schema that
// does not exist.
func (r *Registry) Check(ctx context.Context, ref string, sources store.Sources, asked thriftpackv1.Compatibility) (*Checked, error) {
	name, revision, ok := splitRef(ref)
	if ref != "" && !ok {
		return nil, errRef()
	}
	leave, err := r.checks.enter(ctx, sources)
	if err != nil {
		return nil, err
	}
	defer leave()
	compiled, err := r.compile(ctx, forCheck, name, sources)
	if err != nil {
		return nil, err
	}
	checked := &Checked{Schema: compiled, Compatibility: policyOf(asked, &store.Record{})}
	if ref == "" {
		return checked, nil
	}
	against, item, err := r.Get(ctx, ref)
	switch {
	case err != nil && isNotFound(err) && revision == "":
		return checked, nil
	case err != nil:
		return nil, err
	}
	if asked == thriftpackv1.Compatibility_COMPATIBILITY_UNSPECIFIED && !item.ReadOnly {
		checked.Compatibility = item.Compatibility
	}
	checked.Against = against
	if checked.Changes, err = r.compare(ctx, forCheck, against, compiled); err != nil {
		return nil, err
	}
	checked.Breaking = breaking(checked.Changes, checked.Compatibility)
	return checked, nil
}

// Status is what the server tells of its schemas.
type Status struct {
	// Store says that there is one, and Reachable that it answers.
	Store, Reachable bool
	// Schemas is how many there are, and Broken how many of the directory cannot be served as they are, with the reason.
	Schemas int
	Broken  []string
	// CacheBytes is what compiled schemas take.
	CacheBytes int64
	// LastLoad is when a change was last taken; zero before the first.
	LastLoad time.Time
}

// Status returns the present state.
func (r *Registry) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	hidden := 0
	for name := range r.fixed {
		if _, ok := r.records[name]; ok {
			hidden++
		}
	}
	return Status{
		Store: r.cfg.Store != nil, Reachable: r.reachable.Load(),
		Schemas: len(r.fixed) + len(r.records) - hidden, Broken: slices.Clone(r.broken),
		CacheBytes: r.cache.bytes() + r.fixedBytes(), LastLoad: r.lastLoad,
	}
}
