package registry

import (
	"context"
	"log/slog"
	"time"

	"github.com/thriftpack/thriftpack/internal/schema/store"
)

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
			continue
		}
		r.cache.rank(ref, r.isNewest(s.schema))
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
		if before.Exists() {
			r.cache.rank(refOf(name, before.Newest().ID), false)
		}
		r.cache.rank(refOf(name, record.Newest().ID), true)
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
	clear(r.asked)
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
