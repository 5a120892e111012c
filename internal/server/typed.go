package server

import (
	"context"
	"errors"

	"google.golang.org/grpc/mem"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/jsonvalue"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/conform"
)

// typedTools are what requests with a type need beside encoder and decoder. They are pooled on their own: most servers have more calls
// without a type than with one.
type typedTools struct {
	json    jsonvalue.Encoder
	checker conform.Checker
	writer  jsonvalue.Writer
	value   []byte // scratch: a decoded value that is not large
	text    []byte // scratch: a JSON text
	buffers mem.BufferPool
	lent    *[]byte // scratch: a large decoded value; nil where there is none
}

// keptScratch is how much of each kind of scratch memory tools keep, in bytes.
const keptScratch = 64 << 10

// release lets go of everything of a request.
func (t *typedTools) release() {
	t.json.Release()
	t.checker.Release()
	if t.lent != nil {
		t.buffers.Put(t.lent)
		t.lent = nil
	}
	for _, scratch := range []*[]byte{&t.value, &t.text} {
		if cap(*scratch) > keptScratch {
			*scratch = nil
		}
		clear(*scratch)
		*scratch = (*scratch)[:0]
	}
}

// room returns an empty slice with room for a decoded value of size bytes. It is valid until release.
func (t *typedTools) room(size int64) []byte {
	if size > keptScratch {
		t.lent = t.buffers.Get(int(size))
		return (*t.lent)[:0]
	}
	if int64(cap(t.value)) < size {
		t.value = make([]byte, 0, size)
	}
	return t.value[:0]
}

// takeTools takes tools from the pool. They are given back by giveTools; after a panic they are not.
func (s *service) takeTools() *typedTools {
	return s.tools.Get().(*typedTools) //nolint:errcheck,forcetypeassert // the pool holds nothing else
}

// giveTools gives tools back, without anything of the request.
func (s *service) giveTools(t *typedTools) {
	t.release()
	s.tools.Put(t)
}

// typeOf finds the type that a request names.
func (s *service) typeOf(ctx context.Context, r *typeRef) (*schema.Type, error) {
	found, err := s.schemas.Resolve(ctx, r.schema)
	if err != nil {
		var f *fault.Error
		if !errors.As(err, &f) || f.Path != "" {
			return nil, err
		}
		at := *f
		at.Path = "type.schema"
		return nil, &at
	}
	t, ok := found.Type(string(r.name))
	if !ok {
		// The name may be anything, so it is not repeated.
		return nil, optionFault(fault.TypeNotFound, "type.type", "revision %s of schema %q has no such type; GetSchema lists them", found.Revision, found.Name)
	}
	return t, nil
}

// jsonOptions says how JSON is encoded for a plan. What is not the same for all RPCs, the caller sets.
func (s *service) jsonOptions(p *encodePlan, o *encodeOptions) jsonvalue.Options {
	return jsonvalue.Options{
		Protocol: p.options.Protocol, Framed: p.options.Framed, Message: p.options.Message,
		IgnoreUnknown: o.ignoreUnknown, OmitDefaults: o.omitDefaults, Buffers: s.buffers,
		Limits: jsonvalue.Limits{Depth: s.cfg.MaxDepth, Elements: s.cfg.MaxElements, StringBytes: s.cfg.MaxStringBytes},
	}
}

// boundUnary bounds what a unary call takes for a value with a type, since such calls take nothing of the budget.
func (s *service) boundUnary(bytes int64) error {
	if most := s.cfg.TypedMost(); bytes > most {
		return fault.OverLimit(fault.SizeLimit, "memory for the value", "what --max-request-bytes and --max-slow-nodes allow a unary call; use the streaming RPC", most, bytes)
	}
	return nil
}
