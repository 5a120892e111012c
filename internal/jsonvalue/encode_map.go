package jsonvalue

import (
	"bytes"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// dictionary reads a map: an object, or an array of entries where the keys are no texts.
func (e *Encoder) dictionary(t *schema.Type, depth int) bool {
	first, last, want := byte('{'), byte('}'), "an object"
	object := t.Key.ObjectKey()
	if !object {
		first, last, want = '[', ']', `an array of {"key": …, "value": …}`
	}
	if e.at >= len(e.in) || e.in[e.at] != first {
		return e.failType(t, want)
	}
	if depth > e.maxDepth {
		return e.failDepth(depth)
	}
	if !e.tick() {
		return false
	}
	header, before := e.written, e.last
	if e.written += 2; e.binary {
		e.written += 4
	}
	if e.opening(last) {
		return e.mapHeader(header, before, t.Key.Kind, t.Elem.Kind, 0)
	}
	set := e.seen.open()
	for count := 0; ; {
		if !e.startElement(count) {
			return false
		}
		var ok bool
		if object {
			ok = e.keyed(t, &set, depth)
		} else {
			ok = e.entry(t, &set, depth)
		}
		if !ok {
			return e.under(count)
		}
		count++
		if end, ok := e.closing(last); !ok {
			return false
		} else if end {
			e.seen.close(&set)
			return e.mapHeader(header, before, t.Key.Kind, t.Elem.Kind, count)
		}
	}
}

// mapHeader fills the header of a map, before its entries, where two bytes are left for it, or in the binary protocol six.
//
//	compact  00                          when it is empty
//	         varint size, kkkk vvvv      otherwise: what the varint has beyond a byte is put in later
//	binary   key type, value type, 4 bytes size
func (e *Encoder) mapHeader(at int, before uint32, key, value thriftpackv1.Type, count int) bool {
	codes := e.codes
	switch {
	case e.binary:
		end := e.written
		e.written = at
		e.putByte(codes[key&15])
		e.putByte(codes[value&15])
		e.putUint32(uint32(count)) // maxElements is at most 2^31-1
		e.written = end
	case count == 0:
		e.out[at] = 0
		e.written = at + 1
	default:
		e.out[at], e.out[at+1] = byte(count), codes[key&15]<<4|codes[value&15]
		if count >= 0x80 {
			e.out[at] |= 0x80
			return e.insertVarint(before, at+1, uint64(count)>>7) // not negative
		}
	}
	return true
}

// keyed reads an entry that is a member of an object.
func (e *Encoder) keyed(t *schema.Type, set *openSet, depth int) bool {
	if e.at >= len(e.in) || e.in[e.at] != '"' {
		return e.failSyntax(e.at, "a key")
	}
	at, start := e.at, e.written
	if !e.key(t.Key) || !e.distinctKey(set, at, start) {
		return e.underName("key")
	}
	if !e.colon() || !e.room(0) {
		return false
	}
	return e.entryValue(t.Elem, depth) || e.underName("value")
}

// distinctKey fails where the key that was written from start on has been seen.
func (e *Encoder) distinctKey(set *openSet, at, start int) bool {
	if e.distinct(set, start, e.written) {
		return true
	}
	if e.err == nil {
		e.fail(at, fault.DuplicateKey, "the map has this key already")
	}
	return false
}

// entryValue reads the value of an entry, or its key where that is no text.
func (e *Encoder) entryValue(t *schema.Type, depth int) bool {
	if e.at < len(e.in) && e.in[e.at] == 'n' {
		at := e.at
		return e.word("null") && e.fail(at, fault.NullElement, "null inside of a container")
	}
	return e.value(t, depth+1)
}

// key reads a string as the key of a map. Each key has one text only.
func (e *Encoder) key(t *schema.Type) bool {
	switch {
	case t.Kind == thriftpackv1.Type_TYPE_STRING:
		return e.text(t)
	case t.Kind == thriftpackv1.Type_TYPE_UUID:
		return e.uuid(t, true)
	}
	if number, next, ok := scanInteger(e.in, e.at+1); ok && next < len(e.in) && e.in[next] == '"' && isCanonical(e.in[e.at+1:next], number) {
		if s := spare[t.Kind&15] & 63; number<<s>>s == number && t.Kind != thriftpackv1.Type_TYPE_BOOL {
			e.at = next + 1
			e.putInteger(t.Kind, number)
			return true
		}
	}
	at := e.at
	text, ok := e.content(t)
	if !ok {
		return false
	}
	switch {
	case t.Kind == thriftpackv1.Type_TYPE_BOOL:
		value := bytes.Equal(text, []byte("true"))
		if !value && !bytes.Equal(text, []byte("false")) {
			return e.fail(at, fault.TypeMismatch, "a key of %d bytes that is neither true nor false", len(text))
		}
		e.putBool(value)
		return true
	case t.Enum != nil:
		if number, ok := t.Enum.Number(text); ok {
			e.putInteger(t.Kind, int64(number))
			return true
		}
	}
	number, next, ok := scanInteger(text, 0)
	if !ok || next != len(text) || !isCanonical(text, number) {
		return e.failKey(at, t, text)
	}
	if s := spare[t.Kind&15] & 63; number<<s>>s != number {
		return e.fail(at, fault.IntRange, "a key that is out of range for %s", t.Name)
	}
	e.putInteger(t.Kind, number)
	return true
}

// isCanonical reports whether the text is the only one for the number that was read from it. -0 is not.
func isCanonical(text []byte, number int64) bool { return number != 0 || len(text) == 1 }

// failKey fails with a key that is no integer in its canonical form.
func (e *Encoder) failKey(at int, t *schema.Type, text []byte) bool {
	if t.Enum != nil {
		return e.fail(at, fault.UnknownName, "a key of %d bytes that is no name and no number of the enum %s", len(text), t.Enum.Name)
	}
	if end, ok := scanNumber(text, 0); ok && end == len(text) {
		if _, is := scanExactly(text); is == scanIsTooLarge {
			return e.fail(at, fault.IntRange, "a key that is out of range for %s", t.Name)
		}
	}
	return e.fail(at, fault.TypeMismatch, "a key of %d bytes that is no %s in its canonical form", len(text), t.Name)
}

// entrySide is where the key or the value of an entry is in the scratch memory.
type entrySide struct {
	given      bool
	start, end uint32
}

// entry reads an entry that is an object of a key and a value, in either order.
func (e *Encoder) entry(t *schema.Type, set *openSet, depth int) bool {
	object := e.at
	if e.at >= len(e.in) || e.in[e.at] != '{' {
		return e.failEntry()
	}
	before, start := e.last, e.written
	var key, value entrySide
	if e.opening('}') {
		return e.fail(object, fault.MissingField, `an entry without "key"`)
	}
	for {
		at := e.at
		name, ok := e.name()
		if !ok || !e.room(0) {
			return false
		}
		switch string(name) {
		case "key":
			if key.given {
				return e.fail(at, fault.DuplicateField, `an entry with two of "key"`)
			}
			spot := e.spot()
			if !e.entryValue(t.Key, depth) || !e.flatten(spot) || !e.distinctKey(set, at, spot.written) {
				return e.underName("key")
			}
			key = entrySide{given: true, start: uint32(spot.written), end: uint32(e.written)}
		case "value":
			if value.given {
				return e.fail(at, fault.DuplicateField, `an entry with two of "value"`)
			}
			from := e.written
			if !e.entryValue(t.Elem, depth) {
				return e.underName("value")
			}
			value = entrySide{given: true, start: uint32(from), end: uint32(e.written)}
		default:
			if !e.unknownName(at, "an entry of "+t.Name, name, depth) {
				return false
			}
		}
		if end, ok := e.closing('}'); !ok {
			return false
		} else if end {
			break
		}
	}
	switch {
	case !key.given:
		return e.fail(object, fault.MissingField, `an entry without "key"`)
	case !value.given:
		return e.fail(object, fault.MissingField, `an entry without "value"`)
	case key.start < value.start:
		return true
	}
	return e.swapEntry(before, start, &key, &value)
}

// swapEntry makes the moves that put the key of an entry before its value.
func (e *Encoder) swapEntry(before uint32, start int, key, value *entrySide) bool {
	self, first := uint32(len(e.marks)), uint32(len(e.moves))
	last := e.last
	if last == before {
		last = self
	}
	return e.addMove(encodeMove{start: key.start, end: key.end, mark: last}) &&
		e.addMove(encodeMove{start: value.start, end: value.end, mark: self}) &&
		e.addMove(encodeMove{start: uint32(e.written), mark: last}) &&
		e.insertMark(before, encodeMark{at: uint32(start), moves: 2, first: first})
}

// failEntry fails with what is no entry.
func (e *Encoder) failEntry() bool {
	if e.at < len(e.in) {
		if name := begins(e.in[e.at:]); name != "" {
			return e.fail(e.at, fault.TypeMismatch, `%s, want an entry {"key": …, "value": …}`, name)
		}
	}
	return e.failSyntax(e.at, "an entry")
}
