package jsonvalue

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/conform"
	"github.com/thriftpack/thriftpack/internal/schema/valuewire"
)

// fields writes the Struct in[start:end] as an object. Its fields are in ascending order of their ids.
func (w *Writer) fields(s *schema.Struct, start, end, depth int) {
	if depth > w.maxDepth {
		w.tooDeep(depth)
		return
	}
	in, o := w.in, &w.out
	separator := byte('{')
	next := 0 // the field of s that comes next
	for at := start; at < end && w.tick(); {
		if at, next, separator = w.usualFields(s, at, end, next, separator); at == end {
			break
		}
		m, ok := valuewire.Field(in, at, end)
		if !ok {
			w.malformed()
			return
		}
		at = m.Next
		var f *schema.Field
		if next < len(s.Fields) && int(s.Fields[next].ID) == m.ID {
			f = &s.Fields[next]
		} else {
			f = s.FieldByID(int16(m.ID))
		}
		if f != nil && !w.isOf(f.Type, &m) {
			f = nil
		}
		if w.emitDefaults && next < len(s.Fields) {
			separator = w.defaults(s, &next, m.ID, f == nil, separator, depth)
		}
		if f == nil {
			w.byte(separator)
			separator = ','
			w.untypedField(&m, depth)
			continue
		}
		next = f.Index + 1
		w.member(separator, f.JSONKey)
		separator = ','
		switch t := f.Type; m.Kind {
		case valuewire.Bool:
			o.n = writeBool(o.buf, o.n, in[m.Start])
		case valuewire.I8, valuewire.I16, valuewire.I32:
			if t.Enum != nil {
				w.enum(t.Enum, writeVarint(in, m.Start, m.End))
			} else {
				o.n = writeInteger(o.buf, o.n, writeVarint(in, m.Start, m.End))
			}
		case valuewire.I64:
			o.n = w.long(o.buf, o.n, writeVarint(in, m.Start, m.End))
		case valuewire.Double:
			o.n = writeDouble(o.buf, o.n, writeWord(in, m.Start))
		case valuewire.String:
			w.text(in[m.Start:m.End])
		default:
			w.payload(t, m.Kind, m.Start, m.End, depth)
		}
	}
	if w.emitDefaults && next < len(s.Fields) {
		separator = w.defaults(s, &next, 1<<16, false, separator, depth)
	}
	if separator == '{' {
		w.byte(separator)
	}
	w.byte('}')
}

// usualFields writes fields of the Struct in[at:end] as long as they have the usual form, are the next ones of s, and are numbers or
// text. It returns where the first other one begins, its number among the fields of s, and the separator before it.
func (w *Writer) usualFields(s *schema.Struct, at, end, next int, separator byte) (stop, following int, behind byte) {
	in, fields, buf, n := w.in, s.Fields, w.out.buf, w.out.n
	for at < end && next < len(fields) && len(in)-at >= valuewire.HeadRoom {
		head, f := valuewire.ReadHead(in, at), &fields[next]
		if int(f.ID) != head.ID() {
			if f = s.FieldAfter(next, int16(head.ID())); f == nil || w.emitDefaults {
				break
			}
			next = f.Index
		}
		size, start := head.Size(), at+valuewire.HeadSize
		key, kind, to := f.JSONKey, head.Kind(), n
		if !head.IsUsual() || kind != uint8(f.Type.Kind) || at+size > end || size <= valuewire.HeadSize ||
			len(buf)-n < len(key)+writeRoom {
			break
		}
		buf[to] = separator
		to++
		switch length := len(key); {
		case length > 32:
			to += copy(buf[to:], key)
		case length >= 8: // two words, or four, that overlap
			binary.LittleEndian.PutUint64(buf[to:to+8], writeWord(key, 0))
			if length > 16 {
				binary.LittleEndian.PutUint64(buf[to+8:to+16], writeWord(key, 8))
				binary.LittleEndian.PutUint64(buf[to+length-16:to+length-8], writeWord(key, length-16))
			}
			to += length
			binary.LittleEndian.PutUint64(buf[to-8:to], writeWord(key, length-8))
		default: // a quote, at least one letter, a quote and a colon
			binary.LittleEndian.PutUint32(buf[to:to+4], binary.LittleEndian.Uint32(key))
			to += length
			binary.LittleEndian.PutUint32(buf[to-4:to], binary.LittleEndian.Uint32(key[length-4:]))
		}
		switch kind {
		case valuewire.Bool:
			to = writeBool(buf, to, in[start])
		case valuewire.I32, valuewire.I64, valuewire.I16, valuewire.I8:
			if f.Type.Enum != nil {
				goto done
			}
			var u uint64
			if length := size - valuewire.HeadSize; length <= 8 && len(in)-start >= 8 {
				u = valuewire.VarintOf(writeWord(in, start), length)
			} else {
				u, _ = valuewire.Quick(in, start)
			}
			if number := valuewire.Unzigzag(u); kind != valuewire.I64 || w.i64AsNumber {
				to = writeInteger(buf, to, number)
			} else {
				buf[to] = '"'
				to = writeInteger(buf, to+1, number)
				buf[to] = '"'
				to++
			}
		case valuewire.Double:
			if size != valuewire.HeadSize+8 {
				goto done
			}
			to = writeDouble(buf, to, writeWord(in, start))
		case valuewire.String:
			text := in[start+1 : at+size]
			if len(buf)-to < len(text)+2+writeSlack {
				goto done
			}
			length := writePlain(buf[to:], text)
			if length == 0 {
				if len(text) > writeShort || !utf8.Valid(text) || len(buf)-to < 6*len(text)+2 {
					goto done
				}
				length = writeEscaped(buf[to:], text)
			}
			to += length
		default:
			goto done
		}
		n, separator = to, ','
		at += size
		next++
	}
done:
	w.out.n = n
	return at, next, separator
}

