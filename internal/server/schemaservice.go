package server

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/registry"
	"github.com/thriftpack/thriftpack/internal/schema/store"
)

// describeSchemas returns the description that SchemaService is registered by, for the reason that describe has.
func (s *service) describeSchemas() *grpc.ServiceDesc {
	name := thriftpackv1.SchemaService_ServiceDesc.ServiceName
	return &grpc.ServiceDesc{
		ServiceName: name,
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{
			s.unary(name, "CreateSchema", s.createSchema),
			s.unary(name, "GetSchema", s.getSchema),
			s.unary(name, "ListSchemas", s.listSchemas),
			s.unary(name, "DeleteSchema", s.deleteSchema),
			s.unary(name, "CheckCompatibility", s.checkCompatibility),
		},
		Metadata: thriftpackv1.SchemaService_ServiceDesc.Metadata,
	}
}

// Bounds of pages and of changes in a reply.
const (
	defaultPage = 100
	largestPage = 1000
	mostChanges = 100
)

// parse reads the request of a call into m, and gives the call's memory back.
func (c *unaryCall) parse(m proto.Message) error {
	err := proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(c.raw.bytes(), m)
	c.raw.free()
	if err != nil {
		return fault.New(fault.BadProto, "malformed protobuf, or text that is not UTF-8")
	}
	return nil
}

// reply returns m as the reply of a call.
func (c *unaryCall) reply(ctx context.Context, m proto.Message) (mem.Buffer, error) {
	options := proto.MarshalOptions{Deterministic: true, UseCachedSize: true}
	size := proto.MarshalOptions{}.Size(m)
	switch {
	case size > c.service.cfg.MaxUnaryReplyBytes:
		return nil, fault.OverLimit(fault.SizeLimit, "reply size", "--max-unary-reply-bytes", int64(c.service.cfg.MaxUnaryReplyBytes), int64(size))
	case size <= smallReply:
		data, err := options.MarshalAppend(make([]byte, 0, size), m)
		return mem.SliceBuffer(data), err
	}
	chunk := c.service.pool.Get(size)
	if _, err := options.MarshalAppend(chunk.Room(size)[:0], m); err != nil {
		chunk.Release()
		return nil, err
	}
	return c.charge(ctx, chunk, 0, size)
}

// The numbers of the members "files" of the requests that have them.
const (
	createFiles = 2
	checkFiles  = 2
)

// boundFiles checks the files of a request before anything is made of them: their number, and their size in all.
func (s *service) boundFiles(data []byte, files protowire.Number) error {
	count, size := 0, 0
	for len(data) > 0 {
		m, rest, err := nextMember(data, "")
		if err != nil {
			return err
		}
		data = rest
		if m.number == files && m.typ == protowire.BytesType {
			count++
			size += len(m.bytes)
		}
	}
	if count > s.cfg.MaxSchemaFiles {
		return fault.OverLimit(fault.SizeLimit, "number of files", "--max-schema-files", int64(s.cfg.MaxSchemaFiles), int64(count))
	}
	const around = 2 + 2*5 // the tags and lengths of an entry
	if size > s.cfg.MaxSchemaBytes+count*around {
		return fault.OverLimit(fault.SizeLimit, "bytes of sources, about", "--max-schema-bytes", int64(s.cfg.MaxSchemaBytes), int64(size-count*around))
	}
	return nil
}

// sourcesOf returns the sources of a request. Where there is one file, it is the root.
func (s *service) sourcesOf(files map[string]string, root string) (store.Sources, error) {
	if len(files) == 0 {
		return store.Sources{}, optionFault(fault.MissingKind, "files", "no files given")
	}
	size := 0
	for name, text := range files {
		size += len(name) + len(text)
		if root == "" && len(files) == 1 {
			root = name
		}
	}
	switch {
	case size > s.cfg.MaxSchemaBytes:
		return store.Sources{}, fault.OverLimit(fault.SizeLimit, "bytes of sources", "--max-schema-bytes", int64(s.cfg.MaxSchemaBytes), int64(size))
	case root == "":
		return store.Sources{}, optionFault(fault.BadOption, "root", "which of the %d files is the root?", len(files))
	}
	return store.Sources{Files: files, Root: root}, nil
}

// checkPolicy checks a Compatibility.
func checkPolicy(policy thriftpackv1.Compatibility) error {
	if _, ok := thriftpackv1.Compatibility_name[int32(policy)]; !ok {
		return optionFault(fault.BadOption, "compatibility", "unknown number %d", policy)
	}
	return nil
}

