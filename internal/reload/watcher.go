package reload

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// attempts is how often files are read again when they cannot be used: those of a mounted secret are swapped all at once,
// and a reader in between has some of the old and some of the new.
const attempts = 3

// Files are files that are read together and make sense only together, such as a certificate and its key.
type Files struct {
	// Name says what they are, for logs and metrics.
	Name string
	// Paths are where they are.
	Paths []string
	// Limit bounds each of them, in bytes.
	Limit int64
	// Load takes their contents, in the order of Paths, and puts them to use, or returns an error and leaves everything as it was. It
	// owns contents. It is called by one goroutine at a time, and not again for what it has taken.
	Load func(contents [][]byte) error
}

// Event is what came of looking at files.
type Event struct {
	// Name is that of the Files.
	Name string
	// Err is why they cannot be used, or nil when they have been put to use.
	Err error
	// Again says that the same error has been reported before, and nothing good since.
	Again bool
}

// Watcher looks at files at an interval and loads those that have changed. What cannot be loaded changes nothing, and is tried
// again at every look: a certificate may become valid by mere waiting. Contents are compared, not times, so that it notices what a
// mounted secret does, which swaps a symbolic link above the files.
type Watcher struct {
	interval time.Duration
	report   func(Event)
	groups   []*group
	started  bool
	stop     chan struct{}
	stopOnce sync.Once
	done     sync.WaitGroup
}

// group is the state of Files.
type group struct {
	Files
	loaded [sha256.Size]byte // of what is in use
	failed string            // the error reported last, or ""
	ok     atomic.Bool
}

// NewWatcher returns a watcher that reports what comes of each change, from its own goroutine.
func NewWatcher(interval time.Duration, report func(Event)) *Watcher {
	return &Watcher{interval: interval, report: report, stop: make(chan struct{})}
}

// Add loads files for the first time; an error means that they are not watched. It must not be called after Start.
func (w *Watcher) Add(files Files) error {
	g := &group{Files: files}
	if _, err := g.look(); err != nil {
		return err
	}
	g.ok.Store(true)
	w.groups = append(w.groups, g)
	return nil
}

// Start begins to look, where there is anything to look at.
func (w *Watcher) Start() {
	if w.started || len(w.groups) == 0 {
		return
	}
	w.started = true
	w.done.Go(w.run)
}

// Close ends the watch and waits for its end. What was loaded stays in use.
func (w *Watcher) Close() {
	w.stopOnce.Do(func() { close(w.stop) })
	w.done.Wait()
}

// Current says of each of the Files whether what is on disk is what is in use.
func (w *Watcher) Current() map[string]bool {
	current := make(map[string]bool, len(w.groups))
	for _, g := range w.groups {
		current[g.Name] = g.ok.Load()
	}
	return current
}

func (w *Watcher) run() {
	ticker := time.NewTicker(w.interval)
	defer ticker.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-ticker.C:
		}
		for _, g := range w.groups {
			w.lookAt(g)
		}
	}
}

// lookAt looks at one group and reports what is new about it.
func (w *Watcher) lookAt(g *group) {
	changed, err := g.look()
	switch {
	case err != nil:
		again := g.failed == err.Error()
		g.failed = err.Error()
		g.ok.Store(false)
		w.report(Event{Name: g.Name, Err: err, Again: again})
	case changed || g.failed != "":
		g.failed = ""
		g.ok.Store(true)
		w.report(Event{Name: g.Name})
	}
}

// look reads the files and loads them where they have changed.
func (g *group) look() (changed bool, err error) {
	var last [sha256.Size]byte
	for range attempts {
		contents, readErr := g.read()
		if readErr != nil {
			err = readErr
			continue
		}
		now := fingerprint(contents)
		if now == g.loaded {
			return false, nil
		}
		if now == last {
			return false, err // the same as a moment ago, and as wrong
		}
		last = now
		if err = g.Load(contents); err == nil {
			g.loaded = now
			return true, nil
		}
	}
	return false, err
}

func (g *group) read() ([][]byte, error) {
	if len(g.Paths) == 0 {
		return nil, errors.New("no files")
	}
	contents := make([][]byte, 0, len(g.Paths))
	for _, path := range g.Paths {
		one, err := ReadFile(path, g.Limit)
		if err != nil {
			return nil, err
		}
		contents = append(contents, one)
	}
	return contents, nil
}

// fingerprint tells contents apart without keeping them: there may be keys among them.
func fingerprint(contents [][]byte) (sum [sha256.Size]byte) {
	h := sha256.New()
	var size [8]byte
	for _, one := range contents {
		binary.BigEndian.PutUint64(size[:], uint64(len(one)))
		h.Write(size[:])
		h.Write(one)
	}
	h.Sum(sum[:0])
	return sum
}
