package server

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/guard"
	"github.com/thriftpack/thriftpack/internal/schema/registry"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// service is the SerializerService and the SchemaService: what their handlers share.
type service struct {
	cfg      config.Config
	schemas  *registry.Registry // set before it serves
	pool     *stream.Pool
	budget   *stream.Budget
	sessions *sessions
	slowPath func()              // counts a value that was normalised
	fastPath func()              // counts one that was not
	traffic  map[string]*traffic // by method
	calls    sync.Pool           // of *unaryCall
	encoders sync.Pool           // of *encoder.Encoder
	decoders sync.Pool           // of *decoder.Decoder
	joiners  sync.Pool           // of *encoder.Parts
	cutters  sync.Pool           // of *decoder.Parts
	tools    sync.Pool           // of *typedTools
	buffers  *stream.Buffers     // what requests are read into; set before it serves

	// limiterOf and take are the server's, where callers have a rate; nil otherwise. Set before it serves.
	limiterOf func(ctx context.Context) *guard.Limiter
	take      func(*guard.Limiter) error

	unpaidGrace time.Duration // see the constant, which tests shorten

	// hook, when set, is called by every handler when it has its request. Tests make it panic, fail or wait.
	hook func(ctx context.Context, method string) error
}

func newService(cfg config.Config, sessions *sessions, m *metrics) *service {
	s := &service{
		cfg:      cfg,
		pool:     stream.NewPool(),
		budget:   stream.NewBudget(cfg.StreamBudget, config.BufferMost(int64(cfg.MaxRequestBytes)), cfg.StreamWait),
		sessions: sessions,
		slowPath: m.slowPath.Inc,
		fastPath: m.fastPath.Inc,
		traffic:  newTraffic(m),

		unpaidGrace: unpaidGrace,
	}
	s.calls.New = func() any { return newUnaryCall(s) }
	s.encoders.New = func() any { return new(encoder.Encoder) }
	s.decoders.New = func() any { return new(decoder.Decoder) }
	s.joiners.New = func() any { return new(encoder.Parts) }
	s.tools.New = func() any { return &typedTools{buffers: s.buffers} }
	s.cutters.New = func() any { return new(decoder.Parts) }
	return s
}

// unaryHandler answers one unary call whose request has been received.
type unaryHandler func(ctx context.Context, c *unaryCall) (mem.Buffer, error)

// streamHandler serves one stream.
type streamHandler func(s *session) error

// describe returns the description that the service is registered by. It is written by hand because generated
// handlers decode a request before the first interceptor runs: an unauthenticated caller's whole body would be read, and a
// panic there would escape recovery. Ours run the interceptors first and decode innermost.
func (s *service) describe() *grpc.ServiceDesc {
	name := thriftpackv1.SerializerService_ServiceDesc.ServiceName
	return &grpc.ServiceDesc{
		ServiceName: name,
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{
			s.unary(name, "Encode", s.encode),
			s.unary(name, "Decode", s.decode),
		},
		Streams: []grpc.StreamDesc{
			s.stream("EncodeStream", false, s.encodeStream),
			s.stream("EncodeBatch", true, s.encodeBatch),
			s.stream("EncodeParts", true, s.encodeParts),
			s.stream("DecodeStream", false, s.decodeStream),
			s.stream("DecodeBatch", true, s.decodeBatch),
			s.stream("DecodeParts", true, s.decodeParts),
		},
		Metadata: thriftpackv1.SerializerService_ServiceDesc.Metadata,
	}
}

// unary describes a unary method of the service of that name.
func (s *service) unary(service, name string, handle unaryHandler) grpc.MethodDesc {
	info := &grpc.UnaryServerInfo{Server: s, FullMethod: "/" + service + "/" + name}
	counts := s.traffic[name]
	innermost := func(ctx context.Context, request any) (any, error) {
		call := request.(*unaryCall) //nolint:errcheck,forcetypeassert // interceptors pass on what they were given
		return call.run(ctx, name, handle)
	}
	return grpc.MethodDesc{
		MethodName: name,
		Handler: func(_ any, ctx context.Context, receive func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
			call := s.calls.Get().(*unaryCall) //nolint:errcheck,forcetypeassert // the pool holds nothing else
			call.receive, call.traffic = receive, counts
			var reply any
			var err error
			if intercept == nil {
				reply, err = innermost(ctx, call)
			} else {
				// A panic in the handler has become an error in here; the call then is not clean and goes to the collector.
				reply, err = intercept(ctx, call, info, innermost)
			}
			call.raw.free()
			call.receive, call.traffic = nil, nil
			if err == nil {
				counts.sent(replySize(reply))
			}
			if call.clean {
				s.calls.Put(call)
			}
			return reply, err
		},
	}
}

