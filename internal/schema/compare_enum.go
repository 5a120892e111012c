package schema

import "strconv"

// pairEnums puts two enums on the worklist, once.
func (c *comparison) pairEnums(old, updated *Enum, path string, byName bool) difference {
	pair := [2]*Enum{old, updated}
	if c.enums[pair] {
		return 0
	}
	if !byName && !c.mayKeepCompany(old, updated) {
		return differentWire
	}
	c.enums[pair] = true
	c.queue = append(c.queue, func() { c.compareEnums(old, updated, path) })
	return 0
}

// compareEnums compares the names of numbers. A number may have several.
func (c *comparison) compareEnums(old, updated *Enum, path string) {
	took := map[string]bool{} // new names that stand for old ones
	for _, was := range old.Values {
		c.pause()
		at := path + "." + briefly(was.Name)
		number := strconv.Itoa(int(was.Number))
		if i := updated.indexOf([]byte(was.Name)); i >= 0 {
			if is := updated.Values[i]; is.Number != was.Number {
				c.add(EnumValueRenumbered, at, "the number is "+strconv.Itoa(int(is.Number))+", was "+number, was.At, is.At)
			}
			continue
		}
		i := updated.indexOfNumber(was.Number)
		if i >= 0 && old.indexOf([]byte(updated.Values[i].Name)) < 0 {
			is := updated.Values[i]
			took[is.Name] = true
			c.add(EnumValueRenamed, at, "the number "+number+" is called "+briefly(is.Name), was.At, is.At)
			continue
		}
		c.add(EnumValueRemoved, at, "the name of "+number+" is gone", was.At, Position{})
	}
	for _, is := range updated.Values {
		c.pause()
		if old.indexOf([]byte(is.Name)) < 0 && !took[is.Name] {
			c.add(EnumValueAdded, path+"."+briefly(is.Name), "the name of "+strconv.Itoa(int(is.Number))+" is new", Position{}, is.At)
		}
	}
}
