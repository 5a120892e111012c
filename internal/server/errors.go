package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema/idl"
)

// errorDomain is the domain of every google.rpc.ErrorInfo of this service.
const errorDomain = "thriftpack.dev"

// Bounds of what a status may carry. It travels in trailers, of which clients accept about 8 KiB; details
// grow by a third in base64, and a path stands both in the message and in a violation.
const (
	maxMessageBytes = 1 << 10
	maxPathBytes    = 512
	maxDetailBytes  = 384
)

// retryDelay is what a client is told to wait for when the server has too much to do.
const retryDelay = time.Second

// answer is how a reason is told to a client.
type answer struct {
	code codes.Code
	// violation adds a BadRequest with the place: the caller's input was wrong.
	violation bool
	// retry adds a RetryInfo: the same call may succeed later.
	retry bool
}

// answers holds every reason, see fault.All. docs/errors.md is the same table for users; a test compares the two.
var answers = map[fault.Reason]answer{
	fault.Truncated:        {code: codes.InvalidArgument, violation: true},
	fault.NegativeSize:     {code: codes.InvalidArgument, violation: true},
	fault.VarintOverflow:   {code: codes.InvalidArgument, violation: true},
	fault.IntRange:         {code: codes.InvalidArgument, violation: true},
	fault.BadType:          {code: codes.InvalidArgument, violation: true},
	fault.BadHeader:        {code: codes.InvalidArgument, violation: true},
	fault.BadVersion:       {code: codes.InvalidArgument, violation: true},
	fault.BadUTF8:          {code: codes.InvalidArgument, violation: true},
	fault.BadProto:         {code: codes.InvalidArgument, violation: true},
	fault.TypeMismatch:     {code: codes.InvalidArgument, violation: true},
	fault.TrailingBytes:    {code: codes.InvalidArgument, violation: true},
	fault.SizeLimit:        {code: codes.ResourceExhausted, violation: true},
	fault.DepthLimit:       {code: codes.ResourceExhausted, violation: true},
	fault.DuplicateField:   {code: codes.InvalidArgument, violation: true},
	fault.DuplicateKey:     {code: codes.InvalidArgument, violation: true},
	fault.DuplicateElement: {code: codes.InvalidArgument, violation: true},
	fault.MissingField:     {code: codes.InvalidArgument, violation: true},
	fault.UnionArity:       {code: codes.InvalidArgument, violation: true},
	fault.UnknownName:      {code: codes.InvalidArgument, violation: true},
	fault.NullElement:      {code: codes.InvalidArgument, violation: true},
	fault.JSONSyntax:       {code: codes.InvalidArgument, violation: true},
	fault.MissingKind:      {code: codes.InvalidArgument, violation: true},
	fault.CountMismatch:    {code: codes.InvalidArgument, violation: true},
	fault.BadOption:        {code: codes.InvalidArgument, violation: true},
	fault.BudgetExhausted:  {code: codes.ResourceExhausted, retry: true},
	fault.RateLimited:      {code: codes.ResourceExhausted, retry: true},
	fault.Unauthenticated:  {code: codes.Unauthenticated},
	fault.PermissionDenied: {code: codes.PermissionDenied},
	fault.Stalled:          {code: codes.DeadlineExceeded},
	fault.Draining:         {code: codes.Unavailable},

	fault.SchemaNotFound:         {code: codes.NotFound},
	fault.TypeNotFound:           {code: codes.NotFound},
	fault.SchemaIncompatible:     {code: codes.FailedPrecondition},
	fault.SchemaReadOnly:         {code: codes.FailedPrecondition},
	fault.NoSchemaStore:          {code: codes.FailedPrecondition},
	fault.SchemaStoreUnavailable: {code: codes.Unavailable, retry: true},

	fault.Internal: {code: codes.Internal},

	fault.SchemaSyntax:       {code: codes.InvalidArgument, violation: true},
	fault.SchemaUnsupported:  {code: codes.InvalidArgument, violation: true},
	fault.SchemaInclude:      {code: codes.InvalidArgument, violation: true},
	fault.SchemaIncludeCycle: {code: codes.InvalidArgument, violation: true},
	fault.SchemaTypedefCycle: {code: codes.InvalidArgument, violation: true},
	fault.SchemaDefaultCycle: {code: codes.InvalidArgument, violation: true},
	fault.SchemaUndefined:    {code: codes.InvalidArgument, violation: true},
	fault.SchemaAmbiguous:    {code: codes.InvalidArgument, violation: true},
	fault.SchemaDuplicate:    {code: codes.InvalidArgument, violation: true},
	fault.SchemaIDRange:      {code: codes.InvalidArgument, violation: true},
	fault.SchemaConstRange:   {code: codes.InvalidArgument, violation: true},
	fault.SchemaConstType:    {code: codes.InvalidArgument, violation: true},
	fault.SchemaRule:         {code: codes.InvalidArgument, violation: true},
}

// callError is the outcome of a failed call: the status for the client, and what only the log is told.
type callError struct {
	status *status.Status
	fault  *fault.Error // nil where the cause was not a fault
	// cause describes a bug of ours by types alone, since the text of an unknown error may quote its input.
	cause string
	// stack is where a panic came from, or "".
	stack string
}

// Error is the text that the client gets, too.
func (e *callError) Error() string { return e.status.Message() }

// GRPCStatus makes it an error of package status.
func (e *callError) GRPCStatus() *status.Status { return e.status }

// panicError is a recovered panic. The value stays out of it, as it may quote the input.
type panicError struct {
	cause string
	stack string
}

// Error names no value.
func (e *panicError) Error() string { return "panic: " + e.cause }

