package decoder

// To see whether a container fits the window it is measured, and what does not fit was looked at in vain: what is in it will be looked at
// again. Where containers just larger than a window lie in each other, each level would look at a window once more. So there is a
// stock of patience: some windows at first, a byte more for each byte that has come out, and a byte less for each that was looked at in vain. A
// container whose end patience does not reach is opened like one that does not fit. Hence bytes are looked at twice on average, the
// first windows aside, and keys of maps once more, however deep they lie. Ordinary values never use it up: they are opened a few levels deep,
// and most of what they hold fits.

// patienceWindows is how many windows may be looked at in vain at first.
const patienceWindows = 4

// measure measures something at pos in the window at hand, as a field or as an element; of a container, as much as patience reaches.
func (p *Parts) measure(kind uint8, pos int, field bool) (end, size int) {
	d := &p.d
	if !isContainer(kind) || p.patience >= len(d.data)-pos {
		return p.measureAny(kind, pos, field)
	}
	window := p.narrow(pos)
	end, size = p.measureAny(kind, pos, field)
	p.widen(window)
	return end, size
}

func (p *Parts) measureAny(kind uint8, pos int, field bool) (end, size int) {
	if field {
		return p.d.measureMember(kind, pos, p.depth())
	}
	end, size, _ = p.d.measureElement(kind, pos, p.depth(), false)
	return end, size
}

// window is what the decoder is set on.
type window struct {
	data []byte
	cut  bool
}

// narrow takes from the window at hand what patience does not reach from pos on. It returns the window, for widen.
func (p *Parts) narrow(pos int) window {
	d := &p.d
	whole := window{d.data, d.cut}
	if p.patience < len(d.data)-pos {
		d.data, d.cut = d.data[:pos+max(p.patience, 0)], true
	}
	return whole
}

func (p *Parts) widen(w window) { p.d.data, p.d.cut = w.data, w.cut }

// wasted says that so many bytes were looked at in vain.
func (p *Parts) wasted(n int) {
	p.patience -= n
	p.looked += int64(n)
}

// seen returns how far into the window a measurement looked that ended at end, or failed.
func (p *Parts) seen(end int) int {
	switch f := p.d.fault; {
	case end >= 0:
		return end
	case f == errCut:
		return p.d.reached
	default:
		return int(f.Offset)
	}
}
