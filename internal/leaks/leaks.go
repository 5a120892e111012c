// Package leaks waits until the goroutines of tests have ended, and reports those that do not. No code but tests may import it.
package leaks

import (
	"time"

	"go.uber.org/goleak"
)

// patience is how long goroutines may take to end. On a busy machine the half second that goleak gives them is too little.
const patience = 30 * time.Second

// TB is the part of testing.TB that is needed, so that this package does without testing, which registers flags.
type TB interface {
	Helper()
	Cleanup(f func())
	Error(args ...any)
}

// Main runs the tests of a package and ends the process, as the body of a TestMain. Goroutines that tests leave are a failure.
func Main(m goleak.TestingM, options ...goleak.Option) {
	goleak.VerifyTestMain(patient{m}, options...)
}

// patient are tests that are over when their goroutines have ended, or have had their time.
type patient struct{ tests goleak.TestingM }

// Run implements goleak.TestingM.
func (p patient) Run() int {
	code := p.tests.Run()
	if code == 0 {
		_ = find(patience) // what there is then still, goleak reports
	}
	return code
}

// Check wants the goroutines that a test starts from now on to have ended when everything that it cleans up later has.
func Check(tb TB) {
	tb.Helper()
	before := goleak.IgnoreCurrent()
	tb.Cleanup(func() {
		tb.Helper()
		if err := find(patience, before); err != nil {
			tb.Error(err)
		}
	})
}

// find looks for goroutines until there are none, or they have had their time.
func find(patience time.Duration, options ...goleak.Option) error {
	for deadline := time.Now().Add(patience); ; {
		if err := goleak.Find(options...); err == nil || time.Now().After(deadline) {
			return err
		}
	}
}
