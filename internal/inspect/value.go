package inspect

import (
	"fmt"
	"math"
	"strconv"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// value reads one value of type t. It says false where what comes next is not known.
func (r *reader) value(t thriftpackv1.Type) bool {
	switch t {
	case thriftpackv1.Type_TYPE_BOOL:
		return r.boolByte()
	case thriftpackv1.Type_TYPE_I8, thriftpackv1.Type_TYPE_I16, thriftpackv1.Type_TYPE_I32, thriftpackv1.Type_TYPE_I64:
		return r.integer(t)
	case thriftpackv1.Type_TYPE_DOUBLE:
		return r.double()
	case thriftpackv1.Type_TYPE_UUID:
		return r.uuid()
	case thriftpackv1.Type_TYPE_BINARY, thriftpackv1.Type_TYPE_STRING:
		return r.blob(kindLength, "")
	case thriftpackv1.Type_TYPE_STRUCT, thriftpackv1.Type_TYPE_LIST, thriftpackv1.Type_TYPE_SET, thriftpackv1.Type_TYPE_MAP:
		return r.nested(t)
	case thriftpackv1.Type_TYPE_UNSPECIFIED:
	}
	return r.refuse(r.pos, 1, fault.BadType, "type %d is not one", int32(t))
}

// nested reads a struct or container one level deeper.
func (r *reader) nested(t thriftpackv1.Type) bool {
	if r.depth++; r.depth > r.o.MaxDepth {
		return r.refuse(r.pos, 1, fault.DepthLimit, "nesting of %d exceeds the limit of %d", r.depth, r.o.MaxDepth)
	}
	defer func() { r.depth-- }()
	switch t {
	case thriftpackv1.Type_TYPE_STRUCT:
		return r.structure()
	case thriftpackv1.Type_TYPE_MAP:
		return r.mapping()
	default:
		return r.list(t)
	}
}

// structure reads fields up to the stop.
func (r *reader) structure() bool {
	if r.index != noIndex {
		// An element has no header of its own, so it gets a row without bytes.
		if w := r.startHere(kindStruct, r.pos); w != nil {
			w.typ = "struct"
			r.put(w)
		}
		r.indent++
		defer func() { r.indent-- }()
	}
	r.index, r.part = noIndex, ""
	var declared *schema.Struct
	if r.declared != nil {
		declared = r.declared.Struct
	}
	var g gap
	last := int32(0)
	for i := 0; ; i++ {
		if r.pos < r.end && r.data[r.pos] == 0 {
			r.flush(&g, "fields")
			return r.stop()
		}
		r.push(stepHeader, 0)
		r.enter(i, &g, "fields")
		ok, stopped := r.field(&last, i == 0, declared)
		r.pop()
		r.leave(&g)
		if !ok || stopped {
			return ok
		}
	}
}

func (r *reader) stop() bool {
	r.pos++
	r.tally.stops++
	if w := r.start(kindStop, r.pos-1, r.pos); w != nil {
		w.note = "end of the root struct"
		if len(r.place) > 0 {
			w.note = "end of struct " + pathOf(r.place)
		}
		r.put(w)
	}
	return true
}

// field reads a field, header and value. Only the compact protocol has stops with a delta, so stopped is for those.
func (r *reader) field(last *int32, first bool, in *schema.Struct) (ok, stopped bool) {
	h, ok := r.fieldHeader(*last)
	if !ok || h.stop {
		return ok, h.stop
	}
	r.place[len(r.place)-1].id, r.place[len(r.place)-1].what = h.id, stepField
	r.tally.field(h, *last, first)
	*last = h.id
	r.showField(h, in)
	if h.inline {
		return !r.dead, false
	}
	r.indent++
	r.index, r.part = noIndex, ""
	ok = r.value(h.typ)
	r.indent--
	return ok && !r.dead, false
}

// showField shows a field's header, and declares the type of its value.
func (r *reader) showField(h header, in *schema.Struct) {
	f := fieldIn(in, h.id)
	if r.declared = nil; f != nil {
		r.declare(f.Type, h.typ)
	}
	w := r.start(kindField, h.start, r.pos)
	if w == nil {
		return
	}
	w.hasID, w.id, w.typ, w.form, w.note = true, h.id, typeNames[h.typ], h.form, h.note()
	switch {
	case r.declared != nil:
		w.name, w.named = f.Name, f.Type.Name
	case f != nil:
		w.name = f.Name
		w.note += "; declared as " + f.Type.Name
	case in != nil:
		w.note += "; " + in.Name + " has no such field"
	}
	if h.inline {
		w.value = strconv.FormatBool(h.truth)
	}
	if h.typ == thriftpackv1.Type_TYPE_BINARY && r.peekText(r.pos) {
		w.typ = "string"
	}
	r.put(w)
}

// elements reads n values of type t.
func (r *reader) elements(n int, t thriftpackv1.Type) bool {
	var element *schema.Type
	if r.declared != nil {
		element = r.declared.Elem
	}
	r.indent++
	defer func() { r.indent-- }()
	var g gap
	for i := 0; i < n; i++ {
		if i += r.skip(i, n, t, &g); i == n {
			break
		}
		r.push(stepElement, i)
		r.enter(i, &g, "elements")
		r.index, r.part = i, ""
		r.declare(element, t)
		ok := r.value(t)
		r.pop()
		r.leave(&g)
		if !ok || r.dead {
			return false
		}
	}
	r.flush(&g, "elements")
	return true
}

// skip passes over elements from the i-th on that are of one fixed size, need no row and have no fault, and says how many.
// It makes a list<bool> of 16 Mi elements a matter of milliseconds.
func (r *reader) skip(i, n int, t thriftpackv1.Type, g *gap) int {
	hidden := !r.showing()
	if !hidden && (r.o.All || (i < r.o.MaxElements && r.rows < r.o.MaxRows)) {
		return 0
	}
	width := r.least(t)
	most := byte(255)
	switch t {
	case thriftpackv1.Type_TYPE_BOOL:
		most = r.mostBool()
	case thriftpackv1.Type_TYPE_I8, thriftpackv1.Type_TYPE_UUID:
	default:
		return 0
	}
	k := min(n-i, (r.end-r.pos)/width)
	if most < 255 {
		for j, b := range r.data[r.pos : r.pos+k] {
			if b > most {
				k = j
				break
			}
		}
	}
	if !hidden && k > 0 {
		if g.count == 0 {
			g.from = r.pos
		}
		g.count += k
	}
	r.pos += k * width
	return k
}

func (r *reader) list(t thriftpackv1.Type) bool {
	start := r.pos
	h, ok := r.listHeader()
	if !ok {
		return false
	}
	r.tally.container(h.size)
	if w := r.startHere(kindList, start); w != nil {
		w.typ = fmt.Sprintf("%s<%s>", typeNames[t], r.elementName(h.element, h.size))
		w.count, w.form, w.note = int64(h.size), h.form, h.note
		r.put(w)
	}
	if h.badType {
		r.fault(start, 1, fault.BadType, "element type 0, which is no type")
	}
	if least := r.least(h.element); int64(h.size)*int64(least) > int64(r.end-r.pos) {
		r.fault(h.sizeAt, r.pos-h.sizeAt, fault.Truncated, "%s of at least %s each, but %s", plural(h.size, "element"), plural(least, "byte"), remain(r.end-r.pos))
	}
	if r.dead {
		return false
	}
	return r.elements(h.size, h.element)
}

func (r *reader) mapping() bool {
	start := r.pos
	h, ok := r.mapHeader()
	if !ok {
		return false
	}
	r.tally.container(h.size)
	if w := r.startHere(kindMap, start); w != nil {
		w.typ, w.count, w.form, w.note = "map", int64(h.size), h.form, h.note
		if h.key != 0 || h.element != 0 {
			w.typ = fmt.Sprintf("map<%s, %s>", r.elementName(h.key, h.size), r.valueName(h))
		}
		r.put(w)
	}
	if least := r.least(h.key) + r.least(h.element); int64(h.size)*int64(least) > int64(r.end-r.pos) {
		r.fault(h.sizeAt, h.sizeEnd-h.sizeAt, fault.Truncated, "%s of at least %s each, but %s", entries(h.size), plural(least, "byte"), remain(r.end-r.pos))
	}
	if r.dead {
		return false
	}
	return r.entries(h)
}

func (r *reader) entries(h containerHeader) bool {
	r.indent++
	defer func() { r.indent-- }()
	var key, value *schema.Type
	if r.declared != nil {
		key, value = r.declared.Key, r.declared.Elem
	}
	var g gap
	for i := range h.size {
		r.push(stepKey, i)
		r.enter(i, &g, "entries")
		r.index, r.part = i, "key"
		r.declare(key, h.key)
		ok := r.value(h.key)
		if ok && !r.dead {
			r.place[len(r.place)-1].what = stepValue
			r.index, r.part = i, "value"
			r.declare(value, h.element)
			ok = r.value(h.element)
		}
		r.pop()
		r.leave(&g)
		if !ok || r.dead {
			return false
		}
	}
	r.flush(&g, "entries")
	return true
}

// least is how few bytes a value of type t has.
func (r *reader) least(t thriftpackv1.Type) int {
	if r.plan.protocol == Compact && t != thriftpackv1.Type_TYPE_DOUBLE && t != thriftpackv1.Type_TYPE_UUID {
		return 1
	}
	switch t {
	case thriftpackv1.Type_TYPE_UUID:
		return 16
	case thriftpackv1.Type_TYPE_I16:
		return 2
	case thriftpackv1.Type_TYPE_I32, thriftpackv1.Type_TYPE_BINARY, thriftpackv1.Type_TYPE_STRING:
		return 4
	case thriftpackv1.Type_TYPE_I64, thriftpackv1.Type_TYPE_DOUBLE:
		return 8
	case thriftpackv1.Type_TYPE_LIST, thriftpackv1.Type_TYPE_SET:
		return 5
	case thriftpackv1.Type_TYPE_MAP:
		return 6
	default:
		return 1
	}
}

// size turns a size as the bytes have it into an int, or refuses it.
func (r *reader) size(v uint32, at int, what string) (int, bool) {
	if v > math.MaxInt32 {
		return 0, r.refuse(at, r.pos-at, fault.NegativeSize, "%s %d, which is %d as an i32", what, v, int32(v)) //nolint:gosec // shows the wrap
	}
	return int(v), true
}
