package streaming

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Usage is what a process has used since it began.
type Usage struct {
	// User and System are CPU time, in nanoseconds.
	User   time.Duration `json:"user"`
	System time.Duration `json:"system"`
	// Allocated is the bytes that were allocated on the heap, and Objects how many.
	Allocated uint64 `json:"allocated"`
	Objects   uint64 `json:"objects"`
	// Collections is the garbage collections that have ended.
	Collections uint32 `json:"collections"`
}

// used reads the usage of this process.
func used() (Usage, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return Usage{}, fmt.Errorf("usage: %w", err)
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return Usage{
		User: time.Duration(usage.Utime.Nano()), System: time.Duration(usage.Stime.Nano()),
		Allocated: stats.TotalAlloc, Objects: stats.Mallocs, Collections: stats.NumGC,
	}, nil
}

// since is what was used after before.
func (u Usage) since(before Usage) Usage {
	return Usage{
		User: u.User - before.User, System: u.System - before.System,
		Allocated: u.Allocated - before.Allocated, Objects: u.Objects - before.Objects,
		Collections: u.Collections - before.Collections,
	}
}

// Total is the CPU time.
func (u Usage) Total() time.Duration { return u.User + u.System }

// rssAnon returns the anonymous memory of a process that is in RAM, in bytes, as the kernel counts it in /proc/PID/status.
func rssAnon(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("rss: %w", err)
	}
	_, rest, found := strings.Cut(string(text), "\nRssAnon:")
	number, _, kilobytes := strings.Cut(rest, " kB\n")
	if !found || !kilobytes {
		return 0, fmt.Errorf("rss: process %d has no RssAnon", pid)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("rss: %w", err)
	}
	return n << 10, nil
}
