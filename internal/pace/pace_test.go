package pace

import (
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// TestPacer has collections at distances, and compares the percentages that are set.
func TestPacer(t *testing.T) {
	type collections struct {
		n     int
		apart time.Duration
		live  int64
	}
	const small, ms = 2 << 20, time.Millisecond
	tests := []struct {
		name string
		all  []collections
		want []int
	}{
		{"few at the beginning of a stream", []collections{{8, 3 * ms, small}, {3, 800 * ms, small}}, nil},
		{"neither near nor far", []collections{{100, 60 * ms, small}}, nil},
		{"frequent", []collections{{100, 20 * ms, small}}, []int{100, 200, 400}},
		{"frequent once more than several", []collections{{9, 20 * ms, small}}, []int{100}},
		{"frequent, and then a pause", []collections{{100, 20 * ms, small}, {1, 1100 * ms, small}, {1, 5 * time.Second, small}}, []int{100, 200, 400, 200, 50}},
		{"frequent, and then the collection of an idle process", []collections{{100, 20 * ms, small}, {1, 2 * time.Minute, small}}, []int{100, 200, 400, 50}},
		{"frequent with more live", []collections{{100, 20 * ms, 8 << 20}}, []int{100, 200}},
		{"frequent with much live", []collections{{100, 20 * ms, 1 << 30}}, []int{100}},
		{"more and more is live", []collections{{100, 20 * ms, small}, {1, 100 * ms, 6 << 20}, {1, 100 * ms, 200 << 20}}, []int{100, 200, 400, 266, 100}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []int
			live, now := int64(0), time.Now()
			p := &pacer{percent: Least, last: now, set: func(percent int) { got = append(got, percent) }, live: func() int64 { return live }}
			for _, c := range test.all {
				live = c.live
				for range c.n {
					now = now.Add(c.apart)
					p.collected(now)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("set %v, want %v", got, test.want)
			}
		})
	}
}

// TestStart runs collections of this process.
func TestStart(t *testing.T) {
	before := debug.SetGCPercent(usual)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	t.Setenv("GOGC", "70")
	Start()
	if got := debug.SetGCPercent(usual); got != usual {
		t.Errorf("with GOGC set it is %d, want what it was", got)
	}
	t.Setenv("GOGC", "")
	var collected atomic.Int64
	p := &pacer{percent: Least, last: time.Now(), set: func(int) {}, live: func() int64 { collected.Add(1); return liveHeap() }}
	afterCollection(p)
	for deadline := time.Now().Add(30 * time.Second); collected.Load() < 3; {
		runtime.GC()
		if time.Now().After(deadline) {
			t.Fatalf("%d of many collections were seen", collected.Load())
		}
	}
	Start()
	if got := debug.SetGCPercent(usual); got != Least {
		t.Errorf("at the start it is %d, want %d", got, Least)
	}
	if live := liveHeap(); live <= 0 || live == Allowance {
		t.Errorf("%d bytes are live", live)
	}
}
