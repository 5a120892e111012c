package decoder

import (
	"unicode/utf8"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// opened is a container, string or binary that was begun and has not ended.
type opened struct {
	kind  uint8
	elem  uint8 // kind of the elements, or of a map's values
	key   uint8 // kind of a map's keys
	step  step  // where it is in what encloses it
	id    int   // of the last field
	count int   // declared elements, entries or bytes
	done  int   // how many of them were passed
	at    int64 // where the size stands
	from  int64 // where the contents begin
	need  int64 // the fewest bytes that they take
}

// isText says whether a value of the kind comes out in pieces of data.
func isText(kind uint8) bool { return kind == kindBinary || kind == kindString }

// canOpen says whether a value of the kind can be larger than a window.
func canOpen(kind uint8) bool { return isContainer(kind) || isText(kind) }

// top returns what is innermost, or nil.
func (p *Parts) top() *opened {
	if len(p.stack) == 0 {
		return nil
	}
	return &p.stack[len(p.stack)-1]
}

// depth returns how many containers are open. It is not asked for while a string is.
func (p *Parts) depth() int { return len(p.stack) }

// open begins the value at pos that is too large to come out whole. id is that of a field, key the kind of the entry's key, which is
// at 0 and fits the window.
func (p *Parts) open(kind uint8, pos, id int, at step, key uint8) {
	keySize := 0
	if key != kindNone {
		_, keySize = p.look().measureMember(key, 0, p.depth())
	}
	kept := p.d.sizes.used
	d := p.lookAhead()
	o := opened{kind: kind, step: at, from: p.offset}
	start := pos
	o.at = p.offset + int64(pos)
	least := &compactLeast
	if d.binary {
		least = &binaryLeast
	}
	if isContainer(kind) && p.depth()+1 > d.limits.Depth {
		start = d.tooDeep(pos, p.depth()+1)
	} else {
		switch kind {
		case kindStruct:
		case kindMap:
			o.key, o.elem, o.count, start = d.mapHeader(pos)
			o.at += int64(2 * boolToInt(d.binary))
			o.need = int64(o.count) * int64(least[o.key]+least[o.elem])
		case kindList, kindSet:
			o.elem, o.count, start = d.listHeader(pos)
			o.at += int64(boolToInt(d.binary || start > pos && d.data[pos]>>4 == 15))
			o.need = int64(o.count) * int64(least[o.elem])
		default:
			start, o.count = d.length(pos)
			o.need = int64(o.count)
		}
	}
	if start < 0 {
		if len(p.stack) > 0 {
			d.within(at.kind, at.index)
		}
		p.raise()
		return
	}
	d.sizes.used = kept
	p.writeBegin(&o, id, key, keySize)
	p.advance(start)
	o.from = p.offset
	p.stack = append(p.stack, o)
	p.send()
	p.closeMet()
}

// The members of Part and of Begin, as their tags.
const (
	partBegin    = 0x0a
	partFields   = 0x12
	partElements = 0x1a
	partEntries  = 0x22
	partData     = 0x2a
	partEnd      = 0x32

	beginType        = 0x08
	beginFieldID     = 0x10
	beginKey         = 0x1a
	beginElementType = 0x20
	beginKeyType     = 0x28
	beginSize        = 0x30
)

// writeBegin writes a Begin.
func (p *Parts) writeBegin(b *opened, id int, key uint8, keySize int) {
	size := 2
	if id == noField {
		id = 0
	}
	fieldID := zigzag(int64(id))
	if id != 0 {
		size += 1 + varintSize(fieldID)
	}
	if key != kindNone {
		size += recordSize(keySize)
	}
	if b.elem != kindNone {
		size += 2
	}
	if b.key != kindNone {
		size += 2
	}
	if b.count != 0 {
		size += 1 + varintSize(uint64(b.count)) // not negative
	}
	p.startPart(partBegin, size)
	d := &p.d
	o := &d.out
	o.byteField(noField, beginType, b.kind)
	if id != 0 {
		o.varintField(noField, beginFieldID, fieldID)
	}
	if key != kindNone {
		o.head(noField, beginKey, keySize)
		d.writeMember(key, 0, noField)
	}
	if b.elem != kindNone {
		o.byteField(noField, beginElementType, b.elem)
	}
	if b.key != kindNone {
		o.byteField(noField, beginKeyType, b.key)
	}
	if b.count != 0 {
		o.varintField(noField, beginSize, uint64(b.count)) // not negative
	}
}

// closeMet ends the innermost lists, maps and strings that have all that they declared.
func (p *Parts) closeMet() {
	for len(p.stack) > 0 && p.err == nil {
		if top := p.top(); top.kind == kindStruct || top.done < top.count {
			return
		}
		p.close()
	}
}

// close ends what is innermost.
func (p *Parts) close() {
	p.stack = p.stack[:len(p.stack)-1]
	p.startPart(partEnd, 0)
	p.send()
	if top := p.top(); top == nil {
		p.rootEnded()
	} else {
		top.done++
	}
}

// startPart begins a part whose member takes size bytes, in memory that is lent for it where there is some.
func (p *Parts) startPart(tag byte, size int) {
	if p.lend != nil {
		if room := p.lend(recordSize(size)); room != nil {
			p.beginPart(room, tag, size)
			return
		}
	}
	p.startOwn(tag, size)
}

// startOwn is startPart in memory of p.
func (p *Parts) startOwn(tag byte, size int) {
	need := size + 2*itemRoom
	if len(p.out) < need {
		clear(p.out)
		p.out = make([]byte, max(need, min(2*need, p.window+PartsHeadMost+2*itemRoom)))
	}
	p.dirty = max(p.dirty, min(need, len(p.out)))
	p.beginPart(p.out, tag, size)
}

func (p *Parts) beginPart(room []byte, tag byte, size int) {
	p.d.beginWriting(nil, room, 0)
	p.d.out.head(noField, tag, size)
}

// send emits the part that was written.
func (p *Parts) send() {
	o := &p.d.out
	part := o.buf[:o.n:o.n]
	o.buf = nil
	if p.err == nil {
		p.err = p.emit(part)
	}
}

// data emits bytes of the string or binary that is open, in pieces of a window. A piece is put together as its bytes come in.
func (p *Parts) data(top *opened) {
	for top.done < top.count {
		if p.piece == 0 {
			p.piece = min(top.count-top.done, p.window)
			p.startOwn(partData, p.piece) // since it may take several calls
			p.pieceHead = p.d.out.n
			p.pieced = 0
		}
		n := copy(p.out[p.pieceHead+p.pieced:p.pieceHead+p.piece], p.rest)
		p.pieced += n
		p.rest = p.rest[n:]
		if p.pieced < p.piece {
			return
		}
		piece := p.out[p.pieceHead : p.pieceHead+p.piece]
		top.done += p.piece
		if top.kind == kindString && !(p.text.add(piece) && (top.done < top.count || p.text.complete())) {
			p.view(nil)
			p.d.fail(fault.BadUTF8, int(top.from-p.origin), "string is not valid UTF-8")
			p.raise()
			p.piece = 0
			return
		}
		p.offset += int64(p.piece)
		p.d.out.buf, p.d.out.n = p.out, p.pieceHead+p.piece
		p.piece, p.pieced = 0, 0
		if p.send(); p.err != nil {
			return
		}
	}
	p.text = textCheck{}
	p.closeMet()
}

// textCheck tells whether bytes that come in pieces are UTF-8.
type textCheck struct {
	begun [utf8.UTFMax]byte // the first bytes of a character that goes on in the next piece
	n     int               // how many of them there are
}

// add looks at the next piece, and says whether it may be part of a text.
func (t *textCheck) add(piece []byte) bool {
	for t.n > 0 && len(piece) > 0 {
		t.begun[t.n] = piece[0]
		piece = piece[1:]
		t.n++
		if utf8.FullRune(t.begun[:t.n]) {
			if !utf8.Valid(t.begun[:t.n]) {
				return false
			}
			t.n = 0
		}
	}
	end := len(piece)
	for i := 1; i < utf8.UTFMax && i <= len(piece); i++ {
		if at := len(piece) - i; utf8.RuneStart(piece[at]) {
			if !utf8.FullRune(piece[at:]) {
				t.n = copy(t.begun[:], piece[at:])
				end = at
			}
			break
		}
	}
	return utf8.Valid(piece[:end])
}

// complete says whether the last character is whole.
func (t *textCheck) complete() bool { return t.n == 0 }
