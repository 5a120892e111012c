package server

import (
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// inputKind is the member of a request's oneof that is set.
type inputKind uint8

const (
	noInput inputKind = iota
	valueInput
	jsonInput
)

// messageHeader is a MessageHeader as parsed. Its name is copied.
type messageHeader struct {
	name  string
	kind  int32
	seqID int32
}

// typeRef is a TypeRef as parsed. Its members alias the request.
type typeRef struct {
	given  bool
	schema []byte
	name   []byte
}

// encodeOptions is an EncodeOptions as parsed, not checked yet.
type encodeOptions struct {
	protocol      int32
	framing       int32
	hasMessage    bool
	ignoreUnknown bool
	omitDefaults  bool
	message       messageHeader
}

// encodeRequest is an EncodeRequest as parsed: its value is still wire bytes.
type encodeRequest struct {
	input   inputKind
	value   []byte // aliases the request: the value, or the last piece of it
	size    int    // of the whole value
	most    int    // of whole values, where a later one took its place
	joined  []byte // where the pieces are put together, or nil
	text    []byte // aliases the request: the JSON
	typ     typeRef
	options encodeOptions
}

// isSplit reports whether the value was given in several pieces.
func (r *encodeRequest) isSplit() bool { return r.size > len(r.value) }

// join returns the pieces of a value together, which parse has counted and now finds again, in memory of their own.
func (r *encodeRequest) join(parse func(*encodeRequest) error) ([]byte, error) {
	again := encodeRequest{joined: make([]byte, 0, r.most)}
	if err := parse(&again); err != nil {
		return nil, err
	}
	return again.joined, nil
}

// encodeStreamRequest is an EncodeStreamRequest as parsed.
type encodeStreamRequest struct {
	request   encodeRequest
	chunkSize int32
	count     int64
}

// decodeOptions is a DecodeOptions as parsed, not checked yet.
type decodeOptions struct {
	protocol      int32
	framing       int32
	rootType      int32
	output        int32
	maxDepth      int32
	message       bool
	allowTrailing bool
	lenient       bool
	detectText    bool
	records       bool
	emitDefaults  bool
	i64AsNumber   bool
	keepUnknown   bool
}

// decodeRequest is a DecodeRequest as parsed.
type decodeRequest struct {
	data    []byte // aliases the request
	typ     typeRef
	options decodeOptions
}

// decodeStreamRequest is a DecodeStreamRequest as parsed.
type decodeStreamRequest struct {
	request   decodeRequest
	chunkSize int32
}

// member is one member of a message on the wire: its number, its wire type, and its content.
type member struct {
	number protowire.Number
	typ    protowire.Type
	varint uint64 // of wire type 0
	bytes  []byte // of wire type 2; aliases the message
}

// nextMember splits the first member off data. Fixed-width members and groups come back without content: no message here
// has any, so they are unknown ones, which are skipped as protobuf does.
func nextMember(data []byte, where string) (m member, rest []byte, err error) {
	number, typ, n := protowire.ConsumeTag(data)
	if n < 0 {
		return m, nil, badProto(where, protowire.ParseError(n))
	}
	m.number, m.typ, data = number, typ, data[n:]
	switch typ {
	case protowire.VarintType:
		m.varint, n = protowire.ConsumeVarint(data)
	case protowire.BytesType:
		m.bytes, n = protowire.ConsumeBytes(data)
	default:
		n = protowire.ConsumeFieldValue(number, typ, data)
	}
	if n < 0 {
		return m, nil, badProto(where, protowire.ParseError(n))
	}
	return m, data[n:], nil
}

// badProto is the fault of a message that is not protobuf. The parser's errors are fixed texts without content.
func badProto(where string, cause error) error {
	f := fault.New(fault.BadProto, "malformed protobuf: %v", cause)
	f.Path = where
	return f
}

// parseEncodeRequest reads the members of an EncodeRequest in any order and adds them to r, by protobuf's rules: a
// value given in several pieces is their merger, which for a message is their concatenation; the last member of the oneof
// wins; unknown members are ignored, and so are known ones of another wire type.
func parseEncodeRequest(r *encodeRequest, data []byte) error {
	for len(data) > 0 {
		m, rest, err := nextMember(data, "")
		if err != nil {
			return err
		}
		data = rest
		if m.typ != protowire.BytesType {
			continue
		}
		switch m.number {
		case 1: // value
			r.addValue(m.bytes)
		case 2: // json
			r.input, r.text = jsonInput, m.bytes
			r.value, r.size, r.joined = nil, 0, r.joined[:0]
		case 4: // type
			if err := parseTypeRef(&r.typ, m.bytes); err != nil {
				return err
			}
		case 5: // options
			if err := parseEncodeOptions(&r.options, m.bytes); err != nil {
				return err
			}
		}
	}
	return nil
}

// addValue takes another piece of the value. An empty one changes nothing, but that there is a value.
func (r *encodeRequest) addValue(piece []byte) {
	r.input, r.text = valueInput, nil
	if len(piece) == 0 && r.size > 0 {
		return
	}
	r.value = piece
	r.size += len(piece)
	r.most = max(r.most, r.size)
	if r.joined != nil {
		r.joined = append(r.joined, piece...)
	}
}

func parseTypeRef(r *typeRef, data []byte) error {
	r.given = true
	for len(data) > 0 {
		m, rest, err := nextMember(data, "type")
		if err != nil {
			return err
		}
		data = rest
		switch {
		case m.number == 1 && m.typ == protowire.BytesType:
			r.schema = m.bytes
		case m.number == 2 && m.typ == protowire.BytesType:
			r.name = m.bytes
		}
	}
	return nil
}

func parseEncodeOptions(o *encodeOptions, data []byte) error {
	for len(data) > 0 {
		m, rest, err := nextMember(data, "options")
		if err != nil {
			return err
		}
		data = rest
		switch {
		case m.number == 1 && m.typ == protowire.VarintType:
			o.protocol = int32(m.varint) //nolint:gosec // protobuf keeps the low 32 bits of an enum
		case m.number == 2 && m.typ == protowire.VarintType:
			o.framing = int32(m.varint) //nolint:gosec // as above
		case m.number == 3 && m.typ == protowire.BytesType:
			o.hasMessage = true
			if err := parseMessageHeader(&o.message, m.bytes); err != nil {
				return err
			}
		case m.number == 4 && m.typ == protowire.VarintType:
			o.ignoreUnknown = m.varint != 0
		case m.number == 5 && m.typ == protowire.VarintType:
			o.omitDefaults = m.varint != 0
		}
	}
	return nil
}

func parseMessageHeader(h *messageHeader, data []byte) error {
	for len(data) > 0 {
		m, rest, err := nextMember(data, "options.message")
		if err != nil {
			return err
		}
		data = rest
		switch {
		case m.number == 1 && m.typ == protowire.BytesType:
			if !utf8.Valid(m.bytes) {
				return optionFault(fault.BadUTF8, "options.message.name", "not UTF-8")
			}
			h.name = string(m.bytes)
		case m.number == 2 && m.typ == protowire.VarintType:
			h.kind = int32(m.varint) //nolint:gosec // protobuf keeps the low 32 bits of an enum
		case m.number == 3 && m.typ == protowire.VarintType:
			h.seqID = int32(m.varint) //nolint:gosec // protobuf keeps the low 32 bits of an int32
		}
	}
	return nil
}

func parseEncodeStreamRequest(r *encodeStreamRequest, data []byte) error {
	for len(data) > 0 {
		m, rest, err := nextMember(data, "")
		if err != nil {
			return err
		}
		data = rest
		switch {
		case m.number == 1 && m.typ == protowire.BytesType:
			if err := parseEncodeRequest(&r.request, m.bytes); err != nil {
				return err
			}
		case m.number == 2 && m.typ == protowire.VarintType:
			r.chunkSize = int32(m.varint) //nolint:gosec // protobuf keeps the low 32 bits of an int32
		case m.number == 3 && m.typ == protowire.VarintType:
			r.count = int64(m.varint) //nolint:gosec // an int64 is two's complement on the wire
		}
	}
	return nil
}

// parseDecodeRequest reads the members of a DecodeRequest as parseEncodeRequest does those of an EncodeRequest.
func parseDecodeRequest(r *decodeRequest, data []byte) error {
	for len(data) > 0 {
		m, rest, err := nextMember(data, "")
		if err != nil {
			return err
		}
		data = rest
		if m.typ != protowire.BytesType {
			continue
		}
		switch m.number {
		case 1: // data
			r.data = m.bytes
		case 2: // type
			if err := parseTypeRef(&r.typ, m.bytes); err != nil {
				return err
			}
		case 3: // options
			if err := parseDecodeOptions(&r.options, m.bytes); err != nil {
				return err
			}
		}
	}
	return nil
}

func parseDecodeOptions(o *decodeOptions, data []byte) error {
	for len(data) > 0 {
		m, rest, err := nextMember(data, "options")
		if err != nil {
			return err
		}
		data = rest
		if m.typ != protowire.VarintType {
			continue
		}
		number := int32(m.varint) //nolint:gosec // protobuf keeps the low 32 bits of enums and int32
		switch m.number {
		case 1:
			o.protocol = number
		case 2:
			o.framing = number
		case 3:
			o.message = m.varint != 0
		case 4:
			o.rootType = number
		case 5:
			o.allowTrailing = m.varint != 0
		case 6:
			o.lenient = m.varint != 0
		case 7:
			o.detectText = m.varint != 0
		case 8:
			o.output = number
		case 9:
			o.emitDefaults = m.varint != 0
		case 10:
			o.i64AsNumber = m.varint != 0
		case 11:
			o.maxDepth = number
		case 12:
			o.records = m.varint != 0
		case 13:
			o.keepUnknown = m.varint != 0
		}
	}
	return nil
}

func parseDecodeStreamRequest(r *decodeStreamRequest, data []byte) error {
	for len(data) > 0 {
		m, rest, err := nextMember(data, "")
		if err != nil {
			return err
		}
		data = rest
		switch {
		case m.number == 1 && m.typ == protowire.BytesType:
			if err := parseDecodeRequest(&r.request, m.bytes); err != nil {
				return err
			}
		case m.number == 2 && m.typ == protowire.VarintType:
			r.chunkSize = int32(m.varint) //nolint:gosec // protobuf keeps the low 32 bits of an int32
		}
	}
	return nil
}

// nextRequest splits the next member "requests" off a batch; ok is false at its end. The request aliases data.
func nextRequest(data []byte) (request, rest []byte, ok bool, err error) {
	for len(data) > 0 {
		m, rest, err := nextMember(data, "")
		if err != nil {
			return nil, nil, false, err
		}
		if m.number == 1 && m.typ == protowire.BytesType {
			return m.bytes, rest, true, nil
		}
		data = rest
	}
	return nil, nil, false, nil
}

// optionFault is the fault of an option.
func optionFault(reason fault.Reason, path, format string, args ...any) error {
	f := fault.New(reason, format, args...)
	f.Path = path
	return f
}

// totalOf returns how many bytes a value of size bytes is when it is written count times, which is once for 0.
func totalOf(count, size int64) (total int64, err error) {
	if count < 0 {
		return 0, optionFault(fault.BadOption, "count", "out of range: %d, want 0 or more", count)
	}
	count = max(count, 1)
	if size > 0 && count > math.MaxInt64/size {
		return 0, optionFault(fault.BadOption, "count", "out of range: %d records of %d bytes exceed 2^63-1 bytes", count, size)
	}
	return count * size, nil
}
