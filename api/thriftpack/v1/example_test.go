package thriftpackv1_test

import (
	"fmt"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// A struct of a span: what an IDL would call
//
//	struct Span { 1: i64 id, 2: string name, 3: map<string, string> tags, 4: list<i64> parents }
func ExampleStructValue() {
	span := thriftpackv1.StructValue(
		thriftpackv1.I64Field(1, 42),
		thriftpackv1.StringField(2, "checkout"),
		thriftpackv1.MapField(3, thriftpackv1.MapOf(
			thriftpackv1.StringList("region", "tier"),
			thriftpackv1.StringList("eu-west", "gold"),
		)),
		thriftpackv1.ListField(4, thriftpackv1.I64List()), // empty, and still a list<i64>
	)
	for _, field := range span.GetStruct().GetFields() {
		fmt.Printf("%d: %T\n", field.GetId(), field.GetKind())
	}
	// Output:
	// 1: *thriftpackv1.Field_I64
	// 2: *thriftpackv1.Field_String_
	// 3: *thriftpackv1.Field_Map
	// 4: *thriftpackv1.Field_List
}
