package server

import (
	"context"
	"errors"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/jsonvalue"
	"github.com/thriftpack/thriftpack/internal/schema/conform"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// jsonTag begins member 2 of wire type "bytes": the JSON of a DecodeResponse.
const jsonTag = 2<<3 | byte(protowire.BytesType)

// planDecodeType checks what a request with a type asks for, beyond planDecode.
func (s *service) planDecodeType(ctx context.Context, p *decodePlan, r *decodeRequest) error {
	t, err := s.typeOf(ctx, &r.typ)
	if err != nil {
		return err
	}
	o := &r.options
	switch {
	case o.detectText:
		return optionFault(fault.BadOption, "options.detect_text", "with a type, that says what is text")
	case o.rootType != 0 && thriftpackv1.Type(o.rootType) != t.Kind:
		return optionFault(fault.BadOption, "options.root_type", "the type says another one; leave it out")
	}
	p.typ = t
	p.options.Root = thriftpackv1.Type(conform.RootKind(t))
	p.check = conform.DecodeOptions{Lenient: o.lenient, KeepUnknown: o.keepUnknown, JSON: p.isJSON, MaxUnknown: conform.MaxUnknown}
	p.write = jsonvalue.WriteOptions{I64AsNumber: o.i64AsNumber, EmitDefaults: o.emitDefaults, Lenient: o.lenient, Depth: s.cfg.MaxDepth}
	return nil
}

// outputTag begins the member of a DecodeResponse that has the output.
func (p *decodePlan) outputTag() byte {
	if p.isJSON {
		return jsonTag
	}
	return dataTag
}

// appendOutput appends a DecodeResponse: its output, then the tail.
func (p *decodePlan) appendOutput(dst, output []byte) []byte {
	dst = protowire.AppendVarint(append(dst, p.outputTag()), uint64(len(output)))
	return append(append(dst, output...), p.tail...)
}

// decodeTyped answers Decode for a value that is checked against a type.
func (s *service) decodeTyped(ctx context.Context, c *unaryCall, p *decodePlan) (mem.Buffer, error) {
	tools := s.takeTools()
	p.check.Stop, p.check.Reserve, p.write.Stop = c.stop, s.boundUnary, c.stop
	reply, err := s.decodeTypedReply(ctx, c, tools, p)
	// Not deferred: tools that panicked are not used again.
	s.giveTools(tools)
	return reply, err
}

func (s *service) decodeTypedReply(ctx context.Context, c *unaryCall, tools *typedTools, p *decodePlan) (mem.Buffer, error) {
	limit := int64(s.cfg.MaxUnaryReplyBytes)
	value, _, err := tools.decode(&c.decoder, p, func(size int64) error {
		if most := int64(s.cfg.MaxRequestBytes); size > most {
			return fault.OverLimit(fault.SizeLimit, "decoded value of bytes:", "--max-request-bytes; use DecodeStream", most, size)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.decoder.Release()
	c.raw.free()
	if p.isJSON {
		if value, err = tools.write(p, value, limit, func(int64) error { return nil }); err != nil {
			return nil, s.errTextSize(err, limit)
		}
	}
	size := dataSize(int64(len(value))) + int64(len(p.tail))
	switch {
	case size > limit:
		return nil, s.errReplySize(size, "DecodeStream")
	case size <= smallReply:
		return mem.SliceBuffer(p.appendOutput(make([]byte, 0, size), value)), nil
	}
	chunk := s.pool.Get(int(size))
	p.appendOutput(chunk.Room(int(size))[:0], value)
	return c.charge(ctx, chunk, 0, int(size))
}

// errTextSize is the error of a JSON text: where that is longer than the limit, of a unary reply.
func (s *service) errTextSize(err error, limit int64) error {
	if f, ok := isTooLong(err); ok && f.Limit == limit {
		return s.errReplySize(f.Actual, "DecodeStream")
	}
	return err
}

// isTooLong reports whether err is that of a JSON text longer than it may be.
func isTooLong(err error) (*fault.Error, bool) {
	var f *fault.Error
	ok := errors.As(err, &f) && f.Reason == fault.SizeLimit
	return f, ok
}

// decode decodes the input of a plan and checks it against the type. admit is asked before the decoded value, of so many bytes, is given
// memory. The result is valid until release. The members after the output are in the plan's tail.
func (t *typedTools) decode(d *decoder.Decoder, p *decodePlan, admit func(size int64) error) (value []byte, info decoder.Info, err error) {
	info, err = d.Prepare(p.data, &p.options)
	if err != nil {
		if f := new(fault.Error); errors.As(err, &f) && f.Path != "" && f.Offset != fault.NoOffset {
			f.Path = conform.NamePath(p.typ, f.Path)
		}
		return nil, info, err
	}
	if err := admit(info.Size); err != nil {
		return nil, info, err
	}
	decoded := d.Append(t.room(info.Size))
	if t.lent == nil {
		t.value = decoded
	}
	p.check.Source = d
	value, err = t.checker.Decoded(decoded, p.typ, &p.check)
	p.check.Source = nil
	if err != nil {
		return nil, info, err
	}
	p.tail = appendUnknown(appendDecodeTail(p.tail[:0], &info), &t.checker)
	return value, info, nil
}

// appendUnknown appends the fields that were dropped, as member 6 of a DecodeResponse.
func appendUnknown(dst []byte, checker *conform.Checker) []byte {
	listed, _ := checker.Unknown()
	for i := range listed {
		u := &listed[i]
		path := shorten(u.Path, maxPathBytes)
		size := 1 + protowire.SizeBytes(len(path)) + 1 + protowire.SizeVarint(uint64(u.Kind))
		if u.ID != 0 {
			size += 1 + protowire.SizeVarint(uint64(u.ID)) //nolint:gosec // an int32 is sign-extended on the wire
		}
		dst = protowire.AppendVarint(protowire.AppendTag(dst, 6, protowire.BytesType), uint64(size)) //nolint:gosec // not negative
		dst = protowire.AppendString(protowire.AppendTag(dst, 1, protowire.BytesType), path)
		if u.ID != 0 {
			dst = protowire.AppendVarint(protowire.AppendTag(dst, 2, protowire.VarintType), uint64(u.ID)) //nolint:gosec // as above
		}
		dst = protowire.AppendVarint(protowire.AppendTag(dst, 3, protowire.VarintType), uint64(u.Kind))
	}
	return dst
}

// firstText is what a JSON text is expected to take at most, for a value of n bytes. Names and defaults can make it longer.
func firstText(n int) int64 { return 8*int64(n) + 1024 }

// growingText is how many halves of its bound a text takes at most while it grows: the memory that it had, of no more than its bound, and the new one,
// which the runtime makes up to a quarter larger than what it is asked for.
const growingText = 5

// textRoom is what a text has beyond that: the writer wants room before it writes.
const textRoom = 512

// write returns the JSON text of a value, of at most limit bytes. It is valid until release. reserve is asked for the memory that it may
// take, which is more when the text turns out to be longer.
func (t *typedTools) write(p *decodePlan, value []byte, limit int64, reserve func(bytes int64) error) ([]byte, error) {
	for most := min(firstText(len(value)), limit); ; most = min(8*most, limit) {
		if err := reserve(growingText*most/2 + textRoom); err != nil {
			return nil, err
		}
		p.write.MaxBytes = int(most)
		text, err := t.writer.Append(t.text[:0], value, p.typ, &p.write)
		if err == nil {
			t.text = text
			return text, nil
		}
		if f, ok := isTooLong(err); !ok || f.Limit != most || most == limit {
			return nil, err
		}
	}
}

// streamDecoded sends the responses of DecodeStream for a value that is checked against a type: the whole of it before the first byte is
// sent. What it holds is charged to the budget.
func (s *service) streamDecoded(session *session, d *decoder.Decoder, raw *rawRequest, p *decodePlan, chunkSize int) error {
	tools := s.takeTools()
	err := s.streamChecked(session, d, tools, raw, p, chunkSize)
	// Not deferred: tools that panicked are not used again.
	s.giveTools(tools)
	return err
}

func (s *service) streamChecked(session *session, d *decoder.Decoder, tools *typedTools, raw *rawRequest, p *decodePlan, chunkSize int) error {
	decoded, checked := int64(0), int64(0)
	p.check.Stop, p.write.Stop = session.goesOn, session.goesOn
	p.check.Reserve = func(bytes int64) error { checked = bytes; return session.reserve(decoded + bytes) }
	value, info, err := tools.decode(d, p, func(size int64) error {
		decoded = config.BufferMost(size)
		return session.reserve(decoded)
	})
	if err != nil {
		return err
	}
	d.Release()
	raw.free()
	session.keep(stream.Cost(chunkSize) + decoded + checked)
	sender, err := session.newSender(chunkSize)
	if err != nil {
		return err
	}
	if info.HasMessage {
		if err := session.send(mem.SliceBuffer(appendMessageHeader(nil, 2, &info.Message))); err != nil {
			return err
		}
	}
	sink := drainingSink{sender, session.registry}
	var filled int
	if p.isJSON {
		_, filled, err = tools.writer.WriteTo(sink, nil, 0, value, p.typ, &p.write)
	} else {
		filled, err = copyTo(sink, value)
	}
	if err != nil {
		return err
	}
	if err := sender.Flush(filled); err != nil {
		return err
	}
	return session.send(mem.SliceBuffer(appendBytesRead(nil, 3, info.BytesRead)))
}

// copyTo copies data to a sink, and returns how much of the last buffer is filled.
func copyTo(sink encoder.Sink, data []byte) (filled int, err error) {
	var buf []byte
	for len(data) > 0 {
		if filled == len(buf) {
			if buf, err = sink.Next(filled); err != nil {
				return 0, err
			}
			filled = 0
		}
		n := copy(buf[filled:], data)
		data, filled = data[n:], filled+n
	}
	return filled, nil
}

// decodeTyped appends the result of a value that is checked against a type and returns the output in it, which aliases the reply until
// the next result.
func (b *batchReply) decodeTyped(d *decoder.Decoder, tools *typedTools, p *decodePlan) (output []byte, err error) {
	decoded, checked := int64(0), int64(0)
	p.check.Reserve = func(bytes int64) error { checked = bytes; return b.session.reserve(decoded + bytes) }
	value, _, err := tools.decode(d, p, func(size int64) error {
		decoded = config.BufferMost(size)
		return b.session.reserve(decoded)
	})
	if err != nil {
		return nil, err
	}
	if p.isJSON {
		limit := max(b.left(), 0)
		value, err = tools.write(p, value, limit, func(bytes int64) error { return b.session.reserve(decoded + checked + bytes) })
		if f, ok := isTooLong(err); ok && f.Limit == limit {
			return nil, b.errFull(f.Actual)
		}
		if err != nil {
			return nil, err
		}
	}
	response := dataSize(int64(len(value))) + int64(len(p.tail))
	size := resultSize(response)
	if size > b.left() {
		return nil, b.errFull(size)
	}
	if err := b.grow(int(size)); err != nil {
		return nil, err
	}
	start := len(appendResultHead(b.room[:b.filled], response))
	p.appendOutput(b.room[:start], value)
	b.filled += int(size)
	end := b.filled - len(p.tail)
	return b.room[end-len(value) : end], nil
}