// createSchema answers CreateSchema.
func (s *service) createSchema(ctx context.Context, c *unaryCall) (mem.Buffer, error) {
	if err := s.boundFiles(c.raw.bytes(), createFiles); err != nil {
		return nil, err
	}
	var request thriftpackv1.CreateSchemaRequest
	if err := c.parse(&request); err != nil {
		return nil, err
	}
	sources, err := s.sourcesOf(request.GetFiles(), request.GetRoot())
	if err != nil {
		return nil, err
	}
	if err := checkPolicy(request.GetCompatibility()); err != nil {
		return nil, err
	}
	pushed, err := s.schemas.Push(ctx, registry.Push{Name: request.GetName(), Sources: sources, Compatibility: request.GetCompatibility()})
	if err != nil {
		return nil, err
	}
	m := newSchemaMessage(pushed.Item)
	describeSchema(m, pushed.Schema)
	return c.reply(ctx, &thriftpackv1.CreateSchemaResponse{Schema: m, Created: pushed.New, Changes: changeMessages(pushed.Changes)})
}

// acceptSchema checks that a schema, which is to be kept, can be returned by GetSchema.
func (s *service) acceptSchema(of *schema.Schema) error {
	m := &thriftpackv1.Schema{Files: of.Files, Root: of.Root}
	describeSchema(m, of)
	const rest = 256 // the other members
	if size := proto.Size(m) + rest; size > s.cfg.MaxUnaryReplyBytes {
		return fault.OverLimit(fault.SizeLimit, "size of the schema with the names of its types", "--max-unary-reply-bytes",
			int64(s.cfg.MaxUnaryReplyBytes), int64(size))
	}
	return nil
}

// newSchemaMessage returns a revision as lists have it.
func newSchemaMessage(item registry.Item) *thriftpackv1.Schema {
	return &thriftpackv1.Schema{
		Name: item.Name, Revision: item.Revision, Root: item.Root, CreateTime: timestamppb.New(item.Created),
		Compatibility: item.Compatibility, ReadOnly: item.ReadOnly,
	}
}

// describeSchema adds what lists leave out, but the files.
func describeSchema(m *thriftpackv1.Schema, of *schema.Schema) {
	m.Types, m.Warnings = of.Types(), of.Warnings
}

// changeMessages returns changes for a reply, the first of them where there are many.
func changeMessages(changes []schema.Change) []*thriftpackv1.Change {
	changes = changes[:min(len(changes), mostChanges)]
	messages := make([]*thriftpackv1.Change, len(changes))
	for i := range changes {
		change := &changes[i]
		messages[i] = &thriftpackv1.Change{
			Rule: string(change.Rule), Path: change.Path, Message: change.Detail,
			BreaksBackward: change.Breaks&schema.BreaksBackward != 0,
			BreaksForward:  change.Breaks&schema.BreaksForward != 0,
			BreaksNames:    change.Breaks&schema.BreaksNames != 0,
			OldPosition:    positionMessage(change.Old), NewPosition: positionMessage(change.New),
		}
	}
	return messages
}

// positionMessage returns a place, or nil where there is none.
func positionMessage(at schema.Position) *thriftpackv1.Position {
	if at.Line == 0 {
		return nil
	}
	return &thriftpackv1.Position{File: at.File, Line: at.Line, Column: at.Column}
}

// getSchema answers GetSchema.
func (s *service) getSchema(ctx context.Context, c *unaryCall) (mem.Buffer, error) {
	var request thriftpackv1.GetSchemaRequest
	if err := c.parse(&request); err != nil {
		return nil, err
	}
	found, item, err := s.schemas.Get(ctx, request.GetSchema())
	if err != nil {
		return nil, err
	}
	m := newSchemaMessage(item)
	describeSchema(m, found)
	m.Files = make(map[string]string, len(found.Files))
	for name, text := range found.Files {
		// Comments in a file of the directory may be in any encoding; protobuf's strings are UTF-8.
		m.Files[name] = strings.ToValidUTF8(text, "\uFFFD")
	}
	return c.reply(ctx, &thriftpackv1.GetSchemaResponse{Schema: m})
}

