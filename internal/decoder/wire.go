package decoder

import "math/bits"

// The kinds of values, numbered as thriftpack.v1.Type and, but for kindBool and kindString, as the compact protocol.
const (
	kindNone   uint8 = 0 // the stop, or the type of an empty container that does not say
	kindBool   uint8 = 2
	kindI8     uint8 = 3
	kindI16    uint8 = 4
	kindI32    uint8 = 5
	kindI64    uint8 = 6
	kindDouble uint8 = 7
	kindBinary uint8 = 8
	kindList   uint8 = 9
	kindSet    uint8 = 10
	kindMap    uint8 = 11
	kindStruct uint8 = 12
	kindUUID   uint8 = 13
	kindString uint8 = 15
	kindBad    uint8 = 255
)

const (
	maxSize   = 1<<31 - 1 // the largest size that Thrift has, and the largest message of protobuf
	uuidSize  = 16
	doubleLen = 8
	highBits  = 0x8080808080808080 // the continuation bit of each of eight bytes
	laterBits = 0x8080808080808000 // and of all but the first
)

// compactKinds gives the kind of a compact type code (thrift-compact-protocol.md, "Struct encoding"). Codes 1 and 2 are the
// two bools of a field header; as an element type either stands for bool.
var compactKinds = [16]uint8{
	kindNone, kindBool, kindBool, kindI8, kindI16, kindI32, kindI64, kindDouble, kindBinary, kindList, kindSet, kindMap,
	kindStruct, kindUUID, kindBad, kindBad,
}

// tagOfCompact gives the protobuf tag of the member for a compact field type; see tagOf.
var tagOfCompact = [16]byte{
	1: kindBool << 3, 2: kindBool << 3, 3: kindI8 << 3, 4: kindI16 << 3, 5: kindI32 << 3, 6: kindI64 << 3, 7: kindDouble<<3 | 1,
	8: kindBinary<<3 | 2, 9: kindList<<3 | 2, 10: kindSet<<3 | 2, 11: kindMap<<3 | 2, 12: kindStruct<<3 | 2, 13: kindUUID<<3 | 2,
}

// binaryKind gives the kind of a type code of the binary protocol (thrift-binary-protocol.md, "Struct").
func binaryKind(code byte) uint8 {
	switch code {
	case 0:
		return kindNone
	case 2:
		return kindBool
	case 3:
		return kindI8
	case 4:
		return kindDouble
	case 6:
		return kindI16
	case 8:
		return kindI32
	case 10:
		return kindI64
	case 11:
		return kindBinary
	case 12:
		return kindStruct
	case 13:
		return kindMap
	case 14:
		return kindSet
	case 15:
		return kindList
	case 16:
		return kindUUID
	default:
		return kindBad
	}
}

// The fewest bytes that an element of each kind takes: a size claimed by the input is checked against them.
var (
	compactLeast = [16]int{
		kindBool: 1, kindI8: 1, kindI16: 1, kindI32: 1, kindI64: 1, kindDouble: doubleLen, kindBinary: 1, kindList: 1, kindSet: 1,
		kindMap: 1, kindStruct: 1, kindUUID: uuidSize,
	}
	binaryLeast = [16]int{
		kindBool: 1, kindI8: 1, kindI16: 2, kindI32: 4, kindI64: 8, kindDouble: doubleLen, kindBinary: 4, kindList: 5, kindSet: 5,
		kindMap: 6, kindStruct: 1, kindUUID: uuidSize,
	}
)

// isContainer says whether a value of the kind holds others, or is a struct: whether it counts towards the depth.
func isContainer(kind uint8) bool { return kind >= kindList && kind <= kindStruct }

// isPacked says whether a column of the kind is one length-delimited run rather than one record for each element.
func isPacked(kind uint8) bool { return kind <= kindDouble }

// tagOf returns the protobuf tag of the member for the kind in Value and Field, which is that of its column in List, too.
// For the kinds whose column is packed, see columnTag.
func tagOf(kind uint8) byte {
	switch kind {
	case kindBool, kindI8, kindI16, kindI32, kindI64:
		return kind << 3 // varint
	case kindDouble:
		return kind<<3 | 1 // eight bytes
	default:
		return kind<<3 | 2 // length-delimited
	}
}

// columnTag returns the protobuf tag of List's column for the kind, always length-delimited.
func columnTag(kind uint8) byte { return kind<<3 | 2 }

// varintSize returns the length of v as a minimal varint, 1..10.
func varintSize(v uint64) int { return (9*bits.Len64(v) + 64) / 64 }

// lengthSize returns the length of a length's varint.
func lengthSize(n int) int {
	if n < 128 {
		return 1
	}
	return varintSize(uint64(n)) // lengths are not negative
}

// recordSize returns the size of a length-delimited record with a one-byte tag.
func recordSize(body int) int { return 1 + lengthSize(body) + body }

// recordBody is the inverse of recordSize: the body of a record that takes size bytes in all.
func recordBody(size int) int {
	body := size - 2
	for body >= 0 && recordSize(body) > size {
		body--
	}
	return body
}

// twoByteID is the first id whose varint has two bytes.
const twoByteID = 64

// idVarint is Field.id as protobuf writes it; it is absent when 0.
func idVarint(id int) uint64 { return zigzag(int64(id)) }

// idSize returns the size of Field.id with its tag.
func idSize(id int) int {
	if uint(id-1) < twoByteID-1 { // wraps below 1 on purpose
		return 2
	}
	if id == 0 {
		return 0
	}
	return 1 + varintSize(idVarint(id))
}

// zigzag maps signed numbers to unsigned ones, small for small magnitudes: 0, -1, 1, -2 become 0, 1, 2, 3.
func zigzag(v int64) uint64 { return uint64(v)<<1 ^ uint64(v>>63) } // bits, not numbers

// unzigzag is the inverse of zigzag.
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) } // bits, not numbers

// Ends of a varint that is none.
const (
	varintTruncated = -1 // the bytes end inside of it
	varintTooWide   = -2 // more than 64 bits, or more than ten bytes
)

// consumeVarint reads the varint at pos, padded or not. It returns its value and where it ends, or one of the ends above.
func consumeVarint(data []byte, pos int) (uint64, int) {
	var v uint64
	for shift := uint(0); ; shift += 7 {
		if uint(pos) >= uint(len(data)) { // never negative
			return 0, varintTruncated
		}
		b := data[pos]
		pos++
		if shift == 63 && b > 1 {
			return 0, varintTooWide
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, pos
		}
	}
}

// The longest minimal varint of each integer kind, and the largest last byte of it.
var (
	longestVarint = [16]int{kindI16: 3, kindI32: 5, kindI64: 10}
	largestLast   = [16]byte{kindI16: 0x03, kindI32: 0x0f, kindI64: 0x01}
)
