package streaming

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fixture"
	"github.com/thriftpack/thriftpack/internal/stream"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// Sizes of payloads, in bytes.
const (
	// recordSize is the size of the record that EncodeStream repeats, in Thrift bytes.
	recordSize = 1 << 20
	// rootSize is the most that one root of EncodeParts and DecodeParts holds: Thrift counts up to 2^31-1.
	rootSize = 1 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// upload is all messages of one stream from the client, as wire bytes that are made before the time counts. For each root:
// head, then body so many times, then tail.
type upload struct {
	roots  int
	head   []byte // of the first root, with the options
	again  []byte // of every other root
	body   []byte
	bodies int64
	tail   []byte
	// thrift is how many Thrift bytes the stream is about, and wire how many bytes its messages have.
	thrift, wire int64
	// crc is the CRC-32C of the Thrift bytes, of jobs that verify.
	crc uint32
}

// newUpload prepares a job. Its size is rounded up to whole records or messages.
func newUpload(job *Job) (*upload, error) {
	switch job.Method {
	case EncodeStream:
		return newRequest(job)
	case EncodeParts, DecodeParts:
		return newParts(job)
	default:
		return nil, fmt.Errorf("no method %q", job.Method)
	}
}

// newRequest prepares the one message of EncodeStream.
func newRequest(job *Job) (*upload, error) {
	var value *thriftpackv1.Value
	switch job.Payload {
	case Binary:
		value = fixture.Binary(recordSize - varintLen(recordSize))
	case I64:
		value = &thriftpackv1.Value{Kind: &thriftpackv1.Value_List{List: &thriftpackv1.List{
			I64S: unpack(block(recordSize - listHeaderLen)),
		}}}
	default:
		return nil, fmt.Errorf("no payload %q", job.Payload)
	}
	encoded, err := new(encoder.Encoder).Append(nil, fixture.Wire(value),
		&encoder.Options{Limits: encoder.Limits{Depth: 64, Elements: recordSize, StringBytes: recordSize}})
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	count := (job.Bytes + int64(len(encoded)) - 1) / int64(len(encoded))
	head, err := proto.Marshal(&thriftpackv1.EncodeStreamRequest{
		Request:   &thriftpackv1.EncodeRequest{Input: &thriftpackv1.EncodeRequest_Value{Value: value}},
		ChunkSize: int32(job.ChunkSize), //nolint:gosec // the server checks it
		Count:     count,
	})
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	u := &upload{roots: 1, head: head, thrift: count * int64(len(encoded)), wire: int64(len(head))}
	if job.Verify {
		for range count {
			u.crc = crc32.Update(u.crc, castagnoli, encoded)
		}
	}
	return u, nil
}

// listHeaderLen is the length of the header of a compact list of up to 2^21-1 elements that is not short.
const listHeaderLen = 1 + 3

// varintLen is the number of bytes of n as a varint.
func varintLen(n int) int { return protowire.SizeVarint(uint64(n)) } //nolint:gosec // sizes are not negative

// block returns a run of size bytes of varints of all lengths, which are both the elements of a compact list<i64> and of a packed
// repeated sint64.
func block(size int) []byte {
	const longest = binary.MaxVarintLen64
	data := make([]byte, 0, size)
	for _, v := range fixture.ListI64(size / 4).GetList().GetI64S() {
		if len(data)+2*longest > size {
			break
		}
		data = protowire.AppendVarint(data, protowire.EncodeZigZag(v))
	}
	for left := size - len(data); left > 0; left = size - len(data) {
		n := min(left, longest)
		if left > longest {
			n = left - longest
		}
		data = protowire.AppendVarint(data, 1<<(7*(n-1)))
	}
	return data
}

// pack writes what unpack reads.
func pack(values []int64) []byte {
	var data []byte
	for _, v := range values {
		data = protowire.AppendVarint(data, protowire.EncodeZigZag(v))
	}
	return data
}

// unpack reads a run of varints.
func unpack(data []byte) []int64 {
	var values []int64
	for len(data) > 0 {
		v, n := protowire.ConsumeVarint(data)
		values, data = append(values, protowire.DecodeZigZag(v)), data[n:]
	}
	return values
}

// newParts prepares the messages of EncodeParts or DecodeParts. Each body has the message size of
// the job, or a few bytes less.
func newParts(job *Job) (*upload, error) {
	size := job.MessageSize
	if size == 0 {
		size = stream.DefaultChunkSize
	}
	u := &upload{roots: int((job.Bytes + rootSize - 1) / rootSize)}
	inBody := bodyRoom(job, size)
	if inBody < 64 {
		return nil, fmt.Errorf("messages of %d bytes are too small", size)
	}
	var data []byte
	perBody := int64(inBody) // elements or bytes of a body
	switch job.Payload {
	case Binary:
		data = fixture.Binary(inBody).GetBinary()
	case I64:
		data = block(inBody)
		perBody = int64(len(unpack(data)))
	default:
		return nil, fmt.Errorf("no payload %q", job.Payload)
	}
	u.bodies = max(job.Bytes/int64(u.roots)/int64(inBody), 1)
	header := rootHeader(job, u.bodies*perBody)
	u.thrift = int64(u.roots) * (int64(len(header)) + u.bodies*int64(len(data)))
	for root := 0; job.Verify && root < u.roots; root++ {
		u.crc = crc32.Update(u.crc, castagnoli, header)
		for range u.bodies {
			u.crc = crc32.Update(u.crc, castagnoli, data)
		}
	}
	var err error
	if job.Method == EncodeParts {
		err = u.encodeParts(job, data, u.bodies*perBody)
	} else {
		err = u.decodeParts(job, header, data)
	}
	if err != nil {
		return nil, err
	}
	u.wire = int64(len(u.head)) + int64(u.roots-1)*int64(len(u.again)) +
		int64(u.roots)*(u.bodies*int64(len(u.body))+int64(len(u.tail)))
	return u, nil
}

// rootHeader is what stands before the elements or bytes of a root: the size, and for a list the type of its elements.
func rootHeader(job *Job, n int64) []byte {
	if job.Payload == Binary {
		return protowire.AppendVarint(nil, uint64(n)) //nolint:gosec // a size is not negative
	}
	if n < 15 {
		return []byte{byte(n)<<4 | byte(thriftpackv1.Type_TYPE_I64)} //nolint:gosec // below 15
	}
	return protowire.AppendVarint([]byte{0xf0 | byte(thriftpackv1.Type_TYPE_I64)}, uint64(n))
}

// bodyRoom is how many Thrift bytes fit into a message of size bytes.
func bodyRoom(job *Job, size int) int {
	nested := 1 // bytes data
	if job.Method == EncodeParts {
		nested = 2 // parts, data
		if job.Payload == I64 {
			nested = 3 // parts, elements, i64s
		}
	}
	for range nested {
		size -= 1 + varintLen(size)
	}
	return size
}

// encodeParts makes the messages of EncodeParts.
func (u *upload) encodeParts(job *Job, data []byte, size int64) error {
	begin := &thriftpackv1.Begin{Type: thriftpackv1.Type_TYPE_BINARY, Size: size}
	body := &thriftpackv1.Part{Part: &thriftpackv1.Part_Data{Data: data}}
	if job.Payload == I64 {
		begin.Type, begin.ElementType = thriftpackv1.Type_TYPE_LIST, thriftpackv1.Type_TYPE_I64
		body.Part = &thriftpackv1.Part_Elements{Elements: &thriftpackv1.List{I64S: unpack(data)}}
	}
	message := func(part *thriftpackv1.Part) *thriftpackv1.EncodePartsRequest {
		return &thriftpackv1.EncodePartsRequest{Parts: []*thriftpackv1.Part{part}}
	}
	again := message(&thriftpackv1.Part{Part: &thriftpackv1.Part_Begin{Begin: begin}})
	head := proto.CloneOf(again)
	head.Options, head.ChunkSize = &thriftpackv1.EncodeOptions{}, int32(job.ChunkSize) //nolint:gosec // the server checks it
	end := message(&thriftpackv1.Part{Part: &thriftpackv1.Part_End{End: &thriftpackv1.End{}}})
	return u.marshal(head, again, message(body), end)
}

// decodeParts makes the messages of DecodeParts. They are cut in the middle of values.
func (u *upload) decodeParts(job *Job, header, data []byte) error {
	cut := min(3, len(data))
	root := thriftpackv1.Type_TYPE_BINARY
	if job.Payload == I64 {
		root = thriftpackv1.Type_TYPE_LIST
	}
	u.bodies--
	rotated := append(append([]byte(nil), data[cut:]...), data[:cut]...)
	first := append(append([]byte(nil), header...), data[:cut]...)
	return u.marshal(
		&thriftpackv1.DecodePartsRequest{
			Options:   &thriftpackv1.DecodeOptions{RootType: root, Records: u.roots > 1},
			ChunkSize: int32(job.ChunkSize), //nolint:gosec // the server checks it
			Data:      first,
		},
		&thriftpackv1.DecodePartsRequest{Data: first},
		&thriftpackv1.DecodePartsRequest{Data: rotated},
		&thriftpackv1.DecodePartsRequest{Data: data[cut:]})
}

func (u *upload) marshal(head, again, body, tail proto.Message) (err error) {
	for _, m := range []struct {
		into    *[]byte
		message proto.Message
	}{{&u.head, head}, {&u.again, again}, {&u.body, body}, {&u.tail, tail}} {
		if *m.into, err = proto.Marshal(m.message); err != nil {
			return fmt.Errorf("request: %w", err)
		}
	}
	return nil
}
