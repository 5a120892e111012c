package decoder

import "math"

// StepKind says what a Step goes into.
type StepKind uint8

// The kinds of steps.
const (
	StepField   = StepKind(stepField)   // the field of a struct that has Index others before it
	StepElement = StepKind(stepElement) // the element of a list or set
	StepKey     = StepKind(stepKey)     // the key of a map's entry
	StepValue   = StepKind(stepValue)   // its value
)

// Step is one step from a value into another that is in it.
type Step struct {
	// Kind says what it goes into.
	Kind StepKind
	// Index is which one of those, the first being 0.
	Index int
}

// Place is where a value stands in the input, counted from its first byte, with frame and envelope.
type Place struct {
	// Header is the offset of a field's header; of all else, Start.
	Header int64
	// Start is the offset of the value's first byte. A bool field of the compact protocol, which has none, is where it would be.
	Start int64
	// Data is the offset of the bytes of a string or binary, behind their number; of all else, Start.
	Data int64
}

// Locate returns where in the input of the last Prepare, which must have succeeded, the value is that the steps from the root lead to, and
// false where there is none. It reads the input again up to there, in the scratch memory of Prepare: it is meant for errors, and
// afterwards there is nothing left to write.
func (d *Decoder) Locate(path []Step) (p Place, ok bool) {
	if d.data == nil {
		return p, false
	}
	d.size = unknown
	d.writing, d.nodes = true, math.MaxInt // as in the writing pass, there is nothing to count and no spans to keep
	p, ok = d.locate(path)
	d.sizes.used, d.fault, d.steps = 0, nil, d.steps[:0]
	return p, ok
}

// locate is Locate, and leaves scratch behind.
func (d *Decoder) locate(path []Step) (p Place, ok bool) {
	kind, pos := d.root, d.start
	header := pos
	for _, s := range path {
		switch {
		case s.Kind == StepField && kind == kindStruct:
			header, kind, pos = d.locateField(pos, s.Index)
		case s.Kind == StepElement && (kind == kindList || kind == kindSet):
			elem, count, start := d.listHeader(pos)
			if s.Index >= count {
				return p, false
			}
			kind, pos = elem, start
			for range s.Index {
				pos = d.skip(elem, pos)
			}
			header = pos
		case (s.Kind == StepKey || s.Kind == StepValue) && kind == kindMap:
			key, value, count, start := d.mapHeader(pos)
			if s.Index >= count {
				return p, false
			}
			pos = start
			for range s.Index {
				pos = d.skip(value, d.skip(key, pos))
			}
			if kind = key; s.Kind == StepValue {
				kind, pos = value, d.skip(key, pos)
			}
			header = pos
		default:
			return p, false
		}
		if kind == kindNone || pos < 0 {
			return p, false
		}
	}
	p = Place{Header: int64(header), Start: int64(pos), Data: int64(pos)}
	if kind == kindBinary || kind == kindString {
		_, data := d.readSize(pos, "")
		p.Data = int64(data)
	}
	return p, true
}

// locateField returns where the field of the struct at pos is that has so many others before it; kindNone where there is none.
func (d *Decoder) locateField(pos, before int) (header int, kind uint8, start int) {
	for ; ; before-- {
		header = pos
		code := d.data[pos]
		pos++
		isBool := false
		switch {
		case d.binary:
			kind = binaryKind(code)
			pos += 2
		case code&15 == 0:
			kind = kindNone
		default:
			kind = compactKinds[code&15]
			isBool = kind == kindBool
			if code < 16 {
				_, pos = d.longID(pos)
			}
		}
		if before == 0 || kind == kindNone {
			return header, kind, pos
		}
		if !isBool {
			pos = d.skip(kind, pos)
		}
	}
}

// skip returns where the value at pos ends, which Prepare has seen to be right.
func (d *Decoder) skip(kind uint8, pos int) (end int) {
	d.sizes.used = 0 // what is measured again is not kept
	end, _, _ = d.measureElement(kind, pos, 0, true)
	return end
}
