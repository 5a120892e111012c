package guard

import (
	"container/list"
	"hash/maphash"
	"net/netip"
	"sync"

	"golang.org/x/time/rate"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// Bounds of what is known of callers.
const (
	// rateShards is how many locks they lie behind.
	rateShards = 16
	// MaxRateCallers is how many callers are told apart at most. One more, and the one that has not called for the longest is
	// forgotten, and so has its whole burst again.
	MaxRateCallers = 16 << 10
)

// Rates bound how many requests each caller makes.
type Rates struct {
	limit   rate.Limit
	burst   int
	exceeds *fault.Error
	seed    maphash.Seed
	shards  [rateShards]rateShard
	most    int // callers of a shard
}

// rateShard is a part of the callers, by what their names hash to.
type rateShard struct {
	mu      sync.Mutex
	callers map[Caller]*list.Element
	recent  list.List // of *rateEntry, the last to have called at the front
}

// rateEntry is what is known of a caller.
type rateEntry struct {
	caller  Caller
	limiter *Limiter
}

// Limiter bounds the requests of one caller.
type Limiter struct {
	bucket  *rate.Limiter
	exceeds *fault.Error
}

// NewRates returns a bound of perSecond requests in a second for each caller, and of burst at once.
func NewRates(perSecond, burst int) *Rates {
	r := &Rates{
		limit: rate.Limit(perSecond), burst: burst, seed: maphash.MakeSeed(), most: MaxRateCallers / rateShards,
		exceeds: fault.New(fault.RateLimited, "more than %d requests in a second after a burst of %d (--rate-limit, --rate-burst)",
			perSecond, burst),
	}
	for i := range r.shards {
		r.shards[i].callers = make(map[Caller]*list.Element)
	}
	return r
}

// Of returns the limiter of a caller. Addresses of IPv6 are taken by their first 64 bits, since whoever has one has all of those.
func (r *Rates) Of(c Caller) *Limiter {
	if c.Kind == AddressCaller {
		c.Name = Network(c.Name)
	}
	shard := &r.shards[maphash.String(r.seed, c.Name)%rateShards]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if known, ok := shard.callers[c]; ok {
		shard.recent.MoveToFront(known)
		return known.Value.(*rateEntry).limiter //nolint:errcheck,forcetypeassert // the list holds nothing else
	}
	if shard.recent.Len() >= r.most {
		oldest := shard.recent.Back()
		delete(shard.callers, shard.recent.Remove(oldest).(*rateEntry).caller) //nolint:errcheck,forcetypeassert // as above
	}
	limiter := &Limiter{rate.NewLimiter(r.limit, r.burst), r.exceeds}
	shard.callers[c] = shard.recent.PushFront(&rateEntry{c, limiter})
	return limiter
}

// Callers returns how many callers are known.
func (r *Rates) Callers() int {
	n := 0
	for i := range r.shards {
		r.shards[i].mu.Lock()
		n += r.shards[i].recent.Len()
		r.shards[i].mu.Unlock()
	}
	return n
}

// Take counts a request and returns nil, or the fault of one too many, which is not counted.
func (l *Limiter) Take() error {
	if l.bucket.Allow() {
		return nil
	}
	return l.exceeds
}

// Network is the part of a host's address that its owner cannot choose: of IPv6 the first 64 bits.
func Network(host string) string {
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	addr = addr.Unmap().WithZone("")
	if !addr.Is6() {
		return addr.String()
	}
	prefix, err := addr.Prefix(64)
	if err != nil {
		return host
	}
	return prefix.String()
}
