//go:build race

package stream

// raceEnabled tells that the race detector is on: it makes sync.Pool drop chunks at random and adds allocations.
const raceEnabled = true