// stream describes a streaming method. All answer with a stream; clientStreams says whether requests come as one, too.
func (s *service) stream(name string, clientStreams bool, handle streamHandler) grpc.StreamDesc {
	return grpc.StreamDesc{
		StreamName:    name,
		ServerStreams: true,
		ClientStreams: clientStreams,
		Handler: func(_ any, ss grpc.ServerStream) error {
			session := s.sessions.open(ss, name, s)
			defer session.close()
			return handle(session)
		},
	}
}

// unaryCall is the state of one unary call. Calls are pooled.
type unaryCall struct {
	service    *service
	receive    func(any) error
	traffic    *traffic // of its method
	reader     messageReader
	raw        rawRequest
	watch      stallWatch
	encoder    encoder.Encoder
	decoder    decoder.Decoder
	encode     encodeRequest
	decode     decodeRequest
	plan       encodePlan
	decodePlan decodePlan
	scratch    []byte
	// stop tells encoder and decoder whether the present call is over. It is made once, so that a call allocates nothing for it.
	stop func() error
	ctx  context.Context //nolint:containedctx // what stop asks
	// clean is whether the call ended in order, and may be pooled.
	clean bool
}

func newUnaryCall(s *service) *unaryCall {
	c := &unaryCall{service: s, scratch: make([]byte, smallReply)}
	c.watch.init(s.cfg.StallTimeout)
	c.stop = func() error { return c.ctx.Err() }
	return c
}

// run receives the request and answers it.
func (c *unaryCall) run(ctx context.Context, method string, handle unaryHandler) (any, error) {
	c.clean = false
	transport := grpc.ServerTransportStreamFromContext(ctx)
	if err := keepPlain(ctx, transport, c.service.cfg.CompressReplies); err != nil {
		return nil, err
	}
	c.watch.start(ctx)
	err := c.reader.receiveOnly(ctx, transport, c.service, &c.raw, c.receive)
	if !c.watch.stop() {
		return nil, errStalledReceiving(c.service.cfg.StallTimeout)
	}
	if err != nil {
		c.clean = true
		return nil, err
	}
	c.traffic.received(&c.raw)
	if hook := c.service.hook; hook != nil {
		if err := hook(ctx, method); err != nil {
			return nil, err
		}
	}
	c.ctx = ctx
	reply, err := handle(ctx, c)
	c.ctx = nil
	c.raw.free()
	c.clean = true
	if err != nil {
		return nil, err
	}
	return reply, nil
}

// keepPlain has the reply to a compressed request sent uncompressed, unless replies may be compressed: gRPC would answer
// gzip with gzip of its own accord.
func keepPlain(ctx context.Context, transport grpc.ServerTransportStream, compressReplies bool) error {
	if compressReplies {
		return nil
	}
	if s, ok := transport.(interface{ RecvCompress() string }); ok && s.RecvCompress() == "" {
		return nil
	}
	return orEnd(ctx, grpc.SetSendCompressor(ctx, encoding.Identity))
}

// orEnd returns err, or what ended the call: gRPC refuses to set anything of a call that is over, which is no fault of ours.
func orEnd(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// stallWatch ends a unary call whose peer sends nothing for too long while the handler waits for it. gRPC has no receive
// with a timeout, and a goroutine for each call would cost more than the call. The timer is not set for each call, which
// would wake a processor each time: it runs on, and when it fires, looks how long the present call has waited. So it
// lives as long as its unaryCall and serves one call after the other.
type stallWatch struct {
	after time.Duration

	mu      sync.Mutex
	timer   *time.Timer
	running bool
	waiting bool
	expired bool
	began   time.Duration   // since processStart, which is half the price of asking for the time of day, too
	ctx     context.Context //nolint:containedctx // of the call that is waited for
}

// processStart is what the time of a wait is counted from.
var processStart = time.Now()

// init prepares a watch that ends calls after a time.
func (w *stallWatch) init(after time.Duration) {
	w.after = after
	w.timer = time.AfterFunc(time.Hour, w.look)
	w.timer.Stop()
}

// start begins a wait for the call of ctx.
func (w *stallWatch) start(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.began, w.waiting, w.ctx = time.Since(processStart), true, ctx
	if !w.running {
		w.running = true
		w.timer.Reset(w.after)
	}
}

// stop ends the wait. When it reports false the call was ended, and the watch must not be used again.
func (w *stallWatch) stop() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting, w.ctx = false, nil
	return !w.expired
}

// look ends the call that has waited for too long, or sets when to look again.
func (w *stallWatch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = false
	if !w.waiting {
		return
	}
	if left := w.after + w.began - time.Since(processStart); left > 0 {
		w.running = true
		w.timer.Reset(left)
		return
	}
	w.expired = true
	stream.EndRPC(w.ctx, toStatus(errStalledReceiving(w.after)).status)
}

// errStalledReceiving is the fault of a peer that stopped sending.
func errStalledReceiving(after time.Duration) error {
	return fault.New(fault.Stalled, "no whole message from the peer for %s (--stall-timeout)", after)
}