// isOf reports whether a field's value is one of type t.
func (w *Writer) isOf(t *schema.Type, m *valuewire.Member) bool {
	return writeAllows(t, m.Kind) &&
		(!w.lenient || !valuewire.IsContainer(m.Kind) || conform.HasShape(w.in, t, m.Start, m.End, w.tick))
}

// member writes what stands before a member's value: a separator and the quoted key with its colon. There is room for a number after it.
func (w *Writer) member(separator byte, key []byte) {
	o := &w.out
	if n := o.n; len(o.buf)-n >= 1+len(key)+writeRoom {
		o.buf[n] = separator
		o.n = n + 1 + copy(o.buf[n+1:], key)
		return
	}
	w.byte(separator)
	o.bytes(key)
	o.room()
}

// defaults writes the fields of s from number next on that come before the id, or at it where withSame is set, and have a default value:
// they are absent. It returns the separator that follows.
func (w *Writer) defaults(s *schema.Struct, next *int, id int, withSame bool, separator byte, depth int) byte {
	for ; *next < len(s.Fields) && w.tick(); *next++ {
		f := &s.Fields[*next]
		if int(f.ID) >= id && !(withSame && int(f.ID) == id) {
			break
		}
		if f.Default == nil {
			continue
		}
		w.member(separator, f.JSONKey)
		separator = ','
		// A default value is complete, and is not completed again: defaults of defaults would grow without a bound.
		in := w.in
		w.in, w.emitDefaults = f.Default.Value, false
		w.whole(f.Type, depth)
		w.in, w.emitDefaults = in, true
	}
	return separator
}

// scalar writes a value that is no container, of type t or of any where t is nil, with the payload in[start:end].
func (w *Writer) scalar(t *schema.Type, kind uint8, start, end int) {
	in, o := w.in, &w.out
	o.room()
	switch kind {
	case valuewire.Bool:
		o.n = writeBool(o.buf, o.n, in[start])
	case valuewire.I8, valuewire.I16, valuewire.I32:
		if number := writeVarint(in, start, end); t != nil && t.Enum != nil {
			w.enum(t.Enum, number)
		} else {
			o.n = writeInteger(o.buf, o.n, number)
		}
	case valuewire.I64:
		o.n = w.long(o.buf, o.n, writeVarint(in, start, end))
	case valuewire.Double:
		o.n = writeDouble(o.buf, o.n, writeWord(in, start))
	case valuewire.String:
		w.text(in[start:end])
	case valuewire.Binary:
		if t != nil && uint8(t.Kind) == valuewire.String {
			w.text(in[start:end])
		} else {
			w.base64(in[start:end])
		}
	case valuewire.UUID:
		if end-start != valuewire.UUIDSize {
			w.malformed()
			return
		}
		o.n = writeUUID(o.buf, o.n, in[start:end])
	default:
		w.malformed()
	}
}

// enum writes the name of a number, or the number where it has none.
func (w *Writer) enum(e *schema.Enum, number int64) {
	if name, ok := e.NameOf(int32(number)); ok {
		w.name(name)
		return
	}
	w.out.room()
	w.out.n = writeInteger(w.out.buf, w.out.n, number)
}

// long writes an i64 at buf[n:], at most 22 bytes, and returns the end.
func (w *Writer) long(buf []byte, n int, v int64) int {
	if w.i64AsNumber {
		return writeInteger(buf, n, v)
	}
	buf[n] = '"'
	n = writeInteger(buf, n+1, v)
	buf[n] = '"'
	return n + 1
}

// writeBool writes a bool at buf[n:] and returns the end. It may store into eight bytes.
func writeBool(buf []byte, n int, b byte) int {
	const yes, no = 't' | 'r'<<8 | 'u'<<16 | 'e'<<24, 'f' | 'a'<<8 | 'l'<<16 | 's'<<24 | 'e'<<32
	word, size := uint64(no), 5
	if b == 1 {
		word, size = yes, 4
	}
	binary.LittleEndian.PutUint64(buf[n:n+8], word)
	return n + size
}

// writeVarint returns the number of the varint in[start:end].
func writeVarint(in []byte, start, end int) int64 {
	if end-start == 1 {
		return valuewire.Unzigzag(uint64(in[start]))
	}
	u, _ := binary.Uvarint(in[start:end])
	return valuewire.Unzigzag(u)
}
