package decoder

import (
	"math"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// run decides as much as it can of the input that is at hand, and returns the rest. ended says that no more will come.
func (p *Parts) run(input []byte, ended bool) (rest []byte) {
	p.rest = input
	for p.err == nil {
		if top := p.top(); top != nil && isText(top.kind) {
			p.data(top)
			if p.piece > 0 {
				break // the input ends inside of it
			}
			continue
		}
		if p.state == partsDone {
			p.trailing()
			break
		}
		if len(p.rest) < p.ahead && !ended {
			break
		}
		if p.state == partsRoot && len(p.stack) == 0 && p.records && len(p.rest) == 0 {
			break
		}
		if !p.began {
			p.began = true
			if len(p.rest) >= p.ahead {
				p.first = append(p.first, p.rest[:firstBytes]...)
			}
		}
		if p.decide(); p.looked-p.asked >= askEvery && p.err == nil {
			p.ask()
		}
	}
	rest, p.rest = p.rest, nil
	return rest
}

// askEvery is how many bytes are looked at between two questions whether to go on, or a window where that is more.
const askEvery = 64 << 10

// ask asks Options.Stop whether to go on.
func (p *Parts) ask() {
	p.asked = p.looked
	if p.options.Stop != nil {
		p.err = p.options.Stop()
	}
}

// decide makes one step: of at most a window of input, or the header of something larger.
func (p *Parts) decide() {
	switch top := p.top(); {
	case top == nil && p.state == partsEnvelope:
		p.envelope()
	case top == nil:
		p.beginRoot()
	case top.kind == kindStruct:
		p.fields(top)
	case top.kind == kindMap:
		p.entries(top)
	default:
		p.elements(top)
	}
}

// look sets the decoder on the window at hand: what does not end in it is no fault where the input goes on.
func (p *Parts) look() *Decoder {
	n := min(len(p.rest), p.window)
	p.view(p.rest[:n:n])
	p.d.cut = len(p.rest) > p.window
	return &p.d
}

// lookAhead sets the decoder on all that a decision may look at, where headers and scalars are whole unless the input has ended.
func (p *Parts) lookAhead() *Decoder {
	n := min(len(p.rest), p.ahead)
	p.view(p.rest[:n:n])
	if len(p.rest) >= p.ahead {
		p.d.beyond = maxSize
	}
	return &p.d
}

func (p *Parts) view(data []byte) {
	d := &p.d
	d.data, d.cut, d.beyond, d.nodes = data, false, 0, math.MaxInt
	d.sizes.used, d.spans, d.sorted, d.writing = 0, d.spans[:0], false, false
	d.fault, d.steps = nil, d.steps[:0]
	p.origin = p.offset
}

// advance passes over n bytes of input.
func (p *Parts) advance(n int) {
	p.rest = p.rest[n:]
	p.offset += int64(n)
	p.looked += int64(n)
	p.patience += n
}

// failing says whether the decoder found a fault, other than that its window was too small.
func (p *Parts) failing() bool { return p.d.fault != nil && p.d.fault != errCut }

// raise ends the stream with the decoder's fault.
func (p *Parts) raise() {
	f := p.d.fault
	f.Offset += p.origin
	p.place(f, len(p.stack))
	p.hint(f)
	p.err, p.fault = f, f
}

// firstBytes is how many bytes of a stream are remembered, and how far into it a fault may come from another protocol.
const firstBytes = 64

// hint says in f where the first bytes look like a message of another protocol, as Decoder.recognise does. A stream so short that
// Finish has all of it goes through recognise itself.
func (p *Parts) hint(f *fault.Error) {
	if f.Offset >= firstBytes || f.Reason == fault.SizeLimit || f.Reason == fault.DepthLimit ||
		f.Reason == fault.BadUTF8 && !p.options.Message {
		return
	}
	words, protocol, framed := marks(p.first)
	if words != "" && (protocol != p.options.Protocol || framed || !p.options.Message) {
		tell(f, words, p.isAtFirst(f))
	}
}

// isAtFirst says whether the fault is so near the beginning that no field was read.
func (p *Parts) isAtFirst(f *fault.Error) bool {
	body := 0
	switch {
	case p.hasMessage:
		return false
	case p.options.Message:
		body = math.MaxInt // an envelope that was not read
	}
	return isAtFirst(f, body)
}

// place puts the path of the decoder's steps within the first levels of what is open into f.
func (p *Parts) place(f *fault.Error, levels int) {
	for ; levels > 1; levels-- {
		p.d.steps = append(p.d.steps, p.stack[levels-1].step)
	}
	f.Path = p.d.path()
}

// claimsMet checks, once only left bytes of input are to come, the sizes of all that is open. Decoder checks each where it stands,
// as Parts itself does from here on.
func (p *Parts) claimsMet(left int64) bool {
	end := p.offset + left
	if top := p.top(); top != nil && isText(top.kind) {
		end += int64(p.pieced)
	}
	for i := range p.stack {
		c := &p.stack[i]
		if have := end - c.from; c.need > have {
			what := "list of %d elements"
			if c.kind == kindMap {
				what = "map of %d entries"
			} else if isText(c.kind) {
				what = "string or binary of %d bytes"
			}
			p.view(nil)
			p.d.claims(int(c.at-p.origin), what, c.count, int(c.need), int(have))
			f := p.d.fault
			f.Offset = c.at
			p.place(f, i+1)
			p.err, p.fault = f, f
			return false
		}
	}
	return true
}

// envelope reads the envelope.
func (p *Parts) envelope() {
	d := p.lookAhead()
	d.limits.StringBytes = min(p.options.Limits.StringBytes, p.window)
	end := d.envelope(0, &p.message)
	d.limits.StringBytes = maxSize
	if end < 0 {
		if f := d.fault; f.Reason == fault.SizeLimit && p.window < p.options.Limits.StringBytes {
			f.Detail = fault.OverLimit(f.Reason, "length of an envelope's name", "chunk_size", f.Limit, f.Actual).Detail
		}
		p.message = Message{}
		p.raise()
		return
	}
	p.hasMessage, p.state = true, partsRoot
	p.advance(end)
}

// beginRoot begins a value.
func (p *Parts) beginRoot() {
	switch {
	case !isContainer(p.root):
		p.scalarRoot()
	case p.root != kindStruct || !p.wholeStruct():
		p.open(p.root, 0, noField, step{}, kindNone)
	}
}

// scalarRoot emits a root that is no container: one element.
func (p *Parts) scalarRoot() {
	d := p.look()
	end, size, flag := d.measureElement(p.root, 0, 0, false)
	switch {
	case p.failing():
		p.raise()
		return
	case end < 0 || size > p.window:
		p.open(p.root, 0, noField, step{}, kindNone)
		return
	}
	if p.root == kindString {
		n, start := d.readSize(0, "")
		if text := (textCheck{}); !text.add(d.data[start:start+n]) || !text.complete() {
			d.fail(fault.BadUTF8, start, "string is not valid UTF-8")
			p.raise()
			return
		}
	}
	if size != end {
		flag = 1 // an integer is padded; others have no use for it
	}
	p.writeElements(p.root, 1, size, flag)
	p.advance(end)
	p.send()
	p.rootEnded()
}

// wholeStruct emits a root struct whose fields fit one part: what open, fields and close would make of it, in one pass.
func (p *Parts) wholeStruct() bool {
	d := p.look()
	window := p.narrow(0)
	end, size := d.measureStruct(0, 1, true)
	p.widen(window)
	if end < 0 || size > p.window {
		p.wasted(p.seen(end))
		return false
	}
	p.startPart(partBegin, 2)
	d.out.byteField(noField, beginType, kindStruct)
	p.send()
	if size > 0 {
		p.startPart(partFields, size)
		if d.binary {
			d.writeBinaryFields(0)
		} else {
			d.writeFields(0)
		}
		p.send()
	}
	p.advance(end)
	p.startPart(partEnd, 0)
	p.send()
	p.rootEnded()
	return true
}

// rootEnded says that a value is complete.
func (p *Parts) rootEnded() {
	if !p.records {
		p.state = partsDone
	}
}

// trailing sees to what follows the value.
func (p *Parts) trailing() {
	if len(p.rest) == 0 {
		return
	}
	if p.options.AllowTrailing {
		p.rest = nil
		return
	}
	p.view(nil)
	p.d.fail(fault.TrailingBytes, 0, "bytes after the value")
	p.raise()
}
