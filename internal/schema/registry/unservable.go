package registry

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/thriftpack/thriftpack/internal/fault"
)

const (
	// unservableFor is how long a stored revision that cannot be served is not tried again, and maxUnservable how many of them are kept.
	// Each try reads, compiles and writes to the log, and any call may ask for one.
	unservableFor = 10 * time.Second
	maxUnservable = 1024
)

// unservableError is the fault of a stored revision that cannot be compiled here.
type unservableError struct {
	fault *fault.Error
	since time.Time
}

// Error is the text of the fault.
func (e *unservableError) Error() string { return e.fault.Error() }

// Unwrap returns the fault.
func (e *unservableError) Unwrap() error { return e.fault }

func isUnservable(err error) bool {
	var e *unservableError
	return errors.As(err, &e)
}

// errStored is the error of a revision that was pushed and cannot be served: another version of the server, or other limits, took it.
func (r *Registry) errStored(ctx context.Context, name, id string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if isBusy(err) {
		return err
	}
	r.cfg.Logger.LogAttrs(ctx, slog.LevelError, "stored schema cannot be served",
		slog.String("schema", name), slog.String("revision", id), slog.String("error", firstLine(err)))
	unservable := &unservableError{since: time.Now(), fault: fault.New(fault.SchemaStoreUnavailable,
		"schema %q: the stored revision %s cannot be served here; the server's log says why", name, id)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.unservable) >= maxUnservable {
		clear(r.unservable)
	}
	r.unservable[refOf(name, id)] = unservable
	return unservable
}

// knownUnservable returns the error of a revision that could not be served a moment ago, or nil.
func (r *Registry) knownUnservable(ref string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.unservable[ref]
	if !ok || time.Since(known.since) >= unservableFor {
		return nil
	}
	return known
}
