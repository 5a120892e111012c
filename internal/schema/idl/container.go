package idl

import (
	"encoding/binary"
	"math"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// list makes a list or a set. As in Apache's compiler, {} is empty as well.
func (e *constants) list(v *Value, value *raw, depth int) (*Value, bool) {
	if value.kind != rawList && (value.kind != rawMap || value.count > 0) {
		return e.mismatch(value, v.Type)
	}
	sound := true
	v.Elements = make([]*Value, 0, value.count)
	for item := value.first; item != nil; item = item.next {
		element, ok := e.value(item, v.Type.Elem, depth+1)
		sound = sound && ok
		v.Elements = append(v.Elements, element)
	}
	if sound && v.Type.Kind == KindSet && len(v.Elements) > 1 {
		e.dropRepeated(v)
	}
	return v, sound
}

// dropRepeated leaves one of each element in a set.
func (e *constants) dropRepeated(v *Value) {
	seen := make(map[string]bool, len(v.Elements))
	kept := v.Elements[:0]
	for _, element := range v.Elements {
		e.key = appendKey(e.key[:0], element)
		if seen[string(e.key)] {
			e.report.warn(element.Position, "this element is in the set already")
			continue
		}
		seen[string(e.key)] = true
		kept = append(kept, element)
	}
	v.Elements = kept
}

// mapping makes a map. As in Apache's compiler, [] is empty as well, and of repeated keys the last counts.
func (e *constants) mapping(v *Value, value *raw, depth int) (*Value, bool) {
	if value.kind != rawMap && (value.kind != rawList || value.count > 0) {
		return e.mismatch(value, v.Type)
	}
	sound := true
	v.Entries = make([]Entry, 0, value.count/2)
	at := make(map[string]int)
	for name := value.first; name != nil; name = name.next.next {
		key, keyOK := e.value(name, v.Type.Key, depth+1)
		item, itemOK := e.value(name.next, v.Type.Elem, depth+1)
		if !keyOK || !itemOK {
			sound = false
			continue
		}
		if value.count == 2 { // one cannot repeat; a chain of maps in keys would be read at every level
			v.Entries = append(v.Entries, Entry{Key: key, Value: item})
			break
		}
		e.key = appendKey(e.key[:0], key)
		if first, twice := at[string(e.key)]; twice {
			e.report.warn(key.Position, "this key is in the map already: the last value counts")
			v.Entries[first].Value = item
			continue
		}
		at[string(e.key)] = len(v.Entries)
		v.Entries = append(v.Entries, Entry{Key: key, Value: item})
	}
	return v, sound
}

// structure makes a struct, union or exception, which is written as a map of names.
func (e *constants) structure(v *Value, value *raw, depth int) (*Value, bool) {
	if value.kind != rawMap {
		return e.mismatch(value, v.Type)
	}
	s := v.Type.Struct
	sound := true
	var names repeats[*Field]
	for name := value.first; name != nil; name = name.next.next {
		if name.kind != rawText {
			_, sound = e.fail(name, fault.SchemaConstType, "the name of a field of %s is written as a text", clip(s.Name))
			continue
		}
		f := e.field(s, name.text)
		if f == nil {
			_, sound = e.fail(name, fault.SchemaUndefined, "%s has no field of this name", clip(s.Name))
			continue
		}
		item, ok := e.value(name.next, f.Type, depth+1)
		if !ok {
			sound = false
			continue
		}
		if first, twice := names.of(f, len(v.Fields), func(i int) *Field { return v.Fields[i].Field }); twice {
			e.report.warn(e.place(name), "this field is set already: the last value counts")
			v.Fields[first].Value = item
			continue
		}
		v.Fields = append(v.Fields, FieldValue{Field: f, Value: item})
	}
	if sound && s.Kind == Union && len(v.Fields) != 1 {
		return e.fail(value, fault.SchemaRule, "a value of union %s has one member, not %d", clip(s.Name), len(v.Fields))
	}
	return v, sound
}

// field returns the field of a name, or nil.
func (e *constants) field(s *Struct, name string) *Field {
	index := e.fields[s]
	if index == nil {
		index = make(map[string]*Field, len(s.Fields))
		for _, f := range s.Fields {
			index[f.Name] = f
		}
		e.fields[s] = index
	}
	return index[name]
}

// appendKey appends bytes that are the same for values that are the same, of one type.
func appendKey(key []byte, v *Value) []byte {
	key = binary.LittleEndian.AppendUint64(key, uint64(v.Int)) //nolint:gosec // the bits are kept
	key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v.Double))
	key = binary.AppendUvarint(key, uint64(len(v.Text)))
	key = append(key, v.Text...)
	key = binary.AppendUvarint(key, uint64(len(v.Elements)+len(v.Entries)+len(v.Fields)))
	for _, element := range v.Elements {
		key = appendKey(key, element)
	}
	for i := range v.Entries {
		key = appendKey(appendKey(key, v.Entries[i].Key), v.Entries[i].Value)
	}
	for i := range v.Fields {
		key = binary.LittleEndian.AppendUint16(key, uint16(v.Fields[i].Field.ID)) //nolint:gosec // the bits are kept
		key = appendKey(key, v.Fields[i].Value)
	}
	return key
}
