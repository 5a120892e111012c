package encoder

import (
	"math"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// The members of a Begin.
const (
	beginType        = 1
	beginFieldID     = 2
	beginKey         = 3
	beginElementType = 4
	beginKeyType     = 5
	beginSize        = 6

	beginMembers = 1<<beginType | 1<<beginFieldID | 1<<beginKey | 1<<beginElementType | 1<<beginKeyType | 1<<beginSize
)

// beginning is what a Begin says.
type beginning struct {
	kind    uint8
	element uint8
	keyKind uint8
	size    int64
	id      int32
	keys    int  // how many times the key was given; they are merged
	key     span // the last of them
}

// begin opens what the Begin in[at:end] says.
func (p *Parts) begin(at, end int) bool {
	e := &p.e
	p.root = root{name: "begin", span: span{at, end}}
	b, ok := p.readBegin(at, end)
	if !ok || !p.checkBegin(&b) || !p.checkPlace(&b) {
		return false
	}
	top := p.top()
	if top != nil && top.kind == kindMap && !p.key(&b, at, end) {
		return false
	}
	if !e.room() {
		return false
	}
	if top != nil {
		if top.kind == kindStruct {
			p.putFieldHeader(b.kind, top.lastID, b.id)
			top.lastID = b.id
		} else {
			top.left--
		}
	}
	size := int(b.size)
	switch b.kind {
	case kindStruct:
		size = 0
	case kindList, kindSet:
		e.listHeader(b.element, size)
	case kindMap:
		e.mapHeader(&column{kind: b.keyKind, count: size}, &column{kind: b.element})
	default:
		if e.binary {
			e.putUint32(uint32(size))
		} else {
			e.putVarint(uint64(size))
		}
	}
	left := int32(size)
	p.open = append(p.open, opened{kind: b.kind, element: b.element, key: b.keyKind, left: left, size: left, utf8State: utf8Accept})
	return true
}

// readBegin reads the Begin in[at:end]. A singular member that is repeated counts as the last one, as protobuf has it.
func (p *Parts) readBegin(at, end int) (b beginning, ok bool) {
	whole := span{at, end}
	for at < end {
		r, isMember := p.member(at, whole, beginMembers)
		if !isMember {
			return b, false
		}
		at = r.next
		number := r.tag >> 3
		if wire := r.tag & 7; number == beginKey && wire != wireBytes || number != beginKey && wire != wireVarint {
			return b, p.e.badTag(r.tag, whole.start, whole.end, beginMembers)
		}
		switch number {
		case beginType:
			b.kind, ok = p.kind("begin.type", r.value)
		case beginElementType:
			b.element, ok = p.kind("begin.element_type", r.value)
		case beginKeyType:
			b.keyKind, ok = p.kind("begin.key_type", r.value)
		case beginFieldID:
			b.id, ok = p.fieldID(r.value)
		case beginKey:
			b.keys, b.key, ok = b.keys+1, span{r.start, r.end}, true
		default:
			b.size, ok = int64(r.value), true
		}
		if !ok {
			return b, false
		}
	}
	return b, true
}

// kind checks a Type and returns it, 0 where it is unspecified.
func (p *Parts) kind(path string, v uint64) (kind uint8, ok bool) {
	switch number := int64(v); {
	case number != int64(int32(number)):
		return 0, p.fail(path, fault.VarintOverflow, "varint of more than 32 bits")
	case number != 0 && (number < 0 || number > kindString || !isKind(uint8(number))):
		return 0, p.fail(path, fault.BadType, "type %d does not exist", number)
	}
	return uint8(v), true
}

// fieldID checks a field id, which is in zigzag form.
func (p *Parts) fieldID(v uint64) (id int32, ok bool) {
	number := unzigzag(v)
	switch {
	case v > math.MaxUint32:
		return 0, p.fail("begin.field_id", fault.VarintOverflow, "varint of more than 32 bits")
	case number < math.MinInt16 || number > math.MaxInt16:
		return 0, p.fail("begin.field_id", fault.IntRange, "out of range: %d, want %d..%d", number, math.MinInt16, math.MaxInt16)
	}
	return int32(number), true
}

// checkBegin checks a Begin by itself.
func (p *Parts) checkBegin(b *beginning) bool {
	isMap := b.kind == kindMap
	isList := b.kind == kindList || b.kind == kindSet
	switch b.kind {
	case 0:
		return p.fail("begin.type", fault.MissingKind, "no type")
	case kindStruct, kindList, kindSet, kindMap, kindString, kindBinary:
	default:
		return p.fail("begin.type", fault.TypeMismatch, "%s cannot be opened", typeName(int64(b.kind)))
	}
	switch {
	case b.kind != kindStruct && (b.size < 0 || b.size > math.MaxInt32):
		return p.fail("begin.size", fault.NegativeSize, "out of range: %d, want 0..%d", b.size, math.MaxInt32)
	case b.element != 0 && !isMap && !isList:
		return p.fail("begin.element_type", fault.TypeMismatch, "a %s has no elements", typeName(int64(b.kind)))
	case b.keyKind != 0 && !isMap:
		return p.fail("begin.key_type", fault.TypeMismatch, "a %s has no keys", typeName(int64(b.kind)))
	case b.element == 0 && (isList || isMap && b.size > 0):
		return p.fail("begin.element_type", fault.MissingKind, "no element_type")
	case b.keyKind == 0 && isMap && b.size > 0:
		return p.fail("begin.key_type", fault.MissingKind, "no key_type")
	}
	return true
}

// checkPlace checks that a Begin fits what is open.
func (p *Parts) checkPlace(b *beginning) bool {
	top, depth := p.top(), len(p.open)+1
	switch {
	case top == nil:
		if !p.another("begin", b.kind) {
			return false
		}
	case top.kind == kindString || top.kind == kindBinary:
		return p.misplaced(partBegin)
	case top.kind == kindStruct:
	case top.left == 0:
		return p.fail("begin", fault.CountMismatch, "none of %d is left", top.size)
	case b.kind != top.element:
		return p.fail("begin.type", fault.TypeMismatch, "a %s, want %s as declared", typeName(int64(b.kind)), typeName(int64(top.element)))
	}
	switch inStruct, inMap := top != nil && top.kind == kindStruct, top != nil && top.kind == kindMap; {
	case b.id != 0 && !inStruct:
		return p.fail("begin.field_id", fault.TypeMismatch, "a field id outside of a STRUCT")
	case b.keys > 0 && !inMap:
		return p.fail("begin.key", fault.TypeMismatch, "a key outside of a MAP")
	case b.keys == 0 && inMap:
		return p.fail("begin.key", fault.MissingKind, "no key")
	case b.kind != kindString && b.kind != kindBinary && depth > p.e.maxDepth:
		return p.e.fail(causeDepth, p.root.span.start, p.root.span.end, int64(depth), 0)
	}
	return true
}

// key writes the key of an entry; in[at:end] is the Begin.
func (p *Parts) key(b *beginning, at, end int) bool {
	e := &p.e
	before := p.Written()
	if b.keys == 1 {
		p.root = root{"begin.key", messageValue, b.key}
		if p.walkKey() {
			return true
		}
		if p.fault != nil || e.failure.cause != causeSlow {
			return false
		}
	}
	if !p.mergeKeys(at, end) || !p.normalise(len(p.open)) {
		return false
	}
	p.root.span.end = e.end
	return p.again(p.Written()-before, partBegin)
}

// mergeKeys joins the keys of the Begin in[at:end], in value.
func (p *Parts) mergeKeys(at, end int) bool {
	p.value = append(p.value[:0], p.e.in[at:end]...)[:0] // not nil, and large enough
	for whole := (span{at, end}); at < end; {
		r, ok := p.member(at, whole, beginMembers)
		if !ok {
			return false
		}
		if at = r.next; r.tag>>3 == beginKey {
			p.value = append(p.value, p.e.in[r.start:r.end]...)
		}
	}
	p.root = root{"begin.key", messageValue, span{0, len(p.value)}}
	return true
}

// walkKey writes the Value at the root as a key of the open map.
func (p *Parts) walkKey() bool {
	e, top := &p.e, p.top()
	m, ok := e.oneof(p.root.span.start, p.root.span.end, false)
	if !ok {
		return false
	}
	if m.kind != top.key {
		return p.fail("begin.key", fault.TypeMismatch, "a %s, want %s as declared", typeName(int64(m.kind)), typeName(int64(top.key)))
	}
	return e.payload(m.kind, m.start, m.end, len(p.open))
}
