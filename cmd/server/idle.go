package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// How a server that has had much to do is found to have little, and what is done about it.
const (
	// idleInterval is how often it is looked at.
	idleInterval = 5 * time.Second
	// idleShare is the part of one processor that a server may use and still have little to do: 1/idleShare.
	idleShare = 20
	// idleAfter is how many intervals in a row it must have had little to do.
	idleAfter = 2
	// idleRounds is how often memory is then given back, once in an interval: pools keep what they have for two collections.
	idleRounds = 3
	// idleFloor is how much memory is not worth the while, in bytes.
	idleFloor = 24 << 20
)

// idleMemory gives memory back to the system after load has fallen. The runtime collects when the heap has doubled, which an
// idle server does not come to for minutes, and meanwhile its peak counts against its container.
type idleMemory struct {
	cpu     func() (time.Duration, bool) // of the process until now; false where that is not to be known
	held    func() uint64                // memory that the process holds, in bytes
	release func()

	last  time.Duration
	busy  bool
	quiet int
	left  int // rounds
}

func newIdleMemory() *idleMemory {
	return &idleMemory{cpu: processTime, held: heldMemory, release: debug.FreeOSMemory}
}

// run looks until ctx is done.
func (m *idleMemory) run(ctx context.Context) {
	ticker := time.NewTicker(idleInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			m.look(idleInterval)
		}
	}
}

// look looks at the time since it last did.
func (m *idleMemory) look(interval time.Duration) {
	now, ok := m.cpu()
	if !ok {
		return
	}
	used := now - m.last
	m.last = now
	if used > interval/idleShare {
		m.busy, m.quiet, m.left = true, 0, 0
		return
	}
	if m.busy {
		if m.quiet++; m.quiet < idleAfter {
			return
		}
		m.busy, m.left = false, idleRounds
	}
	if m.left == 0 || m.held() < idleFloor {
		m.left = 0
		return
	}
	m.left--
	m.release()
	m.last, _ = m.cpu() // what that took is no load
}

// heldMemory is what the runtime has of the system and has not given back, in bytes.
func heldMemory() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}
