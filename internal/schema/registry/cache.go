package registry

import "slices"

// cache holds compiled revisions of the store up to a limit, by their reference. When it is full, old revisions make room first: each was asked
// for by somebody, who can ask for all that there ever were, while everyone asks for the newest of each schema. Of either kind those go
// first that nobody has used since they were last looked at.
type cache struct {
	limit       int64
	entries     map[string]*served
	newest, old ring
}

// ring is some of the revisions of a cache.
type ring struct {
	refs  []string // in the order in which they are looked at
	hand  int      // where in refs to look next
	bytes int64
}

// oldShare is the part of the cache, one in so many, that old revisions in use keep against newest ones: who uses a few of them has them at hand.
const oldShare = 4

// bytes is what the entries take.
func (c *cache) bytes() int64 { return c.newest.bytes + c.old.bytes }

// has reports whether s is in the cache.
func (c *cache) has(s *served) bool {
	return c.entries[refOf(s.schema.Name, s.schema.Revision)] == s
}

// put adds a revision, and drops others to make room for it. newest says that it is the newest of its schema, and other is what is held
// beside the cache within the same limit. It reports whether there was room.
func (c *cache) put(s *served, newest bool, other int64) bool {
	ref := refOf(s.schema.Name, s.schema.Revision)
	if _, ok := c.entries[ref]; ok {
		return true
	}
	old := int64(0)
	if s.old = !newest; s.old {
		old = s.cost
	}
	if !c.fit(s.cost, old, other) {
		return false
	}
	c.entries[ref] = s
	c.ringOf(s).add(ref, s.cost)
	return true
}

// fit drops revisions until there is room for bytes more, of which old are an old revision's.
func (c *cache) fit(bytes, old, other int64) bool {
	if bytes+other > c.limit {
		return false
	}
	for c.bytes()+bytes+other > c.limit {
		switch {
		case c.drop(&c.old, false):
		case c.old.bytes+old > c.limit/oldShare && c.drop(&c.old, true):
		case c.drop(&c.newest, true):
		default:
			c.drop(&c.old, true)
		}
	}
	return true
}

// drop drops a revision that was not used since it was last looked at; with used, where all were, the first of them.
func (c *cache) drop(from *ring, used bool) bool {
	for range from.refs {
		if from.hand >= len(from.refs) {
			from.hand = 0
		}
		if !c.entries[from.refs[from.hand]].used.Swap(false) {
			c.removeAt(from, from.hand)
			return true
		}
		from.hand++
	}
	if !used || len(from.refs) == 0 {
		return false
	}
	// Calls went on and used more, so this is not a matter of another round.
	c.removeAt(from, from.hand%len(from.refs))
	return true
}

// ringOf is the ring that an entry is in.
func (c *cache) ringOf(s *served) *ring {
	if s.old {
		return &c.old
	}
	return &c.newest
}

// remove drops a revision, if it is there.
func (c *cache) remove(ref string) {
	if s, ok := c.entries[ref]; ok {
		from := c.ringOf(s)
		c.removeAt(from, slices.Index(from.refs, ref))
	}
}

func (c *cache) removeAt(from *ring, i int) {
	ref := from.refs[i]
	from.take(i, c.entries[ref].cost)
	delete(c.entries, ref)
}

// rank notes whether a revision is the newest of its schema, if it is there.
func (c *cache) rank(ref string, newest bool) {
	s, ok := c.entries[ref]
	if !ok || s.old == !newest {
		return
	}
	from := c.ringOf(s)
	from.take(slices.Index(from.refs, ref), s.cost)
	s.old = !newest
	c.ringOf(s).add(ref, s.cost)
}

func (r *ring) add(ref string, cost int64) {
	r.refs = append(r.refs, ref)
	r.bytes += cost
}

func (r *ring) take(i int, cost int64) {
	last := len(r.refs) - 1
	r.refs[i] = r.refs[last]
	r.refs = r.refs[:last]
	r.bytes -= cost
}
