package streaming

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// Job is one stream.
type Job struct {
	// Address is where the server serves.
	Address string `json:"address,omitempty"`
	// Mode is the kind of server: Raw and Bare have no trailers to check.
	Mode string `json:"mode,omitempty"`
	// Method is the method called, and Payload what is carried.
	Method  string `json:"method"`
	Payload string `json:"payload"`
	// Bytes is the Thrift bytes to encode or decode; it is rounded to whole messages.
	Bytes int64 `json:"bytes"`
	// ChunkSize is the size of the server's messages, 0 for its default.
	ChunkSize int `json:"chunk_size"`
	// MessageSize is the size of the client's messages of Parts, 0 for the server's default chunk size.
	MessageSize int `json:"message_size"`
	// Client is the kind of client.
	Client string `json:"client"`
	// Transport is the client's settings of gRPC.
	Transport Transport `json:"transport"`
	// Verify has the client read what it gets and compare it with what is right.
	Verify bool `json:"verify,omitempty"`
}

// raw tells whether the server only moves bytes.
func (j *Job) raw() bool { return j.Mode == Raw || j.Mode == Bare }

// Outcome is what a stream came to.
type Outcome struct {
	// Bytes is the Thrift bytes that were encoded or decoded.
	Bytes int64 `json:"bytes"`
	// Sent and Received are the bytes of all messages each way, and Replies how many came in.
	Sent     int64 `json:"sent"`
	Received int64 `json:"received"`
	Replies  int64 `json:"replies"`
}

