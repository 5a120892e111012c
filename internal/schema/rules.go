package schema

import "slices"

// Rule is a kind of change between two revisions. Rules are part of the API: clients match them.
type Rule string

// The rules. Each breaks the same wherever it is found, see Rule.Breaks; docs/schemas.md explains them to users.
const (
	TypeAdded   Rule = "TYPE_ADDED"
	TypeRemoved Rule = "TYPE_REMOVED"
	TypeRenamed Rule = "TYPE_RENAMED"
	TypeChanged Rule = "TYPE_CHANGED"

	StructMadeUnion Rule = "STRUCT_MADE_UNION"
	UnionMadeStruct Rule = "UNION_MADE_STRUCT"

	FieldAdded              Rule = "FIELD_ADDED"
	FieldRemoved            Rule = "FIELD_REMOVED"
	RequiredFieldAdded      Rule = "REQUIRED_FIELD_ADDED"
	RequiredFieldRemoved    Rule = "REQUIRED_FIELD_REMOVED"
	FieldRenamed            Rule = "FIELD_RENAMED"
	FieldIDChanged          Rule = "FIELD_ID_CHANGED"
	FieldIDReused           Rule = "FIELD_ID_REUSED"
	FieldMadeRequired       Rule = "FIELD_MADE_REQUIRED"
	FieldNoLongerRequired   Rule = "FIELD_NO_LONGER_REQUIRED"
	FieldRequirementChanged Rule = "FIELD_REQUIREMENT_CHANGED"
	FieldTypeChanged        Rule = "FIELD_TYPE_CHANGED"
	BinaryMadeString        Rule = "BINARY_MADE_STRING"
	StringMadeBinary        Rule = "STRING_MADE_BINARY"
	EnumMadeInteger         Rule = "ENUM_MADE_INTEGER"
	IntegerMadeEnum         Rule = "INTEGER_MADE_ENUM"
	DefaultChanged          Rule = "DEFAULT_CHANGED"
	RequiredDefaultChanged  Rule = "REQUIRED_DEFAULT_CHANGED"
	UnionMemberAdded        Rule = "UNION_MEMBER_ADDED"
	UnionMemberRemoved      Rule = "UNION_MEMBER_REMOVED"
	EnumValueAdded          Rule = "ENUM_VALUE_ADDED"
	EnumValueRemoved        Rule = "ENUM_VALUE_REMOVED"
	EnumValueRenamed        Rule = "ENUM_VALUE_RENAMED"
	EnumValueRenumbered     Rule = "ENUM_VALUE_RENUMBERED"
	MethodAdded             Rule = "METHOD_ADDED"
	MethodRemoved           Rule = "METHOD_REMOVED"
	MethodOnewayChanged     Rule = "METHOD_ONEWAY_CHANGED"
	MethodResultAdded       Rule = "METHOD_RESULT_ADDED"
	MethodResultRemoved     Rule = "METHOD_RESULT_REMOVED"
	MethodExceptionAdded    Rule = "METHOD_EXCEPTION_ADDED"
	MethodExceptionRemoved  Rule = "METHOD_EXCEPTION_REMOVED"
)

// Breaks says whom a change breaks, as a set.
type Breaks uint8

// Whom a change breaks.
const (
	// BreaksBackward are readers by the new revision: bytes that were written by the old one are refused or read differently.
	BreaksBackward Breaks = 1 << iota
	// BreaksForward are readers by the old revision: bytes that are written by the new one are refused or read differently.
	BreaksForward
	// BreaksNames are users of names, where bytes stay as they are: JSON text of the old revision is refused or read differently
	// by the new one, values come out as JSON in another form, or a type is to be asked for by another name.
	BreaksNames
)

// ruleTable has all rules in the order in which documents list them.
var ruleTable = []struct {
	rule   Rule
	breaks Breaks
}{
	{TypeAdded, 0},
	{TypeRemoved, BreaksBackward | BreaksNames},
	{TypeRenamed, BreaksNames},
	{TypeChanged, BreaksBackward | BreaksForward},
	{StructMadeUnion, BreaksBackward},
	{UnionMadeStruct, BreaksForward},
	{FieldAdded, 0},
	{FieldRemoved, 0},
	{RequiredFieldAdded, BreaksBackward},
	{RequiredFieldRemoved, BreaksForward},
	{FieldRenamed, BreaksNames},
	{FieldIDChanged, BreaksBackward | BreaksForward},
	{FieldIDReused, BreaksBackward | BreaksForward},
	{FieldMadeRequired, BreaksBackward},
	{FieldNoLongerRequired, BreaksForward},
	{FieldRequirementChanged, 0},
	{FieldTypeChanged, BreaksBackward | BreaksForward},
	{BinaryMadeString, BreaksBackward | BreaksNames},
	{StringMadeBinary, BreaksForward | BreaksNames},
	{EnumMadeInteger, BreaksNames},
	{IntegerMadeEnum, BreaksNames},
	{DefaultChanged, BreaksBackward | BreaksForward},
	{RequiredDefaultChanged, BreaksNames},
	{UnionMemberAdded, BreaksForward},
	{UnionMemberRemoved, BreaksBackward},
	{EnumValueAdded, 0},
	{EnumValueRemoved, BreaksNames},
	{EnumValueRenamed, BreaksNames},
	{EnumValueRenumbered, BreaksBackward | BreaksForward},
	{MethodAdded, 0},
	{MethodRemoved, BreaksBackward | BreaksNames},
	{MethodOnewayChanged, BreaksBackward | BreaksForward},
	{MethodResultAdded, BreaksBackward},
	{MethodResultRemoved, BreaksForward},
	{MethodExceptionAdded, BreaksForward},
	{MethodExceptionRemoved, BreaksBackward},
}

// Rules returns all rules. The caller owns the slice.
func Rules() []Rule {
	rules := make([]Rule, len(ruleTable))
	for i := range ruleTable {
		rules[i] = ruleTable[i].rule
	}
	return rules
}

// Breaks returns whom changes of this rule break.
func (r Rule) Breaks() Breaks {
	for i := range ruleTable {
		if ruleTable[i].rule == r {
			return ruleTable[i].breaks
		}
	}
	return 0
}

// Policy says which changes a new revision may make.
type Policy uint8

// The policies.
const (
	// None allows all changes.
	None Policy = iota
	// Backward allows no change that breaks readers by the new revision.
	Backward
	// Forward allows no change that breaks readers by the old revision.
	Forward
	// Full allows no change that breaks anything, names included.
	Full
)

// refused are the breaks that a policy does not allow.
var refused = [...]Breaks{
	None: 0, Backward: BreaksBackward, Forward: BreaksForward, Full: BreaksBackward | BreaksForward | BreaksNames,
}

// Allows reports whether a new revision may make the change.
func (p Policy) Allows(c Change) bool { return c.Breaks&refused[p] == 0 }

// Refused returns those of the changes that the policy does not allow, in the same order. The caller owns the slice.
func (p Policy) Refused(changes []Change) []Change {
	return slices.DeleteFunc(slices.Clone(changes), p.Allows)
}
