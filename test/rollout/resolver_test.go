package rollout

import (
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/resolver"
)

// zone is what the DNS answers for a headless Service: the addresses of the pods that are ready. It is the resolver of its clients, too, and
// as eager as grpc-go's own: it looks the name up when a connection has ended, and no sooner than interval after the last time.
type zone struct {
	interval time.Duration

	mu      sync.Mutex
	records []string
	changed chan struct{} // closed and made anew whenever a client has looked up
	known   []string      // by the last client that did
}

func newZone(interval time.Duration) *zone {
	return &zone{interval: interval, changed: make(chan struct{})}
}

// add and remove are what the endpoints' controller does when a pod becomes ready, and when it is deleted.
func (z *zone) add(address string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.records = append(z.records, address)
}

func (z *zone) remove(address string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.records = slices.DeleteFunc(z.records, func(a string) bool { return a == address })
}

// knows reports whether the client has an address; wait is closed when that may have changed.
func (z *zone) knows(address string) (known bool, wait <-chan struct{}) {
	z.mu.Lock()
	defer z.mu.Unlock()
	return slices.Contains(z.known, address), z.changed
}

// Scheme implements resolver.Builder.
func (*zone) Scheme() string { return "headless" }

// Build implements resolver.Builder.
func (z *zone) Build(_ resolver.Target, conn resolver.ClientConn, _ resolver.BuildOptions) (resolver.Resolver, error) {
	l := &lookups{zone: z, conn: conn, asked: make(chan struct{}, 1), closed: make(chan struct{})}
	l.done.Go(l.run)
	return l, nil
}

// lookups are those of one client.
type lookups struct {
	zone   *zone
	conn   resolver.ClientConn
	asked  chan struct{}
	closed chan struct{}
	done   sync.WaitGroup
}

// ResolveNow implements resolver.Resolver.
func (l *lookups) ResolveNow(resolver.ResolveNowOptions) {
	select {
	case l.asked <- struct{}{}:
	default:
	}
}

// Close implements resolver.Resolver.
func (l *lookups) Close() {
	close(l.closed)
	l.done.Wait()
}

func (l *lookups) run() {
	for {
		l.lookUp()
		pause := time.NewTimer(l.zone.interval)
		select {
		case <-pause.C:
		case <-l.closed:
			pause.Stop()
			return
		}
		select {
		case <-l.asked:
		case <-l.closed:
			return
		}
	}
}

func (l *lookups) lookUp() {
	l.zone.mu.Lock()
	known := slices.Clone(l.zone.records)
	l.zone.mu.Unlock()
	var state resolver.State
	for _, address := range known {
		state.Endpoints = append(state.Endpoints, resolver.Endpoint{Addresses: []resolver.Address{{Addr: address}}})
	}
	_ = l.conn.UpdateState(state) // an error asks for another lookup, which comes when it is asked for
	l.zone.mu.Lock()
	l.zone.known = known
	close(l.zone.changed)
	l.zone.changed = make(chan struct{})
	l.zone.mu.Unlock()
}
