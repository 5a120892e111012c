// Package suite runs the same work in several ways and compares them in one run: ours, peers', and a control that says
// what the machine could do at best. Speed is told as ratios, because the machine's own speed drifts. Calls through gRPC
// are measured by package rpc.
//
// A scenario's id has four parts, as in Apache Thrift's Ruby protocol benchmark: family, protocol, operation and size, such as
// tp-cmp-write-small. The scenarios that differ in their family alone do the same work and make a Group.
package suite

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Contender is one family's way to do a group's work.
type Contender struct {
	// Family tells the contenders of a group apart.
	Family string
	// Run does the work that many times, in this process.
	Run func(runs int) error
	// Elsewhere does it in another process and measures there; Run is nil then.
	Elsewhere func(runs int) (Sample, error)
}

// Do does the work without measuring it.
func (c Contender) Do(runs int) error {
	if c.Elsewhere != nil {
		_, err := c.Elsewhere(runs)
		return err
	}
	return c.Run(runs)
}

// Sample is what some runs took together.
type Sample struct {
	// CPU is the time of the process.
	CPU time.Duration
	// Objects and Bytes are what was allocated on the heap.
	Objects, Bytes uint64
}

// Goal is a ratio to reach: the CPU time of Peer over that of Ours.
type Goal struct {
	Ours, Peer string
	AtLeast    float64
}

// Group is one piece of work.
type Group struct {
	// Name is the last three parts of the ids, such as "cmp-write-small".
	Name string
	// Bytes is how many Thrift bytes one run makes or reads.
	Bytes int
	// Contenders are the ways to do it.
	Contenders []Contender
	// Goals are the ratios to reach.
	Goals []Goal
	// Missing says for each family that cannot run here why not.
	Missing []string
}

// ID is the id of the scenario of a family.
func (g *Group) ID(family string) string { return family + "-" + g.Name }

// Measurement is what a scenario needed.
type Measurement struct {
	// Scenario is its id.
	Scenario string `json:"scenario"`
	// Family is the first part of the id.
	Family string `json:"family"`
	// Size is how many Thrift bytes one run makes or reads.
	Size int `json:"size"`
	// Runs is how many make a trial.
	Runs int `json:"runs"`
	// NanosecondsPerRun is the process CPU time of a run, one entry a trial.
	NanosecondsPerRun []float64 `json:"nanoseconds_per_run"`
	// ObjectsPerRun and BytesPerRun are what a run allocates on the heap.
	ObjectsPerRun float64 `json:"objects_per_run"`
	BytesPerRun   float64 `json:"bytes_per_run"`
}

// Best is the shortest of the trials.
func (m *Measurement) Best() float64 { return slices.Min(m.NanosecondsPerRun) }

// Worst is the longest of the trials.
func (m *Measurement) Worst() float64 { return slices.Max(m.NanosecondsPerRun) }

// Median is the middle one of the trials (the lower one of two).
func (m *Measurement) Median() float64 { return Median(m.NanosecondsPerRun) }

// Speed is megabytes (10^6) of Thrift a second, of the median.
func (m *Measurement) Speed() float64 { return float64(m.Size) / m.Median() * 1e3 }

// Median returns the middle one of the values (the lower one of two).
func Median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}

// Ratios returns the CPU time of peer over that of ours, trial by trial.
func Ratios(ours, peer *Measurement) []float64 {
	ratios := make([]float64, len(ours.NanosecondsPerRun))
	for i := range ratios {
		ratios[i] = peer.NanosecondsPerRun[i] / ours.NanosecondsPerRun[i]
	}
	return ratios
}

// Find returns the measurement of a family, or nil.
func Find(measurements []Measurement, family string) *Measurement {
	i := slices.IndexFunc(measurements, func(m Measurement) bool { return m.Family == family })
	if i < 0 {
		return nil
	}
	return &measurements[i]
}

// Measure runs all contenders of a group in turn, runs times a trial, after a discarded warm-up. The order rotates from
// trial to trial.
func Measure(g *Group, trials, runs int) ([]Measurement, error) {
	measurements := make([]Measurement, len(g.Contenders))
	for i, contender := range g.Contenders {
		measurements[i] = Measurement{Scenario: g.ID(contender.Family), Family: contender.Family, Size: g.Bytes, Runs: runs}
		if err := contender.Do(runs); err != nil {
			return nil, fmt.Errorf("%s: %w", measurements[i].Scenario, err)
		}
	}
	for trial := range trials {
		for i := range g.Contenders {
			i = (i + trial) % len(g.Contenders)
			if err := measurements[i].trial(g.Contenders[i], runs); err != nil {
				return nil, fmt.Errorf("%s: %w", measurements[i].Scenario, err)
			}
		}
	}
	return measurements, nil
}

func (m *Measurement) trial(contender Contender, runs int) error {
	sample, err := measure(contender, runs)
	if err != nil {
		return err
	}
	m.NanosecondsPerRun = append(m.NanosecondsPerRun, float64(sample.CPU)/float64(runs))
	m.ObjectsPerRun = float64(sample.Objects) / float64(runs)
	m.BytesPerRun = float64(sample.Bytes) / float64(runs)
	return nil
}

// measure runs a contender with caches warm.
func measure(contender Contender, runs int) (Sample, error) {
	runtime.GC() // one contender must not pay for another's garbage
	if err := contender.Do(max(1, runs/20)); err != nil {
		return Sample{}, err
	}
	if contender.Elsewhere != nil {
		return contender.Elsewhere(runs)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := cpuTime()
	if err := contender.Run(runs); err != nil {
		return Sample{}, err
	}
	spent := cpuTime() - start
	runtime.ReadMemStats(&after)
	return Sample{CPU: spent, Objects: after.Mallocs - before.Mallocs, Bytes: after.TotalAlloc - before.TotalAlloc}, nil
}

// cpuTime is the user and system time of the process, garbage collection included.
func cpuTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(fmt.Sprintf("clock_gettime: %v", err)) // cannot fail with these arguments
	}
	return time.Duration(t.Nano())
}
