package server

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/guard"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// unpaidGrace is how long a connection may owe the bytes of a stream that was cut before it is closed.
const unpaidGrace = 10 * time.Second

var errDraining = fault.New(fault.Draining, "the server is shutting down")

// sessions are the streams of the process as far as draining is concerned. Those that only wait for their peer are
// ended at once when it begins; those that work ask draining between chunks.
type sessions struct {
	draining atomic.Bool

	mu      sync.Mutex
	waiting map[*waiter]struct{}
}

// waiter is a stream that waits for its peer.
type waiter struct {
	ctx   context.Context //nolint:containedctx // names the RPC to end
	ended bool            // guarded by sessions.mu
	// ending, when set, is called before the RPC is ended.
	ending func()
}

func newSessions() *sessions { return &sessions{waiting: make(map[*waiter]struct{})} }

// wait notes that w waits from here until resume, and reports whether it may: not when draining has begun.
func (r *sessions) wait(w *waiter) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.draining.Load() {
		return false
	}
	r.waiting[w] = struct{}{}
	return true
}

// resume ends a wait and reports whether the stream goes on: not when drain ended it.
func (r *sessions) resume(w *waiter) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.waiting, w)
	return !w.ended
}

// drain ends all streams that wait, and tells all others, from now on, to end.
func (r *sessions) drain() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.draining.Store(true)
	for w := range r.waiting {
		w.ended = true
		if w.ending != nil {
			w.ending()
		}
		stream.EndRPC(w.ctx, toStatus(errDraining).status)
	}
	clear(r.waiting)
}

// session is one stream of the service: its messages, watched for stalls, and its trailers.
type session struct {
	stream   grpc.ServerStream
	ctx      context.Context //nolint:containedctx // the stream's own
	method   string
	service  *service
	registry *sessions
	waiter   waiter
	watch    *stream.Watch
	conn     *trackedConn // nil for a listener that does not track connections
	tally    tally
	// bytesRead is how many bytes of the input are in what was sent, of DecodeParts; -1 elsewhere.
	bytesRead int64
	grant     stream.Grant   // of the budget: base and reserved, or the whole budget where they are more
	base      int64          // what was taken
	reserved  int64          // what was reserved beside that
	sender    *stream.Sender // of streams of bytes; nil for batches and before the first chunk
	counts    bool           // the sender counts what was sent, not the tally
	limiter   *guard.Limiter // of the caller's requests, or nil
	traffic   *traffic       // of the method
	trailers  sync.Once
	cutOff    bool
}

// tally counts the data of a batch or of parts as a Sender does that of a stream.
type tally struct {
	bytes int64
	crc   uint32
}

// add counts data.
func (t *tally) add(data []byte) {
	t.bytes += int64(len(data))
	t.crc = stream.UpdateCRC32C(t.crc, data)
}

// open begins the session of a stream. It must be closed.
func (r *sessions) open(ss grpc.ServerStream, method string, s *service) *session {
	ctx := ss.Context()
	opened := &session{
		stream: ss, ctx: ctx, method: method, service: s, registry: r,
		waiter: waiter{ctx: ctx}, conn: connectionOf(ctx), bytesRead: -1,
		grant: s.budget.Grant(), traffic: s.traffic[method],
	}
	opened.waiter.ending = opened.setTrailers
	if s.limiterOf != nil {
		opened.limiter = s.limiterOf(ctx)
	}
	opened.watch = stream.NewWatch(s.cfg.StallTimeout, opened.cut)
	return opened
}

// close ends the session on every path, panics included: its trailers are set and its watch stopped.
func (s *session) close() {
	s.watch.Stop()
	s.setTrailers()
	if s.sender == nil {
		s.grant.Release()
		return
	}
	s.sender.Close()
	// A record that is larger than all that a stream of chunks leaves behind, as when the call expires or is cancelled and the peer does not read.
	retains := s.sender.Retains() && s.sender.Owed() > s.sender.Cost()
	if s.conn == nil || !s.cutOff && !retains {
		s.grant.Release()
		return
	}
	settled := func() {}
	if retains {
		s.keep(s.sender.Owed())
		// Not a method of the session's own grant: what is queued is found to be garbage by the debt, which must not lead to it.
		rest := s.grant
		settled = rest.Release
	} else {
		s.grant.Release()
	}
	s.sender.CloseUnlessPaid(s.service.unpaidGrace, s.conn.abort, settled)
}

// cut ends the stream while the handler is blocked in it. It runs on the watch's goroutine, with the handler's writes
// visible to it.
func (s *session) cut(f *fault.Error) {
	s.cutOff = true
	s.setTrailers()
	if !stream.EndRPC(s.ctx, toStatus(f).status) && s.conn != nil {
		s.conn.abort()
	}
}

// setTrailers states what was sent, once. What comes after the end of the RPC is ignored.
func (s *session) setTrailers() {
	s.trailers.Do(func() {
		sent, crc := s.tally.bytes, s.tally.crc
		if s.counts {
			sent, crc = s.sender.Bytes(), s.sender.CRC32C()
		}
		trailer := metadata.MD{
			thriftpackv1.BytesTrailer:  {strconv.FormatInt(sent, 10)},
			thriftpackv1.CRC32CTrailer: {fmt.Sprintf("%08x", crc)},
		}
		if s.bytesRead >= 0 {
			trailer[thriftpackv1.BytesReadTrailer] = []string{strconv.FormatInt(s.bytesRead, 10)}
		}
		s.stream.SetTrailer(trailer)
	})
}

