//go:build race

package decoder_test

// raceEnabled says that the race detector is on, which adds allocations.
const raceEnabled = true
