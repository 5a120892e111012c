package server

import (
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/idl"
)

// Bounds of the violations of one status beside the first, so that all details fit into trailers.
const (
	mostViolations    = 10
	maxViolationPath  = 96
	maxViolationText  = 160
	maxViolationBytes = 1800 // of all of them
)

// sourcesStatus makes the status of sources that do not compile: that of the first fault, with the places of the others.
func sourcesStatus(faults idl.Errors) *status.Status {
	left := maxViolationBytes
	var more []*errdetails.BadRequest_FieldViolation
	for _, f := range faults[1:min(len(faults), mostViolations)] {
		v := &errdetails.BadRequest_FieldViolation{
			Field: shorten(f.Path, maxViolationPath), Description: shorten(f.Detail, maxViolationText), Reason: string(f.Reason),
		}
		if left -= len(v.GetField()) + len(v.GetDescription()) + len(v.GetReason()); left < 0 {
			break
		}
		more = append(more, v)
	}
	return detailedStatus(faults[0], more)
}

// changesStatus makes the status of a revision that is refused for these changes.
func changesStatus(f *fault.Error, changes []schema.Change) *status.Status {
	left := maxViolationBytes
	refused := &errdetails.PreconditionFailure{}
	for i := range changes[:min(len(changes), mostViolations)] {
		change := &changes[i]
		v := &errdetails.PreconditionFailure_Violation{
			Type: string(change.Rule), Subject: shorten(change.Path, maxViolationPath), Description: shorten(change.Detail, maxViolationText),
		}
		if at := change.New; at.Line > 0 {
			v.Description = shorten(at.String(), maxViolationPath) + ": " + v.GetDescription()
		}
		if left -= len(v.GetType()) + len(v.GetSubject()) + len(v.GetDescription()); left < 0 {
			break
		}
		refused.Violations = append(refused.Violations, v)
	}
	return detailedStatus(f, nil, refused)
}
