package conform_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// The same rules as the package's, over trees of objects and by brute force: what the package does is held against it.

// Kinds, as thriftpack.v1.Type.
const (
	kindBinary = int(thriftpackv1.Type_TYPE_BINARY)
	kindList   = int(thriftpackv1.Type_TYPE_LIST)
	kindSet    = int(thriftpackv1.Type_TYPE_SET)
	kindMap    = int(thriftpackv1.Type_TYPE_MAP)
	kindStruct = int(thriftpackv1.Type_TYPE_STRUCT)
	kindString = int(thriftpackv1.Type_TYPE_STRING)
)

// node is a value as a tree.
type node struct {
	kind    int
	number  uint64 // of scalars: an integer, the bits of a double
	text    string // of strings, binaries and uuids
	fields  []node // of structs
	id      int    // of a field
	elem    int    // the kind of elements, or of values
	elems   []node // elements, or values
	key     int    // the kind of keys
	keys    []node
	foreign bool // of a field: it is an unknown one
}

// treeOf returns a value as a tree.
func treeOf(tb testing.TB, value []byte) node {
	tb.Helper()
	var v thriftpackv1.Value
	if err := proto.Unmarshal(value, &v); err != nil {
		tb.Fatalf("%x: %v", value, err)
	}
	if again := wire(tb, &v); !bytes.Equal(again, value) {
		tb.Fatalf("not canonical:\n     %x\nwant %x", value, again)
	}
	return nodeOf(v.ProtoReflect())
}

// String is the tree as text, to compare and to read.
func (n node) String() string {
	switch n.kind {
	case kindStruct:
		var b strings.Builder
		for _, f := range n.fields {
			fmt.Fprintf(&b, " %d:%v", f.id, f)
		}
		return "{" + b.String() + " }"
	case kindMap:
		return fmt.Sprintf("map<%d,%d>%v%v", n.key, n.elem, n.keys, n.elems)
	case kindList, kindSet:
		return fmt.Sprintf("%d<%d>%v", n.kind, n.elem, n.elems)
	default:
		return fmt.Sprintf("%d(%d%q)", n.kind, n.number, n.text)
	}
}

// untyped returns the tree with empty containers that have no types.
func (n node) untyped() node {
	forAll := func(nodes []node) []node {
		nodes = slices.Clone(nodes)
		for i := range nodes {
			nodes[i] = nodes[i].untyped()
		}
		return nodes
	}
	n.fields, n.keys, n.elems = forAll(n.fields), forAll(n.keys), forAll(n.elems)
	if len(n.elems) == 0 {
		n.key, n.elem = 0, 0
	}
	return n
}

// nodeOf returns a Value or Field as a tree.
func nodeOf(m protoreflect.Message) (n node) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if f.ContainingOneof() == nil {
			n.id = int(v.Int())
			return true
		}
		id := n.id
		n = scalarOf(f, v)
		n.id = id
		return true
	})
	if f := m.Descriptor().Fields().ByName("id"); f != nil {
		n.id = int(m.Get(f).Int())
	}
	return n
}

// scalarOf returns one member, or element, as a tree.
func scalarOf(f protoreflect.FieldDescriptor, v protoreflect.Value) (n node) {
	n.kind = int(f.Number())
	switch f.Kind() {
	case protoreflect.BoolKind:
		if v.Bool() {
			n.number = 1
		}
	case protoreflect.Sint32Kind, protoreflect.Sint64Kind:
		n.number = uint64(v.Int())
	case protoreflect.DoubleKind:
		n.number = math.Float64bits(v.Float())
	case protoreflect.BytesKind:
		n.text = string(v.Bytes())
	case protoreflect.StringKind:
		n.text = v.String()
	default:
		inner := v.Message()
		members := inner.Descriptor().Fields()
		switch n.kind {
		case kindStruct:
			fields := inner.Get(members.ByName("fields")).List()
			for i := range fields.Len() {
				n.fields = append(n.fields, nodeOf(fields.Get(i).Message()))
			}
		case kindMap:
			n.key, n.keys = columnOf(inner.Get(members.ByName("keys")).Message())
			n.elem, n.elems = columnOf(inner.Get(members.ByName("values")).Message())
		default:
			n.elem, n.elems = columnOf(inner)
		}
	}
	return n
}

// columnOf returns the elements of a List, and their kind.
func columnOf(m protoreflect.Message) (kind int, nodes []node) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if f.Name() == "element_type" {
			kind = int(v.Enum())
			return true
		}
		kind = int(f.Number())
		if f.Name() == "i8s" {
			for _, b := range v.Bytes() {
				nodes = append(nodes, node{kind: kind, number: uint64(int8(b))})
			}
			return false
		}
		list := v.List()
		for i := range list.Len() {
			nodes = append(nodes, scalarOf(f, list.Get(i)))
		}
		return false
	})
	return kind, nodes
}

// plain checks decoded trees.
type plain struct {
	lenient, keep, json bool
	dropped             int
}

// reasonError stops a check.
type reasonError fault.Reason

