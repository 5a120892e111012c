//go:build !race

package jsonvalue

const raceEnabled = false
