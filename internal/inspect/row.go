package inspect

import (
	"strconv"
	"strings"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
)

// kind says what the bytes of a row are. The texts are the JSON form's.
type kind string

// The kinds, in about the order in which a listing shows them.
const (
	kindRecord      kind = "record"       // no bytes: one more value starts here
	kindFrame       kind = "frame"        // the frame's length
	kindProtocolID  kind = "protocol-id"  // the byte 82 of a compact envelope
	kindVersion     kind = "version"      // the envelope's version and message type
	kindMessageType kind = "message-type" // the type byte of an unversioned envelope
	kindSeqID       kind = "seqid"
	kindNameLength  kind = "name-length"
	kindName        kind = "name"
	kindField       kind = "field"  // a field header
	kindValue       kind = "value"  // a number, bool, double or uuid
	kindLength      kind = "length" // the length of a string or binary
	kindText        kind = "text"
	kindBytes       kind = "bytes"
	kindList        kind = "list"   // the header of a list or set
	kindMap         kind = "map"    // the header of a map
	kindStruct      kind = "struct" // no bytes: a struct inside a container starts here
	kindStop        kind = "stop"
	kindElided      kind = "elided" // elements or fields that are only counted
	kindFault       kind = "fault"  // what is wrong with the bytes at this offset
	kindBad         kind = "bad"    // bytes that were read in vain
	kindRest        kind = "rest"   // bytes that were not read
)

// noIndex is the index of a row that is no element.
const noIndex = -1

// row is one item of a listing.
type row struct {
	kind   kind
	offset int    // of the first byte
	bytes  []byte // aliases the input
	depth  int    // levels of indentation
	typ    string // the Thrift type, such as i32 or list<i32>
	hasID  bool
	id     int32  // the field id
	name   string // of the field, or of the enum's number
	named  string // the declared type of the field
	index  int    // the place in a list, set or map, or noIndex
	part   string // key or value of a map's entry
	value  string // the value, or the text without quotes
	count  int64  // elements, entries or bytes, as the bytes claim or as they were counted
	form   string // how it is encoded: short, long, delta, …
	note   string // for a person: why the bytes say this
	reason fault.Reason
	marked bool // a fault points into the row
}

// step is one level of the place that is being read.
type step struct {
	start int   // offset of its first byte
	id    int32 // the field id, or the index in a container
	what  stepKind
}

type stepKind uint8

const (
	stepField stepKind = iota
	stepElement
	stepKey
	stepValue
	stepHeader // a field whose header is not known: not yet part of a path
)

// pathOf reads like 5[0].2: field 5, element 0, field 2. A map's entries read 4[1].key and 4[1].value.
func pathOf(steps []step) string {
	var b strings.Builder
	for i, s := range steps {
		if s.what == stepHeader {
			continue
		}
		if s.what == stepField {
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(strconv.Itoa(int(s.id)))
			continue
		}
		b.WriteByte('[')
		b.WriteString(strconv.Itoa(int(s.id)))
		b.WriteByte(']')
		b.WriteString([...]string{stepElement: "", stepKey: ".key", stepValue: ".value"}[s.what])
	}
	return b.String()
}

// typeNames has the name of every type; nil entries are codes that no protocol has.
var typeNames = map[thriftpackv1.Type]string{
	thriftpackv1.Type_TYPE_BOOL: "bool", thriftpackv1.Type_TYPE_I8: "i8", thriftpackv1.Type_TYPE_I16: "i16",
	thriftpackv1.Type_TYPE_I32: "i32", thriftpackv1.Type_TYPE_I64: "i64", thriftpackv1.Type_TYPE_DOUBLE: "double",
	thriftpackv1.Type_TYPE_BINARY: "binary", thriftpackv1.Type_TYPE_LIST: "list", thriftpackv1.Type_TYPE_SET: "set",
	thriftpackv1.Type_TYPE_MAP: "map", thriftpackv1.Type_TYPE_STRUCT: "struct", thriftpackv1.Type_TYPE_UUID: "uuid",
	thriftpackv1.Type_TYPE_STRING: "string",
}

// messageTypes has the name of each message type from 1 on.
var messageTypes = [...]string{1: "call", 2: "reply", 3: "exception", 4: "oneway"}
