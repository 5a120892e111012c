package leaks

import (
	"testing"
	"time"
)

// recorder is a test whose end can be had at will.
type recorder struct {
	atEnd func()
	said  int
}

func (*recorder) Helper()            {}
func (r *recorder) Cleanup(f func()) { r.atEnd = f }
func (r *recorder) Error(...any)     { r.said++ }

// TestCheck has goroutines that were there before, and others that take longer to end than goleak has patience.
func TestCheck(t *testing.T) {
	block := make(chan struct{})
	defer close(block)
	go func() { <-block }()
	var r recorder
	Check(&r)
	late := time.After(time.Second)
	go func() { <-late }()
	r.atEnd()
	if r.said != 0 {
		t.Error("a goroutine that ends is taken for a leak")
	}
}

// TestFind has a goroutine that stays.
func TestFind(t *testing.T) {
	block := make(chan struct{})
	defer close(block)
	go func() { <-block }()
	if err := find(0); err == nil {
		t.Error("a goroutine that stays is not found")
	}
}

// suite is tests that have run.
type suite int

func (s suite) Run() int { return int(s) }

// TestRun keeps the exit code, and looks for goroutines only where the tests have passed.
func TestRun(t *testing.T) {
	block := make(chan struct{})
	defer close(block)
	go func() { <-block }()
	if got := (patient{suite(3)}).Run(); got != 3 {
		t.Errorf("Run() = %d, want 3", got)
	}
}
