package main

import (
	"runtime/debug"
	"testing"
	"time"
)

// TestIdleMemory goes through the life of a server by its use of processors, a letter for each interval: B for busy, q for quiet; and
// says after which memory is given back.
func TestIdleMemory(t *testing.T) {
	for _, test := range []struct {
		name, life, releases string
		held                 uint64
	}{
		{"never busy", "qqqqqqqq", "        ", 1 << 30},
		{"always busy", "BBBBBBBB", "        ", 1 << 30},
		{"busy, then quiet", "BBqqqqqqqqq", "   rrr     ", 1 << 30},
		{"a short pause", "BqBqBqBqBq", "          ", 1 << 30},
		{"busy again in between", "BqqBqqqqqq", "  r  rrr  ", 1 << 30},
		{"busy twice", "BqqqqqBBqqqqqq", "  rrr    rrr  ", 1 << 30},
		{"small", "BBqqqqq", "       ", idleFloor - 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var used time.Duration
			released := false
			m := &idleMemory{
				cpu:     func() (time.Duration, bool) { return used, true },
				held:    func() uint64 { return test.held },
				release: func() { released = true; used += time.Hour }, // a collection takes time that is no load
			}
			got := make([]byte, 0, len(test.life))
			for _, interval := range test.life {
				released = false
				used += time.Second / idleShare
				if interval == 'B' {
					used++
				}
				m.look(time.Second)
				if released {
					got = append(got, 'r')
				} else {
					got = append(got, ' ')
				}
			}
			if string(got) != test.releases {
				t.Errorf("%q: memory is given back at %q, want %q", test.life, got, test.releases)
			}
		})
	}
}

// kept keeps memory of the test from being collected.
var kept []byte

// TestIdleMemoryIsGivenBack takes memory, drops it, and looks at what the process holds.
func TestIdleMemoryIsGivenBack(t *testing.T) {
	const size = 200 << 20
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // an idle server does not come to a collection either
	m := newIdleMemory()
	m.look(time.Nanosecond) // any use of a processor is much in so short a time
	kept = make([]byte, size)
	for i := 0; i < size; i += 4 << 10 {
		kept[i] = 1
	}
	kept = nil
	m.look(time.Nanosecond)
	before := heldMemory()
	for range idleAfter + idleRounds {
		m.look(time.Hour)
	}
	if after := heldMemory(); before < size || after > before-size/2 {
		t.Errorf("%d MiB are held, %d before", after>>20, before>>20)
	}
}
