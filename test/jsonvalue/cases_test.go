package jsonvalue_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/conform"
	"github.com/thriftpack/thriftpack/internal/schema/schematest"
	"github.com/thriftpack/thriftpack/test/oracle"
)

// schemaCase is well-formed bytes that may not fit their type, and what Apache's readers make of them.
type schemaCase struct {
	Name, IDL, Type string
	Compact         oracle.Hex
	Expect          *string
	Lenient         string
	Reference       map[string]json.RawMessage
}

// reasonsOf are the reasons for what a case expects.
var reasonsOf = map[string][]fault.Reason{
	"missing_required_field": {fault.MissingField},
	"type_mismatch":          {fault.TypeMismatch},
	"union_arity":            {fault.UnionArity},
	"duplicate_field":        {fault.DuplicateField},
	"duplicate_key":          {fault.DuplicateKey},
	"invalid_utf8":           {fault.BadUTF8},
	"varint_overflow":        {fault.IntRange, fault.VarintOverflow},
	"unknown_enum_value":     nil, // any number passes
}

// otherReasons are of cases in which something else is wrong as well, and is seen first.
var otherReasons = map[string]fault.Reason{
	"required/wrong-kind":       fault.TypeMismatch,
	"elem/empty-list-stop-kind": fault.BadType,
}

// lenientFaults are the cases that lenient readers of ours refuse: what Apache's readers misread, wrap, or refuse themselves.
var lenientFaults = map[string]fault.Reason{
	"required/both-missing":    fault.MissingField,
	"required/number-missing":  fault.MissingField,
	"required/wrong-kind":      fault.MissingField,
	"required/in-list-element": fault.MissingField,
	"range/i16-overflow":       fault.IntRange,
}

// lenientOthers are the cases that lenient readers of ours take as others do not: those drop the field, or misread it.
var lenientOthers = map[string]string{
	"elem/list-i32-as-i64":        "00",
	"elem/list-i32-as-string":     "00",
	"elem/list-string-as-i32":     "00",
	"elem/list-of-struct-as-list": "00",
}

func TestSchemaCases(t *testing.T) {
	rows, err := oracle.Load[schemaCase]("../testdata/vectors/schema_cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var r reader
	for _, row := range rows {
		t.Run(row.Name, func(t *testing.T) {
			plan := schematest.TypeOf(t, schematest.Vectors(t, row.IDL), strings.TrimPrefix(row.Type, strings.TrimSuffix(row.IDL, "thrift")))
			_, err := r.value(row.Compact, plan, false)
			var want []fault.Reason
			if row.Expect != nil {
				var known bool
				if want, known = reasonsOf[*row.Expect]; !known {
					t.Fatalf("a case expects %s", *row.Expect)
				}
			}
			if other := otherReasons[row.Name]; other != "" {
				want = []fault.Reason{other}
			}
			checkReason(t, err, want)

			value, err := r.value(row.Compact, plan, true)
			if reason := lenientFaults[row.Name]; reason != "" {
				checkReason(t, err, []fault.Reason{reason})
				return
			}
			if err != nil {
				t.Fatalf("lenient: %v", err)
			}
			var e encoder.Encoder
			again, err := e.Append(nil, value, &encoder.Options{Limits: encoder.Limits{Depth: 64, Elements: most, StringBytes: most}})
			if err != nil {
				t.Fatal(err)
			}
			wanted := lenientOthers[row.Name]
			if wanted == "" {
				var reference struct{ Rewritten string }
				if err := json.Unmarshal(row.Reference["cpp-0.17"], &reference); err != nil {
					t.Fatal(err)
				}
				wanted = reference.Rewritten
			}
			if got := hex.EncodeToString(again); got != wanted {
				t.Errorf("lenient, then encoded: %s, want %s", got, wanted)
			}
		})
	}
}

// value decodes and checks compact bytes. The result is valid until the next call.
func (r *reader) value(data []byte, t *schema.Type, lenient bool) ([]byte, error) {
	_, err := r.decoder.Prepare(data, &decoder.Options{
		Root: thriftpackv1.Type(conform.RootKind(t)), Lenient: lenient,
		Limits: decoder.Limits{Depth: 64, Elements: most, StringBytes: most, Nodes: most},
	})
	if err != nil {
		return nil, err
	}
	return r.checker.Decoded(r.decoder.Append(nil), t, &conform.DecodeOptions{Lenient: lenient, Source: &r.decoder})
}

// checkReason compares an error's reason with those that are right; none is no error.
func checkReason(t *testing.T, err error, want []fault.Reason) {
	t.Helper()
	var f *fault.Error
	switch {
	case !errors.As(err, &f):
		if err != nil || len(want) > 0 {
			t.Errorf("error %v, want %v", err, want)
		}
	case !slices.Contains(want, f.Reason):
		t.Errorf("%s: %v, want %v", f.Reason, f, want)
	case f.Offset == fault.NoOffset:
		t.Errorf("%v has no offset", f)
	}
}
