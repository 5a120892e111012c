// Package valuewire reads the protobuf wire bytes of a thriftpack.v1.Value piece by piece: the members of a message in any
// order, but each once and minimal, as package encoder's fast path has them. What protobuf would have to merge it does not
// read; package encoder normalises that. It checks the structure that it steps through and nothing inside of scalars.
package valuewire

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// The kinds of values, numbered as thriftpack.v1.Type: member n of Value and Field holds a value of kind n, member n of List
// a column of elements of kind n.
const (
	None   uint8 = 0
	Bool   uint8 = 2
	I8     uint8 = 3
	I16    uint8 = 4
	I32    uint8 = 5
	I64    uint8 = 6
	Double uint8 = 7
	Binary uint8 = 8
	List   uint8 = 9
	Set    uint8 = 10
	Map    uint8 = 11
	Struct uint8 = 12
	UUID   uint8 = 13
	String uint8 = 15
)

// UUIDSize is the number of bytes of a uuid.
const UUIDSize = 16

// doubleSize is the number of bytes of a double.
const doubleSize = 8

// The protobuf wire types that occur.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
)

// Tag bytes: number << 3 | wire type.
const (
	tagID     = 1<<3 | wireVarint // Field.id, List.element_type
	TagFields = 1<<3 | wireBytes  // TagFields is that of Struct.fields.
	TagKeys   = 1<<3 | wireBytes  // TagKeys is that of Map.keys.
	TagValues = 2<<3 | wireBytes  // TagValues is that of Map.values.
	// TagElementType is that of List.element_type.
	TagElementType = tagID
)

// IsContainer reports whether a value of the kind holds others, or is a struct: whether it counts towards the depth.
func IsContainer(kind uint8) bool { return kind >= List && kind <= Struct }

// IsPacked reports whether a column of the kind is one run of bytes, rather than a tag, a length and a payload for each element.
func IsPacked(kind uint8) bool { return kind <= Double }

// IsText reports whether the kind is string or binary, which are the same on the Thrift wire.
func IsText(kind uint8) bool { return kind == Binary || kind == String }

// RecordTag returns the tag of a length-delimited member of the kind in Value, Field and List.
func RecordTag(kind uint8) byte { return kind<<3 | wireBytes }

// kindOfTag gives the kind that a tag byte of Value or Field announces; 0 where there is none, or with another wire type.
var kindOfTag = func() (kinds [256]uint8) {
	for kind := Bool; kind <= String; kind++ {
		switch {
		case kind == 14:
		case kind < Double:
			kinds[kind<<3|wireVarint] = kind
		case kind == Double:
			kinds[kind<<3|wireFixed64] = kind
		default:
			kinds[kind<<3|wireBytes] = kind
		}
	}
	return kinds
}()

// isColumn says which tag bytes of a List hold elements: packed runs, i8s and repeated members.
var isColumn = func() (is [256]bool) {
	for kind := Bool; kind <= String; kind++ {
		is[kind<<3|wireBytes] = kind != 14
	}
	return is
}()

// Member is a value where it stands on the wire, as the member of a Value or Field.
type Member struct {
	// ID is that of a Field; 0 in a Value.
	ID int
	// Kind is the kind of the value.
	Kind uint8
	// Tag is the position of the kind's tag, one byte.
	Tag int
	// Start and End are the span of the payload, without the length of what has one.
	Start, End int
	// Next is the position behind the whole record.
	Next int
}

const (
	// Of the first four bytes of a Field: tag of fields, length, tag of id, id. Lengths of 128 and more, ids of 64 and more and
	// negative ids have a bit that headMask keeps.
	headMask = 0x81ff80ff
	headWant = tagID<<16 | TagFields
	// HeadSize is the size of a Head up to the payload, or to its length.
	HeadSize = 5

	continuation = 0x8080808080808080 // the continuation bit of eight bytes
)

// Head is the beginning of a Field in its usual form, and what follows from it: the record is shorter than 128 bytes, the id is
// 0..63 and stands before the kind.
//
//	0A length 08 id tag payload
type Head uint64

// HeadRoom is how many bytes must be left from the beginning of a Field on to read its Head.
const HeadRoom = 8

// ReadHead reads a Head at in[at:], where HeadRoom bytes are left.
func ReadHead(in []byte, at int) Head { return Head(binary.LittleEndian.Uint64(in[at : at+8])) }

// IsUsual reports whether a Field has the form of a Head.
func (h Head) IsUsual() bool { return h&headMask == headWant }

// ID returns the field id.
func (h Head) ID() int { return int(h >> 25 & 0x3f) }

// Kind returns the kind of the value, None where there is no such.
func (h Head) Kind() uint8 { return kindOfTag[byte(h>>32)] }

// Size returns the size of the record.
func (h Head) Size() int { return 2 + int(byte(h>>8)) }

// Field reads the Field that is the Struct's member at in[at:end].
func Field(in []byte, at, end int) (m Member, ok bool) {
	if len(in)-at >= HeadRoom {
		head := ReadHead(in, at)
		if next := at + head.Size(); head.IsUsual() && next <= end {
			kind, start := head.Kind(), at+HeadSize
			if kind >= Binary {
				start++
			}
			if head.IsWhole(in, at) {
				return Member{head.ID(), kind, at + HeadSize - 1, start, next, next}, true
			}
		}
	}
	return field(in, at, end)
}

