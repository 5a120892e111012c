package schema

import "github.com/thriftpack/thriftpack/internal/schema/idl"

// Limits bounds what Compile takes. A zero refuses everything, so that a limit that was forgotten fails closed.
type Limits struct {
	// Source bounds the sources and what they declare.
	Source idl.Limits
	// PlanBytes is the most memory that the plans take, by the estimate that is Schema.Cost, which the sources are part of.
	PlanBytes int64
}

// pause lets others have the processor: see idl.Limits.Pause.
func (l *Limits) pause() {
	if l.Source.Pause != nil {
		l.Source.Pause()
	}
}

// DefaultLimits returns the limits for schemas that clients send.
func DefaultLimits() Limits {
	return Limits{Source: idl.DefaultLimits(), PlanBytes: 64 << 20}
}
