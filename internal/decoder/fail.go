package decoder

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// errCut in the place of a TRUNCATED fault, where the input goes on behind data.
var errCut = &fault.Error{Reason: fault.Truncated, Offset: fault.NoOffset}

// failed in the place of a position: the fault is in Decoder.fault, and the passes unwind.
const failed = -1

// fail records what is wrong at a byte of the input and returns failed.
func (d *Decoder) fail(reason fault.Reason, at int, format string, args ...any) int {
	d.fault = &fault.Error{Reason: reason, Offset: int64(at), Detail: fmt.Sprintf(format, args...)}
	return failed
}

// overLimit records that a configured limit was passed, and returns failed.
func (d *Decoder) overLimit(reason fault.Reason, at int, what, setting string, limit, actual int) int {
	d.fault = fault.OverLimit(reason, what, setting, int64(limit), int64(actual))
	d.fault.Offset = int64(at)
	return failed
}

// short records that the input ends inside of something, and returns failed.
func (d *Decoder) short(what string) int {
	if d.cut {
		return d.isCut(len(d.data))
	}
	return d.fail(fault.Truncated, len(d.data), "truncated: the input ends in %s", what)
}

// isCut records that data ends inside of something, as was seen at a byte of it, while the input goes on, and returns failed.
func (d *Decoder) isCut(at int) int {
	d.fault, d.reached = errCut, at
	return failed
}

// badVarint records that the varint at pos is none, and returns failed. end is what consumeVarint returned.
func (d *Decoder) badVarint(pos, end int, what string) int {
	if end == varintTruncated {
		return d.short(what)
	}
	return d.fail(fault.VarintOverflow, pos, "varint of %s is wider than 64 bits or longer than 10 bytes", what)
}

// badType records a type code without meaning, and returns failed.
func (d *Decoder) badType(at int, what string, code byte) int {
	return d.fail(fault.BadType, at, "%s %d does not exist in the %s protocol", what, code, d.protocolName())
}

func (d *Decoder) protocolName() string { return protocolName(d.binary) }

func protocolName(binary bool) string {
	if binary {
		return "binary"
	}
	return "compact"
}

// badOption returns the fault of an option, by its name in the API.
func badOption(reason fault.Reason, name, format string, args ...any) *fault.Error {
	f := fault.New(reason, format, args...)
	f.Path = "options." + name
	return f
}

// stopEvery is how many values lie between two questions whether to go on.
const stopEvery = 4096

// goOn is called when d.nodes is below zero: then Stop is asked, or there are more values than allowed, which it records.
func (d *Decoder) goOn(at int) bool {
	left := d.nodes + d.later
	if left < 0 {
		d.overLimit(fault.SizeLimit, at, "number of decoded values", "--max-decoded-nodes", d.limits.Nodes, d.limits.Nodes-left)
		return false
	}
	d.nodes = min(left, stopEvery)
	d.later = left - d.nodes
	return !d.stopped()
}

// stopped asks Stop. The fault it leaves is never shown.
func (d *Decoder) stopped() bool {
	if d.stop == nil {
		return false
	}
	if d.stopErr == nil {
		d.stopErr = d.stop()
	}
	if d.stopErr == nil {
		return false
	}
	d.fault = fault.New(fault.Internal, "stopped")
	return true
}

// tooDeep records that a container is nested too deep, and returns failed.
func (d *Decoder) tooDeep(at, depth int) int {
	return d.overLimit(fault.DepthLimit, at, "nesting of structs and containers", "--max-depth or max_depth", d.limits.Depth, depth)
}

// step is one step of a path, recorded from the inside out while a failed pass unwinds.
type step struct {
	kind  uint8 // stepField, ...
	index int
}

const (
	stepField uint8 = iota
	stepElement
	stepKey
	stepValue
)

// within adds a step to the path of the fault and returns failed.
func (d *Decoder) within(kind uint8, index int) int {
	d.steps = append(d.steps, step{kind, index})
	return failed
}

// pathSteps is how many steps at either end of a path are spelled out.
const pathSteps = 40

// path spells the steps from the outside in: "5[0].2" is field 5, element 0, field 2; "4[1].key" is the key of field 4's
// entry 1. The middle of a very long one is left out.
func (d *Decoder) path() string {
	var b []byte
	n := len(d.steps)
	for i, s := range slices.Backward(d.steps) {
		if outer := n - 1 - i; outer >= pathSteps && i >= pathSteps {
			if outer == pathSteps {
				b = append(b, "…"...)
			}
			continue
		}
		switch s.kind {
		case stepField:
			if len(b) > 0 {
				b = append(b, '.')
			}
			b = strconv.AppendInt(b, int64(s.index), 10)
		default:
			b = append(b, '[')
			b = strconv.AppendInt(b, int64(s.index), 10)
			b = append(b, ']')
			switch s.kind {
			case stepKey:
				b = append(b, ".key"...)
			case stepValue:
				b = append(b, ".value"...)
			}
		}
	}
	return string(b)
}
