package cli

import (
	"fmt"
	"iter"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// In thriftpack.v1 a kind has the same number everywhere: as a member of Value and Field, as a column of List, and as a Type. That is
// what the functions of this file go by.

var (
	valueKind = (*thriftpackv1.Value)(nil).ProtoReflect().Descriptor().Oneofs().ByName("kind")
	columns   = (*thriftpackv1.List)(nil).ProtoReflect().Descriptor().Fields()
	fieldKind = (*thriftpackv1.Field)(nil).ProtoReflect().Descriptor().Fields()
)

// kindOf returns the kind of a value; ok is false where none is set.
func kindOf(v *thriftpackv1.Value) (kind thriftpackv1.Type, ok bool) {
	member := v.ProtoReflect().WhichOneof(valueKind)
	if member == nil {
		return 0, false
	}
	return thriftpackv1.Type(member.Number()), true
}

// typeWord is a type as --root-type has it.
func typeWord(t thriftpackv1.Type) string {
	return strings.ToLower(strings.TrimPrefix(t.String(), "TYPE_"))
}

// column returns the first column of a list that holds something, nil where it is empty.
func column(l *thriftpackv1.List) (found protoreflect.FieldDescriptor) {
	l.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		if f.Number() != 1 && (found == nil || f.Number() < found.Number()) { // 1 is element_type
			found = f
		}
		return true
	})
	return found
}

// elementTypeOf returns the type of a list's elements.
func elementTypeOf(l *thriftpackv1.List) thriftpackv1.Type {
	if c := column(l); c != nil {
		return thriftpackv1.Type(c.Number())
	}
	return l.GetElementType()
}

// lengthOf returns how many elements a list has.
func lengthOf(l *thriftpackv1.List) int64 {
	c := column(l)
	switch {
	case c == nil:
		return 0
	case c.IsList():
		return int64(l.ProtoReflect().Get(c).List().Len())
	default:
		return int64(len(l.GetI8S()))
	}
}

// fieldOf returns the field of that id with a value. It aliases the value.
func fieldOf(id int32, v *thriftpackv1.Value) *thriftpackv1.Field {
	f := &thriftpackv1.Field{Id: id}
	if member := v.ProtoReflect().WhichOneof(valueKind); member != nil {
		f.ProtoReflect().Set(fieldKind.ByNumber(member.Number()), v.ProtoReflect().Get(member))
	}
	return f
}

// appendElement appends a value to a list, in the column of its kind. It aliases the value.
func appendElement(l *thriftpackv1.List, v *thriftpackv1.Value) {
	member := v.ProtoReflect().WhichOneof(valueKind)
	switch {
	case member == nil:
	case member.Number() == protoreflect.FieldNumber(thriftpackv1.Type_TYPE_I8):
		l.I8S = append(l.I8S, byte(v.GetI8())) //nolint:gosec // two's complement
	default:
		c := columns.ByNumber(member.Number())
		l.ProtoReflect().Mutable(c).List().Append(v.ProtoReflect().Get(member))
	}
}

// appendElements appends the elements of more to a list. It aliases them.
func appendElements(l, more *thriftpackv1.List) {
	i8s := more.GetI8S()
	more.I8S = nil
	proto.Merge(l, more)
	l.I8S = append(l.I8S, i8s...)
}

// elements yields the elements of a list as values, which alias it.
func elements(l *thriftpackv1.List) iter.Seq[*thriftpackv1.Value] {
	return func(yield func(*thriftpackv1.Value) bool) {
		for _, b := range l.GetI8S() {
			if !yield(&thriftpackv1.Value{Kind: &thriftpackv1.Value_I8{I8: int32(int8(b))}}) { //nolint:gosec // two's complement
				return
			}
		}
		c := column(l)
		if c == nil || !c.IsList() {
			return
		}
		member, held := valueKind.Fields().ByNumber(c.Number()), l.ProtoReflect().Get(c).List()
		for i := range held.Len() {
			v := new(thriftpackv1.Value)
			v.ProtoReflect().Set(member, held.Get(i))
			if !yield(v) {
				return
			}
		}
	}
}

// assembler puts values together from parts. The zero value is at the root.
type assembler struct {
	// emit gets each value that is complete.
	emit func(*thriftpackv1.Value) error
	// skip is how many containers around the values are not part of them: 1 for the elements of a root list.
	skip int
	// most bounds the wire bytes of the parts of one value.
	most int

	open []*assembled
	held int
}

// assembled is what a Begin has opened.
type assembled struct {
	begin *thriftpackv1.Begin
	value *thriftpackv1.Value
	data  []byte
}

