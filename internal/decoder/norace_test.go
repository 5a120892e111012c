//go:build !race

package decoder_test

const raceEnabled = false
