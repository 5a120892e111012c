package cli

import (
	"fmt"
	"strconv"
	"sync"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// partsWriter gathers parts to messages, and remembers which lines the last ones came from.
type partsWriter struct {
	stream  grpc.BidiStreamingClient[thriftpackv1.EncodePartsRequest, thriftpackv1.EncodePartsResponse]
	request *thriftpackv1.EncodePartsRequest
	held    int
	number  int64 // of the last part

	mu      sync.Mutex
	origins [originsKept]origin
}

// originsKept is of how many parts the lines are known: more than are on their way.
const originsKept = 1 << 16

// origin is the lines of a part, 0 where it is of none.
type origin struct{ part, from, to int64 }

// addRoot adds the parts of a value from one line.
func (p *partsWriter) addRoot(v *thriftpackv1.Value, line int64) error {
	begin := &thriftpackv1.Begin{}
	var contents *thriftpackv1.Part
	switch k := v.GetKind().(type) {
	case *thriftpackv1.Value_Struct:
		begin.Type = thriftpackv1.Type_TYPE_STRUCT
		contents = &thriftpackv1.Part{Part: &thriftpackv1.Part_Fields{Fields: k.Struct}}
	case *thriftpackv1.Value_List:
		begin.Type, begin.ElementType, begin.Size = thriftpackv1.Type_TYPE_LIST, elementTypeOf(k.List), lengthOf(k.List)
		contents = elementsOf(k.List)
	case *thriftpackv1.Value_Set:
		begin.Type, begin.ElementType, begin.Size = thriftpackv1.Type_TYPE_SET, elementTypeOf(k.Set), lengthOf(k.Set)
		contents = elementsOf(k.Set)
	case *thriftpackv1.Value_Map:
		begin.Type, begin.Size = thriftpackv1.Type_TYPE_MAP, lengthOf(k.Map.GetKeys())
		begin.KeyType, begin.ElementType = elementTypeOf(k.Map.GetKeys()), elementTypeOf(k.Map.GetValues())
		contents = &thriftpackv1.Part{Part: &thriftpackv1.Part_Entries{Entries: k.Map}}
	default:
		one := &thriftpackv1.List{}
		appendElement(one, v)
		return p.add(line, line, elementsOf(one))
	}
	first := &thriftpackv1.Part{Part: &thriftpackv1.Part_Begin{Begin: begin}}
	if begin.GetType() != thriftpackv1.Type_TYPE_STRUCT && begin.GetSize() == 0 {
		return p.add(line, line, first, endOfParts)
	}
	return p.add(line, line, first, contents, endOfParts)
}

// add adds parts that came from those lines, and sends when there are enough.
func (p *partsWriter) add(from, to int64, parts ...*thriftpackv1.Part) error {
	p.mu.Lock()
	for i := range parts {
		number := p.number + 1 + int64(i)
		p.origins[number%originsKept] = origin{number, from, to}
	}
	p.mu.Unlock()
	p.number += int64(len(parts))
	for _, part := range parts {
		p.request.Parts = append(p.request.Parts, part)
		p.held += proto.Size(part)
	}
	if p.held < messageBytes {
		return nil
	}
	return p.flush()
}

// flush sends what was gathered.
func (p *partsWriter) flush() error {
	if len(p.request.GetParts()) == 0 && p.request.GetOptions() == nil {
		return nil
	}
	err := p.stream.Send(p.request)
	// gRPC may look at a message until the stream ends, so the next one is another.
	p.request, p.held = &thriftpackv1.EncodePartsRequest{}, 0
	return err
}

// locate returns the error of a part with the lines that it came from, nil where it came from none.
func (p *partsWriter) locate(err error) error {
	part := partOf(err)
	p.mu.Lock()
	o := p.origins[part%originsKept]
	p.mu.Unlock()
	switch {
	case part == 0, o.part != part, o.from == 0: // of no line
		return nil
	case o.from == o.to:
		return fmt.Errorf("line %d: %w", o.from, err)
	}
	return fmt.Errorf("lines %d..%d: %w", o.from, o.to, err)
}

// partOf returns the number of the part that a call's error is of, 0 where it is of none.
func partOf(err error) int64 {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			part, _ := strconv.ParseInt(info.GetMetadata()["part"], 10, 64) // 0 where it is no number
			return max(part, 0)
		}
	}
	return 0
}