// add takes the next part. It keeps parts of it.
func (a *assembler) add(part *thriftpackv1.Part) error {
	if a.held += proto.Size(part); a.held > a.most {
		return fmt.Errorf("a value of more than %d bytes is too large to be one line (--max-line); --output parts has no such bound", a.most)
	}
	top := a.top()
	switch p := part.GetPart().(type) {
	case *thriftpackv1.Part_Begin:
		a.open = append(a.open, newAssembled(p.Begin))
	case *thriftpackv1.Part_Fields:
		if s := top.GetStruct(); s != nil {
			s.Fields = append(s.Fields, p.Fields.GetFields()...)
		}
	case *thriftpackv1.Part_Elements:
		if top == nil {
			return a.emitAll(p.Elements)
		}
		l := top.GetList()
		if l == nil {
			l = top.GetSet()
		}
		if l != nil {
			appendElements(l, p.Elements)
		}
	case *thriftpackv1.Part_Entries:
		if m := top.GetMap(); m != nil {
			appendElements(m.GetKeys(), p.Entries.GetKeys())
			appendElements(m.GetValues(), p.Entries.GetValues())
		}
	case *thriftpackv1.Part_Data:
		if n := len(a.open); n > 0 {
			a.open[n-1].data = append(a.open[n-1].data, p.Data...)
		}
	case *thriftpackv1.Part_End:
		return a.end()
	}
	return nil
}

// top is the value that is open innermost, or nil where what is open is no part of a value.
func (a *assembler) top() *thriftpackv1.Value {
	if len(a.open) <= a.skip {
		return nil
	}
	return a.open[len(a.open)-1].value
}

// emitAll emits the elements of a list.
func (a *assembler) emitAll(l *thriftpackv1.List) error {
	a.held = 0
	for v := range elements(l) {
		if err := a.emit(v); err != nil {
			return err
		}
	}
	return nil
}

// newAssembled begins a value.
func newAssembled(b *thriftpackv1.Begin) *assembled {
	o := &assembled{begin: b, value: new(thriftpackv1.Value)}
	empty := func(t thriftpackv1.Type) *thriftpackv1.List {
		if b.GetSize() > 0 {
			t = thriftpackv1.Type_TYPE_UNSPECIFIED // the column says it
		}
		return &thriftpackv1.List{ElementType: t}
	}
	switch b.GetType() { //nolint:exhaustive // strings and binaries become values at their end; there are no others
	case thriftpackv1.Type_TYPE_STRUCT:
		o.value.Kind = &thriftpackv1.Value_Struct{Struct: &thriftpackv1.Struct{}}
	case thriftpackv1.Type_TYPE_LIST:
		o.value.Kind = &thriftpackv1.Value_List{List: empty(b.GetElementType())}
	case thriftpackv1.Type_TYPE_SET:
		o.value.Kind = &thriftpackv1.Value_Set{Set: empty(b.GetElementType())}
	case thriftpackv1.Type_TYPE_MAP:
		o.value.Kind = &thriftpackv1.Value_Map{Map: &thriftpackv1.Map{Keys: empty(b.GetKeyType()), Values: empty(b.GetElementType())}}
	}
	return o
}

// end closes what is open innermost and puts it where it belongs.
func (a *assembler) end() error {
	n := len(a.open) - 1
	if n < 0 {
		return nil
	}
	done := a.open[n]
	a.open = a.open[:n]
	switch done.begin.GetType() { //nolint:exhaustive // containers are values already
	case thriftpackv1.Type_TYPE_STRING:
		done.value.Kind = &thriftpackv1.Value_String_{String_: string(done.data)}
	case thriftpackv1.Type_TYPE_BINARY:
		done.value.Kind = &thriftpackv1.Value_Binary{Binary: done.data}
	}
	if n < a.skip {
		return nil
	}
	if n == a.skip {
		a.held = 0
		return a.emit(done.value)
	}
	switch around := a.open[n-1].value; around.GetKind().(type) {
	case *thriftpackv1.Value_Struct:
		s := around.GetStruct()
		s.Fields = append(s.Fields, fieldOf(done.begin.GetFieldId(), done.value))
	case *thriftpackv1.Value_List:
		appendElement(around.GetList(), done.value)
	case *thriftpackv1.Value_Set:
		appendElement(around.GetSet(), done.value)
	case *thriftpackv1.Value_Map:
		appendElement(around.GetMap().GetKeys(), done.begin.GetKey())
		appendElement(around.GetMap().GetValues(), done.value)
	}
	return nil
}
