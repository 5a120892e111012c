package jsonvalue

import (
	"slices"
	"strconv"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// Fields that the type does not have are members whose name is the field id, and their values name their own kinds:
//
//	"7": {"i32": 5}
//	"8": {"list": {"elem": "struct", "values": [{"1": {"string": "x"}}]}}
//
// Nothing is known of them but what they say. Their structs are written in the order of their members.

// ownTypes are the types of the values that name their own kind, by that name.
var ownTypes = func() map[string]*schema.Type {
	types := map[string]*schema.Type{}
	for name, kind := range map[string]thriftpackv1.Type{
		"bool": thriftpackv1.Type_TYPE_BOOL, "i8": thriftpackv1.Type_TYPE_I8, "i16": thriftpackv1.Type_TYPE_I16,
		"i32": thriftpackv1.Type_TYPE_I32, "i64": thriftpackv1.Type_TYPE_I64, "double": thriftpackv1.Type_TYPE_DOUBLE,
		"binary": thriftpackv1.Type_TYPE_BINARY, "list": thriftpackv1.Type_TYPE_LIST, "set": thriftpackv1.Type_TYPE_SET,
		"map": thriftpackv1.Type_TYPE_MAP, "struct": thriftpackv1.Type_TYPE_STRUCT, "uuid": thriftpackv1.Type_TYPE_UUID,
		"string": thriftpackv1.Type_TYPE_STRING,
	} {
		types[name] = &schema.Type{Kind: kind, Name: name}
	}
	return types
}()

// unnamed reads the value of a field that the struct does not have, whose id is named at the position.
func (e *Encoder) unnamed(o *openStruct, id int16, at, depth int) bool {
	if field := o.FieldByID(id); field != nil {
		return e.fail(at, fault.TypeMismatch, "field %d of %s has a name: want %s", id, o.Struct.Name, field.Name)
	}
	after, _ := slices.BinarySearchFunc(o.Fields, id, func(f schema.Field, id int16) int { return int(f.ID) - int(id) })
	if e.at < len(e.in) && e.in[e.at] == 'n' {
		return e.nullMember(o, id, after-1) || e.underName(strconv.Itoa(int(id)))
	}
	if int32(id) > o.highest {
		if !e.absent(o, after) {
			return false
		}
		o.highest = int32(id)
	} else {
		o.unordered = true
	}
	o.given++
	return e.ownField(o, id, depth)
}

// ownField reads the object around a value that names its kind, and writes it as a field.
func (e *Encoder) ownField(o *openStruct, id int16, depth int) bool {
	under := func(ok bool) bool { return ok || e.underName(strconv.Itoa(int(id))) }
	if e.at >= len(e.in) || e.in[e.at] != '{' {
		return under(e.failOwn("an object with the kind of the value"))
	}
	e.at = scanSpace(e.in, e.at+1)
	t, ok := e.ownKind(e.name)
	if !ok {
		return under(false)
	}
	code := e.codes[t.Kind&15]
	if t.Kind == thriftpackv1.Type_TYPE_BOOL && !e.binary {
		value, ok := e.boolean(t)
		if !ok {
			return under(false)
		}
		if code = compactFalse; value {
			code = compactTrue
		}
	}
	if !e.room(0) {
		return false
	}
	e.putHeader(o, id, code)
	start, info := e.written, memberInfo(fromText, code, id, e.last)
	if t.Kind != thriftpackv1.Type_TYPE_BOOL || e.binary {
		ok = e.ownValue(t, depth+1)
	}
	if !ok {
		return under(false)
	}
	end, ok := e.closing('}')
	if !ok {
		return under(false)
	}
	if !end {
		return under(e.fail(e.at, fault.UnknownName, "a value with more than its kind"))
	}
	return e.addMember(start, info)
}

// failOwn fails with a value that has another form than those that name their kind.
func (e *Encoder) failOwn(want string) bool {
	if e.at < len(e.in) {
		if name := begins(e.in[e.at:]); name != "" {
			return e.fail(e.at, fault.TypeMismatch, "%s, want %s", name, want)
		}
	}
	return e.failSyntax(e.at, "a value")
}

// ownKind reads the name of a kind: that of a member, or a string.
func (e *Encoder) ownKind(read func() ([]byte, bool)) (t *schema.Type, ok bool) {
	at := e.at
	name, ok := read()
	if !ok {
		return nil, false
	}
	if t, ok = ownTypes[string(name)]; !ok {
		return nil, e.fail(at, fault.BadType, "%s is no kind", shortName(name))
	}
	return t, true
}

// ownValue reads a value of a kind that was named.
func (e *Encoder) ownValue(t *schema.Type, depth int) bool {
	if !e.tick() || !e.room(0) {
		return false
	}
	if e.at < len(e.in) && e.in[e.at] == 'n' {
		at := e.at
		return e.word("null") && e.fail(at, fault.NullElement, "null where a kind is named")
	}
	switch t.Kind {
	case thriftpackv1.Type_TYPE_STRUCT, thriftpackv1.Type_TYPE_LIST, thriftpackv1.Type_TYPE_SET, thriftpackv1.Type_TYPE_MAP:
	default:
		return e.value(t, depth)
	}
	if e.at >= len(e.in) || e.in[e.at] != '{' {
		return e.failOwn("an object for " + t.Name)
	}
	if depth > e.maxDepth {
		return e.failDepth(depth)
	}
	switch t.Kind {
	case thriftpackv1.Type_TYPE_STRUCT:
		return e.ownStruct(depth)
	case thriftpackv1.Type_TYPE_MAP:
		return e.ownMap(depth)
	default:
		return e.ownList(t.Kind, depth)
	}
}

// noFields is the type of a struct of which nothing is known.
var noFields = &schema.Struct{Name: "struct"}

// ownStruct reads a struct whose members are named by their ids.
func (e *Encoder) ownStruct(depth int) bool {
	o := openStruct{Struct: noFields, at: e.at, start: e.written, base: len(e.members), before: e.last}
	if !e.opening('}') {
		for {
			at := e.at
			name, ok := e.name()
			if !ok {
				return false
			}
			id, ok := fieldNumber(name)
			if !ok {
				return e.fail(at, fault.UnknownName, "%s is no field id", shortName(name))
			}
			if !e.ownField(&o, id, depth) {
				return false
			}
			if end, ok := e.closing('}'); !ok {
				return false
			} else if end {
				break
			}
		}
	}
	members := e.members[o.base:]
	sortMembers(members)
	for i := range members {
		if i > 0 && members[i].id() == members[i-1].id() {
			return e.failTwice(&o, members[i].id())
		}
	}
	e.members = e.members[:o.base]
	if !e.room(0) {
		return false
	}
	e.putByte(0)
	return true
}

// ownMember reads the name of a member that has to be next.
func (e *Encoder) ownMember(want string) (ok bool) {
	at := e.at
	name, ok := e.name()
	if ok && string(name) != want {
		return e.fail(at, fault.UnknownName, "member %s, want %s here", shortName(name), want)
	}
	return ok
}

// ownString reads a string.
func (e *Encoder) ownString() ([]byte, bool) { return e.content(ownTypes["string"]) }

// ownList reads {"elem": kind, "values": […]}; of an empty list of which no element type is known, there is no elem, and no encoding.
func (e *Encoder) ownList(kind thriftpackv1.Type, depth int) bool {
	object := e.at
	if e.opening('}') {
		return e.fail(object, fault.MissingField, `a list without "values"`)
	}
	at := e.at
	name, ok := e.name()
	if !ok {
		return false
	}
	if string(name) == "values" {
		return e.fail(at, fault.MissingKind, `a list without "elem" before "values"`)
	}
	if string(name) != "elem" {
		return e.fail(at, fault.UnknownName, "member %s, want elem here", shortName(name))
	}
	elem, ok := e.ownKind(e.ownString)
	if !ok || !e.comma(object, `a list without "values"`) || !e.ownMember("values") {
		return false
	}
	header, before := e.written, e.last
	if e.written++; e.binary {
		e.written += 4
	}
	set := e.seen.open()
	count, ok := e.ownElements(func(int) bool {
		if kind != thriftpackv1.Type_TYPE_SET {
			return e.ownValue(elem, depth+1)
		}
		at, spot := e.at, e.spot()
		return e.ownValue(elem, depth+1) && e.flatten(spot) && e.distinctElement(&set, at, spot.written)
	})
	if !ok {
		return false
	}
	e.seen.close(&set)
	return e.listHeader(header, before, elem.Kind, count) && e.ownEnd()
}

// comma reads the comma before a member that has to follow.
func (e *Encoder) comma(object int, missing string) bool {
	end, ok := e.closing('}')
	if end {
		return e.fail(object, fault.MissingField, "%s", missing)
	}
	return ok
}

// ownEnd reads the end of an object that has no more members.
func (e *Encoder) ownEnd() bool {
	end, ok := e.closing('}')
	if ok && !end {
		return e.fail(e.at, fault.UnknownName, "a member that such a container does not have")
	}
	return ok
}

// ownElements reads an array, each element by the function.
func (e *Encoder) ownElements(read func(index int) bool) (count int, ok bool) {
	if e.at >= len(e.in) || e.in[e.at] != '[' {
		return 0, e.failOwn("an array")
	}
	if e.opening(']') {
		return 0, true
	}
	for {
		if !e.startElement(count) {
			return count, false
		}
		if !read(count) {
			return count, e.under(count)
		}
		count++
		if end, ok := e.closing(']'); end || !ok {
			return count, ok
		}
	}
}

// ownMap reads {"key": kind, "value": kind, "entries": [{"key": …, "value": …}, …]}; an empty map may have no kinds.
func (e *Encoder) ownMap(depth int) bool {
	object := e.at
	if e.opening('}') {
		return e.fail(object, fault.MissingField, `a map without "entries"`)
	}
	var kinds schema.Type // of the keys and the values, where they are known
	at := e.at
	name, ok := e.name()
	if !ok {
		return false
	}
	switch string(name) {
	case "key":
		if kinds.Key, ok = e.ownKind(e.ownString); !ok || !e.comma(object, `a map without "value"`) || !e.ownMember("value") {
			return false
		}
		if kinds.Elem, ok = e.ownKind(e.ownString); !ok || !e.comma(object, `a map without "entries"`) || !e.ownMember("entries") {
			return false
		}
	case "entries":
	default:
		return e.fail(at, fault.UnknownName, "member %s, want key here", shortName(name))
	}
	header, before := e.written, e.last
	if e.written += 2; e.binary {
		e.written += 4
	}
	set := e.seen.open()
	count, ok := e.ownElements(func(int) bool {
		if kinds.Key == nil {
			return e.fail(e.at, fault.MissingKind, `an entry of a map without "key" and "value" before "entries"`)
		}
		return e.ownEntry(&kinds, &set, depth)
	})
	if !ok {
		return false
	}
	e.seen.close(&set)
	var key, value thriftpackv1.Type
	if kinds.Key != nil {
		key, value = kinds.Key.Kind, kinds.Elem.Kind
	}
	return e.mapHeader(header, before, key, value, count) && e.ownEnd()
}

// ownEntry reads the entry of a map, its key first.
func (e *Encoder) ownEntry(kinds *schema.Type, set *openSet, depth int) bool {
	object := e.at
	if e.at >= len(e.in) || e.in[e.at] != '{' {
		return e.failEntry()
	}
	if e.opening('}') {
		return e.fail(object, fault.MissingField, `an entry without "key"`)
	}
	if !e.ownMember("key") {
		return false
	}
	at, spot := e.at, e.spot()
	if !e.ownValue(kinds.Key, depth+1) || !e.flatten(spot) || !e.distinctKey(set, at, spot.written) {
		return e.underName("key")
	}
	if !e.comma(object, `an entry without "value"`) || !e.ownMember("value") {
		return false
	}
	if !e.ownValue(kinds.Elem, depth+1) {
		return e.underName("value")
	}
	return e.ownEnd()
}
