package conform

import (
	"fmt"
	"strconv"
	"strings"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// cause is why the walk stopped.
type cause uint8

const (
	causeNone    cause = iota
	causeForm          // the bytes are not in the form that the walk knows
	causeStopped       // the error of stop or reserve, in err
	causeFault         // the value does not conform
)

// place says which of the bytes of a value a fault's offset is that of.
type place uint8

const (
	atHeader place = iota // of a field its header, of all else the value
	atValue               // where the value begins
	atData                // where the bytes of a string begin, behind their number
)

// failure is what the walk records. Its place is where the steps lead.
type failure struct {
	cause      cause
	reason     fault.Reason
	detail     string
	start, end int // the span of the message or payload at fault
	at         place
	outside    bool   // the path leaves out the last step, and so does the offset
	inside     bool   // but not the offset
	name       string // of a field that is not there, or ""
	err        error
}

// stepKind says what a step goes into.
type stepKind uint8

const (
	stepField stepKind = iota
	stepElement
	stepKey
	stepValue
)

// step is one step from a value into another.
type step struct {
	kind  stepKind
	id    int16 // of a field
	index int32 // of an element or entry; of a field, how many stand before it
}

// form records that the bytes have a form that the walk does not know, and returns false.
func (c *Checker) form() bool {
	c.failure = failure{cause: causeForm}
	return false
}

// fail records what is wrong with the value in[start:end], to which the steps lead.
func (c *Checker) fail(reason fault.Reason, start, end int, at place, format string, args ...any) {
	c.failure = failure{
		cause: causeFault, reason: reason, start: start, end: end, at: at, detail: fmt.Sprintf(format, args...),
	}
}

// failOutside is fail for the struct or container that the last step goes into.
func (c *Checker) failOutside(reason fault.Reason, start, end int, format string, args ...any) {
	c.fail(reason, start, end, atValue, format, args...)
	c.failure.outside = true
}

// err makes the error of the recorded failure.
func (c *Checker) err() error {
	f := &c.failure
	switch f.cause {
	case causeStopped:
		return f.err
	case causeFault:
	case causeNone, causeForm:
		return errNoForm()
	}
	steps, named := c.steps, c.steps
	if f.outside {
		named = steps[:len(steps)-1]
	}
	if f.outside && !f.inside {
		steps = named
	}
	names := spell(c.root, named)
	if f.name != "" {
		names += "." + f.name
	}
	e := fault.New(f.reason, "%s", f.detail)
	if !c.decoding {
		e.Path = encoder.Locate(c.in, f.start, f.end)
		e.Detail = names + ": " + e.Detail
		return e
	}
	e.Path = names
	if c.source != nil {
		e.Offset = c.offset(steps, f.at)
	}
	return e
}

// offset returns where in the source's input the value at the end of the steps is, or fault.NoOffset.
func (c *Checker) offset(steps []step, at place) int64 {
	path := make([]decoder.Step, len(steps))
	for i, s := range steps {
		path[i] = decoder.Step{Kind: decoder.StepKind(s.kind), Index: int(s.index)}
	}
	p, ok := c.source.Locate(path)
	switch {
	case !ok:
		return fault.NoOffset
	case at == atHeader:
		return p.Header
	case at == atData:
		return p.Data
	default:
		return p.Start
	}
}

// maxPath bounds the text of a path, in bytes; the middle of a longer one is left out.
const maxPath = 1000

// spell spells the path of the steps from a value of type t by names: "Batch.spans[3].startTime", and "[1].key" in maps. Fields
// that the type does not have stand by their ids.
func spell(t *schema.Type, steps []step) string {
	path := []byte(t.Name)
	for _, s := range steps {
		var name string
		t, name = into(t, s)
		path = append(path, name...)
	}
	if len(path) > maxPath {
		return string(path[:maxPath/2]) + "…" + string(path[len(path)-maxPath/2:])
	}
	return string(path)
}

// into returns the type that a step from a value of type t leads to, nil where it has none, and the step in words.
func into(t *schema.Type, s step) (*schema.Type, string) {
	index := "[" + strconv.Itoa(int(s.index)) + "]"
	switch s.kind {
	case stepField:
		if t != nil && t.Struct != nil {
			if f := t.Struct.FieldByID(s.id); f != nil {
				return f.Type, "." + f.Name
			}
		}
		return nil, "." + strconv.Itoa(int(s.id))
	case stepKey:
		if t != nil {
			t = t.Key
		}
		return t, index + ".key"
	case stepValue:
		index += ".value"
	case stepElement:
	}
	if t != nil {
		t = t.Elem
	}
	return t, index
}

// spellUnknown spells the path of steps of which the last is a field that the type does not have, or not of that kind.
func spellUnknown(t *schema.Type, steps []step) string {
	last := len(steps) - 1
	return spell(t, steps[:last]) + "." + strconv.Itoa(int(steps[last].id))
}

// typeName returns the name of a kind as the API has it, without the prefix.
func typeName(kind uint8) string {
	return strings.TrimPrefix(thriftpackv1.Type(kind).String(), "TYPE_")
}
