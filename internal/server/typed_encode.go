package server

import (
	"context"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// encodeJSON answers Encode for JSON.
func (s *service) encodeJSON(ctx context.Context, c *unaryCall, p *encodePlan) (mem.Buffer, error) {
	tools := s.takeTools()
	p.json.Stop, p.json.Reserve = c.stop, s.boundUnary
	p.json.Limits.EncodedBytes, p.json.Limits.EncodedSetting = int64(s.cfg.MaxUnaryReplyBytes), "--max-unary-reply-bytes; use EncodeStream"
	size, err := tools.json.Prepare(p.text, p.typ, &p.json)
	p.text, p.typ, c.encode.text = nil, nil, nil
	c.raw.free()
	var reply mem.Buffer
	if err == nil {
		reply, err = s.writeReply(ctx, c, &tools.json, size)
	}
	// Not deferred: tools that panicked are not used again.
	s.giveTools(tools)
	return reply, err
}

// writeReply writes a value of size bytes that was prepared as the reply of Encode.
func (s *service) writeReply(ctx context.Context, c *unaryCall, e recordWriter, size int64) (mem.Buffer, error) {
	total := dataSize(size)
	switch {
	case total > int64(s.cfg.MaxUnaryReplyBytes):
		return nil, s.errReplySize(total, "EncodeStream")
	case total > smallReply:
		chunk, end, err := s.writeWhole(e, size)
		if err != nil {
			return nil, err
		}
		return c.chunkReply(ctx, chunk, end)
	}
	reply := protowire.AppendVarint(append(make([]byte, 0, total+sinkRoom), dataTag), uint64(size)) //nolint:gosec // a size is not negative
	_, end, err := e.WriteTo(fullSink{}, reply[:cap(reply)], len(reply))
	if err != nil {
		return nil, err
	}
	return mem.SliceBuffer(reply[:end]), nil
}

// streamJSON answers EncodeStream for JSON. It charges what it holds like what a Value takes to be normalised.
func (s *service) streamJSON(session *session, raw *rawRequest, p *encodePlan, r *encodeStreamRequest, chunkSize int, cost int64) error {
	tools := s.takeTools()
	taken := int64(0)
	p.json.Stop, p.json.Reserve = session.goesOn, func(bytes int64) error { taken = bytes; return session.reserve(bytes) }
	p.json.Limits.EncodedBytes, p.json.Limits.EncodedSetting = s.mostEncoded(), "what --stream-budget has for one result"
	size, err := tools.json.Prepare(p.text, p.typ, &p.json)
	p.text, r.request.text = nil, nil
	if err == nil {
		raw.free()
		session.keep(cost + taken)
		err = s.sendRecords(session, &tools.json, r.count, size, chunkSize)
	}
	// Not deferred: tools that panicked are not used again.
	s.giveTools(tools)
	return err
}

// mostEncoded bounds what JSON may become in a stream: absent fields are written with their defaults, which makes kilobytes of text any
// number of megabytes. While the scratch memory doubles there is half as much again, and what was there before may still lie in pools.
// What is no longer than a request may be needs only the budget.
func (s *service) mostEncoded() int64 {
	return max(s.cfg.StreamBudget/4, min(s.cfg.StreamBudget, int64(s.cfg.MaxRequestBytes)))
}

// encodeJSON appends the result of JSON and returns the data in it, which aliases the reply until the next result.
func (b *batchReply) encodeJSON(tools *typedTools, p *encodePlan) (data []byte, err error) {
	p.json.Limits.EncodedBytes, p.json.Limits.EncodedSetting = max(b.left(), 0), resultSetting
	n, err := tools.json.Prepare(p.text, p.typ, &p.json)
	if err != nil {
		return nil, err
	}
	return b.write(&tools.json, n)
}

// resultSetting is what bounds a result of a batch.
const resultSetting = "what is left of --max-unary-reply-bytes in this reply; send fewer requests in one message, or use a stream"

// encodeTyped answers Encode for a value that is checked against a type.
func (s *service) encodeTyped(ctx context.Context, c *unaryCall, p *encodePlan) (mem.Buffer, error) {
	tools := s.takeTools()
	p.check.Stop, p.check.Reserve = c.stop, s.boundUnary
	value, err := tools.checker.Encode(p.value, p.typ, &p.check)
	var reply mem.Buffer
	if err == nil {
		p.value = value
		reply, err = s.encodeReply(ctx, c, p)
	}
	// Not deferred: tools that panicked are not used again.
	s.giveTools(tools)
	return reply, err
}

// streamTyped answers EncodeStream for a value that is checked against a type. What that takes is charged before what encoding takes.
func (s *service) streamTyped(session *session, raw *rawRequest, p *encodePlan, r *encodeStreamRequest, chunkSize int) error {
	tools := s.takeTools()
	taken := int64(0)
	p.check.Stop, p.check.Reserve = session.goesOn, func(bytes int64) error { taken = bytes; return session.reserve(bytes) }
	value, err := tools.checker.Encode(p.value, p.typ, &p.check)
	if err == nil {
		p.value = value
		p.options.Reserve = func(bytes int64) error { return session.reserve(taken + bytes) }
		err = s.streamValue(session, raw, p, r, chunkSize, tools.checker.Release)
	}
	// Not deferred: tools that panicked are not used again.
	s.giveTools(tools)
	return err
}

// errNoType is the fault of JSON without a type.
func errNoType() error {
	return optionFault(fault.MissingKind, "type", "JSON needs a type")
}
