//go:build race

package conform_test

// raceEnabled says that the race detector is on, which allocates.
const raceEnabled = true