// IsWhole reports whether the payload of the Field at in[at:], whose Head it is, is one value that fills the record. It is false for long
// varints at the very end of in.
func (h Head) IsWhole(in []byte, at int) bool {
	size := h.Size() - HeadSize
	switch kind := h.Kind(); {
	case kind >= Binary:
		return int(byte(h>>40)) == size-1 // a record is shorter than 128 bytes
	case kind == Double:
		return size == doubleSize
	case kind == None || size <= 0:
		return false
	case len(in)-at < HeadSize+quickSize:
		return size <= 3 && isVarint(uint64(h>>40), size) // the first bytes are there already
	}
	b := in[at+HeadSize : at+HeadSize+quickSize]
	word := binary.LittleEndian.Uint64(b)
	if size <= 8 {
		return isVarint(word, size)
	}
	return word&continuation == continuation && (size == 9 && b[8] < 0x80 || size == 10 && b[8] >= 0x80 && b[9] < 0x80)
}

// isVarint reports whether the first size bytes of the word are one varint: the last of them is the first without a
// continuation bit.
func isVarint(word uint64, size int) bool {
	return bits.TrailingZeros64(^word&continuation)>>3 == size-1
}

// field is Field in any form.
//
//go:noinline
func field(in []byte, at, end int) (m Member, ok bool) {
	if at >= end || in[at] != TagFields {
		return m, false
	}
	start, next, ok := Span(in, at+1, end)
	if !ok {
		return m, false
	}
	return members(in, start, next, true)
}

// Root reads a Value.
func Root(in []byte) (m Member, ok bool) {
	if len(in) >= 2 && in[1] < 0x80 && int(in[1]) == len(in)-2 && kindOfTag[in[0]] >= Binary {
		return Member{Kind: kindOfTag[in[0]], Start: 2, End: len(in), Next: len(in)}, true
	}
	return members(in, 0, len(in), false)
}

// members reads the members of the Value or (withID) Field in[at:end].
func members(in []byte, at, end int, withID bool) (m Member, ok bool) {
	hasID := false
	m.Next = end
	for at < end {
		tag := in[at]
		if tag == tagID && withID {
			if hasID {
				return m, false
			}
			hasID = true
			v, next := Varint(in, at+1, end)
			if next < 0 || v > math.MaxUint16 {
				return m, false
			}
			m.ID, at = int(Unzigzag(v)), next
			continue
		}
		kind := kindOfTag[tag]
		if kind == None || m.Kind != None {
			return m, false
		}
		m.Kind, m.Tag, m.Start = kind, at, at+1
		switch tag & 7 {
		case wireVarint:
			if _, m.End = Varint(in, at+1, end); m.End < 0 {
				return m, false
			}
		case wireFixed64:
			if m.End = at + 1 + doubleSize; m.End > end {
				return m, false
			}
		default:
			if m.Start, m.End, ok = Span(in, at+1, end); !ok {
				return m, false
			}
		}
		at = m.End
	}
	return m, m.Kind != None
}

// Span reads the length at in[at:end], which must be minimal, and returns the span that it announces. ok is false where that is not
// all there.
func Span(in []byte, at, end int) (start, stop int, ok bool) {
	if at < end && in[at] < 0x80 {
		start = at + 1
		stop = start + int(in[at])
		return start, stop, stop <= end
	}
	size, start := Varint(in, at, end)
	if start < 0 || size > uint64(end-start) {
		return 0, 0, false
	}
	return start, start + int(size), true
}

// Varint reads the varint at in[at:end] and returns its value and the position behind it, or -1 where there is none, or one
// that could be shorter.
func Varint(in []byte, at, end int) (v uint64, next int) {
	if at < end && in[at] < 0x80 {
		return uint64(in[at]), at + 1
	}
	v, n := binary.Uvarint(in[min(at, end):end])
	if n <= 0 || in[at+n-1] == 0 {
		return 0, -1
	}
	return v, at + n
}

// Quick is Varint for bytes that are known to be varints, and may take one that could be shorter. It does not branch on the
// length of up to eight bytes, which on random numbers no branch predictor learns.
func Quick(in []byte, at int) (v uint64, next int) {
	if len(in)-at < quickSize {
		return Varint(in, at, len(in))
	}
	b := in[at : at+quickSize]
	x := binary.LittleEndian.Uint64(b)
	ends := ^x & continuation
	if ends == 0 {
		v = squeeze(x) | uint64(b[8]&0x7f)<<56
		if b[8] < 0x80 {
			return v, at + 9
		}
		return v | uint64(b[9])<<63, at + 10
	}
	size := bits.TrailingZeros64(ends)>>3 + 1
	return VarintOf(x, size), at + size
}

// quickSize is the size of the longest varint.
const quickSize = 10

// VarintOf returns the value of the varint that is the first size bytes, 1 to 8, of the word.
func VarintOf(word uint64, size int) uint64 { return squeeze(word & (1<<(8*uint(size)) - 1)) }

// squeeze joins the lower seven bits of each byte of x.
func squeeze(x uint64) uint64 {
	x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
	x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
	return x&0x000000000fffffff | x&0x0fffffff00000000>>4
}

// Unzigzag returns the number that protobuf's sint32 and sint64 write as u.
func Unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// LengthSize returns the number of bytes of a length's varint. n is not negative.
func LengthSize(n int) int {
	if n < 0x80 {
		return 1
	}
	return (bits.Len64(uint64(n)) + 6) / 7
}
