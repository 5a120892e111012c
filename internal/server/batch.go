package server

import (
	"errors"
	"io"

	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// lookEvery is after how much work on a message of a batch its stream is asked whether it goes on. The work on a request counts as
// many bytes as the request and its result have, and requestWork more.
const (
	lookEvery   = 64 << 10
	requestWork = 256
)

// batchItem appends the result of one request to a reply, or returns what is wrong with it and appends nothing.
type batchItem func(reply *batchReply, request []byte) error

// encodeBatch answers EncodeBatch.
func (s *service) encodeBatch(session *session) error {
	e := s.encoders.Get().(*encoder.Encoder) //nolint:errcheck,forcetypeassert // the pool holds nothing else
	var p encodePlan
	var parsed encodeRequest
	stop := session.goesOn
	reserved := int64(0) // for the pieces of a value, and for its check
	reserve := func(bytes int64) error { return session.reserve(reserved + bytes) }
	taken := int64(0) // by the check alone
	reserveCheck := func(bytes int64) error { taken = bytes; return reserve(bytes) }
	var tools *typedTools                   // from the first request with a type on
	nothing := func(int) int64 { return 0 } // what encoding takes is reserved when it shows
	err := s.batch(session, nothing, e.Release, func(reply *batchReply, request []byte) error {
		parsed = encodeRequest{}
		if err := parseEncodeRequest(&parsed, request); err != nil {
			return err
		}
		if err := s.plan(session.ctx, &p, &parsed); err != nil {
			return err
		}
		if p.typ != nil && tools == nil {
			tools = s.takeTools()
		}
		if p.isJSON {
			p.json.Stop, p.json.Reserve = stop, session.reserve
			data, err := reply.encodeJSON(tools, &p)
			tools.json.Release()
			session.tally.add(data)
			return err
		}
		reserved = 0
		if parsed.isSplit() {
			reserved = int64(parsed.most)
			if err := reserve(0); err != nil {
				return err
			}
			value, err := parsed.join(func(r *encodeRequest) error { return parseEncodeRequest(r, request) })
			if err != nil {
				return err
			}
			p.value = value
		}
		if p.typ != nil {
			taken = 0
			p.check.Stop, p.check.Reserve = stop, reserveCheck
			value, err := tools.checker.Encode(p.value, p.typ, &p.check)
			if err != nil {
				tools.checker.Release()
				return err
			}
			p.value = value
			reserved += taken
		}
		p.options.Stop, p.options.Reserve = stop, reserve
		data, err := reply.encode(e, &p)
		s.countPath(e)
		session.tally.add(data)
		if p.typ != nil {
			tools.checker.Release()
		}
		return err
	})
	// Not deferred: an encoder that panicked is not used again.
	e.Release()
	s.encoders.Put(e)
	if tools != nil {
		s.giveTools(tools)
	}
	return err
}

// decodeBatch answers DecodeBatch.
func (s *service) decodeBatch(session *session) error {
	d := s.decoders.Get().(*decoder.Decoder) //nolint:errcheck,forcetypeassert // the pool holds nothing else
	var p decodePlan
	var parsed decodeRequest
	stop := session.goesOn
	scratch := func(largest int) int64 { return s.cfg.DecodeMost(int64(largest)) }
	var tools *typedTools // from the first request with a type on
	err := s.batch(session, scratch, d.Release, func(reply *batchReply, request []byte) error {
		parsed = decodeRequest{}
		if err := parseDecodeRequest(&parsed, request); err != nil {
			return err
		}
		if err := s.planDecode(session.ctx, &p, &parsed); err != nil {
			return err
		}
		p.options.Stop = stop
		if p.typ != nil {
			if tools == nil {
				tools = s.takeTools()
			}
			p.check.Stop, p.write.Stop = stop, stop
			data, err := reply.decodeTyped(d, tools, &p)
			tools.release()
			session.tally.add(data)
			return err
		}
		data, err := reply.decode(d, &p)
		session.tally.add(data)
		return err
	})
	// Not deferred: a decoder that panicked is not used again.
	d.Release()
	s.decoders.Put(d)
	if tools != nil {
		s.giveTools(tools)
	}
	return err
}

// batch answers each message of requests with one message of results until the client has no more. scratch is what
// working on the largest request of a message takes, and release lets go of it: a stream that waits for a message holds nothing.
func (s *service) batch(session *session, scratch func(largest int) int64, release func(), item batchItem) error {
	for {
		err := s.answerBatch(session, scratch, item)
		release()
		session.keep(0)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// answerBatch answers one message. It returns io.EOF when there is none.
func (s *service) answerBatch(session *session, scratch func(largest int) int64, item batchItem) error {
	var raw rawRequest
	defer raw.free()
	if err := session.receive(&raw); err != nil {
		return err
	}
	requests, largest, err := countRequests(raw.bytes())
	if err != nil {
		return err
	}
	limit := s.cfg.MaxUnaryReplyBytes
	if requests > limit/len(replyFull) {
		return fault.OverLimit(fault.SizeLimit, "requests in one message:", "a result each within --max-unary-reply-bytes",
			int64(limit/len(replyFull)), int64(requests))
	}
	estimate := min(max(len(raw.bytes())+requests*(sinkRoom/8), stream.MinChunkSize), max(limit, stream.MinChunkSize))
	if err := session.take(stream.Cost(estimate) + raw.held() + scratch(largest)); err != nil {
		return err
	}
	reply := &batchReply{service: s, session: session, charged: 2 * int64(stream.Capacity(estimate))}
	defer func() { reply.chunk.Release() }()
	if err := reply.grow(estimate); err != nil {
		return err
	}
	rest, work := raw.bytes(), 0
	for left := requests - 1; left >= 0; left-- {
		if work >= lookEvery {
			if err := session.goesOn(); err != nil {
				return err
			}
			work = 0
		}
		var request []byte
		if request, rest, _, err = nextRequest(rest); err != nil {
			return err
		}
		reply.limit = limit - left*len(replyFull)
		before := reply.filled
		err := s.limited(session)
		if err == nil {
			err = item(reply, request)
		}
		if err != nil {
			if err := reply.fail(err); err != nil {
				return err
			}
			if mayHaveWaited(err) {
				work = lookEvery
			}
		}
		work += requestWork + len(request) + reply.filled - before
	}
	data, err := reply.finish(session)
	if err != nil {
		return err
	}
	return session.send(data)
}

// mayHaveWaited reports whether an error may be that of a wait for something that others have.
func mayHaveWaited(err error) bool {
	return errors.Is(err, fault.New(fault.RateLimited, "")) || errors.Is(err, fault.New(fault.SchemaStoreUnavailable, ""))
}

// limited counts a request of a batch against its caller's rate.
func (s *service) limited(session *session) error {
	if s.take == nil {
		return nil
	}
	return s.take(session.limiter)
}

// countRequests counts the requests of a message, and returns the size of the largest.
func countRequests(data []byte) (n, largest int, err error) {
	for {
		request, rest, ok, err := nextRequest(data)
		if err != nil || !ok {
			return n, largest, err
		}
		data, largest = rest, max(largest, len(request))
		n++
	}
}