// newPanicError describes a panic by its type, or by its text where the runtime made it, and the stack of the
// goroutine, whose arguments are addresses.
func newPanicError(value any) error {
	cause := typeName(value)
	var fromRuntime runtime.Error
	if err, ok := value.(error); ok && errors.As(err, &fromRuntime) {
		cause = fromRuntime.Error()
	}
	stack := make([]byte, 16<<10)
	return &panicError{cause: cause, stack: string(stack[:runtime.Stack(stack, false)])}
}

// toStatus is the one place where an error becomes a status. A fault becomes its reason's code with details; a
// context's error its code; a status made by gRPC or by an interceptor stays as it is, unless it is wrapped. Everything
// else is a bug of ours: INTERNAL with a fixed text, its cause for the log only.
func toStatus(err error) *callError {
	var known *callError
	if errors.As(err, &known) {
		return known
	}
	var many idl.Errors
	if errors.As(err, &many) && len(many) > 0 {
		return &callError{status: sourcesStatus(many), fault: many[0]}
	}
	var f *fault.Error
	if errors.As(err, &f) {
		e := &callError{status: faultStatus(f), fault: f}
		if changes := incompatible(err); changes != nil {
			e.status = changesStatus(f, changes)
		}
		if f.Reason == fault.Internal {
			e.cause = f.Error()
		}
		return e
	}
	// The error itself, not what it wraps: gRPC would send the text of the whole chain.
	if s, ok := err.(interface{ GRPCStatus() *status.Status }); ok {
		return &callError{status: boundedStatus(s.GRPCStatus())}
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &callError{status: status.New(codes.Canceled, "canceled")}
	case errors.Is(err, context.DeadlineExceeded):
		return &callError{status: status.New(codes.DeadlineExceeded, "deadline exceeded")}
	}
	e := &callError{status: faultStatus(fault.New(fault.Internal, "internal error"))}
	var panicked *panicError
	if errors.As(err, &panicked) {
		e.cause, e.stack = panicked.Error(), panicked.stack
	} else {
		e.cause = typeChain(err)
	}
	return e
}

// faultStatus makes the status of a fault, within the bounds above.
func faultStatus(f *fault.Error) *status.Status { return detailedStatus(f, nil) }

// detailedStatus makes the status of a fault, with further violations beside its own and further details.
func detailedStatus(f *fault.Error, violations []*errdetails.BadRequest_FieldViolation, further ...protoadapt.MessageV1) *status.Status {
	to, ok := answers[f.Reason]
	if !ok || f.Reason == fault.Internal {
		// The words of a fault of ours are for the log.
		f, to = fault.New(fault.Internal, "internal error"), answers[fault.Internal]
	}
	bounded := *f
	bounded.Path = shorten(f.Path, maxPathBytes)
	bounded.Detail = shorten(f.Detail, maxDetailBytes)
	st := status.New(to.code, shorten(bounded.Error(), maxMessageBytes))

	info := &errdetails.ErrorInfo{Reason: string(f.Reason), Domain: errorDomain, Metadata: make(map[string]string, 4)}
	if bounded.Path != "" {
		info.Metadata["path"] = bounded.Path
	}
	if f.Offset >= 0 {
		info.Metadata["offset"] = strconv.FormatInt(f.Offset, 10)
	}
	if f.Part > 0 {
		info.Metadata["part"] = strconv.FormatInt(f.Part, 10)
	}
	if f.Limit != 0 || f.Actual != 0 {
		info.Metadata["limit"] = strconv.FormatInt(f.Limit, 10)
		info.Metadata["actual"] = strconv.FormatInt(f.Actual, 10)
	}
	details := []protoadapt.MessageV1{info}
	if to.violation {
		field := bounded.Path
		if field == "" && f.Offset >= 0 {
			field = "offset " + strconv.FormatInt(f.Offset, 10)
		}
		own := &errdetails.BadRequest_FieldViolation{Field: field, Description: bounded.Detail, Reason: string(f.Reason)}
		details = append(details, &errdetails.BadRequest{FieldViolations: append([]*errdetails.BadRequest_FieldViolation{own}, violations...)})
	}
	if to.retry {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(retryDelay)})
	}
	detailed, err := st.WithDetails(append(details, further...)...)
	if err != nil {
		return st
	}
	return detailed
}

// boundedStatus returns st with a message of at most maxMessageBytes.
func boundedStatus(st *status.Status) *status.Status {
	if len(st.Message()) <= maxMessageBytes {
		return st
	}
	p := st.Proto()
	p.Message = shorten(p.GetMessage(), maxMessageBytes)
	return status.FromProto(p)
}

// shorten cuts the middle out of text longer than limit: the ends of a path say most. It cuts between characters.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const gap = "…"
	head := (limit - len(gap)) / 2
	tail := len(text) - (limit - len(gap) - head)
	for head > 0 && !isCharacterStart(text[head]) {
		head--
	}
	for tail < len(text) && !isCharacterStart(text[tail]) {
		tail++
	}
	return text[:head] + gap + text[tail:]
}

// isCharacterStart reports whether b begins a character in UTF-8.
func isCharacterStart(b byte) bool { return b&0xC0 != 0x80 }

// typeChain names the types of err and of what it wraps, such as "*fmt.wrapError > *errors.errorString", at most eight.
func typeChain(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "unexpected end of input"
	}
	var chain []string
	for ; err != nil && len(chain) < 8; err = errors.Unwrap(err) {
		chain = append(chain, typeName(err))
	}
	return strings.Join(chain, " > ")
}

// typeName is the Go type of a value.
func typeName(value any) string { return fmt.Sprintf("%T", value) }
