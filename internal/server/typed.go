package server

import (
	"context"
	"errors"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/jsonvalue"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// typedTools are what requests with a type need beside encoder and decoder. They are pooled on their own: most servers have more calls
// without a type than with one.
type typedTools struct {
	json jsonvalue.Encoder
}

// takeTools takes tools from the pool. They are given back by giveTools; after a panic they are not.
func (s *service) takeTools() *typedTools {
	return s.tools.Get().(*typedTools) //nolint:errcheck,forcetypeassert // the pool holds nothing else
}

// giveTools gives tools back, without anything of the request.
func (s *service) giveTools(t *typedTools) {
	t.json.Release()
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
	if most := s.cfg.EncodeMost(int64(s.cfg.MaxRequestBytes)); bytes > most {
		return fault.OverLimit(fault.SizeLimit, "memory for the value", "what --max-request-bytes and --max-slow-nodes allow a unary call; use the streaming RPC", most, bytes)
	}
	return nil
}