// check returns the tree to give out, or panics with a reasonError.
func (p *plain) check(t *schema.Type, n node) node {
	kind := int(t.Kind)
	switch {
	case kind == kindString && n.kind == kindBinary:
		if !utf8.ValidString(n.text) {
			if !p.lenient {
				panic(reasonError(fault.BadUTF8))
			}
			return n
		}
		n.kind = kindString
		return n
	case kind != n.kind:
		panic(reasonError(fault.TypeMismatch))
	case kind == kindStruct:
		return p.structure(t.Struct, n)
	case kind == kindMap:
		p.once(&n)
		n.elem, n.elems = p.column(t.Elem, n.elem, n.elems)
		n.key, n.keys = p.column(t.Key, n.key, n.keys)
	case kind == kindList, kind == kindSet:
		p.once(&n)
		n.elem, n.elems = p.column(t.Elem, n.elem, n.elems)
	}
	return n
}

// once drops what a set or a map has twice.
func (p *plain) once(n *node) {
	switch n.kind {
	case kindMap:
		n.keys, n.elems = p.unique(n.keys, n.elems, fault.DuplicateKey)
	case kindSet:
		slices.Reverse(n.elems) // of a set the first counts
		n.elems, _ = p.unique(n.elems, make([]node, len(n.elems)), fault.DuplicateElement)
		slices.Reverse(n.elems)
	}
}

// unique drops the keys that are the same as later ones, and their values.
func (p *plain) unique(keys, values []node, reason fault.Reason) (uniqueKeys, itsValues []node) {
	for i := range keys {
		again := slices.ContainsFunc(keys[i+1:], func(n node) bool { return same(n, keys[i]) })
		if again && !p.lenient {
			panic(reasonError(reason))
		}
		if !again {
			uniqueKeys, itsValues = append(uniqueKeys, keys[i]), append(itsValues, values[i])
		}
	}
	return uniqueKeys, itsValues
}

// same compares trees.
func same(a, b node) bool { return a.String() == b.String() }

// column checks elements.
func (p *plain) column(t *schema.Type, elem int, elems []node) (kind int, checked []node) {
	kind = int(t.Kind)
	if len(elems) == 0 {
		given := elem
		if given == kindBinary && kind == kindString {
			given = kindString
		}
		if given != 0 && given != kind && !p.lenient {
			panic(reasonError(fault.TypeMismatch))
		}
		return kind, nil
	}
	for _, n := range elems {
		checked = append(checked, p.check(t, n))
	}
	if kind == kindString && slices.ContainsFunc(checked, func(n node) bool { return n.kind == kindBinary }) {
		kind = kindBinary
		for i := range checked {
			checked[i].kind = kindBinary
		}
	}
	return kind, checked
}

// fits reports whether a value has the kinds of a type, but for what is inside of structs.
func fits(t *schema.Type, n node) bool {
	kind := int(t.Kind)
	if kind != n.kind && !(kind == kindString && n.kind == kindBinary) {
		return false
	}
	inner := func(t *schema.Type, nodes []node) bool {
		return !slices.ContainsFunc(nodes, func(n node) bool { return !fits(t, n) })
	}
	switch kind {
	case kindList, kindSet:
		return inner(t.Elem, n.elems)
	case kindMap:
		return inner(t.Key, n.keys) && inner(t.Elem, n.elems)
	default:
		return true
	}
}

// structure checks a struct, nil for one without a type.
func (p *plain) structure(s *schema.Struct, n node) node {
	fields := make([]*schema.Field, len(n.fields))
	known := 0
	for i := range n.fields {
		if s != nil {
			fields[i] = s.FieldByID(int16(n.fields[i].id))
		}
		if p.lenient && fields[i] != nil && !fits(fields[i].Type, n.fields[i]) {
			fields[i] = nil
		}
		n.fields[i].foreign = fields[i] == nil
	}
	var kept []node
	total := 0
	for i, f := range n.fields {
		again := slices.ContainsFunc(n.fields[i+1:], func(later node) bool { return later.id == f.id && later.foreign == f.foreign })
		if f.foreign && !p.keep {
			p.dropped++
			total++
			continue
		}
		if again && p.lenient {
			continue
		}
		total++
		if !f.foreign {
			known++
			f = p.check(fields[i].Type, f)
		} else {
			f = p.untyped(f)
		}
		if again {
			panic(reasonError(fault.DuplicateField))
		}
		f.foreign = n.fields[i].foreign
		kept = append(kept, f)
	}
	if s != nil && p.json {
		slices.SortStableFunc(kept, func(a, b node) int {
			if a.id != b.id || a.foreign == b.foreign {
				return cmp.Compare(a.id, b.id)
			}
			if b.foreign {
				return -1
			}
			return 1
		})
	}
	if s != nil && s.Union && total != 1 && !(p.lenient && known <= 1) {
		panic(reasonError(fault.UnionArity))
	}
	for i := range kept {
		kept[i].foreign = false
	}
	n.fields = kept
	if s != nil && !s.Union {
		for i := range s.Fields {
			f := &s.Fields[i]
			has := false
			for j := range fields {
				has = has || fields[j] == f
			}
			if f.Requirement == schema.Required && !has {
				panic(reasonError(fault.MissingField))
			}
		}
	}
	return n
}

// untyped checks a value without a type: that its structs have no field twice, its sets no element and its maps no key.
func (p *plain) untyped(n node) node {
	switch n.kind {
	case kindStruct:
		return p.structure(nil, n)
	case kindList, kindSet, kindMap:
		p.once(&n)
		for i := range n.elems {
			n.elems[i] = p.untyped(n.elems[i])
		}
		for i := range n.keys {
			n.keys[i] = p.untyped(n.keys[i])
		}
	}
	return n
}
