package server

import (
	"context"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/jsonvalue"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/conform"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// decodePlan is a DecodeRequest that was checked: what to decode and how. It is reused.
type decodePlan struct {
	data    []byte // aliases the request
	options decoder.Options
	tail    []byte // scratch for the members after the value

	typ    *schema.Type // nil where the value has none
	check  conform.DecodeOptions
	write  jsonvalue.WriteOptions
	isJSON bool // the value is returned as JSON. It always has a type
}

// planDecode checks what a request asks for.
func (s *service) planDecode(ctx context.Context, p *decodePlan, r *decodeRequest) error {
	if r.options.records {
		return optionFault(fault.BadOption, "options.records", "only DecodeParts reads several values")
	}
	p.data, p.typ, p.isJSON = r.data, nil, r.options.output == int32(thriftpackv1.Output_OUTPUT_JSON)
	if p.isJSON && !r.typ.given {
		return errNoType()
	}
	if err := s.planDecodeOptions(&p.options, &r.options); err != nil || !r.typ.given {
		return err
	}
	return s.planDecodeType(ctx, p, r)
}

// planDecodeOptions checks how a request wants its bytes read.
func (s *service) planDecodeOptions(p *decoder.Options, o *decodeOptions) error {
	depth := s.cfg.MaxDepthValue
	switch thriftpackv1.Output(o.output) {
	case thriftpackv1.Output_OUTPUT_UNSPECIFIED, thriftpackv1.Output_OUTPUT_VALUE:
	case thriftpackv1.Output_OUTPUT_JSON:
		depth = s.cfg.MaxDepth
	default:
		return optionFault(fault.BadOption, "options.output", "unknown number %d", o.output)
	}
	protocol, err := protocolOf(o.protocol)
	if err != nil {
		return err
	}
	framed, err := framedOf(o.framing)
	if err != nil {
		return err
	}
	if _, ok := thriftpackv1.Type_name[o.rootType]; !ok {
		return optionFault(fault.BadOption, "options.root_type", "unknown number %d", o.rootType)
	}
	switch {
	case o.maxDepth < 0:
		return optionFault(fault.BadOption, "options.max_depth", "out of range: %d, want 0 or more", o.maxDepth)
	case o.maxDepth > 0:
		depth = min(int(o.maxDepth), s.cfg.MaxDepth)
	}
	*p = decoder.Options{
		Framed: framed, Message: o.message, Root: thriftpackv1.Type(o.rootType),
		AllowTrailing: o.allowTrailing, Lenient: o.lenient, DetectText: o.detectText,
		Limits: decoder.Limits{
			Depth: depth, Elements: s.cfg.MaxElements, StringBytes: s.cfg.MaxStringBytes, Nodes: s.cfg.MaxDecodedNodes,
		},
	}
	if protocol == thriftpackv1.Protocol_PROTOCOL_BINARY {
		p.Protocol = decoder.Binary
	}
	return nil
}

// decode answers Decode.
func (s *service) decode(ctx context.Context, c *unaryCall) (mem.Buffer, error) {
	c.decode = decodeRequest{}
	if err := parseDecodeRequest(&c.decode, c.raw.bytes()); err != nil {
		return nil, err
	}
	p := &c.decodePlan
	if err := s.planDecode(ctx, p, &c.decode); err != nil {
		return nil, err
	}
	p.options.Stop = c.stop
	var reply mem.Buffer
	var err error
	if p.typ != nil {
		reply, err = s.decodeTyped(ctx, c, p)
	} else {
		reply, err = s.decodeReply(ctx, c, p)
	}
	c.decoder.Release()
	p.data, p.typ, c.decode.data = nil, nil, nil
	return reply, err
}

// decodeReply measures the value, and writes it into memory of exactly its size.
func (s *service) decodeReply(ctx context.Context, c *unaryCall, p *decodePlan) (mem.Buffer, error) {
	info, err := c.decoder.Prepare(p.data, &p.options)
	if err != nil {
		return nil, err
	}
	p.tail = appendDecodeTail(p.tail[:0], &info)
	size := dataSize(info.Size) + int64(len(p.tail))
	if size > int64(s.cfg.MaxUnaryReplyBytes) {
		return nil, s.errReplySize(size, "DecodeStream")
	}
	if size <= smallReply {
		reply := newReply(int(size))
		reply.SliceBuffer = appendDecoded(reply.SliceBuffer, &c.decoder, info.Size, p.tail)
		return reply, nil
	}
	chunk := s.pool.Get(int(size))
	appendDecoded(chunk.Room(int(size))[:0], &c.decoder, info.Size, p.tail)
	return c.charge(ctx, chunk, 0, int(size))
}

// appendDecoded appends a DecodeResponse: the prepared value of size bytes, then the tail.
func appendDecoded(dst []byte, d *decoder.Decoder, size int64, tail []byte) []byte {
	dst = protowire.AppendVarint(append(dst, dataTag), uint64(size)) //nolint:gosec // a size is not negative
	return append(d.Append(dst), tail...)
}

// appendDecodeTail appends the members of a DecodeResponse that follow the value: message (4) and bytes_read (5).
func appendDecodeTail(dst []byte, info *decoder.Info) []byte {
	if info.HasMessage {
		dst = appendMessageHeader(dst, 4, &info.Message)
	}
	return appendBytesRead(dst, 5, info.BytesRead)
}

// appendMessageHeader appends a MessageHeader as the member of that number. Members that are zero are left out.
func appendMessageHeader(dst []byte, number protowire.Number, m *decoder.Message) []byte {
	var size int
	if m.Name != "" {
		size += 1 + protowire.SizeBytes(len(m.Name))
	}
	if m.Type != 0 {
		size += 1 + protowire.SizeVarint(uint64(m.Type)) //nolint:gosec // enums are sign-extended on the wire
	}
	if m.SeqID != 0 {
		size += 1 + protowire.SizeVarint(uint64(m.SeqID)) //nolint:gosec // an int32 is sign-extended on the wire
	}
	dst = protowire.AppendTag(dst, number, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(size))
	if m.Name != "" {
		dst = protowire.AppendTag(dst, 1, protowire.BytesType)
		dst = protowire.AppendString(dst, m.Name)
	}
	if m.Type != 0 {
		dst = protowire.AppendTag(dst, 2, protowire.VarintType)
		dst = protowire.AppendVarint(dst, uint64(m.Type)) //nolint:gosec // as above
	}
	if m.SeqID != 0 {
		dst = protowire.AppendTag(dst, 3, protowire.VarintType)
		dst = protowire.AppendVarint(dst, uint64(m.SeqID)) //nolint:gosec // as above
	}
	return dst
}

// appendBytesRead appends an int64 as the member of that number, unless it is zero.
func appendBytesRead(dst []byte, number protowire.Number, n int64) []byte {
	if n == 0 {
		return dst
	}
	return protowire.AppendVarint(protowire.AppendTag(dst, number, protowire.VarintType), uint64(n)) //nolint:gosec // not negative
}

// decodeStream answers DecodeStream: the envelope where there is one, then the value in chunks, then bytes_read.
func (s *service) decodeStream(session *session) error {
	var raw rawRequest
	defer raw.free()
	if err := session.receive(&raw); err != nil {
		return err
	}
	var request decodeStreamRequest
	if err := parseDecodeStreamRequest(&request, raw.bytes()); err != nil {
		return err
	}
	var p decodePlan
	if err := s.planDecode(session.ctx, &p, &request.request); err != nil {
		return err
	}
	chunkSize, err := stream.ChunkSize(request.chunkSize)
	if err != nil {
		return err
	}
	cost := stream.Cost(chunkSize) + raw.held()
	if err := session.take(cost + s.cfg.DecodeMost(int64(len(p.data)))); err != nil {
		return err
	}
	p.options.Stop = session.goesOn
	d := s.decoders.Get().(*decoder.Decoder) //nolint:errcheck,forcetypeassert // the pool holds nothing else
	if p.typ != nil {
		err = s.streamDecoded(session, d, &raw, &p, chunkSize)
	} else {
		err = s.decodeValue(session, d, &p, chunkSize, cost)
	}
	// Not deferred: a decoder that panicked is not used again.
	d.Release()
	s.decoders.Put(d)
	return err
}

// writeScratch is what a decoder may take after Prepare.
const writeScratch = 32 << 10

// decodeValue sends the responses of DecodeStream, which takes cost bytes of the budget beside what the decoder has.
func (s *service) decodeValue(session *session, d *decoder.Decoder, p *decodePlan, chunkSize int, cost int64) error {
	info, err := d.Prepare(p.data, &p.options)
	if err != nil {
		return err
	}
	session.keep(cost + d.Held() + writeScratch)
	sender, err := session.newSender(chunkSize)
	if err != nil {
		return err
	}
	if info.HasMessage {
		if err := session.send(mem.SliceBuffer(appendMessageHeader(nil, 2, &info.Message))); err != nil {
			return err
		}
	}
	_, filled, err := d.WriteTo(drainingSink{sender, session.registry}, nil, 0)
	if err != nil {
		return err
	}
	if err := sender.Flush(filled); err != nil {
		return err
	}
	return session.send(mem.SliceBuffer(appendBytesRead(nil, 3, info.BytesRead)))
}
