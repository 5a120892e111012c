//go:build !race

package jsonvalue_test

const raceEnabled = false
