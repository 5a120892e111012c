package schema

import (
	"crypto/sha256"
	"encoding/binary"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// difference is how two types differ, beside what differs in structs and enums that they share.
type difference uint8

const (
	// differentWire: the bytes are of another kind somewhere. No widening of integers is safe: fields and elements carry the code of their type.
	differentWire difference = 1 << iota
	// The bytes are the same somewhere, but not what they may hold or how JSON writes them.
	binaryMadeString
	stringMadeBinary
	enumMadeInteger
	integerMadeEnum
)

// typeChange adds the changes of a difference. The rule is for bytes of another kind.
func (c *comparison) typeChange(rule Rule, path string, d difference, old, updated *Type, was, is Position) {
	detail := "the type is " + briefly(updated.Name) + ", was " + briefly(old.Name)
	if d&differentWire != 0 {
		c.add(rule, path, detail, was, is)
		return // the rest hardly matters then
	}
	for _, one := range []struct {
		difference difference
		rule       Rule
	}{
		{binaryMadeString, BinaryMadeString},
		{stringMadeBinary, StringMadeBinary},
		{enumMadeInteger, EnumMadeInteger},
		{integerMadeEnum, IntegerMadeEnum},
	} {
		if d&one.difference != 0 {
			c.add(one.rule, path, detail, was, is)
		}
	}
}

// difference compares two types. Structs and enums in them are put on the worklist, and what differs in them is reported at
// path where they do not have the same name. It goes down by calls only through containers, whose nesting is bounded.
func (c *comparison) difference(old, updated *Type, path string) difference {
	if old.Elem == nil || updated.Elem == nil {
		return c.leafDifference(old, updated, path)
	}
	if old.Kind != updated.Kind {
		return differentWire
	}
	pair := [2]*Type{old, updated}
	known, ok := c.types[pair] // there may be 2^n ways through n containers
	if ok {
		return known
	}
	d := c.difference(old.Elem, updated.Elem, path)
	if old.Key != nil {
		d |= c.difference(old.Key, updated.Key, path)
	}
	c.types[pair] = d
	return d
}

// leafDifference compares two types of which at least one is no container.
func (c *comparison) leafDifference(old, updated *Type, path string) difference {
	switch {
	case old.Struct != nil && updated.Struct != nil:
		return c.pairStructs(structPair{old: old.Struct, updated: updated.Struct, path: placeOf(old, updated, path)})
	case old.Enum != nil && updated.Enum != nil:
		return c.pairEnums(old.Enum, updated.Enum, placeOf(old, updated, path), false)
	case old.Kind == thriftpackv1.Type_TYPE_BINARY && updated.Kind == thriftpackv1.Type_TYPE_STRING:
		return binaryMadeString
	case old.Kind == thriftpackv1.Type_TYPE_STRING && updated.Kind == thriftpackv1.Type_TYPE_BINARY:
		return stringMadeBinary
	case old.Kind != updated.Kind:
		return differentWire
	case old.Enum != nil:
		return enumMadeInteger
	case updated.Enum != nil:
		return integerMadeEnum
	default:
		return 0
	}
}

// placeOf returns where changes in a struct or enum are reported: at its name, or at the path where another stands in its place.
func placeOf(old, updated *Type, path string) string {
	if old.Name == updated.Name {
		return briefly(old.Name)
	}
	return path
}

// mayKeepCompany counts a pair that is not by name.
func (c *comparison) mayKeepCompany(old, updated any) bool {
	c.company[old]++
	c.company[updated]++
	return c.company[old] <= mostCompany && c.company[updated] <= mostCompany
}

// shape is a digest of what a type is on the wire, without the names of types and without what is in structs and enums.
type shape [sha256.Size]byte

// shapeOf returns the shape of a type.
func (c *comparison) shapeOf(t *Type) shape {
	if known, ok := c.shapes[t]; ok {
		return known
	}
	text := []byte{byte(t.Kind)} //nolint:gosec // kinds are 2..15
	if t.Enum != nil {
		text[0] = 'e'
	}
	if t.Key != nil {
		of := c.shapeOf(t.Key)
		text = append(text, of[:]...)
	}
	if t.Elem != nil {
		of := c.shapeOf(t.Elem)
		text = append(text, of[:]...)
	}
	made := shape(sha256.Sum256(text))
	c.shapes[t] = made
	return made
}

// print returns a digest of a struct or enum without its name, and whether it has anything to be known by.
func (c *comparison) print(d *declaration) (shape, bool) {
	c.pause()
	h := sha256.New()
	put := func(number int64, name string) {
		var head [16]byte
		binary.LittleEndian.PutUint64(head[:], uint64(number)) //nolint:gosec // the bits are meant
		binary.LittleEndian.PutUint64(head[8:], uint64(len(name)))
		h.Write(append(head[:], name...))
	}
	put(0, string(d.noun))
	switch {
	case d.noun == nounTypedef || d.noun == nounArgs || d.noun == nounResult:
		return shape{}, false
	case d.t.Struct != nil:
		for i := range d.t.Struct.Fields {
			f := &d.t.Struct.Fields[i]
			put(int64(f.ID), f.Name)
			of := c.shapeOf(f.Type)
			c.pause()
			h.Write(append(of[:], byte(f.Requirement)))
		}
		return shape(h.Sum(nil)), len(d.t.Struct.Fields) > 0
	default:
		for _, v := range d.t.Enum.Values {
			put(int64(v.Number), v.Name)
		}
		return shape(h.Sum(nil)), len(d.t.Enum.Values) > 0
	}
}

// renames finds which of the names that are gone are among those that were added: where what they stand for is the same but
// for its name, and nothing else that is gone or added is.
func (c *comparison) renames(gone, added []string, old, updated map[string]*declaration) map[string]string {
	byPrint := func(names []string, of map[string]*declaration) map[shape][]string {
		found := map[shape][]string{}
		for _, name := range names {
			if s, ok := c.print(of[name]); ok {
				found[s] = append(found[s], name)
			}
		}
		return found
	}
	was, is := byPrint(gone, old), byPrint(added, updated)
	renamed := map[string]string{}
	for s, names := range was {
		if len(names) == 1 && len(is[s]) == 1 {
			renamed[names[0]] = is[s][0]
		}
	}
	return renamed
}
