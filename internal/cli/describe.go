package cli

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
)

// describe writes an error as one line. A gRPC status reads "CODE: message (reason REASON, at PATH)".
func describe(err error) string {
	if errors.Is(err, syscall.EPIPE) {
		return "output: broken pipe: whatever reads it went away"
	}
	return flatten(err.Error())
}

// callError is the error of an RPC.
type callError struct {
	// addr is the server, or "" for the one in this process.
	addr   string
	status *status.Status
	err    error
}

// newCallError wraps the error of an RPC, if it is one.
func newCallError(addr string, err error) error {
	s, ok := status.FromError(err)
	if !ok {
		return err
	}
	return &callError{addr: addr, status: s, err: err}
}

// Error is the status in words.
func (e *callError) Error() string {
	message := e.status.Message()
	text := code.Code(e.status.Code()).String() + ": " + message //nolint:gosec // gRPC has seventeen codes
	var facts []string
	explained := false
	for _, detail := range e.status.Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			facts = append(facts, "reason "+d.GetReason())
			explained = true
		case *errdetails.BadRequest:
			for _, v := range d.GetFieldViolations() {
				// Most messages begin with the place already.
				if v.GetField() != "" && !strings.Contains(message, v.GetField()) {
					facts = append(facts, "at "+v.GetField())
				}
			}
		case *errdetails.RetryInfo:
			facts = append(facts, "try again after "+d.GetRetryDelay().AsDuration().String())
		}
	}
	if e.addr != "" && !explained {
		// It may come from the connection, or from something else that listens there.
		facts = append(facts, "server "+e.addr)
	}
	if len(facts) > 0 {
		text += fmt.Sprintf(" (%s)", strings.Join(facts, ", "))
	}
	return text
}

// Unwrap returns the error of the RPC.
func (e *callError) Unwrap() error { return e.err }

// flatten keeps a text on one line, and turns the no-break spaces of package protobuf into plain ones.
func flatten(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "\u00a0", " ")), " ")
}