// receive waits for the next request message. The error is io.EOF at the end of a stream of requests.
func (s *session) receive(raw *rawRequest) error {
	if !s.registry.wait(&s.waiter) {
		return errDraining
	}
	s.watch.Begin(stream.Receiving)
	err := s.stream.RecvMsg(raw)
	stalled := s.watch.End()
	goesOn := s.registry.resume(&s.waiter)
	switch {
	case stalled != nil:
		return stalled
	case !goesOn:
		return errDraining
	case err != nil:
		return err
	}
	s.traffic.received(raw)
	if hook := s.service.hook; hook != nil {
		return hook(s.ctx, s.method)
	}
	return nil
}

// send hands a finished message to gRPC, which owns it from here.
func (s *session) send(message any) error {
	s.watch.Begin(stream.Sending)
	err := s.sendCounted(message)
	if stalled := s.watch.End(); stalled != nil {
		return stalled
	}
	return err
}

// sendCounted hands a finished message to gRPC and counts it.
func (s *session) sendCounted(message any) error {
	size := replySize(message)
	err := s.stream.SendMsg(message)
	if err == nil {
		s.traffic.sent(size)
	}
	return err
}

// goesOn returns the error of a stream that has to end although its peer does nothing wrong.
func (s *session) goesOn() error {
	if s.registry.draining.Load() {
		return errDraining
	}
	return s.ctx.Err()
}

// take waits for cost bytes of the budget, or for all of it where that is smaller. They are held to the end of the session unless keep
// gives some back.
func (s *session) take(cost int64) error {
	return s.waited(cost, s.grant.Wait(s.ctx, min(cost, s.service.cfg.StreamBudget)))
}

// grow waits for cost bytes beside what the session has, before all streams that are not under way yet. shrink gives them back, before
// the session next waits for its client to send.
func (s *session) grow(cost int64) error { return s.waited(cost, s.grant.Grow(s.ctx, cost)) }

// waited notes cost bytes that were waited for, or returns why they were not to be had.
func (s *session) waited(cost int64, err error) error {
	switch {
	case err == nil:
		s.base += cost
	case s.registry.draining.Load() && errors.Is(err, context.Canceled):
		return errDraining
	}
	return err
}

// shrink gives back what grow took.
func (s *session) shrink(cost int64) {
	_ = s.resize(s.base-cost, s.reserved) // less is always to be had
}

// reserve takes bytes beside what was taken, unless so many were reserved before. It does not wait: see stream.Grant.
func (s *session) reserve(bytes int64) error {
	if bytes <= s.reserved {
		return nil
	}
	return s.resize(s.base, bytes)
}

// more takes bytes beside what was taken and reserved. It does not wait either.
func (s *session) more(bytes int64) error { return s.resize(s.base+bytes, s.reserved) }

// hasMore does what more does, and reports whether the bytes were to be had: for those who can do without.
func (s *session) hasMore(bytes int64) bool { return s.more(bytes) == nil }

// keep gives back what the session has taken and reserved, but for cost bytes.
func (s *session) keep(cost int64) {
	_ = s.resize(min(cost, s.grant.Held()), 0) // less is always to be had
}

// resize makes the session hold what was taken and reserved.
func (s *session) resize(base, reserved int64) error {
	err := s.grant.Resize(base + reserved)
	if err == nil {
		s.base, s.reserved = base, reserved
	}
	return err
}

// newSender returns the sender of the session's chunks of size bytes each. It counts what is sent.
func (s *session) newSender(size int) (*stream.Sender, error) {
	sender, err := s.makeSender(stream.SenderConfig{ChunkSize: size, Tag: dataTag})
	s.counts = err == nil
	return sender, err
}

// newWholeSender returns a sender of messages that are put together by the caller, of at most size bytes each; the caller counts
// what is sent in the session's tally.
func (s *session) newWholeSender(size int) (*stream.Sender, error) {
	return s.makeSender(stream.SenderConfig{ChunkSize: size, Whole: true})
}

// makeSender opens the sender of a stream.
func (s *session) makeSender(config stream.SenderConfig) (*stream.Sender, error) {
	config.Pool, config.Watch = s.service.pool, s.watch
	config.Send = func(m *stream.Message) error { return s.sendCounted(m) }
	if s.conn != nil {
		config.Account = s.conn.account
	}
	sender, err := stream.NewSender(s.ctx, config)
	if err != nil {
		return nil, err
	}
	s.sender = sender
	return sender, nil
}

// drainingSink is a Sender that stops at the next chunk boundary once the server drains.
type drainingSink struct {
	sender   *stream.Sender
	registry *sessions
}

// again sends a full message of what the sender repeats.
func (d drainingSink) again() error {
	if d.registry.draining.Load() {
		return errDraining
	}
	return d.sender.SendRepeated()
}

// Next sends what is filled, and lends the next chunk unless the server drains.
func (d drainingSink) Next(filled int) ([]byte, error) {
	if filled == 0 && d.registry.draining.Load() {
		return nil, errDraining
	}
	room, err := d.sender.Next(filled)
	if err == nil && d.registry.draining.Load() {
		return nil, errDraining
	}
	return room, err
}
