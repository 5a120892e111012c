package registry

// cache holds compiled revisions of the store up to a limit, by their reference. When it is full those go first that nobody has used
// since they were last looked at.
type cache struct {
	limit   int64
	bytes   int64 // held by entries
	entries map[string]*served
	order   []string // references in the order in which they are looked at
	hand    int      // where in order to look next
}

// has reports whether s is in the cache.
func (c *cache) has(s *served) bool {
	return c.entries[refOf(s.schema.Name, s.schema.Revision)] == s
}

// put adds a revision, and drops others to make room for it. other is what is held beside the cache within the same limit. It
// reports whether there was room.
func (c *cache) put(s *served, other int64) bool {
	ref := refOf(s.schema.Name, s.schema.Revision)
	if _, ok := c.entries[ref]; ok {
		return true
	}
	if !c.fit(s.cost, other) {
		return false
	}
	c.entries[ref] = s
	c.order = append(c.order, ref)
	c.bytes += s.cost
	return true
}

// fit drops revisions until there is room for bytes more.
func (c *cache) fit(bytes, other int64) bool {
	if bytes+other > c.limit {
		return false
	}
	// What is used stays for a round. Calls go on and use more, so the second round asks no longer.
	for looks := len(c.order); c.bytes+bytes+other > c.limit; looks-- {
		if c.hand >= len(c.order) {
			c.hand = 0
		}
		if c.entries[c.order[c.hand]].used.Swap(false) && looks > 0 {
			c.hand++
			continue
		}
		c.removeAt(c.hand)
	}
	return true
}

// remove drops a revision, if it is there.
func (c *cache) remove(ref string) {
	if _, ok := c.entries[ref]; !ok {
		return
	}
	for i := range c.order {
		if c.order[i] == ref {
			c.removeAt(i)
			return
		}
	}
}

func (c *cache) removeAt(i int) {
	ref := c.order[i]
	c.bytes -= c.entries[ref].cost
	delete(c.entries, ref)
	last := len(c.order) - 1
	c.order[i] = c.order[last]
	c.order = c.order[:last]
}
