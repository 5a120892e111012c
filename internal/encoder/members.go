package encoder

// The numbers of members. Value, Field and List share them: member n of Value and Field holds a value of type n, member n
// of List a column of elements of type n. Number 1 is Field.id and List.element_type.
const (
	memberFirst = 1 // Field.id, List.element_type, Struct.fields, Map.keys

	kindBool   = 2
	kindI8     = 3
	kindI16    = 4
	kindI32    = 5
	kindI64    = 6
	kindDouble = 7
	kindBinary = 8
	kindList   = 9
	kindSet    = 10
	kindMap    = 11
	kindStruct = 12
	kindUUID   = 13
	kindString = 15
)

// The protobuf wire types that occur.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
)

// Tag bytes (number << 3 | wire type) that the walk names.
const (
	tagID     = memberFirst<<3 | wireVarint
	tagFields = memberFirst<<3 | wireBytes
	tagKeys   = memberFirst<<3 | wireBytes
	tagValues = 2<<3 | wireBytes
)

// The numbers that each message has, as bits.
const (
	structMembers = 1 << memberFirst
	mapMembers    = 1<<memberFirst | 1<<2
	valueMembers  = 0xbffc // 2..13, 15
	fieldMembers  = valueMembers | 1<<memberFirst
	listMembers   = fieldMembers
)

// uuidSize is the number of bytes of a uuid.
const uuidSize = 16

// kindWire gives the wire type of member n of Value and Field.
var kindWire = [16]uint8{
	kindDouble: wireFixed64, kindBinary: wireBytes, kindList: wireBytes, kindSet: wireBytes, kindMap: wireBytes,
	kindStruct: wireBytes, kindUUID: wireBytes, kindString: wireBytes,
}

// compactType gives the type code of kind n in the compact protocol. A bool field is 2 less its value; a bool
// element is 1.
var compactType = [16]uint8{
	kindBool: 2, kindI8: 3, kindI16: 4, kindI32: 5, kindI64: 6, kindDouble: 7, kindBinary: 8, kindList: 9, kindSet: 10,
	kindMap: 11, kindStruct: 12, kindUUID: 13, kindString: 8,
}

// compactElement gives the element type code of kind n in the compact protocol.
var compactElement = [16]uint8{
	kindBool: 1, kindI8: 3, kindI16: 4, kindI32: 5, kindI64: 6, kindDouble: 7, kindBinary: 8, kindList: 9, kindSet: 10,
	kindMap: 11, kindStruct: 12, kindUUID: 13, kindString: 8,
}

// binaryType gives the type code of kind n in the binary protocol.
var binaryType = [16]uint8{
	kindBool: 2, kindI8: 3, kindI16: 6, kindI32: 8, kindI64: 10, kindDouble: 4, kindBinary: 11, kindList: 15, kindSet: 14,
	kindMap: 13, kindStruct: 12, kindUUID: 16, kindString: 11,
}

// kindOfTag gives the kind that a tag byte of Value or Field announces; 0 where there is none, or with another wire type.
var kindOfTag = func() (kinds [256]uint8) {
	for kind := range uint8(16) {
		if isKind(kind) {
			kinds[kind<<3|kindWire[kind]] = kind
		}
	}
	return kinds
}()

// isKind reports whether n is the number of a kind.
func isKind(n uint8) bool { return n >= kindBool && n <= kindString && n != 14 }

// isVarint reports whether elements of the kind are varints.
func isVarint(kind uint8) bool { return kind >= kindI16 && kind <= kindI64 }

// columnClass says how a tag byte of a List is to be taken.
type columnClass uint8

const (
	columnUnknown     columnClass = iota // no such member, or not with that wire type
	columnElementType                    // List.element_type
	columnPacked                         // a packed run of scalars
	columnI8s                            // List.i8s, one byte for each element
	columnRepeated                       // one element with its own tag and length
	columnUnpacked                       // one scalar of a column that should be packed
)

// columnOfTag gives the class of each tag byte of a List.
var columnOfTag = func() (classes [256]columnClass) {
	classes[tagID] = columnElementType
	for kind := range uint8(16) {
		switch {
		case !isKind(kind):
		case kind == kindI8:
			classes[kind<<3|wireBytes] = columnI8s
		case kind == kindBool, isVarint(kind), kind == kindDouble:
			classes[kind<<3|wireBytes] = columnPacked
			classes[kind<<3|kindWire[kind]] = columnUnpacked
		default:
			classes[kind<<3|wireBytes] = columnRepeated
		}
	}
	return classes
}()
