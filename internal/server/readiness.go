package server

import "sync"

// readiness is whether a server is ready for calls: it serves, has loaded its schemas once, and has not begun to drain. What it is
// is told in order: a load that ends late does not make a draining server ready again.
type readiness struct {
	mu      sync.Mutex
	begun   bool
	ended   bool
	ready   bool
	ending  chan struct{} // closed by end, where begin waits
	waiting sync.WaitGroup
}

// begin makes it ready, now or when loaded is closed, and tells.
func (r *readiness) begin(loaded <-chan struct{}, tell func(ready bool)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun || r.ended {
		return
	}
	r.begun, r.ending = true, make(chan struct{})
	select {
	case <-loaded:
		r.ready = true
		tell(true)
	default:
		r.waiting.Go(func() { r.await(loaded, tell) })
	}
}

func (r *readiness) await(loaded <-chan struct{}, tell func(ready bool)) {
	select {
	case <-loaded:
	case <-r.ending:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.ready = true
		tell(true)
	}
}

// end makes it not ready, for good, and tells.
func (r *readiness) end(tell func(ready bool)) {
	r.mu.Lock()
	if !r.ended {
		r.ended, r.ready = true, false
		tell(false)
		if r.ending != nil {
			close(r.ending)
		}
	}
	r.mu.Unlock()
	r.waiting.Wait()
}

// isReady reports what was told last, and whether it waits for the schemas.
func (r *readiness) isReady() (ready, waits bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ready, r.begun && !r.ready && !r.ended
}
