// Package pace sets how far the heap may grow between garbage collections, by how often they come. It knows nothing of what
// the process does; for the limit on all of its memory see cmd/server.
//
// The live heap of a server that streams is a few megabytes, and next to nothing is thrown away: collections are rare, and a small
// heap costs nothing. The same few megabytes under small calls make fifty collections a second, a sixth of the CPU
// time, since each call leaves some kilobytes behind. No one setting is right for both, so it follows the load:
//
//	collections far apart ──▶ Least: the heap grows to 1.5 times what is live
//	many in a second      ──▶ Most:  the heap grows by at most Allowance before each
package pace

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// The bounds of the percentage by which the heap may grow before it is collected.
const (
	// Least is for collections that are rare.
	Least = 50
	// Most is for collections that are frequent.
	Most = 400
	// Allowance bounds what frequent collections may let grow, in bytes: where more than a quarter of it is live, the percentage is less than
	// Most, and Go's own 100 where all of it is.
	Allowance = 16 << 20
)

const (
	// several is how many collections are looked at together, so that the few at the beginning of a stream raise nothing.
	several = 8
	// near is the mean distance of collections below which they are frequent: at a millisecond or so each, they then take a fiftieth
	// of a processor.
	near = 50 * time.Millisecond
	// far is the distance from which they are rare.
	far = time.Second
	// usual is Go's own percentage, and what a large heap gets at most.
	usual = 100
)

// start makes one pacer of the process.
var start = sync.OnceFunc(func() {
	p := &pacer{percent: Least, last: time.Now(), set: func(percent int) { debug.SetGCPercent(percent) }, live: liveHeap}
	p.set(p.percent)
	afterCollection(p)
})

// Start makes collections follow the load from now on, for good. Where the environment sets GOGC it does nothing, since an operator
// then has decided. It may be called more than once.
func Start() {
	if os.Getenv("GOGC") == "" {
		start()
	}
}

// afterCollection has p look at the time after each collection: an object that nothing refers to is found by the next one.
func afterCollection(p *pacer) {
	type sentinel struct{ _ [32]byte }
	runtime.AddCleanup(&sentinel{}, func(p *pacer) {
		p.collected(time.Now())
		afterCollection(p)
	}, p)
}

// liveHeap returns the bytes that the last collection found reachable.
func liveHeap() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return Allowance // not known: as if it were large
	}
	return int64(sample[0].Value.Uint64()) //nolint:gosec // no heap has 2^63 bytes
}

// pacer is the state between two collections. Its calls do not overlap.
type pacer struct {
	percent int       // what is set
	last    time.Time // of the last collection
	count   int       // collections since the percentage was changed, or since since
	since   time.Time // when the first of them was

	set  func(percent int)
	live func() int64
}

// collected says that a collection has ended, and sets the percentage for the next one.
func (p *pacer) collected(now time.Time) {
	apart := now.Sub(p.last)
	p.last = now
	if p.count++; p.count == 1 {
		p.since = now
	}
	want := p.percent
	switch {
	case apart >= far:
		for ; apart >= far && want > Least; apart -= far {
			want /= 2
		}
		p.count = 0
	case p.count > several:
		if now.Sub(p.since) < several*near {
			want *= 2
		}
		p.count = 0
	}
	if want = min(max(want, Least), p.most()); want != p.percent {
		p.percent, p.count = want, 0
		p.set(want)
	}
}

// most is the largest percentage that the live heap allows.
func (p *pacer) most() int {
	live := max(p.live(), 1)
	return int(min(max(usual*Allowance/live, usual), Most))
}
