package stream

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// Direction is which way a watched call moves bytes.
type Direction uint8

// The directions.
const (
	Sending   Direction = iota // the peer must read
	Receiving                  // the peer must send
)

// Watch ends a stream when one call to SendMsg or RecvMsg blocks for longer than a timeout. gRPC shows no progress
// inside of a message, so one whole message must pass in that time, at the rate of its size divided by the timeout. A
// Watch has one timer for all calls and no goroutine. One Watch serves one goroutine that sends and receives in turn; a stream that does both at
// once has two, with the same cut.
type Watch struct {
	timeout time.Duration
	cut     func(*fault.Error)

	mu        sync.Mutex
	timer     *time.Timer
	began     time.Time
	waiting   bool
	direction Direction
	err       *fault.Error
	stopped   bool
}

// NewWatch returns a watch that allows each call timeout (--stall-timeout; 0 allows none) and then calls cut once, with
// a fault of reason Stalled. cut must unblock the call, by End or by closing the connection, and must not block. It
// runs on a goroutine of its own while the watched call is blocked: what was written before Begin is visible to it, so
// Sender.Bytes and CRC32C may be read there, and Watch.End waits until it has returned.
func NewWatch(timeout time.Duration, cut func(*fault.Error)) *Watch {
	return &Watch{timeout: timeout, cut: cut}
}

// Begin starts the time of one call.
func (w *Watch) Begin(direction Direction) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.began, w.waiting, w.direction = time.Now(), true, direction
	if w.timer == nil && !w.stopped {
		w.timer = time.AfterFunc(w.timeout, w.expire)
	}
}

// End ends the time of the call and returns the fault when the stream was cut, nil otherwise. The fault, not what the
// call returned, is then the reason why the stream ends.
func (w *Watch) End() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = false
	if w.err != nil {
		return w.err
	}
	return nil
}

// Stop ends the watch. It is called when the handler ends, on every path.
func (w *Watch) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

// expire looks whether a call has been blocked for the whole timeout, and otherwise when to look again. The timer is
// not reset for each call, because that costs more than to look once in a timeout.
func (w *Watch) expire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped || w.err != nil {
		return
	}
	if !w.waiting {
		w.timer.Reset(w.timeout)
		return
	}
	if left := w.timeout - time.Since(w.began); left > 0 {
		w.timer.Reset(left)
		return
	}
	w.err = stalled(w.direction, w.timeout)
	w.cut(w.err)
}

func stalled(direction Direction, timeout time.Duration) *fault.Error {
	if direction == Receiving {
		return fault.New(fault.Stalled, "no whole message from the peer for %s (--stall-timeout)", timeout)
	}
	return fault.New(fault.Stalled, "peer took no message for %s (--stall-timeout); a client must read while it writes", timeout)
}

// EndRPC ends the RPC of ctx with a status while its handler is blocked in SendMsg or RecvMsg: the call returns, the
// status becomes the RPC's, and what the handler returns later is ignored. It tells whether it could; if not, only
// closing the connection unblocks the handler. ctx must come from the handler or the stats handler of the RPC.
func EndRPC(ctx context.Context, st *status.Status) bool {
	transport, ok := grpc.ServerTransportStreamFromContext(ctx).(interface {
		WriteStatus(st *status.Status) error
	})
	if !ok {
		return false
	}
	return transport.WriteStatus(st) == nil
}