// listSchemas answers ListSchemas.
func (s *service) listSchemas(ctx context.Context, c *unaryCall) (mem.Buffer, error) {
	var request thriftpackv1.ListSchemasRequest
	if err := c.parse(&request); err != nil {
		return nil, err
	}
	size := int(request.GetPageSize())
	switch {
	case size < 0:
		return nil, optionFault(fault.BadOption, "page_size", "out of range: %d, want 0 or more", size)
	case size == 0:
		size = defaultPage
	}
	size = min(size, largestPage)
	after, err := base64.RawURLEncoding.DecodeString(request.GetPageToken())
	if err != nil {
		return nil, errPageToken
	}
	var items []registry.Item
	var more bool
	switch {
	case request.GetName() == "":
		items, more = s.schemas.List(request.GetNamePrefix(), string(after), size)
	case request.GetNamePrefix() != "":
		return nil, optionFault(fault.BadOption, "name_prefix", "does not go with name")
	default:
		if items, err = s.schemas.Revisions(ctx, request.GetName()); err != nil {
			return nil, err
		}
		if items, more, err = revisionsAfter(items, string(after), size); err != nil {
			return nil, err
		}
	}
	response := &thriftpackv1.ListSchemasResponse{}
	left := s.cfg.MaxUnaryReplyBytes - smallReply
	for i := range items {
		m := newSchemaMessage(items[i])
		if left -= proto.Size(m) + replyHeadroom; left < 0 && i > 0 {
			items, more = items[:i], true
			break
		}
		response.Schemas = append(response.Schemas, m)
	}
	if more {
		last := items[len(items)-1]
		token := last.Name
		if request.GetName() != "" {
			token = last.Revision
		}
		response.NextPageToken = base64.RawURLEncoding.EncodeToString([]byte(token))
	}
	return c.reply(ctx, response)
}

var errPageToken = optionFault(fault.BadOption, "page_token", "not a token of a page before; begin anew")

// revisionsAfter returns the page of revisions that follows the revision after, or the first where that is "".
func revisionsAfter(items []registry.Item, after string, size int) (page []registry.Item, more bool, err error) {
	if after != "" {
		at := slices.IndexFunc(items, func(item registry.Item) bool { return item.Revision == after })
		if at < 0 {
			return nil, false, errPageToken
		}
		items = items[at+1:]
	}
	if len(items) > size {
		return items[:size], true, nil
	}
	return items, false, nil
}

// deleteSchema answers DeleteSchema.
func (s *service) deleteSchema(ctx context.Context, c *unaryCall) (mem.Buffer, error) {
	var request thriftpackv1.DeleteSchemaRequest
	if err := c.parse(&request); err != nil {
		return nil, err
	}
	removed, err := s.schemas.Delete(ctx, request.GetSchema())
	if err != nil {
		return nil, err
	}
	return c.reply(ctx, &thriftpackv1.DeleteSchemaResponse{Revisions: int32(removed)}) //nolint:gosec // the most is a setting
}

// checkCompatibility answers CheckCompatibility.
func (s *service) checkCompatibility(ctx context.Context, c *unaryCall) (mem.Buffer, error) {
	if err := s.boundFiles(c.raw.bytes(), checkFiles); err != nil {
		return nil, err
	}
	var request thriftpackv1.CheckCompatibilityRequest
	if err := c.parse(&request); err != nil {
		return nil, err
	}
	sources, err := s.sourcesOf(request.GetFiles(), request.GetRoot())
	if err != nil {
		return nil, err
	}
	if err := checkPolicy(request.GetCompatibility()); err != nil {
		return nil, err
	}
	checked, err := s.schemas.Check(ctx, request.GetSchema(), sources, request.GetCompatibility())
	if err != nil {
		return nil, err
	}
	response := &thriftpackv1.CheckCompatibilityResponse{
		Compatible: len(checked.Breaking) == 0, Compatibility: checked.Compatibility, Changes: changeMessages(checked.Changes),
		Schema: &thriftpackv1.Schema{Name: checked.Schema.Name, Revision: checked.Schema.Revision, Root: checked.Schema.Root},
	}
	describeSchema(response.Schema, checked.Schema)
	if checked.Against != nil {
		response.Against = checked.Against.Name + "@" + checked.Against.Revision
	}
	return c.reply(ctx, response)
}

// incompatible returns the changes that a refused revision is refused for, or nil.
func incompatible(err error) []schema.Change {
	var refused *registry.IncompatibleError
	if errors.As(err, &refused) {
		return refused.Changes
	}
	return nil
}
