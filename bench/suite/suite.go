// Package suite runs the same work in several ways and compares them in one run: ours, a peer's, and a control that says
// what the machine could do at best. Speed is told as ratios, because the machine's own speed drifts.
package suite

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// Contender is one way to do a scenario's work.
type Contender struct {
	// Name tells the contenders of a scenario apart.
	Name string
	// Run does the work that many times.
	Run func(runs int) error
}

// Goal is a ratio to reach: the CPU time of Peer over that of Ours.
type Goal struct {
	Ours, Peer string
	AtLeast    float64
}

// Scenario is one piece of work.
type Scenario struct {
	// Name is the scenario's id, such as "cmp/write/small".
	Name string
	// Bytes is how many Thrift bytes one run makes or reads.
	Bytes int
	// Contenders are the ways to do it.
	Contenders []Contender
	// Goals are the ratios to reach.
	Goals []Goal
}

// Measurement is what a contender needed.
type Measurement struct {
	// Contender is its name.
	Contender string `json:"contender"`
	// NanosecondsPerRun is the process CPU time of a run, one entry a trial.
	NanosecondsPerRun []float64 `json:"nanoseconds_per_run"`
	// ObjectsPerRun and BytesPerRun are what a run allocates on the heap.
	ObjectsPerRun float64 `json:"objects_per_run"`
	BytesPerRun   float64 `json:"bytes_per_run"`
}

// Best is the shortest of the trials.
func (m Measurement) Best() float64 { return slices.Min(m.NanosecondsPerRun) }

// Median is the middle one of the trials (the lower one of two).
func (m Measurement) Median() float64 { return Median(m.NanosecondsPerRun) }

// Median returns the middle one of the values (the lower one of two).
func Median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}

// Ratios returns the CPU time of peer over that of ours, trial by trial.
func Ratios(ours, peer Measurement) []float64 {
	ratios := make([]float64, len(ours.NanosecondsPerRun))
	for i := range ratios {
		ratios[i] = peer.NanosecondsPerRun[i] / ours.NanosecondsPerRun[i]
	}
	return ratios
}

// Measure runs all contenders of a scenario in turn, trials times, each for about trialTime, after a discarded warm-up.
// The order rotates from trial to trial.
func Measure(s Scenario, trials int, trialTime time.Duration) ([]Measurement, error) {
	measurements := make([]Measurement, len(s.Contenders))
	runs := make([]int, len(s.Contenders))
	for i, contender := range s.Contenders {
		measurements[i].Contender = contender.Name
		var err error
		if runs[i], err = calibrate(contender, trialTime); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", s.Name, contender.Name, err)
		}
	}
	for trial := range trials {
		for i := range s.Contenders {
			i = (i + trial) % len(s.Contenders)
			if err := measurements[i].trial(s.Contenders[i], runs[i]); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", s.Name, s.Contenders[i].Name, err)
			}
		}
	}
	return measurements, nil
}

// calibrate warms a contender up and finds how many runs fill the time of a trial.
func calibrate(contender Contender, trialTime time.Duration) (int, error) {
	for runs := 1; ; runs *= 2 {
		start := cpuTime()
		if err := contender.Run(runs); err != nil {
			return 0, err
		}
		if spent := cpuTime() - start; spent >= trialTime/4 || runs >= 1<<30 {
			return max(1, int(float64(runs)*float64(trialTime)/float64(spent))), nil
		}
	}
}

func (m *Measurement) trial(contender Contender, runs int) error {
	runtime.GC() // one contender must not pay for another's garbage
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := cpuTime()
	if err := contender.Run(runs); err != nil {
		return err
	}
	spent := cpuTime() - start
	runtime.ReadMemStats(&after)
	m.NanosecondsPerRun = append(m.NanosecondsPerRun, float64(spent)/float64(runs))
	m.ObjectsPerRun = float64(after.Mallocs-before.Mallocs) / float64(runs)
	m.BytesPerRun = float64(after.TotalAlloc-before.TotalAlloc) / float64(runs)
	return nil
}

// cpuTime is the user and system time of the process, garbage collection included.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(fmt.Sprintf("getrusage: %v", err)) // cannot fail with these arguments
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
