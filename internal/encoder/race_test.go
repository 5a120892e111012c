//go:build race

package encoder

// raceEnabled says that the race detector is on, which adds allocations.
const raceEnabled = true
