package jsonvalue

import (
	"bytes"
	"hash/maphash"
)

// encodeSeen holds the elements of the sets, and the keys of the maps, that are open. Of a container that ends, nothing is left.
type encodeSeen struct {
	items []seenItem // in the order of the text
	slots []uint32   // the tables of the larger ones: which item, counted from 1 in its set, is where its hash leads
}

// seenItem is an element as it is encoded.
type seenItem struct {
	start, end uint32 // in the scratch memory, in its final order
	hash       uint32 // of sets with a table only
}

const (
	itemBytes = 12
	slotBytes = 4

	// few is the most elements that are compared one by one.
	few = 8
)

// openSet is where the elements of a set are.
type openSet struct {
	items int // the first one
	slots int // the table
	size  int // of the table, a power of two; 0 while there is none
}

// open begins a set inside of all that are open.
func (s *encodeSeen) open() openSet { return openSet{items: len(s.items), slots: len(s.slots)} }

// close ends the set, the innermost one.
func (s *encodeSeen) close(set *openSet) {
	s.items, s.slots = s.items[:set.items], s.slots[:set.slots]
}

// seenSeed makes the hashes of this process others than those of any other one: nobody outside can know which elements collide.
var seenSeed = maphash.MakeSeed()

// distinct adds the element out[start:end] to the set, the innermost one. It returns false where the set has it already, and with an error
// set where there is no memory to know. It takes the same time whatever the elements are, but for their length.
func (e *Encoder) distinct(set *openSet, start, end int) bool {
	s := &e.seen
	element := e.out[start:end]
	item := seenItem{start: uint32(start), end: uint32(end)}
	count := len(s.items) - set.items
	if set.size == 0 && count < few {
		for _, other := range s.items[set.items:] {
			if bytes.Equal(e.out[other.start:other.end], element) {
				return false
			}
		}
	} else {
		if count*2 >= set.size && !e.growTable(set) {
			return false
		}
		e.ticks -= len(element) / 64
		item.hash = uint32(maphash.Bytes(seenSeed, element))
		table := s.slots[set.slots : set.slots+set.size]
		at := int(item.hash) & (len(table) - 1)
		for table[at] != 0 {
			other := s.items[set.items+int(table[at])-1]
			if other.hash == item.hash && bytes.Equal(e.out[other.start:other.end], element) {
				return false
			}
			at = (at + 1) & (len(table) - 1)
		}
		table[at] = uint32(count + 1) // fewer than bytes
	}
	var ok bool
	s.items, ok = push(e, s.items, item, itemBytes)
	return ok
}

// growTable makes a table for the set, or one four times as large.
func (e *Encoder) growTable(set *openSet) bool {
	s := &e.seen
	if set.size == 0 {
		for i := range s.items[set.items:] {
			item := &s.items[set.items+i]
			item.hash = uint32(maphash.Bytes(seenSeed, e.out[item.start:item.end]))
		}
	}
	size := max(4*set.size, 4*few)
	if need := set.slots + size; need > cap(s.slots) {
		room := max(need, 2*cap(s.slots))
		if !e.reserve(int64(room) * slotBytes) {
			return false
		}
		grown := make([]uint32, set.slots, room)
		copy(grown, s.slots)
		s.slots = grown
	}
	s.slots = s.slots[:set.slots+size]
	set.size = size
	table := s.slots[set.slots:]
	clear(table)
	for i := range s.items[set.items:] {
		at := int(s.items[set.items+i].hash) & (size - 1)
		for table[at] != 0 {
			at = (at + 1) & (size - 1)
		}
		table[at] = uint32(i + 1) // fewer than bytes
	}
	return true
}
