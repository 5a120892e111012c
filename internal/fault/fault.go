// Package fault is the vocabulary of what can be wrong with an input: a reason that a program can match, and an
// error that says where. It knows nothing of gRPC; package server maps reasons to status codes in one place.
package fault

import (
	"fmt"
	"strconv"
	"strings"
)

// Reason says what is wrong, in the words of google.rpc.ErrorInfo.reason. Reasons are part of the API: clients match them.
type Reason string

// The reasons. Package server's table gives each its gRPC code; docs/errors.md explains them to users.
const (
	Truncated        Reason = "TRUNCATED"         // the input ends too early, or claims more than it has
	NegativeSize     Reason = "NEGATIVE_SIZE"     // a size above 2^31-1, which Thrift reads as negative
	VarintOverflow   Reason = "VARINT_OVERFLOW"   // a varint with more bits than its type
	IntRange         Reason = "INT_RANGE"         // an integer outside the range of its type
	BadType          Reason = "BAD_TYPE"          // a type code that the protocol does not have
	BadHeader        Reason = "BAD_HEADER"        // a header byte, bool byte or message type that has no meaning
	BadVersion       Reason = "BAD_VERSION"       // another protocol or another version of it
	BadUTF8          Reason = "BAD_UTF8"          // text that is not UTF-8
	BadProto         Reason = "BAD_PROTO"         // protobuf wire bytes that are malformed, or a member that does not exist
	TypeMismatch     Reason = "TYPE_MISMATCH"     // a value of another type than the place allows
	TrailingBytes    Reason = "TRAILING_BYTES"    // bytes after the value
	SizeLimit        Reason = "SIZE_LIMIT"        // a configured limit on size or number
	DepthLimit       Reason = "DEPTH_LIMIT"       // the configured limit on nesting
	DuplicateField   Reason = "DUPLICATE_FIELD"   // a field id given twice, with a type
	DuplicateKey     Reason = "DUPLICATE_KEY"     // a map key given twice
	DuplicateElement Reason = "DUPLICATE_ELEMENT" // a set element given twice
	MissingField     Reason = "MISSING_FIELD"     // a required field that is absent
	UnionArity       Reason = "UNION_ARITY"       // a union with none or several members
	UnknownName      Reason = "UNKNOWN_NAME"      // a name that the type does not have
	NullElement      Reason = "NULL_ELEMENT"      // null inside a container
	JSONSyntax       Reason = "JSON_SYNTAX"       // text that is not JSON
	MissingKind      Reason = "MISSING_KIND"      // a value, input or element type that was not given
	CountMismatch    Reason = "COUNT_MISMATCH"    // two numbers that must agree: keys and values, the bytes of a uuid
	BadOption        Reason = "BAD_OPTION"        // an option outside of what it may be
	BudgetExhausted  Reason = "BUDGET_EXHAUSTED"  // the memory budget of streams is spent; try again
	RateLimited      Reason = "RATE_LIMITED"      // too many requests; try again
	Unauthenticated  Reason = "UNAUTHENTICATED"   // no token, or one that nobody has
	PermissionDenied Reason = "PERMISSION_DENIED" // a caller that may not make this call
	Stalled          Reason = "STALLED"           // the peer neither read nor sent for too long
	Draining         Reason = "DRAINING"          // the server is shutting down; try another

	// Of schemas that are asked for, or kept. Those of their sources stand below.
	SchemaNotFound         Reason = "SCHEMA_NOT_FOUND"         // no schema of that name, or no such revision of it
	TypeNotFound           Reason = "TYPE_NOT_FOUND"           // the schema has no type of that name
	SchemaIncompatible     Reason = "SCHEMA_INCOMPATIBLE"      // a revision that its schema's compatibility does not allow
	SchemaReadOnly         Reason = "SCHEMA_READ_ONLY"         // a schema of the server's directory, which only its operator changes
	NoSchemaStore          Reason = "NO_SCHEMA_STORE"          // a server without a store, which keeps no schemas
	SchemaStoreUnavailable Reason = "SCHEMA_STORE_UNAVAILABLE" // the store cannot be reached or written; try again

	Internal Reason = "INTERNAL" // a fault of ours

	// Faults of Thrift IDL. Their Path is file:line:column.
	SchemaSyntax       Reason = "SCHEMA_SYNTAX"        // text that is not Thrift IDL
	SchemaUnsupported  Reason = "SCHEMA_UNSUPPORTED"   // IDL of another dialect, or of an old one
	SchemaInclude      Reason = "SCHEMA_INCLUDE"       // an include that is not among the files
	SchemaIncludeCycle Reason = "SCHEMA_INCLUDE_CYCLE" // files that include each other
	SchemaTypedefCycle Reason = "SCHEMA_TYPEDEF_CYCLE" // a typedef that stands for itself
	SchemaDefaultCycle Reason = "SCHEMA_DEFAULT_CYCLE" // a default value that contains itself
	SchemaUndefined    Reason = "SCHEMA_UNDEFINED"     // a name that is not defined
	SchemaAmbiguous    Reason = "SCHEMA_AMBIGUOUS"     // a name that two includes have
	SchemaDuplicate    Reason = "SCHEMA_DUPLICATE"     // a name or id defined twice
	SchemaIDRange      Reason = "SCHEMA_ID_RANGE"      // a field id outside of 16 bits
	SchemaConstRange   Reason = "SCHEMA_CONST_RANGE"   // a constant outside of its type
	SchemaConstType    Reason = "SCHEMA_CONST_TYPE"    // a constant of another type than declared
	SchemaRule         Reason = "SCHEMA_RULE"          // IDL that breaks another rule of Thrift
)

