package schema_test

// Each row is looked at in both directions.
var compareRows = []struct {
	name, old, updated string
	forth, back        []string
}{
	{
		"an optional field", "struct S {1: i32 a}", "struct S {1: i32 a, 2: optional i32 b}",
		[]string{"FIELD_ADDED S.b"},
		[]string{"FIELD_REMOVED S.b"},
	},
	{
		"a required field", "struct S {1: i32 a}", "struct S {1: i32 a, 2: required i32 b}",
		[]string{"REQUIRED_FIELD_ADDED S.b b"},
		[]string{"REQUIRED_FIELD_REMOVED S.b f"},
	},
	{
		"a required field with a default, which readers want all the same", "struct S {}", "struct S {2: required i32 b = 3}",
		[]string{"REQUIRED_FIELD_ADDED S.b b"},
		[]string{"REQUIRED_FIELD_REMOVED S.b f"},
	},
	{
		"from optional to required", "struct S {1: optional i32 a}", "struct S {1: required i32 a}",
		[]string{"FIELD_MADE_REQUIRED S.a b"},
		[]string{"FIELD_NO_LONGER_REQUIRED S.a f"},
	},
	{
		"from no word to required", "struct S {1: i32 a}", "struct S {1: required i32 a}",
		[]string{"FIELD_MADE_REQUIRED S.a b"},
		[]string{"FIELD_NO_LONGER_REQUIRED S.a f"},
	},
	{
		"from no word to optional", "struct S {1: i32 a}", "struct S {1: optional i32 a}",
		[]string{"FIELD_REQUIREMENT_CHANGED S.a"},
		[]string{"FIELD_REQUIREMENT_CHANGED S.a"},
	},
	{
		"a new name", "struct S {1: i32 a}", "struct S {1: i32 b}",
		[]string{"FIELD_RENAMED S.a n"},
		[]string{"FIELD_RENAMED S.b n"},
	},
	{
		"a new name and a new kind of bytes", "struct S {1: i32 a}", "struct S {1: string b}",
		[]string{"FIELD_ID_REUSED S.b bf"},
		[]string{"FIELD_ID_REUSED S.a bf"},
	},
	{
		"a new name and other elements", "struct S {1: list<i32> a}", "struct S {1: list<i64> b}",
		[]string{"FIELD_ID_REUSED S.b bf"},
		[]string{"FIELD_ID_REUSED S.a bf"},
	},
	{
		"a new id", "struct S {1: i32 a}", "struct S {2: i32 a}",
		[]string{"FIELD_ID_CHANGED S.a bf"},
		[]string{"FIELD_ID_CHANGED S.a bf"},
	},
	{
		"two fields change places", "struct S {1: i32 a, 2: i32 b}", "struct S {1: i32 b, 2: i32 a}",
		[]string{"FIELD_ID_CHANGED S.a bf", "FIELD_ID_REUSED S.a bf", "FIELD_ID_CHANGED S.b bf", "FIELD_ID_REUSED S.b bf"},
		[]string{"FIELD_ID_CHANGED S.a bf", "FIELD_ID_REUSED S.a bf", "FIELD_ID_CHANGED S.b bf", "FIELD_ID_REUSED S.b bf"},
	},
	{
		"a new field takes the id of one that moves", "struct S {1: i32 a}", "struct S {1: i32 b, 2: i32 a}",
		[]string{"FIELD_ID_CHANGED S.a bf", "FIELD_ID_REUSED S.b bf"},
		[]string{"FIELD_ID_CHANGED S.a bf", "FIELD_ID_REUSED S.a bf"},
	},
	{
		"a wider integer", "struct S {1: i32 a}", "struct S {1: i64 a}",
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
	},
	{
		"i8 is byte", "struct S {1: byte a}", "struct S {1: i8 a}", []string{}, []string{},
	},
	{
		"bool and i8", "struct S {1: bool a}", "struct S {1: i8 a}",
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
	},
	{
		"list and set", "struct S {1: list<i32> a}", "struct S {1: set<i32> a}",
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
	},
	{
		"wider elements", "struct S {1: map<i32, list<i32>> a}", "struct S {1: map<i32, list<i64>> a}",
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
	},
	{
		"wider keys", "struct S {1: map<i32, i8> a}", "struct S {1: map<i64, i8> a}",
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
	},
	{
		"a typedef", "typedef i32 T struct S {1: list<T> a}", "struct S {1: list<i32> a}",
		[]string{"TYPE_REMOVED T bn"},
		[]string{"TYPE_ADDED T"},
	},
	{
		"a typedef for another type", "typedef i32 T struct S {1: list<T> a}", "typedef i16 T struct S {1: list<T> a}",
		[]string{"FIELD_TYPE_CHANGED S.a bf", "TYPE_CHANGED T bf"},
		[]string{"FIELD_TYPE_CHANGED S.a bf", "TYPE_CHANGED T bf"},
	},
	{
		"a typedef that comes before its struct", "struct Z {1: i32 z} typedef Z A", "struct Z {1: i64 z} typedef Z A",
		[]string{"FIELD_TYPE_CHANGED Z.z bf"},
		[]string{"FIELD_TYPE_CHANGED Z.z bf"},
	},
	{
		"text and bytes", "struct S {1: string a}", "struct S {1: binary a}",
		[]string{"STRING_MADE_BINARY S.a fn"},
		[]string{"BINARY_MADE_STRING S.a bn"},
	},
	{
		"text and bytes in containers", "struct S {1: map<string, list<binary>> a}", "struct S {1: map<binary, list<string>> a}",
		[]string{"BINARY_MADE_STRING S.a bn", "STRING_MADE_BINARY S.a fn"},
		[]string{"BINARY_MADE_STRING S.a bn", "STRING_MADE_BINARY S.a fn"},
	},
	{
		"text and bytes by a typedef", "typedef string T", "typedef binary T",
		[]string{"STRING_MADE_BINARY T fn"},
		[]string{"BINARY_MADE_STRING T bn"},
	},
	{
		"numbers get names", "enum E {A} struct S {1: i32 a}", "enum E {A} struct S {1: E a}",
		[]string{"INTEGER_MADE_ENUM S.a n"},
		[]string{"ENUM_MADE_INTEGER S.a n"},
	},
	{
		"an enum is no i64", "enum E {A} struct S {1: i64 a}", "enum E {A} struct S {1: E a}",
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
	},
	{
		"a default", "struct S {1: optional i32 a = 1}", "struct S {1: optional i32 a = 2}",
		[]string{"DEFAULT_CHANGED S.a bf"},
		[]string{"DEFAULT_CHANGED S.a bf"},
	},
	{
		"a default or none", "struct S {1: i32 a}", "struct S {1: i32 a = 0}",
		[]string{"DEFAULT_CHANGED S.a bf"},
		[]string{"DEFAULT_CHANGED S.a bf"},
	},
	{
		"a default that is written otherwise", "const i32 C = 5 struct S {1: i32 a = 5}", "const i32 C = 5 struct S {1: i32 a = C}",
		[]string{},
		[]string{},
	},
	{
		"a required field's default, which only JSON can do without", "struct S {1: required i32 a = 1}", "struct S {1: required i32 a}",
		[]string{"REQUIRED_DEFAULT_CHANGED S.a n"},
		[]string{"REQUIRED_DEFAULT_CHANGED S.a n"},
	},
	{
		"a default that is of no more use", "struct S {1: required i32 a = 1}", "struct S {1: optional i32 a = 2}",
		[]string{"FIELD_NO_LONGER_REQUIRED S.a f", "REQUIRED_DEFAULT_CHANGED S.a n"},
		[]string{"FIELD_MADE_REQUIRED S.a b", "REQUIRED_DEFAULT_CHANGED S.a n"},
	},
	{
		"a default within a default", "struct I {1: i32 a = 1} struct S {1: optional I i = {}}",
		"struct I {1: i32 a = 2} struct S {1: optional I i = {}}",
		[]string{"DEFAULT_CHANGED I.a bf", "DEFAULT_CHANGED S.i bf"},
		[]string{"DEFAULT_CHANGED I.a bf", "DEFAULT_CHANGED S.i bf"},
	},
	{
		"a default of a new type", "struct S {1: i32 a = 1}", "struct S {1: i64 a = 1}",
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
		[]string{"FIELD_TYPE_CHANGED S.a bf"},
	},
	{
		"a member of a union", "union U {1: i32 a}", "union U {1: i32 a, 2: i32 b}",
		[]string{"UNION_MEMBER_ADDED U.b f"},
		[]string{"UNION_MEMBER_REMOVED U.b b"},
	},
	{
		"a member's name", "union U {1: i32 a}", "union U {1: i32 b}",
		[]string{"FIELD_RENAMED U.a n"},
		[]string{"FIELD_RENAMED U.b n"},
	},
	{
		"struct and union", "struct S {1: i32 a, 2: i32 b = 3}", "union S {1: i32 a, 3: i32 c}",
		[]string{"STRUCT_MADE_UNION S b", "FIELD_REMOVED S.b", "FIELD_ADDED S.c"},
		[]string{"UNION_MADE_STRUCT S f", "FIELD_ADDED S.b", "FIELD_REMOVED S.c"},
	},
	{
		"struct and union, with a required field", "struct S {1: required i32 a}", "union S {1: i32 a}",
		[]string{"STRUCT_MADE_UNION S b", "FIELD_NO_LONGER_REQUIRED S.a f"},
		[]string{"UNION_MADE_STRUCT S f", "FIELD_MADE_REQUIRED S.a b"},
	},
	{
		"struct and union, with a default", "struct S {1: optional i32 a = 1}", "union S {1: i32 a = 1}",
		[]string{"STRUCT_MADE_UNION S b", "DEFAULT_CHANGED S.a bf"},
		[]string{"UNION_MADE_STRUCT S f", "DEFAULT_CHANGED S.a bf"},
	},
	{"struct and exception", "struct S {1: i32 a}", "exception S {1: i32 a}", []string{}, []string{}},
	{
		"an enum's value", "enum E {A}", "enum E {A, B}",
		[]string{"ENUM_VALUE_ADDED E.B"},
		[]string{"ENUM_VALUE_REMOVED E.B n"},
	},
	{
		"a value's name", "enum E {A, B}", "enum E {A, C}",
		[]string{"ENUM_VALUE_RENAMED E.B n"},
		[]string{"ENUM_VALUE_RENAMED E.C n"},
	},
	{
		"a value's number", "enum E {A = 1, B = 2}", "enum E {A = 1, B = 3}",
		[]string{"ENUM_VALUE_RENUMBERED E.B bf"},
		[]string{"ENUM_VALUE_RENUMBERED E.B bf"},
	},
	{
		"two values change places", "enum E {A, B}", "enum E {B, A}",
		[]string{"ENUM_VALUE_RENUMBERED E.A bf", "ENUM_VALUE_RENUMBERED E.B bf"},
		[]string{"ENUM_VALUE_RENUMBERED E.A bf", "ENUM_VALUE_RENUMBERED E.B bf"},
	},
	{
		"a second name of a number", "enum E {A = 1}", "enum E {A = 1, B = 1}",
		[]string{"ENUM_VALUE_ADDED E.B"},
		[]string{"ENUM_VALUE_REMOVED E.B n"},
	},
	{"the order of values", "enum E {A = 1, B = 2}", "enum E {B = 2, A = 1}", []string{}, []string{}},
	{
		"a type", "struct S {1: i32 a}", "struct S {1: i32 a} enum E {A}", []string{"TYPE_ADDED E"}, []string{"TYPE_REMOVED E bn"},
	},
	{
		"a type's name", "struct A {1: i32 a} struct S {1: A a}", "struct B {1: i32 a} struct S {1: B a}",
		[]string{"TYPE_RENAMED A n"},
		[]string{"TYPE_RENAMED B n"},
	},
	{
		"an enum's name", "enum A {X} struct S {1: A a}", "enum B {X} struct S {1: B a}",
		[]string{"TYPE_RENAMED A n"},
		[]string{"TYPE_RENAMED B n"},
	},
	{
		"the name of a type that holds itself", "struct A {1: optional A a}", "struct B {1: optional B a}",
		[]string{"TYPE_RENAMED A n"},
		[]string{"TYPE_RENAMED B n"},
	},
	{
		"the name of a type with another default", "struct A {1: i32 a = 1}", "struct B {1: i32 a = 2}",
		[]string{"TYPE_RENAMED A n", "DEFAULT_CHANGED A.a bf"},
		[]string{"TYPE_RENAMED B n", "DEFAULT_CHANGED B.a bf"},
	},
	{
		"two types whose fields have other types", "enum E {X} struct A {1: i32 a} struct C {1: list<i32> c}",
		"enum E {X} struct B {1: E a} struct D {1: list<string> c}",
		[]string{"TYPE_REMOVED A bn", "TYPE_REMOVED C bn", "TYPE_ADDED B", "TYPE_ADDED D"},
		[]string{"TYPE_REMOVED B bn", "TYPE_REMOVED D bn", "TYPE_ADDED A", "TYPE_ADDED C"},
	},
	{
		"one of two equal types", "struct A {1: i32 a}", "struct B {1: i32 a} struct C {1: i32 a}",
		[]string{"TYPE_REMOVED A bn", "TYPE_ADDED B", "TYPE_ADDED C"},
		[]string{"TYPE_REMOVED B bn", "TYPE_REMOVED C bn", "TYPE_ADDED A"},
	},
	{
		"empty enums are not renamed", "enum A {}", "enum B {}",
		[]string{"TYPE_REMOVED A bn", "TYPE_ADDED B"},
		[]string{"TYPE_REMOVED B bn", "TYPE_ADDED A"},
	},
	{
		"empty types are not renamed", "struct A {}", "struct B {}",
		[]string{"TYPE_REMOVED A bn", "TYPE_ADDED B"},
		[]string{"TYPE_REMOVED B bn", "TYPE_ADDED A"},
	},
	{
		"another type of the same form", "struct A {1: i32 a} struct B {1: i32 a} struct S {1: A f}",
		"struct A {1: i32 a} struct B {1: i32 a} struct S {1: B f}",
		[]string{},
		[]string{},
	},
	{
		"another type of another form", "struct A {1: i32 a} struct B {1: i64 a} struct S {1: list<A> f}",
		"struct A {1: i32 a} struct B {1: i64 a} struct S {1: list<B> f}",
		[]string{"FIELD_TYPE_CHANGED S.f.a bf"},
		[]string{"FIELD_TYPE_CHANGED S.f.a bf"},
	},
	{
		"another enum of the same numbers", "enum A {X, Y} enum B {X, Z} struct S {1: A f}", "enum A {X, Y} enum B {X, Z} struct S {1: B f}",
		[]string{"ENUM_VALUE_RENAMED S.f.Y n"},
		[]string{"ENUM_VALUE_RENAMED S.f.Z n"},
	},
	{
		"struct and enum", "struct T {1: i32 a}", "enum T {A}", []string{"TYPE_CHANGED T bf"}, []string{"TYPE_CHANGED T bf"},
	},
	{
		"structs that hold each other", "struct A {1: optional B b} struct B {1: optional A a, 2: i32 x}",
		"struct A {1: optional B b} struct B {1: optional A a, 2: i64 x}",
		[]string{"FIELD_TYPE_CHANGED B.x bf"},
		[]string{"FIELD_TYPE_CHANGED B.x bf"},
	},
	{
		"a method", "service S {}", "service S { i32 m(1: i32 a) }", []string{"METHOD_ADDED S.m"}, []string{"METHOD_REMOVED S.m bn"},
	},
	{
		"an argument", "service S { void m() }", "service S { void m(1: i32 a) }",
		[]string{"FIELD_ADDED S.m.args.a"},
		[]string{"FIELD_REMOVED S.m.args.a"},
	},
	{
		"an argument's type", "service S { void m(1: i32 a) }", "service S { void m(1: i64 a) }",
		[]string{"FIELD_TYPE_CHANGED S.m.args.a bf"},
		[]string{"FIELD_TYPE_CHANGED S.m.args.a bf"},
	},
	{
		"a result", "service S { void m() }", "service S { i32 m() }",
		[]string{"METHOD_RESULT_ADDED S.m.result b"},
		[]string{"METHOD_RESULT_REMOVED S.m.result f"},
	},
	{
		"a result's type", "service S { i32 m() }", "service S { i64 m() }",
		[]string{"FIELD_TYPE_CHANGED S.m.result.success bf"},
		[]string{"FIELD_TYPE_CHANGED S.m.result.success bf"},
	},
	{
		"an exception", "exception X {} service S { void m() }", "exception X {} service S { void m() throws (1: X x) }",
		[]string{"METHOD_EXCEPTION_ADDED S.m.result.x f"},
		[]string{"METHOD_EXCEPTION_REMOVED S.m.result.x b"},
	},
	{
		"oneway", "service S { void m() }", "service S { oneway void m() }",
		[]string{"METHOD_ONEWAY_CHANGED S.m bf"},
		[]string{"METHOD_ONEWAY_CHANGED S.m bf"},
	},
	{
		"a method that is inherited", "service A { void m() } service B { void m() }", "service A { void m() } service B extends A {}",
		[]string{},
		[]string{},
	},
}
