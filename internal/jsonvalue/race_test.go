//go:build race

package jsonvalue

// raceEnabled says that the race detector is on, which adds allocations.
const raceEnabled = true
