package server

import (
	"context"

	"google.golang.org/grpc/mem"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/jsonvalue"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/conform"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// sinkRoom is what a Sink's buffers must have at least; room of exact size gets it on top, so that no sink is asked.
const sinkRoom = 512

// encodePlan is an EncodeRequest that was checked: what to encode and how. It is reused.
type encodePlan struct {
	value   []byte // aliases the request
	options encoder.Options
	message encoder.Message

	typ   *schema.Type // nil where the value has none
	check conform.EncodeOptions
	text  []byte // aliases the request: the JSON, where isJSON
	json  jsonvalue.Options
	// isJSON says that there is text in the place of a value. It always has a type.
	isJSON bool
}

// plan checks what a request asks for.
func (s *service) plan(ctx context.Context, p *encodePlan, r *encodeRequest) error {
	p.value, p.text, p.typ, p.isJSON = r.value, r.text, nil, r.input == jsonInput
	switch {
	case r.input == noInput:
		return optionFault(fault.MissingKind, "input", "no value given")
	case p.isJSON && !r.typ.given:
		return errNoType()
	}
	if err := s.planOptions(p, &r.options); err != nil || !r.typ.given {
		return err
	}
	t, err := s.typeOf(ctx, &r.typ)
	if err != nil {
		return err
	}
	p.typ = t
	if p.isJSON {
		p.json = s.jsonOptions(p, &r.options)
	} else {
		p.check = conform.EncodeOptions{IgnoreUnknown: r.options.ignoreUnknown, Limits: p.options.Limits}
	}
	return nil
}

// planOptions checks how a request wants its value written.
func (s *service) planOptions(p *encodePlan, o *encodeOptions) error {
	protocol, err := protocolOf(o.protocol)
	if err != nil {
		return err
	}
	framed, err := framedOf(o.framing)
	if err != nil {
		return err
	}
	p.options = encoder.Options{Framed: framed, Limits: encoder.Limits{
		Depth: s.cfg.MaxDepth, Elements: s.cfg.MaxElements, StringBytes: s.cfg.MaxStringBytes, SlowNodes: s.cfg.MaxSlowNodes,
	}}
	if protocol == thriftpackv1.Protocol_PROTOCOL_BINARY {
		p.options.Protocol = encoder.Binary
	}
	if o.hasMessage {
		m := &o.message
		switch thriftpackv1.MessageType(m.kind) {
		case thriftpackv1.MessageType_MESSAGE_TYPE_UNSPECIFIED:
			return optionFault(fault.BadHeader, "options.message.type", "no message type given")
		case thriftpackv1.MessageType_MESSAGE_TYPE_CALL, thriftpackv1.MessageType_MESSAGE_TYPE_REPLY,
			thriftpackv1.MessageType_MESSAGE_TYPE_EXCEPTION, thriftpackv1.MessageType_MESSAGE_TYPE_ONEWAY:
		default:
			return optionFault(fault.BadOption, "options.message.type", "unknown number %d", m.kind)
		}
		p.message = encoder.Message{Name: m.name, Type: m.kind, SeqID: m.seqID}
		p.options.Message = &p.message
	}
	return nil
}

// protocolOf checks a Protocol; unspecified is compact.
func protocolOf(number int32) (thriftpackv1.Protocol, error) {
	switch p := thriftpackv1.Protocol(number); p {
	case thriftpackv1.Protocol_PROTOCOL_UNSPECIFIED, thriftpackv1.Protocol_PROTOCOL_COMPACT:
		return thriftpackv1.Protocol_PROTOCOL_COMPACT, nil
	case thriftpackv1.Protocol_PROTOCOL_BINARY:
		return p, nil
	default:
		return 0, optionFault(fault.BadOption, "options.protocol", "unknown number %d", number)
	}
}

// framedOf checks a Framing; unspecified is none.
func framedOf(number int32) (bool, error) {
	switch thriftpackv1.Framing(number) {
	case thriftpackv1.Framing_FRAMING_UNSPECIFIED, thriftpackv1.Framing_FRAMING_NONE:
		return false, nil
	case thriftpackv1.Framing_FRAMING_FRAMED:
		return true, nil
	default:
		return false, optionFault(fault.BadOption, "options.framing", "unknown number %d", number)
	}
}

// encode answers Encode.
func (s *service) encode(ctx context.Context, c *unaryCall) (mem.Buffer, error) {
	c.encode = encodeRequest{}
	if err := parseEncodeRequest(&c.encode, c.raw.bytes()); err != nil {
		return nil, err
	}
	p := &c.plan
	if err := s.plan(ctx, p, &c.encode); err != nil {
		return nil, err
	}
	if p.isJSON {
		return s.encodeJSON(ctx, c, p)
	}
	p.options.Stop = c.stop
	if c.encode.isSplit() {
		value, err := c.encode.join(func(r *encodeRequest) error { return parseEncodeRequest(r, c.raw.bytes()) })
		if err != nil {
			return nil, err
		}
		c.raw.free()
		p.value = value
	}
	var reply mem.Buffer
	var err error
	if p.typ != nil {
		reply, err = s.encodeTyped(ctx, c, p)
	} else {
		reply, err = s.encodeReply(ctx, c, p)
	}
	p.value, p.typ, c.encode.value = nil, nil, nil
	return reply, err
}

// encodeReply encodes a value whose bound fits in one pass, and measures it first otherwise.
func (s *service) encodeReply(ctx context.Context, c *unaryCall, p *encodePlan) (mem.Buffer, error) {
	bound := encoder.Bound(len(p.value), &p.options)
	switch {
	case p.options.Protocol != encoder.Compact || dataSize(int64(bound)) > int64(s.cfg.MaxUnaryReplyBytes):
		return s.encodeMeasured(ctx, c, p)
	case bound <= len(c.scratch):
		encoded, err := c.encoder.Append(c.scratch[:0], p.value, &p.options)
		s.countPath(&c.encoder)
		if err != nil {
			return nil, err
		}
		return ownReply(encoded), nil
	}
	chunk := s.pool.Get(replyHeadroom + bound)
	room := chunk.Room(replyHeadroom + bound)
	encoded, err := c.encoder.Append(room[:replyHeadroom], p.value, &p.options)
	s.countPath(&c.encoder)
	if err != nil {
		chunk.Release()
		return nil, err
	}
	if &encoded[0] != &room[0] {
		// The encoder needed more than it said; then these are bytes of their own.
		chunk.Release()
		if size := dataSize(int64(len(encoded) - replyHeadroom)); size > int64(s.cfg.MaxUnaryReplyBytes) {
			return nil, s.errReplySize(size, "EncodeStream")
		}
		return ownReply(encoded[replyHeadroom:]), nil
	}
	return c.chunkReply(ctx, chunk, len(encoded))
}

// countPath counts a value by the path that it took.
func (s *service) countPath(e interface{ SlowPath() bool }) {
	if e.SlowPath() {
		s.slowPath()
	} else {
		s.fastPath()
	}
}

// encodeMeasured measures the value before it takes memory for it.
func (s *service) encodeMeasured(ctx context.Context, c *unaryCall, p *encodePlan) (mem.Buffer, error) {
	size, err := c.encoder.Prepare(p.value, &p.options)
	s.countPath(&c.encoder)
	if err == nil && dataSize(size) > int64(s.cfg.MaxUnaryReplyBytes) {
		err = s.errReplySize(dataSize(size), "EncodeStream")
	}
	if err != nil {
		c.encoder.Release()
		return nil, err
	}
	chunk, end, err := s.writeWhole(&c.encoder, size)
	c.encoder.Release()
	if err != nil {
		return nil, err
	}
	return c.chunkReply(ctx, chunk, end)
}

// recordWriter writes a value that was prepared: an encoder.Encoder or a jsonvalue.Encoder.
type recordWriter interface {
	WriteTo(sink encoder.Sink, buf []byte, filled int) (lastBuf []byte, lastFilled int, err error)
}

// writeWhole writes the value of size bytes that was prepared into one chunk after replyHeadroom, and returns where it ends.
func (s *service) writeWhole(e recordWriter, size int64) (chunk stream.Chunk, end int, err error) {
	capacity := replyHeadroom + int(size) + sinkRoom
	chunk = s.pool.Get(capacity)
	_, end, err = e.WriteTo(fullSink{}, chunk.Room(capacity), replyHeadroom)
	if err != nil {
		chunk.Release()
		return stream.Chunk{}, 0, err
	}
	return chunk, end, nil
}

// fullSink is the sink of a buffer that was measured to be large enough: it lends nothing.
type fullSink struct{}

// Next fails.
func (fullSink) Next(int) ([]byte, error) {
	return nil, fault.New(fault.Internal, "a value is larger than it was measured to be")
}

// encodeStream answers EncodeStream. The value is checked and measured in full before anything is sent.
func (s *service) encodeStream(session *session) error {
	var raw rawRequest
	defer raw.free()
	if err := session.receive(&raw); err != nil {
		return err
	}
	var request encodeStreamRequest
	if err := parseEncodeStreamRequest(&request, raw.bytes()); err != nil {
		return err
	}
	var p encodePlan
	if err := s.plan(session.ctx, &p, &request.request); err != nil {
		return err
	}
	chunkSize, err := stream.ChunkSize(request.chunkSize)
	if err != nil {
		return err
	}
	cost := stream.Cost(chunkSize)
	if err := session.take(cost + raw.held()); err != nil {
		return err
	}
	if p.isJSON {
		return s.streamJSON(session, &raw, &p, &request, chunkSize, cost)
	}
	if request.request.isSplit() {
		if err := session.reserve(int64(request.request.most)); err != nil {
			return err
		}
		p.value, err = request.request.join(func(r *encodeRequest) error {
			again := encodeStreamRequest{request: *r}
			err := parseEncodeStreamRequest(&again, raw.bytes())
			*r = again.request
			return err
		})
		if err != nil {
			return err
		}
		raw.free()
		session.keep(cost + int64(request.request.most))
	}
	request.request.value = nil // p has it, and lets go of it when it can
	p.options.Stop, p.options.Reserve = session.goesOn, session.reserve
	if p.typ != nil {
		return s.streamTyped(session, &raw, &p, &request, chunkSize)
	}
	return s.streamValue(session, &raw, &p, &request, chunkSize, func() {})
}

// streamValue sends a value. Where it is not needed any more, because its encoding is at hand, it is given back, and done is called.
func (s *service) streamValue(session *session, raw *rawRequest, p *encodePlan, r *encodeStreamRequest, chunkSize int, done func()) error {
	e := s.encoders.Get().(*encoder.Encoder) //nolint:errcheck,forcetypeassert // the pool holds nothing else
	err := s.encodeRecords(session, e, raw, p, r, chunkSize, done)
	// Not deferred: an encoder that panicked is not used again.
	e.Release()
	s.encoders.Put(e)
	return err
}