// All lists every reason, in the order above. Tests walk it.
func All() []Reason {
	return []Reason{
		Truncated, NegativeSize, VarintOverflow, IntRange, BadType, BadHeader, BadVersion, BadUTF8, BadProto, TypeMismatch,
		TrailingBytes, SizeLimit, DepthLimit, DuplicateField, DuplicateKey, DuplicateElement, MissingField, UnionArity,
		UnknownName, NullElement, JSONSyntax, MissingKind, CountMismatch, BadOption, BudgetExhausted, RateLimited,
		Unauthenticated, PermissionDenied, Stalled,
		Draining, SchemaNotFound, TypeNotFound, SchemaIncompatible, SchemaReadOnly, NoSchemaStore, SchemaStoreUnavailable,
		Internal,
		SchemaSyntax, SchemaUnsupported, SchemaInclude, SchemaIncludeCycle, SchemaTypedefCycle, SchemaDefaultCycle,
		SchemaUndefined, SchemaAmbiguous, SchemaDuplicate, SchemaIDRange, SchemaConstRange, SchemaConstType, SchemaRule,
	}
}

// NoOffset is the Offset of an error that has a path only.
const NoOffset = -1

// Error is a fault with its place. It never holds string contents or map keys of the input: member names, numbers
// and offsets only, so that it may be shown to the client and logged.
type Error struct {
	// Reason is what is wrong.
	Reason Reason
	// Path is where in the value, such as "value.struct.fields[3].i16", or "" for the whole.
	Path string
	// Offset is where in the Thrift bytes, counted from the first byte of the input with frame and envelope, or in the JSON text; or NoOffset.
	Offset int64
	// Detail says it in words with the numbers, such as "out of range: 40000, want -32768..32767".
	Detail string
	// Part is the number of the part of a stream of parts that is at fault, the first being 1; 0 elsewhere.
	Part int64
	// Limit and Actual are the two numbers of a SizeLimit or DepthLimit fault; both 0 otherwise.
	Limit, Actual int64
}

// Error reads "place: cause: numbers".
func (e *Error) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(e.Path)
		b.WriteString(": ")
	}
	if e.Offset >= 0 {
		b.WriteString("offset ")
		b.WriteString(strconv.FormatInt(e.Offset, 10))
		b.WriteString(": ")
	}
	b.WriteString(e.Detail)
	return b.String()
}

// Is makes errors.Is(err, fault.New(reason, "")) match by reason.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Reason == e.Reason && t.Detail == "" && t.Path == ""
}

// New returns an error without a place.
func New(reason Reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Offset: NoOffset, Detail: fmt.Sprintf(format, args...)}
}

// OverLimit returns the error of a configured limit: what it bounds, by which setting, and both numbers.
func OverLimit(reason Reason, what, setting string, limit, actual int64) *Error {
	return &Error{
		Reason: reason, Offset: NoOffset, Limit: limit, Actual: actual,
		Detail: fmt.Sprintf("%s %d exceeds the limit of %d (%s)", what, actual, limit, setting),
	}
}
