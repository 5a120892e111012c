package encoder

// merge encodes a part that is not one member with a minimal length. As protobuf has it, the last member counts, together
// with all of the same message that come right before it.
func (p *Parts) merge() bool {
	e := &p.e
	e.slowPath, e.failure.cause = true, causeNone
	if !p.reserve(e.end) {
		return false
	}
	number := uint64(0)
	for at, whole := 0, (span{0, e.end}); at < e.end; {
		r, ok := p.member(at, whole, partMembers)
		if !ok {
			return false
		}
		if r.tag&7 != wireBytes {
			return e.badTag(r.tag, 0, e.end, partMembers)
		}
		if n := r.tag >> 3; n != number || n == partData {
			if !p.discard(number) {
				return false
			}
			number = n
			p.joined = append(p.joined[:0], 0, 0, 0, 0) // bytes to look back at, as before any other run of a column
		}
		p.joined = append(p.joined, e.in[r.start:r.end]...)
		at = r.next
	}
	e.in, e.end = p.joined, len(p.joined)
	return p.take(uint8(number), 4, e.end) // at most 6
}

// reserve asks once in a part for what joined and value take of so many bytes, with what they grow from.
func (p *Parts) reserve(length int) bool {
	return p.e.reserved > 0 || p.e.reserve(4*int64(length))
}

// discard checks what another member of the part takes away, which is in joined: a protobuf runtime refuses it, too, where
// it is malformed.
func (p *Parts) discard(number uint64) bool {
	if number == 0 || number == partData {
		return true
	}
	e := &p.e
	in, end := e.in, e.end
	e.in, e.end = p.joined, len(p.joined)
	p.root = root{partNames[number], bulkMessage[number], span{4, e.end}}
	ok := true
	switch number {
	case partEnd:
		if e.end > 4 {
			_, ok = p.member(4, p.root.span, 0)
		}
	case partBegin:
		var b beginning
		if b, ok = p.readBegin(4, e.end); ok && b.keys > 0 {
			ok = p.mergeKeys(4, e.end) && p.normalise(0)
		}
	default:
		p.wrap(bulkKind[number], p.joined[4:])
		ok = p.normalise(0)
	}
	if !ok {
		return false
	}
	e.normal.release()
	e.in, e.end, p.root = in, end, root{}
	return true
}
