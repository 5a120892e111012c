package registry

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/store"
)

const (
	// LookEvery is how often the directory is looked at unless Config says. Looking finds every kind of change on every kind of file system, the
	// exchange of links by which Kubernetes renews a ConfigMap among them.
	LookEvery = time.Second
	// steadyLooks is how often the directory is read again at once because it changed while it was read.
	steadyLooks = 5
)

// known is what is known of an entry of the directory.
type known struct {
	stamp  string
	served *served // the last that compiled; nil where none did
	err    string  // why the present one is not served, or ""
	unread bool    // it could not be read: what keeps that from working is not always in the stamp
	needs  int64   // what it takes, where there was no room for it; else 0
}

// directory follows the directory. All of it belongs to one goroutine.
type directory struct {
	registry *Registry
	from     *store.Directory
	entries  map[string]known
	err      string // of the directory itself
}

// followDirectory loads the directory and then looks for changes until the registry is closed.
func (r *Registry) followDirectory() {
	d := directory{registry: r, from: r.cfg.Directory, entries: map[string]known{}}
	d.look()
	close(r.listed)
	r.loadedOne()
	ticker := time.NewTicker(cmp.Or(r.cfg.LookEvery, LookEvery))
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			d.look()
		case <-r.ctx.Done():
			return
		}
	}
}

var errNotListed = fault.New(fault.SchemaStoreUnavailable, "the server has not read its --schema-dir yet")

// awaitDirectory waits until the directory was read once: before that nobody knows what is in it, and what it hides.
func (r *Registry) awaitDirectory(ctx context.Context) error {
	select {
	case <-r.listed:
		return nil
	default:
	}
	timer := time.NewTimer(turn)
	defer timer.Stop()
	select {
	case <-r.listed:
		return nil
	case <-timer.C:
		return errNotListed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// isFixed reports whether a schema is one that the store cannot change.
func (r *Registry) isFixed(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.fixed[name]
	return ok
}

// look takes what has changed. Files that change while they are read are read again, so that no schema is made of files that never
// were there together.
func (d *directory) look() {
	found, err := d.from.List(d.registry.ctx)
	for range steadyLooks {
		if d.registry.ctx.Err() != nil {
			return
		}
		if err != nil {
			d.lost(err)
			return
		}
		entries, changed := d.read(found)
		if !changed {
			return
		}
		again, errAgain := d.from.List(d.registry.ctx)
		if errAgain == nil && sameFound(found, again) {
			d.take(entries)
			return
		}
		found, err = again, errAgain
	}
}

// sameFound reports whether two lists are of the same files.
func sameFound(a, b []store.Found) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || a[i].Stamp != b[i].Stamp || textOf(a[i].Err) != textOf(b[i].Err) {
			return false
		}
	}
	return true
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return firstLine(err)
}

// lost notes that the directory cannot be read. What was loaded stays.
func (d *directory) lost(err error) {
	if d.err == textOf(err) {
		return
	}
	d.err = textOf(err)
	d.registry.cfg.Logger.LogAttrs(d.registry.ctx, slog.LevelError, "schema directory cannot be read", slog.String("error", d.err))
	d.publish()
}

// read reads and compiles what has changed, and returns all entries.
func (d *directory) read(found []store.Found) (entries map[string]known, changed bool) {
	entries = make(map[string]known, len(found))
	room := d.registry.cfg.CacheBytes
	for i := range found {
		f := &found[i]
		before, had := d.entries[f.Name]
		entry := before
		if !had || before.stamp != f.Stamp || before.unread || f.Err != nil || before.needs > 0 && before.needs <= room {
			entry = d.entry(f, before)
			changed = changed || entry != before
		}
		if entry.served != nil && entry.served.cost > room {
			entry = tooLarge(f, entry.served, before.served, room)
			changed = changed || entry != before
		}
		if entry.served != nil {
			room -= entry.served.cost
		}
		entries[f.Name] = entry
	}
	return entries, changed || len(entries) != len(d.entries) || d.err != ""
}

// tooLarge is the entry of a schema that there is no room for: what was served before still is, where there is room for that.
func tooLarge(f *store.Found, s, before *served, room int64) known {
	entry := known{stamp: f.Stamp, err: "larger than what is left of --schema-cache-bytes", needs: s.cost}
	if before != nil && before.cost <= room {
		entry.served = before
	}
	return entry
}

// entry reads and compiles one schema. Where that fails, what was served before still is.
func (d *directory) entry(f *store.Found, before known) known {
	r := d.registry
	failed := known{stamp: f.Stamp, served: before.served}
	if f.Err != nil {
		failed.err = textOf(f.Err)
		return failed
	}
	sources, err := d.from.Read(r.ctx, f)
	if err != nil {
		failed.err, failed.unread = textOf(err), true
		return failed
	}
	if before.served != nil && before.served.schema.Revision == schema.Revision(sources.Files, sources.Root) {
		return known{stamp: f.Stamp, served: before.served}
	}
	compiled, err := d.compile(f.Name, sources)
	if err != nil {
		failed.err = textOf(err)
		return failed
	}
	return known{stamp: f.Stamp, served: newServed(compiled, time.Now())}
}

// compile compiles, however long others take.
func (d *directory) compile(name string, sources store.Sources) (*schema.Schema, error) {
	for {
		compiled, err := d.registry.compile(d.registry.ctx, forCalls, name, sources)
		if err == nil || !isBusy(err) {
			return compiled, err
		}
	}
}

// take serves new entries, and logs what has changed.
func (d *directory) take(entries map[string]known) {
	ctx, logger := d.registry.ctx, d.registry.cfg.Logger
	for name, entry := range entries {
		before := d.entries[name]
		attrs := []slog.Attr{slog.String("schema", name)}
		if entry.served != nil {
			attrs = append(attrs, slog.String("revision", entry.served.schema.Revision))
		}
		switch {
		case entry.err != "" && entry.err != before.err:
			logger.LogAttrs(ctx, slog.LevelWarn, "schema of the directory is broken", append(attrs, slog.String("error", entry.err))...)
		case entry.err == "" && (entry.served != before.served || before.err != ""):
			logger.LogAttrs(ctx, slog.LevelInfo, "schema of the directory loaded", attrs...)
		}
	}
	for name := range d.entries {
		if _, ok := entries[name]; !ok {
			logger.LogAttrs(ctx, slog.LevelInfo, "schema of the directory removed", slog.String("schema", name))
		}
	}
	d.entries, d.err = entries, ""
	d.publish()
}

// publish has the registry serve the entries.
func (d *directory) publish() {
	r := d.registry
	fixed := make(map[string]*served, len(d.entries))
	for _, s := range r.cfg.Fixed {
		fixed[s.Name] = newServed(s, time.Time{})
	}
	var broken []string
	if d.err != "" {
		broken = append(broken, "the directory: "+d.err)
	}
	for _, name := range slices.Sorted(maps.Keys(d.entries)) {
		entry := d.entries[name]
		if entry.served != nil {
			fixed[name] = entry.served
		}
		if entry.err != "" {
			broken = append(broken, name+": "+entry.err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fixed, r.broken, r.lastLoad = fixed, broken, time.Now()
	// What they take is not there for others any more.
	r.cache.fit(0, 0, r.fixedBytes())
	r.publish()
}
