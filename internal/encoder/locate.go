package encoder

import (
	"encoding/binary"
	"strconv"
	"strings"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// kindNames are the names of the members of Value and Field, columnNames those of List.
var (
	kindNames = [16]string{
		"", "id", "bool", "i8", "i16", "i32", "i64", "double", "binary", "list", "set", "map", "struct", "uuid", "", "string",
	}
	columnNames = [16]string{
		"", "element_type", "bools", "i8s", "i16s", "i32s", "i64s", "doubles", "binaries", "lists", "sets", "maps", "structs",
		"uuids", "", "strings",
	}
)

func columnName(kind int64) string { return columnNames[kind&15] }

// typeName returns the name of a type as the API has it, without the prefix.
func typeName(kind int64) string {
	return strings.TrimPrefix(thriftpackv1.Type(kind&15).String(), "TYPE_")
}

// message is one of the messages that a Value is made of.
type message uint8

const (
	messageNone message = iota // not a message, but a scalar
	messageValue
	messageField
	messageStruct
	messageList
	messageMap
)

// child returns what member number of a message holds, and its name; "" where there is no such member.
func (m message) child(number uint64) (child message, name string) {
	if number > kindString {
		return messageNone, ""
	}
	switch m {
	case messageStruct:
		if number == memberFirst {
			return messageField, "fields"
		}
		return messageNone, ""
	case messageMap:
		switch number {
		case memberFirst:
			return messageList, "keys"
		case 2:
			return messageList, "values"
		}
		return messageNone, ""
	case messageValue, messageField:
		name = kindNames[number]
	case messageList:
		name = columnNames[number]
	case messageNone:
	}
	switch number {
	case kindList, kindSet:
		child = messageList
	case kindMap:
		child = messageMap
	case kindStruct:
		child = messageStruct
	}
	return child, name
}

// isRepeated reports whether members of the number have an index.
func (m message) isRepeated(number uint64) bool {
	return m == messageStruct || m == messageList && number != memberFirst && number != kindI8
}

// Locate returns the path of what is in value[start:end], in the words of this package's errors, such as
// value.struct.fields[3].i16: of the member whose payload begins at start, or of a message. value is the wire bytes of a Value.
func Locate(value []byte, start, end int) string { return locate(value, start, end) }

// maxPath bounds the text of a path, in bytes; the middle of a longer one is left out.
const maxPath = 1000

// locate returns the path of the member whose payload starts at in[start], or of the message in[start:end]. It walks the
// wire bytes again, from the root, through messages that may be malformed: what it cannot read ends the path.
func locate(in []byte, start, end int) string {
	return locateIn("value", messageValue, in, span{0, len(in)}, start, end)
}

// locateIn is locate for the message m in the span root, which has the path name.
func locateIn(name string, m message, in []byte, root span, start, end int) string {
	path := []byte(name)
	at, stop := root.start, root.end
	for m != messageNone && (at != start || stop != end) {
		member, ok := find(in, m, span{at, stop}, span{start, end})
		if !ok {
			break
		}
		var name string
		number := member.number
		m, name = m.child(number)
		if name == "" {
			break
		}
		path = append(append(path, '.'), name...)
		if member.index >= 0 {
			path = append(strconv.AppendInt(append(path, '['), int64(member.index), 10), ']')
		}
		at, stop = member.start, member.end
	}
	if len(path) > maxPath {
		return string(path[:maxPath/2]) + "…" + string(path[len(path)-maxPath/2:])
	}
	return string(path)
}

// place is a member that locate found: its number, its index among those of the number (-1 for a singular one), its payload.
type place struct {
	number     uint64
	index      int
	start, end int
}

// find returns the member of the message in whole whose payload holds the start of target, which may be empty.
func find(in []byte, m message, whole, target span) (p place, ok bool) {
	var indexes [16]int
	at, end := whole.start, whole.end
	for at < end {
		tag, n := binary.Uvarint(in[at:end])
		if n <= 0 || tag>>3 > kindString {
			return p, false
		}
		number := tag >> 3
		p = place{number: number, index: -1, start: at + n}
		switch tag & 7 {
		case wireVarint:
			p.end = looseVarintEnd(in, p.start, end)
		case wireFixed64:
			p.end = p.start + 8
		case wireBytes:
			size, n := binary.Uvarint(in[p.start:end])
			if n <= 0 || size > uint64(end-p.start-n) { // not negative
				return p, false
			}
			p.start += n
			p.end = p.start + int(size) // at most end
		default:
			return p, false
		}
		packed := tag&7 == wireBytes && m == messageList && columnOfTag[byte(tag)] == columnPacked
		empty := target.start == target.end // then it may be at the very end
		inside := p.start <= target.start && (target.start < p.end || target.start == p.end && empty)
		if m.isRepeated(number) {
			p.index = indexes[number]
			switch {
			case packed && inside:
				p.index += countElements(in, p.start, target.start, number)
			case packed:
				indexes[number] += countElements(in, p.start, p.end, number)
			default:
				indexes[number]++
			}
		}
		if inside {
			return p, true
		}
		at = p.end
	}
	return p, false
}

// countElements returns how many scalars of a packed run end in in[at:end].
func countElements(in []byte, at, end int, number uint64) int {
	if number == kindDouble {
		return (end - at) / 8
	}
	count := 0
	for _, b := range in[at:end] {
		if b < 0x80 {
			count++
		}
	}
	return count
}

// looseVarintEnd returns the position behind the varint at in[at:end], or end.
func looseVarintEnd(in []byte, at, end int) int {
	for at < end && in[at] >= 0x80 {
		at++
	}
	return min(at+1, end)
}