// run carries out a job over a connection of its own.
func run(ctx context.Context, job *Job, u *upload) (Outcome, error) {
	connection, err := grpc.NewClient("passthrough:///"+job.Address,
		append(job.Transport.dialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		return Outcome{}, fmt.Errorf("dial: %w", err)
	}
	defer connection.Close() //nolint:errcheck // the stream has ended
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c, err := newCaller(job)
	if err != nil {
		return Outcome{}, err
	}
	description := &grpc.StreamDesc{StreamName: job.Method, ServerStreams: true, ClientStreams: job.Method != EncodeStream}
	ss, err := connection.NewStream(ctx, description,
		"/"+thriftpackv1.SerializerService_ServiceDesc.ServiceName+"/"+job.Method, c.opts...)
	if err != nil {
		return Outcome{}, fmt.Errorf("%s: %w", job.Method, err)
	}
	sent := make(chan error, 1)
	go func() { sent <- c.sendAll(ss, u) }()
	outcome, err := c.receiveAll(ss)
	if err != nil {
		return Outcome{}, fmt.Errorf("%s: %w", job.Method, err)
	}
	if err := <-sent; err != nil {
		return Outcome{}, fmt.Errorf("%s: send: %w", job.Method, err)
	}
	outcome.Bytes, outcome.Sent = u.thrift, u.wire
	err = c.check(ss, u, &outcome)
	return outcome, err
}

// caller is one kind of client for one method.
type caller struct {
	job  *Job
	opts []grpc.CallOption
	// request makes a message of wire bytes, and reply one to receive into.
	request func(wire []byte) (any, error)
	reply   func() any
	// read counts a reply that has come in, as its size on the wire, and keeps what verify needs.
	read func(reply any) (size int, err error)

	crc       uint32
	data      int64 // bytes in data
	bytesRead int64
}

func newCaller(job *Job) (*caller, error) {
	c := &caller{job: job}
	switch job.Client {
	case Lean:
		reply := &rawMessage{hold: job.Verify}
		c.opts = []grpc.CallOption{grpc.ForceCodecV2(rawCodec{})}
		c.request = func(wire []byte) (any, error) { return &rawMessage{out: wire}, nil }
		c.reply = func() any { return reply }
		c.read = func(any) (int, error) { return reply.length, c.readRaw(reply) }
	case Stock:
		c.request = func(wire []byte) (any, error) {
			message := newRequestMessage(job.Method)
			return message, proto.Unmarshal(wire, message)
		}
		c.reply = func() any { return newReplyMessage(job) }
		c.read = func(reply any) (int, error) {
			message := reply.(proto.Message) //nolint:errcheck,forcetypeassert // c.reply made it
			return proto.Size(message), c.verify(message)
		}
	default:
		return nil, fmt.Errorf("no client %q", job.Client)
	}
	return c, nil
}

func newRequestMessage(method string) proto.Message {
	switch method {
	case EncodeParts:
		return new(thriftpackv1.EncodePartsRequest)
	case DecodeParts:
		return new(thriftpackv1.DecodePartsRequest)
	default:
		return new(thriftpackv1.EncodeStreamRequest)
	}
}

func newReplyMessage(job *Job) proto.Message {
	switch {
	case job.raw() && job.Method != EncodeStream:
		return newRequestMessage(job.Method)
	case job.Method == EncodeParts:
		return new(thriftpackv1.EncodePartsResponse)
	case job.Method == DecodeParts:
		return new(thriftpackv1.DecodePartsResponse)
	default:
		return new(thriftpackv1.EncodeStreamResponse)
	}
}

// sendAll sends all messages of an upload.
func (c *caller) sendAll(ss grpc.ClientStream, u *upload) error {
	var messages [4]any
	for i, wire := range [][]byte{u.head, u.again, u.body, u.tail} {
		var err error
		if messages[i], err = c.request(wire); err != nil {
			return err
		}
	}
	head, again, body, tail := messages[0], messages[1], messages[2], messages[3]
	send := func(message any) error {
		err := ss.SendMsg(message)
		if errors.Is(err, io.EOF) {
			return nil // the stream has ended; receiveAll gets to know why
		}
		return err
	}
	for root := range u.roots {
		first := head
		if root > 0 {
			first = again
		}
		if err := send(first); err != nil {
			return err
		}
		for range u.bodies {
			if err := ss.SendMsg(body); err != nil {
				return send(body)
			}
		}
		if c.job.Method == EncodeStream {
			continue
		}
		if err := send(tail); err != nil {
			return err
		}
	}
	return ss.CloseSend()
}

// receiveAll receives all replies.
func (c *caller) receiveAll(ss grpc.ClientStream) (Outcome, error) {
	var outcome Outcome
	for {
		reply := c.reply()
		switch err := ss.RecvMsg(reply); {
		case errors.Is(err, io.EOF):
			return outcome, nil
		case err != nil:
			return outcome, err
		}
		size, err := c.read(reply)
		if err != nil {
			return outcome, err
		}
		outcome.Received += int64(size)
		outcome.Replies++
	}
}

// readRaw verifies a reply that was held.
func (c *caller) readRaw(reply *rawMessage) error {
	if !c.job.Verify {
		return nil
	}
	message := newReplyMessage(c.job)
	if err := proto.Unmarshal(reply.in.Materialize(), message); err != nil {
		return err
	}
	return c.verify(message)
}

// verify notes what is in a reply.
func (c *caller) verify(reply proto.Message) error {
	if !c.job.Verify {
		return nil
	}
	switch message := reply.(type) {
	case *thriftpackv1.EncodeStreamResponse:
		c.note(message.GetData())
	case *thriftpackv1.EncodePartsResponse:
		c.note(message.GetData())
	case *thriftpackv1.DecodePartsResponse:
		if n := message.GetBytesRead(); n > 0 {
			c.bytesRead = n
		}
		for _, part := range message.GetParts() {
			c.notePart(part)
		}
	case *thriftpackv1.EncodePartsRequest, *thriftpackv1.DecodePartsRequest: // echoed
	default:
		return fmt.Errorf("a reply that nobody expects: %T", reply)
	}
	return nil
}

func (c *caller) note(data []byte) {
	c.crc = crc32.Update(c.crc, castagnoli, data)
	c.data += int64(len(data))
}

// notePart notes the Thrift bytes that a part of one of our payloads is made of.
func (c *caller) notePart(part *thriftpackv1.Part) {
	switch p := part.GetPart().(type) {
	case *thriftpackv1.Part_Begin:
		c.note(rootHeader(c.job, p.Begin.GetSize()))
	case *thriftpackv1.Part_Data:
		c.note(p.Data)
	case *thriftpackv1.Part_Elements:
		c.note(pack(p.Elements.GetI64S()))
	}
}

// check compares what came with what was asked for. The trailers are always looked at, the content of jobs that verify.
func (c *caller) check(ss grpc.ClientStream, u *upload, outcome *Outcome) error {
	if c.job.raw() {
		if c.job.Method != EncodeStream && outcome.Received != u.wire {
			return fmt.Errorf("%s: echoed %d bytes of %d", c.job.Method, outcome.Received, u.wire)
		}
		return nil
	}
	trailer := func(name string) string {
		if values := ss.Trailer().Get(name); len(values) == 1 {
			return values[0]
		}
		return ""
	}
	if c.job.Method != DecodeParts {
		if got := trailer("thriftpack-bytes"); got != strconv.FormatInt(u.thrift, 10) {
			return fmt.Errorf("%s: trailer says %q bytes, want %d", c.job.Method, got, u.thrift)
		}
		if got := trailer("thriftpack-crc32c"); c.job.Verify && got != fmt.Sprintf("%08x", u.crc) {
			return fmt.Errorf("%s: trailer says CRC %q, want %08x", c.job.Method, got, u.crc)
		}
	} else if c.job.Verify && c.bytesRead != u.thrift {
		return fmt.Errorf("%s: %d bytes read, want %d", c.job.Method, c.bytesRead, u.thrift)
	}
	if c.job.Verify && (c.data != u.thrift || c.crc != u.crc) {
		return fmt.Errorf("%s: %d bytes with CRC %08x, want %d with %08x", c.job.Method, c.data, c.crc, u.thrift, u.crc)
	}
	return nil
}
